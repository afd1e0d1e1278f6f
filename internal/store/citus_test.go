package store

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"boon.example/internal/ledger/verify"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

func TestDistributeRefuses(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		s, _ := open(t)
		if err := s.Distribute(t.Context(), func(string) {}); err == nil || !strings.Contains(err.Error(), "citus") {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

// TestDistributeWhatIsThere runs the statements on a server whose functions of Citus do nothing but note their
// arguments. What is left then holds to what Citus demands: each unique index of a distributed table has the column,
// each foreign key stays among tables that lie together, no trigger asks other tables. And the store works on it, by
// statements that each name one row.
func TestDistributeWhatIsThere(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the statements are PostgreSQL's
	all := &statements{seen: map[string]bool{}}
	s, again := openServerForTest(t, all)
	_, err := s.db.Writer.Exec(`CREATE TABLE noted (name TEXT, by TEXT, beside TEXT);
		CREATE FUNCTION create_distributed_table(t TEXT, c TEXT, colocate_with TEXT) RETURNS VOID LANGUAGE sql AS
			$$ INSERT INTO noted SELECT t, c, CASE colocate_with WHEN 'none' THEN t ELSE colocate_with END FROM pg_class WHERE relname = t $$;
		CREATE FUNCTION create_reference_table(t TEXT) RETURNS VOID LANGUAGE sql AS $$ SELECT $$`)
	must(t, err)
	must(t, s.distribute(t.Context(), func(string) {}))
	for problem, query := range map[string]string{
		"a unique index without the column": `SELECT i.indexrelid::regclass::text FROM noted AS n JOIN pg_index AS i ON i.indrelid = n.name::regclass
			WHERE i.indisunique AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a
				WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) AND a.attname = n.by)`,
		"a foreign key that leads elsewhere": `SELECT c.conname FROM pg_constraint AS c LEFT JOIN noted AS a ON a.name::regclass = c.conrelid
			LEFT JOIN noted AS b ON b.name::regclass = c.confrelid WHERE c.contype = 'f' AND a.beside IS DISTINCT FROM b.beside`,
		"a trigger that asks other tables": `SELECT g.tgname FROM noted AS n JOIN pg_trigger AS g ON g.tgrelid = n.name::regclass
			JOIN pg_proc AS p ON p.oid = g.tgfoid WHERE NOT g.tgisinternal AND p.proname <> 'never'`,
	} {
		must(t, db.Each(t.Context(), s.db.Readers, query, nil, func(rows *sql.Rows) error {
			var what string
			err := rows.Scan(&what)
			t.Errorf("%s: %s", problem, what)
			return err
		}))
	}
	_, err = s.db.Writer.Exec(`CREATE TABLE pg_dist_partition (logicalrelid REGCLASS)`)
	must(t, err)
	s = again()
	clear(all.seen)
	fillStore(t, s, 3)
	verifyClean(t, s)
	for text := range all.seen {
		if strings.Contains(text, "unnest") {
			t.Errorf("what is sent to several nodes at once: %s", text)
		}
		// Where a sub-select compares accounts, Citus asks all shards for the one gift.
		if strings.Contains(text, "v.account_id = $1 AND v.id = $2") && strings.Contains(text, "= v.account_id") {
			t.Errorf("a gift is looked for on all nodes: %s", text)
		}
	}
	if len(all.seen) < 20 {
		t.Errorf("only %d statements were seen", len(all.seen))
	}
}

// TestCitus runs on a real cluster, a coordinator and two workers, where the machine has Citus: gifts are made,
// redeemed and given back, and what checks them reads nothing that Citus refuses.
func TestCitus(t *testing.T) {
	t.Parallel()
	needCitus(t)
	o := Options{Dir: t.TempDir(), Database: pgtest.Citus(t).Fresh(t, 32)}
	open := func() *Store {
		s, err := Open(t.Context(), o)
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open()
	must(t, s.Distribute(t.Context(), func(string) {}))
	s = open()
	gifts := fillStore(t, s, 3)
	verifyClean(t, s)
	spoil(t, s, `UPDATE voucher SET balance = balance + 1 WHERE account_id = $1 AND id = $2`, db.KeyOf(gifts[0].AccountID),
		db.KeyOf(gifts[0].ID))
	report, err := verify.All(t.Context(), s, 2, func(int64, int64) {})
	must(t, err)
	if len(report.Problems) == 0 {
		t.Error("a balance was changed, and nothing was found")
	}
}

// needCitus leaves out what takes minutes, and fails where it is asked for and cannot run.
func needCitus(t *testing.T) {
	t.Helper()
	if os.Getenv("CITUS") == "" {
		t.Skip("CITUS=1 runs it, and test/citus/run does")
	}
	if !pgtest.HasCitus() {
		t.Fatal("there is no Citus on this machine; docs/operating/scale.md tells how to get it")
	}
}

// notOnCitus are the tests of the suite that a cluster does not pass, and why.
var notOnCitus = map[string]string{
	"constraints bite":            "of the guards, it has none that ask other tables: see citusGivesUp",
	"a group is all or nothing":   "so it takes an entry that does not follow",
	"what was loaded is kept":     "so only the engine knows that something was undone already",
	"what was cashed out is kept": "likewise",
	"verify walks and finds":      "the test does its damage by a statement that joins two accounts",
	"verify finds long answers":   "likewise",
}

// TestStoreOnCitus runs the suite of every database on a cluster, where CITUS=1 asks for it: each test on a database of
// its own, which takes a quarter of an hour.
func TestStoreOnCitus(t *testing.T) {
	t.Parallel()
	needCitus(t)
	cluster := pgtest.Citus(t)
	tests := suiteTests()
	for name := range notOnCitus {
		delete(tests, name)
	}
	runSuite(t, tests, func(t testing.TB) (*Store, func() *Store) {
		o := Options{Dir: t.TempDir(), Database: cluster.Fresh(t, 4)}
		open := func() *Store {
			s, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		}
		if err := open().Distribute(t.Context(), func(string) {}); err != nil {
			t.Fatal(err)
		}
		return open(), open
	})
}
