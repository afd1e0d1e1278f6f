// Package merchant has accounts and what belongs to them without value: locations, promotions, designs, people, keys,
// platforms and webhooks. It says who calls, and what the caller may do and how often. It knows no gifts.
package merchant

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Account is a merchant with everything that belongs to it and carries no value. It is read-only once made: a change of
// the set-up makes a new one.
//
// The tags of its fields, and of the fields of what belongs to it, are the one definition of the set-up. The file's
// reader, the comparison, the export and the store go by them:
//
//	json   the member in the store: a storage format
//	setup  the field of the set-up file, if the store has another name for it. "a.b": b in the mapping a. Then
//	       ",required". "-": the file does not say it
//	is     the form of the field, if its type does not tell: see forms in internal/setup
//	most   how many characters or pixels it has at most; of a number, the largest one, and least the smallest
//	told   how people are told of it when it changes, if not by its name. What the file does not say and nobody is told
//	       of is not compared
//	with   the field that has the translations of it
//	also   another field of the file that says the same
type Account struct {
	ID   guid.ID `json:"id" setup:",required" is:"new id"`
	Name string  `json:"name" setup:",required"`
	// its gifts are worth nothing, its messages reach nobody, and its clock can be advanced
	Test     bool           `json:"test,omitempty" setup:"mode" is:"mode"`
	Currency money.Currency `json:"-" setup:"currency,required"`
	Zone     *time.Location `json:"-" setup:"timeZone,required"`
	// of what guests read; "": English
	Language Language `json:"language,omitempty"`
	// as whose people amounts, dates and times are written: ISO 3166-1; "": see HomeCountry
	Country string `json:"country,omitempty" is:"country"`
	// the most that one monetary gift may be worth
	MaxGiftValue          money.Amount `json:"maxGiftValue" is:"largest gift" told:"largest gift"`
	Limits                Limits       `json:"-" setup:"limits" is:"account limits"`
	RequireIdempotencyKey bool         `json:"requireIdempotencyKey,omitempty" told:"required Idempotency-Key"`
	// recipients are told what is left after each partial redemption
	BalanceNotice bool `json:"balanceNotice,omitempty"`
	// buyers of gifts are told when their message was delivered
	ArrivalNotice bool `json:"arrivalNotice,omitempty"`
	// the e-mail address of whoever looks after the account; "": none
	Contact string `json:"contact,omitempty" is:"email"`
	// for which names, contacts and messages of gifts that ended are kept; 0: for ever
	PersonalDataDays int `json:"personalDataDays,omitempty" setup:"retention.personalDataDays,required" is:"retention" told:"personal data"`
	// whose numbers get SMS, ISO 3166-1 codes; nil: DefaultTextCountries
	TextCountries []string `json:"textCountries,omitempty" is:"countries" told:"countries of SMS"`
	// the forms of the codes that other systems gave out, and that go on working; nil: there are none
	ImportedCodes []CodeForm `json:"importedCodes,omitempty"`
	// zero: the built-in one
	DefaultDesign guid.ID        `json:"defaultDesign,omitzero" setup:"defaultVoucherDesign" is:"design"`
	Locations     []Location     `json:"locations,omitempty"`
	Subscriptions []Subscription `json:"subscriptions,omitempty"`
	Storefronts   []Storefront   `json:"storefronts,omitempty"`
	Designs       []Design       `json:"designs,omitempty" setup:"voucherDesigns"`
	Promotions    []Promotion    `json:"promotions,omitempty"`
	// who sign in at tills; none: nobody does
	People    []Person   `json:"people,omitempty"`
	Providers []Provider `json:"providers,omitempty"`
	Books     Books      `json:"books,omitzero"`
	Wallet    Wallet     `json:"wallet,omitzero"`
	// what is never redeemed goes to a state as unclaimed property: none of it is breakage
	Escheat bool `json:"escheat,omitempty"`

	// those that were taken out of the set-up
	EndedProviders []EndedProvider `json:"endedProviders,omitempty" setup:"-"`
	// a key of it that works has a limit of money: Directory.Complete notes that
	KeysLimitMoney bool `json:"-" setup:"-"`
}

// HomeCountry is the country as whose people guests are shown amounts, dates and times: that of the set-up, else the
// one that all jurisdictions of the locations are in, else that of the currency; "": none in particular, as with euros.
func (a *Account) HomeCountry() string {
	if a.Country != "" {
		return a.Country
	}
	country := ""
	for n := range a.Locations {
		of, _, _ := strings.Cut(a.Locations[n].Jurisdiction, "-")
		switch {
		case of == "":
		case country == "":
			country = of
		case of != country:
			return a.Currency.Country()
		}
	}
	return cmp.Or(country, a.Currency.Country())
}

// LimitsMoney reports whether the account or a key of it limits money by the day. Then an item gift must say what it is
// worth, or the limits would not see its pieces.
func (a *Account) LimitsMoney() bool { return a.KeysLimitMoney || a.Limits.OfMoney() }

