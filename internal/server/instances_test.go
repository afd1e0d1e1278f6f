package server_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// TestEveryInstanceLearnsOfChanges changes the set-up in every way while two instances serve it.
func TestEveryInstanceLearnsOfChanges(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	instances := []*service{s, s.beside(server.Config{})}
	list := strings.TrimSuffix(giftPath, "/")
	longest := time.Duration(0)
	// everywhere waits until every instance answers a call with this status.
	everywhere := func(what string, status int, method, path, key, body string) {
		t.Helper()
		begun := time.Now()
		for _, at := range instances {
			for got := 0; got != status; {
				var answer []byte
				got, answer, _ = at.call(method, path, key, body)
				if got == http.StatusTooManyRequests {
					// only unknown keys are asked to wait, and before it was made this one was asked for often
					got = http.StatusUnauthorized
				}
				if took := time.Since(begun); got != status && took > timeout {
					t.Fatalf("%s has no effect after %v: %d %s, want %d", what, took, got, answer, status)
				}
			}
		}
		longest = max(longest, time.Since(begun))
	}

	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	// which no gift refers to
	there := `{"voucherCode":"` + g.VoucherCode + `","organizationID":"` + examples.HarborLongWharf + `"}`
	var made merchant.Key
	var secret string
	s.withStore(func(beside *store.Store) (err error) {
		account, err := guid.Parse(examples.HarborAccount)
		if err != nil {
			return err
		}
		made, secret, err = setup.CreateKey(t.Context(), beside,
			setup.KeyRequest{Name: "till-2", Account: account, Permissions: merchant.AllPermissions}, time.Now(), rand.Reader)
		return err
	})
	everywhere("making a key", http.StatusOK, "GET", list, secret, "")
	everywhere("naming a location", http.StatusOK, "POST", validatePath, secret, there)

	file := string(examples.HarborCoffee())
	wharf := "      - id: " + examples.HarborLongWharf + "\n        name: Long Wharf\n        jurisdiction: US-MA\n"
	s.apply([]byte(strings.Replace(file, wharf, "", 1)))
	everywhere("removing a location", http.StatusNotFound, "POST", validatePath, secret, there)
	s.apply([]byte(file))
	everywhere("adding a location", http.StatusOK, "POST", validatePath, secret, there)
	s.apply([]byte(strings.Replace(file, "    maxGiftValue: 500\n",
		"    maxGiftValue: 500\n    requireIdempotencyKey: true\n", 1)))
	everywhere("changing an account", http.StatusBadRequest, "POST", redeemPath, secret, `{"voucherID":"`+g.VoucherID+`"}`)
	s.withStore(func(beside *store.Store) error {
		_, err := setup.RevokeKey(t.Context(), beside, made.ID.String(), time.Now())
		return err
	})
	everywhere("revoking a key", http.StatusUnauthorized, "GET", list, secret, "")
	t.Logf("every change had its effect at both instances after at most %.2f s", longest.Seconds())
}

