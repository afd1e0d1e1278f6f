package setup

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/sealed"
)

// account is a merchant.Account as a JSON document. Its member names are a storage format: they may be added to, not
// changed.
type account struct {
	ID                    storedID       `json:"id"`
	Name                  string         `json:"name"`
	Test                  bool           `json:"test,omitempty"`
	Currency              string         `json:"currency"`
	Decimals              int            `json:"decimals"`
	Zone                  string         `json:"zone"`
	Language              string         `json:"language,omitempty"`
	Country               string         `json:"country,omitempty"`
	MaxGiftValue          int64          `json:"maxGiftValue"`
	RequireIdempotencyKey bool           `json:"requireIdempotencyKey,omitempty"`
	BalanceNotice         bool           `json:"balanceNotice,omitempty"`
	Contact               string         `json:"contact,omitempty"`
	PersonalDataDays      int            `json:"personalDataDays,omitempty"`
	Limits                *limits        `json:"limits,omitempty"` // nil: merchant.DefaultLimits
	DefaultDesign         storedID       `json:"defaultDesign,omitzero"`
	TextCountries         []string       `json:"textCountries,omitempty"`
	Subscriptions         []subscription `json:"subscriptions,omitempty"`
	Locations             []location     `json:"locations,omitempty"`
	Storefronts           []storefront   `json:"storefronts,omitempty"`
	Promotions            []promotion    `json:"promotions,omitempty"`
	Designs               []design       `json:"designs,omitempty"`
	People                []person       `json:"people,omitempty"`
	Providers             []provider     `json:"providers,omitempty"`

	EndedProviders []endedProvider `json:"endedProviders,omitempty"`
}

type (
	subscription struct {
		ProgramID  storedID   `json:"program"`
		Locations  []storedID `json:"locations,omitempty"`
		Reloadable bool       `json:"reloadable,omitempty"`
	}
	location struct {
		ID            storedID `json:"id"`
		Name          string   `json:"name"`
		Jurisdiction  string   `json:"jurisdiction,omitempty"`
		PointOfSale   string   `json:"pointOfSale,omitempty"`
		POSRedemption bool     `json:"posRedemption,omitempty"`
		DefaultDesign storedID `json:"defaultDesign,omitzero"`
		Address       string   `json:"address,omitempty"`
		Phone         string   `json:"phone,omitempty"`
		Hours         string   `json:"hours,omitempty"`

		Tickets []ticketReading `json:"tickets,omitempty"`
		DayEnds time.Duration   `json:"dayEnds,omitempty"`
	}
	ticketReading struct {
		Format       string   `json:"format"`
		ItemID       string   `json:"itemID,omitempty"`
		TaxInclusive *bool    `json:"taxInclusive,omitempty"`
		GiftCards    []string `json:"giftCards,omitempty"`
	}
	storefront struct {
		ID   storedID `json:"id"`
		Name string   `json:"name"`
	}
	promotion struct {
		ID            storedID  `json:"id"`
		Name          string    `json:"name"`
		ValidStarting time.Time `json:"validStarting,omitzero"`
		ValidForDays  int       `json:"validForDays,omitempty"`
		Terms         string    `json:"terms,omitempty"`

		TermsIn       merchant.Translations `json:"termsIn,omitempty"`
		EligibleItems []string              `json:"eligibleItems,omitempty"` // their ids

		ItemNames      map[string]string `json:"itemNames,omitempty"` // by id
		TicketOptional bool              `json:"ticketOptional,omitempty"`
	}
	person struct {
		Name      string     `json:"name"`
		PIN       string     `json:"pin"` // its hash
		FirstPIN  bool       `json:"firstPIN,omitempty"`
		May       string     `json:"may,omitempty"`
		Locations []storedID `json:"locations,omitempty"`
	}
	provider struct {
		ID         storedID `json:"id"`
		Platform   string   `json:"platform"`
		Name       string   `json:"name"`
		Secrets    []string `json:"secrets,omitempty"` // their hashes
		App        string   `json:"app,omitempty"`
		SignedBy   []byte   `json:"signedBy,omitempty"`
		May        string   `json:"may"`
		Limits     *limits  `json:"limits,omitempty"`
		Storefront storedID `json:"storefront,omitzero"`
		HoldDays   int      `json:"holdDays,omitempty"`
		Sites      []site   `json:"sites"`

		Networks merchant.Networks `json:"networks,omitempty"`
	}
	endedProvider struct {
		ID   storedID `json:"id"`
		Name string   `json:"name"`
	}
	site struct {
		Name     string   `json:"name"`
		Location storedID `json:"location"`
	}
	design struct {
		ID          storedID `json:"id"`
		Name        string   `json:"name"`
		AccentColor string   `json:"accentColor,omitempty"`
		Headline    string   `json:"headline,omitempty"`
		Footer      string   `json:"footer,omitempty"`
		Logo        string   `json:"logo,omitempty"` // hashes
		Picture     string   `json:"picture,omitempty"`

		HeadlineIn merchant.Translations `json:"headlineIn,omitempty"`
		FooterIn   merchant.Translations `json:"footerIn,omitempty"`
	}
)

