package toast_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"boon.example/internal/face/provider/providertest"
	"boon.example/internal/face/provider/toast"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
)

const (
	config      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c71"
	limited     = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c72" // may only validate
	others      = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f2c71"
	secret      = "5f0cda7e9b1c4d3280aa6f9e1b7c2d41-toast"
	nextSecret  = "9a41c2f7e0d84b6bb3157d20c86e9f03-toast"
	readSecret  = "c27e5b90d1f34a86a1d07e3b495f8c62-toast"
	otherSecret = "e83d1f604bc7492a9c5be7f21a0d6843-toast"
	pierGUID    = "A61E2C3D-0000-4000-8000-000000000011"
	wharfGUID   = "a61e2c3d-0000-4000-8000-000000000012"
	cornerGUID  = "a61e2c3d-0000-4000-8000-000000000021"
)

func setUp(more string) []byte {
	sites := `[{name: ` + pierGUID + `, location: ` + providertest.Pier + `}, {name: ` + wharfGUID + `, location: ` +
		providertest.Wharf + `}]`
	return providertest.SetUp(`      - {id: `+config+`, name: Toast, platform: toast, storefront: `+
		providertest.Storefront+`, secret: `+secret+`, nextSecret: `+nextSecret+`, sites: `+sites+`,
         permissions: [validate, redeem, reverse, activate, reload, cash-out]`+more+`}
      - {id: `+limited+`, name: Toast balances, platform: toast, secret: `+readSecret+`, permissions: [validate], sites: `+
		sites+`}
`, `      - {id: `+others+`, name: Toast, platform: toast, secret: `+otherSecret+`, storefront: `+providertest.CornerShop+`,
         sites: [{name: `+cornerGUID+`, location: `+providertest.Corner+`}],
         permissions: [validate, redeem, reverse, activate, reload]}
`)
}

// restaurant is one that Toast calls for.
type restaurant struct {
	*providertest.Shop
	config, secret, id string
}

func open(t testing.TB) *restaurant {
	return &restaurant{providertest.Open(t, server.Config{}, setUp("")), config, secret, pierGUID}
}

// at is the same at another restaurant, or with another provider's secret.
func (r *restaurant) at(config, secret, id string) *restaurant {
	return &restaurant{r.Shop, config, secret, id}
}

var guids atomic.Int64

// guid is a new GUID.
func guid() string { return fmt.Sprintf("5f0c0000-0000-4000-8000-%012d", guids.Add(1)) }

var members = map[string]string{"GET_BALANCE": "getBalance", "REDEEM": "redeem", "REVERSE": "reverse",
	"ACTIVATE": "activate", "ADD_VALUE": "addValue"}

// answer is what Toast is told: the status, and the numbers as they are written.
type answer struct {
	status, balance, redeemed string
	http                      int
	body                      string
}

func (a answer) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", a.status, a.balance, a.redeemed))
}

// send sends a transaction. more are members of what it is about, each with a comma before it.
func (r *restaurant) send(guid, kind, card, more string) answer {
	r.Helper()
	return r.raw(kind, `{"`+members[kind]+`TransactionInformation":{"giftCardIdentifier":"`+card+`"`+more+`}}`,
		"Authorization", r.secret, "Toast-Transaction-Type", "GIFTCARD_"+kind, "Toast-Transaction-GUID", guid,
		"Toast-Restaurant-External-ID", r.id)
}

func (r *restaurant) raw(kind, body string, headers ...string) answer {
	r.Helper()
	a := r.Call("POST", "/providers/toast/"+r.config, body, append(headers, "Content-Type", "application/json")...)
	got := answer{http: a.Status, body: a.Body}
	if a.Status == 500 {
		return got
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(a.Body), &whole); err != nil {
		r.Fatalf("%s: %d %q: %v", kind, a.Status, a.Body, err)
	}
	_ = json.Unmarshal(whole["transactionStatus"], &got.status)
	if (a.Status == 200) != (got.status == "ACCEPT") || a.Status != 200 && a.Status != 400 {
		r.Errorf("%s: the status %s with %d", kind, got.status, a.Status)
	}
	var inner map[string]json.RawMessage
	if err := json.Unmarshal(whole[members[kind]+"Response"], &inner); (err == nil) != (a.Status == 200) {
		r.Errorf("%s: %s", kind, a.Body)
	}
	got.balance, got.redeemed = string(inner["currentBalance"]), string(inner["redeemedValue"])
	return got
}

// want sends a transaction with a new GUID, and gives the GUID.
func (r *restaurant) want(want, kind, card, more string) string {
	r.Helper()
	id := guid()
	r.again(want, id, kind, card, more)
	return id
}

func (r *restaurant) again(want, guid, kind, card, more string) answer {
	r.Helper()
	got := r.send(guid, kind, card, more)
	if got.String() != want {
		r.Errorf("%s of %s with %s: %s, want %s", kind, card, more, got, want)
	}
	return got
}

func redeem(amount string) string {
	return `,"redeemedValue":` + amount + `,"checkIdentifier":"c-1","isCashOut":false,"relatedTransaction":null`
}

func of(previous string) string { return `,"previousTransaction":"` + previous + `"` }

