package load

import (
	"bufio"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
)

// A quantile is the true one to three digits, also of two histograms together.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var h, other Histogram
	all := make([]time.Duration, 10_000)
	for i := range all {
		all[i] = time.Duration(math.Exp(random.Float64() * 28)) // 1 ns to 24 minutes
		[]*Histogram{&h, &other}[i%2].Add(all[i])
	}
	h.Merge(&other)
	h.Merge(new(Histogram))
	slices.Sort(all)
	for _, share := range []float64{0.0001, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1} {
		want := all[int(math.Ceil(share*float64(len(all))))-1]
		if got := h.Quantile(share); math.Abs(float64(got-want)) > float64(want)/1000+1 {
			t.Errorf("quantile %v is %v, but should be %v", share, got, want)
		}
	}
	if longest := all[len(all)-1]; h.Max() < longest || h.Max() > longest+longest/1000 || h.Count() != int64(len(all)) {
		t.Errorf("longest %v of %d", h.Max(), h.Count())
	}
	if none := new(Histogram); none.Quantile(0.5) != 0 || none.Mean() != 0 {
		t.Error("an empty histogram is not zero")
	}
}

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       answer
	}{
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", answer{status: 200}},
		{"header in small letters", "HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\nhello", answer{status: 200}},
		{"chunks and a trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\nX: " +
			"y\r\n\r\n", answer{status: 200}},
		{"a word before", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
			answer{status: 201}},
		{"the last on its connection", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
			answer{status: 200, close: true}},
		{"no body", "HTTP/1.1 204 No Content\r\n\r\n", answer{status: 204}},
		{"refusal", "HTTP/1.1 409 Conflict\r\nContent-Length: 33\r\n\r\n" + `{"status":409,"code":"NOT_FOUND"}`,
			answer{status: 409, code: "NOT_FOUND", body: `{"status":409,"code":"NOT_FOUND"}`}},
		{"a proxy's refusal", "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 6\r\n\r\n<html>",
			answer{status: 502, body: "<html>"}},
	} {
		const next = "HTTP/1.1 299 Next\r\nContent-Length: 0\r\n\r\n"
		in := bufio.NewReader(strings.NewReader(tt.text + next))
		got, err := readAnswer(in)
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if after, err := readAnswer(in); err != nil || after.status != 299 {
			t.Errorf("%s: what followed was read as %+v, %v", tt.name, after, err)
		}
	}
	for _, broken := range []string{"", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"} {
		if got, err := readAnswer(bufio.NewReader(strings.NewReader(broken))); err == nil {
			t.Errorf("%q was read as %+v", broken, got)
		}
	}
}

// run puts load on a handler.
func run(t *testing.T, handler http.HandlerFunc, p Plan) *Run {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	target, err := NewTarget(srv.URL+"/base", "key")
	if err != nil {
		t.Fatal(err)
	}
	orders := &Orders{Gifts: []Gift{{ID: uuid.New(), Code: 12}}, Location: "l", Amount: "0.01", Sale: Sale("25", "s", "r")}
	p.Target, p.Next = target, target.Mix(orders)
	r, err := Start(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	r.Wait()
	return r
}

// Go's own server must understand every request, and what it answers must be counted once.
func TestRequestsAreWhatTheySay(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	wrong := make(chan string, 100)
	r := run(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, err := io.ReadAll(r.Body)
		path := strings.TrimPrefix(r.URL.Path, "/base/api/integration/")
		key, keyed := r.Header.Get("Idempotency-Key"), path != "redemption/validate-gift"
		known := map[string]string{"redemption/validate-gift": `"voucherCode":"000000000012"`,
			"redemption/redeem-gift": `"amount":0.01`,
			"gifting/send-gift":      `"value":25`}
		if err != nil || r.Header.Get("Authorization") != "Bearer key" ||
			keyed != (uuid.Validate(key) == nil) || known[path] == "" ||
			!strings.Contains(string(body), known[path]) || body[len(body)-1] != '}' {
			select {
			case wrong <- path + " " + string(body):
			default:
			}
		}
		w.Write([]byte("{}"))
	}, Plan{Connections: 3, Duration: 200 * time.Millisecond})
	select {
	case request := <-wrong:
		t.Error("a request is wrong:", request)
	default:
	}
	n := r.Of(Redeem).OK.Count() + r.Of(Validate).OK.Count() + r.Of(Send).OK.Count()
	if s := r.Stats(); s.OK.Count() != asked.Load() || n != asked.Load() || len(s.Failures()) > 0 || len(r.Unsure()) > 0 {
		t.Errorf("%d were asked, %d counted, by kinds %d; failures %v", asked.Load(), s.OK.Count(), n, s.Failures())
	}
}

// A call that had to wait for a connection has waited, although the service never saw it wait.
func TestLatencyCountsFromWhenACallWasMeantToBeMade(t *testing.T) {
	t.Parallel()
	const stall = 400 * time.Millisecond
	var calls atomic.Int64
	r := run(t, func(http.ResponseWriter, *http.Request) {
		if calls.Add(1) == 1 {
			time.Sleep(stall)
		}
	}, Plan{Connections: 1, Duration: stall + 600*time.Millisecond, Rate: 100})
	// A fifth of the calls were meant to be made while the first one hung, and waited 200 ms on average or more.
	s := r.Stats()
	if waited := s.OK.Quantile(0.8); s.OK.Count() < 20 || waited < stall/4 {
		t.Errorf("of %d calls, four fifths took no longer than %v", s.OK.Count(), waited)
	}
}

func TestCallsThatFoundNoConnectionAreToldOf(t *testing.T) {
	t.Parallel()
	const answers = 100 * time.Millisecond
	r := run(t, func(http.ResponseWriter, *http.Request) { time.Sleep(answers) },
		Plan{Connections: 1, Duration: 500 * time.Millisecond, Rate: 1000})
	if sent := r.Stats().OK.Count(); sent > 6 || r.Unsent() != 500-sent {
		t.Errorf("%d calls sent, %d not", sent, r.Unsent())
	}
}

// The outcome of a call without an answer is unknown; that of a refusal is known.
func TestFailuresAreTold(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	r := run(t, func(w http.ResponseWriter, r *http.Request) {
		switch n.Add(1) {
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"title":"x","code":"UNAVAILABLE"}`)
		case 3:
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, `{"title":"x","code":"ALREADY_REDEEMED"}`)
		}
	}, Plan{Connections: 1, Duration: 300 * time.Millisecond, Rate: 100})
	f := r.Stats().Failures()
	if f[NoAnswer] != 1 || f["UNAVAILABLE"] != 1 || f["ALREADY_REDEEMED"] != 1 ||
		len(f) != 3 || r.Stats().Refused.Count() != 2 || len(r.Unsure()) > 2 {
		t.Errorf("failures %v, %d unsure", f, len(r.Unsure()))
	}
	for _, note := range r.Unsure() {
		if note.Kind == Validate || note.Key == (uuid.UUID{}) {
			t.Errorf("unsure of %v", note)
		}
	}
}

func TestNobodyToBeCalled(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(nil)
	srv.Close()
	target, err := NewTarget(srv.URL, "key")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(context.Background(), Plan{Target: target, Connections: 1, Duration: time.Second}); err == nil {
		t.Error("a load on nobody began")
	}
	for _, wrong := range []string{"gifts.example.com", "ftp://x", "http://u:p@x", "http://x?q", "http://"} {
		if _, err := NewTarget(wrong, "key"); err == nil {
			t.Errorf("%q is a target", wrong)
		}
	}
}
