package merchant

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// chain is the set-up of an account with so many locations, and a key of it that may do everything.
func chain(locations int) (*Directory, *Caller) {
	a := &Account{ID: guid.ID{1}, Zone: time.UTC}
	for n := range locations {
		a.Locations = append(a.Locations, Location{ID: guid.ID{2, byte(n >> 8), byte(n)}})
	}
	d := &Directory{Accounts: map[guid.ID]*Account{a.ID: a}, Keys: map[KeyHash]*Key{}}
	return d, &Caller{Account: a, Permissions: AllPermissions}
}

// newTill makes a till, switched off at once: that gives no room for another.
func newTill(d *Directory, c *Caller, now time.Time) error {
	text := fmt.Sprint("till ", len(d.Keys))
	k, err := d.NewTill(c, Key{AccountID: c.Account.ID, Name: text, Locations: []guid.ID{c.Account.Locations[0].ID},
		Permissions: TillRole}, text, now)
	if err == nil {
		k.RevokedAt = now
		d.Keys[k.Hash] = k
	}
	return err
}

// TestNewTillsHaveALimit: an account makes so many tills in a day, more with more locations, and is told when it can
// make the next one.
func TestNewTillsHaveALimit(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, locations := range []int{1, 300} {
		d, c := chain(locations)
		most := NewTills + NewTillsPerLocation*locations
		for n := range most {
			if err := newTill(d, c, noon.Add(time.Duration(n)*time.Second)); err != nil {
				t.Fatalf("till %d of %d at %d locations: %v", n+1, most, locations, err)
			}
		}
		late := noon.Add(time.Hour)
		err := newTill(d, c, late)
		refused, ok := errors.AsType[*refusal.Error](err)
		if !ok || refused.Code != refusal.RateLimited || refused.RetryAfter != 23*time.Hour {
			t.Errorf("at %d locations, one more than %d tills: %v, to be tried again in %v", locations, most, err, refused)
		}
		other, foreign := chain(locations)
		foreign.Account.ID = guid.ID{3}
		other.Accounts[foreign.Account.ID], other.Keys = foreign.Account, d.Keys
		if err := newTill(other, foreign, late); err != nil {
			t.Errorf("the tills of another account: %v", err)
		}
		if err := newTill(d, c, late.Add(23*time.Hour)); err != nil {
			t.Errorf("a day after the first: %v", err)
		}
	}
}

// TestWhatNewTillsAreWorthToAGuesser: whoever has stolen a key that makes tills tries codes at each new till. How long
// it takes to the first hit among 10,000,000 live gifts, of 900,000,000,000 codes, is what the threat model says.
func TestWhatNewTillsAreWorthToAGuesser(t *testing.T) {
	t.Parallel()
	d, c := chain(1)
	begun := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	const expected = 90_000
	guesses, tills, days := 0, 0, 0
	for ; guesses < expected; days++ {
		guesses += tills * int(24*time.Hour/GuessRefill)
		for newTill(d, c, begun.AddDate(0, 0, days)) == nil {
			guesses += GuessBurst
			tills++
		}
	}
	t.Logf("the first hit comes after %d days, with %d tills", days, tills)
	if days < 18 || days > 19 {
		t.Errorf("the first hit comes after %d days", days)
	}
}

// TestFreshTills: the misses of a till count with those of the account's other new tills for as long as its making
// counts, and those of a program's key never do.
func TestFreshTills(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	d, c := chain(3)
	k := &Key{ID: guid.ID{4}, AccountID: c.Account.ID, Till: PairedTill, Hash: HashKey("till"), CreatedAt: noon}
	d.Keys[k.Hash] = k
	for after, want := range map[time.Duration]int{0: 3, NewTillsWithin - 1: 3, NewTillsWithin: 0} {
		till, ok := d.AuthenticateTill("till", noon.Add(after))
		if !ok || till.FreshTill(noon.Add(after)) != want {
			t.Errorf("after %v: %+v, want %d locations", after, till, want)
		}
	}
	k.Till = NoTill
	if program, ok := d.Authenticate("till", noon); !ok || program.FreshTill(noon) != 0 {
		t.Errorf("the key of a program: %+v", program)
	}
	one, fresh := Till{AccountID: c.Account.ID, KeyID: guid.ID{5}, Fresh: 3}.FreshTills()
	other, _ := Till{AccountID: c.Account.ID, KeyID: guid.ID{6}, Fresh: 3}.FreshTills()
	if _, not := (Till{AccountID: c.Account.ID, KeyID: guid.ID{5}}).FreshTills(); !fresh || not || one != other {
		t.Errorf("all new tills are %+v and %+v", one, other)
	}
}

// TestTemporaryCallers: who calls is asked again where it may be another without a change of the set-up.
func TestTemporaryCallers(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, one := range []struct {
		caller Caller
		want   bool
	}{{Caller{}, false}, {Caller{Until: noon.Add(1)}, false}, {Caller{Until: noon}, true},
		{Caller{Till: PairedTill}, true}} {
		if got := one.caller.Temporary(noon); got != one.want {
			t.Errorf("%+v: %v", one.caller, got)
		}
	}
}

// TestWhoTakesCardsForTillsOnly: tills, staff, and keys that may; no platform, whatever it may do.
func TestWhoTakesCardsForTillsOnly(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		caller Caller
		takes  bool
	}{
		"a till":                       {Caller{Till: PairedTill, Permissions: TillRole}, true},
		"a program's till":             {Caller{Permissions: TillRole | MayTillsOnly}, true},
		"a key with the role till":     {Caller{Permissions: TillRole}, false},
		"staff":                        {Caller{Person: "Ann", Permissions: MayLookUp}, true},
		"a web shop of a platform":     {Caller{WebShop: true, Sites: 1, Permissions: Everything}, false},
		"a restaurant of a platform":   {Caller{Sites: 2, Permissions: Everything}, false},
		"online ordering, with a till": {Caller{WebShop: true, Till: PairedTill, Permissions: Everything}, false},
	} {
		if got := c.caller.TakesTillsOnly(); got != c.takes {
			t.Errorf("%s takes such cards: %t", name, got)
		}
	}
}