// TestRequestsAsToastSendsThem makes the calls of Toast's published collection, in its order and with its amounts as
// texts.
func TestRequestsAsToastSendsThem(t *testing.T) {
	t.Parallel()
	r := open(t)
	active, stock := r.Gift("10").Code, r.Stock(3, "")
	// success
	id := r.want("ACCEPT 5.00", "ACTIVATE", stock[0].Code, `,"initialBalance":"5.0"`)
	r.want("ACCEPT 0.00", "REVERSE", stock[0].Code, of(id))
	id = r.want("ACCEPT 15.00", "ADD_VALUE", active, `,"additionalValue":"5.0"`)
	r.want("ACCEPT 10.00", "REVERSE", active, of(id))
	id = r.want("ACCEPT 7.00 3.00", "REDEEM", active, `,"redeemedValue":"3.0"`)
	reversal := r.want("ACCEPT 10.00", "REVERSE", active, of(id))
	r.want("ACCEPT 10.00", "GET_BALANCE", active, "")
	// refused
	const invalid = "ASDF"
	r.want("ERROR_CARD_INVALID", "ACTIVATE", invalid, `,"initialBalance":"5.0"`)
	r.want("ERROR_CARD_INVALID", "ADD_VALUE", invalid, `,"additionalValue":"5.0"`)
	r.want("ERROR_CARD_INVALID", "REDEEM", invalid, `,"redeemedValue":"5.0"`)
	r.want("ERROR_CARD_INVALID", "GET_BALANCE", invalid, "")
	r.again("ERROR_CARD_INVALID", id, "REVERSE", invalid, of(id))
	r.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", active, of(guid()))
	r.want("ERROR_CARD_ALREADY_ACTIVATED", "ACTIVATE", active, `,"initialBalance":"5.0"`)
	r.want("ERROR_CARD_NOT_ACTIVATED", "ADD_VALUE", stock[1].Code, `,"additionalValue":"5.0"`)
	r.want("ERROR_CARD_NOT_ACTIVATED", "REDEEM", stock[1].Code, `,"redeemedValue":"5.0"`)
	r.want("ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", stock[1].Code, "")
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", active, of(reversal))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", active, of(id))
	// the simple workflow
	card := stock[2].Code
	r.want("ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", card, "")
	r.want("ACCEPT 5.00", "ACTIVATE", card, `,"initialBalance":"5.0"`)
	r.want("ACCEPT 5.00", "GET_BALANCE", card, "")
	r.want("ACCEPT 10.00", "ADD_VALUE", card, `,"additionalValue":"5.0"`)
	r.want("ACCEPT 10.00", "GET_BALANCE", card, "")
	id = r.want("ACCEPT 5.00 5.00", "REDEEM", card, `,"redeemedValue":"5.0"`)
	r.want("ACCEPT 5.00", "GET_BALANCE", card, "")
	r.want("ACCEPT 10.00", "REVERSE", card, of(id))
	r.want("ACCEPT 10.00", "GET_BALANCE", card, "")
	r.want("ACCEPT 0.00 10.00", "REDEEM", card, `,"redeemedValue":"15.0"`)
	r.want("ACCEPT 0.00 0.00", "REDEEM", card, `,"redeemedValue":"1"`)
	r.want("ACCEPT 0.00", "GET_BALANCE", card, "")
}

// TestTestPlan has the cases of Toast's test plan, as the requests that they come to at a till.
func TestTestPlan(t *testing.T) {
	t.Parallel()
	r := open(t)
	const unknown = "000000000001"
	cards := r.Stock(2, "")
	inactive, card := cards[0].Code, cards[1].Code
	last := map[string]string{}
	for _, c := range []struct{ number, name, want, kind, card, more string }{
		{"1", "add value, unknown card", "ERROR_CARD_INVALID", "ADD_VALUE", unknown, `,"additionalValue":5`},
		{"2", "balance, unknown card", "ERROR_CARD_INVALID", "GET_BALANCE", unknown, ""},
		{"3", "redeem, unknown card", "ERROR_CARD_INVALID", "REDEEM", unknown, redeem("5")},
		{"4", "sell, unknown card", "ERROR_CARD_INVALID", "ACTIVATE", unknown, `,"initialBalance":5`},
		{"5", "add value, inactive card", "ERROR_CARD_NOT_ACTIVATED", "ADD_VALUE", inactive, `,"additionalValue":5`},
		{"6", "balance, inactive card", "ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", inactive, ""},
		{"7", "redeem, inactive card", "ERROR_CARD_NOT_ACTIVATED", "REDEEM", inactive, redeem("5")},
		{"8", "sell: is it active already?", "ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", card, ""},
		{"9", "sell, and have it paid", "ACCEPT 25.00", "ACTIVATE", card, `,"initialBalance":25.00,"checkIdentifier":"c"`},
		{"10", "balance as sold", "ACCEPT 25.00", "GET_BALANCE", card, ""},
		{"11", "void the sale", "ACCEPT 0.00", "REVERSE", card, "of ACTIVATE"},
		{"11", "inactive again", "ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", card, ""},
		{"12", "sell again, with nothing", "ACCEPT 0.00", "ACTIVATE", card, `,"initialBalance":0`},
		{"12", "and what was paid", "ACCEPT 60.00", "ADD_VALUE", card, `,"additionalValue":60`},
		{"12", "balance", "ACCEPT 60.00", "GET_BALANCE", card, ""},
		{"13", "redeem a whole order", "ACCEPT 35.50 24.50", "REDEEM", card, redeem("24.50")},
		{"14", "balance", "ACCEPT 35.50", "GET_BALANCE", card, ""},
		{"15", "an order above the balance", "ACCEPT 0.00 35.50", "REDEEM", card, redeem("40")},
		{"16", "the second tender is not the card", "ACCEPT 0.00 0.00", "REDEEM", card, redeem("4.50")},
		{"17", "balance", "ACCEPT 0.00", "GET_BALANCE", card, ""},
		{"18", "void the payment", "ACCEPT 35.50", "REVERSE", card, "of 15"},
		{"19", "check before the tip", "ACCEPT 15.50 20.00", "REDEEM", card, redeem("20")},
		{"19", "tip: the first is reversed", "ACCEPT 35.50", "REVERSE", card, "of REDEEM"},
		{"19", "tip: and one with it follows", "ACCEPT 11.50 24.00", "REDEEM", card, "after 24"},
		{"20", "balance less check and tip", "ACCEPT 11.50", "GET_BALANCE", card, ""},
		{"21", "check before the tip on a phone", "ACCEPT 6.50 5.00", "REDEEM", card, redeem("5")},
		{"21", "tip: the first is reversed", "ACCEPT 11.50", "REVERSE", card, "of REDEEM"},
		{"21", "tip: and one with it follows", "ACCEPT 5.50 6.00", "REDEEM", card, "after 6"},
		{"22", "balance less check and tip", "ACCEPT 5.50", "GET_BALANCE", card, ""},
		{"23", "add value: is it active?", "ACCEPT 5.50", "GET_BALANCE", card, ""},
		{"24", "add value", "ACCEPT 15.50", "ADD_VALUE", card, `,"additionalValue":10`},
		{"25", "balance", "ACCEPT 15.50", "GET_BALANCE", card, ""},
		{"26", "void it", "ACCEPT 5.50", "REVERSE", card, "of ADD_VALUE"},
	} {
		if previous, ok := strings.CutPrefix(c.more, "of "); ok {
			c.more = of(last[previous])
		} else if amount, ok := strings.CutPrefix(c.more, "after "); ok {
			c.more = `,"redeemedValue":` + amount + `,"checkIdentifier":"c-1","isCashOut":false,"relatedTransaction":"` +
				last["REDEEM"] + `"`
		}
		id := guid()
		if got := r.send(id, c.kind, c.card, c.more); got.String() != c.want {
			t.Errorf("%s, %s: %s, want %s", c.number, c.name, got, c.want)
		}
		last[c.kind], last[c.number] = id, id
	}
	for n := 1; n <= 26; n++ {
		if last[fmt.Sprint(n)] == "" {
			t.Errorf("case %d is not here", n)
		}
	}
}

