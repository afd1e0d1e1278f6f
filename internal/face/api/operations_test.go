package api_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"boon.example/internal/face/api"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// TestMain demands, when the whole package was tested, that every answer in the OpenAPI file was seen: what no test
// produces may not be promised. And nothing may be left running.
func TestMain(m *testing.M) {
	status := pgtest.Main(m)
	whole := flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.fuzz").Value.String() == "" && flag.Lookup("test.list").Value.String() == "" &&
		pgtest.Whole() && !racetest.Enabled()
	if status == 0 && whole && contracts.checker != nil {
		for _, answer := range contracts.checker.Missing() {
			if strings.HasPrefix(answer, "getHealth") || strings.HasPrefix(answer, "getReadiness") {
				continue // the server's
			}
			fmt.Println("The OpenAPI file promises an answer that no test has seen:", answer)
			status = 1
		}
	}
	if err := goleak.Find(); status == 0 && err != nil {
		fmt.Println(err)
		status = 1
	}
	os.Exit(status)
}

// soon is a deliveryDate.
var soon = time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339)

// everywhere calls every operation with a request that is good as far as its form goes.
func (w *world) everywhere(check func(r reply, post bool), headers ...string) {
	w.Helper()
	w.everywhereAt("", func(route api.Route, r reply) { check(r, route.Method == "POST" || route.Method == "PATCH") },
		headers...)
}

// everywhereAt is everywhere with parameters in the address.
func (w *world) everywhereAt(parameters string, check func(api.Route, reply), headers ...string) {
	w.Helper()
	bodies := map[string]string{
		"send-gift": ofMoney("5"), "cancel-gift": `{"voucherID":"` + nowhere + `","cause":"CANCELLED"}`,
		"redeem-gift":        redeemBody(made{id: nowhere}, "1"),
		"validate-gift":      `{"voucherCode":"123456789012","organizationID":"` + pier + `"}`,
		"redeem-gifts":       `{"gifts":[{"voucherID":"` + nowhere + `"}],"organizationID":"` + pier + `"}`,
		"hold-gift":          redeemBody(made{id: nowhere}, "1"),
		"capture-hold":       `{"holdID":"` + nowhere + `"}`,
		"release-hold":       `{"holdID":"` + nowhere + `"}`,
		"reload-gift":        loadBody(made{id: nowhere}, "1"),
		"cash-out-gift":      `{"voucherID":"` + nowhere + `","organizationID":"` + pier + `"}`,
		"reverse-reload":     `{"reloadID":"` + nowhere + `"}`,
		"reverse-redemption": `{"redemptionID":"` + nowhere + `"}`,
		"reinstate-gift":     `{"voucherID":"` + nowhere + `"}`,
		"reschedule-gift":    `{"voucherID":"` + nowhere + `","deliveryDate":"` + soon + `"}`,
		"transfer-balance":   `{"fromVoucherID":"` + nowhere + `","toVoucherID":"` + nowhere + `"}`,
		"create-stock":       `{"count":1}`,
		"reverse-activation": `{"activationID":"` + nowhere + `"}`,
		"activate-gift":      activateBody(made{id: nowhere}, "5"),
		"clock":              `{"advance":"P1D"}`,
		"book":               `{"month":"2026-01","rate":5}`,
		"tills":              `{"name":"Counter 1","organizationID":"` + pier + `"}`, "set-pin": `{"name":"Nobody"}`,
		"webhooks":    `{"url":"https://example.com"}`,
		"{webhookID}": `{"enabled":false}`, "rotate-secret": `{}`,
		"replay": `{"from":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"}`,
	}
	for _, plain := range plainOperations() {
		if bodies[plain] == "" {
			bodies[plain] = exampleRequests(plain, nowhere)[0]
		}
	}
	for _, r := range api.Routes() {
		operation := r.Pattern[strings.LastIndex(r.Pattern, "/")+1:]
		path := strings.NewReplacer("{voucherID}", nowhere, "{key}", "k", "{orderID}", nowhere,
			"{webhookID}", nowhere, "{keyID}", nowhere, "{importID}", nowhere, "{entryID}", nowhere).Replace(r.Pattern)
		path += "?" + parameters
		if operation == "stock" {
			path += "&format=csv"
		}
		if strings.Contains(path, "/reports/") {
			path += "&" + askReports
		}
		if operation == "imports" {
			path += "&expectCount=0&expectTotal=0"
		}
		with := headers
		if operation == "clock" && !slices.Contains(headers, "Authorization") {
			with = append(as(sandboxKey), headers...)
		}
		check(r, w.do(r.Method, path, bodies[operation], with...))
	}
}

