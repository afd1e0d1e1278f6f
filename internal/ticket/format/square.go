package format

import (
	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	squareOrderNames = jsontape.NewNames("order", "orders", "state", "line_items", "taxes", "returns", "tenders",
		"total_money", "net_amount_due_money", "total_tax_money", "total_discount_money",
		"total_service_charge_money", "total_tip_money", "rounding_adjustment")
	squareLineNames = jsontape.NewNames("name", "variation_name", "catalog_object_id", "category_id", "item_type",
		"quantity", "quantity_unit", "base_price_money", "variation_total_price_money", "modifiers",
		"applied_taxes", "taxes", "total_tax_money", "total_service_charge_money", "total_money")
	squareMoneyNames    = jsontape.NewNames("amount", "currency")
	squareModifierNames = jsontape.NewNames("total_price_money")
	squareTaxNames      = jsontape.NewNames("uid", "type", "applied_money")
	squareAppliedNames  = jsontape.NewNames("tax_uid", "applied_money")
	squareReturnNames   = jsontape.NewNames("return_line_items")
	squareReturnedNames = jsontape.NewNames("catalog_object_id", "quantity", "item_type", "total_money",
		"total_tax_money")
	squareTenderNames  = jsontape.NewNames("amount_money", "tip_money")
	squareRoundedNames = jsontape.NewNames("amount_money")
)

type squareOrderJSON struct {
	order, orders, state, lineItems, taxes, returns, tenders, totalMoney, netAmountDueMoney, totalTaxMoney,
	totalDiscountMoney, totalServiceChargeMoney, totalTipMoney, roundingAdjustment jsontape.Value
}

func (m *squareOrderJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareOrderNames, &m.order, &m.orders, &m.state, &m.lineItems, &m.taxes, &m.returns,
		&m.tenders, &m.totalMoney, &m.netAmountDueMoney, &m.totalTaxMoney, &m.totalDiscountMoney,
		&m.totalServiceChargeMoney, &m.totalTipMoney, &m.roundingAdjustment)
}

type squareLineJSON struct {
	name, variationName, catalogObjectID, categoryID, itemType, quantity, quantityUnit, basePriceMoney,
	variationTotalPriceMoney, modifiers, appliedTaxes, taxes, totalTaxMoney, totalServiceChargeMoney,
	totalMoney jsontape.Value
}

func (m *squareLineJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareLineNames, &m.name, &m.variationName, &m.catalogObjectID, &m.categoryID, &m.itemType,
		&m.quantity, &m.quantityUnit, &m.basePriceMoney, &m.variationTotalPriceMoney, &m.modifiers,
		&m.appliedTaxes, &m.taxes, &m.totalTaxMoney, &m.totalServiceChargeMoney, &m.totalMoney)
}

type squareMoneyJSON struct {
	amount, currency jsontape.Value
}

func (m *squareMoneyJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareMoneyNames, &m.amount, &m.currency)
}

type squareTaxJSON struct {
	uid, kind, appliedMoney jsontape.Value
}

func (m *squareTaxJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareTaxNames, &m.uid, &m.kind, &m.appliedMoney)
}

type squareAppliedJSON struct {
	taxUID, appliedMoney jsontape.Value
}

func (m *squareAppliedJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareAppliedNames, &m.taxUID, &m.appliedMoney)
}

type squareReturnedJSON struct {
	catalogObjectID, quantity, itemType, totalMoney, totalTaxMoney jsontape.Value
}

func (m *squareReturnedJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareReturnedNames, &m.catalogObjectID, &m.quantity, &m.itemType, &m.totalMoney,
		&m.totalTaxMoney)
}

type squareTenderJSON struct {
	amountMoney, tipMoney jsontape.Value
}

func (m *squareTenderJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, squareTenderNames, &m.amountMoney, &m.tipMoney)
}

// money reads a Money: minor units in the account's currency.
func (r *reader) money(v jsontape.Value) money.Amount {
	if v.SaysNothing() {
		return 0
	}
	var m squareMoneyJSON
	if !m.read(r, v) {
		return 0
	}
	if m.amount.SaysNothing() {
		r.needs(v, "amount", needed)
	}
	r.ours(m.currency)
	return r.minor(m.amount)
}

