package store

import (
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/store/pgtest"
)

// TestHurry: a store that guests wait for gives up on a row that others keep locked, and one that they do not wait for gets it in the end.
func TestHurry(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has no rows that others lock
	o := Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)}
	calm, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, calm.Close()) })
	o.Hurried = true
	hurried, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, hurried.Close()) })

	holder, err := calm.writer.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = lockSetup(t.Context(), holder, calm.dialect.lockRows)
	must(t, err)
	configure := func(s *Store) error {
		return s.Configure(t.Context(), func(*gift.Directory, gift.Uses) (gift.Changes, error) {
			return gift.Changes{Accounts: []*gift.Account{{ID: newID(), Name: "late", Currency: dollars, Zone: time.UTC}}}, nil
		})
	}
	if err := configure(hurried); err == nil || !hurried.Away(err) {
		t.Errorf("hurried: %v, want what tells a guest to come later", err)
	}
	waits := make(chan error, 1)
	go func() { waits <- configure(calm) }()
	select {
	case err := <-waits:
		t.Errorf("calm: %v before the lock was given back", err)
	case <-time.After(callPatience + time.Second):
	}
	must(t, holder.Rollback())
	must(t, <-waits)
}
