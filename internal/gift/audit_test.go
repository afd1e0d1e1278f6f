package gift

import (
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/merchant"
)

// TestAudit spoils a sound history in every way that Audit promises to see.
func TestAudit(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		g, issued := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000}, Card{Method: contact.Email}}.Begin(c(1))
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
		"too little put in": {func(v *Voucher, h []Entry) []Entry { v.Funded = 50; return h },
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
			return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute), Actor: merchant.Actor{LocationID: shop}}
		}
		first := Voucher{ID: theGift, ProgramID: merchant.BusinessProgram.ID, Currency: usd, Funded: 900, Balance: 900}
		g, issued := Gift{first, Card{Method: contact.Printed}}.Begin(c(1))
		v, part, _ := g.Redeem(Redeem{Context: c(2), LocationID: shop, Amount: 400})
		v, paid, err := v.CashOut(CashOutRequest{Context: c(3), Law: cashLaw, Account: inJurisdiction("US-CA")})
		if err != nil {
			t.Fatal(err)
		}
		cashier := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Permissions: merchant.MayCashOut}
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
		first := Voucher{ID: theGift, ProgramID: merchant.BusinessProgram.ID, Currency: usd, Funded: 1000, Balance: 1000}
		g, issued := Gift{first, Card{Method: contact.Printed}}.Begin(c(1))
		v, more, _ := g.Reload(ReloadRequest{Context: c(2), Amount: 500, Account: reloading})
		v, less, err := v.ReverseReload(Undoable{Entry: more}, Undo{Context: c(3), Caller: everywhere})
		if err != nil {
			t.Fatal(err)
		}
		v, part, _ := v.Redeem(Redeem{Context: c(4)})
		v, again, _ := v.Reload(ReloadRequest{Context: c(5), Amount: 500, Account: reloading})
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
		"put in unnoticed": {func(v *Voucher, _ []Entry) { v.Funded += 500 }, "it says 1500 was put into it"},
	} {
		v, history := sound()
		tt.spoil(&v, history)
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}

// book is a gift and its history.
type book struct {
	v       Voucher
	history []Entry
}

