package format

import (
	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	squareNames = jsontape.NewNames("order", "orders", "state", "line_items", "taxes", "returns", "tenders", "total_money",
		"net_amount_due_money", "total_tax_money", "total_discount_money", "total_service_charge_money",
		"total_tip_money", "rounding_adjustment")
	squareLine = jsontape.NewNames("name", "variation_name", "catalog_object_id", "category_id", "item_type", "quantity",
		"quantity_unit", "base_price_money", "variation_total_price_money", "modifiers", "applied_taxes", "taxes",
		"total_tax_money", "total_service_charge_money", "total_money")
	squareMoney    = jsontape.NewNames("amount", "currency")
	squareModifier = jsontape.NewNames("total_price_money")
	squareTax      = jsontape.NewNames("uid", "type", "applied_money")
	squareApplied  = jsontape.NewNames("tax_uid", "applied_money")
	squareReturn   = jsontape.NewNames("return_line_items")
	squareReturned = jsontape.NewNames("catalog_object_id", "quantity", "item_type", "total_money", "total_tax_money")
	squareTender   = jsontape.NewNames("amount_money", "tip_money")
	squareRounded  = jsontape.NewNames("amount_money")
)

// money reads a Money: minor units in the account's currency.
func (r *reader) money(v jsontape.Value) money.Amount {
	var m [2]jsontape.Value
	if !r.pick(v, squareMoney, m[:]) {
		return 0
	}
	if m[0].SaysNothing() {
		r.needs(v, "amount", needed)
	}
	r.ours(m[1])
	return r.minor(m[0])
}

// square reads an Order. The total of a line is its total_money less the taxes that were added to it and the service
// charges that were put on it.
func (r *reader) square(data jsontape.Value) *ticket.Ticket {
	const (
		order = iota
		orders
		state
		lines
		taxes
		returns
		tenders
		total
		net
		tax
		discount
		charge
		tip
		rounded
	)
	var m [14]jsontape.Value
	r.pick(data, squareNames, m[:])
	if inner := first(m[order], r.onlyOne(m[orders])); !inner.SaysNothing() {
		data, m = inner, [14]jsontape.Value{}
		r.pick(data, squareNames, m[:])
	}
	onlyReturns := size(m[lines]) == 0 && size(m[returns]) > 0
	if m[lines].SaysNothing() && !onlyReturns && data.Kind() == '{' {
		r.needs(data, "line_items", "This is needed: send the Order as Square gives it.")
	}
	b := r.bill(size(m[lines]))
	additive := r.squareTaxes(m[taxes])
	var charged, taxed money.Amount // on lines
	for _, e := range r.list(m[lines]) {
		l, ofLine, taxOfLine := r.squareLine(e, additive)
		b.add(l)
		b.parts += l.total + l.outside
		charged, taxed = charged+ofLine, taxed+taxOfLine
	}
	b.tax, b.discount, b.charge = r.money(m[tax]), r.money(m[discount]), r.money(m[charge])
	b.parts += max(0, b.charge-charged) + max(0, b.tax-taxed)
	if b.own, b.summed = r.money(m[total]), !m[total].SaysNothing(); !b.summed && !onlyReturns && data.Kind() == '{' {
		r.needs(data, "total_money", notCalculated)
	}
	if whole := b.parts + r.squareRounding(m[rounded]); near(whole, b.own, b.rounding()) {
		b.parts = whole
	}
	gratuity := r.money(m[tip])
	counted := gratuity > 0 && near(b.parts+gratuity, b.own, b.rounding())
	if counted {
		b.parts = b.own
	}
	back := r.squareReturns(b, m[returns])
	if b.due = r.money(m[net]); m[net].SaysNothing() {
		b.due = b.own - back - r.squarePaid(m[tenders], counted)
	}
	b.settled = r.says(m[state], "COMPLETED", "CANCELED") || onlyReturns
	return b.ticket()
}

// squareRounding is what cash rounding adds to the total of an order.
func (r *reader) squareRounding(v jsontape.Value) money.Amount {
	var m [1]jsontape.Value
	r.pick(v, squareRounded, m[:])
	return r.money(m[0])
}

// squarePaid sums what was tendered. Gratuities in it are paid where the order's total counts them.
func (r *reader) squarePaid(tenders jsontape.Value, counted bool) (paid money.Amount) {
	for _, e := range r.list(tenders) {
		var t [2]jsontape.Value
		r.pick(e, squareTender, t[:])
		amount, gratuity := r.money(t[0]), r.money(t[1])
		if !counted {
			amount -= gratuity
		}
		paid += max(0, amount)
	}
	return paid
}

const notCalculated = "This order has no totals: send it as CalculateOrder or RetrieveOrder answers it."

// squareTaxes tells of each tax by its uid whether it is added to prices.
func (r *reader) squareTaxes(v jsontape.Value) map[string]bool {
	if size(v) == 0 {
		r.is(v, '[', "a list")
		return nil
	}
	additive := make(map[string]bool, size(v))
	for _, e := range r.list(v) {
		var m [3]jsontape.Value
		r.pick(e, squareTax, m[:])
		additive[string(r.text(m[0]))] = !r.says(m[1], "INCLUSIVE")
	}
	return additive
}