func TestFailuresThatEveryOperationHas(t *testing.T) {
	t.Parallel()
	refused := func(status int, code refusal.Code) func(reply, bool) {
		return func(r reply, _ bool) { r.refused(status, code) }
	}
	w := newWorld(t)
	w.everywhere(func(r reply, _ bool) {
		r.refused(401, refusal.Unauthenticated)
		w.pass(6 * time.Second) // so many are not too many
	}, as("boon_test_anonymous")...)
	for range 10 {
		w.get("/gifting/gifts", as("boon_test_anonymous")...).refused(401, refusal.Unauthenticated)
	}
	w.everywhere(refused(429, refusal.RateLimited), as("boon_test_anonymous")...)
	w.everywhere(func(r reply, post bool) {
		if post {
			r.refused(415, refusal.NotSupported)
		}
	}, "Content-Type", "text/plain")

	broken := newWorld(t, func(c *config) { c.Directory = func() *merchant.Directory { panic("broken") } })
	broken.everywhere(refused(500, refusal.UnexpectedError))

	closed := newWorld(t)
	closed.store.Close()
	closed.everywhere(refused(503, refusal.Unavailable))
}

func TestKeysAreHeldByEveryOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	redemption := w.redeem(g, "1").at("redemptionID")
	mail, given, other := w.send(mailed("ana@example.com")), w.promotional("5"), w.send(ofMoney("5"))
	waits := `{"voucherID":"` + mail.id + `"`
	bodies := map[operation.Name][2]string{
		operation.SendGift:   {ofMoney("5"), ofMoney("6")},
		operation.RedeemGift: {redeemBody(g, "1"), redeemBody(g, "2")},
		operation.ReverseRedemption: {`{"redemptionID":"` + redemption + `","amount":0.50}`, `{"redemptionID":"` + redemption +
			`"}`},
		operation.CancelGift: {`{"voucherID":"` + g.id + `","cause":"CANCELLED"}`, `{"voucherID":"` + g.id +
			`","cause":"CANCELLED","reason":"x"}`},
		operation.ReinstateGift: {`{"voucherID":"` + g.id + `"}`, `{"voucherID":"` + g.id + `","reason":"x"}`},
		operation.ResendGift:    {waits + `}`, waits + `,"recipientContact":"ana@example.com"}`},
		operation.AdjustGift: {`{"voucherID":"` + mail.id + `","amount":1,"reasonCode":"MISTAKE","reason":"why"}`,
			`{"voucherID":"` + mail.id + `","amount":-1,"reasonCode":"MISTAKE","reason":"why"}`},
		operation.ExtendGift: {`{"voucherID":"` + given.id + `","validUntil":"2040-01-01T00:00:00Z"}`,
			`{"voucherID":"` + given.id + `","validUntil":"2041-01-01T00:00:00Z"}`},
		operation.RescheduleGift: {waits + `,"deliveryDate":"` + soon + `"}`, waits + `,"deliveryDate":"` + soon +
			`","deliveryTimezoneId":"UTC"}`},
		operation.ReplaceGift: {`{"voucherID":"` + other.id + `","reason":"x"}`, `{"voucherID":"` + other.id +
			`","reason":"y"}`},
		operation.TransferBalance: {transferBody(w.send(ofMoney("5")), other, "1"), transferBody(other, g, "1")},
	}
	loaded := func() string {
		return `{"reloadID":"` + w.reload(w.send(ofMoney("5")), "1").want(200).at("reloadID") + `"}`
	}
	paying := w.send(ofMoney("5"))
	bodies[operation.RedeemGifts] = [2]string{saleBody(`"upTo":1`, paying), saleBody(`"upTo":2`, paying)}
	bodies[operation.ReloadGift] = [2]string{loadBody(other, "1"), loadBody(other, "2")}
	bodies[operation.CashOutGift] = [2]string{cashBody(w.send(ofMoney("5"))), cashBody(other)}
	bodies[operation.ReverseReload] = [2]string{loaded(), loaded()}
	cards := w.stock(`"count":3`)
	activated := func(card made) string {
		return `{"activationID":"` + w.post("activate-gift", activateBody(card, "5")).want(200).at("activationID") + `"}`
	}
	bodies[operation.CreateStock] = [2]string{`{"count":1}`, `{"count":2}`}
	bodies[operation.ActivateGift] = [2]string{activateBody(cards[0], "5"), activateBody(cards[0], "6")}
	bodies[operation.ReverseActivation] = [2]string{activated(cards[1]), activated(cards[2])}
	for _, plain := range plainOperations() {
		if o := operation.Name(plain); bodies[o][0] == "" {
			bodies[o] = [2]string{exampleRequests(plain, w.send(ofMoney("5")).id)[0], exampleRequests(plain, other.id)[0]}
		}
	}
	for op, body := range bodies {
		release := w.hold()
		end := w.start(op, "k", func() {
			if r := w.post(string(op), body[0], once("k")...); r.status >= 300 && op != operation.RedeemGift {
				w.Errorf("%s: %d %s", op, r.status, r.body)
			}
		})
		w.post(string(op), body[0], once("k")...).refused(409, refusal.RequestInProgress)
		release()
		end()
		w.post(string(op), body[1], once("k")...).refused(422, refusal.IdempotencyMismatch)
	}
}

