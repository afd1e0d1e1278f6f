package gift

import (
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// aCard is a card of a stock, and the histories that it can have.
func aCard(fixed money.Amount) Voucher {
	v := voucherIn(NotActivated)
	v.Fixed, v.Verification = fixed, "0471"
	return v
}

func TestActivate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		card  Voucher
		ask   Activate
		code  refusal.Code // "": it succeeds
		worth money.Amount
	}{
		"fixed":              {aCard(500), Activate{}, "", 500},
		"fixed, beyond now":  {aCard(5000), Activate{}, "", 5000},
		"fixed, named":       {aCard(500), Activate{Amount: 500}, refusal.ValidationFailure, 0},
		"fixed, misspelled":  {aCard(500), Activate{Number: "x"}, refusal.ValidationFailure, 0},
		"paid":               {aCard(0), Activate{Number: "2.50"}, "", 250},
		"the most":           {aCard(0), Activate{Amount: 1000}, "", 1000},
		"more than the most": {aCard(0), Activate{Amount: 1001}, refusal.ValidationFailure, 0},
		"nothing":            {aCard(0), Activate{}, refusal.ValidationFailure, 0},
		"less than nothing":  {aCard(0), Activate{Amount: -1}, refusal.ValidationFailure, 0},
		"too fine":           {aCard(0), Activate{Number: "2.505"}, refusal.ValidationFailure, 0},
		"for less":           {aCard(500), Activate{Price: "4"}, "", 500},
		"for more":           {aCard(500), Activate{Price: "5.01"}, refusal.ValidationFailure, 0},
		"paid for less":      {aCard(0), Activate{Number: "2.50", Price: "2"}, "", 250},
		"paid for more":      {aCard(0), Activate{Number: "2.50", Price: "2.51"}, refusal.ValidationFailure, 0},
		"an item for less":   {anItemCard(), Activate{Price: "9.99", Worth: 1000}, "", 3},
		"an item for more":   {anItemCard(), Activate{Price: "10.01", Worth: 1000}, refusal.ValidationFailure, 0},
		"an item of unknown": {anItemCard(), Activate{Price: "0.01"}, refusal.ValidationFailure, 0},
		"blocked": {func() Voucher { v := aCard(500); v.Blocked = ReasonLost; return v }(), Activate{},
			refusal.RedemptionNotAllowed, 0},
		"elsewhere": {func() Voucher { v := aCard(500); v.LocationID = id(0x77); return v }(), Activate{},
			refusal.NotAuthorized, 0},
	} {
		tt.ask.Context, tt.ask.LocationID, tt.ask.Most = context(), shop, 1000
		tt.ask.Purchase = Purchase{Reference: "R-1"}
		after, e, err := tt.card.Activate(tt.ask)
		if codeOf(t, err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
			continue
		}
		if err == nil && (after.Balance != tt.worth || after.Funded != tt.worth || e.Delta != tt.worth ||
			after.Status != Delivered || e.Purchase.Price != priceOf(t, tt.ask.Price) ||
			e.Purchase.Reference != "R-1" || after.Worth() != tt.worth) {
			t.Errorf("%s: %+v, %+v", name, after, e)
		}
	}
	if v := aCard(500); v.Worth() != 500 || v.Balance != 0 {
		t.Errorf("before it is activated: %+v", v)
	}
}

func anItemCard() Voucher {
	v := aCard(3)
	v.Item = true
	return v
}

func priceOf(t *testing.T, number money.Number) money.Amount {
	t.Helper()
	if number == "" {
		return 0
	}
	price, err := aCard(1).Currency.Parse(number)
	if err != nil {
		t.Fatal(err)
	}
	return price
}

