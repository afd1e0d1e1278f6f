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

// hundredUSD is the account of a key that may do everything, where a gift has at most 100.00 USD.
var hundredUSD = &merchant.Account{ID: id(1), Currency: usd, MaxGiftValue: 10_000, Zone: time.UTC,
	Promotions: []merchant.Promotion{{ID: noTicket, TicketOptional: true}}}

// noTicket is the promotion of gifts that are redeemed without a ticket.
var noTicket = id(0x31)

// moving makes two gifts, of 10.00 and 5.00 USD, and a transfer of all of the first.
func moving() (from, to Voucher, t Transfer) {
	from, to = voucherIn(Delivered), voucherIn(Delivered)
	to.ID, to.Funded, to.Balance = id(10), 500, 500
	return from, to, Transfer{Context: context(), EntryIn: id(11), Caller: &merchant.Caller{Kind: merchant.AccountKey,
		Account: hundredUSD}}
}

func TestTransfer(t *testing.T) {
	t.Parallel()
	other, item := id(0x22), merchant.Item{ID: "LATTE", Name: ""}
	tests := []struct {
		name    string
		change  func(from, to *Voucher, t *Transfer)
		code    refusal.Code
		message string
		moved   money.Amount
	}{
		{"all", func(_, _ *Voucher, _ *Transfer) {}, "", "", 1000},
		{"part", func(_, _ *Voucher, t *Transfer) { t.Number = "2.5" }, "", "", 250},
		{"what is available", func(from, _ *Voucher, _ *Transfer) {
			from.Holds = []OpenHold{{ID: id(7), Left: 600,
				Until: now.Add(1)}}
		},
			"", "", 400},
		{"what is held", func(from, _ *Voucher, t *Transfer) {
			from.Holds, t.Amount = []OpenHold{{ID: id(7), Left: 600, Until: now.Add(time.Hour)}}, 401
		}, refusal.InsufficientBalance, "Of this gift, 4.00 USD is available: 6.00 USD is held until 2026-11-21 13:00 UTC.",
			0},
		{"all is held", func(from, _ *Voucher, _ *Transfer) {
			from.Holds = []OpenHold{{ID: id(7), Left: 1000,
				Until: now.Add(1)}}
		},
			refusal.InsufficientBalance, "0.00 USD is available", 0},
		{"above the balance", func(_, _ *Voucher, t *Transfer) { t.Amount = 1001 }, refusal.InsufficientBalance,
			"The balance of this gift is 10.00 USD.", 0},
		{"negative", func(_, _ *Voucher, t *Transfer) { t.Amount = -1 }, refusal.ValidationFailure, "above zero", 0},
		{"in another currency", func(_, _ *Voucher, t *Transfer) { t.Number = "1.001" }, refusal.ValidationFailure,
			"amount: This is not an amount in USD.", 0},
		{"as much as a gift may have", func(_, to *Voucher, _ *Transfer) { to.Funded, to.Balance = 9000, 9000 }, "", "",
			1000},
		{"more than a gift may have", func(_, to *Voucher, _ *Transfer) { to.Funded, to.Balance = 9001, 9001 },
			refusal.ValidationFailure, "has 90.01 USD; with 10.00 USD more it would have more than 100.00 USD", 0},
		{"to itself", func(from, to *Voucher, _ *Transfer) { to.ID = from.ID }, refusal.ValidationFailure,
			"to: A transfer needs two gifts", 0},
		{"from a gift that the key may not see", func(from, _ *Voucher, t *Transfer) {
			from.LocationID, t.Caller = other, &merchant.Caller{Account: hundredUSD, Locations: []guid.ID{shop}}
		}, refusal.NotFound, "from: This account has no such gift.", 0},
		{"to a gift that the key may not see", func(from, _ *Voucher, t *Transfer) {
			from.LocationID, t.Caller = shop, &merchant.Caller{Account: hundredUSD, Locations: []guid.ID{shop}}
		}, refusal.NotFound, "to: This account has no such gift.", 0},
		{"to a promotional gift", func(_, to *Voucher, _ *Transfer) { to.Promotional = true },
			refusal.MissingOrInvalidGiftProgram,
			"", 0},
		{"of a promotional gift", func(from, _ *Voucher, _ *Transfer) { from.Promotional = true },
			refusal.MissingOrInvalidGiftProgram, "", 0},
		{"to another program", func(_, to *Voucher, _ *Transfer) { to.ProgramID = other },
			refusal.MissingOrInvalidGiftProgram, "",
			0},
		{"to an item gift", func(_, to *Voucher, t *Transfer) { to.Item, t.Labels[1] = true, "Coffee" },
			refusal.InvalidVoucherType,
			"USD and Coffee", 0},
		{"to another currency", func(_, to *Voucher, _ *Transfer) { to.Currency = jpy }, refusal.InvalidVoucherType,
			"USD and JPY",
			0},
		{"of the same item", func(from, to *Voucher, t *Transfer) {
			from.Item, to.Item, t.Labels, t.Amount = true, true, [2]string{"Coffee", "Coffee"}, 3
		}, "", "", 3},
		{"of another item", func(from, to *Voucher, t *Transfer) {
			from.Item, to.Item, t.Labels = true, true, [2]string{"Coffee", "Dinner"}
		}, refusal.InvalidVoucherType, "Coffee and Dinner", 0},
		{"of more items than a gift may have", func(from, to *Voucher, _ *Transfer) {
			from.Item, to.Item, to.Balance, to.Funded = true, true, MaxQuantity-999, MaxQuantity
		}, refusal.ValidationFailure, "the most that one gift may", 0},
		{"to where it is good too", func(_, to *Voucher, _ *Transfer) { to.LocationID = shop }, "", "", 1000},
		{"to where it is not good", func(from, to *Voucher, _ *Transfer) { from.LocationID, to.LocationID = shop, other },
			refusal.RedemptionNotAllowed, "at other locations", 0},
		{"to be good everywhere", func(from, _ *Voucher, _ *Transfer) { from.LocationID = shop },
			refusal.RedemptionNotAllowed,
			"at other locations", 0},
		{"for what it is good for too", func(_, to *Voucher, _ *Transfer) { to.Items = []merchant.Item{item} }, "", "", 1000},
		{"for the same items", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items = []merchant.Item{item}, []merchant.Item{item}
		},
			"", "", 1000},
		{"for everything", func(from, _ *Voucher, _ *Transfer) { from.Items = []merchant.Item{item} },
			refusal.RedemptionNotAllowed,
			"for other items", 0},
		{"for another group", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items = []merchant.Item{{Group: "COFFEE"}}, []merchant.Item{{Group: "WINE"}}
		}, refusal.RedemptionNotAllowed, "for other items", 0},
		{"for the same group, which has a name", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items = []merchant.Item{{Group: "COFFEE", Name: "Coffee"}}, []merchant.Item{{Group: "COFFEE"}}
		}, "", "", 1000},
		{"for another name", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items = []merchant.Item{{Name: "Coffee"}}, []merchant.Item{{Name: "Wine"}}
		}, refusal.RedemptionNotAllowed, "for other items", 0},
		{"for a group of that name", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items = []merchant.Item{{Name: "Coffee"}}, []merchant.Item{{Group: "Coffee", Name: "Coffee"}}
		}, refusal.RedemptionNotAllowed, "for other items", 0},
		{"without a ticket", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items, to.PromotionID = []merchant.Item{item}, []merchant.Item{item}, noTicket
		}, refusal.RedemptionNotAllowed, "without a ticket", 0},
		{"with a ticket", func(from, to *Voucher, _ *Transfer) {
			from.Items, to.Items, from.PromotionID = []merchant.Item{item}, []merchant.Item{item}, noTicket
		}, "", "", 1000},
		{"on other terms", func(_, _ *Voucher, t *Transfer) { t.Terms = [2]string{"Lunch only", ""} },
			refusal.RedemptionNotAllowed,
			"on other terms", 0},
		{"on terms", func(_, _ *Voucher, t *Transfer) { t.Terms[1] = "Lunch only" }, "", "", 1000},
		{"sooner", func(from, _ *Voucher, _ *Transfer) { from.ValidFrom = now.Add(1) }, refusal.RedemptionNotAllowed,
			"sooner", 0},
		{"later", func(_, to *Voucher, _ *Transfer) { to.ValidFrom = now.Add(1) }, "", "", 1000},
		{"longer", func(from, to *Voucher, _ *Transfer) { from.ValidUntil, to.ValidUntil = now.Add(1), now.Add(2) },
			refusal.RedemptionNotAllowed, "longer", 0},
		{"for ever", func(from, _ *Voucher, _ *Transfer) { from.ValidUntil = now.Add(1) }, refusal.RedemptionNotAllowed,
			"longer",
			0},
		{"no longer", func(from, to *Voucher, _ *Transfer) { from.Extended, to.ValidUntil = now.Add(2), now.Add(2) }, "", "",
			1000},
		{"of one that expired", func(from, to *Voucher, _ *Transfer) { from.ValidUntil, to.ValidUntil = now, now },
			refusal.RedemptionNotAllowed, "from: Gift " + theGift.String() + " expired at 2026-11-21 12:00 UTC.", 0},
		{"to one that expired", func(_, to *Voucher, _ *Transfer) { to.ValidUntil = now }, refusal.RedemptionNotAllowed,
			"to: Gift " + id(10).String() + " expired", 0},
		{"of a blocked gift", func(from, _ *Voucher, _ *Transfer) { from.Blocked = "LOST" }, refusal.RedemptionNotAllowed,
			"from: Gift " + theGift.String() + " is blocked.", 0},
		{"to a blocked gift", func(_, to *Voucher, _ *Transfer) { to.Blocked = "LOST" }, refusal.RedemptionNotAllowed,
			"to: Gift " + id(10).String() + " is blocked.", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from, to, ask := moving()
			tt.change(&from, &to, &ask)
			less, more, entries, err := from.Transfer(to, ask)
			if codeOf(t, err) != tt.code {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				if !strings.Contains(err.Error(), tt.message) || !reflect.DeepEqual(less, from) || !reflect.DeepEqual(more, to) {
					t.Errorf("%v does not say %q, or %+v or %+v changed", err, tt.message, less, more)
				}
				return
			}
			checkTransfer(t, from, to, less, more, entries, tt.moved)
		})
	}
}

