package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/money"
	"boon.example/internal/sealed"
	"boon.example/internal/store/files"
	"boon.example/internal/store/transfer"
)

// killed is a data folder as a service leaves it that is killed: its newest redemptions are in the log only. ages are
// copies of its database file: before the service began, as a plain copy and as a backup.
func killed(t *testing.T) (dir string, g gift.Gift, plain, backup string) {
	t.Helper()
	live := t.TempDir()
	s, err := Open(t.Context(), Options{Dir: live, Serves: true})
	must(t, err)
	g = issue(t, s, newID(), 1)[0]
	must(t, s.Close())
	plain = filepath.Join(t.TempDir(), "plain.db")
	copyFile(t, filepath.Join(live, DatabaseName), plain)
	r, err := transfer.Backup(t.Context(), Options{Dir: live}, filepath.Join(t.TempDir(), "backup.db"),
		noon, func(int64, int64) {})
	must(t, err)
	s, err = Open(t.Context(), Options{Dir: live, Serves: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	redeem(t, s, &g.Voucher, 100)
	dir = t.TempDir()
	for _, name := range []string{DatabaseName, DatabaseName + files.LogSuffix, DatabaseName + files.IDSuffix,
		DatabaseName + files.HeadSuffix, sealed.FileName} {
		copyFile(t, filepath.Join(live, name), filepath.Join(dir, name))
	}
	return dir, g, plain, r.File
}

// TestStartRefusesWhatDoesNotBelongTogether: every way to open a data folder refuses a log beside another database, and
// a database whose log has gone, and says what to do.
func TestStartRefusesWhatDoesNotBelongTogether(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(dir, plain, backup string) error
		want  string // in the refusal; "": it opens
		left  money.Amount
	}{
		"nothing": {func(string, string, string) error { return nil }, "", 9_900},
		"an older copy over it": {func(dir, plain, _ string) error { return replace(plain, dir) },
			"boon restore FILE", 0},
		"a backup over it": {func(dir, _, backup string) error { return replace(backup, dir) },
			"boon restore FILE", 0},
		"a backup over it, the log gone": {func(dir, _, backup string) error { removeLog(dir); return replace(backup, dir) },
			"lacks what was committed last", 0},
		"the log gone": {func(dir, _, _ string) error { return removeLog(dir) }, "is missing", 0},
		"the log empty": {func(dir, _, _ string) error { return cutLog(dir, func(int64) int64 { return 0 }) },
			"lacks what was committed last", 0},
		"the log cut by a byte": {func(dir, _, _ string) error { return cutLog(dir, func(n int64) int64 { return n - 1 }) },
			"lacks what was committed last", 0},
		"half the log": {func(dir, _, _ string) error { return cutLog(dir, func(n int64) int64 { return n / 2 }) },
			"lacks what was committed last", 0},
		"the log gone, and what tells that there was one": {func(dir, _, _ string) error {
			removeLog(dir)
			return os.Remove(filepath.Join(dir, DatabaseName+files.IDSuffix))
		}, "lacks what was committed last", 0},
		"the database gone": {func(dir, _, _ string) error {
			removeLog(dir)
			return os.WriteFile(filepath.Join(dir, DatabaseName), nil, 0o600)
		}, "there is nothing of boon", 0},
		"the log and both notes gone": {func(dir, _, _ string) error {
			removeLog(dir)
			return errors.Join(os.Remove(filepath.Join(dir, DatabaseName+files.IDSuffix)),
				os.Remove(filepath.Join(dir, DatabaseName+files.HeadSuffix)))
		}, "", 10_000},
		"half a note, as of a disk that had not synced it": {func(dir, _, _ string) error {
			return os.Truncate(filepath.Join(dir, DatabaseName+files.HeadSuffix), 40)
		}, "", 9_900},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, g, plain, backup := killed(t)
			must(t, test.spoil(dir, plain, backup))
			before := contents(t, dir)
			s, err := Open(t.Context(), Options{Dir: dir, MustExist: true, Serves: true})
			if test.want == "" {
				must(t, err)
				defer s.Close()
				found, err := s.Gift(t.Context(), g.AccountID, g.ID)
				if err != nil || found.Balance != test.left {
					t.Errorf("the balance is %d, %v, want %d", found.Balance, err, test.left)
				}
				return
			}
			if err == nil {
				s.Close()
				t.Fatal("it opened")
			}
			_, backupErr := transfer.Backup(t.Context(), Options{Dir: dir}, t.TempDir(), noon, func(int64, int64) {})
			for _, err := range []error{err, backupErr} {
				if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), dir) {
					t.Errorf("%v does not say %q", err, test.want)
				}
			}
			if after := contents(t, dir); after != before {
				t.Error("the files were changed")
			}
		})
	}
}

