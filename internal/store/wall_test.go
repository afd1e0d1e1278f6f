package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/pgtest"
)

// accountTables are the tables with rows of accounts, and the column that says whose, as the database itself tells.
func accountTables(t *testing.T, s *Store) map[string]string {
	t.Helper()
	found := map[string]string{"account": "id"}
	rows, err := s.readers.Query(`SELECT c.relname, a.attname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND a.attname = 'account_id' AND NOT a.attisdropped`)
	must(t, err)
	must(t, drainPairs(rows, func(table, column string) { found[table] = column }))
	return found
}

// TestEveryAccountTableHasAWall: a step of the schema that makes a table for accounts builds its wall, too.
func TestEveryAccountTableHasAWall(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the embedded database has one client, this program, and no row security
	s, _ := openPostgresForTest(t)
	for table, column := range accountTables(t, s) {
		var walled bool
		must(t, s.readers.QueryRow(`SELECT c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policies AS p
				WHERE p.tablename = c.relname AND p.policyname = 'wall' AND p.cmd = 'ALL' AND p.qual LIKE '%boon.accounts%')
			FROM pg_class AS c WHERE c.oid = $1::regclass`, table).Scan(&walled))
		if !walled {
			t.Errorf("%s has no wall; its step of the schema must SELECT wall('%s', '%s')", table, table, column)
		}
	}
	if n := len(accountTables(t, s)); n < 14 {
		t.Errorf("only %d tables were looked at", n)
	}
}

// TestWalls runs statements without a WHERE against every table that has rows of accounts, and then once more when the walls are gone, which
// must be noticed at each.
func TestWalls(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, _ := openPostgresForTest(t)
	gifts := furnishStore(t, s, 3)
	limited, first := newGift(gifts[0].AccountID)
	limited.LocationID, limited.Items = newID(), []gift.Item{{ID: "LATTE"}}
	save(t, s, ledger.Changes{Gifts: []gift.Gift{limited}, Entries: []gift.Entry{first}})
	before := dump(t, s)
	all := accountTables(t, s)
	for table, column := range all {
		for _, breach := range breaches(t, s, table, column, gifts[0].AccountID, gifts[len(gifts)-1].AccountID) {
			t.Errorf("%s: %s", table, breach)
		}
	}
	diff(t, dump(t, s), before)
	for table, column := range all {
		_, err := s.writer.Exec(`ALTER TABLE ` + table + ` DISABLE ROW LEVEL SECURITY`)
		must(t, err)
		if found := breaches(t, s, table, column, gifts[0].AccountID, gifts[len(gifts)-1].AccountID); len(found) < 4 && table != "secret" || len(found) < 2 {
			t.Errorf("%s: without its wall only this is noticed: %q", table, found)
		}
	}
}

