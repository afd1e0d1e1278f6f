package format

import (
	"boon.example/internal/base/jsontape"
	"boon.example/internal/contact"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	standardTicketNames = jsontape.NewNames("lineItems", "totals")
	standardLineNames   = jsontape.NewNames("itemID", "itemName", "itemUnitPrice", "quantity", "itemTotalPrice")
	standardTotalsNames = jsontape.NewNames("grandTotal", "subTotal", "taxTotal", "discountTotal", "serviceChargeTotal")
)

type standardTicketJSON struct {
	lineItems, totals jsontape.Value
}

func (m *standardTicketJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, standardTicketNames, &m.lineItems, &m.totals)
}

type standardLineJSON struct {
	itemID, itemName, itemUnitPrice, quantity, itemTotalPrice jsontape.Value
}

func (m *standardLineJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, standardLineNames, &m.itemID, &m.itemName, &m.itemUnitPrice, &m.quantity,
		&m.itemTotalPrice)
}

type standardTotalsJSON struct {
	grandTotal, subTotal, taxTotal, discountTotal, serviceChargeTotal jsontape.Value
}

func (m *standardTotalsJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, standardTotalsNames, &m.grandTotal, &m.subTotal, &m.taxTotal, &m.discountTotal,
		&m.serviceChargeTotal)
}

// standard reads the interface's own schema.
//   - lineItems is needed, and itemUnitPrice or itemTotalPrice in every line.
//     A line without a quantity is of one piece.
//   - A line without itemTotalPrice costs itemUnitPrice × quantity. With both, itemTotalPrice holds, and need not
//     be the product: tills round, and know of discounts.
//   - Numbers may be negative, as voids and coupons are, and finer than the currency.
//   - Which items are gift cards, only the merchant can say.
func (r *reader) standard(data jsontape.Value) *ticket.Ticket {
	var top standardTicketJSON
	if !top.read(r, data) {
		return nil
	}
	lines := top.lineItems
	var totals standardTotalsJSON
	n := size(lines)
	const ofTotals = 5 // numbers, beside one of each line
	t, numbers := r.into.Ticket(r.currency, n, n+ofTotals)
	if lines.SaysNothing() {
		r.needs(data, "lineItems", needed)
	} else if n > 0 {
		for i, e := range r.list(lines) {
			r.standardLine(e, &t.Lines[i], &numbers[i])
		}
	} else {
		r.is(lines, '[', "a list")
	}
	if totals.read(r, top.totals) {
		into := numbers[n:]
		if grand, ok := r.decimal(totals.grandTotal, r.currency, ticket.MaxAmount); ok {
			into[0], t.Totals.Grand = grand, &into[0]
		}
		t.Totals.Sub, t.Totals.Tax = optional(totals.subTotal, &into[1]), optional(totals.taxTotal, &into[2])
		t.Totals.Discount = optional(totals.discountTotal, &into[3])
		t.Totals.ServiceCharge = optional(totals.serviceChargeTotal, &into[4])
	}
	if len(r.options.GiftCards) > 0 {
		t.LeaveOut(func(l *ticket.Line) bool { return r.sells(l.ItemID) })
	}
	return t
}

// standardLine reads one line into l, and its itemUnitPrice into unit.
func (r *reader) standardLine(v jsontape.Value, l *ticket.Line, unit *money.Decimal) {
	var m standardLineJSON
	m.read(r, v)
	before := r.Len()
	l.ItemID = r.line(m.itemID, ticket.MaxItemID)
	l.ItemName = r.line(m.itemName, ticket.MaxItemName)
	if d, ok := r.decimal(m.itemUnitPrice, r.currency, ticket.MaxAmount); ok {
		*unit, l.UnitPrice = d, unit
	}
	l.Quantity = money.DecimalOf(1)
	if d, ok := r.decimal(m.quantity, money.Pieces, ticket.MaxQuantity); ok {
		l.Quantity = d
	}
	switch total, ok := r.decimal(m.itemTotalPrice, r.currency, ticket.MaxAmount); {
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
