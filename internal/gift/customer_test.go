package gift

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func TestLinkCustomer(t *testing.T) {
	t.Parallel()
	pier := &merchant.Caller{Kind: merchant.AccountKey, Account: everywhere.Account, Locations: []guid.ID{shop}}
	for _, tt := range []struct {
		name   string
		was    string
		change func(*Voucher, *LinkCustomer)
		code   refusal.Code
		is     string
		done   bool
	}{
		{"to a customer", "", nil, "", "C-1", true},
		{"to the same one", "C-1", nil, "", "C-1", false},
		{"to another one", "C-2", nil, refusal.AlreadyLinked, "C-2", false},
		{"in another letter case", "c-1", nil, refusal.AlreadyLinked, "c-1", false},
		{"a card that was not sold", "", func(v *Voucher, _ *LinkCustomer) { v.Status = NotActivated },
			refusal.RedemptionNotAllowed, "", false},
		{"a cancelled gift", "", func(v *Voucher, _ *LinkCustomer) { v.Status = Cancelled }, "", "C-1", true},
		{"a blocked gift", "", func(v *Voucher, _ *LinkCustomer) { v.Blocked = ReasonLost }, "", "C-1", true},
		{"by a key of another location", "", func(v *Voucher, l *LinkCustomer) { v.LocationID, l.Caller = kiosk, pier },
			refusal.NotFound, "", false},
		{"by a key of its location", "", func(v *Voucher, l *LinkCustomer) { v.LocationID, l.Caller = shop, pier }, "", "C-1",
			true},
		{"by a key of one location, as it is good everywhere", "", func(_ *Voucher, l *LinkCustomer) { l.Caller = pier },
			refusal.NotFound, "", false},
	} {
		v, ask := voucherIn(Delivered), LinkCustomer{Context: context(), Caller: everywhere, CustomerID: "C-1"}
		v.CustomerID = tt.was
		if tt.change != nil {
			tt.change(&v, &ask)
		}
		after, e, err := v.LinkCustomer(ask)
		if code, _ := errors.AsType[*refusal.Error](err); tt.code != "" && (code == nil || code.Code != tt.code) ||
			tt.code == "" && err != nil {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
		}
		if after.CustomerID != tt.is || (e.Kind == CustomerLinked) != tt.done || (e.Link == LinkMade) != tt.done {
			t.Errorf("%s: linked to %q by %+v", tt.name, after.CustomerID, e)
		}
		if after.Balance != v.Balance || after.Status != v.Status {
			t.Errorf("%s: it changed the gift", tt.name)
		}
	}
}

