package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"boon.example/internal/gift"
)

// Directory reads the whole set-up. The snapshot is read-only; while nothing changes, every call gives the same one.
func (s *Store) Directory(ctx context.Context) (*gift.Directory, error) {
	var version int64
	err := s.ask(ctx, func(ctx context.Context) (err error) {
		version, err = setupVersion(ctx, s.readers)
		return err
	})
	if err != nil {
		return nil, err
	}
	if d := s.setup.Load(); d != nil && d.Version == version {
		return d, nil
	}
	_ = s.followKeys(ctx) // who lacks a key must learn nevertheless which API keys were revoked; Ping and the look-ups tell of it
	var d *gift.Directory
	err = s.ask(everywhere(ctx), func(ctx context.Context) error {
		return s.read(ctx, func(tx *sql.Tx) (err error) {
			d, err = readDirectory(ctx, tx)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	s.setup.Store(d)
	return d, nil
}

func setupVersion(ctx context.Context, q querier) (version int64, err error) {
	if err := q.QueryRowContext(ctx, `SELECT version FROM setup_version WHERE one = 1`).Scan(&version); err != nil {
		return 0, fmt.Errorf("reading the set-up's version: %w", err)
	}
	return version, nil
}

func readDirectory(ctx context.Context, q querier) (*gift.Directory, error) {
	version, err := setupVersion(ctx, q)
	if err != nil {
		return nil, err
	}
	d := &gift.Directory{Version: version, Accounts: map[gift.ID]*gift.Account{}, Keys: map[gift.KeyHash]*gift.Key{}}
	err = each(ctx, q, `SELECT config FROM account`, nil, func(rows *sql.Rows) error {
		var text []byte
		if err := rows.Scan(&text); err != nil {
			return err
		}
		a, err := parseAccount(text)
		if err != nil {
			return err
		}
		d.Accounts[a.ID] = a
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading accounts: %w", err)
	}
	const keys = `SELECT id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, permissions, limits, accounts, programs FROM api_key`
	err = each(ctx, q, keys, nil, func(rows *sql.Rows) error {
		k := new(gift.Key)
		var hash, locations, accounts, programs []byte
		var permissions, limits sql.NullString
		err := rows.Scan(scanID{&k.ID}, &k.Kind, scanID{&k.AccountID}, &k.Name, &k.Hint, &hash, &locations,
			scanTime{&k.CreatedAt}, scanTime{&k.ExpiresAt}, scanTime{&k.RevokedAt}, &permissions, &limits, &accounts, &programs)
		if err != nil {
			return err
		}
		if k.Limits, err = parseLimits(limits.String); err != nil {
			return err
		}
		copy(k.Hash[:], hash)
		k.Locations, k.Permissions = splitIDs(locations), splitPermissions(permissions)
		k.Accounts, k.Programs = splitIDs(accounts), splitIDs(programs)
		if k.Kind == gift.SystemKey && !permissions.Valid { // from before a system key said for which it may
			k.Accounts = slices.SortedFunc(maps.Keys(d.Accounts), func(a, b gift.ID) int { return bytes.Compare(a[:], b[:]) })
			k.Programs = gift.ProgramIDs()
		}
		d.Keys[k.Hash] = k
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	return d, nil
}

// Configure changes the set-up in one transaction: it hands the current one to change and saves what it returns, all or
// nothing, under a higher version. change may run again; when it fails, its error is given back as it is, and nothing is written.
func (s *Store) Configure(ctx context.Context, change func(current *gift.Directory, uses gift.Uses) (gift.Changes, error)) error {
	ctx = everywhere(ctx)
	return s.write(ctx, func(tx *sql.Tx) error {
		// The version's row comes first: on a database with many writers it is the lock on the set-up.
		version, err := lockSetup(ctx, tx, s.dialect.lockRows)
		if err != nil {
			return err
		}
		current, err := readDirectory(ctx, tx)
		if err != nil {
			return err
		}
		c, err := change(current, func(account gift.ID) (map[gift.ID]bool, error) { return readUses(ctx, tx, account) })
		if err != nil || len(c.Accounts) == 0 && len(c.Keys) == 0 {
			return err
		}
		before, err := hashSetup(ctx, tx)
		if err != nil {
			return err
		}
		for _, a := range c.Accounts {
			if err := saveAccount(ctx, tx, a, version+1); err != nil {
				return fmt.Errorf("saving account %s: %w", a.ID, err)
			}
		}
		for i := range c.Assets {
			if err := saveAsset(ctx, tx, &c.Assets[i]); err != nil {
				return fmt.Errorf("saving picture %s: %w", c.Assets[i].Hash, err)
			}
		}
		for _, k := range c.Keys {
			if err := saveKey(ctx, tx, k); err != nil {
				return fmt.Errorf("saving key %s: %w", k.ID, err)
			}
		}
		if _, err := tx.ExecContext(ctx, `UPDATE setup_version SET version = $1 WHERE one = 1`, version+1); err != nil {
			return fmt.Errorf("saving the set-up's version: %w", err)
		}
		return s.logSetup(ctx, tx, changedLog, c.What, before)
	})
}

func lockSetup(ctx context.Context, tx *sql.Tx, lock string) (version int64, err error) {
	if err := tx.QueryRowContext(ctx, `SELECT version FROM setup_version WHERE one = 1`+lock).Scan(&version); err != nil {
		return 0, fmt.Errorf("locking the set-up: %w", err)
	}
	return version, nil
}

func readUses(ctx context.Context, q querier, account gift.ID) (map[gift.ID]bool, error) {
	used := map[gift.ID]bool{}
	err := each(within(ctx, account), q, `SELECT record_id FROM used_record WHERE account_id = $1`, []any{bare(account)}, func(rows *sql.Rows) error {
		var record gift.ID
		err := rows.Scan(scanID{&record})
		used[record] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading what gifts refer to: %w", err)
	}
	return used, nil
}

func saveAccount(ctx context.Context, tx *sql.Tx, a *gift.Account, version int64) error {
	text, err := formatAccount(a)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO account (id, config, version) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET config = excluded.config, version = excluded.version`, bare(a.ID), text, version)
	return err
}

func saveKey(ctx context.Context, tx *sql.Tx, k *gift.Key) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO api_key (id, kind, account_id, name, hint, hash, locations, created_at, expires_at, revoked_at, permissions, limits,
			accounts, programs)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, account_id = excluded.account_id, name = excluded.name, hint = excluded.hint,
			hash = excluded.hash, locations = excluded.locations, created_at = excluded.created_at,
			expires_at = excluded.expires_at, revoked_at = excluded.revoked_at, permissions = excluded.permissions, limits = excluded.limits,
			accounts = excluded.accounts, programs = excluded.programs`,
		bare(k.ID), string(k.Kind), id(k.AccountID), k.Name, k.Hint, k.Hash[:], joinIDs(k.Locations),
		k.CreatedAt.UnixMicro(), micros(k.ExpiresAt), micros(k.RevokedAt), joinPermissions(k.Permissions), formatLimits(k.Limits),
		joinIDs(k.Accounts), joinIDs(k.Programs))
	return err
}
