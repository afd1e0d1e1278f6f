package format

import (
	"bytes"
	"strings"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
)

var (
	toastOrderNames = jsontape.NewNames("order", "details", "checks", "voided", "deleted", "excessFood",
		"selections")
	toastCheckNames = jsontape.NewNames("guid", "selections", "voided", "deleted", "paymentStatus", "taxAmount",
		"totalAmount", "appliedDiscounts", "appliedServiceCharges", "payments")
	toastSelectionNames = jsontape.NewNames("item", "itemGroup", "plu", "displayName", "quantity", "unitOfMeasure",
		"preDiscountPrice", "price", "tax", "taxInclusion", "voided", "deferred", "selectionType", "refundDetails",
		"appliedDiscounts")
	toastItemNames     = jsontape.NewNames("guid", "multiLocationId", "externalId")
	toastRefundNames   = jsontape.NewNames("refundAmount", "taxRefundAmount")
	toastDiscountNames = jsontape.NewNames("discountAmount", "processingState")
	toastChargeNames   = jsontape.NewNames("chargeAmount", "gratuity")
	toastPaymentNames  = jsontape.NewNames("amount", "voidInfo", "paymentStatus")
)

type toastOrderJSON struct {
	order, details, checks, voided, deleted, excessFood, selections jsontape.Value
}

func (m *toastOrderJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastOrderNames, &m.order, &m.details, &m.checks, &m.voided, &m.deleted, &m.excessFood,
		&m.selections)
}

type toastCheckJSON struct {
	guid, selections, voided, deleted, paymentStatus, taxAmount, totalAmount, appliedDiscounts,
	appliedServiceCharges, payments jsontape.Value
}

func (m *toastCheckJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastCheckNames, &m.guid, &m.selections, &m.voided, &m.deleted, &m.paymentStatus,
		&m.taxAmount, &m.totalAmount, &m.appliedDiscounts, &m.appliedServiceCharges, &m.payments)
}

type toastSelectionJSON struct {
	item, itemGroup, plu, displayName, quantity, unitOfMeasure, preDiscountPrice, price, tax, taxInclusion,
	voided, deferred, selectionType, refundDetails, appliedDiscounts jsontape.Value
}

func (m *toastSelectionJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastSelectionNames, &m.item, &m.itemGroup, &m.plu, &m.displayName, &m.quantity,
		&m.unitOfMeasure, &m.preDiscountPrice, &m.price, &m.tax, &m.taxInclusion, &m.voided, &m.deferred,
		&m.selectionType, &m.refundDetails, &m.appliedDiscounts)
}

type toastItemJSON struct {
	guid, multiLocationID, externalID jsontape.Value
}

func (m *toastItemJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastItemNames, &m.guid, &m.multiLocationID, &m.externalID)
}

type toastRefundJSON struct {
	refundAmount, taxRefundAmount jsontape.Value
}

func (m *toastRefundJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastRefundNames, &m.refundAmount, &m.taxRefundAmount)
}

type toastDiscountJSON struct {
	discountAmount, processingState jsontape.Value
}

func (m *toastDiscountJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastDiscountNames, &m.discountAmount, &m.processingState)
}

type toastChargeJSON struct {
	chargeAmount, gratuity jsontape.Value
}

func (m *toastChargeJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastChargeNames, &m.chargeAmount, &m.gratuity)
}

type toastPaymentJSON struct {
	amount, voidInfo, paymentStatus jsontape.Value
}

func (m *toastPaymentJSON) read(r *reader, v jsontape.Value) bool {
	return r.pick(v, toastPaymentNames, &m.amount, &m.voidInfo, &m.paymentStatus)
}

// toast reads an Order with one check that counts, or a Check. Amounts are in currency units.
func (r *reader) toast(data jsontape.Value) *ticket.Ticket {
	var m toastOrderJSON
	m.read(r, data)
	if !m.details.SaysNothing() { // an event of a webhook
		data, m = m.details, toastOrderJSON{}
		m.read(r, data)
	}
	if !m.order.SaysNothing() {
		data, m = m.order, toastOrderJSON{}
		m.read(r, data)
	}
	if data.Kind() != '{' {
		return nil
	}
	closed := r.yes(m.voided) || r.yes(m.deleted) || r.yes(m.excessFood)
	check := data
	switch {
	case !m.checks.SaysNothing():
		if check = r.toastChoice(m.checks, closed); !check.Exists() {
			b := r.bill(0)
			return b.ticket()
		}
	case m.selections.SaysNothing():
		r.needs(data, "checks", "This is needed: send the Order or the Check as Toast gives it.")
		return nil
	}
	b := r.toastBill(check)
	b.nothingDue = b.nothingDue || closed
	return b.ticket()
}