// squareLine reads a line, what service charges are in its total_money, and all of its tax.
func (r *reader) squareLine(v jsontape.Value, additive map[string]bool) (l line, charged, taxed money.Amount) {
	const (
		name = iota
		variation
		object
		category
		itemType
		quantity
		unit
		base
		price
		modifiers
		taxes
		ownTaxes
		tax
		charge
		total
	)
	var m [15]jsontape.Value
	r.pick(v, squareLine, m[:])
	if m[total].SaysNothing() {
		r.needs(v, "total_money", notCalculated)
	}
	l.id, l.group = r.id(m[object]), r.id(m[category])
	if l.name = r.name(m[name]); !m[variation].SaysNothing() {
		l.name = cut(l.name + " " + r.name(m[variation]))
	}
	pieces := r.squareQuantity(m[quantity])
	gross := r.money(m[price])
	if m[price].SaysNothing() {
		gross = pieces.Mul(money.DecimalOf(int64(r.money(m[base])))).Round(money.Pieces)
	}
	for _, e := range r.list(m[modifiers]) {
		var modifier [1]jsontape.Value
		r.pick(e, squareModifier, modifier[:])
		gross += r.money(modifier[0])
	}
	l.count(pieces, !m[unit].SaysNothing(), gross)
	l.even = l.even && !(m[price].SaysNothing() && m[base].SaysNothing())
	charged, taxed = max(0, r.money(m[charge])), r.money(m[tax])
	whole := r.money(m[total])
	added := r.squareAdded(m[taxes], additive, taxed)
	if m[taxes].SaysNothing() && !m[ownTaxes].SaysNothing() {
		added = r.squareOwnTaxes(m[ownTaxes], taxed)
	}
	l.outside = charged + max(0, added)
	if l.total = whole - l.outside; l.total < 0 && whole >= 0 { // taxes and charges are more than the line
		l.total, l.outside = 0, whole
	}
	switch {
	case r.says(m[itemType], "GIFT_CARD"):
		l.reason = ticket.GiftCard
	case whole < 0:
		l.reason = ticket.Returned
	}
	return l, charged, taxed
}

func (r *reader) squareQuantity(v jsontape.Value) money.Decimal {
	if v.SaysNothing() {
		return money.DecimalOf(1)
	}
	text := r.text(v)
	if text == nil {
		return money.DecimalOf(1)
	}
	for _, c := range text {
		if c != '.' && (c < '0' || c > '9') {
			r.AddAt(v.Path, `This must be a decimal number in quotes, such as "1" or "0.750".`)
			return money.DecimalOf(1)
		}
	}
	d, _ := r.exact(v, text, money.Pieces, ticket.MaxQuantity)
	return d
}

// squareAdded is what taxes add to a line: all of them where it cannot be told, as where fewer are listed.
func (r *reader) squareAdded(v jsontape.Value, additive map[string]bool, all money.Amount) (sum money.Amount) {
	inside, unknown := money.Amount(0), v.SaysNothing()
	for _, e := range r.list(v) {
		var m [2]jsontape.Value
		r.pick(e, squareApplied, m[:])
		amount := r.money(m[1])
		added, known := additive[string(r.text(m[0]))]
		if unknown = unknown || !known || amount < 0; added || !known {
			sum += max(0, amount)
		} else {
			inside += amount
		}
	}
	if unknown || sum+inside < all {
		return max(all, sum)
	}
	return sum
}

// squareOwnTaxes is what the taxes add to a line that lists them itself, as orders did before they were listed once for
// all lines.
func (r *reader) squareOwnTaxes(v jsontape.Value, all money.Amount) (sum money.Amount) {
	inside := money.Amount(0)
	for _, e := range r.list(v) {
		var m [3]jsontape.Value
		r.pick(e, squareTax, m[:])
		amount := max(0, r.money(m[2]))
		if r.says(m[1], "INCLUSIVE") {
			inside += amount
		} else {
			sum += amount
		}
	}
	if sum+inside < all {
		return max(all, sum)
	}
	return sum
}

// squareReturns notes which items are brought back, and gives the value of all.
func (r *reader) squareReturns(b *bill, v jsontape.Value) (sum money.Amount) {
	for _, e := range r.list(v) {
		var m [1]jsontape.Value
		r.pick(e, squareReturn, m[:])
		for _, one := range r.list(m[0]) {
			var l [5]jsontape.Value
			r.pick(one, squareReturned, l[:])
			value := max(0, r.money(l[3]))
			sum += value
			pieces := r.squareQuantity(l[1])
			r.money(l[4])
			if id := r.id(l[0]); id != "" && !r.says(l[2], "GIFT_CARD") {
				b.back = append(b.back, line{id: id, total: -value,
					quantity: money.DecimalOf(-int64(pieces.Round(money.Pieces)))})
			}
		}
	}
	return sum
}
