package till

import (
	"strings"
	"testing"
)

// TestReceipts: the till shows and prints the receipt of what was just done, and later that of each line of Today, also
// where the page was loaded anew in between. A card that is scanned meanwhile goes into no receipt.
func TestReceipts(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	g := s.sell("25.50")
	d := s.till("Counter 1", s.server.URL)
	d.at("home")
	d.scanner(g.VoucherCode)
	d.shows(".worth .figure", "$25.50")
	d.keypad("1000")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.tap(".result .receipt")
	d.shows(".receipts pre", "$15.50")
	first := d.text(".receipts pre")
	d.everyWay("a receipt", func() {})
	for _, width := range []int64{360, 1280} {
		d.look("light", width, 640)
		d.slipsStand()
	}
	d.look("light", 375, 667)
	d.slipsStand()
	d.picture("the receipt")
	if paper := d.printed("receipt"); paper != "" {
		for _, want := range []string{g.VoucherCode[8:], "$10.00", "$15.50"} {
			if !strings.Contains(paper, want) {
				t.Errorf("%q is not printed:\n%s", want, paper)
			}
		}
		for _, other := range []string{"Undo", "Next guest", "Print", "Close", "English", g.VoucherCode} {
			if strings.Contains(paper, other) {
				t.Errorf("%q is printed:\n%s", other, paper)
			}
		}
		if pages := strings.Count(paper, "\f"); pages != 1 {
			t.Errorf("one receipt is printed on %d pages", pages)
		}
	}
	d.scanner(g.VoucherCode)
	d.shows(".receipts pre", "$15.50")
	d.tap(".receipts .close")
	d.tap(".next")

	d.scanner(g.VoucherCode)
	d.shows(".worth .figure", "$15.50")
	d.tap(".all")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.open("/till")
	d.tap(".open-today")
	d.at("today")
	d.everyWay("today with receipts", func() {})
	d.tap(`.entries .receipt[aria-label*="10.00"]`)
	d.shows(".receipts pre", "$15.50") // what was left then
	if again := d.text(".receipts pre"); again != first {
		t.Errorf("the receipt of today is %q, and it was %q", again, first)
	}
	d.keys("\x1b")
	d.until("the receipt is open still",
		`!document.querySelector("dialog[open]") && document.querySelectorAll(".slips pre").length === 0`)
	d.at("today")
	d.tap(`.entries .do button[aria-label*="15.50"]`)
	d.tap("dialog .primary")
	d.shows("h1", "Given back")
	d.tap(".next")
	d.at("today")
	d.until("what was given back has a receipt", `document.querySelectorAll(".entries .receipt").length === 1`)
	d.keepsNoSecret()
	d.calm()
}
