package main

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
)

// TestFaultsInPairs has the line to PostgreSQL fail at every step of a redemption, once or for a while: what was said
// was lost, or it was heard and done and the answer was lost. A call is answered with success once it is done, or 503;
// never with a refusal. Under its key it has one effect.
func TestFaultsInPairs(t *testing.T) {
	pgtest.Need(t)
	database := pgtest.Fresh(t)
	u, err := url.Parse(database)
	check(t, err)
	l := newLine(t, u.Host)
	u.Host = l.Addr().String()
	boon := install(t, u.String())
	server := serve(t, boon)
	one := till(t, server.URL)
	keys := 0
	ask := func(key string) int {
		t.Helper()
		a, err := one.Redeem(key)
		check(t, err)
		return a.Status
	}
	const forAWhile = 1 << 30
	for _, at := range []point{load, save, commit} {
		for _, effect := range []bool{false, true} {
			for _, times := range []int{1, forAWhile} {
				name := fmt.Sprintf("%s, took effect: %v, lasting: %v", at, effect, times > 1)
				keys++
				key := fmt.Sprintf("k-%d", keys)
				l.breakAt(at, effect, times)
				begun := time.Now()
				status := ask(key)
				took := time.Since(begun)
				if l.failed == 0 {
					t.Fatalf("%s: the line did not fail: the service says something else at this point now", name)
				}
				// What was committed may have been asked for again in time, and is known then. The commit travels with what is
				// saved.
				if times > 1 && status == http.StatusOK && (at == load || !effect) {
					t.Errorf("%s: success, and nothing can have been committed", name)
				}
				failed := l.failed
				l.breakAt("", false, 0)
				check(t, one.Settle())
				t.Logf("%s: %d after %.2f s and %d failures", name, status, took.Seconds(), failed)
				if err := one.Check(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
	// Without a key, a call whose commit has an unknown outcome is not repeated: nothing may be done a second time.
	l.breakAt(commit, true, 1)
	a, err := one.Redeem("")
	check(t, err)
	if a.Status != http.StatusServiceUnavailable {
		t.Errorf("without a key, and the answer to the commit lost: %d %s, want 503", a.Status, a.Body)
	}
	check(t, one.Check())
	server.Kill()
	if err := boon.Verify(); err != nil {
		t.Error(err)
	}
}
