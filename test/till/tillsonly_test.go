package till

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"boon.example/client"
)

// rowOfCards is a file of cards of another system, with numbers in a row.
const rowOfCards = "code,balance\n6006123456789010,50\n6006123456789011,50\n6006123456789012,50\n" +
	"6006123456789013,50\n6006123456789014,50\n6006123456789015,50\n"

// bringRow imports rowOfCards for tills only.
func (s *shop) bringRow() {
	s.Helper()
	s.apply(fmt.Sprintf(setupFile, "    importedCodes: [{digits: 16}]\n"))
	check, err := s.api.ImportGifts(s.Context(), []byte(rowOfCards), client.ImportOptions{TillsOnly: true, ExpectCount: 6,
		ExpectTotal: "300"})
	if err != nil || check.Import == nil {
		s.Fatal(check, err)
	}
	for m := check.Import; m.State != client.ImportFinished; time.Sleep(100 * time.Millisecond) {
		if m, err = s.api.Import(s.Context(), m.ImportID); err != nil {
			s.Fatal(err)
		}
	}
}

// TestNewNumbers: cards that are taken at tills only have new numbers after their first use, also where the line was
// bad. The till shows and prints one slip for each card, the number on it is good, and the device keeps none of them.
func TestNewNumbers(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	s.bringRow()
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL)
	d.at("home")
	d.scanner("6006123456789010")
	d.shows(".worth .figure", "$50.00")
	d.keypad("2000")
	l.cut.Store(after)
	d.tap("button.take")
	d.shows("h1", "Not known yet")
	l.cut.Store(whole)
	d.shows("h1", "Taken")
	d.shows(".new-cards h2", "New number")
	d.shows(".new-cards pre", "$30.00")
	d.everyWay("a new number", func() {})
	slips := d.slips()
	if len(slips) != 1 {
		t.Fatalf("the slips are %q", slips)
	}
	if paper := d.printed("new number"); paper != "" {
		for line := range strings.SplitSeq(slips[0], "\n") {
			if !strings.Contains(paper, strings.Join(strings.Fields(line), " ")) && !strings.Contains(paper, line) {
				t.Errorf("%q is not printed:\n%s", line, paper)
			}
		}
		for _, other := range []string{"Taken", "Undo", "Next guest", "Print", "English"} {
			if strings.Contains(paper, other) {
				t.Errorf("%q is printed:\n%s", other, paper)
			}
		}
		if pages := strings.Count(paper, "\f"); pages != 1 {
			t.Errorf("one slip is printed on %d pages", pages)
		}
	}
	d.look("light", 360, 640)
	d.slipsStand()
	d.look("light", 375, 667)
	d.scanner("6006123456789011") // no view shows the slip again: a scan does not take it away
	d.tap(".next")
	d.keepsNoSecret()
	d.at("home")
	d.open("/till") // who went on too early finds the slip in Today, also after the page was loaded anew
	d.at("home")
	d.tap(".open-today")
	d.at("today")
	d.tap(".entries .receipt")
	d.until("there are not two slips", `document.querySelectorAll(".receipts pre").length === 2`)
	if again := js[string](d, `document.querySelector(".receipts pre:last-child").textContent`); again != slips[0] {
		t.Errorf("the slip of today is %q, and it was %q", again, slips[0])
	}
	d.tap(".receipts .close")
	d.keepsNoSecret()
	d.tap(".today .back")
	d.at("home")
	d.scanner(strings.ReplaceAll(strings.Split(slips[0], "\n")[2], " ", ""))
	d.shows(".worth .figure", "$30.00")
	d.tap(".back")

	d.scanner("6006123456789011") // all of one card, which keeps its number, and a part of another
	d.at("gift")
	d.keypad("8000")
	d.tap(".do-add")
	d.scanner("6006123456789012")
	d.shows("button.take", "Take $80.00")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.shows(".new-cards pre", "$20.00")
	if slips := d.slips(); len(slips) != 1 {
		t.Errorf("the slips are %q", slips)
	}
	d.calm()
}

// slips are those that the till shows.
func (d *device) slips() []string {
	d.Helper()
	return js[[]string](d, `[...document.querySelectorAll(".new-cards pre")].map((slip) => slip.textContent)`)
}

// slipsStand fails the test where a line of a slip is broken.
func (d *device) slipsStand() {
	d.Helper()
	const lines = `[...document.querySelectorAll(".slips pre")].filter((slip) => slip.checkVisibility()).map((slip) => {
		const text = document.createRange();
		text.selectNodeContents(slip);
		return [new Set([...text.getClientRects()].map((line) => line.top)).size, slip.textContent.split("\n").length];
	})`
	for _, of := range js[[][2]int](d, lines) {
		if of[0] != of[1] {
			d.Errorf("a slip of %d lines stands on %d", of[1], of[0])
		}
	}
}
