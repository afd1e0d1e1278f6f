package merchant

import (
	"testing"

	"boon.example/internal/guid"
)

// TestPeopleOfALocation: a till may everything by itself only while its account names nobody at all. Taking the last
// person of its location out of the set-up leaves it to validate.
func TestPeopleOfALocation(t *testing.T) {
	t.Parallel()
	pier, wharf := Location{ID: guid.ID{1}, Name: "Pier"}, Location{ID: guid.ID{2}, Name: "Wharf"}
	a := &Account{Locations: []Location{pier, wharf}}
	till := &Caller{Account: a, Locations: []guid.ID{pier.ID}, Permissions: TillPermissions}
	stands := func(what string, by *Caller, may Permissions, unattended bool, unstaffed int) {
		t.Helper()
		if by.Permissions != may || by.Unattended != unattended || len(a.Unstaffed()) != unstaffed {
			t.Errorf("%s: may %v, unattended %v, unstaffed %d", what, by.Permissions.Names(), by.Unattended,
				len(a.Unstaffed()))
		}
	}
	stands("no people", till.By(nil), TillPermissions, false, 0)
	a.People = []Person{{Name: "Ben", Locations: []guid.ID{pier.ID}, May: MayReverse}, {Name: "Zoe",
		Locations: []guid.ID{wharf.ID}}}
	stands("nobody signed in", till.By(nil), MayValidate, true, 0)
	stands("Ben", till.By(till.PersonNamed("Ben")), MayValidate|MayRedeem|MayReverse, false, 0)
	a.People = a.People[1:]
	stands("Ben is gone", till.By(nil), MayValidate, true, 1)
	if at := a.Unstaffed(); len(at) != 1 || at[0] != "Pier" {
		t.Errorf("unstaffed are %v", at)
	}
	a.People[0].Locations = nil
	stands("Zoe works everywhere", till.By(nil), MayValidate, true, 0)
}
