package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/message"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
	"boon.example/internal/store/files"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/tables"
)

func openDir(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  []string // in the sentence
	}{
		"a missing key file": {
			func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, sealed.FileName))) },
			[]string{sealed.FileName, "is missing", "restore it from its backup"}},
		"another database's key file": {
			func(t *testing.T, dir string) {
				must(t, os.Remove(filepath.Join(dir, sealed.FileName)))
				_, err := sealed.Create(filepath.Join(dir, sealed.FileName))
				must(t, err)
			},
			[]string{sealed.FileName, "is not the one"}},
		"a key file that others may read": {
			func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, sealed.FileName), 0o644)) },
			[]string{"chmod 600"}},
		"a newer database": {
			func(t *testing.T, dir string) {
				_, err := openDir(t, dir).db.Writer.Exec(`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (1000, 'future', 999, 0)`)
				must(t, err)
			},
			[]string{"newer version of boon", "number 1000"}},
		"a file that is no database": {
			func(t *testing.T, dir string) {
				must(t, os.WriteFile(filepath.Join(dir, DatabaseName), bytes.Repeat([]byte("text "), 1000), 0o600))
			},
			[]string{"not a database"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, openDir(t, dir).Close())
			test.spoil(t, dir)
			s, err := Open(t.Context(), Options{Dir: dir})
			if err == nil {
				s.Close()
				t.Fatal("it opened")
			}
			for _, w := range test.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpenRefusesAnEmptyDatabase: whoever only looks is not told that all is well with a database that lost
// everything, and leaves it as it is.
func TestOpenRefusesAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(file string){
		"truncated": func(file string) { must(t, os.Truncate(file, 0)) },
		"without tables": func(file string) {
			must(t, os.Remove(file))
			d, err := sql.Open("sqlite", file)
			must(t, err)
			_, err = d.Exec(`PRAGMA user_version = 1`)
			must(t, errors.Join(err, d.Close()))
		},
	} {
		dir := t.TempDir()
		s, err := Open(t.Context(), Options{Dir: dir})
		must(t, err)
		must(t, s.Close())
		file := filepath.Join(dir, DatabaseName)
		empty(file)
		was, err := os.ReadFile(file)
		must(t, err)
		_, err = Open(t.Context(), Options{Dir: dir, MustExist: true})
		if !errors.Is(err, ErrNoStore) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if is, err := os.ReadFile(file); err != nil || len(was) == 0 && len(is) > 0 || bytes.Contains(is, []byte("voucher")) {
			t.Errorf("%s: %d bytes have become %d, %v", name, len(was), len(is), err)
		}
	}
}

func TestOpenMustExist(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := Open(t.Context(), Options{Dir: dir, MustExist: true}); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("%v, want a sentence with the folder's name", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder was made")
	}
	must(t, openDir(t, dir).Close())
	s, err := Open(t.Context(), Options{Dir: dir, MustExist: true})
	must(t, err)
	must(t, s.Close())
}

// TestOpenKeepSchema: who only looks takes no step of the schema.
func TestOpenKeepSchema(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDir(t, dir)
	if !s.Made() || s.Place() != filepath.Join(dir, DatabaseName) {
		t.Errorf("a new store: made %v, at %s", s.Made(), s.Place())
	}
	_, err := s.db.Writer.Exec(`DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)`)
	must(t, err)
	must(t, s.Close())
	for range 2 {
		if _, err := Open(t.Context(), Options{Dir: dir, KeepSchema: true}); !errors.Is(err, ErrOldSchema) {
			t.Fatalf("an older schema: %v", err)
		}
	}
	dir = t.TempDir()
	must(t, openDir(t, dir).Close())
	s, err = Open(t.Context(), Options{Dir: dir, KeepSchema: true})
	must(t, err)
	if s.Made() {
		t.Error("a store that was there is told of as new")
	}
	must(t, s.Close())
}

// TestOpenHalfMade: a process that died between making the key file and the database leaves a folder that opens.
func TestOpenHalfMade(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := sealed.Create(filepath.Join(dir, sealed.FileName))
	must(t, err)
	must(t, openDir(t, dir).Close())

	dir = t.TempDir()
	_, err = sealed.Create(filepath.Join(dir, sealed.FileName))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, DatabaseName), nil, 0o600))
	issue(t, openDir(t, dir), newID(), 1)
}

func TestOpenANewFolderAtOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		dir := filepath.Join(t.TempDir(), "new")
		var group sync.WaitGroup
		account := newID()
		for range 6 {
			group.Go(func() {
				s, err := Open(context.Background(), Options{Dir: dir})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := tryIssue(context.Background(), s, account, 2); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if n, err := openDir(t, dir).CountVouchers(t.Context()); err != nil || n != 12 {
			t.Errorf("%d vouchers, %v, want 12", n, err)
		}
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := openDir(t, dir)
	issue(t, s, newID(), 1)
	info, err := os.Stat(dir)
	must(t, err)
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("the folder has mode %04o, want 0700", got)
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 5 { // database, -wal, -shm, -head, key file
		t.Errorf("%d files, want 5", len(files))
	}
	for _, f := range files {
		info, err := f.Info()
		must(t, err)
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s has mode %04o, want 0600", f.Name(), got)
		}
	}
}

// TestBaselinesAreAlike: both databases have the same tables, columns, rules and indexes, each in its own words.
func TestBaselinesAreAlike(t *testing.T) {
	t.Parallel()
	tables := func(database string, words ...string) []string {
		baseline, err := fs.ReadFile(db.Migrations, "migrations/0001_baseline."+database+".sql")
		must(t, err)
		text, _, found := strings.Cut(string(baseline), "\n-- Guards: ")
		made := strings.Count(text, "CREATE TABLE ")
		later, err := fs.Glob(db.Migrations, "migrations/*."+database+".sql")
		must(t, err)
		for _, name := range later[1:] {
			migration, err := fs.ReadFile(db.Migrations, name)
			must(t, err)
			made += strings.Count(string(migration), "CREATE TABLE ") - strings.Count(string(migration), "DROP TABLE ")
		}
		if !found || made != len(tables.All)-1 { // schema_version is older
			t.Fatalf("%s: %d tables are made, want %d", database, made, len(tables.All)-1)
		}
		_, text, _ = strings.Cut(text, "\n\n") // what the file says of its database
		return slices.Collect(strings.FieldsSeq(strings.NewReplacer(words...).Replace(text)))
	}
	here, there := tables("sqlite", ") STRICT, WITHOUT ROWID;", ");", ") STRICT;", ");"),
		tables("postgres", "BYTEA", "BLOB", "BIGINT", "INTEGER", "BOOLEAN", "INTEGER")
	for i := range min(len(here), len(there)) {
		if here[i] != there[i] {
			t.Fatalf("SQLite has\n%s\nPostgreSQL has\n%s", strings.Join(here[max(0, i-9):i+1], " "),
				strings.Join(there[max(0, i-9):i+1], " "))
		}
	}
	if len(here) != len(there) {
		t.Errorf("SQLite has %d words, PostgreSQL %d", len(here), len(there))
	}
}

// moreSteps are our own steps of the schema, and more, the same for both databases.
func moreSteps(t *testing.T, more ...string) fs.FS {
	t.Helper()
	all := fstest.MapFS{}
	files, err := fs.Glob(db.Migrations, "migrations/*.sql")
	must(t, err)
	for _, file := range files {
		text, err := fs.ReadFile(db.Migrations, file)
		must(t, err)
		all[file] = &fstest.MapFile{Data: text}
	}
	for i, text := range more {
		for _, database := range []string{"sqlite", "postgres"} {
			all[fmt.Sprintf("migrations/%04d_more.%s.sql", len(files)/2+1+i, database)] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return all
}

// TestAMigrationThatIsKilled: the program, or the database, dies in the middle of a step. The next start takes the
// whole step, on what was there before.
func TestAMigrationThatIsKilled(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			g := issue(t, s, newID(), 1)[0]
			at, err := s.db.SchemaVersion(t.Context())
			must(t, err)
			const half = `ALTER TABLE voucher ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'`
			added := moreSteps(t, "-- Serves programs from schema 1.\n"+half+`; CREATE INDEX voucher_colour ON voucher (colour)`)
			tx, err := s.db.Writer.BeginTx(t.Context(), nil)
			must(t, err)
			defer tx.Rollback()
			_, err = tx.ExecContext(t.Context(), half)
			must(t, err)
			if name == "sqlite" { // the files are what a killed process leaves
				dir := t.TempDir()
				for _, file := range []string{DatabaseName, DatabaseName + files.LogSuffix, sealed.FileName} {
					copyFile(t, filepath.Join(filepath.Dir(s.db.File), file), filepath.Join(dir, file))
				}
				s, err = Open(t.Context(), Options{Dir: dir})
				must(t, err)
				t.Cleanup(func() { s.Close() })
			} else {
				var pid int
				must(t, tx.QueryRow(`SELECT pg_backend_pid()`).Scan(&pid))
				_, err := s.db.Readers.Exec(`SELECT pg_terminate_backend($1, 5000)`, pid)
				must(t, err)
			}
			if is, err := s.db.SchemaVersion(t.Context()); err != nil || is != at {
				t.Fatalf("schema %d, %v", is, err)
			}
			must(t, s.db.Migrate(t.Context(), added))
			var colour string
			must(t, s.db.Readers.QueryRow(`SELECT colour FROM voucher`).Scan(&colour))
			if is, err := s.db.SchemaVersion(t.Context()); err != nil || is != at+1 || colour != "red" {
				t.Errorf("schema %d, %v, and a gift that is %q", is, err, colour)
			}
			redeem(t, s, &g.Voucher, 100)
		})
	}
}

