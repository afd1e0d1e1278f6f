package setup

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// NoteKeyUses keeps when API keys were used, in one transaction. A key that another instance has seen later stays as
// it is.
func (s *Setup) NoteKeyUses(ctx context.Context, uses map[guid.ID]time.Time) error {
	// In one order, so that instances wait for each other and never in a circle.
	keys := slices.SortedFunc(maps.Keys(uses), func(a, b guid.ID) int { return bytes.Compare(a[:], b[:]) })
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, key := range keys {
			_, err := tx.ExecContext(ctx, `INSERT INTO key_use (key_id, used_at) VALUES ($1, $2)
				ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at WHERE key_use.used_at < excluded.used_at`, db.KeyOf(key), uses[key].UnixMicro())
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting when keys were used: %w", err)
	}
	return nil
}

// KeyUses tells when API keys were last used; a key without an entry never was.
func (s *Setup) KeyUses(ctx context.Context) (uses map[guid.ID]time.Time, err error) {
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		uses = map[guid.ID]time.Time{}
		return db.Each(ctx, s.db.Readers, `SELECT key_id, used_at FROM key_use`, nil, func(rows *sql.Rows) error {
			var key guid.ID
			var used time.Time
			err := rows.Scan(db.ScanID(&key), db.ScanTime(&used))
			uses[key] = used
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("reading when keys were used: %w", err)
	}
	return uses, nil
}
