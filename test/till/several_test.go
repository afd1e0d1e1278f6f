package till

import (
	"testing"

	"boon.example/client"
)

// TestSeveralCards: three cards pay one bill, in one call, also when the line is bad; the till shows what each paid and
// the sum, and one undo gives all of it back.
func TestSeveralCards(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL)
	first, second, third := s.sell("12"), s.sell("8.50"), s.sell("40")
	d.find(first, "$12.00")
	if d.text(".do-add") != "" {
		t.Error("another card is asked for before anything is left to pay")
	}
	d.keypad("3000")
	d.shows(".take-side .rest", "Left to pay: $18.00")
	d.tap(".do-add")
	d.at("home")
	d.shows(".home .cards", "···· "+first.LastFour+"\n$12.00")
	d.shows(".home .due", "Left to pay: $18.00")
	d.everyWay("another card", func() {})
	d.alone(s)
	d.scanner(first.VoucherCode)
	d.shows(".home .error", "This card already pays for this bill.")
	d.tap(".home .back") // the first card stands there again, with the bill
	d.shows(".worth .figure", "$12.00")
	d.shows(".entry-figure", "$30.00")
	d.tap(".do-add")
	d.scanner(second.VoucherCode)
	d.shows(".worth .figure", "$8.50")
	d.shows(".gift .cards", "$12.00")
	d.shows("button.take", "Take $20.50")
	d.shows(".take-side .rest", "Left to pay: $9.50")
	d.scanner(third.GiftURL) // in a sale, a card that is scanned pays too
	d.shows(".worth .figure", "$40.00")
	d.shows(".gift .cards", "$8.50")
	d.shows("button.take", "Take $30.00")
	d.everyWay("three cards", func() {})

	l.cut.Store(after)
	d.tap("button.take") // it is carried out, and no answer comes
	d.shows("h1", "Not known yet")
	l.cut.Store(whole)
	d.shows("h1", "Taken")
	d.shows(".result .figure", "$30.00")
	d.shows(".result .cards", "···· "+third.LastFour+"\n$9.50\nLeft on the gift: $30.50")
	d.everyWay("three cards taken", func() {})
	s.hold(map[*client.SentGift]string{first: "0.00", second: "0.00", third: "30.50"})
	for _, g := range []*client.SentGift{first, second, third} {
		if n := s.takes(g); n != 1 {
			t.Errorf("taken %d times of a card", n)
		}
	}
	l.cut.Store(after)
	d.tap(".undo")
	d.shows("h1", "Not known yet")
	l.cut.Store(whole)
	d.shows("h1", "Given back")
	d.shows(".result .figure", "$30.00")
	s.hold(map[*client.SentGift]string{first: "12.00", second: "8.50", third: "40.00"})
	d.tap(".next")
	d.keepsNoSecret()
	d.paysOtherwise(s, l, first, second)
	d.lessThanShown(s, first, second)
	d.keepsTheBill(s)
	d.calm()
}

// hold checks what is left of gifts.
func (s *shop) hold(want map[*client.SentGift]string) {
	s.Helper()
	for g, left := range want {
		s.holds(g, left)
	}
}

// alone tries to have a gift of pieces pay beside others.
func (d *device) alone(s *shop) {
	d.Helper()
	sent, err := s.api.SendGift(s.Context(), client.SendGiftRequest{
		ItemGift:          &client.ItemGift{Label: "Flat white", Quantity: 3, DeliveryMethodID: client.Printed},
		SenderDescription: "Ben", PaymentMethodID: client.ExternalTransaction, ExternalPayment: paid(),
	})
	if err != nil {
		d.Fatal(err)
	}
	d.scanner(sent.Gifts[0].VoucherCode)
	d.shows(".home .error", "pays by itself only")
}

// paysOtherwise: the guest of two cards does not want to wait, and nothing is taken of either, even if it was.
func (d *device) paysOtherwise(s *shop, l *line, first, second *client.SentGift) {
	d.Helper()
	for _, cut := range []int32{before, after} {
		d.find(first, "$12.00")
		d.keypad("1500")
		d.tap(".do-add")
		d.scanner(second.VoucherCode)
		d.shows("button.take", "Take $15.00")
		l.cut.Store(cut)
		d.tap("button.take")
		d.shows("h1", "Not known yet")
		d.tap(".stop")
		d.shows(".result .words", "Making sure")
		l.cut.Store(whole)
		d.shows("h1", "Not taken")
		s.hold(map[*client.SentGift]string{first: "12.00", second: "8.50"})
		d.tap(".next")
	}
}

// lessThanShown: meanwhile something was taken of a card elsewhere. The till says what the service took, and what is
// left to pay.
func (d *device) lessThanShown(s *shop, first, second *client.SentGift) {
	d.Helper()
	d.find(first, "$12.00")
	d.keypad("1500")
	d.tap(".do-add")
	d.scanner(second.VoucherCode)
	d.shows("button.take", "Take $15.00")
	if _, err := s.api.RedeemGift(s.Context(), client.RedeemGiftRequest{VoucherID: first.VoucherID, OrganizationID: pier,
		Amount: client.MustDecimal("10")}); err != nil {
		d.Fatal(err)
	}
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.shows(".result .figure", "$10.50")
	d.shows(".result .rest", "Left to pay: $4.50")
	d.tap(".next")
	d.at("home")
	if d.text(".home .sale") != "" {
		d.Error("the next guest is offered the cards of the last")
	}
}

// keepsTheBill: if the cards are refused and looked at again, the bill is what was typed last.
func (d *device) keepsTheBill(s *shop) {
	d.Helper()
	first, second := s.sell("12"), s.sell("8.50")
	d.find(first, "$12.00")
	d.keypad("15")
	d.keypad("00")
	d.tap(".do-add")
	d.scanner(second.VoucherCode)
	d.shows("button.take", "Take $15.00")
	d.keys("\b")
	d.keys("1")
	d.shows("button.take", "Take $15.01")
	if _, err := s.api.BlockGift(s.Context(), client.BlockGiftRequest{VoucherID: first.VoucherID,
		ReasonCode: "LOST"}); err != nil {
		d.Fatal(err)
	}
	d.tap("button.take")
	d.shows("h1", "Not taken")
	d.tap(".look")
	d.shows(".entry-figure", "$15.01")
	s.hold(map[*client.SentGift]string{second: "8.50"})
}
