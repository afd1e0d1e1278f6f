package format

import (
	"slices"
	"strings"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

// shop reads the amounts of an order, in the one of its two currencies that is the account's.
type shop struct {
	*reader
	names     *shopNames
	presented bool     // it is that of the customer, in which amounts stand in sets
	graph     *graphQL // what an order of the GraphQL API tells beside; nil: it is of the REST API
}

// amount reads an amount, and its set where the customer's currency counts. One that is nothing needs no set.
func (s shop) amount(plain, set jsontape.Value) money.Amount {
	if s.graph != nil {
		return s.priced(s.inBag(plain, set)).Round(s.currency)
	}
	if !s.presented {
		return s.priced(plain).Round(s.currency)
	}
	amount := s.ofSet(set)
	if amount.SaysNothing() && (!plain.SaysNothing() || !set.SaysNothing()) && !isZero(plain) {
		s.unset(plain, set)
	}
	return s.priced(amount).Round(s.currency)
}

// ofSet is the amount of a set in the account's currency.
func (s shop) ofSet(set jsontape.Value) jsontape.Value {
	if s.graph != nil {
		return s.inBag(jsontape.Value{}, set)
	}
	var m shopSetJSON
	m.read(s, set)
	in := m.shopMoney
	if s.presented {
		in = m.presentmentMoney
	}
	var money shopMoneyJSON
	money.read(s, in)
	s.ours(money.currencyCode)
	return money.amount
}

// tells reports whether an order tells an amount.
func (s shop) tells(plain, set jsontape.Value) bool {
	return !plain.SaysNothing() || s.graph != nil && !set.SaysNothing()
}

// unset notes that an amount is missing in the customer's currency: at its set, or where that would stand.
func (s shop) unset(plain, set jsontape.Value) {
	path := set.Path
	if !set.Exists() {
		path = func() string { return plain.Path() + "_set" }
	}
	s.AddAt(path, "This is needed in %s, the currency of the account.", s.currency.Code)
}

// isZero reports whether a value is zero, in quotes or not.
func isZero(v jsontape.Value) bool {
	var digits []byte
	switch v.Kind() {
	case '0':
		digits = v.Raw()
	case '"':
		digits = v.Unquoted()
	}
	d, err := money.ReadDecimal(digits)
	return err == nil && d.IsZero()
}

// shopify reads an Order or a DraftOrder of the REST API or of the GraphQL API, or the cart of a point of sale.
func (r *reader) shopify(data jsontape.Value) *ticket.Ticket {
	data, isDraft := r.shopOrder(data)
	if data.Kind() != '{' {
		return nil
	}
	var m shopKindJSON
	m.read(r, data)
	switch {
	case isGraphQL(&m, isDraft):
		return r.ofGraphQL(data, isDraft)
	case !m.lineItems.SaysNothing():
		return r.cart(data)
	case m.lines.SaysNothing():
		r.needs(data, "line_items", "This is needed: send an order, a draft order or a cart as Shopify gives it.")
		return nil
	}
	s := shop{reader: r, names: restNames}
	if isDraft || m.orderID.Exists() || m.invoiceURL.Exists() {
		r.ours(m.currency)
		return s.draftOrder(data)
	}
	if !r.says(m.currency, r.currency.Code) && r.says(m.presentmentCurrency, r.currency.Code) {
		s.presented = true
	} else {
		r.ours(m.currency)
	}
	return s.order(data)
}

// isGraphQL reports whether an order is of the GraphQL API: its lines are a connection, or it tells totals in sets.
func isGraphQL(m *shopKindJSON, isDraft bool) bool {
	lines := m.lineItems
	return lines.Kind() == '{' || !m.totalPriceSet.SaysNothing() || !m.currentTotalPriceSet.SaysNothing() ||
		isDraft && !lines.SaysNothing()
}

// shopOrder takes an order out of its envelopes: those of the REST API, and what a query or a mutation of the GraphQL
// API answers. isDraft tells that the envelope is that of a draft.
func (r *reader) shopOrder(data jsontape.Value) (order jsontape.Value, isDraft bool) {
	const deepest = 4
	for range deepest {
		var m shopEnvelopeJSON
		m.read(r, data)
		if !m.restLines.SaysNothing() || !m.lineItems.SaysNothing() {
			break
		}
		one := first(m.order, m.node, r.onlyOne(m.orders))
		ofDraft := first(m.restDraft, m.draftOrder, m.calculatedDraftOrder, r.onlyOne(m.draftOrders))
		isDraft = one.SaysNothing() && !ofDraft.SaysNothing()
		inner := first(one, ofDraft, r.answered(m.data))
		if inner.SaysNothing() {
			break
		}
		data = inner
	}
	return data, isDraft
}

// refund is what was given back of a line: how much, for how many pieces, and how many pieces for nothing that is told.
type refund struct{ value, pieces, free money.Amount }

// shippings sums what shipping costs.
func (s shop) shippings(list jsontape.Value) (sum money.Amount) {
	for _, e := range s.all(list) {
		sum += s.shipping(e)
	}
	return sum
}

func (s shop) order(data jsontape.Value) *ticket.Ticket {
	var m shopOrderJSON
	if m.read(s, data); s.graph != nil && s.lacksOf(data, m.lacking()) {
		return nil
	}
	b := s.bill(s.size(m.lineItems))
	back := s.refunds(m.refunds)
	inside := s.yes(m.taxesIncluded)
	for _, e := range s.all(m.lineItems) {
		l := s.line(e, m.totalTipReceived, back)
		if inside {
			l.outside = 0
		}
		b.add(l)
	}
	b.tax = s.latest(m.totalTax, m.totalTaxSet, m.currentTotalTax, m.currentTotalTaxSet)
	b.discount, b.charge = s.amount(m.totalDiscounts, m.totalDiscountsSet), s.shippings(m.shippingLines)
	b.charge += s.extras(m.originalTotalDutiesSet, m.currentTotalDutiesSet)
	b.charge += s.extras(m.originalTotalAdditionalFeesSet, m.currentTotalAdditionalFeesSet)
	b.own, b.summed = s.latest(m.totalPrice, m.totalPriceSet, m.currentTotalPrice, m.currentTotalPriceSet), true
	now := s.tells(m.currentTotalPrice, m.currentTotalPriceSet)
	if !now && !s.tells(m.totalPrice, m.totalPriceSet) {
		s.needs(data, "total_price", needed)
	}
	whole := s.priced(m.totalPrice).Round(s.currency) // in the shop's currency
	if now {
		whole = s.priced(m.currentTotalPrice).Round(s.currency)
	}
	taxed := s.tells(m.totalTax, m.totalTaxSet) || s.tells(m.currentTotalTax, m.currentTotalTaxSet)
	b.sumShop(inside, taxed, s.ofShop(m.totalTipReceived, b.own, whole))
	b.due, b.nothingDue = b.own, m.cancelledAt.Exists() && !m.cancelledAt.SaysNothing()
	switch open := s.ofShop(m.totalOutstanding, b.own, whole); {
	case !m.totalOutstanding.SaysNothing():
		b.due = open
	case b.nothingDue:
	case s.isOf(m.financialStatus, "partially_paid"):
		s.needs(data, s.names.open, "This is needed of an order that is paid in part.")
	default:
		b.nothingDue = s.isOf(m.financialStatus, "paid", "partially_refunded", "refunded", "voided")
	}
	return b.ticket()
}

// isOf reports whether a value is one of some words: the GraphQL API has them in capitals.
func (s shop) isOf(v jsontape.Value, words ...string) bool {
	text := string(s.text(v))
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, text) })
}