func TestSizesAndPing(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			must(t, s.Ping(t.Context()))
			issue(t, s, newID(), 3)
			z, err := s.Sizes(t.Context())
			must(t, err)
			if z.Vouchers != 3 || z.Database == 0 || (z.Log == 0) != (name == "postgres") { // the server keeps its log to itself
				t.Errorf("%+v", z)
			}
			must(t, s.Close())
			if s.Ping(t.Context()) == nil {
				t.Error("a closed store answers")
			}
		})
	}
}

// TestNoSecretInAnyFile uses everything that sees a code, a token or an API key, and then looks for them in the data
// folder: while the store is open, and after it was closed.
func TestNoSecretInAnyFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDir(t, dir)
	secrets := useSecrets(t, s)
	seen := grep(t, dir, append(secrets, "Harbor")) // what is no secret shows that the search batches
	must(t, s.Close())
	for name, found := range grep(t, dir, secrets) {
		seen[name] += found
	}
	noSecret(t, seen)
}

// TestNoSecretInAnyTable is its like on a server: whoever has its tables has them as they are on its disk.
func TestNoSecretInAnyTable(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // the files of an embedded database are searched above
	s, _ := openPostgresForTest(t)
	secrets := useSecrets(t, s)
	conn, err := s.db.Readers.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	seen := map[string]int{}
	for _, name := range tableList(t, s) {
		var content bytes.Buffer
		must(t, conn.Raw(func(c any) error {
			copied := `COPY ` + name + ` TO STDOUT (FORMAT binary)`
			_, err := c.(*stdlib.Conn).Conn().PgConn().CopyTo(t.Context(), &content, copied)
			return err
		}))
		for _, text := range append(secrets, "Harbor") {
			if bytes.Contains(content.Bytes(), []byte(text)) {
				seen[text]++
			}
		}
	}
	noSecret(t, seen)
}

