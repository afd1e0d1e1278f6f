package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"

	"boon.example/internal/durable"
	"boon.example/internal/store/db"
)

// DatabaseName is what the database file of a data folder is called.
const DatabaseName = "boon.db"

// sqliteDialect is the embedded database: one writer, whose immediate transaction is the lock on everything.
var sqliteDialect = dialect{
	name:     "sqlite",
	writers:  1,
	prepared: db.Anonymous,
	transact: transactSQLite,
	maxBatch: db.RowsPerQuery,
	lookUp:   lookUpByList,
	// SQLite makes a CROSS JOIN in the order in which it is written.
	entryByID: func(id string) string { return `CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = ` + id },
	read:      readSQLite,
	hasTable:  `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`,
	snapshot:  &sql.TxOptions{ReadOnly: true},
	integrity: []string{`PRAGMA integrity_check`, `PRAGMA foreign_key_check`},
	retryable: func(err error) bool {
		// Locks are waited for, but not the one under which another process opens or closes the files.
		return db.SQLiteCode(err) == sqlite3.SQLITE_BUSY
	},
	beginCommit: func(*sql.Conn) {},
	doubtful:    func(*sql.Conn) bool { return false },
	measure: func(_ context.Context, s *Store) (database, log int64, err error) {
		for name, size := range map[string]*int64{s.file: &database, s.file + "-wal": &log} {
			info, err := os.Stat(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, 0, err
			}
			if err == nil {
				*size = info.Size()
			}
		}
		return database, log, nil
	},
	outcomeUnknown: func(err error) bool {
		// When the write-ahead log cannot be synced, the commit is undone in this process; should the machine or the
		// process die before the log is written on, recovery may find the commit whole.
		return db.SQLiteCode(err) == sqlite3.SQLITE_IOERR
	},
	rejected: func(err error) bool {
		return db.SQLiteCode(err) == sqlite3.SQLITE_CONSTRAINT
	},
}

// createFile makes an empty file that only its owner may read; SQLite gives its other files the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return durable.SyncFolder(filepath.Dir(path))
}

// aloneOnSQLite fails when another process has the database open: each connection holds a shared lock on it for as
// long as it lives, beside which none gets it for itself.
func aloneOnSQLite(ctx context.Context, file string) error {
	q := url.Values{"_pragma": {"busy_timeout(500)", "locking_mode(EXCLUSIVE)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}).String())
	if err != nil {
		return fmt.Errorf("opening the database %s: %w", file, err)
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the database %s is in use; stop boon serve, and whatever else has it open, first: %w", file, err)
	}
	return tx.Rollback()
}

// transactSQLite runs fn in a transaction and commits.
func transactSQLite(ctx context.Context, s *Store, fn func(db.Runner) error) error {
	return s.transact(ctx, func(tx *sql.Tx) error { return fn(db.ExecRows(tx, s.hot)) })
}
