package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"time"

	modernc "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// writerConn is the connection of the embedded database's writer, with statements that stay prepared as long as it
// lives.
//
// # Why it is there
//
// A group runs some five statements for each of its calls. database/sql takes a lock, looks for the statement of its
// connection and copies the arguments, each time. A lone redemption runs BEGIN and COMMIT beside, and database/sql has
// them parsed each time. So groups go past database/sql, and use the driver by the interfaces that database/sql uses it
// by.
//
// # Invariants
//
//  1. Whoever uses a writerConn has it from the pool of the writer, which has one connection: nobody uses it at the
//     same time.
//  2. When it goes back to the pool, no transaction is open on it, whatever became of the group (transactOn, commit).
//     Should one be open all the same, the next group has the pool close the connection.
//  3. Its statements are closed before it is. One that is not would keep the files open.
type writerConn struct {
	sqliteConn
	statements map[string]*writerStmt // by text
	version    versionReader
	args       []driver.NamedValue // used again and again
}

// sqliteConn is what database/sql uses of a connection of the driver: see modernc.NewConnector.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	modernc.HookRegisterer
}

// writerConnector opens the connections of the writer. A watch notes what they change; nil: none does.
type writerConnector struct {
	driver.Connector
	watch *Watch
}

// Connect implements driver.Connector.
func (w writerConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := w.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &writerConn{sqliteConn: conn.(sqliteConn), statements: map[string]*writerStmt{}}
	if _, err := c.ExecContext(ctx, `PRAGMA busy_timeout = 0`, nil); err != nil { // it waits by itself, see waits
		return nil, errors.Join(err, conn.Close())
	}
	if w.watch != nil {
		c.RegisterPreUpdateHook(func(row modernc.SQLitePreUpdateData) { w.watch.note(&row) })
	}
	return c, nil
}

// Unwrap gives the connection of the driver, which looks for it.
func (c *writerConn) Unwrap() driver.Conn { return c.sqliteConn }

// Close closes the statements and the connection.
func (c *writerConn) Close() (err error) {
	for _, stmt := range c.statements {
		err = errors.Join(err, stmt.Close())
	}
	clear(c.statements)
	return errors.Join(err, c.version.close(), c.sqliteConn.Close())
}

// writerStmt is a prepared statement whose parameters have no names: the driver looks up the name of each parameter,
// in each call, and a name like $12 among those before it. That was a twentieth of a group of redemptions.
type writerStmt struct {
	driver.Stmt
	from []int // which column of a row each parameter is, from 0
}

// prepared is the statement for a text.
func (c *writerConn) prepared(ctx context.Context, text string) (*writerStmt, error) {
	if stmt := c.statements[text]; stmt != nil {
		return stmt, nil
	}
	nameless, from := withoutNames(text)
	stmt, err := c.PrepareContext(ctx, nameless)
	if err != nil {
		return nil, err
	}
	c.statements[text] = &writerStmt{stmt, from}
	return c.statements[text], nil
}

// parameter is how a text of a Query names one. None has a dollar sign in a literal.
var parameter = regexp.MustCompile(`\$[0-9]+`)

// withoutNames has a question mark for each parameter, and tells which column of a row each of them is.
func withoutNames(text string) (nameless string, from []int) {
	nameless = parameter.ReplaceAllStringFunc(text, func(name string) string {
		n, _ := strconv.Atoi(name[1:]) // digits
		from = append(from, n-1)
		return "?"
	})
	return nameless, from
}

// readVersion reads which version of the database the connection sees.
func (c *writerConn) readVersion() (version int64, err error) {
	if c.version.stmt == nil {
		if c.version, err = newVersionReader(c.sqliteConn); err != nil {
			return unknown, err
		}
	}
	return c.version.read()
}

// How long a transaction waits for another process, and how long it pauses between two looks.
const (
	busyFor   = 5 * time.Second
	leastBusy = 300 * time.Microsecond
	mostBusy  = 10 * time.Millisecond
)

