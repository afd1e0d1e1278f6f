package setup

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/sealed"
	"boon.example/internal/store/db"
)

// The database is believed only as far as the key file vouches for it. Whoever can write to the database, and lacks the
// key file, could else put an API key there, use it, and take it out again. So a set-up is taken only when the newest
// entry of its log, which is authenticated with the key file, has the hash of that set-up.

// ErrPastBoon tells that the set-up in the database is not what the newest entry of its log says. The error says more.
var ErrPastBoon = errors.New("the set-up in the database was changed past boon")

// pastBoon is an ErrPastBoon with what is known of it.
type pastBoon struct {
	since chain.SetupChange // the newest entry of the log
	what  string            // is not as it was; "": this process has not known the set-up before
	older bool              // it is as release 0.1.0 would say
}

func (p *pastBoon) Error() string {
	text := fmt.Sprintf("%s after change %d of its log", ErrPastBoon, p.since.Number)
	if p.what != "" {
		text += ": " + p.what
	}
	if p.older {
		text += ". Release 0.1.0, which knows no tills, networks, test accounts and webhooks, may have made that change " +
			"beside this release: stop it"
	}
	return text + ". Nothing of it is taken. Take out of the database what does not belong there, or restore a backup. " +
		"If it is right as it is, accept it with `boon verify --accept-set-up WHY`"
}

func (*pastBoon) Is(target error) bool { return target == ErrPastBoon }

// newestChange reads the newest entry of the log. The error is an ErrPastBoon where there is none that was written with
// the key file, and sealed.ErrUnknownKey where it was written with a key that this instance lacks.
func newestChange(ctx context.Context, q db.Querier, keys *sealed.Keys) (newest chain.SetupChange, err error) {
	var last []chain.SetupChange
	const query = `SELECT number, version, made_at, made_by, what, before, after, mac
		FROM setup_change ORDER BY number DESC LIMIT 2`
	err = eachChange(ctx, q, query, func(c chain.SetupChange) { last = append(last, c) })
	if err != nil {
		return newest, fmt.Errorf("reading the log of the set-up: %w", err)
	}
	if len(last) == 0 {
		return newest, &pastBoon{what: "its log is empty"}
	}
	var before sealed.MAC
	if newest = last[0]; len(last) > 1 {
		before = last[1].MAC
	}
	switch err = newest.Check(keys.Authenticator(), before); {
	case errors.Is(err, sealed.ErrUnknownKey):
		return newest, err
	case err != nil:
		return newest, &pastBoon{since: newest, what: "that entry was not written with the key file"}
	}
	return newest, nil
}

// proven gives the newest entry of the log when the set-up is what it says. The error is an ErrPastBoon when it is not.
func proven(ctx context.Context, q db.Querier, keys *sealed.Keys) (newest chain.SetupChange, err error) {
	if newest, err = newestChange(ctx, q, keys); err != nil {
		return newest, err
	}
	is, err := Hash(ctx, q)
	if err != nil {
		return newest, err
	}
	if is == newest.After {
		return newest, nil
	}
	past := &pastBoon{since: newest}
	if older, err := OlderHash(ctx, q); err == nil && older == newest.After {
		past.older = true
	}
	return newest, past
}

// readProven reads the set-up in a transaction of the caller's, and fails with what proven does.
func readProven(ctx context.Context, q db.Querier, keys *sealed.Keys, last *merchant.Directory) (*merchant.Directory,
	error) {
	_, refused := proven(ctx, q, keys)
	is, err := ReadDirectory(ctx, q, keys)
	past, foreign := errors.AsType[*pastBoon](refused)
	switch {
	case refused == nil:
		return is, err
	case foreign:
		if err == nil && last != nil {
			past.what = differences(last, is)
		}
		return nil, past
	case errors.Is(refused, sealed.ErrUnknownKey) && err == nil && last != nil:
		return onlyRevoked(last, is), nil
	}
	return nil, refused
}

// AsItIs reads the set-up for people to look at, also where it was changed past boon: then refused is the ErrPastBoon
// that Directory fails with. Nothing may be served by it.
func (s *Setup) AsItIs(ctx context.Context) (d *merchant.Directory, refused, err error) {
	if d, refused = s.Directory(ctx); !errors.Is(refused, ErrPastBoon) {
		return d, nil, refused
	}
	err = s.db.Snapshot(ctx, func(tx *sql.Tx) (err error) {
		d, err = ReadDirectory(ctx, tx, s.db.Keys)
		return err
	})
	return d, refused, err
}

// onlyRevoked is the last set-up without the keys that another, which cannot be proven here, has revoked or lacks: what
// only takes away is believed. An instance that lacks a key of the key file learns so what was revoked.
func onlyRevoked(last, is *merchant.Directory) *merchant.Directory {
	d := *last
	d.Keys = maps.Clone(last.Keys) // and the version stays: the set-up is read again until it is proven
	for hash, k := range last.Keys {
		if now := is.Keys[hash]; now == nil {
			delete(d.Keys, hash)
		} else if k.RevokedAt.IsZero() && !now.RevokedAt.IsZero() {
			revoked := *k
			revoked.RevokedAt = now.RevokedAt
			d.Keys[hash] = &revoked
		}
	}
	return &d
}

