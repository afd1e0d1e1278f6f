package order

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

var (
	kiosk      = id(0x22)
	storefront = id(0x31)
	spring     = id(0x41) // a promotion with defaults
	bare       = id(0x42) // one without
	blue       = id(0x51)
	green      = id(0x52)
)

func harborCoffee(t testing.TB) *merchant.Account {
	return &merchant.Account{
		ID: id(1), Name: "Harbor Coffee", Currency: usd, Zone: mustZone(t, "America/New_York"), MaxGiftValue: 10_000_00,
		DefaultDesign: blue,
		Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID},
			{ProgramID: merchant.PromotionalProgram.ID,
				Locations: []guid.ID{shop}}},
		Locations: []merchant.Location{{ID: shop, Name: "Pier 39", DefaultDesign: green}, {ID: kiosk, Name: "Kiosk",
			PointOfSale: "POS-2", POSRedemption: true}},
		Storefronts: []merchant.Storefront{{ID: storefront, Name: "Web shop"}},
		Promotions: []merchant.Promotion{
			{ID: spring, Name: "Spring", ValidStarting: now, ValidForDays: 120, Terms: "One per guest.",
				EligibleItems: []merchant.Item{{ID: "LATTE", Name: "Latte"}}},
			{ID: bare, Name: "Bare"},
		},
		Designs: []merchant.Design{{ID: blue}, {ID: green}},
	}
}

// purchased is a request for one gift of money, sent by e-mail, that is right in everything.
func purchased(a *merchant.Account) Send {
	return Send{
		Caller: &merchant.Caller{Kind: merchant.AccountKey, Account: a},
		Monetary: &Definition{Value: "25.50", Recipient: Recipient{Method: ptr(1), Name: "Dad",
			Contact: "dad@example.com", Message: "Enjoy\nit"}},
		PaymentMethodID: ptr(ExternalTransaction),
		Payment: Payment{Purchase: gift.Purchase{Reference: "T-1", FirstName: "Ada", LastName: "Lovelace",
			EmailAddress: "ada@example.com",
			StorefrontID: storefront}},
	}
}

// anItem is one for a printed item that was bought.
func anItem(a *merchant.Account) Send {
	s, item := purchased(a), promoted(a)
	s.Monetary, s.Item = nil, item.Item
	return s
}

// promoted is one for a printed item of a promotion.
func promoted(a *merchant.Account) Send {
	return Send{
		Caller:          &merchant.Caller{Kind: merchant.AccountKey, Account: a},
		Item:            &Definition{Label: "Latte", Quantity: "2", LocationID: shop, Recipient: Recipient{Method: ptr(3)}},
		PaymentMethodID: ptr(PromotionalPayment),
		Payment:         Payment{PromotionID: spring},
	}
}

// several is purchased for three.
func several(a *merchant.Account) Send {
	s := purchased(a)
	s.Monetary.Recipient = Recipient{Method: ptr(1)}
	s.Recipients = []Recipient{{Contact: "a@example.com"}, {Method: ptr(2), Contact: "415-555-0132"}, {Method: ptr(3)}}
	return s
}

func problemsOf(err error) []string {
	var list []string
	if e, ok := err.(*refusal.Error); ok {
		for _, m := range e.Messages {
			list = append(list, string(m.Field))
		}
	}
	slices.Sort(list)
	return list
}

