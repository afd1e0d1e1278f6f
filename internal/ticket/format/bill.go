package format

import (
	"math/bits"
	"slices"

	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

// line is a line of an order on its way to the ticket. Its amounts are in minor units.
type line struct {
	id, name, group string
	unit            money.Amount // list price of one piece with its modifiers, before discounts
	even            bool         // whether there is such a price
	quantity        money.Decimal
	weighed         bool
	less            money.Decimal // discount that was taken off total, though its price may be without it already
	total           money.Amount  // after discounts, with the tax that is inside its price, and no other
	inside          money.Amount  // tax that was added to total, as what it was added to is without
	back            money.Amount  // what was refunded, and is to be taken off total
	outside         money.Amount  // tax and the like that are added to it
	reason          ticket.Reason // why no gift pays it
}

// count sets the pieces of a line, or notes that it is sold by weight or measure. gross is the list price of all.
func (l *line) count(quantity money.Decimal, weighed bool, gross money.Amount) {
	if l.weighed = weighed || !quantity.IsWhole(); l.weighed {
		l.quantity = money.DecimalOf(1)
		return
	}
	l.quantity = quantity
	if n := quantity.Round(money.Pieces); n > 0 && gross%n == 0 {
		l.unit, l.even = gross/n, true
	}
}

// refund takes off a line what was refunded. The pieces are left that are paid by what is left.
func (l *line) refund() {
	switch whole := l.total; {
	case l.back <= 0:
	case l.back >= whole:
		l.total, l.reason = 0, ticket.Refunded
	default:
		l.total -= l.back
		if n := l.quantity.Round(money.Pieces); n > 0 && !l.weighed {
			pieces, _ := portion(l.total, n, whole)
			l.quantity = money.DecimalOf(int64(pieces))
		}
	}
}

// bill is an order with its sums. Amounts are in minor units.
type bill struct {
	*reader
	lines                 []line
	tax, discount, charge money.Amount
	due                   money.Amount // what is still to be paid, for everything
	nothingDue            bool         // the order is closed, cancelled or paid
	parts, own            money.Amount // sum of the parts, and what the platform says that it is; no more is due
	summed                bool         // whether it does
	back                  []line       // goods brought back that are no lines
}

func (r *reader) bill(lines int) *bill { return &bill{reader: r, lines: make([]line, 0, lines)} }

// add adds a line, which no gift pays if the merchant says that it is a gift card.
func (b *bill) add(l line) {
	if l.reason == ticket.Allowed && b.sells(l.id) {
		l.reason = ticket.GiftCard
	}
	b.lines = append(b.lines, l)
}

// sells reports whether an item is a gift card, as the merchant says.
func (r *reader) sells(id string) bool { return id != "" && slices.Contains(r.options.GiftCards, id) }

// rounding is by how much the parts of a bill may miss its sum: a minor unit for each line.
func (b *bill) rounding() money.Amount { return money.Amount(max(1, len(b.lines))) }

// ticket makes the ticket of the bill: what is still due, less what is sold in gift cards, with their tax. Money that
// was paid counts for the goods first, so that a gift never pays for a gift card.
func (b *bill) ticket() *ticket.Ticket {
	b.bringBack()
	var goods money.Amount
	due := min(b.due, b.own) - b.cards() // what is paid back is no more to be paid
	for i := range b.lines {
		switch l := &b.lines[i]; {
		case l.reason != ticket.Allowed:
		case l.total <= 0:
			l.reason = ticket.NothingToPay
		default:
			goods += l.total
		}
	}
	t, units := b.into.Ticket(b.currency, len(b.lines), len(b.lines)+5)
	if over := b.parts - b.own; b.summed && max(over, -over) > b.rounding() {
		t.Difference = over
		due = min(due, due+over) // the smaller of the two sums holds
	}
	if b.nothingDue {
		due = 0
	}
	decimal := func(a money.Amount) *money.Decimal {
		units[0] = b.currency.Decimal(a)
		one := &units[0]
		units = units[1:]
		return one
	}
	for i := range b.lines {
		l := &b.lines[i]
		to := &t.Lines[i]
		*to = ticket.Line{ItemID: l.id, ItemName: l.name, Group: l.group, Quantity: l.quantity, Weighed: l.weighed,
			Total: b.currency.Decimal(l.total), LeftOut: l.reason}
		if l.even {
			to.UnitPrice = decimal(l.unit)
		}
	}
	t.Totals = ticket.Totals{Sub: decimal(goods), Tax: decimal(max(0, b.tax)), Discount: decimal(max(0, b.discount)),
		ServiceCharge: decimal(max(0, b.charge)), Grand: decimal(max(0, due))}
	return t
}

// cards sums what is sold in gift cards, with their tax. One that is sold and voided is none: the lines of an item
// count together. Those without one cannot be told apart, and a void among them counts for nothing.
func (b *bill) cards() (sum money.Amount) {
	var items map[string]money.Amount
	add := func(l *line) {
		worth := max(0, l.total) + max(0, l.outside)
		if l.total < 0 {
			worth = l.total + min(0, l.outside)
		}
		if l.id == "" {
			sum += max(0, worth)
			return
		}
		if items == nil {
			items = make(map[string]money.Amount)
		}
		items[l.id] += worth
	}
	for i := range b.lines {
		if l := &b.lines[i]; l.reason == ticket.GiftCard || l.reason == ticket.Returned && b.sells(l.id) {
			add(l)
		}
	}
	for i := range b.back {
		if l := &b.back[i]; b.sells(l.id) {
			add(l)
		}
	}
	for _, worth := range items {
		sum += max(0, worth)
	}
	return sum
}

// bringBack takes what is brought back off the lines with the same item. What is left of it has lowered what is due.
func (b *bill) bringBack() {
	take := func(back *line) {
		value, pieces := max(0, -back.total), -back.quantity.Less().Round(money.Pieces)
		for i := range b.lines {
			l := &b.lines[i]
			if back.id == "" || l.id != back.id || l.reason != ticket.Allowed {
				continue
			}
			less := min(value, max(0, l.total))
			l.total, value = l.total-less, value-less
			if !l.weighed {
				fewer := min(pieces, max(0, l.quantity.Round(money.Pieces)))
				l.quantity = l.quantity.Add(money.DecimalOf(int64(-fewer)))
				pieces -= fewer
			}
		}
	}
	for i := range b.lines {
		if b.lines[i].reason == ticket.Returned {
			take(&b.lines[i])
		}
	}
	for i := range b.back {
		take(&b.back[i])
	}
}

// spread takes a discount on the whole order off the lines that a gift may pay: in proportion to their totals, by the
// largest remainder, of equal ones the earlier.
func (b *bill) spread(discount money.Amount) {
	var sum money.Amount
	var on []int
	for i := range b.lines {
		if l := &b.lines[i]; l.reason == ticket.Allowed && l.total > 0 {
			sum += l.total
			on = append(on, i)
		}
	}
	if discount = min(discount, sum); discount <= 0 {
		return
	}
	left, rest := discount, make(map[int]uint64, len(on))
	for _, i := range on {
		part, over := portion(b.lines[i].total, discount, sum)
		b.lines[i].total -= part
		left -= part
		rest[i] = over
	}
	slices.SortStableFunc(on, func(i, j int) int {
		switch {
		case rest[i] > rest[j]:
			return -1
		case rest[i] < rest[j]:
			return 1
		}
		return 0
	})
	for _, i := range on[:left] {
		b.lines[i].total--
	}
}

// portion is a × part / whole, rounded down, and what remains. None is negative, and part is at most a hundred times
// whole.
func portion(a, part, whole money.Amount) (money.Amount, uint64) {
	high, low := bits.Mul64(uint64(a), uint64(part))
	quotient, rest := bits.Div64(high, low, uint64(whole))
	return money.Amount(quotient), rest
}

// share is a × part / whole, half a unit rounded up.
func share(a, part, whole money.Amount) money.Amount {
	q, rest := portion(a, part, whole)
	if rest >= uint64(whole)-rest {
		q++
	}
	return q
}
