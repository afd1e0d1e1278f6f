package server

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/internal/api"
)

// What ranks lower is refused in an emptier house, and who is inside is never touched.
func TestDoorRefusesFromTheBottom(t *testing.T) {
	t.Parallel()
	d := newDoor(time.Now)
	d.limit = 400
	for n, r := range []rank{look, change, check, redeem} {
		for d.enter(r) {
		}
		if want := 100 * (n + 1); d.inside != want {
			t.Errorf("%s was let in until %d were inside, want %d", r, d.inside, want)
		}
		for below := r + 1; below < numRanks; below++ {
			if d.enter(below) {
				t.Errorf("%s was let in where %s is refused", below, r)
			}
		}
	}
	d.leave()
	if d.enter(check) || !d.enter(redeem) || d.enter(redeem) {
		t.Error("the place that became free was not for a redemption, or not one")
	}
}

// crowd is a door before which more wait than are let in, on a clock of its own.
type crowd struct {
	*door
	at time.Time
}

func newCrowd() *crowd {
	c := &crowd{at: time.Unix(0, 0)}
	c.door = newDoor(func() time.Time { return c.at })
	return c
}

// press lets a service answer so many a second for a while, each place being taken at once by those before the door.
func (c *crowd) press(aSecond int, r rank, d time.Duration) {
	for end := c.at.Add(d); c.at.Before(end); {
		for c.enter(r) {
		}
		c.at = c.at.Add(time.Second / time.Duration(aSecond))
		c.leave()
	}
}

// However fast the service is, and whoever waits, the limit comes to what is answered in maxWait, within a second.
func TestDoorFollowsWhatIsDone(t *testing.T) {
	t.Parallel()
	for _, r := range []rank{redeem, look} {
		c := newCrowd()
		for _, aSecond := range []int{10_000, 2_500, 30_000, 4_000} {
			c.press(aSecond, r, time.Second)
			if want := aSecond * 150 / 1000; c.limit < want*95/100 || c.limit > want*105/100 {
				t.Errorf("%s, %d a second: limit %d, want about %d", r, aSecond, c.limit, want)
			}
		}
		c.press(50, r, 10*time.Second)
		if c.limit != minInside {
			t.Errorf("%s, 50 a second: limit %d, want no less than %d", r, c.limit, minInside)
		}
	}
}

// While nobody is refused, that few calls are answered tells nothing: few were made.
func TestQuietHouseLearnsNothing(t *testing.T) {
	t.Parallel()
	c := newCrowd()
	for range 1000 {
		if !c.enter(look) {
			t.Fatal("a lone call was refused")
		}
		c.at = c.at.Add(time.Second)
		c.leave()
	}
	if c.limit != firstInside {
		t.Errorf("limit %d, want %d as in the beginning", c.limit, firstInside)
	}
	// Nor does an hour without calls, before many come at once.
	c.at = c.at.Add(time.Hour)
	for c.enter(redeem) {
	}
	c.at = c.at.Add(10 * time.Millisecond)
	c.leave()
	if c.limit != firstInside {
		t.Errorf("after the first answer of a crowd: limit %d, want %d", c.limit, firstInside)
	}
}

// Whatever was before, a quarter of the smallest house is open to everybody.
func TestDoorNeverRefusesAnIdleService(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	c := newCrowd()
	for range 200 {
		c.press(1+random.IntN(20_000), rank(1+random.IntN(int(numRanks)-1)), time.Duration(random.IntN(300))*time.Millisecond)
		for c.inside > 0 {
			c.leave()
		}
		for n := range minInside / 4 {
			if !c.enter(look) {
				t.Fatalf("refused with %d inside", n)
			}
		}
	}
}

// Every operation of the interface, and what else is asked, has its rank here, written by hand.
func TestRanks(t *testing.T) {
	t.Parallel()
	ranks := map[string]rank{
		"GET /healthz": always, "GET /readyz": always, "GET /metrics": always,
		"POST /api/integration/redemption/redeem-gift":           redeem,
		"POST /api/integration/redemption/reverse-redemption":    redeem,
		"POST /api/integration/redemption/validate-gift":         check,
		"POST /api/integration/gifting/send-gift":                change,
		"POST /api/integration/gifting/cancel-gift":              change,
		"POST /api/integration/gifting/reinstate-gift":           change,
		"POST /api/integration/gifting/resend-gift":              change,
		"POST /api/integration/gifting/reschedule-gift":          change,
		"POST /hooks/twilio/a/b/c":                               change,
		"GET /api/integration/gifting/gifts":                     look,
		"GET /api/integration/gifting/activity":                  look,
		"GET /api/integration/gifting/gifts/{voucherID}":         look,
		"GET /api/integration/gifting/gifts/{voucherID}/history": look,
		"GET /api/integration/requests/{key}":                    look,
		"GET /g/token":                                           look, "GET /outbox": look, "GET /docs": look, "GET /": look, "POST /nothing": look,
	}
	for call, want := range ranks {
		method, path, _ := strings.Cut(call, " ")
		if got := rankOf(httptest.NewRequest(method, path, nil)); got != want {
			t.Errorf("%s ranks as %s, want %s", call, got, want)
		}
	}
	for _, r := range api.Routes() {
		if _, listed := ranks[r.Method+" "+r.Pattern]; !listed {
			t.Errorf("%s %s has no rank in this table", r.Method, r.Pattern)
		}
	}
}

