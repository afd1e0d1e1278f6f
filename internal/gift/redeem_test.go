package gift

import (
	"reflect"
	"slices"
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

func TestRedeem(t *testing.T) {
	t.Parallel()
	other, latte := id(0x22), []merchant.Item{{ID: "LATTE", Name: "Latte"}}
	coffee := func(optional bool) *merchant.Account {
		return &merchant.Account{Promotions: []merchant.Promotion{{ID: guid.ID{1},
			EligibleItems:  []merchant.Item{{ID: "LATTE"}},
			TicketOptional: optional}}}
	}
	type change = func(*Voucher, *Redeem)
	tests := []struct {
		name    string
		change  change
		code    refusal.Code
		message string       // a part of the first message
		balance money.Amount // afterwards
		status  Status
	}{
		{"part", func(_ *Voucher, r *Redeem) { r.Amount = 999 }, "", "", 1, Claimed},
		{"all", func(_ *Voucher, r *Redeem) { r.Amount = 1000 }, "", "", 0, Redeemed},
		{"all that is left", func(*Voucher, *Redeem) {}, "", "", 0, Redeemed},
		{"above", func(_ *Voucher, r *Redeem) { r.Amount = 1001 }, refusal.InsufficientBalance, "10.00 USD", 1000, Delivered},
		{"above, partial", func(_ *Voucher, r *Redeem) { r.Amount, r.AllowPartial = 1001, true }, "", "", 0, Redeemed},
		{"within, partial", func(_ *Voucher, r *Redeem) { r.Amount, r.AllowPartial = 10, true }, "", "", 990, Claimed},
		{"negative", func(_ *Voucher, r *Redeem) { r.Amount = -1 }, refusal.ValidationFailure, "above zero", 1000, Delivered},
		{"negative, partial", func(_ *Voucher, r *Redeem) { r.Amount, r.AllowPartial = -1, true }, refusal.ValidationFailure,
			"above zero", 1000, Delivered},
		{"here", func(v *Voucher, _ *Redeem) { v.LocationID = shop }, "", "", 0, Redeemed},
		{"elsewhere", func(v *Voucher, _ *Redeem) { v.LocationID = other }, refusal.NotAuthorized, "another location", 1000,
			Delivered},
		{"elsewhere tells nothing else", func(v *Voucher, r *Redeem) {
			v.LocationID, v.Status, r.Target.ProgramID = other, Cancelled, other
		}, refusal.NotAuthorized, "another location", 1000, Cancelled},
		{"no balance in a redeemable status", func(v *Voucher, _ *Redeem) { v.Balance = 0 }, refusal.AlreadyRedeemed,
			"in full", 0,
			Delivered},
		{"not yet valid", func(v *Voucher, _ *Redeem) {
			v.ValidFrom = now.Add(time.Nanosecond)
		}, refusal.RedemptionNotAllowed, "not valid yet; it is from 2026-11-21 12:00 UTC", 1000, Delivered},
		{"valid from now", func(v *Voucher, _ *Redeem) { v.ValidFrom = now }, "", "", 0, Redeemed},
		{"valid to the end", func(v *Voucher, _ *Redeem) { v.ValidUntil = now.Add(time.Nanosecond) }, "", "", 0, Redeemed},
		{"expired now", func(v *Voucher, _ *Redeem) { v.ValidUntil = now }, refusal.RedemptionNotAllowed,
			"expired at 2026-11-21 12:00 UTC", 1000, Delivered},
		{"right program", func(v *Voucher, r *Redeem) { v.ProgramID, r.Target.ProgramID = other, other }, "", "", 0,
			Redeemed},
		{"wrong program", func(_ *Voucher, r *Redeem) { r.Target.ProgramID = other }, refusal.MissingOrInvalidGiftProgram,
			"another program", 1000, Delivered},
		{"right type", func(_ *Voucher, r *Redeem) { r.Target.Promotional = ptr(false) }, "", "", 0, Redeemed},
		{"wrong type", func(_ *Voucher, r *Redeem) { r.Target.Promotional = ptr(true) }, refusal.InvalidVoucherType,
			"another type",
			1000, Delivered},
		{"wrong type of a promotion", func(v *Voucher, r *Redeem) {
			v.Promotional, r.Target.Promotional = true, ptr(false)
		}, refusal.InvalidVoucherType, "another type", 1000, Delivered},
		{"the ticket binds", func(_ *Voucher, r *Redeem) { r.Eligibility = &Eligibility{Most: 300} }, "", "", 700, Claimed},
		{"above the ticket", func(_ *Voucher, r *Redeem) { r.Amount, r.Eligibility = 301, &Eligibility{Most: 300} },
			refusal.ValidationFailure, "At most 3.00 USD", 1000, Delivered},
		{"above the ticket, partial", func(_ *Voucher, r *Redeem) {
			r.Amount, r.AllowPartial, r.Eligibility = 301, true, &Eligibility{Most: 300}
		}, "", "", 700, Claimed},
		{"above ticket and balance", func(_ *Voucher, r *Redeem) {
			r.Amount, r.Eligibility = 1001, &Eligibility{Most: 300}
		}, refusal.InsufficientBalance, "10.00 USD", 1000, Delivered},
		{"a ticket larger than the balance", func(_ *Voucher, r *Redeem) { r.Eligibility = &Eligibility{Most: 3000} }, "", "",
			0, Redeemed},
		{"nothing eligible", func(_ *Voucher, r *Redeem) { r.Amount, r.Eligibility = 1, &Eligibility{NoneEligible: true} },
			refusal.ItemEligibilityFailure, "No item", 1000, Delivered},
		{"no ticket", func(v *Voucher, _ *Redeem) { v.Items = latte }, refusal.ItemEligibilityFailure,
			"Send the ticket as ticket: ", 1000, Delivered},
		{"no ticket, and spent", func(v *Voucher, _ *Redeem) { v.Items, v.Balance, v.Status = latte, 0, Redeemed },
			refusal.AlreadyRedeemed, "", 0, Redeemed},
		{"no ticket, of before", func(v *Voucher, r *Redeem) { v.PromotionID, r.Account = guid.ID{1}, coffee(false) },
			refusal.ItemEligibilityFailure, "LATTE", 1000, Delivered},
		{"no ticket, none needed", func(v *Voucher, r *Redeem) {
			v.PromotionID, v.Items, r.Account = guid.ID{1}, latte,
				coffee(true)
		}, "", "", 0, Redeemed},
		{"no ticket, good for anything", func(v *Voucher, r *Redeem) {
			v.PromotionID, v.Items, r.Account = guid.ID{1}, []merchant.Item{},
				coffee(false)
		}, "", "", 0, Redeemed},
		{"nothing eligible, named", func(v *Voucher, r *Redeem) {
			v.Items, r.Eligibility = latte,
				&Eligibility{NoneEligible: true}
		},
			refusal.ItemEligibilityFailure, "No item on this ticket is eligible for this gift. It is good for: Latte.", 1000,
			Delivered},
		{"nothing to pay", func(_ *Voucher, r *Redeem) { r.Eligibility = &Eligibility{} }, refusal.ValidationFailure,
			"There is nothing to pay", 1000, Delivered},
		{"no piece to pay", func(v *Voucher, r *Redeem) { v.Item, r.Eligibility = true, &Eligibility{} },
			refusal.ValidationFailure,
			"No whole piece that this gift pays for is left to pay on this ticket", 1000, Delivered},
		{"nothing eligible, though it is there", func(v *Voucher, r *Redeem) {
			v.Items, r.Eligibility = latte, &Eligibility{NoneEligible: true, Why: "This line was voided."}
		}, refusal.ItemEligibilityFailure,
			"This ticket has what this gift is good for (Latte), but the gift cannot pay for it. " +
				"Of the first such line: This line was voided.", 1000, Delivered},
		{"nothing to pay, partially", func(_ *Voucher, r *Redeem) {
			r.Amount, r.AllowPartial, r.Eligibility = 5, true,
				&Eligibility{}
		},
			refusal.ValidationFailure, "There is nothing to pay", 1000, Delivered},
		{"pieces", func(v *Voucher, r *Redeem) { v.Item, r.Amount = true, 1001 }, refusal.InsufficientBalance,
			"The balance of this gift is 1000.", 1000, Delivered},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, r := voucherIn(Delivered), Redeem{Context: context(), LocationID: shop, Reference: "till 4"}
			tt.change(&v, &r)
			after, e, err := v.Redeem(r)
			if codeOf(t, err) != tt.code || after.Balance != tt.balance || after.Status != tt.status {
				t.Fatalf("got %v, balance %d, %s", err, after.Balance, after.Status)
			}
			if err != nil && !strings.Contains(err.(*refusal.Error).Messages[0].Text(inOurWords), tt.message) {
				t.Errorf("%v does not say %q", err, tt.message)
			}
			if err == nil && (e.Kind != Redemption || e.Delta != after.Balance-v.Balance || e.Delta >= 0 ||
				e.Reference != "till 4") {
				t.Errorf("entry %+v", e)
			}
		})
	}
}

