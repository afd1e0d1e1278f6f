package gift

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// holding makes a gift of 10.00 USD of which 6.00 USD is held for a quarter of an hour, and the hold.
func holding(t testing.TB) (Voucher, Held) {
	t.Helper()
	c := context()
	c.EntryID = id(7)
	v, e, err := voucherIn(Delivered).Hold(Hold{Redeem: Redeem{Context: c, LocationID: shop, Amount: 600}})
	if err != nil {
		t.Fatal(err)
	}
	return v, Held{Entry: e}
}

func TestHold(t *testing.T) {
	t.Parallel()
	other := id(0x22)
	tests := []struct {
		name    string
		change  func(*Voucher, *Hold)
		code    refusal.Code
		message string       // a part of the first message
		held    money.Amount // by the new hold
	}{
		{"part", func(_ *Voucher, h *Hold) { h.Amount = 400 }, "", "", 400},
		{"all that is available", func(*Voucher, *Hold) {}, "", "", 400},
		{"above what is available", func(_ *Voucher, h *Hold) { h.Amount = 401 }, refusal.InsufficientBalance,
			"Of this gift, 4.00 USD is available: 6.00 USD is held until 2026-11-21 12:15 UTC.", 0},
		{"above what is available, partial", func(_ *Voucher, h *Hold) { h.Amount, h.AllowPartial = 401, true }, "", "", 400},
		{"above the balance", func(_ *Voucher, h *Hold) { h.Amount = 1001 }, refusal.InsufficientBalance,
			"The balance of this gift is 10.00 USD.", 0},
		{"when all is held", func(v *Voucher, _ *Hold) { v.Holds = []OpenHold{{ID: id(7), Left: 1000, Until: now.Add(1)}} },
			refusal.InsufficientBalance, "Of this gift, 0.00 USD is available: 10.00 USD is held", 0},
		{"when all is held, partial", func(v *Voucher, h *Hold) {
			v.Holds, h.Amount, h.AllowPartial = []OpenHold{{ID: id(7), Left: 1000, Until: now.Add(1)}}, 1, true
		}, refusal.InsufficientBalance, "Of this gift, 0.00 USD is available", 0},
		{"of several holds", func(v *Voucher, h *Hold) {
			h.Amount, v.Holds = 500, []OpenHold{{ID: id(7), Left: 100, Until: now.Add(time.Hour)},
				{ID: id(6), Left: 200, Until: now.Add(time.Minute)},
				{ID: id(5), Left: 400, Until: now.Add(2 * time.Hour)}, {ID: id(4), Left: 300, Until: now}}
		}, refusal.InsufficientBalance,
			"Of this gift, 3.00 USD is available: 7.00 USD is held until 2026-11-21 14:00 UTC, the " +
				"first of 3 holds until 2026-11-21 12:01 UTC.", 0},
		{"negative", func(_ *Voucher, h *Hold) { h.Amount = -1 }, refusal.ValidationFailure, "above zero", 0},
		{"elsewhere", func(v *Voucher, _ *Hold) { v.LocationID = other }, refusal.NotAuthorized, "another location", 0},
		{"another program", func(_ *Voucher, h *Hold) { h.Target.ProgramID = other }, refusal.MissingOrInvalidGiftProgram, "",
			0},
		{"expired", func(v *Voucher, _ *Hold) { v.ValidUntil = now }, refusal.RedemptionNotAllowed, "expired", 0},
		{"cancelled", func(v *Voucher, _ *Hold) { v.Status = Cancelled }, refusal.RedemptionNotAllowed, "cancelled", 0},
		{"empty", func(v *Voucher, _ *Hold) { v.Status, v.Balance, v.Holds = Redeemed, 0, nil }, refusal.AlreadyRedeemed, "",
			0},
		{"the ticket binds", func(_ *Voucher, h *Hold) { h.Eligibility = &Eligibility{Most: 300} }, "", "", 300},
		{"above the ticket", func(_ *Voucher, h *Hold) { h.Amount, h.Eligibility = 301, &Eligibility{Most: 300} },
			refusal.ValidationFailure, "At most 3.00 USD", 0},
		{"no ticket", func(v *Voucher, _ *Hold) { v.Items = []merchant.Item{{ID: "LATTE"}} }, refusal.ItemEligibilityFailure,
			"", 0},
		{"one more than there can be", func(v *Voucher, h *Hold) {
			h.Amount, v.Holds = 1, nil
			for range MaxHolds {
				v.Holds = append(v.Holds, OpenHold{ID: id(7), Left: 1, Until: now.Add(1)})
			}
		}, refusal.RedemptionNotAllowed, "100 open holds", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, _ := holding(t)
			h := Hold{Redeem{Context: context(), LocationID: shop, Reference: "pump 4"}, time.Hour}
			tt.change(&v, &h)
			after, e, err := v.Hold(h)
			if codeOf(t, err) != tt.code || after.Balance != v.Balance || after.Status != v.Status {
				t.Fatalf("got %v, balance %d, %s", err, after.Balance, after.Status)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.message) || !reflect.DeepEqual(after, v) {
					t.Errorf("%v does not say %q, or %+v changed", err, tt.message, after)
				}
				return
			}
			if e.Kind != HoldMade || e.Delta != 0 || e.Held != tt.held || !e.Until.Equal(now.Add(time.Hour)) ||
				e.Reference != "pump 4" || after.Available(now) != v.Available(now)-tt.held {
				t.Errorf("entry %+v, available %d", e, after.Available(now))
			}
		})
	}
}

