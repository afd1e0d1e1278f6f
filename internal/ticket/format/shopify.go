package format

import (
	"slices"

	"boon.example/internal/money"
	"boon.example/internal/tape"
	"boon.example/internal/ticket"
)

var (
	shopifyNames = tape.NewNames("order", "draft_order", "lineItems", "order_id", "invoice_url", "line_items",
		"currency", "presentment_currency")
	shopifyOrder = tape.NewNames("line_items", "taxes_included", "cancelled_at", "financial_status", "total_tax",
		"total_tax_set", "current_total_tax", "current_total_tax_set", "total_discounts", "total_discounts_set",
		"total_price", "total_price_set", "current_total_price", "current_total_price_set", "total_outstanding",
		"total_tip_received", "refunds", "shipping_lines", "original_total_duties_set", "current_total_duties_set",
		"original_total_additional_fees_set", "current_total_additional_fees_set")
	shopifyLine = tape.NewNames("id", "variant_id", "product_id", "sku", "name", "title", "variant_title", "price",
		"price_set", "quantity", "current_quantity", "discount_allocations", "total_discount", "total_discount_set",
		"gift_card", "tip_payment_gateway", "tip_payment_method", "tax_lines", "applied_discount")
	shopifyAllocation = tape.NewNames("amount", "amount_set")
	shopifyApplied    = tape.NewNames("amount", "value", "value_type")
	shopifyPrice      = tape.NewNames("price", "price_set", "discounted_price", "discounted_price_set")
	shopifySet        = tape.NewNames("presentment_money", "shop_money")
	shopifyMoney      = tape.NewNames("amount", "currency_code")
	shopifyRefunds    = tape.NewNames("refund_line_items")
	shopifyRefund     = tape.NewNames("line_item_id", "quantity", "subtotal", "subtotal_set")
	shopifyDraft      = tape.NewNames("line_items", "status", "subtotal_price", "total_tax", "total_price",
		"applied_discount", "shipping_line", "taxes_included")
	shopifyConnection = tape.NewNames("nodes", "edges")
	shopifyCart       = tape.NewNames("subtotal", "taxTotal", "grandTotal", "lineItems")
	cartLine          = tape.NewNames("price", "quantity", "title", "variantId", "productId", "sku", "isGiftCard")
)

// shop reads the amounts of an order, in the one of its two currencies that is the account's.
type shop struct {
	*reader
	presented bool // it is that of the customer, in which amounts stand in sets
}

