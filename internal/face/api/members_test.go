package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// whole gives, for each operation, requests that between them have every member there is.
func (w *world) whole() map[string][]string {
	g := w.send(ofMoney("25.50"))
	redemption := w.redeem(g, "1").at("redemptionID")
	cash, cards := w.send(ofMoney("5")), w.stock(`"count":2`)
	common := `"accountID":"` + harbor + `","organizationID":"` + pier +
		`","senderDescription":"S","hasScheduledDelivery":true,"deliveryDate":"` +
		w.now().AddDate(1, 0, 0).UTC().Format(time.RFC3339) + `","deliveryTimezoneId":"Asia/Tokyo","voucherDesignID":"` +
		design + `"`
	recipient := `"deliveryMethodID":1,"recipientDescription":"R","recipientContact":"r@example.com","message":"M",` +
		`"recipientLanguage":"de","customerID":"C"`
	notes := `"senderDescription":"S","notes":"N","relatedOrderID":"1","relatedOrderNumber":"2"`
	till := `"organizationID":"` + pier + `","pointOfSaleSystemOrganizationIdentifier":"POS-1",` +
		`"targetProgramID":"22222222-2222-2222-2222-222222222222",` +
		`"validateTargetProgram":true,"targetTypeCode":"GIFT","validateTargetType":true,` +
		`"ticketData":{"format":"standard","data":{"lineItems":[` +
		`{"itemID":"A","itemName":"B","itemUnitPrice":1.5,"quantity":2,"itemTotalPrice":3}],` +
		`"totals":{"subTotal":3,"taxTotal":1,"discountTotal":-1,"serviceChargeTotal":0.5,"grandTotal":3}}}`
	byItsKey := slices.Clip([]string{`{"idempotencyKey":"none","voucherID":"` + g.id + `"}`,
		`{"idempotencyKey":"none","voucherCode":"` + g.code + `"}`,
		`{"idempotencyKey":"none","voucherPublicToken":"` + g.token + `"}`})
	all := map[string][]string{
		"send-gift": {
			`{"monetaryGift":{"value":5,"pricePaid":4,"programID":"22222222-2222-2222-2222-222222222222",` + common + `,` + recipient + `},` +
				notes + `,` + purchase + `,"notifyBuyer":true,"externalTransactionCustomerLanguage":"de"}`,
			`{"itemGift":{"label":"L","terms":"T","quantity":2,"equivalentValue":5,` + common + `},"recipients":[{` + recipient +
				`}],` + notes + `,` + promotion +
				`,"validStarting":"2026-10-01T00:00:00Z","validForDays":3650,"promotionalTerms":"T"}`,
			`{"itemGift":{"label":"L","quantity":2,"equivalentValue":5,"pricePaid":4,` +
				`"programID":"22222222-2222-2222-2222-222222222222",` + recipient + `},` +
				purchase + `}`,
			`{"monetaryGift":{"value":5,"deliveryMethodID":1},"recipients":[{"recipientDescription":"R"}],"deliverTo":"buyer","attachment":"pdf",` +
				purchase + `}`,
		},
		"validate-gift": {`{"voucherCode":"` + g.code + `",` + till + `}`, `{"voucherPublicToken":"` + g.token +
			`","organizationID":"` + pier + `"}`},
		"redeem-gift": {
			`{"voucherID":"` + g.id + `","amount":0.01,"allowPartial":true,"reference":"R","verificationCode":"1234",` + till +
				`}`,
			`{"voucherCode":"` + g.code + `","amount":0.01,"organizationID":"` + pier + `"}`,
			`{"voucherPublicToken":"` + g.token + `","amount":0.01,"organizationID":"` + pier + `"}`,
		},
		"redeem-gifts": {
			`{"gifts":[{"voucherID":"` + g.id + `","amount":0.01,"verificationCode":"1234"}],"upTo":1,"reference":"R",` +
				`"organizationID":"` + pier + `","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
			`{"gifts":[{"voucherCode":"` + g.code + `","amount":0.01}],"organizationID":"` + pier + `","ticketData":` +
				`{"format":"standard","data":{"lineItems":[` +
				`{"itemID":"A","itemName":"B","itemUnitPrice":1.5,"quantity":2,"itemTotalPrice":2}],` +
				`"totals":{"subTotal":3,"taxTotal":1,"discountTotal":-1,"serviceChargeTotal":0.5,"grandTotal":3}}}}`,
			`{"gifts":[{"voucherPublicToken":"` + g.token + `","amount":0.01}],"organizationID":"` + pier + `"}`,
		},
		"hold-gift": {`{"voucherID":"` + g.id +
			`","amount":0.01,"allowPartial":true,"reference":"R","verificationCode":"1234","expiresInSeconds":60,` +
			till + `}`, `{"voucherCode":"` + g.code + `","amount":0.01,"organizationID":"` + pier + `"}`,
			`{"voucherPublicToken":"` + g.token + `","amount":0.01,"organizationID":"` + pier + `"}`},
		"capture-hold": {`{"holdID":"` + nowhere + `","amount":0.01,"final":false,"reference":"R"}`},
		"release-hold": append(byItsKey, `{"holdID":"`+nowhere+`"}`),
		"reverse-redemption": {`{"redemptionID":"` + redemption + `","amount":0.01,"reason":"R","organizationID":"` + pier +
			`"}`, `{"idempotencyKey":"none","operation":"capture-hold","pointOfSaleSystemOrganizationIdentifier":"POS-1",` +
			`"voucherID":"` + g.id + `"}`, `{"idempotencyKey":"none","voucherCode":"` + g.code + `"}`,
			`{"idempotencyKey":"none","voucherPublicToken":"` + g.token + `"}`},
		"reload-gift": {
			`{"voucherID":"` + g.id + `","amount":0.02,"pricePaid":0.01,"paymentMethodID":2,"reference":"R","customerID":"C",` + paidAt(shop) +
				`,"organizationID":"` + pier + `","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
			`{"voucherCode":"` + g.code + `","amount":0.01,` + paidAt(shop) + `,"organizationID":"` + pier + `"}`,
			`{"voucherPublicToken":"` + g.token + `","amount":0.01,` + paidAt(shop) + `,"organizationID":"` + pier + `"}`},
		"cash-out-gift": {
			`{"voucherID":"` + nowhere + `","verificationCode":"1234","organizationID":"` + pier +
				`","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
			`{"voucherCode":"` + cash.code + `","organizationID":"` + pier + `"}`,
			`{"voucherPublicToken":"` + w.send(ofMoney("5")).token + `","organizationID":"` + pier + `"}`},
		"reverse-reload": append(byItsKey, `{"reloadID":"`+nowhere+`"}`),
		"cancel-gift": {`{"accountID":"` + harbor + `","voucherID":"` + nowhere + `","cause":"CANCELLED","reason":"R"}`,
			`{"orderID":"` + nowhere +
				`","cause":"CANCELLED"}`,
			`{"externalTransactionReferenceNumber":"none","externalStorefrontID":"` + nowhere +
				`","cause":"CANCELLED","skipNotAllowed":true,"releaseHolds":true}`},
		"reinstate-gift": {`{"voucherID":"` + nowhere + `","reason":"R"}`, `{"orderID":"` + nowhere + `"}`},
		"resend-gift": {`{"voucherID":"` + nowhere + `","deliveryMethodID":1,"recipientContact":"a@example.com"}`,
			`{"voucherID":"` + nowhere + `","withOrder":true}`},
		"create-stock": {`{"count":2,"value":5,"programID":"22222222-2222-2222-2222-222222222222","organizationID":"` + pier +
			`","voucherDesignID":"` + design + `","verificationCodes":true,"activationCodes":true}`,
			`{"count":1,"label":"L","terms":"T","quantity":2,"equivalentValue":5}`},
		"reverse-activation": append(byItsKey, `{"activationID":"`+nowhere+`"}`),
		"activate-gift": {`{"voucherID":"` + nowhere + `","organizationID":"` + pier +
			`","pointOfSaleSystemOrganizationIdentifier":"POS-1","amount":5,"pricePaid":4,"reference":"R","customerID":"C",` +
			purchase + `}`,
			`{"voucherCode":"` + cards[0].code + `","amount":5,"organizationID":"` + pier + `",` + purchase + `}`,
			`{"voucherPublicToken":"` + cards[1].token + `","amount":5,"organizationID":"` + pier + `",` + purchase + `}`,
			sell(w.stockToSell(`"count":1`)[0].number, "5")},
		"adjust-gift": {`{"voucherID":"` + nowhere + `","amount":-0.01,"reasonCode":"FRAUD","reason":"why"}`},
		"clock":       {`{"advance":"P1D"}`, `{"now":"` + w.now().AddDate(1, 0, 0).UTC().Format(time.RFC3339) + `"}`},
		"book":        {`{"month":"2026-01","rate":7.5}`},
		"extend-gift": {`{"voucherID":"` + nowhere + `","validUntil":"2040-01-01T00:00:00Z"}`},
		"reschedule-gift": {`{"voucherID":"` + nowhere + `","deliveryDate":"` + soon +
			`","deliveryTimezoneId":"Asia/Tokyo"}`},
		"replace-gift": {`{"voucherID":"` + nowhere + `","reason":"R","deliver":{"deliveryMethodID":1,` +
			`"recipientContact":"a@example.com"}}`, `{"voucherID":"` + nowhere + `","reason":"R"}`},
		"transfer-balance": {`{"fromVoucherID":"` + g.id + `","toVoucherID":"` + nowhere + `","amount":0.01}`},
	}
	for _, plain := range plainOperations() {
		if all[plain] == nil {
			all[plain] = exampleRequests(plain, nowhere)
		}
	}
	return all
}

// letBe are members of a ticket that nothing depends on.
var letBe = []string{"ticketData.data.totals.subTotal", "ticketData.data.totals.taxTotal",
	"ticketData.data.totals.discountTotal",
	"ticketData.data.totals.serviceChargeTotal"}

// onTicket reports whether a member is of a ticket, beside which a till may tell more.
func onTicket(p place) bool { return strings.HasPrefix(p.path, "ticketData.data.") }

// place is one member of a request: the object it is in, its name, and its path.
type place struct {
	in         map[string]any
	name, path string
}

// membersOf lists every member of a request, at every depth, in a fixed order.
func membersOf(v any, path string) (all []place) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			all = append(append(all, place{v, name, at}), membersOf(v[name], at)...)
		}
	case []any:
		for n := range v {
			all = append(all, membersOf(v[n], fmt.Sprintf("%s[%d]", path, n))...)
		}
	}
	return all
}

