package format

import (
	"math"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	cloverOrderNames = jsontape.NewNames("order", "elements", "currency", "total", "unpaidBalance", "paymentState",
		"isVat", "taxRemoved", "lineItems", "discounts", "serviceCharge", "additionalCharges", "payments")
	cloverLineNames = jsontape.NewNames("item", "name", "itemCode", "price", "unitQty", "unitName", "modifications",
		"discounts", "exchanged", "refunded", "isRevenue", "isOrderFee", "isPlatformOrderFee", "taxRates")
	cloverItemNames     = jsontape.NewNames("id")
	cloverElementsNames = jsontape.NewNames("elements")
	cloverAmountNames   = jsontape.NewNames("amount")
	cloverDiscountNames = jsontape.NewNames("amount", "percentage", "percentageDecimal")
	cloverRateNames     = jsontape.NewNames("id", "rate", "taxAmount")
	cloverPaymentNames  = jsontape.NewNames("amount", "result")
)

type cloverOrderJSON struct {
	order, elements, currency, total, unpaidBalance, paymentState, isVat, taxRemoved, lineItems, discounts,
	serviceCharge, additionalCharges, payments jsontape.Value
}

func (m *cloverOrderJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cloverOrderNames, &m.order, &m.elements, &m.currency, &m.total, &m.unpaidBalance,
		&m.paymentState, &m.isVat, &m.taxRemoved, &m.lineItems, &m.discounts, &m.serviceCharge,
		&m.additionalCharges, &m.payments)
}

type cloverLineJSON struct {
	item, name, itemCode, price, unitQty, unitName, modifications, discounts, exchanged, refunded, isRevenue,
	isOrderFee, isPlatformOrderFee, taxRates jsontape.Value
}

func (m *cloverLineJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cloverLineNames, &m.item, &m.name, &m.itemCode, &m.price, &m.unitQty, &m.unitName,
		&m.modifications, &m.discounts, &m.exchanged, &m.refunded, &m.isRevenue, &m.isOrderFee,
		&m.isPlatformOrderFee, &m.taxRates)
}

type cloverDiscountJSON struct {
	amount, percentage, percentageDecimal jsontape.Value
}

func (m *cloverDiscountJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cloverDiscountNames, &m.amount, &m.percentage, &m.percentageDecimal)
}

type cloverRateJSON struct {
	id, rate, taxAmount jsontape.Value
}

func (m *cloverRateJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cloverRateNames, &m.id, &m.rate, &m.taxAmount)
}

type cloverPaymentJSON struct {
	amount, result jsontape.Value
}

func (m *cloverPaymentJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cloverPaymentNames, &m.amount, &m.result)
}

// elements is a list as Clover writes it: under the name elements, or bare.
func (r *reader) elements(v jsontape.Value) jsontape.Value {
	if v.Kind() != '{' {
		return v
	}
	return r.only(v, cloverElementsNames)
}

// cloverTax is a tax rate with the lines that it is on.
type cloverTax struct {
	id          string
	rate, fixed money.Amount
	lines       []int
}

// cloverOrder is an order that is read: what is to be told of its lines beside.
type cloverOrder struct {
	*bill
	taxes []cloverTax
	fees  bool // some lines are fees
}

// clover reads an Order. It tells no totals of its lines: they are reckoned as Clover does.
func (r *reader) clover(data jsontape.Value) *ticket.Ticket {
	var m cloverOrderJSON
	m.read(r, data)
	if inner := first(m.order, r.onlyOne(m.elements)); !inner.SaysNothing() {
		data, m = inner, cloverOrderJSON{}
		m.read(r, data)
	}
	if data.Kind() != '{' {
		return nil
	}
	r.ours(m.currency)
	list := r.elements(m.lineItems)
	b := &cloverOrder{bill: r.bill(size(list))}
	if m.lineItems.SaysNothing() {
		r.needs(data, "lineItems", "This is needed: ask for the order with expand=lineItems.")
	}
	for i, e := range r.list(list) {
		b.line(i, e)
	}
	off := b.discounts(r.elements(m.discounts), b.goods())
	b.spread(off)
	b.discount += off
	isVAT := r.yes(m.isVat)
	if taxes := b.reckonTaxes(); !r.yes(m.taxRemoved) {
		b.tax = taxes
	} else {
		for i := range b.lines {
			b.lines[i].outside = 0
		}
	}
	if isVAT {
		for i := range b.lines {
			b.lines[i].outside = 0
		}
	}
	b.sum(m.total, isVAT, b.fees || !m.serviceCharge.SaysNothing() || size(r.elements(m.additionalCharges)) > 0)
	paid := r.cloverPaid(m.payments)
	if b.due = r.minor(m.unpaidBalance); m.unpaidBalance.SaysNothing() {
		if b.due = b.own - paid; !b.summed {
			r.needs(data, "total", "An order needs its total or its unpaidBalance.")
		}
	}
	b.nothingDue = r.says(m.paymentState, "PAID", "REFUNDED", "CREDITED")
	return b.ticket()
}

