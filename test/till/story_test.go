package till

import (
	"encoding/csv"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"boon.example/client"
	"boon.example/internal/store/pgtest"
	"boon.example/test/chromium"
	"boon.example/test/rig"
)

// TestADayOfAShop is a day from the first start of an installation on: its owner makes the account and a passkey. The
// rest is in a test account of hers, whose clock can be told that the month is over: she makes a design, and sends a
// gift; the guest opens it from the mail; the till scans it from the guest's phone, and the line is cut while it takes
// something; a manager finds the gift and takes that back; the books of the bookkeeper say so, and once the month is
// over, so do its reports and its journal.
func TestADayOfAShop(t *testing.T) {
	t.Parallel()
	if _, err := chromium.WithCamera(); err != nil {
		t.Log("LEFT OUT: chromium is not installed, so that nobody went through a day")
		return
	}
	s := &story{shop: begun(t, pgtest.Database(t))}
	s.begins()
	owner := s.rehearses()
	s.designs(owner)
	gift := s.sends(owner)
	s.isTaken(gift)
	s.isMended(s.hires(owner, "manager", "Max"))
	bookkeeper := s.hires(owner, "bookkeeper", "Bea")
	s.isBooked(bookkeeper)
	s.isClosed(bookkeeper)
}

// story is a day of a shop.
type story struct {
	*shop
	home, pair string    // the paths of the console and of the link for the till
	month      time.Time // a day in the month of the story, by the clock of the account
}

// rehearsal is an account for tries, as the operator of an installation adds it to a set-up file.
const (
	rehearsalAccount = prefix + "f1"
	rehearsalPier    = prefix + "f2"
	rehearsalKey     = "boon_test_till_story_0123456789abcdefghijkl"
	rehearsal        = `accounts:
  - id: ` + rehearsalAccount + `
    name: Harbor Coffee
    mode: test
    currency: USD
    language: en
    timeZone: America/Los_Angeles
    subscriptions: [{program: ` + gifts + `}]
    locations: [{id: ` + rehearsalPier + `, name: Pier 39}]
    storefronts: [{id: ` + prefix + `f3, name: Web shop}]
    books: {accounts: {liability: "2300", clearing: "1360", promotion: "6600", cash: "1000"}}
    keys: [{name: clock, role: all, secret: ` + rehearsalKey + `}]
`
)

// begun is an installation that nobody has set up yet, over TLS's stand-in: passkeys are of a host with a name.
func begun(t *testing.T, database string) *shop {
	t.Helper()
	binary, err := build()
	if err != nil {
		t.Fatal(err)
	}
	s := &shop{T: t, binary: binary, data: t.TempDir()}
	s.Installation = &rig.Installation{Binary: binary, Flags: []string{"--data", s.data}}
	if database != "" {
		s.Installation.Flags = append(s.Installation.Flags, "--database", database)
	}
	address, err := rig.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if s.server, err = s.Start(address, "--outbox", "--public-url", "http://localhost:"+port); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.server.Kill)
	s.server.URL = "http://localhost:" + port
	return s
}

// typed fills fields of a form in.
func (d *device) typed(fields map[string]string) {
	d.Helper()
	for name, text := range fields {
		d.do(chromedp.SetValue(`main [name="`+name+`"]`, text))
	}
}

// pathIn is the path of a link that a page shows.
func (s *story) pathIn(text string) string {
	s.Helper()
	at := strings.Index(text, s.server.URL+"/")
	if at < 0 {
		s.Fatalf("there is no link in %s", text)
	}
	return strings.TrimPrefix(strings.Fields(text[at:])[0], s.server.URL)
}

// begins makes the account by the link of the first start, and a passkey, which its owner comes in by.
func (s *story) begins() {
	s.Helper()
	link, err := s.server.FirstLink()
	if err != nil {
		s.Fatal(err)
	}
	d := newDevice(s.T, s.server.URL)
	d.authenticator()
	d.open(s.pathIn(link))
	d.typed(map[string]string{"name": "Harbor Coffee", "currency": "USD", "zone": "America/Los_Angeles",
		"location": "Pier 39", "till": "Counter 1", "owner": "Ann", "email": "ann@example.com"})
	d.console("story-first")
	d.tap("main form button")
	d.shows("main code", s.server.URL+"/till/pair#")
	d.console("story-begun")
	d.tap("main a.button")
	d.shows("h1", "Your access")
	d.tap(`form[data-passkey="create"] button`)
	d.until("the passkey is not listed", `document.querySelectorAll('[action="you/passkey/remove"]').length === 1`)
	d.tap("button.menu")
	d.tap(".who form button")
	d.shows("h1", "Sign in")
	d.tap(`form[data-passkey="get"] button`)
	d.shows("h1", "Today")
	d.shows("main", "No gifts yet")
}

