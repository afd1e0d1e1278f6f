package gift

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// atShop is a caller that is limited to the shop.
func atShop() *merchant.Caller {
	return &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{shop}}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	v := voucherIn(Claimed)
	v.WrongCodes = 3
	block := Block{Context: context(), Caller: everywhere, ReasonCode: ReasonStolen, Reason: "a bag was stolen"}
	blocked, e, err := v.Block(block)
	if err != nil || blocked.Blocked != ReasonStolen || blocked.WrongCodes != 3 || e.Kind != Blocked ||
		e.ReasonCode != ReasonStolen || e.Reason != "a bag was stolen" || e.Delta != 0 {
		t.Fatalf("blocked: %+v, %+v, %v", blocked, e, err)
	}
	if again, e, err := blocked.Block(block); err != nil || e != (Entry{}) ||
		!reflect.DeepEqual(again, blocked) {
		t.Errorf("a repeat: %+v, %v", e, err)
	}
	block.ReasonCode = ReasonFraud
	if other, e, err := blocked.Block(block); err != nil || other.Blocked != ReasonFraud ||
		e.ReasonCode != ReasonFraud {
		t.Errorf("for another reason: %+v, %v", e, err)
	}
	for _, bad := range []ReasonCode{"", "lost", ReasonMistake, "VERIFICATION_CODE"} {
		block.ReasonCode = bad
		if _, e, err := v.Block(block); codeOf(t, err) != refusal.ValidationFailure || e != (Entry{}) {
			t.Errorf("for the reason %q: %v", bad, err)
		}
	}
	free, e, err := blocked.Unblock(Unblock{Context: context(), Caller: everywhere, Reason: "found"})
	if err != nil || free.Blocked != "" || free.WrongCodes != 0 || e.Kind != Unblocked || e.Reason != "found" {
		t.Errorf("unblocked: %+v, %+v, %v", free, e, err)
	}
	if again, e, err := v.Unblock(Unblock{Caller: everywhere}); err != nil || e != (Entry{}) ||
		!reflect.DeepEqual(again, v) {
		t.Errorf("what is not blocked: %+v, %v", e, err)
	}
}

