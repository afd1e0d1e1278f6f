package gift

import (
	"strings"
	"testing"
	"time"
)

// TestAudit spoils a sound history in every way that Audit promises to see.
func TestAudit(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		g, issued := Gift{Voucher{ID: theGift, Loaded: 1000, Balance: 1000}, Card{Method: Email}}.Begin(c(1))
		v, sent, _ := g.Deliver(Outcome{Context: c(2), Delivered: true})
		v, part, _ := v.Redeem(Redeem{Context: c(3), Amount: 300})
		v, rest, _ := v.Redeem(Redeem{Context: c(4)})
		v, back, err := v.Reverse(Undoable{Entry: rest}, Reverse{Context: c(5), Caller: everywhere, Amount: 100})
		if err != nil {
			t.Fatal(err)
		}
		v, gone, _, _ := v.Cancel(Cancel{Context: c(6), Caller: everywhere, To: Cancelled})
		v, again, _, err := v.Reinstate(Reinstate{Context: c(7), Caller: everywhere, Before: Claimed})
		if err != nil {
			t.Fatal(err)
		}
		v, held, err := v.Hold(Hold{Redeem: Redeem{Context: c(8), Amount: 70}})
		if err != nil {
			t.Fatal(err)
		}
		v, captured, err := v.Capture(Held{Entry: held}, Capture{Context: c(9), Caller: everywhere, Amount: 20,
			KeepRest: true})
		if err != nil {
			t.Fatal(err)
		}
		v, second, _ := v.Hold(Hold{Redeem: Redeem{Context: c(10), Amount: 10}, Lasts: time.Minute})
		v, over, _ := v.ExpireOne(c(11))
		return v, []Entry{issued, sent, part, rest, back, gone, again, held, captured, second, over}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, tt := range map[string]struct {
		spoil func(*Voucher, []Entry) []Entry
		want  string
	}{
		"no history":             {func(_ *Voucher, _ []Entry) []Entry { return nil }, "no history"},
		"a balance that differs": {func(v *Voucher, h []Entry) []Entry { v.Balance++; return h }, "its history says"},
		"a status that differs": {func(v *Voucher, h []Entry) []Entry { v.Status = Redeemed; return h },
			"its history says"},
		"a missing entry": {func(_ *Voucher, h []Entry) []Entry { return append(h[:2:2], h[3:]...) }, "is numbered"},
		"another one before": {func(_ *Voucher, h []Entry) []Entry { h[3].Previous = h[1].ID; return h },
			"does not follow"},
		"an older one after": {func(v *Voucher, h []Entry) []Entry { h[10].ID, v.Last = id(1), id(1); return h },
			"does not follow"},
		"another one named last": {func(v *Voucher, h []Entry) []Entry { v.Last = id(1); return h }, "it names"},
		"the last one missing":   {func(_ *Voucher, h []Entry) []Entry { return h[:10] }, "its history says"},
		"a changed amount":       {func(_ *Voucher, h []Entry) []Entry { h[2].Delta = -200; return h }, "adds up to"},
		"an issue in between":    {func(_ *Voucher, h []Entry) []Entry { h[1].Kind = Issued; return h }, "of kind ISSUED"},
		"a step that is none": {func(_ *Voucher, h []Entry) []Entry { h[1].Status = FailedDelivery; return h },
			"cannot lead from PENDING to FAILED_DELIVERY"},
		"redeemed, but not all": {func(_ *Voucher, h []Entry) []Entry { h[2].Status = Redeemed; return h }, "cannot lead"},
		"a reversal of nothing": {func(_ *Voucher, h []Entry) []Entry { h[4].Reverses = id(77); return h }, "cannot lead"},
		"reinstated as another": {func(_ *Voucher, h []Entry) []Entry {
			h[6].Status = Delivered
			return h
		}, "cannot lead from CANCELLED to DELIVERED"},
		"reinstated from nothing": {func(_ *Voucher, h []Entry) []Entry { h[5].Kind = Reversal; return h },
			"cannot lead from CANCELLED to CLAIMED"},
		"holds that differ": {func(v *Voucher, h []Entry) []Entry { v.Holds[0].Until = now; return h },
			"it says that 50 is held by 1 holds; its history says 50 by 1"},
		"no holds": {func(v *Voucher, h []Entry) []Entry { v.Holds = nil; return h },
			"it says that 0 is held by 0 holds; its history says 50 by 1"},
		"a hold of more than there is": {func(_ *Voucher, h []Entry) []Entry { h[7].Held = 101; return h },
			"entry 8 (HOLD) cannot change by +101 what is held, 0"},
		"a hold over at once": {func(_ *Voucher, h []Entry) []Entry { h[7].Until = h[7].At; return h },
			"entry 8 (HOLD) cannot change"},
		"a capture of more than is held": {func(_ *Voucher, h []Entry) []Entry { h[7].Held = 19; return h },
			"entry 9 (REDEMPTION) cannot change by -20 what is held, 19"},
		"a capture of nothing held": {func(_ *Voucher, h []Entry) []Entry { h[8].HoldID = id(77); return h },
			"entry 9 (REDEMPTION) cannot change"},
		"a capture that frees another amount": {func(_ *Voucher, h []Entry) []Entry { h[8].Held = -30; return h },
			"entry 9 (REDEMPTION) cannot change"},
		"a capture too late": {func(_ *Voucher, h []Entry) []Entry { h[7].Until = h[8].At; return h },
			"entry 9 (REDEMPTION) cannot change"},
		"expired too early": {func(_ *Voucher, h []Entry) []Entry { h[10].At = h[9].At; return h },
			"entry 11 (HOLD_EXPIRED) cannot change by -10 what is held, 60"},
		"expired in part": {func(_ *Voucher, h []Entry) []Entry { h[10].Held = -9; return h },
			"entry 11 (HOLD_EXPIRED) cannot change"},
		"released elsewhere": {func(_ *Voucher, h []Entry) []Entry { h[10].Actor.LocationID = id(77); return h },
			"entry 11 (HOLD_EXPIRED) cannot change"},
		"a hold made elsewhere": {func(v *Voucher, h []Entry) []Entry { v.Holds[0].LocationID = id(77); return h },
			"it says that 50 is held by 1 holds; its history says 50 by 1"},
		"more released than held": {func(_ *Voucher, h []Entry) []Entry {
			h[10].Held, h[10].Kind = -11, HoldReleased
			return h
		}, "entry 11 (HOLD_RELEASED) cannot change"},
		"something held beside": {func(_ *Voucher, h []Entry) []Entry { h[1].Held = 1; return h },
			"entry 2 (DELIVERED) cannot change by +1 what is held, 0"},
		"an end beside": {func(_ *Voucher, h []Entry) []Entry { h[3].Until = now; return h },
			"entry 4 (REDEMPTION) cannot change"},
		"another amount held afterwards": {func(_ *Voucher, h []Entry) []Entry { h[8].HeldAfter++; return h },
			"entry 9 says that 51 is held; it adds up to 50"},
		"held and moved": {func(_ *Voucher, h []Entry) []Entry { h[9].Delta = 1; return h },
			"cannot lead from CLAIMED to CLAIMED"},
		"too little put in": {func(v *Voucher, h []Entry) []Entry { v.Loaded = 50; return h },
			"it says 50 was put into it"},
	} {
		v, history := sound()
		if found := strings.Join(Audit(v, tt.spoil(&v, history)), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// TestAuditOfCashTakenBack spoils a history of a cash-out that was taken back.
func TestAuditOfCashTakenBack(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context {
			return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute), Actor: Actor{LocationID: shop}}
		}
		first := Voucher{ID: theGift, ProgramID: BusinessProgram.ID, Currency: usd, Loaded: 900, Balance: 900}
		g, issued := Gift{first, Card{Method: Printed}}.Begin(c(1))
		v, part, _ := g.Redeem(Redeem{Context: c(2), LocationID: shop, Amount: 400})
		v, paid, err := v.PayOut(PayOut{Context: c(3), Law: cashLaw, Account: inJurisdiction("US-CA")})
		if err != nil {
			t.Fatal(err)
		}
		cashier := &Caller{Kind: AccountKey, Account: everywhere.Account, Permissions: MayCashOut}
		v, back, err := v.Reverse(Undoable{Entry: paid}, Reverse{Context: c(4), Caller: cashier})
		if err != nil {
			t.Fatal(err)
		}
		return v, []Entry{issued, part, paid, back}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, spoil := range map[string]func(*Voucher, []Entry){
		"of a redemption":    func(_ *Voucher, h []Entry) { h[3].Reverses = h[1].ID },
		"as of a redemption": func(_ *Voucher, h []Entry) { h[3].ReasonCode = "" },
		"in part":            func(v *Voucher, h []Entry) { h[3].Delta, h[3].Balance, v.Balance = 499, 499, 499 },
		"still empty":        func(v *Voucher, h []Entry) { h[3].Status, v.Status = Redeemed, Redeemed },
	} {
		v, history := sound()
		spoil(&v, history)
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, "entry 4 (REVERSAL") {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// TestAuditOfLoads spoils a history of reloads.
func TestAuditOfLoads(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		first := Voucher{ID: theGift, ProgramID: BusinessProgram.ID, Currency: usd, Loaded: 1000, Balance: 1000}
		g, issued := Gift{first, Card{Method: Printed}}.Begin(c(1))
		v, more, _ := g.Load(Load{Context: c(2), Amount: 500, Account: reloading})
		v, less, err := v.ReverseReload(Undoable{Entry: more}, Undo{Context: c(3), Caller: everywhere})
		if err != nil {
			t.Fatal(err)
		}
		v, part, _ := v.Redeem(Redeem{Context: c(4)})
		v, again, _ := v.Load(Load{Context: c(5), Amount: 500, Account: reloading})
		v, rest, err := v.ReverseReload(Undoable{Entry: again}, Undo{Context: c(6), Caller: everywhere})
		if err != nil {
			t.Fatal(err)
		}
		return v, []Entry{issued, more, less, part, again, rest}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, tt := range map[string]struct {
		spoil func(*Voucher, []Entry)
		want  string
	}{
		"undone twice": {func(_ *Voucher, h []Entry) { h[5].Reverses = h[1].ID },
			"entry 6 (RELOAD_REVERSAL, -500) cannot lead"},
		"undone in part": {func(_ *Voucher, h []Entry) { h[2].Delta = -499 },
			"entry 3 (RELOAD_REVERSAL, -499) cannot lead"},
		"of a redemption": {func(_ *Voucher, h []Entry) { h[5].Reverses = h[3].ID },
			"entry 6 (RELOAD_REVERSAL, -500) cannot lead"},
		"emptied, but not told": {func(_ *Voucher, h []Entry) { h[5].Status = Claimed },
			"cannot lead from CLAIMED to CLAIMED"},
		"loaded while redeemed": {func(_ *Voucher, h []Entry) { h[4].Status = Redeemed },
			"cannot lead from REDEEMED to REDEEMED"},
		"put in unnoticed": {func(v *Voucher, _ []Entry) { v.Loaded += 500 }, "it says 1500 was put into it"},
	} {
		v, history := sound()
		tt.spoil(&v, history)
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