func tableList(t *testing.T, s *Store) (names []string) {
	t.Helper()
	must(t, db.Each(t.Context(), s.db.Readers, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`, nil,
		func(rows *sql.Rows) error {
			var name string
			err := rows.Scan(&name)
			names = append(names, name)
			return err
		}))
	return names
}

// noSecret demands that a search found nothing but the word that is no secret.
func noSecret(t *testing.T, seen map[string]int) {
	t.Helper()
	if seen["Harbor"] == 0 {
		t.Error("the search finds nothing at all")
	}
	delete(seen, "Harbor")
	for secret := range seen {
		t.Errorf("%s… is kept in the clear", secret[:4])
	}
}

// useSecrets uses everything that sees a secret, and tells which it used.
func useSecrets(t *testing.T, s *Store) (secrets []string) {
	t.Helper()
	account, till := newID(), newID()
	key, err := merchant.NewKey(rand.Reader, merchant.AccountKey, false)
	must(t, err)
	secrets = append(secrets, key)
	configure(t, s, merchant.Changes{
		Accounts: []*merchant.Account{{ID: account, Name: "Harbor", Currency: dollars, Zone: time.UTC}},
		Keys: []*merchant.Key{{ID: till, Kind: merchant.AccountKey, AccountID: account, Name: "till",
			Hint: merchant.KeyHint(key),
			Hash: merchant.HashKey(key), CreatedAt: noon, Permissions: merchant.AllPermissions}},
	})
	for _, g := range issue(t, s, account, 40) {
		code, token := g.Card.Code.Reveal(), g.Card.Token.Reveal()
		secrets = append(secrets, code, token, g.Card.Code.Grouped())
		taken := redeem(t, s, &g.Voucher, 100)
		answer := []byte(`{"voucherCode":"` + code + `","voucherPublicToken":"` + token + `"}`)
		var c ledger.Changes
		for _, o := range []operation.Name{operation.SendGift, operation.ReinstateGift, operation.CancelGift,
			operation.ResendGift} {
			c.Requests = append(c.Requests, ledger.Request{RequestKey: ledger.RequestKey{AccountID: account, Operation: o,
				Key: g.ID.String()},
				Fingerprint: s.Keys().Fingerprint(answer), Answer: ledger.Answer{Code: ledger.OK, Body: answer}, EntryID: taken.ID,
				At: noon})
		}
		save(t, s, c)
		must(t, s.KeepMessage(t.Context(), message.Message{ID: newID(), GiftID: g.ID, Text: code, HTML: token, Subject: key,
			At: noon}))
		_, _, err := s.CountMisses(t.Context(), merchant.Till{AccountID: account, KeyID: till}, noon, 1)
		must(t, err)
		if _, err := s.GiftByCode(t.Context(), g.Card.Code); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = s.TakeAnonymous(t.Context(), "198.51.100.0/24", noon)
	must(t, err)
	secrets = append(secrets, "198.51.100.0/24")
	return secrets
}

// grep counts the files of a folder that hold each of the texts.
func grep(t *testing.T, dir string, texts []string) map[string]int {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	found := map[string]int{}
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dir, f.Name()))
		must(t, err)
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found[text]++
			}
		}
	}
	return found
}

// TestAnOlderProgramOnANewerSchema: what only adds to the schema lets the programs before it work on, on the data of
// the newer ones; what does not is refused by them.
func TestAnOlderProgramOnANewerSchema(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := open(t)
			at, err := s.db.SchemaVersion(t.Context())
			must(t, err)
			more := "-- Serves programs from schema 1.\nALTER TABLE request ADD COLUMN later INTEGER NOT NULL DEFAULT 7"
			added := moreSteps(t, more)
			must(t, s.db.Migrate(t.Context(), added))
			old := again() // knows the steps up to ours
			must(t, old.Ping(t.Context()))
			g := issue(t, old, newID(), 1)[0]
			taken := redeem(t, old, &g.Voucher, 100)
			save(t, old, ledger.Changes{Requests: []ledger.Request{{EntryID: taken.ID, At: noon,
				RequestKey: ledger.RequestKey{AccountID: g.AccountID, Operation: operation.RedeemGift, Key: "k"}}}})
			if found, err := old.Requests(t.Context(), g.AccountID, operation.RedeemGift, "k"); err != nil || len(found) != 1 {
				t.Errorf("%d records, %v", len(found), err)
			}
			redeem(t, s, &g.Voucher, 100) // and the newer one beside it

			renamed := fmt.Sprintf("-- Serves programs from schema %d.\nALTER TABLE request RENAME COLUMN later TO late", at+1)
			must(t, s.db.Migrate(t.Context(), moreSteps(t, more, renamed)))
			if err := old.db.Migrate(t.Context(), db.Migrations); err == nil ||
				!strings.Contains(err.Error(), "newer version of boon") {
				t.Errorf("a program that the schema does not serve any more: %v", err)
			}
			must(t, s.db.Migrate(t.Context(), added)) // the one before still may
		})
	}
}

// TestOpenAtOnce: ten instances start on an empty database, and each step of the schema is taken once.
func TestOpenAtOnce(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // TestOpenANewFolderAtOnce is its like
	dir, database := t.TempDir(), pgtest.Empty(t)
	_, err := sealed.Create(filepath.Join(dir, sealed.FileName))
	must(t, err)
	account := newID()
	var instances sync.WaitGroup
	for range 10 {
		instances.Go(func() {
			s, err := Open(context.Background(), Options{Dir: dir, Database: database})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := tryIssue(context.Background(), s, account, 2); err != nil {
				t.Error(err)
			}
		})
	}
	instances.Wait()
	s, err := Open(t.Context(), Options{Dir: dir, Database: database, MustExist: true})
	must(t, err)
	defer s.Close()
	var steps, distinct int
	must(t, s.db.Readers.QueryRow(`SELECT count(*), count(DISTINCT version) FROM schema_version WHERE version > 0`).Scan(&steps, &distinct))
	want, err := fs.Glob(db.Migrations, "migrations/*.postgres.sql")
	must(t, err)
	if n, err := s.CountVouchers(t.Context()); err != nil || n != 20 || steps != len(want) || distinct != steps {
		t.Errorf("%d vouchers, %v, and %d steps, want 20 and %d", n, err, steps, len(want))
	}
}

// TestOpenAtOnceWithoutAKeyFile: ten instances start on an empty database, none of which has a key file. One makes
// it; the others say where to copy it from, leave nothing behind, and start once that is done.
func TestOpenAtOnceWithoutAKeyFile(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // an embedded database is in one folder, with its one key file
	database, dirs := pgtest.Empty(t), make([]string, 10)
	for n := range dirs {
		dirs[n] = filepath.Join(t.TempDir(), "data")
	}
	first := openEach(t, dirs, database, func(dir string, err error) {
		file := filepath.Join(dir, sealed.FileName)
		said := err.Error()
		if !strings.Contains(said, "copy "+sealed.FileName+" from the data folder") || !strings.Contains(said, "to "+file) ||
			strings.Contains(said, "\n") {
			t.Errorf("an instance that was not first says: %v", err)
		}
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an instance that was not first leaves its key file: %v", err)
		}
	})
	if len(first) != 1 {
		t.Fatalf("%d instances start, want 1", len(first))
	}
	key, err := os.ReadFile(filepath.Join(first[0], sealed.FileName))
	must(t, err)
	for _, dir := range dirs {
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.WriteFile(filepath.Join(dir, sealed.FileName), key, 0o600))
	}
	openEach(t, dirs, database, func(dir string, err error) { t.Errorf("with the key file: %v", err) })
}

// openEach opens a database from many folders at once, tells who is refused, and gives the folders of the others.
func openEach(t *testing.T, dirs []string, database string, refused func(dir string, err error)) (opened []string) {
	t.Helper()
	var instances sync.WaitGroup
	var mu sync.Mutex
	for _, dir := range dirs {
		instances.Go(func() {
			s, err := Open(t.Context(), Options{Dir: dir, Database: database})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused(dir, err)
				return
			}
			opened = append(opened, dir)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	instances.Wait()
	return opened
}

// TestOpenServerRefuses: a database that has data needs its own key file.
func TestOpenServerRefuses(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	database, dir := pgtest.Fresh(t), t.TempDir()
	refused := func(o Options, want string) {
		t.Helper()
		s, err := Open(t.Context(), o)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	empty := pgtest.Empty(t)
	refused(Options{Dir: dir, Database: empty, MustExist: true}, "there is nothing of boon")
	s, err := Open(t.Context(), Options{Dir: dir, Database: database})
	must(t, err)
	must(t, s.Close())
	refused(Options{Dir: filepath.Join(dir, "other"), Database: database}, "its key file")
	if _, err := os.Stat(filepath.Join(dir, "other")); err == nil {
		t.Error("a folder was made for keys that cannot be")
	}
	elsewhere := t.TempDir()
	_, err = sealed.Create(filepath.Join(elsewhere, sealed.FileName))
	must(t, err)
	refused(Options{Dir: elsewhere, Database: database}, "is not the one")
	refused(Options{Dir: dir, Database: "postgres://boon:secret@127.0.0.1:1/boon"},
		"opening the database boon on 127.0.0.1")
	if _, err := Open(t.Context(),
		Options{Dir: dir, Database: "postgres://boon:secret@127.0.0.1:1/boon"}); strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is told: %v", err)
	}
}