func TestEveryReasonIsTold(t *testing.T) {
	t.Parallel()
	v := voucherIn(Cancelled)
	v.LocationID, v.ValidUntil = id(0x22), now
	var codes []refusal.Code
	for _, r := range v.NotRedeemable(shop, now, nil) {
		codes = append(codes, r.Code)
	}
	if want := []refusal.Code{refusal.NotAuthorized, refusal.RedemptionNotAllowed,
		refusal.RedemptionNotAllowed}; !slices.Equal(codes, want) {
		t.Errorf("got %v, want %v", codes, want)
	}
	if reasons := v.NotRedeemable(guid.ID{}, now, nil); len(reasons) != 2 {
		t.Errorf("the gift itself: got %v", reasons)
	}
	_, _, err := v.Redeem(Redeem{Context: context(), LocationID: id(0x22)})
	if e := err.(*refusal.Error); e.Code != refusal.RedemptionNotAllowed || len(e.Messages) != 2 {
		t.Errorf("got %v", err)
	}
	for _, s := range Statuses() {
		v := voucherIn(s)
		if ok := len(v.NotRedeemable(shop, now, nil)) == 0; ok != s.Redeemable() {
			t.Errorf("%s: redeemable %v", s, ok)
		}
	}
}

func TestReverse(t *testing.T) {
	t.Parallel()
	somewhere := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{id(0x22)}}
	cashier := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account,
		Permissions: merchant.MayReverse | merchant.MayCashOut}
	cashedOut := func(_ *Voucher, k *Undoable, r *Reverse) { k.Entry.Kind, r.Caller = CashOut, cashier }
	type change = func(*Voucher, *Undoable, *Reverse)
	tests := []struct {
		name    string
		change  change
		code    refusal.Code
		balance money.Amount // afterwards; 400 before, of 1000
	}{
		{"whole", func(*Voucher, *Undoable, *Reverse) {}, "", 1000},
		{"part", func(_ *Voucher, _ *Undoable, r *Reverse) { r.Amount = 1 }, "", 401},
		{"the rest", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Reversed = 599 }, "", 401},
		{"to the cent", func(_ *Voucher, _ *Undoable, r *Reverse) { r.Amount = 600 }, "", 1000},
		{"more", func(_ *Voucher, _ *Undoable, r *Reverse) { r.Amount = 601 }, refusal.ValidationFailure, 400},
		{"more than the rest", func(_ *Voucher, k *Undoable, r *Reverse) { k.Reversed, r.Amount = 599, 2 },
			refusal.ValidationFailure,
			400},
		{"negative", func(_ *Voucher, _ *Undoable, r *Reverse) { r.Amount = -1 }, refusal.ValidationFailure, 400},
		{"a part of many", func(_ *Voucher, k *Undoable, r *Reverse) { k.Reversed, k.Parts, r.Amount = 98, 98, 1 }, "", 401},
		{"a part too many", func(_ *Voucher, k *Undoable, r *Reverse) { k.Reversed, k.Parts, r.Amount = 99, 99, 1 },
			refusal.ValidationFailure, 400},
		{"the last part", func(_ *Voucher, k *Undoable, r *Reverse) { k.Reversed, k.Parts, r.Amount = 599, 99, 1 }, "", 401},
		{"the rest, as the last part", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Reversed, k.Parts = 590, 99 }, "", 410},
		{"twice", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Reversed = 600 }, refusal.AlreadyReversed, 400},
		{"twice, with an amount", func(_ *Voucher, k *Undoable, r *Reverse) { k.Reversed, r.Amount = 600, 700 },
			refusal.AlreadyReversed,
			400},
		{"expired", func(v *Voucher, _ *Undoable, _ *Reverse) { v.ValidUntil = now.Add(-time.Hour) }, "", 1000},
		{"cancelled", func(v *Voucher, _ *Undoable, _ *Reverse) { v.Status = Cancelled }, "", 1000},
		{"not there", func(_ *Voucher, _ *Undoable, r *Reverse) { r.Caller = somewhere }, refusal.NotFound, 400},
		{"there", func(_ *Voucher, _ *Undoable, r *Reverse) {
			r.Caller = &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{shop}}
		}, "", 1000},
		{"a reversal", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Entry.Kind, k.Entry.Delta = Reversal, 600 },
			refusal.NotFound,
			400},
		{"a cash-out", cashedOut, "", 1000},
		{"a cash-out, to the cent", func(v *Voucher, k *Undoable, r *Reverse) {
			cashedOut(v, k, r)
			r.Amount = 600
		}, "", 1000},
		{"a cash-out in part", func(v *Voucher, k *Undoable, r *Reverse) {
			cashedOut(v, k, r)
			r.Amount = 599
		}, refusal.ValidationFailure, 400},
		{"a cash-out twice", func(v *Voucher, k *Undoable, r *Reverse) {
			cashedOut(v, k, r)
			k.Reversed, k.Parts = 600, 1
		}, refusal.AlreadyReversed, 400},
		{"a cash-out without the permission", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Entry.Kind = CashOut },
			refusal.NotAuthorized, 400},
		{"before a cash-out", func(_ *Voucher, k *Undoable, _ *Reverse) { k.CashedOut = true }, refusal.RedemptionNotAllowed,
			400},
		{"before a cash-out, of a cancelled gift", func(v *Voucher, k *Undoable, _ *Reverse) {
			v.Status, k.CashedOut = Cancelled, true
		}, refusal.RedemptionNotAllowed, 400},
		{"before a cash-out, in part", func(_ *Voucher, k *Undoable, r *Reverse) { k.CashedOut, r.Amount = true, 1 },
			refusal.RedemptionNotAllowed, 400},
		{"a cash-out before another", func(v *Voucher, k *Undoable, r *Reverse) {
			cashedOut(v, k, r)
			k.CashedOut = true
		}, "", 1000},
		{"before a cash-out, where it may not be seen", func(_ *Voucher, k *Undoable, r *Reverse) {
			k.CashedOut, r.Caller = true, somewhere
		}, refusal.NotFound, 400},
		{"of another gift", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Entry.VoucherID = id(3) }, refusal.NotFound, 400},
		{"books that do not add up", func(_ *Voucher, k *Undoable, _ *Reverse) { k.Entry.Delta = -601 },
			refusal.UnexpectedError,
			400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v := voucherIn(Claimed)
			taken, r := takenOf(v), Reverse{Context: context(), Caller: everywhere, Reason: "wrong drink"}
			tt.change(&v, &taken, &r)
			after, e, err := v.Reverse(taken, r)
			if codeOf(t, err) != tt.code || after.Balance != tt.balance || after.Status != v.Status {
				t.Fatalf("got %v, balance %d, %s", err, after.Balance, after.Status)
			}
			if err == nil && (e.Kind != Reversal || e.Delta != after.Balance-v.Balance || e.Reverses != id(7) ||
				e.Reason != "wrong drink" || e.TakesCashBack() != (taken.Entry.Kind == CashOut)) {
				t.Errorf("entry %+v", e)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	v := voucherIn(Delivered)
	v.LocationID = shop
	there := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{shop}}
	elsewhere := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{id(0x22)}}
	for _, tt := range []struct {
		name   string
		caller *merchant.Caller
		promo  bool
		to     Status
		code   refusal.Code
	}{
		{"everywhere", everywhere, false, Cancelled, ""},
		{"there", there, false, PurchaseFailed, ""},
		{"elsewhere", elsewhere, false, Cancelled, refusal.NotFound},
		{"promotional", everywhere, true, Cancelled, ""},
		{"promotional purchase", everywhere, true, PurchaseFailed, refusal.RedemptionNotAllowed},
		{"to nothing", everywhere, false, 0, refusal.RedemptionNotAllowed},
		{"to claimed", everywhere, false, Claimed, refusal.RedemptionNotAllowed},
		{"to redeemed", everywhere, false, Redeemed, refusal.RedemptionNotAllowed},
		{"to delivered", everywhere, false, Delivered, refusal.RedemptionNotAllowed},
	} {
		v := v
		v.Promotional = tt.promo
		after, e, changed, err := v.Cancel(Cancel{Context: context(), Caller: tt.caller, To: tt.to, Reason: "charged back"})
		if codeOf(t, err) != tt.code || changed != (tt.code == "") && tt.to != v.Status {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if changed && (after.Status != tt.to || after.Balance != v.Balance || e.Kind != Cancellation ||
			e.Reason != "charged back") {
			t.Errorf("%s: %+v", tt.name, e)
		}
		if tt.code == refusal.RedemptionNotAllowed && !strings.Contains(err.Error(), v.ID.String()) {
			t.Errorf("%s: %v does not name the gift", tt.name, err)
		}
	}
	for to, code := range map[Status]refusal.Code{Cancelled: "", PurchaseFailed: refusal.RedemptionNotAllowed} {
		_, _, _, err := v.Cancel(Cancel{Context: context(), Caller: everywhere, To: to, Transferred: true})
		if codeOf(t, err) != code {
			t.Errorf("transferred, to %s: %v", to, err)
		}
	}
}