// waits has begin take the lock on everything, and waits while another process has it. SQLite's own pauses soon grow to
// 25 ms: beside a process that writes much, a till would find the lock taken again and again, however short the other's
// transactions are.
func (c *writerConn) waits(ctx context.Context, begin func() error) error {
	for begun := time.Now(); ; {
		err := begin()
		waited := time.Since(begun)
		if sqliteCode(err) != sqlite3.SQLITE_BUSY || waited > busyFor {
			return err
		}
		pause := time.NewTimer(min(max(waited/16, leastBusy), mostBusy))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// BeginTx implements driver.ConnBeginTx.
func (c *writerConn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	err = c.waits(ctx, func() (err error) {
		tx, err = c.sqliteConn.BeginTx(ctx, o)
		return err
	})
	return tx, err
}

// run runs a statement without arguments.
func (c *writerConn) run(ctx context.Context, text string) error {
	stmt, err := c.prepared(ctx, text)
	if err == nil {
		_, err = stmt.Stmt.(driver.StmtExecContext).ExecContext(ctx, nil)
	}
	return err
}

// commit ends a transaction. One that could not be committed may still be open.
func (c *writerConn) commit(ctx context.Context) error {
	err := c.run(ctx, `COMMIT`)
	if err != nil {
		c.rollBack(ctx)
	}
	return err
}

// rollBack ends a transaction, if one is open: else SQLite refuses it, which changes nothing.
func (c *writerConn) rollBack(ctx context.Context) { _ = c.run(ctx, `ROLLBACK`) }

// execRows is the Runner of a transaction: what reads takes all keys at once, what writes a row at a time. Measured for
// groups of 256 redemptions, a statement that writes 16 rows takes as long as 16 that write one.
func (c *writerConn) execRows(ctx context.Context, batches []Batch) error {
	for i := range batches {
		w := &batches[i]
		hits, err := c.execBatch(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.What, err)
		}
		if err := w.checkHits(hits); err != nil {
			return err
		}
	}
	return nil
}

func (c *writerConn) execBatch(ctx context.Context, w *Batch) (hits int64, err error) {
	if len(w.Rows) == 0 {
		return 0, nil
	}
	text, rows := w.Each, w.Rows
	if w.SQLite != "" {
		text, rows = w.SQLite, [][]any{{w.keys()}}
	}
	stmt, err := c.prepared(ctx, text)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if err := c.setArgs(w, stmt.from, row); err != nil {
			return hits, err
		}
		if w.Scan != nil {
			if err := c.query(ctx, stmt.Stmt, w.Scan); err != nil {
				return hits, err
			}
			continue
		}
		result, err := stmt.Stmt.(driver.StmtExecContext).ExecContext(ctx, c.args)
		if err != nil {
			return hits, err
		}
		hit, err := result.RowsAffected()
		if hits += hit; err != nil {
			return hits, err
		}
	}
	return hits, nil
}

// setArgs makes the columns of a row the arguments of the next statement. The account comes before them where the batch
// has one.
func (c *writerConn) setArgs(w *Batch, from []int, row []any) error {
	c.args = c.args[:0]
	scope := 0
	if w.Scoped {
		scope = 1
	}
	for i, n := range from {
		arg := driver.NamedValue{Ordinal: i + 1}
		switch {
		case n < scope:
			arg.Value = w.Account[:]
		case n-scope < len(row):
			value, err := argument(row[n-scope])
			if err != nil {
				return err
			}
			arg.Value = value
		default:
			return fmt.Errorf("%s: there is no column %d", w.What, n+1)
		}
		c.args = append(c.args, arg)
	}
	return nil
}

// argument makes a value one that a driver takes.
func argument(v any) (driver.Value, error) {
	switch v := v.(type) {
	case nil, int64, string, []byte, bool:
		return v, nil
	case int:
		return int64(v), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}

// query hands each row that comes back to scan.
func (c *writerConn) query(ctx context.Context, stmt driver.Stmt, scan func(Scanner) error) (err error) {
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, c.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make(writerRow, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := scan(row); err != nil {
			return err
		}
	}
}

// writerRow is a row that came back. Its texts and bytes are copies.
type writerRow []driver.Value

// Scan implements Scanner.
func (r writerRow) Scan(to ...any) error {
	if len(to) != len(r) {
		return fmt.Errorf("a row of %d columns is read as %d", len(r), len(to))
	}
	for i, column := range r {
		if err := assign(to[i], column); err != nil {
			return fmt.Errorf("reading column %d of a row: %w", i+1, err)
		}
	}
	return nil
}

// assign reads a column as database/sql does. It takes what stands in our columns: nothing else is turned into another
// type.
func assign(to any, column driver.Value) error {
	switch to := to.(type) {
	case interface{ Scan(any) error }: // a sql.Scanner
		return to.Scan(column)
	case *[]byte:
		if bytes, is := column.([]byte); is || column == nil {
			*to = bytes
			return nil
		}
	case *any:
		*to = column
		return nil
	}
	switch into := reflect.ValueOf(to).Elem(); v := column.(type) {
	case int64:
		switch {
		case into.CanInt() && !into.OverflowInt(v):
			into.SetInt(v)
			return nil
		case into.CanUint() && v >= 0 && !into.OverflowUint(uint64(v)):
			into.SetUint(uint64(v))
			return nil
		case into.Kind() == reflect.Bool && (v == 0 || v == 1):
			into.SetBool(v == 1)
			return nil
		}
	case string:
		if into.Kind() == reflect.String {
			into.SetString(v)
			return nil
		}
	}
	return fmt.Errorf("a %T cannot be read as %T", column, to)
}