// TestIssueProblems has, for every rule, one request that breaks it, and where that is told.
func TestIssueProblems(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	long := strings.Repeat("x", 5_000)
	const m, it = "monetary.", "item."
	tests := []struct {
		name  string
		base  func(*merchant.Account) Send
		spoil func(*Send)
		want  []string
	}{
		{"no gift", purchased, func(s *Send) { s.Monetary = nil }, []string{""}},
		{"both gifts", purchased, func(s *Send) { s.Item = &Definition{} }, []string{"item"}},
		{"no value", purchased, func(s *Send) { s.Monetary.Value = "" }, []string{m + "value"}},
		{"zero", purchased, func(s *Send) { s.Monetary.Value = "0" }, []string{m + "value"}},
		{"negative", purchased, func(s *Send) { s.Monetary.Value = "-0.01" }, []string{m + "value"}},
		{"too precise", purchased, func(s *Send) { s.Monetary.Value = "25.001" }, []string{m + "value"}},
		{"above the limit", purchased, func(s *Send) { s.Monetary.Value = "10000.01" }, []string{m + "value"}},
		{"absurd", purchased, func(s *Send) { s.Monetary.Value = "1e400" }, []string{m + "value"}},
		{"not a number", purchased, func(s *Send) { s.Monetary.Value = "abc" }, []string{m + "value"}},
		{"no price", purchased, func(s *Send) { s.Monetary.Price = "0" }, []string{m + "pricePaid"}},
		{"price below zero", purchased, func(s *Send) { s.Monetary.Price = "-1" }, []string{m + "pricePaid"}},
		{"price that is too precise", purchased, func(s *Send) { s.Monetary.Price = "1.001" }, []string{m + "pricePaid"}},
		{"price above the value", purchased, func(s *Send) { s.Monetary.Value, s.Monetary.Price = "25", "25.01" },
			[]string{m + "pricePaid"}},
		{"price beside no value", purchased, func(s *Send) { s.Monetary.Value, s.Monetary.Price = "", "25.01" },
			[]string{m + "value"}},
		{"price of a promotional gift", promoted, func(s *Send) { s.Item.EquivalentValue, s.Item.Price = "5", "1" },
			[]string{it + "pricePaid"}},
		{"price above the equivalent value", anItem, func(s *Send) { s.Item.EquivalentValue, s.Item.Price = "5", "5.01" },
			[]string{it + "pricePaid"}},
		{"price without an equivalent value", anItem, func(s *Send) { s.Item.EquivalentValue, s.Item.Price = "", "1" },
			[]string{it + "pricePaid"}},
		{"no delivery method", purchased, func(s *Send) { s.Monetary.Recipient.Method = nil },
			[]string{m + "method"}},
		{"delivery method 0", purchased, func(s *Send) { s.Monetary.Recipient.Method = ptr(0) },
			[]string{m + "method"}},
		{"delivery method 4", purchased, func(s *Send) { s.Monetary.Recipient.Method = ptr(4) },
			[]string{m + "method"}},
		{"no contact", purchased, func(s *Send) { s.Monetary.Recipient.Contact = "" }, []string{m + "contact"}},
		{"contact of a printed gift", purchased, func(s *Send) { s.Monetary.Recipient.Method = ptr(3) },
			[]string{m + "contact"}},
		{"address for SMS", purchased, func(s *Send) { s.Monetary.Recipient.Method = ptr(2) },
			[]string{m + "contact"}},
		{"header injection", purchased, func(s *Send) { s.Monetary.Recipient.Contact += "\r\nBcc: x@example.com" },
			[]string{m + "contact"}},
		{"long name", purchased, func(s *Send) { s.Monetary.Recipient.Name = long[:201] },
			[]string{m + "recipient"}},
		{"name with a control character", purchased, func(s *Send) { s.Monetary.Recipient.Name = "a\tb" },
			[]string{m + "recipient"}},
		{"long message", purchased, func(s *Send) { s.Monetary.Recipient.Message = long[:1001] }, []string{m + "message"}},
		{"NUL in a message", purchased, func(s *Send) { s.Monetary.Recipient.Message = "a\x00" }, []string{m + "message"}},
		{"long sender", purchased, func(s *Send) { s.Sender = long[:201] }, []string{"sender"}},
		{"long sender of the gift", purchased, func(s *Send) { s.Monetary.Sender = long[:201] },
			[]string{m + "sender"}},
		{"no label", promoted, func(s *Send) { s.Item.Label = "" }, []string{it + "label"}},
		{"blank label", promoted, func(s *Send) { s.Item.Label = " \u3000" }, []string{it + "label"}},
		{"long label", promoted, func(s *Send) { s.Item.Label = long[:201] }, []string{it + "label"}},
		{"long terms", promoted, func(s *Send) { s.Item.Terms = long[:4001] }, []string{it + "terms"}},
		{"no quantity", promoted, func(s *Send) { s.Item.Quantity = "" }, []string{it + "quantity"}},
		{"quantity 0", promoted, func(s *Send) { s.Item.Quantity = "0" }, []string{it + "quantity"}},
		{"half a piece", promoted, func(s *Send) { s.Item.Quantity = "1.5" }, []string{it + "quantity"}},
		{"too many pieces", promoted, func(s *Send) { s.Item.Quantity = "10001" }, []string{it + "quantity"}},
		{"equivalent value", promoted, func(s *Send) { s.Item.EquivalentValue = "1.001" }, []string{it + "equivalentValue"}},
		{"no payment method", purchased, func(s *Send) { s.PaymentMethodID = nil }, []string{"paymentMethod"}},
		{"payment method 3", purchased, func(s *Send) { s.PaymentMethodID = ptr(3) }, []string{"paymentMethod"}},
		{"no reference", purchased, func(s *Send) { s.Payment.Purchase.Reference = "" },
			[]string{"reference"}},
		{"blank reference", purchased, func(s *Send) { s.Payment.Purchase.Reference = " " },
			[]string{"reference"}},
		{"long reference", purchased, func(s *Send) { s.Payment.Purchase.Reference = long[:201] },
			[]string{"reference"}},
		{"no first name", purchased, func(s *Send) { s.Payment.Purchase.FirstName = "" },
			[]string{"firstName"}},
		{"long first name", purchased, func(s *Send) { s.Payment.Purchase.FirstName = long[:201] },
			[]string{"firstName"}},
		{"no last name", purchased, func(s *Send) { s.Payment.Purchase.LastName = "" },
			[]string{"lastName"}},
		{"tab in the last name", purchased, func(s *Send) { s.Payment.Purchase.LastName = "a\tb" },
			[]string{"lastName"}},
		{"no customer address", purchased, func(s *Send) { s.Payment.Purchase.EmailAddress = "" },
			[]string{"emailAddress"}},
		{"no address", purchased, func(s *Send) { s.Payment.Purchase.EmailAddress = "ada" },
			[]string{"emailAddress"}},
		{"no storefront", purchased, func(s *Send) { s.Payment.Purchase.StorefrontID = guid.ID{} },
			[]string{"storefront"}},
		{"another's storefront", purchased, func(s *Send) { s.Payment.Purchase.StorefrontID = id(99) },
			[]string{"storefront"}},
		{"promotion of a purchase", purchased, func(s *Send) {
			s.Payment.PromotionID, s.Payment.ValidStarting, s.Payment.ValidForDays, s.Payment.PromotionalTerms = spring, now,
				ptr(0), "x"
		}, []string{"promotion", "promotionalTerms", "validForDays", "validStarting"}},
		{"purchase of a promotion", promoted, func(s *Send) { s.Payment.Purchase = purchased(a).Payment.Purchase },
			[]string{"storefront", "emailAddress", "firstName",
				"lastName", "reference"}},
		{"no promotion", promoted, func(s *Send) { s.Payment.PromotionID, s.Payment.ValidForDays = guid.ID{}, ptr(0) },
			[]string{"promotion", "validForDays"}},
		{"another's promotion", promoted, func(s *Send) { s.Payment.PromotionID, s.Payment.ValidForDays = id(99), ptr(3651) },
			[]string{"promotion", "validForDays"}},
		{"neither says", promoted, func(s *Send) { s.Payment.PromotionID = bare }, []string{"promotionalTerms",
			"validForDays", "validStarting"}},
		{"0 days", promoted, func(s *Send) { s.Payment.ValidForDays = ptr(0) }, []string{"validForDays"}},
		{"-1 days", promoted, func(s *Send) { s.Payment.ValidForDays = ptr(-1) }, []string{"validForDays"}},
		{"too many days", promoted, func(s *Send) { s.Payment.ValidForDays = ptr(3651) }, []string{"validForDays"}},
		{"beyond the calendar", promoted, func(s *Send) {
			s.Payment.ValidStarting = time.Date(9999, 12, 1, 0, 0, 0, 0,
				time.UTC)
		}, []string{"validStarting"}},
		{"long promotional terms", promoted, func(s *Send) { s.Payment.PromotionalTerms = long[:4001] },
			[]string{"promotionalTerms"}},
		{"another's location", purchased, func(s *Send) { s.Monetary.LocationID = id(99) }, []string{m + "location"}},
		{"another's design", purchased, func(s *Send) { s.Monetary.DesignID = id(99) }, []string{m + "design"}},
		{"scheduled for when", purchased, func(s *Send) { s.Monetary.Scheduled = ptr(true) }, []string{m + "deliveryDate"}},
		{"scheduled or not", purchased, func(s *Send) { s.Monetary.DeliveryDate = now },
			[]string{m + "scheduled"}},
		{"scheduled in the past", purchased, func(s *Send) {
			s.Monetary.Scheduled, s.Monetary.DeliveryDate = ptr(true), now.Add(-5*time.Minute-1)
		}, []string{m + "deliveryDate"}},
		{"scheduled too far", purchased, func(s *Send) {
			s.Monetary.Scheduled, s.Monetary.DeliveryDate = ptr(true), now.AddDate(5, 0, 0).Add(1)
		}, []string{m + "deliveryDate"}},
		{"unknown program among other problems", purchased, func(s *Send) {
			s.Monetary.Value, s.Monetary.ProgramID = "0",
				id(99)
		}, []string{m + "program", m + "value"}},
		{"no subscription among other problems", purchased, func(s *Send) {
			s.Notes, s.Monetary.ProgramID = long,
				merchant.DistributionProgram.ID
		}, []string{m + "program", "notes"}},
		{"key not enabled among other problems", purchased, func(s *Send) {
			s.Notes, s.Caller.Locations, s.Monetary.LocationID = long, []guid.ID{kiosk}, shop
		}, []string{m + "location", "notes"}},
		{"a program that depends on the payment", purchased, func(s *Send) { s.PaymentMethodID, s.Notes = ptr(5), long },
			[]string{"notes", "paymentMethod"}},
		{"blank promotional terms", promoted, func(s *Send) {
			s.Payment.PromotionID, s.Payment.PromotionalTerms = bare,
				"\n "
		}, []string{"promotionalTerms", "validForDays", "validStarting"}},
		{"long notes", purchased, func(s *Send) { s.Notes = long[:1001] }, []string{"notes"}},
		{"long related order", purchased, func(s *Send) { s.RelatedOrderID, s.RelatedOrderNumber = long[:201], "a\x1b" },
			[]string{"relatedOrder", "relatedOrderNumber"}},
		{"empty recipients", several, func(s *Send) { s.Recipients = []Recipient{} }, []string{"recipients"}},
		{"too many recipients", several, func(s *Send) { s.Recipients = make([]Recipient, 1001) }, []string{"recipients"}},
		{"both forms", several, func(s *Send) { s.Monetary.Recipient = purchased(a).Monetary.Recipient },
			[]string{m + "message", m + "contact", m + "recipient"}},
		{"recipients' own", several, func(s *Send) {
			s.Recipients[0].Contact, s.Recipients[1].Method, s.Recipients[2].Contact, s.Recipients[2].Message = "", ptr(9), "x",
				"\x00"
		}, []string{"recipients[0].contact", "recipients[1].method", "recipients[2].message",
			"recipients[2].contact"}},
		{"no method anywhere", several, func(s *Send) { s.Monetary.Recipient.Method = nil },
			[]string{"recipients[0].method"}},
		{"a method of the gift that nobody inherits", several, func(s *Send) {
			s.Monetary.Recipient.Method, s.Recipients[0].Method = ptr(7), ptr(1)
		}, []string{m + "method"}},
		{"a method of the gift that one inherits", several, func(s *Send) { s.Monetary.Recipient.Method = ptr(7) },
			[]string{m + "method"}},
		{"recipients, but no gift", several, func(s *Send) { s.Monetary = nil }, []string{""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tt.base(a)
			tt.spoil(&s)
			gifts, err := Issue(s, a, now, nil)
			if gifts != nil || codeOf(t, err) != refusal.ValidationFailure ||
				!slices.Equal(problemsOf(err), slices.Sorted(slices.Values(tt.want))) {
				t.Errorf("got %v at %q, want problems at %q", err, problemsOf(err), tt.want)
			}
			for _, m := range err.(*refusal.Error).Messages {
				if !strings.HasSuffix(m.Text(inOurWords), ".") || strings.Contains(m.Text(inOurWords), "%!") {
					t.Errorf("%q is no sentence", m.Text(inOurWords))
				}
			}
		})
	}
}

func TestIssueTellsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	gifts, err := Issue(Send{
		Caller: &merchant.Caller{Kind: merchant.AccountKey, Account: a},
		Item: &Definition{Quantity: "0", EquivalentValue: "-1", Terms: "\x00", LocationID: id(99), DesignID: id(98),
			Scheduled: ptr(true), Sender: "\x1b",
			Recipient: Recipient{Method: ptr(5), Name: "x"}},
		Recipients:      []Recipient{{}, {Method: ptr(2), Contact: "911"}},
		PaymentMethodID: ptr(4),
		Payment:         Payment{ValidForDays: ptr(0), Purchase: gift.Purchase{Reference: "T-1"}},
		Notes:           "\x07", Sender: strings.Repeat("x", 201),
	}, a, now, nil)
	want := []string{
		"reference", "item.deliveryDate", "item.method",
		"item.equivalentValue", "item.label",
		"item.location", "item.quantity", "item.recipient", "item.sender",
		"item.terms",
		"item.design", "notes", "promotion", "recipients[1].contact", "sender",
		"validForDays",
	}
	if gifts != nil || !slices.Equal(problemsOf(err), slices.Sorted(slices.Values(want))) {
		t.Errorf("got %q\nwant %q", problemsOf(err), want)
	}
}

// TestIssueKeepsDecodersProblems states that what could not be read is told once, and nothing that follows from it.
func TestIssueKeepsDecodersProblems(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	for _, tt := range []struct {
		path  string
		spoil func(*Send)
	}{
		{"monetary", func(s *Send) { s.Monetary = nil }},
		{"item", func(s *Send) { s.Monetary = nil }},
		{"monetary.value", func(s *Send) { s.Monetary.Value = "" }},
		{"monetary.method", func(s *Send) { s.Monetary.Recipient.Method = nil }},
		{"monetary.contact", func(s *Send) { s.Monetary.Recipient.Contact = "" }},
		{"paymentMethod", func(s *Send) { s.PaymentMethodID = nil }},
		{"storefront", func(s *Send) { s.Payment.Purchase.StorefrontID = guid.ID{} }},
		{"recipients", func(s *Send) { s.Monetary.Recipient = Recipient{} }},
		{"recipients[1]", func(s *Send) {
			s.Monetary.Recipient = Recipient{}
			s.Recipients = []Recipient{{Method: ptr(3)}, {}}
		}},
		{"monetary.method", func(s *Send) {
			s.Monetary.Recipient = Recipient{}
			s.Recipients = []Recipient{{Contact: "a@example.com"}}
		}},
	} {
		s := purchased(a)
		tt.spoil(&s)
		unread := func(f refusal.Field) bool { return string(f) == tt.path }
		if gifts, err := Issue(s, a, now, unread); gifts != nil || err != nil {
			t.Errorf("%s: got %v, %v", tt.path, gifts, err)
		}
		if _, err := Issue(s, a, now, nil); err == nil {
			t.Errorf("%s: it could have been left out", tt.path)
		}
	}
}

