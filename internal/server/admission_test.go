package server

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/store"
	"boon.example/internal/web"
)

// entrance is an admission control that notes what came of each call.
type entrance struct {
	*admission
	refusals [api.Priorities]int
	admitted []string
}

func newEntrance(most int) *entrance {
	e := &entrance{}
	e.admission = newAdmission(most, func(p api.Priority) { e.refusals[p]++ })
	return e
}

// try makes a call in the background, and waits until it has been admitted or waits itself.
func (e *entrance) try(ctx context.Context, name string, p api.Priority) {
	go func() {
		if e.Enter(ctx, p) {
			e.admitted = append(e.admitted, name)
		}
	}()
	synctest.Wait()
}

// A priority has a share of the places together with those below it, so that those above always find some.
func TestAdmissionSharesPlaces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(8)
		for _, p := range []api.Priority{api.PriorityRead, api.PriorityWrite, api.PriorityValidate, api.PriorityRedeem} {
			for range 9 {
				e.try(t.Context(), p.String(), p)
			}
		}
		if want := strings.Fields("read read write write validate validate redeem redeem"); !slices.Equal(e.admitted, want) {
			t.Errorf("admitted %v, want %v", e.admitted, want)
		}
		if inFlight, waiting := e.state(); inFlight != 8 || waiting != 28 {
			t.Errorf("%d in flight and %d waiting, want 8 and 28", inFlight, waiting)
		}
		time.Sleep(queueTimeout)
		synctest.Wait()
		if want := [api.Priorities]int{7, 7, 7, 7}; e.refusals != want {
			t.Errorf("refused %v, want %v", e.refusals, want)
		}
	})
}

// Redemptions may take every place, and calls of another priority find one as long as it is not taken.
func TestAdmissionKeepsNoPlaceEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(8)
		for range 7 {
			e.try(t.Context(), "redeem", api.PriorityRedeem)
		}
		e.try(t.Context(), "read", api.PriorityRead)
		if len(e.admitted) != 8 {
			t.Errorf("admitted %v, want 8 calls", e.admitted)
		}
	})
}

// A free place goes to the highest priority, and within it to the call that came first and has not given up.
func TestAdmissionOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(4)
		for range 4 {
			e.try(t.Context(), "", api.PriorityRedeem)
		}
		e.admitted = nil
		e.try(t.Context(), "read", api.PriorityRead)
		e.try(t.Context(), "write", api.PriorityWrite)
		gone, cancel := context.WithCancel(t.Context())
		e.try(gone, "gone", api.PriorityRedeem)
		e.try(t.Context(), "redeem 1", api.PriorityRedeem)
		e.try(t.Context(), "validate", api.PriorityValidate)
		e.try(t.Context(), "redeem 2", api.PriorityRedeem)
		cancel()
		synctest.Wait()
		for range 4 {
			e.Leave(api.PriorityRedeem)
			synctest.Wait()
		}
		if want := []string{"redeem 1", "redeem 2", "validate", "write"}; !slices.Equal(e.admitted, want) {
			t.Errorf("admitted %v, want %v", e.admitted, want)
		}
		e.Leave(api.PriorityRedeem)
		synctest.Wait()
		if n := len(e.admitted); n != 5 {
			t.Errorf("the read was not admitted, though nothing else waits: %v", e.admitted)
		}
	})
}

// Calls that have given up are forgotten at once, also while nothing below redemptions gets its turn.
func TestAdmissionForgetsCallsThatGaveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(4)
		for range 4 {
			e.try(t.Context(), "", api.PriorityRedeem)
		}
		for range 50 {
			for range 20 {
				e.try(t.Context(), "read", api.PriorityRead)
			}
			time.Sleep(queueTimeout)
		}
		gone, cancel := context.WithCancel(t.Context())
		e.try(gone, "read", api.PriorityRead)
		e.try(t.Context(), "read", api.PriorityRead)
		cancel()
		synctest.Wait()
		e.mu.Lock()
		n := len(e.waiting[api.PriorityRead])
		e.mu.Unlock()
		if n != 1 {
			t.Errorf("%d calls are kept, and one waits", n)
		}
		time.Sleep(queueTimeout)
		synctest.Wait()
	})
}

// Whatever happened before, a service with nothing in flight admits at once, and counts to the right number.
func TestAdmissionLosesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newEntrance(16)
		for n := range 2000 {
			p := api.Priority(n % int(api.Priorities))
			go func() {
				time.Sleep(time.Duration(n*7919%1000) * time.Millisecond)
				if e.Enter(t.Context(), p) {
					time.Sleep(time.Duration(n*104729%50) * time.Millisecond)
					e.Leave(p)
				}
			}()
		}
		for range 2000 {
			time.Sleep(time.Millisecond)
			if inFlight, _ := e.state(); inFlight > 16 {
				t.Fatalf("%d calls are in flight, at most 16 may be", inFlight)
			}
		}
		synctest.Wait()
		if inFlight, waiting := e.state(); inFlight != 0 || waiting != 0 {
			t.Errorf("%d in flight and %d waiting after all have ended", inFlight, waiting)
		}
		if e.refusals == [api.Priorities]int{} {
			t.Error("nothing was refused, and so not much was tested")
		}
	})
}

