// Package misses counts what is tried in vain: wrong voucher codes, wrong PINs, and calls without a key.
package misses

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/base/ratelimit"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
)

// Misses counts them in a database.
type Misses struct{ db *db.DB }

// New counts in a database.
func New(d *db.DB) *Misses { return &Misses{d} }

var anonymousRate = ratelimit.Rate{Burst: merchant.AnonymousBurst, Refill: merchant.AnonymousRefill}

const selectTill = `SELECT full_at, taken_at FROM till_bucket WHERE account_id = $1 AND key_id = $2 AND location_id = $3`

var (
	lockTill = db.Text{
		SQLite: `SELECT full_at, taken_at FROM till_bucket WHERE account_id = $1 AND key_id = $2 AND location_id = $3`,
		Postgres: `SELECT full_at, taken_at FROM till_bucket WHERE account_id = $1 AND key_id = $2 AND location_id = $3
			FOR NO KEY UPDATE`,
	}
	lockMisses = db.Text{
		SQLite:   `SELECT since, misses FROM key_miss WHERE account_id = $1 AND key_id = $2`,
		Postgres: `SELECT since, misses FROM key_miss WHERE account_id = $1 AND key_id = $2 FOR NO KEY UPDATE`,
	}
	lockAnonymous = db.Text{
		SQLite:   `SELECT full_at, taken_at FROM anonymous_bucket WHERE address_hash = $1`,
		Postgres: `SELECT full_at, taken_at FROM anonymous_bucket WHERE address_hash = $1 FOR NO KEY UPDATE`,
	}
)

func tillKey(t merchant.Till) []any {
	return []any{db.KeyOf(t.AccountID), db.KeyOf(t.KeyID), db.KeyOf(t.CountedAt())}
}

// TillBucket reads the bucket of a key at a location.
func (s *Misses) TillBucket(ctx context.Context, t merchant.Till) (ratelimit.Bucket, error) {
	return s.askBucket(ctx, selectTill, tillKey(t)...)
}

// readBucket reads a bucket; one that was never taken from is full.
func readBucket(ctx context.Context, q db.Querier, query string, key ...any) (b ratelimit.Bucket, err error) {
	err = q.QueryRowContext(ctx, query, key...).Scan(db.ScanTime(&b.FullAt), db.ScanTime(&b.TakenAt))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return b, fmt.Errorf("reading a bucket: %w", err)
	}
	return b, nil
}

func (s *Misses) askBucket(ctx context.Context, query string, key ...any) (b ratelimit.Bucket, err error) {
	err = s.db.Retry(ctx, func(ctx context.Context) (err error) {
		b, err = readBucket(ctx, s.db.Readers, query, key...)
		return err
	})
	return b, err
}

// guessRate is how often codes are tried at a till.
func guessRate(t merchant.Till) ratelimit.Rate {
	return ratelimit.Rate{Burst: t.GuessBurst(), Refill: t.GuessRefill()}
}

// CountMisses takes n misses out of the bucket of a key at a location, durably, and gives the bucket after it. alarm
// tells that they are an event: see merchant.MissCount.Add. What is taken from a share is counted for the key at the
// location.
func (s *Misses) CountMisses(ctx context.Context, t merchant.Till, now time.Time, n int) (b ratelimit.Bucket,
	alarm bool,
	err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) (err error) {
		alarm = false
		rate, counted := guessRate(t), n
		if b, err = s.takeTill(ctx, tx, t, rate, now, n); err != nil {
			return err
		}
		spent := t.Share == merchant.RefillShare && rate.Left(b, now) == 0
		if t.Share != "" {
			if counted = 0; !spent {
				return nil
			}
		}
		alarm, err = s.countForKey(ctx, tx, t, now, counted, spent) // the location's row is locked before the key's
		if all, fresh := t.FreshTills(); fresh && err == nil {
			var together bool
			together, err = s.countForKey(ctx, tx, all, now, counted, false) // and the key's before the account's
			alarm = alarm || together
		}
		if err == nil && alarm {
			err = feed.AddNow(ctx, tx, event.Event{Type: event.GuessingLimited, AccountID: t.AccountID, At: now,
				Note: event.Note{KeyID: t.KeyID}})
		}
		return err
	})
	if err != nil {
		return ratelimit.Bucket{}, false, fmt.Errorf("counting a wrong code: %w", err)
	}
	return b, alarm, nil
}

// CountWrongPINs takes n wrong PINs out of the bucket of a merchant.Account.PINKey, durably, and gives the bucket
// after it. That bucket is TillBucket's.
func (s *Misses) CountWrongPINs(ctx context.Context, person merchant.Till, now time.Time, n int) (b ratelimit.Bucket,
	err error) {
	var rate ratelimit.Rate
	rate.Burst, rate.Refill = person.PINs()
	err = s.db.Write(ctx, func(tx *sql.Tx) (err error) {
		b, err = s.takeTill(ctx, tx, person, rate, now, n)
		return err
	})
	if err != nil {
		return ratelimit.Bucket{}, fmt.Errorf("counting a wrong PIN: %w", err)
	}
	return b, nil
}

