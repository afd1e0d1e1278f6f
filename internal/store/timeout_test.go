package store

import (
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

// TestShortTimeouts: a service gives up on a row that others keep locked; a command done for it.
func TestShortTimeouts(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has no rows that others lock
	o := Options{Dir: t.TempDir(), Database: pgtest.Fresh(t)}
	background, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, background.Close()) })
	o.ShortTimeouts = true
	serving, err := Open(t.Context(), o)
	must(t, err)
	t.Cleanup(func() { must(t, serving.Close()) })

	holder, err := background.db.Writer.BeginTx(t.Context(), nil)
	must(t, err)
	_, err = holder.ExecContext(t.Context(), `SELECT version FROM setup_version WHERE one = 1 FOR NO KEY UPDATE`)
	must(t, err)
	configure := func(s *Store) error {
		return s.Configure(t.Context(), func(*gift.Directory, gift.Uses) (gift.Changes, error) {
			return gift.Changes{Accounts: []*gift.Account{{ID: newID(), Name: "late", Currency: dollars, Zone: time.UTC}}}, nil
		})
	}
	if err := configure(serving); err == nil || !serving.Away(err) {
		t.Errorf("with short timeouts: %v, want what tells a guest to come later", err)
	}
	done := make(chan error, 1)
	go func() { done <- configure(background) }()
	select {
	case err := <-done:
		t.Errorf("a command: %v before the lock was given back", err)
	case <-time.After(db.CallTimeout + time.Second):
	}
	must(t, holder.Rollback())
	must(t, <-done)
}
