package store

import (
	"errors"
	"fmt"
	"testing"

	"boon.example/internal/ledger"
)

// TestFullDisk: where there is no room, a group fails with what says so, and reading goes on; where there is room
// again, writing goes on. The limit is that of SQLite on the size of its database.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	account := newID()
	g := issue(t, s, account, 1)[0]
	var pages int
	must(t, s.db.Writer.QueryRow(`PRAGMA page_count`).Scan(&pages))
	limit := func(to int) {
		t.Helper()
		_, err := s.db.Writer.Exec(fmt.Sprintf(`PRAGMA max_page_count = %d`, to))
		must(t, err)
	}
	limit(pages)
	var err error
	for range 10_000 {
		if _, err = tryIssue(t.Context(), s, account, 10); err != nil {
			break
		}
	}
	if !errors.Is(err, ledger.ErrFull) || !s.Full() {
		t.Fatalf("on a full disk: %v, full %v", err, s.Full())
	}
	found, err := s.GiftByCode(t.Context(), g.Card.Code)
	if err != nil || found.ID != g.ID {
		t.Errorf("looking up on a full disk: %v %v", found.ID, err)
	}
	limit(1 << 30)
	if _, err = tryIssue(t.Context(), s, account, 10); err != nil || s.Full() {
		t.Errorf("with room again: %v, full %v", err, s.Full())
	}
}
