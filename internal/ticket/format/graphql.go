package format

import (
	"bytes"
	"slices"
	"strings"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// graphNames are the names of the Admin GraphQL API. A name without Set beside the one with it is that of older
// versions.
var graphNames = &shopNames{
	order: jsontape.NewNames("lineItems", "taxesIncluded", "cancelledAt", "displayFinancialStatus", "totalTax",
		"totalTaxSet", "currentTotalTax", "currentTotalTaxSet", "totalDiscounts", "totalDiscountsSet", "totalPrice",
		"totalPriceSet", "currentTotalPrice", "currentTotalPriceSet", "totalOutstandingSet", "totalTipReceivedSet",
		"refunds", "shippingLines", "originalTotalDutiesSet", "currentTotalDutiesSet", "originalTotalAdditionalFeesSet",
		"currentTotalAdditionalFeesSet"),
	draft: jsontape.NewNames("lineItems", "status", "subtotalPriceSet", "totalTaxSet", "totalPriceSet", "appliedDiscount",
		"shippingLine", "taxesIncluded"),
	line: jsontape.NewNames("id", "variant", "product", "sku", "name", "title", "variantTitle", "originalUnitPrice",
		"originalUnitPriceSet", "quantity", "currentQuantity", "discountAllocations", "totalDiscount", "totalDiscountSet",
		"isGiftCard", "tipPaymentGateway", "tipPaymentMethod", "taxLines", "appliedDiscount"),
	allocation: jsontape.NewNames("allocatedAmount", "allocatedAmountSet"),
	applied:    jsontape.NewNames("amountSet", "value", "valueType"),
	shipping:   jsontape.NewNames("price", "originalPriceSet", "discountedPrice", "discountedPriceSet", "isRemoved"),
	tax:        jsontape.NewNames("price", "priceSet"),
	set:        jsontape.NewNames("presentmentMoney", "shopMoney"),
	money:      jsontape.NewNames("amount", "currencyCode"),
	refunds:    jsontape.NewNames("refundLineItems"),
	refund:     jsontape.NewNames("lineItem", "quantity", "subtotal", "subtotalSet"),
	open:       "totalOutstandingSet",
}

var (
	graphTop        = jsontape.NewNames("id", "invoiceUrl", "currencyCode", "presentmentCurrencyCode")
	graphRef        = jsontape.NewNames("id", "legacyResourceId")
	graphConnection = jsontape.NewNames("nodes", "edges", "pageInfo")
	graphEdge       = jsontape.NewNames("node")
	graphPage       = jsontape.NewNames("hasNextPage")
)

// need is a member that a query has to ask for, or one of several that tell the same: their places among the names.
type need struct {
	name string
	any  []int
}

// What a query has to ask for of an order, of a draft order, and of their lines. What may be null must be there, too:
// a query that asks for it answers null.
var (
	graphOrder = []need{{"lineItems", []int{orderLines}}, {"taxesIncluded", []int{orderInclusive}},
		{"cancelledAt", []int{orderCancelled}},
		{"currentTotalPriceSet", []int{orderCurrentTotalSet, orderTotalSet, orderTotal}},
		{"currentTotalTaxSet", []int{orderCurrentTaxSet, orderTaxSet, orderTax}},
		{"totalOutstandingSet", []int{orderOutstanding, orderStatus}}, {"totalTipReceivedSet", []int{orderGratuity}},
		{"shippingLines", []int{orderShipping}}}
	graphDraft = []need{{"lineItems", []int{draftLines}}, {"taxesIncluded", []int{draftInclusive}},
		{"subtotalPriceSet", []int{draftSubtotal}}, {"totalTaxSet", []int{draftTax}}, {"totalPriceSet", []int{draftTotal}},
		{"appliedDiscount", []int{draftDiscount}}, {"shippingLine", []int{draftShipping}}}
	graphDraftLine = []need{{"isGiftCard", []int{lineGiftCard}}, {"quantity", []int{lineQuantity}},
		{"originalUnitPriceSet", []int{linePriceSet, linePrice}}, {"taxLines", []int{lineTaxes}},
		{"appliedDiscount", []int{lineApplied}}}
	graphLine = []need{{"isGiftCard", []int{lineGiftCard}}, {"quantity", []int{lineQuantity}},
		{"originalUnitPriceSet", []int{linePriceSet, linePrice}}, {"taxLines", []int{lineTaxes}},
		{"currentQuantity", []int{lineCurrent}},
		{"discountAllocations", []int{lineAllocations, lineDiscountSet, lineDiscount}}}
	graphItem = map[string]need{"variant_id": {"variant { id }", []int{lineVariant}}, "sku": {"sku", []int{lineSKU}},
		"product_id": {"product { id }", []int{lineProduct}}}
)

// graphQL is what is noted while an order of the GraphQL API is read.
type graphQL struct {
	shop, shown jsontape.Value // the codes of the shop's currency and of the customer's
	lacking     []string       // members that the query did not ask for of a line
}

// ofGraphQL reads an Order or a DraftOrder of the GraphQL API. A query answers only what it asks for: a member that is
// not there may have any value, so each one that counts is needed.
func (r *reader) ofGraphQL(data jsontape.Value, isDraft bool) *ticket.Ticket {
	const (
		id = iota
		invoice
		currency
		presentment
	)
	var m [4]jsontape.Value
	r.pick(data, graphTop, m[:])
	s := shop{reader: r, names: graphNames, graph: &graphQL{shop: m[currency], shown: m[presentment]}}
	known := !m[currency].SaysNothing() && !m[presentment].SaysNothing()
	if known && !r.says(m[currency], r.currency.Code) && !r.says(m[presentment], r.currency.Code) {
		r.ours(m[currency])
		return nil
	}
	read := s.order
	if isDraft || m[invoice].Exists() || bytes.HasPrefix(r.text(m[id]), []byte("gid://shopify/DraftOrder/")) {
		read = s.draftOrder
	}
	t := read(data)
	if lacking := s.graph.lacking; len(lacking) > 0 {
		r.needs(data, "lineItems", askFor("of each line", lacking))
	}
	return t
}

// looksLikeGraphQL reports whether data is an order of the GraphQL API.
func looksLikeGraphQL(data jsontape.Value) bool {
	r := &reader{Problems: new(wire.Problems)} // what is wrong is of no interest
	order, _ := r.shopOrder(data)
	var m [shopMembers]jsontape.Value
	return r.pick(order, shopifyNames, m[:]) && m[shopLines].SaysNothing() && !m[shopLineItems].SaysNothing() &&
		(!m[shopTotal].SaysNothing() || !m[shopCurrentTotal].SaysNothing())
}

func askFor(of string, members []string) string {
	return "These members " + of + " are needed, too: " + strings.Join(members, ", ") + ". Ask for them in the query."
}

// lacksOf reports whether an order lacks members that it needs, and notes them.
func (s shop) lacksOf(data jsontape.Value, m []jsontape.Value, needs []need) bool {
	lacking := s.graph.lacks(nil, m, needs)
	if len(lacking) > 0 {
		s.AddAt(data.Path, "%s", askFor("of the order", lacking))
	}
	return len(lacking) > 0
}

// lineLacks notes the members that a line needs and lacks.
func (g *graphQL) lineLacks(m []jsontape.Value, needs []need, itemID string) {
	g.lacking = g.lacks(g.lacking, m, needs)
	g.lacking = g.lacks(g.lacking, m, []need{graphItem[itemID]})
}

// lacks adds the names of needs that none of the members meets.
func (g *graphQL) lacks(lacking []string, m []jsontape.Value, needs []need) []string {
	for _, n := range needs {
		met := slices.ContainsFunc(n.any, func(i int) bool { return m[i].Exists() })
		if !met && !slices.Contains(lacking, n.name) {
			lacking = append(lacking, n.name)
		}
	}
	return lacking
}

// inBag is an amount in the account's currency. A MoneyBag has it in the shop's currency and in the customer's. The
// older members are a MoneyV2, or a text in the shop's currency.
func (s shop) inBag(plain, bag jsontape.Value) jsontape.Value {
	var shown, own [2]jsontape.Value
	var m [2]jsontape.Value
	switch {
	case !bag.SaysNothing():
		s.pick(bag, s.names.set, m[:])
		s.pick(m[0], s.names.money, shown[:])
		s.pick(m[1], s.names.money, own[:])
	case plain.SaysNothing():
		return plain
	case plain.Kind() == '{':
		bag = plain
		s.pick(plain, s.names.money, own[:])
	default:
		own[0] = plain
	}
	own[1], shown[1] = first(own[1], s.graph.shop), first(shown[1], s.graph.shown)
	for _, money := range [][2]jsontape.Value{own, shown} {
		if !money[0].SaysNothing() && s.says(money[1], s.currency.Code) {
			return money[0]
		}
	}
	switch code := first(own[1], shown[1]); {
	case own[0].SaysNothing() && shown[0].SaysNothing():
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
		var m [2]jsontape.Value
		s.pick(v, graphRef, m[:])
		v = first(m[:]...)
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
	var m [3]jsontape.Value
	var page [1]jsontape.Value
	r.pick(v, graphConnection, m[:])
	r.pick(m[2], graphPage, page[:])
	if r.yes(page[0]) {
		r.AddAt(v.Path, "There are more of these than the query asked for. Ask for the rest with after, and send all in "+
			"one list.")
	}
	if m[0].SaysNothing() {
		return m[1], true
	}
	return m[0], false
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
			var m [1]jsontape.Value
			if s.pick(e, graphEdge, m[:]); s.is(m[0], '{', "an object") && !yield(i, m[0]) {
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
	var m [envelopeMembers]jsontape.Value
	r.pick(v, shopifyEnvelope, m[:])
	if slices.ContainsFunc(m[:], jsontape.Value.Exists) {
		return v
	}
	for _, inner := range v.Members() {
		if inner.Kind() == '{' {
			return inner
		}
	}
	return v
}
