package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/base/admission"
	"boon.example/internal/face/api"
	"boon.example/internal/face/web"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/service"
)

// The priority of every route: an operation at a till comes before one of an office, by its path; what reads, and what
// keeps no Idempotency-Key, is written by hand.
func TestPriorities(t *testing.T) {
	t.Parallel()
	priorities := map[string]admission.Priority{
		"gifting/orders/{orderID}/stock":     admission.Read,
		"redemption/validate-gift":           admission.Validate,
		"redemption/new-cards/{entryID}":     admission.Validate,
		"gifting/gifts":                      admission.Read,
		"gifting/activity":                   admission.Read,
		"exports/gifts":                      admission.Read,
		"exports/entries":                    admission.Read,
		"gifting/gifts/{voucherID}":          admission.Read,
		"gifting/gifts/{voucherID}/history":  admission.Read,
		"requests/{key}":                     admission.Read,
		"events":                             admission.Read,
		"audit":                              admission.Read,
		"reports/liability":                  admission.Read,
		"reports/roll-forward":               admission.Read,
		"reports/ageing":                     admission.Read,
		"reports/breakage":                   admission.Read,
		"reports/dormant":                    admission.Read,
		"reports/breakage/book":              admission.Write,
		"reports/redemptions":                admission.Read,
		"reports/settlement":                 admission.Read,
		"reports/journal":                    admission.Read,
		"GET imports":                        admission.Read,
		"POST imports":                       admission.Write,
		"imports/check":                      admission.Write,
		"GET imports/{importID}":             admission.Read,
		"DELETE imports/{importID}":          admission.Write,
		"imports/{importID}/certificate":     admission.Read,
		"GET webhooks":                       admission.Read,
		"POST webhooks":                      admission.Write,
		"GET webhooks/{webhookID}":           admission.Read,
		"PATCH webhooks/{webhookID}":         admission.Write,
		"DELETE webhooks/{webhookID}":        admission.Write,
		"webhooks/{webhookID}/rotate-secret": admission.Write,
		"webhooks/{webhookID}/replay":        admission.Write,
		"webhooks/{webhookID}/attempts":      admission.Read,
		"GET tills":                          admission.Read,
		"POST tills":                         admission.Write,
		"tills/{keyID}":                      admission.Write,
		"people":                             admission.Read,
		"people/set-pin":                     admission.Write,
		"GET /api/test/clock":                admission.Read,
		"POST /api/test/clock":               admission.Write,
	}
	for _, r := range api.Routes() {
		name := strings.TrimPrefix(r.Pattern, "/api/integration/")
		want, listed := priorities[r.Method+" "+name]
		if !listed {
			want, listed = priorities[name]
		}
		group, last, _ := strings.Cut(name, "/")
		if slices.Contains(operation.All(), operation.Name(last)) {
			want, listed = map[string]admission.Priority{"redemption": admission.Redeem, "gifting": admission.Write}[group], true
		}
		if !listed || r.Priority != want {
			t.Errorf("%s has the priority %s, the table says %s (listed: %v)", r.Pattern, r.Priority, want, listed)
		}
	}
}

// takeAllPlaces has as many calls in flight as the service admits, each of a caller of its own.
func takeAllPlaces(t *testing.T, h *app) {
	t.Helper()
	for n := range admission.MaxInFlight {
		caller := admission.Party{ID: guid.ID{byte(n >> 8), byte(n)}}
		if !h.admission.Enter(t.Context(), caller, admission.Redeem) {
			t.Fatalf("call %d was not admitted", n)
		}
		t.Cleanup(func() { h.admission.Leave(caller, admission.Redeem) })
	}
}

// Pages and documents are admitted too, the operator's addresses always answer, and a refusal is counted and not
// logged.
func TestOverloadBesideTheInterface(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := assembled(t, slog.New(slog.NewTextHandler(&log, nil)), "")
	takeAllPlaces(t, h)
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

// A page gives its place back when its answer begins, which a slow reader may take its time over.
func TestSlowReadersTakeNoPlace(t *testing.T) {
	t.Parallel()
	control := admission.New(4, func(admission.Priority) {})
	s := service.New(service.Config{Admission: control})
	inFlight := func() int { n, _ := control.State(); return n }
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if inFlight() != 1 {
			t.Errorf("%d in flight while the page is made", inFlight())
		}
		_, _ = io.WriteString(w, "page")
	})
	seen := -1
	w := writing{httptest.NewRecorder(), func() { seen = inFlight() }}
	s.Page(page).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/g/token", nil))
	if seen != 0 || inFlight() != 0 {
		t.Errorf("%d in flight while the answer is written, and %d afterwards", seen, inFlight())
	}
}

// What waits for a printer takes no place, nor does what a till posts, whose body anybody may send slowly before it is
// known what it proves: these are answered where no place is left.
func TestWhatTakesNoPlace(t *testing.T) {
	t.Parallel()
	h := assembled(t, slog.New(slog.DiscardHandler), "")
	takeAllPlaces(t, h)
	for _, call := range []string{"GET /g/token" + web.PrintPath, "GET /orders/token" + web.PrintPath,
		"POST /till/pair", "POST /till/person"} {
		method, path, _ := strings.Cut(call, " ")
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("slow")))
		if w.Code == 503 {
			t.Errorf("%s: %s", call, w.Body)
		}
	}
	for _, path := range []string{"/till", "/till/state", "/till/sw.js", "/g/token", "/docs/"} {
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != 503 {
			t.Errorf("%s takes no place: %d", path, w.Code)
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