// TestInstancesShareGuesses: what was guessed at one instance is missing at the other, at once where that one asks for
// the first time, and within two seconds where it has asked before.
func TestInstancesShareGuesses(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	asked, fresh := s.beside(server.Config{}), s.beside(server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	good := `{"voucherCode":"` + g.VoucherCode + `"}`
	asked.must("POST", validatePath, examples.HarborTillKey, good, nil)
	for n := range merchant.GuessBurst {
		wrong := fmt.Sprintf(`{"voucherCode":"%012d"}`, 100_000_000_000+n)
		if status, answer, err := s.call("POST", validatePath, examples.HarborTillKey, wrong); err != nil ||
			status != http.StatusNotFound {
			t.Fatalf("guess %d: %d %s %v, want 404", n, status, answer, err)
		}
	}
	if status, answer, err := fresh.call("POST", validatePath, examples.HarborTillKey, good); err != nil ||
		status != http.StatusTooManyRequests {
		t.Errorf("an instance that asks for the first time: %d %s %v, want 429", status, answer, err)
	}
	for begun, status := time.Now(), 0; status != http.StatusTooManyRequests; {
		status, _, _ = asked.call("POST", validatePath, examples.HarborTillKey, good)
		if took := time.Since(begun); took > timeout {
			t.Fatalf("an instance that had asked before still answers %d after %v, want 429", status, took)
		}
	}
}

// TestOneKeyAtTwoInstances: a request that is sent to two instances at once, several times, is carried out once and has
// one answer.
func TestOneKeyAtTwoInstances(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	instances := []*service{s, s.beside(server.Config{})}
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	const rounds, copies = 20, 4
	for round := range rounds {
		var calls sync.WaitGroup
		var mu sync.Mutex
		answers := map[string]bool{}
		for n := range copies {
			calls.Go(func() {
				key, body := fmt.Sprintf("key-%d", round), `{"voucherID":"`+g.VoucherID+`","amount":0.01}`
				for { // a commit that many wait for may be given up; its key tells what became of it
					status, answer, err := instances[n%2].callOnce("POST", redeemPath, examples.HarborTillKey, key, body)
					if err != nil || status != http.StatusOK && status != http.StatusServiceUnavailable {
						t.Errorf("%s: %d %s %v", key, status, answer, err)
						return
					}
					if status == http.StatusOK {
						mu.Lock()
						answers[string(answer)] = true
						mu.Unlock()
						return
					}
				}
			})
		}
		calls.Wait()
		if len(answers) != 1 {
			t.Errorf("round %d: %d different answers", round, len(answers))
		}
	}
	var now soldGift
	instances[1].must("GET", giftPath+g.VoucherID, examples.HarborWebShopKey, "", &now)
	if want := fmt.Sprintf("%.2f", 50-0.01*rounds); string(now.CurrentBalance) != want {
		t.Errorf("the balance is %s after %d redemptions of 0.01, want %s", now.CurrentBalance, rounds, want)
	}
}

// TestRisksAreLogged: a database that may lose what it has committed is named in the log of every instance that starts
// on it.
func TestRisksAreLogged(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	var risks []string
	s.withStore(func(beside *store.Store) (err error) {
		risks, err = beside.Risks(t.Context())
		return err
	})
	logged := s.logs.String()
	for _, risk := range risks {
		if !strings.Contains(logged, `"level":"WARN","msg":"`+risk) {
			t.Errorf("the log lacks %q: %s", risk, logged)
		}
	}
	if len(risks) == 0 && strings.Contains(logged, `"level":"WARN"`) {
		t.Errorf("the log warns of a database that is as it should be: %s", logged)
	}
}

// TestManyWrongCodesAreLogged: 200 misses of a key within an hour are a line in the log with the name of the key, and a
// metric.
func TestManyWrongCodesAreLogged(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	s.withStore(func(beside *store.Store) error { // 199 elsewhere
		directory, err := beside.Directory(t.Context())
		if err != nil {
			return err
		}
		key := directory.Keys[merchant.HashKey(examples.HarborTillKey)]
		_, _, err = beside.CountMisses(t.Context(), merchant.Till{AccountID: key.AccountID, KeyID: key.ID},
			time.Now(), merchant.GuessAlarm-1)
		return err
	})
	const event = `"level":"WARN","msg":"somebody may be guessing voucher codes: an API key tried too many ` +
		`wrong ones","key":"till"`
	if strings.Contains(s.logs.String(), event) {
		t.Errorf("logged too early: %s", s.logs)
	}
	for n := range 3 {
		wrong := fmt.Sprintf(`{"voucherCode":"%012d"}`, 100_000_000_000+n)
		if status, answer, err := s.call("POST", validatePath, examples.HarborTillKey, wrong); err != nil ||
			status != http.StatusNotFound {
			t.Fatalf("guess %d: %d %s %v, want 404", n, status, answer, err)
		}
	}
	if n := strings.Count(s.logs.String(), event); n != 1 {
		t.Errorf("%d lines in the log, want 1: %s", n, s.logs)
	}
	if strings.Contains(s.logs.String(), g.VoucherCode) || strings.Contains(s.logs.String(), "100000000000") {
		t.Error("the log has a code")
	}
	if _, metrics, err := s.call("GET", "/metrics", "", ""); err != nil ||
		!strings.Contains(string(metrics), "\nboon_guess_alarms_total 1\n") {
		t.Errorf("the metric is missing: %v", err)
	}
}
