package guest

import (
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestWhoseGiftsAre: a list has the gifts that are the guest's for certain, and none of the others.
func TestWhoseGiftsAre(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	var never time.Time
	ann := Session{AccountID: guid.ID{1}, Method: contact.Email, Contact: "ann@example.com"}
	for name, tt := range map[string]struct {
		change           func(*gift.Gift)
		received, bought bool
	}{
		"sent":               {func(*gift.Gift) {}, true, false},
		"in other letters":   {func(g *gift.Gift) { g.Card.Contact = "Ann@EXAMPLE.com" }, true, false},
		"in quotes":          {func(g *gift.Gift) { g.Card.Contact = `"ann"@example.com` }, true, false},
		"of another account": {func(g *gift.Gift) { g.AccountID = guid.ID{2} }, false, false},
		"of somebody else":   {func(g *gift.Gift) { g.Card.Contact = "leo@example.com" }, false, false},
		"of a long s":        {func(g *gift.Gift) { g.Card.Contact = "ann@example.com\u017f" }, false, false},
		"to nobody":          {func(g *gift.Gift) { g.Card.Contact = "" }, false, false},
		"to come":            {func(g *gift.Gift) { g.Status, g.Card.DeliveredAt = gift.Pending, never }, false, false},
		"cancelled before":   {func(g *gift.Gift) { g.Status, g.Card.DeliveredAt = gift.Cancelled, never }, false, false},
		"cancelled":          {func(g *gift.Gift) { g.Status = gift.Cancelled }, true, false},
		"not paid":           {func(g *gift.Gift) { g.Status = gift.PurchaseFailed }, false, false},
		"that was not taken": {func(g *gift.Gift) { g.Status, g.Card.DeliveredAt = gift.FailedDelivery, never }, true, false},
		"that its buyer hands out": {func(g *gift.Gift) {
			g.Card.Attachment, g.Card.Purchase.EmailAddress = gift.AsPDF, "ann@example.com"
		}, false, true},
		"bought": {func(g *gift.Gift) {
			g.Card.Contact, g.Card.Purchase.EmailAddress = "leo@example.com", "ANN@example.com"
		}, false, true},
	} {
		g := gift.Gift{Voucher: gift.Voucher{AccountID: guid.ID{1}, Status: gift.Delivered}}
		g.Card.Contact, g.Card.DeliveredAt = "ann@example.com", now
		tt.change(&g)
		if got := ann.Has(Received, &g); got != tt.received {
			t.Errorf("a gift %s is received: %t", name, got)
		}
		if got := ann.Has(Bought, &g); got != tt.bought {
			t.Errorf("a gift %s is bought: %t", name, got)
		}
	}
	kim := Session{AccountID: guid.ID{1}, Method: contact.Email, Contact: "\u212aim@example.com"}
	g := gift.Gift{Voucher: gift.Voucher{AccountID: guid.ID{1}, Status: gift.Delivered}}
	g.Card.Contact, g.Card.DeliveredAt = "kim@example.com", now
	if kim.Has(Received, &g) {
		t.Error("an address with a Kelvin sign is taken for that of somebody else")
	}
}

// TestRead: a contact is read as the account sends to it; what is none is refused.
func TestRead(t *testing.T) {
	t.Parallel()
	a := &merchant.Account{}
	for typed, want := range map[string]string{" Ana@Example.COM ": "Ana@example.com", "(415) 555-0132": "+14155550132",
		"+1 415 555 0132": "+14155550132", "": "", "ana": "", "ana@": "", "12": "", "a@b.c, d@e.f": ""} {
		if _, got, err := Read(typed, a); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is read as %q, %v", typed, got, err)
		}
	}
}

// TestMasked: who does not know a contact does not learn it.
func TestMasked(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]string{"ana@example.com": "a•••@example.com", "+14155550132": "•••32",
		"émile@example.com": "é•••@example.com"} {
		if got := Masked(of); got != want {
			t.Errorf("%q is shown as %q", of, got)
		}
	}
}

// TestHowLong: a link works for a quarter of an hour, a session for 30 days.
func TestHowLong(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	l, s := Link{At: now}, Session{At: now}
	for after, want := range map[time.Duration][2]bool{0: {true, true}, 15*time.Minute - 1: {true, true},
		15 * time.Minute: {false, true}, 30*24*time.Hour - 1: {false, true}, 30 * 24 * time.Hour: {false, false}} {
		if got := [2]bool{l.Works(now.Add(after)), s.Works(now.Add(after))}; got != want {
			t.Errorf("after %s: %v", after, got)
		}
	}
}
