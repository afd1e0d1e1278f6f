package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"boon.example/internal/admission"
	"boon.example/internal/api"
	"boon.example/internal/web"
)

// The priority of every operation, written by hand.
func TestPriorities(t *testing.T) {
	t.Parallel()
	priorities := map[string]api.Priority{
		"redemption/redeem-gift":             api.PriorityRedeem,
		"gifting/create-stock":               api.PriorityWrite,
		"gifting/orders/{orderID}/stock":     api.PriorityRead,
		"redemption/activate-gift":           api.PriorityRedeem,
		"redemption/reverse-activation":      api.PriorityRedeem,
		"redemption/hold-gift":               api.PriorityRedeem,
		"redemption/capture-hold":            api.PriorityRedeem,
		"redemption/release-hold":            api.PriorityRedeem,
		"redemption/reload-gift":             api.PriorityRedeem,
		"redemption/cash-out-gift":           api.PriorityRedeem,
		"redemption/reverse-reload":          api.PriorityRedeem,
		"redemption/reverse-redemption":      api.PriorityRedeem,
		"redemption/validate-gift":           api.PriorityValidate,
		"gifting/send-gift":                  api.PriorityWrite,
		"gifting/cancel-gift":                api.PriorityWrite,
		"gifting/reinstate-gift":             api.PriorityWrite,
		"gifting/resend-gift":                api.PriorityWrite,
		"gifting/reschedule-gift":            api.PriorityWrite,
		"gifting/transfer-balance":           api.PriorityWrite,
		"gifting/block-gift":                 api.PriorityWrite,
		"gifting/unblock-gift":               api.PriorityWrite,
		"gifting/adjust-gift":                api.PriorityWrite,
		"gifting/extend-gift":                api.PriorityWrite,
		"gifting/replace-gift":               api.PriorityWrite,
		"gifting/gifts":                      api.PriorityRead,
		"gifting/activity":                   api.PriorityRead,
		"gifting/gifts/{voucherID}":          api.PriorityRead,
		"gifting/gifts/{voucherID}/history":  api.PriorityRead,
		"requests/{key}":                     api.PriorityRead,
		"events":                             api.PriorityRead,
		"audit":                              api.PriorityRead,
		"GET webhooks":                       api.PriorityRead,
		"POST webhooks":                      api.PriorityWrite,
		"GET webhooks/{webhookID}":           api.PriorityRead,
		"PATCH webhooks/{webhookID}":         api.PriorityWrite,
		"DELETE webhooks/{webhookID}":        api.PriorityWrite,
		"webhooks/{webhookID}/rotate-secret": api.PriorityWrite,
		"webhooks/{webhookID}/replay":        api.PriorityWrite,
		"webhooks/{webhookID}/attempts":      api.PriorityRead,
		"GET tills":                          api.PriorityRead,
		"POST tills":                         api.PriorityWrite,
		"tills/{keyID}":                      api.PriorityWrite,
		"people":                             api.PriorityRead,
		"people/set-pin":                     api.PriorityWrite,
		"GET /api/test/clock":                api.PriorityRead,
		"POST /api/test/clock":               api.PriorityWrite,
	}
	for _, r := range api.Routes() {
		name := strings.TrimPrefix(r.Pattern, "/api/integration/")
		want, listed := priorities[r.Method+" "+name]
		if !listed {
			want, listed = priorities[name]
		}
		if !listed || r.Priority != want {
			t.Errorf("%s has the priority %s, the table says %s (listed: %v)", r.Pattern, r.Priority, want, listed)
		}
	}
}

// Pages and documents are admitted too, the operator's addresses always answer, and a refusal is counted and not
// logged.
func TestOverloadBesideTheInterface(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	h := assembled(t, slog.New(slog.NewTextHandler(&log, nil)), "")
	h.admission = admission.New(0, func(p api.Priority) { h.metrics.refused.WithLabelValues(p.String()).Inc() })
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
	h := &app{metrics: newMetrics(), admission: admission.New(4, func(api.Priority) {})}
	inFlight := func() int { n, _ := h.admission.State(); return n }
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
