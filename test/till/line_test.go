package till

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"boon.example/client"
)

// line lies between a till and the service, and can be cut.
type line struct {
	*httptest.Server
	to      string
	cut     atomic.Int32
	tooMuch atomic.Bool // the day's list is told to leave something out
	late    atomic.Pointer[late]
}

// late has the next list of a day wait once it is made.
type late struct{ made, goes chan struct{} }

// How calls end on a line. Pages still come through, but where it is gone.
const (
	whole  = iota
	before // nothing arrives
	after  // it arrives, and no answer leaves
	during // half of the answer leaves
	silent // it arrives, and nothing is heard of it for long
	gone   // there is no line at all
)

func newLine(t *testing.T, to string) *line {
	t.Helper()
	l := &line{to: to}
	l.Server = httptest.NewServer(l)
	t.Cleanup(func() { l.CloseClientConnections(); l.Close() })
	return l
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cut := l.cut.Load()
	if !strings.HasPrefix(r.URL.Path, "/till/api/") && cut != gone {
		cut = whole
	}
	if cut == before || cut == gone {
		cutOff(w)
		return
	}
	answer, err := l.forward(r)
	if err != nil || cut == after {
		cutOff(w)
		return
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		cutOff(w)
		return
	}
	if l.tooMuch.Load() && r.URL.Path == "/till/today" {
		body = bytes.Replace(body, []byte(`"complete":true`), []byte(`"complete":false`), 1)
	}
	if r.URL.Path == "/till/today" {
		if late := l.late.Swap(nil); late != nil {
			close(late.made)
			select {
			case <-late.goes:
			case <-r.Context().Done():
			}
		}
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	switch cut {
	case silent:
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
	case during:
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(body[:len(body)/2]) // the rest is cut off
		_ = http.NewResponseController(w).Flush()
		cutOff(w)
	default:
		w.WriteHeader(answer.StatusCode)
		_, _ = w.Write(body) // the till may have gone
	}
}

func (l *line) forward(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, l.to+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	out.Header, out.Host = r.Header.Clone(), r.Host
	return http.DefaultTransport.RoundTrip(out)
}

// cutOff closes the connection.
func cutOff(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
		return
	}
	panic(http.ErrAbortHandler)
}

// TestLateDay: a list of the day that comes after a newer one, or not at all, leaves the newer one as it is; and where
// none comes, nothing is shown that somebody else was shown before.
func TestLateDay(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	first := &late{make(chan struct{}), make(chan struct{})}
	l.late.Store(first)
	d := s.till("Counter 1", l.URL)
	d.at("home")
	js[*string](d, `globalThis.ended = 0; addEventListener("boon-line", () => ended++); null`)
	d.tap(".open-today")
	<-first.made // the list is made, with nothing in it
	asked := js[float64](d, `ended`)
	d.tap(".today .back")
	d.find(s.sell("25.50"), "$25.50")
	d.tap(".all")
	d.tap("button.take")
	d.shows("h1", "Taken")
	d.tap(".next")
	d.at("home")
	d.tap(".open-today")
	d.shows(".today .totals", "$25.50")
	close(first.goes)
	// look-up, redemption and this list came before it, unless the page had given it up already
	d.until("the late list is not there", fmt.Sprintf("ended >= %v", asked+4))
	if got := d.text(".today"); !strings.Contains(got, "$25.50") || strings.Contains(got, "Nothing yet") {
		t.Errorf("an older list is shown:\n%s", got)
	}
	if got := d.text(".today .error"); got != "" {
		t.Errorf("an older list that did not come is told of: %s", got)
	}
	d.tap(".today .back")
	d.at("home")
	l.cut.Store(gone)
	d.tap(".open-today")
	d.shows(".today .error", "No answer")
	if got := d.text(".today"); strings.Contains(got, "25.50") {
		t.Errorf("without a line it shows what was shown before:\n%s", got)
	}
}

// find types the digits of a gift and waits until it is shown.
func (d *device) find(g *client.SentGift, worth string) {
	d.Helper()
	d.at("home")
	d.tapNow("#digits")
	d.keys(g.VoucherCode)
	d.at("gift")
	d.shows(".worth .figure", worth)
}

