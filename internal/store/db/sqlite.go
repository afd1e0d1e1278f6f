package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"boon.example/internal/base/durable"
	"boon.example/internal/chain"
	"boon.example/internal/store/files"
)

// DatabaseName is what the database file of a data folder is called.
const DatabaseName = "boon.db"

// sqlite is the embedded database: one writer, whose immediate transaction is the lock on everything.
type sqlite struct {
	db          *DB
	checkpoints *checkpointer
	head        files.HeadNote
	watch       *Watch                // nil: nothing is remembered of gifts
	opened      openedFiles           // when it is served
	broken      atomic.Pointer[error] // why nothing is written any more
	commitTook  atomic.Int64          // nanoseconds, on average of late
}

func (s *sqlite) open(ctx context.Context, o *Options) (err error) {
	d := s.db
	d.File = filepath.Join(d.Dir, DatabaseName)
	d.Place = d.File
	_, missing := os.Stat(d.File)
	d.Made = errors.Is(missing, fs.ErrNotExist)
	if d.Keys, err = FolderKeys(*o); err != nil {
		return err
	}
	if err := files.Check(ctx, d.File); err != nil {
		return err
	}
	if err := files.CheckHead(ctx, d.File); err != nil {
		return err
	}
	s.head.Database = d.File
	if o.Alone {
		if err := aloneOnSQLite(ctx, d.File); err != nil {
			return err
		}
	}
	if o.GiftCache > 0 {
		if s.watch, err = newWatch(d); err != nil {
			return err
		}
	}
	if d.Writer, d.Readers, err = openSQLite(d.File, s.watch); err != nil {
		return err
	}
	s.checkpoints, err = startCheckpointer(d.File, d.Writer)
	return err
}

func (s *sqlite) close() (err error) {
	if s.checkpoints != nil { // else it never opened
		_ = s.leave(context.Background())
		err = errors.Join(s.head.Close(), s.checkpoints.close())
	}
	if s.watch != nil {
		err = errors.Join(err, s.watch.close())
	}
	return err
}

func (s *sqlite) name() string                 { return "sqlite" }
func (s *sqlite) text(t Text) string           { return t.SQLite }
func (s *sqlite) writers() int                 { return 1 }
func (s *sqlite) batch() int                   { return 16 }
func (s *sqlite) timeout() time.Duration       { return 0 }
func (s *sqlite) callerTimeout() time.Duration { return 0 }
func (s *sqlite) snapshot() *sql.TxOptions     { return &sql.TxOptions{ReadOnly: true} }
func (s *sqlite) prepares() bool               { return true }

func (s *sqlite) begun(conn *sql.Conn) error {
	on, err := writerOn(conn)
	if err == nil {
		s.begunOn(on)
	}
	return err
}

// begunOn notes that a transaction has begun on a connection of the writer.
func (s *sqlite) begunOn(on *writerConn) {
	if s.watch != nil {
		s.watch.begun(on)
	}
}

// writerOn is the connection of the driver behind one of the writer.
func writerOn(conn *sql.Conn) (on *writerConn, err error) {
	err = conn.Raw(func(c any) error {
		on = c.(*writerConn)
		return nil
	})
	return on, err
}

func (s *sqlite) commit(conn *sql.Conn, tx *sql.Tx) error {
	on, err := writerOn(conn)
	if err != nil {
		return err
	}
	return s.commitOn(on, tx.Commit)
}

// commitOn commits on a connection of the writer, and has it told to whoever remembers gifts.
func (s *sqlite) commitOn(c *writerConn, commit func() error) error {
	if s.watch != nil {
		s.watch.begin()
	}
	begun := time.Now()
	err := commit()
	s.noteCommit(time.Since(begun))
	if s.watch != nil {
		s.watch.committed(c, err)
	}
	switch {
	case sqliteCode(err) == sqlite3.SQLITE_IOERR:
		// When the write-ahead log cannot be synced, the commit is undone in this process; should the machine or the
		// process die before the log is written on, recovery may find the commit whole.
		return fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
	case err != nil:
		return err
	}
	s.checkpoints.committed()
	return nil
}

// retryable: locks are waited for, but not the one under which another process opens or closes the files.
func (s *sqlite) retryable(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_BUSY }