// TestReinstate takes a cancellation back, for those who may, and only what a cancellation can have been made from.
func TestReinstate(t *testing.T) {
	t.Parallel()
	for _, before := range Statuses() {
		for _, to := range []Status{Cancelled, PurchaseFailed} {
			v := voucherIn(before)
			v.LocationID = shop
			gone, _, changed, _ := v.Cancel(Cancel{Context: context(), Caller: everywhere, To: to})
			if !changed {
				continue
			}
			elsewhere := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{id(0x22)}}
			if _, _, _, err := gone.Reinstate(Reinstate{Context: context(), Caller: elsewhere, Before: before}); codeOf(t,
				err) != refusal.NotFound {
				t.Errorf("a key of elsewhere reinstates: %v", err)
			}
			again, e, changed, err := gone.Reinstate(Reinstate{Context: context(), Caller: everywhere, Before: before,
				Reason: "a mistake"})
			if err != nil || !changed || again.Status != before || again.Balance != v.Balance || e.Kind != Reinstatement ||
				e.Delta != 0 || e.Reason != "a mistake" {
				t.Errorf("%s, %s, reinstated: %+v, %v", before, to, e, err)
			}
			for _, wrong := range []Status{0, Redeemed, Cancelled, PurchaseFailed} {
				if after, _, _, err := gone.Reinstate(Reinstate{Context: context(), Caller: everywhere, Before: wrong}); codeOf(t,
					err) != refusal.UnexpectedError || !reflect.DeepEqual(after, gone) {
					t.Errorf("%s becomes %s: %v", to, wrong, err)
				}
			}
		}
	}
}