// TestTheWaysOutOfACutLog: each way that the refusal names leads to a database that opens, and holds.
func TestTheWaysOutOfACutLog(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		way  func(t *testing.T, dir, backup string, log []byte) error
		left money.Amount
	}{
		"the log is put back": {func(_ *testing.T, dir, _ string, log []byte) error {
			return os.WriteFile(filepath.Join(dir, DatabaseName+files.LogSuffix), log, 0o600)
		}, 9_900},
		"a backup is restored": {func(t *testing.T, dir, backup string, _ []byte) error {
			_, err := transfer.Restore(t.Context(), backup, Options{Dir: dir}, noon, func(int64, int64) {})
			return err
		}, 10_000},
		"the note is removed": {func(_ *testing.T, dir, _ string, _ []byte) error {
			return os.Remove(filepath.Join(dir, DatabaseName+files.HeadSuffix))
		}, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, g, _, backup := killed(t)
			log, err := os.ReadFile(filepath.Join(dir, DatabaseName+files.LogSuffix))
			must(t, err)
			must(t, cutLog(dir, func(n int64) int64 { return n - 1 }))
			for range 2 { // a start that is refused leaves the way open
				if s, err := Open(t.Context(), Options{Dir: dir, Serves: true}); err == nil {
					s.Close()
					t.Fatal("it opened")
				}
			}
			must(t, test.way(t, dir, backup, log))
			s, err := Open(t.Context(), Options{Dir: dir, MustExist: true, Serves: true})
			must(t, err)
			defer s.Close()
			found, err := s.Gift(t.Context(), g.AccountID, g.ID)
			if err != nil || found.Balance != test.left {
				t.Errorf("the balance is %d, %v, want %d", found.Balance, err, test.left)
			}
			verifyClean(t, s)
		})
	}
}

// TestTwoServicesNoteTheirHeads: two processes write one database, and write over each other's notes. At every moment a
// kill leaves what opens.
func TestTwoServicesNoteTheirHeads(t *testing.T) {
	t.Parallel()
	live := t.TempDir()
	var both []*Store
	for range 2 {
		s, err := Open(t.Context(), Options{Dir: live, Serves: true})
		must(t, err)
		defer s.Close()
		both = append(both, s)
	}
	g := issue(t, both[0], newID(), 1)[0]
	for n := range 6 {
		redeem(t, both[n%2], &g.Voucher, 100)
		left := t.TempDir()
		for _, name := range []string{DatabaseName + files.HeadSuffix, DatabaseName, DatabaseName + files.LogSuffix,
			DatabaseName + files.IDSuffix, sealed.FileName} {
			copyFile(t, filepath.Join(live, name), filepath.Join(left, name))
		}
		must(t, openDir(t, left).Close())
	}
}

