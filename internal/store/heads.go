package store

import (
	"context"
	"fmt"

	"boon.example/internal/books"
	"boon.example/internal/store/db"
)

// Heads gives the newest rows of the newest hash chains, the newest chain first. Each began with the heads of those
// before it.
func (s *Store) Heads(ctx context.Context) (heads []books.Head, err error) {
	heads, err = db.CollectLong(ctx, s.db, nil, selectWriters.Each, []any{lastID, notedHeads},
		func(from db.Scanner) (h books.Head, err error) { return h, from.Scan(db.ScanID(&h.Chain)) })
	for n := range heads {
		if err == nil {
			err = s.db.GetLong(ctx, selectHead.Each, []any{db.KeyOf(heads[n].Chain)}, new(int64), &heads[n].MAC)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading how far hash chains have come: %w", err)
	}
	return heads, nil
}