// TestActivatedWithNothingElsewhere: a card that was activated with nothing at one restaurant is active at all; only
// the first takes that back.
func TestActivatedWithNothingElsewhere(t *testing.T) {
	t.Parallel()
	r := open(t)
	wharf := r.at(config, secret, wharfGUID)
	cards := r.Stock(2, "")
	nothing, five := `,"initialBalance":0`, `,"additionalValue":5`
	for n, card := range cards {
		id := r.want("ACCEPT 0.00", "ACTIVATE", card.Code, nothing)
		wharf.want("ACCEPT 0.00", "GET_BALANCE", card.Code, "")
		wharf.want("ERROR_CARD_ALREADY_ACTIVATED", "ACTIVATE", card.Code, nothing)
		wharf.again("ERROR_INVALID_INPUT_PROPERTIES", id, "ACTIVATE", card.Code, nothing)
		wharf.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", card.Code, of(id))
		if n == 0 {
			wharf.want("ACCEPT 5.00", "ADD_VALUE", card.Code, five)
			r.want("ACCEPT 5.00", "GET_BALANCE", card.Code, "")
			r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", card.Code, of(id))
			continue
		}
		r.want("ACCEPT 0.00", "REVERSE", card.Code, of(id))
		wharf.want("ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", card.Code, "")
	}
}

