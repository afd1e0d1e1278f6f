package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// tellSight tells the walls of PostgreSQL (see the migration that builds them) whose rows can be seen until the transaction ends. A SET
// would outlive it, and reach whoever gets the connection next.
const tellSight = `SELECT set_config('boon.accounts', $1, true)`

// noSight is what a session of ours begins with, and what every transaction leaves behind.
const noSight = `set_config('boon.accounts', '', false)`

// walledConnector makes connections that tell the walls what the context of each statement says.
type walledConnector struct{ driver.Connector }

func (c walledConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &walledConn{Conn: conn.(*stdlib.Conn)}, nil
}

// walledConn is a connection. What is told travels with the statement, in the same round trip; a statement outside of a transaction and
// what it is told are one.
type walledConn struct {
	*stdlib.Conn
	told string // to the transaction that is under way
}

// BeginTx implements driver.ConnBeginTx.
func (c *walledConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.told = ""
	return c.Conn.BeginTx(ctx, o)
}

// untold is what the walls still have to be told before a statement, "" when nothing.
func (c *walledConn) untold(ctx context.Context) string {
	sight := sightOf(ctx)
	if c.Conn.Conn().PgConn().TxStatus() == 'I' || sight == "" {
		return sight
	}
	if c.told == sight {
		return ""
	}
	c.told = sight
	return sight
}

// ExecContext implements driver.ExecerContext.
func (c *walledConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	sight := c.untold(ctx)
	if sight == "" {
		return c.Conn.ExecContext(ctx, query, args)
	}
	results, err := c.send(ctx, sight, query, args)
	if err != nil {
		return nil, err
	}
	tag, err := results.Exec()
	if closing := results.Close(); err == nil {
		err = closing
	}
	return driver.RowsAffected(tag.RowsAffected()), err
}

// QueryContext implements driver.QueryerContext.
func (c *walledConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	sight := c.untold(ctx)
	if sight == "" {
		return c.Conn.QueryContext(ctx, query, args)
	}
	results, err := c.send(ctx, sight, query, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		results.Close()
		return nil, err
	}
	r := &walledRows{rows: rows, results: results}
	// The first row comes now: what fails should fail here, where a caller tries again.
	if r.ahead = rows.Next(); rows.Err() != nil {
		return nil, r.Close()
	}
	return r, nil
}

// PrepareContext implements driver.ConnPrepareContext: a prepared statement tells the walls, too. pgx itself prepares what is sent again.
func (c *walledConn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return &walledStmt{c, query}, nil
}

// Prepare implements driver.Conn.
func (c *walledConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// walledStmt is a statement that is run as others are.
type walledStmt struct {
	conn  *walledConn
	query string
}

// Close implements driver.Stmt.
func (*walledStmt) Close() error { return nil }

// NumInput implements driver.Stmt.
func (*walledStmt) NumInput() int { return -1 }

// Exec implements driver.Stmt.
func (*walledStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errNoContext }

// Query implements driver.Stmt.
func (*walledStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errNoContext }

var errNoContext = errors.New("a statement without a context")

// ExecContext implements driver.StmtExecContext.
func (s *walledStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s *walledStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}

// send sends a statement behind what the walls are told, and takes the answer to that.
func (c *walledConn) send(ctx context.Context, sight, query string, args []driver.NamedValue) (pgx.BatchResults, error) {
	conn := c.Conn.Conn()
	if conn.IsClosed() {
		return nil, driver.ErrBadConn
	}
	values := make([]any, len(args))
	for i := range args {
		values[i] = args[i].Value
	}
	var b pgx.Batch
	b.Queue(tellSight, sight)
	b.Queue(query, values...)
	results := conn.SendBatch(ctx, &b)
	if _, err := results.Exec(); err != nil {
		results.Close()
		if pgconn.SafeToRetry(err) {
			err = driver.ErrBadConn
		}
		return nil, err
	}
	return results, nil
}

// walledRows are the rows of the last statement of a batch.
type walledRows struct {
	rows    pgx.Rows
	results pgx.BatchResults
	ahead   bool // a row was fetched and not handed out
	names   []string
}

// Columns implements driver.Rows.
func (r *walledRows) Columns() []string {
	if r.names == nil {
		for _, field := range r.rows.FieldDescriptions() {
			r.names = append(r.names, field.Name)
		}
	}
	return r.names
}

// Close implements driver.Rows.
func (r *walledRows) Close() error {
	r.rows.Close()
	err := r.rows.Err()
	if closing := r.results.Close(); err == nil {
		err = closing
	}
	return err
}

// Next implements driver.Rows.
func (r *walledRows) Next(row []driver.Value) error {
	if !r.ahead && !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	r.ahead = false
	values, err := r.rows.Values()
	if err != nil {
		return err
	}
	for i, v := range values {
		if row[i], err = driver.DefaultParameterConverter.ConvertValue(v); err != nil {
			return err
		}
	}
	return nil
}
