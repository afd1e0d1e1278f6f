package gift

import (
	"slices"
	"time"
)

// Account is a merchant with everything that belongs to it and carries no value. It is read-only once made: a change of
// the set-up makes a new one.
type Account struct {
	ID                    ID
	Name                  string
	Currency              Currency
	Zone                  *time.Location
	MaxGiftValue          Amount // the most that one monetary gift may be worth
	RequireIdempotencyKey bool
	Limits                Limits
	TextCountries         []string // whose numbers get SMS, ISO 3166-1 codes; nil: DefaultTextCountries
	BalanceNotice         bool     // recipients are told what is left after each partial redemption
	DefaultDesign         ID       // zero: the built-in one
	Subscriptions         []Subscription
	Locations             []Location
	Storefronts           []Storefront
	Promotions            []Promotion
	Designs               []Design
}

// Location is a place where gifts are redeemed (the interface's organization).
type Location struct {
	ID            ID
	Name          string
	Jurisdiction  string // ISO 3166-2 or 3166-1 code, "" unknown
	PointOfSale   string // the point-of-sale system's own identifier, "" none
	POSRedemption bool   // whether the identifier may be used
	DefaultDesign ID     // zero: the account's
}

// Subscription lets an account use a program, at all of its locations or some.
type Subscription struct {
	ProgramID ID
	Locations []ID // empty: all
}

// Storefront tracks where gifts were purchased.
type Storefront struct {
	ID   ID
	Name string
}

// Promotion tracks promotional gifts and holds defaults for them.
type Promotion struct {
	ID            ID
	Name          string
	ValidStarting time.Time // zero: the request must say
	ValidForDays  int       // 0: the request must say
	Terms         string    // "": the request must say
	EligibleItems []Item    // of which one must be on the ticket; empty: any

	TicketOptional bool // gifts for certain items may be redeemed without a ticket
}

// End is when gifts by the promotion's own dates are over; zero: its dates do not say.
func (p *Promotion) End(zone *time.Location) time.Time {
	if p.ValidStarting.IsZero() || p.ValidForDays == 0 {
		return time.Time{}
	}
	return AddDays(p.ValidStarting, p.ValidForDays, zone)
}

// Design is the look of a gift card.
type Design struct {
	ID          ID
	Name        string
	AccentColor string // #rrggbb
	Headline    string
	Footer      string    // lines at the end of page, mail and print
	Logo        AssetHash // zero: none
	Picture     AssetHash // zero: none
}

// DefaultMaxGiftValue is the limit on one gift where the set-up names none: 10,000 in currencies of which that is a large gift. In another
// the set-up must say, as 10,000 may be the price of a coffee; ok is false.
func DefaultMaxGiftValue(c Currency) (limit Amount, ok bool) {
	if !slices.Contains([]string{"USD", "EUR", "GBP", "CHF", "CAD", "AUD", "NZD"}, c.Code) {
		return 0, false
	}
	limit, err := c.Parse("10000")
	return limit, err == nil
}

func (a *Account) textCountries() []string {
	if a == nil {
		return nil
	}
	return a.TextCountries
}

// TimeZone is the zone in which the account is told times; nil, UTC, for no account.
func (a *Account) TimeZone() *time.Location {
	if a == nil {
		return nil
	}
	return a.Zone
}

// Location finds one of the account's locations; nil: it is not the account's.
func (a *Account) Location(id ID) *Location {
	return find(a.Locations, func(l *Location) bool { return l.ID == id })
}

// Promotion finds one of the account's promotions; nil: it is not the account's.
func (a *Account) Promotion(id ID) *Promotion {
	return find(a.Promotions, func(p *Promotion) bool { return p.ID == id })
}

// Storefront finds one of the account's storefronts; nil: it is not the account's.
func (a *Account) Storefront(id ID) *Storefront {
	return find(a.Storefronts, func(s *Storefront) bool { return s.ID == id })
}

// StorefrontName is the name of a storefront, for people to read.
func (a *Account) StorefrontName(id ID) string {
	if s := a.Storefront(id); s != nil {
		return s.Name
	}
	return "a storefront"
}

// Design finds one of the account's designs; nil: it is not the account's.
func (a *Account) Design(id ID) *Design {
	return find(a.Designs, func(d *Design) bool { return d.ID == id })
}

// Subscription finds the account's subscription to a program; nil: it has none.
func (a *Account) Subscription(program ID) *Subscription {
	return find(a.Subscriptions, func(s *Subscription) bool { return s.ProgramID == program })
}

// DesignFor is the design of a gift that names none: the location's default, else the account's, else zero, the built-in one.
func (a *Account) DesignFor(location ID) ID {
	if l := a.Location(location); l != nil && !l.DefaultDesign.IsZero() {
		return l.DefaultDesign
	}
	return a.DefaultDesign
}

