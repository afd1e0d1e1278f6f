package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	chrome "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"boon.example/client"
	"boon.example/test/axe"
	"boon.example/test/chromium"
)

//go:embed audit.js
var audit string

// reader is a person with a browser before a service. It takes note of what pages ask for and of what the console says.
type reader struct {
	*testing.T
	*world
	*browser

	unscripted bool // pages run no scripts

	mu      sync.Mutex
	asked   []string
	trouble []string
}

// newReader gives nil where there is no browser; `make test` says so then.
func newReader(t *testing.T) *reader {
	t.Helper()
	if _, err := chromium.Find(); err != nil {
		t.Log("LEFT OUT:", err)
		return nil
	}
	w, err := start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, closeBrowser, err := launch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closeBrowser()
		if err := w.stop(); err != nil {
			t.Error(err)
		}
	})
	r := &reader{T: t, world: w, browser: b}
	// as if it were the window in front
	focused := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
	if err := chromedp.Do(b.ctx, focused); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(b.ctx, r.note); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *reader) note(ev any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e := ev.(type) {
	case *network.EventRequestWillBeSent:
		r.asked = append(r.asked, e.Request.URL)
	case *runtime.EventExceptionThrown:
		r.trouble = append(r.trouble, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		r.trouble = append(r.trouble, "console."+string(e.Type))
	case *log.EventEntryAdded:
		// the page of an unknown gift, of a card that was replaced, and of a form that was filled in wrongly
		if !strings.Contains(e.Entry.Text, "404 (Not Found)") && !strings.Contains(e.Entry.Text, "410 (Gone)") &&
			!strings.Contains(e.Entry.Text, "400 (Bad Request)") {
			r.trouble = append(r.trouble, e.Entry.Text)
		}
	}
}

// see opens a page and gives the complaints about it.
func (r *reader) see(path string, l look) []string {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	if err := r.open(ctx, r.url+path, l); err != nil {
		r.Fatal(err)
	}
	return r.judge(ctx, path)
}

// judge gives the complaints about the page that is open.
func (r *reader) judge(ctx context.Context, path string) []string {
	r.Helper()
	complaints, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](audit))
	if err != nil {
		r.Fatalf("looking at %s: %v", path, err)
	}
	if r.unscripted { // axe could not run either
		return complaints
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[*string](axe.Load)); err != nil {
		r.Fatal(err)
	}
	more, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](axe.Run, chromedp.EvalAwaitPromise))
	if err != nil {
		r.Fatalf("axe on %s: %v", path, err)
	}
	return append(complaints, more...)
}

// wordy is a gift with texts as long as the interface allows, in words that do not break by themselves.
func (r *reader) wordy() string {
	r.Helper()
	long := func(n int, word string) string { return strings.Repeat(word, n/len(word)+1)[:n] }
	sent, err := r.api.SendGift(r.ctx, client.SendGiftRequest{
		ItemGift: &client.ItemGift{
			Label: long(200, "Pneumonoultramicroscopic"), Quantity: 10_000,
			Terms: long(4000, "Donaudampfschifffahrtsgesellschaft"), DeliveryMethodID: client.Printed,
			RecipientDescription: long(200, "W"), Message: long(1000, "mmmmmmmmmm"), VoucherDesignID: designs[2].id,
		},
		SenderDescription: long(200, "Mississippi"), PaymentMethodID: client.Promotional, PromotionID: prefix + "31",
		ValidForDays: 30, ValidStarting: time.Now().AddDate(0, 0, -1),
		PromotionalTerms: long(4000, "x"),
	})
	if err != nil {
		r.Fatal(err)
	}
	return strings.TrimPrefix(sent.Gifts[0].GiftURL, publicURL)
}

// TestPages looks at every kind of page on two small phones, in both themes, as a checker of WCAG 2.2 AA would:
// contrast, names, headings, landmarks, targets, focus, reflow. Nothing is asked of another host, and the console stays
// silent. So does axe-core. The short version looks at each page in one theme.
func TestPages(t *testing.T) {
	r := newReader(t) // one browser at a time: each takes a core
	if r == nil {
		return
	}
	if _, err := r.gift(r.ctx, "mail", designs[2].id); err != nil {
		t.Fatal(err)
	}
	mail, err := r.message(r.ctx, "Anna")
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{
		"front": "/", "unknown": "/g/" + strings.Repeat("0", 22), "outbox": "/outbox", "printed": "/outbox?kind=print",
		"nothing": "/outbox?q=zzz", "message": mail,
		"wordy": r.wordy(), "find": myPath, "sent": myPath + "/sent", "over": myPath + "/link/x",
	}
	for i, state := range pageStates {
		g, err := r.gift(r.ctx, state, designs[i%len(designs)].id)
		if err != nil {
			t.Fatal(err)
		}
		paths["gift "+state] = g.path
	}
	for n, name := range slices.Sorted(maps.Keys(paths)) {
		path := paths[name]
		for i, theme := range []string{"light", "dark"} {
			if testing.Short() && i != n%2 {
				continue
			}
			for _, complaint := range r.see(path, look{theme, []int64{320, phone}[i], 1}) {
				t.Errorf("%s, %s: %s", name, theme, complaint)
			}
		}
	}
	for i, theme := range []string{"light", "dark"} {
		for _, complaint := range r.wrong(look{theme, []int64{320, phone}[i], 1}) {
			t.Errorf("wrong, %s: %s", theme, complaint)
		}
	}
	r.grey(paths)
	if len(r.asked) < len(paths) {
		t.Errorf("only %d requests were seen", len(r.asked))
	}
	r.quiet()
}

