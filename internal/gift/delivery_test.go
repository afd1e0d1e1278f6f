package gift

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

var (
	byMail  = Delivery{Method: contact.Email, Contact: "ana@example.com", DeliveryZone: "UTC"}
	inPrint = Delivery{Method: contact.Printed, DeliveryZone: "UTC", DeliveredAt: now.Add(-time.Hour)}
)

func scheduled(w Delivery, in time.Duration) Delivery {
	w.Scheduled, w.DeliveryDate = true, now.Add(in)
	return w
}

func TestResend(t *testing.T) {
	t.Parallel()
	noSMS := func(m contact.Method) error {
		if m == contact.SMS {
			return refusal.New(refusal.AccountMisconfigured, "No SMS.")
		}
		return nil
	}
	earlier := func(first time.Duration, n int) []time.Time {
		return slices.Repeat([]time.Time{now.Add(-first)}, n)
	}
	for _, tt := range []struct {
		name    string
		status  Status
		before  Delivery
		ask     Resend
		code    refusal.Code // "": it is done
		method  contact.Method
		contact string
		to      Status
		due     time.Duration // after now; -1: there is no message
		reason  string
	}{
		{"as before", Pending, byMail, Resend{}, "", contact.Email, "ana@example.com", Pending, 0,
			"By e-mail, to the same address."},
		{"delivered", Delivered, byMail, Resend{}, "", contact.Email, "ana@example.com", Delivered, 0,
			"By e-mail, to the same address."},
		{"failed", FailedDelivery, byMail, Resend{Contact: "bo@example.com"}, "", contact.Email, "bo@example.com",
			FailedDelivery, 0,
			"By e-mail, to another address."},
		{"claimed", Claimed, byMail, Resend{Method: contact.Email}, "", contact.Email, "ana@example.com", Claimed, 0,
			"By e-mail, to the same address."},
		{"by SMS", Delivered, byMail, Resend{Method: contact.SMS, Contact: "(415) 555-0132"}, "", contact.SMS, "+14155550132",
			Delivered, 0,
			"By SMS instead of by e-mail."},
		{"another number", Delivered, Delivery{Method: contact.SMS, Contact: "+14155550132"}, Resend{Contact: "4155550133"},
			"", contact.SMS,
			"+14155550133", Delivered, 0, "By SMS, to another number."},
		{"in print", FailedDelivery, byMail, Resend{Method: contact.Printed}, "", contact.Printed, "", Delivered, -1,
			"In print instead of by e-mail."},
		{"in print, waiting", Pending, scheduled(byMail, time.Hour), Resend{Method: contact.Printed}, "", contact.Printed, "",
			Delivered, -1,
			"In print instead of by e-mail."},
		{"in print, claimed", Claimed, byMail, Resend{Method: contact.Printed}, "", contact.Printed, "", Claimed, -1,
			"In print instead of by e-mail."},
		{"printed again", Delivered, inPrint, Resend{}, "", contact.Printed, "", Delivered, -1, "In print, as before."},
		{"print by mail", Delivered, inPrint, Resend{Method: contact.Email, Contact: "ana@example.com"}, "", contact.Email,
			"ana@example.com",
			Delivered, 0, "By e-mail instead of in print."},
		{"waits for its date", Pending, scheduled(byMail, time.Hour), Resend{Contact: "bo@example.com"}, "", contact.Email,
			"bo@example.com", Pending, time.Hour, "By e-mail, to another address."},
		{"its date has passed", Pending, scheduled(byMail, -time.Hour), Resend{}, "", contact.Email, "ana@example.com",
			Pending, 0,
			"By e-mail, to the same address."},
		{"a printed one with a date", Delivered, scheduled(inPrint, time.Hour),
			Resend{Method: contact.Email, Contact: "ana@example.com"}, "", contact.Email, "ana@example.com", Delivered, 0,
			"By e-mail instead of in print."},
		{"nine before", Pending, byMail, Resend{Earlier: earlier(time.Hour, 9)}, "", contact.Email, "ana@example.com",
			Pending, 0,
			"By e-mail, to the same address."},
		{"ten a day ago", Pending, byMail, Resend{Earlier: earlier(24*time.Hour, 10)}, "", contact.Email, "ana@example.com",
			Pending,
			0, "By e-mail, to the same address."},

		{"ten before", Pending, byMail, Resend{Earlier: earlier(23*time.Hour, 10)}, refusal.RateLimited, 0, "", 0, 0, ""},
		{"redeemed", Redeemed, byMail, Resend{}, refusal.AlreadyRedeemed, 0, "", 0, 0, ""},
		{"cancelled", Cancelled, byMail, Resend{}, refusal.RedemptionNotAllowed, 0, "", 0, 0, ""},
		{"purchase failed", PurchaseFailed, byMail, Resend{}, refusal.RedemptionNotAllowed, 0, "", 0, 0, ""},
		{"no such address", Pending, byMail, Resend{Contact: "ana"}, refusal.ValidationFailure, 0, "", 0, 0, ""},
		{"a number for an e-mail", Pending, byMail, Resend{Contact: "4155550132"}, refusal.ValidationFailure, 0, "", 0, 0,
			""},
		{"by SMS to nobody", Pending, byMail, Resend{Method: contact.SMS}, refusal.ValidationFailure, 0, "", 0, 0, ""},
		{"by mail to nobody", Delivered, inPrint, Resend{Method: contact.Email}, refusal.ValidationFailure, 0, "", 0, 0, ""},
		{"printed to somebody", Delivered, inPrint, Resend{Contact: "ana@example.com"}, refusal.ValidationFailure, 0, "", 0,
			0, ""},
		{"no gateway", Pending, byMail, Resend{Method: contact.SMS, Contact: "4155550132", Deliverable: noSMS},
			refusal.AccountMisconfigured,
			0, "", 0, 0, ""},
		{"not theirs", Pending, byMail, Resend{Caller: &merchant.Caller{Locations: []guid.ID{id(0x22)}}}, refusal.NotFound, 0,
			"", 0,
			0, ""},
	} {
		v := voucherIn(tt.status)
		v.LocationID = shop
		if tt.ask.Context = context(); tt.ask.Caller == nil {
			tt.ask.Caller = everywhere
		}
		after, delivery, e, due, err := v.Resend(tt.before, tt.ask)
		if codeOf(t, err) != tt.code {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if tt.code != "" {
			if !reflect.DeepEqual(after, v) || delivery != tt.before || e != (Entry{}) || !due.IsZero() {
				t.Errorf("%s: refused, but it changed", tt.name)
			}
			if refused := err.(*refusal.Error); tt.code == refusal.RateLimited && refused.RetryAfter != time.Hour {
				t.Errorf("%s: again in %v, want an hour", tt.name, refused.RetryAfter)
			}
			continue
		}
		if message := tt.due >= 0; message == due.IsZero() || message && !due.Equal(now.Add(tt.due)) {
			t.Errorf("%s: due at %v", tt.name, due)
		}
		if delivery.Method != tt.method || delivery.Contact != tt.contact || after.Status != tt.to || e.Reason != tt.reason+
			moved(tt.before, delivery) || e.Kind != Resent ||
			delivery.Scheduled != tt.before.Scheduled || delivery.DeliveryDate != tt.before.DeliveryDate ||
			delivery.DeliveryZone != tt.before.DeliveryZone {
			t.Errorf("%s: %+v, %s, %+v", tt.name, delivery, after.Status, e)
		}
		if printed := tt.method == contact.Printed; printed != delivery.DeliveredAt.Equal(now) || !printed &&
			delivery.DeliveredAt != tt.before.DeliveredAt {
			t.Errorf("%s: delivered at %v", tt.name, delivery.DeliveredAt)
		}
		for _, contact := range []string{tt.before.Contact, delivery.Contact} {
			if contact != "" && strings.Contains(e.Reason, contact) {
				t.Errorf("%s: %s", tt.name, e.Reason)
			}
		}
		if e.Delta != 0 || after.Balance != v.Balance || after.ValidUntil != v.ValidUntil {
			t.Errorf("%s: %+v", tt.name, e)
		}
	}
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) Reschedule { return Reschedule{Date: now.Add(d), Waiting: true} }
	begun := at(time.Hour)
	begun.Waiting = false
	foreign := at(time.Hour)
	foreign.Caller = &merchant.Caller{Locations: []guid.ID{id(0x22)}}
	zoned := at(time.Hour)
	zoned.Zone = "Asia/Tokyo"
	for _, tt := range []struct {
		name   string
		status Status
		before Delivery
		ask    Reschedule
		code   refusal.Code
		zone   string
		reason string
	}{
		{"later", Pending, scheduled(byMail, time.Hour), at(2 * time.Hour), "", "UTC",
			"To 2026-11-21 14:00 UTC; before: 2026-11-21 13:00 UTC."},
		{"not at once", Pending, byMail, zoned, "", "Asia/Tokyo", "To 2026-11-21 13:00 UTC; before: at once."},
		{"now", Pending, scheduled(byMail, time.Hour), at(0), "", "UTC",
			"To 2026-11-21 12:00 UTC; before: 2026-11-21 13:00 UTC."},
		{"just past", Pending, byMail, at(-5 * time.Minute), "", "UTC", "To 2026-11-21 11:55 UTC; before: at once."},

		{"past", Pending, byMail, at(-5*time.Minute - 1), refusal.ValidationFailure, "", ""},
		{"too far", Pending, byMail, Reschedule{Date: now.AddDate(5, 0, 0).Add(1), Waiting: true}, refusal.ValidationFailure,
			"", ""},
		{"being sent", Pending, byMail, begun, refusal.RedemptionNotAllowed, "", ""},
		{"delivered", Delivered, byMail, begun, refusal.RedemptionNotAllowed, "", ""},
		{"delivered, and sent again", Delivered, byMail, at(time.Hour), refusal.RedemptionNotAllowed, "", ""},
		{"redeemed", Redeemed, byMail, begun, refusal.AlreadyRedeemed, "", ""},
		{"not theirs", Pending, byMail, foreign, refusal.NotFound, "", ""},
	} {
		v := voucherIn(tt.status)
		v.LocationID = shop
		if tt.ask.Context = context(); tt.ask.Caller == nil {
			tt.ask.Caller = everywhere
		}
		after, delivery, e, err := v.Reschedule(tt.before, tt.ask)
		want := tt.before
		if tt.code == "" {
			want.Scheduled, want.DeliveryDate, want.DeliveryZone = true, tt.ask.Date, tt.zone
		} else if !reflect.DeepEqual(after, v) || e != (Entry{}) {
			t.Errorf("%s: refused, but it changed", tt.name)
		}
		if codeOf(t, err) != tt.code || delivery != want || e.Reason != tt.reason || after.Status != v.Status {
			t.Errorf("%s: %+v, %q, %v", tt.name, delivery, e.Reason, err)
		}
	}
}

