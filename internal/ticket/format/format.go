// Package format reads tickets as tills and platforms send them: their own orders become the one ticket of package
// ticket. What a gift may not pay stays on the ticket, with the reason. A gift never pays for a gift card.
//
// Members that are not used are left alone, as platforms add some every quarter. Those that are used must be what the
// platform says they are; everything else is a problem, with its path. All arithmetic is exact. Where a platform's
// own description leaves something open, the reading holds that lets a gift pay less.
package format

import (
	"slices"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// The formats of tickets.
const (
	Standard    = ticket.Standard
	Square      = "square"       // an Order of the Orders API
	Toast       = "toast"        // an Order or a Check of the Orders API
	Clover      = "clover"       // an Order of REST v3, with what hangs on it expanded
	Shopify     = "shopify"      // an Order or DraftOrder of the Admin API, REST or GraphQL, or a POS cart
	LightspeedX = "lightspeed-x" // a Sale of the X-Series
)

// kind is what a format is to the others.
type kind struct {
	name    string
	itemIDs []string // what may name the item of a line; the first one does unless the till says otherwise
	read    func(*reader, jsontape.Value) *ticket.Ticket
}

// kinds are the formats, the first of which is the interface's own. They are only read.
var kinds = []kind{
	{Standard, nil, (*reader).standard},
	{Square, []string{"catalog_object_id"}, (*reader).square},
	{Toast, []string{"item.guid", "multiLocationId", "plu", "externalId", "itemGroup.guid"}, (*reader).toast},
	{Clover, []string{"item.id", "itemCode", "name"}, (*reader).clover},
	{Shopify, []string{"variant_id", "sku", "product_id"}, (*reader).shopify},
	{LightspeedX, []string{"product.id"}, (*reader).lightspeedX},
}

// Known reports whether there is a format of that name.
func Known(name string) bool {
	return slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name })
}

// Names are those of all formats.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// ItemIDs are the members of a format that may name the item of a line; the first one does where none is chosen.
func ItemIDs(name string) []string {
	for _, k := range kinds {
		if k.name == name {
			return k.itemIDs
		}
	}
	return nil
}

// Options are what is said beside an order about how to read it.
type Options struct {
	CheckGUID    string   // which check of a Toast order is meant; "": the only one
	ItemID       string   // one of ItemIDs; "": the first
	TaxInclusive *bool    // whether a Lightspeed shop shows prices with tax; nil: as is the custom with the currency
	GiftCards    []string // ids of items that are gift cards, though the order does not say so
}

// Read reads a ticket in one of the formats, into memory of the caller's or, where that is nil, new one. What is wrong
// with it is added to problems; then what it gives is of no use.
func Read(name string, data jsontape.Value, o Options, c money.Currency, into *ticket.Memory,
	problems *wire.Problems) *ticket.Ticket {
	n := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if n < 0 {
		return nil
	}
	r := &reader{Problems: problems, currency: c, options: o, into: into}
	if r.options.ItemID == "" && len(kinds[n].itemIDs) > 0 {
		r.options.ItemID = kinds[n].itemIDs[0]
	}
	before := problems.Len()
	if is := unread(data); is != "" && name != Standard {
		r.AddAt(data.Path, "This is %s, which is not read. Send a ticket of the format %q.", is, Standard)
		return nil
	}
	t := kinds[n].read(r, data)
	if problems.Len() > before {
		if is := looksLike(data); is != "" && is != name {
			problems.Add("ticketData.format", "This ticket looks like one of the format %q.", is)
		}
	}
	if t != nil && name != Standard {
		t.Format = name
	}
	return t
}

// unreadNames are members that only orders of schemas have that are not read, and two that such an order may lie in.
var unreadNames = jsontape.NewNames("Sale", "SaleLines", "salesLines", "sales", "itemizations", "orderCart",
	"shoppingCart", "totalMoney", "order", "data")

type unreadJSON struct {
	sale, saleLines, salesLines, sales, itemizations, orderCart, shoppingCart, totalMoney, order, data jsontape.Value
}

func (m *unreadJSON) read(v jsontape.Value) {
	v.Pick(unreadNames, []*jsontape.Value{&m.sale, &m.saleLines, &m.salesLines, &m.sales, &m.itemizations,
		&m.orderCart, &m.shoppingCart, &m.totalMoney, &m.order, &m.data}, func(string) {})
}

// unread tells what an order is whose schema is not read; "": none of these.
func unread(data jsontape.Value) string {
	for range 2 {
		if data.Kind() != '{' {
			return ""
		}
		var m unreadJSON
		m.read(data)
		switch {
		case holds(m.sale), holds(m.saleLines):
			return "a sale of Lightspeed Retail's R-Series"
		case holds(m.salesLines):
			return "a sale of Lightspeed Restaurant's K-Series"
		case holds(m.sales):
			return "a list of sales of Lightspeed Restaurant's K-Series"
		case holds(m.itemizations):
			return "a payment of Square's Connect v1"
		case holds(m.orderCart):
			return "a cart for Clover's Atomic Orders"
		case holds(m.shoppingCart):
			return "a cart for Clover's Hosted Checkout"
		case holds(m.totalMoney):
			return "an order as an SDK of Square has it, with names such as totalMoney in place of total_money"
		}
		data = first(m.order, m.data)
	}
	return ""
}

// holds reports whether a value is an object or a list.
func holds(v jsontape.Value) bool { return v.Kind() == '{' || v.Kind() == '[' }

var looksNames = jsontape.NewNames("order", "draft_order", "data", "checks", "selections", "total_money", "line_items",
	"totals", "total_price", "lineItems", "unpaidBalance", "subtotal", "grandTotal", "register_sale_products")

// looksJSON are members that tell the formats apart. lines are the line_items of those who write it so.
type looksJSON struct {
	order, draftOrder, data, checks, selections, totalMoney, lines, totals, totalPrice, lineItems, unpaidBalance,
	subtotal, grandTotal, registerSaleProducts jsontape.Value
}

func (m *looksJSON) read(v jsontape.Value) {
	*m = looksJSON{}
	v.Pick(looksNames, []*jsontape.Value{&m.order, &m.draftOrder, &m.data, &m.checks, &m.selections, &m.totalMoney,
		&m.lines, &m.totals, &m.totalPrice, &m.lineItems, &m.unpaidBalance, &m.subtotal, &m.grandTotal,
		&m.registerSaleProducts}, func(string) {})
}

// looksLike is the format that the members of an order are of; "": that cannot be told.
func looksLike(data jsontape.Value) string {
	if looksLikeGraphQL(data) {
		return Shopify
	}
	if data.Kind() != '{' {
		return ""
	}
	var m looksJSON
	m.read(data)
	for _, inner := range []jsontape.Value{m.order, m.draftOrder, m.data} {
		if inner.Kind() == '{' {
			m.read(inner)
			break
		}
	}
	has := func(all ...jsontape.Value) bool { return !slices.ContainsFunc(all, jsontape.Value.SaysNothing) }
	switch {
	case has(m.checks), has(m.selections):
		return Toast
	case has(m.totalMoney):
		return Square
	case has(m.lines, m.totals), has(m.registerSaleProducts),
		has(m.lines, m.totalPrice) && m.totalPrice.Kind() == '0': // Shopify's are texts
		return LightspeedX
	case has(m.lines, m.totalPrice), has(m.lineItems, m.subtotal, m.grandTotal):
		return Shopify
	case has(m.lineItems, m.unpaidBalance):
		return Clover
	case has(m.lineItems, m.totals):
		return Standard
	}
	return ""
}