// square reads an Order. The total of a line is its total_money less the taxes that were added to it and the service
// charges that were put on it.
func (r *reader) square(data jsontape.Value) *ticket.Ticket {
	var m squareOrderJSON
	m.read(r, data)
	if inner := first(m.order, r.onlyOne(m.orders)); !inner.SaysNothing() {
		data, m = inner, squareOrderJSON{}
		m.read(r, data)
	}
	onlyReturns := size(m.lineItems) == 0 && size(m.returns) > 0
	if m.lineItems.SaysNothing() && !onlyReturns && data.Kind() == '{' {
		r.needs(data, "line_items", "This is needed: send the Order as Square gives it.")
	}
	b := r.bill(size(m.lineItems))
	additive := r.squareTaxes(m.taxes)
	var charged, taxed money.Amount // on lines
	for _, e := range r.list(m.lineItems) {
		l, ofLine, taxOfLine := r.squareLine(e, additive)
		b.add(l)
		b.parts += l.total + l.outside
		charged, taxed = charged+ofLine, taxed+taxOfLine
	}
	b.tax, b.discount = r.money(m.totalTaxMoney), r.money(m.totalDiscountMoney)
	b.charge = r.money(m.totalServiceChargeMoney)
	b.parts += max(0, b.charge-charged) + max(0, b.tax-taxed)
	b.own, b.summed = r.money(m.totalMoney), !m.totalMoney.SaysNothing()
	if !b.summed && !onlyReturns && data.Kind() == '{' {
		r.needs(data, "total_money", notCalculated)
	}
	if whole := b.parts + r.squareRounding(m.roundingAdjustment); near(whole, b.own, b.rounding()) {
		b.parts = whole
	}
	gratuity := r.money(m.totalTipMoney)
	counted := gratuity > 0 && near(b.parts+gratuity, b.own, b.rounding())
	if counted {
		b.parts = b.own
	}
	back := r.squareReturns(b, m.returns)
	if b.due = r.money(m.netAmountDueMoney); m.netAmountDueMoney.SaysNothing() {
		b.due = b.own - back - r.squarePaid(m.tenders, counted)
	}
	b.nothingDue = r.says(m.state, "COMPLETED", "CANCELED") || onlyReturns
	return b.ticket()
}

// squareRounding is what cash rounding adds to the total of an order.
func (r *reader) squareRounding(v jsontape.Value) money.Amount {
	return r.money(r.only(v, squareRoundedNames))
}

// squarePaid sums what was tendered. Gratuities in it are paid where the order's total counts them.
func (r *reader) squarePaid(tenders jsontape.Value, counted bool) (paid money.Amount) {
	for _, e := range r.list(tenders) {
		var t squareTenderJSON
		t.read(r, e)
		amount, gratuity := r.money(t.amountMoney), r.money(t.tipMoney)
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
		var m squareTaxJSON
		m.read(r, e)
		additive[string(r.text(m.uid))] = !r.says(m.kind, "INCLUSIVE")
	}
	return additive
}

// squareLine reads a line, what service charges are in its total_money, and all of its tax.
func (r *reader) squareLine(v jsontape.Value, additive map[string]bool) (l line, charged, taxed money.Amount) {
	var m squareLineJSON
	m.read(r, v)
	if m.totalMoney.SaysNothing() {
		r.needs(v, "total_money", notCalculated)
	}
	l.id, l.group = r.id(m.catalogObjectID), r.id(m.categoryID)
	if l.name = r.name(m.name); !m.variationName.SaysNothing() {
		l.name = cut(l.name + " " + r.name(m.variationName))
	}
	pieces := r.squareQuantity(m.quantity)
	gross := r.money(m.variationTotalPriceMoney)
	if m.variationTotalPriceMoney.SaysNothing() {
		gross = pieces.Mul(money.DecimalOf(int64(r.money(m.basePriceMoney)))).Round(money.Pieces)
	}
	for _, e := range r.list(m.modifiers) {
		gross += r.money(r.only(e, squareModifierNames))
	}
	l.count(pieces, !m.quantityUnit.SaysNothing(), gross)
	l.even = l.even && !(m.variationTotalPriceMoney.SaysNothing() && m.basePriceMoney.SaysNothing())
	charged, taxed = max(0, r.money(m.totalServiceChargeMoney)), r.money(m.totalTaxMoney)
	whole := r.money(m.totalMoney)
	added := r.squareAdded(m.appliedTaxes, additive, taxed)
	if m.appliedTaxes.SaysNothing() && !m.taxes.SaysNothing() {
		added = r.squareOwnTaxes(m.taxes, taxed)
	}
	l.outside = charged + max(0, added)
	if l.total = whole - l.outside; l.total < 0 && whole >= 0 { // taxes and charges are more than the line
		l.total, l.outside = 0, whole
	}
	switch {
	case r.says(m.itemType, "GIFT_CARD"):
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
		var m squareAppliedJSON
		m.read(r, e)
		amount := r.money(m.appliedMoney)
		added, known := additive[string(r.text(m.taxUID))]
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
		var m squareTaxJSON
		m.read(r, e)
		amount := max(0, r.money(m.appliedMoney))
		if r.says(m.kind, "INCLUSIVE") {
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
		for _, one := range r.list(r.only(e, squareReturnNames)) {
			var l squareReturnedJSON
			l.read(r, one)
			value := max(0, r.money(l.totalMoney))
			sum += value
			pieces := r.squareQuantity(l.quantity)
			r.money(l.totalTaxMoney)
			if id := r.id(l.catalogObjectID); id != "" && !r.says(l.itemType, "GIFT_CARD") {
				b.back = append(b.back, line{id: id, total: -value,
					quantity: money.DecimalOf(-int64(pieces.Round(money.Pieces)))})
			}
		}
	}
	return sum
}