// cloverPaid sums the payments that succeeded.
func (r *reader) cloverPaid(payments jsontape.Value) (paid money.Amount) {
	for _, e := range r.list(r.elements(payments)) {
		var p cloverPaymentJSON
		p.read(r, e)
		if amount := r.minor(p.amount); p.result.SaysNothing() || r.says(p.result, "SUCCESS") {
			paid += amount
		}
	}
	return paid
}

// goods sums what gifts may pay.
func (b *bill) goods() (sum money.Amount) {
	for i := range b.lines {
		if l := &b.lines[i]; l.reason == ticket.Allowed && l.total > 0 {
			sum += l.total
		}
	}
	return sum
}

// sum holds the parts against the order's own total. What is left of it is the service charge, where there is one.
func (b *cloverOrder) sum(total jsontape.Value, vat, charged bool) {
	b.own, b.summed = b.minor(total), !total.SaysNothing()
	for i := range b.lines {
		switch l := &b.lines[i]; l.reason {
		case ticket.Refunded, ticket.Fee:
		default:
			b.parts += l.total
		}
	}
	if !vat {
		b.parts += b.tax
	}
	if rest := b.own - b.parts; charged && rest > 0 {
		b.charge, b.parts = rest, b.own
	}
	if !b.summed {
		b.own = b.parts
	}
}

func (b *cloverOrder) line(index int, v jsontape.Value) {
	var m cloverLineJSON
	m.read(b.reader, v)
	of := b.only(m.item, cloverItemNames)
	l := line{name: b.name(m.name)}
	switch b.options.ItemID {
	case "itemCode":
		l.id = b.id(m.itemCode)
	case "name":
		l.id = b.id(m.name)
	default:
		l.id = b.id(of)
	}
	if m.price.SaysNothing() {
		b.needs(v, "price", needed)
	}
	gross, pieces, weighed := b.gross(m.price, m.unitQty, m.unitName)
	if gross += b.modified(m.modifications); gross > ticket.MaxAmount || gross < -ticket.MaxAmount {
		b.needs(v, "price", "The line's price with its modifications is too large.")
		gross = 0
	}
	l.count(money.DecimalOf(int64(pieces)), weighed, gross)
	off := b.discounts(b.elements(m.discounts), gross)
	l.total = gross - off
	gone := b.yes(m.exchanged)
	gone = b.yes(m.refunded) || gone
	isFee := b.yes(m.isOrderFee)
	isFee = b.yes(m.isPlatformOrderFee) || isFee
	switch noRevenue := b.no(m.isRevenue); {
	case gone:
		l.reason = ticket.Refunded
	case isFee:
		l.reason, b.fees = ticket.Fee, true
	case noRevenue:
		l.reason = ticket.GiftCard
	case l.total < 0:
		l.reason = ticket.Returned
	}
	b.add(l)
	if b.lines[len(b.lines)-1].reason == ticket.Allowed {
		b.discount += off
	}
	b.rates(len(b.lines)-1, m.taxRates, gone)
}

