package api

import (
	"boon.example/internal/gift"
	"boon.example/internal/ticket"
)

// readTicket reads the till's ticket; nil when none is given.
func readTicket(o *object, currency gift.Currency) *ticket.Ticket {
	data := o.object("ticketData")
	if data == nil {
		return nil
	}
	defer data.finish()
	const content = "data"
	switch format := data.text("format"); {
	case format == "":
		data.take(content)
		data.Add(data.at("format"), "Say the format of the ticket, such as %q.", ticket.Standard)
	case format != ticket.Standard:
		data.take(content)
		data.Refuse(gift.RefuseAt(gift.NotSupported, data.at("format"), "This ticket format is not supported; the known one is %q.", ticket.Standard))
	case !data.has(content):
		data.take(content)
		data.Add(data.at(content), "Ticket data needs the ticket itself.")
	default:
		if t := data.object(content); t != nil {
			return readStandard(t, currency)
		}
	}
	return nil
}

// readStandard reads what it uses of the standard schema, and lets the rest be: what a till tells beside is no reason to refuse a guest.
//   - lineItems is needed, and itemUnitPrice or itemTotalPrice in every line. A line without a quantity is of one piece.
//   - A line without itemTotalPrice costs itemUnitPrice × quantity. With both, itemTotalPrice holds, and need not be the product:
//     tills round, and know of discounts.
//   - Numbers may be negative, as voids and coupons are, and finer than the currency.
func readStandard(o *object, c gift.Currency) *ticket.Ticket {
	t := &ticket.Ticket{Currency: c}
	given := o.objects("lineItems", ticket.MaxLines, func(line *object) { t.Lines = append(t.Lines, readLine(line, c)) })
	if !given {
		o.Add(o.at("lineItems"), "This is needed.")
	}
	if totals := o.object("totals"); totals != nil {
		t.Totals = ticket.Totals{
			Sub: totals.aside("subTotal"), Tax: totals.aside("taxTotal"), Discount: totals.aside("discountTotal"),
			ServiceCharge: totals.aside("serviceChargeTotal"), Grand: totals.price("grandTotal", c),
		}
	}
	return t
}

func readLine(o *object, c gift.Currency) ticket.Line {
	const unitPrice, totalPrice = "itemUnitPrice", "itemTotalPrice"
	if o.Has(o.path) { // it is no object
		return ticket.Line{}
	}
	l := ticket.Line{
		ItemID:    o.line("itemID", ticket.MaxItemID),
		ItemName:  o.line("itemName", ticket.MaxItemName),
		UnitPrice: o.price(unitPrice, c),
		Quantity:  o.quantity("quantity"),
	}
	switch total := o.price(totalPrice, c); {
	case total != nil:
		l.Total = *total
	case l.UnitPrice != nil:
		if l.Total = l.UnitPrice.Mul(l.Quantity); beyond(l.Total, c, ticket.MaxAmount) {
			o.Add(o.at(totalPrice), "The line's itemUnitPrice times its quantity is too large.")
		}
	case !o.Has(o.at(unitPrice)) && !o.Has(o.at(totalPrice)):
		o.Add(o.at(totalPrice), "A line needs an itemTotalPrice or an itemUnitPrice.")
	}
	return l
}

func beyond(d gift.Decimal, unit gift.Currency, limit gift.Amount) bool {
	a := d.Round(unit)
	return a > limit || a < -limit
}

// decimal reads a number of a ticket; nil when it is absent or a problem.
func (o *object) decimal(name string, unit gift.Currency, limit gift.Amount) *gift.Decimal {
	text := o.number(name)
	if text == "" {
		return nil
	}
	d, err := gift.ParseDecimal(text)
	switch {
	case err == gift.ErrTooLong:
		o.Add(o.at(name), "This number has too many digits.")
	case err != nil || beyond(d, unit, limit):
		o.Add(o.at(name), "This number is too large.")
	default:
		return &d
	}
	return nil
}

func (o *object) price(name string, c gift.Currency) *gift.Decimal {
	return o.decimal(name, c, ticket.MaxAmount)
}

// aside reads a number that only tells one ticket from another; one that cannot be read is left out.
func (o *object) aside(name string) *gift.Decimal {
	v := o.take(name)
	if v == nil || v.Kind() != '0' {
		return nil
	}
	d, err := gift.ParseDecimal(string(v))
	if err != nil {
		return nil
	}
	return &d
}

// quantity reads how many pieces a line of a ticket has.
func (o *object) quantity(name string) gift.Decimal {
	if d := o.decimal(name, gift.Pieces, ticket.MaxQuantity); d != nil {
		return *d
	}
	return gift.DecimalOf(1)
}
