package format

import (
	"bytes"
	"slices"
	"strings"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/base/phrase"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

var (
	graphTopNames        = jsontape.NewNames("id", "invoiceUrl", "currencyCode", "presentmentCurrencyCode")
	graphRefNames        = jsontape.NewNames("id", "legacyResourceId")
	graphConnectionNames = jsontape.NewNames("nodes", "edges", "pageInfo")
	graphEdgeNames       = jsontape.NewNames("node")
	graphPageNames       = jsontape.NewNames("hasNextPage")
)

type graphTopJSON struct {
	id, invoiceURL, currencyCode, presentmentCurrencyCode jsontape.Value
}

func (m *graphTopJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, graphTopNames, &m.id, &m.invoiceURL, &m.currencyCode, &m.presentmentCurrencyCode)
}

type graphRefJSON struct {
	id, legacyResourceID jsontape.Value
}

func (m *graphRefJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, graphRefNames, &m.id, &m.legacyResourceID)
}

type graphConnectionJSON struct {
	nodes, edges, pageInfo jsontape.Value
}

func (m *graphConnectionJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, graphConnectionNames, &m.nodes, &m.edges, &m.pageInfo)
}

// lacking are the names of members that a query has to ask for and did not. A member that may be null must be there,
// too: a query that asks for it answers null.
type lacking []string

// unless adds a name unless one of the values is there, null included.
func (l *lacking) unless(name string, values ...jsontape.Value) {
	if !slices.ContainsFunc(values, jsontape.Value.Exists) && !slices.Contains(*l, name) {
		*l = append(*l, name)
	}
}

// lacking tells what a query has to ask for of an order.
func (m *shopOrderJSON) lacking() (l lacking) {
	l.unless("lineItems", m.lineItems)
	l.unless("taxesIncluded", m.taxesIncluded)
	l.unless("cancelledAt", m.cancelledAt)
	l.unless("currentTotalPriceSet", m.currentTotalPriceSet, m.totalPriceSet, m.totalPrice)
	l.unless("currentTotalTaxSet", m.currentTotalTaxSet, m.totalTaxSet, m.totalTax)
	l.unless("totalOutstandingSet", m.totalOutstanding, m.financialStatus)
	l.unless("totalTipReceivedSet", m.totalTipReceived)
	l.unless("shippingLines", m.shippingLines)
	return l
}

// lacking tells what a query has to ask for of a draft order.
func (m *shopDraftJSON) lacking() (l lacking) {
	l.unless("lineItems", m.lineItems)
	l.unless("taxesIncluded", m.taxesIncluded)
	l.unless("subtotalPriceSet", m.subtotalPrice)
	l.unless("totalTaxSet", m.totalTax)
	l.unless("totalPriceSet", m.totalPrice)
	l.unless("appliedDiscount", m.appliedDiscount)
	l.unless("shippingLine", m.shippingLine)
	return l
}

// graphQL is what is noted while an order of the GraphQL API is read.
type graphQL struct {
	shop, shown jsontape.Value // the codes of the shop's currency and of the customer's
	lacking     lacking        // members that the query did not ask for of a line
}

// ofGraphQL reads an Order or a DraftOrder of the GraphQL API. A query answers only what it asks for: a member that is
// not there may have any value, so each one that counts is needed.
func (r *reader) ofGraphQL(data jsontape.Value, isDraft bool) *ticket.Ticket {
	var m graphTopJSON
	m.read(r, data)
	s := shop{reader: r, names: graphNames, graph: &graphQL{shop: m.currencyCode, shown: m.presentmentCurrencyCode}}
	known := !m.currencyCode.SaysNothing() && !m.presentmentCurrencyCode.SaysNothing()
	if known && !r.says(m.currencyCode, r.currency.Code) && !r.says(m.presentmentCurrencyCode, r.currency.Code) {
		r.ours(m.currencyCode)
		return nil
	}
	read := s.order
	if isDraft || m.invoiceURL.Exists() || bytes.HasPrefix(r.text(m.id), []byte("gid://shopify/DraftOrder/")) {
		read = s.draftOrder
	}
	t := read(data)
	if lacking := s.graph.lacking; len(lacking) > 0 {
		r.needs(data, "lineItems", "%s", askFor("of each line", lacking))
	}
	return t
}

// looksLikeGraphQL reports whether data is an order of the GraphQL API.
func looksLikeGraphQL(data jsontape.Value) bool {
	r := &reader{Problems: new(wire.Problems)} // what is wrong is of no interest
	order, _ := r.shopOrder(data)
	var m shopKindJSON
	return m.read(r, order) && m.lines.SaysNothing() && !m.lineItems.SaysNothing() &&
		(!m.totalPriceSet.SaysNothing() || !m.currentTotalPriceSet.SaysNothing())
}

func askFor(of phrase.Text, members []string) *phrase.Phrase {
	return phrase.New("These members %s are needed, too: %s. Ask for them in the query.", of, strings.Join(members, ", "))
}

// lacksOf reports whether an order lacks members that it needs, and notes them.
func (s shop) lacksOf(data jsontape.Value, lacking lacking) bool {
	if len(lacking) > 0 {
		s.AddAt(data.Path, "%s", askFor("of the order", lacking))
	}
	return len(lacking) > 0
}

