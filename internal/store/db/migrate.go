package db

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Migrations are the steps of the schema.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// migration is one step of the schema.
type migration struct {
	number int64
	name   string
	text   string
	serves int64 // the oldest schema whose programs still work on this one
}

// steps lists those of a database in order: NUMBER_name.DATABASE.sql. Their numbers count from 1 without a gap.
func steps(files fs.FS, database string) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*."+database+".sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, file := range names {
		number, name, _ := strings.Cut(strings.TrimSuffix(path.Base(file), "."+database+".sql"), "_")
		m := migration{name: name}
		if m.number, err = strconv.ParseInt(number, 10, 64); err != nil || m.number != int64(len(all)+1) {
			return nil, fmt.Errorf("migration %s should have number %d", file, len(all)+1)
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		m.text = string(text)
		if m.serves, err = serves(&m); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// serves reads the first line of a step: "-- Serves programs from schema N." The first step has nothing before it to
// serve.
func serves(m *migration) (n int64, err error) {
	if m.number == 1 {
		return 1, nil
	}
	if _, err = fmt.Sscanf(m.text, "-- Serves programs from schema %d.", &n); err != nil || n < 1 || n > m.number {
		return 0, fmt.Errorf("migration %d (%s) must begin with the line: -- Serves programs from schema N.", m.number,
			m.name)
	}
	return n, nil
}

// Migrate brings the schema up to date, by the steps in a folder migrations, each in a transaction of its own. A newer
// schema is fine as long as it serves this program; else it is refused. Several processes may do it at once: each step
// is taken once.
func (d *DB) Migrate(ctx context.Context, files fs.FS) error {
	steps, err := steps(files, d.backend.name())
	if err != nil {
		return err
	}
	newest := int64(len(steps))
	at, err := d.SchemaVersion(ctx)
	for ours := false; err == nil; {
		if !ours { // another process may have made it, of another program
			err = d.checkReleased(ctx, steps, at)
		}
		if err != nil || at >= newest {
			return cmp.Or(err, d.checkServed(ctx, at, newest))
		}
		for try := 1; ; try++ {
			if at, ours, err = d.migrateOnce(ctx, steps); err == nil || try == tries || !d.backend.retryable(err) {
				break
			}
		}
	}
	return err
}

// checkSchema fails with ErrOldSchema where Migrate would take steps.
func (d *DB) checkSchema(ctx context.Context) error {
	steps, err := steps(Migrations, d.backend.name())
	if err != nil {
		return err
	}
	newest := int64(len(steps))
	at, err := d.SchemaVersion(ctx)
	if err == nil {
		err = d.checkReleased(ctx, steps, at)
	}
	switch {
	case err != nil:
		return err
	case at < newest:
		return fmt.Errorf("%w: it is number %d, and this program makes it number %d", ErrOldSchema, at, newest)
	}
	return d.checkServed(ctx, at, newest)
}

// firstRelease is the release whose schema is step 1; its baseline has a column that those of earlier programs lacked.
const (
	firstRelease = "0.1.0"
	firstTable   = "secret"
	firstColumn  = "replaced"
)

// checkReleased refuses a database that a program from before the first release made: its steps had other names, or its
// first one made another schema. No step leads from there to here.
func (d *DB) checkReleased(ctx context.Context, steps []migration, at int64) error {
	if at == 0 {
		return nil
	}
	old := ""
	err := Each(ctx, d.Readers, `SELECT version, name FROM schema_version WHERE version > 0 ORDER BY version DESC`, nil,
		func(rows *sql.Rows) error {
			var number int64
			var name string
			err := rows.Scan(&number, &name)
			if number <= int64(len(steps)) && name != steps[number-1].name {
				old = name
			}
			return err
		})
	if err != nil {
		return fmt.Errorf("reading the steps of the schema: %w", err)
	}
	if old == "" && steps[0].name == "baseline" {
		var has bool
		if err := d.Get(ctx, d.Text(hasColumn), []any{firstTable, firstColumn}, &has); err != nil {
			return fmt.Errorf("looking for the column %s.%s: %w", firstTable, firstColumn, err)
		}
		if !has {
			old = steps[0].name
		}
	}
	if old == "" {
		return nil
	}
	last := steps[len(steps)-1]
	return fmt.Errorf("the database %s was made by a boon from before %s, with its own schema %d (from %q on), which no "+
		"release reads; this program has schema %d (%q) and brings databases of %s and newer up to date: go on with the "+
		"program that made it, or begin with another --data folder or database, and leave this one as it is", d.Place,
		firstRelease, at, old, last.number, last.name, firstRelease)
}

var hasColumn = Text{
	SQLite: `SELECT count(*) > 0 FROM pragma_table_info($1) WHERE name = $2`,
	Postgres: `SELECT count(*) > 0 FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 AND column_name = $2`,
}

// CheckSchema finds out whether the schema still serves this program: another program may have changed it since, and a
// restored database may be older than what was opened. As long as it does not, everything that is asked of the database
// fails with the reason, before it is sent. A database that cannot be asked now stays as it was judged.
func (d *DB) CheckSchema(ctx context.Context) error {
	steps, err := steps(Migrations, d.backend.name())
	if err != nil {
		return err
	}
	newest := int64(len(steps))
	at, serves, err := d.readSchema(ctx)
	switch {
	case err != nil:
		return err
	case at == 0:
		err = emptyStore(d.Place)
	case at < newest:
		err = fmt.Errorf("the database is older than this program: its schema is number %d, and this program needs number "+
			"%d; stop every boon serve of it, and start them again, which brings the schema up to date", at, newest)
	default:
		err = served(at, serves, newest)
	}
	if err == nil {
		d.unserved.Store(nil)
		return nil
	}
	err = &unserved{err}
	d.unserved.Store(&err)
	return err
}

// readSchema tells the newest step that was taken, 0 where there is none, and the oldest schema whose programs the
// newest one serves.
func (d *DB) readSchema(ctx context.Context) (at, serves int64, err error) {
	err = d.retry(ctx, d.Timeout(), func(ctx context.Context) error {
		const newest = `SELECT coalesce(max(version), 0), coalesce(max(serves), 0) FROM schema_version`
		err := d.Readers.QueryRowContext(ctx, newest).Scan(&at, &serves)
		if err == nil || d.backend.retryable(err) {
			return err
		}
		if has, lookErr := d.hasTable(ctx, d.Readers, "schema_version"); lookErr != nil || has {
			return err
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	return at, serves, nil
}

// ErrUnserved is what everything fails with that is asked of a database whose schema does not serve this program; the
// error says more.
var ErrUnserved = errors.New("the schema does not serve this program")

// unserved is an ErrUnserved in words for the operator.
type unserved struct{ error }

func (u *unserved) Unwrap() error        { return u.error }
func (u *unserved) Is(target error) bool { return target == ErrUnserved }

// serving fails while the schema does not serve this program: see CheckSchema.
func (d *DB) serving() error {
	if why := d.unserved.Load(); why != nil {
		return *why
	}
	return nil
}

// checkServed refuses a schema that no longer serves programs that know it up to step newest.
func (d *DB) checkServed(ctx context.Context, at, newest int64) error {
	var from int64
	if err := d.Get(ctx, `SELECT coalesce(max(serves), 0) FROM schema_version`, nil, &from); err != nil {
		return fmt.Errorf("reading the schema's version: %w", err)
	}
	return served(at, from, newest)
}

// served refuses a schema, number at, that serves programs from number from on, to one that knows it up to newest.
func served(at, from, newest int64) error {
	if from > newest {
		return fmt.Errorf("the database was made by a newer version of boon: its schema is number %d and serves programs "+
			"from number %d on, "+
			"this program knows %d; run the newer program, or restore a backup that was made before the update", at, from,
			newest)
	}
	return nil
}

var lockVersion = Text{
	SQLite:   `SELECT version FROM schema_version WHERE version = 0`,
	Postgres: `SELECT version FROM schema_version WHERE version = 0 FOR NO KEY UPDATE`,
}

// migrateOnce takes the next step, unless another process has taken the last one meanwhile. It tells which step is the
// newest then, and whether it was taken here.
func (d *DB) migrateOnce(ctx context.Context, steps []migration) (at int64, took bool, err error) {
	err = d.WriteInBackground(ctx, func(tx *sql.Tx) error {
		took = false
		// The row of step 0 is there to be locked: who has it takes the next step, the others wait for it.
		for _, text := range []string{
			`CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, serves BIGINT NOT NULL, applied_at BIGINT NOT NULL)`,
			`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (0, 'nothing', 0, 0) ON CONFLICT (version) DO NOTHING`,
			d.Text(lockVersion),
		} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("locking the schema's version: %w", err)
			}
		}
		if at, err = newestStep(ctx, tx); err != nil || at >= int64(len(steps)) {
			return err
		}
		m := &steps[at]
		for _, text := range d.statementsOf(m) {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("migrating the database to schema %d (%s): %w", m.number, m.name, err)
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO schema_version (version, name, serves, applied_at) VALUES ($1, $2, $3, $4)`,
			m.number, m.name, m.serves, time.Now().UnixMicro())
		at, took = m.number, true
		return err
	})
	if err == nil && took && d.Migrated != nil {
		d.Migrated(at, steps[at-1].name)
	}
	return at, took, err
}

// SpreadSettings are for transactions that change tables which Citus spreads over machines: one machine after the
// other, and with triggers, which look at their own row only.
var SpreadSettings = []string{
	`SET LOCAL citus.multi_shard_modify_mode = 'sequential'`,
	`SET LOCAL citus.enable_unsafe_triggers = on`,
}

// statementsOf is what a step has the database do. Citus takes statements one by one only, as it sends each of them on.
func (d *DB) statementsOf(m *migration) []string {
	if !d.Spread {
		return []string{m.text}
	}
	return append(slices.Clone(SpreadSettings), oneByOne(m.text)...)
}

// oneByOne takes the text of a step apart. A statement ends where a line does, with a semicolon that a comment may
// follow, outside the body of a function, which stands between two $$.
func oneByOne(text string) (statements []string) {
	var statement strings.Builder
	within, says := false, false
	for line := range strings.Lines(text) {
		statement.WriteString(line)
		if strings.Count(line, "$$")%2 == 1 {
			within = !within
		}
		code, _, _ := strings.Cut(line, "--")
		code = strings.TrimSpace(code)
		if says = says || code != ""; says && !within && strings.HasSuffix(code, ";") {
			statements = append(statements, statement.String())
			statement.Reset()
			says = false
		}
	}
	if says {
		statements = append(statements, statement.String())
	}
	return statements
}

// SchemaVersion is the number of the newest step that was taken, 0 for a new database.
func (d *DB) SchemaVersion(ctx context.Context) (version int64, err error) {
	err = d.Retry(ctx, func(ctx context.Context) (err error) {
		version, err = d.schemaVersion(ctx, d.Readers)
		return err
	})
	return version, err
}

func (d *DB) schemaVersion(ctx context.Context, q Querier) (version int64, err error) {
	if has, err := d.hasTable(ctx, q, "schema_version"); err != nil || !has {
		return 0, err
	}
	return newestStep(ctx, q)
}

// newestStep is schemaVersion where the table is there.
func newestStep(ctx context.Context, q Querier) (version int64, err error) {
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM schema_version`).Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	return version, nil
}

var countTables = Text{
	SQLite: `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`,
	Postgres: `SELECT count(*) FROM information_schema.tables
		WHERE table_schema = current_schema() AND table_name = $1`,
}

func (d *DB) hasTable(ctx context.Context, q Querier, name string) (bool, error) {
	var n int
	if err := q.QueryRowContext(ctx, d.Text(countTables), name).Scan(&n); err != nil {
		return false, fmt.Errorf("looking for the table %s: %w", name, err)
	}
	return n > 0, nil
}
