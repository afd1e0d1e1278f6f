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
	"strconv"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"boon.example/internal/durable"
)

// DatabaseName is what the database file of a data folder is called.
const DatabaseName = "boon.db"

// sqliteDialect is the embedded database: one writer, whose immediate transaction is the lock on everything.
var sqliteDialect = dialect{
	name:     "sqlite",
	writers:  1,
	prepared: anonymous,
	transact: transactSQLite,
	maxBatch: rowsPerQuery,
	lookUp:   lookUpByList,
	// SQLite makes a CROSS JOIN in the order in which it is written.
	entryByID: func(id string) string { return `CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = ` + id },
	read:      readSQLite,
	hasTable:  `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`,
	snapshot:  &sql.TxOptions{ReadOnly: true},
	integrity: []string{`PRAGMA integrity_check`, `PRAGMA foreign_key_check`},
	retryable: func(err error) bool {
		// Locks are waited for, but not the one under which another process opens or closes the files.
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
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
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code()&0xff == sqlite3.SQLITE_IOERR
	},
	rejected: func(err error) bool {
		e, ok := errors.AsType[*sqlite.Error](err)
		return ok && e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
	},
}

// anonymous makes $1, $2, $3 into ?, ?, ? where they stand in that order. To SQLite, $1 is a name, and the driver
// looks up each name in a list: with hundreds of them in one statement, that took longer than the statement.
func anonymous(query string) string {
	parts := strings.Split(query, "$")
	for i, p := range parts[1:] {
		rest, ok := strings.CutPrefix(p, strconv.Itoa(i+1))
		if !ok || rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return query
		}
		parts[i+1] = rest
	}
	return strings.Join(parts, "?")
}

// The pragmas of every connection. busy_timeout comes first: the others can meet a lock already.
var sqlitePragmas = []string{
	"busy_timeout(5000)",        // milliseconds; other processes of ours may be writing
	"journal_mode(WAL)",         // readers never wait for the writer
	"synchronous(FULL)",         // a commit is on stable storage when it returns
	"foreign_keys(1)",           //
	"recursive_triggers(1)",     // so that REPLACE cannot slip past a DELETE trigger
	"trusted_schema(0)",         //
	"cache_size(-16384)",        // KiB
	"temp_store(MEMORY)",        //
	"wal_autocheckpoint(32000)", // pages, 128 MiB: should the checkpointer not come to it
	"journal_size_limit(134217728)",
}

// sqliteDSN names a database file with everything that a connection needs. database/sql opens connections when it
// pleases, so that a PRAGMA by Exec would reach one of them only.
func sqliteDSN(file string, more ...string) string {
	q := url.Values{"_pragma": append(sqlitePragmas[:len(sqlitePragmas):len(sqlitePragmas)], more...), "_dqs": {"0"}, "_error_rc": {"1"}}
	q.Set("_txlock", "immediate")
	return (&url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}).String()
}

// openSQLite opens the writer and the readers of a data folder's database.
func openSQLite(file string) (writer, readers *sql.DB, err error) {
	if writer, err = sql.Open("sqlite", sqliteDSN(file)); err != nil {
		return nil, nil, fmt.Errorf("opening the database %s: %w", file, err)
	}
	writer.SetMaxOpenConns(1)
	writer.SetMaxIdleConns(1)
	// Every commit makes a reader forget its pages: a larger cache would only be memory.
	if readers, err = sql.Open("sqlite", sqliteDSN(file, "query_only(1)", "cache_size(-2048)")); err != nil {
		writer.Close()
		return nil, nil, fmt.Errorf("opening the database %s: %w", file, err)
	}
	const pool = 8
	readers.SetMaxOpenConns(pool)
	readers.SetMaxIdleConns(pool)
	return writer, readers, nil
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