// TestHeldIsNotRedeemed: what is held is not there for others, until it expires.
func TestHeldIsNotRedeemed(t *testing.T) {
	t.Parallel()
	v, _ := holding(t)
	redeem := Redeem{Context: context(), LocationID: shop, Amount: 401}
	if _, _, err := v.Redeem(redeem); codeOf(t, err) != refusal.InsufficientBalance ||
		!strings.Contains(err.Error(), "Of this gift, 4.00 USD is available: 6.00 USD is held until") {
		t.Errorf("redeemed above what is available: %v", err)
	}
	redeem.AllowPartial = true
	if after, e, err := v.Redeem(redeem); err != nil || e.Delta != -400 || after.Status != Claimed ||
		after.Available(now) != 0 {
		t.Errorf("partially: %+v, %v", e, err)
	}
	redeem.Amount = 0
	if _, e, err := v.Redeem(redeem); err != nil || e.Delta != -400 {
		t.Errorf("all that is left: %+v, %v", e, err)
	}
	california := inJurisdiction("US-CA")
	allowed := func(at time.Time) bool { return v.CashOutAllowed(cashLaw, california, &california.Locations[0], at) }
	if allowed(now) || !allowed(now.Add(DefaultHoldTime)) {
		t.Error("cash is paid for what is held, or not for what was")
	}
	if got := v.Available(now.Add(DefaultHoldTime - 1)); got != 400 {
		t.Errorf("just before its end %d is available", got)
	}
	redeem.Now, redeem.Amount = now.Add(DefaultHoldTime), 1000
	if _, e, err := v.Redeem(redeem); err != nil || e.Delta != -1000 {
		t.Errorf("at its end: %+v, %v", e, err)
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	somewhere := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{id(0x22)}}
	tests := []struct {
		name    string
		change  func(*Voucher, *Held, *Capture)
		code    refusal.Code
		message string
		balance money.Amount // afterwards, as is what is held
		held    money.Amount
	}{
		{"all", func(*Voucher, *Held, *Capture) {}, "", "", 400, 0},
		{"part", func(_ *Voucher, _ *Held, c *Capture) { c.Amount = 100 }, "", "", 900, 0},
		{"part, keeping the rest", func(_ *Voucher, _ *Held, c *Capture) { c.Amount, c.KeepRest = 100, true }, "", "", 900,
			500},
		{"all, keeping nothing", func(_ *Voucher, _ *Held, c *Capture) { c.KeepRest = true }, "", "", 400, 0},
		{"more", func(_ *Voucher, _ *Held, c *Capture) { c.Amount = 601 }, refusal.InsufficientBalance, "of 6.00 USD", 1000,
			600},
		{"negative", func(_ *Voucher, _ *Held, c *Capture) { c.Amount = -1 }, refusal.ValidationFailure, "above zero", 1000,
			600},
		{"no amount in dollars", func(_ *Voucher, _ *Held, c *Capture) { c.Number = "0.001" }, refusal.ValidationFailure,
			"USD", 1000,
			600},
		{"at the last moment", func(_ *Voucher, _ *Held, c *Capture) { c.Now = now.Add(DefaultHoldTime - 1) }, "", "", 400,
			0},
		{"too late", func(_ *Voucher, _ *Held, c *Capture) { c.Now = now.Add(DefaultHoldTime) }, refusal.HoldNotOpen,
			"This hold expired at 2026-11-21 12:15 UTC.", 1000, 600},
		{"released", func(v *Voucher, h *Held, _ *Capture) { v.Holds, h.Last = nil, Entry{Kind: HoldReleased, At: now} },
			refusal.HoldNotOpen, "This hold was released at 2026-11-21 12:00 UTC.", 1000, 0},
		{"captured", func(v *Voucher, h *Held, _ *Capture) { v.Holds, h.Last = nil, Entry{Kind: Redemption, At: now} },
			refusal.HoldNotOpen, "This hold was captured at 2026-11-21 12:00 UTC.", 1000, 0},
		{"of an expired gift", func(v *Voucher, _ *Held, _ *Capture) { v.ValidUntil = now }, "", "", 400, 0},
		{"elsewhere", func(_ *Voucher, _ *Held, c *Capture) { c.Caller = somewhere }, refusal.NotFound, "no such hold", 1000,
			600},
		{"of another gift", func(_ *Voucher, h *Held, _ *Capture) { h.Entry.VoucherID = id(3) }, refusal.NotFound, "", 1000,
			600},
		{"of a redemption", func(_ *Voucher, h *Held, _ *Capture) { h.Entry.Kind = Redemption }, refusal.NotFound, "", 1000,
			600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, held := holding(t)
			c := Capture{Context: context(), Caller: everywhere, Reference: "tip"}
			c.Actor.LocationID = guid.ID{}
			tt.change(&v, &held, &c)
			after, e, err := v.Capture(held, c)
			if codeOf(t, err) != tt.code || after.Balance != tt.balance || sumOf(after.Holds) != tt.held {
				t.Fatalf("got %v, balance %d, held %d", err, after.Balance, sumOf(after.Holds))
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.message) {
					t.Errorf("%v does not say %q", err, tt.message)
				}
				return
			}
			if e.Kind != Redemption || e.Delta != after.Balance-v.Balance || e.HoldID != held.Entry.ID ||
				e.Held != tt.held-600 || e.Actor.LocationID != shop || e.Reference != "tip" || after.Status != Claimed {
				t.Errorf("entry %+v", e)
			}
			if v.HeldAt(now) != 600 {
				t.Error("the voucher of before changed")
			}
		})
	}
	v, held := holding(t)
	v.Balance = 600
	if after, e, err := v.Capture(held, Capture{Context: context(), Caller: everywhere}); err != nil ||
		after.Status != Redeemed || e.Status != Redeemed {
		t.Errorf("the whole gift: %s, %v", after.Status, err)
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	v, held := holding(t)
	after, e, changed, err := v.Release(held, Release{Context: context(), Caller: everywhere})
	if err != nil || !changed || after.Holds != nil || after.Balance != 1000 || after.Status != Delivered ||
		e.Kind != HoldReleased || e.Delta != 0 || e.Held != -600 || e.HoldID != held.Entry.ID {
		t.Errorf("released: %+v, %v", e, err)
	}
	for kind, code := range map[Kind]refusal.Code{HoldReleased: "", HoldExpired: "", Redemption: refusal.HoldNotOpen} {
		held.Last = Entry{Kind: kind, At: now}
		if again, e, changed, err := after.Release(held, Release{Context: context(), Caller: everywhere}); changed ||
			codeOf(t, err) != code || e != (Entry{}) || !reflect.DeepEqual(again, after) {
			t.Errorf("after %s: %+v, %v", kind, e, err)
		}
	}
	somewhere := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{id(0x22)}}
	if _, _, _, err := v.Release(held, Release{Context: context(), Caller: somewhere}); codeOf(t,
		err) != refusal.NotFound {
		t.Errorf("elsewhere: %v", err)
	}
}