func (s *sqlite) rejected(err error) bool { return sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT }

// commitTime implements backend.
func (s *sqlite) commitTime() time.Duration { return time.Duration(s.commitTook.Load()) + 1 }

// writesMuch implements backend.
func (s *sqlite) writesMuch() { s.checkpoints.keepSmall() }

// noteCommit takes the time of a commit into the average. Whoever commits has the writer's turn: nobody else is here.
func (s *sqlite) noteCommit(took time.Duration) {
	const newest = 8 // of so many commits, about
	was := s.commitTook.Load()
	s.commitTook.Store(was + (int64(took)-was)/newest)
}

func (s *sqlite) noteHead(h chain.Head) { s.head.Write(h) }

// full knows a limit on the size of files, too: SQLite tells it as an error of writing.
func (s *sqlite) full(err error) bool {
	if sqliteCode(err) == sqlite3.SQLITE_FULL {
		return true
	}
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Code() == sqlite3.SQLITE_IOERR_WRITE
}

func (s *sqlite) risks(context.Context) ([]string, error) { return nil, nil }

func (s *sqlite) integrity(ctx context.Context, found func(string)) error {
	return SQLiteIntegrity(ctx, s.db.Readers, found)
}

// SQLiteIntegrity runs SQLite's own checks: each gives rows of any columns, of which "ok" means none.
func SQLiteIntegrity(ctx context.Context, q Querier, found func(problem string)) error {
	for _, query := range []string{`PRAGMA integrity_check`, `PRAGMA foreign_key_check`} {
		err := Each(ctx, q, query, nil, func(rows *sql.Rows) error {
			names, err := rows.Columns()
			if err != nil {
				return err
			}
			columns, to := make([]sql.NullString, len(names)), make([]any, len(names))
			for i := range columns {
				to[i] = &columns[i]
			}
			if err := rows.Scan(to...); err != nil {
				return err
			}
			if columns[0].String != "ok" {
				problem := "the database reports:"
				for _, c := range columns {
					problem += " " + c.String
				}
				found(problem)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("checking the database file: %w", err)
		}
	}
	return nil
}

func (s *sqlite) size(context.Context) (database, log int64, err error) {
	for name, size := range map[string]*int64{s.db.File: &database, s.db.File + files.LogSuffix: &log} {
		info, err := os.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, 0, err
		}
		if err == nil {
			*size = info.Size()
		}
	}
	return database, log, nil
}

// sqliteCode is SQLite's code of an error, without what an extended one adds; 0 when the error is not SQLite's.
func sqliteCode(err error) int {
	e, ok := errors.AsType[*driver.Error](err)
	if !ok {
		return 0
	}
	return e.Code() & 0xff
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
	"secure_delete(FAST)",       // what is changed on a page is overwritten there
	"wal_autocheckpoint(32000)", // pages, 128 MiB: should the checkpointer not come to it
	"journal_size_limit(134217728)",
}

// SQLiteDSN names a database file with everything that a connection needs. database/sql opens connections when it
// pleases, so that a PRAGMA by Exec would reach one of them only.
func SQLiteDSN(file string, more ...string) string {
	q := url.Values{"_pragma": append(sqlitePragmas[:len(sqlitePragmas):len(sqlitePragmas)], more...), "_dqs": {"0"},
		"_error_rc": {"1"}}
	q.Set("_txlock", "immediate")
	return (&url.URL{Scheme: "file", Path: file, RawQuery: q.Encode()}).String()
}

// openSQLite opens the writer and the readers of a data folder's database; a watch notes what the writer changes.
func openSQLite(file string, watch *Watch) (writer, readers *sql.DB, err error) {
	writes, err := driver.NewConnector(SQLiteDSN(file))
	if err != nil {
		return nil, nil, fmt.Errorf("opening the database %s: %w", file, err)
	}
	writer = sql.OpenDB(writerConnector{writes, watch})
	writer.SetMaxOpenConns(1)
	writer.SetMaxIdleConns(1)
	// Every commit makes a reader forget its pages: a larger cache would only be memory.
	if readers, err = sql.Open("sqlite", SQLiteDSN(file, "query_only(1)", "cache_size(-2048)")); err != nil {
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
