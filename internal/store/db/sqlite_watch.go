package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"sync"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"boon.example/internal/guid"
)

// GiftKey names a gift.
type GiftKey struct{ Account, ID guid.ID }

// GiftChange is a row of a gift that was changed, made or taken away.
type GiftChange struct {
	GiftKey
	Table  string // of the row
	Secret string // the hash that leads to the gift, of a row of secret; else ""
}

// Watch keeps what a process remembers of gifts in step with the embedded database. Other processes may have the same
// files open.
//
// # Why it is hard
//
// SQLite tells a connection that another one has committed (PRAGMA data_version). It does not tell what, and not
// whether the other one is in this process. If a commit of this process made everything be forgotten, nothing would
// stay remembered beside redemptions. So the commits of this process, which all go through the one writer, have to be
// told from those of others.
//
// # How it works
//
// A watching connection, which never writes, sees every commit of whoever it be. The writer sees those of others only.
// Before the writer commits, it says so (committing). Once it has, it has forgotten what its transaction changed,
// reads the version of the watching connection, and then its own. If its own is the same as after its last commit,
// nobody else has committed since, and the version of the watching connection is known. The pre-update hook of the
// writer tells which gifts a transaction changed, so that no statement can be left out.
//
// # Invariants
//
//  1. While the version of the watching connection is the known one, forget was told of every commit there is. Only
//     then is Current true, so what is remembered is as new as the database was while Current ran.
//  2. A commit of this process is told before Transact, Write or WriteInBackground return, and so before any caller is
//     answered.
//  3. Between the moment that a commit of this process can be seen and the moment that it was told, the version is not
//     the known one, and committing is set: Current is false, and the database is asked.
//  4. A commit of another process is told when Current finds another version while committing is not set, or when the
//     writer finds that its own version has changed, whichever is first. All is forgotten then.
//  5. The writer's own version is read after that of the watching connection. A commit of another process between the
//     two is in the writer's version, and then all is forgotten.
//  6. Where a version cannot be read, no version is known, and all is forgotten. The same holds after a commit whose
//     outcome is unknown, and for the first commit of a new connection of the writer, as its versions begin anew.
//  7. While a transaction of the writer is open, nobody commits. So what is current within it is current until it
//     commits. Within it, its own version is enough (CurrentWithin): if that is the same as after its last commit,
//     nobody else has committed since, and forget was told of that commit. Reading it takes no lock, as the transaction
//     has one.
//  8. What was read from the database before forget was told must not be remembered after it. That is the duty of
//     whoever remembers: see lookup.cache.
//
// # What shows it
//
// These are tests of internal/store: TestCacheOfManyProcesses (1, 4), TestCacheIsAsNewAsAnswers (2, 3, 5, 7),
// TestEveryChangeOfAGiftIsSeen (the hook), TestCacheAfterFailedCommits (6). The other tests of internal/store,
// internal/ledger and internal/face/api open their stores with a cache, too.
type Watch struct {
	serving func() error   // see DB.serving
	tables  map[string]int // see WatchGifts
	forget  func(changed []GiftChange, all bool)
	begins  func()

	mu         sync.Mutex
	conn       driver.Conn   // the watching connection
	reader     versionReader // of it
	writer     *writerConn   // on which was committed last
	known      int64         // the version of the reader up to which forget was told; -1: none
	others     int64         // the version of the writer, after its last commit
	committing bool

	// the connection of the writer's transaction, and what that has changed; only the writer's goroutine uses them
	within  *writerConn
	changed []GiftChange
	all     bool
}

// unknown is a version that no connection has.
const unknown = -1

// maxChanged is how many gifts a transaction forgets one by one.
const maxChanged = 4096

// versionReader reads which version of the database a connection sees.
type versionReader struct {
	stmt versionStmt
	row  []driver.Value // what was read last
}

type versionStmt interface {
	driver.Stmt
	driver.StmtQueryContext
}

func (r *versionReader) close() error {
	if r.stmt == nil {
		return nil
	}
	stmt := r.stmt
	r.stmt = nil
	return stmt.Close()
}

func newVersionReader(conn driver.Conn) (versionReader, error) {
	stmt, err := conn.Prepare(`PRAGMA data_version`)
	if err != nil {
		return versionReader{}, fmt.Errorf("watching the database: %w", err)
	}
	return versionReader{stmt.(versionStmt), make([]driver.Value, 1)}, nil
}

func (r *versionReader) read() (int64, error) {
	if r.stmt == nil {
		return unknown, errors.New("watching the database: there is no connection")
	}
	rows, err := r.stmt.QueryContext(context.Background(), nil)
	if err != nil {
		return unknown, err
	}
	defer rows.Close()
	if err := rows.Next(r.row); err != nil {
		return unknown, err
	}
	version, _ := r.row[0].(int64)
	return version, nil
}

// newWatch opens the watching connection.
func newWatch(d *DB) (*Watch, error) {
	conn, err := (&modernc.Driver{}).Open(SQLiteDSN(d.File, "query_only(1)", "cache_size(-64)"))
	if err != nil {
		return nil, fmt.Errorf("watching the database: %w", err)
	}
	reader, err := newVersionReader(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Watch{serving: d.serving, conn: conn, reader: reader, known: unknown, others: unknown,
		forget: func([]GiftChange, bool) {}, begins: func() {}}, nil
}

func (w *Watch) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	conn := w.conn
	if w.conn = nil; conn == nil {
		return nil // it was closed before
	}
	return errors.Join(w.reader.close(), conn.Close())
}

