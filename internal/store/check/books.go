package check

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"boon.example/internal/merchant"
	"boon.example/internal/store/setup"
	"boon.example/internal/store/sums"
)

// checkBooks works out the closed days of all accounts again.
func (c *Check) checkBooks(ctx context.Context, found func(string)) error {
	var d *merchant.Directory
	err := c.db.Snapshot(ctx, func(tx *sql.Tx) (err error) {
		d, err = setup.ReadDirectory(ctx, tx, c.db.Keys)
		return err
	})
	if err != nil {
		return nil // checkSetup tells of that
	}
	books := sums.New(c.db)
	accounts := slices.SortedFunc(maps.Values(d.Accounts), func(a, b *merchant.Account) int {
		return bytes.Compare(a.ID[:], b.ID[:])
	})
	for _, account := range accounts {
		if err := books.CheckDays(ctx, account, math.MaxInt, found); err != nil {
			return err
		}
	}
	return nil
}