// grey fails the test where a card that nothing can be paid with looks as bright as one that is good, in either theme.
func (r *reader) grey(paths map[string]string) {
	r.Helper()
	const ground = `getComputedStyle(document.querySelector(".card")).backgroundColor`
	for _, theme := range []string{"light", "dark"} {
		colours := map[string]string{}
		for _, state := range []string{"ready", "expired", "redeemed", "cancelled", "blocked", "unsold"} {
			path := paths["gift "+state]
			if path == "" {
				r.Fatalf("there is no gift that is %s", state)
			}
			if err := r.open(r.ctx, r.url+path, look{theme, phone, 1}); err != nil {
				r.Fatal(err)
			}
			colour, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](ground))
			if err != nil {
				r.Fatal(err)
			}
			colours[state] = colour
		}
		for state, colour := range colours {
			if state != "ready" && (colour != colours["expired"] || colour == colours["ready"]) {
				r.Errorf("%s: a card that is %s is %s; one that expired is %s, and a good one %s", theme, state, colour,
					colours["expired"], colours["ready"])
			}
		}
	}
}

// languages are those of the pages for guests, widths those of a phone, a tablet and a desk.
var (
	languages = []string{"en", "de", "fr", "es", "ja"}
	widths    = []int64{375, 768, 1280}
)

// TestPagesInEveryLanguage looks at the pages of guests in each language as TestPages does, from a phone to a desk, and
// at what a gift can be in turn; the short version at each page in each language and theme, at one of three widths.
func TestPagesInEveryLanguage(t *testing.T) {
	r := newReader(t)
	if r == nil {
		return
	}
	g, err := r.gift(r.ctx, "partly", designs[2].id)
	if err != nil {
		t.Fatal(err)
	}
	always := []string{g.path}
	others := []string{r.wordy(), myPath, myPath + "/sent"}
	var states []gift
	if !testing.Short() {
		if states, err = r.gifts(r.ctx, designs[1].id); err != nil {
			t.Fatal(err)
		}
	}
	r.seeInEvery(always, others, states)
	r.surprises()
	link := r.link()
	r.signIn(r.link())
	r.seeInEvery(nil, []string{myPath, myPath + "?list=bought", link}, nil)
	for i, language := range languages { // more addresses with nothing behind them, and the service says to wait
		as := look{[]string{"light", "dark"}[i%2], widths[i%len(widths)], 1}
		r.seeIn(language, "/g/"+strings.Repeat("0", 22), as)
		r.seeIn(language, myPath+"/link/x", as)
	}
	r.quiet()
}

// seeInEvery looks at pages in each language and theme: at some in every width, at a third of the others, and at what a
// gift can be in turn.
func (r *reader) seeInEvery(always, others []string, states []gift) {
	r.Helper()
	looks := 0
	for i, language := range languages {
		for _, theme := range []string{"light", "dark"} {
			for k, width := range widths {
				as := look{theme, width, 1}
				for j, path := range slices.Concat(always, others) {
					if (i+j+k)%len(widths) == 0 || j < len(always) && !testing.Short() {
						r.seeIn(language, path, as)
					}
				}
				if looks++; states != nil {
					r.seeIn(language, states[looks%len(states)].path, as)
				}
			}
		}
	}
}

// seeIn looks at a page in a language.
func (r *reader) seeIn(language, path string, as look) {
	r.Helper()
	query := "?lang="
	if strings.Contains(path, "?") {
		query = "&lang="
	}
	for _, complaint := range r.see(path+query+language, as) {
		r.Errorf("%s in %s, %s, %d wide: %s", path, language, as.theme, as.width, complaint)
	}
	said, err := chromedp.Run(r.ctx, chromedp.Evaluate[string]("document.documentElement.lang"))
	if err != nil || said != language {
		r.Errorf("%s in %s is in %q, %v", path, language, said, err)
	}
}