// TestWhatABlockedGiftCanDo: nothing is taken or held of it, nor is it sent; what was held before and what was taken
// of it can be settled.
func TestWhatABlockedGiftCanDo(t *testing.T) {
	t.Parallel()
	v, held := holding(t)
	c := context()
	c.EntryID = id(6)
	v, taken, err := v.Redeem(Redeem{Context: c, LocationID: shop, Amount: 100})
	if err != nil {
		t.Fatal(err)
	}
	v.Blocked = ReasonLost
	refused := func(what string, err error) {
		t.Helper()
		if codeOf(t, err) != refusal.RedemptionNotAllowed || !strings.Contains(err.Error(), "blocked") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, _, err = v.Redeem(Redeem{Context: context(), LocationID: shop, Amount: 100})
	refused("redeem", err)
	_, _, err = v.Hold(Hold{Redeem: Redeem{Context: context(), LocationID: shop, Amount: 100}})
	refused("hold", err)
	_, _, _, _, err = v.Resend(Delivery{Method: contact.Email, Contact: "ana@example.com"}, Resend{Context: context(),
		Caller: everywhere})
	refused("resend", err)
	low := v
	low.Currency, low.Balance, low.Holds, low.Blocked = usd, 100, nil, ""
	allowed := func() bool {
		return low.CashOutAllowed(cashLaw, inJurisdiction("US-CA"), &merchant.Location{ID: shop, Jurisdiction: "US-CA"}, now)
	}
	if !allowed() {
		t.Error("1.00 is not cashed out")
	}
	if low.Blocked = ReasonLost; allowed() {
		t.Error("a blocked gift is cashed out")
	}
	reasons := v.NotRedeemable(shop, now, nil)
	if len(reasons) != 1 || reasons[0].Code != ReasonBlocked {
		t.Errorf("the reasons are %v", reasons)
	}
	if _, e, err := v.Capture(held, Capture{Context: context(), Caller: everywhere}); err != nil || e.Delta != -600 {
		t.Errorf("capture: %+v, %v", e, err)
	}
	if _, _, changed, err := v.Release(held, Release{Context: context(), Caller: everywhere}); err != nil || !changed {
		t.Errorf("release: %v", err)
	}
	if _, e, err := v.Reverse(Undoable{Entry: taken}, Reverse{Context: context(), Caller: everywhere}); err != nil ||
		e.Delta != 100 {
		t.Errorf("reversal: %+v, %v", e, err)
	}
	if _, _, changed, err := v.Cancel(Cancel{Context: context(), Caller: everywhere, To: Cancelled}); codeOf(t,
		err) != refusal.RedemptionNotAllowed || changed { // of its hold
		t.Errorf("cancel: %v", err)
	}
}

func TestAdjust(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		change  func(*Voucher, *Adjust)
		code    refusal.Code
		message string
		balance money.Amount
		loaded  money.Amount
		status  Status
	}{
		{"up", func(_ *Voucher, a *Adjust) { a.Amount = 250 }, "", "", 1250, 1250, Delivered},
		{"down", func(_ *Voucher, a *Adjust) { a.Amount = -250 }, "", "", 750, 750, Delivered},
		{"to zero", func(_ *Voucher, a *Adjust) { a.Amount = -1000 }, "", "", 0, 0, Redeemed},
		{"a pending one down", func(v *Voucher, a *Adjust) { v.Status, a.Amount = Pending, -999 }, "", "", 1, 1, Pending},
		{"a pending one to zero", func(v *Voucher, a *Adjust) { v.Status, a.Amount = Pending, -1000 },
			refusal.RedemptionNotAllowed,
			"cannot be adjusted to nothing: it is PENDING; cancel it instead.", 0, 0, 0},
		{"below zero", func(_ *Voucher, a *Adjust) { a.Amount = -1001 }, refusal.InsufficientBalance,
			"The balance of this gift is 10.00 USD.", 0, 0, 0},
		{"the least there is", func(_ *Voucher, a *Adjust) { a.Amount = -math.MaxInt64 }, refusal.InsufficientBalance, "", 0,
			0, 0},
		{"to the most", func(_ *Voucher, a *Adjust) { a.Amount = 1000 }, "", "", 2000, 2000, Delivered},
		{"above the most", func(_ *Voucher, a *Adjust) { a.Amount = 1001 }, refusal.ValidationFailure,
			"A gift may be worth at most 20.00 USD; the balance of this one is 10.00 USD.", 0, 0, 0},
		{"the most there is", func(_ *Voucher, a *Adjust) { a.Amount = math.MaxInt64 }, refusal.ValidationFailure, "", 0, 0,
			0},
		{"more than can be put in", func(v *Voucher, a *Adjust) { v.Funded, a.Amount = math.MaxInt64, 1 },
			refusal.ValidationFailure,
			"", 0, 0, 0},
		{"of more than the most, down", func(v *Voucher, a *Adjust) { v.Funded, v.Balance, a.Amount = 3000, 3000, -1 }, "",
			"", 2999, 2999, Delivered},
		{"by nothing", func(*Voucher, *Adjust) {}, refusal.ValidationFailure, "must not be zero", 0, 0, 0},
		{"by a number", func(_ *Voucher, a *Adjust) { a.Number = "-15e-1" }, "", "", 850, 850, Delivered},
		{"by too fine a number", func(_ *Voucher, a *Adjust) { a.Number = "-0.001" }, refusal.ValidationFailure,
			"This is not an amount in USD.", 0, 0, 0},
		{"by half a piece", func(v *Voucher, a *Adjust) { v.Item, a.Number = true, "0.5" }, refusal.ValidationFailure,
			"whole number of pieces", 0, 0, 0},
		{"pieces to the most", func(v *Voucher, a *Adjust) { v.Item, a.Amount = true, MaxQuantity-1000 }, "", "",
			MaxQuantity, MaxQuantity, Delivered},
		{"pieces above the most", func(v *Voucher, a *Adjust) { v.Item, a.Amount = true, MaxQuantity-999 },
			refusal.ValidationFailure, "at most 10000", 0, 0, 0},
		{"what is held", func(v *Voucher, a *Adjust) { v.Holds, a.Amount = []OpenHold{{id(7), 600, now.Add(1), shop}}, -401 },
			refusal.InsufficientBalance, "Of this gift, 4.00 USD is available: 6.00 USD is held", 0, 0, 0},
		{"all but what is held", func(v *Voucher, a *Adjust) {
			v.Holds, a.Amount = []OpenHold{{id(7), 600, now.Add(1), shop}},
				-400
		},
			"", "", 600, 600, Delivered},
		{"a used one up", func(v *Voucher, a *Adjust) { *v, a.Amount = voucherIn(Redeemed), 1 }, "", "", 1, 1001, Claimed},
		{"a part of it down", func(v *Voucher, a *Adjust) { *v, a.Amount = voucherIn(Claimed), -400 }, "", "", 0, 600,
			Redeemed},
		{"an expired one", func(v *Voucher, a *Adjust) { v.ValidUntil, a.Amount = now, 1 }, "", "", 1001, 1001, Delivered},
		{"a blocked one", func(v *Voucher, a *Adjust) { v.Blocked, a.Amount = ReasonLost, 1 }, "", "", 1001, 1001, Delivered},
		{"a cancelled one", func(v *Voucher, a *Adjust) { v.Status, a.Amount = Cancelled, 1 }, refusal.RedemptionNotAllowed,
			"it is CANCELLED", 0, 0, 0},
		{"without a reason", func(_ *Voucher, a *Adjust) { a.Amount, a.Reason = 1, "  ok  " }, refusal.ValidationFailure,
			"3 characters", 0, 0, 0},
		{"with a short one", func(_ *Voucher, a *Adjust) { a.Amount, a.Reason = 1, "ééé" }, "", "", 1001, 1001, Delivered},
		{"for no reason", func(_ *Voucher, a *Adjust) { a.Amount, a.ReasonCode = 1, ReasonLost }, refusal.ValidationFailure,
			"no such reasonCode", 0, 0, 0},
		{"of another location", func(_ *Voucher, a *Adjust) { a.Amount, a.Caller = 1, atShop() }, refusal.NotFound, "", 0, 0,
			0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := voucherIn(Delivered)
			ask := Adjust{Context: context(), Caller: everywhere, ReasonCode: ReasonSupport, Reason: "cold coffee"}
			tt.change(&v, &ask)
			after, e, err := v.Adjust(ask)
			if codeOf(t, err) != tt.code {
				t.Fatalf("got %v, want %q", err, tt.code)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.message) || !reflect.DeepEqual(after, v) || e != (Entry{}) {
					t.Errorf("%v does not say %q, or it changed: %+v", err, tt.message, after)
				}
				return
			}
			if after.Balance != tt.balance || after.Funded != tt.loaded || after.Status != tt.status ||
				e.Delta != tt.balance-v.Balance || e.Kind != Adjustment || e.ReasonCode != ReasonSupport || e.Reason != ask.Reason {
				t.Errorf("it is %d of %d, %s; the entry %+v", after.Balance, after.Funded, after.Status, e)
			}
		})
	}
}