func find[T any](list []T, is func(*T) bool) *T {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Program is one of the gifting programs of the interface, section 2.8.
type Program struct {
	ID          ID
	Name        string
	Promotional bool
}

// The programs. There are no others.
var (
	BusinessProgram     = Program{programID(0x22), "Business gift cards", false}
	PromotionalProgram  = Program{programID(0x33), "Promotional gift cards", true}
	DistributionProgram = Program{programID(0x55), "Distribution network", false}
)

func programID(b byte) (id ID) {
	for i := range id {
		id[i] = b
	}
	return id
}

// ProgramIDs lists the programs.
func ProgramIDs() []ID {
	return []ID{BusinessProgram.ID, PromotionalProgram.ID, DistributionProgram.ID}
}

// ProgramByID finds a program.
func ProgramByID(id ID) (Program, bool) {
	for _, p := range []Program{BusinessProgram, PromotionalProgram, DistributionProgram} {
		if p.ID == id {
			return p, true
		}
	}
	return Program{}, false
}

// Key is an API key as it is stored: everything but its text.
type Key struct {
	ID        ID
	Kind      KeyKind
	AccountID ID // zero for a system key
	Name      string
	Hint      string // see KeyHint
	Hash      KeyHash
	Locations []ID // empty: all of the account's
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	RevokedAt time.Time // zero: not revoked
	// Accounts and Programs are those that a system key may send for; empty: none.
	Accounts, Programs []ID
	// Permissions say what the key may do. Those of a system key are SystemPermissions, whatever stands here.
	Permissions Permissions
	Limits      Limits // beside the account's
}

// Caller is who makes a request: a key, and for an account key its account.
type Caller struct {
	KeyID     ID
	Kind      KeyKind
	Name      string   // the key's; of a system key, that of its integrator
	Account   *Account // nil for a system key
	Locations []ID     // where the key is enabled; empty: everywhere in its account

	Permissions Permissions
	Limits      Limits // the key's

	Accounts, Programs []ID // of a system key: for which it may send
}

// Enabled reports whether the caller may act at a location of its account; the zero ID stands for all of them together.
func (c *Caller) Enabled(location ID) bool {
	return len(c.Locations) == 0 || slices.Contains(c.Locations, location)
}

// MayUse reports whether the caller may see and manage a voucher of its account. A caller that is limited to locations may those
// only that are good at one of them; a voucher that is good everywhere is not. A system key may those only that its integrator made.
func (c *Caller) MayUse(v *Voucher) bool {
	if c.Kind == SystemKey {
		return v.MadeBy == c.Name
	}
	return c.Enabled(v.LocationID)
}

// Place names a redemption location in a request, by either identifier, both or none (interface, section 4.2).
type Place struct {
	LocationID  ID
	PointOfSale string
}

// Locate finds the location that a request means (interface, section 4.2, rule 2): the one it names, else the key's only
// one, else the account's only one. It fails with ACCOUNT_MISCONFIGURED, NOT_FOUND, NOT_SUPPORTED, VALIDATION_FAILURE or
// NOT_AUTHORIZED.
func (c *Caller) Locate(p Place) (*Location, error) {
	a := c.Account
	if a == nil {
		return nil, Refuse(NotSupported, "This key can send gifts, but not validate or redeem them: it belongs to no account.")
	}
	if len(a.Locations) == 0 {
		return nil, Refuse(AccountMisconfigured, "This account has no location yet; its set-up must name at least one.")
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
		return nil, RefuseAt(ValidationFailure, "organizationID",
			"Say at which location: send organizationID or pointOfSaleSystemOrganizationIdentifier. This key works at more than one.")
	}
	if !c.Enabled(l.ID) {
		return nil, Refuse(NotAuthorized, "This key is not enabled for that location.")
	}
	return l, nil
}

// named finds the location that p names; nil when it names none.
func (c *Caller) named(p Place) (*Location, error) {
	var refused *Error
	var l *Location
	if !p.LocationID.IsZero() {
		if l = c.Account.Location(p.LocationID); l == nil {
			refused = RefuseAt(NotFound, "organizationID", "This account has no location with that organizationID.")
		}
	}
	if p.PointOfSale != "" {
		byPOS, err := c.byPointOfSale(p.PointOfSale, l)
		if refused = Join(refused, err); err == nil {
			l = byPOS
		}
	}
	if refused != nil {
		return nil, refused
	}
	return l, nil
}

// byPointOfSale finds a location by the point-of-sale system's own identifier; known is the one that is named beside it, nil for none.
func (c *Caller) byPointOfSale(identifier string, known *Location) (*Location, error) {
	const path = "pointOfSaleSystemOrganizationIdentifier"
	l := find(c.Account.Locations, func(l *Location) bool { return l.PointOfSale == identifier })
	switch {
	case l == nil:
		return nil, RefuseAt(NotFound, path, "This account has no location with that point-of-sale identifier.")
	case !l.POSRedemption:
		return nil, RefuseAt(NotSupported, path, "Point-of-sale redemption is not enabled for that location.")
	case known != nil && known != l:
		return nil, RefuseAt(ValidationFailure, path, "organizationID and the point-of-sale identifier name two different locations.")
	}
	return l, nil
}