// differences names what is not the same in two set-ups, for people.
func differences(was, is *merchant.Directory) string {
	var all []string
	byID := func(d *merchant.Directory) map[guid.ID]*merchant.Key {
		keys := make(map[guid.ID]*merchant.Key, len(d.Keys))
		for _, k := range d.Keys {
			keys[k.ID] = k
		}
		return keys
	}
	compare(&all, byID(was), byID(is), func(k *merchant.Key) string {
		return fmt.Sprintf("API key %s (%q, of account %s)", k.ID, k.Name, k.AccountID)
	})
	compare(&all, was.Accounts, is.Accounts, func(a *merchant.Account) string { return fmt.Sprintf("account %s", a.ID) })
	hooks := func(d *merchant.Directory) map[guid.ID]*merchant.Webhook {
		all := map[guid.ID]*merchant.Webhook{}
		for _, of := range d.Webhooks {
			for _, w := range of {
				all[w.ID] = w
			}
		}
		return all
	}
	compare(&all, hooks(was), hooks(is), func(w *merchant.Webhook) string {
		return fmt.Sprintf("webhook %s of account %s", w.ID, w.AccountID)
	})
	const most = 5
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(all, "; ")
}

// compare adds what was added, removed or changed, in the order of ids.
func compare[T any](all *[]string, was, is map[guid.ID]*T, name func(*T) string) {
	ids := maps.Clone(was)
	maps.Copy(ids, is)
	for _, id := range slices.SortedFunc(maps.Keys(ids), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) }) {
		switch {
		case was[id] == nil:
			*all = append(*all, name(is[id])+" was added")
		case is[id] == nil:
			*all = append(*all, name(was[id])+" was removed")
		case !reflect.DeepEqual(was[id], is[id]):
			*all = append(*all, name(was[id])+" was changed")
		}
	}
}

// Entries of the log that change nothing begin with one of these.
const (
	refusedPrefix  = "did not take the set-up in the database: "
	acceptedPrefix = "accepted the set-up in the database: "
)

// NotTaken collects the entries of a log, the oldest first, that tell of a set-up that was not taken, and that nobody
// has accepted since.
type NotTaken []chain.SetupChange

// Add takes the next entry of the log.
func (n *NotTaken) Add(c chain.SetupChange) {
	switch {
	case strings.HasPrefix(c.What, acceptedPrefix):
		*n = nil
	case strings.HasPrefix(c.What, refusedPrefix):
		*n = append(*n, c)
	}
}

// Problems names them, for people.
func (n NotTaken) Problems(found func(problem string)) {
	for i := range n {
		found(fmt.Sprintf("the set-up in the database had been changed past boon at %s, and was not taken: %s",
			n[i].At.Format(time.RFC3339), strings.TrimPrefix(n[i].What, refusedPrefix)))
	}
}

// noteEvery is how often a process writes into the log what it did not take: who changes the database again and again
// fills no log.
const noteEvery = time.Minute

// noteRefused writes into the log what was not taken, so that boon verify names it when it has gone again. It is no
// change: the hashes of the entry are those of what stands.
func (s *Setup) noteRefused(ctx context.Context, past *pastBoon) error {
	s.noting.Lock()
	defer s.noting.Unlock()
	if past.what == "" || past.what == s.noted || time.Since(s.notedAt) < noteEvery {
		return nil
	}
	what := refusedPrefix + past.what
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := s.lockSetup(ctx, tx); err != nil {
			return err
		}
		newest, err := newestChange(ctx, tx, s.db.Keys)
		if err != nil || newest.What == what { // another instance has noted it
			return err
		}
		return addChange(ctx, s.db, tx, newest, what, newest.After, newest.After, newest.Version)
	})
	if err != nil {
		return fmt.Errorf("noting that a set-up was not taken: %w", err)
	}
	s.noted, s.notedAt = past.what, time.Now()
	return nil
}

// Accept takes the set-up in the database as it is, although it was changed past boon, and writes who did so, and why,
// into its log. What was not taken before is named no more by boon verify. It tells whether there was anything to
// accept.
func (s *Setup) Accept(ctx context.Context, why string) (accepted bool, err error) {
	err = s.db.Write(ctx, func(tx *sql.Tx) error {
		accepted = false
		version, err := s.lockSetup(ctx, tx)
		if err != nil {
			return err
		}
		newest, err := newestChange(ctx, tx, s.db.Keys)
		if err != nil {
			return err
		}
		var open NotTaken
		if err := EachChange(ctx, tx, open.Add); err != nil {
			return err
		}
		is, err := Hash(ctx, tx)
		if err != nil || is == newest.After && len(open) == 0 {
			return err
		}
		accepted = true
		if _, err := tx.ExecContext(ctx, `UPDATE setup_version SET version = $1 WHERE one = 1`, version+1); err != nil {
			return err
		}
		return addChange(ctx, s.db, tx, newest, acceptedPrefix+why, newest.After, is, version+1)
	})
	if err != nil {
		return false, fmt.Errorf("accepting the set-up: %w", err)
	}
	return accepted, nil
}

// hashNow is the hash of the set-up, which is what its log says; it fails with an ErrPastBoon where it is not. Who is
// to change the set-up, or to write into its log, asks for it first: an entry must not make right what was not.
func (s *Setup) hashNow(ctx context.Context, q db.Querier) (hash [sha256.Size]byte, err error) {
	newest, err := proven(ctx, q, s.db.Keys)
	return newest.After, err
}
