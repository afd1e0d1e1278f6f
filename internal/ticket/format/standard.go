package format

import (
	"boon.example/internal/base/jsontape"
	"boon.example/internal/contact"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	standardNames = jsontape.NewNames("lineItems", "totals")
	standardLine  = jsontape.NewNames("itemID", "itemName", "itemUnitPrice", "quantity", "itemTotalPrice")
	standardTotal = jsontape.NewNames("grandTotal", "subTotal", "taxTotal", "discountTotal", "serviceChargeTotal")
)

// standard reads the interface's own schema.
//   - lineItems is needed, and itemUnitPrice or itemTotalPrice in every line.
//     A line without a quantity is of one piece.
//   - A line without itemTotalPrice costs itemUnitPrice × quantity. With both, itemTotalPrice holds, and need not
//     be the product: tills round, and know of discounts.
//   - Numbers may be negative, as voids and coupons are, and finer than the currency.
//   - Which items are gift cards, only the merchant can say.
func (r *reader) standard(data jsontape.Value) *ticket.Ticket {
	var top [2]jsontape.Value
	if !r.pick(data, standardNames, top[:]) {
		return nil
	}
	lines := top[0]
	var totals [5]jsontape.Value
	n := size(lines)
	t, numbers := r.into.Ticket(r.currency, n, n+len(totals))
	if lines.SaysNothing() {
		r.needs(data, "lineItems", needed)
	} else if n > 0 {
		for i, e := range r.list(lines) {
			r.standardLine(e, &t.Lines[i], &numbers[i])
		}
	} else {
		r.is(lines, '[', "a list")
	}
	if r.pick(top[1], standardTotal, totals[:]) {
		into := numbers[n:]
		if grand, ok := r.decimal(totals[0], r.currency, ticket.MaxAmount); ok {
			into[0], t.Totals.Grand = grand, &into[0]
		}
		t.Totals.Sub, t.Totals.Tax = optional(totals[1], &into[1]), optional(totals[2], &into[2])
		t.Totals.Discount, t.Totals.ServiceCharge = optional(totals[3], &into[3]), optional(totals[4], &into[4])
	}
	if len(r.options.GiftCards) > 0 {
		t.LeaveOut(func(l *ticket.Line) bool { return r.sells(l.ItemID) })
	}
	return t
}

// standardLine reads one line into l, and its itemUnitPrice into unit.
func (r *reader) standardLine(v jsontape.Value, l *ticket.Line, unit *money.Decimal) {
	const (
		itemID = iota
		itemName
		unitPrice
		quantity
		totalPrice
	)
	var m [5]jsontape.Value
	r.pick(v, standardLine, m[:])
	before := r.Len()
	l.ItemID = r.line(m[itemID], ticket.MaxItemID)
	l.ItemName = r.line(m[itemName], ticket.MaxItemName)
	if d, ok := r.decimal(m[unitPrice], r.currency, ticket.MaxAmount); ok {
		*unit, l.UnitPrice = d, unit
	}
	l.Quantity = money.DecimalOf(1)
	if d, ok := r.decimal(m[quantity], money.Pieces, ticket.MaxQuantity); ok {
		l.Quantity = d
	}
	switch total, ok := r.decimal(m[totalPrice], r.currency, ticket.MaxAmount); {
	case ok:
		l.Total = total
	case l.UnitPrice != nil:
		if l.Total = l.UnitPrice.Mul(l.Quantity); beyond(l.Total, r.currency, ticket.MaxAmount) {
			r.needs(v, "itemTotalPrice", "The line's itemUnitPrice times its quantity is too large.")
		}
	case r.Len() == before || !r.Has(within(v, "itemUnitPrice")()) && !r.Has(within(v, "itemTotalPrice")()):
		r.needs(v, "itemTotalPrice", "A line needs an itemTotalPrice or an itemUnitPrice.")
	}
}

// line reads a text of one line.
func (r *reader) line(v jsontape.Value, limit int) string {
	text := r.text(v)
	if len(text) <= limit && printable(text) {
		return r.keep(text)
	}
	s := r.composed(text)
	if err := contact.CheckText(s, limit, true); err != nil {
		r.AddAt(v.Path, "%s", err)
		return ""
	}
	return s
}

// optional reads a number that only tells one ticket from another; one that cannot be read is left out.
func optional(v jsontape.Value, into *money.Decimal) *money.Decimal {
	if v.Kind() != '0' {
		return nil
	}
	d, err := money.ReadDecimal(v.Raw())
	if err != nil {
		return nil
	}
	*into = d
	return into
}
