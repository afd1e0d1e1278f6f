package till

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// staffDevice is a browser in which somebody of the staff came in.
func (s *shop) staffDevice(email string, more ...string) *device {
	s.Helper()
	out, err := s.Installation.Run(append([]string{"staff", "invite", "--email", email, "--public-url", s.server.URL},
		more...)...)
	at := strings.Index(out, s.server.URL)
	if err != nil || at < 0 {
		s.Fatal(err, out)
	}
	d := newDevice(s.T, s.server.URL)
	d.open(strings.TrimPrefix(strings.Fields(out[at:])[0], s.server.URL))
	d.tap("main button")
	d.until("nobody is in", `!!document.querySelector(".who")`)
	return d
}

// scripted waits until the scripts of the page run: its text is there before they are.
func (d *device) scripted() {
	d.Helper()
	d.until("the page has no keys", `document.getElementById("keys-open") && document.readyState === "complete"`)
}

// press presses keys, wherever the focus is.
func (d *device) press(keys string) {
	d.Helper()
	d.scripted()
	d.do(chromedp.KeyEvent(keys))
}

// hasty closes the dialog and presses "?" before the page is drawn without it: the focus is still in the dialog.
const hasty = `(() => {
	const keys = document.getElementById("keys");
	keys.showModal();
	keys.close();
	const at = document.activeElement;
	at.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
	const opened = keys.open;
	keys.close();
	return keys.contains(at) && opened;
})()`

// TestKeys: "/" searches, "?" shows the keys that this person has, "g" and a letter open a page; nothing of that while
// somebody types, in a dialog, or after the keys were switched off.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	d := s.staffDevice("ann@example.com")
	d.look("light", 1280, 800)
	d.open("/console/" + account + "/today")
	const searching = `document.activeElement.id === "q"`
	d.press("/")
	d.until("/ does not search", searching)
	js[*string](d, `document.getElementById("q").value = ""; null`) // chromedp types what a page has taken too
	d.press("?gg/")
	d.until("a field does not take what is typed", `document.getElementById("q").value === "?gg/"`)
	d.until("typing opens the keys", `!document.getElementById("keys").open`)
	js[*string](d, "document.activeElement.blur(); null")
	d.press("?")
	d.shows("#keys", "Staff")
	d.console("console-keys")
	d.look("light", 1280, 800)
	d.press("gr")
	d.shows("h1", "Today")
	d.do(chromedp.KeyEvent("\x1b"))
	d.until("Escape does not close", `!document.getElementById("keys").open`)
	if !js[bool](d, hasty) {
		t.Error("keys do nothing from when the dialog closes until the page is drawn without it")
	}
	d.press("gx")
	d.press("r")
	d.shows("h1", "Today")
	for letter, page := range map[string]string{"r": "Reports", "u": "Set-up", "f": "Staff", "g": "Gifts"} {
		d.press("g" + letter)
		d.shows("h1", page)
	}
	d.scripted()
	d.tap("#keys-open")
	d.tap("#keys input")
	d.tap("#keys form button")
	d.press("gt")
	d.press("?/")
	d.open("/console/" + account + "/gifts") // also on the next page
	d.press("gt")
	d.press("?/")
	d.until("keys that are switched off do something", `!document.getElementById("keys").open && !(`+searching+`)`)
	d.shows("h1", "Gifts")
	d.calm()

	cashier := s.staffDevice("cleo@example.com", "--role", "cashier")
	cashier.look("light", 1280, 800)
	cashier.scripted()
	cashier.tap("#keys-open")
	if keys := cashier.text("#keys"); strings.Contains(keys, "/") || strings.Contains(keys, "Staff") {
		t.Errorf("a cashier is shown keys of pages that are not theirs: %s", keys)
	}
	cashier.calm()
}