func TestIssueRefusals(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	for _, tt := range []struct {
		name  string
		base  func(*merchant.Account) Send
		spoil func(*Send)
		code  refusal.Code
		path  string
	}{
		{"unknown program", purchased, func(s *Send) { s.Monetary.ProgramID = id(99) }, refusal.MissingOrInvalidGiftProgram,
			"monetary.program"},
		{"no subscription", purchased, func(s *Send) { s.Monetary.ProgramID = merchant.DistributionProgram.ID },
			refusal.NotSupported,
			"monetary.program"},
		{"program at some locations, none named", promoted, func(s *Send) { s.Item.LocationID = guid.ID{} },
			refusal.NotSupported,
			"item.location"},
		{"program at some locations, not this", promoted, func(s *Send) { s.Item.LocationID = kiosk }, refusal.NotSupported,
			"item.location"},
		{"key not enabled there, and another program", purchased, func(s *Send) {
			s.Caller.Locations, s.Monetary.LocationID, s.Monetary.ProgramID = []guid.ID{kiosk}, shop, id(99)
		}, refusal.NotAuthorized, "monetary.location"},
		{"program that a system key does not send in", purchased, func(s *Send) {
			s.Caller = &merchant.Caller{Kind: merchant.SystemKey, Programs: []guid.ID{merchant.DistributionProgram.ID}}
		}, refusal.NotAuthorized, "monetary.program"},
		{"key of one location, none named", purchased, func(s *Send) {
			s.Caller.Locations, s.Monetary.LocationID = []guid.ID{shop},
				guid.ID{}
		}, refusal.ValidationFailure,
			"monetary.location"},
		{"key not enabled there", purchased, func(s *Send) {
			s.Caller.Locations, s.Monetary.LocationID = []guid.ID{kiosk},
				shop
		},
			refusal.NotAuthorized, "monetary.location"},
	} {
		s := tt.base(a)
		tt.spoil(&s)
		if gifts, err := Issue(s, a, now, nil); gifts != nil || codeOf(t, err) != tt.code ||
			problemsOf(err)[0] != tt.path {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.code)
		}
	}
}

