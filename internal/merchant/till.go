package merchant

import (
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// PairWithin is how long the key of a till waits for its device.
const PairWithin = 15 * time.Minute

// TillRole is what every till may do; TillPermissions are all that one may be given.
const TillRole = MayValidate | MayRedeem | MayReverse

// An account makes so many tills in NewTillsWithin through the interface. Each new key has guesses of its own (see
// GuessBurst): whoever has stolen a key that makes tills would else try as many codes as they like.
const (
	NewTills            = 20
	NewTillsPerLocation = 2
	NewTillsWithin      = 24 * time.Hour
)

// MaxKeyName is how long the name of a till may be.
const MaxKeyName = 200

// NewTill judges a till that a caller wants to make, and gives its key, which waits for the device that shows token.
// It stands at a location where the caller is enabled, has a name that no working key of the account has, and may do
// no more than a till's role and what the caller itself may. It has the caller's daily limits, and works from within
// the caller's networks: from all of them, unless it is to work from some. It fails with RATE_LIMITED where the account
// made too many lately.
func (d *Directory) NewTill(c *Caller, want Key, token string, now time.Time) (*Key, error) {
	a := d.Accounts[want.AccountID]
	var refused *refusal.Error
	at := want.Locations[0]
	switch {
	case a == nil || a.Location(at) == nil:
		refused = refusal.At(refusal.NotFound, refusal.FieldLocation, "This account has no location with that %s.",
			refusal.FieldLocation)
	case !c.Enabled(at):
		refused = refusal.At(refusal.NotAuthorized, refusal.FieldLocation, "This key is not enabled for that location.")
	}
	if more := want.Permissions &^ TillRole &^ c.Permissions; more != 0 {
		refused = refusal.Join(refused, refusal.At(refusal.NotAuthorized, "may",
			"This key cannot give a till what it may not do itself: %s.",
			more))
	}
	if outside := c.Networks.Outside(want.Networks); len(outside) > 0 {
		refused = refusal.Join(refused, refusal.At(refusal.NotAuthorized, "networks",
			"This key may not be used from %s itself, so it can make no till that works from there. Its own networks are %s.",
			outside, c.Networks))
	}
	for _, k := range d.Keys {
		if k.AccountID == want.AccountID && k.Name == want.Name && k.Works(now) {
			refused = refusal.Join(refused, refusal.At(refusal.ValidationFailure, "name",
				"There is a working key named %s already. Choose "+
					"another name, or switch that one off first.", k.Name))
			break
		}
	}
	if refused == nil {
		refused = d.tooManyTills(a, now)
	}
	if refused != nil {
		return nil, refused
	}
	if len(want.Networks) == 0 {
		want.Networks = c.Networks
	}
	want.Limits = c.Limits
	want.Test, want.Till, want.Hash, want.Hint = a.Test, WaitingTill, HashKey(token), ""
	want.CreatedAt, want.ExpiresAt = now, now.Add(PairWithin)
	return &want, nil
}

// tooManyTills refuses another till of an account that made as many as it may in NewTillsWithin, working or not; nil:
// it may make one more.
func (d *Directory) tooManyTills(a *Account, now time.Time) *refusal.Error {
	made, first := 0, now
	for _, k := range d.Keys {
		if k.Till != NoTill && k.AccountID == a.ID && now.Sub(k.CreatedAt).Abs() < NewTillsWithin {
			made++
			if k.CreatedAt.Before(first) {
				first = k.CreatedAt
			}
		}
	}
	if made < NewTills+NewTillsPerLocation*len(a.Locations) {
		return nil
	}
	refused := refusal.New(refusal.RateLimited, "This account made %d tills within 24 hours, as many as it may. "+
		"Make this one later, or with boon till pair on the server.", made)
	refused.RetryAfter = first.Add(NewTillsWithin).Sub(now)
	return refused
}

// Tills are the keys of tills that a caller may manage and that work, the oldest first.
func (d *Directory) Tills(c *Caller, now time.Time) (tills []*Key) {
	for _, k := range d.Keys {
		if c.manages(k) && k.Works(now) {
			tills = append(tills, k)
		}
	}
	slices.SortFunc(tills, func(a, b *Key) int {
		if n := a.CreatedAt.Compare(b.CreatedAt); n != 0 {
			return n
		}
		return slices.Compare(a.ID[:], b.ID[:])
	})
	return tills
}

// ManagedTill finds a till that a caller may manage, working or not; nil: there is none.
func (d *Directory) ManagedTill(c *Caller, id guid.ID) *Key {
	if k := d.Key(id); k != nil && c.manages(k) {
		return k
	}
	return nil
}

// manages reports whether a key is that of a till of the caller's account, where the caller is enabled.
func (c *Caller) manages(k *Key) bool {
	return k.Till != NoTill && c.Account != nil && k.AccountID == c.Account.ID &&
		!slices.ContainsFunc(k.Locations, func(at guid.ID) bool { return !c.Enabled(at) })
}

// ManagesPerson reports whether the caller may set the PIN of somebody: one who works only where it is enabled.
func (c *Caller) ManagesPerson(p *Person) bool {
	return len(c.Locations) == 0 ||
		len(p.Locations) > 0 && !slices.ContainsFunc(p.Locations, func(at guid.ID) bool { return !c.Enabled(at) })
}

// WithPIN is the account with another PIN of one of its people, whom own tells to have chosen it; nil: there is
// nobody of that name.
func (a *Account) WithPIN(name, hash string, own bool) *Account {
	at := slices.IndexFunc(a.People, func(p Person) bool { return p.Name == name })
	if at < 0 {
		return nil
	}
	changed := *a
	changed.People = slices.Clone(a.People)
	changed.People[at].PIN, changed.People[at].FirstPIN = hash, !own
	return &changed
}
