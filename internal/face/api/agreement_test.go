package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/face/api/contract"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/store/pgtest"
)

// unsayable are the sentences about what a schema cannot say: what belongs to the account, what its currency and
// limits allow, what is past, and what makes an address, a number or a zone a real one. A request that the schema
// allows is refused for these reasons only.
var unsayable = regexp.MustCompile(strings.Join([]string{
	`This account has no (such (gift|location|design|storefront|promotion)\.|location with that )`,
	`Say at which location: `, `Say how much was paid for this card: `,
	`An amount in USD has at most 2 decimals\.`, `A gift may be worth .* at most`, `The amount must be at most `,
	`The amount is too large\.`,
	`There is no such day or time of day\.`, `The deliveryDate has passed\.`,
	`The deliveryDate may be at most 5 years ahead\.`,
	`This is not one e-mail address such as `, `mobile number`, `country`, `time zone`, `language tag`,
	`This must be after from\.`, `Events are kept for 90 days\.`,
	`This gift could never be redeemed: `, `This gift would be valid beyond `,
	`has at least one character that can be seen\.`, `At most .* can be paid for this: `, `Nobody said what these pieces are worth together `,
	`Only .* of this redemption is left to give back\.`, `name two different locations\.`,
	// 123456789012.0 is an integer to JSON Schema
	`A gift may be worth at most `, `Neither the request nor the promotion gives this\.`,
	`A voucher code is 12 digits with nothing between them\.`,
	`A journal has only days that are over\.`, `This is in the future\.`,
}, "|"))

// spellings are the mutations of every member, whatever it is.
var spellings = []any{nil, "", " ", "\u3000", "a\nb", "a\tb", "\u2028", "x", true, json.Number("0"), json.Number("1"),
	json.Number("2.5"), json.Number("3.0"), json.Number("-1"),
	json.Number("1e400"), []any{}, map[string]any{}, zeroGUID, strings.ToUpper(nowhere), nowhere[1:], "2031-01-01T00:00",
	"2031-01-01T00:00Z", "2031-01-01t00:00:00,5+0530",
	"2031-01-01", "2031-13-01T00:00Z", "2031-01-01T24:00Z", "1969-12-31T23:59:59Z", "3000-01-01T00:00Z", "ana@example.com",
	"415-555-0132", "GIFT", "gift", "CANCELLED", "123456789012",
	json.Number("123456789012"), json.Number("99999999999"), "/g/0000000000000000000000",
	"https://x.example/g/0000000000000000000000?a#b", "k", "k ", "Asia/Tokyo", "de-AT", "de_AT", "x-a", "de--AT"}

// agreement holds one operation's schema against the server.
type agreement struct {
	*world
	schemas   map[string]any
	checker   *contract.Checker
	operation string
	asked     int
	// Of what is no operation of package gift: how it is asked; "": it is one.
	method, path string
	key          string
}

// route is how the operation is asked.
func (a *agreement) route() (method, path, key string) {
	if a.path == "" {
		return "POST", paths[a.operation], harborKey
	}
	return a.method, a.path, a.key
}