// limits are a merchant.Limits as a JSON document.
type limits struct {
	Issued             int64 `json:"issued,omitempty"`
	Gifts              int64 `json:"gifts,omitempty"`
	Redeemed           int64 `json:"redeemed,omitempty"`
	Messages           int64 `json:"messages,omitempty"`
	Texts              int64 `json:"texts,omitempty"`
	MessagesPerContact int64 `json:"messagesPerContact,omitempty"`
}

func limitsOf(l merchant.Limits) *limits {
	return &limits{int64(l.IssuedPerDay), l.GiftsPerDay, int64(l.RedeemedPerDay), l.MessagesPerDay, l.TextsPerDay,
		l.MessagesPerContactPerDay}
}

func (l *limits) limits() merchant.Limits {
	return merchant.Limits{IssuedPerDay: money.Amount(l.Issued), GiftsPerDay: l.Gifts,
		RedeemedPerDay: money.Amount(l.Redeemed),
		MessagesPerDay: l.Messages, TextsPerDay: l.Texts, MessagesPerContactPerDay: l.MessagesPerContact}
}

// formatLimits writes the limits of a key; nil: it has none.
func formatLimits(l merchant.Limits) any {
	if l == (merchant.Limits{}) {
		return nil
	}
	text, err := json.Marshal(limitsOf(l))
	if err != nil {
		panic(err) // numbers only
	}
	return string(text)
}

func parseLimits(text string) (merchant.Limits, error) {
	if text == "" {
		return merchant.Limits{}, nil
	}
	var l limits
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return merchant.Limits{}, fmt.Errorf("the limits of a key are damaged: %w", err)
	}
	return l.limits(), nil
}

// storedID is an ID as JSON text.
type storedID guid.ID

// MarshalText implements encoding.TextMarshaler.
func (v storedID) MarshalText() ([]byte, error) { return guid.ID(v).AppendText(nil), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *storedID) UnmarshalText(text []byte) error {
	parsed, err := guid.Parse(string(text))
	*v = storedID(parsed)
	return err
}

