// Package sendlist has lists of people who are sent gifts: how such a list is read from a file, which orders are made
// of it, and how far they have come. It is pure: whether an order can be made is for the engine to say.
//
// What holds for every list:
//
//  1. Each row of its content is in one order, and no order has more than MaxOrder rows.
//  2. The idempotency key of an order never changes while it is open whether the order was made. So a list that is
//     worked on twice, or goes on after a crash, sends once.
//  3. Nothing is sent before every order was looked at, nothing was found wrong, and somebody confirmed the list.
package sendlist

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/imports"
	"boon.example/internal/money"
)

// The limits of a list.
const (
	MaxRows     = 10_000
	MaxOrder    = gift.MaxRecipients
	MaxOrders   = 50                  // each value begins an order of its own
	maxBytes    = 700 << 10           // of the texts of an order: well below what a call may have
	MaxProblems = imports.MaxProblems // that are kept
	MaxWaiting  = 20                  // lists of an account that are not over
)

// How long a list is kept: until somebody confirms it, and after that. Idempotency records are kept for longer.
const (
	WaitsFor = 24 * time.Hour
	KeptFor  = 7 * 24 * time.Hour
)

// List is a list, but for its rows.
type List struct {
	ID          guid.ID   `json:"id"`
	AccountID   guid.ID   `json:"accountID"`
	MemberID    guid.ID   `json:"memberID"` // of the staff: who uploaded it; once it is confirmed, who confirmed it
	Member      string    `json:"member"`   // their name
	Address     string    `json:"address"`  // from where
	File        string    `json:"file"`     // the name of the file
	MadeAt      time.Time `json:"madeAt"`
	ConfirmedAt time.Time `json:"confirmedAt,omitzero"`
	EndedAt     time.Time `json:"endedAt,omitzero"`
	LeftAt      time.Time `json:"leftAt,omitzero"` // when somebody left what was refused as it is

	Rows     int          `json:"rows"` // that can be read
	Sum      money.Amount `json:"sum"`  // of their values
	Unused   []string     `json:"unused,omitempty"`
	Twice    int          `json:"twice,omitempty"` // rows to a contact that an earlier row has
	Orders   []Order      `json:"orders,omitempty"`
	Problems []Problem    `json:"problems,omitempty"` // the first MaxProblems
	Wrong    int          `json:"wrong,omitempty"`    // how many there are
	Waits    string       `json:"waits,omitempty"`    // why it could not go on last time
}

// Problem is why a line is not sent. Its members are kept.
type Problem struct {
	Line   int    // of the file; 0: it is about the whole file
	Column string // as the file names it; "": the whole line
	Text   string // a sentence, in the language of whoever uploaded the file
}

// Ref names a list.
type Ref struct{ AccountID, ID guid.ID }

// Order is an order of a list.
type Order struct {
	Value   money.Number `json:"value"`
	From    int          `json:"from"` // its rows: From to To, without To
	To      int          `json:"to"`
	Looked  bool         `json:"looked,omitempty"`  // the engine said what it would do
	Attempt int          `json:"attempt,omitempty"` // is part of its key
	OrderID string       `json:"orderID,omitempty"` // "": it is not made
	Sheet   string       `json:"sheet,omitempty"`   // the address of its printed cards
	Refused []string     `json:"refused,omitempty"` // why it was not made
}

// Size is how many rows its orders have: those too that are only looked at, as something is wrong with them.
func (l *List) Size() (rows int) {
	for n := range l.Orders {
		rows += l.Orders[n].Rows()
	}
	return rows
}

// Rows is how many gifts an order has.
func (o *Order) Rows() int { return o.To - o.From }

// Content is what is sent.
type Content struct {
	// Order is the request of send-gift without values and recipients.
	Order   json.RawMessage   `json:"order"`
	Columns map[Column]string `json:"columns"` // how the file names them
	Rows    []Row             `json:"rows"`
}

// Row is a gift of a list.
type Row struct {
	Line    int    `json:"line"` // of the file
	Name    string `json:"name,omitempty"`
	Contact string `json:"contact,omitempty"` // "": it is printed
	Message string `json:"message,omitempty"`
	// Told are columns that were found wrong when the file was read: the row is never sent, and of these columns
	// nothing more is said. "" is the whole line.
	Told []Column `json:"told,omitempty"`
}

// Names reports whether a contact is that of a row, or of whoever pays.
func (c *Content) Names(is func(contact string) bool) bool {
	var buyer struct {
		Email string `json:"externalTransactionCustomerEmailAddress"`
	}
	return json.Unmarshal(c.Order, &buyer) == nil && is(buyer.Email) ||
		slices.ContainsFunc(c.Rows, func(r Row) bool { return is(r.Contact) })
}

// State is how far a list has come.
type State string

// The states.
const (
	Looking  State = "looking"   // it is looked at
	Wrong    State = "wrong"     // something is wrong with it; it can only be thrown away
	Ready    State = "ready"     // it waits for being confirmed
	Sending  State = "sending"   // its orders are made
	Done     State = "done"      // all of them are
	PartDone State = "part-done" // some were refused
	Left     State = "left"      // some were refused, and are not tried again
)

// State tells how far the list has come.
func (l *List) State() State {
	switch {
	case !l.LeftAt.IsZero():
		return Left
	case !l.EndedAt.IsZero() && l.refused() > 0:
		return PartDone
	case !l.EndedAt.IsZero():
		return Done
	case !l.ConfirmedAt.IsZero():
		return Sending
	case l.next() >= 0:
		return Looking
	case l.Wrong > 0 || l.Rows == 0:
		return Wrong
	}
	return Ready
}

