// Package ticket is what a point-of-sale ticket is, and judges what a gift can pay on one.
//
// There is one Ticket, whatever format a till sends; package api reads it. Everything is pure. The package knows no JSON, no accounts,
// no requests and no ledger: it is told the ticket, the items that a gift is good for, and the gift.
package ticket

import "boon.example/internal/gift"

// Standard names the format of the interface, section 2.11.
const Standard = "standard"

// Limits of a ticket.
const (
	MaxLines    = 1_000
	MaxQuantity = 100_000            // of one line
	MaxAmount   = 10_000_000_000_000 // in minor units; so a price times a quantity, and the sum of all lines, cannot overflow
	MaxItemID   = 200                // characters
	MaxItemName = 1_000
)

// Ticket is a check as the till has it. Amounts are exact, in the minor units of the account's currency.
type Ticket struct {
	Lines  []Line
	Totals Totals
}

// Line is one line of a ticket; nothing in it is negative.
type Line struct {
	ItemID    string // "": the till gave none
	ItemName  string
	UnitPrice *gift.Amount // nil: the till gave none
	Quantity  int64
	Total     gift.Amount // what the till asks for the line
}

// Totals are what the till adds up; nil is what it does not tell. Only Grand matters to a gift.
type Totals struct {
	Sub, Tax, Discount, ServiceCharge, Grand *gift.Amount
}