// TestSchemasSayWhatTheServerDoes changes good requests in every way at every member, and in combinations where
// members depend on one another: what the file forbids is refused, and what it allows is refused only for what a
// schema cannot say.
func TestSchemasSayWhatTheServerDoes(t *testing.T) {
	racetest.SkipShort(t, "thousands of calls, one after the other")
	t.Parallel()
	pgtest.Once(t)
	var file struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *config) { c.Records = unlimited{c.Records} }) // so many codes are tried
	roomy := w.send(ofMoney("9999"))
	taken := w.redeem(roomy, "5000").want(200).at("redemptionID")
	at := `"organizationID":"` + pier + `"`
	held := map[string]bool{}
	mailed := `"deliveryMethodID":1,"recipientContact":"ana@example.com"`
	type request struct{ operation, schema, body string }
	requests := []request{
		{"send-gift", "SendGift", `{"monetaryGift":{"value":5,` + mailed + `},` + purchase + `}`},
		{"send-gift", "SendGift", `{"monetaryGift":{"value":5,"deliveryMethodID":1,"hasScheduledDelivery":true,` +
			`"deliveryDate":"2031-01-01T00:00"},"recipients":[{"recipientContact":"ana@example.com"},{"deliveryMethodID":3}],` +
			purchase + `}`},
		{"send-gift", "SendGift", `{"itemGift":{"label":"Latte","quantity":2,"deliveryMethodID":3},` + promotion + `}`},
		{"send-gift", "SendGift", `{"itemGift":{"label":"Latte","quantity":2},"recipients":[{"deliveryMethodID":2,` +
			`"recipientContact":"4155550132"}],"paymentMethodID":4,"promotionID":"` + bareSpring +
			`","validStarting":"2031-01-01T00:00Z","validForDays":30,"promotionalTerms":"One."}`},
		{"validate-gift", "ValidateGift", `{"voucherCode":"` + roomy.code + `",` + at + `}`},
		{"validate-gift", "ValidateGift", `{"voucherPublicToken":"` + roomy.token + `",` + at + `,"targetTypeCode":"GIFT"}`},
		{"redeem-gift", "RedeemGift", `{"voucherID":"` + roomy.id + `",` + at + `,"amount":0.01}`},
		{"redeem-gift", "RedeemGift", `{"voucherCode":"` + roomy.code + `",` + at + `,"amount":0.01,"reference":"r"}`},
		{"redeem-gifts", "RedeemGifts", `{"gifts":[{"voucherID":"` + roomy.id + `","amount":0.01}],` + at + `,"upTo":5}`},
		{"hold-gift", "HoldGift", `{"voucherID":"` + roomy.id + `",` + at + `,"amount":0.01,"expiresInSeconds":60}`},
		{"capture-hold", "CaptureHold", `{"holdID":"` + nowhere + `","amount":0.01,"final":false,"reference":"r"}`},
		{"release-hold", "ReleaseHold", `{"holdID":"` + nowhere + `"}`},
		{"release-hold", "ReleaseHold", `{"idempotencyKey":"till-1"}`},
		{"release-hold", "ReleaseHold", `{"idempotencyKey":"till-1","voucherID":"` + roomy.id + `"}`},
		{"reverse-redemption", "ReverseRedemption", `{"redemptionID":"` + taken + `","amount":0.01,` + at + `}`},
		{"reverse-redemption", "ReverseRedemption", `{"idempotencyKey":"till-1"}`},
		{"reverse-redemption", "ReverseRedemption", `{"idempotencyKey":"till-1","operation":"capture-hold"}`},
		{"reverse-redemption", "ReverseRedemption", `{"idempotencyKey":"till-1","operation":"cash-out-gift"}`},
		{"reverse-redemption", "ReverseRedemption", `{"idempotencyKey":"till-1","voucherCode":"` + roomy.code + `"}`},
		{"reload-gift", "ReloadGift", `{"voucherID":"` + roomy.id + `",` + at + `,"amount":0.01,"reference":"r",` +
			paidAt(shop) + `}`},
		{"reload-gift", "ReloadGift", `{"voucherCode":"` + roomy.code + `",` + at + `,"amount":0.01,"paymentMethodID":2,` +
			paidAt(shop) + `}`},
		{"cash-out-gift", "CashOutGift", `{"voucherID":"` + roomy.id + `",` + at + `}`},
		{"cash-out-gift", "CashOutGift", `{"voucherCode":"` + roomy.code + `",` + at + `}`},
		{"reverse-reload", "ReverseReload", `{"reloadID":"` + nowhere + `"}`},
		{"reverse-reload", "ReverseReload", `{"idempotencyKey":"till-1"}`},
		{"reverse-reload", "ReverseReload", `{"idempotencyKey":"till-1","voucherID":"` + roomy.id + `"}`},
		{"cancel-gift", "CancelGift", `{"voucherID":"` + nowhere + `","cause":"CANCELLED"}`},
		{"cancel-gift", "CancelGift", `{"externalTransactionReferenceNumber":"R-0","cause":"PURCHASE_FAILED"}`},
		{"cancel-gift", "CancelGift", `{"externalTransactionReferenceNumber":"R-0","externalStorefrontID":"` + shop +
			`","cause":"CANCELLED","releaseHolds":true}`},
		{"reinstate-gift", "ReinstateGift", `{"orderID":"` + nowhere + `"}`},
		{"resend-gift", "ResendGift", `{"voucherID":"` + nowhere +
			`","deliveryMethodID":1,"recipientContact":"ana@example.com"}`},
		{"replace-gift", "ReplaceGift", `{"voucherID":"` + nowhere + `","reason":"lost"}`},
		{"replace-gift", "ReplaceGift", `{"voucherID":"` + nowhere +
			`","reason":"lost","deliver":{"deliveryMethodID":1,"recipientContact":"ana@example.com"}}`},
		{"transfer-balance", "TransferBalance", `{"fromVoucherID":"` + roomy.id + `","toVoucherID":"` + nowhere +
			`","amount":0.01}`},
		{"adjust-gift", "AdjustGift", `{"voucherID":"` + roomy.id + `","amount":-0.01,"reasonCode":"FRAUD","reason":"why"}`},
		{"extend-gift", "ExtendGift", `{"voucherID":"` + nowhere + `","validUntil":"2040-01-01T00:00:00Z"}`},
		{"reschedule-gift", "RescheduleGift", `{"voucherID":"` + nowhere + `","deliveryDate":"2031-01-01T00:00"}`},
		{"create-stock", "CreateStock", `{"count":1,"value":5}`},
		{"create-stock", "CreateStock", `{"count":1,"label":"Latte","quantity":2,"equivalentValue":9}`},
		{"reverse-activation", "ReverseActivation", `{"activationID":"` + nowhere + `"}`},
		{"reverse-activation", "ReverseActivation", `{"idempotencyKey":"till-1"}`},
		{"reverse-activation", "ReverseActivation", `{"idempotencyKey":"till-1","voucherID":"` + roomy.id + `"}`},
		{"activate-gift", "ActivateGift", `{"voucherID":"` + nowhere + `",` + at + `,"amount":5,` + purchase + `}`},
		{"activate-gift", "ActivateGift", `{"voucherCode":"` + w.stock(`"count":1`)[0].code + `",` + at + `,"amount":5,` +
			purchase + `}`},
	}
	for _, plain := range plainOperations() {
		if !slices.ContainsFunc(requests, func(r request) bool { return r.operation == plain }) {
			requests = append(requests, request{plain, theRequests()[plain].schema, exampleRequests(plain, nowhere)[0]})
		}
	}
	for _, c := range requests {
		a := &agreement{world: w, schemas: file.Components.Schemas, checker: contracts.checker.For(t), operation: c.operation}
		var body map[string]any
		decoder := json.NewDecoder(strings.NewReader(c.body))
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		if a.ask("as it is", body); a.forbids(c.body) {
			t.Errorf("the file forbids %s", c.body)
		}
		a.mutate("", a.schemas[c.schema].(map[string]any), body, func(path string, changed map[string]any) {
			a.ask(path,
				changed)
		})
		a.combine(body)
		a.combineResending(body)
		t.Logf("%s: %d requests", c.operation, a.asked)
		held[c.operation] = true
	}
	for operation := range paths {
		if !held[operation] {
			t.Errorf("%s is not held against its schema", operation)
		}
	}
}