func TestReversalNeedsTheLocationOfTheRedemption(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"redemptionID":"` + w.redeem(w.send(ofMoney("5")), "1").at("redemptionID") + `"}`
	w.post("reverse-redemption", body, append(once("k"), as(wharfKey)...)...).refused(404, refusal.NotFound,
		"redemptionID")
	w.post("reverse-redemption", strings.Replace(body, "}", `,"organizationID":"`+pier+`"}`, 1),
		as(wharfKey)...).refused(403, refusal.NotAuthorized)
	w.post("reverse-redemption", strings.Replace(body, "}", `,"organizationID":"`+pier+`"}`, 1),
		as(homelessKey)...).refused(409, refusal.AccountMisconfigured)
	// By its Idempotency-Key it must not be told that nothing was taken.
	w.redeem(w.send(ofMoney("5")), "1", once("sale")...).want(200)
	w.post("reverse-redemption", `{"idempotencyKey":"sale","organizationID":"`+nowhere+`"}`).refused(400,
		refusal.ValidationFailure, "organizationID")
	w.redeem(w.send(ofMoney("5")), "6", once("no sale")...).refused(409, refusal.InsufficientBalance)
	for _, key := range []string{"sale", "no sale"} {
		w.post("reverse-redemption", `{"idempotencyKey":"`+key+`"}`, as(wharfKey)...).refused(403, refusal.NotAuthorized)
	}
	w.post("reverse-redemption", `{"idempotencyKey":"sale"}`, as(pierKey)...).want(200)
	w.post("reverse-redemption", `{"idempotencyKey":"no sale"}`, as(pierKey)...).refused(404, refusal.NotFound)
	// The key of the location may repeat it under the same Idempotency-Key: a refusal of the API key is not remembered.
	w.post("reverse-redemption", body, append(once("k"), as(pierKey)...)...).want(200, "organizationID", pier)
}

// TestAGiftIsNamedOnce: whatever is asked of a gift at a till, it is named in one of the three ways, and by one alone.
func TestAGiftIsNamedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for operation, fresh := range map[string]func() (g made, more string){
		"redeem-gift":   func() (made, string) { return w.send(ofMoney("5")), `,"amount":1` },
		"hold-gift":     func() (made, string) { return w.send(ofMoney("5")), `,"amount":1` },
		"cash-out-gift": func() (made, string) { return w.send(ofMoney("5")), "" },
		"reload-gift":   func() (made, string) { return w.send(ofMoney("5")), `,"amount":1,` + paidAt(shop) },
		"activate-gift": func() (made, string) { return w.stock(`"count":1`)[0], `,"amount":1,` + purchase },
	} {
		ask := func(more string, names ...string) reply {
			return w.post(operation, `{`+strings.Join(names, ",")+`,"organizationID":"`+pier+`"`+more+`}`)
		}
		named := func(g made) []string {
			return []string{`"voucherID":"` + g.id + `"`, `"voucherCode":"` + g.code + `"`,
				`"voucherPublicToken":"` + g.token + `"`}
		}
		for n := range named(made{}) {
			g, more := fresh()
			all := named(g)
			ask(more, all[n], all[(n+1)%3]).refused(400, refusal.ValidationFailure)
			ask(more, all...).refused(400, refusal.ValidationFailure)
			ask(more, `"reference":null`).refused(400, refusal.ValidationFailure)
			ask(more, all[n]).want(200, "voucherID", g.id)
		}
	}
	w.sound()
}

func TestRedeemNamesTheGiftAsValidateDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	at := `,"organizationID":"` + pier + `"}`
	w.post("redeem-gift", `{"voucherCode":"1"`+at).refused(400, refusal.InvalidCodeFormat, "voucherCode")
	w.post("redeem-gift", `{"voucherPublicToken":"1"`+at).refused(400, refusal.InvalidTokenFormat, "voucherPublicToken")
	w.post("redeem-gift", `{"voucherPublicToken":"0123456789ABCDEFGHIJKL"`+at).refused(404, refusal.NotFound,
		"voucherPublicToken")
	w.post("redeem-gift", `{"voucherID":"`+g.id+`","targetTypeCode":"NOT_GIFT"`+at).refused(422, refusal.InvalidVoucherType,
		"targetTypeCode")
	w.post("redeem-gift", `{"voucherPublicToken":"/g/`+g.token+`","amount":1`+at).want(200, "voucherID", g.id)
}

func TestDocPagesAreServed(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	for _, path := range []string{"/openapi.json", "/docs", "/docs/errors", "/docs/reference",
		"/docs/reference/sendGift"} {
		w.do("GET", path, "").want(200)
		w.do("POST", path, "").refused(405, refusal.NotSupported)
	}
	for _, path := range []string{"/docs/assets/nothing.js", "/docs/nothing", "/docs/reference/nothing"} {
		w.do("GET", path, "").refused(404, refusal.NotFound)
	}
}

// TestCancellationIsAllOrNone: one gift that cannot be cancelled keeps all of its order, and every such gift is named.
func TestCancellationIsAllOrNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"recipients":[{},{},{},{}],`+
		strings.Replace(purchase, "R-1", "R-2", 1)+`}`).want(201)
	var ids []string
	for n := range 4 {
		ids = append(ids, sent.at(fmt.Sprintf("gifts[%d].voucherID", n)))
	}
	w.redeem(made{id: ids[1]}, "5").want(200, "status", "REDEEMED")
	taken := w.redeem(made{id: ids[3]}, "1").want(200, "status", "CLAIMED")
	by := map[string]string{"orderID": sent.at("orderID"), "externalTransactionReferenceNumber": "R-2"}
	refused := func(cause string, named ...int) {
		t.Helper()
		for name, value := range by {
			r := w.post("cancel-gift", `{"`+name+`":"`+value+`","cause":"`+cause+`"}`).refused(409, refusal.RedemptionNotAllowed)
			for n, id := range ids {
				if got, want := strings.Contains(string(r.body), id), slices.Contains(named, n); got != want {
					t.Errorf("%s by %s: gift %d is named: %v, want %v: %s", cause, name, n, got, want, r.body)
				}
			}
		}
		for _, n := range []int{0, 2} {
			w.get("/gifting/gifts/"+ids[n]).want(200, "status", "DELIVERED")
		}
	}
	refused("CANCELLED", 1)
	refused("PURCHASE_FAILED", 1, 3)
	w.post("reverse-redemption", `{"redemptionID":"`+taken.at("redemptionID")+`"}`).want(200, "currentBalance", "5.00")
	refused("PURCHASE_FAILED", 1, 3) // what was redeemed once was no failed purchase
	w.post("cancel-gift", `{"voucherID":"`+ids[3]+`","cause":"CANCELLED"}`).want(200)
	refused("CANCELLED", 1) // what is cancelled already counts as done
}

// TestCancellationTellsOfEach: what is done already counts as done, and what may not be done is skipped and named
// where the caller says so.
func TestCancellationTellsOfEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"recipients":[{},{},{}],`+purchase+
		`}`).want(201)
	id := func(n int) string { return sent.at(fmt.Sprintf("gifts[%d].voucherID", n)) }
	w.post("cancel-gift", `{"voucherID":"`+id(0)+`","cause":"PURCHASE_FAILED"}`).want(200, "vouchers[0].outcome", "DONE")
	w.redeem(made{id: id(1)}, "1").want(200)
	byOrder := `{"orderID":"` + sent.at("orderID") + `","cause":"PURCHASE_FAILED"`
	w.post("cancel-gift", byOrder+`}`).refused(409, refusal.RedemptionNotAllowed)
	w.post("cancel-gift", byOrder+`,"skipNotAllowed":false}`).refused(409, refusal.RedemptionNotAllowed)
	r := w.post("cancel-gift", byOrder+`,"skipNotAllowed":true}`).want(200).has("vouchers", 3)
	want := map[string][3]string{
		id(0): {"PURCHASE_FAILED", "ALREADY_DONE", "null"},
		id(1): {"CLAIMED", "NOT_ALLOWED",
			"Gift " + id(1) + " cannot be reported as a failed purchase: part of it has been redeemed."},
		id(2): {"PURCHASE_FAILED", "DONE", "null"},
	}
	for n := range 3 {
		at := fmt.Sprintf("vouchers[%d].", n)
		expected := want[r.at(at+"voucherID")]
		r.want(200, at+"status", expected[0], at+"outcome", expected[1], at+"reason", expected[2])
	}
	for n := range 3 { // nothing was entered for what was done already, or not at all
		w.get("/gifting/gifts/"+id(n)+"/history").want(200).has("entries", 2)
	}
	w.post("cancel-gift", `{"voucherID":"`+id(0)+`","cause":"CANCELLED"}`).refused(409, refusal.RedemptionNotAllowed)
	w.post("cancel-gift", `{"voucherID":"`+nowhere+`","cause":"CANCELLED","skipNotAllowed":true}`).refused(404,
		refusal.NotFound)
}

// TestOnePurchaseIsCancelled: purchases at two storefronts, and those of two partners, may have the same reference;
// one is never taken for another.
func TestOnePurchaseIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web, desk := w.send(ofMoney("5")), w.send(strings.Replace(ofMoney("5"), shop, counter, 1))
	atDesk := strings.Replace(ofMoney("5", `,"accountID":"`+harbor+`"`), shop, counter, 1)
	partner := w.send(atDesk, as(partnerKey)...)
	cancel := func(more string) reply {
		return w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-1","cause":"PURCHASE_FAILED"`+more+`}`)
	}
	status := func(g made, want string) { t.Helper(); w.get("/gifting/gifts/"+g.id).want(200, "status", want) }
	said := string(cancel("").refused(400, refusal.ValidationFailure, "externalStorefrontID").body)
	for _, name := range []string{"Web shop (" + shop, "Front counter (" + counter, "through partner"} {
		if !strings.Contains(said, name) {
			t.Errorf("%s does not name %s", said, name)
		}
	}
	// two made it
	cancel(member("externalStorefrontID", counter)).refused(400, refusal.ValidationFailure, "externalStorefrontID")
	cancel(member("externalStorefrontID", nowhere)).refused(404, refusal.NotFound)
	cancel(member("externalStorefrontID", shop)).want(200, "vouchers[0].voucherID", web.id).has("vouchers", 1)
	status(web, "PURCHASE_FAILED")
	status(desk, "DELIVERED")
	status(partner, "DELIVERED")
	w.post("cancel-gift", `{"orderID":"`+partner.order+`","cause":"PURCHASE_FAILED"}`).want(200)
	status(desk, "DELIVERED")
	other := strings.Replace(atDesk, "R-1", "R-9", 1)
	w.send(other, as(partnerKey)...)
	w.send(other, as(systemKey)...)
	w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-9","cause":"CANCELLED"}`).refused(400,
		refusal.ValidationFailure, "externalStorefrontID")
	w.post("cancel-gift", `{"orderID":"`+desk.order+`","externalStorefrontID":"`+counter+`","cause":"CANCELLED"}`).
		refused(400, refusal.ValidationFailure, "externalStorefrontID")
}