// eachMember calls try for each member of every request. The member is in a copy of the request that try may spoil;
// body writes it.
func (w *world) eachMember(t *testing.T, try func(t *testing.T, operation string, body func() string, p place)) {
	for operation, bodies := range w.whole() {
		for n, body := range bodies {
			parse := func() (request map[string]any) {
				if err := json.Unmarshal([]byte(body), &request); err != nil {
					t.Fatalf("%s: %v", body, err)
				}
				return request
			}
			for i := range membersOf(parse(), "") {
				request := parse()
				p := membersOf(request, "")[i]
				write := func() string {
					text, err := json.Marshal(request)
					if err != nil {
						t.Fatal(err)
					}
					return string(text)
				}
				t.Run(fmt.Sprintf("%s/%d/%s", operation, n, p.path), func(t *testing.T) { try(t, operation, write, p) })
			}
		}
	}
}

func TestEveryMemberRefusesWhatItIsNot(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	integers := []string{"deliveryMethodID", "paymentMethodID", "itemGift.quantity", "validForDays", "expiresInSeconds",
		"count"}
	w.eachMember(t, func(t *testing.T, operation string, body func() string, p place) {
		if slices.Contains(letBe, p.path) {
			return
		}
		good := p.in[p.name]
		for _, bad := range []any{"x", true, 1.5, map[string]any{}, []any{}} {
			same := fmt.Sprintf("%T", bad) == fmt.Sprintf("%T", good)
			if bad == 1.5 && (same && p.path != "quantity" && !slices.ContainsFunc(integers, func(i string) bool {
				return strings.HasSuffix(p.path,
					i)
			}) || p.name == "voucherCode") || same && bad != 1.5 {
				continue
			}
			p.in[p.name] = bad
			w.in(t).post(operation, body()).refused(400, refusal.ValidationFailure, p.path)
		}
	})
}