// takeTill takes n out of the bucket of a key at a location.
func (s *Misses) takeTill(ctx context.Context, tx *sql.Tx, t merchant.Till, rate ratelimit.Rate, now time.Time, n int) (
	b ratelimit.Bucket, err error) {
	const make = `INSERT INTO till_bucket (account_id, key_id, location_id) VALUES ($1, $2, $3) ON CONFLICT (account_id, key_id, location_id) DO NOTHING`
	if _, err := tx.ExecContext(ctx, make, tillKey(t)...); err != nil {
		return b, err
	}
	was, err := readBucket(ctx, tx, s.db.Text(lockTill), tillKey(t)...)
	if err != nil {
		return b, err
	}
	b = rate.Take(was, now, n)
	return b, writeTill(ctx, tx, t, b)
}

func writeTill(ctx context.Context, tx *sql.Tx, t merchant.Till, b ratelimit.Bucket) error {
	_, err := tx.ExecContext(ctx, `UPDATE till_bucket SET full_at = $4, taken_at = $5 WHERE account_id = $1 AND key_id = $2 AND location_id = $3`,
		append(tillKey(t), db.Micros(b.FullAt), db.Micros(b.TakenAt))...)
	return err
}

// countForKey adds to the misses of a key at all of its locations. Their rows are locked before the key's.
func (s *Misses) countForKey(ctx context.Context, tx *sql.Tx, t merchant.Till, now time.Time, n int, spent bool) (
	alarm bool, err error) {
	key := []any{db.KeyOf(t.AccountID), db.KeyOf(t.KeyID)}
	const make = `INSERT INTO key_miss (account_id, key_id, misses) VALUES ($1, $2, 0) ON CONFLICT (account_id, key_id) DO NOTHING`
	if _, err := tx.ExecContext(ctx, make, key...); err != nil {
		return false, err
	}
	var m merchant.MissCount
	err = tx.QueryRowContext(ctx, s.db.Text(lockMisses), key...).
		Scan(db.ScanTime(&m.Since), &m.Count)
	if err != nil {
		return false, err
	}
	m, alarm = m.Add(t, now, n, spent)
	_, err = tx.ExecContext(ctx, `UPDATE key_miss SET since = $3, misses = $4 WHERE account_id = $1 AND key_id = $2`,
		append(key, db.Micros(m.Since), m.Count)...)
	return alarm, err
}

// CountRedemptions counts the redemptions of gift $2 of account $1 by key $3 at location $4: 0, 1, or 2 for more. A
// history is read backwards, for $5 entries at most; what is longer counts as 2. SQLite makes a CROSS JOIN in the
// order in which it is written; OFFSET 0 keeps PostgreSQL's planner from reading the whole account: see
// db.SelectByKeys.
var CountRedemptions = db.Text{
	SQLite: `WITH RECURSIVE e AS (
		SELECT e.previous, CASE WHEN e.kind = 'REDEMPTION' AND e.key_id = $3 AND e.location_id = $4 THEN 1 ELSE 0 END AS redeemed,
			1 AS depth
		FROM (SELECT v.last AS id FROM voucher AS v WHERE v.account_id = $1 AND v.id = $2 LIMIT 1) AS l
			CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = l.id
		UNION ALL
		SELECT e.previous,
			n.redeemed + CASE WHEN e.kind = 'REDEMPTION' AND e.key_id = $3 AND e.location_id = $4 THEN 1 ELSE 0 END, n.depth + 1
		FROM e AS n CROSS JOIN entry AS e ON e.account_id = $1 AND e.id = n.previous
		WHERE n.redeemed < 2 AND n.depth < $5
	) SELECT CASE WHEN coalesce(max(e.depth), 0) = $5 THEN 2 ELSE coalesce(max(e.redeemed), 0) END FROM e`,
	Postgres: `WITH RECURSIVE e AS (
		SELECT e.previous, CASE WHEN e.kind = 'REDEMPTION' AND e.key_id = $3 AND e.location_id = $4 THEN 1 ELSE 0 END AS redeemed,
			1 AS depth
		FROM (SELECT v.last AS id FROM voucher AS v WHERE v.account_id = $1 AND v.id = $2 LIMIT 1) AS l
			CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = l.id OFFSET 0) AS e
		UNION ALL
		SELECT e.previous,
			n.redeemed + CASE WHEN e.kind = 'REDEMPTION' AND e.key_id = $3 AND e.location_id = $4 THEN 1 ELSE 0 END, n.depth + 1
		FROM e AS n CROSS JOIN LATERAL (SELECT e.* FROM entry AS e WHERE e.account_id = $1 AND e.id = n.previous OFFSET 0) AS e
		WHERE n.redeemed < 2 AND n.depth < $5
	) SELECT CASE WHEN coalesce(max(e.depth), 0) = $5 THEN 2 ELSE coalesce(max(e.redeemed), 0) END FROM e`,
}

