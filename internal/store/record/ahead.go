package record

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// The queries of IDsBefore find the greatest id that is later than its record by more than a minute. A partial index
// holds these records alone, and mostly there are none. OFFSET 0 keeps PostgreSQL from walking all ids downwards.
var (
	aheadEntries = db.Text{
		SQLite: `SELECT t.id FROM entry AS t INDEXED BY entry_ahead
		WHERE t.account_id = $1 AND t.made_at < $2 AND t.id > unhex(printf('%012X', t.made_at / 1000 + 60000))
		ORDER BY t.id DESC LIMIT 1`,
		Postgres: `SELECT x.id FROM (SELECT t.id FROM entry AS t
			WHERE t.account_id = $1 AND t.made_at < $2
				AND t.id > decode(lpad(to_hex(t.made_at / 1000 + 60000), 12, '0'), 'hex') OFFSET 0) AS x
		ORDER BY x.id DESC LIMIT 1`}
	aheadGifts = db.Text{
		SQLite: `SELECT t.id FROM voucher AS t INDEXED BY voucher_ahead
		WHERE t.account_id = $1 AND t.created_at < $2 AND t.id > unhex(printf('%012X', t.created_at / 1000 + 60000))
		ORDER BY t.id DESC LIMIT 1`,
		Postgres: `SELECT x.id FROM (SELECT t.id FROM voucher AS t
			WHERE t.account_id = $1 AND t.created_at < $2
				AND t.id > decode(lpad(to_hex(t.created_at / 1000 + 60000), 12, '0'), 'hex') OFFSET 0) AS x
		ORDER BY x.id DESC LIMIT 1`}
	aheadTrail = db.Text{
		SQLite: `SELECT t.id FROM trail AS t INDEXED BY trail_ahead
		WHERE t.account_id = $1 AND t.made_at < $2 AND t.id > unhex(printf('%012X', t.made_at / 1000 + 60000))
		ORDER BY t.id DESC LIMIT 1`,
		Postgres: `SELECT x.id FROM (SELECT t.id FROM trail AS t
			WHERE t.account_id = $1 AND t.made_at < $2
				AND t.id > decode(lpad(to_hex(t.made_at / 1000 + 60000), 12, '0'), 'hex') OFFSET 0) AS x
		ORDER BY x.id DESC LIMIT 1`}
)

// Dated are records with an id that tells when it was drawn, and with the time at which they were made.
type Dated struct{ ahead *db.Text }

// The records whose ids IDsBefore bounds.
var (
	Entries = Dated{&aheadEntries}
	Gifts   = Dated{&aheadGifts}
	Trail   = Dated{&aheadTrail}
)

// Text is the query for the greatest id that runs ahead.
func (d Dated) Text(of *db.DB) string { return of.Text(*d.ahead) }

// IDsBefore gives an upper bound for the ids of an account's records that were made before an instant: each of these
// ids is less. The bound is close, so that a search below it meets few other records. Without it, a search by time
// would miss records that were made while a clock was set back, because their ids are late.
func (d Dated) IDsBefore(ctx context.Context, of *db.DB, q db.Querier, account guid.ID,
	to time.Time) (guid.ID, error) {
	last := gift.IDsBefore(to)
	var ahead guid.ID
	err := q.QueryRowContext(ctx, d.Text(of), db.KeyOf(account), db.Micros(to)).Scan(db.ScanID(&ahead))
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return last, fmt.Errorf("looking for ids that run ahead: %w", err)
	case bytes.Compare(ahead[:], last[:]) >= 0:
		last = ahead.Next()
	}
	return last, nil
}
