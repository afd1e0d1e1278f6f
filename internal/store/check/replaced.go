package check

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// checkReplaced holds the codes and tokens of cards that were replaced against the entries that say so: each entry has
// one of both, and they have it.
func (c *Check) checkReplaced(ctx context.Context, found func(string)) error {
	type replacement struct {
		account, gift guid.ID
		seq           int
	}
	type told struct{ entry, codes, tokens int }
	all := map[replacement]told{}
	read := func(tx *sql.Tx, query string, count func(*told, string)) error {
		return db.Each(ctx, tx, query, nil, func(rows *sql.Rows) error {
			var r replacement
			var kind string
			err := rows.Scan(db.ScanID(&r.account), db.ScanID(&r.gift), &r.seq, &kind)
			t := all[r]
			count(&t, kind)
			all[r] = t
			return err
		})
	}
	err := c.db.Snapshot(ctx, func(tx *sql.Tx) error {
		err := read(tx, `SELECT e.account_id, e.voucher_id, e.seq, e.kind FROM entry AS e WHERE e.kind = 'REPLACED'`,
			func(t *told, _ string) { t.entry++ })
		if err != nil {
			return err
		}
		return read(tx, `SELECT s.account_id, s.voucher_id, s.replaced, s.kind FROM secret AS s WHERE s.replaced <> 0`,
			func(t *told, kind string) {
				if kind == record.CodeSecret {
					t.codes++
				} else {
					t.tokens++
				}
			})
	})
	for r, t := range all {
		if (t != told{1, 1, 1}) {
			found(fmt.Sprintf("gift %s: %d entries, %d codes and %d tokens tell that entry %d replaced its card, not one each",
				r.gift, t.entry, t.codes, t.tokens, r.seq))
		}
	}
	return err
}
