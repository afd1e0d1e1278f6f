package store

import (
	"context"
	"fmt"

	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// Look implements engine.Store: it loads as Group does, by the same statements without their locks, in one reading
// transaction. What gifts are to be made is of no interest: their rows would be prepared, and their codes looked for,
// for nothing.
func (s *Store) Look(ctx context.Context, want ledger.Want, decide func(*ledger.State)) error {
	want.Gifts, want.Answers = nil, nil
	p := s.prepare(&want)
	return s.db.Retry(ctx, func(ctx context.Context) error {
		return s.db.Look(ctx, func(run db.Runner) error {
			g := group{Store: s, prepared: p, run: run, looks: true, keptRead: map[merchant.CountKey]merchant.Count{}}
			if err := g.load(ctx, want); err != nil {
				return fmt.Errorf("loading what is looked at: %w", err)
			}
			decide(&g.state)
			return nil
		})
	})
}