func TestEveryTextRefusesControlCharacters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.eachMember(t, func(t *testing.T, operation string, body func() string, p place) {
		good, ok := p.in[p.name].(string)
		if !ok {
			return
		}
		for _, bad := range []string{"\x00", "\u2028"} {
			p.in[p.name] = good + bad
			if p.name == "activationCode" && bad == "\u2028" { // as any space between its digits
				continue
			}
			// around it, they are what a scanner adds: see gift.TestWhatScannersAdd
			if p.name == "voucherPublicToken" || p.name == "activationCode" {
				p.in[p.name] = good[:len(good)-1] + bad + good[len(good)-1:]
			}
			r := w.in(t).post(operation, body())
			if p.path == "ticketData.format" {
				r.refused(422, refusal.NotSupported, p.path)
			} else {
				r.refused(400, refusal.Code(r.at("code")), p.path)
			}
		}
	})
}

func TestEveryMemberIsSuggestedAndTakenOnce(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	w.eachMember(t, func(t *testing.T, operation string, body func() string, p place) {
		value := p.in[p.name]
		p.in[p.name+"x"] = value
		wrong := body()
		r := w.in(t).post(operation, wrong)
		if onTicket(p) {
			r.want(200)
		} else if r.refused(400, refusal.ValidationFailure, p.path+"x"); !strings.Contains(string(r.body), "did you mean "+
			p.name+"?") {
			t.Errorf("it does not suggest %s: %s", p.name, r.body)
		}
		twice := strings.Replace(wrong, `"`+p.name+`x":`, fmt.Sprintf(`"\u%04x%s":`, p.name[0], p.name[1:]), 1)
		w.in(t).post(operation, twice).refused(400, refusal.ValidationFailure, p.path)
	})
}

