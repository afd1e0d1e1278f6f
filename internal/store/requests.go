package store

import (
	"context"
	"database/sql"
	"fmt"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/store/db"
)

const (
	requestColumns = `r.account_id, r.key, r.operation, r.fingerprint, r.code, r.answer, r.sealed, r.entry_id, r.spent, ` +
		`r.locations, r.made_at, r.size`
	requestTypes = "BTTBTBFBFBNN"
)

var (
	insertRequest = db.InsertRows("request", requestColumns, requestTypes, "")
	insertAnswer  = db.InsertRows("answer", "account_id, key, operation, locations, body", "BTTBB", "")

	selectPlaces = db.SelectEach("places",
		`SELECT a.locations FROM answer AS a WHERE a.account_id = $1 AND a.key = $2 AND a.operation = $3`)
)

// maxInRequest is how many bytes of key, answer and locations a row of request takes. What is longer has a row of the
// table answer: a row of request that does not fit on its page of SQLite's is read whole by every look-up that passes
// it. What else is in a row is less than 150 bytes, and 1,002 fit.
const maxInRequest = 830

// free tells which operations' answers hold neither code nor token: they are kept as they are, all others are sealed.
func free(o ledger.Operation) bool { return o == ledger.RedeemGift || o == ledger.ReverseRedemption }

func boundToRequest(k ledger.RequestKey) []byte {
	return append(db.Bound("answer", k.AccountID), string(k.Operation)+"\x00"+k.Key...)
}

// sealedSize is how many bytes more a sealed answer has.
const sealedSize = 29

// requestRows makes rows of records, and of those of their answers that are long.
func (s *Store) requestRows(requests []ledger.Request) (records, answers db.Batch) {
	records = db.Batch{Query: insertRequest, Rows: make([][]any, len(requests))}
	answers = db.Batch{Query: insertAnswer}
	for i := range requests {
		r := &requests[i]
		body, locations, size := r.Answer.Body, db.JoinIDs(r.Locations), 0
		if len(r.Key)+len(body)+len(locations)+sealedSize > maxInRequest {
			size = len(body)
			answers.Rows = append(answers.Rows, []any{db.KeyOf(r.AccountID), r.Key, string(r.Operation), locations,
				s.sealAnswer(r, pack(body))})
			body, locations = nil, nil
		} else {
			body = s.sealAnswer(r, body)
		}
		records.Rows[i] = []any{db.KeyOf(r.AccountID), r.Key, string(r.Operation), r.Fingerprint[:], string(r.Answer.Code),
			notNil(body), !free(r.Operation),
			db.OrNull(r.EntryID), r.Spent, notNil(locations), db.Micros(r.At), size}
	}
	return records, answers
}

// notNil is a column that is never NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func (s *Store) sealAnswer(r *ledger.Request, body []byte) []byte {
	if free(r.Operation) {
		return body
	}
	return s.db.Keys.Seal(body, boundToRequest(r.RequestKey))
}

func (s *Store) openAnswer(k ledger.RequestKey, body []byte, sealed bool) ([]byte, error) {
	if !sealed {
		return body, nil
	}
	body, err := s.db.Keys.Open(body, boundToRequest(k))
	if err != nil {
		return nil, fmt.Errorf("the answer to a %s request: %w", k.Operation, err)
	}
	return body, nil
}

// scanRequest reads requestColumns, and what follows them into more. A long answer is not among them.
func (s *Store) scanRequest(from db.Scanner, more ...any) (r ledger.Request, sealed bool, err error) {
	var fingerprint, locations []byte
	var size int
	fields := []any{db.ScanID(&r.AccountID), &r.Key, &r.Operation, &fingerprint, &r.Answer.Code, &r.Answer.Body, &sealed,
		db.ScanID(&r.EntryID), &r.Spent, &locations, db.ScanTime(&r.At), &size}
	if err = from.Scan(append(fields, more...)...); err != nil {
		return r, sealed, err
	}
	copy(r.Fingerprint[:], fingerprint)
	r.Locations = db.SplitIDs(locations)
	if size > 0 {
		r.Answer.Body, r.Answer.Long = nil, ledger.Long{RequestKey: r.RequestKey, Size: size}
		return r, sealed, nil
	}
	r.Answer.Body, err = s.openAnswer(r.RequestKey, r.Answer.Body, sealed)
	return r, sealed, err
}

// LongAnswer reads the body of an answer that was not read with its record.
func (s *Store) LongAnswer(ctx context.Context, l ledger.Long) (body []byte, err error) {
	const query = `SELECT a.body FROM answer AS a WHERE a.account_id = $1 AND a.key = $2 AND a.operation = $3`
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		return s.db.Readers.QueryRowContext(ctx, query, db.KeyOf(l.AccountID), l.Key, string(l.Operation)).Scan(&body)
	})
	if err == nil {
		body, err = s.unpackAnswer(l, body, !free(l.Operation))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the answer to a %s request: %w", l.Operation, err)
	}
	return body, nil
}

func (s *Store) unpackAnswer(l ledger.Long, packed []byte, sealed bool) ([]byte, error) {
	packed, err := s.openAnswer(l.RequestKey, packed, sealed)
	if err != nil {
		return nil, err
	}
	return unpack(packed, l.Size)
}

// confirmRequests locks the rows of key $2 of account $1: where what can be read may yet be lost, a commit with a lock
// in it is what tells, as it waits until everything before it is safe. In SQLite what can be read is safe.
var confirmRequests = db.Text{Postgres: `SELECT 1 FROM request WHERE account_id = $1 AND key = $2 FOR KEY SHARE`}

// Requests gives the records of an Idempotency-Key, of one operation or of all (operation ""), without their long
// answers. What it gives is durable.
func (s *Store) Requests(ctx context.Context, account gift.ID, operation ledger.Operation,
	key string) (found []ledger.Request, err error) {
	const query = `SELECT ` + requestColumns + `, a.locations FROM request AS r
		LEFT JOIN answer AS a ON a.account_id = r.account_id AND a.key = r.key AND a.operation = r.operation
		WHERE r.account_id = $1 AND r.key = $2 AND (r.operation = $3 OR $3 = '') ORDER BY r.operation`
	found, err = db.Collect(ctx, s.db, query, []any{db.KeyOf(account), key, string(operation)},
		func(from db.Scanner) (ledger.Request, error) {
			var locations []byte
			r, _, err := s.scanRequest(from, &locations)
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
