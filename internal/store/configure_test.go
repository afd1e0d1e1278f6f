package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/store/db"
)

// testConfigureBeside: tills are served while a change of the set-up is worked out, one that changes nothing writes
// nothing, and one that was made for another set-up than there is by then is made anew.
func testConfigureBeside(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	account := func(name string) *merchant.Account {
		return &merchant.Account{ID: newID(), Name: name, Currency: dollars, Zone: time.UTC, MaxGiftValue: 1}
	}
	one, other := account("One"), account("Other")
	calls := 0
	must(t, s.Configure(t.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		redeem(t, s, &g.Voucher, 1)
		if calls++; calls == 1 {
			configure(t, s, merchant.Changes{Accounts: []*merchant.Account{other}})
		} else if d.Accounts[other.ID] == nil {
			t.Error("what was changed meanwhile is not seen")
		}
		return merchant.Changes{Accounts: []*merchant.Account{one}}, nil
	}))
	if calls != 2 {
		t.Errorf("the change was made %d times, want 2", calls)
	}
	before, err := s.Directory(t.Context())
	must(t, err)
	if before.Accounts[one.ID] == nil || before.Accounts[other.ID] == nil {
		t.Error("a change is lost")
	}
	must(t, s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		return merchant.Changes{},
			nil
	}))
	after, err := s.Directory(t.Context())
	must(t, err)
	if after.Version != before.Version {
		t.Error("a change that changes nothing was written")
	}
	chainsHold(t, s)
}

// testUsesStay: an instance that has not heard of a change of an account uses nothing of it for the first time, and who
// changes an account waits for first uses that are under way, and learns of them.
func testUsesStay(t *testing.T, open opener) {
	s, again := open(t)
	beside := again()
	a := &merchant.Account{ID: newID(), Name: "One", Currency: dollars, Zone: time.UTC, MaxGiftValue: 1,
		Locations: []merchant.Location{{ID: newID(), Name: "Removed"}, {ID: newID(), Name: "Kept"}}}
	removed, kept, other := a.Locations[0].ID, a.Locations[1].ID, *a
	other.ID = newID()
	configure(t, s, merchant.Changes{Accounts: []*merchant.Account{a, &other}})
	gifts := issue(t, s, a.ID, 1)
	old, err := s.Directory(t.Context())
	must(t, err)
	redeemAt := func(location guid.ID, version int64) error {
		r := ref(&gifts[0].Voucher)
		return s.Group(t.Context(), ledger.Want{Vouchers: []ledger.Ref{r}, Setup: version},
			func(st *ledger.State) ledger.Changes {
				after, e, err := st.Vouchers[r].Redeem(gift.Redeem{Amount: 1,
					Context: gift.Context{EntryID: newID(), Now: noon, Actor: merchant.Actor{LocationID: location}}})
				must(t, err)
				return ledger.Changes{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
			})
	}
	less := *a
	less.Locations = a.Locations[1:]
	configure(t, beside, merchant.Changes{Accounts: []*merchant.Account{&less}})
	if err := redeemAt(removed, old.Version); !errors.Is(err, ledger.ErrRejected) || !errors.Is(err, ledger.ErrInTheWay) {
		t.Errorf("a location that was removed: %v", err)
	}
	young, err := s.Directory(t.Context())
	must(t, err)
	configure(t, beside, merchant.Changes{Accounts: []*merchant.Account{&other}}) // which is nothing to this one

	transact, asked, done := s.transact, make(chan bool, 2), make(chan error, 1)
	s.transact = func(ctx context.Context, fn func(db.Runner) error) error {
		return transact(ctx, func(run db.Runner) error {
			err := fn(run)
			go func() {
				done <- beside.Configure(t.Context(), func(_ *merchant.Directory, uses merchant.Uses) (c merchant.Changes,
					_ error) {
					used, err := uses(a.ID)
					if !used[kept] {
						c.Accounts = []*merchant.Account{&less}
					}
					asked <- used[kept]
					return c, err
				})
			}()
			if <-asked {
				t.Error("the use is known before it is committed")
			}
			time.Sleep(100 * time.Millisecond) // for who does not wait
			return err
		})
	}
	must(t, redeemAt(kept, young.Version))
	s.transact = transact
	must(t, <-done)
	if len(asked) != 1 || !<-asked {
		t.Error("who changed an account beside a first use does not know of it")
	}
	must(t, redeemAt(kept, old.Version)) // known to be in use, so that it is not looked for
}