// TestAdjustmentsAddUp: whatever is adjusted, taken and given back, the balance stays between what is held and what
// was put in, and the books are right.
func TestAdjustmentsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c, n := context(), byte(1)
		next := func() Context {
			n++
			c.EntryID, c.Now = id(n), now.Add(time.Duration(n)*time.Second)
			return c
		}
		c.EntryID = id(1)
		g, issued := Gift{Voucher{ID: theGift, AccountID: id(1), Currency: usd, Funded: 1000, Balance: 1000},
			Card{Method: contact.Printed}}.Begin(c)
		v, history, last := g.Voucher, []Entry{issued}, Undoable{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			var e Entry
			var err error
			var after Voucher
			amount := money.Amount(rapid.Int64Range(-1500, 1500).Draw(t, "amount"))
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				if after, e, err = v.Redeem(Redeem{Context: next(), LocationID: shop, Amount: amount}); err == nil {
					last = Undoable{Entry: e}
				}
			case 1:
				if after, e, err = v.Reverse(last, Reverse{Context: next(), Caller: everywhere}); err == nil {
					last = Undoable{}
				}
			case 2:
				after, e, err = v.Hold(Hold{Redeem: Redeem{Context: next(), LocationID: shop, Amount: amount}})
			default:
				after, e, err = v.Adjust(Adjust{Context: next(), Caller: everywhere, Amount: amount, ReasonCode: ReasonMistake,
					Reason: "typed wrong"})
			}
			if err != nil {
				continue
			}
			if v = after; v.Balance < v.HeldAt(c.Now) || v.Balance > v.Funded || v.Funded > 1000+20*1500 ||
				(v.Status == Redeemed) != (v.Balance == 0) {
				t.Fatalf("it is %+v", v)
			}
			history = append(history, e)
		}
		if found := Audit(v, history); len(found) > 0 {
			t.Fatalf("%q in %+v", found, history)
		}
	})
}

func TestAdjustmentsCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		item                       bool
		amount, equivalent, pieces money.Amount
		want                       money.Amount
	}{
		{false, 250, 0, 0, 250}, {false, -250, 0, 0, 0}, {true, 2, 1350, 3, 900}, {true, 1, 1000, 3, 334}, // rounded up
		{true, -2, 1350, 3, 0}, {true, 2, 0, 3, 0}, {true, 2, 1350, 0, 0}, {true, 10_000, math.MaxInt64, 1, math.MaxInt64},
	} {
		worth := ItemWorth{tt.equivalent, tt.pieces}
		if got := worth.Of(&Voucher{Item: tt.item}, tt.amount); got != (merchant.Count{Amount: tt.want}) {
			t.Errorf("%+v counts %+v", tt, got)
		}
	}
}

func TestExtend(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Voucher, *Extend)
		code   refusal.Code
		words  string
	}{
		"later":           {func(*Voucher, *Extend) {}, "", ""},
		"expired":         {func(v *Voucher, _ *Extend) { v.ValidUntil = now.Add(-time.Hour) }, "", ""},
		"used up":         {func(v *Voucher, _ *Extend) { v.Status, v.Balance = Redeemed, 0 }, "", ""},
		"blocked":         {func(v *Voucher, _ *Extend) { v.Blocked = ReasonLost }, "", ""},
		"extended before": {func(v *Voucher, _ *Extend) { v.Extended = now.Add(2 * time.Hour) }, "", ""},
		"not after it": {func(v *Voucher, _ *Extend) { v.Extended = now.AddDate(0, 0, 7) }, refusal.ValidationFailure,
			"valid until 2026-11-28 12:00 UTC already"},
		"the same end": {func(v *Voucher, _ *Extend) { v.ValidUntil = now.AddDate(0, 0, 7) }, refusal.ValidationFailure,
			"already"},
		"later by less than is told": {func(v *Voucher, x *Extend) {
			v.ValidUntil, x.Until = now.Add(time.Hour), now.Add(time.Hour+999*time.Microsecond)
		}, refusal.ValidationFailure, "already"},
		"past": {func(v *Voucher, x *Extend) { v.ValidUntil, x.Until = now.Add(-2), now }, refusal.ValidationFailure,
			"is past"},
		"the last moment": {func(_ *Voucher, x *Extend) { x.Until = lastInstant.Add(-time.Millisecond) }, "", ""},
		"too far":         {func(_ *Voucher, x *Extend) { x.Until = lastInstant }, refusal.ValidationFailure, "at most 9999"},
		"paid for":        {func(v *Voucher, _ *Extend) { v.Promotional = false }, refusal.NotSupported, "was paid for"},
		"without an end": {func(v *Voucher, _ *Extend) { v.ValidUntil = time.Time{} }, refusal.NotSupported,
			"does not expire"},
		"cancelled": {func(v *Voucher, _ *Extend) { v.Status = Cancelled }, refusal.RedemptionNotAllowed, "it is CANCELLED"},
		"elsewhere": {func(_ *Voucher, x *Extend) { x.Caller = atShop() }, refusal.NotFound, ""},
	} {
		v := voucherIn(Delivered)
		v.Promotional, v.ValidUntil = true, now.Add(time.Hour)
		ask := Extend{Context: context(), Caller: everywhere, Until: now.AddDate(0, 0, 7)}
		tt.change(&v, &ask)
		after, e, err := v.Extend(ask)
		switch {
		case codeOf(t, err) != tt.code:
			t.Errorf("%s: %v", name, err)
		case err != nil && (!strings.Contains(err.Error(), tt.words) || !reflect.DeepEqual(after, v) || e != (Entry{})):
			t.Errorf("%s: %v, %+v", name, err, after)
		case err == nil && (!after.End().Equal(ask.Until) || !e.Until.Equal(ask.Until) || e.Kind != Extended ||
			!after.ValidUntil.Equal(v.ValidUntil) || after.OverForGuest(ask.Until.Add(-1)) || !after.OverForGuest(ask.Until)):
			t.Errorf("%s: valid until %v, %+v", name, after.End(), e)
		}
	}
}

// TestCareIsForWhoMayUseTheGift: a key of one location for what is good there only, and no other merchant's gift.
func TestCareIsForWhoMayUseTheGift(t *testing.T) {
	t.Parallel()
	for location, want := range map[guid.ID]refusal.Code{{}: refusal.NotFound, id(0x22): refusal.NotFound, shop: ""} {
		v := voucherIn(Delivered)
		v.LocationID, v.Promotional, v.ValidUntil = location, true, now.Add(1)
		c := atShop()
		_, _, err := v.Block(Block{Context: context(), Caller: c, ReasonCode: ReasonLost})
		_, _, free := v.Unblock(Unblock{Context: context(), Caller: c})
		_, _, adjusted := v.Adjust(Adjust{Context: context(), Caller: c, Amount: 1, ReasonCode: ReasonFraud, Reason: "why"})
		_, _, extended := v.Extend(Extend{Context: context(), Caller: c, Until: now.AddDate(1, 0, 0)})
		for what, err := range map[string]error{"block": err, "unblock": free, "adjust": adjusted, "extend": extended} {
			if codeOf(t, err) != want {
				t.Errorf("%s of a gift that is good at %v: %v", what, location, err)
			}
		}
	}
}

