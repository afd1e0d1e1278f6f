package till

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"boon.example/test/axe"
	"boon.example/test/rig"
)

// TestStaffComeIn: an invitation, a passkey, signing out, and in again with the passkey alone; a device that does not
// verify who holds it lets nobody in. Each page is looked at in both themes, from a phone's width on.
func TestStaffComeIn(t *testing.T) {
	t.Parallel()
	address, err := rig.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	public := "http://localhost:" + port // passkeys are of a host with a name
	s := openShopAt(t, address, "--public-url", public)
	if s == nil {
		return
	}
	out, err := s.Installation.Run("staff", "invite", "--email", "ann@example.com", "--name", "Ann", "--public-url",
		public)
	if err != nil {
		t.Fatal(err, out)
	}
	at := strings.Index(out, public)
	if at < 0 {
		t.Fatalf("there is no link in %s", out)
	}
	d := newDevice(t, public)
	authenticator := d.authenticator()
	d.open(strings.TrimPrefix(strings.Fields(out[at:])[0], public))
	d.shows("h1", "You are invited")
	d.console("console-invitation")
	d.tap("main button")
	d.shows("h1", "Today")
	s.staffWorks(d)
	d.open("/console/" + account + "/you")
	d.shows("h1", "Your access")
	d.shows(".note", "by the invitation only")
	d.console("console-you")
	d.tap(`form[data-passkey="create"] button`)
	d.until("the passkey is not listed", `document.querySelectorAll('[action="you/passkey/remove"]').length === 1`)
	d.console("console-passkey")
	d.open("/console/" + account + "/staff")
	d.shows("h1", "Staff")
	d.console("console-staff")
	d.tap("button.menu")
	d.tap(".who form button")
	d.shows("h1", "Sign in")
	d.console("console-sign-in")
	d.verified(authenticator, false)
	d.tap(`form[data-passkey="get"] button`)
	d.shows("[role=alert]", "was not taken")
	d.verified(authenticator, true)
	d.tap(`form[data-passkey="get"] button`)
	d.shows("h1", "Today")
	d.tap("button.menu")
	d.shows(".who", "Ann")
	d.console("console-menu")
	d.calm()
}

// staffWorks goes through the pages of the console with a gift, as somebody does who has one to mend: it is found by
// its code, blocked, and unblocked by what the page offers.
func (s *shop) staffWorks(d *device) {
	d.Helper()
	gift := s.sell("25")
	home := "/console/" + account + "/"
	d.open(home + "today")
	d.shows("main", "Newest gifts")
	d.console("console-today")
	d.open(home + "send")
	d.console("console-send")
	d.open(home + "reports")
	d.console("console-reports")
	d.open(home + "reports/liability")
	d.console("console-report")
	for _, page := range []string{"imports", "imports/new", "export"} {
		d.open(home + page)
		d.console("console-" + strings.ReplaceAll(page, "/", "-"))
	}
	d.open(home + "tills")
	d.do(chromedp.SendKeys(`[name="name"]`, "Counter 9"))
	d.tap(`form[action="tills/pair"] button`)
	d.shows("[role=status]", "Counter 9 waits for its device")
	d.console("console-tills")
	s.staffMakeStock(d, home)
	s.staffSetUp(d, home)
	s.staffSendToMany(d, home)
	d.open(home + "audit")
	d.shows("main", "Set-up changed")
	d.console("console-audit")
	d.open(home + "gifts")
	d.console("console-gifts")
	d.do(chromedp.SendKeys("#q", gift.VoucherCode))
	d.tap(".search button")
	d.shows("main", "What happened")
	d.console("console-gift")
	d.tap(`.offered a[href$="/transfer"]`)
	d.shows("h1", "Move value to another gift")
	d.console("console-transfer")
	d.tap("main .choices a")
	d.tap(`.offered a[href$="/block"]`)
	d.shows("h1", "Block")
	d.console("console-block")
	d.tap("main form[data-operation] button")
	d.shows("[role=status]", "The gift is blocked.")
	d.tap("[role=status] a")
	d.shows("h1", "Unblock")
	d.tap("main form[data-operation] button")
	d.shows("[role=status]", "The gift can be used again.")
}

// staffMakeStock makes cards that are sold later.
func (s *shop) staffMakeStock(d *device, home string) {
	d.Helper()
	d.open(home + "stock")
	d.shows("main", "No cards are on hand")
	d.do(chromedp.SendKeys(`[name="count"]`, "12"))
	d.tap(`main form[data-operation="create-stock"] button`)
	d.shows("main .lead", "12 of 12 cards are on hand")
	d.console("console-stock-one")
	d.open(home + "stock")
	d.shows("table", "What is paid for it")
	d.console("console-stock")
}

// staffSendToMany uploads a file with a mistake, then without, confirms it, and waits for the gifts.
func (s *shop) staffSendToMany(d *device, home string) {
	d.Helper()
	upload := func(lines string) {
		d.Helper()
		file := filepath.Join(s.TempDir(), "people.csv")
		if err := os.WriteFile(file, []byte("name,contact,value\n"+lines), 0o600); err != nil {
			d.Fatal(err)
		}
		d.open(home + "many")
		d.do(chromedp.SetUploadFiles(`[name="file"]`, []string{file}))
		d.tap(`[name="to"][value="paper"]`) // there is no mail server
		for name, text := range map[string]string{"reference": "R-1", "first": "Carla", "last": "Diaz",
			"email": "carla@example.com"} {
			d.do(chromedp.SetValue(`[name="`+name+`"]`, text))
		}
		d.tap(`main form[data-operation] button`)
	}
	d.open(home + "many")
	d.shows("main", "No list was uploaded")
	d.console("console-many")
	upload(",,25\nBen,,2.5E+01\n")
	d.shows("[role=alert]", "2 problems. Nothing was sent.")
	d.console("console-many-wrong")
	upload("Ana,,25\nBen,,25\nCleo,,50\n")
	d.shows("main .lead", "3 gifts, together worth $100.00, are ready.")
	d.console("console-many-ready")
	d.tap(`form[action$="/confirm"] button`)
	d.shows("[role=status]", "Sent: 3 of 3")
	d.console("console-many-sent")
}

