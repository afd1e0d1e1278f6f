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

// account is a merchant.Account as a JSON document: its fields are stored as their tags say, apart from those that
// stand here, which are stored in another form. The names of members are a storage format: members may be added, and
// none may be changed.
type account struct {
	*merchant.Account

	Currency string           `json:"currency"`
	Decimals int              `json:"decimals"`
	Zone     string           `json:"zone"`
	Limits   *merchant.Limits `json:"limits,omitempty"` // nil: merchant.DefaultLimits

	Promotions []promotion `json:"promotions,omitempty"`
	People     []person    `json:"people,omitempty"`

	PassKey   string `json:"passKey,omitempty"`   // of Wallet.Apple, sealed
	GoogleKey string `json:"googleKey,omitempty"` // of Wallet.Google, sealed
}

// promotion stores items by their ids. The names of those that have one stand beside them.
type promotion struct {
	merchant.Promotion

	EligibleItems []string          `json:"eligibleItems,omitempty"`
	ItemNames     map[string]string `json:"itemNames,omitempty"` // by id
}

// person stores the hash of a PIN sealed.
type person struct {
	merchant.Person

	PIN string `json:"pin"`
}

func formatAccount(a *merchant.Account, k *sealed.Keys) (string, error) {
	d := account{Account: a, Currency: a.Currency.Code, Decimals: a.Currency.Decimals, Zone: a.Zone.String()}
	if a.Limits != merchant.DefaultLimits {
		d.Limits = &a.Limits
	}
	for _, p := range a.Promotions {
		ids, names := splitItems(p.EligibleItems)
		d.Promotions = append(d.Promotions, promotion{p, ids, names})
	}
	for _, p := range a.People {
		d.People = append(d.People, person{p, sealText(k, pinDomain, p.PIN, pinRecord(a.ID, p.Name))})
	}
	d.PassKey = sealText(k, passKeyDomain, a.Wallet.Apple.Key, a.ID[:])
	d.GoogleKey = sealText(k, googleKeyDomain, a.Wallet.Google.Key, a.ID[:])
	text, err := json.Marshal(d)
	return string(text), err
}

func parseAccount(text []byte, k *sealed.Keys) (*merchant.Account, error) {
	a := new(merchant.Account)
	d := account{Account: a}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("an account's document is damaged: %w", err)
	}
	var err error
	if a.Zone, err = loadZone(d.Zone); err != nil {
		return nil, fmt.Errorf("account %s: %w", a.ID, err)
	}
	a.Currency = money.Currency{Code: d.Currency, Decimals: d.Decimals}
	if a.Limits = merchant.DefaultLimits; d.Limits != nil {
		a.Limits = *d.Limits
	}
	for _, p := range d.Promotions {
		for _, id := range p.EligibleItems {
			p.Promotion.EligibleItems = append(p.Promotion.EligibleItems, joinItem(id, p.ItemNames[id]))
		}
		a.Promotions = append(a.Promotions, p.Promotion)
	}
	for _, p := range d.People {
		p.Person.PIN = openText(k, pinDomain, p.PIN, pinRecord(a.ID, p.Name))
		a.People = append(a.People, p.Person)
	}
	a.Wallet.Apple.Key = openText(k, passKeyDomain, d.PassKey, a.ID[:])
	a.Wallet.Google.Key = openText(k, googleKeyDomain, d.GoogleKey, a.ID[:])
	return a, nil
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

// formatLimits writes the limits of a key; nil: it has none.
func formatLimits(l merchant.Limits) any {
	if l == (merchant.Limits{}) {
		return nil
	}
	text, err := json.Marshal(l)
	if err != nil {
		panic(err) // numbers only
	}
	return string(text)
}

func parseLimits(text string) (l merchant.Limits, err error) {
	if text == "" {
		return l, nil
	}
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return l, fmt.Errorf("the limits of a key are damaged: %w", err)
	}
	return l, nil
}
