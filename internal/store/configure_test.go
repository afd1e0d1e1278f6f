package store

import (
	"testing"
	"time"

	"boon.example/internal/gift"
)

// testConfigureBeside: tills are served while a change of the set-up is worked out, one that changes nothing writes
// nothing, and one that was made for another set-up than there is by then is made anew.
func testConfigureBeside(t *testing.T, open opener) {
	s, _ := open(t)
	g := issue(t, s, newID(), 1)[0]
	account := func(name string) *gift.Account {
		return &gift.Account{ID: newID(), Name: name, Currency: dollars, Zone: time.UTC, MaxGiftValue: 1}
	}
	one, other := account("One"), account("Other")
	calls := 0
	must(t, s.Configure(t.Context(), func(d *gift.Directory, _ gift.Uses) (gift.Changes, error) {
		redeem(t, s, &g.Voucher, 1)
		if calls++; calls == 1 {
			configure(t, s, gift.Changes{Accounts: []*gift.Account{other}})
		} else if d.Accounts[other.ID] == nil {
			t.Error("what was changed meanwhile is not seen")
		}
		return gift.Changes{Accounts: []*gift.Account{one}}, nil
	}))
	if calls != 2 {
		t.Errorf("the change was made %d times, want 2", calls)
	}
	before, err := s.Directory(t.Context())
	must(t, err)
	if before.Accounts[one.ID] == nil || before.Accounts[other.ID] == nil {
		t.Error("a change is lost")
	}
	must(t, s.Configure(t.Context(), func(*gift.Directory, gift.Uses) (gift.Changes, error) {
		return gift.Changes{},
			nil
	}))
	after, err := s.Directory(t.Context())
	must(t, err)
	if after.Version != before.Version {
		t.Error("a change that changes nothing was written")
	}
	chainsHold(t, s)
}