// staffSetUp goes through the set-up as an owner does: a promotion is changed with a mistake, then without by the
// keyboard, and taken back.
func (s *shop) staffSetUp(d *device, home string) {
	d.Helper()
	d.open(home + "setup")
	d.shows("h1", "Set-up")
	d.console("console-setup")
	for _, section := range []string{"business", "promotions/new", "designs/new", "keys/new"} {
		d.open(home + "setup/" + section)
		d.console("console-setup-" + strings.TrimSuffix(section, "/new"))
	}
	d.open(home + "setup/designs/new")
	d.until("a colour that is chosen is not typed, or none is left", `(() => {
		const typed = document.querySelector('[name="accentColor"]'), picker = document.querySelector("input[type=color]");
		if (!picker || typed.value !== "" || picker.name) return false;
		picker.value = "#aa3300";
		picker.dispatchEvent(new Event("input"));
		if (typed.value !== "#aa3300") return false;
		typed.value = "";
		return true;
	})()`)
	d.open(home + "setup/promotions")
	d.console("console-setup-list")
	d.tap("tbody a")
	d.do(chromedp.SetValue(`[name="validForDays"]`, "0"))
	d.tap(`main form .row button[value="save"]`)
	d.shows(".wrong", "a whole number of days from 1 to 3650.")
	d.console("console-setup-wrong")
	d.do(chromedp.SetValue(`[name="validForDays"]`, "45"), chromedp.SendKeys(`[name="validForDays"]`, "\r"))
	d.shows("[role=status]", "now 45")
	d.console("console-setup-saved")
	d.tap(`main button[value="undo"]`)
	d.shows("[role=status]", "no longer 45")
}

// authenticator gives the browser one that keeps passkeys and verifies who holds it.
func (d *device) authenticator() (id webauthn.AuthenticatorID) {
	d.Helper()
	d.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		made, err := cdp.Call(ctx, target, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
			Options: &webauthn.VirtualAuthenticatorOptions{Protocol: "ctap2", Ctap2version: "ctap2_1", Transport: "internal",
				HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}})
		id = made.AuthenticatorID
		return err
	}))
	return id
}

// verified says whether the authenticator finds that the right person holds it.
func (d *device) verified(id webauthn.AuthenticatorID, is bool) {
	d.Helper()
	d.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, webauthn.SetUserVerified,
			webauthn.SetUserVerifiedParams{AuthenticatorID: id, IsUserVerified: is})
		return err
	}))
}

// shifts are how far a page has moved what somebody may just be reading (Layout Instability, W3C): 0 is nothing, 1 is
// all of the screen by all of its height. A page that comes in pieces is drawn in pieces: what is drawn so far makes
// room for what arrives.
type shifts struct {
	Arriving float64  // while it arrived
	Moved    []string // what moved after that
}

const readShifts = `new Promise((done) => {
	const arrived = performance.getEntriesByType("navigation")[0].domInteractive;
	const all = { Arriving: 0, Moved: [] };
	const seen = new PerformanceObserver((list) => {
		for (const e of list.getEntries()) {
			if (e.hadRecentInput) continue;
			if (e.startTime < arrived) all.Arriving += e.value;
			else all.Moved.push(e.value.toFixed(4) + " " + e.sources.map((s) => s.node?.parentElement?.outerHTML.slice(0, 80)));
		}
	});
	seen.observe({ type: "layout-shift", buffered: true });
	setTimeout(() => done(all), 100);
})`

// goodShift is what readers hardly notice (Web Vitals, Cumulative Layout Shift).
const goodShift = 0.1

// console looks at a page of the console: nothing has moved since it has arrived, and hardly anything before; axe-core
// finds nothing, and nothing is wider than the screen.
func (d *device) console(name string) {
	d.Helper()
	if s := js[shifts](d, readShifts); s.Arriving > goodShift || len(s.Moved) > 0 {
		d.Errorf("%s: the page moved by %.3f while it arrived, and then by %q", name, s.Arriving, s.Moved)
	}
	if js[bool](d, `typeof axe !== "object"`) {
		js[*string](d, axe.Load)
	}
	for _, at := range []struct {
		theme string
		width int64
		run   string
	}{{"light", 375, axe.Run}, {"light", 768, axe.Run}, {"light", 1280, axe.Run}, {"dark", 375, axe.Colours},
		{"dark", 768, axe.Colours}, {"dark", 1280, axe.Colours}} {
		d.look(at.theme, at.width, 800)
		for _, complaint := range js[[]string](d, at.run) {
			d.Errorf("%s, %s, %d: %s", name, at.theme, at.width, complaint)
		}
		if js[bool](d, "document.documentElement.scrollWidth > innerWidth") {
			d.Errorf("%s, %d: the page scrolls sideways", name, at.width)
		}
		if js[bool](d, `innerWidth < 768 && [...document.querySelectorAll(".scroll")].some((e) => e.scrollWidth > e.clientWidth)`) {
			d.Errorf("%s, %d: a table scrolls sideways", name, at.width)
		}
		d.picture(fmt.Sprintf("%s-%s-%d", name, at.theme, at.width))
	}
	d.look("light", 375, 667)
}