// maxHistoryForReward bounds the reading for a reward: no guest's gift has so long a history.
const maxHistoryForReward = 1000

// RewardTill gives attempts back to a key at a location, and to the location's own share, if any are missing, and the
// key has redeemed this gift there exactly once: so that nobody is given more and more for one gift that is redeemed
// cent by cent.
func (s *Misses) RewardTill(ctx context.Context, t merchant.Till, voucher guid.ID, now time.Time) error {
	var missing []merchant.Till
	for _, at := range rewarded(t) {
		b, err := s.askBucket(ctx, selectTill, tillKey(at)...)
		if err != nil {
			return err
		}
		if !guessRate(at).Full(b, now) {
			missing = append(missing, at)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var redeemed int
	err := s.db.Get(ctx, s.db.Text(CountRedemptions),
		[]any{db.KeyOf(t.AccountID), db.KeyOf(voucher), db.KeyOf(t.KeyID), db.KeyOf(t.LocationID), maxHistoryForReward},
		&redeemed)
	if err != nil {
		return fmt.Errorf("counting the redemptions of gift %s: %w", voucher, err)
	}
	if redeemed != 1 {
		return nil
	}
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, at := range missing {
			b, err := readBucket(ctx, tx, s.db.Text(lockTill), tillKey(at)...)
			if err != nil {
				return err
			}
			if guessRate(at).Full(b, now) {
				continue
			}
			if err := writeTill(ctx, tx, at, b.Give(now, at.GuessReward())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("rewarding a till: %w", err)
	}
	return nil
}

// rewarded are the buckets that a redemption may give to.
func rewarded(t merchant.Till) []merchant.Till {
	if own, _, shared := t.Shares(); shared {
		return []merchant.Till{t, own}
	}
	return []merchant.Till{t}
}

const selectAnonymous = `SELECT full_at, taken_at FROM anonymous_bucket WHERE address_hash = $1`

// AnonymousBucket reads the bucket of a client network that has shown no valid key.
func (s *Misses) AnonymousBucket(ctx context.Context, network string) (ratelimit.Bucket, error) {
	return s.askBucket(ctx, selectAnonymous, s.db.Keys.AddressHash(network))
}

// TakeAnonymous takes an attempt out of the bucket of a client network, durably, unless it is empty: then allowed is
// false. Buckets that have been full for a while are forgotten on the way.
func (s *Misses) TakeAnonymous(ctx context.Context, network string, now time.Time) (b ratelimit.Bucket, allowed bool,
	err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		key := s.db.Keys.AddressHash(network)
		result, err := tx.ExecContext(ctx,
			`INSERT INTO anonymous_bucket (address_hash) VALUES ($1) ON CONFLICT (address_hash) DO NOTHING`, key)
		if err != nil {
			return err
		}
		isNew, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if b, err = readBucket(ctx, tx, s.db.Text(lockAnonymous), key); err != nil {
			return err
		}
		if allowed = anonymousRate.Left(b, now) > 0; !allowed {
			return nil
		}
		b = anonymousRate.Take(b, now, 1)
		if _, err := tx.ExecContext(ctx, `UPDATE anonymous_bucket SET full_at = $1, taken_at = $2 WHERE address_hash = $3`,
			db.Micros(b.FullAt), db.Micros(b.TakenAt), key); err != nil || isNew == 0 {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM anonymous_bucket WHERE full_at < $1`, now.Add(-time.Minute).UnixMicro())
		return err
	})
	if err != nil {
		return ratelimit.Bucket{}, false, fmt.Errorf("counting an attempt without a key: %w", err)
	}
	return b, allowed, nil
}

// SignInBucket reads the bucket of wrong sign-ins under a name; CountSignIn takes n out of it, durably, and gives
// the bucket after it. The name is kept as a keyed hash, in buckets that are forgotten once they have been full for a
// while.
func (s *Misses) SignInBucket(ctx context.Context, under string) (ratelimit.Bucket, error) {
	return s.askBucket(ctx, selectAnonymous, s.db.Keys.AddressHash("sign-in "+under))
}

// CountSignIn is SignInBucket's other half.
func (s *Misses) CountSignIn(ctx context.Context, under string, rate ratelimit.Rate, now time.Time, n int) (
	b ratelimit.Bucket, err error) {
	key := s.db.Keys.AddressHash("sign-in " + under)
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO anonymous_bucket (address_hash) VALUES ($1) ON CONFLICT (address_hash) DO NOTHING`, key)
		if err != nil {
			return err
		}
		was, err := readBucket(ctx, tx, s.db.Text(lockAnonymous), key)
		if err != nil {
			return err
		}
		b = rate.Take(was, now, n)
		_, err = tx.ExecContext(ctx, `UPDATE anonymous_bucket SET full_at = $1, taken_at = $2 WHERE address_hash = $3`,
			db.Micros(b.FullAt), db.Micros(b.TakenAt), key)
		return err
	})
	if err != nil {
		return ratelimit.Bucket{}, fmt.Errorf("counting a wrong sign-in: %w", err)
	}
	return b, nil
}