// lineLacks notes what a query has to ask for of a line of an order or of a draft order, and did not.
func (g *graphQL) lineLacks(m *shopLineJSON, itemID string, ofDraft bool) {
	l := &g.lacking
	l.unless("isGiftCard", m.giftCard)
	l.unless("quantity", m.quantity)
	l.unless("originalUnitPriceSet", m.priceSet, m.price)
	l.unless("taxLines", m.taxLines)
	if ofDraft {
		l.unless("appliedDiscount", m.appliedDiscount)
	} else {
		l.unless("currentQuantity", m.currentQuantity)
		l.unless("discountAllocations", m.discountAllocations, m.totalDiscountSet, m.totalDiscount)
	}
	switch itemID {
	case "variant_id":
		l.unless("variant { id }", m.variantID)
	case "sku":
		l.unless("sku", m.sku)
	case "product_id":
		l.unless("product { id }", m.productID)
	}
}

// inBag is an amount in the account's currency. A MoneyBag has it in the shop's currency and in the customer's. The
// older members are a MoneyV2, or a text in the shop's currency.
func (s shop) inBag(plain, bag jsontape.Value) jsontape.Value {
	var m shopSetJSON
	var shown, own shopMoneyJSON
	switch {
	case !bag.SaysNothing():
		m.read(s, bag)
		shown.read(s, m.presentmentMoney)
		own.read(s, m.shopMoney)
	case plain.SaysNothing():
		return plain
	case plain.Kind() == '{':
		bag = plain
		own.read(s, plain)
	default:
		own.amount = plain
	}
	own.currencyCode = first(own.currencyCode, s.graph.shop)
	shown.currencyCode = first(shown.currencyCode, s.graph.shown)
	for _, money := range []shopMoneyJSON{own, shown} {
		if !money.amount.SaysNothing() && s.says(money.currencyCode, s.currency.Code) {
			return money.amount
		}
	}
	switch code := first(own.currencyCode, shown.currencyCode); {
	case own.amount.SaysNothing() && shown.amount.SaysNothing():
		s.needs(bag, "shopMoney", "This is needed, with its amount and currencyCode.")
	case code.SaysNothing():
		s.AddAt(bag.Path, "Which currency this is in is needed: ask for the currencyCode.")
	default:
		s.ours(code)
	}
	return jsontape.Value{}
}

// ref reads the id of something: of the GraphQL API an object with its id, or a global id such as
// gid://shopify/ProductVariant/1, of which the number counts, as in the REST API.
func (s shop) ref(v jsontape.Value) string {
	if s.graph == nil {
		return s.id(v)
	}
	if v.Kind() == '{' {
		var m graphRefJSON
		m.read(s.reader, v)
		v = first(m.id, m.legacyResourceID)
	}
	id := s.id(v)
	if global, ok := strings.CutPrefix(id, "gid://"); ok {
		global, _, _ = strings.Cut(global, "?")
		return global[strings.LastIndexByte(global, '/')+1:]
	}
	return id
}

// isTip tells a tip as well as the GraphQL API does, which has no member for it: a line of no product, in an order that
// received gratuities, which is called Tip or is as much as these.
func (s shop) isTip(l line, variant jsontape.Value, gross money.Amount, gratuities jsontape.Value) bool {
	received := s.amount(jsontape.Value{}, gratuities)
	return received > 0 && variant.SaysNothing() && l.group == "" && (l.name == "Tip" || gross == received)
}

// connection takes a list of the GraphQL API apart: its nodes, or its edges, each of which has a node.
func (r *reader) connection(v jsontape.Value) (list jsontape.Value, edges bool) {
	if v.Kind() != '{' {
		return v, false
	}
	var m graphConnectionJSON
	m.read(r, v)
	if r.yes(r.only(m.pageInfo, graphPageNames)) {
		r.AddAt(v.Path, "There are more of these than the query asked for. Ask for the rest with after, and send all in "+
			"one list.")
	}
	if m.nodes.SaysNothing() {
		return m.edges, true
	}
	return m.nodes, false
}

// all is the elements of a list, or of a connection of the GraphQL API.
func (s shop) all(v jsontape.Value) func(func(int, jsontape.Value) bool) {
	if s.graph == nil {
		return s.list(v)
	}
	list, edges := s.connection(v)
	if !edges {
		return s.list(list)
	}
	return func(yield func(int, jsontape.Value) bool) {
		for i, e := range s.list(list) {
			if node := s.only(e, graphEdgeNames); s.is(node, '{', "an object") && !yield(i, node) {
				return
			}
		}
	}
}

// size is how many elements a list has, or a connection.
func (s shop) size(v jsontape.Value) int {
	if s.graph != nil {
		v, _ = s.connection(v)
	}
	return size(v)
}

// onlyOne is the only element of a list of orders.
func (r *reader) onlyOne(v jsontape.Value) (one jsontape.Value) {
	if v.SaysNothing() {
		return one
	}
	s := shop{reader: r, graph: new(graphQL)} // such a list may be a connection
	n := 0
	for _, e := range s.all(v) {
		one = e
		n++
	}
	if n > 1 {
		r.AddAt(v.Path, "Send one order, not %d.", n)
	}
	return one
}

// answered is what a query answers. That of a mutation lies in one more object.
func (r *reader) answered(v jsontape.Value) jsontape.Value {
	if v.Kind() != '{' || v.Len() != 1 {
		return v
	}
	var m shopEnvelopeJSON
	if m.read(r, v); m != (shopEnvelopeJSON{}) {
		return v
	}
	for _, inner := range v.Members() {
		if inner.Kind() == '{' {
			return inner
		}
	}
	return v
}
