package store

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"boon.example/internal/guid"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/sealed"
	"boon.example/internal/store/transfer"
)

// restore lays out a data folder from a backup and the key file, as docs/operating/backup.md says.
func restore(t *testing.T, backup, keyFile string) *Store {
	t.Helper()
	dir := t.TempDir()
	for from, to := range map[string]string{backup: DatabaseName, keyFile: sealed.FileName} {
		content, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, to), content, 0o600))
	}
	return openDir(t, dir)
}

func verifyClean(t *testing.T, s *Store) verify.Report {
	t.Helper()
	report, err := verify.All(t.Context(), s, 2, func(int64, int64) {})
	must(t, err)
	for _, p := range report.Problems {
		t.Error(p)
	}
	return report
}

// TestBackupWhileServing backs up beside eight writers: what was acknowledged before the backup began is in it, and
// what is in it adds up.
func TestBackupWhileServing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDir(t, dir)
	gifts := issue(t, s, newID(), 8)
	var writers sync.WaitGroup
	var acknowledged [8]atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for n := range gifts {
		writers.Go(func() {
			for ctx.Err() == nil {
				if _, err := tryRedeem(t.Context(), s, &gifts[n].Voucher, 1); err != nil {
					t.Error(err)
					return
				}
				acknowledged[n].Add(1)
			}
		})
	}
	var files []string
	for range 3 {
		for acknowledged[0].Load() < int64(20*(len(files)+1)) && !t.Failed() {
			tryIssueOne(t, s)
		}
		var before [8]int64
		for n := range before {
			before[n] = acknowledged[n].Load()
		}
		report, err := transfer.Backup(t.Context(), Options{Dir: dir}, filepath.Join(t.TempDir(), "copy.db"), noon,
			func(done, total int64) {
				if done > total {
					t.Errorf("%d of %d pages", done, total)
				}
			})
		must(t, err)
		files = append(files, report.File)
		restored := restore(t, report.File, report.KeyFile)
		for n := range gifts {
			v, err := restored.Gift(t.Context(), gifts[n].AccountID, gifts[n].ID)
			must(t, err)
			if taken := int64(v.Funded - v.Balance); taken < before[n] {
				t.Errorf("%d redemptions are in the backup, and %d were acknowledged before it", taken, before[n])
			}
		}
		if walked := verifyClean(t, restored); walked.Vouchers != report.Totals.Vouchers ||
			walked.Entries != report.Totals.Entries {
			t.Errorf("verify read %d gifts and %d entries, the backup reported %+v", walked.Vouchers, walked.Entries,
				report.Totals)
		}
	}
	stop()
	writers.Wait()
}

// tryIssueOne makes one gift of an account of its own.
func tryIssueOne(t *testing.T, s *Store) {
	t.Helper()
	if _, err := tryIssue(t.Context(), s, newID(), 1); err != nil {
		t.Fatal(err)
	}
}

func TestBackupNeverOverwrites(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	must(t, openDir(t, dir).Close())
	file := filepath.Join(target, "mine.db")
	must(t, os.WriteFile(file, []byte("precious"), 0o600))
	if _, err := transfer.Backup(t.Context(), Options{Dir: dir}, file, noon, func(int64, int64) {}); err == nil ||
		!strings.Contains(err.Error(), "never overwrites") {
		t.Errorf("%v, want a refusal", err)
	}
	for range 2 { // the second one would have the same name
		r, err := transfer.Backup(t.Context(), Options{Dir: dir}, target, noon, func(int64, int64) {})
		if want := filepath.Join(target, "boon-20260301T120000Z.db"); r.File != want && err == nil {
			t.Errorf("it was written to %s, want %s", r.File, want)
		}
	}
	left, err := os.ReadDir(target)
	must(t, err)
	if len(left) != 2 {
		t.Errorf("%v is there, want the file that was there before and one backup", left)
	}
	for _, f := range left {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want mode 0600", f.Name(), info.Mode(), err)
		}
	}
}

// TestBackupRefusesDamage: what does not add up is told, and no file is left that could be taken for a backup.
func TestBackupRefusesDamage(t *testing.T) {
	t.Parallel()
	for want, damage := range map[string]string{
		"the database reports: card": `PRAGMA foreign_keys = 0; DROP TRIGGER voucher_never_deleted; DELETE FROM voucher`,
		"2nd reference to page":      `PRAGMA writable_schema = 1; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'card_reference') WHERE name = 'job_claimable'`,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			dir, target := t.TempDir(), t.TempDir()
			s := openDir(t, dir)
			issue(t, s, newID(), 2)
			_, err := s.db.Writer.Exec(damage)
			must(t, err)
			must(t, s.Close())
			if _, err := transfer.Backup(t.Context(), Options{Dir: dir}, target, noon, func(int64, int64) {}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want a sentence with %q", err, want)
			}
			if left, _ := os.ReadDir(target); len(left) > 0 {
				t.Errorf("%v is left behind", left)
			}
		})
	}
}

func TestBackupEndsWhenToldTo(t *testing.T) {
	t.Parallel()
	dir, target := t.TempDir(), t.TempDir()
	s := openDir(t, dir)
	issue(t, s, newID(), 2000)
	ctx, stop := context.WithCancel(t.Context())
	if _, err := transfer.Backup(ctx, Options{Dir: dir}, target, noon, func(int64, int64) { stop() }); err == nil {
		t.Error("it went on")
	}
	if left, _ := os.ReadDir(target); len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
	issue(t, s, guid.ID{1}, 1)
}

// TestBackupRefusesAnotherKeyFile: a backup without the key file that belongs to it restores nothing, and its report
// names the key file.
func TestBackupRefusesAnotherKeyFile(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(keyFile string) error
		want   string
	}{
		"another's": {func(file string) error {
			_, err := sealed.Create(file)
			return err
		}, "is not the one that the database"},
		"missing": {func(string) error { return nil }, "is missing"},
		"damaged": {func(file string) error { return os.WriteFile(file, []byte("{}"), 0o600) }, "is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, target := t.TempDir(), t.TempDir()
			s := openDir(t, dir)
			issue(t, s, newID(), 2)
			must(t, s.Close())
			must(t, os.Remove(s.KeyFile()))
			must(t, test.change(s.KeyFile()))
			if _, err := transfer.Backup(t.Context(), Options{Dir: dir}, target, noon, func(int64, int64) {}); err == nil ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want a sentence with %q", err, test.want)
			}
			if left, _ := os.ReadDir(target); len(left) > 0 {
				t.Errorf("%v is left behind", left)
			}
		})
	}
}