// The priority of every operation, written by hand.
func TestPriorities(t *testing.T) {
	t.Parallel()
	priorities := map[string]api.Priority{
		"redemption/redeem-gift":            api.PriorityRedeem,
		"gifting/create-stock":              api.PriorityWrite,
		"gifting/orders/{orderID}/stock":    api.PriorityRead,
		"redemption/activate-gift":          api.PriorityRedeem,
		"redemption/reverse-activation":     api.PriorityRedeem,
		"redemption/hold-gift":              api.PriorityRedeem,
		"redemption/capture-hold":           api.PriorityRedeem,
		"redemption/release-hold":           api.PriorityRedeem,
		"redemption/reload-gift":            api.PriorityRedeem,
		"redemption/cash-out-gift":          api.PriorityRedeem,
		"redemption/reverse-reload":         api.PriorityRedeem,
		"redemption/reverse-redemption":     api.PriorityRedeem,
		"redemption/validate-gift":          api.PriorityValidate,
		"gifting/send-gift":                 api.PriorityWrite,
		"gifting/cancel-gift":               api.PriorityWrite,
		"gifting/reinstate-gift":            api.PriorityWrite,
		"gifting/resend-gift":               api.PriorityWrite,
		"gifting/reschedule-gift":           api.PriorityWrite,
		"gifting/transfer-balance":          api.PriorityWrite,
		"gifting/block-gift":                api.PriorityWrite,
		"gifting/unblock-gift":              api.PriorityWrite,
		"gifting/adjust-gift":               api.PriorityWrite,
		"gifting/extend-gift":               api.PriorityWrite,
		"gifting/replace-gift":              api.PriorityWrite,
		"gifting/gifts":                     api.PriorityRead,
		"gifting/activity":                  api.PriorityRead,
		"gifting/gifts/{voucherID}":         api.PriorityRead,
		"gifting/gifts/{voucherID}/history": api.PriorityRead,
		"requests/{key}":                    api.PriorityRead,
	}
	for _, r := range api.Routes() {
		if want, listed := priorities[strings.TrimPrefix(r.Pattern, "/api/integration/")]; !listed || r.Priority != want {
			t.Errorf("%s has the priority %s, the table says %s (listed: %v)", r.Pattern, r.Priority, want, listed)
		}
	}
}

// Pages and documents are admitted too, the operator's addresses always answer, and a refusal is counted and not
// logged.
func TestOverloadBesideTheInterface(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	c := Config{Data: t.TempDir(), Logger: slog.New(slog.NewTextHandler(&log, nil))}
	if err := c.normalize(); err != nil {
		t.Fatal(err)
	}
	c.listensAt(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080})
	s, err := store.Open(t.Context(), store.Options{Dir: c.Data})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h, err := newApp(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	h.admission.atMost = [api.Priorities]int{}
	get := func(path, accept string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept", accept)
		r.Header.Set("X-Request-ID", "till-4")
		h.handler.ServeHTTP(w, r)
		return w
	}
	log.Reset()
	for _, path := range []string{"/g/token", "/docs", "/openapi.json", "/nothing"} {
		w := get(path, "application/json")
		if w.Code != 503 || !strings.Contains(w.Body.String(), `"code":"UNAVAILABLE"`) ||
			w.Header().Get("Retry-After") != "1" {
			t.Errorf("%s: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
		w = get(path, "text/html")
		if w.Code != 503 || !strings.HasPrefix(w.Body.String(), "Many people") || w.Header().Get("Retry-After") != "1" ||
			w.Header().Get("X-Request-ID") != "till-4" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s in a browser: %d %v %s", path, w.Code, w.Header(), w.Body)
		}
	}
	if log.Len() > 0 {
		t.Errorf("refusals are logged: %s", log.String())
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		w := get(path, "")
		if w.Code != 200 {
			t.Errorf("%s: %d", path, w.Code)
		}
		if path == "/metrics" && !strings.Contains(w.Body.String(), `boon_requests_refused_total{priority="read"} 8`) {
			t.Error("/metrics does not count 8 refusals")
		}
	}
}

// A page gives its place back when its answer begins, which a slow reader may take its time over. What waits for a
// printer takes none, nor does a report, whose body anybody may send slowly before its signature can be checked.
func TestSlowReadersTakeNoPlace(t *testing.T) {
	t.Parallel()
	h := &app{metrics: newMetrics(), admission: newAdmission(4, func(api.Priority) {})}
	inFlight := func() int { n, _ := h.admission.state(); return n }
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if inFlight() != 1 {
			t.Errorf("%d in flight while the page is made", inFlight())
		}
		_, _ = io.WriteString(w, "page")
	})
	seen := -1
	w := writing{httptest.NewRecorder(), func() { seen = inFlight() }}
	h.admitted(page).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/g/token", nil))
	if seen != 0 || inFlight() != 0 {
		t.Errorf("%d in flight while the answer is written, and %d afterwards", seen, inFlight())
	}
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { seen = inFlight() })
	for _, path := range []string{"/g/token" + web.PrintPath, "/orders/token" + web.PrintPath, "/hooks/twilio/a/b/c"} {
		seen = -1
		h.admitted(handler).ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader("slow")))
		if seen != 0 {
			t.Errorf("%d in flight while %s is handled", seen, path)
		}
	}
}

// writing tells when an answer is written.
type writing struct {
	*httptest.ResponseRecorder
	told func()
}

func (w writing) Write(p []byte) (int, error) {
	w.told()
	return w.ResponseRecorder.Write(p)
}
