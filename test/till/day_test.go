package till

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"boon.example/client"
)

// TestDay is a day at a counter: gifts are scanned off a camera, typed, pasted and read by a hand scanner; taken in
// part and as a whole; one is undone; and the day's sums are right.
func TestDay(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	first := s.sell("25.50")
	d := s.pair(ownBrowser(t, s.server.URL, film(t, first.GiftURL), t.TempDir()), "Counter 1")
	d.at("home")
	js[*string](d, `globalThis.felt = [];
		navigator.vibrate = (pattern) => felt.push("buzz " + pattern) > 0;
		const start = OscillatorNode.prototype.start;
		OscillatorNode.prototype.start = function (at) { felt.push(this.frequency.value + " Hz"); start.call(this, at); }; null`)
	d.tapNow(".open-camera")
	d.at("gift") // the camera found it; from here to "taken" two taps are enough
	d.shows(".worth .figure", "$25.50")
	d.tapNow(".all")
	d.tapNow("button.take")
	d.shows("h1", "Taken")
	d.shows(".result .figure", "$25.50")
	d.shows(".result .words", "used up")
	s.holds(first, "0.00")
	d.felt("buzz 30, 880 Hz, buzz 60,40,120, 660 Hz, 990 Hz")
	d.tap(".undo")
	d.shows("h1", "Given back")
	s.holds(first, "25.50")
	// At home the camera opens again, and would see the same gift again in three seconds: it is closed as it opens.
	js[*string](d, `{
		const seen = new MutationObserver(() => {
			const close = document.querySelector(".close-camera");
			if (document.body.dataset.at === "home" && close.checkVisibility()) { seen.disconnect(); close.click(); }
		});
		seen.observe(document.body, {attributes: true, childList: true, subtree: true});
		null
	}`)
	d.tap(".next")
	d.at("home")
	d.until("the camera is open", `document.querySelector(".open-camera").checkVisibility()`)

	// a bill above what the gift is worth
	second := s.sell("12")
	d.scanner(second.GiftURL)
	d.at("gift")
	d.keypad("2050")
	d.shows(".take-side .rest", "Left to pay: $8.50")
	d.shows("button.take", "Take $12.00")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.shows(".result .rest", "Left to pay: $8.50")
	s.holds(second, "0.00")

	// the next guest's is scanned while the last result is still there
	third := s.sell("40")
	d.scanner(third.VoucherCode)
	d.at("gift")
	d.keypad("950")
	d.scanner(first.GiftURL) // another is scanned in the middle of an amount: nothing is taken
	d.shows(".worth .figure", "$25.50")
	d.shows(".entry-figure", "$0.00")
	d.scanner(third.GiftURL)
	d.shows(".worth .figure", "$40.00")
	d.keypad("950")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.shows(".result .words", "$30.50")
	s.holds(third, "30.50")
	s.holds(first, "25.50")
	d.tap(".next")

	d.pasted(s.sell("7"))
	d.pieces(s)
	d.refusals(s, second)
	d.today(s, third)
	d.keepsNoSecret()
	d.calm()
}

// keepsNoSecret looks at what a thief of the phone finds in the browser: no code, no link, no key.
func (d *device) keepsNoSecret() {
	d.Helper()
	kept := js[string](d, `document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`)
	if secret := regexp.MustCompile(`\b\d{12}\b|/g/|boon_`).FindString(kept); secret != "" {
		d.Errorf("%s is kept in the browser: %s", secret, kept)
	}
}

// pasted finds a gift by digits as they are printed, pasted into their field and onto the page.
func (d *device) pasted(g *client.SentGift) {
	d.Helper()
	printed := g.VoucherCode[:4] + " " + g.VoucherCode[4:8] + " " + g.VoucherCode[8:]
	d.tapNow("#digits")
	d.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: printed})
		return err
	}))
	d.at("gift")
	d.shows(".worth .figure", "$7.00")
	d.tap(".back")
	d.at("home")
	js[*string](d, `{ const held = new DataTransfer(); held.setData("text", " `+printed+`\n");
		document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: held, bubbles: true})); null }`)
	d.at("gift")
	d.shows(".worth .figure", "$7.00")
	d.tap(".back")
}

// felt checks what the device was told to sound and buzz.
func (d *device) felt(want string) {
	d.Helper()
	d.until("it sounds and buzzes "+want, fmt.Sprintf(`felt.join(", ") === %q`, want))
}

// pieces takes coffees of a gift that is good for some.
func (d *device) pieces(s *shop) {
	d.Helper()
	sent, err := s.api.SendGift(s.Context(), client.SendGiftRequest{
		ItemGift:          &client.ItemGift{Label: "Flat white", Quantity: 3, DeliveryMethodID: client.Printed},
		SenderDescription: "Ben", PaymentMethodID: client.ExternalTransaction, ExternalPayment: paid(),
	})
	if err != nil {
		d.Fatal(err)
	}
	g := &sent.Gifts[0]
	d.find(g, "3 × Flat white")
	d.keys("\r") // the Enter that ends digits takes nothing
	d.at("gift")
	d.keypad("2")
	d.shows("button.take", "Take 2 pieces")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.shows(".result .words", "1 piece")
	s.holds(g, "1")
	d.tap(".next")
}