func formatAccount(a *merchant.Account, k *sealed.Keys) (string, error) {
	d := account{
		ID: storedID(a.ID), Name: a.Name, Test: a.Test,
		Currency: a.Currency.Code, Decimals: a.Currency.Decimals, Zone: a.Zone.String(),
		Language: string(a.Language), Country: a.Country, Contact: a.Contact, PersonalDataDays: a.PersonalDataDays,
		MaxGiftValue: int64(a.MaxGiftValue), RequireIdempotencyKey: a.RequireIdempotencyKey, BalanceNotice: a.BalanceNotice,
		DefaultDesign: storedID(a.DefaultDesign), TextCountries: a.TextCountries,
	}
	if a.Limits != merchant.DefaultLimits {
		d.Limits = limitsOf(a.Limits)
	}
	for _, s := range a.Subscriptions {
		d.Subscriptions = append(d.Subscriptions, subscription{storedID(s.ProgramID),
			mapped(s.Locations, func(i guid.ID) storedID { return storedID(i) }), s.Reloadable})
	}
	d.Locations = mapped(a.Locations, func(l merchant.Location) location {
		return location{storedID(l.ID), l.Name, l.Jurisdiction, l.PointOfSale, l.POSRedemption, storedID(l.DefaultDesign),
			l.Address, l.Phone, l.Hours,
			mapped(l.Tickets, func(t merchant.TicketReading) ticketReading { return ticketReading(t) }),
			l.DayEnds}
	})
	d.Storefronts = mapped(a.Storefronts, func(s merchant.Storefront) storefront {
		return storefront{storedID(s.ID),
			s.Name}
	})
	d.Promotions = mapped(a.Promotions, func(p merchant.Promotion) promotion {
		ids, names := splitItems(p.EligibleItems)
		return promotion{storedID(p.ID), p.Name, p.ValidStarting.UTC(), p.ValidForDays, p.Terms, p.TermsIn, ids, names,
			p.TicketOptional}
	})
	d.Designs = mapped(a.Designs, func(g merchant.Design) design {
		return design{storedID(g.ID), g.Name, g.AccentColor, g.Headline, g.Footer, g.Logo.String(), g.Picture.String(),
			g.HeadlineIn, g.FooterIn}
	})
	d.People = mapped(a.People, func(p merchant.Person) person {
		return person{p.Name, sealText(k, pinDomain, p.PIN, pinRecord(a.ID, p.Name)), p.FirstPIN,
			strings.Join(p.May.Names(), " "), mapped(p.Locations,
				func(i guid.ID) storedID { return storedID(i) })}
	})
	d.Providers = mapped(a.Providers, storedProvider)
	d.EndedProviders = mapped(a.EndedProviders, func(p merchant.EndedProvider) endedProvider {
		return endedProvider{storedID(p.ID), p.Name}
	})
	text, err := json.Marshal(d)
	return string(text), err
}

// pinRecord is what the hash of a person's PIN is sealed for.
func pinRecord(account guid.ID, name string) []byte { return append(account[:], name...) }

// zones are those that accounts have: to read one anew for each of thousands takes longer than all the rest.
var zones sync.Map

func loadZone(name string) (*time.Location, error) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), nil
	}
	zone, err := time.LoadLocation(name)
	if err == nil {
		zones.Store(name, zone)
	}
	return zone, err
}