// Current tells that forget was told of everything that was committed before Current was called. It is false for a
// moment while this process commits, where the database cannot be asked, and while its schema does not serve this
// program.
func (w *Watch) Current() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	version, err := w.reader.read()
	switch {
	case err != nil, w.serving() != nil:
		return false
	case version == w.known:
		return true
	case w.committing: // this process may have, and is about to tell
		return false
	}
	w.known = version
	w.forget(nil, true)
	return true
}

// CurrentWithin is Current for whoever has a transaction of the writer open: what it tells is so until that commits.
func (w *Watch) CurrentWithin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.within != w.writer || w.others == unknown || w.serving() != nil {
		return false
	}
	version, err := w.within.readVersion()
	return err == nil && version == w.others
}

// begun tells that a transaction of the writer has begun on a connection: nothing is changed in it yet. What was
// announced for the one before it, which may have been rolled back, is no part of it.
func (w *Watch) begun(on *writerConn) {
	w.within, w.changed, w.all = on, nil, false
	w.begins()
}

// begin tells that the writer is about to commit.
func (w *Watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.committing = true
}

// committed tells that the writer has committed on a connection, or has failed to.
func (w *Watch) committed(conn *writerConn, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed, all := w.changed, w.all || err != nil
	w.changed, w.all, w.committing = nil, false, false
	known, readErr := w.reader.read()
	if w.writer != conn {
		w.writer, w.others = conn, unknown
	}
	others, err := conn.readVersion()
	if err != nil || readErr != nil || others != w.others {
		all = true
	}
	if err != nil || readErr != nil {
		known = unknown
	}
	w.forget(changed, all)
	w.known, w.others = known, others
}

// note remembers which gift a row that the writer changes is of. It is the pre-update hook of the writer.
func (w *Watch) note(row *modernc.SQLitePreUpdateData) {
	first, ok := w.tables[row.TableName]
	switch {
	case !ok || w.all:
		return
	case first < 0: // of many gifts; a new row is of none that was read
		w.all = row.Op != sqlite3.SQLITE_INSERT && (first == -1 || row.Op != sqlite3.SQLITE_UPDATE || moved(row, -2-first))
		return
	case len(w.changed) >= maxChanged:
		w.all = true
		return
	}
	if row.Op != sqlite3.SQLITE_INSERT {
		w.noteColumns(row, first, false)
	}
	if row.Op == sqlite3.SQLITE_INSERT || row.Op == sqlite3.SQLITE_UPDATE && first > 0 { // else it is the same gift
		w.noteColumns(row, first, true)
	}
}

// Whether is in place of the column of an account in WatchGifts: a row of the table is of many gifts, and only another
// value in one of its columns changes them.
func Whether(column int) int { return -2 - column }

// moved reports whether an update gives a column another value.
func moved(row *modernc.SQLitePreUpdateData, column int) bool {
	was, is := make([]any, column+1), make([]any, column+1)
	if err := errors.Join(row.Old(was...), row.New(is...)); err != nil {
		return true
	}
	return !reflect.DeepEqual(was[column], is[column])
}

// noteColumns remembers the gift that a row names in two columns, and what leads to it in the first one: as the row was
// before, or as it is made.
func (w *Watch) noteColumns(row *modernc.SQLitePreUpdateData, first int, made bool) {
	var columns [4]any
	values, err := columns[:first+2], error(nil)
	if made {
		err = row.New(values...)
	} else {
		err = row.Old(values...)
	}
	account, isAccount := values[first].([]byte)
	id, isID := values[first+1].([]byte)
	if err != nil || !isAccount || !isID || len(account) != len(guid.ID{}) || len(id) != len(guid.ID{}) {
		w.all = true
		return
	}
	change := GiftChange{GiftKey: GiftKey{guid.ID(account), guid.ID(id)}, Table: row.TableName}
	if hash, is := values[0].([]byte); is && first > 0 {
		change.Secret = string(hash)
	}
	w.changed = append(w.changed, change)
}

// WatchGifts has forget be told which gifts were changed by a commit, or that any may have been. A gift is read from
// some tables: for each of them, first is the column of its account, which that of the gift follows; -1: its rows are
// of many gifts; Whether: likewise, and only one column matters. If first is not 0, the first column of all is the
// hash of a secret that leads to the gift. WatchGifts gives nil where gifts are not to be remembered: without
// Options.GiftCache, and on PostgreSQL. begins is told when a transaction of the writer begins.
func (d *DB) WatchGifts(first map[string]int, forget func(changed []GiftChange, all bool), begins func()) *Watch {
	s, embedded := d.backend.(*sqlite)
	if !embedded || s.watch == nil {
		return nil
	}
	s.watch.mu.Lock()
	defer s.watch.mu.Unlock()
	s.watch.tables, s.watch.forget, s.watch.begins, s.watch.known = first, forget, begins, unknown
	return s.watch
}