// breaches are the ways in which a table lets statements without a WHERE reach what their context does not name. one and two are
// accounts; one has rows in every table.
func breaches(t *testing.T, s *Store, table, column string, one, two gift.ID) (found []string) {
	t.Helper()
	tx, err := s.writer.BeginTx(t.Context(), nil)
	must(t, err)
	defer tx.Rollback()
	count := func(ctx context.Context, more string, args ...any) (n int) {
		t.Helper()
		must(t, tx.QueryRowContext(ctx, `SELECT count(*) FROM `+table+more, args...).Scan(&n))
		return n
	}
	// A statement whose context says nothing, in a transaction that was told nothing.
	if n := count(t.Context(), ``); n > 0 && table != "secret" {
		found = append(found, fmt.Sprintf("%d rows are seen by who says nothing", n))
	}
	all, ofOne := count(everywhere(t.Context()), ``), count(everywhere(t.Context()), ` WHERE `+column+` = $1`, bare(one))
	if ofOne == 0 || count(within(t.Context(), one), ` WHERE `+column+` = $1`, bare(one)) != ofOne {
		t.Fatalf("%s: %d rows of the account, and not all can be seen within it", table, ofOne)
	}
	if n := count(within(t.Context(), one), ``); n != ofOne && table != "secret" {
		found = append(found, fmt.Sprintf("%d rows are seen within an account that has %d", n, ofOne))
	}
	if ofTwo := count(everywhere(t.Context()), ` WHERE `+column+` = $1`, bare(two)); table != "secret" && count(within(t.Context(), two, one), ``) != ofOne+ofTwo {
		found = append(found, "within two accounts the rows of others are seen")
	}
	// What a statement does to rows, past triggers and constraints, is undone again.
	try := func(ctx context.Context, statement string) (hit int64, err error) {
		_, err = tx.ExecContext(ctx, `SAVEPOINT here`)
		must(t, err)
		result, err := tx.ExecContext(ctx, statement)
		if err == nil {
			hit, _ = result.RowsAffected()
		}
		_, undone := tx.ExecContext(ctx, `ROLLBACK TO SAVEPOINT here`)
		must(t, undone)
		return hit, err
	}
	stranger := newID()
	for _, statement := range []string{`UPDATE ` + table + ` SET ` + column + ` = ` + column, `DELETE FROM ` + table} {
		if hit, err := try(within(t.Context(), stranger), statement); err != nil || hit > 0 {
			found = append(found, fmt.Sprintf("within another account, %s hits %d rows: %v", statement, hit, err))
		}
	}
	_, err = tx.ExecContext(everywhere(t.Context()), `CREATE TEMPORARY TABLE taken ON COMMIT DROP AS SELECT * FROM `+table+` WHERE `+column+` IS NOT NULL LIMIT 1`)
	must(t, err)
	if _, err := try(within(t.Context(), stranger), `INSERT INTO `+table+` SELECT * FROM taken`); sqlState(err) != "42501" {
		found = append(found, fmt.Sprintf("a row of another account is written: %v", err))
	}
	if n := count(everywhere(t.Context()), ``); n != all {
		t.Fatalf("%s has %d rows after all this, not %d", table, n, all)
	}
	return found
}

// TestABrokenStatementStaysWithinItsAccount: the ways of the store itself, with statements that lack their WHERE.
func TestABrokenStatementStaysWithinItsAccount(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, _ := openPostgresForTest(t)
	mine, theirs := issue(t, s, newID(), 3), issue(t, s, newID(), 2)
	here := within(t.Context(), mine[0].AccountID)
	found, err := s.selectGifts(here, selectGift)
	if err != nil || len(found) != len(mine) {
		t.Errorf("%d gifts are found, %v; want the account's own %d", len(found), err, len(mine))
	}
	broken := &statement{what: "breaking", piped: `UPDATE tally SET live = 0`}
	must(t, s.dialect.transact(here, s, func(run runner) error { return run(here, []work{{statement: broken, rows: [][]any{{}}}}) }))
	must(t, s.write(here, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(here, `DELETE FROM secret`)
		return err
	}))
	if n, err := liveGifts(t, s, mine[0].AccountID); err != nil || n != 0 {
		t.Errorf("%d live gifts are counted in the account itself, %v; the statement did not run", n, err)
	}
	if n, err := liveGifts(t, s, theirs[0].AccountID); err != nil || n != 2 {
		t.Errorf("%d live gifts are counted in the other account, %v; want 2 as before", n, err)
	}
	if _, err := s.GiftByCode(t.Context(), mine[0].Card.Code); !errors.Is(err, gift.NotFound) {
		t.Errorf("a code of the account itself: %v, want NOT_FOUND", err)
	}
	if _, err := s.GiftByCode(t.Context(), theirs[0].Card.Code); err != nil {
		t.Errorf("a code of the other account: %v", err)
	}
}

