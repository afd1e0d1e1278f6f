package vtex_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/face/provider/providertest"
	"boon.example/internal/merchant"
)

const holding = `permissions: [validate, redeem, reverse], holdDays: 45`

// token gives what the card of an address is debited with.
func (h *hub) token(card string) string {
	h.Helper()
	return fmt.Sprint(h.want(200, "", "GET", card, "")["redemptionToken"])
}

// sum is what a list of parts comes to, in cents.
func (h *hub) sum(path string) (cents int) {
	h.Helper()
	var parts []struct{ Value json.Number }
	if a := h.send("GET", path, ""); json.Unmarshal([]byte(a.Body), &parts) != nil {
		h.Fatalf("%s: %d %s", path, a.Status, a.Body)
	}
	for _, p := range parts {
		var whole, part int
		if _, err := fmt.Sscanf(string(p.Value), "%d.%d", &whole, &part); err != nil {
			h.Fatal(err)
		}
		cents += 100*whole + part
	}
	return cents
}

// TestStoryWithHolds is an order that is reserved, invoiced in parts and returned in part, as the Hub asks for it: it
// looks before it posts, posts what is left, and repeats.
func TestStoryWithHolds(t *testing.T) {
	t.Parallel()
	h := with(t, holding)
	g := h.Gift("50")
	card := "/giftcards/" + g.ID
	token := h.token(card)
	made := h.want(200, `"cardId":"`+g.ID+`"`, "POST", card+"/transactions", debit("30.0", token, "r-1"))
	h.want(200, fmt.Sprint(made["id"]), "POST", card+"/transactions", debit("3e1", token, "r-1"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", card+"/transactions", debit("5", token, "r-1"))
	h.want(400, `"INSUFFICIENT_BALANCE"`, "POST", card+"/transactions", debit("20.01", token, "r-2"))
	// what is reserved is not there for another order, though nothing was taken yet
	h.want(200, `"balance":20.00`, "GET", card, "")
	if a := h.API("gifting/gifts/"+g.ID, ""); !strings.Contains(a["text"].(string), `"currentBalance":50.00`) {
		t.Errorf("something was taken: %s", a["text"])
	}
	path := card + "/transactions/" + fmt.Sprint(made["id"])
	h.want(200, `"requestId":"r-1"`, "GET", path, "")
	h.want(200, `"operation":"Debit"`, "GET", path, "")
	h.want(200, `"value":30.00`, "GET", path+"/authorization", "")
	h.want(200, fmt.Sprint(made["id"]), "GET", card+"/transactions", "")
	// invoiced in two parts
	h.want(200, "[]", "GET", path+"/settlements", "")
	h.want(200, `"value":10.00`, "POST", path+"/settlements", part("10", "s-1"))
	h.want(200, `"value":10.00`, "POST", path+"/settlements", part("10.0", "s-1"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", path+"/settlements", part("11", "s-1"))
	h.want(400, "20.00 USD", "POST", path+"/settlements", part("30", "s-2")) // the full amount after a part
	h.want(200, `"value":12.50`, "POST", path+"/settlements", part("12.5", "s-3"))
	if got := h.sum(path + "/settlements"); got != 22_50 {
		t.Errorf("settled: %d", got)
	}
	if a := h.send("GET", card+"/transactions", ""); strings.Count(a.Body, `"cardId"`) != 1 {
		t.Errorf("what is settled counts as a transaction of its own: %s", a.Body)
	}
	// a return: first what was not invoiced, then what was, the oldest first
	h.want(200, "[]", "GET", path+"/cancellations", "")
	h.want(200, `"value":5.00`, "POST", path+"/cancellations", part("5", "c-1"))
	h.want(200, `"value":15.00`, "POST", path+"/cancellations", part("15", "c-2"))
	h.want(200, `"value":15.00`, "POST", path+"/cancellations", part("15", "c-2"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", path+"/cancellations", part("14", "c-2"))
	h.want(400, "Only 10.00 USD", "POST", path+"/cancellations", part("30", "c-3"))
	if got := h.sum(path + "/cancellations"); got != 20_00 {
		t.Errorf("given back: %d", got)
	}
	h.want(400, `"HOLD_NOT_OPEN"`, "POST", path+"/settlements", part("1", "s-4"))
	h.want(200, `"value":10.00`, "POST", path+"/cancellations", part("10", "c-3"))
	h.want(400, `"ALREADY_REVERSED"`, "POST", path+"/cancellations", part("1", "c-4"))
	h.want(200, `"balance":50.00`, "GET", card, "")
	history := h.History(g.ID)
	for _, want := range []string{`"v5195004lux-01/r-1"`, `"reference":"s-1"`, `"keyName":"VTEX"`, `"HOLD_RELEASED"`} {
		if !strings.Contains(history, want) {
			t.Errorf("the history lacks %s: %s", want, history)
		}
	}
	h.Verify()
}

// TestSettlementsAreOfTheirTransaction: a requestId counts once for the settlements of one transaction, and what was
// refused under it may be asked for again, whether the transactions hold or redeem.
func TestSettlementsAreOfTheirTransaction(t *testing.T) {
	t.Parallel()
	for _, fields := range []string{`permissions: [validate, redeem, reverse]`, holding} {
		h := with(t, fields)
		g := h.Gift("50")
		card := "giftcards/" + g.ID
		token := h.token(card)
		var paths []string
		for _, request := range []string{"r-1", "r-2"} {
			made := h.want(200, "cardId", "POST", card+"/transactions", debit("20", token, request))
			paths = append(paths, card+"/transactions/"+fmt.Sprint(made["id"])+"/settlements")
		}
		first := h.want(200, `"value":5.00`, "POST", paths[0], part("5", "s-1"))
		for range 2 {
			h.want(400, "15.00 USD", "POST", paths[0], part("20", "s-2"))
		}
		h.want(400, "15.00 USD", "POST", paths[0], part("15.01", "s-2"))
		h.want(200, `"value":15.00`, "POST", paths[0], part("15", "s-2"))
		h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", paths[0], part("14", "s-2"))
		h.want(200, `"value":15.00`, "POST", paths[0], part("15", "s-2"))
		h.want(200, `"value":5.00`, "POST", paths[1], part("5", "s-1"))
		h.want(200, `"value":7.00`, "POST", paths[1], part("7", "s-2"))
		if again := h.want(200, "", "POST", paths[0], part("5", "s-1")); again["oid"] != first["oid"] {
			t.Errorf("a repeat is told %v, and was told %v", again, first)
		}
		for range 2 { // nothing is left, whatever the amount
			h.want(400, "", "POST", paths[0], part("1", "s-3"))
			h.want(400, "", "POST", paths[0], part("2", "s-3"))
		}
		long := strings.Repeat("s", 100)
		h.want(200, `"value":1.00`, "POST", paths[1], part("1", long))
		h.want(200, `"value":1.00`, "POST", paths[1], part("1", long))
		if one, other := h.sum(paths[0]), h.sum(paths[1]); one != 20_00 || other != 13_00 {
			t.Errorf("settled: %d and %d", one, other)
		}
		if strings.Contains(h.send("POST", paths[0], part("2", "s-3")).Body, "IDEMPOTENCY_MISMATCH") {
			t.Error("a refusal sticks to its requestId")
		}
		h.Verify()
	}
}

// TestReleasedElsewhere: what the merchant releases, or cancels, counts as given back: the Hub asks for nothing twice.
func TestReleasedElsewhere(t *testing.T) {
	t.Parallel()
	h := with(t, holding)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	id := fmt.Sprint(h.want(200, "", "POST", card+"/transactions", debit("30", h.token(card), "r-1"))["id"])
	path := card + "/transactions/" + id
	h.API("redemption/capture-hold", `{"holdID":"`+id+`","amount":12,"final":true}`)
	if settled, back := h.sum(path+"/settlements"), h.sum(path+"/cancellations"); settled != 12_00 || back != 18_00 {
		t.Errorf("settled %d, given back %d", settled, back)
	}
	h.want(400, "Only 12.00 USD", "POST", path+"/cancellations", part("18", "c-1"))
	id = fmt.Sprint(h.want(200, "", "POST", card+"/transactions", debit("30", h.token(card), "r-2"))["id"])
	h.API("gifting/cancel-gift", `{"voucherID":"`+g.ID+`","cause":"CANCELLED","releaseHolds":true}`)
	path = card + "/transactions/" + id
	if back := h.sum(path + "/cancellations"); back != 30_00 {
		t.Errorf("given back: %d", back)
	}
	h.want(400, `"HOLD_NOT_OPEN"`, "POST", path+"/settlements", part("30", "s-2"))
	h.want(400, `"ALREADY_REVERSED"`, "POST", path+"/cancellations", part("30", "c-2"))
	h.Verify()
}

// TestAnotherSetUp: a transaction stays what it was when it is made, whatever the set-up says when it is repeated,
// settled or cancelled.
func TestAnotherSetUp(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := h.token(card)
	redeemed := h.want(200, "", "POST", card+"/transactions", debit("10", token, "r-1"))["id"]
	h.Apply(setUp(holding))
	h.untilHeld(card, token)
	h.want(200, fmt.Sprint(redeemed), "POST", card+"/transactions", debit("10", token, "r-1"))
	path := card + "/transactions/" + fmt.Sprint(redeemed)
	h.want(200, `"value":10.00`, "POST", path+"/settlements", part("10", "s-1"))
	h.want(200, `"value":10.00`, "POST", path+"/cancellations", part("10", "c-1"))
	h.want(400, "IDEMPOTENCY_MISMATCH", "POST", card+"/transactions", debit("11", token, "r-1"))
	h.Verify()
}

// untilHeld debits cents until one is held: a new set-up is read soon.
func (h *hub) untilHeld(card, token string) {
	h.Helper()
	for n := range 600 {
		h.want(200, "", "POST", card+"/transactions", debit("0.01", token, fmt.Sprintf("u-%d", n)))
		shown := h.API("gifting/gifts/"+strings.TrimPrefix(card, "giftcards/"), "")
		if !strings.Contains(shown["text"].(string), `"heldBalance":0.00`) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.Fatal("nothing is held")
}

// TestAnotherPlace: what was taken where the shop is no more cannot be settled or given back from where it is now.
func TestAnotherPlace(t *testing.T) {
	t.Parallel()
	h := open(t)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	made := h.want(200, "", "POST", card+"/transactions", debit("10", h.token(card), "r-1"))
	path := card + "/transactions/" + fmt.Sprint(made["id"])
	moved := strings.Replace(string(setUp(`permissions: [validate, redeem, reverse]`)), "sites: [{name: web, location: "+
		providertest.Pier, "sites: [{name: web, location: "+providertest.Wharf, 1)
	h.Apply([]byte(moved))
	for n := 0; n < 100 && h.send("GET", path, "").Status == 200; n++ {
		time.Sleep(100 * time.Millisecond) // a new set-up is read soon
	}
	h.want(404, `"NOT_FOUND"`, "GET", path, "")
	h.want(404, `"NOT_FOUND"`, "POST", path+"/settlements", part("10", "s-1"))
	h.want(404, `"NOT_FOUND"`, "POST", path+"/cancellations", part("10", "c-1"))
	h.want(200, "[]", "GET", card+"/transactions", "")
	h.want(200, `"balance":40.00`, "GET", card, "")
}

// TestCredit: a Credit is a reload, within the merchant's rules, and is taken back as a whole.
func TestCredit(t *testing.T) {
	t.Parallel()
	h := with(t, `permissions: [validate, redeem, reverse, reload], storefront: `+providertest.Storefront)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := h.token(card)
	made := h.want(200, `"cardId"`, "POST", card+"/transactions", credit("25.5", token, "r-1"))
	h.want(200, fmt.Sprint(made["id"]), "POST", card+"/transactions", credit("25.50", token, "r-1"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", card+"/transactions", credit("25", token, "r-1"))
	h.want(400, `"IDEMPOTENCY_MISMATCH"`, "POST", card+"/transactions", debit("25.5", token, "r-1"))
	h.want(200, `"balance":75.50`, "GET", card, "")
	path := card + "/transactions/" + fmt.Sprint(made["id"])
	h.want(200, `"operation":"Credit"`, "GET", path, "")
	h.want(200, `"value":25.50`, "GET", path+"/authorization", "")
	h.want(200, `"value":25.50`, "POST", path+"/settlements", part("25.5", "s-1"))
	h.want(200, `"value":25.50`, "GET", path+"/settlements", "")
	h.want(400, "as a whole: 25.50 USD", "POST", path+"/cancellations", part("5", "c-1"))
	h.want(200, `"value":25.50`, "POST", path+"/cancellations", part("25.5", "c-2"))
	h.want(200, `"value":25.50`, "POST", path+"/cancellations", part("25.5", "c-2"))
	h.want(400, `"ALREADY_REVERSED"`, "POST", path+"/cancellations", part("25.5", "c-3"))
	h.want(200, `"value":25.50`, "GET", path+"/cancellations", "")
	h.want(200, `"balance":50.00`, "GET", card, "")
	h.want(400, `"VALIDATION_FAILURE"`, "POST", card+"/transactions", credit("450.01", token, "r-2")) // 500 are the most
	spent := h.want(200, "", "POST", card+"/transactions", credit("10", token, "r-3"))
	h.want(200, "", "POST", card+"/transactions", debit("55", token, "r-4"))
	h.want(400, `"INSUFFICIENT_BALANCE"`, "POST", card+"/transactions/"+fmt.Sprint(spent["id"])+"/cancellations",
		part("10", "c-4"))
	h.Verify()
}

// TestLimits: guesses, days and permissions are limited as through the interface.
func TestLimits(t *testing.T) {
	t.Parallel()
	h := with(t, holding+`, limits: {redeemedPerDay: 40}`)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := h.token(card)
	made := h.want(200, "", "POST", card+"/transactions", debit("30", token, "r-1"))
	h.want(400, `"RATE_LIMITED"`, "POST", card+"/transactions", debit("10.01", token, "r-2"))
	h.want(200, `"value":30.00`, "POST", card+"/transactions/"+fmt.Sprint(made["id"])+"/settlements", part("30", "s-1"))
	h.want(200, "", "POST", card+"/transactions", debit("10", token, "r-2"))
	h.Missed(config, true, merchant.ShopGuessBurst)
	for n := 0; n < 100 && h.send("POST", "giftcards/_search", search(g.Code)).Body != "[]"; n++ {
		time.Sleep(100 * time.Millisecond) // what is counted elsewhere is known soon
	}
	if h.want(200, "[]", "POST", "giftcards/_search", search(g.Code)); !strings.Contains(h.Service.Log.String(),
		`"code":"RATE_LIMITED"`) {
		t.Error("the guesses were not limited")
	}
	h.want(200, fmt.Sprint(made["id"]), "GET", card+"/transactions", "") // what was found is known
	reader := with(t, `permissions: [validate]`)
	g = reader.Gift("50")
	card = "giftcards/" + g.ID
	token = reader.token(card)
	reader.want(403, `may not redeem`, "POST", card+"/transactions", debit("1", token, "r-1"))
	reader.want(403, `may not reload`, "POST", card+"/transactions", credit("1", token, "r-1"))
	path := card + "/transactions/" + g.ID
	reader.want(403, `may not redeem`, "POST", path+"/settlements", part("1", "s-1"))
	reader.want(403, `may not`, "POST", path+"/cancellations", part("1", "c-1"))
}

// TestAtOnce: settlements and cancellations of one transaction at the same moment take and give back no more than it
// is, each requestId once.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	h := with(t, holding)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	made := h.want(200, "", "POST", card+"/transactions", debit("30", h.token(card), "r-1"))
	path := card + "/transactions/" + fmt.Sprint(made["id"])
	h.want(200, "", "POST", path+"/settlements", part("1", "first"))
	h.want(200, "", "POST", path+"/cancellations", part("1", "first-back"))
	random := rand.New(rand.NewPCG(3, 5))
	var all sync.WaitGroup
	for n := range 24 {
		kind, value := []string{"/settlements", "/cancellations"}[random.IntN(2)], 1+random.IntN(700)
		for range 2 { // each is sent twice
			all.Go(func() {
				h.send("POST", path+kind, part(fmt.Sprintf("%d.%02d", value/100, value%100), fmt.Sprintf("p-%d", n)))
			})
		}
	}
	all.Wait()
	settled, back := h.sum(path+"/settlements"), h.sum(path+"/cancellations")
	if settled > 30_00 || back > 30_00 {
		t.Errorf("of 30.00, %d was settled and %d given back", settled, back)
	}
	if rest := 30_00 - back; rest > 0 {
		h.want(200, "", "POST", path+"/cancellations", part(fmt.Sprintf("%d.%02d", rest/100, rest%100), "rest"))
	}
	h.want(200, `"balance":50.00`, "GET", card, "")
	h.Verify()
}

// TestEvents: each change is one event under the provider's name; what is repeated or refused is none.
func TestEvents(t *testing.T) {
	t.Parallel()
	h := with(t, `permissions: [validate, redeem, reverse, reload], holdDays: 45, storefront: `+providertest.Storefront)
	g := h.Gift("50")
	card := "giftcards/" + g.ID
	token := h.token(card)
	id := fmt.Sprint(h.want(200, "", "POST", card+"/transactions", debit("30", token, "r-1"))["id"])
	h.want(200, id, "POST", card+"/transactions", debit("30", token, "r-1"))
	h.want(400, "", "POST", card+"/transactions", debit("30", token, "r-2"))
	path := card + "/transactions/" + id
	for range 2 {
		h.want(200, "", "POST", path+"/settlements", part("10", "s-1"))
		h.want(200, "", "POST", path+"/cancellations", part("25", "c-1"))
	}
	h.want(200, "", "POST", card+"/transactions", credit("5", token, "r-3"))
	h.WantEvents(g.ID, 1, "gift.held VTEX", "gift.hold_captured VTEX", "gift.hold_released VTEX",
		"gift.redemption_reversed VTEX", "gift.reloaded VTEX")
}
