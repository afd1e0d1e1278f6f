package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"boon.example/internal/base/durable"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/store/check"
	"boon.example/internal/store/db"
	"boon.example/internal/store/files"
)

// RestoreReport tells what Restore did.
type RestoreReport struct {
	Database      string    // the file that is the backup now
	Aside         string    // where the one is that was there before; "": there was none
	AsideLog      string    // and its log; "": it had none
	verify.Report           // of a restore that verifies later: empty
	Newest        time.Time // when the newest entry was made
	Later         bool      // the service that serves it verifies it
}

// Restore puts a backup in the place of a data folder's database. Its key file must be there, and nobody may have the
// database open. The backup is copied, brought up to date and verified beside it; only when everything holds
// is the old database put aside, with its log, under a name of its own, and the new one takes its place. Whatever fails
// before leaves the folder as it was.
func Restore(ctx context.Context, backup string, to db.Options, now time.Time, progress func(done, total int64)) (
	r RestoreReport, err error) {
	return restore(ctx, backup, to, now, false, progress)
}

// RestoreUnverified is Restore for a database that is to be served at once: it notes in the database that it is not
// verified, and whoever serves it does that then.
func RestoreUnverified(ctx context.Context, backup string, to db.Options, now time.Time) (RestoreReport, error) {
	return restore(ctx, backup, to, now, true, func(_, _ int64) {})
}

func restore(ctx context.Context, backup string, to db.Options, now time.Time, later bool,
	progress func(done, total int64)) (r RestoreReport, err error) {
	r.Later = later
	if err := to.Locate(); err != nil {
		return r, err
	}
	r.Database = filepath.Join(to.Dir, db.DatabaseName)
	if err := restorable(backup, r.Database, to.KeyFile.Path); err != nil {
		return r, err
	}
	release, err := files.Lock(r.Database)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		release = func() {}
	case err != nil:
		return r, fmt.Errorf("restoring: %w", err)
	}
	defer release()
	beside, err := os.MkdirTemp(to.Dir, ".boon-restore-*") // mode 0700
	if err != nil {
		return r, fmt.Errorf("restoring: %w", err)
	}
	defer os.RemoveAll(beside)
	if err := copySynced(backup, filepath.Join(beside, db.DatabaseName)); err != nil {
		return r, fmt.Errorf("restoring: %w", err)
	}
	if err := r.examine(ctx, db.Options{Dir: beside, KeyFile: to.KeyFile, MustExist: true}, now, progress); err != nil {
		return r, err
	}
	if err := r.swap(filepath.Join(beside, db.DatabaseName), now); err != nil {
		return r, fmt.Errorf("restoring: %w", err)
	}
	return r, nil
}

// restorable refuses what is no backup for a data folder.
func restorable(backup, database, keyFile string) error {
	from, err := os.Stat(backup)
	if err != nil {
		return fmt.Errorf("reading the backup: %w", err)
	}
	if to, err := os.Stat(database); err == nil && os.SameFile(from, to) {
		return fmt.Errorf("%s is the database that is there; name a backup", backup)
	}
	if log, err := os.Stat(backup + files.LogSuffix); err == nil && log.Size() > 0 {
		return fmt.Errorf("%s has a log beside it, so that it is no backup but a database that was not closed; make a "+
			"backup of it with `boon backup`", backup)
	}
	if _, err := os.Stat(keyFile); err != nil {
		return fmt.Errorf("without its key file no code in the backup can be read; put it there first, with mode 0600: %w",
			err)
	}
	return nil
}

func copySynced(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, source)
	return errors.Join(err, f.Sync(), f.Close())
}

// examine opens the copy of a backup in a folder of its own, which brings its schema up to date, and verifies it, or
// notes that this is to be done.
func (r *RestoreReport) examine(ctx context.Context, copied db.Options, now time.Time,
	progress func(done, total int64)) error {
	d, err := db.Open(ctx, copied)
	if err != nil {
		return fmt.Errorf("the backup does not open: %w", err)
	}
	books := check.NewVerifier(d)
	if r.Later {
		err = books.NotePending(ctx, now)
	} else {
		r.Report, err = verify.All(ctx, books, runtime.GOMAXPROCS(0), progress)
		if err == nil && len(r.Problems) == 0 {
			err = books.NoteVerified(ctx, &r.Report, now)
		}
	}
	if err == nil {
		err = d.Get(ctx, `SELECT max(e.made_at) FROM entry AS e`, nil, db.ScanTime(&r.Newest))
	}
	if err = cmp.Or(err, d.Close()); err != nil {
		return fmt.Errorf("verifying the backup: %w", err)
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("the backup was not restored, and nothing was changed: boon verify finds %d problems in it: %s",
			int64(len(r.Problems))+r.More, strings.Join(r.Problems[:min(3, len(r.Problems))], "; "))
	}
	f, err := os.OpenFile(d.File, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("restoring: %w", err)
	}
	return errors.Join(files.ClearID(f), f.Sync(), f.Close())
}

// swap puts the old database aside, and the new one in its place. The log goes first: should this be cut off, an old
// database without its log is refused, and the next call does it all again. What tells that the two belong together is
// removed last, when a power cut can no longer bring the old log back beside the new database.
func (r *RestoreReport) swap(by string, now time.Time) error {
	aside := filepath.Join(filepath.Dir(r.Database), "before-restore-"+now.UTC().Format("20060102T150405Z")+".db")
	err := os.Link(r.Database, aside)
	switch {
	case err == nil:
		r.Aside = aside
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err = os.Rename(r.Database+files.LogSuffix, aside+files.LogSuffix)
	switch {
	case err == nil:
		r.AsideLog = aside + files.LogSuffix
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.Rename(by, r.Database); err != nil {
		return err
	}
	if err := durable.SyncFolder(filepath.Dir(r.Database)); err != nil {
		return err
	}
	for _, name := range []string{r.Database + "-shm", r.Database + files.HeadSuffix, r.Database + files.IDSuffix} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return durable.SyncFolder(filepath.Dir(r.Database))
}