func TestIssueMakesGifts(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	gifts, err := Issue(several(a), a, now, nil)
	if err != nil || len(gifts) != 3 {
		t.Fatalf("got %d gifts, %v", len(gifts), err)
	}
	for n, want := range []struct {
		method  contact.Method
		contact string
		status  gift.Status
	}{{contact.Email, "a@example.com", gift.Pending}, {contact.SMS, "+14155550132", gift.Pending}, {contact.Printed, "",
		gift.Delivered}} {
		g, e := gifts[n].Begin(gift.Context{EntryID: id(8), Now: now})
		c := g.Card
		if c.Method != want.method || c.Contact != want.contact || c.RecipientIndex != n || g.Status != want.status ||
			e.Status != want.status ||
			g.Funded != 2550 || g.Balance != 2550 || g.Currency != usd || g.Item || g.Promotional ||
			g.ProgramID != merchant.BusinessProgram.ID ||
			g.AccountID != a.ID || !g.LocationID.IsZero() || !g.ValidFrom.IsZero() || !g.ValidUntil.IsZero() ||
			!g.CreatedAt.Equal(now) ||
			c.Sender != "Ada Lovelace" || c.DesignID != blue || c.DeliveryZone != "America/New_York" ||
			c.Purchase.Reference != "T-1" {
			t.Errorf("gift %d: %+v", n, g)
		}
	}

	s := promoted(a)
	s.Item.EquivalentValue, s.Item.Terms, s.Notes = "9", "Any size.", "thanks"
	gifts, err = Issue(s, a, now, nil)
	if err != nil || len(gifts) != 1 {
		t.Fatalf("got %d gifts, %v", len(gifts), err)
	}
	g, c := gifts[0].Voucher, gifts[0].Card
	if g.Funded != 2 || !g.Item || !g.Promotional || g.PromotionID != spring ||
		g.ProgramID != merchant.PromotionalProgram.ID ||
		g.LocationID != shop ||
		// an hour less: daylight saving began
		!g.ValidFrom.Equal(now) || !g.ValidUntil.Equal(time.Date(2027, 3, 21, 11, 0, 0, 0, time.UTC)) ||
		c.EquivalentValue != 900 || c.Terms != "Any size." || c.PromotionalTerms != "One per guest." ||
		c.Sender != "Harbor Coffee" || c.DesignID != green ||
		c.Notes != "thanks" || g.Unit() != money.Pieces {
		t.Errorf("%+v", gifts[0])
	}
}