// implied are members that say in the requests of whole what a request without them means, and why.
var implied = map[string]string{
	"activate-gift paymentMethodID":                           "a card is paid for in one way only",
	"reload-gift paymentMethodID":                             "a reload is paid for in one way only",
	"redeem-gift ticketData.data.lineItems[0].itemTotalPrice": "it is unit price times quantity",
	"hold-gift ticketData.data.lineItems[0].itemTotalPrice":   "it is unit price times quantity",
}

// TestEveryMemberIsInTheFingerprint: of two requests that differ in one member, no one is the repeat of the other.
func TestEveryMemberIsInTheFingerprint(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	seen, texts := map[string]bool{}, newTexts(t)
	w.eachMember(t, func(t *testing.T, name string, body func() string, p place) {
		if !slices.Contains(operation.All(), operation.Name(name)) || implied[name+" "+p.path] != "" {
			return // a call that changes nothing has no fingerprint
		}
		seen[name] = true
		whole := texts.of(name, body())
		if is, ok := p.in[p.name].(bool); ok {
			p.in[p.name] = !is
		} else {
			delete(p.in, p.name)
		}
		if without := texts.of(name, body()); without == whole || whole == "" {
			t.Errorf("%s makes no difference to %s", p.path, whole)
		}
	})
	for _, o := range operation.All() {
		if !seen[string(o)] {
			t.Errorf("%s has no request to be changed", o)
		}
	}
}