// optionPath is where the options of a ticket stand.
const optionPath = "ticketData.options."

// toastChoice is the check that counts: the one with the GUID that the options name, or the only one that is neither
// voided nor deleted.
func (r *reader) toastChoice(v jsontape.Value, closed bool) (chosen jsontape.Value) {
	n, list := 0, false
	for _, e := range r.list(v) {
		var m toastCheckJSON
		m.read(r, e)
		list = true
		switch gone := r.yes(m.voided) || r.yes(m.deleted); {
		case r.options.CheckGUID != "":
			if strings.EqualFold(string(r.text(m.guid)), r.options.CheckGUID) {
				chosen = e
				n++
			}
		case !gone || closed:
			chosen = e
			n++
		}
	}
	path := optionPath + "checkGuid"
	switch {
	case n == 1 || r.Has(v.Path()):
	case r.options.CheckGUID != "" && n == 0:
		r.Add(path, "This order has no check with this guid.")
	case n > 1 && closed:
	case n > 1:
		r.Add(path, "This order has %d checks: say by its guid which one is to be paid.", n)
		return jsontape.Value{}
	case list && !closed:
		r.AddAt(v.Path, "All checks of this order are voided or deleted.")
	case !closed:
		r.AddAt(v.Path, "This order has no check.")
	}
	return chosen
}

func (r *reader) toastBill(check jsontape.Value) *bill {
	var m toastCheckJSON
	m.read(r, check)
	if g := string(r.text(m.guid)); r.options.CheckGUID != "" && !strings.EqualFold(g, r.options.CheckGUID) {
		r.Add(optionPath+"checkGuid", "This is not the guid of the check that was sent.")
	}
	b := r.bill(size(m.selections))
	for _, e := range r.list(m.selections) {
		l, price, discount := r.toastSelection(e)
		b.add(l)
		b.parts, b.discount = b.parts+price, b.discount+discount
	}
	off := r.toastDiscounts(m.appliedDiscounts)
	b.discount += off
	gratuity := money.Amount(0)
	for _, e := range r.list(m.appliedServiceCharges) {
		var c toastChargeJSON
		c.read(r, e)
		if amount := r.cents(c.chargeAmount); r.yes(c.gratuity) {
			gratuity += amount
		} else {
			b.charge += amount
		}
	}
	b.tax = r.cents(m.taxAmount)
	b.parts += b.tax + b.charge
	if b.own, b.summed = r.cents(m.totalAmount), !m.totalAmount.SaysNothing(); !b.summed {
		r.needs(check, "totalAmount", needed)
	}
	b.toastInside(gratuity)
	b.toastOff(off, gratuity)
	for i := range b.lines {
		b.lines[i].refund()
	}
	if near(b.parts+gratuity, b.own, b.rounding()) {
		b.parts = b.own // it counts it
	}
	b.due = b.own - r.toastPaid(m.payments)
	b.nothingDue = r.yes(m.voided)
	b.nothingDue = r.yes(m.deleted) || b.nothingDue
	b.nothingDue = r.says(m.paymentStatus, "PAID", "CLOSED") || b.nothingDue
	return b
}

// toastInside takes included taxes off the lines again, unless with them the parts are the check's own total: Toast
// does not say whether prices are without. Off gift cards they are taken only where the parts without them are that
// total.
func (b *bill) toastInside(gratuity money.Amount) {
	var inside money.Amount
	for i := range b.lines {
		if l := &b.lines[i]; l.reason != ticket.Voided {
			inside += l.inside
		}
	}
	if b.isTotal(b.parts+max(0, inside-b.tax), gratuity) { // the check may not tell taxes that its lines do
		return
	}
	b.parts -= min(inside, b.tax)
	sure := b.isTotal(b.parts, gratuity)
	for i := range b.lines {
		if l := &b.lines[i]; sure || l.reason != ticket.GiftCard {
			l.total -= l.inside
		}
	}
}

// toastOff takes the discounts on a check off its lines, unless the check's own total tells that their prices are
// without these: Toast does not say.
func (b *bill) toastOff(off, gratuity money.Amount) {
	if off <= 0 || b.isTotal(b.parts, gratuity) {
		return
	}
	b.spread(off)
	if b.isTotal(b.parts-off, gratuity) {
		b.parts -= off
	}
}

// isTotal reports whether parts are the order's own total, which may count gratuities.
func (b *bill) isTotal(parts, gratuity money.Amount) bool {
	return near(parts, b.own, b.rounding()) || near(parts+gratuity, b.own, b.rounding())
}