// resolved follows a reference, and finds the object among alternatives.
func (a *agreement) resolved(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return a.resolved(a.schemas[strings.TrimPrefix(ref, "#/components/schemas/")])
	}
	options, _ := s["anyOf"].([]any)
	for _, option := range options {
		if o := a.resolved(option); s["properties"] == nil && o["properties"] != nil {
			return o
		}
	}
	return s
}

// mutate emits copies of an object in which one member, at any depth, is another.
func (a *agreement) mutate(path string, schema, object map[string]any, emit func(string, map[string]any)) {
	members, _ := schema["properties"].(map[string]any)
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(object)
		changed[name] = value
		return changed
	}
	emit(path+"unknown", with("unknown", "x"))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member, here := a.resolved(members[name]), path+name
		absent := maps.Clone(object)
		delete(absent, name)
		emit(here+" absent", absent)
		for _, value := range append(slices.Clone(spellings), bounds(member)...) {
			emit(here, with(name, value))
		}
		switch value := object[name].(type) {
		case map[string]any:
			a.mutate(here+".", member, value, func(at string, changed map[string]any) { emit(at, with(name, changed)) })
		case []any:
			for n := range value {
				element, is := value[n].(map[string]any)
				if !is {
					continue
				}
				a.mutate(fmt.Sprintf("%s[%d].", here, n), a.resolved(member["items"]), element,
					func(at string, changed map[string]any) {
						list := slices.Clone(value)
						list[n] = changed
						emit(at, with(name, list))
					})
			}
		}
	}
}

// bounds are the values at and beyond what a schema states.
func bounds(schema map[string]any) (values []any) {
	if longest, ok := schema["maxLength"].(float64); ok {
		values = append(values, strings.Repeat("é", int(longest)), strings.Repeat("e\u0301", int(longest)),
			strings.Repeat("x", int(longest)+1))
	}
	for _, name := range []string{"minimum", "maximum", "exclusiveMinimum"} {
		if bound, ok := schema[name].(float64); ok {
			for _, n := range []float64{bound - 1, bound, bound + 1} {
				values = append(values, json.Number(fmt.Sprintf("%.0f", n)))
			}
		}
	}
	if most, ok := schema["maxItems"].(float64); ok {
		for _, n := range []int{int(most), int(most) + 1} {
			list := make([]any, n)
			for i := range list {
				list[i] = map[string]any{"deliveryMethodID": json.Number("3")}
			}
			values = append(values, list)
		}
	}
	options, _ := schema["enum"].([]any)
	return append(values, options...)
}

