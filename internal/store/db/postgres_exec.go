package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"
)

// batchExecutor runs the batches of a transaction on PostgreSQL, in as few round trips as their answers allow. Batches
// that nothing comes back from are sent with what follows them, at the latest with the COMMIT.
type batchExecutor struct {
	conn          *pgx.Conn
	spread        bool // DB.Spread
	begun         bool
	looks         bool // it locks nothing
	unsent        pgx.Batch
	commitTimeout time.Duration
}

// transact sends BEGIN with fn's first batches.
func (p *postgres) transact(ctx context.Context, fn func(Runner) error) error {
	conn, err := p.db.Writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to write: %w", err)
	}
	defer conn.Close()
	return conn.Raw(func(driverConn any) (err error) {
		b := batchExecutor{conn: driverConn.(*stdlib.Conn).Conn(), spread: p.db.Spread,
			commitTimeout: max(CommitTimeout, p.timeout())}
		defer func() {
			if err != nil {
				b.rollBack(ctx)
			}
		}()
		if err := fn(b.execBatch); err != nil || !b.begun {
			return err
		}
		return b.commit(ctx)
	})
}

// look implements backend. It sends BEGIN with fn's first batches, and has nothing to commit.
func (p *postgres) look(ctx context.Context, fn func(Runner) error) error {
	conn, err := p.db.Readers.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to read: %w", err)
	}
	defer conn.Close()
	return conn.Raw(func(driverConn any) error {
		b := batchExecutor{conn: driverConn.(*stdlib.Conn).Conn(), spread: p.db.Spread, begun: true, looks: true}
		b.unsent.Queue(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
		b.planOnce()
		defer b.rollBack(ctx)
		return fn(b.execBatch)
	})
}

func (p *postgres) read(ctx context.Context, batches []Batch) error {
	conn, err := p.db.Readers.Conn(ctx)
	if err != nil {
		return fmt.Errorf("waiting to read: %w", err)
	}
	defer conn.Close()
	return conn.Raw(func(driverConn any) error {
		b := batchExecutor{conn: driverConn.(*stdlib.Conn).Conn(), spread: p.db.Spread, begun: true}
		b.planOnce()
		return b.execBatch(ctx, batches)
	})
}

func (p *batchExecutor) execBatch(ctx context.Context, batches []Batch) error {
	if len(batches) == 0 {
		return nil
	}
	if !p.begun {
		p.begun = true
		p.unsent.Queue(`BEGIN`)
		p.planOnce()
	}
	if p.looks {
		batches = unlocked(batches)
	}
	asks := p.spread // there, only this program can tell whether each row was hit
	for len(batches) > 0 {
		n := 1
		for !p.spread && n < len(batches) && batches[0].goesWith(&batches[n]) {
			n++
		}
		asks = asks || batches[0].Scan != nil
		switch of := &batches[0]; {
		case p.spread && of.Citus != "":
			of.queueTogether(&p.unsent)
		case of.Postgres == "" || p.spread && of.Each != "":
			of.queueRows(&p.unsent)
		default:
			queueArrays(&p.unsent, batches[:n])
		}
		batches = batches[n:]
	}
	if !asks {
		return nil
	}
	return p.send(ctx)
}

// unlocked are batches by statements that lock no row: a transaction that only reads may not.
func unlocked(batches []Batch) []Batch {
	const lock = "FOR NO KEY UPDATE"
	batches = slices.Clone(batches)
	for n := range batches {
		if q := batches[n].Query; strings.Contains(q.Postgres+q.Each+q.Citus, lock) {
			reads := *q
			for _, text := range []*string{&reads.Postgres, &reads.Each, &reads.Citus} {
				*text = strings.ReplaceAll(*text, lock, "")
			}
			batches[n].Query = &reads
		}
	}
	return batches
}

// planOnce has what follows, up to the end of the transaction, keep its plan: for what batches ask there is one. Left
// to itself, PostgreSQL takes an array that it does not know yet for ten rows, finds each group of fewer cheaper than
// that, and plans it anew, which costs more than its rows do. What is no batch is left alone: a list is planned better
// by who knows its limit; and Citus plans by the arguments.
func (p *batchExecutor) planOnce() {
	if !p.spread {
		p.unsent.Queue(`SELECT set_config('plan_cache_mode', 'force_generic_plan', true)`)
	}
}

// send sends what was not sent yet, and reads the answers.
func (p *batchExecutor) send(ctx context.Context) error {
	b := p.unsent
	p.unsent = pgx.Batch{}
	return p.conn.SendBatch(ctx, &b).Close()
}

// goesWith reports whether one statement does both batches.
func (w *Batch) goesWith(next *Batch) bool {
	return w.Query == next.Query && w.Scoped && w.Postgres != "" && len(w.Rows) > 0 &&
		(w.Scan == nil && next.Scan == nil || w.Shared && next.Shared)
}

