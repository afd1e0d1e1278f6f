package store

import (
	"context"
	"fmt"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/store/db"
)

// Value is what the gifts of an account hold together: those for money, in one currency, that were either purchased or
// promotional. Gifts whose purchase failed do not count.
type Value struct {
	AccountID   guid.ID
	Currency    money.Currency
	Promotional bool
	Issued      money.Amount // what was put into them, less what of that was taken back
	Redeemed    money.Amount // what was taken out of them, in cash too, less what was given back
	Outstanding money.Amount // what can still be taken out: nothing of gifts that are cancelled or expired
}

// sumValues reads every gift of all accounts.
const sumValues = `SELECT v.account_id, v.currency, v.decimals, v.promotional,
		CAST(sum(v.loaded) AS BIGINT), CAST(sum(v.loaded - v.balance) AS BIGINT),
		CAST(sum(CASE WHEN v.status = 7 OR coalesce(v.extended, v.valid_until) + v.grace * 86400000000 <= $1 THEN 0 ELSE v.balance END) AS BIGINT)
	FROM voucher AS v WHERE NOT v.item AND v.status <> 2 AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
		WHERE m.account_id = v.account_id AND m.id = v.import_id AND m.state = 'FINISHED'))
	GROUP BY v.account_id, v.currency, v.decimals, v.promotional`

// Values sums up the gifts of all accounts, as of a time. It reads all of them, in one statement.
func (s *Store) Values(ctx context.Context, now time.Time) ([]Value, error) {
	values, err := db.Collect(ctx, s.db, sumValues, []any{now.UnixMicro()}, func(from db.Scanner) (v Value, err error) {
		err = from.Scan(db.ScanID(&v.AccountID), &v.Currency.Code, &v.Currency.Decimals, &v.Promotional,
			&v.Issued, &v.Redeemed, &v.Outstanding)
		return v, err
	})
	if err != nil {
		return nil, fmt.Errorf("summing up what gifts hold: %w", err)
	}
	return values, nil
}
