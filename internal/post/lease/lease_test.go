package lease

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"boon.example/internal/guid"
)

// TestKeep: leases are claimed when it is time, kept while a claim fails as long as they last, and lost afterwards.
func TestKeep(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bakery, away, claims := guid.ID{1}, error(nil), 0
	var wanted []guid.ID
	k := New(func(_ context.Context, owner guid.ID, accounts []guid.ID, now, until time.Time) ([]guid.ID, error) {
		if claims++; owner.IsZero() || !slices.Equal(accounts, wanted) || until.Sub(now) != lasts {
			t.Errorf("%v claims %v from %v until %v", owner, accounts, now, until)
		}
		return accounts, away
	})
	for _, step := range []struct {
		what            string
		after           time.Duration
		accounts        []guid.ID
		changed, serves bool
		away            error
		due             bool
		owned           []guid.ID
		claims          int
	}{
		{what: "nothing is to be served", changed: true},
		{what: "an account comes", after: time.Second, accounts: []guid.ID{bakery}, changed: true, due: true,
			owned: []guid.ID{bakery}, claims: 1},
		{what: "it is not time yet", after: 10 * time.Second, accounts: []guid.ID{bakery}, serves: true, claims: 1},
		{what: "it is time", after: 11 * time.Second, accounts: []guid.ID{bakery}, serves: true, due: true,
			owned: []guid.ID{bakery}, claims: 2},
		{what: "the claim fails", after: 21 * time.Second, accounts: []guid.ID{bakery}, serves: true,
			away: errors.New("away"), claims: 3},
		{what: "and again, just before the end", after: 41*time.Second - 1, accounts: []guid.ID{bakery}, serves: true,
			away: errors.New("away"), claims: 4},
		{what: "and at the end", after: 41 * time.Second, accounts: []guid.ID{bakery}, serves: true,
			away: errors.New("away"), due: true, claims: 5},
		{what: "it works again", after: 42 * time.Second, accounts: []guid.ID{bakery}, due: true,
			owned: []guid.ID{bakery}, claims: 6},
		{what: "the account goes", after: 43 * time.Second, changed: true, serves: true, due: true, claims: 7},
	} {
		wanted, away = step.accounts, step.away
		owned, due, err := k.Keep(t.Context(), begun.Add(step.after), step.changed, step.serves,
			func() []guid.ID { return step.accounts })
		if due != step.due || !slices.Equal(owned, step.owned) && step.away == nil || claims != step.claims ||
			!errors.Is(err, step.away) {
			t.Errorf("%s: %v, %t, %v after %d claims", step.what, owned, due, err, claims)
		}
		if k.Had() != (claims > 0) {
			t.Errorf("%s: it had leases: %t", step.what, k.Had())
		}
	}
	k.Again()
	if _, due, _ := k.Keep(t.Context(), begun.Add(44*time.Second), false, true, func() []guid.ID { return nil }); !due {
		t.Error("what is to be read again waits")
	}
}