// latest reads an amount of an order and its set, or where the order tells it, what they are now.
func (s shop) latest(plain, set, nowPlain, nowSet jsontape.Value) money.Amount {
	was := s.amount(plain, set)
	if now := s.amount(nowPlain, nowSet); s.tells(nowPlain, nowSet) {
		return now
	}
	return was
}

// extras reads an amount that stands in a set only: in the one of what it is now, if the order tells that.
func (s shop) extras(original, now jsontape.Value) money.Amount {
	set := now
	if set.SaysNothing() {
		set = original
	}
	return max(0, s.priced(s.ofSet(set)).Round(s.currency))
}

// ofShop reads an amount that stands in the shop's currency only: a part of whole, which is own in the account's.
func (s shop) ofShop(v jsontape.Value, own, whole money.Amount) money.Amount {
	if s.graph != nil {
		return s.amount(jsontape.Value{}, v)
	}
	amount := s.priced(v).Round(s.currency)
	if !s.presented {
		return amount
	}
	of, _ := portion(max(0, own), max(0, min(amount, whole)), max(1, whole))
	return of
}

// sumShop sums the parts of an order or a draft. Where its tax is not told, that of the lines counts. Gratuities that
// are no lines are a part where the order's own total counts them.
func (b *bill) sumShop(inside, taxed bool, gratuities money.Amount) {
	b.parts = b.charge
	for i := range b.lines {
		l := &b.lines[i]
		if l.reason == ticket.Refunded {
			continue
		}
		b.parts += l.total
		if !taxed {
			b.parts += l.outside
		}
	}
	if taxed && !inside {
		b.parts += b.tax
	}
	if near(b.parts+gratuities, b.own, b.rounding()) {
		b.parts = b.own
	}
}

