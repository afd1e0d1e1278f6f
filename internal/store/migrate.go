package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one step of the schema.
type migration struct {
	number int64
	name   string
	text   string
	serves int64 // the oldest schema whose programs still work on this one
}

// migrations lists the steps of a dialect in order: NUMBER_name.DIALECT.sql. Their numbers count from 1 without a gap.
func migrations(files fs.FS, d *dialect) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*."+d.name+".sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, file := range names {
		number, name, _ := strings.Cut(strings.TrimSuffix(path.Base(file), "."+d.name+".sql"), "_")
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

// migrate brings the schema up to date, each step in a transaction of its own. A newer schema is fine as long as it
// serves this program; else it is refused. Several processes may do it at once: each step is taken once.
func (s *Store) migrate(ctx context.Context, steps []migration) error {
	newest := int64(len(steps))
	for {
		var at int64
		err := s.retry(ctx, func(ctx context.Context) (err error) {
			at, err = s.schemaVersion(ctx, s.readers)
			return err
		})
		if err != nil {
			return err
		}
		if at >= newest {
			return s.checkServed(ctx, at, newest)
		}
		for try := 1; ; try++ {
			if err = s.migrateOnce(ctx, steps); err == nil || try == tries || !s.dialect.retryable(err) {
				break
			}
		}
		if err != nil {
			return err
		}
	}
}

// checkSchema fails with ErrOldSchema where migrate would take steps.
func (s *Store) checkSchema(ctx context.Context, newest int64) error {
	var at int64
	err := s.retry(ctx, func(ctx context.Context) (err error) {
		at, err = s.schemaVersion(ctx, s.readers)
		return err
	})
	switch {
	case err != nil:
		return err
	case at < newest:
		return fmt.Errorf("%w: it is number %d, and this program makes it number %d", ErrOldSchema, at, newest)
	}
	return s.checkServed(ctx, at, newest)
}

// checkServed refuses a schema that no longer serves programs that know it up to step newest.
func (s *Store) checkServed(ctx context.Context, at, newest int64) error {
	var from int64
	err := s.retry(ctx, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, `SELECT coalesce(max(serves), 0) FROM schema_version`).Scan(&from)
	})
	if err != nil {
		return fmt.Errorf("reading the schema's version: %w", err)
	}
	if from > newest {
		return fmt.Errorf("the database was made by a newer version of boon: its schema is number %d and serves programs "+
			"from number %d on, "+
			"this program knows %d; run the newer program, or restore a backup that was made before the update", at, from,
			newest)
	}
	return nil
}

// migrateOnce takes the next step, unless another process has taken it meanwhile.
func (s *Store) migrateOnce(ctx context.Context, steps []migration) error {
	var took *migration
	err := s.transactInBackground(ctx, func(tx *sql.Tx) error {
		took = nil
		// The row of step 0 is there to be locked: who has it takes the next step, the others wait for it.
		for _, text := range []string{
			`CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, serves BIGINT NOT NULL, applied_at BIGINT NOT NULL)`,
			`INSERT INTO schema_version (version, name, serves, applied_at) VALUES (0, 'nothing', 0, 0) ON CONFLICT (version) DO NOTHING`,
			`SELECT version FROM schema_version WHERE version = 0` + s.dialect.lockRows,
		} {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("locking the schema's version: %w", err)
			}
		}
		at, err := s.schemaVersion(ctx, tx)
		if err != nil || at >= int64(len(steps)) {
			return err
		}
		m := &steps[at]
		if _, err := tx.ExecContext(ctx, m.text); err != nil {
			return fmt.Errorf("migrating the database to schema %d (%s): %w", m.number, m.name, err)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO schema_version (version, name, serves, applied_at) VALUES ($1, $2, $3, $4)`,
			m.number, m.name, m.serves, time.Now().UnixMicro())
		took = m
		return err
	})
	if err == nil && took != nil && s.migrated != nil {
		s.migrated(took.number, took.name)
	}
	return err
}

// schemaVersion is the number of the newest step that was taken, 0 for a new database.
func (s *Store) schemaVersion(ctx context.Context, q querier) (version int64, err error) {
	if has, err := s.hasTable(ctx, q, "schema_version"); err != nil || !has {
		return 0, err
	}
	if err := q.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM schema_version`).Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	return version, nil
}

func (s *Store) hasTable(ctx context.Context, q querier, name string) (bool, error) {
	var n int
	if err := q.QueryRowContext(ctx, s.dialect.hasTable, name).Scan(&n); err != nil {
		return false, fmt.Errorf("looking for the table %s: %w", name, err)
	}
	return n > 0, nil
}
