package gift

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

func paying(p Purchase, price money.Amount) Purchase {
	p.Price = price
	return p
}

func TestLoad(t *testing.T) {
	type ask = ReloadRequest
	t.Parallel()
	paid := Purchase{"order 7", "Ana", "Roe", "ana@example.com", id(0x41), 0}
	for _, tt := range []struct {
		name    string
		change  func(*Voucher, *ask)
		code    refusal.Code
		message string
		balance money.Amount // after it
		status  Status
	}{
		{"more", func(*Voucher, *ask) {}, "", "", 1500, Delivered},
		{"for less", func(_ *Voucher, l *ask) { l.Price = "0.01" }, "", "", 1500, Delivered},
		{"for as much", func(_ *Voucher, l *ask) { l.Price = "5.00" }, "", "", 1500, Delivered},
		{"for more", func(_ *Voucher, l *ask) { l.Price = "5.01" }, refusal.ValidationFailure,
			"At most 5.00 USD can be paid for this: it is not worth more.", 0, 0},
		{"for nothing", func(_ *Voucher, l *ask) { l.Price = "0" }, refusal.ValidationFailure, "above zero", 0, 0},
		{"as it was written", func(_ *Voucher, l *ask) { l.Number = "12.34" }, "", "", 2234, Delivered},
		{"of a used gift", func(v *Voucher, _ *ask) { v.Status, v.Balance = Claimed, 1 }, "", "", 501, Claimed},
		{"of an empty gift", func(v *Voucher, _ *ask) { v.Status, v.Balance = Redeemed, 0 }, "", "", 500, Claimed},
		{"not delivered", func(v *Voucher, _ *ask) { v.Status = FailedDelivery }, "", "", 1500, FailedDelivery},
		{"up to the most", func(_ *Voucher, l *ask) { l.Amount = 4000 }, "", "", 5000, Delivered},
		{"above the most", func(_ *Voucher, l *ask) { l.Amount = 4001 }, refusal.ValidationFailure,
			"A gift may be worth 50.00 USD at most; at most 40.00 USD can be loaded.", 0, 0},
		{"above the most already", func(v *Voucher, l *ask) { v.Balance, v.Funded, l.Amount = 6000, 6000, 1 },
			refusal.ValidationFailure, "at most 0.00 USD can be loaded", 0, 0},
		{"more than can be counted", func(v *Voucher, l *ask) { v.Funded = money.NoLimit - 1; l.Amount = 2 },
			refusal.ValidationFailure,
			"at most 0.01 USD can be loaded", 0, 0},
		{"nothing", func(_ *Voucher, l *ask) { l.Amount = 0 }, refusal.ValidationFailure, "above zero", 0, 0},
		{"less than nothing", func(_ *Voucher, l *ask) { l.Amount = -1 }, refusal.ValidationFailure, "above zero", 0, 0},
		{"no amount", func(_ *Voucher, l *ask) { l.Number = "1.234" }, refusal.ValidationFailure, "not an amount in USD", 0,
			0},
		{"elsewhere", func(v *Voucher, _ *ask) { v.LocationID = id(3) }, refusal.NotAuthorized, "another location", 0, 0},
		{"here", func(v *Voucher, _ *ask) { v.LocationID = shop }, "", "", 1500, Delivered},
		{"promotional", func(v *Voucher, _ *ask) { v.Promotional = true }, refusal.NotSupported, "promotional", 0, 0},
		{"an item", func(v *Voucher, _ *ask) { v.Item = true }, refusal.NotSupported, "an item gift", 0, 0},
		{"another program", func(v *Voucher, _ *ask) { v.ProgramID = merchant.DistributionProgram.ID }, refusal.NotSupported,
			`the program "Distribution network" cannot be reloaded`, 0, 0},
		{"a program that is not reloadable", func(_ *Voucher, l *ask) {
			l.Account = &merchant.Account{MaxGiftValue: 5000,
				Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID}}}
		}, refusal.NotSupported, `the program "Business gift cards" cannot be reloaded`, 0, 0},
		{"blocked", func(v *Voucher, _ *ask) { v.Blocked = "LOST" }, refusal.RedemptionNotAllowed, "blocked", 0, 0},
		{"expired", func(v *Voucher, _ *ask) { v.ValidUntil = now }, refusal.RedemptionNotAllowed, "expired", 0, 0},
		{"cancelled", func(v *Voucher, _ *ask) { v.Status = Cancelled }, refusal.RedemptionNotAllowed, "cancelled", 0, 0},
		{"cancelled and empty", func(v *Voucher, _ *ask) { v.Status, v.Balance = Cancelled, 0 },
			refusal.RedemptionNotAllowed,
			"cancelled", 0, 0},
		{"empty and blocked", func(v *Voucher, _ *ask) { v.Status, v.Balance, v.Blocked = Redeemed, 0, "LOST" },
			refusal.RedemptionNotAllowed, "blocked", 0, 0},
		{"with holds", func(v *Voucher, _ *ask) { v.Holds = []OpenHold{{ID: id(6), Left: 1000, Until: now.Add(1)}} }, "", "",
			1500,
			Delivered},
	} {
		v := voucherIn(Delivered)
		l := ReloadRequest{Context: context(), Amount: 500, Account: reloading, Purchase: paid, Reference: "till 4"}
		tt.change(&v, &l)
		after, e, err := v.Reload(l)
		if codeOf(t, err) != tt.code {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), tt.message) || !reflect.DeepEqual(after, v) {
				t.Errorf("%s: %v does not say %q, or %+v changed", tt.name, err, tt.message, after)
			}
			continue
		}
		if after.Balance != tt.balance || after.Status != tt.status || after.Funded-v.Funded != e.Delta || e.Kind != Reload ||
			e.Delta != tt.balance-v.Balance || e.Purchase != paying(paid, priceOf(t, l.Price)) || e.Reference != "till 4" ||
			!reflect.DeepEqual(after.Holds, v.Holds) {
			t.Errorf("%s: %+v by %+v", tt.name, after, e)
		}
	}
}