// amount reads an amount, and its set where the customer's currency counts. One that is nothing needs no set.
func (s shop) amount(plain, set tape.Value) money.Amount {
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
func (s shop) ofSet(set tape.Value) tape.Value {
	var m, money [2]tape.Value
	s.pick(set, shopifySet, m[:])
	in := m[1]
	if s.presented {
		in = m[0]
	}
	s.pick(in, shopifyMoney, money[:])
	s.ours(money[1])
	return money[0]
}

// unset notes that an amount is missing in the customer's currency: at its set, or where that would stand.
func (s shop) unset(plain, set tape.Value) {
	path := set.Path
	if !set.Exists() {
		path = func() string { return plain.Path() + "_set" }
	}
	s.AddAt(path, "This is needed in %s, the currency of the account.", s.currency.Code)
}

// isZero reports whether a value is zero, in quotes or not.
func isZero(v tape.Value) bool {
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

// shopify reads an Order, a DraftOrder, or the cart of a point of sale.
func (r *reader) shopify(data tape.Value) *ticket.Ticket {
	const (
		order = iota
		draft
		cart
		orderID
		invoice
		lines
		currency
		presentment
	)
	var m [8]tape.Value
	isDraft := false
	if r.pick(data, shopifyNames, m[:]); !m[order].SaysNothing() || !m[draft].SaysNothing() {
		if isDraft = m[order].SaysNothing(); isDraft {
			data = m[draft]
		} else {
			data = m[order]
		}
		m = [8]tape.Value{}
		r.pick(data, shopifyNames, m[:])
	}
	if data.Kind() != '{' {
		return nil
	}
	if r.isConnection(m[cart]) {
		r.AddAt(m[cart].Path, "This is an order of Shopify's GraphQL API, which is not read: send the order of the Admin "+
			"REST API, with line_items.")
		return nil
	}
	if !m[cart].SaysNothing() {
		return r.cart(data)
	}
	if m[lines].SaysNothing() {
		r.needs(data, "line_items", "This is needed: send an order, a draft order or a cart as Shopify gives it.")
		return nil
	}
	if isDraft || m[orderID].Exists() || m[invoice].Exists() {
		r.ours(m[currency])
		return r.draftOrder(data)
	}
	s := shop{reader: r}
	if !r.says(m[currency], r.currency.Code) && r.says(m[presentment], r.currency.Code) {
		s.presented = true
	} else {
		r.ours(m[currency])
	}
	return s.order(data)
}

// isConnection reports whether a value is a list as GraphQL has it: an object with nodes or edges.
func (r *reader) isConnection(v tape.Value) bool {
	var m [2]tape.Value
	return v.Kind() == '{' && r.pick(v, shopifyConnection, m[:]) && (m[0].Exists() || m[1].Exists())
}

// refund is what was given back of a line: how much, for how many pieces, and how many pieces for nothing that is told.
type refund struct{ value, pieces, free money.Amount }

// shippings sums what shipping costs.
func (s shop) shippings(list tape.Value) (sum money.Amount) {
	for _, e := range s.list(list) {
		sum += s.shipping(e)
	}
	return sum
}

func (s shop) order(data tape.Value) *ticket.Ticket {
	const (
		lines = iota
		inclusive
		cancelled
		status
		tax
		taxSet
		currentTax
		currentTaxSet
		discounts
		discountsSet
		total
		totalSet
		currentTotal
		currentTotalSet
		outstanding
		gratuities
		refunds
		shipping
		extra
	)
	var m [22]tape.Value
	s.pick(data, shopifyOrder, m[:])
	b := s.bill(size(m[lines]))
	back := s.refunds(m[refunds])
	inside := s.yes(m[inclusive])
	for _, e := range s.list(m[lines]) {
		l := s.line(e, back)
		if inside {
			l.outside = 0
		}
		b.add(l)
	}
	b.tax = s.latest(m[tax:total])
	b.discount, b.charge = s.amount(m[discounts], m[discountsSet]), s.shippings(m[shipping])
	b.charge += s.extras(m[extra:extra+2]) + s.extras(m[extra+2:])
	if b.own, b.summed = s.latest(m[total:outstanding]), true; m[total].SaysNothing() && m[currentTotal].SaysNothing() {
		s.needs(data, "total_price", needed)
	}
	whole := s.priced(m[currentTotal]).Round(s.currency) // in the shop's currency
	if m[currentTotal].SaysNothing() {
		whole = s.priced(m[total]).Round(s.currency)
	}
	taxed := !m[tax].SaysNothing() || !m[currentTax].SaysNothing()
	b.sumShop(inside, taxed, s.ofShop(m[gratuities], b.own, whole))
	b.due, b.settled = b.own, m[cancelled].Exists() && !m[cancelled].SaysNothing()
	switch open := s.ofShop(m[outstanding], b.own, whole); {
	case !m[outstanding].SaysNothing():
		b.due = open
	case b.settled:
	case s.says(m[status], "partially_paid"):
		s.needs(data, "total_outstanding", "This is needed of an order that is paid in part.")
	default:
		b.settled = s.says(m[status], "paid", "partially_refunded", "refunded", "voided")
	}
	return b.ticket()
}

// latest reads the amount of an order and its set, or where these follow, what they are now.
func (s shop) latest(m []tape.Value) money.Amount {
	was := s.amount(m[0], m[1])
	if now := s.amount(m[2], m[3]); !m[2].SaysNothing() {
		return now
	}
	return was
}

// extras reads an amount that stands in a set only, and may be of what it is now.
func (s shop) extras(sets []tape.Value) money.Amount {
	set := sets[1]
	if set.SaysNothing() {
		set = sets[0]
	}
	return max(0, s.priced(s.ofSet(set)).Round(s.currency))
}

// ofShop reads an amount that stands in the shop's currency only: a part of whole, which is own in the account's.
func (s shop) ofShop(v tape.Value, own, whole money.Amount) money.Amount {
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

func (s shop) shipping(v tape.Value) money.Amount {
	var m [4]tape.Value
	s.pick(v, shopifyPrice, m[:])
	price := s.amount(m[0], m[1])
	if less := s.amount(m[2], m[3]); !m[2].SaysNothing() {
		price = less
	}
	return price
}

// refunds gives what came back of each line, by its id.
func (s shop) refunds(v tape.Value) map[string]refund {
	if size(v) == 0 {
		s.is(v, '[', "a list")
		return nil
	}
	sums := make(map[string]refund)
	for _, e := range s.list(v) {
		var m [1]tape.Value
		s.pick(e, shopifyRefunds, m[:])
		for _, one := range s.list(m[0]) {
			var l [4]tape.Value
			s.pick(one, shopifyRefund, l[:])
			id := s.id(l[0])
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
func (s shop) line(v tape.Value, back map[string]refund) line {
	l, m, gross, pieces := s.goods(v)
	off := money.Amount(0)
	for _, e := range s.list(m[lineAllocations]) {
		var a [2]tape.Value
		s.pick(e, shopifyAllocation, a[:])
		off += max(0, s.amount(a[0], a[1]))
	}
	if whole := s.amount(m[lineDiscount], m[lineDiscountSet]); m[lineAllocations].SaysNothing() {
		off = max(0, whole)
	}
	for _, e := range s.list(m[lineTaxes]) {
		var t [4]tape.Value
		s.pick(e, shopifyPrice, t[:])
		l.outside += s.amount(t[0], t[1])
	}
	given := back[s.id(m[lineID])]
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

// goods reads what lines of orders and of drafts have in common; gross is the list price of all pieces.
func (s shop) goods(v tape.Value) (l line, m [lineMembers]tape.Value, gross, pieces money.Amount) {
	s.pick(v, shopifyLine, m[:])
	l.group = s.id(m[lineProduct])
	variant, sku := s.id(m[lineVariant]), s.id(m[lineSKU])
	l.id = s.shopifyID(variant, sku, l.group)
	if l.name = s.name(m[lineName]); l.name == "" {
		if l.name = s.name(m[lineTitle]); !m[lineVariantTitle].SaysNothing() {
			l.name = cut(l.name + " - " + s.name(m[lineVariantTitle]))
		}
	}
	unit := s.amount(m[linePrice], m[linePriceSet])
	if s.presented && m[linePriceSet].SaysNothing() {
		s.needs(v, "price_set", needed)
	} else if !s.presented && m[linePrice].SaysNothing() {
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

// draftOrder reads a DraftOrder. Whether the discount of a line is for one piece or for all of them is told by the
// order's subtotal; where it is not, the larger one counts.
func (r *reader) draftOrder(data tape.Value) *ticket.Ticket {
	const (
		lines = iota
		status
		subtotal
		tax
		total
		discount
		shipping
		inclusive
	)
	var m [8]tape.Value
	r.pick(data, shopifyDraft, m[:])
	s := shop{reader: r}
	b := draft{bill: r.bill(size(m[lines]))}
	inside := r.yes(m[inclusive])
	for _, e := range r.list(m[lines]) {
		b.line(s, e, inside)
	}
	var goods *money.Amount
	if told := s.amount(m[subtotal], m[subtotal]); !m[subtotal].SaysNothing() {
		goods = &told
	}
	b.takeOff(s.applied(m[discount]), goods)
	b.tax = s.amount(m[tax], m[tax])
	var ship [4]tape.Value
	r.pick(m[shipping], shopifyPrice, ship[:])
	b.charge = s.amount(ship[0], ship[1])
	if b.own, b.summed = s.amount(m[total], m[total]), true; m[total].SaysNothing() {
		r.needs(data, "total_price", needed)
	}
	b.sumShop(inside, !m[tax].SaysNothing(), 0)
	b.due = b.own
	b.settled = r.says(m[status], "completed")
	return b.ticket()
}

// line reads a line of a draft.
func (b *draft) line(s shop, v tape.Value, inside bool) {
	l, m, gross, pieces := s.goods(v)
	for _, t := range s.list(m[lineTaxes]) {
		var p [4]tape.Value
		if s.pick(t, shopifyPrice, p[:]); !inside {
			l.outside += s.amount(p[0], p[1])
		}
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
func (s shop) applied(v tape.Value) (a applied) {
	var m [3]tape.Value
	s.pick(v, shopifyApplied, m[:])
	value := s.priced(m[1])
	a.percent = s.says(m[2], "percentage") && m[0].SaysNothing()
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
func (r *reader) cart(data tape.Value) *ticket.Ticket {
	var m [4]tape.Value
	r.pick(data, shopifyCart, m[:])
	b := r.bill(size(m[3]))
	for _, e := range r.list(m[3]) {
		l := r.cartLine(e)
		b.add(l)
		b.parts += l.total
	}
	cents := func(v tape.Value) money.Amount { return r.priced(v).Round(r.currency) }
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

func (r *reader) cartLine(v tape.Value) (l line) {
	var m [7]tape.Value
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