// TestOnePurchase: a reference alone names a purchase where only one has it.
func TestOnePurchase(t *testing.T) {
	t.Parallel()
	bought := func(at guid.ID, by string) Gift {
		return Gift{Voucher: Voucher{MadeBy: by}, Card: Card{Purchase: Purchase{Reference: "R", StorefrontID: at}}}
	}
	name := func(at guid.ID) string { return map[guid.ID]string{id(1): "Web", id(2): "Desk"}[at] }
	for _, one := range [][]Gift{nil, {bought(id(1), "")}, {bought(id(1), ""), bought(id(1), "")},
		{bought(id(1), "P"), bought(id(1), "P")}} {
		if err := OnePurchase(one, name); err != nil {
			t.Errorf("%v: %v", one, err)
		}
	}
	err := OnePurchase([]Gift{bought(id(2), ""), bought(id(1), ""), bought(id(1), "Partner"), bought(id(1), "")}, name)
	if codeOf(t, err) != refusal.ValidationFailure {
		t.Fatal(err)
	}
	for _, said := range []string{"at Desk (" + id(2).String(), "at Web (" + id(1).String() + ");", "through Partner"} {
		if !strings.Contains(err.Error(), said) {
			t.Errorf("%q does not say %q", err, said)
		}
	}
}

