package format

import (
	"bytes"

	"boon.example/internal/gift"
	"boon.example/internal/tape"
	"boon.example/internal/ticket"
)

var (
	saleNames = tape.NewNames("data", "state", "status", "line_items", "totals", "payments", "adjustments",
		"ecom_custom_charges", "total_price", "total_tax")
	saleLine = tape.NewNames("product", "product_id", "quantity", "pricing", "unit_price", "total_discount",
		"total_price", "tax", "unit_tax", "total_tax", "return", "is_return", "gift_card_number")
	saleProduct    = tape.NewNames("id")
	salePricing    = tape.NewNames("price", "discount_total", "total")
	saleTax        = tape.NewNames("amount", "total")
	saleReturn     = tape.NewNames("is_return")
	saleTotals     = tape.NewNames("price", "price_incl_tax", "tax")
	salePayment    = tape.NewNames("amount")
	saleAdjustment = tape.NewNames("adjustment_type", "total")
	saleCharge     = tape.NewNames("total", "total_incl")
)

// pricesHaveTax tells whether prices include tax: as the options say, else by the country of the currency.
func (r *reader) pricesHaveTax() bool {
	if r.options.TaxInclusive != nil {
		return *r.options.TaxInclusive
	}
	return r.currency.Code != "USD" && r.currency.Code != "CAD"
}

// salePaid sums what was paid.
func (r *reader) salePaid(payments tape.Value) (paid gift.Amount) {
	for _, e := range r.list(payments) {
		var p [1]tape.Value
		r.pick(e, salePayment, p[:])
		paid += r.cents(p[0])
	}
	return paid
}

// lightspeedX reads a Sale, of the present schema or of the flat one before it. Its amounts are finer than the
// currency and without tax, and it tells no currency.
func (r *reader) lightspeedX(data tape.Value) *ticket.Ticket {
	const (
		envelope = iota
		state
		status
		lines
		totals
		payments
		adjustments
		charges
		flatPrice
		flatTax
	)
	var m [10]tape.Value
	if r.pick(data, saleNames, m[:]); m[envelope].Kind() == '{' {
		data, m = m[envelope], [10]tape.Value{}
		r.pick(data, saleNames, m[:])
	}
	if data.Kind() != '{' {
		return nil
	}
	if m[lines].SaysNothing() {
		r.needs(data, "line_items", "This is needed: send the sale as Lightspeed gives it.")
	}
	b, inclusive := r.bill(size(m[lines])), r.pricesHaveTax()
	var net gift.Decimal // of all lines
	for _, e := range r.list(m[lines]) {
		l, without := r.saleLine(e, inclusive)
		b.add(l)
		net = net.Add(without)
	}
	var t [3]tape.Value
	r.pick(m[totals], saleTotals, t[:])
	price, tax := r.major(t[0]), r.major(t[2])
	if flat := r.major(m[flatPrice]); t[0].SaysNothing() {
		price = flat
	}
	if flat := r.major(m[flatTax]); t[2].SaysNothing() {
		tax = flat
	}
	own := r.major(t[1])
	if t[1].SaysNothing() {
		if own = price.Add(tax); m[flatPrice].SaysNothing() {
			r.needs(data, "totals", "This is needed, with price_incl_tax.")
		}
	}
	b.tax, b.own, b.summed = tax.Round(r.currency), own.Round(r.currency), true
	b.parts = net.Add(tax).Round(r.currency)
	// Whether discounts on the sale are in the totals of its lines is for its own total to tell.
	known := !t[0].SaysNothing() || !m[flatPrice].SaysNothing()
	before := known && !near(net.Round(r.currency), price.Round(r.currency), gift.Amount(len(b.lines)))
	b.adjust(r.adjustments(m[adjustments], m[charges]), before, inclusive)
	b.due = b.own - r.salePaid(m[payments])
	b.settled = r.says(m[state], "voided", "closed")
	flat := r.text(m[status])
	b.settled = b.settled || bytes.EqualFold(flat, []byte("voided")) || bytes.EqualFold(flat, []byte("closed"))
	return b.ticket()
}

// adjust adds to a sale what is added to it, gratuities only where its own total counts them. Where its lines are
// before its discount, that comes off them. It is without tax: off lines that are shown with theirs comes what they are
// then more than the sale.
func (b *bill) adjust(a adjusted, before, inclusive bool) {
	b.charge, b.parts = a.charged, b.parts+a.charged
	if !before {
		a.off = 0
	}
	b.discount, b.parts = a.off, b.parts-a.off
	over := a.charged - b.own
	if near(b.parts+a.gratuities, b.own, b.rounding()) {
		over, b.parts = over+a.gratuities, b.own
	}
	for i := range b.lines {
		over += b.lines[i].total
	}
	if inclusive && a.off > 0 {
		a.off = max(a.off, over)
	}
	b.spread(a.off)
}

