package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"boon.example/internal/gift"
)

// Asset finds a picture of any account by its hash.
func (s *Store) Asset(ctx context.Context, hash gift.AssetHash) (gift.Asset, error) {
	a := gift.Asset{Hash: hash}
	const query = `SELECT account_id, kind, bytes FROM asset WHERE hash = $1 ORDER BY account_id LIMIT 1`
	err := s.retry(ctx, func(ctx context.Context) error {
		return s.readers.QueryRowContext(ctx, query, hash[:]).Scan(scanID{&a.AccountID}, &a.Kind, &a.Bytes)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = gift.NotFound
	}
	if err != nil {
		return gift.Asset{}, fmt.Errorf("reading a picture: %w", err)
	}
	return a, nil
}

// saveAsset keeps a picture; one that is there already stays as it is.
func saveAsset(ctx context.Context, tx *sql.Tx, a *gift.Asset) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO asset (account_id, hash, kind, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, hash) DO NOTHING`, keyOf(a.AccountID), a.Hash[:], string(a.Kind), a.Bytes)
	return err
}
