package store

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
)

const requestColumns = `r.account_id, r.key, r.operation, r.fingerprint, r.status, r.answer, r.sealed, r.entry_id, r.spent, r.locations, r.made_at`

var insertRequest = inserting("request", requestColumns, "BTTBNBFBFBN", "")

// free tells which operations' answers hold neither code nor token: they are kept as they are, all others are sealed.
func free(o ledger.Operation) bool { return o == ledger.RedeemGift || o == ledger.ReverseRedemption }

func boundToRequest(k ledger.RequestKey) []byte {
	return append(bound("answer", k.AccountID), string(k.Operation)+"\x00"+k.Key...)
}

func (s *Store) requestRow(r *ledger.Request) []any {
	body, sealed := r.Answer.Body, !free(r.Operation)
	if sealed {
		body = s.keys.Seal(body, boundToRequest(r.RequestKey))
	}
	if body == nil {
		body = []byte{}
	}
	return []any{
		bare(r.AccountID), r.Key, string(r.Operation), r.Fingerprint[:], r.Answer.Status, body, sealed, id(r.EntryID), r.Spent, joinIDs(r.Locations), micros(r.At),
	}
}

// scanRequest reads requestColumns, and what follows them into more.
func (s *Store) scanRequest(from scanner, more ...any) (r ledger.Request, err error) {
	var fingerprint, locations []byte
	var sealed bool
	fields := []any{scanID{&r.AccountID}, &r.Key, &r.Operation, &fingerprint, &r.Answer.Status, &r.Answer.Body, &sealed,
		scanID{&r.EntryID}, &r.Spent, &locations, scanTime{&r.At}}
	err = from.Scan(append(fields, more...)...)
	if err != nil {
		return r, err
	}
	copy(r.Fingerprint[:], fingerprint)
	r.Locations = splitIDs(locations)
	if sealed {
		if r.Answer.Body, err = s.keys.Open(r.Answer.Body, boundToRequest(r.RequestKey)); err != nil {
			return r, fmt.Errorf("the answer to a %s request: %w", r.Operation, err)
		}
	}
	return r, nil
}

// Requests gives the records of an Idempotency-Key, of one operation or of all (operation ""). What it gives is durable.
func (s *Store) Requests(ctx context.Context, account gift.ID, operation ledger.Operation, key string) (found []ledger.Request, err error) {
	const query = `SELECT ` + requestColumns + ` FROM request AS r WHERE r.account_id = $1 AND r.key = $2 AND (r.operation = $3 OR $3 = '')
		ORDER BY r.operation`
	ctx = within(ctx, account)
	found, err = collect(ctx, s, query, []any{bare(account), key, string(operation)}, func(from scanner) (ledger.Request, error) { return s.scanRequest(from) })
	if err != nil {
		return nil, fmt.Errorf("reading idempotency records: %w", err)
	}
	if len(found) == 0 || s.dialect.confirm == "" {
		return found, nil
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.dialect.confirm, bare(account), key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("confirming idempotency records: %w", err)
	}
	return found, nil
}
