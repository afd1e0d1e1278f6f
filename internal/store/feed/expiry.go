package feed

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
)

// expiry is an event of the end of a gift's validity. The column of a voucher that it goes by names the end that was
// told of, so that another end is told of anew.
type expiry struct {
	event  gift.EventType
	before time.Duration // the end
	count  string        // counts what of an account is due, by an index of its own
	lock   db.Text       // selects it for writing
	tell   string        // notes that a gift was told of
	all    string        // the same for many on PostgreSQL, in one statement
}

// The conditions are those of the indexes, word for word.
var expiries = []expiry{
	{
		event: event.Expiring, before: event.ExpiringBefore,
		count: `SELECT count(*) FROM (SELECT v.id FROM voucher AS v WHERE v.account_id = $1
			AND coalesce(v.extended, v.valid_until) <> v.expiring_told
			AND coalesce(v.extended, v.valid_until) <= $2
			AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))
			ORDER BY coalesce(v.extended, v.valid_until) LIMIT $3) AS due`,
		lock: db.Text{
			SQLite: `SELECT v.id, v.status, v.balance FROM voucher AS v WHERE v.account_id = $1
			AND coalesce(v.extended, v.valid_until) <> v.expiring_told
			AND coalesce(v.extended, v.valid_until) <= $2
			AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))
			ORDER BY coalesce(v.extended, v.valid_until) LIMIT $3`,
			Postgres: `SELECT v.id, v.status, v.balance FROM voucher AS v WHERE v.account_id = $1
			AND coalesce(v.extended, v.valid_until) <> v.expiring_told
			AND coalesce(v.extended, v.valid_until) <= $2
			AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))
			ORDER BY coalesce(v.extended, v.valid_until) LIMIT $3
			FOR NO KEY UPDATE SKIP LOCKED`,
		},
		tell: `UPDATE voucher AS t SET expiring_told = coalesce(t.extended, t.valid_until)
			WHERE t.account_id = $1 AND t.id = $2`,
		all: `UPDATE voucher AS t SET expiring_told = coalesce(t.extended, t.valid_until)
			FROM (SELECT r.id FROM unnest($2::BYTEA[]) AS r (id) OFFSET 0) AS w WHERE t.account_id = $1 AND t.id = w.id`,
	},
	{
		event: event.Expired, before: 0,
		count: `SELECT count(*) FROM (SELECT v.id FROM voucher AS v WHERE v.account_id = $1
			AND coalesce(v.extended, v.valid_until) <> v.expired_told
			AND coalesce(v.extended, v.valid_until) <= $2
			AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))
			ORDER BY coalesce(v.extended, v.valid_until) LIMIT $3) AS due`,
		lock: db.Text{
			SQLite: `SELECT v.id, v.status, v.balance FROM voucher AS v WHERE v.account_id = $1
			AND coalesce(v.extended, v.valid_until) <> v.expired_told
			AND coalesce(v.extended, v.valid_until) <= $2
			AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))
			ORDER BY coalesce(v.extended, v.valid_until) LIMIT $3`,
			Postgres: `SELECT v.id, v.status, v.balance FROM voucher AS v WHERE v.account_id = $1
			AND coalesce(v.extended, v.valid_until) <> v.expired_told
			AND coalesce(v.extended, v.valid_until) <= $2
			AND (v.import_id IS NULL OR EXISTS (SELECT 1 FROM gift_import AS m
				WHERE m.account_id = $1 AND m.id = v.import_id AND m.state = 'FINISHED'))
			ORDER BY coalesce(v.extended, v.valid_until) LIMIT $3
			FOR NO KEY UPDATE SKIP LOCKED`,
		},
		tell: `UPDATE voucher AS t SET expired_told = coalesce(t.extended, t.valid_until)
			WHERE t.account_id = $1 AND t.id = $2`,
		all: `UPDATE voucher AS t SET expired_told = coalesce(t.extended, t.valid_until)
			FROM (SELECT r.id FROM unnest($2::BYTEA[]) AS r (id) OFFSET 0) AS w WHERE t.account_id = $1 AND t.id = w.id`,
	},
}

// args are those of count and lock, at an instant.
func (x *expiry) args(account guid.ID, now time.Time, limit int) []any {
	return []any{db.KeyOf(account), now.Add(x.before).UnixMicro(), limit}
}

// DueExpiry counts the events of ends of gifts that TellExpiry would write for an account, at most limit of each type.
// Gifts that nothing is left of are among them.
func (f *Feed) DueExpiry(ctx context.Context, account guid.ID, now time.Time, limit int) (due int, err error) {
	for _, x := range expiries {
		var n int
		err := f.db.Get(ctx, x.count, x.args(account, now, limit), &n)
		if err != nil {
			return 0, fmt.Errorf("looking for gifts that expire: %w", err)
		}
		due += n
	}
	return due, nil
}

// TellExpiry writes the events of the ends of gifts of an account that are due at an instant by its clock, the earliest
// end first and at most limit of each type. Each end is told of once, whoever else tells. It tells of how many gifts it
// looked at.
func (f *Feed) TellExpiry(ctx context.Context, account guid.ID, now time.Time, limit int) (n int, err error) {
	// Most calls find nothing; they should not wait for the writer.
	if due, err := f.DueExpiry(ctx, account, now, 1); err != nil || due == 0 {
		return 0, err
	}
	err = f.db.Write(ctx, func(tx *sql.Tx) error {
		n = 0
		for i := range expiries {
			some, err := f.tell(ctx, tx, &expiries[i], account, now, limit)
			if err != nil {
				return err
			}
			n += some
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("telling of gifts that expire: %w", err)
	}
	return n, nil
}

func (f *Feed) tell(ctx context.Context, tx *sql.Tx, x *expiry, account guid.ID, now time.Time,
	limit int) (n int, err error) {
	var due []gift.Voucher
	err = db.Each(ctx, tx, f.db.Text(x.lock), x.args(account, now, limit), func(rows *sql.Rows) error {
		var v gift.Voucher
		err := rows.Scan(db.ScanID(&v.ID), &v.Status, &v.Balance)
		due = append(due, v)
		return err
	})
	if err != nil {
		return 0, err
	}
	if err := f.note(ctx, tx, x, account, due); err != nil {
		return 0, err
	}
	var events []event.Event
	for i := range due {
		if v := &due[i]; v.TellsOfItsEnd() {
			events = append(events, event.Event{Type: x.event, AccountID: account, At: now, Note: event.Note{GiftID: v.ID}})
		}
	}
	return len(due), f.add(ctx, tx, events)
}

// note notes that gifts of an account were told of: on PostgreSQL in one statement, as each costs a round trip. Citus
// finds the node of a statement by its account only where it changes one gift.
func (f *Feed) note(ctx context.Context, tx *sql.Tx, x *expiry, account guid.ID, told []gift.Voucher) error {
	if f.db.File == "" && !f.db.Spread {
		ids := make([][]byte, len(told))
		for i := range told {
			ids[i] = told[i].ID[:]
		}
		_, err := tx.ExecContext(ctx, x.all, db.KeyOf(account), ids)
		return err
	}
	for i := range told {
		if _, err := tx.ExecContext(ctx, x.tell, db.KeyOf(account), db.KeyOf(told[i].ID)); err != nil {
			return err
		}
	}
	return nil
}
