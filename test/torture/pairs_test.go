package main

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

// TestFaultsInPairs has the line to PostgreSQL fail at every step of a redemption, once or for a while: what was said was lost, or it was
// heard and done and the answer was lost. A call is answered with success once it is done, or 503; never with a refusal. Under its
// key it has one effect.
func TestFaultsInPairs(t *testing.T) {
	pgtest.Need(t)
	database := pgtest.Fresh(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l := newLine(t, u.Host)
	u.Host = l.Addr().String()
	boon, err := rig.Install(shipped, filepath.Join(t.TempDir(), "data"), u.String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := boon.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	c := rig.NewClient(1, 15*time.Second)
	t.Cleanup(c.Close)
	id, _, err := c.SellOne(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	ask := func(key string) *rig.Answer {
		t.Helper()
		a, err := c.Post(server.URL+rig.Redeem, rig.Accounts()[0].Keys[0], key, fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`, id))
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != http.StatusOK && (a.Status != http.StatusServiceUnavailable || a.Code() != "UNAVAILABLE" || a.RetryAfter == "") {
			t.Errorf("%s was answered %d %s, Retry-After %q; want 200, or 503 with the time to come again", key, a.Status, a.Body, a.RetryAfter)
		}
		return a
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
				a := ask(key)
				took := time.Since(begun)
				if l.failed == 0 {
					t.Fatalf("%s: the line did not fail: the service says something else at this point now", name)
				}
				// What was committed may have been asked for again in time, and is known then.
				if times > 1 && a.Status == http.StatusOK && (at != commit || !effect) {
					t.Errorf("%s: success, and nothing can have been committed", name)
				}
				failed := l.failed
				l.breakAt("", false, 0)
				if a.Status != http.StatusOK {
					if again := ask(key); again.Status != http.StatusOK {
						t.Errorf("%s: repeated on a sound line: %d %s", name, again.Status, again.Body)
					}
				}
				t.Logf("%s: %d after %.2f s and %d failures", name, a.Status, took.Seconds(), failed)
				if taken := redemptions(t, c, server.URL, id); taken != keys {
					t.Fatalf("%s: %d redemptions for %d keys", name, taken, keys)
				}
			}
		}
	}
	// Who has no key cannot be helped when the answer to the commit is lost: nothing may be done a second time.
	l.breakAt(commit, true, 1)
	if a := ask(""); a.Status != http.StatusServiceUnavailable {
		t.Errorf("without a key, and the answer to the commit lost: %d %s, want 503", a.Status, a.Body)
	}
	if taken := redemptions(t, c, server.URL, id); taken != keys+1 {
		t.Errorf("a call without a key redeemed %d times", taken-keys)
	}
	server.Kill()
	if err := boon.Verify(); err != nil {
		t.Error(err)
	}
}

func redemptions(t *testing.T, c *rig.Client, url, id string) (n int) {
	t.Helper()
	var page struct{ Entries []struct{ Kind string } }
	if err := c.Read(url+rig.Gifts+id+"/history?limit=200", rig.Accounts()[0].Keys[0], &page); err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Entries {
		if e.Kind == "REDEMPTION" {
			n++
		}
	}
	return n
}
