package setup

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/wire"
)

// First is what the first account of an installation is made of by somebody who writes no set-up file. It is read as a
// set-up file is, with the same checks.
type First struct {
	Name     string // of the business
	Currency string
	Zone     string // such as Europe/Berlin
	Language merchant.Language
	Location string // what the first place of sale is called
	Till     string // what the first till is called
}

// firstFile is what problems call the file that First stands for.
const firstFile = "first"

// file is the set-up file that says the same.
func (q *First) file() (f *File, account, location guid.ID, err error) {
	draw := func() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }
	account, location = draw(), draw()
	type record = map[string]any
	one := record{
		"id": account.String(), "name": q.Name, "currency": q.Currency, "timeZone": q.Zone, "language": string(q.Language),
		"subscriptions": []record{{"program": merchant.BusinessProgram.ID.String(), "reloadable": true},
			{"program": merchant.PromotionalProgram.ID.String()}}, // so that promotions need nothing else
		"locations":   []record{{"id": location.String(), "name": q.Location}},
		"storefronts": []record{{"id": draw().String(), "name": q.Name}},
	}
	if countries := q.texted(); countries != nil {
		one["textCountries"] = countries
	}
	text, err := yaml.Marshal(record{"accounts": []record{one}})
	if err != nil {
		return nil, account, location, fmt.Errorf("writing the first account: %w", err)
	}
	f, err = Parse(firstFile, text)
	return f, account, location, err
}

// texted are the countries whose numbers get SMS: the usual ones, and the one that the time zone is of, where that is
// another; nil: the usual ones. Never are there more: whoever can have SMS sent to any country can earn by it.
func (q *First) texted() []string {
	home := wire.CountryOfZone(q.Zone)
	if slices.Contains(contact.DefaultTextCountries, home) || !slices.Contains(contact.TextCountries(), home) {
		return nil
	}
	return append(slices.Clone(contact.DefaultTextCountries), home)
}

// Check says what is wrong, as Problems; nil: nothing.
func (q *First) Check() error {
	_, _, _, err := q.file()
	return err
}

// Begin makes the account with a location, a storefront and a till, and gives the account and the token by which the
// device of the till is paired.
func (q *First) Begin(ctx context.Context, store Store, now time.Time) (account guid.ID, token string, err error) {
	f, account, location, err := q.file()
	if err != nil {
		return account, "", err
	}
	if _, err := f.Apply(ctx, store, now, rand.Reader); err != nil {
		return account, "", err
	}
	_, token, err = CreateKey(ctx, store, KeyRequest{Account: account, Name: q.Till, Till: true,
		Permissions: merchant.TillPermissions, Locations: []guid.ID{location}}, now, rand.Reader)
	return account, token, err
}