func (s shop) shipping(v jsontape.Value) money.Amount {
	var m shopShippingJSON
	m.read(s, v)
	price := s.latest(m.price, m.priceSet, m.discountedPrice, m.discountedPriceSet)
	if s.yes(m.isRemoved) {
		return 0
	}
	return price
}

// refunds gives what came back of each line, by its id.
func (s shop) refunds(v jsontape.Value) map[string]refund {
	if size(v) == 0 {
		s.is(v, '[', "a list")
		return nil
	}
	sums := make(map[string]refund)
	for _, e := range s.list(v) {
		for _, one := range s.all(s.only(e, s.names.refunds)) {
			var m shopRefundJSON
			m.read(s, one)
			id := s.ref(m.lineItemID)
			sum := sums[id]
			value, pieces := s.amount(m.subtotal, m.subtotalSet), max(0, s.minor(m.quantity))
			if value > 0 {
				sum.value, sum.pieces = sum.value+value, sum.pieces+pieces
			} else {
				sum.free += pieces
			}
			sums[id] = sum
		}
	}
	return sums
}

// line reads a line of an order: what is still on it, after its discounts.
func (s shop) line(v, gratuities jsontape.Value, back map[string]refund) line {
	var m shopLineJSON
	if m.read(s, v); s.graph != nil {
		s.graph.lineLacks(&m, s.options.ItemID, false)
	}
	l, gross, pieces := s.goods(v, &m)
	if s.graph != nil && l.reason == ticket.Allowed && s.isTip(l, m.variantID, gross, gratuities) {
		l.reason = ticket.Tip
	}
	off := money.Amount(0)
	for _, e := range s.all(m.discountAllocations) {
		var a shopAmountJSON
		a.read(s, s.names.allocation, e)
		off += max(0, s.amount(a.amount, a.amountSet))
	}
	if whole := s.amount(m.totalDiscount, m.totalDiscountSet); m.discountAllocations.SaysNothing() {
		off = max(0, whole)
	}
	l.outside = s.taxes(m.taxLines)
	given := back[s.ref(m.id)]
	net, left := max(0, gross-off), s.minor(m.currentQuantity)
	if m.currentQuantity.SaysNothing() {
		left = pieces - given.pieces - given.free
	}
	l.total = max(0, net-given.value)
	if left = max(0, min(left, pieces)); pieces > 0 && given.pieces < pieces-left {
		kept, _ := portion(net, left, pieces)
		l.total = min(l.total, kept)
	}
	l.quantity = money.DecimalOf(int64(left))
	switch {
	case l.reason != ticket.Allowed:
	case gross < 0:
		l.reason, l.total = ticket.Returned, gross
	case left == 0:
		l.reason, l.total = ticket.Refunded, 0
	}
	return l
}

// taxes sums the taxes of a line.
func (s shop) taxes(v jsontape.Value) (sum money.Amount) {
	for _, e := range s.all(v) {
		var t shopAmountJSON
		t.read(s, s.names.tax, e)
		sum += s.amount(t.amount, t.amountSet)
	}
	return sum
}