// combine tries the combinations of members that depend on one another.
func (a *agreement) combine(body map[string]any) {
	gone := struct{}{} // absent
	number := func(s string) any { return json.Number(s) }
	contacts := []any{gone, "", nil, "ana@example.com", "415-555-0132"}
	methods := []any{gone, "", number("1"), number("2"), number("3"), number("4")}
	for _, definition := range []string{"monetaryGift", "itemGift"} {
		inner, ok := body[definition].(map[string]any)
		if !ok {
			continue
		}
		put := func(what string, members map[string]any, recipients any) {
			changed, g := maps.Clone(body), maps.Clone(inner)
			for name, value := range members {
				if g[name] = value; value == gone {
					delete(g, name)
				}
			}
			changed[definition], changed["recipients"] = g, recipients
			if recipients == gone {
				delete(changed, "recipients")
			}
			a.ask(what, changed)
		}
		for _, method := range methods {
			for _, contact := range contacts {
				way := map[string]any{"deliveryMethodID": method, "recipientContact": contact}
				for _, recipients := range []any{gone, nil, "", []any{}, []any{map[string]any{}}} {
					put("method and contact", way, recipients)
				}
				for _, own := range methods {
					receiver := map[string]any{"deliveryMethodID": own, "recipientContact": contact}
					maps.DeleteFunc(receiver, func(_ string, v any) bool { return v == gone })
					put("recipient", map[string]any{"deliveryMethodID": method, "recipientContact": gone}, []any{receiver})
				}
			}
		}
		for _, scheduled := range []any{gone, nil, "", true, false} {
			for _, date := range []any{gone, nil, "", "junk", number("5"), "2031-01-01T00:00", "2031-01-01T00:00Z"} {
				put("schedule", map[string]any{"hasScheduledDelivery": scheduled, "deliveryDate": date}, gone)
			}
		}
	}
}

