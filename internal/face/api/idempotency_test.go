package api_test

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
)

// again checks that an answer repeats another, byte for byte.
func (r reply) again(first reply) {
	r.Helper()
	if r.status != first.status || !bytes.Equal(r.body, first.body) || r.header.Get("Idempotent-Replayed") != "true" {
		r.Errorf("not the first answer: %d %v %s, first %d %s", r.status, r.header, r.body, first.status, first.body)
	}
	if r.header.Get("Content-Type") != first.header.Get("Content-Type") {
		r.Errorf("Content-Type %q, first %q", r.header.Get("Content-Type"), first.header.Get("Content-Type"))
	}
}

func TestTheSameRequestGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"monetaryGift":{"value":25,"deliveryMethodID":3,"organizationID":"` + pier + `"},` + purchase + `}`
	first := w.post("send-gift", body, once("s")...).want(201)
	if first.header.Get("Idempotent-Replayed") != "" {
		t.Error("the first answer calls itself a replay")
	}
	w.post("send-gift", body, once("s")...).again(first)
	spelled := ` { ` + purchase + `, "notes":null, "monetaryGift" : {"deliveryMethodID":3.0,"value":2.5e1,` +
		`"organizationID":"` + strings.ToUpper(pier) + `"} }`
	w.post("send-gift", spelled, once("s")...).again(first)
	w.post("send-gift", body, append(once("s"), as(rotatedKey)...)...).again(first)
	w.post("send-gift", strings.Replace(body, ":25,", ":25.01,", 1), once("s")...).refused(422,
		refusal.IdempotencyMismatch)
	if n := w.wakes.Load(); n != 1 {
		t.Errorf("woken %d times", n)
	}

	g := made{id: first.at("gifts[0].voucherID")}
	redeemed := w.redeem(g, "20", once("s")...).want(200) // the scope is the operation too
	w.redeem(g, "20.00", once("s")...).again(redeemed)
	w.redeem(g, "2e1", append(once("s"), as(rotatedKey)...)...).again(redeemed)
	for _, other := range []string{
		redeemBody(g, "21"), redeemBody(g, ""), strings.Replace(redeemBody(g, "20"), "}", `,"reference":"x"}`, 1),
		strings.Replace(redeemBody(g, "20"), "}", `,"allowPartial":true}`, 1), `{"voucherID":"` + nowhere +
			`","organizationID":"` + pier + `","amount":20}`,
	} {
		w.post("redeem-gift", other, once("s")...).refused(422, refusal.IdempotencyMismatch)
	}
	reverse := `{"redemptionID":"` + redeemed.at("redemptionID") + `","amount":5}`
	reversed := w.post("reverse-redemption", reverse, once("s")...).want(200)
	w.post("reverse-redemption", reverse, once("s")...).again(reversed)
	cancelled := w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"CANCELLED"}`, once("s")...).want(200)
	w.post("cancel-gift", `{"cause":"CANCELLED","voucherID":"`+g.id+`"}`, once("s")...).again(cancelled)
	w.redeem(g, "20", once("s")...).again(redeemed) // before any rule: the gift is cancelled by now

	mail := w.send(mailed("ana@example.com"))
	put := w.post("reschedule-gift", `{"voucherID":"`+mail.id+`","deliveryDate":"`+soon+`"}`, once("s")...).want(200)
	again := w.post("resend-gift", `{"voucherID":"`+mail.id+`","recipientContact":"ben@example.com"}`,
		once("s")...).want(200)
	w.post("cancel-gift", `{"voucherID":"`+mail.id+`","cause":"CANCELLED"}`).want(200)
	w.post("resend-gift", `{"recipientContact":"ben@example.com","voucherID":"`+strings.ToUpper(mail.id)+`"}`,
		once("s")...).again(again)
	w.post("reschedule-gift", `{"voucherID":"`+mail.id+`","deliveryDate":"`+strings.Replace(soon, "Z", "+00:00", 1)+`"}`,
		once("s")...).again(put)
	refused := w.post("resend-gift", `{"voucherID":"`+mail.id+`"}`, once("late")...).refused(409,
		refusal.RedemptionNotAllowed)
	w.post("resend-gift", `{"voucherID":"`+mail.id+`"}`, once("late")...).again(refused)
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "10.00", "status", "CANCELLED")
}

func TestRefusalsOnTheGiftsStateAreReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	first := w.redeem(g, "6", once("r")...).refused(409, refusal.InsufficientBalance)
	w.redeem(g, "5").want(200)
	w.redeem(g, "6", once("r")...).again(first)
	// What was never stored may be repeated: a malformed request, one without a valid key.
	w.redeem(g, "0", once("n")...).refused(400, refusal.ValidationFailure)
	w.redeem(g, "1", append(once("n"), as("boon_test_nobody")...)...).refused(401, refusal.Unauthenticated)
	other := w.send(ofMoney("5"))
	w.redeem(other, "1", once("n")...).want(200)
}

func TestAReplayComesBeforeEveryRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	soon := w.now().Add(2 * time.Minute).UTC().Format(time.RFC3339)
	scheduled := `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"a@example.com",` +
		`"hasScheduledDelivery":true,"deliveryDate":"` + soon + `"},` + purchase + `}`
	sent := w.post("send-gift", scheduled, once("k")...).want(201)
	g := w.send(ofMoney("5"))
	byCode := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `","amount":1}`
	redeemed := w.post("redeem-gift", byCode, once("k")...).want(200)
	byOrder := `{"orderID":"` + g.order + `","cause":"CANCELLED"}`
	cancelled := w.post("cancel-gift", byOrder, once("k")...).want(200)

	// The date passes, the storefront and the location go, and the till is locked out by misses.
	w.pass(time.Hour)
	for n := range merchant.GuessBurst {
		w.validate(n).refused(404, refusal.NotFound)
	}
	w.validate(99).refused(429, refusal.RateLimited)
	w.post("send-gift", scheduled, once("k")...).again(sent)
	w.post("redeem-gift", byCode, once("k")...).again(redeemed)
	w.post("redeem-gift", byCode, once("other")...).refused(429, refusal.RateLimited)
	changed := *w.directory.Load()
	changed.Accounts = map[guid.ID]*merchant.Account{}
	for id, a := range w.directory.Load().Accounts {
		changed.Accounts[id] = a
	}
	poor := *changed.Accounts[id(harbor)]
	poor.Locations, poor.Storefronts, poor.Subscriptions = nil, nil, nil
	changed.Accounts[poor.ID] = &poor
	w.directory.Store(&changed)
	w.post("send-gift", scheduled, once("k")...).again(sent)
	w.post("redeem-gift", byCode, once("k")...).again(redeemed)
	w.post("cancel-gift", byOrder, once("k")...).again(cancelled)
	w.post("redeem-gift", byCode, once("other")...).refused(409, refusal.AccountMisconfigured)
}

