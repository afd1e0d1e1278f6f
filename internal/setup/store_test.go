package setup_test

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/setup"
)

// world is a store and a way to put gifts into it.
type world struct {
	setup.Store
	issue func(gift.Gift)
}

// open gives an empty world of the test's own.
func open(tb testing.TB) world {
	s := &memory{tb: tb, directory: gift.Directory{Accounts: map[gift.ID]*gift.Account{}, Keys: map[gift.KeyHash]*gift.Key{}}}
	return world{Store: s, issue: func(g gift.Gift) { s.gifts = append(s.gifts, g) }}
}

// memory keeps a set-up the way a database does: it hands out copies, runs each change twice, as after a conflict, and
// holds what is saved to the constraints that a schema would have.
type memory struct {
	tb        testing.TB
	mu        sync.Mutex
	directory gift.Directory
	gifts     []gift.Gift
}

func (m *memory) Directory(context.Context) (*gift.Directory, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.copy(), nil
}

func (m *memory) copy() *gift.Directory {
	d := &gift.Directory{Version: m.directory.Version, Accounts: map[gift.ID]*gift.Account{}, Keys: map[gift.KeyHash]*gift.Key{}}
	for id, a := range m.directory.Accounts {
		c := *a
		d.Accounts[id] = &c
	}
	for hash, k := range m.directory.Keys {
		c := *k
		d.Keys[hash] = &c
	}
	return d
}

func (m *memory) Configure(_ context.Context, change func(*gift.Directory, setup.Uses) (setup.Changes, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	first, _ := change(m.copy(), m.uses)
	changes, err := change(m.copy(), m.uses)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(first, changes) {
		m.tb.Errorf("the change is not pure: %+v, then %+v", first, changes)
	}
	for _, a := range changes.Accounts {
		m.directory.Accounts[a.ID] = a
	}
	for _, k := range changes.Keys {
		maps.DeleteFunc(m.directory.Keys, func(_ gift.KeyHash, old *gift.Key) bool { return old.ID == k.ID })
		if m.directory.Keys[k.Hash] != nil {
			m.tb.Errorf("key %s has the hash of another", k.Name)
		}
		m.directory.Keys[k.Hash] = k
	}
	if len(changes.Accounts)+len(changes.Keys) > 0 {
		m.directory.Version++
	}
	m.constrain()
	return nil
}

// constrain checks that ids are unique, that what is referred to is there, and that all times are kept to the microsecond.
func (m *memory) constrain() {
	seen := make(map[gift.ID]string)
	once := func(id gift.ID, what string) {
		if id.IsZero() || seen[id] != "" {
			m.tb.Errorf("the id %s of %s is none, or that of %s", id, what, seen[id])
		}
		seen[id] = what
	}
	for _, a := range m.directory.Accounts {
		once(a.ID, a.Name)
		for _, l := range a.Locations {
			once(l.ID, l.Name)
		}
		for _, s := range a.Storefronts {
			once(s.ID, s.Name)
		}
		for _, p := range a.Promotions {
			once(p.ID, p.Name)
			if p.ValidStarting.Nanosecond()%1000 != 0 {
				m.tb.Errorf("promotion %s begins between two microseconds", p.Name)
			}
		}
		for _, d := range a.Designs {
			once(d.ID, d.Name)
		}
		for _, s := range a.Subscriptions {
			for _, id := range s.Locations {
				if a.Location(id) == nil {
					m.tb.Errorf("a subscription of %s refers to no location", a.Name)
				}
			}
		}
	}
	for _, k := range m.directory.Keys {
		once(k.ID, k.Name)
		a := m.directory.Accounts[k.AccountID]
		if (a != nil) != (k.Kind == gift.AccountKey) {
			m.tb.Errorf("key %s is of kind %s, but its account is %v", k.Name, k.Kind, a)
		}
		for _, id := range k.Locations {
			if k.RevokedAt.IsZero() && a.Location(id) == nil {
				m.tb.Errorf("key %s is limited to a location that is gone", k.Name)
			}
		}
	}
}

func (m *memory) uses(account gift.ID) (map[gift.ID]bool, error) {
	used := make(map[gift.ID]bool)
	for _, g := range m.gifts {
		if g.AccountID == account {
			for _, id := range []gift.ID{g.LocationID, g.PromotionID, g.Card.DesignID, g.Card.Purchase.StorefrontID} {
				if !id.IsZero() {
					used[id] = true
				}
			}
		}
	}
	return used, nil
}
