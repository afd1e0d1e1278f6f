package server_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/guid"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// TestAPlantedKeyDoesNothing: who can write to the database, and lacks the key file, puts an API key into it, tries to
// read codes with it, and takes it out again. The service never knows the key, goes on with the set-up that it has,
// and says so in its log and a metric; boon verify names the key afterwards.
func TestAPlantedKeyDoesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	thief := "boon_live_thief_0123456789abcdef0123456789abcdef"
	hash, id := merchant.HashKey(thief), "0199ffff-0000-7000-8000-00000000abcd"
	key, err := guid.Parse(id)
	if err != nil {
		t.Fatal(err)
	}
	driver, source := "sqlite", filepath.Join(s.data, store.DatabaseName)+"?_pragma=busy_timeout(10000)"
	if s.database != "" {
		driver, source = "pgx", s.database
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	do := func(text string, args ...any) {
		t.Helper()
		if _, err := database.ExecContext(t.Context(), text, args...); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	refused := func() bool {
		_, metrics, err := s.call("GET", "/metrics", "", "")
		return err == nil && metric(metrics, "boon_setup_refused") == 1
	}
	do(`INSERT INTO api_key (id, kind, account_id, name, hint, hash, locations, created_at, permissions, accounts, programs, till, networks, test)
		SELECT $1, kind, account_id, 'planted', hint, $2, locations, created_at, 'all', accounts, programs, till, networks, test
		FROM api_key WHERE kind = 'account' LIMIT 1`, key[:], hash[:])
	do(`UPDATE setup_version SET version = version + 1`)
	s.eventually(refused)
	if status, answer, err := s.call("GET", giftPath+g.VoucherID, thief, ""); err != nil ||
		status != http.StatusUnauthorized {
		t.Errorf("the planted key is answered %d %s, %v", status, answer, err)
	}
	if status, answer, err := s.call("GET", giftPath+g.VoucherID, examples.HarborOfficeKey, ""); err != nil ||
		status != http.StatusOK {
		t.Errorf("a key of the set-up that stands is answered %d %s, %v", status, answer, err)
	}
	do(`DELETE FROM api_key WHERE id = $1`, key[:])
	do(`UPDATE setup_version SET version = version - 1`)
	s.eventually(func() bool { return !refused() })
	if said := s.logs.String(); !strings.Contains(said, "CHANGED PAST BOON") || !strings.Contains(said, id) {
		t.Errorf("the log does not tell of the planted key: %s", said)
	}
	s.withStore(func(beside *store.Store) error {
		report, err := verify.All(t.Context(), beside, 2, func(_, _ int64) {})
		if len(report.Problems) != 1 || !strings.Contains(report.Problems[0], id) {
			t.Errorf("boon verify does not name the planted key, and nothing else: %q", report.Problems)
		}
		return err
	})
}
