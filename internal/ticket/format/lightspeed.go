package format

import (
	"bytes"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	saleEnvelope = jsontape.NewNames("data", "sale", "register_sale", "payload")
	saleNames    = jsontape.NewNames("state", "status", "line_items", "register_sale_products", "totals", "payments",
		"adjustments", "ecom_custom_charges", "total_price", "total_tax", "register_sale_payments")
	saleLine = jsontape.NewNames("product", "product_id", "quantity", "pricing", "unit_price", "price", "total_discount",
		"unit_discount", "discount", "total_price", "price_total", "tax", "unit_tax", "tax_amount", "total_tax", "tax_total",
		"return", "is_return", "gift_card_number")
	saleProduct = jsontape.NewNames("id")
	salePricing = jsontape.NewNames("price", "discount_total", "total")
	saleTax     = jsontape.NewNames("amount", "total")
	saleReturn  = jsontape.NewNames("is_return")
	saleTotals  = jsontape.NewNames("price", "price_incl_tax", "tax", "total_price", "total_tax", "total_to_pay",
		"total_paid", "total_payment")
	salePayment    = jsontape.NewNames("amount")
	saleAdjustment = jsontape.NewNames("adjustment_type", "type", "total", "value")
	saleCharge     = jsontape.NewNames("total", "total_incl")
)

// pricesHaveTax tells whether prices include tax: as the options say, else by the country of the currency.
func (r *reader) pricesHaveTax() bool {
	if r.options.TaxInclusive != nil {
		return *r.options.TaxInclusive
	}
	return r.currency.Code != "USD" && r.currency.Code != "CAD"
}

// first is the first of some values that says something.
func first(values ...jsontape.Value) jsontape.Value {
	for _, v := range values {
		if !v.SaysNothing() {
			return v
		}
	}
	return values[len(values)-1]
}

// amount reads a number of currency units, in quotes or not, in minor units.
func (r *reader) amount(v jsontape.Value) money.Amount { return r.priced(v).Round(r.currency) }

// salePaid sums what was paid.
func (r *reader) salePaid(payments jsontape.Value) (paid money.Amount) {
	for _, e := range r.list(payments) {
		var p [1]jsontape.Value
		r.pick(e, salePayment, p[:])
		paid += r.amount(p[0])
	}
	return paid
}

// unpacked is a sale without its envelopes: those of API 2.0, of API 0.9, and of the events of the register.
func (r *reader) unpacked(data jsontape.Value) jsontape.Value {
	const deepest = 2
	for range deepest {
		var e [4]jsontape.Value
		if r.pick(data, saleEnvelope, e[:]); data.Kind() != '{' {
			break
		}
		inner := first(e[:]...)
		if inner.Kind() != '{' {
			break
		}
		data = inner
	}
	return data
}

// lightspeedX reads a Sale: of the schema of 2026-07, of the flat one before it, or of the one that webhooks send,
// which is that of API 0.9. Its amounts are finer than the currency and without tax, and it tells no currency.
func (r *reader) lightspeedX(data jsontape.Value) *ticket.Ticket {
	const (
		state = iota
		status
		lines
		products
		totals
		payments
		adjustments
		charges
		flatPrice
		flatTax
		paidWith
	)
	data = r.unpacked(data)
	var m [11]jsontape.Value
	if r.pick(data, saleNames, m[:]); data.Kind() != '{' {
		return nil
	}
	if looksLike(data) == Shopify { // numbers in quotes are of webhooks only, which have other members
		r.needs(data, "total_price", "This must be a number without quotes: send the sale as Lightspeed gives it.")
	}
	sold := first(m[lines], m[products])
	if sold.SaysNothing() {
		r.needs(data, "line_items", "This is needed: send the sale as Lightspeed gives it.")
	}
	b, inclusive := r.bill(size(sold)), r.pricesHaveTax()
	var net money.Decimal // of all lines
	for _, e := range r.list(sold) {
		l, without := r.saleLine(e, inclusive)
		b.add(l)
		net = net.Add(without)
	}
	t := r.saleTotals(m[totals], m[flatPrice], m[flatTax])
	if !t.known {
		r.needs(data, "totals", "This is needed, with price_incl_tax.")
	}
	added := r.adjustments(m[adjustments], m[charges])
	b.tax, b.own, b.summed = t.tax.Round(r.currency), t.own.Round(r.currency), true
	if t.flat { // whose totals are without the charges of the web shop
		b.own += added.shop
	}
	b.parts = net.Add(t.tax).Round(r.currency)
	// Whether discounts on the sale are in the totals of its lines is for its own total to tell.
	price, rounding := t.price.Round(r.currency), money.Amount(len(b.lines))
	after := near(net.Round(r.currency), price, rounding) ||
		t.flat && near(net.Round(r.currency)+added.charged-added.shop, price, rounding)
	b.adjust(added, t.priced && !after, inclusive)
	b.due = b.own - max(r.salePaid(first(m[payments], m[paidWith])), t.paid)
	if t.asks {
		b.due = min(b.due, t.toPay)
	}
	b.settled = r.says(m[state], "voided", "closed") || r.saleIsOver(m[status])
	return b.ticket()
}