// quiet tells what the console said, and what was asked of other hosts.
func (r *reader) quiet() {
	r.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, trouble := range r.trouble {
		r.Errorf("the console says: %s", trouble)
	}
	for _, address := range r.asked {
		if !strings.HasPrefix(address, r.url+"/") && !strings.HasPrefix(address, "data:") {
			r.Errorf("a page asked for %.80s", address)
		}
	}
}

// TestFirstScreen: picture, amount, message and the whole QR code are on the first screen of a phone of 375 by 667, in
// each design and language, whether something was used and however long the message is. A long one is read by a tap.
// The short version reads each in two of the languages.
func TestFirstScreen(t *testing.T) {
	r := newReader(t)
	if r == nil {
		return
	}
	const below = `[...document.querySelectorAll(".picture, .logo, .worth, .message, .qr svg, .names")].filter(e => {
			const box = e.getBoundingClientRect();
			return !e.checkVisibility() || box.top < 0 || box.bottom > 667 || box.right > 375;
		}).concat([...document.querySelectorAll(".worth .number")].filter(e => e.getClientRects().length > 1)).map(e => (e.getAttribute("class") || e.localName) + " ends at " + e.getBoundingClientRect().bottom).join(", ") +
		(document.querySelectorAll(".worth, .message, .qr svg").length === 3 ? "" : "something is not there")`
	for i, d := range designs {
		for j, state := range []string{"ready", "partly", "held", "dear", "talkative", "later"} {
			g, err := r.gift(r.ctx, state, d.id)
			if err != nil {
				t.Fatal(err)
			}
			for k, language := range languages {
				if testing.Short() && (i+j+k)%5 > 1 {
					continue
				}
				if err := r.open(r.ctx, r.url+g.path+"?lang="+language, look{"light", 375, 1}); err != nil {
					t.Fatal(err)
				}
				if got, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](below)); err != nil || got != "" {
					t.Errorf("%s, %s, in %s: %s (%v)", d.name, state, language, got, err)
				}
			}
			if state != "talkative" {
				continue
			}
			const tap = `{
				const whole = document.querySelector("details blockquote"), before = whole.checkVisibility();
				document.querySelector("summary").click();
				before + " " + whole.checkVisibility() + " " + document.querySelector(".begin").checkVisibility()
			}`
			if got, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](tap)); err != nil || got != "false true false" {
				t.Errorf("after a tap: %s (%v)", got, err)
			}
		}
	}
}

// TestArabicInGerman: words from right to left run that way within a page from left to right, and turn nothing around
// them.
func TestArabicInGerman(t *testing.T) {
	r := newReader(t)
	if r == nil {
		return
	}
	g, err := r.gift(r.ctx, "arabic", designs[0].id)
	if err != nil {
		t.Fatal(err)
	}
	for _, complaint := range r.see(g.path+"?lang=de", look{"light", 375, 1}) {
		t.Error(complaint)
	}
	const layout = `{
		const box = (node, from, to) => { const r = document.createRange(); r.setStart(node, from); r.setEnd(node, to); return r.getBoundingClientRect(); };
		const lines = [...document.querySelectorAll(".message p")], names = document.querySelector(".names"), [to, from] = names.querySelectorAll("bdi");
		const words = names.firstChild, comma = to.parentElement.nextSibling;
		[document.dir, lines.map(p => getComputedStyle(p).direction).join(" "),
			box(lines[0].firstChild, 0, 1).left > box(lines[0].firstChild, lines[0].textContent.length - 1, lines[0].textContent.length).left,
			box(words, 0, 1).left < to.getBoundingClientRect().left && to.getBoundingClientRect().left < box(comma, 0, 1).left &&
				box(comma, 0, 1).left < from.getBoundingClientRect().left].join(", ")
	}`
	got, err := chromedp.Run(r.ctx, chromedp.Evaluate[string](layout))
	if want := "ltr, rtl ltr, true, true"; err != nil || got != want {
		t.Errorf("the page, the lines of the message and its first one, and the names run %s, want %s (%v)", got, want, err)
	}
}