// TestActivatedWithNothing: Toast may activate a card with nothing and add its value later. Until then it is active, as
// far as Toast knows, and nothing is owed for it.
func TestActivatedWithNothing(t *testing.T) {
	t.Parallel()
	r := open(t)
	cards := r.Stock(3, "")
	card, other := cards[0].Code, cards[1].Code
	nothing, five := `,"initialBalance":0.00,"checkIdentifier":"c"`, `,"additionalValue":5`
	id := guid()
	first := r.again("ACCEPT 0.00", id, "ACTIVATE", card, nothing)
	r.want("ACCEPT 0.00", "GET_BALANCE", card, "")
	r.want("ERROR_CARD_ALREADY_ACTIVATED", "ACTIVATE", card, nothing)
	r.want("ERROR_CARD_ALREADY_ACTIVATED", "ACTIVATE", card, `,"initialBalance":"5"`)
	took := r.want("ACCEPT 0.00 0.00", "REDEEM", card, redeem("5"))
	r.want("ACCEPT 0.00 0.00", "REDEEM", card, `,"redeemedValue":0,"isCashOut":true`)
	loaded := guid()
	r.again("ACCEPT 5.00", loaded, "ADD_VALUE", card, five)
	r.again("ACCEPT 5.00", loaded, "ADD_VALUE", card, five) // once
	r.again("ERROR_INVALID_INPUT_PROPERTIES", loaded, "ADD_VALUE", card, `,"additionalValue":6`)
	r.again("ACCEPT 0.00 0.00", took, "REDEEM", card, redeem("5"))
	if again := r.again("ACCEPT 0.00", id, "ACTIVATE", card, nothing); again.body != first.body {
		t.Errorf("a repeat is told %s, not %s", again.body, first.body)
	}
	r.again("ERROR_CARD_ALREADY_ACTIVATED", guid(), "ACTIVATE", card, nothing)
	r.want("ACCEPT 10.00", "ADD_VALUE", card, five)
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", card, of(id)) // it has value now
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", card, of(loaded))
	r.want("ACCEPT 10.00", "GET_BALANCE", card, "")
	// taken back as they were made
	id, loaded = r.want("ACCEPT 0.00", "ACTIVATE", other, nothing), r.want("ACCEPT 5.00", "ADD_VALUE", other, five)
	r.want("ACCEPT 0.00", "REVERSE", other, of(loaded))
	r.want("ACCEPT 0.00", "GET_BALANCE", other, "")
	reversal := r.want("ACCEPT 0.00", "REVERSE", other, of(id))
	r.again("ACCEPT 0.00", reversal, "REVERSE", other, of(id))
	for _, done := range []string{id, reversal} {
		r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", other, of(done))
	}
	r.want("ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", other, "")
	r.want("ERROR_CARD_NOT_ACTIVATED", "ADD_VALUE", other, five)
	r.want("ERROR_CARD_NOT_ACTIVATED", "REDEEM", other, redeem("5"))
	r.again("ACCEPT 0.00", id, "ACTIVATE", other, nothing) // what it was told then
	r.want("ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", other, "")
	r.want("ACCEPT 0.00", "ACTIVATE", other, nothing)
	r.want("ACCEPT 0.00", "GET_BALANCE", other, "")
	// one that was given up before it came, and at once
	late := guid()
	r.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", cards[2].Code, of(late))
	r.again("ERROR_INVALID_INPUT_PROPERTIES", late, "ACTIVATE", cards[2].Code, nothing)
	var all sync.WaitGroup
	var accepted atomic.Int64
	for range 6 {
		all.Go(func() {
			if r.send(guid(), "ACTIVATE", cards[2].Code, nothing).status == "ACCEPT" {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	if accepted.Load() != 1 {
		t.Errorf("a card was activated %d times", accepted.Load())
	}
	r.Verify()
}

// TestRepeats: one GUID and one card are one transaction, whatever happened since.
func TestRepeats(t *testing.T) {
	t.Parallel()
	r := open(t)
	card, other := r.Gift("20").Code, r.Gift("20").Code
	id := guid()
	first := r.again("ACCEPT 15.00 5.00", id, "REDEEM", card, redeem("5"))
	r.want("ACCEPT 0.00 15.00", "REDEEM", card, redeem("15"))
	if again := r.again("ACCEPT 15.00 5.00", id, "REDEEM", card, redeem("5.0")); again.body != first.body {
		t.Errorf("a repeat is told %s, not %s", again.body, first.body)
	}
	r.again("ACCEPT 15.00 5.00", strings.ToUpper(id), "REDEEM", card, redeem("5"))
	r.again("ERROR_INVALID_INPUT_PROPERTIES", id, "REDEEM", card, redeem("6"))
	r.again("ACCEPT 15.00 5.00", id, "REDEEM", other, redeem("5")) // another card: another transaction
	r.want("ACCEPT 15.00", "GET_BALANCE", other, "")
	// the next secret works beside the old one, and the keys are the same
	r.at(config, nextSecret, pierGUID).again("ACCEPT 15.00 5.00", id, "REDEEM", card, redeem("5"))
	reversal := guid()
	r.again("ACCEPT 5.00", reversal, "REVERSE", card, of(id))
	r.again("ACCEPT 5.00", reversal, "REVERSE", card, of(id))
	r.again("ERROR_INVALID_INPUT_PROPERTIES", reversal, "REVERSE", card, of(guid()))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", card, of(id))
	r.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", other, of(reversal))
	// accepted, though nothing was there: nothing is given back
	r.want("ACCEPT 0.00 5.00", "REDEEM", card, redeem("5"))
	empty := r.want("ACCEPT 0.00 0.00", "REDEEM", card, redeem("5"))
	r.want("ACCEPT 0.00", "REVERSE", card, of(empty))
}

// TestOneGUIDOneTransaction: whatever the type of a transaction, another one of its GUID and card is none, and what is
// taken back under a GUID is what was done under it.
func TestOneGUIDOneTransaction(t *testing.T) {
	t.Parallel()
	r := open(t)
	const refused, cash = "ERROR_INVALID_INPUT_PROPERTIES", `,"redeemedValue":2.99,"isCashOut":true`
	five := `,"additionalValue":5`
	small, large, id := r.Gift("4.99").Code, r.Gift("50").Code, guid()
	r.again("ACCEPT 2.99 2.00", id, "REDEEM", small, redeem("2"))
	r.again(refused, id, "REDEEM", small, cash)
	r.want("ACCEPT 4.99", "REVERSE", small, of(id))
	id = guid()
	r.again("ACCEPT 45.00 5.00", id, "REDEEM", large, redeem("5"))
	r.again(refused, id, "ADD_VALUE", large, five)
	r.again("ACCEPT 50.00", id, "REVERSE", large, of(id)) // with the GUID of what it takes back
	r.again("ACCEPT 50.00", id, "REVERSE", large, of(id))
	r.again("ACCEPT 45.00 5.00", id, "REDEEM", large, redeem("5")) // what it was told then
	r.want("ACCEPT 50.00", "GET_BALANCE", large, "")
	cards := r.Stock(2, "")
	id = r.want("ACCEPT 5.00", "ACTIVATE", cards[0].Code, `,"initialBalance":5`)
	r.again(refused, id, "ADD_VALUE", cards[0].Code, five)
	r.again(refused, id, "ACTIVATE", cards[0].Code, `,"initialBalance":0`)
	r.want("ACCEPT 0.00", "REVERSE", cards[0].Code, of(id))
	id = r.want("ACCEPT 0.00", "ACTIVATE", cards[1].Code, `,"initialBalance":0`)
	r.again(refused, id, "ADD_VALUE", cards[1].Code, five)
	r.again(refused, id, "ACTIVATE", cards[1].Code, `,"initialBalance":5`)
	r.again(refused, id, "REDEEM", cards[1].Code, redeem("5"))
	r.want("ACCEPT 0.00", "REVERSE", cards[1].Code, of(id))
	for range 10 { // at once
		var all sync.WaitGroup
		var redeemed, loaded answer
		id = guid()
		all.Go(func() { redeemed = r.send(id, "REDEEM", large, redeem("5")) })
		all.Go(func() { loaded = r.send(id, "ADD_VALUE", large, five) })
		all.Wait()
		if (redeemed.status == "ACCEPT") == (loaded.status == "ACCEPT") {
			t.Errorf("one GUID: %s, %s", redeemed, loaded)
		}
		r.want("ACCEPT 50.00", "REVERSE", large, of(id))
	}
	r.Verify()
}

// TestAgainstItsReversal: of a transaction and its REVERSE at the same moment, both say what became of the card.
func TestAgainstItsReversal(t *testing.T) {
	t.Parallel()
	r := open(t)
	cards := r.Stock(30, "")
	for n, kind := range []struct{ kind, more string }{{"ACTIVATE", `,"initialBalance":0`},
		{"ACTIVATE", `,"initialBalance":5`}} {
		for _, c := range cards[15*n : 15*n+15] {
			id, back := guid(), guid()
			var all sync.WaitGroup
			var made, reversed answer
			all.Go(func() { made = r.send(id, kind.kind, c.Code, kind.more) })
			all.Go(func() { reversed = r.send(back, "REVERSE", c.Code, of(id)) })
			all.Wait()
			if (made.status == "ACCEPT") != (reversed.status == "ACCEPT") {
				t.Errorf("%s %s: %s, %s", kind.kind, kind.more, made, reversed)
			}
			r.again(made.String(), id, kind.kind, c.Code, kind.more)
			r.again(reversed.String(), back, "REVERSE", c.Code, of(id))
			r.want("ERROR_CARD_NOT_ACTIVATED", "GET_BALANCE", c.Code, "")
		}
	}
	r.Verify()
}

// TestTwoFirstLoads: of two who add value at once to a card that was activated with nothing, neither is refused.
func TestTwoFirstLoads(t *testing.T) {
	t.Parallel()
	r := open(t)
	for _, c := range r.Stock(10, "") {
		r.want("ACCEPT 0.00", "ACTIVATE", c.Code, `,"initialBalance":0`)
		var all sync.WaitGroup
		for _, amount := range []string{"5", "7"} {
			all.Go(func() {
				if a := r.send(guid(), "ADD_VALUE", c.Code, `,"additionalValue":`+amount); a.status != "ACCEPT" {
					t.Errorf("%s: %s", amount, a)
				}
			})
		}
		all.Wait()
		r.want("ACCEPT 12.00", "GET_BALANCE", c.Code, "")
	}
}

// TestReversalOfNothing: what was accepted and took nothing is taken back once, and a repeat is told the same.
func TestReversalOfNothing(t *testing.T) {
	t.Parallel()
	r := open(t)
	g := r.Gift("5")
	five := r.want("ACCEPT 0.00 5.00", "REDEEM", g.Code, redeem("5"))
	nothing := r.want("ACCEPT 0.00 0.00", "REDEEM", g.Code, redeem("5"))
	back := r.want("ACCEPT 0.00", "REVERSE", g.Code, of(nothing))
	r.want("ACCEPT 5.00", "REVERSE", g.Code, of(five))
	r.again("ACCEPT 0.00", back, "REVERSE", g.Code, of(nothing))
	r.again("ERROR_INVALID_INPUT_PROPERTIES", back, "REVERSE", g.Code, of(five))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", g.Code, of(nothing))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", g.Code, of(back))
}

// TestReplacedCard: what was done with a card before it was replaced is told, and taken back, by its number; nothing
// new is done with it.
func TestReplacedCard(t *testing.T) {
	t.Parallel()
	r := open(t)
	g := r.Gift("50")
	all := r.want("ACCEPT 0.00 50.00", "REDEEM", g.Code, redeem("50"))
	nothing := r.want("ACCEPT 0.00 0.00", "REDEEM", g.Code, redeem("5"))
	r.want("ACCEPT 50.00", "REVERSE", g.Code, of(all))
	id := r.want("ACCEPT 45.00 5.00", "REDEEM", g.Code, redeem("5"))
	r.API("gifting/replace-gift", `{"voucherID":"`+g.ID+`","reason":"lost"}`)
	for range 2 {
		r.again("ACCEPT 45.00 5.00", id, "REDEEM", g.Code, redeem("5"))
		r.again("ERROR_INVALID_INPUT_PROPERTIES", id, "REDEEM", g.Code, redeem("6"))
		r.want("ERROR_CARD_INVALID", "REDEEM", g.Code, redeem("1")+of(id))
		r.want("ERROR_CARD_INVALID", "ADD_VALUE", g.Code, `,"additionalValue":5`)
		r.again("ERROR_CARD_INVALID", id, "GET_BALANCE", g.Code, "")
	}
	r.want("ACCEPT 45.00", "REVERSE", g.Code, of(nothing))
	back := r.want("ACCEPT 50.00", "REVERSE", g.Code, of(id))
	r.again("ACCEPT 50.00", back, "REVERSE", g.Code, of(id))
	r.Verify()
}

// TestCertainItems: a gift for certain items cannot be redeemed without a ticket, so that its balance is not told.
func TestCertainItems(t *testing.T) {
	t.Parallel()
	r := open(t)
	r.want("ERROR_CARD_INVALID", "GET_BALANCE", r.ItemsOnly().Code, "")
}

// TestReversedBeforeItCame: what Toast gave up is not carried out when it arrives late.
func TestReversedBeforeItCame(t *testing.T) {
	t.Parallel()
	r := open(t)
	card, stock := r.Gift("9").Code, r.Stock(1, "")[0].Code
	for _, c := range []struct{ kind, card, more, balance string }{
		{"REDEEM", card, redeem("5"), "ACCEPT 9.00"},
		{"REDEEM", card, `,"redeemedValue":9,"isCashOut":true`, "ACCEPT 9.00"},
		{"ADD_VALUE", card, `,"additionalValue":5`, "ACCEPT 9.00"},
		{"ACTIVATE", stock, `,"initialBalance":5`, "ERROR_CARD_NOT_ACTIVATED"},
	} {
		late := guid()
		r.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", c.card, of(late))
		r.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", c.card, of(late))
		r.again("ERROR_INVALID_INPUT_PROPERTIES", late, c.kind, c.card, c.more)
		r.want(c.balance, "GET_BALANCE", c.card, "")
	}
}

// TestCashOut: the law decides, and all that is there goes.
func TestCashOut(t *testing.T) {
	t.Parallel()
	r := open(t)
	cash := func(amount string) string { return `,"redeemedValue":` + amount + `,"isCashOut":true` }
	small, large := r.Gift("4.99"), r.Gift("100")
	r.want("ERROR_TOAST_TRANSACTION_TYPE_NOT_SUPPORTED", "REDEEM", large.Code, cash("100"))
	r.want("ERROR_INVALID_INPUT_PROPERTIES", "REDEEM", small.Code, cash("4.98"))
	id := r.want("ACCEPT 0.00 4.99", "REDEEM", small.Code, cash("4.99"))
	r.want("ACCEPT 0.00 0.00", "REDEEM", small.Code, cash("0"))
	if h := r.History(small.ID); !strings.Contains(h, `"CASH_OUT"`) {
		t.Errorf("the history knows of no cash: %s", h)
	}
	r.want("ACCEPT 4.99", "REVERSE", small.Code, of(id))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", small.Code, of(id))
	r = &restaurant{providertest.Open(t, server.Config{}, bytes.Replace(setUp(""), []byte(", cash-out]"), []byte("]"), 1)),
		config, secret, pierGUID}
	small = r.Gift("4.99")
	r.want("ERROR_TOAST_TRANSACTION_TYPE_NOT_SUPPORTED", "REDEEM", small.Code, cash("4.99"))
	r.want("ACCEPT 4.99", "GET_BALANCE", small.Code, "")
}

// TestCards: which cards are good for what.
func TestCards(t *testing.T) {
	t.Parallel()
	r := open(t)
	held, blocked, cancelled := r.Gift("50"), r.Gift("50"), r.Gift("50")
	r.API("redemption/hold-gift", `{"voucherID":"`+held.ID+`","amount":45,"organizationID":"`+providertest.Pier+`"}`)
	r.API("gifting/block-gift", `{"voucherID":"`+blocked.ID+`","reasonCode":"LOST"}`)
	r.API("gifting/cancel-gift", `{"voucherID":"`+cancelled.ID+`","cause":"CANCELLED"}`)
	r.want("ACCEPT 5.00", "GET_BALANCE", held.Code, "") // what is held is not there to be spent
	r.want("ACCEPT 0.00 5.00", "REDEEM", held.Code, redeem("50"))
	r.want("ACCEPT 0.00 0.00", "REDEEM", held.Code, redeem("50"))
	for _, c := range []providertest.Card{blocked, cancelled} {
		r.want("ERROR_CARD_INVALID", "GET_BALANCE", c.Code, "")
		r.want("ERROR_CARD_INVALID", "REDEEM", c.Code, redeem("1"))
		r.want("ERROR_CARD_INVALID", "ADD_VALUE", c.Code, `,"additionalValue":1`)
	}
	for _, amount := range []string{"0", "-1", "1.001", `""`, `"one"`, "1e400", "null", `"1,0"`, "true", "{}"} {
		r.want("ERROR_INVALID_INPUT_PROPERTIES", "REDEEM", held.Code, redeem(amount))
		r.want("ERROR_INVALID_INPUT_PROPERTIES", "ADD_VALUE", held.Code, `,"additionalValue":`+amount)
	}
	fixed := r.Stock(1, `,"value":25`)[0].Code
	for _, amount := range []string{"0", "24", "-25", "25.001"} { // none of them is the card's worth
		r.want("ERROR_INVALID_INPUT_PROPERTIES", "ACTIVATE", fixed, `,"initialBalance":`+amount)
	}
	r.want("ERROR_INVALID_INPUT_PROPERTIES", "ACTIVATE", fixed, "")
	r.want("ACCEPT 25.00", "ACTIVATE", fixed, `,"initialBalance":2.5e1`)
	r.want("ERROR_CARD_ALREADY_ACTIVATED", "ACTIVATE", fixed, `,"initialBalance":25`)
	r.want("ERROR_INVALID_INPUT_PROPERTIES", "ADD_VALUE", fixed, `,"additionalValue":475.01`) // 500 are the most
	// a card with a verification code
	card := r.Stock(1, `,"verificationCodes":true`)[0]
	shown := func(value, source string) string {
		return redeem("1") + `,"verificationCode":{"value":"` + value + `","source":"` + source + `"}`
	}
	wrong := "0000"
	if card.Verification == wrong {
		wrong = "0001"
	}
	r.want("ACCEPT 30.00", "ACTIVATE", card.Code, `,"initialBalance":30`)
	r.want("ERROR_VERIFICATION_REQUIRED", "REDEEM", card.Code, redeem("1"))
	r.want("ERROR_VERIFICATION_FAILED", "REDEEM", card.Code, shown(wrong, "KEYED"))
	r.want("ERROR_VERIFICATION_FAILED", "REDEEM", card.Code, shown(wrong, "VERIFIED"))
	r.want("ERROR_VERIFICATION_FAILED", "REDEEM", card.Code, shown("12", "KEYED"))
	r.want("ACCEPT 29.00 1.00", "REDEEM", card.Code, shown(card.Verification, "KEYED"))
	r.want("ERROR_VERIFICATION_NOT_SUPPORTED", "REDEEM", fixed, shown("1234", "KEYED"))
	id := r.API("redemption/validate-gift", `{"voucherCode":"`+card.Code+`","organizationID":"`+providertest.Pier+
		`"}`)["voucherID"]
	newCode := r.API("gifting/replace-gift", fmt.Sprintf(`{"voucherID":"%v","reason":"lost"}`, id))["voucherCode"].(string)
	r.want("ERROR_VERIFICATION_NOT_SUPPORTED", "REDEEM", newCode, shown(card.Verification, "KEYED"))
	r.want("ACCEPT 28.00 1.00", "REDEEM", newCode, redeem("1"))
}

// TestDailyLimits: what is limited by the day is so for Toast, and counts back in no other way.
func TestDailyLimits(t *testing.T) {
	t.Parallel()
	r := &restaurant{providertest.Open(t, server.Config{}, setUp(", limits: {redeemedPerDay: 40, issuedPerDay: 30}")),
		config, secret, pierGUID}
	card, stock := r.Gift("100").Code, r.Stock(1, "")[0].Code
	late := guid()
	r.want("ACCEPT 70.00 30.00", "REDEEM", card, redeem("30"))
	r.again("ERROR_CARD_INVALID", late, "REDEEM", card, redeem("10.01"))
	r.want("ACCEPT 60.00 10.00", "REDEEM", card, redeem("10"))
	r.again("ERROR_CARD_INVALID", late, "REDEEM", card, redeem("10.01")) // of which nothing is kept
	r.want("ACCEPT 25.00", "ACTIVATE", stock, `,"initialBalance":25`)
	r.want("ERROR_CARD_INVALID", "ADD_VALUE", stock, `,"additionalValue":5.01`)
	r.want("ACCEPT 30.00", "ADD_VALUE", stock, `,"additionalValue":5`)
}

// TestThief: a restaurant's calls reach its own merchant's gifts, where it stands, and undo only what it did itself.
func TestThief(t *testing.T) {
	t.Parallel()
	r := open(t)
	g := r.Gift("50")
	wharf, corner := r.at(config, secret, wharfGUID), r.at(others, otherSecret, cornerGUID)
	id := r.want("ACCEPT 45.00 5.00", "REDEEM", g.Code, redeem("5"))
	wharf.want("ERROR_TRANSACTION_DOES_NOT_EXIST", "REVERSE", g.Code, of(id))
	corner.want("ERROR_CARD_INVALID", "GET_BALANCE", g.Code, "")
	corner.want("ERROR_CARD_INVALID", "REVERSE", g.Code, of(id))
	// another merchant's secret or restaurant
	r.at(config, otherSecret, pierGUID).want("ERROR_INVALID_TOKEN", "GET_BALANCE", g.Code, "")
	r.at(others, secret, cornerGUID).want("ERROR_INVALID_TOKEN", "GET_BALANCE", g.Code, "")
	r.at(others, otherSecret, pierGUID).want("ERROR_INVALID_RESTAURANT", "GET_BALANCE", g.Code, "")
	r.at(config, secret, cornerGUID).want("ERROR_INVALID_RESTAURANT", "GET_BALANCE", g.Code, "")
	r.at(guid(), secret, pierGUID).want("ERROR_INVALID_TOKEN", "GET_BALANCE", g.Code, "")
	r.at(config, "boon_test_demo_only_harbor_coffee_head_office", pierGUID).
		want("ERROR_INVALID_TOKEN", "GET_BALANCE", g.Code, "")
	// what a till took, by its key or by the same key as a transaction's
	const office = "boon_test_demo_only_harbor_coffee_head_office"
	same := guid()
	for _, key := range []string{same, same + ":" + g.ID} {
		a := r.Call("POST", "/api/integration/redemption/redeem-gift", `{"voucherID":"`+g.ID+`","amount":1,"organizationID":"`+
			providertest.Pier+`"}`, "Authorization", office, "Idempotency-Key", key, "Content-Type", "application/json")
		if a.Status != 200 {
			t.Fatal(a.Body)
		}
	}
	r.again("ACCEPT 42.00 1.00", same, "REDEEM", g.Code, redeem("1"))
	r.again("ACCEPT 43.00", guid(), "REVERSE", g.Code, of(same))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", g.Code, of(same))
	a := r.Call("GET", "/api/integration/requests/"+same+":"+g.ID, "", "Authorization", office)
	if !strings.Contains(a.Body, `"amount":1.00`) || strings.Contains(a.Body, "ACCEPT") {
		t.Errorf("a key of the account is told %s", a.Body)
	}
	// what the set-up does not permit
	reader := r.at(limited, readSecret, pierGUID)
	reader.want("ACCEPT 43.00", "GET_BALANCE", g.Code, "")
	for kind, more := range map[string]string{"REDEEM": redeem("1"), "REVERSE": of(id), "ACTIVATE": `,"initialBalance":1`,
		"ADD_VALUE": `,"additionalValue":1`} {
		reader.want("ERROR_TOAST_TRANSACTION_TYPE_NOT_SUPPORTED", kind, g.Code, more)
	}
	// a guest's card is tried for: after twenty misses nothing is told, but what was done can be undone
	for n := range 20 {
		r.want("ERROR_CARD_INVALID", "GET_BALANCE", fmt.Sprintf("%012d", n), "")
	}
	r.want("ERROR_CARD_INVALID", "GET_BALANCE", g.Code, "")
	r.want("ERROR_CARD_INVALID", "REDEEM", g.Code, redeem("1"))
	r.want("ERROR_CARD_INVALID", "REDEEM", g.Code, redeem("1")+of(id))
	r.again("ERROR_CARD_INVALID", id, "GET_BALANCE", g.Code, "")
	r.want("ERROR_CARD_INVALID", "REVERSE", g.Code, of(guid()))
	r.want("ACCEPT 48.00", "REVERSE", g.Code, of(id))
	log := r.Service.Log.String()
	for _, secret := range []string{g.Code, secret, otherSecret, nextSecret} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has %s", secret)
		}
	}
	for _, told := range []string{`"route":"/providers/toast/{provider}"`, `"keyName":"Toast"`, `"code":"RATE_LIMITED"`} {
		if !strings.Contains(log, told) {
			t.Errorf("the log lacks %s", told)
		}
	}
	if m := r.Call("GET", "/metrics", ""); strings.Contains(m.Body, secret) || strings.Contains(m.Body, config) {
		t.Error("the metrics tell of the provider's secret or id")
	}
}

// identifierSources that are those of a till.
var atTills = []string{"", `,"identifierSource":"SWIPED"`, `,"identifierSource":"SCANNED"`, `,"identifierSource":"KEYED"`,
	`,"identifierSource":"UNKNOWN"`, `,"identifierSource":"keyed_online"`, `,"identifierSource":null`,
	`,"identifierSource":["KEYED_ONLINE"]`}

const keyedOnline = `,"identifierSource":"KEYED_ONLINE"`

// TestGuessesOnline: guests who type wrong numbers at a restaurant's online ordering close that, after as many as at a
// web shop, and no till. Only what is redeemed there gives attempts back to it.
func TestGuessesOnline(t *testing.T) {
	t.Parallel()
	for source, more := range map[string]int{keyedOnline: 1, atTills[0]: 0, atTills[1]: 0} {
		r := open(t)
		g := r.Gift("50").Code
		r.Missed(config, true, merchant.ShopGuessBurst-1)
		for range 4 { // which give one attempt back
			r.want("ACCEPT 0.00 5.00", "REDEEM", r.Gift("5").Code, redeem("5")+source)
		}
		for range 1 + more {
			r.want("ACCEPT 50.00", "GET_BALANCE", g, keyedOnline)
			r.want("ERROR_CARD_INVALID", "GET_BALANCE", "999990000007", keyedOnline)
		}
		r.want("ERROR_CARD_INVALID", "GET_BALANCE", g, keyedOnline)
		r.want("ERROR_CARD_INVALID", "REDEEM", g, redeem("5")+keyedOnline)
		for _, till := range atTills {
			r.want("ACCEPT 50.00", "GET_BALANCE", g, till)
		}
		r.want("ACCEPT 45.00 5.00", "REDEEM", g, redeem("5")+atTills[1])
	}
}

// TestGuessesAtTills: wrong numbers at the tills close them, however they were read, and not the online ordering, whose
// redemptions open no till. A wrong verification code is a guess where it was typed.
func TestGuessesAtTills(t *testing.T) {
	t.Parallel()
	r := open(t)
	g, card := r.Gift("50").Code, r.Stock(1, `,"verificationCodes":true`)[0]
	r.want("ACCEPT 30.00", "ACTIVATE", card.Code, `,"initialBalance":30`)
	wrong := "0000"
	if card.Verification == wrong {
		wrong = "0001"
	}
	shown := `,"verificationCode":{"value":"` + wrong + `"}`
	for n := range merchant.GuessBurst - 1 {
		r.want("ERROR_CARD_INVALID", "GET_BALANCE", fmt.Sprintf("%012d", n), atTills[n%len(atTills)])
	}
	r.want("ERROR_VERIFICATION_FAILED", "REDEEM", card.Code, redeem("1")+shown+keyedOnline)
	r.want("ACCEPT 50.00", "GET_BALANCE", g, "")
	r.want("ERROR_VERIFICATION_FAILED", "REDEEM", card.Code, redeem("1")+shown)
	r.want("ACCEPT 45.00 5.00", "REDEEM", g, redeem("5")+keyedOnline)
	for _, till := range atTills {
		r.want("ERROR_CARD_INVALID", "GET_BALANCE", g, till)
	}
}

// TestALimitedRestaurantLooksNoCardUp: once too many wrong numbers were tried, no transaction of any type looks a card
// up, whether there is one or not. What was done before is told, and taken back, all the same.
func TestALimitedRestaurantLooksNoCardUp(t *testing.T) {
	t.Parallel()
	r := open(t)
	g, later, card := r.Gift("50"), r.Gift("50"), r.Stock(1, "")[0]
	id := r.want("ACCEPT 45.00 5.00", "REDEEM", g.Code, redeem("5"))
	sold := r.want("ACCEPT 30.00", "ACTIVATE", card.Code, `,"initialBalance":30`)
	replaced := r.want("ACCEPT 49.00 1.00", "REDEEM", later.Code, redeem("1"))
	r.API("gifting/replace-gift", `{"voucherID":"`+later.ID+`","reason":"lost"}`)
	r.Missed(config, false, merchant.GuessBurst)
	r.Missed(config, true, merchant.ShopGuessBurst)
	for _, source := range []string{"", keyedOnline} { // the service reads the count again after a moment
		for r.send(guid(), "GET_BALANCE", g.Code, source).status == "ACCEPT" {
		}
	}
	more := map[string]string{"REDEEM": redeem("5"), "ACTIVATE": `,"initialBalance":30`,
		"ADD_VALUE": `,"additionalValue":5`, "REVERSE": of(id), "GET_BALANCE": ""}
	for _, kind := range toast.Types() {
		kind = strings.TrimPrefix(kind, "GIFTCARD_")
		asked, known := more[kind]
		if !known {
			t.Errorf("say what a %s is about", kind)
		}
		for _, source := range []string{"", keyedOnline} {
			for _, code := range []string{later.Code, r.OthersGift("5").Code, "999990000008"} {
				r.NoLookUp(kind+source, func() { r.want("ERROR_CARD_INVALID", kind, code, asked+source) })
			}
		}
	}
	r.NoLookUp("what was done", func() {
		r.again("ACCEPT 45.00 5.00", id, "REDEEM", g.Code, redeem("5"))
		r.want("ACCEPT 50.00", "REVERSE", g.Code, of(id))
		r.want("ACCEPT 0.00", "REVERSE", card.Code, of(sold))
		r.again("ACCEPT 49.00 1.00", replaced, "REDEEM", later.Code, redeem("1"))
		r.want("ACCEPT 50.00", "REVERSE", later.Code, of(replaced))
	})
	r.Verify()
}

// TestNetworks: a set-up may say where Toast calls from; whoever has its secret elsewhere is nobody, and moves nothing.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for networks, want := range map[string]string{"203.0.113.0/24, 2001:db8::/32": "ERROR_INVALID_TOKEN",
		"203.0.113.0/24, 127.0.0.0/8": "ACCEPT 9.00 1.00"} {
		r := &restaurant{providertest.Open(t, server.Config{}, setUp(", networks: ["+networks+"]")), config, secret, pierGUID}
		g := r.Gift("10")
		r.want(want, "REDEEM", g.Code, redeem("1"))
		refused := strings.HasPrefix(want, "ERROR")
		if strings.Contains(r.Service.Log.String(), `"code":"NOT_AUTHORIZED"`) != refused ||
			strings.Contains(r.History(g.ID), `"REDEMPTION"`) == refused {
			t.Errorf("%s: the log does not say why, or the history is %s", networks, r.History(g.ID))
		}
	}
}