// TestSightEndsWithItsTransaction: whoever gets a connection next sees nothing of what the one before was about.
func TestSightEndsWithItsTransaction(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, _ := openPostgresForTest(t)
	s.writer.SetMaxOpenConns(1)
	s.readers.SetMaxOpenConns(1)
	g := issue(t, s, newID(), 1)[0]
	here := within(t.Context(), g.AccountID)
	ended := errors.New("ended")
	cancelled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}
	for name, use := range map[string]func() error{
		"a group": func() error {
			return s.Group(t.Context(), ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, noChanges)
		},
		"a commit": func() error { return s.write(here, func(tx *sql.Tx) error { return touch(here, tx) }) },
		"a rollback": func() error {
			return s.write(here, func(tx *sql.Tx) error { return errors.Join(touch(here, tx), ended) })
		},
		"an error": func() error {
			return s.write(here, func(tx *sql.Tx) error { _, err := tx.ExecContext(here, `SELECT 1/0`); return err })
		},
		"an error of the first": func() error { return touch(here, failing{s.readers}) },
		"a look-up":             func() error { return touch(here, s.readers) },
		"a cancelled look-up":   func() error { return touch(cancelled(here), s.readers) },
		"a look-up that is cut": func() error {
			ctx, cancel := context.WithCancel(here)
			defer cancel()
			return sleep(ctx, s.readers, cancel)
		},
		"a look-up of everything":  func() error { return touch(everywhere(t.Context()), s.readers) },
		"a snapshot":               func() error { return s.read(here, func(tx *sql.Tx) error { return touch(here, tx) }) },
		"a look-up left half read": func() error { return halfRead(here, s.readers) },
	} {
		used := use() // fails or not: what counts is what is left behind
		for pool, db := range map[string]*sql.DB{"writer": s.writer, "reader": s.readers} {
			var setting string
			var seen int
			must(t, db.QueryRowContext(t.Context(), `SELECT current_setting('boon.accounts'), (SELECT count(*) FROM voucher)`).Scan(&setting, &seen))
			if setting != "" || seen != 0 {
				t.Errorf("after %s (%v) a %s's connection sees %d gifts: boon.accounts is %q", name, used, pool, seen, setting)
			}
		}
	}
	if n, err := s.CountVouchers(t.Context()); err != nil || n != 1 {
		t.Errorf("%d gifts, %v", n, err)
	}
}

// TestPreparedStatementsTellTheWalls: each run of one, whatever its transaction was told before, by whoever prepared it.
func TestPreparedStatementsTellTheWalls(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, _ := openPostgresForTest(t)
	mine, theirs := issue(t, s, newID(), 3), issue(t, s, newID(), 2)
	here, there := within(t.Context(), mine[0].AccountID), within(t.Context(), theirs[0].AccountID)
	must(t, s.write(here, func(tx *sql.Tx) error {
		count, err := tx.PrepareContext(here, `SELECT count(*) FROM voucher AS v WHERE v.balance >= $1`)
		must(t, err)
		defer count.Close()
		change, err := tx.PrepareContext(here, `UPDATE tally SET live = live + $1`)
		must(t, err)
		defer change.Close()
		for _, c := range []struct {
			ctx         context.Context
			gifts, rows int64
		}{{there, 2, 1}, {everywhere(t.Context()), 5, 2}, {here, 3, 1}, {there, 2, 1}, {within(t.Context(), newID()), 0, 0}} {
			var gifts int64
			must(t, count.QueryRowContext(c.ctx, 0).Scan(&gifts))
			result, err := change.ExecContext(c.ctx, 0)
			must(t, err)
			if rows, err := result.RowsAffected(); err != nil || rows != c.rows || gifts != c.gifts {
				t.Errorf("%q: %d gifts are seen and %d rows written, %v; want %d and %d", sightOf(c.ctx), gifts, rows, err, c.gifts, c.rows)
			}
		}
		return nil
	}))
}

func noChanges(*ledger.State) (c ledger.Changes) { return c }

