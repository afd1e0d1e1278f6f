package server_test

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// exec runs a statement on the database of a service, past it.
func (s *service) exec(text string) {
	s.Helper()
	driver, source := "sqlite", "file:"+filepath.Join(s.data, store.DatabaseName)+"?_pragma=busy_timeout(5000)"
	if s.database != "" {
		driver, source = "pgx", s.database
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(s.Context(), text); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
}

// TestSchemaThatServesNoMore: a running service that finds a schema that does not serve it any more is not ready,
// answers 503 wherever it would have asked the database, writes nothing, and says why; when the schema serves it again,
// it goes on.
func TestSchemaThatServesNoMore(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]struct{ before, after, says string }{
		"newer": {`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (1000, 'future', 999, 0)`,
			`DELETE FROM schema_version WHERE version = 1000`, "newer version of boon: its schema is number 1000"},
		"older": {`UPDATE schema_version SET version = -version WHERE version > 1`,
			`UPDATE schema_version SET version = -version WHERE version < -1`, "older than this program: its schema is number 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, server.Config{})
			g := s.sell(`{"value":50,"deliveryMethodID":3}`)
			list := strings.TrimSuffix(giftPath, "/")
			calls := []struct{ method, path, key, body string }{
				{"GET", giftPath + g.VoucherID, examples.HarborOfficeKey, ""},
				{"GET", list, examples.HarborOfficeKey, ""},
				{"POST", validatePath, examples.HarborTillKey, `{"voucherCode":"` + g.VoucherCode + `"}`},
				{"POST", redeemPath, examples.HarborTillKey, `{"voucherID":"` + g.VoucherID + `","amount":1}`},
			}
			wait := func(ready int) (said string) {
				t.Helper()
				s.eventually(func() bool {
					status, body, err := s.callOnce("GET", "/readyz", "", "", "")
					said = string(body)
					return err == nil && status == ready
				})
				return said
			}
			entries := len(s.rows()["entry"])
			s.exec(spoil.before)
			if said := wait(http.StatusServiceUnavailable); !strings.Contains(said, "schema of the database does not serve") {
				t.Errorf("/readyz says %q", said)
			}
			for _, c := range calls {
				if status, body, err := s.callOnce(c.method, c.path, c.key, "", c.body); err != nil ||
					status != http.StatusServiceUnavailable || !strings.Contains(string(body), `"UNAVAILABLE"`) {
					t.Errorf("%s %s: %d %s %v, want 503", c.method, c.path, status, body, err)
				}
			}
			if n := len(s.rows()["entry"]); n != entries {
				t.Errorf("%d entries, want %d", n, entries)
			}
			s.eventually(func() bool { return strings.Contains(s.logs.String(), spoil.says) })
			s.exec(spoil.after)
			wait(http.StatusOK)
			for _, c := range calls {
				if status, body, err := s.callOnce(c.method, c.path, c.key, "", c.body); err != nil || status >= 300 {
					t.Errorf("%s %s: %d %s %v", c.method, c.path, status, body, err)
				}
			}
		})
	}
}