// TestMalformed: what is no call of Toast's is refused in its words, and moves nothing.
func TestMalformed(t *testing.T) {
	t.Parallel()
	r := open(t)
	g := r.Gift("50").Code
	const body = `{"redeemTransactionInformation":{"giftCardIdentifier":"%s","redeemedValue":1}}`
	good := []string{"Authorization", secret, "Toast-Transaction-Type", "GIFTCARD_REDEEM",
		"Toast-Transaction-GUID", guid(), "Toast-Restaurant-External-ID", pierGUID}
	for n := 0; n < len(good); n += 2 { // each header missing, and each twice
		missing := append(append([]string{}, good[:n]...), good[n+2:]...)
		if a := r.raw("REDEEM", fmt.Sprintf(body, g), missing...); a.String() != "ERROR_INVALID_INPUT_PROPERTIES" {
			t.Errorf("without %s: %s", good[n], a)
		}
		twice := append([]string{good[n], good[n+1]}, good...)
		if a := r.raw("REDEEM", fmt.Sprintf(body, g), twice...); a.http != 400 {
			t.Errorf("with %s twice: %s", good[n], a)
		}
	}
	bad := append([]string{}, good...)
	bad[3] = "GIFTCARD_STEAL"
	if a := r.raw("REDEEM", fmt.Sprintf(body, g), bad...); a.String() != "ERROR_INVALID_TOAST_TRANSACTION_TYPE" {
		t.Errorf("an unknown type: %s", a)
	}
	info := func(members string) string { return `{"redeemTransactionInformation":{` + members + `}}` }
	card := `"giftCardIdentifier":"` + g + `"`
	for _, text := range []string{"", "null", "[]", "{", `{"getBalanceTransactionInformation":{` + card + `}}`, info(""),
		info(`"giftCardIdentifierWrongKey":"` + g + `","redeemedValue":1`), info(card), info(card + `,"redeemedValue":1,"redeemedValue":2`),
		info(card + `,"redeemedValue":1,"isCashOut":"yes"`), info(card + `,"redeemedValue":1,"checkIdentifier":"a b"`),
		info(card + `,"redeemedValue":1,"checkIdentifier":"` + strings.Repeat("c", 101) + `"`),
		info(`"giftCardIdentifier":` + g + `,"redeemedValue":1`), info(card+`,"redeemedValue":1`) + "}",
		strings.Repeat(" ", 70<<10) + fmt.Sprintf(body, g)} {
		if a := r.raw("REDEEM", text, good...); a.String() != "ERROR_INVALID_INPUT_PROPERTIES" {
			t.Errorf("%.80s: %s", text, a)
		}
	}
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		if a := r.Call(method, "/providers/toast/"+config, "", good...); a.Status != 405 {
			t.Errorf("%s: %d", method, a.Status)
		}
	}
	// members that Toast adds one day
	if a := r.raw("REDEEM", `{"new":[1],"redeemTransactionInformation":{`+card+`,"redeemedValue":1,"newer":{"a":null}}}`,
		good...); a.String() != "ACCEPT 49.00 1.00" {
		t.Errorf("unknown members: %s", a)
	}
}

