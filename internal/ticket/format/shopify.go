package format

import (
	"slices"
	"strings"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

// shopNames are the names of what is read of an order, in one of Shopify's two interfaces. The tables of both name the
// same members in the same order.
type shopNames struct {
	order, draft, line, allocation, applied, shipping, tax, set, money, refunds, refund *jsontape.Names
	open                                                                                string // what is outstanding
}

// restNames are the names of the Admin REST API.
var restNames = &shopNames{
	order: jsontape.NewNames("line_items", "taxes_included", "cancelled_at", "financial_status", "total_tax",
		"total_tax_set", "current_total_tax", "current_total_tax_set", "total_discounts", "total_discounts_set",
		"total_price", "total_price_set", "current_total_price", "current_total_price_set", "total_outstanding",
		"total_tip_received", "refunds", "shipping_lines", "original_total_duties_set", "current_total_duties_set",
		"original_total_additional_fees_set", "current_total_additional_fees_set"),
	draft: jsontape.NewNames("line_items", "status", "subtotal_price", "total_tax", "total_price", "applied_discount",
		"shipping_line", "taxes_included"),
	line: jsontape.NewNames("id", "variant_id", "product_id", "sku", "name", "title", "variant_title", "price",
		"price_set", "quantity", "current_quantity", "discount_allocations", "total_discount", "total_discount_set",
		"gift_card", "tip_payment_gateway", "tip_payment_method", "tax_lines", "applied_discount"),
	allocation: jsontape.NewNames("amount", "amount_set"),
	applied:    jsontape.NewNames("amount", "value", "value_type"),
	shipping:   jsontape.NewNames("price", "price_set", "discounted_price", "discounted_price_set", "is_removed"),
	tax:        jsontape.NewNames("price", "price_set"),
	set:        jsontape.NewNames("presentment_money", "shop_money"),
	money:      jsontape.NewNames("amount", "currency_code"),
	refunds:    jsontape.NewNames("refund_line_items"),
	refund:     jsontape.NewNames("line_item_id", "quantity", "subtotal", "subtotal_set"),
	open:       "total_outstanding",
}

var (
	shopifyNames = jsontape.NewNames("lineItems", "order_id", "invoice_url", "line_items", "currency",
		"presentment_currency", "totalPriceSet", "currentTotalPriceSet")
	shopifyEnvelope = jsontape.NewNames("line_items", "lineItems", "order", "draft_order", "draftOrder",
		"calculatedDraftOrder", "node", "orders", "draftOrders", "data")
	shopifyCart = jsontape.NewNames("subtotal", "taxTotal", "grandTotal", "lineItems")
	cartLine    = jsontape.NewNames("price", "quantity", "title", "variantId", "productId", "sku", "isGiftCard")
)

// envelopeMembers is how many names shopifyEnvelope has.
const envelopeMembers = 10

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
	var m, money [2]jsontape.Value
	s.pick(set, s.names.set, m[:])
	in := m[1]
	if s.presented {
		in = m[0]
	}
	s.pick(in, s.names.money, money[:])
	s.ours(money[1])
	return money[0]
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

// The members that tell what an order is.
const (
	shopLineItems = iota
	shopOrderID
	shopInvoice
	shopLines
	shopCurrency
	shopPresentment
	shopTotal
	shopCurrentTotal
	shopMembers
)

// shopify reads an Order or a DraftOrder of the REST API or of the GraphQL API, or the cart of a point of sale.
func (r *reader) shopify(data jsontape.Value) *ticket.Ticket {
	data, isDraft := r.shopOrder(data)
	if data.Kind() != '{' {
		return nil
	}
	var m [shopMembers]jsontape.Value
	r.pick(data, shopifyNames, m[:])
	switch {
	case isGraphQL(m, isDraft):
		return r.ofGraphQL(data, isDraft)
	case !m[shopLineItems].SaysNothing():
		return r.cart(data)
	case m[shopLines].SaysNothing():
		r.needs(data, "line_items", "This is needed: send an order, a draft order or a cart as Shopify gives it.")
		return nil
	}
	s := shop{reader: r, names: restNames}
	if isDraft || m[shopOrderID].Exists() || m[shopInvoice].Exists() {
		r.ours(m[shopCurrency])
		return s.draftOrder(data)
	}
	if !r.says(m[shopCurrency], r.currency.Code) && r.says(m[shopPresentment], r.currency.Code) {
		s.presented = true
	} else {
		r.ours(m[shopCurrency])
	}
	return s.order(data)
}

// isGraphQL reports whether an order is of the GraphQL API: its lines are a connection, or it tells totals in sets.
func isGraphQL(m [shopMembers]jsontape.Value, isDraft bool) bool {
	lines := m[shopLineItems]
	return lines.Kind() == '{' || !m[shopTotal].SaysNothing() || !m[shopCurrentTotal].SaysNothing() ||
		isDraft && !lines.SaysNothing()
}

// shopOrder takes an order out of its envelopes: those of the REST API, and what a query or a mutation of the GraphQL
// API answers. isDraft tells that the envelope is that of a draft.
func (r *reader) shopOrder(data jsontape.Value) (order jsontape.Value, isDraft bool) {
	const (
		restLines = iota
		lines
		plain
		restDraft
		draft
		calculated
		node
		orders
		drafts
		answer
	)
	const deepest = 4
	for range deepest {
		var m [envelopeMembers]jsontape.Value
		r.pick(data, shopifyEnvelope, m[:])
		if !m[restLines].SaysNothing() || !m[lines].SaysNothing() {
			break
		}
		one := first(m[plain], m[node], r.onlyOne(m[orders]))
		ofDraft := first(m[restDraft], m[draft], m[calculated], r.onlyOne(m[drafts]))
		isDraft = one.SaysNothing() && !ofDraft.SaysNothing()
		inner := first(one, ofDraft, r.answered(m[answer]))
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

// The members of an order.
const (
	orderLines = iota
	orderInclusive
	orderCancelled
	orderStatus
	orderTax
	orderTaxSet
	orderCurrentTax
	orderCurrentTaxSet
	orderDiscounts
	orderDiscountsSet
	orderTotal
	orderTotalSet
	orderCurrentTotal
	orderCurrentTotalSet
	orderOutstanding
	orderGratuity
	orderRefunds
	orderShipping
	orderExtra
	orderMembers = orderExtra + 4
)

func (s shop) order(data jsontape.Value) *ticket.Ticket {
	var m [orderMembers]jsontape.Value
	if s.pick(data, s.names.order, m[:]); s.graph != nil && s.lacksOf(data, m[:], graphOrder) {
		return nil
	}
	b := s.bill(s.size(m[orderLines]))
	back := s.refunds(m[orderRefunds])
	inside := s.yes(m[orderInclusive])
	for _, e := range s.all(m[orderLines]) {
		l := s.line(e, m[orderGratuity], back)
		if inside {
			l.outside = 0
		}
		b.add(l)
	}
	b.tax = s.latest(m[orderTax:])
	b.discount, b.charge = s.amount(m[orderDiscounts], m[orderDiscountsSet]), s.shippings(m[orderShipping])
	b.charge += s.extras(m[orderExtra:]) + s.extras(m[orderExtra+2:])
	b.own, b.summed = s.latest(m[orderTotal:]), true
	now := s.tells(m[orderCurrentTotal], m[orderCurrentTotalSet])
	if !now && !s.tells(m[orderTotal], m[orderTotalSet]) {
		s.needs(data, "total_price", needed)
	}
	whole := s.priced(m[orderTotal]).Round(s.currency) // in the shop's currency
	if now {
		whole = s.priced(m[orderCurrentTotal]).Round(s.currency)
	}
	taxed := s.tells(m[orderTax], m[orderTaxSet]) || s.tells(m[orderCurrentTax], m[orderCurrentTaxSet])
	b.sumShop(inside, taxed, s.ofShop(m[orderGratuity], b.own, whole))
	b.due, b.settled = b.own, m[orderCancelled].Exists() && !m[orderCancelled].SaysNothing()
	switch open := s.ofShop(m[orderOutstanding], b.own, whole); {
	case !m[orderOutstanding].SaysNothing():
		b.due = open
	case b.settled:
	case s.isOf(m[orderStatus], "partially_paid"):
		s.needs(data, s.names.open, "This is needed of an order that is paid in part.")
	default:
		b.settled = s.isOf(m[orderStatus], "paid", "partially_refunded", "refunded", "voided")
	}
	return b.ticket()
}

// isOf reports whether a value is one of some words: the GraphQL API has them in capitals.
func (s shop) isOf(v jsontape.Value, words ...string) bool {
	text := string(s.text(v))
	return slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, text) })
}

