package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// storedDetails are gift.Details as JSON. Its member names are a storage format: they may be added to, not changed.
type storedDetails struct {
	ReasonCode      string          `json:"reasonCode,omitempty"`
	Counterpart     string          `json:"counterpart,omitempty"`
	CounterpartGift string          `json:"counterpartGift,omitempty"`
	Purchase        *storedPurchase `json:"purchase,omitempty"`
	Person          string          `json:"person,omitempty"`
	Sale            string          `json:"sale,omitempty"`
	Next            string          `json:"next,omitempty"`
	IssuedOn        time.Time       `json:"issuedOn,omitzero"`
	Link            string          `json:"link,omitempty"`
}

type storedPurchase struct {
	Reference    string `json:"reference"`
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	EmailAddress string `json:"emailAddress"`
	StorefrontID string `json:"storefrontID"`
	Price        int64  `json:"price,omitempty"`
}

// DetailsText are an entry's details as they are stored, with the person at the till; nil: there are none.
func DetailsText(e *gift.Entry) any {
	d := &e.Details
	if *d == (gift.Details{}) && e.Actor.Person == "" {
		return nil
	}
	stored := storedDetails{ReasonCode: string(d.ReasonCode), Counterpart: idText(d.Counterpart),
		CounterpartGift: idText(d.CounterpartGift), Person: e.Actor.Person, Sale: idText(d.Sale), Next: idText(d.Next),
		IssuedOn: d.IssuedOn.UTC(), Link: string(d.Link)}
	if p := d.Purchase; p != (gift.Purchase{}) {
		stored.Purchase = &storedPurchase{p.Reference, p.FirstName, p.LastName, p.EmailAddress, idText(p.StorefrontID),
			int64(p.Price)}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err) // texts do not fail
	}
	return string(text)
}

// idText is an id as a text; none is "".
func idText(id guid.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// ScanDetails reads a column into an entry's details and the person of its actor.
func ScanDetails(e *gift.Entry) any { return scanDetails{e} }

// scanDetails reads a column into an entry's details and the person of its actor.
type scanDetails struct{ entry *gift.Entry }

// Scan implements sql.Scanner.
func (s scanDetails) Scan(column any) error {
	stored, err := readJSON[storedDetails](column)
	if err != nil {
		return fmt.Errorf("the details of an entry are damaged: %w", err)
	}
	to := &s.entry.Details
	*to, s.entry.Actor.Person = gift.Details{ReasonCode: gift.ReasonCode(stored.ReasonCode),
		IssuedOn: stored.IssuedOn.UTC(), Link: gift.CustomerLink(stored.Link)}, stored.Person
	read := func(to *guid.ID, text string) {
		if text != "" && err == nil {
			*to, err = guid.Parse(text)
		}
	}
	read(&to.Counterpart, stored.Counterpart)
	read(&to.CounterpartGift, stored.CounterpartGift)
	read(&to.Sale, stored.Sale)
	read(&to.Next, stored.Next)
	if p := stored.Purchase; p != nil {
		to.Purchase = gift.Purchase{Reference: p.Reference, FirstName: p.FirstName, LastName: p.LastName,
			EmailAddress: p.EmailAddress, Price: money.Amount(p.Price)}
		read(&to.Purchase.StorefrontID, p.StorefrontID)
	}
	if err == nil && column != nil && *to == (gift.Details{}) && stored.Person == "" {
		err = errors.New("there are none")
	}
	if err != nil {
		return fmt.Errorf("the details of an entry are damaged: %w", err)
	}
	return nil
}

// CustomerOf is the e-mail address of the customer in the details of an entry; "": there is none.
func CustomerOf(details string) (string, error) {
	stored, err := readJSON[storedDetails](details)
	if err != nil || stored.Purchase == nil {
		return "", err
	}
	return stored.Purchase.EmailAddress, nil
}