// TestAuditCanFail: the checker sees what is wrong with a page that has everything wrong.
func TestAuditCanFail(t *testing.T) {
	r := newReader(t) // one browser at a time: each takes a core
	if r == nil {
		return
	}
	if err := r.open(r.ctx, r.url+"/", look{"light", 320, 1}); err != nil {
		t.Fatal(err)
	}
	const spoil = `document.documentElement.lang = ""; document.title = "";
		document.body.insertAdjacentHTML("beforeend", "<h4>deep</h4><a href=x id=a></a><img src=/none id=a><button></button><p><a href=y>i</a></p><p class=pale>pale</p>");
		const pale = document.querySelector(".pale"); pale.style.color = "#ccc"; pale.style.width = "900px";
		document.querySelector("a").style.outline = "none"; null`
	if _, err := chromedp.Run(r.ctx, chromedp.Evaluate[*string](spoil)); err != nil {
		t.Fatal(err)
	}
	complaints, err := chromedp.Run(r.ctx, chromedp.Evaluate[[]string](audit))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(r.ctx, chromedp.Evaluate[*string](axe.Load)); err != nil {
		t.Fatal(err)
	}
	more, err := chromedp.Run(r.ctx, chromedp.Evaluate[[]string](axe.Run, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(append(complaints, more...), "\n")
	for _, want := range []string{
		"no language", "no title", "h4 after h2", "has no name", "has no alt", "was not loaded", "an id twice", "contrast 1.",
		"stands out of the screen", "scrolls sideways",
		"a target of", "does not show its focus", "outside of every landmark",
		"html-has-lang: ", "button-name: ", "image-alt: ",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the checker does not see %q:\n%s", want, all)
		}
	}
	colours, err := chromedp.Run(r.ctx, chromedp.Evaluate[[]string](axe.Colours, chromedp.EvalAwaitPromise))
	if all := strings.Join(colours, "\n"); err != nil || !strings.Contains(all, "color-contrast: ") {
		t.Errorf("the checker of colours sees %q, %v", all, err)
	}
}

// TestCopy: a click puts the bare code on the clipboard and says so, also to a screen reader; without scripts there is
// no such button, and all else is there.
func TestCopy(t *testing.T) {
	r := newReader(t) // one browser at a time: each takes a core
	if r == nil {
		return
	}
	g, err := r.gift(r.ctx, "ready", designs[0].id)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	defer cancel()
	for _, name := range []string{"clipboard-read", "clipboard-write"} {
		_, err = chromedp.CallBrowser(ctx, chrome.SetPermission, chrome.SetPermissionParams{
			Permission: &chrome.PermissionDescriptor{Name: name}, Setting: chrome.PermissionSettingGranted, Origin: r.url,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.open(ctx, r.url+g.path, look{"light", phone, 1}); err != nil {
		t.Fatal(err)
	}
	const said = `new Promise(done => {
		const out = document.querySelector(".copied"), tell = () => out.textContent && done(out.getAttribute("role") + ": " + out.textContent);
		new MutationObserver(tell).observe(out, {childList: true, characterData: true, subtree: true});
		document.querySelector("button.copy").click(); tell();
	})`
	got, err := chromedp.Run(ctx, chromedp.Evaluate[string](said, chromedp.EvalAwaitPromise))
	if err != nil || got != "status: Copied." {
		t.Fatalf("after a click the page says %q, %v", got, err)
	}
	if got, err = chromedp.Run(ctx, chromedp.Evaluate[string](`navigator.clipboard.readText()`,
		chromedp.EvalAwaitPromise)); err != nil || got != g.code {
		t.Errorf("the clipboard holds %q, want %q (%v)", got, g.code, err)
	}

	err = chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	r.unscripted = true
	if complaints := r.see(g.path, look{"light", phone, 1}); len(complaints) > 0 {
		t.Errorf("without scripts: %q", complaints)
	}
	const left = `[...document.querySelectorAll("button")].filter(b => b.checkVisibility()).length + " buttons, " +
		document.querySelectorAll("svg[role=img]").length + " QR code, " + document.querySelector(".code").textContent.replaceAll(" ", "")`
	if got, err = chromedp.Run(ctx, chromedp.Evaluate[string](left)); err != nil ||
		got != fmt.Sprintf("0 buttons, 1 QR code, %s", g.code) {
		t.Errorf("without scripts there are %s, %v", got, err)
	}
}

// TestWalletButtons: the buttons of both wallets are as wide as each other, in each language, and each on one line.
func TestWalletButtons(t *testing.T) {
	r := newReader(t)
	if r == nil {
		return
	}
	if err := r.withWallets(r.ctx); err != nil {
		t.Fatal(err)
	}
	g, err := r.savable(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	const widths = `[...document.querySelectorAll(".wallet a")].map(e => e.getBoundingClientRect().width + " by " +
		(e.getBoundingClientRect().height < 60))`
	for _, language := range languages {
		if err := r.open(r.ctx, r.url+g.path+"?lang="+language, look{"dark", 375, 1}); err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(r.ctx, chromedp.Evaluate[[]string](widths))
		if err != nil || len(got) != 2 || got[0] != got[1] || !strings.HasSuffix(got[0], "true") {
			t.Errorf("in %s the buttons are %q (%v)", language, got, err)
		}
	}
}
