// Package setup keeps the set-up in tables: accounts with what belongs to them, pictures, API keys and their use, which
// key of the key file is in use, and the log of every change.
package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
	"boon.example/internal/store/feed"
)

// Setup keeps the set-up of an installation: accounts with what belongs to them, API keys, and the log of every change.
type Setup struct {
	db        *db.DB
	directory atomic.Pointer[merchant.Directory] // as last read

	noting  sync.Mutex
	noted   string // what was not taken, as it was last written into the log by this process
	notedAt time.Time
}

// New works on an open database.
func New(d *db.DB) *Setup { return &Setup{db: d} }

// Directory reads the whole set-up. The snapshot is read-only; while nothing changes, every call gives the same one.
// Every call looks whether the schema still serves this program, and fails where it does not: see db.CheckSchema.
// The error is an ErrPastBoon where the set-up in the database is not what the newest entry of its log says: it must
// not be taken, and what this process had read before stands.
func (s *Setup) Directory(ctx context.Context) (*merchant.Directory, error) {
	if err := s.db.CheckSchema(ctx); err != nil {
		return nil, err
	}
	var version int64
	err := s.db.Retry(ctx, func(ctx context.Context) (err error) {
		version, err = Version(ctx, s.db.Readers)
		return err
	})
	if err != nil {
		return nil, err
	}
	if d := s.directory.Load(); d != nil && d.Version == version {
		return d, nil
	}
	// who lacks a key must learn nevertheless which API keys were revoked; Ping and the look-ups tell of it
	_ = s.db.Follow(ctx)
	var d *merchant.Directory
	err = s.db.Retry(ctx, func(ctx context.Context) error {
		return s.db.Snapshot(ctx, func(tx *sql.Tx) (err error) {
			d, err = readProven(ctx, tx, s.db.Keys, s.directory.Load())
			return err
		})
	})
	if past, ok := errors.AsType[*pastBoon](err); ok {
		return nil, errors.Join(past, s.noteRefused(ctx, past))
	}
	if err != nil {
		return nil, err
	}
	s.directory.Store(d)
	return d, nil
}

// Version is the number of changes that the set-up has seen.
func Version(ctx context.Context, q db.Querier) (version int64, err error) {
	if err := q.QueryRowContext(ctx, `SELECT version FROM setup_version WHERE one = 1`).Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the set-up's version: %w", err)
	}
	return version, nil
}