func TestVoucherTypes(t *testing.T) {
	t.Parallel()
	for want, v := range map[int]Voucher{1: {}, 2: {Item: true}, 3: {Promotional: true},
		4: {Item: true, Promotional: true}} {
		if got := v.TypeID(); got != want {
			t.Errorf("item %v, promotional %v: type %d, want %d", v.Item, v.Promotional, got, want)
		}
	}
}

// TestSequences drives a gift through random commands and holds it and its history against the rules that no command
// may break.
func TestSequences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		original := money.Amount(rapid.Int64Range(1, 50).Draw(t, "original"))
		method := rapid.SampledFrom([]contact.Method{contact.Email, contact.Printed}).Draw(t, "method")
		clock, entries := now, 0
		ask := func() Context {
			clock = clock.Add(time.Duration(rapid.IntRange(0, 3600).Draw(t, "seconds")) * time.Second)
			entries++
			return Context{EntryID: guid.ID{1: byte(entries >> 8), 2: byte(entries)}, Now: clock}
		}
		g, first := Gift{Voucher{ID: theGift, Funded: original, Balance: original, Currency: usd,
			ValidUntil: now.Add(48 * time.Hour)}, Card{Method: method}}.Begin(ask())
		v, history, taken, holds := g.Voucher, []Entry{first}, []Undoable{}, []Held{}
		amounts, cancelled := rapid.Int64Range(-2, 60), Status(0)

		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			var e Entry
			var changed bool
			var err error
			c := ask()
			for ok := true; ok; { // as the engine does
				if v, e, ok = v.ExpireOne(c); ok {
					history, holds = append(history, e), ended(holds, e)
					c = ask()
				}
			}
			before := v
			switch rapid.IntRange(0, 15).Draw(t, "command") {
			case 0, 1, 2, 3:
				v, e, err = v.Redeem(Redeem{Context: c, LocationID: shop, Amount: money.Amount(amounts.Draw(t, "amount")),
					AllowPartial: rapid.Bool().Draw(t, "partial")})
				if err == nil {
					taken = append(taken, Undoable{Entry: e})
				}
			case 4, 5, 6:
				if len(taken) == 0 {
					continue
				}
				k := &taken[rapid.IntRange(0, len(taken)-1).Draw(t, "redemption")]
				v, e, err = v.Reverse(*k, Reverse{Context: c, Caller: everywhere, Amount: money.Amount(amounts.Draw(t, "amount"))})
				k.Reversed += e.Delta
				if k.Reversed > -k.Entry.Delta || k.Left() < 0 {
					t.Fatalf("%d of %d was given back", k.Reversed, -k.Entry.Delta)
				}
			case 7, 8:
				v, e, changed = v.Deliver(Outcome{Context: c, Delivered: rapid.Bool().Draw(t, "worked")})
				if !changed && !reflect.DeepEqual(v, before) {
					t.Fatal("a result that is passed over changed the gift")
				}
			case 9:
				if rapid.IntRange(0, 5).Draw(t, "really") > 0 {
					continue
				}
				v, e, changed, err = v.Cancel(Cancel{Context: c, Caller: everywhere, To: rapid.SampledFrom(Statuses()).Draw(t,
					"to")})
				if changed {
					cancelled = before.Status
				}
			case 10:
				v, e, changed, err = v.Reinstate(Reinstate{Context: c, Caller: everywhere, Before: cancelled,
					Sent: rapid.Bool().Draw(t, "sent")})
				if changed && v.Status != cancelled && (cancelled != Pending || v.Status != Delivered) {
					t.Fatalf("it was %s, and is %s", cancelled, v.Status)
				}
			case 11, 12:
				v, e, err = v.Hold(Hold{Redeem{Context: c, LocationID: shop, Amount: money.Amount(amounts.Draw(t, "amount")),
					AllowPartial: rapid.Bool().Draw(t, "partial")}, time.Duration(rapid.IntRange(60, 9000).Draw(t, "lasts")) *
					time.Second})
				if err == nil {
					holds = append(holds, Held{Entry: e})
				}
			case 13, 14, 15:
				if len(holds) == 0 {
					continue
				}
				h := holds[rapid.IntRange(0, len(holds)-1).Draw(t, "hold")]
				if rapid.IntRange(0, 2).Draw(t, "release") == 0 {
					v, e, _, err = v.Release(h, Release{Context: c, Caller: everywhere})
				} else if v, e, err = v.Capture(h, Capture{Context: c, Caller: everywhere,
					Amount: money.Amount(amounts.Draw(t, "amount")), KeepRest: rapid.Bool().Draw(t, "keep")}); err == nil {
					taken = append(taken, Undoable{Entry: e})
				}
				if holds = ended(holds, e); e.Kind != Redemption && (v.Balance != before.Balance || v.Status != before.Status) {
					t.Fatal("a hold changed balance or status")
				}
			}
			if err != nil && (!reflect.DeepEqual(v, before) || e != (Entry{})) {
				t.Fatalf("refused with %v, but it changed", err)
			}
			if e != (Entry{}) {
				history = append(history, e)
			}
			checkBooks(t, v, history)
		}
	})
}

