package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/sealed"
)

const setupChangeColumns = `number, version, made_at, made_by, what, before, after, mac`

// logSetup writes what was done to the set-up, in the same transaction. before is its hash as it was.
func (s *Store) logSetup(ctx context.Context, tx *sql.Tx, what string, before [sha256.Size]byte) error {
	after, err := hashSetup(ctx, tx)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	c := chain.SetupChange{Number: 1, At: now, By: s.by, What: what, Before: before, After: after}
	var last sealed.MAC
	const newest = `SELECT number + 1, mac FROM setup_change ORDER BY number DESC LIMIT 1`
	err = tx.QueryRowContext(ctx, newest).Scan(&c.Number, scanMAC{&last})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading the log of the set-up: %w", err)
	}
	if c.Version, err = setupVersion(ctx, tx); err != nil {
		return err
	}
	c.Authenticate(s.keys.Authenticator(), last)
	_, err = tx.ExecContext(ctx,
		`INSERT INTO setup_change (`+setupChangeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		c.Number, c.Version, micros(c.At), c.By, c.What, c.Before[:], c.After[:], c.MAC[:])
	if err != nil {
		return fmt.Errorf("writing the log of the set-up: %w", err)
	}
	return nil
}

// claim notes in a new database whose it is, and gives what is noted.
func (s *Store) claim(ctx context.Context, tx *sql.Tx) (noted []byte, err error) {
	const note = `INSERT INTO key_check (one, value) VALUES (1, $1) ON CONFLICT (one) DO NOTHING`
	result, err := tx.ExecContext(ctx, note, s.keys.Seal([]byte(keyCheckText), boundToDatabase()))
	if err != nil {
		return nil, fmt.Errorf("noting whose the database is: %w", err)
	}
	if n, err := result.RowsAffected(); err != nil {
		return nil, err
	} else if n == 1 {
		is, err := hashSetup(ctx, tx)
		if err != nil {
			return nil, err
		}
		if err := s.logSetup(ctx, tx, "began", is); err != nil {
			return nil, err
		}
	}
	return keyCheck(ctx, tx)
}

// hashSetup is a hash of everything that says who may do what: accounts and API keys.
func hashSetup(ctx context.Context, q querier) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, t := range tables {
		if t.name != "account" && t.name != "api_key" {
			continue
		}
		err := each(ctx, q, t.selectAll(), nil, func(rows *sql.Rows) error {
			r, err := scanTuple(rows, &t)
			if err == nil {
				hashTuple(h, r)
			}
			return err
		})
		if err != nil {
			return sum, fmt.Errorf("reading the set-up: %w", err)
		}
		h.Write([]byte{'.'}) // ends a table
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// hashTuple adds a row of values.
func hashTuple(h hash.Hash, r tuple) {
	b := []byte{'('}
	for _, column := range r {
		switch v := column.(type) {
		case nil:
			b = append(b, '0')
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
		case string:
			b = binary.BigEndian.AppendUint64(append(b, 's'), uint64(len(v)))
			b = append(b, v...)
		case []byte:
			b = binary.BigEndian.AppendUint64(append(b, 'b'), uint64(len(v)))
			b = append(b, v...)
		}
	}
	h.Write(b)
}

// SetupChanges gives the log of the set-up, the oldest first.
func (s *Store) SetupChanges(ctx context.Context) (all []chain.SetupChange, err error) {
	err = s.retry(ctx, func(ctx context.Context) error {
		all = nil
		return eachSetupChange(ctx, s.readers, func(c chain.SetupChange) { all = append(all, c) })
	})
	if err != nil {
		return nil, fmt.Errorf("reading the log of the set-up: %w", err)
	}
	return all, nil
}

func eachSetupChange(ctx context.Context, q querier, fn func(chain.SetupChange)) error {
	const query = `SELECT ` + setupChangeColumns + ` FROM setup_change ORDER BY number`
	return each(ctx, q, query, nil, func(rows *sql.Rows) error {
		var c chain.SetupChange
		var before, after []byte
		err := rows.Scan(&c.Number, &c.Version, scanTime{&c.At}, &c.By, &c.What, &before, &after, scanMAC{&c.MAC})
		if err != nil {
			return err
		}
		if len(before) == len(c.Before) && len(after) == len(c.After) { // else no MAC fits
			c.Before, c.After = [sha256.Size]byte(before), [sha256.Size]byte(after)
		}
		fn(c)
		return nil
	})
}