func TestReverseReload(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		change  func(*Voucher, *Undoable, *Undo)
		code    refusal.Code
		message string
		status  Status // after it
	}{
		{"of an unused gift", func(*Voucher, *Undoable, *Undo) {}, "", "", Delivered},
		{"of all that is there", func(v *Voucher, _ *Undoable, _ *Undo) { v.Balance = 500 }, "", "", Redeemed},
		{"of more than is there", func(v *Voucher, _ *Undoable, _ *Undo) { v.Balance = 499 }, refusal.InsufficientBalance,
			"This reload was of 5.00 USD; of this gift, 4.99 USD is available.", 0},
		{"of an empty gift", func(v *Voucher, _ *Undoable, _ *Undo) { v.Balance, v.Status = 0, Redeemed },
			refusal.InsufficientBalance, "0.00 USD is available.", 0},
		{"of what is held", func(v *Voucher, _ *Undoable, _ *Undo) {
			v.Holds = []OpenHold{{ID: id(6), Left: 501,
				Until: now.Add(1)}}
		},
			refusal.InsufficientBalance, "4.99 USD is available: 5.01 USD is held until 2026-11-21 12:00 UTC.", 0},
		{"of what is not held", func(v *Voucher, _ *Undoable, _ *Undo) {
			v.Holds = []OpenHold{{ID: id(6), Left: 500,
				Until: now.Add(1)}}
		},
			"", "", Delivered},
		{"of what is not held any more", func(v *Voucher, _ *Undoable, _ *Undo) {
			v.Holds = []OpenHold{{ID: id(6), Left: 501,
				Until: now}}
		},
			"", "", Delivered},
		{"twice", func(_ *Voucher, done *Undoable, _ *Undo) { done.Reversed, done.Parts = 500, 1 }, refusal.AlreadyReversed,
			"taken back already", 0},
		{"of a blocked gift", func(v *Voucher, _ *Undoable, _ *Undo) { v.Blocked = "STOLEN" }, "", "", Delivered},
		{"of a cancelled gift", func(v *Voucher, _ *Undoable, _ *Undo) { v.Status = Cancelled }, "", "", Cancelled},
		{"of all in a cancelled gift", func(v *Voucher, _ *Undoable, _ *Undo) { v.Status, v.Balance = Cancelled, 500 },
			"", "", Cancelled},
		{"of all in a failed purchase", func(v *Voucher, _ *Undoable, _ *Undo) { v.Status, v.Balance = PurchaseFailed, 500 },
			refusal.RedemptionNotAllowed, "purchase of this gift failed", 0},
		{"of an expired gift", func(v *Voucher, _ *Undoable, _ *Undo) { v.ValidUntil = now }, "", "", Delivered},
		{"of another gift", func(_ *Voucher, done *Undoable, _ *Undo) { done.Entry.VoucherID = id(3) }, refusal.NotFound, "",
			0},
		{"of what is none", func(_ *Voucher, done *Undoable, _ *Undo) { done.Entry.Kind = Activation }, refusal.NotFound, "",
			0},
		{"not there", func(_ *Voucher, _ *Undoable, u *Undo) {
			u.Caller = &merchant.Caller{Account: reloading, Locations: []guid.ID{id(3)}}
		}, refusal.NotFound, "no such reload", 0},
		{"there", func(_ *Voucher, _ *Undoable, u *Undo) {
			u.Caller = &merchant.Caller{Account: reloading, Locations: []guid.ID{id(3), shop}}
		}, "", "", Delivered},
	} {
		v := voucherIn(Delivered)
		done, u := reloadOf(&v, 500), Undo{Context: context(), Caller: everywhere}
		tt.change(&v, &done, &u)
		after, e, err := v.ReverseReload(done, u)
		if codeOf(t, err) != tt.code {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), tt.message) || !reflect.DeepEqual(after, v) {
				t.Errorf("%s: %v does not say %q, or %+v changed", tt.name, err, tt.message, after)
			}
			continue
		}
		if after.Balance != v.Balance-500 || after.Funded != v.Funded-500 || after.Status != tt.status || e.Delta != -500 ||
			e.Kind != ReloadReversal || e.Reverses != id(7) {
			t.Errorf("%s: %+v by %+v", tt.name, after, e)
		}
	}
}

