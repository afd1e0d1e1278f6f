package check

import (
	"bytes"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strings"

	"boon.example/internal/books"
	"boon.example/internal/chain"
	"boon.example/internal/merchant"
	"boon.example/internal/store/breakage"
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
	days := sums.New(c.db)
	accounts := slices.SortedFunc(maps.Values(d.Accounts), func(a, b *merchant.Account) int {
		return bytes.Compare(a.ID[:], b.ID[:])
	})
	for _, account := range accounts {
		if err := days.CheckDays(ctx, account, math.MaxInt, found); err != nil {
			return err
		}
	}
	return nil
}

// checkBreakage holds what was booked as breakage against the log of the set-up, which has the same figures.
func (c *Check) checkBreakage(ctx context.Context, found func(string)) error {
	return c.db.Snapshot(ctx, func(tx *sql.Tx) error {
		said, err := breakage.Said(ctx, tx)
		if err != nil {
			return err
		}
		err = setup.EachChange(ctx, tx, func(change chain.SetupChange) {
			if strings.HasPrefix(change.What, books.BookedWords) {
				if !said[change.What] {
					found("the log of the set-up says \"" + change.What + "\", and something else is booked, or nothing")
				}
				delete(said, change.What)
			}
		})
		for _, what := range slices.Sorted(maps.Keys(said)) {
			found("it is \"" + what + "\", and the log of the set-up does not say so")
		}
		return err
	})
}
