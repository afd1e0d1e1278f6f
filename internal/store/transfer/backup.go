package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"

	"boon.example/internal/base/durable"
	"boon.example/internal/store/db"
	"boon.example/internal/store/files"
)

// BackupReport tells what Backup wrote.
type BackupReport struct {
	File    string
	Bytes   int64
	KeyFile string // of the database. It is not in the backup, which is of no use without it
	Totals  Totals // of all accounts, added up from the backup
}

// Backup writes a copy of a data folder's database, as it is at one moment, while others go on writing to it. Whatever
// was committed before Backup was called is in it. to is a new file whose name ends in .db, or a folder, which is made
// if it is missing; the file in it is named after now.
// Nothing is ever overwritten; the file appears, with mode 0600 and on stable storage, only when it was read back and
// found whole. The schema of the database is left as it is, and the key file stays where it is. One that is missing or
// another database's is refused: who sets it aside beside this backup could restore nothing.
func Backup(ctx context.Context, of db.Options, to string, now time.Time, progress func(done, total int64)) (
	r BackupReport, err error) {
	of.MustExist = true
	if err := of.Locate(); err != nil {
		return r, err
	}
	r.KeyFile = of.KeyFile.Path
	database := filepath.Join(of.Dir, db.DatabaseName)
	if _, err := os.Stat(database); err != nil {
		return r, fmt.Errorf("there is no database to back up in the data folder %s: %w", of.Dir, err)
	}
	if r.File, err = backupName(to, now); err != nil {
		return r, err
	}
	source := db.DB{Options: of, Place: database, File: database}
	if source.Keys, err = db.FolderKeys(of); err != nil {
		return r, err
	}
	beside, err := os.CreateTemp(filepath.Dir(r.File), ".boon-backup-*") // mode 0600
	if err != nil {
		return r, fmt.Errorf("making the backup: %w", err)
	}
	defer func() {
		for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
			os.Remove(beside.Name() + suffix) // once it has its own name, this one is no longer needed
		}
	}()
	defer beside.Close()
	if err := files.Check(ctx, database); err != nil {
		return r, err
	}
	if err := files.CheckHead(ctx, database); err != nil {
		return r, err
	}
	was, err := copyPages(ctx, &source, beside, progress)
	if err != nil {
		return r, fmt.Errorf("backing up: %w", err)
	}
	if err := files.ClearID(beside); err != nil {
		return r, fmt.Errorf("making the backup: %w", err)
	}
	if r.Totals, err = checkBackup(ctx, beside.Name(), was); err != nil {
		return r, err
	}
	if err := durable.Publish(beside, r.File); err != nil {
		return r, fmt.Errorf("making the backup: %w", err)
	}
	info, err := os.Stat(r.File)
	if err != nil {
		return r, fmt.Errorf("making the backup: %w", err)
	}
	r.Bytes = info.Size()
	return r, nil
}

// backupName is the file that to means. It makes a folder that is missing.
func backupName(to string, now time.Time) (string, error) {
	file, err := filepath.Abs(to)
	if err != nil {
		return "", fmt.Errorf("making the backup: %w", err)
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) && filepath.Ext(file) != ".db" {
		if err := os.MkdirAll(file, 0o700); err != nil {
			return "", fmt.Errorf("making the folder for the backup: %w", err)
		}
		info, err = os.Stat(file)
	}
	if err == nil && info.IsDir() {
		file = filepath.Join(file, "boon-"+now.UTC().Format(backupTime)+".db")
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is there already; a backup never overwrites anything: name a folder, or another file, "+
			"which ends in .db", file)
	}
	return file, nil
}

const backupTime = "20060102T150405Z" // in the name of a backup

// Prune removes the oldest backups beside a new one, so that keep of them are left with it. It knows them by the names
// that Backup gives in a folder, and touches nothing else.
func Prune(file string, keep int) (removed []string, err error) {
	all, err := filepath.Glob(filepath.Join(filepath.Dir(file), "boon-*.db"))
	if err != nil {
		return nil, err
	}
	older := slices.DeleteFunc(all, func(name string) bool {
		_, err := time.Parse("boon-"+backupTime+".db", filepath.Base(name))
		return err != nil || name == file
	})
	slices.Sort(older) // by their times
	for _, name := range older[:max(0, len(older)-keep+1)] {
		if err := os.Remove(name); err != nil {
			return removed, fmt.Errorf("removing an old backup: %w", err)
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// copyPages copies a database as it is in one reading transaction, page by page, and adds up its accounts in the same.
// It syncs as it goes, for the reason of durable.InSteps: the service's commits wait for the same disk.
func copyPages(
	ctx context.Context, from *db.DB, to *os.File, progress func(done, total int64),
) (t totalsByAccount, err error) {
	const pages = durable.Step / 4096 // of 4 KiB at a time, between which the caller is told and may stop
	pool, err := sql.Open("sqlite", db.SQLiteDSN(from.File, "query_only(1)"))
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	defer files.LeaveUnserved(from.File)
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if err := from.FollowKeys(ctx, tx); err != nil { // which also fixes the moment
		return nil, err
	}
	if t, err = readTotals(ctx, tx); err != nil {
		return nil, err
	}
	return t, conn.Raw(func(driver any) error {
		source, ok := driver.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		})
		if !ok {
			return errors.New("the driver cannot copy databases")
		}
		b, err := source.NewBackup((&url.URL{Scheme: "file", Path: to.Name()}).String())
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if err = ctx.Err(); err == nil {
				if more, err = b.Step(pages); err == nil {
					err = to.Sync()
				}
				progress(int64(b.PageCount()-b.Remaining()), int64(b.PageCount()))
			}
		}
		return errors.Join(err, b.Finish())
	})
}

// checkBackup reads a backup as a restore would, and compares it with what it was made of.
func checkBackup(ctx context.Context, file string, was totalsByAccount) (sum Totals, err error) {
	dsn := url.URL{Scheme: "file", Path: file,
		RawQuery: "mode=ro&immutable=1&_pragma=query_only(1)&_pragma=temp_store(MEMORY)"}
	copied, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return sum, fmt.Errorf("reading the backup: %w", err)
	}
	defer copied.Close()
	var found []error
	err = db.SQLiteIntegrity(ctx, copied, func(problem string) { found = append(found, errors.New(problem)) })
	if err != nil {
		return sum, fmt.Errorf("reading the backup: %w", err)
	}
	is, err := readTotals(ctx, copied)
	if err != nil {
		return sum, fmt.Errorf("reading the backup: %w", err)
	}
	if !maps.Equal(was, is) {
		found = append(found, errors.New("its accounts do not add up to what those of the database do"))
	}
	if len(found) > 0 {
		return sum, fmt.Errorf("the backup is not whole and was thrown away; look at the database with `boon verify`: %w",
			errors.Join(found...))
	}
	for _, t := range is {
		sum = sum.Plus(t)
	}
	return sum, nil
}