// TestAuditOfResends: a history may hold resends, and none that a rule would refuse.
func TestAuditOfResends(t *testing.T) {
	t.Parallel()
	c := func(n byte) Context { return Context{EntryID: id(n), Now: now} }
	g, issued := Gift{Voucher{ID: theGift, Funded: 1000, Balance: 1000},
		Card{Method: contact.Email, Contact: "ana@example.com"}}.Begin(c(1))
	v, delivery, put, err := g.Reschedule(g.Card.Delivery(), Reschedule{Context: c(2), Caller: everywhere, Date: now,
		Waiting: true})
	if err != nil {
		t.Fatal(err)
	}
	v, delivery, again, _, err := v.Resend(delivery, Resend{Context: c(3), Caller: everywhere})
	if err != nil {
		t.Fatal(err)
	}
	v, _, printed, _, err := v.Resend(delivery, Resend{Context: c(4), Caller: everywhere, Method: contact.Printed})
	if err != nil {
		t.Fatal(err)
	}
	sound := []Entry{issued, put, again, printed}
	if found := Audit(v, sound); len(found) > 0 {
		t.Fatalf("a sound history: %q", found)
	}
	for n, spoil := range []func(*Entry){1: func(e *Entry) { e.Status = Delivered },
		2: func(e *Entry) { e.Status = FailedDelivery }, 3: func(e *Entry) { e.Status = Claimed }} {
		if spoil == nil {
			continue
		}
		history := slices.Clone(sound)
		spoil(&history[n])
		if found := strings.Join(Audit(v, history), "; "); !strings.Contains(found, "cannot lead") {
			t.Errorf("entry %d: found %q", n, found)
		}
	}
}

