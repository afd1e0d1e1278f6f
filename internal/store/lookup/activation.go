package lookup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

const (
	selectActivation = `SELECT t.voucher_id, t.sealed FROM activation_code AS t WHERE t.account_id = $1 AND t.hash = $2`
	// of cards that are on hand: 8 is gift.NotActivated, see selectNextStock
	selectActivations = `SELECT t.voucher_id, t.sealed FROM voucher AS v
		JOIN activation_code AS t ON t.account_id = v.account_id AND t.voucher_id = v.id
		WHERE v.account_id = $1 AND v.status = 8 AND v.order_id = $2`
	selectHasActivation = `SELECT count(*) FROM activation_code AS t WHERE t.account_id = $1 AND t.voucher_id = $2`
)

// GiftByActivationCode finds the card of an account that is sold by an activation code; refusal.NotFound where there is
// none.
func (r *Reader) GiftByActivationCode(ctx context.Context, account guid.ID, asked codes.ActivationCode) (gift.Gift,
	error) {
	if err := r.db.Follow(ctx); err != nil { // of all keys that codes were kept under
		return gift.Gift{}, fmt.Errorf("looking up an activation code: %w", err)
	}
	for _, hash := range r.db.Keys.ActivationHashes(account, asked) {
		var voucher guid.ID
		var kept []byte
		err := r.db.Get(ctx, selectActivation, []any{db.KeyOf(account), hash}, db.ScanID(&voucher), &kept)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return gift.Gift{}, fmt.Errorf("looking up an activation code: %w", err)
		}
		// A row that was moved to another card opens there no more, and one with another hash has another code.
		code, err := record.OpenActivation(r.db.Keys, account, voucher, kept)
		switch {
		case err != nil:
			return gift.Gift{}, fmt.Errorf("gift %s: its activation code: %w: %w; run boon verify", voucher,
				refusal.UnexpectedError, err)
		case !code.Is(asked):
			return gift.Gift{}, fmt.Errorf("gift %s: %w: it was found by an activation code that is not its own; run boon "+
				"verify", voucher, refusal.UnexpectedError)
		}
		return r.Gift(ctx, account, voucher)
	}
	return gift.Gift{}, fmt.Errorf("looking up an activation code: %w", refusal.NotFound)
}

// ActivationCodes gives the activation codes of the cards of a stock that are on hand; none, where they have none.
func (r *Reader) ActivationCodes(ctx context.Context, account, order guid.ID) (map[guid.ID]codes.ActivationCode,
	error) {
	all := map[guid.ID]codes.ActivationCode{}
	_, err := db.Collect(ctx, r.db, selectActivations, []any{db.KeyOf(account), db.KeyOf(order)},
		func(from db.Scanner) (voucher guid.ID, _ error) {
			var kept []byte
			if err := from.Scan(db.ScanID(&voucher), &kept); err != nil {
				return voucher, err
			}
			code, err := record.OpenActivation(r.db.Keys, account, voucher, kept)
			if err != nil {
				return voucher, fmt.Errorf("gift %s: its activation code: %w: %w; run boon verify", voucher,
					refusal.UnexpectedError, err)
			}
			all[voucher] = code
			return voucher, nil
		})
	if err != nil {
		return nil, fmt.Errorf("reading activation codes: %w", err)
	}
	return all, nil
}
