package store

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// LongAnswer reads the body of an answer that was not read with its record.
func (s *Store) LongAnswer(ctx context.Context, l ledger.Long) (body []byte, err error) {
	const query = `SELECT a.body FROM answer AS a WHERE a.account_id = $1 AND a.key = $2 AND a.operation = $3`
	err = s.db.Get(ctx, query, []any{db.KeyOf(l.AccountID), l.Key, string(l.Operation)}, &body)
	if err == nil {
		body, err = record.UnpackAnswer(s.db.Keys, l, body, !record.Free(l.Operation))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer to a %s request: %w", l.Operation, err)
	}
	return body, nil
}

// selectKeys names the idempotency keys of account $1 from $2 on and before $3, which an index has in the order of
// their bytes: on PostgreSQL only those of providers, as others are never asked for by how they begin.
var selectKeys = db.Text{
	SQLite: `SELECT DISTINCT r.key FROM request AS r WHERE r.account_id = $1 AND r.key >= $2 AND r.key < $3
		ORDER BY r.key LIMIT $4`,
	Postgres: `SELECT DISTINCT r.key COLLATE "C" AS key FROM request AS r WHERE r.account_id = $1
		AND r.key COLLATE "C" >= $2 AND r.key COLLATE "C" < $3 AND starts_with(r.key, 'provider ') ORDER BY 1 LIMIT $4`,
}

// ProviderKeys gives the idempotency keys of a provider's calls that begin with a text, which ends in a character of
// ASCII: at most so many, in the order of their bytes.
func (s *Store) ProviderKeys(ctx context.Context, account guid.ID, begin string, most int) ([]string, error) {
	last := len(begin) - 1
	end := begin[:last] + string(begin[last]+1)
	keys, err := db.Collect(ctx, s.db, s.db.Text(selectKeys), []any{db.KeyOf(account), begin, end, most},
		func(from db.Scanner) (key string, err error) {
			err = from.Scan(&key)
			return key, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading idempotency keys: %w", err)
	}
	return keys, nil
}

// confirmRequests locks the rows of key $2 of account $1: where what can be read may yet be lost, a commit with a lock
// in it is what tells, as it waits until everything before it is safe. In SQLite what can be read is safe.
var confirmRequests = db.Text{Postgres: `SELECT 1 FROM request WHERE account_id = $1 AND key = $2 FOR KEY SHARE`}

// Requests gives the records of an Idempotency-Key, of one operation or of all (operation ""), without their long
// answers. What it gives is durable.
func (s *Store) Requests(ctx context.Context, account guid.ID, operation operation.Name,
	key string) (found []ledger.Request, err error) {
	const query = `SELECT r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id, r.spent,
			r.locations, r.made_at, r.size, a.locations
		FROM request AS r
		LEFT JOIN answer AS a ON a.account_id = r.account_id AND a.key = r.key AND a.operation = r.operation
		WHERE r.account_id = $1 AND r.key = $2 AND (r.operation = $3 OR $3 = '') ORDER BY r.operation`
	found, err = db.Collect(ctx, s.db, query, []any{db.KeyOf(account), key, string(operation)},
		func(from db.Scanner) (ledger.Request, error) {
			var locations []byte
			r, _, err := record.ScanRequest(s.db.Keys, from, &locations)
			r.Locations = append(r.Locations, db.SplitIDs(locations)...)
			return r, err
		})
	if err != nil {
		return nil, fmt.Errorf("reading idempotency records: %w", err)
	}
	if len(found) == 0 || s.db.Text(confirmRequests) == "" {
		return found, nil
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.db.Text(confirmRequests), db.KeyOf(account), key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("confirming idempotency records: %w", err)
	}
	return found, nil
}