// Location is a place where gifts are redeemed (the interface's organization).
type Location struct {
	ID   guid.ID `json:"id" setup:",required" is:"new id"`
	Name string  `json:"name" setup:",required"`
	// ISO 3166-2 or 3166-1 code, "" unknown
	Jurisdiction string `json:"jurisdiction,omitempty" is:"jurisdiction"`
	// as guests are told it; "": they are told none
	Address string `json:"address,omitempty"`
	// likewise
	Phone string `json:"phone,omitempty" is:"phone"`
	// when it is open, likewise
	Hours string `json:"hours,omitempty"`
	// the point-of-sale system's own identifier, "" none
	PointOfSale string `json:"pointOfSale,omitempty" setup:"pointOfSale.identifier,required" told:"point-of-sale identifier"`
	// whether the identifier may be used
	POSRedemption bool `json:"posRedemption,omitempty" setup:"pointOfSale.redemptionEnabled" told:"point-of-sale redemption"`
	// whose sales and debts are those of the location, by name or number; "": its own
	LegalEntity string `json:"legalEntity,omitempty"`
	// zero: the account's
	DefaultDesign guid.ID `json:"defaultDesign,omitzero" setup:"defaultVoucherDesign" is:"design"`
	// by format, sorted
	Tickets []TicketReading `json:"tickets,omitempty"`
	// after midnight, the day of its tills; 0: at midnight
	DayEnds time.Duration `json:"dayEnds,omitempty" told:"end of the day"`
}

// TicketReading is how tickets of a format are read at a location, unless the till says otherwise.
type TicketReading struct {
	Format string `json:"format"`
	// the member that names the item of a line; "": the format's own choice
	ItemID string `json:"itemID,omitempty"`
	// whether prices are shown with tax; nil: as is the custom with the currency
	TaxInclusive *bool `json:"taxInclusive,omitempty"`
	// ids of items that are gift cards, though the order does not say so
	GiftCards []string `json:"giftCards,omitempty"`
}

// Reading is how tickets of a format are read at the location.
func (l *Location) Reading(format string) TicketReading {
	if l != nil {
		for _, t := range l.Tickets {
			if t.Format == format {
				return t
			}
		}
	}
	return TicketReading{Format: format}
}

// Subscription lets an account use a program, at all of its locations or some.
type Subscription struct {
	ProgramID guid.ID `json:"program" setup:",required" is:"program"`
	// empty: all
	Locations []guid.ID `json:"locations,omitempty"`
	// value may be added to gifts of money that were paid for
	Reloadable bool `json:"reloadable,omitempty"`
	// of gifts of the program, and the rate in percent where VAT is due when a gift is sold
	VATTreatment VATTreatment `json:"vatTreatment,omitempty" told:"VAT treatment"`
	VATRate      money.Number `json:"vatRate,omitempty" told:"VAT rate"`
	// as Account.Escheat, of the gifts of the program
	Escheat bool `json:"escheat,omitempty"`
}

// Storefront tracks where gifts were purchased.
type Storefront struct {
	ID   guid.ID `json:"id" setup:",required" is:"new id"`
	Name string  `json:"name" setup:",required"`
	// whose sales its sales are; zero: those of none
	LocationID guid.ID `json:"location,omitzero" is:"location"`
}

// Promotion tracks promotional gifts and holds defaults for them.
type Promotion struct {
	ID   guid.ID `json:"id" setup:",required" is:"new id"`
	Name string  `json:"name" setup:",required"`
	// zero: the request must say
	ValidStarting time.Time `json:"validStarting,omitzero" told:"start of validity"`
	// 0: the request must say
	ValidForDays int `json:"validForDays,omitempty" is:"days" told:"days of validity"`
	// for how many days after their validity tills take its gifts, which no guest is told
	GraceDays int `json:"graceDays,omitempty" most:"90" told:"days of grace"`
	// "": the request must say
	Terms   string       `json:"terms,omitempty" is:"prose" most:"4000" with:"TermsIn"`
	TermsIn Translations `json:"termsIn,omitempty" setup:"-"`
	// of which one must be on the ticket; empty: any
	EligibleItems []Item `json:"-" setup:"eligibleItems"`
	// gifts for certain items may be redeemed without a ticket
	TicketOptional bool `json:"ticketOptional,omitempty" setup:"ticketRequired" is:"not" told:"need of a ticket"`
	// of gifts of the promotion; "": as of those of its program
	VATTreatment VATTreatment `json:"vatTreatment,omitempty" told:"VAT treatment"`
	VATRate      money.Number `json:"vatRate,omitempty" told:"VAT rate"`
}

// End is when gifts by the promotion's own dates are over; zero: its dates do not say.
func (p *Promotion) End(zone *time.Location) time.Time {
	if p.ValidStarting.IsZero() || p.ValidForDays == 0 {
		return time.Time{}
	}
	return calendar.AddDays(p.ValidStarting, p.ValidForDays, zone)
}