// moved is what the history says of contacts that differ.
func moved(from, to Delivery) string {
	if from.Method == to.Method && from.Contact == to.Contact {
		return ""
	}
	masks := map[string]string{"": "paper", "ana@example.com": "a…@example.com", "bo@example.com": "b…@example.com",
		"+14155550132": "…0132", "+14155550133": "…0133"}
	return " From " + masks[from.Contact] + " to " + masks[to.Contact] + ", with a new code and link."
}

// TestContactsOfEarlierReleases: 0.1.0 kept the trunk zero of +44 (0)7740 125622. It is the same contact, and what is
// sent goes to the number.
func TestContactsOfEarlierReleases(t *testing.T) {
	t.Parallel()
	const kept, number = "+4407740125622", "+447740125622"
	if !contact.Same(kept, number) || contact.Same(kept, "+447740125623") || contact.Same(kept, "a@b.co") ||
		contact.Same("", number) {
		t.Error("contacts are compared as texts")
	}
	was, is := Delivery{Method: contact.SMS, Contact: kept}, Delivery{Method: contact.SMS, Contact: number}
	if !was.SameRecipient(is) || contact.Key(kept) != contact.Key(number) {
		t.Error("the number is another recipient")
	}
	if card := (Card{Method: contact.SMS, Contact: kept}); card.Address() != number {
		t.Errorf("a message goes to %s", card.Address())
	}
	if card := (Card{Method: contact.Email, Contact: "Ana@example.com"}); card.Address() != "Ana@example.com" {
		t.Errorf("a mail goes to %s", card.Address())
	}
}
