package order

import (
	"slices"
	"testing"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
)

// forBuyer is a purchase of three gifts that go to their buyer.
func forBuyer(a *merchant.Account) Send {
	s := purchased(a)
	s.Monetary.Recipient = Recipient{Method: ptr(int(contact.Email))}
	s.Recipients = []Recipient{{Name: "Ana", Message: "Hello", Language: "de"}, {Name: "Leo"}, {}}
	s.DeliverTo = gift.ToBuyer
	return s
}

// TestGiftsForTheirBuyer: the gifts go to the address of the purchase, say for whom they are, count as one message, and
// the buyer is told of no delivery beside.
func TestGiftsForTheirBuyer(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	a.ArrivalNotice = true
	for as, want := range map[string]gift.Attachment{"": gift.AsPDF, "pdf": gift.AsPDF, "csv": gift.AsCSV} {
		s := forBuyer(a)
		s.Attachment, s.NotifyBuyer = as, ptr(true)
		gifts, err := Issue(s, a, now, nil)
		if err != nil || len(gifts) != 3 {
			t.Fatalf("%d gifts, %v", len(gifts), err)
		}
		messages := int64(0)
		for n := range gifts {
			g := &gifts[n]
			messages += g.Spending().Messages
			if g.Card.Contact != s.Payment.Purchase.EmailAddress || g.Card.Attachment != want || g.Tells != gift.TellFirstUse ||
				g.Card.Recipient != s.Recipients[n].Name || g.Card.Language != s.Recipients[n].Language {
				t.Errorf("gift %d: %+v", n, g)
			}
		}
		if messages != 1 {
			t.Errorf("they count as %d messages", messages)
		}
	}
	one := forBuyer(a)
	one.Recipients, one.Monetary.Recipient.Name = nil, "Ana"
	if gifts, err := Issue(one, a, now, nil); err != nil || gifts[0].Card.Recipient != "Ana" ||
		gifts[0].Card.ComesAlong() {
		t.Errorf("%+v, %v", gifts, err)
	}
}

// TestNotForTheirBuyer: what does not go together is refused where it stands.
func TestNotForTheirBuyer(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	for name, tt := range map[string]struct {
		spoil func(*Send)
		want  []string
	}{
		"somebody else":      {func(s *Send) { s.DeliverTo = "recipient" }, []string{"deliverTo", "recipients[0].contact"}},
		"another attachment": {func(s *Send) { s.Attachment = "PDF" }, []string{"attachment"}},
		"by SMS":             {func(s *Send) { s.Monetary.Recipient.Method = ptr(2) }, []string{"monetary.method"}},
		"on paper":           {func(s *Send) { s.Recipients[1].Method = ptr(3) }, []string{"recipients[1].method"}},
		"with a contact": {func(s *Send) { s.Recipients[2].Contact = "a@example.com" },
			[]string{"recipients[2].contact"}},
		"without an address":   {func(s *Send) { s.Payment.Purchase.EmailAddress = "" }, []string{"emailAddress"}},
		"with a wrong address": {func(s *Send) { s.Payment.Purchase.EmailAddress = "carla" }, []string{"emailAddress"}},
		"attachment alone": {func(s *Send) { s.DeliverTo, s.Attachment = "", "csv" },
			[]string{"attachment", "recipients[0].contact"}},
	} {
		s := forBuyer(a)
		tt.spoil(&s)
		gifts, err := Issue(s, a, now, nil)
		for _, field := range tt.want {
			if gifts != nil || !slices.Contains(problemsOf(err), field) {
				t.Errorf("%s: %v, want %s", name, err, field)
			}
		}
	}
	s := promoted(a)
	s.DeliverTo = gift.ToBuyer
	if _, err := Issue(s, a, now, nil); !slices.Contains(problemsOf(err), "deliverTo") {
		t.Errorf("a promotional gift: %v", err)
	}
}
