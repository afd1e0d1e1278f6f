package setup_test

import (
	"context"
	"crypto/rand"
	"reflect"
	"testing"

	"github.com/google/uuid"

	"boon.example/internal/boontest"
	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup"
	"boon.example/internal/store"
)

// world is a store and a way to put gifts into it.
type world struct {
	setup.Store
	issue func(gift.Gift)
	asset func(context.Context, merchant.AssetHash) (merchant.Asset, error)
	trail func(context.Context, event.TrailFilter) (event.TrailPage, error)
}

// open gives an empty world of the test's own.
func open(tb testing.TB) world {
	tb.Helper()
	s := boontest.NewPlace(tb).Open(tb)
	return world{Store: twice{s, tb}, issue: func(g gift.Gift) { issue(tb, s, g) }, asset: s.Asset,
		trail: s.Trail}
}

// twice runs every change twice on the same set-up, as a database may, and holds that both runs come to the same.
type twice struct {
	setup.Store
	tb testing.TB
}

func (s twice) Configure(ctx context.Context, change func(*merchant.Directory, setup.Uses) (setup.Changes,
	error)) error {
	return s.Store.Configure(ctx, func(current *merchant.Directory, uses setup.Uses) (setup.Changes, error) {
		first, _ := change(current, uses)
		second, err := change(current, uses)
		if err == nil && !reflect.DeepEqual(first, second) {
			s.tb.Errorf("a change is first %+v, then %+v", first, second)
		}
		return second, err
	})
}

// consistent checks what no sequence of files may break: every id names one thing, what is referred to is there, and
// among the keys of one owner that are not revoked each name stands once.
func consistent(tb testing.TB, d *merchant.Directory) {
	tb.Helper()
	ids, names := make(map[guid.ID]string), make(map[string]bool)
	once := func(id guid.ID, what string) {
		if id.IsZero() || ids[id] != "" {
			tb.Errorf("the id %q of %s is none, or that of %s", id, what, ids[id])
		}
		ids[id] = what
	}
	for _, a := range d.Accounts {
		once(a.ID, a.Name)
		for _, l := range a.Locations {
			once(l.ID, l.Name)
		}
		for _, s := range a.Storefronts {
			once(s.ID, s.Name)
		}
		for _, p := range a.Promotions {
			once(p.ID, p.Name)
		}
		for _, g := range a.Designs {
			once(g.ID, g.Name)
		}
		for _, s := range a.Subscriptions {
			for _, id := range s.Locations {
				if a.Location(id) == nil {
					tb.Errorf("a subscription of %s is limited to a location that is gone", a.Name)
				}
			}
		}
	}
	for _, k := range d.Keys {
		once(k.ID, k.Name)
		if !k.RevokedAt.IsZero() {
			continue
		}
		a := d.Accounts[k.AccountID]
		if (a != nil) != (k.Kind == merchant.AccountKey) || names[k.AccountID.String()+k.Name] {
			tb.Errorf("key %s has no owner, or not its own name", k.Name)
		}
		names[k.AccountID.String()+k.Name] = true
		for _, id := range k.Locations {
			if a.Location(id) == nil {
				tb.Errorf("key %s is limited to a location that is gone", k.Name)
			}
		}
	}
}

// issue saves a gift of which the test says only what it refers to.
func issue(tb testing.TB, s *store.Store, g gift.Gift) {
	tb.Helper()
	newID := func() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }
	code, err := codes.NewVoucherCode(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	token, err := codes.NewToken(rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	g.ID, g.OrderID, g.ProgramID = newID(), newID(), merchant.BusinessProgram.ID
	g.Currency, g.Funded, g.Balance, g.CreatedAt = money.Currency{Code: "USD", Decimals: 2}, 10_00, 10_00, noon
	g.Card.Code, g.Card.Token, g.Card.Sender, g.Card.Method, g.Card.DeliveryZone = code, token, "Ann", contact.Printed,
		"UTC"
	made, entry := g.Begin(gift.Context{EntryID: newID(), Now: noon})
	err = s.Group(tb.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Gifts: []gift.Gift{made}, Entries: []gift.Entry{entry}}
	})
	if err != nil {
		tb.Fatal(err)
	}
}