func TestIssuePrecedence(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	issue := func(spoil func(*Send)) gift.Gift {
		s := promoted(a)
		spoil(&s)
		gifts, err := Issue(s, a, now, nil)
		if err != nil {
			t.Fatal(err)
		}
		return gifts[0]
	}
	if g := issue(func(s *Send) { s.Sender, s.Item.Sender = "top", "gift" }); g.Card.Sender != "top" {
		t.Errorf("sender %q", g.Card.Sender)
	}
	if g := issue(func(s *Send) { s.Sender, s.Item.Sender = " ", "gift" }); g.Card.Sender != "gift" {
		t.Errorf("sender %q", g.Card.Sender)
	}
	if g := issue(func(s *Send) { s.Item.DesignID = blue }); g.Card.DesignID != blue {
		t.Errorf("design %s", g.Card.DesignID)
	}
	g := issue(func(s *Send) {
		s.Payment.ValidStarting, s.Payment.ValidForDays, s.Payment.PromotionalTerms = now.Add(time.Hour), ptr(1), "Mine."
	})
	if !g.ValidFrom.Equal(now.Add(time.Hour)) || !g.ValidUntil.Equal(now.Add(25*time.Hour)) ||
		g.Card.PromotionalTerms != "Mine." {
		t.Errorf("%+v", g)
	}
	g = issue(func(s *Send) {
		s.Item.Scheduled, s.Item.DeliveryDate, s.Item.DeliveryZone = ptr(true), now.Add(-5*time.Minute), "Europe/Paris"
	})
	if !g.Card.Scheduled || !g.Card.DeliveryDate.Equal(now.Add(-5*time.Minute)) || g.Card.DeliveryZone != "Europe/Paris" {
		t.Errorf("%+v", g.Card)
	}
	if g = issue(func(s *Send) {
		s.Item.Scheduled, s.Item.DeliveryDate = ptr(false),
			now.AddDate(9, 0, 0)
	}); g.Card.Scheduled || !g.Card.DeliveryDate.IsZero() {
		t.Errorf("a date that is ignored: %+v", g.Card)
	}
	// A promotional payment in a purchase program: the type follows the payment.
	g = issue(func(s *Send) { s.Item.ProgramID, s.Item.LocationID = merchant.BusinessProgram.ID, guid.ID{} })
	if !g.Promotional || g.ProgramID != merchant.BusinessProgram.ID {
		t.Errorf("%+v", g)
	}
	// A system key is enabled everywhere.
	if g = issue(func(s *Send) {
		s.Caller = &merchant.Caller{Kind: merchant.SystemKey,
			Programs: []guid.ID{merchant.PromotionalProgram.ID}}
	}); g.AccountID != a.ID {
		t.Errorf("%+v", g)
	}
}

