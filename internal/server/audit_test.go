package server_test

import (
	"database/sql"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

// TestGiftsAreLookedOver: beside the service all gifts are looked over, and those that change once more. A balance that
// somebody changed in the database's file, past its guards, is found and named.
func TestGiftsAreLookedOver(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: t.TempDir(), logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	quick := server.Config{AuditPace: 1_000_000}
	s.run(quick)
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	s.audited(func(gifts, faults, complete float64) bool { return gifts >= 1 && complete > 0 })
	if strings.Contains(s.logs.String(), "do not add up") {
		t.Fatalf("before the damage: %s", s.logs)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}

	s.damage(`UPDATE voucher SET balance = balance - 1`)

	s.run(quick)
	s.audited(func(gifts, faults, complete float64) bool { return faults >= 1 && complete > 0 })
	said := s.logs.String()
	if !strings.Contains(said, `"level":"ERROR","msg":"the books do not add up","problem":"gift `+g.VoucherID+`: it `+
		`says 4999`) {
		t.Errorf("the log does not name the gift: %s", said)
	}
}

// damage changes vouchers in the database's file, past its guards. The service is not running.
func (s *service) damage(update string) {
	s.Helper()
	file, err := sql.Open("sqlite", filepath.Join(s.data, store.DatabaseName))
	if err != nil {
		s.Fatal(err)
	}
	defer file.Close()
	var guards []string
	rows, err := file.QueryContext(s.Context(), `SELECT 'DROP TRIGGER ' || name FROM sqlite_schema WHERE type = `+
		`'trigger' AND tbl_name = 'voucher'`)
	if err != nil {
		s.Fatal(err)
	}
	for rows.Next() {
		var guard string
		if err := rows.Scan(&guard); err != nil {
			s.Fatal(err)
		}
		guards = append(guards, guard)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		s.Fatal(err)
	}
	for _, statement := range append(guards, update) {
		if _, err := file.ExecContext(s.Context(), statement); err != nil {
			s.Fatal(err)
		}
	}
}

// audited waits until what the auditor tells is as it should be.
func (s *service) audited(enough func(gifts, faults, complete float64) bool) {
	s.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		_, metrics, err := s.call("GET", "/metrics", "", "")
		if err != nil {
			s.Fatal(err)
		}
		if enough(metric(metrics, "boon_audit_gifts_total"), metric(metrics, "boon_audit_faults_total"),
			metric(metrics, "boon_audit_last_complete")) {
			return
		}
		if time.Since(begun) > time.Minute {
			s.Fatalf("not after a minute:\n%s\n%s", metrics, s.logs)
		}
	}
}

// metric is the value of a metric without labels.
func metric(metrics []byte, name string) float64 {
	found := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(metrics)
	if found == nil {
		return -1
	}
	value, _ := strconv.ParseFloat(string(found[1]), 64)
	return value
}