// latest reads the amount of an order and its set, or where these follow, what they are now.
func (s shop) latest(m []jsontape.Value) money.Amount {
	was := s.amount(m[0], m[1])
	if now := s.amount(m[2], m[3]); s.tells(m[2], m[3]) {
		return now
	}
	return was
}

// extras reads an amount that stands in a set only, and may be of what it is now.
func (s shop) extras(sets []jsontape.Value) money.Amount {
	set := sets[1]
	if set.SaysNothing() {
		set = sets[0]
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
	var m [5]jsontape.Value
	s.pick(v, s.names.shipping, m[:])
	price := s.amount(m[0], m[1])
	if less := s.amount(m[2], m[3]); s.tells(m[2], m[3]) {
		price = less
	}
	if s.yes(m[4]) {
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
		var m [1]jsontape.Value
		s.pick(e, s.names.refunds, m[:])
		for _, one := range s.all(m[0]) {
			var l [4]jsontape.Value
			s.pick(one, s.names.refund, l[:])
			id := s.ref(l[0])
			sum := sums[id]
			value, pieces := s.amount(l[2], l[3]), max(0, s.minor(l[1]))
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

// The members of a line of an order or a draft.
const (
	lineID = iota
	lineVariant
	lineProduct
	lineSKU
	lineName
	lineTitle
	lineVariantTitle
	linePrice
	linePriceSet
	lineQuantity
	lineCurrent
	lineAllocations
	lineDiscount
	lineDiscountSet
	lineGiftCard
	lineGateway
	lineMethod
	lineTaxes
	lineApplied
	lineMembers
)

// line reads a line of an order: what is still on it, after its discounts.
func (s shop) line(v, gratuities jsontape.Value, back map[string]refund) line {
	l, m, gross, pieces := s.goods(v, graphLine)
	if s.graph != nil && l.reason == ticket.Allowed && s.isTip(l, m[lineVariant], gross, gratuities) {
		l.reason = ticket.Tip
	}
	off := money.Amount(0)
	for _, e := range s.all(m[lineAllocations]) {
		var a [2]jsontape.Value
		s.pick(e, s.names.allocation, a[:])
		off += max(0, s.amount(a[0], a[1]))
	}
	if whole := s.amount(m[lineDiscount], m[lineDiscountSet]); m[lineAllocations].SaysNothing() {
		off = max(0, whole)
	}
	l.outside = s.taxes(m[lineTaxes])
	given := back[s.ref(m[lineID])]
	net, left := max(0, gross-off), s.minor(m[lineCurrent])
	if m[lineCurrent].SaysNothing() {
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
		var t [2]jsontape.Value
		s.pick(e, s.names.tax, t[:])
		sum += s.amount(t[0], t[1])
	}
	return sum
}

// goods reads what lines of orders and of drafts have in common; gross is the list price of all pieces. needs are the
// members that it must have in the GraphQL API.
func (s shop) goods(v jsontape.Value, needs []need) (l line, m [lineMembers]jsontape.Value,
	gross, pieces money.Amount) {
	if s.pick(v, s.names.line, m[:]); s.graph != nil {
		s.graph.lineLacks(m[:], needs, s.options.ItemID)
	}
	l.group = s.ref(m[lineProduct])
	variant, sku := s.ref(m[lineVariant]), s.id(m[lineSKU])
	l.id = s.shopifyID(variant, sku, l.group)
	if l.name = s.name(m[lineName]); l.name == "" {
		if l.name = s.name(m[lineTitle]); !m[lineVariantTitle].SaysNothing() {
			l.name = cut(l.name + " - " + s.name(m[lineVariantTitle]))
		}
	}
	unit := s.amount(m[linePrice], m[linePriceSet])
	if s.presented && m[linePriceSet].SaysNothing() {
		s.needs(v, "price_set", needed)
	} else if s.graph == nil && !s.presented && m[linePrice].SaysNothing() {
		s.needs(v, "price", needed)
	}
	if pieces = s.minor(m[lineQuantity]); m[lineQuantity].SaysNothing() {
		pieces = 1
	} else if pieces < 0 || pieces > ticket.MaxQuantity {
		s.AddAt(m[lineQuantity].Path, "A quantity must be from 0 to %d.", ticket.MaxQuantity)
		pieces = 0
	}
	l.quantity, l.unit, l.even = money.DecimalOf(int64(pieces)), unit, true
	if gross = unit * pieces; gross > ticket.MaxAmount || gross < -ticket.MaxAmount {
		s.needs(v, "price", "The line's price times its quantity is too large.")
		gross = 0
	}
	switch {
	case s.yes(m[lineGiftCard]):
		l.reason = ticket.GiftCard
	case m[lineGateway].Exists() || m[lineMethod].Exists():
		l.reason = ticket.Tip
	}
	return l, m, gross, pieces
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

// The members of a draft order.
const (
	draftLines = iota
	draftStatus
	draftSubtotal
	draftTax
	draftTotal
	draftDiscount
	draftShipping
	draftInclusive
	draftMembers
)

// draftOrder reads a DraftOrder. Whether the discount of a line is for one piece or for all of them is told by the
// order's subtotal; where it is not, the larger one counts.
func (s shop) draftOrder(data jsontape.Value) *ticket.Ticket {
	var m [draftMembers]jsontape.Value
	if s.pick(data, s.names.draft, m[:]); s.graph != nil && s.lacksOf(data, m[:], graphDraft) {
		return nil
	}
	b := draft{bill: s.bill(s.size(m[draftLines]))}
	inside := s.yes(m[draftInclusive])
	for _, e := range s.all(m[draftLines]) {
		b.line(s, e, inside)
	}
	amount := func(v jsontape.Value) money.Amount { return s.amount(v, v) }
	var goods *money.Amount
	if told := amount(m[draftSubtotal]); !m[draftSubtotal].SaysNothing() {
		goods = &told
	}
	b.takeOff(s.applied(m[draftDiscount]), goods)
	b.tax, b.charge = amount(m[draftTax]), s.shipping(m[draftShipping])
	if b.own, b.summed = amount(m[draftTotal]), true; m[draftTotal].SaysNothing() {
		s.needs(data, "total_price", needed)
	}
	b.sumShop(inside, !m[draftTax].SaysNothing(), 0)
	b.due = b.own
	b.settled = s.isOf(m[draftStatus], "completed")
	return b.ticket()
}

// line reads a line of a draft.
func (b *draft) line(s shop, v jsontape.Value, inside bool) {
	l, m, gross, pieces := s.goods(v, graphDraftLine)
	if taxes := s.taxes(m[lineTaxes]); !inside {
		l.outside = taxes
	}
	off, most := s.applied(m[lineApplied]), max(0, gross)
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
	left := b.take(b.each)
	order := own.of(b.goods(), b.currency)
	if goods != nil && !slices.Equal(b.once, b.each) {
		all := b.take(b.once)
		if off := own.of(b.goods(), b.currency); near(all-off, *goods, b.rounding()) {
			left, order = all, off
		} else {
			b.take(b.each)
		}
	}
	b.discount = order - left
	for _, gross := range b.gross {
		b.discount += gross
	}
	b.spread(order)
}

// take takes the discounts of lines off them, and sums what is left.
func (b *draft) take(off []money.Amount) (left money.Amount) {
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
	var m [3]jsontape.Value
	s.pick(v, s.names.applied, m[:])
	value := s.priced(m[1])
	a.percent = s.isOf(m[2], "percentage") && m[0].SaysNothing()
	switch a.amount = max(0, s.amount(m[0], m[0])); {
	case a.percent:
		a.rate = value
	case m[0].SaysNothing():
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

// cart reads the cart of a point of sale. Its discounts say neither whether they are money, nor of which lines: what
// its subtotal is below the prices is spread over the goods.
func (r *reader) cart(data jsontape.Value) *ticket.Ticket {
	var m [4]jsontape.Value
	r.pick(data, shopifyCart, m[:])
	b := r.bill(size(m[3]))
	for _, e := range r.list(m[3]) {
		l := r.cartLine(e)
		b.add(l)
		b.parts += l.total
	}
	cents := func(v jsontape.Value) money.Amount { return r.priced(v).Round(r.currency) }
	subtotal := cents(m[0])
	b.tax, b.own, b.summed = cents(m[1]), cents(m[2]), true
	if m[0].SaysNothing() {
		r.needs(data, "subtotal", needed)
	}
	if m[2].SaysNothing() {
		r.needs(data, "grandTotal", needed)
	}
	if b.discount = b.parts - subtotal; b.discount > 0 {
		goods := b.goods()
		b.spread(b.discount)
		b.parts -= min(b.discount, goods)
	}
	if !near(b.parts, b.own, b.rounding()) { // else the tax is in the prices
		b.parts += b.tax
	}
	b.due = b.own
	return b.ticket()
}

func (r *reader) cartLine(v jsontape.Value) (l line) {
	var m [7]jsontape.Value
	r.pick(v, cartLine, m[:])
	l.group = r.id(m[4])
	l.id, l.name = r.shopifyID(r.id(m[3]), r.id(m[5]), l.group), r.name(m[2])
	pieces := money.DecimalOf(1)
	if d, ok := r.decimal(m[1], money.Pieces, ticket.MaxQuantity); ok {
		pieces = d
	}
	unit := r.priced(m[0])
	if product := unit.Mul(pieces); beyond(product, r.currency, ticket.MaxAmount) {
		r.needs(v, "price", "The line's price times its quantity is too large.")
	} else {
		l.total = product.Round(r.currency)
	}
	if l.weighed = !pieces.IsWhole(); l.weighed {
		l.quantity = money.DecimalOf(1)
	} else {
		l.quantity, l.unit, l.even = pieces, unit.Round(r.currency), !m[0].SaysNothing()
	}
	switch {
	case r.yes(m[6]):
		l.reason = ticket.GiftCard
	case l.total < 0:
		l.reason = ticket.Returned
	}
	return l
}
