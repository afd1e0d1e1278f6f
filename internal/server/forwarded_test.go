package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"boon.example/internal/server"
)

// TestMetricsAreForNoProxy: a service at loopback has its metrics beside everything else, for this machine. What a
// proxy on this machine passes on for guests does not reach them.
func TestMetricsAreForNoProxy(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.must("GET", "/metrics", "", "", nil)
	for name, value := range map[string]string{"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Host": "gifts.example.com",
		"X-Real-IP": "192.0.2.1", "Forwarded": "for=192.0.2.1", "Via": "1.1 proxy"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(name, value)
		w, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(w.Body)
		w.Body.Close()
		if err != nil || w.StatusCode != http.StatusNotFound || strings.Contains(string(text), "boon_") {
			t.Errorf("with %s: %d %v %.100s", name, w.StatusCode, err, text)
		}
	}
}