// queueArrays adds batches of one query as a statement for all their rows, column by column.
func queueArrays(b *pgx.Batch, batches []Batch) {
	w := &batches[0]
	columns, rows := columnsOf(batches)
	if rows == 0 {
		return
	}
	b.Queue(w.Postgres, columns...).Fn = func(results pgx.BatchResults) error {
		_, err := w.receive(results)
		switch {
		case w.Exact && sqlState(err) == divisionByZero: // see Query
			return fmt.Errorf("%s: %w", w.What, ErrMissed)
		case err != nil:
			return fmt.Errorf("%s: %w", w.What, err)
		}
		return nil
	}
}

// queueTogether adds a batch of keys of one account as one statement, which names the account: a database that is
// spread over machines sends it to the one that has the account.
func (w *Batch) queueTogether(b *pgx.Batch) {
	if len(w.Rows) == 0 {
		return
	}
	keys := make(pgtype.FlatArray[any], len(w.Rows))
	for n, row := range w.Rows {
		keys[n] = row[0]
	}
	b.Queue(w.Citus, append(w.scope(), keys)...).Fn = func(results pgx.BatchResults) error {
		if _, err := w.receive(results); err != nil {
			return fmt.Errorf("%s: %w", w.What, err)
		}
		return nil
	}
}

// queueRows adds a statement for each row of a batch. A row alone, which names its account or its hash, is what a
// database that is spread over machines knows where to send.
func (w *Batch) queueRows(b *pgx.Batch) {
	var hits int64
	for n, row := range w.Rows {
		b.Queue(w.Each, append(w.scope(), row...)...).Fn = func(results pgx.BatchResults) error {
			hit, err := w.receive(results)
			hits += hit
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", w.What, err)
			case n == len(w.Rows)-1:
				return w.checkHits(hits)
			}
			return nil
		}
	}
}

// columnsOf turns the rows of batches into an array for each column, and one of their accounts before where they have
// some. It tells how many rows there are.
func columnsOf(batches []Batch) (columns []any, rows int) {
	for i := range batches {
		rows += len(batches[i].Rows)
	}
	if rows == 0 {
		return nil, 0
	}
	column := func(value func(w *Batch, row []any) any) pgtype.FlatArray[any] {
		all := make(pgtype.FlatArray[any], 0, rows)
		for i := range batches {
			for _, row := range batches[i].Rows {
				all = append(all, value(&batches[i], row))
			}
		}
		return all
	}
	if batches[0].Scoped {
		columns = append(columns, column(func(w *Batch, _ []any) any { return w.Account[:] }))
	}
	for c := range batches[0].Rows[0] {
		columns = append(columns, column(func(_ *Batch, row []any) any { return row[c] }))
	}
	return columns, rows
}

func (w *Batch) receive(results pgx.BatchResults) (hits int64, err error) {
	if w.Scan == nil {
		tag, err := results.Exec()
		return tag.RowsAffected(), err
	}
	rows, err := results.Query()
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := w.Scan(rows); err != nil {
			return 0, err
		}
	}
	return 0, rows.Err()
}

// commit sends what was not sent yet with the COMMIT behind it. It may take longer than the transaction had left: what
// is being committed is not abandoned lightly, for then its outcome is unknown. Of thousands of rows it has all that
// LongTimeout leaves.
func (p *batchExecutor) commit(ctx context.Context) error {
	deadline := time.Now().Add(p.commitTimeout)
	if of, limited := ctx.Deadline(); limited && of.After(deadline) {
		deadline = of
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	forgetNotices(p.conn)
	if pooled(p.conn) {
		p.unsent.Queue(durablyNow)
	}
	arrived := false // an answer to the COMMIT
	p.unsent.Queue(`COMMIT`).Fn = func(results pgx.BatchResults) error {
		tag, err := results.Exec()
		if arrived = true; err == nil && tag.String() == "ROLLBACK" {
			err = pgx.ErrTxCommitRollback
		}
		return err
	}
	err := p.send(ctx)
	switch {
	case err == nil && noticed(p.conn):
		return fmt.Errorf("committing: %w: the database warned that the commit may not have reached its standby",
			ErrUnknownOutcome)
	case err != nil && (arrived && unknownOutcome(err) || !arrived && !p.refused(err)):
		return fmt.Errorf("committing: %w: %w", ErrUnknownOutcome, err)
	case err != nil:
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// refused tells that the COMMIT was not done, from an error of what was sent before it: the server refused a
// statement, and did nothing that came after it, or nothing was sent and the transaction is still open. An error of
// class 08 may be a pooler's, which has lost the server and does not know how far it came.
func (p *batchExecutor) refused(err error) bool {
	if state := sqlState(err); state != "" {
		return !strings.HasPrefix(state, "08")
	}
	return errors.Is(err, ErrMissed) || !p.conn.IsClosed() && p.conn.PgConn().TxStatus() != 'I'
}

// rollBack leaves the connection as it was, or closes it.
func (p *batchExecutor) rollBack(ctx context.Context) {
	if p.conn.IsClosed() || p.conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := p.conn.Exec(ctx, `ROLLBACK`); err != nil {
		p.conn.Close(ctx)
	}
}
