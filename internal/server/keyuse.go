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

// keepKeyUses writes when keys were used, now and then and at the end.
func (a *app) keepKeyUses(ctx context.Context) {
	tick := time.NewTicker(keyUseTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = a.writeKeyUses(last, true) // what cannot be written now is a few minutes of knowledge
			return
		case <-tick.C:
		}
		if err := a.writeKeyUses(ctx, false); err != nil && ctx.Err() == nil {
			a.Logger.Warn("when keys were used could not be written; this is tried again", "error", err)
		}
	}
}

func (a *app) writeKeyUses(ctx context.Context, all bool) error {
	for {
		due := a.keyUses.due(time.Now(), all)
		if len(due) == 0 {
			return nil
		}
		if err := a.store.NoteKeyUses(ctx, due); err != nil {
			return err
		}
		a.keyUses.wrote(due)
	}
}
