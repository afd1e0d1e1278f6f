package gift

import (
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Filter selects gifts of one account; zero members select all.
type Filter struct {
	AccountID    guid.ID
	Locations    []guid.ID // only gifts that are limited to one of these; empty: all
	Status       Status
	Except       Status // those in this state are left out; 0: none
	ProgramID    guid.ID
	PromotionID  guid.ID
	LocationID   guid.ID // limited to this location
	CreatedFrom  time.Time
	CreatedTo    time.Time // exclusive
	Reference    string    // of the purchase
	CustomerID   string    // to whom it is linked
	OrderID      guid.ID
	StorefrontID guid.ID
	MadeBy       string   // the system key that made it; "": any
	LastFour     string   // of the code
	Contacts     []string // to one of which the gift goes, or went before: spellings of one contact; see ParseSearch
	Buyer        string   // the e-mail address of who paid, A to Z in small letters
	Words        []string // of the recipient's name; see SearchWords
	Before       guid.ID  // the last voucher of the page before, in descending order of id; zero: from the newest
	Limit        int
}

// Page is a part of a list of gifts, the newest first.
type Page struct {
	Gifts []Gift
	Next  guid.ID // where the next page begins: its Filter.Before; zero: there is none
	Read  int     // how many gifts were looked at to find these
}

// Stock is what there is of the cards that one create-stock request made.
type Stock struct {
	OrderID         guid.ID
	Made            int  // cards
	Unsold          int  // those that were not activated yet
	ActivationCodes bool // each has one
	Card            Gift // one of these
}

// MaxRead is how many gifts or entries one page of a list looks at. Where few fit the filter, a page comes with fewer
// than its limit, or none, and says where the next one begins.
const MaxRead = 2_000

// ChangeFilter selects entries of an account; zero members select all.
type ChangeFilter struct {
	AccountID  guid.ID
	Locations  []guid.ID // only of gifts that Filter.Locations would select
	KeyID      guid.ID
	Till       bool    // KeyID is a paired till's, whose entries are found without reading those of others
	ByKeys     bool    // only what keys caused, not the service itself
	LocationID guid.ID // where the change was made
	Kind       Kind
	From       time.Time
	To         time.Time // exclusive
	Before     guid.ID   // the last entry of the page before, in descending order of id; zero: from the newest
	Limit      int
}

// Change is an entry of an account's activity, and what its gift is counted in.
type Change struct {
	Entry
	Unit        money.Currency
	ProgramID   guid.ID // of the gift
	Promotional bool
}

// ChangePage is a part of a list of entries, the newest first.
type ChangePage struct {
	Changes []Change
	Next    guid.ID
	Read    int
}

// IDsFrom and IDsBefore bound the ids of what was made from an instant on, and before it. An id tells the time at
// which it was drawn, which is not to the moment that of the record: hence a minute on either side.
func IDsFrom(t time.Time) guid.ID { return FirstID(t.Add(-time.Minute)) }

// IDsBefore is the other bound; see IDsFrom.
func IDsBefore(t time.Time) guid.ID { return FirstID(t.Add(time.Minute)) }

// FirstID is the least version 7 UUID of an instant.
func FirstID(t time.Time) (id guid.ID) {
	ms := max(0, t.UnixMilli())
	for i := 5; i >= 0; i-- {
		id[i] = byte(ms)
		ms >>= 8
	}
	return id
}
