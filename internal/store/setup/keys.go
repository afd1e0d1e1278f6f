package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"boon.example/internal/sealed"
)

// AddKey adds a new key to the key file of the store, and gives its id. Nothing is made with it before UseKey. One key
// can wait for its use, no more.
func (s *Setup) AddKey(ctx context.Context) (id byte, err error) {
	if s.db.KeyFile.Credential {
		return 0, fmt.Errorf("%s is a credential, a copy that systemd made at the service's start and that cannot be "+
			"changed: rotate the file that LoadCredential= names (--key-file FILE), and restart the service before --use",
			s.db.KeyFile.Path)
	}
	if err := s.db.Follow(ctx); err != nil {
		return 0, err
	}
	if waiting := s.waitingKey(); waiting != 0 {
		return 0, fmt.Errorf("key %d was added to %s before, and is not used yet; copy that file to every instance, then "+
			"give "+
			"`boon key-file rotate --use`", waiting, s.db.KeyFile.Path)
	}
	if id, err = sealed.Add(s.db.KeyFile.Path); err != nil {
		return 0, err
	}
	return id, s.db.Keys.Reload()
}

// waitingKey is the key that was added last, if it is not used; 0: it is.
func (s *Setup) waitingKey() byte {
	names := s.db.Keys.Names()
	if newest := names[len(names)-1].ID; newest > s.db.Keys.Current() {
		return newest
	}
	return 0
}

// UseKey makes the key that was added last the one that all instances make new secrets with, within a second.
// Everything that was made with earlier keys is found and opened as before.
func (s *Setup) UseKey(ctx context.Context) (id byte, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		version, err := s.lockSetup(ctx, tx)
		if err != nil {
			return err
		}
		if err := s.db.FollowKeys(ctx, tx); err != nil {
			return err
		}
		if id = s.waitingKey(); id == 0 {
			return errors.New("no key waits for its use; add one with `boon key-file rotate`, and copy the key file to every " +
				"instance")
		}
		if err := s.db.NoteKey(ctx, tx, id); err != nil {
			return err
		}
		is, err := s.hashNow(ctx, tx)
		if err != nil {
			return err
		}
		// which everybody watches
		if _, err := tx.ExecContext(ctx, `UPDATE setup_version SET version = $1 WHERE one = 1`, version+1); err != nil {
			return err
		}
		return logSetup(ctx, s.db, tx, fmt.Sprintf("used key %d of the key file", id), is)
	})
	if err != nil {
		return 0, fmt.Errorf("using a new key: %w", err)
	}
	return id, s.db.Keys.Use(id)
}

// KeyStatus is what an operator may know of a key.
type KeyStatus struct {
	sealed.KeyName
	Used bool  // new secrets are made with it
	Made int64 // codes and tokens that are found with it
}

// KeyStatus tells of every key in the key file, and of every key that a secret was made with. The error says when this
// key file lacks the key in use.
func (s *Setup) KeyStatus(ctx context.Context) (all []KeyStatus, err error) {
	if err := s.db.Follow(ctx); err != nil {
		return nil, err
	}
	for _, name := range s.db.Keys.Names() {
		k := KeyStatus{KeyName: name, Used: name.ID == s.db.Keys.Current()}
		// Hashes begin with the id of their key, and are indexed.
		query, args := `SELECT count(*) FROM secret WHERE hash >= $1 AND hash < $2`,
			[]any{[]byte{name.ID}, []byte{name.ID + 1}}
		if name.ID == 255 {
			query, args = `SELECT count(*) FROM secret WHERE hash >= $1`, args[:1]
		}
		if err := s.db.Readers.QueryRowContext(ctx, query, args...).Scan(&k.Made); err != nil {
			return nil, fmt.Errorf("counting what key %d made: %w", name.ID, err)
		}
		all = append(all, k)
	}
	return all, nil
}
