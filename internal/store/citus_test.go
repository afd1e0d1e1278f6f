package store

import (
	"database/sql"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"boon.example/internal/ledger/verify"
	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/tables"
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
	_, err := s.db.Writer.Exec(noting)
	must(t, err)
	spreadAll := func(tell func(string)) {
		must(t, s.db.WriteInBackground(t.Context(),
			func(tx *sql.Tx) error { return spread(t.Context(), tx, inOrderOfPlaces(), tell) }))
	}
	spreadAll(func(string) {})
	spreadAll(func(what string) { t.Error("it is done twice: " + what) })
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
	s = again()
	clear(all.seen)
	fillStore(t, s, 3)
	ending := promotion(t, s, newID(), noon)
	if n, err := s.TellExpiry(t.Context(), ending.AccountID, noon, 10); err != nil || n == 0 {
		t.Errorf("%d ends of gifts are told: %v", n, err)
	}
	verifyClean(t, s)
	for text := range all.seen {
		if strings.Contains(text, "unnest") {
			t.Errorf("what is sent to several nodes at once: %s", text)
		}
		// Where a sub-select compares accounts, Citus asks all shards for the one gift.
		if strings.Contains(text, "v.account_id = $1 AND v.id = $2") && strings.Contains(text, "= v.account_id") {
			t.Errorf("a gift is looked for on all nodes: %s", text)
		}
		// Citus locks rows of one shard only, and goes by an account that the statement names for each table.
		if locks.MatchString(text) && strings.Contains(text, "= v.account_id") {
			t.Errorf("rows of several nodes are locked: %s", text)
		}
	}
	if len(all.seen) < 20 {
		t.Errorf("only %d statements were seen", len(all.seen))
	}
}

// locks finds what locks rows.
var locks = regexp.MustCompile(`FOR (NO KEY )?(UPDATE|SHARE)`)

// noting are functions of Citus that do nothing but note their arguments, where Citus notes them.
const noting = `CREATE TABLE pg_dist_partition (logicalrelid REGCLASS, partmethod TEXT, repmodel TEXT, by TEXT, beside TEXT);
	CREATE VIEW noted AS SELECT logicalrelid::text AS name, by, beside FROM pg_dist_partition WHERE partmethod = 'h';
	CREATE FUNCTION create_distributed_table(t TEXT, c TEXT, colocate_with TEXT) RETURNS VOID LANGUAGE sql AS $$
		INSERT INTO pg_dist_partition SELECT t::regclass, 'h', 's', c, CASE colocate_with WHEN 'none' THEN t ELSE colocate_with END $$;
	CREATE FUNCTION create_reference_table(t TEXT) RETURNS VOID LANGUAGE sql AS $$
		INSERT INTO pg_dist_partition SELECT t::regclass, 'n', 't', '', '' $$`