// booksOfEveryKind are sound histories, in which each kind of entry is once at least.
func booksOfEveryKind(t *testing.T) map[string]book {
	n := byte(0)
	next := func() Context {
		n++
		return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute), Actor: merchant.Actor{LocationID: shop}}
	}
	books := map[string]book{}
	begin := func(g Gift) (*Voucher, func(Voucher, Entry, error), func(string)) {
		g, issued := g.Begin(next())
		v, history := g.Voucher, []Entry{issued}
		note := func(after Voucher, e Entry, err error) {
			t.Helper()
			if err != nil || e.Kind == "" {
				t.Fatalf("%+v: %v", e, err)
			}
			v, history = after, append(history, e)
		}
		return &v, note, func(name string) {
			books[name] = book{v, history}
		}
	}
	all := &merchant.Caller{Kind: merchant.AccountKey, Account: reloading, Permissions: merchant.AllPermissions}
	sure := func(v Voucher, e Entry, _ bool) (Voucher, Entry, error) { return v, e, nil }

	v, note, end := begin(Gift{Voucher{ID: theGift, ProgramID: merchant.BusinessProgram.ID, Currency: usd, Funded: 1000,
		Balance: 1000}, Card{Method: contact.Email}})
	after, _, moved, err := v.Reschedule(Delivery{Method: contact.Email}, Reschedule{Context: next(), Caller: all,
		Date: now.AddDate(0, 1, 0), Waiting: true})
	note(after, moved, err)
	note(sure(v.Deliver(Outcome{Context: next()})))
	note(sure(v.Deliver(Outcome{Context: next(), Delivered: true})))
	again, _, resent, _, err := v.Resend(Delivery{Method: contact.Email, Contact: "ana@example.com"},
		Resend{Context: next(),
			Caller: all})
	note(again, resent, err)
	note(v.Hold(Hold{Redeem{Context: next(), LocationID: shop, Amount: 100}, time.Hour}))
	held := Held{Entry: Entry{ID: v.Holds[0].ID, VoucherID: theGift, Kind: HoldMade, Until: v.Holds[0].Until,
		Actor: merchant.Actor{LocationID: shop}}}
	note(v.Capture(held, Capture{Context: next(), Caller: all, Amount: 40, KeepRest: true}))
	note(sure(v.ReleaseOne(next())))
	note(v.Hold(Hold{Redeem{Context: next(), LocationID: shop, Amount: 100}, time.Minute}))
	note(sure(v.ExpireOne(next())))
	note(v.Reload(ReloadRequest{Context: next(), Amount: 500, Account: reloading}))
	reload := Entry{ID: v.Last, VoucherID: theGift, Kind: Reload, Delta: 500, Actor: merchant.Actor{LocationID: shop}}
	note(v.ReverseReload(Undoable{Entry: reload}, Undo{Context: next(), Caller: all}))
	note(v.Adjust(Adjust{Context: next(), Caller: all, Amount: -7, ReasonCode: ReasonMistake, Reason: "typed wrong"}))
	note(v.Block(Block{Context: next(), Caller: all, ReasonCode: ReasonLost}))
	note(v.Replace(Replace{Context: next(), Caller: all}))
	note(v.Unblock(Unblock{Context: next(), Caller: all}))
	cancelled, gone, _, err := v.Cancel(Cancel{Context: next(), Caller: all, To: Cancelled})
	note(cancelled, gone, err)
	back, reinstated, _, err := v.Reinstate(Reinstate{Context: next(), Caller: all, Before: Claimed})
	note(back, reinstated, err)
	other := voucherIn(Delivered)
	other.ID = id(200)
	less, _, out, err := v.Transfer(other, Transfer{Context: next(), EntryIn: id(201), Amount: 30, Caller: all})
	note(less, out[0], err)
	_, received, in, err := other.Transfer(*v, Transfer{
		Context: Context{EntryID: id(202), Now: now}, EntryIn: next().EntryID,
		Amount: 70, Caller: all})
	note(received, in[1], err)
	note(v.CashOut(CashOutRequest{Context: next(), Law: cashLaw, Account: inJurisdiction("US-CA")}))
	cash := Entry{ID: v.Last, VoucherID: theGift, Kind: CashOut, Delta: -993, Actor: merchant.Actor{LocationID: shop}}
	note(v.Reverse(Undoable{Entry: cash}, Reverse{Context: next(), Caller: all}))
	end("a gift")

	card, note, end := begin(Gift{Voucher{ID: theGift, Status: NotActivated, Fixed: 500, Verification: "0471"},
		Card{Method: contact.Printed}})
	unsold, gone, _, err := card.Cancel(Cancel{Context: next(), Caller: all, To: Cancelled})
	note(unsold, gone, err)
	unsold, reinstated, _, err = card.Reinstate(Reinstate{Context: next(), Caller: all, Before: NotActivated})
	note(unsold, reinstated, err)
	note(card.Activate(Activate{Context: next()}))
	sold := Entry{ID: card.Last, Seq: card.Seq, VoucherID: theGift, Kind: Activation, Delta: 500}
	note(card.ReverseActivation(Undoable{Entry: sold}, Undo{Context: next(), Caller: all}))
	note(card.Activate(Activate{Context: next()}))
	missed, wrong := card.MissCode(next())
	note(missed, wrong, nil)
	end("a card")

	given, note, end := begin(Gift{Voucher{ID: theGift, Promotional: true, Funded: 1000, Balance: 1000,
		ValidUntil: now.AddDate(0, 1, 0)}, Card{Method: contact.Printed}})
	note(given.Extend(Extend{Context: next(), Caller: all, Until: now.AddDate(1, 0, 0)}))
	end("a promotional gift")

	old, first := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000}, Card{Method: contact.Printed}}.Import(next())
	books["an imported gift"] = book{old.Voucher, []Entry{first}}

	had := map[Kind]bool{}
	for _, b := range books {
		for _, e := range b.history {
			had[e.Kind] = true
		}
	}
	more, note, end := begin(Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000}, Card{Method: contact.Printed}})
	for _, c := range commands() { // of a kind that has no history yet
		after, e, changed, err := c.do(*more)
		if !changed || had[e.Kind] {
			continue
		}
		at := next()
		e.ID, e.At, after.Last = at.EntryID, at.Now, at.EntryID
		note(after, e, err)
	}
	end("another gift")
	return books
}

// TestAuditRecomputesEveryKind: of whatever kind an entry is, another amount, another balance, something more that is
// held, and the lack of it are seen.
func TestAuditRecomputesEveryKind(t *testing.T) {
	t.Parallel()
	seen := map[Kind]bool{}
	for name, b := range booksOfEveryKind(t) {
		if found := Audit(b.v, b.history); len(found) > 0 {
			t.Fatalf("%s, which is sound: %q", name, found)
		}
		for i, e := range b.history {
			seen[e.Kind] = true
			for what, spoil := range map[string]func([]Entry) []Entry{
				"more":         func(h []Entry) []Entry { h[i].Delta++; return h },
				"less":         func(h []Entry) []Entry { h[i].Delta--; return h },
				"more is left": func(h []Entry) []Entry { h[i].Balance++; return h },
				"more is held": func(h []Entry) []Entry { h[i].Held++; return h },
				"it is gone":   func(h []Entry) []Entry { return slices.Delete(h, i, i+1) },
			} {
				if found := Audit(b.v, spoil(slices.Clone(b.history))); len(found) == 0 {
					t.Errorf("%s, %s of %s: nothing is found", name, what, e.Kind)
				}
			}
		}
	}
	for _, kind := range Kinds() {
		if !seen[kind] {
			t.Errorf("no history has a %s", kind)
		}
	}
}
