package server_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/server"
)

// TestPagesAreSmall: each page for people has less than 100 KB, also where much happened. How long they take is
// measured by test/bench -only pages.
func TestPagesAreSmall(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":50,"deliveryMethodID":3,"message":"` + strings.Repeat("Happy birthday! ", 60) + `"}`)
	d, _ := s.paired("Counter 1", 0)
	d.takesOften(g.VoucherCode, 520)
	paths := []string{"/", "/outbox", "/g/" + strings.Repeat("0", 22), "/till", "/till/pair", "/till/state", "/till/today"}
	for _, language := range []string{"en", "de", "fr", "es", "ja"} {
		paths = append(paths, "/g/"+g.VoucherPublicToken+"?lang="+language)
	}
	const heaviest = 100_000
	for _, path := range paths {
		status, page, _ := d.do("GET", path, "")
		if status != http.StatusOK && status != http.StatusNotFound {
			t.Fatalf("GET %s: %d %s", path, status, page)
		}
		if len(page) > heaviest && path != "/till/today" { // a page fetches that: it is no weight of its own
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
}

// takesOften takes a cent of a gift many times, as devices that share a till's cookie.
func (d *device) takesOften(code string, times int) {
	d.Helper()
	const devices = 26
	var wg sync.WaitGroup
	for range devices {
		wg.Go(func() {
			one := d.device()
			one.cookies["boon_till"] = d.cookies["boon_till"]
			for range times / devices {
				one.want(http.StatusOK, "", "POST", tillRedeem, fmt.Sprintf(`{"voucherCode":%q,"amount":0.01}`, code),
					"Idempotency-Key", rand.Text())
			}
		})
	}
	wg.Wait()
}