// validate asks for a code that does not exist.
func (w *world) validate(n int, headers ...string) reply {
	w.Helper()
	code := "99999" + strings.Repeat("0", 4) + string([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10)})
	return w.post("validate-gift", `{"voucherCode":"`+code+`","organizationID":"`+pier+`"}`, headers...)
}

func TestTwoTillsWithOneKeyDoNotShareAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"voucherID":"` + w.send(ofMoney("5")).id + `","amount":1}`
	w.post("redeem-gift", body, append(once("1"), as(pierKey)...)...).want(200, "organizationID", pier)
	w.post("redeem-gift", body, append(once("1"), as(wharfKey)...)...).refused(422, refusal.IdempotencyMismatch)
}

// TestIntegratorsDoNotShareKeys: partner sites that send for one account and happen to use the same Idempotency-Key
// for the same gift are two callers, each with a gift of its own; so is the account itself. An integrator's new
// secret is no new integrator.
func TestIntegratorsDoNotShareKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := ofMoney("5", `,"accountID":"`+harbor+`"`)
	tokens := map[string]bool{}
	var first reply
	for _, key := range []string{harborKey, partnerKey, systemKey} {
		first = w.post("send-gift", body, append(once("1"), as(key)...)...).want(201)
		tokens[first.at("gifts[0].voucherPublicToken")] = true
		w.post("send-gift", body, append(once("1"), as(key)...)...).again(first)
	}
	if len(tokens) != 3 {
		t.Errorf("three callers made %d gifts", len(tokens))
	}
	if r := w.get("/requests/1").want(200); strings.Contains(string(r.body), first.at("gifts[0].voucherID")) {
		t.Errorf("the account is shown the calls of an integrator: %s", r.body)
	}
	const renewed = "boon_test_system-111111111111111111111"
	err := w.store.Configure(t.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		old := *d.Keys[merchant.HashKey(systemKey)]
		old.RevokedAt = time.Now()
		k := old
		k.ID, k.Hash, k.RevokedAt = id("00000000-0000-7000-8000-000000000099"), merchant.HashKey(renewed), time.Time{}
		return merchant.Changes{Keys: []*merchant.Key{&old, &k}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	directory, err := w.store.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.directory.Store(directory)
	w.post("send-gift", body, append(once("1"), as(renewed)...)...).again(first)
	w.post("send-gift", body, append(once("1"), as(systemKey)...)...).refused(401, refusal.Unauthenticated)
}

// TestAnOldSetUpUsesNothingNew: an instance that has not read the set-up since an account was changed makes no gift in
// its former currency and notes nothing at a location that was removed; the calls repeat, and are judged anew.
func TestAnOldSetUpUsesNothingNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.directory.Load()
	used, unused := w.send(ofMoney("5")), *old.Accounts[id(corner)]
	w.redeem(used, "1").want(200)
	unused.Currency = yen
	less := *old.Accounts[id(harbor)]
	less.Locations = slices.DeleteFunc(slices.Clone(less.Locations),
		func(l merchant.Location) bool { return l.ID == id(wharf) })
	err := w.store.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		return merchant.Changes{Accounts: []*merchant.Account{&unused, &less}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	send := func() reply {
		body := strings.Replace(ofMoney("25"), shop, cornerShop, 1)
		return w.post("send-gift", body, append(once("1"), as(cornerKey)...)...)
	}
	redeem := func() reply {
		return w.post("redeem-gift", `{"voucherID":"`+used.id+`","organizationID":"`+wharf+`","amount":1}`, once("2")...)
	}
	send().refused(503, refusal.Unavailable)
	redeem().refused(503, refusal.Unavailable)
	w.redeem(used, "1").want(200) // what is in use stays
	directory, err := w.store.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.directory.Store(directory)
	if r := send().want(201); r.at("gifts[0].currency") != "JPY" {
		t.Errorf("%s", r.body)
	}
	redeem().refused(404, refusal.NotFound, "organizationID")
}

func TestAKeyThatIsNotEnabledIsNotTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	w.redeem(g, "1", once("1")...).want(200)
	w.redeem(g, "1", append(once("1"), as(wharfKey)...)...).refused(403, refusal.NotAuthorized)
	mail := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"ana@example.com",` +
		`"organizationID":"` + pier + `"},` + purchase + `}`)
	soon := w.now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, call := range [][2]string{
		{"reschedule-gift", `{"voucherID":"` + mail.id + `","deliveryDate":"` + soon + `"}`},
		{"resend-gift", `{"voucherID":"` + mail.id + `"}`},
		{"cancel-gift", `{"voucherID":"` + mail.id + `","cause":"CANCELLED"}`},
		{"reinstate-gift", `{"voucherID":"` + mail.id + `"}`},
		{"block-gift", `{"voucherID":"` + mail.id + `","reasonCode":"LOST"}`},
		{"unblock-gift", `{"voucherID":"` + mail.id + `"}`},
		{"adjust-gift", `{"voucherID":"` + mail.id + `","amount":1,"reasonCode":"MISTAKE","reason":"why"}`},
	} {
		w.post(call[0], call[1], once("2")...).want(200)
		r := w.post(call[0], call[1], append(once("2"), as(wharfKey)...)...).refused(403, refusal.NotAuthorized)
		if text := r.at("messages[0].text"); !strings.Contains(text, "a new, random Idempotency-Key") {
			t.Errorf("it says nothing to do: %s", text)
		}
	}
}

