package api_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// declare has harbor declare forms of codes of other systems.
func (w *world) declare(forms ...merchant.CodeForm) *merchant.Account {
	w.Helper()
	w.configure(func(a *merchant.Account) { a.ImportedCodes = forms })
	return w.directory.Load().Accounts[id(harbor)]
}

// bring saves a printed gift of an account, as change makes it, under a code of another system.
func (w *world) bring(a *merchant.Account, code string, change ...func(*gift.Gift)) gift.Gift {
	w.Helper()
	g := gift.Gift{Voucher: gift.Voucher{ID: guid.ID(uuid.Must(uuid.NewV7())), AccountID: a.ID,
		OrderID: guid.ID(uuid.Must(uuid.NewV7())), ProgramID: merchant.BusinessProgram.ID, Currency: a.Currency,
		Funded: 5000, Balance: 5000, CreatedAt: time.Now()}, Card: gift.Card{Method: 3, Sender: a.Name, DeliveryZone: "UTC"}}
	var err error
	if g.Card.Code, err = codes.ParseImported(a, code); err != nil {
		w.Fatal(err)
	}
	if g.Card.Token, err = codes.NewToken(rand.Reader); err != nil {
		w.Fatal(err)
	}
	for _, c := range change {
		c(&g)
	}
	g, e := g.Begin(gift.Context{EntryID: guid.ID(uuid.Must(uuid.NewV7())), Now: g.CreatedAt})
	if err := w.store.Group(w.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{e}}
	}); err != nil {
		w.Fatal(err)
	}
	return g
}

// TestAThiefTriesCodesOfAnotherSystem: whoever has a till's key and guesses in a form that is declared is told the same
// of a code that nobody has, of another account's card, and of one whose import is not finished; each counts as a wrong
// code, together with those of Boon's own form. What is refused then is the same for a card that there is.
func TestAThiefTriesCodesOfAnotherSystem(t *testing.T) {
	t.Parallel()
	waiting := make(chan func(context.Context), 1)
	w := newWorld(t, func(c *config) { c.Imports.Background = func(run func(context.Context)) { waiting <- run } })
	a := w.declare(merchant.CodeForm{Digits: 16})
	w.bring(a, "6006123400000001")
	other := *w.directory.Load().Accounts[id(corner)]
	other.ImportedCodes = a.ImportedCodes
	w.bring(&other, "6006123400000002")
	w.upload("expectCount=3&expectTotal=61.75", threeCards).want(200)
	w.permit(pierKey, "validate", "redeem", "reverse")
	thief := append(as(pierKey), "X-Request-ID", "x")
	guess := func(code string) reply {
		return w.post("validate-gift", `{"voucherCode":"`+code+`","organizationID":"`+pier+`"}`, thief...)
	}
	nobodys := guess("6006999900000000").refused(404, refusal.NotFound, "voucherCode")
	for _, code := range []string{"6006123400000002", "6006123456789012"} {
		if r := guess(code); string(r.body) != string(nobodys.body) {
			t.Errorf("%s is told apart: %s, and of nobody's %s", code, r.body, nobodys.body)
		}
	}
	for n := range merchant.GuessBurst - 3 {
		code := fmt.Sprintf("600699990000%04d", n+1)
		if n%2 == 0 {
			code = fmt.Sprintf("9%011d", n)
		}
		guess(code).refused(404, refusal.NotFound, "voucherCode")
	}
	there, none := guess("6006123400000001"), guess("6006999900009999")
	there.refused(429, refusal.RateLimited)
	if string(there.body) != string(none.body) {
		t.Errorf("a card that is there is told apart: %s and %s", there.body, none.body)
	}
}

// TestCardsOfAnotherSystemGoOnWorking: typed or swiped, at the account that brought them, and nowhere else.
func TestCardsOfAnotherSystemGoOnWorking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	validate := func(code string, headers ...string) reply {
		t.Helper()
		at := `,"organizationID":"` + pier + `"}`
		if len(headers) > 0 {
			at = "}" // of another account
		}
		return w.post("validate-gift", `{"voucherCode":`+strings.ReplaceAll(code, "`", `"`)+at, headers...)
	}
	validate("`0006123456789012`").refused(400, refusal.InvalidCodeFormat, "voucherCode")
	a := w.declare(merchant.CodeForm{Digits: 16}, merchant.CodeForm{Alphanumeric: 10, Fold: true},
		merchant.CodeForm{Alphanumeric: 5, Fold: true})
	short := w.bring(a, "AB12C")
	old, folded := w.bring(a, "0006123456789012"), w.bring(a, "GIFT-OI-0123")
	ours := w.send(ofMoney("25"))
	for code, want := range map[string]guid.ID{"0006123456789012": old.ID, "0006 1234-5678 9012": old.ID,
		";0006123456789012=991212345?": old.ID, "%B0006123456789012^GIFT^9912?": old.ID, "giftoi0123": folded.ID,
		"ab-I2c": short.ID} {
		r := validate("`" + code + "`").want(200)
		if r.at("voucherID") != want.String() || r.at("currentBalance") != "50.00" {
			t.Errorf("%q finds %s", code, r.body)
		}
	}
	if r := validate(ours.code).want(200); r.at("voucherID") != ours.id {
		t.Errorf("a code of Boon as a number finds %s", r.body)
	}
	w.post("redeem-gift", `{"voucherCode":"0006123456789012","amount":20,"organizationID":"`+pier+`"}`,
		"Idempotency-Key", "swipe").want(200)
	w.post("reverse-redemption", `{"idempotencyKey":"swipe","voucherCode":";0006123456789012=9912?"}`).want(200)
	r := w.get("/gifting/gifts?lastFour=9012").want(200)
	if r.at("gifts[0].voucherCode") != "0006123456789012" || r.at("gifts[0].lastFour") != "9012" {
		t.Errorf("a look-up tells %s", r.body)
	}
	w.get("/gifting/gifts?lastFour=12").want(200)
	for _, code := range []string{"6123456789012", "0006123456789013", "anything"} {
		validate("`"+code+"`").refused(404, refusal.NotFound, "voucherCode")
	}
	for _, code := range []string{"`1234`", "`_________`", "6006123456789012"} {
		validate(code).refused(400, refusal.InvalidCodeFormat, "voucherCode")
	}
	validate("`0006123456789012`", as(cornerKey)...).refused(400, refusal.InvalidCodeFormat, "voucherCode")
}