// TestAuditOfCare spoils a history of blocks, adjustments and extensions.
func TestAuditOfCare(t *testing.T) {
	t.Parallel()
	sound := func() (Voucher, []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Minute)} }
		g, issued := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000, Promotional: true,
			ValidUntil: now.Add(time.Hour)}, Card{Method: contact.Printed}}.Begin(c(1))
		v, lost, _ := g.Block(Block{Context: c(2), Caller: everywhere, ReasonCode: ReasonLost})
		v, fraud, _ := v.Block(Block{Context: c(3), Caller: everywhere, ReasonCode: ReasonFraud})
		v, free, _ := v.Unblock(Unblock{Context: c(4), Caller: everywhere})
		v, taken, _ := v.Redeem(Redeem{Context: c(5), Amount: 300})
		adjust := Adjust{Context: c(6), Caller: everywhere, Amount: -700, ReasonCode: ReasonMistake, Reason: "why"}
		v, down, err := v.Adjust(adjust)
		if err != nil {
			t.Fatal(err)
		}
		adjust.Context, adjust.Amount = c(7), 50
		v, up, _ := v.Adjust(adjust)
		v, longer, err := v.Extend(Extend{Context: c(8), Caller: everywhere, Until: now.Add(2 * time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		v, last, _ := v.Block(Block{Context: c(9), Caller: everywhere, ReasonCode: ReasonLost})
		return v, []Entry{issued, lost, fraud, free, taken, down, up, longer, last}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, tt := range map[string]struct {
		spoil func(*Voucher, []Entry)
		want  string
	}{
		"not blocked": {func(v *Voucher, _ []Entry) { v.Blocked = "" }, `blocked ""`},
		"blocked for another reason": {func(v *Voucher, _ []Entry) { v.Blocked = ReasonFraud },
			`blocked "FRAUD", 0 wrong codes`},
		"blocked for none":      {func(_ *Voucher, h []Entry) { h[1].ReasonCode = "" }, "entry 2 (BLOCKED"},
		"blocked twice for one": {func(_ *Voucher, h []Entry) { h[2].ReasonCode = ReasonLost }, "entry 3 (BLOCKED"},
		"never blocked": {func(_ *Voucher, h []Entry) { h[1].Kind, h[2].Kind = Unblocked, Unblocked },
			"entry 2 (UNBLOCKED"},
		"redeemed while blocked":   {func(_ *Voucher, h []Entry) { h[3].Kind = Resent }, "entry 5 (REDEMPTION"},
		"a block that costs":       {func(_ *Voucher, h []Entry) { h[8].Delta = -1 }, "entry 9 (BLOCKED, -1)"},
		"a block to another":       {func(_ *Voucher, h []Entry) { h[8].Status = Delivered }, "entry 9 (BLOCKED"},
		"adjusted for no reason":   {func(_ *Voucher, h []Entry) { h[6].ReasonCode = "" }, "entry 7 (ADJUSTMENT"},
		"adjusted to the wrong":    {func(_ *Voucher, h []Entry) { h[6].Status = Redeemed }, "entry 7 (ADJUSTMENT"},
		"adjusted by another":      {func(_ *Voucher, h []Entry) { h[6].Delta = 51 }, "it adds up to"},
		"too much put in":          {func(v *Voucher, _ []Entry) { v.Funded++ }, "it says 351 was put into it"},
		"extended to another time": {func(v *Voucher, _ []Entry) { v.Extended = now }, "extended until"},
		"extended to an earlier":   {func(_ *Voucher, h []Entry) { h[7].Until = now.Add(time.Hour) }, "entry 8 (EXTENDED"},
		"extended to the past":     {func(_ *Voucher, h []Entry) { h[7].Until = h[7].At }, "entry 8 (EXTENDED"},
		"extended, paid for":       {func(v *Voucher, _ []Entry) { v.Promotional = false }, "entry 8 (EXTENDED"},
		"extended to no time":      {func(_ *Voucher, h []Entry) { h[7].Until = time.Time{} }, "entry 8 (EXTENDED"},
	} {
		v, history := sound()
		tt.spoil(&v, history)
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, tt.want) {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
