package server

import (
	"context"
	"sync"
	"time"

	"boon.example/internal/guid"
)

// How often it is written when a key was used: so seldom that thousands of keys cost nothing that can be measured.
const (
	keyUseTick  = time.Minute
	keyUseEvery = 10 * time.Minute // for each key, and to the minute
	keyUseBatch = 200              // in one transaction
)

// keyUses remembers when API keys were used until that is written, so that no call waits for it.
type keyUses struct {
	mu   sync.Mutex
	keys map[guid.ID]keyUse
}

type keyUse struct{ used, written time.Time }

// note is told of every call with a valid key.
func (k *keyUses) note(id guid.ID, at time.Time) {
	at = at.Truncate(time.Minute)
	k.mu.Lock()
	defer k.mu.Unlock()
	if u := k.keys[id]; at.After(u.used) {
		u.used = at
		if k.keys == nil {
			k.keys = map[guid.ID]keyUse{}
		}
		k.keys[id] = u
	}
}

// due takes some keys that are to be written now: all that were used since they were written when it was long ago, or
// when all is set.
func (k *keyUses) due(now time.Time, all bool) map[guid.ID]time.Time {
	due := map[guid.ID]time.Time{}
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, u := range k.keys {
		if u.used.After(u.written) && (all || now.Sub(u.written) >= keyUseEvery) && len(due) < keyUseBatch {
			due[id] = u.used
		}
	}
	return due
}

func (k *keyUses) wrote(uses map[guid.ID]time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, at := range uses {
		u := k.keys[id]
		u.written = at
		k.keys[id] = u
	}
}

// writeKeyUses writes when some of the keys were used that are due.
func (a *app) writeKeyUses(ctx context.Context) (done int, more bool, err error) {
	return a.writeSomeKeyUses(ctx, false)
}

// writeLastKeyUses writes at a stop what is known of all keys. What cannot be written soon is a few minutes of
// knowledge.
func (a *app) writeLastKeyUses(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for more := true; more && err == nil; {
		_, more, err = a.writeSomeKeyUses(ctx, true)
	}
	return err
}

func (a *app) writeSomeKeyUses(ctx context.Context, all bool) (done int, more bool, err error) {
	due := a.keyUses.due(time.Now(), all)
	if len(due) == 0 {
		return 0, false, nil
	}
	if err := a.store.NoteKeyUses(ctx, due); err != nil {
		return 0, false, err
	}
	a.keyUses.wrote(due)
	return len(due), len(due) == keyUseBatch, nil
}