// checkTransfer holds what a transfer did against what it says.
func checkTransfer(t testing.TB, from, to, less, more Voucher, entries [2]Entry, moved money.Amount) {
	t.Helper()
	out, in := entries[0], entries[1]
	if less.Balance != from.Balance-moved || less.Funded != from.Funded-moved || more.Balance != to.Balance+moved ||
		more.Funded != to.Funded+moved {
		t.Errorf("%d moved: %+v and %+v", moved, less, more)
	}
	if !OneTransfer(out, in) || !OneTransfer(in, out) || OneTransfer(out, out) {
		t.Errorf("not one transfer: %+v", entries)
	}
	for n, spoil := range []func(*Entry){func(e *Entry) { e.Kind = Redemption }, func(e *Entry) { e.Delta++ },
		func(e *Entry) { e.Counterpart = id(99) }, func(e *Entry) { e.CounterpartGift = id(99) },
		func(e *Entry) { e.AccountID = id(99) }, func(e *Entry) { e.At = now.Add(1) }, func(e *Entry) { e.ID = id(99) },
		func(e *Entry) { e.VoucherID = id(99) }} {
		spoiled := in
		if spoil(&spoiled); OneTransfer(out, spoiled) || OneTransfer(spoiled, out) {
			t.Errorf("%d: one transfer: %+v, %+v", n, out, spoiled)
		}
	}
	if out.Kind != TransferOut || out.Delta != -moved || out.Balance != less.Balance || out.VoucherID != from.ID ||
		out.Counterpart != in.ID || out.CounterpartGift != to.ID || out.Status != less.Status || less.Last != out.ID {
		t.Errorf("out: %+v", out)
	}
	if in.Kind != TransferIn || in.Delta != moved || in.Balance != more.Balance || in.VoucherID != to.ID ||
		in.Counterpart != out.ID || in.CounterpartGift != from.ID || in.Status != more.Status || more.Last != in.ID {
		t.Errorf("in: %+v", in)
	}
}