// goods reads what lines of orders and of drafts have in common; gross is the list price of all pieces.
func (s shop) goods(v jsontape.Value, m *shopLineJSON) (l line, gross, pieces money.Amount) {
	l.group = s.ref(m.productID)
	variant, sku := s.ref(m.variantID), s.id(m.sku)
	l.id = s.shopifyID(variant, sku, l.group)
	if l.name = s.name(m.name); l.name == "" {
		if l.name = s.name(m.title); !m.variantTitle.SaysNothing() {
			l.name = cut(l.name + " - " + s.name(m.variantTitle))
		}
	}
	unit := s.amount(m.price, m.priceSet)
	if s.presented && m.priceSet.SaysNothing() {
		s.needs(v, "price_set", needed)
	} else if s.graph == nil && !s.presented && m.price.SaysNothing() {
		s.needs(v, "price", needed)
	}
	if pieces = s.minor(m.quantity); m.quantity.SaysNothing() {
		pieces = 1
	} else if pieces < 0 || pieces > ticket.MaxQuantity {
		s.AddAt(m.quantity.Path, "A quantity must be from 0 to %d.", ticket.MaxQuantity)
		pieces = 0
	}
	l.quantity, l.unit, l.even = money.DecimalOf(int64(pieces)), unit, true
	if gross = unit * pieces; gross > ticket.MaxAmount || gross < -ticket.MaxAmount {
		s.needs(v, "price", "The line's price times its quantity is too large.")
		gross = 0
	}
	switch {
	case s.yes(m.giftCard):
		l.reason = ticket.GiftCard
	case m.tipPaymentGateway.Exists() || m.tipPaymentMethod.Exists():
		l.reason = ticket.Tip
	}
	return l, gross, pieces
}

func (r *reader) shopifyID(variant, sku, product string) string {
	switch r.options.ItemID {
	case "sku":
		return sku
	case "product_id":
		return product
	}
	return variant
}

// draft is a draft order with what its lines are before their discounts, and with these: if they are for the line, and
// if they are for each piece of it.
type draft struct {
	*bill
	gross, once, each []money.Amount
}

// draftOrder reads a DraftOrder. Whether the discount of a line is for one piece or for all of them is told by the
// order's subtotal; where it is not, the larger one counts.
func (s shop) draftOrder(data jsontape.Value) *ticket.Ticket {
	var m shopDraftJSON
	if m.read(s, data); s.graph != nil && s.lacksOf(data, m.lacking()) {
		return nil
	}
	b := draft{bill: s.bill(s.size(m.lineItems))}
	inside := s.yes(m.taxesIncluded)
	for _, e := range s.all(m.lineItems) {
		b.line(s, e, inside)
	}
	amount := func(v jsontape.Value) money.Amount { return s.amount(v, v) }
	var goods *money.Amount
	if told := amount(m.subtotalPrice); !m.subtotalPrice.SaysNothing() {
		goods = &told
	}
	b.takeOff(s.applied(m.appliedDiscount), goods)
	b.tax, b.charge = amount(m.totalTax), s.shipping(m.shippingLine)
	if b.own, b.summed = amount(m.totalPrice), true; m.totalPrice.SaysNothing() {
		s.needs(data, "total_price", needed)
	}
	b.sumShop(inside, !m.totalTax.SaysNothing(), 0)
	b.due = b.own
	b.nothingDue = s.isOf(m.status, "completed")
	return b.ticket()
}

// line reads a line of a draft.
func (b *draft) line(s shop, v jsontape.Value, inside bool) {
	var m shopLineJSON
	if m.read(s, v); s.graph != nil {
		s.graph.lineLacks(&m, s.options.ItemID, true)
	}
	l, gross, pieces := s.goods(v, &m)
	if taxes := s.taxes(m.taxLines); !inside {
		l.outside = taxes
	}
	off, most := s.applied(m.appliedDiscount), max(0, gross)
	once := min(most, off.of(gross, s.currency))
	each := once
	if !off.percent {
		each = min(most, once*max(1, pieces))
	}
	b.gross, b.once, b.each = append(b.gross, gross), append(b.once, once), append(b.each, each)
	b.add(l)
}

// takeOff takes the discounts off a draft: those of its lines, and its own. goods is its subtotal, if it tells one.
func (b *draft) takeOff(own applied, goods *money.Amount) {
	left := b.discountLines(b.each)
	order := own.of(b.goods(), b.currency)
	if goods != nil && !slices.Equal(b.once, b.each) {
		all := b.discountLines(b.once)
		if off := own.of(b.goods(), b.currency); near(all-off, *goods, b.rounding()) {
			left, order = all, off
		} else {
			b.discountLines(b.each)
		}
	}
	b.discount = order - left
	for _, gross := range b.gross {
		b.discount += gross
	}
	b.spread(order)
}