// TestAuditOfCards spoils the history of a card of a stock.
func TestAuditOfCards(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		g, first := Gift{Voucher{ID: theGift, Status: NotActivated, Fixed: 500, Verification: "0471"},
			Card{Method: contact.Printed}}.Begin(c(1))
		h := []Entry{first}
		v := g.Voucher
		note := func(after Voucher, e Entry, err error) {
			if err != nil {
				t.Fatal(err)
			}
			v, h = after, append(h, e)
		}
		note(v.Activate(Activate{Context: c(2)}))
		note(v.ReverseActivation(Undoable{Entry: h[1]}, Undo{Context: c(3), Caller: everywhere}))
		note(v.Activate(Activate{Context: c(4)}))
		after, missed := v.MissCode(c(5))
		note(after, missed, nil)
		note(v.Redeem(Redeem{Context: c(6), Amount: 100, Verification: "0471"}))
		for n := range byte(MaxWrongCodes) {
			after, missed = v.MissCode(c(7 + n))
			note(after, missed, nil)
		}
		after, blocked, _ := v.BlockMissed(c(12))
		note(after, blocked, nil)
		return v, h
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, tt := range map[string]struct {
		spoil func(*Voucher, []Entry)
		want  string
	}{
		"issued with a balance": {func(_ *Voucher, h []Entry) { h[0].Balance = 1 }, "entry 1 (ISSUED, +0) cannot lead"},
		"of another worth":      {func(v *Voucher, _ []Entry) { v.Fixed = 400 }, "entry 2 (ACTIVATION, +500) cannot lead"},
		"activated twice": {func(_ *Voucher, h []Entry) { h[2].Status = Delivered },
			"entry 4 (ACTIVATION, +500) cannot lead"},
		"another undone": {func(_ *Voucher, h []Entry) { h[2].Reverses = id(9) },
			"entry 3 (ACTIVATION_REVERSAL, -500) cannot"},
		"fewer wrong codes": {func(v *Voucher, _ []Entry) { v.WrongCodes = 4 }, "4 wrong codes"},
		"not blocked":       {func(v *Voucher, _ []Entry) { v.Blocked = "" }, `blocked ""`},
		"blocked too early": {func(_ *Voucher, h []Entry) { h[6].Kind = Resent }, "entry 12 (BLOCKED, +0) cannot lead"},
		"a wrong code that takes": {func(_ *Voucher, h []Entry) { h[4].Delta = -1 },
			"entry 5 (WRONG_VERIFICATION_CODE, -1) cannot lead"},
	} {
		v, h := sound()
		tt.spoil(&v, h)
		if found := strings.Join(Audit(v, h), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// TestReverseActivationAfterWrongCodes: a verification code that was mistyped after the sale keeps nobody from taking
// it back, and stays counted; anything else does. Histories of 0.1.0, which forgot it then, are sound too.
func TestReverseActivationAfterWrongCodes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		between func(v Voucher, next func() Context) (Voucher, Entry)
		missed  int
		refused bool
	}{
		"a wrong code": {func(v Voucher, next func() Context) (Voucher, Entry) { return v.MissCode(next()) }, 2, false},
		"a replacement": {func(v Voucher, next func() Context) (Voucher, Entry) {
			after, e, _ := v.Replace(Replace{Context: next(), Caller: everywhere})
			return after, e
		}, 0, true},
	} {
		n := byte(1)
		next := func() Context { n++; return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		g, first := Gift{Voucher{ID: theGift, Status: NotActivated, Fixed: 500, Verification: "0471"},
			Card{Method: contact.Printed}}.Begin(Context{EntryID: id(1), Now: now})
		v, h := g.Voucher, []Entry{first}
		for round := range 2 { // sold again afterwards, it is as it was
			after, sold, err := v.Activate(Activate{Context: next()})
			if err != nil {
				t.Fatal(err)
			}
			v, h = after, append(h, sold)
			for range 2 {
				after, e := tt.between(v, next)
				v, h = after, append(h, e)
			}
			after, e, err := v.ReverseActivation(Undoable{Entry: sold, Missed: tt.missed},
				Undo{Context: next(), Caller: everywhere})
			if (err != nil) != tt.refused ||
				err == nil && (after.Status != NotActivated || after.WrongCodes != 2*round+2) {
				t.Errorf("after %s: %v, %+v", name, err, after)
			}
			if tt.refused {
				break
			}
			v, h = after, append(h, e)
		}
		if found := Audit(v, h); len(found) > 0 {
			t.Errorf("after %s: %q", name, found)
		}
		if !tt.refused {
			for wrong, sound := range []bool{0: true, 1: false, 2: true, 3: false, 4: true, 5: false} {
				v := v
				v.WrongCodes = wrong // 0 and 2: as 0.1.0 counted after one reversal or both
				if found := Audit(v, h); (len(found) == 0) != sound {
					t.Errorf("%d wrong codes: %q", wrong, found)
				}
			}
			h[3].Kind, h[3].Status = Replaced, Delivered
			if found := strings.Join(Audit(v, h), "; "); !strings.Contains(found, "entry 5 (ACTIVATION_REVERSAL, -500) cannot") {
				t.Errorf("after something else: %q", found)
			}
		}
	}
}