// TestReinstatement: what was taken out of use can be used again, as it was before.
func TestReinstatement(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"recipients":[{},{},{}],`+purchase+
		`}`).want(201)
	id := func(n int) string { return sent.at(fmt.Sprintf("gifts[%d].voucherID", n)) }
	w.redeem(made{id: id(0)}, "1").want(200)
	w.post("cancel-gift", `{"orderID":"`+sent.at("orderID")+`","cause":"CANCELLED"}`).want(200)
	w.redeem(made{id: id(0)}, "1").refused(409, refusal.RedemptionNotAllowed)
	w.post("reinstate-gift", `{"voucherID":"`+id(0)+`","reason":"a mistake"}`).want(200, "vouchers[0].status", "CLAIMED",
		"vouchers[0].statusID", "5",
		"vouchers[0].currentBalance", "4.00", "vouchers[0].outcome", "DONE", "vouchers[0].reason", "null").has("vouchers", 1)
	w.redeem(made{id: id(0)}, "1").want(200, "currentBalance", "3.00")
	byOrder := `{"orderID":"` + sent.at("orderID") + `"}`
	r := w.post("reinstate-gift", byOrder, once("r")...).want(200).has("vouchers", 3)
	for n := range 3 {
		at := fmt.Sprintf("vouchers[%d].", n)
		mine := r.at(at+"voucherID") == id(0)
		r.want(200, at+"status", pick(mine, "CLAIMED", "DELIVERED"), at+"outcome", pick(mine, "ALREADY_DONE", "DONE"))
	}
	w.post("reinstate-gift", byOrder, once("r")...).again(r)
	w.get("/requests/r?operation=reinstate-gift").want(200, "requests[0].status", "200")
	w.get("/gifting/gifts/"+id(0)+"/history").want(200, "entries[3].kind", "REINSTATEMENT", "entries[3].amount", "0.00",
		"entries[3].status", "CLAIMED",
		"entries[3].reason", "a mistake")
	w.redeem(made{id: id(1)}, "").want(200, "status", "REDEEMED")

	mail := w.send(mailed("ana@example.com"))
	w.post("cancel-gift", `{"voucherID":"`+mail.id+`","cause":"PURCHASE_FAILED"}`).want(200)
	w.post("validate-gift", `{"voucherCode":"`+mail.code+`","organizationID":"`+pier+`"}`).refused(409,
		refusal.RedemptionNotAllowed)
	w.post("reinstate-gift", `{"voucherID":"`+mail.id+`"}`).want(200, "vouchers[0].status", "PENDING")
	w.post("reinstate-gift", `{"voucherID":"`+mail.id+`"}`, as(systemKey)...).refused(422, refusal.NotSupported)
	w.post("reinstate-gift", `{"voucherID":"`+mail.id+`"}`, as(cornerKey)...).refused(404, refusal.NotFound)
	report, err := verify.All(t.Context(), w.store, 2, func(int64, int64) {})
	if err != nil || len(report.Problems) > 0 {
		t.Errorf("the books: %v %q", err, report.Problems)
	}
}
