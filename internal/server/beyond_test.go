package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"boon.example/internal/store"
)

// TestMetricsBeyondLoopback: a service that other machines can reach tells them nothing of itself.
func TestMetricsBeyondLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]int{
		"127.0.0.1:8080": http.StatusOK, "127.3.4.5:8080": http.StatusOK, "[::1]:8080": http.StatusOK,
		"0.0.0.0:8080": http.StatusNotFound, "[::]:8080": http.StatusNotFound, "192.168.1.7:8080": http.StatusNotFound,
		"[2001:db8::1]:8080": http.StatusNotFound,
	} {
		at, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Data: t.TempDir()}
		if err := c.normalize(); err != nil {
			t.Fatal(err)
		}
		c.listensAt(at)
		s, err := store.Open(t.Context(), store.Options{Dir: c.Data})
		if err != nil {
			t.Fatal(err)
		}
		h, err := newApp(t.Context(), c, s)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
		if w.Code != want {
			t.Errorf("/metrics of a service at %s: %d, want %d", address, w.Code, want)
		}
		h.close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