// ended notes what an entry did to a hold.
func ended(holds []Held, e Entry) []Held {
	for n := range holds {
		if holds[n].Entry.ID == e.HoldID {
			holds[n].Last = e
		}
	}
	return holds
}

// checkBooks states the invariants on its own, beside Audit.
func checkBooks(t *rapid.T, v Voucher, history []Entry) {
	balance, held, holds := v.Funded, money.Amount(0), map[guid.ID]money.Amount{}
	for n, e := range history {
		of := e.HoldID
		if e.Kind == HoldMade {
			of = e.ID
		}
		holds[of] += e.Held
		if held += e.Held; holds[of] < 0 || held < 0 || held > balance+e.Delta {
			t.Fatalf("entry %d: %d of %d is held, %d by %s", n+1, held, balance, holds[of], of)
		}
		if balance += e.Delta; e.Seq != n+1 || e.Balance != balance {
			t.Fatalf("entry %d of %d: %+v, balance %d", n+1, len(history), e, balance)
		}
	}
	last := history[len(history)-1]
	if available := v.Available(last.At); held != sumOf(v.Holds) || available < 0 ||
		available != balance-v.HeldAt(last.At) {
		t.Fatalf("%d is available of %d, and %d is held", available, balance, held)
	}
	if v.Balance != balance || v.Balance < 0 || v.Balance > v.Funded || v.Seq != len(history) ||
		last.Status != v.Status {
		t.Fatalf("%+v does not fit its history, which gives %d", v, balance)
	}
	fits := map[Status]bool{
		Pending: balance == v.Funded, PurchaseFailed: balance == v.Funded, Delivered: balance == v.Funded,
		FailedDelivery: balance == v.Funded, Claimed: balance > 0, Redeemed: balance == 0, Cancelled: balance > 0,
	}
	if !fits[v.Status] {
		t.Fatalf("%s with a balance of %d of %d", v.Status, balance, v.Funded)
	}
	if found := Audit(v, history); len(found) > 0 {
		t.Fatalf("the audit finds %q", found)
	}
}
