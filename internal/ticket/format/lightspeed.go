package format

import (
	"bytes"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	saleEnvelopeNames = jsontape.NewNames("data", "sale", "register_sale", "payload")
	saleNames         = jsontape.NewNames("state", "status", "line_items", "register_sale_products", "totals",
		"payments", "adjustments", "ecom_custom_charges", "total_price", "total_tax", "register_sale_payments",
		"deleted_at")
	saleLineNames = jsontape.NewNames("product", "product_id", "quantity", "pricing", "unit_price", "price",
		"total_discount", "unit_discount", "discount", "total_price", "price_total", "tax", "unit_tax",
		"tax_amount", "total_tax", "tax_total", "return", "is_return", "gift_card_number")
	saleProductNames = jsontape.NewNames("id")
	salePricingNames = jsontape.NewNames("price", "discount_total", "total")
	saleTaxNames     = jsontape.NewNames("amount", "total")
	saleReturnNames  = jsontape.NewNames("is_return")
	saleTotalsNames  = jsontape.NewNames("price", "price_incl_tax", "tax", "total_price", "total_tax",
		"total_to_pay", "total_paid", "total_payment")
	salePaymentNames    = jsontape.NewNames("amount")
	saleAdjustmentNames = jsontape.NewNames("adjustment_type", "type", "total", "value")
	saleChargeNames     = jsontape.NewNames("total", "total_incl")
)

type saleEnvelopeJSON struct {
	data, sale, registerSale, payload jsontape.Value
}

func (m *saleEnvelopeJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleEnvelopeNames, &m.data, &m.sale, &m.registerSale, &m.payload)
}

type saleJSON struct {
	state, status, lineItems, registerSaleProducts, totals, payments, adjustments, ecomCustomCharges,
	totalPrice, totalTax, registerSalePayments, deletedAt jsontape.Value
}

func (m *saleJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleNames, &m.state, &m.status, &m.lineItems, &m.registerSaleProducts, &m.totals,
		&m.payments, &m.adjustments, &m.ecomCustomCharges, &m.totalPrice, &m.totalTax, &m.registerSalePayments,
		&m.deletedAt)
}

type saleLineJSON struct {
	product, productID, quantity, pricing, unitPrice, price, totalDiscount, unitDiscount, discount, totalPrice,
	priceTotal, tax, unitTax, taxAmount, totalTax, taxTotal, returned, isReturn, giftCardNumber jsontape.Value
}

func (m *saleLineJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleLineNames, &m.product, &m.productID, &m.quantity, &m.pricing, &m.unitPrice, &m.price,
		&m.totalDiscount, &m.unitDiscount, &m.discount, &m.totalPrice, &m.priceTotal, &m.tax, &m.unitTax,
		&m.taxAmount, &m.totalTax, &m.taxTotal, &m.returned, &m.isReturn, &m.giftCardNumber)
}

type salePricingJSON struct {
	price, discountTotal, total jsontape.Value
}

func (m *salePricingJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, salePricingNames, &m.price, &m.discountTotal, &m.total)
}

type saleTaxJSON struct {
	amount, total jsontape.Value
}

func (m *saleTaxJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleTaxNames, &m.amount, &m.total)
}

type saleTotalsJSON struct {
	price, priceInclTax, tax, totalPrice, totalTax, totalToPay, totalPaid, totalPayment jsontape.Value
}

func (m *saleTotalsJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleTotalsNames, &m.price, &m.priceInclTax, &m.tax, &m.totalPrice, &m.totalTax,
		&m.totalToPay, &m.totalPaid, &m.totalPayment)
}

type saleAdjustmentJSON struct {
	adjustmentType, kind, total, value jsontape.Value
}

func (m *saleAdjustmentJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleAdjustmentNames, &m.adjustmentType, &m.kind, &m.total, &m.value)
}

type saleChargeJSON struct {
	total, totalIncl jsontape.Value
}

func (m *saleChargeJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, saleChargeNames, &m.total, &m.totalIncl)
}

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
		paid += r.amount(r.only(e, salePaymentNames))
	}
	return paid
}