// TestATillIsKnown: a paired till's key tells that it is one, and no other key does.
func TestATillIsKnown(t *testing.T) {
	t.Parallel()
	d := &merchant.Directory{Accounts: map[guid.ID]*merchant.Account{id(1): {}}, Keys: map[merchant.KeyHash]*merchant.Key{
		merchant.HashKey("a"): {AccountID: id(1)}, merchant.HashKey("b"): {AccountID: id(1), Till: merchant.PairedTill},
	}}
	if c, ok := d.Authenticate("a", now); !ok || c.Till != merchant.NoTill {
		t.Errorf("a program's key is %+v, %v", c, ok)
	}
	if c, ok := d.AuthenticateTill("b", now); !ok || c.Till != merchant.PairedTill ||
		c.By(nil).Till != merchant.PairedTill {
		t.Errorf("a till's key is %+v, %v", c, ok)
	}
}

// TestLoadsKeepTheBooks: whatever is loaded, taken and undone at random, no money is made: a gift holds what was put
// in less what was taken, its history adds up, and it can be undone only once.
func TestLoadsKeepTheBooks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 1))
		at := now
		next := byte(1)
		c := func() Context {
			next++
			at = at.Add(time.Second)
			return Context{EntryID: guid.ID{0: next, 15: 1}, Now: at, Actor: merchant.Actor{LocationID: shop}}
		}
		fresh := voucherIn(Pending)
		fresh.Seq = 0
		g, issued := Gift{fresh, Card{Method: contact.Printed}}.Begin(c())
		v, history, done := g.Voucher, []Entry{issued}, []*Undoable{}
		in, out := money.Amount(1000), money.Amount(0)
		for range 60 {
			before := v
			var e Entry
			var err error
			switch random.IntN(4) {
			case 0:
				v, e, err = v.Reload(ReloadRequest{Context: c(), Amount: money.Amount(random.IntN(600)), Account: reloading})
			case 1:
				v, e, err = v.Redeem(Redeem{Context: c(), LocationID: shop, Amount: money.Amount(random.IntN(1200))})
			default:
				if len(done) == 0 {
					continue
				}
				of := done[random.IntN(len(done))]
				if of.Entry.Kind == Reload {
					v, e, err = v.ReverseReload(*of, Undo{Context: c(), Caller: everywhere})
				} else {
					v, e, err = v.Reverse(*of, Reverse{Context: c(), Caller: everywhere, Amount: money.Amount(random.IntN(300))})
				}
				if err == nil {
					of.Parts++
					of.Reversed += max(e.Delta, -e.Delta)
				}
			}
			if err != nil {
				if !reflect.DeepEqual(v, before) {
					t.Fatalf("seed %d: refused, %v, but %+v became %+v", seed, err, before, v)
				}
				continue
			}
			history = append(history, e)
			switch e.Kind {
			case Reload, ReloadReversal:
				in += e.Delta
			default:
				out -= e.Delta
			}
			if e.Kind == Reload || e.Kind == Redemption {
				done = append(done, &Undoable{Entry: e})
			}
			if v.Balance != in-out || v.Funded != in || v.Balance < 0 || v.Balance > v.Funded || out < 0 {
				t.Fatalf("seed %d: %d in, %d out, but %+v", seed, in, out, v)
			}
		}
		if found := Audit(v, history); len(found) > 0 {
			t.Fatalf("seed %d: %q", seed, found)
		}
	}
}
