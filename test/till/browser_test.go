// Package till has the till of a shop, a real browser, take gifts of the real program, on good lines and bad ones.
// Where there is no chromium its tests are left out, and `make test` says so.
package till

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"boon.example/internal/store/pgtest"
	"boon.example/test/axe"
	"boon.example/test/chromium"
)

// slow is how long a page may take on a machine that is busy.
const slow = time.Minute

// device is a phone or tablet: a browser with a profile of its own.
type device struct {
	*testing.T
	ctx context.Context
	url string // of what it asks

	mu      sync.Mutex
	asked   []string
	trouble []string
}

// browser starts one. camera is a film that its camera shows; "": it has none. It is gone with the context.
func browser(ctx context.Context, camera, profile string) (context.Context, context.CancelFunc) {
	find := chromium.Find
	if camera != "" {
		find = chromium.WithCamera
	}
	path, _ := find() // whoever comes here has looked whether there is one
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.WSURLReadTimeout(time.Minute), chromedp.UserDataDir(profile), chromedp.Flag("disable-gpu", true),
		chromedp.Flag("lang", "en-US"), chromedp.Flag("autoplay-policy", "no-user-gesture-required"))
	if camera != "" {
		options = append(options, chromedp.Flag("use-fake-device-for-media-stream", true),
			chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("use-file-for-fake-video-capture", camera))
	}
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // chromium refuses a sandbox to root
	}
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	ctx, end := chromedp.NewContext(ctx)
	return ctx, func() { end(); stop() }
}

// shared is a browser that is started once: each device in it keeps what it keeps apart from the others.
var shared struct {
	once sync.Once
	ctx  context.Context
	end  context.CancelFunc
	err  error
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := pgtest.Main(m)
	if shared.end != nil {
		shared.end()
	}
	os.Exit(code)
}

// newDevice makes a device without a camera that knows nothing yet, and can be put away but not switched off.
func newDevice(t *testing.T, url string) *device {
	t.Helper()
	shared.once.Do(func() {
		profile, err := os.MkdirTemp("", "boon-till-")
		if err != nil {
			shared.err = err
			return
		}
		ctx, end := browser(context.Background(), "", profile)
		shared.ctx, shared.end = ctx, func() { end(); os.RemoveAll(profile) }
		shared.err = chromedp.Do(ctx)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	ctx, end := chromedp.NewContext(shared.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	d := &device{T: t, ctx: ctx, url: url}
	d.begin()
	return d
}

// ownBrowser makes a device that is a browser of its own, with a profile that another one may open later.
func ownBrowser(t *testing.T, url, camera, profile string) *device {
	t.Helper()
	ctx, end := browser(context.Background(), camera, profile)
	t.Cleanup(end)
	d := &device{T: t, ctx: ctx, url: url}
	d.begin()
	return d
}

func (d *device) begin() {
	d.Helper()
	focused := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return err
	})
	if err := chromedp.Do(d.ctx, focused); err != nil {
		d.Fatal(err)
	}
	if err := chromedp.Listen(d.ctx, d.note); err != nil {
		d.Fatal(err)
	}
	d.look("light", 375, 667)
}

// note keeps what the page asks for and what the console says.
func (d *device) note(event any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "data:") { // asks nobody: the browser's own sign of a calendar
			d.asked = append(d.asked, e.Request.URL)
		}
	case *runtime.EventExceptionThrown:
		d.trouble = append(d.trouble, fmt.Sprintf("%s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		d.trouble = append(d.trouble, "console."+string(e.Type))
	case *log.EventEntryAdded:
		if e.Entry.Source != "network" { // a status that is no success is no trouble here
			d.trouble = append(d.trouble, e.Entry.Text)
		}
	}
}

// look sets the theme and the size of the screen.
func (d *device) look(theme string, width, height int64) {
	d.Helper()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}}
	d.do(chromedp.EmulateViewport(width, height),
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
			return err
		}))
}

func (d *device) do(steps ...chromedp.Action[chromedp.Void]) {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, slow)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		d.Fatalf("%v; the page shows:\n%s", err, d.text("body"))
	}
}

func (d *device) open(path string) {
	d.Helper()
	d.do(chromedp.Navigate(d.url + path))
}

