// Package passes keeps which phones have the pass of a gift in their wallet, and how far they were told of changes.
package passes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
	"boon.example/internal/store/lease"
)

// Passes keeps which phones have passes.
type Passes struct {
	db     *db.DB
	leases *lease.Leases
}

// New works on an open database.
func New(d *db.DB) *Passes { return &Passes{db: d, leases: lease.New(d, "pass_lease", claim)} }

// DevicesOfAPass is how many devices of one gift are told of changes: the oldest goes.
const DevicesOfAPass = 50

// pushDomain is what push tokens are sealed in.
const pushDomain = "pass push"

var (
	claim     = lease.Claim("pass_lease")
	savePlace = &db.Query{What: "writing into pass_place",
		Each: `INSERT INTO pass_place (account_id, place)
			VALUES ($1, $2) ON CONFLICT (account_id) DO UPDATE SET place = excluded.place`,
		Postgres: `INSERT INTO pass_place (account_id, place)
			SELECT * FROM unnest($1::BYTEA[], $2::BYTEA[]) ON CONFLICT (account_id) DO UPDATE SET place = excluded.place`}
	// touch never takes back what a later event wrote, whoever comes first.
	touch = &db.Query{What: "writing into pass_device",
		Each: `UPDATE pass_device SET changed = $4, over = $5
			WHERE account_id = $1 AND voucher_id = $2 AND device = $3 AND card = $6 AND changed < $4`,
		Postgres: `UPDATE pass_device AS p SET changed = w.changed, over = w.over
			FROM unnest($1::BYTEA[], $2::BYTEA[], $3::BYTEA[], $4::BIGINT[], $5::BIGINT[], $6::BYTEA[])
				AS w (account_id, voucher_id, device, changed, over, card)
			WHERE p.account_id = w.account_id AND p.voucher_id = w.voucher_id AND p.device = w.device
				AND p.card = w.card AND p.changed < w.changed`}
	selectOfGifts = &db.Query{What: "reading the devices of passes", Scoped: true,
		SQLite: `SELECT p.voucher_id, p.device, p.card, p.push, p.changed, p.over
			FROM json_each($2) AS w CROSS JOIN pass_device AS p
			WHERE p.account_id = $1 AND p.voucher_id = unhex(w.value)`,
		Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
				SELECT p.voucher_id, p.device, p.card, p.push, p.changed, p.over FROM pass_device AS p
				WHERE p.account_id = w.account_id AND p.voucher_id = w.key OFFSET 0) AS found`,
		Citus: `SELECT p.voucher_id, p.device, p.card, p.push, p.changed, p.over FROM pass_device AS p
			WHERE p.account_id = $1 AND p.voucher_id = ANY($2::BYTEA[])`}
)

// Queries are those that write rows in batches.
func Queries() []*db.Query { return []*db.Query{claim, savePlace, touch, touchGoogle, saveGoogle} }

// Statements are those that are worth preparing.
func Statements(d *db.DB) []string { return d.Texts(selectOfGifts) }

const (
	countDevice  = `SELECT count(*) FROM pass_device WHERE account_id = $1 AND voucher_id = $2 AND device = $3`
	insertDevice = `INSERT INTO pass_device (account_id, voucher_id, device, card, push, changed, over, made_at)
		VALUES ($1, $2, $3, $4, $5, $7, 0, $6)
		ON CONFLICT (account_id, voucher_id, device) DO UPDATE SET card = excluded.card, push = excluded.push,
			over = 0, changed = CASE WHEN pass_device.changed < excluded.changed THEN excluded.changed ELSE pass_device.changed END`
	deleteBeyond = `DELETE FROM pass_device WHERE account_id = $1 AND voucher_id = $2 AND device IN (
		SELECT p.device FROM pass_device AS p WHERE p.account_id = $1 AND p.voucher_id = $2
		ORDER BY p.made_at DESC, p.device LIMIT 1000 OFFSET $3)`
	countOfCard  = countDevice + ` AND card = $4`
	deleteOfCard = `DELETE FROM pass_device WHERE account_id = $1 AND voucher_id = $2 AND device = $3 AND card = $4`
	selectPasses = `SELECT p.voucher_id, p.device, p.card, p.push, p.changed, p.over FROM pass_device AS p
		WHERE p.account_id = $1 AND p.device = $2 ORDER BY p.voucher_id LIMIT 1000`
	selectChanged = `SELECT coalesce(max(p.changed), 0) FROM pass_device AS p
		WHERE p.account_id = $1 AND p.voucher_id = $2 AND p.card = $3`
)

// RegisterPass has a device be told of changes of a pass, which changed at Changed at the latest, and tells whether
// that is new. Of more than DevicesOfAPass devices of a gift the oldest go.
func (p *Passes) RegisterPass(ctx context.Context, d event.PassDevice, now time.Time) (fresh bool, err error) {
	of := []any{db.KeyOf(d.AccountID), db.KeyOf(d.VoucherID), d.Device[:]}
	push := p.db.Keys.SealOnce(pushDomain, []byte(d.Push), record(&d))
	err = p.db.Write(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRowContext(ctx, countDevice, of...).Scan(&n); err != nil {
			return err
		}
		if fresh = n == 0; fresh {
			if _, err := tx.ExecContext(ctx, deleteBeyond, of[0], of[1], DevicesOfAPass-1); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, insertDevice, append(of, d.Card[:], push, now.UnixMicro(), d.Changed)...)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("registering a pass: %w", err)
	}
	return fresh, nil
}

// record is what the push token of a device is sealed for.
func record(d *event.PassDevice) []byte {
	return slices.Concat(d.AccountID[:], d.VoucherID[:], d.Device[:])
}

// UnregisterPass has a device not be told any more of the pass of a card. Where it is not told of that one, nothing
// changes: it may have the pass of the next card by now.
func (p *Passes) UnregisterPass(ctx context.Context, d *event.PassDevice) error {
	args := []any{db.KeyOf(d.AccountID), db.KeyOf(d.VoucherID), d.Device[:], d.Card[:]}
	if _, err := p.db.Delete(ctx, countOfCard, args, deleteOfCard, args...); err != nil {
		return fmt.Errorf("unregistering a pass: %w", err)
	}
	return nil
}

// PassesOf gives the passes of an account that a device is told of.
func (p *Passes) PassesOf(ctx context.Context, account guid.ID, device [32]byte) ([]event.PassDevice, error) {
	all, err := db.Collect(ctx, p.db, selectPasses, []any{db.KeyOf(account), device[:]},
		func(from db.Scanner) (event.PassDevice, error) { return p.scan(from, account) })
	if err != nil {
		return nil, fmt.Errorf("reading the passes of a device: %w", err)
	}
	return all, nil
}

// PassDevices gives the devices that are told of some gifts of an account.
func (p *Passes) PassDevices(ctx context.Context, account guid.ID, vouchers []guid.ID) (all []event.PassDevice,
	err error) {
	err = p.db.Retry(ctx, func(ctx context.Context) error {
		all = nil
		b := db.Batch{Query: selectOfGifts, Account: account, Scan: func(from db.Scanner) error {
			d, err := p.scan(from, account)
			all = append(all, d)
			return err
		}}
		for _, id := range vouchers {
			b.Rows = append(b.Rows, []any{db.KeyOf(id)})
		}
		return p.db.Read(ctx, []db.Batch{b})
	})
	if err != nil {
		return nil, fmt.Errorf("reading the devices of passes: %w", err)
	}
	return all, nil
}

func (p *Passes) scan(from db.Scanner, account guid.ID) (d event.PassDevice, err error) {
	var device, card, push []byte
	var over int64
	d.AccountID = account
	if err = from.Scan(db.ScanID(&d.VoucherID), &device, &card, &push, &d.Changed, &over); err != nil {
		return d, err
	}
	d.Over = over == 1
	copy(d.Device[:], device)
	copy(d.Card[:], card)
	plain, err := p.db.Keys.OpenOnce(pushDomain, push, record(&d))
	if errors.Is(err, sealed.ErrUnknownKey) || errors.Is(err, sealed.ErrTampered) {
		err = nil // the others are told; the phone is when it registers again
	}
	d.Push = string(plain)
	return d, err
}

// PassChanged is the position of the newest event that changed the pass of a card; 0: no device that has it was told of
// one.
func (p *Passes) PassChanged(ctx context.Context, account, voucher guid.ID, card event.PassCard) (at int64, err error) {
	err = p.db.Get(ctx, selectChanged, []any{db.KeyOf(account), db.KeyOf(voucher), card[:]}, &at)
	if err != nil {
		return 0, fmt.Errorf("reading when a pass changed: %w", err)
	}
	return at, nil
}

// atOnce is how many rows are written in a transaction: redemptions wait for the same writer.
const atOnce = 100

// TouchPasses writes that passes changed at Changed, and which of them are Over.
func (p *Passes) TouchPasses(ctx context.Context, devices []event.PassDevice) error {
	for some := range slices.Chunk(devices, atOnce) {
		b := db.Batch{Query: touch}
		for i := range some {
			d := &some[i]
			over := 0
			if d.Over {
				over = 1
			}
			b.Rows = append(b.Rows, []any{db.KeyOf(d.AccountID), db.KeyOf(d.VoucherID), d.Device[:], d.Changed, over,
				d.Card[:]})
		}
		if err := lease.Write(ctx, p.db, b); err != nil {
			return fmt.Errorf("writing which passes changed: %w", err)
		}
	}
	return nil
}

// ClaimPasses takes the leases of accounts that nobody has at now, keeps those that the owner has, until a time, and
// gives all of these accounts that it has then.
func (p *Passes) ClaimPasses(ctx context.Context, owner guid.ID, accounts []guid.ID,
	now, until time.Time) ([]guid.ID, error) {
	return p.leases.Claim(ctx, owner, accounts, now, until)
}

// ReleasePasses gives all leases of an owner back.
func (p *Passes) ReleasePasses(ctx context.Context, owner guid.ID) error {
	return p.leases.Release(ctx, owner)
}

// PassPlace is up to which event of an account devices were told; known is false where that was never written.
func (p *Passes) PassPlace(ctx context.Context, account guid.ID) (place merchant.EventPlace, known bool, err error) {
	found, err := db.Collect(ctx, p.db, `SELECT place FROM pass_place WHERE account_id = $1`,
		[]any{db.KeyOf(account)}, func(from db.Scanner) (b []byte, err error) {
			err = from.Scan(&b)
			return b, err
		})
	if err != nil || len(found) == 0 {
		return place, false, err
	}
	var b [16]byte
	copy(b[:], found[0])
	return event.ParsePlace(b), true, nil
}

// SavePassPlaces writes up to which event of accounts devices were told.
func (p *Passes) SavePassPlaces(ctx context.Context, places map[guid.ID]merchant.EventPlace) error {
	b := db.Batch{Query: savePlace}
	for account, place := range places {
		text := place.Bytes()
		b.Rows = append(b.Rows, []any{db.KeyOf(account), text[:]})
	}
	slices.SortFunc(b.Rows, func(a, c []any) int { return slices.Compare(a[0].([]byte), c[0].([]byte)) })
	if err := lease.Write(ctx, p.db, b); err != nil {
		return fmt.Errorf("writing how far passes were told of: %w", err)
	}
	return nil
}