// TestStartAfterPowerCut: a database file that a power cut left half copied is shorter than its first page says, but
// whole with its log. It opens.
func TestStartAfterPowerCut(t *testing.T) {
	t.Parallel()
	live, dir := t.TempDir(), t.TempDir()
	s, err := Open(t.Context(), Options{Dir: live, Serves: true})
	must(t, err)
	defer s.Close()
	older := filepath.Join(dir, DatabaseName)
	for _, name := range []string{DatabaseName, DatabaseName + files.IDSuffix, sealed.FileName} {
		copyFile(t, filepath.Join(live, name), filepath.Join(dir, name))
	}
	gifts := issue(t, s, newID(), 50)
	redeem(t, s, &gifts[0].Voucher, 100)
	copyFile(t, filepath.Join(live, DatabaseName+files.LogSuffix), older+files.LogSuffix)
	var busy, pages, done int
	err = s.db.Writer.QueryRow(`PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &pages, &done)
	if err != nil || done < pages {
		t.Fatal(pages, done, err)
	}
	beside := filepath.Join(t.TempDir(), "newer.db")
	copyFile(t, filepath.Join(live, DatabaseName), beside)
	newer, err := os.ReadFile(beside)
	must(t, err)
	torn, err := os.ReadFile(older)
	must(t, err)
	if len(torn) >= len(newer) {
		t.Fatal("the database did not grow")
	}
	copy(torn, newer[:4096])
	must(t, os.WriteFile(older, torn, 0o600))
	after, err := Open(t.Context(), Options{Dir: dir, MustExist: true, Serves: true})
	must(t, err)
	defer after.Close()
	found, err := after.Gift(t.Context(), gifts[0].AccountID, gifts[0].ID)
	if err != nil || found.Balance != 9_900 {
		t.Errorf("the balance is %d, %v, want 99.00", found.Balance, err)
	}
	verifyClean(t, after)
}

// copyID has the newest id of a database be copied from its log into its file, as a job does: at each try, it may be
// the turn of the checkpointer.
func copyID(t *testing.T, s *Store, file string) {
	t.Helper()
	for range 1000 {
		must(t, s.CheckFiles(t.Context()))
		if p := pairing(t, file); p.Serves && len(p.IDs) == 1 {
			return
		}
	}
}

// TestIDsStayNotedUntilSynced: while the database file's new id may be in the log only, or not be on stable storage
// yet, the file may come back with the id that it had before, and opens with its log.
func TestIDsStayNotedUntilSynced(t *testing.T) {
	t.Parallel()
	live := t.TempDir()
	file := filepath.Join(live, DatabaseName)
	s, err := Open(t.Context(), Options{Dir: live, Serves: true})
	must(t, err)
	g := issue(t, s, newID(), 1)[0]
	copyID(t, s, file)
	must(t, s.Close())
	before := filepath.Join(t.TempDir(), "before.db")
	copyFile(t, file, before)

	reader := openDir(t, live)
	// as long as it reads, the log is not copied into the file
	tx, err := reader.db.Readers.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	must(t, err)
	var vouchers int
	must(t, tx.QueryRow(`SELECT count(*) FROM voucher`).Scan(&vouchers))
	s, err = Open(t.Context(), Options{Dir: live, Serves: true})
	must(t, err)
	defer s.Close()
	noted := func(want int) {
		t.Helper()
		if p := pairing(t, file); !p.Serves || len(p.IDs) != want {
			t.Errorf("noted is %+v, want %d ids", p, want)
		}
	}
	noted(2)
	redeem(t, s, &g.Voucher, 100)
	after := func() (*Store, error) { // a power cut that took the file back to what it was before
		dir := t.TempDir()
		for _, name := range []string{DatabaseName + files.LogSuffix, DatabaseName + files.IDSuffix, sealed.FileName} {
			copyFile(t, filepath.Join(live, name), filepath.Join(dir, name))
		}
		copyFile(t, before, filepath.Join(dir, DatabaseName))
		return Open(t.Context(), Options{Dir: dir, MustExist: true})
	}
	cut, err := after()
	must(t, err)
	found, err := cut.Gift(t.Context(), g.AccountID, g.ID)
	if err != nil || found.Balance != 9_900 {
		t.Errorf("the balance is %d, %v, want 9900", found.Balance, err)
	}
	must(t, cut.Close())

	must(t, tx.Rollback())
	copyID(t, s, file)
	noted(1)
	if cut, err := after(); err == nil || !strings.Contains(err.Error(), "do not belong together") {
		t.Errorf("an older file beside the log opens: %v, %v", cut, err)
	}
}

// pairing is what is noted of a database file and its log.
func pairing(t *testing.T, database string) (p struct {
	IDs    []uint32
	Serves bool
}) {
	t.Helper()
	text, err := os.ReadFile(database + files.IDSuffix)
	must(t, err)
	must(t, json.Unmarshal(text, &p))
	return p
}

// cutLog makes a log as long as to says.
func cutLog(dir string, to func(length int64) int64) error {
	log := filepath.Join(dir, DatabaseName+files.LogSuffix)
	info, err := os.Stat(log)
	if err != nil {
		return err
	}
	return os.Truncate(log, to(info.Size()))
}

func replace(by, dir string) error {
	content, err := os.ReadFile(by)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, DatabaseName), content, 0o600)
}

func removeLog(dir string) error { return os.Remove(filepath.Join(dir, DatabaseName+files.LogSuffix)) }

func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasSuffix(path, "-shm") { // which every reader of the log makes anew
			text, err := os.ReadFile(path)
			all.WriteString(path + string(text))
			return err
		}
		return err
	}))
	return all.String()
}

// TestOrderlyEndsLeaveNothingToRefuse: whoever closes a database last, in whatever order, the next one opens it.
func TestOrderlyEndsLeaveNothingToRefuse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(serves bool) *Store {
		t.Helper()
		s, err := Open(t.Context(), Options{Dir: dir, Serves: serves})
		must(t, err)
		return s
	}
	old := open(true)
	issue(t, old, newID(), 1)
	next := open(true) // a new version starts before the old one stops
	command := open(false)
	must(t, old.Close())
	copyID(t, next, filepath.Join(dir, DatabaseName))
	if p := pairing(t, filepath.Join(dir, DatabaseName)); !p.Serves || len(p.IDs) != 1 {
		t.Errorf("a service has it open, and %+v is noted", p)
	}
	must(t, next.Close())
	must(t, command.Close())
	_, err := transfer.Backup(t.Context(), Options{Dir: dir}, t.TempDir(), noon, func(int64, int64) {})
	must(t, err)
	must(t, open(true).Close())

	// After a kill, a command or a backup closes the database, and copies its log back.
	dir, _, _, _ = killed(t)
	must(t, open(false).Close())
	must(t, open(true).Close())
	dir, _, _, _ = killed(t)
	_, err = transfer.Backup(t.Context(), Options{Dir: dir}, t.TempDir(), noon, func(int64, int64) {})
	must(t, err)
	must(t, open(true).Close())
}

// TestFilesTakenAwayWhileServing: a deleted log or a replaced database is noticed; from then on nothing is written, and
// of what was answered before nothing is lost.
func TestFilesTakenAwayWhileServing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(dir string) error
		want  string
		kept  bool // what was answered
	}{
		"the log deleted": {removeLog, "was deleted or replaced", true},
		"the log replaced": {func(dir string) error {
			return errorsOf(removeLog(dir), os.WriteFile(filepath.Join(dir, DatabaseName+files.LogSuffix), nil, 0o600))
		}, "was deleted or replaced", true},
		"the database removed": {func(dir string) error { return os.Remove(filepath.Join(dir, DatabaseName)) },
			"was replaced or removed", false},
		"another database moved in": {func(dir string) error {
			return errorsOf(os.WriteFile(filepath.Join(dir, "x"), make([]byte, 4096), 0o600),
				os.Rename(filepath.Join(dir, "x"), filepath.Join(dir, DatabaseName)))
		}, "was replaced or removed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s, err := Open(t.Context(), Options{Dir: dir, Serves: true})
			must(t, err)
			g := issue(t, s, newID(), 1)[0]
			must(t, s.CheckFiles(t.Context()))
			redeem(t, s, &g.Voucher, 100)
			must(t, test.spoil(dir))
			redeem(t, s, &g.Voucher, 100) // it was not noticed yet
			for range 2 {
				if err := s.CheckFiles(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v does not say %q", err, test.want)
				}
			}
			if s.Ping(t.Context()) == nil {
				t.Error("it is still ready")
			}
			if _, err := tryRedeem(t.Context(), s, &g.Voucher, 100); err == nil {
				t.Error("it still takes money")
			}
			if !test.kept {
				must(t, s.Close())
				return
			}
			// As a kill now would leave it.
			left := t.TempDir()
			for _, name := range []string{DatabaseName, DatabaseName + files.IDSuffix, sealed.FileName} {
				copyFile(t, filepath.Join(dir, name), filepath.Join(left, name))
			}
			must(t, s.Close())
			found, err := openDir(t, left).Gift(t.Context(), g.AccountID, g.ID)
			if err != nil || found.Balance != 9_800 {
				t.Errorf("the balance is %d, %v, want 98.00", found.Balance, err)
			}
		})
	}
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
