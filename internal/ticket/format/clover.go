package format

import (
	"math"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	cloverNames = jsontape.NewNames("order", "elements", "currency", "total", "unpaidBalance", "paymentState", "isVat",
		"taxRemoved", "lineItems", "discounts", "serviceCharge", "additionalCharges", "payments")
	cloverLine = jsontape.NewNames("item", "name", "itemCode", "price", "unitQty", "unitName", "modifications",
		"discounts", "exchanged", "refunded", "isRevenue", "isOrderFee", "isPlatformOrderFee", "taxRates")
	cloverItem     = jsontape.NewNames("id")
	cloverElements = jsontape.NewNames("elements")
	cloverAmount   = jsontape.NewNames("amount")
	cloverDiscount = jsontape.NewNames("amount", "percentage", "percentageDecimal")
	cloverRate     = jsontape.NewNames("id", "rate", "taxAmount")
	cloverPayment  = jsontape.NewNames("amount", "result")
)

// elements is a list as Clover writes it: under the name elements, or bare.
func (r *reader) elements(v jsontape.Value) jsontape.Value {
	if v.Kind() != '{' {
		return v
	}
	var m [1]jsontape.Value
	r.pick(v, cloverElements, m[:])
	return m[0]
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
	const (
		order = iota
		orders
		currency
		total
		unpaid
		state
		vat
		untaxed
		lines
		discounts
		service
		charges
		payments
	)
	var m [13]jsontape.Value
	r.pick(data, cloverNames, m[:])
	if inner := first(m[order], r.onlyOne(m[orders])); !inner.SaysNothing() {
		data, m = inner, [13]jsontape.Value{}
		r.pick(data, cloverNames, m[:])
	}
	if data.Kind() != '{' {
		return nil
	}
	r.ours(m[currency])
	list := r.elements(m[lines])
	b := &cloverOrder{bill: r.bill(size(list))}
	if m[lines].SaysNothing() {
		r.needs(data, "lineItems", "This is needed: ask for the order with expand=lineItems.")
	}
	for i, e := range r.list(list) {
		b.line(i, e)
	}
	off := b.discounts(r.elements(m[discounts]), b.goods())
	b.spread(off)
	b.discount += off
	isVAT := r.yes(m[vat])
	if taxes := b.reckonTaxes(); !r.yes(m[untaxed]) {
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
	b.sum(m[total], isVAT, b.fees || !m[service].SaysNothing() || size(r.elements(m[charges])) > 0)
	paid := r.cloverPaid(m[payments])
	if b.due = r.minor(m[unpaid]); m[unpaid].SaysNothing() {
		if b.due = b.own - paid; !b.summed {
			r.needs(data, "total", "An order needs its total or its unpaidBalance.")
		}
	}
	b.settled = r.says(m[state], "PAID", "REFUNDED", "CREDITED")
	return b.ticket()
}

// cloverPaid sums the payments that succeeded.
func (r *reader) cloverPaid(payments jsontape.Value) (paid money.Amount) {
	for _, e := range r.list(r.elements(payments)) {
		var p [2]jsontape.Value
		r.pick(e, cloverPayment, p[:])
		if amount := r.minor(p[0]); p[1].SaysNothing() || r.says(p[1], "SUCCESS") {
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
	const (
		item = iota
		name
		code
		price
		unitQuantity
		unitName
		modifications
		discounts
		exchanged
		refunded
		revenue
		fee
		platformFee
		rates
	)
	var m [14]jsontape.Value
	b.pick(v, cloverLine, m[:])
	var of [1]jsontape.Value
	b.pick(m[item], cloverItem, of[:])
	l := line{name: b.name(m[name])}
	switch b.options.ItemID {
	case "itemCode":
		l.id = b.id(m[code])
	case "name":
		l.id = b.id(m[name])
	default:
		l.id = b.id(of[0])
	}
	if m[price].SaysNothing() {
		b.needs(v, "price", needed)
	}
	gross, pieces, weighed := b.gross(m[price], m[unitQuantity], m[unitName])
	if gross += b.modified(m[modifications]); gross > ticket.MaxAmount || gross < -ticket.MaxAmount {
		b.needs(v, "price", "The line's price with its modifications is too large.")
		gross = 0
	}
	l.count(money.DecimalOf(int64(pieces)), weighed, gross)
	off := b.discounts(b.elements(m[discounts]), gross)
	l.total = gross - off
	gone := b.yes(m[exchanged])
	gone = b.yes(m[refunded]) || gone
	isFee := b.yes(m[fee])
	isFee = b.yes(m[platformFee]) || isFee
	switch noRevenue := b.no(m[revenue]); {
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
	b.rates(len(b.lines)-1, m[rates], gone)
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
		var a [1]jsontape.Value
		b.pick(e, cloverAmount, a[:])
		sum += b.minor(a[0])
	}
	return sum
}

var thousandth, _ = money.ReadDecimal([]byte("0.001"))

// discounts sums discounts on an amount, of which they are no more: percentages of it, and amounts. Clover stores these
// as negative numbers.
func (r *reader) discounts(v jsontape.Value, on money.Amount) (sum money.Amount) {
	on = max(0, on)
	for _, e := range r.list(v) {
		var m [3]jsontape.Value
		r.pick(e, cloverDiscount, m[:])
		amount, percent, fine := r.minor(m[0]), r.percent(m[1], 100), r.percent(m[2], whole100)
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
		var m [3]jsontape.Value
		b.pick(e, cloverRate, m[:])
		rate, fixed, id := b.minor(m[1]), b.minor(m[2]), b.id(m[0])
		if rate < 0 || rate > 10*wholeRate {
			b.AddAt(m[1].Path, "A tax rate must be from 0 to %d.", 10*wholeRate)
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
