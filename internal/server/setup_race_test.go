package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"boon.example/internal/server"
)

// TestTheSetUpNeverGoesBack: a till that is paired while others are stays one: who began to read the set-up before it
// was there does not put the older one in its place.
func TestTheSetUpNeverGoesBack(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const tills = 12
	tokens := make([]string, tills)
	for n := range tokens {
		_, tokens[n] = s.link(fmt.Sprintf("Counter %d", n), pier39, 0)
	}
	for n, token := range tokens {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			d := s.device()
			if status, answer, _ := d.do("POST", "/till/pair", `{"token":"`+token+`"}`); status != http.StatusOK {
				t.Fatalf("pairing: %d %s", status, answer)
			}
			for range 100 {
				if status, answer, _ := d.do("GET", "/till/state", ""); status != http.StatusOK {
					t.Fatalf("after it was paired: %d %s", status, answer)
				}
			}
		})
	}
}
