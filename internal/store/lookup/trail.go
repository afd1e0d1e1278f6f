package lookup

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/store/db"
	"boon.example/internal/store/record"
)

// SelectTrail gives what of the audit trail is no change of a gift. There are few rows for an account.
const SelectTrail = `SELECT t.id, t.made_at, t.key_id, t.action, t.made_by, t.person, t.address, t.request_id, t.what
	FROM trail AS t WHERE t.account_id = $1 AND t.id < $2 AND t.id >= $3
		AND t.made_at >= $5 AND t.made_at < $6 ORDER BY t.id DESC LIMIT $4`

// Trail gives a page of what people and keys did in an account, the newest first: in descending order of ids. Where it
// is asked what one of them did, a page may have fewer entries than its limit, and more may follow.
func (r *Reader) Trail(ctx context.Context, f event.TrailFilter) (page event.TrailPage, err error) {
	changes, err := r.Activity(ctx, gift.ChangeFilter{AccountID: f.AccountID, From: f.From, To: f.To, Before: f.Before,
		Limit: f.Limit, KeyID: f.KeyID, ByKeys: true})
	if err != nil {
		return page, err
	}
	others, err := r.othersOfTrail(ctx, f)
	if err != nil {
		return page, fmt.Errorf("reading the audit trail: %w", err)
	}
	known := changes.Next // down to here, zero: all of both
	if len(others) == f.Limit && bytes.Compare(others[f.Limit-1].ID[:], known[:]) > 0 {
		known = others[f.Limit-1].ID
	}
	for i := range changes.Changes {
		e := &changes.Changes[i].Entry
		others = append(others, event.TrailEntry{ID: e.ID, AccountID: e.AccountID, At: e.At, Actor: e.Actor,
			Action: e.EventType(), VoucherID: e.VoucherID, RequestID: e.RequestID})
	}
	others = slices.DeleteFunc(others, func(e event.TrailEntry) bool { return bytes.Compare(e.ID[:], known[:]) < 0 })
	slices.SortFunc(others, func(a, b event.TrailEntry) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	if len(others) > f.Limit {
		others = others[:f.Limit]
		known = others[f.Limit-1].ID
	}
	others = slices.DeleteFunc(others, func(e event.TrailEntry) bool { return !f.Selects(&e) })
	return event.TrailPage{Entries: others, Next: known}, nil
}

// othersOfTrail gives the newest f.Limit of what is no change of a gift.
func (r *Reader) othersOfTrail(ctx context.Context, f event.TrailFilter) (all []event.TrailEntry, err error) {
	before, err := r.before(ctx, record.Trail, f.AccountID, f.Before, f.To)
	if err != nil {
		return nil, err
	}
	if before.IsZero() {
		before = guid.ID(bytes.Repeat([]byte{0xff}, len(before)))
	}
	since, until := int64(0), int64(math.MaxInt64)
	if !f.From.IsZero() {
		since = f.From.UnixMicro()
	}
	if !f.To.IsZero() {
		until = f.To.UnixMicro()
	}
	from := floor(f.From)
	return db.Collect(ctx, r.db, SelectTrail,
		[]any{db.KeyOf(f.AccountID), db.KeyOf(before), db.KeyOf(from), f.Limit, since, until},
		func(row db.Scanner) (e event.TrailEntry, err error) {
			e.AccountID = f.AccountID
			err = row.Scan(db.ScanID(&e.ID), db.ScanTime(&e.At), db.ScanID(&e.Actor.KeyID), &e.Action, &e.User,
				&e.Actor.Person, &e.Actor.Address, &e.RequestID, &e.What)
			return e, err
		})
}