// TestNewTablesArePlaced: where the tables are spread already, opening the store puts the tables in their places that
// are new since, and takes their guards away that cannot be kept; where they are not, it does neither. What Citus is
// asked for is noted.
func TestNewTablesArePlaced(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	s, again := openServerForTest(t, &statements{seen: map[string]bool{}})
	_, err := s.db.Writer.Exec(noting)
	must(t, err)
	places := func() (places []string) {
		must(t, db.Each(t.Context(), s.db.Readers, `SELECT logicalrelid::text || ' ' || by || ' ' || beside
			FROM pg_dist_partition ORDER BY 1`, nil, func(rows *sql.Rows) error {
			var place string
			err := rows.Scan(&place)
			places = append(places, place)
			return err
		}))
		return places
	}
	again()
	if got := places(); len(got) > 0 {
		t.Errorf("nobody asked for it, and there are %q", got)
	}
	must(t, s.db.WriteInBackground(t.Context(),
		func(tx *sql.Tx) error { return spread(t.Context(), tx, inOrderOfPlaces(), func(string) {}) }))
	all := places()
	_, err = s.db.Writer.Exec(`DELETE FROM pg_dist_partition
			WHERE logicalrelid IN ('breakage'::regclass, 'sheet'::regclass, 'verification'::regclass);
		CREATE TRIGGER voucher_import_used AFTER UPDATE OF seq ON voucher
			FOR EACH ROW EXECUTE FUNCTION voucher_import_used()`)
	must(t, err)
	again()
	if got := places(); !slices.Equal(got, all) {
		t.Errorf("the places are %q, want %q", got, all)
	}
	var kept int
	must(t, s.db.Readers.QueryRow(`SELECT count(*) FROM pg_trigger WHERE tgname = 'voucher_import_used'`).Scan(&kept))
	if kept > 0 {
		t.Error("a trigger that asks other tables is left")
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

// TestCitusIsUpgraded: a database that the first release spread is brought up to date when it is opened. Each table
// that is new since is in its place then, and what is done on it is right. Nothing is left to do for boon migrate
// --citus.
func TestCitusIsUpgraded(t *testing.T) {
	t.Parallel()
	needCitus(t)
	o := Options{Dir: t.TempDir(), Database: pgtest.Citus(t).Fresh(t, 8)}
	released(t, o.Database)
	stores := make(chan *Store, 3)
	for range cap(stores) {
		go func() {
			s, err := Open(t.Context(), o)
			if err != nil {
				t.Error(err)
			}
			stores <- s
		}()
	}
	var s *Store
	for range cap(stores) {
		if opened := <-stores; opened != nil {
			s = opened
			t.Cleanup(func() { opened.Close() })
		}
	}
	if s == nil {
		t.FailNow()
	}
	must(t, s.Distribute(t.Context(), func(what string) { t.Error("left to do: " + what) }))
	fillStore(t, s, 3)
	verifyClean(t, s)
}

// TestStepsSuitCitus: no step of the schema has what Citus refuses on tables that it has spread, which a real one told:
// a column that comes with a constraint, and a constraint beside another change. Its statements, which it takes one by
// one, make the same schema.
func TestStepsSuitCitus(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	refused := regexp.MustCompile(`ALTER TABLE [^;]*(ADD COLUMN [^;,]*\b(CHECK|REFERENCES|UNIQUE|PRIMARY KEY)\b|` +
		`ADD CONSTRAINT [^;]*,\s+(ADD|DROP|ALTER) |,\s+ADD CONSTRAINT )`)
	later, err := fs.Glob(db.Migrations, "migrations/*.postgres.sql")
	must(t, err)
	for _, name := range later[1:] {
		text, err := fs.ReadFile(db.Migrations, name)
		must(t, err)
		if found := refused.FindString(string(text)); found != "" {
			t.Errorf("%s has %s", name, found)
		}
	}
	schemas := map[bool]string{}
	for _, spread := range []bool{false, true} {
		o := Options{Dir: t.TempDir(), Database: pgtest.Empty(t)}
		d, err := sql.Open("pgx", o.Database)
		must(t, err)
		defer d.Close()
		if spread { // it looks spread, and nothing is
			_, err := d.Exec(noting)
			must(t, err)
		}
		s, err := Open(t.Context(), o)
		must(t, err)
		must(t, s.Close())
		var schema string
		must(t, d.QueryRow(columnsAndGuards).Scan(&schema))
		schemas[spread] = schema
	}
	if schemas[true] != schemas[false] || len(schemas[true]) < 10_000 {
		t.Errorf("one by one, the statements make\n%s\ntogether\n%s", schemas[true], schemas[false])
	}
}

const columnsAndGuards = `SELECT string_agg(x.line, E'\n' ORDER BY x.line) FROM (
	SELECT concat_ws(' ', c.table_name, c.column_name, c.data_type, c.is_nullable, c.column_default) AS line
		FROM information_schema.columns AS c WHERE c.table_schema = current_schema()
	UNION ALL SELECT concat_ws(' ', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
		FROM pg_constraint AS k WHERE k.connamespace = current_schema()::regnamespace
	UNION ALL SELECT pg_get_triggerdef(g.oid) FROM pg_trigger AS g WHERE NOT g.tgisinternal
	UNION ALL SELECT i.indexdef FROM pg_indexes AS i WHERE i.schemaname = current_schema()) AS x
	WHERE x.line !~ 'noted|pg_dist_partition'`

// released makes a database as the first release left it, spread by Citus.
func released(t *testing.T, url string) {
	t.Helper()
	d, err := sql.Open("pgx", url)
	must(t, err)
	defer d.Close()
	baseline, err := fs.ReadFile(db.Migrations, "migrations/0001_baseline.postgres.sql")
	must(t, err)
	tx, err := d.BeginTx(t.Context(), nil)
	must(t, err)
	for _, text := range []string{
		`CREATE TABLE schema_version (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, serves BIGINT NOT NULL, applied_at BIGINT NOT NULL)`,
		string(baseline),
		`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (0, 'nothing', 0, 0), (1, 'baseline', 1, 0)`} {
		_, err := tx.ExecContext(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
		must(t, err)
	}
	must(t, spread(t.Context(), tx, ofRelease(t, tx), func(string) {}))
	must(t, tx.Commit())
}

// ofRelease are the tables that the first release had.
func ofRelease(t *testing.T, tx *sql.Tx) []tables.Table {
	t.Helper()
	return slices.DeleteFunc(inOrderOfPlaces(), func(table tables.Table) bool {
		var missing bool
		must(t, tx.QueryRow(`SELECT to_regclass($1) IS NULL`, table.Name).Scan(&missing))
		return missing
	})
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
	"constraints bite":                  "of the guards, it has none that ask other tables: see citusGivesUp",
	"a group is all or nothing":         "so it takes an entry that does not follow",
	"what was loaded is kept":           "so only the engine knows that something was undone already",
	"what was cashed out is kept":       "likewise",
	"the schema knows what undoes what": "so an entry is taken that undoes what its kind does not undo",
	"verify walks and finds":            "the test does its damage by a statement that joins two accounts",
	"verify finds long answers":         "likewise",
}

// TestImportsOnASpreadDatabase runs the tests of imports where the store knows that Citus has spread the tables, and
// the guards are gone that Citus cannot keep: gifts are brought in, and only an import that is not finished is undone.
func TestImportsOnASpreadDatabase(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	tests := suiteTests()
	maps.DeleteFunc(tests, func(name string, _ func(*testing.T, opener)) bool { return !strings.Contains(name, "import") })
	if len(tests) < 8 {
		t.Fatalf("only %d tests of the suite are about imports", len(tests))
	}
	runSuite(t, tests, func(t testing.TB) (*Store, func() *Store) {
		s, again := openServerForTest(t, &statements{seen: map[string]bool{}})
		_, err := s.db.Writer.Exec(noting)
		must(t, err)
		must(t, s.db.WriteInBackground(t.Context(),
			func(tx *sql.Tx) error { return spread(t.Context(), tx, inOrderOfPlaces(), func(string) {}) }))
		open := func() *Store {
			s := again()
			s.db.Spread = true
			return s
		}
		return open(), open
	})
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
