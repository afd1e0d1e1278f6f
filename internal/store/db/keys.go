package db

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"boon.example/internal/guid"
	"boon.example/internal/sealed"
)

// The database says which key of the key file new secrets are made with: the one that its key check is sealed with. So
// all instances change over together, and who lacks that key is told from who has it before anything is decided on
// what it cannot find.

// keyCheckText is what a key check holds.
const keyCheckText = "boon"

// UnfinishedCopy is the key check of a database that is being copied into. No key opens it, and so nothing else opens
// the database until the copy is complete and equal.
var UnfinishedCopy = []byte("copy")

// Bound is what a sealed value is bound to: its purpose and its record.
func Bound(purpose string, record guid.ID) []byte {
	return append([]byte(purpose+"\x00"), record[:]...)
}

func boundToDatabase() []byte { return Bound("key check", guid.ID{}) }

// FolderKeys gives the keys of a data folder. In a new one it makes the key file first and the database file after it:
// a database without its key file is therefore never one that is just being made.
func FolderKeys(o Options) (*sealed.Keys, error) {
	database := filepath.Join(o.Dir, DatabaseName)
	info, err := os.Stat(database)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("opening the data folder: %w", err)
	case !exists && o.MustExist:
		return nil, noStore("there is no database in the data folder " + o.Dir +
			"; name the folder that `boon serve` or `boon apply` made")
	case exists && info.Size() == 0 && o.MustExist: // before it is opened, which would write to it
		return nil, emptyStore(database)
	case !exists:
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the data folder: %w", err)
		}
	}
	keys, err := o.KeyFile.Load()
	switch {
	case !errors.Is(err, fs.ErrNotExist):
	case exists:
		return nil, missingKeys(database, o.KeyFile.Path,
			"restore it from its backup (it is kept apart from the database's), with mode 0600")
	default:
		keys, _, err = createKeys(o.KeyFile)
	}
	if err != nil {
		return nil, err
	}
	if !exists {
		if err := createFile(database); err != nil {
			return nil, fmt.Errorf("making the database: %w", err)
		}
	}
	return keys, nil
}

func createKeys(file sealed.Place) (keys *sealed.Keys, made bool, err error) {
	if file.Credential {
		return nil, false, fmt.Errorf("the credential %s is not there, and none is made", file.Path)
	}
	keys, err = sealed.Create(file.Path)
	if errors.Is(err, fs.ErrExist) {
		keys, err = file.Load() // another process was first
		return keys, false, err
	}
	return keys, err == nil, err
}

func missingKeys(place, file, remedy string) error {
	return fmt.Errorf("the database %s is there, but its key file %s is missing; without it no voucher code can be "+
		"read or "+
		"found: %s", place, file, remedy)
}

// copyKeys tells how an instance comes by the key file that all share.
func (d *DB) copyKeys() string {
	return fmt.Sprintf("copy %s from the data folder of the instance that was first, or from its backup (it is kept "+
		"apart "+
		"from the database's), to %s, with mode 0600, and start again", sealed.FileName, d.KeyFile.Path)
}

// hasOwner tells whether a database that has a schema belongs to a key file already.
func (d *DB) hasOwner(ctx context.Context, schema bool) (owned bool, err error) {
	if !schema {
		return false, nil
	}
	if err := d.Get(ctx, `SELECT count(*) > 0 FROM key_check`, nil, &owned); err != nil {
		return false, fmt.Errorf("opening the database %s: %w", d.Place, err)
	}
	return owned, nil
}

const selectKeyCheck = `SELECT value FROM key_check WHERE one = 1`