func parseAccount(text []byte, k *sealed.Keys) (*merchant.Account, error) {
	var d account
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("an account's document is damaged: %w", err)
	}
	zone, err := loadZone(d.Zone)
	if err != nil {
		return nil, fmt.Errorf("account %s: %w", guid.ID(d.ID), err)
	}
	a := &merchant.Account{
		ID: guid.ID(d.ID), Name: d.Name, Test: d.Test, Zone: zone,
		Currency: money.Currency{Code: d.Currency, Decimals: d.Decimals},
		Language: merchant.Language(d.Language), Country: d.Country, Contact: d.Contact, PersonalDataDays: d.PersonalDataDays,
		MaxGiftValue: money.Amount(d.MaxGiftValue), RequireIdempotencyKey: d.RequireIdempotencyKey,
		BalanceNotice: d.BalanceNotice,
		DefaultDesign: guid.ID(d.DefaultDesign), TextCountries: d.TextCountries,
	}
	if a.Limits = merchant.DefaultLimits; d.Limits != nil {
		a.Limits = d.Limits.limits()
	}
	for _, s := range d.Subscriptions {
		a.Subscriptions = append(a.Subscriptions, merchant.Subscription{
			ProgramID: guid.ID(s.ProgramID), Locations: mapped(s.Locations, func(i storedID) guid.ID { return guid.ID(i) }),
			Reloadable: s.Reloadable})
	}
	a.Locations = mapped(d.Locations, func(l location) merchant.Location {
		return merchant.Location{ID: guid.ID(l.ID), Name: l.Name, Jurisdiction: l.Jurisdiction, PointOfSale: l.PointOfSale,
			POSRedemption: l.POSRedemption, DefaultDesign: guid.ID(l.DefaultDesign),
			Address: l.Address, Phone: l.Phone, Hours: l.Hours,
			Tickets: mapped(l.Tickets, func(t ticketReading) merchant.TicketReading { return merchant.TicketReading(t) }),
			DayEnds: l.DayEnds}
	})
	a.Storefronts = mapped(d.Storefronts, func(s storefront) merchant.Storefront {
		return merchant.Storefront{ID: guid.ID(s.ID),
			Name: s.Name}
	})
	a.Promotions = mapped(d.Promotions, func(p promotion) merchant.Promotion {
		return merchant.Promotion{ID: guid.ID(p.ID), Name: p.Name, ValidStarting: p.ValidStarting,
			ValidForDays: p.ValidForDays,
			Terms:        p.Terms, TermsIn: p.TermsIn, EligibleItems: mapped(p.EligibleItems, func(id string) merchant.Item {
				return joinItem(id, p.ItemNames[id])
			}),
			TicketOptional: p.TicketOptional}
	})
	a.Designs = mapped(d.Designs, func(g design) merchant.Design {
		logo, _ := merchant.ParseAssetHash(g.Logo)
		picture, _ := merchant.ParseAssetHash(g.Picture)
		return merchant.Design{ID: guid.ID(g.ID), Name: g.Name, AccentColor: g.AccentColor, Headline: g.Headline,
			HeadlineIn: g.HeadlineIn, Footer: g.Footer, FooterIn: g.FooterIn, Logo: logo, Picture: picture}
	})
	a.People = mapped(d.People, func(p person) merchant.Person {
		return merchant.Person{Name: p.Name, PIN: openText(k, pinDomain, p.PIN, pinRecord(a.ID, p.Name)),
			FirstPIN: p.FirstPIN, May: splitPermissions(p.May), Locations: mapped(p.Locations,
				func(i storedID) guid.ID { return guid.ID(i) })}
	})
	a.Providers = mapped(d.Providers, provider.provider)
	a.EndedProviders = mapped(d.EndedProviders, func(p endedProvider) merchant.EndedProvider {
		return merchant.EndedProvider{ID: guid.ID(p.ID), Name: p.Name}
	})
	return a, nil
}

// splitItems gives the ids of items, and the names of those that have one.
func splitItems(items []merchant.Item) (ids []string, names map[string]string) {
	for _, i := range items {
		id := i.ID
		switch {
		case id != "":
		case i.Group != "":
			id = groupMark + i.Group
		default:
			id = nameMark + i.Name
		}
		ids = append(ids, id)
		if i.Name != "" {
			if names == nil {
				names = make(map[string]string)
			}
			names[id] = i.Name
		}
	}
	return ids, names
}

// Marks of items that have no id. No id begins with one, so that a version that does not know them finds none of
// these items on any ticket.
const (
	groupMark = "\x01group:"
	nameMark  = "\x01name:"
)

func joinItem(id, name string) merchant.Item {
	if group, ok := strings.CutPrefix(id, groupMark); ok {
		return merchant.Item{Group: group, Name: name}
	}
	if strings.HasPrefix(id, nameMark) {
		return merchant.Item{Name: name}
	}
	return merchant.Item{ID: id, Name: name}
}

func mapped[A, B any](from []A, to func(A) B) (list []B) {
	for _, a := range from {
		list = append(list, to(a))
	}
	return list
}

// everyPermission is stored for a key that may do everything, also what a later version adds.
const everyPermission = "all"

// joinPermissions writes permissions as their names with spaces between them.
func joinPermissions(p merchant.Permissions) string {
	if p == merchant.AllPermissions {
		return everyPermission
	}
	return strings.Join(p.Names(), " ")
}

// splitPermissions takes apart what joinPermissions made.
func splitPermissions(joined string) (p merchant.Permissions) {
	if joined == everyPermission {
		return merchant.AllPermissions
	}
	for _, name := range strings.Fields(joined) {
		// what a newer version named is nothing that this one could do
		if one, known := merchant.PermissionByName(name); known {
			p |= one
		}
	}
	return p
}
