package merchant

import (
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// Key is an API key as it is stored: everything but its text.
type Key struct {
	ID        guid.ID
	Kind      KeyKind
	AccountID guid.ID // zero for a system key
	Test      bool    // it works for test accounts only, and else for live ones only
	Name      string
	Hint      string // see KeyHint
	Hash      KeyHash
	Locations []guid.ID // empty: all of the account's
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	// Accounts and Programs are those that a system key may send for; empty: none.
	Accounts, Programs []guid.ID
	// Permissions say what the key may do. Those of a system key are SystemPermissions, whatever stands here.
	Permissions Permissions
	Limits      Limits // beside the account's
	Till        TillKey
	Networks    Networks // from which it may be used
	Agent       AgentUse
}

// AgentUse is what agents with a key may do that speak the Model Context Protocol, as far as the key may do it itself.
type AgentUse string

// What agents may do. They look; the empty use lets them do something as well where whoever set the agent up says so.
const (
	AgentReads  AgentUse = "read"  // never do anything
	AgentWrites AgentUse = "write" // do something
)

// TillKey says whether a key belongs to a till, which uses it through its own pages only.
type TillKey int

// The stages of a till's key.
const (
	NoTill      TillKey = iota // a program's key
	WaitingTill                // its hash is that of the link by which a device is paired once
	PairedTill                 // its device has it
)

// Caller is who makes a request: a key, and for an account key its account.
type Caller struct {
	KeyID     guid.ID
	Kind      KeyKind
	Name      string    // the key's; of a system key, that of its integrator
	Account   *Account  // nil for a system key
	Locations []guid.ID // where the key is enabled; empty: everywhere in its account
	Sites     int       // of a platform: from how many places it calls; 0: the key is none
	WebShop   bool      // guests type the codes: it is a platform of web shops, or a restaurant's online ordering

	Permissions Permissions
	Limits      Limits // the key's
	Till        TillKey
	MadeAt      time.Time // the key was
	Until       time.Time // the key works; zero: for ever
	Networks    Networks  // the key's
	Agent       AgentUse  // the key's
	Person      string    // who is signed in at the till; "": nobody
	Unattended  bool      // somebody must sign in at the till before value moves

	Accounts, Programs []guid.ID // of a system key: for which it may send
	Test               bool      // of a system key: whether those are test accounts
}

// TakesTillsOnly reports whether the caller takes cards that are taken at tills only: a till, a key that may, and
// staff, who have the card in their hands or its guest before them. No platform does, whatever it may do.
func (c *Caller) TakesTillsOnly() bool {
	if c.Sites > 0 || c.WebShop {
		return false
	}
	return c.Till != NoTill || c.Person != "" || c.May(MayTillsOnly)
}

// Enabled reports whether the caller may act at a location of its account; the zero ID stands for all of them together.
func (c *Caller) Enabled(location guid.ID) bool {
	return len(c.Locations) == 0 || slices.Contains(c.Locations, location)
}

// LocationCount is at how many locations the key is used.
func (c *Caller) LocationCount() int {
	switch {
	case c.Sites > 0:
		return c.Sites
	case len(c.Locations) == 0 && c.Account != nil:
		return len(c.Account.Locations)
	}
	return len(c.Locations)
}

// FreshTill is how many locations the account of a till has that was made within NewTillsWithin; 0: the caller is none.
func (c *Caller) FreshTill(now time.Time) int {
	if c.Till == NoTill || c.Account == nil || now.Sub(c.MadeAt) >= NewTillsWithin {
		return 0
	}
	return max(1, len(c.Account.Locations))
}

// Temporary reports whether the caller may be another, or none, at an instant although no key was changed: the key is
// over, or it is a till's, at which people sign in for a while.
func (c *Caller) Temporary(now time.Time) bool {
	return c.Till != NoTill || !c.Until.IsZero() && !now.Before(c.Until)
}

// Integrator is the name of a system key, which may see and manage those gifts only that were made under it; "" for
// the key of an account.
func (c *Caller) Integrator() string {
	if c.Kind == SystemKey {
		return c.Name
	}
	return ""
}

// MayBeTold reports whether the caller may be told of what was done at some locations, of which the zero ID stands for
// all: one that is limited to some must be enabled at each of them, and there must be one.
func (c *Caller) MayBeTold(done []guid.ID) bool {
	return len(c.Locations) == 0 ||
		len(done) > 0 && !slices.ContainsFunc(done, func(at guid.ID) bool { return !c.Enabled(at) })
}

// Place names a redemption location in a request, by either identifier, both or none (interface, section 4.2).
type Place struct {
	LocationID  guid.ID
	PointOfSale string
}

// Locate finds the location that a request means (interface, section 4.2, rule 2): the one it names, else the key's
// only one, else the account's only one. It fails with ACCOUNT_MISCONFIGURED, NOT_FOUND, NOT_SUPPORTED,
// VALIDATION_FAILURE or NOT_AUTHORIZED.
func (c *Caller) Locate(p Place) (*Location, error) {
	a := c.Account
	if a == nil {
		return nil, refusal.New(refusal.NotSupported,
			"This key can send gifts, but not validate or redeem them: it belongs to no account.")
	}
	if len(a.Locations) == 0 {
		return nil, refusal.New(refusal.AccountMisconfigured,
			"This account has no location yet; its set-up must name at least one.")
	}
	l, err := c.named(p)
	if err != nil {
		return nil, err
	}
	if l == nil {
		switch {
		case len(c.Locations) == 1:
			l = a.Location(c.Locations[0])
		case len(a.Locations) == 1:
			l = &a.Locations[0]
		}
	}
	if l == nil {
		return nil, refusal.At(refusal.ValidationFailure, refusal.FieldLocation,
			"Say at which location: send %s or %s. This key works at more than one.", refusal.FieldLocation,
			refusal.FieldPointOfSale)
	}
	if !c.Enabled(l.ID) {
		return nil, refusal.New(refusal.NotAuthorized, "This key is not enabled for that location.")
	}
	return l, nil
}

// named finds the location that p names; nil when it names none.
func (c *Caller) named(p Place) (*Location, error) {
	var refused *refusal.Error
	var l *Location
	if !p.LocationID.IsZero() {
		if l = c.Account.Location(p.LocationID); l == nil {
			refused = refusal.At(refusal.NotFound, refusal.FieldLocation, "This account has no location with that %s.",
				refusal.FieldLocation)
		}
	}
	if p.PointOfSale != "" {
		byPOS, err := c.byPointOfSale(p.PointOfSale, l)
		if refused = refusal.Join(refused, err); err == nil {
			l = byPOS
		}
	}
	if refused != nil {
		return nil, refused
	}
	return l, nil
}

// byPointOfSale finds a location by the point-of-sale system's own identifier; known is the one that is named beside
// it, nil for none.
func (c *Caller) byPointOfSale(identifier string, known *Location) (*Location, error) {
	const field = refusal.FieldPointOfSale
	l := find(c.Account.Locations, func(l *Location) bool { return l.PointOfSale == identifier })
	switch {
	case l == nil:
		return nil, refusal.At(refusal.NotFound, field, "This account has no location with that point-of-sale identifier.")
	case !l.POSRedemption:
		return nil, refusal.At(refusal.NotSupported, field, "Point-of-sale redemption is not enabled for that location.")
	case known != nil && known != l:
		return nil, refusal.At(refusal.ValidationFailure, field,
			"%s and the point-of-sale identifier name two different locations.", refusal.FieldLocation)
	}
	return l, nil
}

// MayAuditAll refuses a key that is limited to locations: the trail is the whole account's.
func (c *Caller) MayAuditAll() error {
	if len(c.Locations) > 0 {
		return refusal.New(refusal.NotAuthorized,
			"The audit trail is of the whole account; this key is limited to some of its locations.")
	}
	return nil
}