// Design is the look of a gift card.
type Design struct {
	ID   guid.ID `json:"id" setup:",required" is:"new id"`
	Name string  `json:"name" setup:",required"`
	// #rrggbb
	AccentColor string       `json:"accentColor,omitempty" is:"color"`
	Headline    string       `json:"headline,omitempty" with:"HeadlineIn"`
	HeadlineIn  Translations `json:"headlineIn,omitempty" setup:"-"`
	// lines at the end of page, mail and print
	Footer   string       `json:"footer,omitempty" is:"prose" most:"1000" with:"FooterIn"`
	FooterIn Translations `json:"footerIn,omitempty" setup:"-"`
	// zero: none. The longest sides, in pixels, are enough for a phone's screen and for paper.
	Logo    AssetHash `json:"logo,omitzero" most:"600"`
	Picture AssetHash `json:"picture,omitzero" most:"1400"`
	// the code stands as a bar code beside the QR code, for tills whose scanners read no QR codes
	BarCode bool `json:"barCode,omitempty"`
}

// DefaultMaxGiftValue is the limit on one gift where the set-up names none: 10,000 in currencies of which that is a
// large gift. In another the set-up must say, as 10,000 may be the price of a coffee; ok is false.
func DefaultMaxGiftValue(c money.Currency) (limit money.Amount, ok bool) {
	if !slices.Contains([]string{"USD", "EUR", "GBP", "CHF", "CAD", "AUD", "NZD"}, c.Code) {
		return 0, false
	}
	limit, err := c.Parse("10000")
	return limit, err == nil
}

// NeedKey refuses a request without an Idempotency-Key where the account demands one.
func (a *Account) NeedKey(key string) error {
	if a == nil || !a.RequireIdempotencyKey || key != "" {
		return nil
	}
	return refusal.At(refusal.ValidationFailure, refusal.FieldKey,
		"This account requires an %s header, so that a repeated request has no "+
			"second effect.", refusal.FieldKey)
}

// The modes of accounts and keys.
const (
	LiveMode = "live"
	TestMode = "test"
)

// Mode is the account's mode by its name. An account has one for good.
func (a *Account) Mode() string { return ModeName(a.Test) }

// ModeName names a mode.
func ModeName(test bool) string {
	if test {
		return TestMode
	}
	return LiveMode
}

// TimeZone is the zone in which the account is told times; nil, UTC, for no account.
func (a *Account) TimeZone() *time.Location {
	if a == nil {
		return nil
	}
	return a.Zone
}

// Location finds one of the account's locations; nil: it is not the account's.
func (a *Account) Location(id guid.ID) *Location {
	return find(a.Locations, func(l *Location) bool { return l.ID == id })
}

// Promotion finds one of the account's promotions; nil: it is not the account's.
func (a *Account) Promotion(id guid.ID) *Promotion {
	return find(a.Promotions, func(p *Promotion) bool { return p.ID == id })
}

// Storefront finds one of the account's storefronts; nil: it is not the account's.
func (a *Account) Storefront(id guid.ID) *Storefront {
	return find(a.Storefronts, func(s *Storefront) bool { return s.ID == id })
}

// StorefrontName is the name of a storefront, for people to read.
func (a *Account) StorefrontName(id guid.ID) string {
	if s := a.Storefront(id); s != nil {
		return s.Name
	}
	return "a storefront"
}

// Design finds one of the account's designs; nil: it is not the account's.
func (a *Account) Design(id guid.ID) *Design {
	return find(a.Designs, func(d *Design) bool { return d.ID == id })
}

// Subscription finds the account's subscription to a program; nil: it has none.
func (a *Account) Subscription(program guid.ID) *Subscription {
	return find(a.Subscriptions, func(s *Subscription) bool { return s.ProgramID == program })
}

// VAT is how the set-up taxes gifts of a program and a promotion (zero: of none): as the promotion says, else as the
// subscription to the program says; "": neither does. The rate is that of SinglePurpose, in percent.
func (a *Account) VAT(program, promotion guid.ID) (VATTreatment, money.Number) {
	if p := a.Promotion(promotion); p != nil && p.VATTreatment != "" {
		return p.VATTreatment, p.VATRate
	}
	if s := a.Subscription(program); s != nil {
		return s.VATTreatment, s.VATRate
	}
	return "", ""
}

// EscheatOf reports whether what is never redeemed of gifts of a program goes to a state.
func (a *Account) EscheatOf(program guid.ID) bool {
	s := a.Subscription(program)
	return a.Escheat || s != nil && s.Escheat
}

// Jurisdiction is whose law the value is under that a location sold, as far as the set-up knows; zero: it was sold
// online. It is that of the location, else the country of the account; "": the set-up knows neither.
func (a *Account) Jurisdiction(location guid.ID) string {
	if l := a.Location(location); l != nil && l.Jurisdiction != "" {
		return l.Jurisdiction
	}
	return a.HomeCountry()
}

// DesignFor is the design of a gift that names none: the location's default, else the account's, else zero, the
// built-in one.
func (a *Account) DesignFor(location guid.ID) guid.ID {
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