// rehearses makes a test account, in which it is the tenth of next month, and has its owner come in.
func (s *story) rehearses() *device {
	s.Helper()
	s.apply(rehearsal)
	var err error
	if s.api, err = client.New(s.server.URL, rehearsalKey); err != nil {
		s.Fatal(err)
	}
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		s.Fatal(err)
	}
	y, m, _ := time.Now().In(zone).Date()
	s.month = time.Date(y, m+1, 10, 9, 0, 0, 0, zone)
	s.itBecomes(s.month)
	s.home = "/console/" + rehearsalAccount + "/"
	s.pair = s.pathIn(s.runs("till", "pair", "--account", rehearsalAccount, "--location", rehearsalPier,
		"--name", "Counter 1"))
	d := newDevice(s.T, s.server.URL)
	d.open(s.pathIn(s.runs("staff", "invite", "--account", rehearsalAccount, "--email", "ann@example.com")))
	d.tap("main button")
	d.shows("h1", "Today")
	return d
}

// runs runs a command that prints a link.
func (s *story) runs(args ...string) string {
	s.Helper()
	out, err := s.Installation.Run(append(args, "--public-url", s.server.URL)...)
	if err != nil {
		s.Fatal(err, out)
	}
	return out
}

// itBecomes has the clock of the account go on to a time, and waits until what is due by then is done.
func (s *story) itBecomes(now time.Time) {
	s.Helper()
	ask, later := client.AdvanceClockRequest{Now: now}, client.AdvanceClockRequest{Advance: "PT0S"}
	for begun := time.Now(); ; ask = later {
		clock, err := s.api.AdvanceClock(s.Context(), ask)
		if err != nil {
			s.Fatal(err)
		}
		if clock.Due == 0 {
			return
		}
		if time.Since(begun) > slow {
			s.Fatalf("%d things are still due", clock.Due)
		}
	}
}

// designs makes the design that gifts have.
func (s *story) designs(d *device) {
	s.Helper()
	d.open(s.home + "setup/designs/new")
	d.typed(map[string]string{"name": "Summer", "accentColor": "#7a1f3d"})
	d.tap(`main form .row button[value="save"]`)
	d.shows("[role=status]", "Summer")
}

// sends sends a gift by e-mail, and gives the path of its page, which stands in the mail.
func (s *story) sends(d *device) (gift string) {
	s.Helper()
	d.open(s.home + "send")
	d.typed(map[string]string{"value": "25", "recipient": "Mia", "sender": "Ben", "message": "Enjoy!",
		"contact": "mia@example.com", "reference": "R-1", "first": "Ben", "last": "Young", "email": "ben@example.com"})
	d.tap(`main form[data-operation="send-gift"] .choices button`)
	d.shows("h1", "Mia")
	var link string
	for begun := time.Now(); link == "" && time.Since(begun) < slow; time.Sleep(100 * time.Millisecond) {
		if mail := regexp.MustCompile(`/outbox/[^"?/]+`).FindString(s.get("/outbox?q=mia")); mail != "" {
			link = regexp.MustCompile(`/g/[A-Za-z0-9_-]+`).FindString(s.get(mail + "/html"))
		}
	}
	if link == "" {
		s.Fatal("the mail has no link")
	}
	guest := newDevice(s.T, s.server.URL)
	guest.open(link)
	guest.shows("main", "$25.00")
	guest.calm()
	return link
}

// get is what stands at an address.
func (s *story) get(path string) string {
	s.Helper()
	answer, err := http.Get(s.server.URL + path)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return string(text)
}

// isTaken has the till scan the gift from the guest's phone and take something of it, while the line is cut.
func (s *story) isTaken(gift string) {
	s.Helper()
	l := newLine(s.T, s.server.URL)
	d := ownBrowser(s.T, l.URL, film(s.T, s.server.URL+gift), s.TempDir())
	d.open(s.pair)
	d.tap("button.pair")
	d.shows("h1", "Paired with TEST Harbor Coffee, Pier 39")
	d.tap("a.open")
	d.at("gift")
	d.shows(".worth .figure", "$25.00")
	d.keypad("450")
	l.cut.Store(after)
	d.tap("button.take")
	d.shows("h1", "Not known yet")
	l.cut.Store(whole)
	d.shows("h1", "Taken")
}

// isPrinted fails the test where the page on paper lacks something, or has what is there to be pressed.
func (s *story) isPrinted(d *device, name string, wanted ...string) {
	s.Helper()
	text := d.printed("story-" + name)
	if text == "" {
		return
	}
	for _, want := range append(wanted, "Harbor Coffee", "4.50") {
		if !strings.Contains(text, want) {
			s.Errorf("%s: %q is not printed:\n%s", name, want, text)
		}
	}
	for _, pressed := range []string{"Search", "Show", "Sign out", "Menu", "Gifts\n", "Download", "All gifts",
		"As a table"} {
		if strings.Contains(text, pressed) {
			s.Errorf("%s: %q is printed:\n%s", name, pressed, text)
		}
	}
}