// js evaluates an expression, a promise too.
func js[T any](d *device, expression string) T {
	d.Helper()
	value, err := evaluate[T](d, expression)
	if err != nil {
		d.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

// look evaluates an expression that changes nothing: again, where another page came meanwhile.
func look[T any](d *device, expression string) T {
	d.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		value, err := evaluate[T](d, expression)
		if err == nil {
			return value
		}
		if time.Since(begun) > slow || !strings.Contains(err.Error(), "navigated") &&
			!strings.Contains(err.Error(), "context") {
			d.Fatalf("%.200s: %v", expression, err)
		}
	}
}

func evaluate[T any](d *device, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(d.ctx, slow)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// visible is an element that can be seen, by its selector.
func visible(selector string) string {
	return fmt.Sprintf("[...document.querySelectorAll(%q)].find(e => e.checkVisibility())", selector)
}

// says is the expression of what an element says that can be seen, without the spaces that do not break; "" where there
// is none.
func says(selector string) string {
	return "(" + visible(selector) + `?.innerText ?? "").replace(/[\u00a0\u202f]/g, " ").trim()`
}

// text is what an element says that can be seen.
func (d *device) text(selector string) string {
	d.Helper()
	text, err := evaluate[string](d, says(selector))
	if err != nil {
		return err.Error()
	}
	return text
}

// becomes waits until an expression, or the promise of one, is as another that is said of its value, v, and gives what
// it was at last. It waits in the page, so that a wait costs little.
func becomes[T any](d *device, limit time.Duration, expression, wanted string) (got T, ok bool) {
	d.Helper()
	const longest = 2 * time.Second // of a page, as another may come that knows nothing of it
	wait := fmt.Sprintf(`(async () => {
		for (const until = performance.now() + %d;; await new Promise(later => setTimeout(later, 50))) {
			const v = await (%s), ok = %s;
			if (ok || performance.now() > until) return {v, ok};
		}
	})()`, min(limit, longest).Milliseconds(), expression, wanted)
	for begun := time.Now(); ; {
		state := look[struct {
			V  T
			OK bool
		}](d, wait)
		if state.OK || time.Since(begun) > limit {
			return state.V, state.OK
		}
	}
}

// shows waits until an element that can be seen holds a text.
func (d *device) shows(selector, want string) {
	d.Helper()
	wanted := `v === ""`
	if want != "" {
		wanted = fmt.Sprintf("v.includes(%q)", want)
	}
	if got, ok := becomes[string](d, slow, says(selector), wanted); !ok {
		d.picture("failed")
		d.Fatalf("after %v, %s says %q, want %q; the page shows:\n%s", slow, selector, got, want, d.text("body"))
	}
}

// until waits until an expression is true, or a promise of one.
func (d *device) until(what, expression string) {
	d.Helper()
	if _, ok := becomes[bool](d, slow, expression, "v"); !ok {
		d.picture("failed")
		d.Fatalf("after %v, %s; the page shows:\n%s", slow, what, d.text("body"))
	}
}

// at waits until a view is shown, and no gift is being looked up, whose answer would draw another.
func (d *device) at(view string) {
	d.Helper()
	const where = `document.body?.classList.contains("looking") ? "" : document.body?.dataset.at ?? ""`
	if got, ok := becomes[string](d, slow, where, fmt.Sprintf("v === %q", view)); !ok {
		d.picture("failed")
		d.Fatalf("the view is %q, want %q:\n%s", got, view, d.text("body"))
	}
}

// tap touches what a selector finds, once it can be seen. A button that was just drawn may ignore it, as the second tap
// of a double tap: tap waits that long.
func (d *device) tap(selector string) {
	d.Helper()
	d.until(selector+" cannot be seen", "!!"+visible(selector))
	time.Sleep(450 * time.Millisecond)
	d.tapNow(selector)
}

func (d *device) tapNow(selector string) {
	d.Helper()
	at := js[[]float64](d, `(() => { const e = `+visible(selector)+`; if (!e) return []; e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	if len(at) != 2 {
		d.picture("failed")
		d.Fatalf("there is no %s to tap:\n%s", selector, d.text("body"))
	}
	d.mouse(at)
}

func (d *device) mouse(at []float64) {
	d.Helper()
	d.do(chromedp.MouseClickXY(at[0], at[1]))
}

// close ends the browser as one that is closed: what it keeps, it keeps.
func (d *device) close() {
	d.Helper()
	if err := chromedp.Cancel(d.ctx); err != nil {
		d.Fatal(err)
	}
}

// keypad taps digits.
func (d *device) keypad(digits string) {
	d.Helper()
	for _, digit := range digits {
		n := strings.IndexRune("1234567890", digit)
		if digit == '0' {
			n = 10 // beside 00
		}
		d.tapNow(fmt.Sprintf(".keypad button:nth-child(%d)", n+1))
	}
}

// keys presses keys as a hand does, one after the other; \r is Enter, \t Tab, \b Backspace.
func (d *device) keys(keys string) {
	d.Helper()
	for _, key := range keys {
		d.do(chromedp.KeyEvent(string(key)))
		time.Sleep(80 * time.Millisecond)
	}
}

// scanner types what a hand scanner reads, and Enter. The keys say that they came ten milliseconds after each other,
// however long this machine takes over them.
func (d *device) scanner(text string) {
	d.Helper()
	d.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		at := time.Now()
		for _, r := range text + "\r" {
			at = at.Add(10 * time.Millisecond)
			pressed := input.TimeSinceEpoch(float64(at.UnixMicro()) / 1e6)
			key, code := string(r), ""
			if r == '\r' {
				key, code = "Enter", "\r"
			}
			for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeKeyDown,
				input.DispatchKeyEventTypeKeyUp} {
				p := input.DispatchKeyEventParams{Type: kind, Key: key, Timestamp: pressed}
				if kind == input.DispatchKeyEventTypeKeyDown {
					p.Text = key
					if code != "" {
						p.Text = code
					}
				}
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, p); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// picture saves what is seen, where TILL_PICTURES says.
func (d *device) picture(name string) {
	folder := os.Getenv("TILL_PICTURES")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(d.ctx, slow)
	defer cancel()
	shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		d.Log(err)
		return
	}
	if _, err := png.Decode(bytes.NewReader(shot)); err != nil {
		d.Log(err)
	}
	d.keep(name+".png", shot)
}

// keep saves a file, where TILL_PICTURES says.
func (d *device) keep(name string, content []byte) {
	folder := os.Getenv("TILL_PICTURES")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
		d.Log(err)
	}
}

// calm fails the test for what the console said and for requests to another host.
func (d *device) calm() {
	d.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, trouble := range d.trouble {
		// The preview of a gift is in a frame that lets no script run: the browser says so, and that is right.
		if !strings.HasPrefix(trouble, "Blocked script execution in ") || !strings.Contains(trouble, "frame is sandboxed") {
			d.Errorf("the console says: %s", trouble)
		}
	}
	for _, address := range d.asked {
		if !strings.HasPrefix(address, d.url+"/") && !strings.HasPrefix(address, "blob:"+d.url) {
			d.Errorf("a page asked for %.80s", address)
		}
	}
}

// audit has axe-core look at the page, and adds what it does not see: what stands out of the screen, and targets
// that are small for a thumb.
func (d *device) audit(name string) {
	d.Helper()
	if js[bool](d, `typeof axe !== "object"`) {
		js[*string](d, axe.Load)
	}
	const own = `(() => {
		const all = [];
		if (document.documentElement.scrollWidth > innerWidth) all.push("scrolls sideways: " + document.documentElement.scrollWidth);
		for (const e of document.querySelectorAll("button, a, select, summary, input")) {
			const box = (e.type === "radio" ? e.parentElement : e).getBoundingClientRect();
			if (e.checkVisibility() && !e.matches(".skip") && (box.width < 48 || box.height < 48))
				all.push("a target of " + box.width + " by " + box.height + ": " + e.outerHTML.slice(0, 80));
			if (e.checkVisibility() && !e.matches(".skip") && (box.left < 0 || box.right > innerWidth + 0.5)) all.push("stands out: " + e.outerHTML.slice(0, 80));
		}
		for (const e of document.querySelectorAll("table"))
			if (e.checkVisibility() && e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 0.5) all.push("a table stands out: " + e.className);
		return all;
	})()`
	for _, complaint := range append(js[[]string](d, axe.Run), js[[]string](d, own)...) {
		d.Errorf("%s: %s", name, complaint)
	}
}