// checkKeys refuses keys that are not this database's. A new database notes whose it is.
func (d *DB) checkKeys(ctx context.Context) error {
	var noted []byte
	err := d.Get(ctx, selectKeyCheck, nil, &noted)
	if errors.Is(err, sql.ErrNoRows) {
		err = d.Write(ctx, func(tx *sql.Tx) (err error) {
			noted, err = d.claim(ctx, tx)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("checking the keys: %w", err)
	}
	if err = d.follow(noted); err != nil && d.madeKey {
		return errors.Join(fmt.Errorf("another instance was first to use the database %s, with a key file of its own, and "+
			"all "+
			"need the same one: %s", d.Place, d.copyKeys()), sealed.Discard(d.KeyFile.Path, d.Keys))
	}
	return err
}

// claim notes in a new database whose it is, and gives what is noted.
func (d *DB) claim(ctx context.Context, tx *sql.Tx) (noted []byte, err error) {
	const note = `INSERT INTO key_check (one, value) VALUES (1, $1) ON CONFLICT (one) DO NOTHING`
	result, err := tx.ExecContext(ctx, note, d.Keys.Seal([]byte(keyCheckText), boundToDatabase()))
	if err != nil {
		return nil, fmt.Errorf("noting whose the database is: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil {
		return nil, err
	} else if n == 1 && d.Claimed != nil {
		if err := d.Claimed(ctx, d, tx); err != nil {
			return nil, err
		}
	}
	return KeyCheck(ctx, tx)
}

// KeyCheck is what tells one database from every other: it was sealed for it with a nonce of its own.
func KeyCheck(ctx context.Context, q Querier) (check []byte, err error) {
	if err := q.QueryRowContext(ctx, selectKeyCheck).Scan(&check); err != nil {
		return nil, fmt.Errorf("telling the databases apart: %w", err)
	}
	return check, nil
}

// NoteKey notes with which key of the key file new secrets are made.
func (d *DB) NoteKey(ctx context.Context, tx *sql.Tx, id byte) error {
	check, err := d.Keys.SealWith(id, []byte(keyCheckText), boundToDatabase())
	if err != nil {
		return err
	}
	return SetKeyCheck(ctx, tx, check)
}

// SetKeyCheck replaces the key check.
func SetKeyCheck(ctx context.Context, tx *sql.Tx, check []byte) error {
	_, err := tx.ExecContext(ctx, `UPDATE key_check SET value = $1 WHERE one = 1`, check)
	return err
}

// Follow is FollowKeys by what is committed.
func (d *DB) Follow(ctx context.Context) error {
	return d.Retry(ctx, func(ctx context.Context) error { return d.FollowKeys(ctx, d.Readers) })
}

// FollowKeys makes the key that the database names the one that new secrets are made with here. It fails when this
// instance lacks it: it must then not say of anything that it does not exist.
func (d *DB) FollowKeys(ctx context.Context, q Querier) error {
	noted, err := KeyCheck(ctx, q)
	if err != nil {
		return err
	}
	return d.follow(noted)
}

// follow opens a key check and uses the key that it was sealed with.
func (d *DB) follow(noted []byte) error {
	if bytes.Equal(noted, UnfinishedCopy) {
		return d.errUnfinished()
	}
	plain, err := d.Keys.Open(noted, boundToDatabase())
	// a key that was added here by mistake may have been replaced by the right one
	if err != nil && d.Keys.Reload() == nil {
		plain, err = d.Keys.Open(noted, boundToDatabase())
	}
	if errors.Is(err, sealed.ErrUnknownKey) {
		return err
	}
	if err != nil || string(plain) != keyCheckText {
		return fmt.Errorf("the key file %s is not the one that the database %s was made with; restore the right one from "+
			"its "+
			"backup", d.KeyFile.Path, d.Place)
	}
	return d.Keys.Use(noted[0])
}

// errUnfinished is what opening a database fails with that is being copied into.
func (d *DB) errUnfinished() error {
	empty := "drop and create the database " + d.Place
	if d.File != "" {
		empty = "remove the file " + d.File
	}
	return fmt.Errorf("a boon copy into the database %s did not end, so that not all is there; %s, and give the boon "+
		"copy command again", d.Place, empty)
}