// saleIsOver reads the status of the flat schema: CLOSED, VOIDED, and those that end in _CLOSED.
func (r *reader) saleIsOver(status jsontape.Value) bool {
	text := bytes.ToUpper(r.text(status))
	return bytes.Equal(text, []byte("VOIDED")) || bytes.HasSuffix(text, []byte("CLOSED"))
}

// saleSum is what a sale says of its sums.
type saleSum struct {
	price, tax, own money.Decimal // own: price and tax
	known           bool          // whether it says own, or what it is made of
	priced          bool          // whether it says the price
	flat            bool          // by the flat schema
	toPay, paid     money.Amount
	asks            bool // whether it says toPay
}

// saleTotals reads the sums of a sale, wherever its schema has them.
func (r *reader) saleTotals(v, flatPrice, flatTax jsontape.Value) (s saleSum) {
	const (
		price = iota
		whole
		tax
		totalPrice
		totalTax
		toPay
		paid
		payment
	)
	var t [8]jsontape.Value
	r.pick(v, saleTotals, t[:])
	flatPrice, flatTax = first(flatPrice, t[totalPrice]), first(flatTax, t[totalTax])
	s.flat = t[price].SaysNothing() && t[whole].SaysNothing()
	s.price, s.tax = r.priced(first(t[price], flatPrice)), r.priced(first(t[tax], flatTax))
	s.priced = !first(t[price], flatPrice).SaysNothing()
	if s.own = r.priced(t[whole]); t[whole].SaysNothing() {
		s.own = s.price.Add(s.tax)
	}
	s.known = !t[whole].SaysNothing() || !flatPrice.SaysNothing()
	s.toPay, s.asks = r.amount(t[toPay]), !t[toPay].SaysNothing()
	s.paid = r.amount(first(t[paid], t[payment]))
	return s
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

// saleLine reads a line, and its total without tax. In the flat schema tax and discount are of one piece.
func (r *reader) saleLine(v jsontape.Value, inclusive bool) (l line, without money.Decimal) {
	const (
		product = iota
		flatProduct
		quantity
		pricing
		unitPrice
		price
		totalDiscount
		unitDiscount
		discount
		totalPrice
		priceTotal
		tax
		unitTaxed
		taxAmount
		totalTax
		taxTotal
		back
		flatBack
		card
	)
	var m [19]jsontape.Value
	r.pick(v, saleLine, m[:])
	var of [1]jsontape.Value
	r.pick(m[product], saleProduct, of[:])
	if l.id = r.id(of[0]); of[0].SaysNothing() {
		l.id = r.id(m[flatProduct])
	}
	pieces := r.saleQuantity(m[quantity])
	p := [3]jsontape.Value{first(m[unitPrice], m[price]), m[totalDiscount], first(m[totalPrice], m[priceTotal])}
	off := r.priced(p[1])
	if p[1].SaysNothing() {
		off = r.priced(first(m[unitDiscount], m[discount])).Mul(pieces)
	}
	if !m[pricing].SaysNothing() {
		p = [3]jsontape.Value{}
		r.pick(m[pricing], salePricing, p[:])
		off = r.priced(p[1])
	}
	t := r.saleTaxes(m[tax], [2]jsontape.Value{first(m[unitTaxed], m[taxAmount]), first(m[totalTax], m[taxTotal])},
		m[unitTaxed])
	unit, unitTax, taxes := r.priced(p[0]), r.priced(t[0]), r.priced(t[1])
	if t[1].SaysNothing() {
		taxes = unitTax.Mul(pieces)
	}
	if without = r.priced(p[2]); p[2].SaysNothing() {
		if without = discounted(unit.Mul(pieces), off); p[0].SaysNothing() {
			r.needs(v, "pricing", "This is needed, with its total.")
		}
	}
	if beyond(without, r.currency, ticket.MaxAmount) || beyond(taxes, r.currency, ticket.MaxAmount) {
		r.needs(v, "pricing", "The line's price times its quantity is too large.")
	}
	r.saleSums(&l, pieces, without, taxes, unit, unitTax, inclusive)
	l.even = l.even && !p[0].SaysNothing()
	r.saleReason(&l, m[back], m[flatBack], m[card], pieces)
	return l, without
}

// saleTaxes gives the tax of one piece and of the line: the two of the flat schema, whose tax may be a number, or those
// of the tax that is an object.
func (r *reader) saleTaxes(tax jsontape.Value, flat [2]jsontape.Value, unitTaxed jsontape.Value) [2]jsontape.Value {
	switch k := tax.Kind(); {
	case k == '0' || k == '"':
		flat[0] = first(unitTaxed, tax)
	case !tax.SaysNothing():
		flat = [2]jsontape.Value{}
		r.pick(tax, saleTax, flat[:])
	}
	return flat
}

// saleReason says why a line is left out: it is a gift card, or it was brought back.
func (r *reader) saleReason(l *line, back, flatBack, card jsontape.Value, pieces money.Decimal) {
	var brought [1]jsontape.Value
	r.pick(back, saleReturn, brought[:])
	returned := r.yes(brought[0])
	returned = r.yes(flatBack) || returned
	switch {
	case !card.SaysNothing():
		r.id(card)
		l.reason = ticket.GiftCard
	case returned || l.total < 0 || pieces.Sign() < 0:
		l.reason, l.total = ticket.Returned, min(l.total, -l.total)
		l.quantity = l.quantity.Less()
	}
}

// discounted is a price less a discount, of either sign and no more than the price.
func discounted(price, discount money.Decimal) money.Decimal {
	if price.Sign() <= 0 {
		return price
	}
	if price = price.Add(discount.Less()); price.Sign() < 0 {
		return money.Decimal{}
	}
	return price
}

// saleSums sets the amounts of a line, with their tax where the shop shows them so.
func (r *reader) saleSums(l *line, pieces, without, taxes, unit, unitTax money.Decimal, inclusive bool) {
	total := without
	if inclusive {
		total, unit = without.Add(taxes), unit.Add(unitTax)
	} else {
		l.outside = taxes.Round(r.currency)
	}
	l.total = total.Round(r.currency)
	l.quantity, l.weighed = pieces, !pieces.IsWhole()
	if l.weighed {
		l.quantity = money.DecimalOf(1)
		return
	}
	l.unit, l.even = unit.Round(r.currency), true
}

// saleQuantity reads how many pieces a line has; 1 where it does not say.
func (r *reader) saleQuantity(v jsontape.Value) money.Decimal {
	if v.SaysNothing() || v.Kind() != '"' && v.Kind() != '0' {
		r.is(v, '0', "a number")
		return money.DecimalOf(1)
	}
	digits := v.Raw()
	if v.Kind() == '"' {
		digits = v.Unquoted()
	}
	pieces, ok := r.exact(v, digits, money.Pieces, ticket.MaxQuantity)
	if !ok {
		return money.DecimalOf(1)
	}
	return pieces
}

// adjusted are the sums of the discounts on a sale, of the charges that are added to it, those of the web shop (shop)
// among them, and of gratuities.
type adjusted struct{ off, charged, shop, gratuities money.Amount }

// adjustments reads what is added to a sale. The charges of the web shop stand among the adjustments as well, and count
// once.
func (r *reader) adjustments(v, custom jsontape.Value) (a adjusted) {
	a.shop = r.saleCharges(custom)
	a.charged = a.shop
	for _, e := range r.list(v) {
		var m [4]jsontape.Value
		r.pick(e, saleAdjustment, m[:])
		kind := first(m[0], m[1])
		switch amount := r.amount(first(m[2], m[3])); {
		case r.says(kind, "DISCOUNT"):
			a.off += max(amount, -amount)
		case r.says(kind, "TIP"):
			a.gratuities += amount
		case r.says(kind, "ECOM_CUSTOM_CHARGE") && !custom.SaysNothing():
		default:
			a.charged += amount
		}
	}
	return a
}

// saleCharges sums the charges of the web shop with their tax: an object with its sums, or a list.
func (r *reader) saleCharges(v jsontape.Value) (sum money.Amount) {
	charge := func(v jsontape.Value) {
		var m [2]jsontape.Value
		r.pick(v, saleCharge, m[:])
		without, with := r.amount(m[0]), r.amount(m[1])
		if m[1].SaysNothing() {
			with = without
		}
		sum += with
	}
	if v.Kind() == '{' {
		charge(v)
		return sum
	}
	for _, e := range r.list(v) {
		charge(e)
	}
	return sum
}