// takes counts how often something was taken of a gift.
func (s *shop) takes(g *client.SentGift) (n int) {
	s.Helper()
	for entry, err := range s.api.History(s.Context(), g.VoucherID) {
		if err != nil {
			s.Fatal(err)
		}
		if entry.Kind == "REDEMPTION" {
			n++
		}
	}
	return n
}

// TestBadLine: however the line is cut, the till says that it does not know, asks by itself, and ends in yes, with the
// amount taken once.
func TestBadLine(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL)
	for _, cut := range []struct {
		name string
		how  int32
	}{{"before", before}, {"after", after}, {"during", during}, {"silent", silent}} {
		g := s.sell("25.50")
		d.find(g, "$25.50")
		d.keypad("450")
		l.cut.Store(cut.how)
		d.tap("button.take")
		d.shows("h1", "Not known yet")
		d.shows(".result .words", "keeps asking")
		if d.text(".result .next") != "" {
			t.Errorf("%s: the till lets one go on while nothing is known", cut.name)
		}
		l.cut.Store(whole)
		d.shows("h1", "Taken")
		s.holds(g, "21.00")
		if n := s.takes(g); n != 1 {
			t.Errorf("%s: taken %d times", cut.name, n)
		}
		d.tap(".next")
	}
}

// TestClosed: a till that is closed while nothing is known goes on as it is opened again, also as another process; one
// that comes back late takes nothing any more, as the guest has gone.
func TestClosed(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	profile := t.TempDir()
	d := ownBrowser(t, l.URL, "", profile)
	d.open(strings.TrimPrefix(s.pairLink("Counter 1"), s.server.URL))
	d.tap("button.pair")
	d.tap("a.open")
	start := func(cut int32) *client.SentGift {
		g := s.sell("25.50")
		d.find(g, "$25.50")
		d.tap(".all")
		l.cut.Store(cut)
		d.tap("button.take")
		d.shows("h1", "Not known yet")
		return g
	}

	g := start(after)
	d.open("/till/pair") // the tab is closed
	l.cut.Store(whole)
	d.open("/till")
	d.shows("h1", "Taken")
	d.shows(".earlier", "From before")
	s.holds(g, "0.00")
	d.open("/till") // nobody has seen it yet
	d.shows("h1", "Taken")
	d.tap(".next")
	d.at("home")
	d.open("/till")
	d.at("home")

	g = start(before)
	d.close() // the device goes off
	l.cut.Store(whole)
	d = ownBrowser(t, l.URL, "", profile)
	d.open("/till")
	d.shows("h1", "Taken") // moments later: the guest still waits
	s.holds(g, "0.00")
	d.tap(".next")

	g = start(before)
	d.open("/till/pair")
	key := js[string](d, `(() => { const name = Object.keys(localStorage).find(k => k.startsWith("boon.intent."));
		const intent = JSON.parse(localStorage[name]);
		intent.began -= 3600e3; localStorage[name] = JSON.stringify(intent); return intent.key; })()`)
	l.cut.Store(whole)
	d.open("/till")
	d.shows("h1", "Not taken")
	d.shows(".result .words", "nothing will be")
	s.holds(g, "25.50")
	_, err := s.api.RedeemGift(t.Context(), client.RedeemGiftRequest{VoucherID: g.VoucherID, OrganizationID: pier,
		All:            true,
		IdempotencyKey: key})
	if err == nil {
		t.Error("the call arrived later, and took what the till said it had not taken")
	}
	s.holds(g, "25.50")
}

// TestPaysOtherwise: a guest who does not want to wait pays otherwise, and nothing is taken, even if it was.
func TestPaysOtherwise(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	d := s.till("Counter 1", l.URL)
	for _, cut := range []int32{before, after} {
		g := s.sell("10")
		d.find(g, "$10.00")
		d.tap(".all")
		l.cut.Store(cut)
		d.tap("button.take")
		d.shows("h1", "Not known yet")
		d.tap(".stop")
		d.shows(".result .words", "Making sure")
		l.cut.Store(whole)
		d.shows("h1", "Not taken")
		s.holds(g, "10.00")
		d.tap(".next")
	}
}