// hires invites somebody, who comes in with a device of their own.
func (s *story) hires(owner *device, role, name string) *device {
	s.Helper()
	owner.open(s.home + "staff")
	form := `main form[action="staff/invite"]:has([name="email"])`
	for field, text := range map[string]string{"email": strings.ToLower(name) + "@example.com", "name": name,
		"role": role} {
		owner.do(chromedp.SetValue(fmt.Sprintf(`%s [name="%s"]`, form, field), text))
	}
	owner.tap(form + " button")
	owner.shows("[role=status]", s.server.URL+"/console/join/")
	d := newDevice(s.T, s.server.URL)
	d.open(s.pathIn(owner.text("[role=status] code")))
	d.shows("h1", "You are invited")
	d.tap("main button")
	d.shows("h1", "Today")
	return d
}

// isMended has a manager, whom the guest has called, find the gift, see what happened, and take it back.
func (s *story) isMended(d *device) {
	s.Helper()
	d.do(chromedp.SendKeys("#q", "mia"))
	d.tap(".search button")
	d.shows("main", "Mia")
	d.tap("tbody a")
	d.shows("main", "$4.50 redeemed")
	d.shows("main", "Counter 1")
	d.tap(`.offered a[href$="/reverse"]`)
	d.shows("main", "$4.50")
	d.typed(map[string]string{"reason": "was taken twice"})
	d.tap("main form[data-operation] .choices button:not(.quiet)")
	d.shows("[role=status]", "The amount is on the gift again.")
	d.shows(".worth", "$25.00")
	if to := js[int](d, `document.querySelectorAll('nav a[href$="/reports"]').length`); to != 0 {
		s.Error("a manager is led to the reports")
	}
}

// isBooked has a bookkeeper find the day in the books, and nothing to press that moves value.
func (s *story) isBooked(d *device) {
	s.Helper()
	d.open(s.home + "reports/roll-forward")
	for _, amount := range []string{"25.00", "4.50"} {
		d.shows("main table", amount)
	}
	s.isPrinted(d, "roll-forward", s.month.Format("January 2"))
	d.open(s.home + "today")
	d.shows(".stats", "$25.00")
	s.isPrinted(d, "today", "$25.00", "Pier 39")
	d.open(s.home + "gifts")
	d.tap("tbody a")
	d.shows("main", "was taken twice")
	if n := js[int](d, `document.querySelectorAll('.offered a[href$="/reverse"], .offered a[href$="/cancel"]').length`); n != 0 {
		s.Errorf("a bookkeeper is offered %d actions on the gift", n)
	}
}

// isClosed has the month end, a guest use the gift in the next one, and the bookkeeper close the month: the reports and
// the journal have what was done in it, to the cent, and nothing of what came after.
func (s *story) isClosed(d *device) {
	s.Helper()
	s.itBecomes(s.month.AddDate(0, 1, -7)) // the third of the month after
	for g, err := range s.api.Gifts(s.Context(), client.GiftsFilter{}) {
		if err == nil {
			_, err = s.api.RedeemGift(s.Context(), client.RedeemGiftRequest{OrganizationID: rehearsalPier,
				VoucherID: g.VoucherID, Amount: client.MustDecimal("3.00")})
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	d.open(s.home + "reports")
	d.tap(`main a[href$="/reports/roll-forward"]`)
	s.tells(d, map[string]string{"Owed at the start": "25.00", "Redeemed": "-3.00", "Owed at the end": "22.00"})
	d.tap(".filters a") // last month
	s.tells(d, map[string]string{"Owed at the start": "0.00", "Sold or sent": "25.00", "Redeemed": "-4.50",
		"Redemptions given back": "4.50", "Owed at the end": "25.00"})
	d.console("story-closed")
	d.open(s.home + "reports/liability")
	s.tells(d, map[string]string{"USD": "22.00"})
	d.tap(".filters a") // the end of last month
	s.tells(d, map[string]string{"USD": "25.00"})
	d.open(s.home + "reports/journal")
	form := `new URLSearchParams(new FormData(document.querySelector("form.asked")))`
	file := js[string](d, `fetch(document.querySelector("form.asked").action + "?" + `+form+`).then((r) => r.text())`)
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		s.Fatalf("the journal: %v\n%s", err, file)
	}
	day := s.month.Format(time.DateOnly)
	want := [][]string{{"date", "line", "debit", "credit", "amount"}, {day, "ISSUED", "1360", "2300", "25.00"},
		{day, "REDEEMED", "2300", "1360", "4.50"}, {day, "GIVEN_BACK", "1360", "2300", "4.50"}}
	var got [][]string
	for _, r := range rows {
		got = append(got, []string{r[1], r[2], r[4], r[5], r[7]})
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		s.Errorf("the journal of the month that ended has %v, want %v", got, want)
	}
}

// tells waits until a table shows amounts in its rows, in dollars.
func (s *story) tells(d *device, amounts map[string]string) {
	s.Helper()
	for name, amount := range amounts {
		d.until(fmt.Sprintf("%s is not %s", name, amount), fmt.Sprintf(`[...document.querySelectorAll("main tbody tr")]
			.some((r) => r.cells[0].innerText === %q && r.cells[1].innerText === %q)`, name, amount))
	}
}
