package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/gift"
)

// day is the number of a UTC day.
func day(t time.Time) int64 {
	const seconds = 24 * 60 * 60
	n := t.Unix()
	if n < 0 {
		n -= seconds - 1
	}
	return n / seconds
}

const selectTill = `SELECT full_at FROM till_bucket WHERE account_id = $1 AND key_id = $2 AND location_id = $3`

func tillKey(m gift.Miss) []any { return []any{bare(m.AccountID), bare(m.KeyID), bare(m.LocationID)} }

// Guesses reads the counts of a key at a location.
func (s *Store) Guesses(ctx context.Context, m gift.Miss) (gift.Guesses, error) {
	var g gift.Guesses
	err := s.ask(within(ctx, m.AccountID), func(ctx context.Context) (err error) {
		g, err = readGuesses(ctx, s.readers, m)
		return err
	})
	return g, err
}

func readGuesses(ctx context.Context, q querier, m gift.Miss) (g gift.Guesses, err error) {
	if g.Till, err = readBucket(ctx, q, selectTill, tillKey(m)...); err != nil {
		return g, err
	}
	err = q.QueryRowContext(ctx, `SELECT count(*), count(CASE WHEN key_id = $1 THEN 1 END) FROM miss WHERE account_id = $2 AND day = $3`,
		bare(m.KeyID), bare(m.AccountID), day(m.At)).Scan(&g.AccountToday, &g.KeyToday)
	if err != nil {
		return g, fmt.Errorf("reading the counts of wrong codes: %w", err)
	}
	return g, nil
}

// readBucket reads a bucket; one that was never taken from is full.
func readBucket(ctx context.Context, q querier, query string, key ...any) (b gift.Bucket, err error) {
	err = q.QueryRowContext(ctx, query, key...).Scan(scanTime{&b.FullAt})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return b, fmt.Errorf("reading a bucket: %w", err)
	}
	return b, nil
}

func (s *Store) askBucket(ctx context.Context, query string, key ...any) (b gift.Bucket, err error) {
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		b, err = readBucket(ctx, s.readers, query, key...)
		return err
	})
	return b, err
}

// CountMiss counts an unknown code, once a day and account, durably, and gives the counts after it. A code that was counted
// today, by whichever key of the account, teaches a guesser nothing new and costs nothing.
func (s *Store) CountMiss(ctx context.Context, m gift.Miss) (g gift.Guesses, err error) {
	ctx = within(ctx, m.AccountID)
	err = s.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `INSERT INTO miss (account_id, day, code_hash, key_id) VALUES ($1, $2, $3, $4)
			ON CONFLICT (account_id, day, code_hash) DO NOTHING`, bare(m.AccountID), day(m.At), s.keys.CodeHash(m.Code), bare(m.KeyID))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if n > 0 {
			if err := s.takeFromTill(ctx, tx, m); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `DELETE FROM miss WHERE account_id = $1 AND day < $2`, bare(m.AccountID), day(m.At)); err != nil {
				return err
			}
		}
		g, err = readGuesses(ctx, tx, m)
		return err
	})
	if err != nil {
		return gift.Guesses{}, fmt.Errorf("counting a wrong code: %w", err)
	}
	return g, nil
}

func (s *Store) takeFromTill(ctx context.Context, tx *sql.Tx, m gift.Miss) error {
	const make = `INSERT INTO till_bucket (account_id, key_id, location_id) VALUES ($1, $2, $3) ON CONFLICT (account_id, key_id, location_id) DO NOTHING`
	if _, err := tx.ExecContext(ctx, make, tillKey(m)...); err != nil {
		return err
	}
	b, err := readBucket(ctx, tx, selectTill+s.dialect.lockRows, tillKey(m)...)
	if err != nil {
		return err
	}
	return writeTill(ctx, tx, m, b.Take(m.At, gift.GuessRefill))
}

func writeTill(ctx context.Context, tx *sql.Tx, m gift.Miss, b gift.Bucket) error {
	_, err := tx.ExecContext(ctx, `UPDATE till_bucket SET full_at = $4 WHERE account_id = $1 AND key_id = $2 AND location_id = $3`,
		append(tillKey(m), micros(b.FullAt))...)
	return err
}

// RewardTill gives gift.GuessReward attempts back to a key at a location, if any are missing. Nearly always none are, and
// then nothing is written.
func (s *Store) RewardTill(ctx context.Context, m gift.Miss) error {
	ctx = within(ctx, m.AccountID)
	b, err := s.askBucket(ctx, selectTill, tillKey(m)...)
	if err != nil || !b.FullAt.After(m.At) {
		return err
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		b, err := readBucket(ctx, tx, selectTill+s.dialect.lockRows, tillKey(m)...)
		if err != nil || !b.FullAt.After(m.At) {
			return err
		}
		return writeTill(ctx, tx, m, b.Give(gift.GuessReward, gift.GuessRefill))
	})
	if err != nil {
		return fmt.Errorf("rewarding a till: %w", err)
	}
	return nil
}

// LiveGifts is the number of an account's gifts that can still be hit by a guess: balance left, not withdrawn.
func (s *Store) LiveGifts(ctx context.Context, account gift.ID) (n int64, err error) {
	const query = `SELECT CAST(coalesce(sum(live), 0) AS BIGINT) FROM tally WHERE account_id = $1`
	err = s.ask(within(ctx, account), func(ctx context.Context) error { return s.readers.QueryRowContext(ctx, query, bare(account)).Scan(&n) })
	if err != nil {
		return 0, fmt.Errorf("counting live gifts: %w", err)
	}
	return n, nil
}

const selectStranger = `SELECT full_at FROM stranger_bucket WHERE address_hash = $1`

// Stranger reads the bucket of a client address that has shown no valid key.
func (s *Store) Stranger(ctx context.Context, address string) (gift.Bucket, error) {
	return s.askBucket(ctx, selectStranger, s.keys.AddressHash(address))
}

// CountStranger hands the bucket of a client address to take and keeps what it returns, durably. Buckets that have been
// full for a while are forgotten on the way.
func (s *Store) CountStranger(ctx context.Context, address string, take func(gift.Bucket) gift.Bucket) error {
	err := s.write(ctx, func(tx *sql.Tx) error {
		key := s.keys.AddressHash(address)
		result, err := tx.ExecContext(ctx, `INSERT INTO stranger_bucket (address_hash) VALUES ($1) ON CONFLICT (address_hash) DO NOTHING`, key)
		if err != nil {
			return err
		}
		isNew, err := result.RowsAffected()
		if err != nil {
			return err
		}
		was, err := readBucket(ctx, tx, selectStranger+s.dialect.lockRows, key)
		if err != nil {
			return err
		}
		is := take(was)
		if _, err := tx.ExecContext(ctx, `UPDATE stranger_bucket SET full_at = $1 WHERE address_hash = $2`, micros(is.FullAt), key); err != nil {
			return err
		}
		if isNew == 0 {
			return nil
		}
		// The clock is take's. A new bucket is full again one refill after now, so that what was full a minute before
		// that has been full for longer than a refill takes.
		_, err = tx.ExecContext(ctx, `DELETE FROM stranger_bucket WHERE full_at < $1`, is.FullAt.Add(-time.Minute).UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("counting an attempt without a key: %w", err)
	}
	return nil
}