// TestTwice: a second tap does nothing new, however fast it comes.
func TestTwice(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	d := s.till("Counter 1", s.server.URL)
	for range 3 {
		g := s.sell("10")
		d.find(g, "$10.00")
		d.keypad("100")
		at := js[[]float64](d, `(() => { const r = document.querySelector("button.take").getBoundingClientRect();
			return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
		for range 4 {
			d.mouse(at)
		}
		js[*string](d, `for (let i = 0; i < 5; i++) document.querySelector("button.take").click(); null`)
		d.shows("h1", "Taken")
		time.Sleep(300 * time.Millisecond)
		d.shows("h1", "Taken")
		if n := s.takes(g); n != 1 {
			t.Errorf("taken %d times", n)
		}
		s.holds(g, "9.00")
		d.tap(".next")
	}
}

// TestTwoTills: of two tills that take all of one gift at the same moment, one gets it, and the other is told.
func TestTwoTills(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	g := s.sell("25.50")
	var tills []*device
	for _, name := range []string{"Counter 1", "Counter 2"} {
		d := s.till(name, s.server.URL)
		d.find(g, "$25.50")
		d.tap(".all")
		tills = append(tills, d)
	}
	done := make(chan bool)
	for _, d := range tills {
		go func() {
			js[*string](d, `document.querySelector("button.take").click(); null`)
			done <- true
		}()
	}
	<-done
	<-done
	var said []string
	for _, d := range tills {
		d.at("result")
		begun := time.Now()
		for d.text("h1") != "Taken" && d.text("h1") != "Not taken" && time.Since(begun) < slow {
			time.Sleep(20 * time.Millisecond)
		}
		said = append(said, d.text("h1")+d.text(".result .words"))
	}
	both := strings.Join(said, "; ")
	if strings.Count(both, "Nothing is left on this gift.") != 1 || strings.Count(both, "Not taken") != 1 ||
		strings.Count(both, "Taken") != 1 {
		t.Errorf("the tills say %q", said)
	}
	s.holds(g, "0.00")
	if n := s.takes(g); n != 1 {
		t.Errorf("taken %d times", n)
	}
}

// TestRevoked: a till that is lost is switched off, and soon it does nothing, whatever it shows.
func TestRevoked(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	d := s.till("Counter 1", s.server.URL)
	g := s.sell("25.50")
	d.find(g, "$25.50")
	d.tap(".all")
	out, err := s.Installation.Run("key", "list")
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for text := range strings.Lines(out) {
		if strings.Contains(text, "Counter 1") {
			id = strings.Fields(text)[0]
		}
	}
	if out, err := s.Installation.Run("key", "revoke", id); err != nil {
		t.Fatal(err, out)
	}
	d.until("a revoked till is still known", `fetch("/till/state").then(r => r.status === 401)`)
	d.tap("button.take")
	d.shows("h1", "Not taken")
	d.shows(".result .words", "This device is not a till")
	s.holds(g, "25.50")
	d.tap(".next")
	d.at("unpaired")
	d.open("/till")
	d.at("unpaired")
}

// TestOpensOffline: the till goes to the home screen; what it is made of lies on the device, and no answer of the
// service does.
func TestOpensOffline(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	if s == nil {
		return
	}
	l := newLine(t, s.server.URL)
	d := s.pair(ownBrowser(t, l.URL, "", t.TempDir()), "Counter 1") // what is put away soon is not installed
	d.at("home")
	const kept = `caches.open("boon-till").then(c => c.keys()).then(all => all.map(r => new URL(r.url).pathname).join(" "))`
	begun := time.Now()
	for !strings.Contains(js[string](d, kept), ".css") {
		if time.Since(begun) > slow {
			t.Fatalf("nothing is kept: %s", js[string](d, kept))
		}
		time.Sleep(50 * time.Millisecond)
	}
	for path := range strings.FieldsSeq(js[string](d, kept)) {
		if path != "/till" && !strings.HasPrefix(path, "/till/assets/") {
			t.Errorf("%s is kept on the device", path)
		}
	}
	d.installs()
	l.cut.Store(gone)
	d.open("/till")
	d.shows("body", "Try again")
	l.cut.Store(whole)
	d.at("home") // by itself
}

// installs fails the test where the browser would not put the till on the home screen.
func (d *device) installs() {
	d.Helper()
	d.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		found, err := cdp.Call(ctx, t, page.GetInstallabilityErrors, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, e := range found.InstallabilityErrors {
			d.Errorf("the till cannot be installed: %s %v", e.ErrorID, e.ErrorArguments)
		}
		return nil
	}))
}
