package till

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"boon.example/client"
	"boon.example/internal/pin"
)

// TestTheTillExplains: a day with something undone fits a small phone in every language; a button that does nothing
// yet says why; who may not undo is told who may; a gift that waits for its day tells that day; the badge tells
// whether the last call was answered; and the shop's name is whole.
func TestTheTillExplains(t *testing.T) {
	t.Parallel()
	s := openShop(t, "--outbox")
	if s == nil {
		return
	}
	hash, err := pin.Hash("4711")
	if err != nil {
		t.Fatal(err)
	}
	s.apply(fmt.Sprintf(setupFile,
		fmt.Sprintf("    people: [{name: Ana, pin: %q, role: desk}, {name: Ben, pin: %[1]q}]\n", hash)))
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL)
	signIn := func(n int) {
		d.Helper()
		d.at("people")
		d.tap(fmt.Sprintf(".names li:nth-child(%d) button", n))
		d.keys("4711\r")
		d.at("home")
	}
	signIn(1)
	g := s.sell("20")
	d.find(g, "$20.00")
	d.shows(".why", "Type the bill, or tap")
	if size := js[string](d, `getComputedStyle(`+visible(".last-four")+`).fontSize`); size != "22px" {
		t.Errorf("the last four digits are %s high", size)
	}
	d.keypad("500")
	if why := d.text(".why"); why != "" {
		t.Errorf("the button is ready, and says %q", why)
	}
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.tap(".undo")
	d.shows("h1", "Given back")
	d.tap(".next")
	for _, language := range []string{"en", "de", "fr", "es", "ja"} {
		d.open("/till?lang=" + language)
		d.at("home")
		d.look("light", 375, 667)
		d.audit(language + " home, 375 wide")
		if cut := js[bool](d, `(() => { const e = `+visible(".merchant")+`; return e.scrollWidth > e.clientWidth; })()`); cut {
			t.Errorf("%s: the shop's name is cut", language)
		}
		d.scanner(g.VoucherCode)
		d.at("gift")
		d.until("nothing says why the button is grey", visible(".why")+`?.textContent !== ""`)
		if bottom := js[float64](d, visible("button.take")+`.getBoundingClientRect().bottom`); bottom > 667 {
			t.Errorf("%s: the button ends at %v of 667", language, bottom)
		}
		d.picture(language + " why")
		d.tap(".open-today")
		d.until("the day is not listed", visible(".today .full")+" !== undefined")
		if cut := js[string](d, `[...document.querySelectorAll(".today .date span")].filter(e => {
			const part = document.createRange(); part.selectNodeContents(e);
			return new Set([...part.getClientRects()].map(b => b.top)).size !== 1; }).map(e => e.textContent).join()`); cut != "" {
			t.Errorf("%s: a line ends within %s", language, cut)
		}
		if n := js[float64](d, `document.querySelectorAll(".today .date span").length`); n != 4 {
			t.Errorf("%s: %v parts of the line are looked at, not 4", language, n)
		}
		d.audit(language + " today with something undone, 375 wide")
		d.picture(language + " undone")
	}
	d.open("/till?lang=en")
	d.at("home")
	d.tap(".open-today")
	d.until("the day is not listed", visible(".today .full")+" !== undefined")
	js[*string](d, `{ const which = document.querySelector(".which"); which.value = "shop"; which.dispatchEvent(new Event("change")); null }`)
	d.shows(".today .date", "All tills of the shop")
	d.shows(".entries", "Counter 1")
	js[*string](d, `{ const day = document.querySelector(".day"); day.value = "2026-01-01"; day.dispatchEvent(new Event("change")); null }`)
	d.shows(".today .empty", "Nothing yet")
	d.tap(".today .back")
	d.tap(".sign-out")
	signIn(2)
	d.find(g, "$20.00")
	d.keypad("100")
	d.tap("button.take")
	d.shows(".result .who", "Can undo it: Ana.")
	d.tap(".next")

	later := s.promised(time.Now().AddDate(0, 0, 40))
	d.scanner(later.VoucherCode)
	d.at("gift")
	d.shows(".reasons", "It is delivered on ")

	l.cut.Store(gone)
	d.scanner(g.VoucherCode)
	d.shows(".offline", "Offline")
	l.cut.Store(whole)
	d.open("/till?lang=en")
	d.at("home")
	d.scanner(g.VoucherCode)
	d.at("gift")
	d.until("the badge is gone", `!document.querySelector(".offline").checkVisibility()`)
	if strings.Contains(d.text("body"), "undefined") {
		t.Error("something undefined is shown")
	}
}

// promised makes a gift that is delivered on a day to come.
func (s *shop) promised(day time.Time) *client.SentGift {
	s.Helper()
	sent, err := s.api.SendGift(s.Context(), client.SendGiftRequest{
		MonetaryGift: &client.MonetaryGift{Value: client.MustDecimal("20"), DeliveryMethodID: client.Email,
			RecipientContact: "ben@example.com", HasScheduledDelivery: true, DeliveryDate: day},
		SenderDescription: "Ben", PaymentMethodID: client.ExternalTransaction, ExternalPayment: paid(),
	})
	if err != nil {
		s.Fatal(err)
	}
	return &sent.Gifts[0]
}