// Over reports whether nothing more is to be sent: the list needs its content no more.
func (l *List) Over() bool { return l.State() == Done || l.State() == Left }

// Works reports whether something is to be done for the list without anybody's word.
func (l *List) Works() bool { return l.State() == Looking || l.State() == Sending }

// next is the order that is to be looked at or made next; below zero: there is none.
func (l *List) next() int {
	for n := range l.Orders {
		o := &l.Orders[n]
		if l.ConfirmedAt.IsZero() && !o.Looked || !l.ConfirmedAt.IsZero() && o.OrderID == "" && o.Refused == nil {
			return n
		}
	}
	return -1
}

// Next is the order that is to be looked at or made next, with its number; nil: there is none.
func (l *List) Next() (int, *Order) {
	if n := l.next(); n >= 0 {
		return n, &l.Orders[n]
	}
	return -1, nil
}

func (l *List) refused() (orders int) {
	for n := range l.Orders {
		if l.Orders[n].Refused != nil {
			orders++
		}
	}
	return orders
}

// Sent is how many gifts were made.
func (l *List) Sent() (gifts int) {
	for n := range l.Orders {
		if o := &l.Orders[n]; o.OrderID != "" {
			gifts += o.Rows()
		}
	}
	return gifts
}

// Past is how many rows were looked at or, in a list that is confirmed, sent or refused.
func (l *List) Past() (rows int) {
	for n := range l.Orders {
		o := &l.Orders[n]
		if l.ConfirmedAt.IsZero() && o.Looked || o.OrderID != "" || o.Refused != nil {
			rows += o.Rows()
		}
	}
	return rows
}

// Key is the idempotency key of an order.
func (l *List) Key(order int) string {
	return fmt.Sprintf("list-%s-%d-%d", l.ID, order+1, l.Orders[order].Attempt)
}

// Confirm has a list be sent, by a member of the staff from an address. It reports whether the list could be confirmed.
func (l *List) Confirm(member guid.ID, name, address string, now time.Time) bool {
	if l.State() != Ready {
		return false
	}
	l.MemberID, l.Member, l.Address, l.ConfirmedAt = member, name, address, now
	return true
}

// Again opens the orders that were refused. It reports whether there are any. Each gets another key: under its key, a
// refusal would be answered again.
func (l *List) Again(member guid.ID, name, address string, now time.Time) bool {
	if l.State() != PartDone || now.Sub(l.ConfirmedAt) > KeptFor {
		return false
	}
	l.MemberID, l.Member, l.Address, l.EndedAt = member, name, address, time.Time{}
	for n := range l.Orders {
		if o := &l.Orders[n]; o.Refused != nil {
			o.Refused, o.Attempt = nil, o.Attempt+1
		}
	}
	return true
}

// Leave leaves what was refused as it is: the list is over, and keeps why it was refused. It reports whether there is
// something of the kind.
func (l *List) Leave(member guid.ID, name, address string, now time.Time) bool {
	if l.State() != PartDone {
		return false
	}
	l.MemberID, l.Member, l.Address, l.LeftAt = member, name, address, now
	return true
}

// Looked notes what the engine said to an order that it was only asked about.
func (l *List) Looked(order int, problems ...Problem) {
	l.Orders[order].Looked, l.Waits = true, ""
	l.note(problems...)
}

// Made notes that an order was made, or why not.
func (l *List) Made(order int, id, sheet string, refused []string, now time.Time) {
	o := &l.Orders[order]
	o.OrderID, o.Sheet, o.Refused, l.Waits = id, sheet, refused, ""
	if l.next() < 0 {
		l.EndedAt = now
	}
}

// note keeps problems, as many as are shown.
func (l *List) note(problems ...Problem) {
	for _, p := range problems {
		if p.Line == 0 && slices.Contains(l.Problems, p) {
			continue // another order has the same
		}
		if l.Wrong++; len(l.Problems) < MaxProblems {
			p.Column, p.Text = Short(p.Column), shortened(p.Text, maxSentence)
			l.Problems = append(l.Problems, p)
		}
	}
}

// How long what a list quotes of a file is at most, in characters: a cell may be as long as a line.
const (
	maxQuoted   = 60
	maxSentence = 400
	maxUnused   = 20 // names of columns
)

// Short is a text of a file, such as the name of a column, as it is quoted.
func Short(text string) string { return shortened(text, maxQuoted) }

func shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

var ofRecipient = regexp.MustCompile(`^recipients\[(\d{1,4})\]\.(\w+)$`)

// columnOf are the columns of the members of a recipient.
var columnOf = map[string]Column{"recipientContact": Contact, "deliveryMethodID": Contact, "recipientDescription": Name,
	"message": Message}

// Places are the lines of the file that a problem with a member of an order is about, and the name of its column. There
// are nil where it is about the whole order, and none where more was said of them already.
func (c *Content) Places(o *Order, path string) (lines []int, column string) {
	rows := c.Rows[o.From:o.To]
	if path == "monetaryGift.value" && c.Columns[Value] != "" {
		lines = []int{}
		for n := range rows {
			if !slices.Contains(rows[n].Told, Value) {
				lines = append(lines, rows[n].Line)
			}
		}
		return lines, c.Columns[Value]
	}
	m := ofRecipient.FindStringSubmatch(path)
	if m == nil {
		return nil, ""
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n >= len(rows) {
		return nil, ""
	}
	of := columnOf[m[2]]
	if slices.Contains(rows[n].Told, of) {
		return []int{}, c.Columns[of]
	}
	return []int{rows[n].Line}, c.Columns[of]
}