// TestEvents: each change is one event under the provider's name; what is repeated or refused is none,
// but that somebody asked for a card that was not sold yet.
func TestEvents(t *testing.T) {
	t.Parallel()
	r := open(t)
	card := r.Stock(1, "")[0].Code
	r.want("ERROR_CARD_NOT_ACTIVATED", "REDEEM", card, redeem("1"))
	sold := r.want("ACCEPT 20.00", "ACTIVATE", card, `,"initialBalance":20`)
	r.again("ACCEPT 20.00", sold, "ACTIVATE", card, `,"initialBalance":20`)
	paid := r.want("ACCEPT 15.00 5.00", "REDEEM", card, redeem("5"))
	r.again("ACCEPT 15.00 5.00", paid, "REDEEM", card, redeem("5"))
	r.again("ERROR_INVALID_INPUT_PROPERTIES", paid, "REDEEM", card, redeem("6"))
	r.want("ACCEPT 20.00", "REVERSE", card, of(paid))
	r.want("ERROR_TRANSACTION_CANNOT_BE_REVERSED", "REVERSE", card, of(paid))
	more := r.want("ACCEPT 30.00", "ADD_VALUE", card, `,"additionalValue":10`)
	r.want("ACCEPT 20.00", "REVERSE", card, of(more))
	r.want("ACCEPT 5.00 15.00", "REDEEM", card, redeem("15"))
	r.want("ACCEPT 0.00 5.00", "REDEEM", card, strings.Replace(redeem("5"), "false", "true", 1))
	r.want("ACCEPT 0.00 0.00", "REDEEM", card, redeem("5"))
	g := r.API("redemption/validate-gift", `{"voucherCode":"`+card+`","organizationID":"`+providertest.Pier+`"}`)
	r.WantEvents(fmt.Sprint(g["voucherID"]), 1, "gift.probed Toast", "gift.activated Toast", "gift.redeemed Toast",
		"gift.redemption_reversed Toast", "gift.reloaded Toast", "gift.reload_reversed Toast", "gift.redeemed Toast",
		"gift.cashed_out Toast")
}

// TestSpellings: a cashier types the number as it is printed. However a wrong one is typed, it counts as a guess.
func TestSpellings(t *testing.T) {
	t.Parallel()
	r := open(t)
	g := r.Gift("50").Code
	for _, typed := range providertest.Spellings(g) {
		r.want("ACCEPT 50.00", "GET_BALANCE", typed, "")
	}
	r.Missed(config, false, merchant.GuessBurst-1)
	r.want("ERROR_CARD_INVALID", "GET_BALANCE", "9999 9000 0007", "")
	r.want("ERROR_CARD_INVALID", "GET_BALANCE", g, "")
}
