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

// migration is one step of the schema: the text for all databases, and then the dialect's own.
type migration struct {
	number int64
	name   string
	texts  []string
}

// migrations lists the steps in order: NUMBER_name.sql, each followed by NUMBER_name.DIALECT.sql if there is one. Their numbers
// count from 1 without a gap.
func migrations(files fs.FS, d *dialect) ([]migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, file := range names {
		base := strings.TrimSuffix(path.Base(file), ".sql")
		if strings.Contains(base, ".") {
			continue // a dialect's own
		}
		number, name, _ := strings.Cut(base, "_")
		m := migration{name: name}
		if m.number, err = strconv.ParseInt(number, 10, 64); err != nil || m.number != int64(len(all)+1) {
			return nil, fmt.Errorf("migration %s should have number %d", file, len(all)+1)
		}
		for _, file := range []string{file, "migrations/" + base + "." + d.name + ".sql"} {
			text, err := fs.ReadFile(files, file)
			if err == nil {
				m.texts = append(m.texts, d.words.Replace(string(text)))
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// migrate brings the schema up to date, each step in a transaction of its own, and refuses a database that is newer than
// this program. Several processes may do it at once.
func (s *Store) migrate(ctx context.Context, steps []migration) error {
	newest := int64(len(steps))
	for {
		at, err := s.schemaVersion(ctx, s.readers)
		switch {
		case err != nil:
			return err
		case at > newest:
			return fmt.Errorf("the database was made by a newer version of boon: its schema is number %d, this program knows %d; "+
				"run the newer program, or restore a backup that was made before the update", at, newest)
		case at == newest:
			return nil
		}
		if err := s.migrateOnce(ctx, steps); err != nil {
			return err
		}
	}
}

// migrateOnce takes the next step, unless another process has taken it meanwhile.
func (s *Store) migrateOnce(ctx context.Context, steps []migration) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		const table = `CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL)`
		if _, err := tx.ExecContext(ctx, table); err != nil {
			return fmt.Errorf("making the schema's version table: %w", err)
		}
		at, err := s.schemaVersion(ctx, tx)
		if err != nil || at >= int64(len(steps)) {
			return err
		}
		m := steps[at]
		for _, text := range m.texts {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("migrating the database to schema %d (%s): %w", m.number, m.name, err)
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO schema_version (version, name, applied_at) VALUES ($1, $2, $3)`,
			m.number, m.name, time.Now().UnixMicro())
		return err
	})
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