// discountLines takes the discounts of lines off them, and sums what is left.
func (b *draft) discountLines(off []money.Amount) (left money.Amount) {
	for i := range b.lines {
		b.lines[i].total = b.gross[i] - off[i]
		left += b.lines[i].total
	}
	return left
}

func near(a, b, tolerance money.Amount) bool { return max(a-b, b-a) <= tolerance }

// applied is the discount of a draft or of its line: an amount, or where that is not told, a percentage.
type applied struct {
	amount  money.Amount
	rate    money.Decimal
	percent bool
}

// applied reads a discount.
func (s shop) applied(v jsontape.Value) (a applied) {
	var m shopAppliedJSON
	m.read(s, v)
	value := s.priced(m.value)
	a.percent = s.isOf(m.valueType, "percentage") && m.amount.SaysNothing()
	switch a.amount = max(0, s.amount(m.amount, m.amount)); {
	case a.percent:
		a.rate = value
	case m.amount.SaysNothing():
		a.amount = max(0, value.Round(s.currency))
	}
	return a
}

// of is what a discount takes off an amount; it may be more than that.
func (a applied) of(on money.Amount, c money.Currency) money.Amount {
	if !a.percent {
		return a.amount
	}
	off := c.Decimal(on).Mul(a.rate).Mul(hundredth).Round(c)
	return min(max(0, off), max(0, on))
}

var hundredth, _ = money.ReadDecimal([]byte("0.01"))

// cart reads the cart of a point of sale. Its discounts say neither whether they are money, nor of which lines. Since
// 2025-10 a line tells what of them it has; what its subtotal is below the prices beside that is spread over the goods.
func (r *reader) cart(data jsontape.Value) *ticket.Ticket {
	var m cartJSON
	m.read(r, data)
	b := r.bill(size(m.lineItems))
	var prices money.Amount
	for _, e := range r.list(m.lineItems) {
		l, off := r.cartLine(e)
		prices += l.total
		l.total -= max(0, min(off, l.total))
		b.add(l)
		b.parts += l.total
	}
	cents := func(v jsontape.Value) money.Amount { return r.priced(v).Round(r.currency) }
	subtotal := cents(m.subtotal)
	b.tax, b.own, b.summed = cents(m.taxTotal), cents(m.grandTotal), true
	if m.subtotal.SaysNothing() {
		r.needs(data, "subtotal", needed)
	}
	if m.grandTotal.SaysNothing() {
		r.needs(data, "grandTotal", needed)
	}
	b.discount = prices - subtotal
	if rest := b.parts - subtotal; rest > 0 {
		goods := b.goods()
		b.spread(rest)
		b.parts -= min(rest, goods)
	}
	if !near(b.parts, b.own, b.rounding()) { // else the tax is in the prices
		b.parts += b.tax
	}
	b.due = b.own
	return b.ticket()
}

// cartLine reads a line of a cart at its price, and what it tells of its discounts.
func (r *reader) cartLine(v jsontape.Value) (l line, off money.Amount) {
	var m cartLineJSON
	m.read(r, v)
	l.group = r.id(m.productID)
	l.id, l.name = r.shopifyID(r.id(m.variantID), r.id(m.sku), l.group), r.name(m.title)
	pieces := money.DecimalOf(1)
	if d, ok := r.decimal(m.quantity, money.Pieces, ticket.MaxQuantity); ok {
		pieces = d
	}
	unit := r.priced(m.price)
	if product := unit.Mul(pieces); beyond(product, r.currency, ticket.MaxAmount) {
		r.needs(v, "price", "The line's price times its quantity is too large.")
	} else {
		l.total = product.Round(r.currency)
	}
	if l.weighed = !pieces.IsWhole(); l.weighed {
		l.quantity = money.DecimalOf(1)
	} else {
		l.quantity, l.unit, l.even = pieces, unit.Round(r.currency), !m.price.SaysNothing()
	}
	switch {
	case r.yes(m.isGiftCard):
		l.reason = ticket.GiftCard
	case l.total < 0:
		l.reason = ticket.Returned
	}
	for _, e := range r.list(m.discountAllocations) {
		var of cartMoneyJSON
		of.read(r, r.only(e, cartAllocationNames))
		r.ours(of.currencyCode)
		off += max(0, r.priced(of.amount).Round(r.currency))
	}
	return l, off
}
