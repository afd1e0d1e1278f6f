package setup

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
	"boon.example/internal/event"
	"boon.example/internal/store/db"
)

// logSetup writes what was done to the set-up, in the same transaction. before is its hash as it was.
func logSetup(ctx context.Context, d *db.DB, tx *sql.Tx, what string, before [sha256.Size]byte) error {
	after, err := Hash(ctx, tx)
	if err != nil {
		return err
	}
	version, err := Version(ctx, tx)
	if err != nil {
		return err
	}
	var newest chain.SetupChange
	const last = `SELECT number, mac FROM setup_change ORDER BY number DESC LIMIT 1`
	err = tx.QueryRowContext(ctx, last).Scan(&newest.Number, db.ScanMAC(&newest.MAC))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading the log of the set-up: %w", err)
	}
	return addChange(ctx, d, tx, newest, what, before, after, version)
}

// addChange writes the entry of the log that follows the newest one.
func addChange(ctx context.Context, d *db.DB, tx *sql.Tx, newest chain.SetupChange, what string,
	before, after [sha256.Size]byte, version int64) error {
	c := chain.SetupChange{Number: newest.Number + 1, Version: version, At: time.Now().UTC().Truncate(time.Microsecond),
		By: d.By, What: what, Before: before, After: after}
	c.Authenticate(d.Keys.Authenticator(), newest.MAC)
	_, err := tx.ExecContext(ctx,
		`INSERT INTO setup_change (number, version, made_at, made_by, what, before, after, mac)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		c.Number, c.Version, db.Micros(c.At), c.By, c.What, c.Before[:], c.After[:], c.MAC[:])
	if err != nil {
		return fmt.Errorf("writing the log of the set-up: %w", err)
	}
	return nil
}

// LogExport writes what is about to be done that is no change of the set-up, such as that codes leave.
func (s *Setup) LogExport(ctx context.Context, e event.TrailEntry) error {
	err := s.logWords(ctx, e.What, func(tx *sql.Tx) error { return s.addTrail(ctx, tx, &e) })
	if err != nil {
		return fmt.Errorf("noting what is to be done: %w", err)
	}
	return nil
}

// LogBeginning writes that a database was made.
func LogBeginning(ctx context.Context, d *db.DB, tx *sql.Tx) error {
	is, err := Hash(ctx, tx)
	if err != nil {
		return err
	}
	return logSetup(ctx, d, tx, "began", is)
}

// hashed are the statements that read who may do what. Their words are part of the hash's form: a hash that was made
// before a column came stays as it is. Databases differ in how they write true and false, so rows are chosen by it.
var hashed = []struct {
	query   string
	columns int
	end     string
}{
	{`SELECT id, config, version FROM account ORDER BY id`, 3, "."},
	{`SELECT id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, permissions, limits,
		accounts, programs FROM api_key ORDER BY id`, 14, "."},
	{`SELECT id, till FROM api_key WHERE till <> 0 ORDER BY id`, 2, ""},
	{`SELECT id, networks FROM api_key WHERE networks <> '' ORDER BY id`, 2, ""},
	{`SELECT id FROM api_key WHERE test ORDER BY id`, 1, ""},
	{`SELECT id, agent FROM api_key WHERE agent <> '' ORDER BY id`, 2, ""},
	{`SELECT account_id, id, url, types, description, why_off, created_at, changed_at, start, secret, old_secret, old_until,
		replay FROM webhook ORDER BY account_id, id`, 13, ""},
	{`SELECT account_id, id FROM webhook WHERE NOT enabled ORDER BY account_id, id`, 2, ""},
}

// Hash is a hash of everything that says who may do what: accounts and API keys.
func Hash(ctx context.Context, q db.Querier) (sum [sha256.Size]byte, err error) {
	return hashOf(ctx, q, len(hashed))
}

// hashedBefore is how many of the statements release 0.1.0 knows.
const hashedBefore = 2

// OlderHash is the hash that release 0.1.0 makes, which knows no tills, networks, test accounts and webhooks. It is
// Hash where there are none.
func OlderHash(ctx context.Context, q db.Querier) (sum [sha256.Size]byte, err error) {
	return hashOf(ctx, q, hashedBefore)
}

func hashOf(ctx context.Context, q db.Querier, statements int) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	for _, t := range hashed[:statements] {
		err := db.Each(ctx, q, t.query, nil, func(rows *sql.Rows) error {
			r, err := db.ScanTuple(rows, t.columns)
			if err == nil {
				hashTuple(h, r)
			}
			return err
		})
		if err != nil {
			return sum, fmt.Errorf("reading the set-up: %w", err)
		}
		h.Write([]byte(t.end))
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// hashTuple adds a row of values.
func hashTuple(h hash.Hash, r []any) {
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
func (s *Setup) SetupChanges(ctx context.Context) (all []chain.SetupChange, err error) {
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		all = nil
		return EachChange(ctx, s.db.Readers, func(c chain.SetupChange) { all = append(all, c) })
	})
	if err != nil {
		return nil, fmt.Errorf("reading the log of the set-up: %w", err)
	}
	return all, nil
}

// EachChange reads the log of the set-up, the oldest first.
func EachChange(ctx context.Context, q db.Querier, fn func(chain.SetupChange)) error {
	return eachChange(ctx, q, `SELECT number, version, made_at, made_by, what, before, after, mac
		FROM setup_change ORDER BY number`, fn)
}

func eachChange(ctx context.Context, q db.Querier, query string, fn func(chain.SetupChange)) error {
	return db.Each(ctx, q, query, nil, func(rows *sql.Rows) error {
		var c chain.SetupChange
		var before, after []byte
		err := rows.Scan(&c.Number, &c.Version, db.ScanTime(&c.At), &c.By, &c.What, &before, &after, db.ScanMAC(&c.MAC))
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
