package staff

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

var (
	noon   = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	harbor = &merchant.Account{ID: guid.ID{1}, Name: "Harbor Coffee", Locations: []merchant.Location{{ID: guid.ID{2}}}}
)

func refused(err error) *refusal.Error {
	e, _ := errors.AsType[*refusal.Error](err)
	return e
}

// TestHire: somebody is invited with one address, one role and locations that there are; whatever is wrong is told.
func TestHire(t *testing.T) {
	t.Parallel()
	ann, err := Hire(harbor, nil, Member{Email: "ann@EXAMPLE.com", Role: Owner}, noon)
	if err != nil || ann.Name != "ann" || ann.Email != "ann@example.com" || ann.AccountID != harbor.ID ||
		ann.ID.IsZero() || !ann.InvitedAt.Equal(noon) || !ann.JoinedAt.IsZero() {
		t.Errorf("hired %+v: %v", ann, err)
	}
	all := []Member{ann}
	for name, test := range map[string]struct {
		who      Member
		problems int
	}{
		"another address":       {Member{Email: "ben@example.com", Role: Manager}, 0},
		"a cashier of a place":  {Member{Email: "ben@example.com", Role: Cashier, Locations: []guid.ID{{2}}}, 0},
		"the same address":      {Member{Email: "ANN@example.com", Role: Manager}, 1},
		"no address, no role":   {Member{Email: "ben", Role: "boss"}, 2},
		"a place that is none":  {Member{Email: "ben@example.com", Role: Cashier, Locations: []guid.ID{{3}}}, 1},
		"an owner of one place": {Member{Email: "ben@example.com", Role: Owner, Locations: []guid.ID{{2}}}, 1},
		"a name of two lines":   {Member{Email: "ben@example.com", Name: "Ben\nBoss", Role: Owner}, 1},
	} {
		_, err := Hire(harbor, all, test.who, noon)
		switch e := refused(err); {
		case test.problems == 0 && err != nil, test.problems > 0 && (e == nil || len(e.Messages) != test.problems):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnOwnerRemains: the last owner who came in cannot go, also where another one was only invited.
func TestAnOwnerRemains(t *testing.T) {
	t.Parallel()
	ann, ben := Member{ID: guid.ID{1}, Role: Owner, JoinedAt: noon}, Member{ID: guid.ID{2}, Role: Owner}
	if err := Remain([]Member{ann, ben}, []Member{ben}); refused(err) == nil {
		t.Errorf("an account is left to an owner who never came in: %v", err)
	}
	joined := ben
	joined.JoinedAt = noon
	for _, ok := range [][2][]Member{{{ann, joined}, {joined}}, {{ben}, nil}, {{ann, ben}, {ann}}} {
		if err := Remain(ok[0], ok[1]); err != nil {
			t.Errorf("%v to %v: %v", ok[0], ok[1], err)
		}
	}
}

// TestRoles: an owner may do everything, each role has permissions, and nobody below an owner reads codes, exports
// them, or changes who may do what.
func TestRoles(t *testing.T) {
	t.Parallel()
	if Owner.May() != merchant.AllPermissions {
		t.Errorf("an owner may not %v", (merchant.AllPermissions &^ Owner.May()).Names())
	}
	for _, r := range Roles() {
		if r.May() == 0 || !r.Known() {
			t.Errorf("a %s may do nothing", r)
		}
		const owners = merchant.MaySeeCodes | merchant.MayWebhooks | merchant.MayTills
		if more := r.May() & owners; r != Owner && more != 0 {
			t.Errorf("a %s may %v", r, more.Names())
		}
		if r != Owner && r.May().Has(merchant.MayExport|merchant.MayStock) {
			t.Errorf("a %s may export the codes of a stock", r)
		}
	}
	const moves = merchant.MayRedeem | merchant.MayReverse | merchant.MaySend | merchant.MayCancel | merchant.MayTransfer |
		merchant.MayActivate | merchant.MayStock | merchant.MayReload | merchant.MayAdjust | merchant.MayCashOut
	if Bookkeeper.May()&moves != 0 {
		t.Errorf("a bookkeeper may %v", (Bookkeeper.May() & moves).Names())
	}
	if Role("boss").Known() || Role("").May() != 0 {
		t.Error("a role that is none may something")
	}
}

// TestSessionsAreProven for five minutes.
func TestSessionsAreProven(t *testing.T) {
	t.Parallel()
	m := Member{ID: guid.ID{1}}
	b := m.Begin("Firefox", "192.0.2.1", noon)
	if !b.Session.Proven(noon.Add(5*time.Minute-1)) || b.Session.Proven(noon.Add(5*time.Minute)) {
		t.Error("a session is not proven for five minutes")
	}
	if other := m.Begin("Firefox", "192.0.2.1", noon); other.Token == b.Token || len(b.Token) != 43 {
		t.Errorf("two sessions have the tokens %q and %q", b.Token, other.Token)
	}
}