// refusals are gifts that are none, or not now.
func (d *device) refusals(s *shop, usedUp *client.SentGift) {
	d.Helper()
	d.find(usedUp, "$0.00")
	d.shows(".reasons", "Nothing is left on it.")
	if d.text("button.take") != "" {
		d.Error("a gift with nothing on it can be taken")
	}
	d.tap(".back")
	d.tap("#digits")
	d.keys("12345678")
	d.until("digits are not grouped as they are printed", `document.querySelector("#digits").value.trim() === "1234 5678"`)
	d.clear()
	d.keys("123456789012")
	d.shows(".home .error", "no gift with this code")
	d.clear()
	d.keys("1234\r")
	d.shows(".home .error", "A gift has 12 digits; these are 4.")
	js[*string](d, `felt = []; null`)
	d.scanner("https://example.com/menu")
	d.felt("buzz 200,80,200, 220 Hz, 180 Hz")
	promise, err := s.api.SendGift(s.Context(), client.SendGiftRequest{
		MonetaryGift:      &client.MonetaryGift{Value: client.MustDecimal("5"), DeliveryMethodID: client.Printed},
		SenderDescription: "Ben", PaymentMethodID: client.Promotional, PromotionID: prefix + "31",
		ValidForDays: 30, ValidStarting: time.Now().AddDate(0, 0, 7),
	})
	if err != nil {
		d.Fatal(err)
	}
	d.clear()
	d.find(&promise.Gifts[0], "$5.00")
	d.shows(".reasons", "It is valid from ")
	d.tap(".back")

	// good for some items only: the cashier says for which
	promise, err = s.api.SendGift(s.Context(), client.SendGiftRequest{
		MonetaryGift:      &client.MonetaryGift{Value: client.MustDecimal("5"), DeliveryMethodID: client.Printed},
		SenderDescription: "Ben", PaymentMethodID: client.Promotional, PromotionID: prefix + "31",
		ValidForDays: 30, ValidStarting: time.Now().AddDate(0, 0, -1),
	})
	if err != nil {
		d.Fatal(err)
	}
	g := &promise.Gifts[0]
	d.find(g, "$5.00")
	d.shows(".good-for", "Good for: Latte, Mocha")
	d.keypad("425")
	if !js[bool](d, `document.querySelector("button.take").disabled`) {
		d.Error("it can be taken before anybody said for what")
	}
	d.tap(".items label:nth-child(2)")
	d.tap("button.take")
	d.shows("h1", "Taken")
	s.holds(g, "0.75")
	d.tap(".next")
}

// today looks at the sums, and undoes an entry of the list.
func (d *device) today(s *shop, third *client.SentGift) {
	d.Helper()
	d.tap(".open-today")
	d.at("today")
	d.shows(".totals", "$25.75") // 12 + 9.50 + 4.25, and 25.50 that was given back
	d.shows(".sums", "Given back")
	d.shows(".entries", "2 pieces")
	d.shows(".entries", "Given back")
	d.tap(`.entries .do button[aria-label*="9.50"]`)
	d.shows("dialog h2", "Give $9.50 back?")
	d.tap("dialog .primary")
	d.shows("h1", "Given back")
	s.holds(third, "40.00")
	d.tap(".next")
	d.at("today")
	d.shows(".totals", "$16.25")
	if d.text(`.entries .do button[aria-label*="9.50"]`) != "" {
		d.Error("what was given back can be given back once more")
	}
	d.dayOnPaper()
	d.tap(".today .back")
	d.at("home")
}

// TestKeyboard: a day without a mouse or a finger.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	g := s.sell("25.50")
	d := s.till("Counter 1", s.server.URL)
	d.at("home")
	d.open("/till")
	d.at("home")
	for n := 0; js[string](d, `document.activeElement.id`) != "digits"; n++ {
		if n > 12 {
			t.Fatal("Tab does not lead to the digits")
		}
		d.keys("\t")
		d.focusShows()
	}
	d.keys(g.VoucherCode)
	d.at("gift")
	d.shows(".worth .figure", "$25.50")
	d.keys("30.5")
	d.shows(".entry-figure", "$30.50")
	d.shows(".take-side .rest", "Left to pay: $5.00")
	d.keys("\b\b\b\b")
	d.keys("450\r")
	d.shows("h1", "Taken")
	d.shows(".result .figure", "$4.50")
	s.holds(g, "21.00")
	time.Sleep(500 * time.Millisecond)
	for _, button := range []string{"receipt", "undo"} { // after "Next guest", which has the focus
		d.keys("\t")
		d.focusShows()
		if got := js[string](d, `document.activeElement.className`); !strings.Contains(got, button) {
			t.Errorf("Tab leads to %q, want %s", got, button)
		}
	}
	d.keys("\r")
	d.shows("h1", "Given back")
	s.holds(g, "25.50")
	time.Sleep(500 * time.Millisecond)
	d.keys("\r")
	d.at("home")
	if n := s.takes(g); n != 1 {
		t.Errorf("taken %d times", n)
	}
	d.calm()
}

// focusShows fails the test where one cannot see what has the focus.
func (d *device) focusShows() {
	d.Helper()
	const style = `(() => { const e = document.activeElement; if (e === document.body) return "body";
		const s = getComputedStyle(e); return s.outlineStyle + " " + parseFloat(s.outlineWidth) + " " + e.outerHTML.slice(0, 60); })()`
	if got := js[string](d, style); got != "body" && !strings.HasPrefix(got, "solid 3") {
		d.Errorf("the focus does not show: %s", got)
	}
}