// cents reads a number of currency units as minor units.
func (r *reader) cents(v jsontape.Value) money.Amount { return r.major(v).Round(r.currency) }

// toastSelection reads a selection, what it adds to the check without tax, and its discounts. The prices of its
// modifiers are in its own.
func (r *reader) toastSelection(v jsontape.Value) (l line, price, discount money.Amount) {
	var m toastSelectionJSON
	m.read(r, v)
	var of, in toastItemJSON
	of.read(r, m.item)
	in.read(r, m.itemGroup)
	l.group, l.name = r.id(in.guid), r.name(m.displayName)
	l.id = r.toastID(&of, m.plu, l.group)
	pieces := money.DecimalOf(1)
	if d, ok := r.decimal(m.quantity, money.Pieces, ticket.MaxQuantity); ok {
		pieces = d
	}
	l.count(pieces, !m.unitOfMeasure.SaysNothing() && !r.says(m.unitOfMeasure, "NONE"), r.cents(m.preDiscountPrice))
	l.even = l.even && !m.preDiscountPrice.SaysNothing()
	exact, taxes := r.major(m.price), r.major(m.tax)
	price, l.outside = exact.Round(r.currency), taxes.Round(r.currency)
	l.total = price
	var back toastRefundJSON
	back.read(r, m.refundDetails)
	refunded, taxBack := max(0, r.cents(back.refundAmount)), max(0, r.cents(back.taxRefundAmount))
	if r.says(m.taxInclusion, "INCLUDED") {
		l.total, l.outside = exact.Add(taxes).Round(r.currency), 0
		l.inside = l.total - price
	} else {
		taxBack = 0
	}
	discount = r.toastDiscounts(m.appliedDiscounts)
	l.reason = r.toastReason(m.voided, m.deferred, m.selectionType, of.guid, m.displayName)
	switch {
	case l.reason == ticket.Voided:
		return l, 0, 0
	case m.price.SaysNothing():
		r.needs(v, "price", needed)
	case l.reason != ticket.Allowed:
	case price < 0:
		l.reason = ticket.Returned
	case refunded == 0:
	case refunded >= price:
		l.back = max(l.total, refunded)
	default:
		l.back = refunded + taxBack
	}
	return l, price, discount
}

// toastID is the identifier that the merchant chose, of the item or of what is around it.
func (r *reader) toastID(of *toastItemJSON, plu jsontape.Value, group string) string {
	switch r.options.ItemID {
	case "multiLocationId":
		return r.id(of.multiLocationID)
	case "plu":
		return r.id(plu)
	case "externalId":
		return r.id(of.externalID)
	case "itemGroup.guid":
		return group
	}
	return r.id(of.guid)
}

// toastReason tells why no gift pays a selection. Payments to accounts and cards are told by their type, by their
// revenue being deferred, and where guid names no item, by the name under which Toast itself leaves them out of net
// sales.
func (r *reader) toastReason(voided, deferred, kind, guid, display jsontape.Value) ticket.Reason {
	wasVoided, card := r.yes(voided), r.yes(deferred)
	card = card || r.says(kind, "TOAST_CARD_SELL", "TOAST_CARD_RELOAD", "CASH_CARD_SELL", "GIFT_CARD") ||
		bytes.HasSuffix(r.text(kind), []byte("_ACCOUNT_PAY_BALANCE"))
	card = card || guid.SaysNothing() && r.says(display, "Gift Card")
	switch {
	case wasVoided:
		return ticket.Voided
	case card:
		return ticket.GiftCard
	}
	return ticket.Allowed
}

// toastDiscounts sums the discounts that are applied, or soon will be.
func (r *reader) toastDiscounts(v jsontape.Value) (sum money.Amount) {
	for _, e := range r.list(v) {
		var m toastDiscountJSON
		m.read(r, e)
		if amount := r.cents(m.discountAmount); !r.says(m.processingState, "VOID", "PENDING_VOID") {
			sum += amount
		}
	}
	return sum
}

// toastPaid sums the payments that were taken.
func (r *reader) toastPaid(v jsontape.Value) (sum money.Amount) {
	for _, e := range r.list(v) {
		var m toastPaymentJSON
		m.read(r, e)
		amount, status := r.cents(m.amount), r.text(m.paymentStatus)
		failed := r.says(m.paymentStatus, "OPEN", "DENIED", "CANCELLED") || bytes.HasPrefix(status, []byte("ERROR")) ||
			bytes.Contains(status, []byte("VOID"))
		if m.voidInfo.SaysNothing() && !failed {
			sum += amount
		}
	}
	return sum
}