// combineResending tries every way for a gift that goes by e-mail, a new one each time.
func (a *agreement) combineResending(body map[string]any) {
	if a.operation != "resend-gift" {
		return
	}
	for _, method := range []any{nil, json.Number("1"), json.Number("2"), json.Number("3")} {
		for _, contact := range []any{nil, "", "ana@example.com", "4155550132"} {
			changed := maps.Clone(body)
			changed["voucherID"] = a.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,` +
				`"recipientContact":"ben@example.com"},` + purchase + `}`).id
			changed["deliveryMethodID"], changed["recipientContact"] = method, contact
			a.ask("method and contact", changed)
		}
	}
}

func (a *agreement) forbids(body string) bool {
	method, path, key := a.route()
	r, err := http.NewRequest(method, "https://x.example"+path, nil)
	if err != nil {
		a.Fatal(err)
	}
	r.Header.Set("Authorization", key)
	return a.checker.Forbids(r, []byte(body)) != nil
}

// ask sends a request and compares the verdicts.
func (a *agreement) ask(what string, object map[string]any) {
	a.asked++
	// No database has a part in what is refused here: on a second one, every fourth request shows as much.
	if pgtest.OnPostgres() && a.asked%4 != 0 {
		return
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		a.Fatal(err)
	}
	body, forbidden := string(encoded), a.forbids(string(encoded))
	method, path, key := a.route()
	r := a.do(method, path, body, "Content-Type", "application/json", "Authorization", key)
	var problem struct {
		Messages []struct{ Path, Text string }
	}
	if err := json.Unmarshal(r.body, &problem); err != nil {
		a.Fatal(err)
	}
	malformed := false
	for _, m := range problem.Messages {
		// how it goes now is not in the request
		way := a.operation == "resend-gift" && strings.HasSuffix(m.Text, "needs a recipientContact.")
		malformed = malformed || !way && !unsayable.MatchString(m.Text)
	}
	switch {
	case forbidden && r.status != 400 && r.status != 422:
		a.Errorf("%s, %s: the file forbids it, the server answers %d: %.600s", a.operation, what, r.status, body)
	case !forbidden && r.status == 400 && malformed:
		a.Errorf("%s, %s: the file allows it, the server answers %.400s: %.600s", a.operation, what, r.body, body)
	}
}

// TestSchemasOfManagementSayWhatTheServerDoes is TestSchemasSayWhatTheServerDoes for every other operation with a body:
// those about tills, people, webhooks and the clock of a test account. Their requests are the examples of the file.
func TestSchemasOfManagementSayWhatTheServerDoes(t *testing.T) {
	racetest.SkipShort(t, "a thousand calls, one after the other")
	t.Parallel()
	pgtest.Once(t)
	type body struct {
		RequestBody struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
				Examples map[string]struct{ Value map[string]any }
			}
		}
	}
	var file struct {
		Paths      map[string]struct{ Post, Patch body }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for path, of := range file.Paths {
		for method, of := range map[string]body{"POST": of.Post, "PATCH": of.Patch} {
			content, has := of.RequestBody.Content["application/json"]
			if has && !slices.Contains(slices.Collect(maps.Values(paths)), path) {
				asked++
				schema := strings.TrimPrefix(content.Schema.Ref, "#/components/schemas/")
				for _, example := range content.Examples {
					manages(t, method, path, file.Components.Schemas, schema, example.Value)
				}
			}
		}
	}
	if asked < 7 {
		t.Errorf("%d operations are held against their schemas", asked)
	}
}

// manages holds an operation against its schema, in a world of its own: what it changes has limits.
func manages(t *testing.T, method, path string, schemas map[string]any, schema string, example map[string]any) {
	w := newWorld(t)
	w.staff(merchant.Person{Name: "Ana"})
	hook := w.do("POST", base+"/webhooks", `{"url":"https://shop.example.com/boon"}`, "Content-Type", "application/json").
		want(201).at("webhookID")
	a := &agreement{world: w, schemas: schemas, checker: contracts.checker.For(t), operation: schema, method: method,
		path: strings.ReplaceAll(path, "{webhookID}", hook), key: harborKey}
	if strings.HasPrefix(path, "/api/test/") {
		a.key = sandboxKey
	}
	ask := func(what string, changed map[string]any) {
		w.pass(3 * time.Hour) // so that no limit is met
		a.ask(what, changed)
		w.learn()
		for _, made := range w.directory.Load().Webhooks[id(harbor)] { // an account has few
			if made.ID.String() != hook {
				w.do("DELETE", base+"/webhooks/"+made.ID.String(), "").want(200)
			}
		}
	}
	if example["from"] != nil { // a replay of what happened lately
		example["from"] = time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	}
	ask("as it is", example)
	a.mutate("", schemas[schema].(map[string]any), example, ask)
	t.Logf("%s %s: %d requests", method, path, a.asked)
}

// TestParametersSayWhatTheServerDoes does the same for the parameters of every look-up.
func TestParametersSayWhatTheServerDoes(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	type parameter struct {
		Ref      string `json:"$ref"`
		Name, In string
	}
	var file struct {
		Paths      map[string]map[string]struct{ Parameters []parameter }
		Components struct{ Parameters map[string]parameter }
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	checker := contracts.checker.For(t)
	known := strings.NewReplacer("{voucherID}", w.send(ofMoney("5")).id, "{key}", "till-1")
	values := []string{"", " ", "x", "0", "1", "200", "201", "-1", "1.5", "true", zeroGUID, strings.ToUpper(nowhere),
		nowhere[1:], "CLAIMED", "claimed", "REDEMPTION", "redeem-gift",
		"2031-01-01T00:00", "2031-01-01T00:00Z", "9999-01-01t00:00:00,5+0530", "2031-01-01", "1969-12-31T23:59:59Z",
		"2031-01-01T00:00:00 01:00", "a\tb", "a\nb", "1234", "12345",
		strings.Repeat("é", 200), strings.Repeat("x", 201), strings.Repeat("x", 501), "ana@example.com", "+14155550132"}
	for path, methods := range file.Paths {
		for _, p := range methods["get"].Parameters {
			if p.Ref != "" {
				p = file.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
			}
			if p.In != "query" || p.Name == "cursor" || !strings.HasPrefix(path, base) { // a cursor is what a page gave out
				continue
			}
			for _, value := range values {
				target := known.Replace(path) + "?" + url.Values{p.Name: {value}}.Encode()
				r, err := http.NewRequest("GET", "https://x.example"+target, nil)
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Authorization", harborKey)
				forbidden := checker.Forbids(r, nil)
				if got := w.do("GET", target, ""); (got.status == 400) != (forbidden != nil) && !unsayable.Match(got.body) {
					t.Errorf("%s: the file says %v, the server answers %d %.300s", target, forbidden, got.status, got.body)
				}
			}
		}
	}
}