// touch is a statement that needs to see the gift.
func touch(ctx context.Context, q querier) error {
	var n int
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM voucher`).Scan(&n); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("%d gifts are seen, not 1", n)
}

// failing asks what cannot be answered.
type failing struct{ *sql.DB }

func (f failing) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return f.DB.QueryRowContext(ctx, query+` WHERE 1/0 = 1`, args...)
}

// sleep asks for what takes long, and is cancelled meanwhile.
func sleep(ctx context.Context, db *sql.DB, cancel func()) error {
	rows, err := db.QueryContext(ctx, `SELECT n FROM generate_series(1, 2000000) AS n`)
	if err != nil {
		return err
	}
	cancel()
	return drain(rows, func(*sql.Rows) error { return nil })
}

func halfRead(ctx context.Context, db *sql.DB) error {
	rows, err := db.QueryContext(ctx, `SELECT n FROM generate_series(1, 1000) AS n`)
	if err == nil {
		rows.Next()
		err = rows.Close()
	}
	return err
}

// TestAProgramWithoutWalls: the program of the version before says nothing, and works on while instances are replaced one by one.
func TestAProgramWithoutWalls(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	dir, database := t.TempDir(), pgtest.Fresh(t)
	s, err := Open(t.Context(), Options{Dir: dir, Database: database})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	issue(t, s, newID(), 2)
	issue(t, s, newID(), 3)
	old, err := pgx.Connect(t.Context(), database)
	must(t, err)
	t.Cleanup(func() { must(t, old.Close(context.Background())) })
	var n int
	must(t, old.QueryRow(t.Context(), `SELECT count(*) FROM voucher`).Scan(&n))
	tag, err := old.Exec(t.Context(), `UPDATE tally SET live = live`)
	if err != nil || n != 5 || tag.RowsAffected() != 2 {
		t.Errorf("it sees %d gifts and writes %d rows, %v; want 5 and 2", n, tag.RowsAffected(), err)
	}
}

// TestTheOperatorLearnsOfARoleThatNoWallHolds.
func TestTheOperatorLearnsOfARoleThatNoWallHolds(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	dir, database := t.TempDir(), pgtest.Fresh(t)
	for user, held := range map[string]bool{"boon": true, "postgres": false} {
		s, err := Open(t.Context(), Options{Dir: dir, Database: strings.Replace(database, "//boon@", "//"+user+"@", 1)})
		must(t, err)
		risks, err := s.Risks(t.Context())
		if told := strings.Contains(strings.Join(risks, "\n"), "no wall between accounts holds"); err != nil || told == held {
			t.Errorf("as %s: the operator is told %q, %v", user, risks, err)
		}
		must(t, s.Close())
	}
}

// TestWallsAreAskedOnce: what a wall asks of its setting is asked once for a statement, not for each row, and the statement still finds its rows by
// key, also where it compares texts. Nothing is compiled for it: that took fifty times as long as running it.
func TestWallsAreAskedOnce(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, _ := openPostgresForTest(t)
	for name, db := range map[string]*sql.DB{"writer": s.writer, "reader": s.readers} {
		var jit string
		must(t, db.QueryRow(`SHOW jit`).Scan(&jit))
		if jit != "off" {
			t.Errorf("a %s's session has jit %s", name, jit)
		}
	}
	for _, query := range []string{
		selectGiftByID,
		`SELECT r.status FROM request AS r WHERE r.account_id = $1 AND r.key = $2 AND r.operation = 'x'`,
		`SELECT r.status FROM request AS r WHERE (r.account_id, r.key, r.operation) > ($1, $2, 'x') ORDER BY r.account_id, r.key, r.operation LIMIT 500`,
		`SELECT m.id FROM entry AS m WHERE m.account_id = $1 AND m.voucher_id = $2 AND m.seq = 64 AND m.seq % 64 = 0`,
	} {
		plan, account, key := "", any(bare(newID())), any(bare(newID()))
		if strings.Contains(query, "r.key") {
			key = "key"
		}
		must(t, each(within(t.Context(), newID()), s.writer, `EXPLAIN `+query, []any{account, key}, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			plan += line + "\n"
			return err
		}))
		if !strings.Contains(plan, "InitPlan") || !strings.Contains(plan, "Index Cond: ") || strings.Contains(plan, "Seq Scan") || strings.Count(plan, "current_setting") > 0 {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}