// TestWhatAnOperationNeedsIsAskedFor: a request without a member that the OpenAPI file requires is refused, and so is
// one in which the member is null. The refusal names each such member.
func TestWhatAnOperationNeedsIsAskedFor(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	whole := w.whole()
	for operation := range paths {
		required := theRequests()[operation].required
		t.Run(operation, func(t *testing.T) { w.in(t).post(operation, `{}`).refused(400, refusal.ValidationFailure, required...) })
		for _, name := range required {
			var request map[string]any
			if err := json.Unmarshal([]byte(whole[operation][0]), &request); err != nil || request[name] == nil {
				t.Fatalf("%s: no %s in %v, %v", operation, name, request, err)
			}
			for what, spoil := range map[string]func(){
				"null": func() { request[name] = nil }, "absent": func() { delete(request, name) },
			} {
				spoil()
				body, err := json.Marshal(request)
				if err != nil {
					t.Fatal(err)
				}
				t.Run(operation+"/"+name+"/"+what, func(t *testing.T) {
					w.in(t).post(operation, string(body)).refused(400, refusal.ValidationFailure, name)
				})
			}
		}
	}
}

// TestWholeRequestsAreWhole: between them, the requests that are spoiled above have every member that the OpenAPI file
// knows of any operation.
func TestWholeRequestsAreWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var file struct {
		Paths map[string]struct {
			Post *struct {
				RequestBody struct {
					Content map[string]struct{ Schema any }
				}
			}
		}
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(theFile, &file); err != nil {
		t.Fatal(err)
	}
	whole, operations := w.whole(), 0
	a := &agreement{schemas: file.Components.Schemas}
	for path, is := range file.Paths {
		if is.Post == nil || strings.Contains(path, "/webhooks") || // see TestWebhooksAreChecked
			strings.Contains(path, "/tills") || strings.Contains(path, "/people") || // see TestTillsAreChecked
			strings.Contains(path, "/imports") { // its body is a file
			continue
		}
		operations++
		operation := path[strings.LastIndex(path, "/")+1:]
		spoiled := map[string]bool{}
		for _, body := range whole[operation] {
			var request map[string]any
			if err := json.Unmarshal([]byte(body), &request); err != nil {
				t.Fatal(err)
			}
			for _, p := range membersOf(request, "") {
				spoiled[strings.ReplaceAll(p.path, "[0]", "")] = true
			}
		}
		members := a.members(is.Post.RequestBody.Content["application/json"].Schema, "")
		if len(members) == 0 {
			t.Errorf("%s has no members", operation)
		}
		for _, member := range members {
			// No ticket has all options; TestPlatformTicketsAreRefused spoils them.
			if !spoiled[member] && !strings.HasPrefix(member, "ticketData.options") {
				t.Errorf("%s: no request has %s", operation, member)
			}
		}
	}
	if operations != len(whole) {
		t.Errorf("%d operations are spoiled, want %d", len(whole), operations)
	}
}

// members lists the members of a request that a schema knows, at every depth.
func (a *agreement) members(schema any, path string) (all []string) {
	s := a.resolved(schema)
	properties, _ := s["properties"].(map[string]any)
	for name, of := range properties {
		all = append(append(all, path+name), a.members(of, path+name+".")...)
	}
	if items := s["items"]; items != nil {
		all = append(all, a.members(items, path)...)
	}
	return all
}

// The requests that are spoiled above are good before.
func TestWholeRequestsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	booked := ledgerAccounts
	booked.Breakage = "8200"
	w.configure(func(a *merchant.Account) { a.Books = merchant.Books{Accounts: booked} })
	for operation, bodies := range w.whole() {
		for _, body := range bodies {
			r := w.post(operation, body)
			nothing := operation == "book" && strings.Contains(string(r.body), "There is nothing to book for 2026-01")
			if r.status >= 400 && r.status != 404 && !nothing {
				t.Errorf("%s: %d %s", operation, r.status, r.body)
			}
		}
	}
}
