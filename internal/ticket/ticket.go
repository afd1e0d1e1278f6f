// Package ticket is what a point-of-sale ticket is, and tells what a gift can pay on one.
//
// There is one Ticket, whatever format a till sends; package format reads it. Everything is pure. The package knows no
// JSON, no accounts, no requests and no ledger: it is told the ticket, the items that a gift is good for, and the
// gift.
package ticket

import (
	"slices"

	"boon.example/internal/base/phrase"
	"boon.example/internal/money"
)

// Standard names the format of the interface, section 2.11.
const Standard = "standard"

// Limits of a ticket.
const (
	MaxLines    = 1_000
	MaxQuantity = 100_000            // of one line
	MaxAmount   = 10_000_000_000_000 // in minor units; so the sum of all lines cannot overflow
	MaxItemID   = 200                // characters
	MaxItemName = 1_000
)

// Ticket is a check as the till has it. Its numbers are exact, in major units: they may be finer than the currency,
// and negative.
type Ticket struct {
	Currency money.Currency
	Lines    []Line
	Totals   Totals
	Format   string // of a platform; "": the standard one

	// Difference is by how much, in minor units, its parts are more than the platform's own total. Beyond rounding,
	// the smaller of the two holds.
	Difference money.Amount
}

// Memory is what a ticket lies in. It can be used for the next one when nobody looks at the last one any more.
type Memory struct {
	ticket  Ticket
	numbers []money.Decimal
}

// Ticket gives a blank ticket of so many lines, and so many numbers for it to point to. Without a Memory they are new.
func (m *Memory) Ticket(c money.Currency, lines, numbers int) (*Ticket, []money.Decimal) {
	if m == nil {
		m = new(Memory)
	}
	m.ticket = Ticket{Currency: c, Lines: slices.Grow(m.ticket.Lines[:0], lines)[:lines]}
	m.numbers = slices.Grow(m.numbers[:0], numbers)[:numbers]
	return &m.ticket, m.numbers
}

// Forget lets go of the last ticket, and of memory that few tickets need.
func (m *Memory) Forget() {
	const most = 64 // lines
	lines := m.ticket.Lines
	if len(lines) > most {
		*m = Memory{}
		return
	}
	clear(lines)
	clear(m.numbers)
	m.ticket = Ticket{Lines: lines}
}

// Line is one line of a ticket. One with a negative number, such as a void or a coupon, takes something off its item.
type Line struct {
	ItemID    string // "": the till gave none
	ItemName  string
	UnitPrice *money.Decimal // nil: the till gave none
	Quantity  money.Decimal
	Total     money.Decimal // what the till asks for the line
	Group     string        // of items, as the platform has it; "": none
	Weighed   bool          // it is sold by weight or measure, and has no pieces
	LeftOut   Reason        // why no gift may pay it; Allowed: one may
}

// Reason is why no gift may pay a line of a platform's order.
type Reason uint8

// The reasons. Their order stands in fingerprints: new ones follow.
const (
	Allowed Reason = iota
	Voided
	Refunded
	Returned
	GiftCard
	Fee
	Tip
	NothingToPay
)

// Text is the reason in a plain sentence.
func (r Reason) Text() phrase.Text {
	return [...]phrase.Text{"", "This line was voided.", "This line was refunded or taken off.",
		"This line is something brought back.", "A gift cannot pay for a gift card.", "A gift cannot pay a fee.",
		"A gift cannot pay a tip.", "There is nothing to pay on this line."}[r]
}

// Totals are what the till adds up; nil is what it does not tell. Only Grand matters to a gift.
type Totals struct {
	Sub, Tax, Discount, ServiceCharge, Grand *money.Decimal
}

// LeaveOut leaves the lines out that are gift cards, and takes them off what is to be paid.
func (t *Ticket) LeaveOut(isGiftCard func(*Line) bool) {
	var cards money.Decimal
	for i := range t.Lines {
		if l := &t.Lines[i]; isGiftCard(l) {
			l.LeftOut = GiftCard
			cards = cards.Add(l.price())
		}
	}
	if grand := t.Totals.Grand; grand != nil && cards.Sign() > 0 {
		left := grand.Add(cards.Less())
		t.Totals.Grand = &left
	}
}

// price is what the line adds to its item's sum, or takes off it. Tills write a void with one negative number or with
// several.
func (l *Line) price() money.Decimal {
	if l.void() || l.Total.Sign() < 0 {
		return l.Total.Less()
	}
	return l.Total
}

// pieces is how many pieces the line adds, or takes back. What is free uses up no gift, and a price that is taken off
// says nothing about pieces.
func (l *Line) pieces() money.Decimal {
	switch {
	case l.Total.Sign() == 0:
		return money.Decimal{}
	case l.void():
		return l.Quantity.Less()
	case l.Total.Sign() < 0:
		return money.Decimal{}
	}
	return l.Quantity
}

// hasNoPieces reports whether the line is sold by weight or measure: as it says, or as a part of a piece tells.
func (l *Line) hasNoPieces() bool { return l.Weighed || !l.Quantity.IsWhole() }

// void reports whether the line takes pieces back.
func (l *Line) void() bool {
	return l.Quantity.Sign() < 0 || l.UnitPrice != nil && l.UnitPrice.Sign() < 0
}
