package record

import (
	"fmt"

	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

var (
	InsertRequest = &db.Query{What: "writing into request",
		Each: `INSERT INTO request (account_id, key, operation, fingerprint, code, answer, sealed, entry_id, spent,
				locations, made_at, size)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		Postgres: `INSERT INTO request (account_id, key, operation, fingerprint, code, answer, sealed, entry_id, spent,
				locations, made_at, size)
			SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[], $4::BYTEA[], $5::TEXT[], $6::BYTEA[],
				$7::BOOLEAN[], $8::BYTEA[], $9::BOOLEAN[], $10::BYTEA[], $11::BIGINT[], $12::BIGINT[])`}
	InsertAnswer = &db.Query{What: "writing into answer",
		Each: `INSERT INTO answer (account_id, key, operation, locations, body) VALUES ($1, $2, $3, $4, $5)`,
		Postgres: `INSERT INTO answer (account_id, key, operation, locations, body)
			SELECT * FROM unnest($1::BYTEA[], $2::TEXT[], $3::TEXT[], $4::BYTEA[], $5::BYTEA[])`}

	SelectPlaces = &db.Query{What: "reading places", Scoped: true,
		Each: `SELECT a.locations FROM answer AS a WHERE a.account_id = $1 AND a.key = $2 AND a.operation = $3`}
)

// maxInRequest is how many bytes of key, answer and locations a row of request takes. What is longer has a row of the
// table answer: a row of request that does not fit on its page of SQLite's is read whole by every look-up that passes
// it. What else is in a row is less than 150 bytes, and 1,002 fit.
const maxInRequest = 830

// Free tells which operations' answers hold neither code nor token: they are kept as they are, all others are sealed.
func Free(o operation.Name) bool { return o.Replay() == operation.ForEver }

func boundToRequest(k ledger.RequestKey) []byte {
	return append(db.Bound("answer", k.AccountID), string(k.Operation)+"\x00"+k.Key...)
}

// sealedSize is how many bytes more a sealed answer has.
const sealedSize = 29

// isLong tells of an answer that has a row of its own.
func isLong(r *ledger.Request) bool {
	return len(r.Key)+len(r.Answer.Body)+len(r.Locations)*len(guid.ID{})+sealedSize > maxInRequest
}

// KeptAnswers are long answers as they are kept, for requests that are recorded soon.
type KeptAnswers map[ledger.RequestKey]keptAnswer

type keptAnswer struct{ body, kept []byte }

// Add packs and seals an answer, if it is long.
func (k KeptAnswers) Add(keys *sealed.Keys, r *ledger.Request) {
	if isLong(r) {
		k[r.RequestKey] = keptAnswer{r.Answer.Body, sealAnswer(keys, r, pack(r.Answer.Body))}
	}
}

// of is how a long answer is kept.
func (k KeptAnswers) of(keys *sealed.Keys, r *ledger.Request) []byte {
	a := k[r.RequestKey]
	if len(a.body) > 0 && len(a.body) == len(r.Answer.Body) && &a.body[0] == &r.Answer.Body[0] {
		return a.kept // the same bytes, in the same place
	}
	return sealAnswer(keys, r, pack(r.Answer.Body))
}

// RequestRows makes rows of records, and of those of their answers that are long.
func RequestRows(keys *sealed.Keys, requests []ledger.Request, kept KeptAnswers) (records, answers db.Batch) {
	records = db.Batch{Query: InsertRequest, Rows: make([][]any, len(requests))}
	answers = db.Batch{Query: InsertAnswer}
	for i := range requests {
		r := &requests[i]
		body, locations, size := r.Answer.Body, db.JoinIDs(r.Locations), 0
		if isLong(r) {
			size = len(body)
			answers.Rows = append(answers.Rows, []any{db.KeyOf(r.AccountID), r.Key, string(r.Operation), locations,
				kept.of(keys, r)})
			body, locations = nil, nil
		} else {
			body = sealAnswer(keys, r, body)
		}
		records.Rows[i] = []any{db.KeyOf(r.AccountID), r.Key, string(r.Operation), r.Fingerprint[:], string(r.Answer.Code),
			notNil(body), !Free(r.Operation),
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

func sealAnswer(keys *sealed.Keys, r *ledger.Request, body []byte) []byte {
	if Free(r.Operation) {
		return body
	}
	return keys.Seal(body, boundToRequest(r.RequestKey))
}

func openAnswer(keys *sealed.Keys, k ledger.RequestKey, body []byte, sealed bool) ([]byte, error) {
	if !sealed {
		return body, nil
	}
	body, err := keys.Open(body, boundToRequest(k))
	if err != nil {
		return nil, fmt.Errorf("the answer to a %s request: %w", k.Operation, err)
	}
	return body, nil
}

// ScanRequest reads the columns of a record, in the order of InsertRequest, and what follows them into more. A long
// answer is not among them.
func ScanRequest(keys *sealed.Keys, from db.Scanner, more ...any) (r ledger.Request, sealed bool, err error) {
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
	r.Answer.Body, err = openAnswer(keys, r.RequestKey, r.Answer.Body, sealed)
	return r, sealed, err
}

// UnpackAnswer gives the body of a long answer from what is kept of it.
func UnpackAnswer(keys *sealed.Keys, l ledger.Long, packed []byte, sealed bool) ([]byte, error) {
	packed, err := openAnswer(keys, l.RequestKey, packed, sealed)
	if err != nil {
		return nil, err
	}
	return unpack(packed, l.Size)
}

// KeepAnswer is the body of a recorded answer as it is kept: packed where it is long, and sealed unless it is free.
func KeepAnswer(keys *sealed.Keys, r *ledger.Request, body []byte, long bool) []byte {
	if long {
		body = pack(body)
	}
	return notNil(sealAnswer(keys, r, body))
}
