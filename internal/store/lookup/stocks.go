package lookup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/store/db"
)

// The statements that find stocks of which cards are on hand. 8 is gift.NotActivated: a placeholder in its place would
// not let the index be used that has these cards alone.
const (
	selectNextStock = `SELECT v.order_id, v.id FROM voucher AS v WHERE v.account_id = $1 AND v.status = 8
		AND v.order_id < $2 ORDER BY v.order_id DESC LIMIT 1`
	selectStock = `SELECT v.order_id, v.id FROM voucher AS v WHERE v.account_id = $1 AND v.status = 8
		AND v.order_id = $2 LIMIT 1`
	countUnsold = `SELECT count(*) FROM voucher AS v WHERE v.account_id = $1 AND v.status = 8 AND v.order_id = $2`
	countMade   = `SELECT count(*) FROM voucher AS v WHERE v.account_id = $1 AND v.order_id = $2`
)

// Stocks gives at most limit stocks of an account of which cards are on hand, the newest first; of those that were made
// before the order before, unless that is zero.
func (r *Reader) Stocks(ctx context.Context, account, before guid.ID, limit int) (all []gift.Stock, _ error) {
	release, err := waitFor(ctx, r.lists, listShare, account, guid.ID{})
	if err != nil {
		return nil, err
	}
	defer release()
	if before.IsZero() {
		before = guid.ID(slices.Repeat([]byte{0xff}, len(before)))
	}
	for len(all) < limit {
		s, err := r.stock(ctx, selectNextStock, account, before)
		if errors.Is(err, refusal.NotFound) {
			break
		}
		if err != nil {
			return nil, err
		}
		all, before = append(all, s), s.OrderID
	}
	return all, nil
}

// Stock finds a stock of which cards are on hand; refusal.NotFound where there is none.
func (r *Reader) Stock(ctx context.Context, account, order guid.ID) (gift.Stock, error) {
	release, err := waitFor(ctx, r.orders, 1, account, order)
	if err != nil {
		return gift.Stock{}, err
	}
	defer release()
	return r.stock(ctx, selectStock, account, order)
}

// stock reads the stock that a statement finds.
func (r *Reader) stock(ctx context.Context, find string, account, order guid.ID) (s gift.Stock, err error) {
	var card guid.ID
	err = r.db.Get(ctx, find, []any{db.KeyOf(account), db.KeyOf(order)}, db.ScanID(&s.OrderID), db.ScanID(&card))
	if errors.Is(err, sql.ErrNoRows) {
		return s, refusal.NotFound
	}
	of := []any{db.KeyOf(account), db.KeyOf(s.OrderID)}
	if err == nil {
		err = r.db.Get(ctx, countUnsold, of, &s.Unsold)
	}
	if err == nil {
		err = r.db.Get(ctx, countMade, of, &s.Made)
	}
	if err == nil {
		s.Card, err = r.Gift(ctx, account, card)
	}
	numbers := 0
	if err == nil { // all cards of a stock are made alike
		err = r.db.Get(ctx, selectHasActivation, []any{db.KeyOf(account), db.KeyOf(card)}, &numbers)
	}
	s.ActivationCodes = numbers > 0
	if err != nil {
		return s, fmt.Errorf("reading a stock: %w", err)
	}
	return s, nil
}