// TestGiveBack: what is still held goes first, then what was captured, the oldest first.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	somewhere := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{id(0x22)}}
	v, held := holding(t) // 6.00 of 10.00
	var captured []Undoable
	for n, amount := range []money.Amount{100, 200} {
		c := Capture{Context: context(), Caller: everywhere, Amount: amount, KeepRest: true}
		c.EntryID = id(byte(30 + n))
		after, e, err := v.Capture(held, c)
		if err != nil {
			t.Fatal(err)
		}
		v, captured = after, append(captured, Undoable{Entry: e})
	}
	at := func(guid.ID) Context { return context() }
	for _, tt := range []struct {
		amount  money.Amount
		code    refusal.Code
		deltas  []money.Amount // of the entries; 0: a release
		held    money.Amount   // afterwards, as is the balance
		balance money.Amount
	}{
		{100, "", []money.Amount{0}, 200, 700}, {300, "", []money.Amount{0}, 0, 700}, {350, "", []money.Amount{0, 50}, 0,
			750},
		{401, "", []money.Amount{0, 100, 1}, 0, 801}, {600, "", []money.Amount{0, 100, 200}, 0, 1000},
		{601, refusal.ValidationFailure, nil, 300, 700}, {0, refusal.ValidationFailure, nil, 300, 700},
		{-1, refusal.ValidationFailure, nil, 300, 700},
	} {
		after, made, err := v.GiveBack(held, captured, Reverse{Context: context(), Caller: everywhere, Amount: tt.amount}, at)
		var deltas []money.Amount
		for _, e := range made {
			deltas = append(deltas, e.Delta)
		}
		if codeOf(t, err) != tt.code || !reflect.DeepEqual(deltas, tt.deltas) || sumOf(after.Holds) != tt.held ||
			after.Balance != tt.balance {
			t.Errorf("%d: %v, entries of %v, held %d, balance %d", tt.amount, err, deltas, sumOf(after.Holds), after.Balance)
		}
	}
	all := Reverse{Context: context(), Caller: somewhere, Amount: 600}
	if _, _, err := v.GiveBack(held, captured, all, at); codeOf(t, err) != refusal.NotFound {
		t.Errorf("elsewhere: %v", err)
	}
	all.Caller, all.Now = everywhere, held.Entry.Until // what was held is free already
	if _, _, err := v.GiveBack(held, captured, all, at); codeOf(t, err) != refusal.ValidationFailure ||
		!strings.Contains(err.Error(), "Only 3.00 USD of this is left") {
		t.Errorf("after its end: %v", err)
	}
	if _, _, err := v.GiveBack(held, nil, all, at); codeOf(t, err) != refusal.AlreadyReversed {
		t.Errorf("after its end, and nothing captured: %v", err)
	}
}

