package merchant

import (
	"crypto/sha256"
	"slices"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Person is somebody who works at the tills of an account, and signs in there with a PIN.
type Person struct {
	Name string `json:"name" setup:",required"`
	// its argon2id hash; "": none yet
	PIN string `json:"pin" is:"pin" told:"PIN"`
	// somebody else set it for the first sign-in, at which the person chooses another one
	FirstPIN bool `json:"firstPIN,omitempty" setup:"-" told:"choice of a PIN at the first sign-in"`
	// at a till, what of PersonPermissions the till may this person may too
	May Permissions `json:"may,omitzero" also:"role" is:"person's permissions" told:"permissions"`
	// where; empty: at all of the account's
	Locations []guid.ID `json:"locations,omitempty"`
}

// PersonPermissions are those that a set-up may give a person, beside validating and redeeming, which everybody may.
const PersonPermissions = MayReverse | MayActivate | MayReload | MayCashOut

// TillPermissions are all that a till may be given.
const TillPermissions = TillRole | PersonPermissions

// PINKey is under which a person's wrong PINs are counted that were tried at the till with a key. The zero key
// stands for all tills together.
func (a *Account) PINKey(p *Person, till guid.ID) Till {
	sum := sha256.Sum256([]byte("person\x00" + p.Name))
	return Till{AccountID: a.ID, KeyID: guid.ID(sum[:len(guid.ID{})]), LocationID: till}
}

// PINs is how many wrong PINs are answered at once under a PINKey, and how long it takes until there is one more.
func (t Till) PINs() (burst int, refill time.Duration) {
	if t.LocationID.IsZero() {
		return AllTillsPINBurst, AllTillsPINRefill
	}
	return PINBurst, PINRefill
}

// People are those who may sign in where the caller is enabled.
func (c *Caller) People() (people []*Person) {
	if c.Account == nil {
		return nil
	}
	for n := range c.Account.People {
		p := &c.Account.People[n]
		if len(p.Locations) == 0 || len(c.Locations) == 0 || slices.ContainsFunc(p.Locations, c.Enabled) {
			people = append(people, p)
		}
	}
	return people
}

// Unstaffed names the locations of an account that has people at which none of them may sign in.
func (a *Account) Unstaffed() (names []string) {
	for n := range a.Locations {
		c := Caller{Account: a, Locations: []guid.ID{a.Locations[n].ID}}
		if len(a.People) > 0 && len(c.People()) == 0 {
			names = append(names, a.Locations[n].Name)
		}
	}
	return names
}

// PersonNamed is one of People; nil: there is nobody of that name.
func (c *Caller) PersonNamed(name string) *Person {
	for _, p := range c.People() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// By is the caller with somebody at the till, nil for nobody. Where the account names people, nobody may do no more
// than validate, also where none of them works. A till of an account that names none stays as it is.
func (c *Caller) By(p *Person) *Caller {
	if c.Account == nil || len(c.Account.People) == 0 {
		return c
	}
	by := *c
	if p == nil {
		by.Unattended, by.Permissions = true, c.Permissions&MayValidate
		return &by
	}
	by.Person, by.Permissions = p.Name, c.Permissions&(MayValidate|MayRedeem|p.May&PersonPermissions)
	return &by
}

// Attended refuses a till at which somebody must sign in, and nobody has.
func (c *Caller) Attended() error {
	if c.Unattended {
		return c.lacks("", "")
	}
	return nil
}

// lacks tells why a permission is missing that goes by this name in a sentence.
func (c *Caller) lacks(cannot phrase.Text, name string) *refusal.Error {
	switch {
	case c.Unattended:
		return refusal.At(refusal.NotAuthorized, refusal.FieldPerson,
			"Nobody is signed in at this till. Sign in, then try again.")
	case c.Person != "" && c.Till != PairedTill: // of the staff
		return refusal.New(refusal.NotAuthorized, "%s may not %s: the permission %s is missing.", c.Person, cannot, name)
	case c.Person != "":
		return refusal.New(refusal.NotAuthorized, "%s may not %s at this till: the permission %s is missing.", c.Person,
			cannot, name)
	}
	return refusal.New(refusal.NotAuthorized, "This key may not %s: it lacks the permission %s.", cannot, name)
}
