package server_test

import (
	"context"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/store"
	"boon.example/internal/store/transfer"
)

// gate is a log that lets one message through only once it is opened, and keeps none of the others waiting.
type gate struct {
	slog.Handler
	message    string
	met, opens chan bool
}

func (g gate) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == g.message {
		close(g.met)
		<-g.opens
	}
	return g.Handler.Handle(ctx, r)
}

// TestTillsDoNotWaitForTheVerification: a backup that was restored unverified takes its first redemption while the
// verification is held up at its first step, and says until its end that it is not verified.
func TestTillsDoNotWaitForTheVerification(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: t.TempDir(), logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	s.run(server.Config{})
	g := s.sell(`{"value":50,"deliveryMethodID":3}`)
	place := store.Options{Dir: s.data}
	err := s.stop()
	if err == nil {
		var backup transfer.BackupReport
		backup, err = transfer.Backup(t.Context(), place, filepath.Join(t.TempDir(), "backup.db"), time.Now(),
			func(_, _ int64) {})
		if err == nil {
			_, err = transfer.RestoreUnverified(t.Context(), backup.File, place, time.Now())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	held := gate{slog.NewJSONHandler(s.logs, nil), "the restored database is verified while it is served",
		make(chan bool), make(chan bool)}
	open := sync.OnceFunc(func() { close(held.opens) })
	s.run(server.Config{Logger: slog.New(held)})
	t.Cleanup(open) // before the service stops
	<-held.met
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":1}`, nil)
	if status, text, err := s.call("GET", "/readyz", "", ""); err != nil || status != 200 ||
		!strings.Contains(string(text), "is not yet verified") {
		t.Errorf("before its verification it is %d %s, %v", status, text, err)
	}
	open()
	s.eventually(func() bool {
		_, text, err := s.call("GET", "/readyz", "", "")
		return err == nil && strings.TrimSpace(string(text)) == "ready"
	})
}

// TestARestoredDatabaseIsVerifiedWhileItIsServed: a backup that was restored unverified is served at once; readiness,
// metric and log tell that it is not yet verified, and what came of it, also after a new start.
func TestARestoredDatabaseIsVerifiedWhileItIsServed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{"it holds": "", "it does not": `UPDATE tally SET vouchers = vouchers + 1`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &service{T: t, data: t.TempDir(), logs: &boontest.Log{}}
			s.apply(examples.HarborCoffee())
			s.run(server.Config{})
			g := s.sell(`{"value":50,"deliveryMethodID":3}`)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(s.stop())
			place := store.Options{Dir: s.data}
			none := func(_, _ int64) {}
			backup, err := transfer.Backup(t.Context(), place, filepath.Join(t.TempDir(), "backup.db"), time.Now(), none)
			must(err)
			if damage != "" {
				file, err := sql.Open("sqlite", backup.File)
				must(err)
				_, err = file.ExecContext(t.Context(), damage)
				must(err)
				must(file.Close())
				for _, suffix := range []string{"-wal", "-shm"} {
					_ = os.Remove(backup.File + suffix) // they are there or not
				}
			}
			restored, err := transfer.RestoreUnverified(t.Context(), backup.File, place, time.Now())
			if must(err); !restored.Later || restored.Vouchers != 0 {
				t.Errorf("it was verified: %+v", restored)
			}
			ready := func() string {
				status, text, err := s.call("GET", "/readyz", "", "")
				if err != nil || status != 200 {
					t.Fatalf("not ready: %d %s, %v", status, text, err)
				}
				return strings.TrimSpace(string(text))
			}
			is := func(want float64) func() bool {
				return func() bool {
					_, metrics, err := s.call("GET", "/metrics", "", "")
					return err == nil && metric(metrics, "boon_restore_verification") == want
				}
			}
			s.withStore(func(beside *store.Store) error {
				if state, err := beside.Verification(t.Context()); err != nil || !state.Pending {
					t.Errorf("the database does not say that it is not verified: %+v, %v", state, err)
				}
				return nil
			})
			for range 2 { // the second start finds what came of it
				s.run(server.Config{})
				s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":1}`, nil)
				if damage == "" {
					s.eventually(is(0))
					if text := ready(); text != "ready" || !strings.Contains(s.logs.String(), "is verified: everything holds") {
						t.Errorf("it is %q: %s", text, s.logs)
					}
				} else {
					s.eventually(is(2))
					if text := ready(); !strings.Contains(text, "ready; the database that was restored does not hold: problems (1)") {
						t.Errorf("it is %q", text)
					}
					s.eventually(func() bool { return strings.Contains(s.logs.String(), "THE RESTORED DATABASE DOES NOT HOLD") })
				}
				must(s.stop())
			}
		})
	}
}
