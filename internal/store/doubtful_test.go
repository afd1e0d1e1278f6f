package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/event"
	"boon.example/internal/gift/operation"
	"boon.example/internal/intake"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

// TestUnconfirmedCommit: the standby that every commit must reach is away. What was saved meanwhile can be read, and a
// failover would lose it; so neither its writer nor anybody who asks for its record is told that it is done.
func TestUnconfirmedCommit(t *testing.T) {
	t.Parallel()
	s, server := doubtful(t)
	g := issue(t, s, newID(), 1)[0]
	r := filled[ledger.Request](t)
	r.RequestKey = ledger.RequestKey{AccountID: g.AccountID, Operation: operation.RedeemGift, Key: "k-1"}

	standby(t, server, "absent")
	err := s.Group(t.Context(), ledger.Want{},
		func(*ledger.State) ledger.Changes { return ledger.Changes{Requests: []ledger.Request{r}} })
	if !errors.Is(err, ledger.ErrUnknown) {
		t.Errorf("saving without the standby: %v, want ErrUnknown", err)
	}
	for begun, n := time.Now(), 0; n == 0; { // it shows when the server has noticed that its writer is gone
		if err := s.db.Readers.QueryRowContext(t.Context(), `SELECT count(*) FROM request`).Scan(&n); err != nil ||
			time.Since(begun) > time.Minute {
			t.Fatalf("the record that is not confirmed cannot be read: %v", err)
		}
	}
	if found, err := s.Requests(t.Context(), g.AccountID, "", r.Key); err == nil {
		t.Errorf("%d records are told that a failover may lose", len(found))
	}
	standby(t, server, "")
	if found, err := s.Requests(t.Context(), g.AccountID, "", r.Key); err != nil || len(found) != 1 {
		t.Errorf("%d records are told when they are safe, %v; want 1", len(found), err)
	}
}

// doubtful is a store on a server of its own, whose standby can be taken away.
func doubtful(t *testing.T) (*Store, *pgtest.Server) {
	t.Helper()
	pgtest.Need(t)
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(t.Context(), Options{Dir: t.TempDir(), Database: server.URL, ShortTimeouts: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, server
}

// TestUnconfirmedImport: that an import is finished, or undone, is told only when no failover loses it.
func TestUnconfirmedImport(t *testing.T) {
	t.Parallel()
	s, server := doubtful(t)
	m := beginImport(t, s, newID(), noon.AddDate(0, 0, -1))
	stageGifts(t, s, m, 1)
	undo := func() error { return s.UndoImport(t.Context(), m, event.TrailEntry{}, func(int) {}) }
	for _, step := range []struct {
		to intake.State
		do func() error
	}{
		{intake.Finished, func() error { return s.FinishImport(t.Context(), m, event.TrailEntry{}) }},
		{intake.Undoing, func() error { return s.HideImport(t.Context(), m) }},
	} {
		standby(t, server, "absent")
		if err := step.do(); !errors.Is(err, db.ErrUnknownOutcome) ||
			step.to == intake.Finished && !errors.Is(err, ledger.ErrUnknown) {
			t.Errorf("%s without the standby: %v", step.to, err)
		}
		for begun, is := time.Now(), intake.Unknown; is != step.to; { // when the server has noticed that its writer is gone
			all, err := s.Imports(t.Context(), m.AccountID)
			if err != nil || time.Since(begun) > time.Minute {
				t.Fatalf("what is not confirmed cannot be read: %v", err)
			}
			is = all[0].State
		}
		if is, err := s.ConfirmImport(t.Context(), m.AccountID, m.ID); err == nil {
			t.Errorf("an import is told to be %s, and a failover may lose that", is.State)
		}
		standby(t, server, "")
		if is, err := s.ConfirmImport(t.Context(), m.AccountID, m.ID); err != nil || is.State != step.to {
			t.Errorf("%+v, %v; want %s", is, err, step.to)
		}
	}
	must(t, undo())
	standby(t, server, "absent")
	if undo() == nil {
		t.Error("an import is told to be undone, and a failover may lose that")
	}
	standby(t, server, "")
	must(t, undo())
}

// standby says which standby must confirm every commit, "" for none, and waits until the server heeds it.
func standby(t *testing.T, server *pgtest.Server, name string) {
	t.Helper()
	run := func(statement string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		conn, err := pgx.Connect(ctx, server.Admin)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(ctx, statement)
		return err
	}
	for _, statement := range []string{`ALTER SYSTEM SET synchronous_standby_names = '` + name + `'`,
		`SELECT pg_reload_conf()`} {
		if err := run(statement); err != nil {
			t.Fatal(err)
		}
	}
	for begun := time.Now(); (run(`CREATE TABLE IF NOT EXISTS probe (); DROP TABLE probe`) == nil) != (name == ""); {
		if time.Since(begun) > time.Minute {
			t.Fatalf("the server does not heed synchronous_standby_names = '%s'", name)
		}
	}
}
