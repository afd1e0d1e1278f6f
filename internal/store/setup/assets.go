package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
)

// Asset finds a picture of any account by its hash.
func (s *Setup) Asset(ctx context.Context, hash merchant.AssetHash) (merchant.Asset, error) {
	a := merchant.Asset{Hash: hash}
	const query = `SELECT account_id, kind, bytes FROM asset WHERE hash = $1 ORDER BY account_id LIMIT 1`
	err := s.db.Get(ctx, query, []any{hash[:]}, db.ScanID(&a.AccountID), &a.Kind, &a.Bytes)
	if errors.Is(err, sql.ErrNoRows) {
		err = refusal.NotFound
	}
	if err != nil {
		return merchant.Asset{}, fmt.Errorf("reading a picture: %w", err)
	}
	return a, nil
}

// saveAsset keeps a picture; one that is there already stays as it is.
func saveAsset(ctx context.Context, tx *sql.Tx, a *merchant.Asset) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO asset (account_id, hash, kind, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, hash) DO NOTHING`, db.KeyOf(a.AccountID), a.Hash[:], string(a.Kind), a.Bytes)
	return err
}
