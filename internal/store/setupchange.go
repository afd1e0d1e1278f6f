package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"time"

	"boon.example/internal/sealed"
)

// SetupChange is a row of the log of the set-up. Its rows are chained as entries are, in one chain for the whole installation.
type SetupChange struct {
	Number  int64
	Kind    string // one of those below
	Version int64  // of the set-up, after it
	At      time.Time
	By      string // the operating system's user
	What    string // in words, a line for each change; never a secret
	// Before and After are hashes of the whole set-up.
	Before, After [sha256.Size]byte
}

// The kinds of SetupChange. The first row of a log is NEW or UPGRADED.
const (
	newLog      = "NEW"      // there was nothing: each entry has a seal
	upgradedLog = "UPGRADED" // what was entered until then has none
	adoptedLog  = "ADOPTED"  // what older programs wrote was accepted as it is
	changedLog  = "CHANGED"
)

const setupChangeColumns = `number, kind, version, made_at, made_by, what, before, after, mac`

// content is what the MAC of a row is over.
func (c *SetupChange) content() []byte {
	b := appendNumber([]byte{setupDomain}, c.Number)
	b = appendText(b, c.Kind)
	b = appendNumber(b, c.Version)
	b = appendTime(b, c.At)
	b = appendText(b, c.By)
	b = appendText(b, c.What)
	b = append(b, c.Before[:]...)
	return append(b, c.After[:]...)
}

// logSetup writes what was done to the set-up, in the same transaction. before is its hash as it was.
func (s *Store) logSetup(ctx context.Context, tx *sql.Tx, kind, what string, before [sha256.Size]byte) error {
	after, err := hashSetup(ctx, tx)
	if err != nil {
		return err
	}
	return s.logSetupAs(ctx, tx, kind, what, before, after)
}

func (s *Store) logSetupAs(ctx context.Context, tx *sql.Tx, kind, what string, before, after [sha256.Size]byte) (err error) {
	c := SetupChange{Number: 1, Kind: kind, At: time.Now().UTC().Truncate(time.Microsecond), By: s.by, What: what, Before: before, After: after}
	var last []byte
	err = tx.QueryRowContext(ctx, `SELECT number + 1, mac FROM setup_change ORDER BY number DESC LIMIT 1`).Scan(&c.Number, &last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading the log of the set-up: %w", err)
	}
	if c.Version, err = setupVersion(ctx, tx); err != nil {
		return err
	}
	var previous sealed.MAC
	copy(previous[:], last)
	mac := s.keys.Chain().Next(previous, c.content())
	_, err = tx.ExecContext(ctx, `INSERT INTO setup_change (`+setupChangeColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		c.Number, c.Kind, c.Version, micros(c.At), c.By, c.What, c.Before[:], c.After[:], mac[:])
	if err != nil {
		return fmt.Errorf("writing the log of the set-up: %w", err)
	}
	return nil
}

// sealsStep is the step of the schema with which seals begin.
const sealsStep = 6

// beginSeals notes, in the transaction of that step, from when on entries of a database that is in use have seals. One that is nobody's
// yet is noted to be new when it is claimed.
func (s *Store) beginSeals(ctx context.Context, tx *sql.Tx) error {
	noted, err := keyCheck(ctx, tx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = s.follow(noted) // with other keys, nothing could be checked later
	}
	if err != nil {
		return err
	}
	is, err := hashSetupAtFirst(ctx, tx)
	if err != nil {
		return err
	}
	return s.logSetupAs(ctx, tx, upgradedLog, "Seals began; what was entered before has none.", is, is)
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
		if err := s.logSetup(ctx, tx, newLog, "Seals began.", is); err != nil {
			return nil, err
		}
	}
	return keyCheck(ctx, tx)
}

// hashSetup is a hash of everything that says who may do what: accounts and API keys. A column that a table got later counts where it
// is not NULL, so that a step of the schema changes no hash.
func hashSetup(ctx context.Context, q querier) ([sha256.Size]byte, error) {
	return hashSetupOf(ctx, q, false)
}

// hashSetupAtFirst is the same for a schema that has only the columns that there were at first.
func hashSetupAtFirst(ctx context.Context, q querier) ([sha256.Size]byte, error) {
	return hashSetupOf(ctx, q, true)
}

func hashSetupOf(ctx context.Context, q querier, atFirst bool) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, t := range tables {
		if t.name != "account" && t.name != "api_key" {
			continue
		}
		if atFirst {
			t.columns, t.types = t.columns[:t.first], t.types[:t.first]
		}
		err := each(ctx, q, t.selectAll(), nil, func(rows *sql.Rows) error {
			r, err := scanTuple(rows, &t)
			if err != nil {
				return err
			}
			hashTuple(h, r[:t.first])
			for i := t.first; i < len(r); i++ {
				if r[i] != nil {
					hashTuple(h, tuple{t.columns[i], r[i]})
				}
			}
			return nil
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
			b = appendNumber(append(b, 'i'), v)
		case string:
			b = appendText(append(b, 's'), v)
		case []byte:
			b = appendText(append(b, 'b'), v)
		}
	}
	h.Write(b)
}

// SetupChanges gives the log of the set-up, the oldest first.
func (s *Store) SetupChanges(ctx context.Context) (all []SetupChange, err error) {
	err = s.ask(ctx, func(ctx context.Context) error {
		all = nil
		return eachSetupChange(ctx, s.readers, func(c SetupChange, _ []byte) { all = append(all, c) })
	})
	if err != nil {
		return nil, fmt.Errorf("reading the log of the set-up: %w", err)
	}
	return all, nil
}

func eachSetupChange(ctx context.Context, q querier, fn func(c SetupChange, mac []byte)) error {
	return each(ctx, q, `SELECT `+setupChangeColumns+` FROM setup_change ORDER BY number`, nil, func(rows *sql.Rows) error {
		var c SetupChange
		var before, after, mac []byte
		err := rows.Scan(&c.Number, &c.Kind, &c.Version, scanTime{&c.At}, &c.By, &c.What, &before, &after, &mac)
		if len(before) == len(c.Before) && len(after) == len(c.After) { // else no MAC fits
			c.Before, c.After = [sha256.Size]byte(before), [sha256.Size]byte(after)
		}
		if err == nil {
			fn(c, mac)
		}
		return err
	})
}