// ReadDirectory reads the whole set-up in a transaction of the caller's.
func ReadDirectory(ctx context.Context, q db.Querier, k *sealed.Keys) (*merchant.Directory, error) {
	version, err := Version(ctx, q)
	if err != nil {
		return nil, err
	}
	d := &merchant.Directory{Version: version, Accounts: map[guid.ID]*merchant.Account{},
		Keys: map[merchant.KeyHash]*merchant.Key{}}
	err = db.Each(ctx, q, `SELECT config FROM account`, nil, func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		a, err := parseAccount(text, k)
		if err != nil {
			return err
		}
		d.Accounts[a.ID] = a
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading accounts: %w", err)
	}
	const keys = `SELECT id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at,
			permissions, limits, accounts, programs, till, networks, test, agent
		FROM api_key`
	err = db.Each(ctx, q, keys, nil, func(rows *sql.Rows) error {
		k := new(merchant.Key)
		var hash, locations, accounts, programs, permissions []byte
		var networks string
		var limits sql.NullString
		err := rows.Scan(db.ScanID(&k.ID), &k.Kind, db.ScanID(&k.AccountID), &k.Name, &k.Hint, &hash, &locations,
			db.ScanTime(&k.CreatedAt), db.ScanTime(&k.ExpiresAt), db.ScanTime(&k.RevokedAt), &permissions, &limits, &accounts,
			&programs, &k.Till, &networks, &k.Test, &k.Agent)
		if err != nil {
			return err
		}
		if err := k.Permissions.UnmarshalText(permissions); err != nil {
			return err
		}
		if k.Limits, err = parseLimits(limits.String); err != nil {
			return err
		}
		if k.Networks, err = splitNetworks(networks); err != nil {
			return err
		}
		copy(k.Hash[:], hash)
		k.Locations = db.SplitIDs(locations)
		k.Accounts, k.Programs = db.SplitIDs(accounts), db.SplitIDs(programs)
		d.Keys[k.Hash] = k
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	d.Complete()
	d.Webhooks, err = readWebhooks(ctx, q, k)
	return d, err
}

// Configure changes the set-up: it hands the current one to change and saves what it returns in one transaction, all
// or nothing, under a higher version. All that takes time, change among it, is done before that transaction, for which
// every till waits on the embedded database; when the set-up, or what gifts refer to, is another by then, all is done
// again. When change fails, its error is given back as it is; then, and when it changes nothing, nothing is written.
func (s *Setup) Configure(ctx context.Context, change func(current *merchant.Directory,
	uses merchant.Uses) (merchant.Changes,
	error)) error {
	const tries = 10
	for range tries {
		current, err := s.Directory(ctx)
		if err != nil {
			return err
		}
		asked := map[guid.ID]map[guid.ID]bool{}
		c, err := change(current, func(account guid.ID) (used map[guid.ID]bool, err error) {
			err = s.db.Retry(ctx, func(ctx context.Context) error {
				used, err = readUses(ctx, s.db.Readers, account)
				return err
			})
			asked[account] = used
			return used, err
		})
		if err != nil || len(c.Accounts) == 0 && len(c.Keys) == 0 && len(c.Webhooks) == 0 {
			return err
		}
		rows, err := setupRows(&c, current.Version+1, s.db.Keys)
		if err != nil {
			return err
		}
		events := event.OfSetup(current, &c, time.Now())
		err = s.db.Write(ctx, func(tx *sql.Tx) error {
			if err := s.configure(ctx, tx, current.Version, asked, &c, rows); err != nil {
				return err
			}
			return feed.AddNow(ctx, tx, events...)
		})
		if !errors.Is(err, errOtherSetup) {
			return err
		}
	}
	return errors.New("the set-up was changed by others again and again; try once more")
}

// errOtherSetup tells that a change was made for another set-up than there is.
var errOtherSetup = errors.New("the set-up was changed meanwhile")

// configure saves a change that was made for the set-up of this version.
func (s *Setup) configure(ctx context.Context, tx *sql.Tx, version int64, asked map[guid.ID]map[guid.ID]bool,
	c *merchant.Changes, rows []setupRow) error {
	// The version's row comes first: on a database with many writers it is the lock on the set-up.
	is, err := s.lockSetup(ctx, tx)
	if err != nil {
		return err
	}
	if is != version {
		return errOtherSetup
	}
	for account, used := range asked {
		now, err := readUses(ctx, tx, account)
		if err != nil {
			return err
		}
		if !maps.Equal(now, used) {
			return errOtherSetup
		}
	}
	before, err := s.hashNow(ctx, tx)
	if err != nil {
		return err
	}
	for i := range c.Assets {
		if err := saveAsset(ctx, tx, &c.Assets[i]); err != nil {
			return fmt.Errorf("saving picture %s: %w", c.Assets[i].Hash, err)
		}
	}
	if err := saveSetupRows(ctx, tx, rows); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `UPDATE setup_version SET version = $1 WHERE one = 1`, version+1); err != nil {
		return fmt.Errorf("saving the set-up's version: %w", err)
	}
	for account, what := range c.Trail() {
		e := event.TrailEntry{AccountID: account, Actor: c.By, Action: event.SetupChanged, RequestID: c.RequestID, What: what}
		if err := s.addTrail(ctx, tx, &e); err != nil {
			return err
		}
	}
	return logSetup(ctx, s.db, tx, c.What, before)
}

var selectSetupLocked = db.Text{
	SQLite:   `SELECT version FROM setup_version WHERE one = 1`,
	Postgres: `SELECT version FROM setup_version WHERE one = 1 FOR NO KEY UPDATE`,
}

func (s *Setup) lockSetup(ctx context.Context, tx *sql.Tx) (version int64, err error) {
	if err := tx.QueryRowContext(ctx, s.db.Text(selectSetupLocked)).Scan(&version); err != nil {
		return 0, fmt.Errorf("locking the set-up: %w", err)
	}
	return version, nil
}

func readUses(ctx context.Context, q db.Querier, account guid.ID) (map[guid.ID]bool, error) {
	used := map[guid.ID]bool{}
	err := db.Each(ctx, q, `SELECT record_id FROM used_record WHERE account_id = $1`, []any{db.KeyOf(account)},
		func(rows *sql.Rows) error {
			var record guid.ID
			err := rows.Scan(db.ScanID(&record))
			used[record] = true
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("reading what gifts refer to: %w", err)
	}
	return used, nil
}

// setupRow is a row of the set-up to be written.
type setupRow struct {
	what, text string
	args       []any
}

const (
	upsertAccount = `INSERT INTO account (id, config, version) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET config = excluded.config, version = excluded.version`
	insertClock = `INSERT INTO test_clock (account_id) VALUES ($1) ON CONFLICT (account_id) DO NOTHING`
	upsertKey   = `INSERT INTO api_key (id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, permissions, limits,
			accounts, programs, till, networks, test, agent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, account_id = excluded.account_id, name = excluded.name, hint = excluded.hint,
			hash = excluded.hash, locations = excluded.locations, created_at = excluded.created_at,
			expires_at = excluded.expires_at, revoked_at = excluded.revoked_at, permissions = excluded.permissions, limits = excluded.limits,
			accounts = excluded.accounts, programs = excluded.programs, till = excluded.till, networks = excluded.networks,
			test = excluded.test, agent = excluded.agent`
)

// setupRows makes rows of what is to be saved: accounts first.
func setupRows(c *merchant.Changes, version int64, keys *sealed.Keys) (rows []setupRow, _ error) {
	for _, a := range c.Accounts {
		text, err := formatAccount(a, keys)
		if err != nil {
			return nil, fmt.Errorf("saving account %s: %w", a.ID, err)
		}
		rows = append(rows, setupRow{"account " + a.ID.String(), upsertAccount, []any{db.KeyOf(a.ID), text, version}})
	}
	for _, a := range c.Accounts {
		if a.Test {
			rows = append(rows, setupRow{"the clock of account " + a.ID.String(), insertClock, []any{db.KeyOf(a.ID)}})
		}
	}
	for _, k := range c.Keys {
		may, err := k.Permissions.MarshalText()
		if err != nil {
			return nil, fmt.Errorf("saving key %s: %w", k.ID, err)
		}
		rows = append(rows, setupRow{"key " + k.ID.String(), upsertKey, []any{
			db.KeyOf(k.ID), string(k.Kind), db.OrNull(k.AccountID), k.Name, k.Hint, k.Hash[:], db.JoinIDs(k.Locations),
			k.CreatedAt.UnixMicro(), db.Micros(k.ExpiresAt), db.Micros(k.RevokedAt), string(may),
			formatLimits(k.Limits),
			db.JoinIDs(k.Accounts), db.JoinIDs(k.Programs), int64(k.Till), joinNetworks(k.Networks), k.Test,
			string(k.Agent)}})
	}
	for _, w := range c.Webhooks {
		of, err := webhookRows(keys, w)
		if err != nil {
			return nil, err
		}
		rows = append(rows, of...)
	}
	return rows, nil
}

func saveSetupRows(ctx context.Context, tx *sql.Tx, rows []setupRow) error {
	prepared := map[string]*sql.Stmt{}
	for i := range rows {
		r := &rows[i]
		stmt := prepared[r.text]
		if stmt == nil {
			var err error
			if stmt, err = tx.PrepareContext(ctx, r.text); err != nil {
				return fmt.Errorf("saving %s: %w", r.what, err)
			}
			defer stmt.Close()
			prepared[r.text] = stmt
		}
		if _, err := stmt.ExecContext(ctx, r.args...); err != nil {
			return fmt.Errorf("saving %s: %w", r.what, err)
		}
	}
	return nil
}

// joinNetworks writes networks in one column, apart by spaces.
func joinNetworks(all merchant.Networks) string {
	if len(all) == 0 {
		return ""
	}
	return all.String()
}

func splitNetworks(text string) (all merchant.Networks, _ error) {
	for part := range strings.FieldsSeq(text) {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return nil, fmt.Errorf("the networks of a key are damaged: %w", err)
		}
		all = append(all, p)
	}
	return all, nil
}
