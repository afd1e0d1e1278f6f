package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"boon.example/internal/api"
	"boon.example/internal/gift"
)

// Whatever is refused for want of time is answered as the OpenAPI file says, without a look at key or body.
func TestBusy(t *testing.T) {
	t.Parallel()
	busy := api.New(api.Config{PublicURL: "https://gifts.example.com"})
	server := httptest.NewServer(checked(t, http.HandlerFunc(busy.Busy)))
	defer server.Close()
	w := &world{TB: t, server: server}
	for _, path := range []string{"/openapi.json", "/docs", "/docs/errors", "/docs/assets/docs.css"} {
		w.do("GET", path, "").refused(503, gift.Unavailable)
	}
	for _, r := range api.Routes() {
		path := strings.NewReplacer("{voucherID}", harbor, "{key}", "k").Replace(r.Pattern)
		got := w.do(r.Method, path, "", "X-Request-ID", "till-4")
		got.refused(503, gift.Unavailable)
		if got.header.Get("Retry-After") != "1" || got.header.Get("X-Request-ID") != "till-4" || got.at("requestID") != "till-4" {
			t.Errorf("%s %s: %v %s", r.Method, path, got.header, got.body)
		}
	}
}
