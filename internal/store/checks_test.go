package store

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/store/db"
	"boon.example/internal/store/pgtest"
)

// TestShorterChecks: the checks of entries on PostgreSQL, together, let through what those of the first schema did, and
// nothing else: its programs still count on them.
func TestShorterChecks(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // it alone reads the text of a check for each statement
	s, _ := openPostgresForTest(t)
	baseline, err := db.Migrations.ReadFile("migrations/0001_baseline.postgres.sql")
	must(t, err)
	var before, now []string
	for _, name := range []string{"entry_kind", "entry_held"} {
		was := regexp.MustCompile(`(?s)CONSTRAINT ` + name + ` CHECK (\(CASE.*?END\))`).FindSubmatch(baseline)
		if was == nil {
			t.Fatalf("the first schema has no %s", name)
		}
		var is string
		must(t, s.db.Readers.QueryRowContext(t.Context(), `SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint
			WHERE conrelid = 'entry'::regclass AND conname = $1`, name).Scan(&is))
		before, now = append(before, string(was[1])), append(now, "("+is+")")
	}
	kinds := "('NONE')"
	for _, k := range regexp.MustCompile(`WHEN '([A-Z_]+)' THEN`).FindAllSubmatch(baseline, -1) {
		kinds += ", ('" + string(k[1]) + "')"
	}
	const signs = `(VALUES (-1), (0), (1))`
	passed, refused := 0, 0
	must(t, db.Each(t.Context(), s.db.Readers, `SELECT concat_ws(' ', kind, delta, held, hold_id, held_until),
		(`+strings.Join(before, ` AND `)+`) IS NOT FALSE, (`+strings.Join(now, ` AND `)+`) IS NOT FALSE
		FROM (VALUES `+kinds+`) AS k (kind), `+signs+` AS d (delta), `+signs+` AS h (held),
			(VALUES (NULL), ('a hold')) AS i (hold_id), (VALUES (4), (5), (6), (NULL)) AS u (held_until), (VALUES (5)) AS m (made_at)`,
		nil, func(rows *sql.Rows) error {
			var what string
			var was, is bool
			err := rows.Scan(&what, &was, &is)
			if was {
				passed++
			} else {
				refused++
			}
			if was != is {
				t.Errorf("%s passes: %t; it did: %t", what, is, was)
			}
			return err
		}))
	if passed < 25 || refused < 1000 {
		t.Errorf("%d passed and %d were refused before", passed, refused)
	}
}