func TestCustomerIDs(t *testing.T) {
	t.Parallel()
	for id, good := range map[string]bool{
		"": true, "C-20177": true, " 4711": true, "ana@example.com": true, "zoë": true, strings.Repeat("ß", 64): true,
		strings.Repeat("x", 65): false, "a\nb": false, "a\x00": false, "a\u2028b": false, "  ": false, "\u200b": false,
		"\xff": false,
	} {
		err := CheckCustomerID(refusal.FieldCustomerID, id)
		if (err == nil) != good {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestLinksOverHistories does whatever may come to a gift in random order. A link is made only by who asks for it, is
// never taken from a customer by naming another one, ends where the gift goes to somebody else, and fits the history at
// every step.
func TestLinksOverHistories(t *testing.T) {
	t.Parallel()
	customers := []string{"", "C-1", "C-2"}
	all := &merchant.Caller{Kind: merchant.AccountKey, Account: reloading}
	var made, ended, refused int
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 7))
		next := contexts()
		g := Gift{Voucher{ID: theGift, AccountID: id(1), ProgramID: merchant.BusinessProgram.ID, Currency: usd, Funded: 1000,
			Balance: 1000, CustomerID: customers[random.IntN(3)]}, Card{Method: contact.Printed}}
		g, first := g.Begin(next())
		v, history, want, at := g.Voucher, []Entry{first}, g.CustomerID, g.Card.Delivery()
		for range 20 {
			named := customers[random.IntN(3)]
			var after Voucher
			var e Entry
			var err error
			switch expected := want; random.IntN(6) {
			case 0:
				if named == "" {
					continue // which the interface refuses
				}
				after, e, err = v.LinkCustomer(LinkCustomer{Context: next(), Caller: all, CustomerID: named})
				want = linked(expected, named)
			case 1:
				after, e, err = v.UnlinkCustomer(UnlinkCustomer{Context: next(), Caller: all, CustomerID: named})
				if named == "" || named == expected {
					want = ""
				}
			case 2:
				after, e, err = v.Reload(ReloadRequest{Context: next(), Amount: 1, Account: reloading, Customer: named})
				want = linked(expected, named)
			case 3:
				to := Resend{Context: next(), Caller: all, Method: contact.Email,
					Contact: []string{"ana@example.com", "ANA@example.com", "bob@example.com"}[random.IntN(3)]}
				was := at
				after, at, e, _, err = v.Resend(was, to)
				if err == nil && !was.SameRecipient(at) {
					want = ""
				}
			case 4:
				after, e, err = v.Replace(Replace{Context: next(), Caller: all})
			case 5:
				after, e, err = v.Redeem(Redeem{Context: next(), LocationID: shop, Amount: 1})
			}
			if err != nil {
				if errors.Is(err, refusal.AlreadyLinked) {
					refused++
				}
				if after.CustomerID != v.CustomerID {
					t.Fatalf("seed %d: what was refused changed the link", seed)
				}
				continue
			}
			if after.CustomerID != want || (e.Link == LinkMade) != (want != "" && v.CustomerID == "") ||
				(e.Link == LinkEnded) != (want == "" && v.CustomerID != "") {
				t.Fatalf("seed %d: linked to %q, then by a %s (%s) to %q; want %q", seed, v.CustomerID, e.Kind, e.Link,
					after.CustomerID, want)
			}
			switch e.Link {
			case LinkMade:
				made++
			case LinkEnded:
				ended++
			}
			if v = after; e.Kind != "" {
				history = append(history, e)
			}
			if found := Audit(v, history); len(found) > 0 {
				t.Fatalf("seed %d: %q", seed, found)
			}
		}
		if v.CustomerID == "" {
			v.CustomerID = "C-3" // as nobody linked it
			if found := Audit(v, history); len(found) == 0 {
				t.Fatalf("seed %d: a link that no entry made is not found", seed)
			}
		}
	}
	if made < 100 || ended < 100 || refused < 100 {
		t.Errorf("%d links were made, %d ended, %d refused: the histories are too poor", made, ended, refused)
	}
}

// contexts gives one context after the other, each a minute and an id later.
func contexts() func() Context {
	n := byte(10)
	return func() Context {
		n++
		c := context()
		c.EntryID, c.Now = id(n), now.Add(time.Duration(n)*time.Minute)
		return c
	}
}

// linked is to whom a gift is linked after somebody was named; "" is nobody.
func linked(was, named string) string {
	if was == "" {
		return named
	}
	return was
}

// TestASaleThatIsTakenBackUnlinks: the card is sold to somebody else.
func TestASaleThatIsTakenBackUnlinks(t *testing.T) {
	t.Parallel()
	next := contexts()
	card := voucherIn(NotActivated)
	card.Seq, card.Fixed = 1, 500
	sold, e, err := card.Activate(Activate{Context: next(), LocationID: shop, Customer: "C-1"})
	if err != nil || sold.CustomerID != "C-1" || e.Link != LinkMade {
		t.Fatalf("sold: %v, linked to %q by %q", err, sold.CustomerID, e.Link)
	}
	back, e, err := sold.ReverseActivation(Undoable{Entry: e}, Undo{Context: next(), Caller: everywhere})
	if err != nil || back.CustomerID != "" || e.Link != LinkEnded {
		t.Errorf("taken back: %v, linked to %q by %q", err, back.CustomerID, e.Link)
	}
	e = Entry{Kind: Activation, VoucherID: card.ID, Seq: sold.Seq}
	other, _, err := sold.UnlinkCustomer(UnlinkCustomer{Context: next(), Caller: everywhere})
	if err == nil {
		_, _, err = other.ReverseActivation(Undoable{Entry: e}, Undo{Context: next(), Caller: everywhere})
	}
	if !errors.Is(err, refusal.RedemptionNotAllowed) {
		t.Errorf("taken back after its customer was changed: %v", err)
	}
}