// TestTransferStatuses walks all pairs of statuses.
func TestTransferStatuses(t *testing.T) {
	t.Parallel()
	for _, s := range Statuses() {
		for _, r := range Statuses() {
			from, to, ask := moving()
			from.Status, to.Status, ask.Amount = s, r, 400
			want, gives, receives := refusal.Code(""), s, r
			switch {
			case s == Redeemed:
				want, from.Balance = refusal.AlreadyRedeemed, 0
			case !s.Redeemable(), !r.Redeemable() && r != Redeemed:
				want = refusal.RedemptionNotAllowed
			case r == Redeemed:
				receives = Claimed
			}
			less, more, _, err := from.Transfer(to, ask)
			if codeOf(t, err) != want || err == nil && (less.Status != gives || more.Status != receives) {
				t.Errorf("%s to %s: %s and %s, %v", s, r, less.Status, more.Status, err)
			}
			if want != "" {
				continue
			}
			ask.Amount = 0
			if less, _, _, err = from.Transfer(to, ask); err != nil || less.Status != Redeemed {
				t.Errorf("all of %s to %s: %s, %v", s, r, less.Status, err)
			}
		}
	}
}

// TestTransferProperty moves value to and fro between three gifts: together they keep what they had, none is ever below
// what is held, and their histories can be recomputed.
func TestTransferProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gifts, histories, n := make([]Voucher, 3), make([][]Entry, 3), byte(0)
		next := func() Context { n++; return Context{EntryID: id(n), Now: now.Add(time.Duration(n) * time.Second)} }
		for i := range gifts {
			g, e := Gift{Voucher{ID: id(byte(100 + i)), Currency: usd, Funded: 1000, Balance: 1000},
				Card{Method: contact.Printed}}.Begin(next())
			gifts[i], histories[i] = g.Voucher, []Entry{e}
		}
		taken := money.Amount(0)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			i, k := rapid.IntRange(0, 2).Draw(t, "from"), rapid.IntRange(0, 2).Draw(t, "to")
			amount := money.Amount(rapid.IntRange(0, 1500).Draw(t, "amount"))
			switch rapid.SampledFrom([]string{"transfer", "transfer", "redeem", "hold"}).Draw(t, "what") {
			case "redeem":
				if v, e, err := gifts[i].Redeem(Redeem{Context: next(), Amount: amount}); err == nil {
					gifts[i], histories[i], taken = v, append(histories[i], e), taken-e.Delta
				}
			case "hold":
				if v, e, err := gifts[i].Hold(Hold{Redeem: Redeem{Context: next(), Amount: amount}, Lasts: time.Hour}); err == nil {
					gifts[i], histories[i] = v, append(histories[i], e)
				}
			default:
				ask := Transfer{Context: next(), EntryIn: next().EntryID, Amount: amount,
					Caller: &merchant.Caller{Account: hundredUSD}}
				from, to, entries, err := gifts[i].Transfer(gifts[k], ask)
				if err == nil {
					gifts[i], gifts[k] = from, to
					histories[i], histories[k] = append(histories[i], entries[0]), append(histories[k], entries[1])
				}
			}
			sum := taken
			for n, v := range gifts {
				if sum += v.Balance; v.Available(now.Add(time.Minute)) < 0 || v.Balance > v.Funded {
					t.Fatalf("%+v", v)
				}
				if found := Audit(v, histories[n]); len(found) > 0 {
					t.Fatalf("%q: %+v", found, histories[n])
				}
			}
			if sum != 3000 {
				t.Fatalf("together they have %d, and %d were taken", sum-taken, taken)
			}
		}
	})
}

