package storm

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestAbandonedTillsEnd: tills whose server is gone for good end when they are told so, and not after hours.
func TestAbandonedTillsEnd(t *testing.T) {
	t.Parallel()
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	s := New(Options{Clients: 4, Timeout: 24 * time.Hour}, busy.URL)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		s.Run(ctx, 0, 1<<40)
		close(ended)
	}()
	for s.retries.Load() < 8 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	s.Abandon()
	<-ended
}