func TestExpireOne(t *testing.T) {
	t.Parallel()
	v, held := holding(t)
	c := context()
	c.Actor = merchant.Actor{} // the service itself
	if after, _, ok := v.ExpireOne(c); ok || !reflect.DeepEqual(after, v) {
		t.Error("it expires before its time")
	}
	c.Now = held.Entry.Until
	after, e, ok := v.ExpireOne(c)
	if !ok || after.Holds != nil || e.Kind != HoldExpired || e.Actor != (merchant.Actor{LocationID: shop}) ||
		e.Held != -600 ||
		e.HoldID != held.Entry.ID || e.Delta != 0 {
		t.Errorf("expired: %v, %+v", ok, e)
	}
	if _, _, ok := after.ExpireOne(c); ok {
		t.Error("it expires twice")
	}
}

// TestCancelNamesHolds: a gift of which something is held is not cancelled by the way.
func TestCancelNamesHolds(t *testing.T) {
	t.Parallel()
	v, held := holding(t)
	cancel := Cancel{Context: context(), Caller: everywhere, To: Cancelled}
	if _, _, _, err := v.Cancel(cancel); codeOf(t, err) != refusal.RedemptionNotAllowed ||
		!strings.Contains(err.Error(), "releaseHolds releases: "+held.Entry.ID.String()) {
		t.Errorf("with a hold: %v", err)
	}
	free, e, ok := v.ReleaseOne(context())
	if !ok || e.Kind != HoldReleased || free.Holds != nil {
		t.Fatalf("released: %+v", e)
	}
	if _, _, changed, err := free.Cancel(cancel); err != nil || !changed {
		t.Errorf("without a hold: %v", err)
	}
	if _, _, ok := free.ReleaseOne(context()); ok {
		t.Error("released without a hold")
	}
	for n := range 12 {
		v.Holds = append(v.Holds, OpenHold{ID: id(byte(20 + n)), Left: 1, Until: now.Add(1)})
	}
	if _, _, _, err := v.Cancel(cancel); !strings.Contains(fmt.Sprint(err), id(28).String()+", and 3 more") {
		t.Errorf("with many: %v", err)
	}
}
