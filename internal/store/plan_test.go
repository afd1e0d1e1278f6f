package store

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/misses"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/record"
)

// arguments are as many as a question asks for.
func arguments(question string) []any {
	n := 0
	for strings.Contains(question, fmt.Sprintf("$%d", n+1)) {
		n++
	}
	return make([]any, n)
}

// The tests of plans log the SQL as it is sent to each database: see it with -v.

// TestNothingHotReadsAWholeAccount: whatever a group asks is found by a key. An account can have millions of gifts,
// and while a group reads all of them, nobody else redeems.
func TestNothingHotReadsAWholeAccount(t *testing.T) {
	t.Parallel()
	s, _ := openSQLiteForTest(t)
	texts := append(s.db.Texts(groupQueries...), append(readTexts(s.db), selectPrinted, s.db.Text(selectKeys))...)
	for _, text := range texts {
		t.Log(text)
		if strings.HasPrefix(text, "INSERT") {
			continue // there is nothing to find
		}
		question := `EXPLAIN QUERY PLAN ` + text
		own := map[string]int{"SCAN CONSTANT ROW": 1, "SCAN w VIRTUAL TABLE INDEX 1:": 1} // w are the keys
		if strings.HasPrefix(text, "WITH RECURSIVE") {                                    // what it has gathered itself
			own["SCAN l"], own["SCAN n"], own["SCAN e"] = 1, 1, 1
		}
		if strings.Contains(text, " AS p ORDER BY p.position") { // likewise, from an index each
			own = map[string]int{"SCAN p": 1, "SCAN a": 1, "SCAN b": 1, "SCAN c": 1}
		}
		if strings.HasSuffix(text, " LIMIT $3) AS due") { // and counts it, up to a limit
			own["SCAN due"] = 1
		}
		err := db.Each(t.Context(), s.db.Readers, question, arguments(question), func(rows *sql.Rows) error {
			var plan string
			err := rows.Scan(new(int), new(int), new(int), &plan)
			own[plan]--
			if strings.HasPrefix(plan, "SCAN") && own[plan] < 0 ||
				strings.HasSuffix(plan, "(account_id=?)") && !strings.Contains(plan, "tally") &&
					!strings.Contains(plan, "test_clock") {
				t.Errorf("%s\n\t%s", text, plan)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoPlanReadsAWholeAccount: the same on PostgreSQL, whose plans follow figures that may be old or missing. There
// the auditor, who asks all the time, once took most of the server's processor.
func TestNoPlanReadsAWholeAccount(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the plans are PostgreSQL's
	s, _ := openPostgresForTest(t)
	texts := append(readTexts(s.db), misses.CountRedemptions.Postgres, selectForgettable, deleteRequests,
		selectPrinted, s.db.Text(selectKeys))
	for _, of := range groupQueries {
		for _, text := range []string{of.Each, of.Postgres} {
			if text != "" && !strings.HasPrefix(text, "INSERT") {
				texts = append(texts, text)
			}
		}
	}
	for _, text := range append(s.db.Texts(groupQueries...), readTexts(s.db)...) {
		t.Log(text)
	}
	check := func(t *testing.T) {
		for _, pool := range []*sql.DB{s.db.Writer, s.db.Readers} {
			for _, text := range texts {
				for _, fault := range faults(planOf(t, pool, text)) {
					t.Errorf("%s\n\t%s", text, fault)
				}
			}
			for _, of := range []record.Dated{record.Entries, record.Gifts, record.Trail} {
				plan := strings.Join(planOf(t, pool, of.Text(s.db)), "\n")
				if !strings.Contains(plan, "_ahead") || strings.Contains(plan, "_pkey") {
					t.Errorf("ids that run ahead are looked for by %s", plan)
				}
			}
		}
	}
	t.Run("without figures", check)
	gifts := issue(t, s, newID(), 500)
	addJobs(t, s, gifts)
	var requests []ledger.Request
	for i := range gifts {
		key := ledger.RequestKey{AccountID: gifts[i].AccountID, Operation: operation.RedeemGift, Key: fmt.Sprint(i)}
		requests = append(requests, ledger.Request{RequestKey: key, At: noon})
	}
	save(t, s, ledger.Changes{Requests: requests})
	t.Run("with many gifts that no figures tell of", check)
	_, err := s.db.Writer.Exec(`ANALYZE`)
	must(t, err)
	t.Run("with figures", check)
	t.Run("control", func(t *testing.T) {
		for _, text := range []string{
			`SELECT e.id FROM entry AS e WHERE e.reason = $1`,
			`SELECT e.id FROM entry AS e WHERE e.account_id = $1`,
			`SELECT e.id FROM entry AS e JOIN voucher AS v ON v.account_id = e.account_id WHERE e.id = $1`,
		} {
			if plan := planOf(t, s.db.Readers, text); len(faults(plan)) == 0 {
				t.Errorf("nothing is found wrong with %s", plan)
			}
		}
	})
}

// planOf is how PostgreSQL would run a text whatever its arguments are, on a connection of a pool of ours. What it may
// see is said, as always.
func planOf(t *testing.T, pool *sql.DB, text string) (plan []string) {
	t.Helper()
	ctx := t.Context()
	tx, err := pool.BeginTx(ctx, nil)
	must(t, err)
	defer tx.Rollback()
	for _, statement := range []string{`SET LOCAL plan_cache_mode = force_generic_plan`, `PREPARE asked AS ` + text} {
		_, err := tx.ExecContext(ctx, statement)
		must(t, err)
	}
	defer tx.ExecContext(context.WithoutCancel(ctx), `DEALLOCATE asked`)
	none := strings.TrimSuffix(strings.Repeat("NULL, ", len(arguments(text))), ", ")
	must(t, db.Each(ctx, tx, `EXPLAIN EXECUTE asked (`+none+`)`, nil, func(rows *sql.Rows) error {
		var line string
		err := rows.Scan(&line)
		plan = append(plan, line)
		return err
	}))
	return plan
}

var (
	wholeTable = regexp.MustCompile(`Seq Scan|(Hash|Merge) .*Join`)
	indexed    = regexp.MustCompile(`Index (Only )?Scan using|Bitmap Index Scan`)
	byKey      = regexp.MustCompile(`Index Cond: .*\b(id|key|hash|voucher_id|entry_id|redemption_id|hold_id|order_id|record_id|what|reverses|number|one|last|made_at|writer|position|valid_until)\b`)
	ofAccount  = regexp.MustCompile(` on tally\b| using (tally|test_clock|gift_import)_`) // few rows for each account
)

// faults are the lines of a plan that may read more than what a key names.
func faults(plan []string) (found []string) {
	for i, line := range plan {
		if wholeTable.MatchString(line) ||
			indexed.MatchString(line) && !ofAccount.MatchString(line) && (i+1 == len(plan) || !byKey.MatchString(plan[i+1])) {
			found = append(found, strings.Join(plan[i:min(i+2, len(plan))], "\n\t"))
		}
	}
	return found
}

// TestGroupsKeepTheirPlans: what finds rows by keys is planned once on each connection of PostgreSQL, however few rows
// it is for; other statements as PostgreSQL sees fit.
func TestGroupsKeepTheirPlans(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the other database makes a plan when it prepares a statement
	s, _ := openPostgresForTest(t)
	g := issue(t, s, newID(), 1)[0]
	s.db.Writer.SetMaxOpenConns(1)
	s.db.Readers.SetMaxOpenConns(1)
	const times = 7 // PostgreSQL begins to compare after five
	for range times {
		v := g.Voucher
		_, err := tryRedeem(t.Context(), s, &v, 1)
		must(t, err)
		_, err = s.GiftByCode(t.Context(), g.Card.Code)
		must(t, err)
	}
	for _, of := range []struct {
		pool *sql.DB
		text string
	}{{s.db.Writer, selectVouchers.Postgres}, {s.db.Writer, updateBalance.Postgres},
		{s.db.Writer, record.InsertEntry.Postgres}, {s.db.Readers, readTexts(s.db)[0]}} {
		var kept, anew int
		must(t, of.pool.QueryRowContext(t.Context(), `SELECT sum(generic_plans), sum(custom_plans)
			FROM pg_prepared_statements WHERE statement = $1`, of.text).Scan(&kept, &anew))
		if kept < times || anew != 0 {
			t.Errorf("was planned %d times, and not %d times:\n%s", anew, kept, of.text)
		}
		var mode string
		must(t, of.pool.QueryRowContext(t.Context(), `SHOW plan_cache_mode`).Scan(&mode))
		if mode != "auto" {
			t.Errorf("the mode of all statements is %s", mode)
		}
	}
}