// unpacked is a sale without its envelopes: those of API 2.0, of API 0.9, and of the events of the register.
func (r *reader) unpacked(data jsontape.Value) jsontape.Value {
	const deepest = 2
	for range deepest {
		var e saleEnvelopeJSON
		if e.read(r, data); data.Kind() != '{' {
			break
		}
		inner := first(e.data, e.sale, e.registerSale, e.payload)
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
	data = r.unpacked(data)
	var m saleJSON
	if m.read(r, data); data.Kind() != '{' {
		return nil
	}
	if looksLike(data) == Shopify { // numbers in quotes are of webhooks only, which have other members
		r.needs(data, "total_price", "This must be a number without quotes: send the sale as Lightspeed gives it.")
	}
	sold := first(m.lineItems, m.registerSaleProducts)
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
	t := r.saleTotals(m.totals, m.totalPrice, m.totalTax)
	if !t.known {
		r.needs(data, "totals", "This is needed, with price_incl_tax.")
	}
	added := r.adjustments(m.adjustments, m.ecomCustomCharges)
	b.tax, b.own, b.summed = t.tax.Round(r.currency), t.own.Round(r.currency), true
	if t.flat { // whose totals are without the charges of the web shop
		b.own += added.shop
	}
	// Whether discounts on the sale are in the totals of its lines, and those on lines in their prices, is for its own
	// total to tell.
	price, rounding := t.price.Round(r.currency), money.Amount(len(b.lines))
	isPrice := func(net money.Decimal) bool {
		return near(net.Round(r.currency), price, rounding) ||
			t.flat && near(net.Round(r.currency)+added.charged-added.shop, price, rounding)
	}
	after := isPrice(net)
	if whole := net.Add(b.lessOfLines()); !after && t.priced && isPrice(whole) {
		net, after = whole, true
		b.giveLessBack()
	}
	b.parts = net.Add(t.tax).Round(r.currency)
	b.adjust(added, t.priced && !after, inclusive)
	b.due = b.own - max(r.salePaid(first(m.payments, m.registerSalePayments)), t.paid)
	if t.asks {
		b.due = min(b.due, t.toPay)
	}
	b.nothingDue = r.says(m.state, "voided", "closed") || r.saleIsOver(m.status) || len(r.text(m.deletedAt)) > 0
	return b.ticket()
}

// lessOfLines is what was taken off lines whose prices may be without it already.
func (b *bill) lessOfLines() (sum money.Decimal) {
	for i := range b.lines {
		sum = sum.Add(b.lines[i].less)
	}
	return sum
}

// giveLessBack puts it back.
func (b *bill) giveLessBack() {
	for i := range b.lines {
		b.lines[i].total += b.lines[i].less.Round(b.currency)
	}
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
	var t saleTotalsJSON
	t.read(r, v)
	flatPrice, flatTax = first(flatPrice, t.totalPrice), first(flatTax, t.totalTax)
	s.flat = t.price.SaysNothing() && t.priceInclTax.SaysNothing()
	s.price, s.tax = r.priced(first(t.price, flatPrice)), r.priced(first(t.tax, flatTax))
	s.priced = !first(t.price, flatPrice).SaysNothing()
	if s.own = r.priced(t.priceInclTax); t.priceInclTax.SaysNothing() {
		s.own = s.price.Add(s.tax)
	}
	s.known = !t.priceInclTax.SaysNothing() || !flatPrice.SaysNothing()
	s.toPay, s.asks = r.amount(t.totalToPay), !t.totalToPay.SaysNothing()
	s.paid = r.amount(first(t.totalPaid, t.totalPayment))
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
	var m saleLineJSON
	m.read(r, v)
	of := r.only(m.product, saleProductNames)
	if l.id = r.id(of); of.SaysNothing() {
		l.id = r.id(m.productID)
	}
	pieces := r.saleQuantity(m.quantity)
	p := salePricingJSON{first(m.unitPrice, m.price), m.totalDiscount, first(m.totalPrice, m.priceTotal)}
	off := r.priced(p.discountTotal)
	if p.discountTotal.SaysNothing() {
		off = r.priced(first(m.unitDiscount, m.discount)).Mul(pieces)
	}
	if !m.pricing.SaysNothing() {
		p = salePricingJSON{}
		p.read(r, m.pricing)
		off = r.priced(p.discountTotal)
	}
	t := r.saleTaxes(m.tax, saleTaxJSON{first(m.unitTax, m.taxAmount), first(m.totalTax, m.taxTotal)}, m.unitTax)
	unit, unitTax, taxes := r.priced(p.price), r.priced(t.amount), r.priced(t.total)
	if t.total.SaysNothing() {
		taxes = unitTax.Mul(pieces)
	}
	if without = r.priced(p.total); p.total.SaysNothing() {
		gross := unit.Mul(pieces)
		if without = discounted(gross, off); p.price.SaysNothing() {
			r.needs(v, "pricing", "This is needed, with its total.")
		}
		if gross.Sign() > 0 {
			l.less = gross.Add(without.Less())
		}
	}
	if beyond(without, r.currency, ticket.MaxAmount) || beyond(taxes, r.currency, ticket.MaxAmount) {
		r.needs(v, "pricing", "The line's price times its quantity is too large.")
	}
	r.saleSums(&l, pieces, without, taxes, unit, unitTax, inclusive)
	l.even = l.even && !p.price.SaysNothing()
	r.saleReason(&l, m.returned, m.isReturn, m.giftCardNumber, pieces)
	return l, without
}

// saleTaxes gives the tax of one piece and of the line: the two of the flat schema, whose tax may be a number, or those
// of the tax that is an object.
func (r *reader) saleTaxes(tax jsontape.Value, flat saleTaxJSON, unitTaxed jsontape.Value) saleTaxJSON {
	switch k := tax.Kind(); {
	case k == '0' || k == '"':
		flat.amount = first(unitTaxed, tax)
	case !tax.SaysNothing():
		flat = saleTaxJSON{}
		flat.read(r, tax)
	}
	return flat
}

// saleReason says why a line is left out: it is a gift card, or it was brought back.
func (r *reader) saleReason(l *line, back, flatBack, card jsontape.Value, pieces money.Decimal) {
	returned := r.yes(r.only(back, saleReturnNames))
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
		var m saleAdjustmentJSON
		m.read(r, e)
		kind := first(m.adjustmentType, m.kind)
		switch amount := r.amount(first(m.total, m.value)); {
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
		var m saleChargeJSON
		m.read(r, v)
		without, with := r.amount(m.total), r.amount(m.totalIncl)
		if m.totalIncl.SaysNothing() {
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