// gross is the price of a line, times its weight in thousandths if it has one. Whole thousands of no unit are pieces.
func (b *cloverOrder) gross(price, unitQuantity, unitName jsontape.Value) (gross, pieces money.Amount, weighed bool) {
	const thousand = 1_000
	gross, weight := b.minor(price), b.minor(unitQuantity)
	unit := b.text(unitName)
	if weight == 0 {
		return gross, 1, false
	}
	gross = b.currency.Decimal(gross).Mul(money.DecimalOf(int64(weight))).Mul(thousandth).Round(b.currency)
	if beyond(b.currency.Decimal(gross), b.currency, ticket.MaxAmount) || weight > thousand*ticket.MaxQuantity {
		b.AddAt(unitQuantity.Path, "This number is too large.")
		return 0, 1, true
	}
	if pieces = weight / thousand; weight%thousand != 0 || pieces < 0 || len(unit) > 0 {
		return gross, 1, true
	}
	return gross, pieces, false
}

// modified sums what the modifications of a line add to its price.
func (b *cloverOrder) modified(modifications jsontape.Value) (sum money.Amount) {
	for _, e := range b.list(b.elements(modifications)) {
		sum += b.minor(b.only(e, cloverAmountNames))
	}
	return sum
}

var thousandth, _ = money.ReadDecimal([]byte("0.001"))

// discounts sums discounts on an amount, of which they are no more: percentages of it, and amounts. Clover stores these
// as negative numbers.
func (r *reader) discounts(v jsontape.Value, on money.Amount) (sum money.Amount) {
	on = max(0, on)
	for _, e := range r.list(v) {
		var m cloverDiscountJSON
		m.read(r, e)
		amount, percent, fine := r.minor(m.amount), r.percent(m.percentage, 100), r.percent(m.percentageDecimal, whole100)
		switch {
		case fine != 0:
			amount = share(on, fine, whole100)
		case percent != 0:
			amount = share(on, percent, 100)
		}
		sum = min(on, sum+max(amount, -amount))
	}
	return sum
}

// whole100 is a hundred percent in ten-thousandths of a percent.
const whole100 = 1_000_000

// percent reads a part of whole, more than which is a problem.
func (r *reader) percent(v jsontape.Value, whole money.Amount) money.Amount {
	p := r.minor(v)
	if p = max(p, -p); p > whole {
		r.AddAt(v.Path, "A discount of more than 100 %% cannot be.")
		return 0
	}
	return p
}

// rates notes the tax rates of a line. It is taxed once by each.
func (b *cloverOrder) rates(index int, v jsontape.Value, gone bool) {
	for _, e := range b.list(b.elements(v)) {
		var m cloverRateJSON
		m.read(b.reader, e)
		rate, fixed, id := b.minor(m.rate), b.minor(m.taxAmount), b.id(m.id)
		if rate < 0 || rate > 10*wholeRate {
			b.AddAt(m.rate.Path, "A tax rate must be from 0 to %d.", 10*wholeRate)
			continue
		}
		if gone {
			continue
		}
		n := 0
		for n < len(b.taxes) && (b.taxes[n].id != id || b.taxes[n].rate != rate || b.taxes[n].fixed != fixed) {
			n++
		}
		if n == maxTaxes {
			b.AddAt(e.Path, "An order may have at most %d tax rates.", maxTaxes)
			continue
		}
		if n == len(b.taxes) {
			b.taxes = append(b.taxes, cloverTax{id: id, rate: rate, fixed: fixed})
		}
		if t := &b.taxes[n]; len(t.lines) == 0 || t.lines[len(t.lines)-1] != index {
			t.lines = append(t.lines, index)
		}
	}
}

// maxTaxes is how many different tax rates an order may have.
const maxTaxes = 100

// No sum of taxes can wrap around: those of a line are three nodes of the tape each, and one is at most ten times the
// line and an amount.
const _ = uint64(math.MaxInt64 - jsontape.MaxNodes/3*(10+1)*ticket.MaxAmount)

// wholeRate is a tax of a hundred percent.
const wholeRate = 10_000_000

// reckonTaxes sums the taxes, each rounded once for all of its lines, and notes them on lines that are not goods.
func (b *cloverOrder) reckonTaxes() (sum money.Amount) {
	for _, t := range b.taxes {
		var on money.Amount
		for _, i := range t.lines {
			l := &b.lines[i]
			on += max(0, l.total)
			l.outside += share(max(0, l.total), t.rate, wholeRate) + t.fixed
			sum += t.fixed
		}
		sum += share(on, t.rate, wholeRate)
	}
	return sum
}
