// Package ticket reads point-of-sale tickets and judges what a gift can pay on them.
//
// There is one internal Ticket and one small reader for each format that tills send; what a gift may pay is judged on the Ticket
// alone. Everything is pure. The package knows no accounts, no requests and no ledger: it is told the currency, the path under which
// problems are reported, the items that a gift is good for, and the gift.
package ticket

import "boon.example/internal/gift"

// Standard names the format of the interface, section 2.11.
const Standard = "standard"

// Limits of a ticket.
const (
	MaxLines    = 1_000
	MaxQuantity = 100_000            // of one line
	MaxAmount   = 10_000_000_000_000 // in minor units; so a price times a quantity, and the sum of all lines, cannot overflow
	maxItemID   = 200
	maxItemName = 1_000
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

// Read reads the data of the ticketData object at path, which is in a format. Everything that is wrong with the data is added to problems,
// with its JSON path; the ticket is then worth nothing and nil. It fails with NOT_SUPPORTED for a format that is not known.
func Read(format string, data []byte, c gift.Currency, path string, problems *gift.Problems) (*Ticket, error) {
	if format != Standard {
		return nil, gift.RefuseAt(gift.NotSupported, path+".format", "This ticket format is not supported; the known one is %q.", Standard)
	}
	before := problems.Len()
	t := readStandard(data, c, path+".data", problems)
	if problems.Len() > before {
		return nil, nil
	}
	return t, nil
}