// TestAuditTransfer spoils sound histories of two gifts.
func TestAuditTransfer(t *testing.T) {
	t.Parallel()
	sound := func() (v Voucher, history []Entry) {
		c := func(n byte) Context { return Context{EntryID: id(n), Now: now.Add(time.Duration(n))} }
		var all [2]Gift
		var issued [2]Entry
		for n := range all {
			all[n], issued[n] = Gift{Voucher{ID: id(byte(50 + n)), Funded: 1000, Balance: 1000},
				Card{Method: contact.Printed}}.Begin(c(1))
		}
		ask := Transfer{Context: c(2), EntryIn: id(3), Amount: 300, Caller: &merchant.Caller{Account: hundredUSD}}
		v, to, there, err := all[0].Transfer(all[1].Voucher, ask)
		if err != nil {
			t.Fatal(err)
		}
		ask.Context, ask.EntryIn = c(4), id(5)
		_, v, back, err := to.Transfer(v, ask)
		if err != nil {
			t.Fatal(err)
		}
		return v, []Entry{issued[0], there[0], back[1]}
	}
	if found := Audit(sound()); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for name, spoil := range map[string]func([]Entry){
		"nothing moved":           func(h []Entry) { h[1].Delta, h[1].Balance = 0, 1000 },
		"out as if it were in":    func(h []Entry) { h[1].Kind = TransferIn },
		"in as if it were out":    func(h []Entry) { h[2].Kind = TransferOut },
		"a redemption":            func(h []Entry) { h[1].Kind = Redemption },
		"claimed by a transfer":   func(h []Entry) { h[1].Status, h[2].Status = Claimed, Claimed },
		"redeemed with something": func(h []Entry) { h[1].Status = Redeemed },
	} {
		v, history := sound()
		history = slices.Clone(history)
		spoil(history)
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, "cannot lead") &&
			!strings.Contains(found, "adds up to") {
			t.Errorf("%s: found %q", name, found)
		}
	}
}