// full is a house that lets nobody in, whose inside must not be reached by anybody else than the operator.
func full(t *testing.T) (*house, http.Handler) {
	h := &house{metrics: newMetrics(), door: newDoor(time.Now)}
	h.door.limit = 0
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rankOf(r) != always {
			t.Errorf("%s was let in", r.URL.Path)
		}
	})
	return h, h.door.guard(inside, h.refuse(api.New(api.Config{PublicURL: "https://gifts.example.com"}).Busy))
}

func TestRefusalAtTheDoor(t *testing.T) {
	t.Parallel()
	h, handler := full(t)
	for _, path := range []string{"/api/integration/redemption/redeem-gift", "/api/integration/gifting/send-gift", "/docs", "/openapi.json", "/api/nothing"} {
		r := httptest.NewRequest("POST", path, unread{t})
		r.Header.Set("X-Request-ID", "till-4")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var problem struct {
			Status                int
			Type, Code, RequestID string
		}
		head := w.Header()
		err := json.Unmarshal(w.Body.Bytes(), &problem)
		if err != nil || w.Code != 503 || problem.Status != 503 || problem.Code != "UNAVAILABLE" || problem.RequestID != "till-4" ||
			problem.Type != "https://gifts.example.com/docs/errors#UNAVAILABLE" || head.Get("Content-Type") != "application/problem+json" ||
			head.Get("Retry-After") != "1" || head.Get("X-Request-ID") != "till-4" || head.Get("Boon-Version") != api.Version {
			t.Errorf("%s: %d %v %s", path, w.Code, head, w.Body)
		}
	}
	w := httptest.NewRecorder()
	page := httptest.NewRequest("GET", "/g/token", nil)
	page.Header.Set("Accept", "text/html")
	handler.ServeHTTP(w, page)
	if w.Code != 503 || w.Header().Get("Retry-After") != "1" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") ||
		w.Header().Get("X-Request-ID") == "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a page: %d %v %s", w.Code, w.Header(), w.Body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != 200 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	w = httptest.NewRecorder()
	h.metrics.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{`{rank="redeem"} 1`, `{rank="validate"} 0`, `{rank="send"} 1`, `{rank="look"} 4`} {
		if !strings.Contains(w.Body.String(), "boon_requests_refused_total"+want+"\n") {
			t.Errorf("/metrics lacks boon_requests_refused_total%s", want)
		}
	}
}

// unread is a body that must not be read.
type unread struct{ *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.Error("the body was read")
	return 0, io.EOF
}

// Who waits for the caller's bytes, or for the caller to take ours, is not inside; who works is.
func TestSlowCallersAreNotInside(t *testing.T) {
	t.Parallel()
	d := newDoor(time.Now)
	at := map[string]int{}
	look := func(where string) func() { return func() { at[where] = d.state().inside } }
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		look("work")()
		_, _ = w.Write([]byte("answer"))
		look("end")()
	})
	r := httptest.NewRequest("POST", "/api/integration/gifting/send-gift", nil)
	r.Body = io.NopCloser(reading(look("body")))
	d.guard(next, nil).ServeHTTP(writing{httptest.NewRecorder(), look("answer")}, r)
	look("after")()
	for where, want := range map[string]int{"body": 0, "work": 1, "answer": 0, "end": 1, "after": 0} {
		if got, seen := at[where]; got != want || !seen {
			t.Errorf("%s: %d inside, want %d", where, got, want)
		}
	}
}

type reading func()

func (r reading) Read([]byte) (int, error) {
	r()
	return 0, io.EOF
}

type writing struct {
	*httptest.ResponseRecorder
	told func()
}

func (w writing) Write(p []byte) (int, error) {
	w.told()
	return w.ResponseRecorder.Write(p)
}
