package record

import (
	"encoding/json"
	"errors"
	"fmt"

	"boon.example/internal/gift"
)

// storedDetails are gift.Details as JSON. Its member names are a storage format: they may be added to, not changed.
type storedDetails struct {
	ReasonCode      string          `json:"reasonCode,omitempty"`
	Counterpart     string          `json:"counterpart,omitempty"`
	CounterpartGift string          `json:"counterpartGift,omitempty"`
	Purchase        *storedPurchase `json:"purchase,omitempty"`
}

type storedPurchase struct {
	Reference    string `json:"reference"`
	FirstName    string `json:"firstName"`
	LastName     string `json:"lastName"`
	EmailAddress string `json:"emailAddress"`
	StorefrontID string `json:"storefrontID"`
}

// detailsText are details as they are stored; nil: there are none.
func detailsText(d *gift.Details) any {
	if *d == (gift.Details{}) {
		return nil
	}
	stored := storedDetails{ReasonCode: string(d.ReasonCode), Counterpart: idText(d.Counterpart),
		CounterpartGift: idText(d.CounterpartGift)}
	if p := d.Purchase; p != (gift.Purchase{}) {
		stored.Purchase = &storedPurchase{p.Reference, p.FirstName, p.LastName, p.EmailAddress, idText(p.StorefrontID)}
	}
	text, err := json.Marshal(stored)
	if err != nil {
		panic(err) // texts do not fail
	}
	return string(text)
}

// idText is an id as a text; none is "".
func idText(id gift.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// scanDetails reads a column into details.
type scanDetails struct{ to *gift.Details }

// Scan implements sql.Scanner.
func (s scanDetails) Scan(column any) error {
	stored, err := readJSON[storedDetails](column)
	if err != nil {
		return fmt.Errorf("the details of an entry are damaged: %w", err)
	}
	*s.to = gift.Details{ReasonCode: gift.ReasonCode(stored.ReasonCode)}
	read := func(to *gift.ID, text string) {
		if text != "" && err == nil {
			*to, err = gift.ParseID(text)
		}
	}
	read(&s.to.Counterpart, stored.Counterpart)
	read(&s.to.CounterpartGift, stored.CounterpartGift)
	if p := stored.Purchase; p != nil {
		s.to.Purchase = gift.Purchase{Reference: p.Reference, FirstName: p.FirstName, LastName: p.LastName,
			EmailAddress: p.EmailAddress}
		read(&s.to.Purchase.StorefrontID, p.StorefrontID)
	}
	if err == nil && column != nil && *s.to == (gift.Details{}) {
		err = errors.New("there are none")
	}
	if err != nil {
		return fmt.Errorf("the details of an entry are damaged: %w", err)
	}
	return nil
}
