package format

import "boon.example/internal/base/jsontape"

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
	shopKindNames = jsontape.NewNames("lineItems", "order_id", "invoice_url", "line_items", "currency",
		"presentment_currency", "totalPriceSet", "currentTotalPriceSet")
	shopEnvelopeNames = jsontape.NewNames("line_items", "lineItems", "order", "draft_order", "draftOrder",
		"calculatedDraftOrder", "node", "orders", "draftOrders", "data")
	cartNames     = jsontape.NewNames("subtotal", "taxTotal", "grandTotal", "lineItems")
	cartLineNames = jsontape.NewNames("price", "quantity", "title", "variantId", "productId", "sku", "isGiftCard",
		"discountAllocations")
	cartAllocationNames = jsontape.NewNames("allocatedAmount")
	cartMoneyNames      = jsontape.NewNames("amount", "currencyCode")
)

// shopKindJSON is what tells of which kind an order is. lines are the line_items of the REST API.
type shopKindJSON struct {
	lineItems, orderID, invoiceURL, lines, currency, presentmentCurrency, totalPriceSet,
	currentTotalPriceSet jsontape.Value
}

func (m *shopKindJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, shopKindNames, &m.lineItems, &m.orderID, &m.invoiceURL, &m.lines, &m.currency,
		&m.presentmentCurrency, &m.totalPriceSet, &m.currentTotalPriceSet)
}

// shopEnvelopeJSON is what an order lies in. restLines and restDraft are the line_items and the draft_order of the REST
// API.
type shopEnvelopeJSON struct {
	restLines, lineItems, order, restDraft, draftOrder, calculatedDraftOrder, node, orders, draftOrders,
	data jsontape.Value
}

func (m *shopEnvelopeJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, shopEnvelopeNames, &m.restLines, &m.lineItems, &m.order, &m.restDraft, &m.draftOrder,
		&m.calculatedDraftOrder, &m.node, &m.orders, &m.draftOrders, &m.data)
}

type cartJSON struct {
	subtotal, taxTotal, grandTotal, lineItems jsontape.Value
}

func (m *cartJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cartNames, &m.subtotal, &m.taxTotal, &m.grandTotal, &m.lineItems)
}

type cartLineJSON struct {
	price, quantity, title, variantID, productID, sku, isGiftCard, discountAllocations jsontape.Value
}

func (m *cartLineJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cartLineNames, &m.price, &m.quantity, &m.title, &m.variantID, &m.productID, &m.sku,
		&m.isGiftCard, &m.discountAllocations)
}

type cartMoneyJSON struct {
	amount, currencyCode jsontape.Value
}

func (m *cartMoneyJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, cartMoneyNames, &m.amount, &m.currencyCode)
}

// shopOrderJSON is what is read of an order, by the names of the REST API.
type shopOrderJSON struct {
	lineItems, taxesIncluded, cancelledAt, financialStatus, totalTax, totalTaxSet, currentTotalTax, currentTotalTaxSet,
	totalDiscounts, totalDiscountsSet, totalPrice, totalPriceSet, currentTotalPrice, currentTotalPriceSet,
	totalOutstanding, totalTipReceived, refunds, shippingLines, originalTotalDutiesSet, currentTotalDutiesSet,
	originalTotalAdditionalFeesSet, currentTotalAdditionalFeesSet jsontape.Value
}

func (m *shopOrderJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.order, &m.lineItems, &m.taxesIncluded, &m.cancelledAt, &m.financialStatus, &m.totalTax,
		&m.totalTaxSet, &m.currentTotalTax, &m.currentTotalTaxSet, &m.totalDiscounts, &m.totalDiscountsSet,
		&m.totalPrice, &m.totalPriceSet, &m.currentTotalPrice, &m.currentTotalPriceSet, &m.totalOutstanding,
		&m.totalTipReceived, &m.refunds, &m.shippingLines, &m.originalTotalDutiesSet, &m.currentTotalDutiesSet,
		&m.originalTotalAdditionalFeesSet, &m.currentTotalAdditionalFeesSet)
}

// shopLineJSON is what is read of a line of an order or a draft order.
type shopLineJSON struct {
	id, variantID, productID, sku, name, title, variantTitle, price, priceSet, quantity, currentQuantity,
	discountAllocations, totalDiscount, totalDiscountSet, giftCard, tipPaymentGateway, tipPaymentMethod, taxLines,
	appliedDiscount jsontape.Value
}

func (m *shopLineJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.line, &m.id, &m.variantID, &m.productID, &m.sku, &m.name, &m.title, &m.variantTitle,
		&m.price, &m.priceSet, &m.quantity, &m.currentQuantity, &m.discountAllocations, &m.totalDiscount,
		&m.totalDiscountSet, &m.giftCard, &m.tipPaymentGateway, &m.tipPaymentMethod, &m.taxLines, &m.appliedDiscount)
}

// shopDraftJSON is what is read of a draft order.
type shopDraftJSON struct {
	lineItems, status, subtotalPrice, totalTax, totalPrice, appliedDiscount, shippingLine, taxesIncluded jsontape.Value
}

func (m *shopDraftJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.draft, &m.lineItems, &m.status, &m.subtotalPrice, &m.totalTax, &m.totalPrice,
		&m.appliedDiscount, &m.shippingLine, &m.taxesIncluded)
}

type shopShippingJSON struct {
	price, priceSet, discountedPrice, discountedPriceSet, isRemoved jsontape.Value
}

func (m *shopShippingJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.shipping, &m.price, &m.priceSet, &m.discountedPrice, &m.discountedPriceSet, &m.isRemoved)
}

type shopRefundJSON struct {
	lineItemID, quantity, subtotal, subtotalSet jsontape.Value
}

func (m *shopRefundJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.refund, &m.lineItemID, &m.quantity, &m.subtotal, &m.subtotalSet)
}

type shopAppliedJSON struct {
	amount, value, valueType jsontape.Value
}

func (m *shopAppliedJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.applied, &m.amount, &m.value, &m.valueType)
}

// shopAmountJSON is an amount in the shop's currency, and the set that has it in both.
type shopAmountJSON struct {
	amount, amountSet jsontape.Value
}

func (m *shopAmountJSON) read(s shop, names *jsontape.Names, v jsontape.Value) bool {
	return s.pick(v, names, &m.amount, &m.amountSet)
}

// shopSetJSON is an amount in both currencies, the customer's and the shop's.
type shopSetJSON struct {
	presentmentMoney, shopMoney jsontape.Value
}

func (m *shopSetJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.set, &m.presentmentMoney, &m.shopMoney)
}

type shopMoneyJSON struct {
	amount, currencyCode jsontape.Value
}

func (m *shopMoneyJSON) read(s shop, v jsontape.Value) bool {
	return s.pick(v, s.names.money, &m.amount, &m.currencyCode)
}

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