// TestALongAnswerIsGivenAgain: the answer to a large order is kept as any other is.
func TestALongAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"monetaryGift":{"value":5,"deliveryMethodID":3},"recipients":[{}` + strings.Repeat(`,{"message":"Ça va?"}`,
		299) + `],` + purchase + `}`
	first := w.post("send-gift", body, once("many")...).want(201, "gifts[299].message", "Ça va?")
	w.post("send-gift", body, once("many")...).again(first)
	kept := w.get("/requests/many").want(200, "requests[0].state", "finished")
	if !bytes.Contains(kept.body, first.body) {
		t.Error("what became of the call is told with another answer")
	}
	w.post("send-gift", strings.Replace(body, "Ça", "Qué", 1), once("many")...).refused(422, refusal.IdempotencyMismatch)
}

func TestValidateIgnoresAKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	body := `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"}`
	w.post("validate-gift", body, once("v")...).want(200, "currentBalance", "5.00")
	w.redeem(g, "1").want(200)
	second := w.post("validate-gift", body, once("v")...).want(200, "currentBalance", "4.00")
	if second.header.Get("Idempotent-Replayed") != "" {
		t.Error("an answer of validate-gift was kept")
	}
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","pointOfSaleSystemOrganizationIdentifier":"POS-1"}`,
		once("v")...).want(200)
	w.post("validate-gift", body, once(strings.Repeat("k", 256))...).want(200) // no key is looked at
	w.get("/requests/v").refused(404, refusal.NotFound)
	w.get("/requests/v?operation=validate-gift").refused(400, refusal.ValidationFailure, "operation")
	w.validate(1, once("v")...).refused(404, refusal.NotFound)
	w.get("/requests/v").refused(404, refusal.NotFound)
}

func TestRacingCallsWithOneKeyRedeemOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("50"))
	answers := make([]reply, 16)
	var all sync.WaitGroup
	for n := range answers {
		all.Go(func() {
			answers[n] = w.redeem(g, "1", once("race")...)
			for answers[n].status == 409 { // REQUEST_IN_PROGRESS, on a slow machine; a till repeats it, too
				answers[n] = w.redeem(g, "1", once("race")...)
			}
		})
	}
	all.Wait()
	for _, a := range answers {
		a.want(200, "currentBalance", "49.00")
		if !bytes.Equal(a.body, answers[0].body) {
			t.Errorf("two answers: %s and %s", a.body, answers[0].body)
		}
	}
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "49.00")
}

func TestAKeyIsRequiredWhereTheAccountSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := strings.Replace(ofMoney("500"), shop, carefulShop, 1)
	for operation := range paths {
		r := w.post(operation, `{}`, as(carefulKey)...).refused(400, refusal.ValidationFailure)
		if asked := strings.Contains(string(r.body), "Idempotency-Key"); asked != (operation != "validate-gift") {
			t.Errorf("%s: %s", operation, r.body)
		}
	}
	w.post("send-gift", body, as(carefulKey)...).refused(400, refusal.ValidationFailure, "Idempotency-Key")
	sent := w.post("send-gift", body, append(once("y"), as(carefulKey)...)...).want(201, "gifts[0].value", "500")
	v := `{"voucherCode":"` + sent.at("gifts[0].voucherCode") + `"}`
	// it changes nothing: no key is required
	w.post("validate-gift", v, as(carefulKey)...).want(200, "currentBalance", "500")
	w.redeem(made{id: sent.at("gifts[0].voucherID")}, "1", as(carefulKey)...).refused(400, refusal.ValidationFailure,
		"Idempotency-Key")
	for _, bad := range []string{"", strings.Repeat("k", 256), "é"} {
		w.post("redeem-gift", `{}`, once(bad)...).refused(400, refusal.ValidationFailure, "Idempotency-Key")
	}
	w.post("redeem-gift", `{}`, "Idempotency-Key", "a", "Idempotency-Key", "b").refused(400, refusal.ValidationFailure,
		"Idempotency-Key")
}

func TestReversalByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	w.redeem(g, "2", once("till-1")...).want(200)
	w.post("reverse-redemption", `{"idempotencyKey":"till-1"}`).want(200, "amount", "2.00", "currentBalance", "5.00")
	w.post("reverse-redemption", `{"idempotencyKey":"till-1"}`).refused(409, refusal.AlreadyReversed)
	w.post("reverse-redemption", `{"idempotencyKey":"never"}`).refused(404, refusal.NotFound, "idempotencyKey")
	w.redeem(g, "2", once("never")...).refused(409, refusal.RedemptionNotAllowed)
	w.get("/requests/never").want(200, "requests[0].state", "spent", "requests[0].answer", "null")
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "5.00")
	item := w.send(`{"itemGift":{"label":"Latte","quantity":3,"deliveryMethodID":3},` + purchase + `}`)
	w.redeem(item, "2.0", once("till-2")...).want(200, "amount", "2", "currency", "null")
	w.post("reverse-redemption", `{"idempotencyKey":"till-2","amount":1}`).want(200, "amount", "1", "currency", "null",
		"currentBalance", "2")
	w.post("reverse-redemption", `{"idempotencyKey":"till-2","amount":0.5}`).refused(400, refusal.ValidationFailure, "amount")
}

func TestWhatBecameOfARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"), once("a key/of: mine")...)
	path := "/requests/a%20key%2Fof:%20mine"
	w.get("/requests/unknown").refused(404, refusal.NotFound, "key")
	sent := w.get(path).want(200, "requests[0].operation", "send-gift", "requests[0].state", "finished",
		"requests[0].status", "201",
		"requests[0].answer.orderID", g.order)
	if strings.Contains(string(sent.body), "redeem-gift") {
		t.Errorf("no redemption was made: %s", sent.body)
	}
	w.redeem(g, "9", once("a key/of: mine")...).refused(409, refusal.InsufficientBalance)
	w.get(path+"?operation=redeem-gift").want(200, "requests[0].operation", "redeem-gift", "requests[0].status", "409",
		"requests[0].answer.code", "INSUFFICIENT_BALANCE")
	w.get(path+"?operation=cancel-gift").refused(404, refusal.NotFound)
	w.get(path+"?operation=look-at-gift").refused(400, refusal.ValidationFailure, "operation")
	w.get(path, as(cornerKey)...).refused(404, refusal.NotFound)

	release := w.hold()
	end := w.start(operation.RedeemGift, "slow", func() { w.redeem(g, "1", once("slow")...).want(200) })
	w.get("/requests/slow").want(200, "requests[0].state", "running", "requests[0].status", "null",
		"requests[0].finishedAt", "null")
	release()
	end()
	w.get("/requests/slow", as(pierKey)...).want(200, "requests[0].state", "finished", "requests[0].answer.organizationID",
		pier)
	w.get("/requests/slow", as(wharfKey)...).refused(404, refusal.NotFound)
}

func TestAnswersSurviveARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	first := w.redeem(g, "1", once("k")...).want(200)
	refused := w.redeem(g, "6", once("r")...).refused(409, refusal.InsufficientBalance)
	sent := w.post("send-gift", ofMoney("7"), once("s")...).want(201)
	w.server.Close()
	w.engine.Stop()
	w.store.Close()
	reopened, err := store.Open(t.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	w.run(reopened)
	w.redeem(g, "1", once("k")...).again(first)
	w.redeem(g, "6", once("r")...).again(refused)
	w.post("send-gift", ofMoney("7"), once("s")...).again(sent)
	w.get("/gifting/gifts/"+g.id).want(200, "currentBalance", "4.00")
}