func TestIssueLimits(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	s := several(a)
	s.Monetary.Value = "10000"
	s.Recipients = nil
	for n := range gift.MaxRecipients {
		s.Recipients = append(s.Recipients, Recipient{Contact: fmt.Sprintf("a%d@example.com", n)})
	}
	if gifts, err := Issue(s, a, now, nil); err != nil || len(gifts) != gift.MaxRecipients {
		t.Errorf("the most recipients: %d gifts, %v", len(gifts), err)
	}
	for n := range s.Recipients {
		s.Recipients[n] = Recipient{Method: ptr(2), Name: "\x00", Message: "\x00", Contact: "x"}
	}
	if _, err := Issue(s, a, now, nil); len(problemsOf(err)) != 3*gift.MaxRecipients {
		t.Errorf("%d problems are told of %d", len(problemsOf(err)), 3*gift.MaxRecipients)
	}
	p := promoted(a)
	p.Item.Quantity, p.Payment.ValidForDays, p.Payment.ValidStarting = "10000", ptr(gift.MaxValidForDays),
		time.Date(9989, 12, 1, 0, 0, 0, 0, time.UTC)
	if _, err := Issue(p, a, now, nil); err != nil {
		t.Error(err)
	}
	a.Currency = jpy
	s = purchased(a)
	s.Monetary.Value = "1.5"
	if _, err := Issue(s, a, now, nil); err == nil || !strings.Contains(err.Error(),
		"An amount in JPY has no decimals.") {
		t.Errorf("yen: %v", err)
	}
}

// TestPromotionalTermsInLanguages: each gift of an order has the promotion's terms in its recipient's language, and
// those that the request gives in the one that they are in.
func TestPromotionalTermsInLanguages(t *testing.T) {
	t.Parallel()
	a := harborCoffee(t)
	a.Language = merchant.French
	p := a.Promotion(spring)
	p.Terms, p.TermsIn = "Une fois.", merchant.Translations{merchant.English: "Once.", merchant.German: "Einmal."}
	s := promoted(a)
	s.Recipients = []Recipient{{}, {Language: "de-AT"}, {Language: "en"}, {Language: "fr-CA"}, {Language: "ja"},
		{Language: "pt-BR"}}
	want := []string{"Une fois.", "Einmal.", "Once.", "Une fois.", "Une fois.", "Une fois."}
	gifts, err := Issue(s, a, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n, g := range gifts {
		if g.Card.PromotionalTerms != want[n] || g.Card.Language != s.Recipients[n].Language {
			t.Errorf("%q: %q, %q, want %q", s.Recipients[n].Language, g.Card.Language, g.Card.PromotionalTerms, want[n])
		}
	}
	s.Item.Recipient.Language, s.Payment.PromotionalTerms = "de", "Only today."
	if gifts, err = Issue(s, a, now, nil); err != nil {
		t.Fatal(err)
	}
	for n, g := range gifts {
		if g.Card.PromotionalTerms != "Only today." {
			t.Errorf("gift %d has the terms %q", n, g.Card.PromotionalTerms)
		}
	}
	if first := gifts[0].Card.Language; first != "de" || gifts[1].Card.Language != "de-AT" {
		t.Errorf("the languages are %q, %q; a recipient's own wins", first, gifts[1].Card.Language)
	}
}