// saleLine reads a line, and its total without tax.
func (r *reader) saleLine(v tape.Value, inclusive bool) (l line, without gift.Decimal) {
	const (
		product = iota
		flatProduct
		quantity
		pricing
		flatPrice
		flatDiscount
		flatTotal
		tax
		flatUnitTax
		flatTax
		back
		flatBack
		card
	)
	var m [13]tape.Value
	r.pick(v, saleLine, m[:])
	var of [1]tape.Value
	r.pick(m[product], saleProduct, of[:])
	if l.id = r.id(of[0]); of[0].SaysNothing() {
		l.id = r.id(m[flatProduct])
	}
	p, t := [3]tape.Value{m[flatPrice], m[flatDiscount], m[flatTotal]}, [2]tape.Value{m[flatUnitTax], m[flatTax]}
	if !m[pricing].SaysNothing() {
		p = [3]tape.Value{}
		r.pick(m[pricing], salePricing, p[:])
	}
	if !m[tax].SaysNothing() {
		t = [2]tape.Value{}
		r.pick(m[tax], saleTax, t[:])
	}
	pieces := gift.DecimalOf(1)
	if d, ok := r.decimal(m[quantity], gift.Pieces, ticket.MaxQuantity); ok {
		pieces = d
	}
	unit, unitTax, taxes := r.major(p[0]), r.major(t[0]), r.major(t[1])
	if without = r.major(p[2]); p[2].SaysNothing() {
		if without = discounted(unit.Mul(pieces), r.major(p[1])); p[0].SaysNothing() {
			r.needs(v, "pricing", "This is needed, with its total.")
		} else if beyond(without, r.currency, ticket.MaxAmount) {
			r.needs(v, "pricing", "The line's price times its quantity is too large.")
		}
	}
	r.saleSums(&l, pieces, without, taxes, unit, unitTax, inclusive)
	l.even = l.even && !p[0].SaysNothing()
	var brought [1]tape.Value
	r.pick(m[back], saleReturn, brought[:])
	returned := r.yes(brought[0])
	returned = r.yes(m[flatBack]) || returned
	switch {
	case !m[card].SaysNothing():
		r.id(m[card])
		l.reason = ticket.GiftCard
	case returned || l.total < 0 || pieces.Sign() < 0:
		l.reason, l.total = ticket.Returned, min(l.total, -l.total)
		l.quantity = l.quantity.Less()
	}
	return l, without
}

// discounted is a price less a discount, of either sign and no more than the price.
func discounted(price, discount gift.Decimal) gift.Decimal {
	if price.Sign() <= 0 {
		return price
	}
	if price = price.Add(discount.Less()); price.Sign() < 0 {
		return gift.Decimal{}
	}
	return price
}

// saleSums sets the amounts of a line, with their tax where the shop shows them so.
func (r *reader) saleSums(l *line, pieces, without, taxes, unit, unitTax gift.Decimal, inclusive bool) {
	total := without
	if inclusive {
		total, unit = without.Add(taxes), unit.Add(unitTax)
	} else {
		l.outside = taxes.Round(r.currency)
	}
	l.total = total.Round(r.currency)
	l.quantity, l.weighed = pieces, !pieces.IsWhole()
	if l.weighed {
		l.quantity = gift.DecimalOf(1)
		return
	}
	l.unit, l.even = unit.Round(r.currency), true
}

// adjusted are the sums of the discounts on a sale, of the charges that are added to it, and of gratuities.
type adjusted struct{ off, charged, gratuities gift.Amount }

func (r *reader) adjustments(v, custom tape.Value) (a adjusted) {
	for _, e := range r.list(v) {
		var m [2]tape.Value
		r.pick(e, saleAdjustment, m[:])
		switch amount := r.cents(m[1]); {
		case r.says(m[0], "DISCOUNT"):
			a.off += max(amount, -amount)
		case r.says(m[0], "TIP"):
			a.gratuities += amount
		default:
			a.charged += amount
		}
	}
	for _, e := range r.list(custom) {
		var m [2]tape.Value
		r.pick(e, saleCharge, m[:])
		amount := r.cents(m[0])
		if with := r.cents(m[1]); !m[1].SaysNothing() {
			amount = with
		}
		a.charged += amount
	}
	return a
}
