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
		data.refuse(gift.RefuseAt(gift.NotSupported, data.at("format"), "This ticket format is not supported; the known one is %q.", ticket.Standard))
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

// readStandard reads the standard schema:
//   - lineItems is needed, quantity in every line, and itemUnitPrice or itemTotalPrice. Everything else may be absent.
//   - A line without itemTotalPrice costs itemUnitPrice × quantity. With both, itemTotalPrice holds, and need not be the product:
//     tills round, and know of discounts.
//   - Amounts have no more decimals than the currency. Zero is a price, a negative one is refused, and so are lines that take money off:
//     a till must take a discount off the lines that it is for. discountTotal may have either sign, as tills write it either way.
func readStandard(o *object, c gift.Currency) *ticket.Ticket {
	defer o.finish()
	t := &ticket.Ticket{}
	given := o.objects("lineItems", ticket.MaxLines, func(line *object) { t.Lines = append(t.Lines, readLine(line, c)) })
	if !given {
		o.Add(o.at("lineItems"), "This is needed.")
	}
	if totals := o.object("totals"); totals != nil {
		t.Totals = ticket.Totals{
			Sub:           totals.price("subTotal", c, false),
			Tax:           totals.price("taxTotal", c, false),
			Discount:      totals.price("discountTotal", c, true),
			ServiceCharge: totals.price("serviceChargeTotal", c, false),
			Grand:         totals.price("grandTotal", c, false),
		}
		totals.finish()
	}
	return t
}

func readLine(o *object, c gift.Currency) ticket.Line {
	const unitPrice, totalPrice = "itemUnitPrice", "itemTotalPrice"
	if o.Has(o.path) { // it is no object
		return ticket.Line{}
	}
	defer o.finish()
	l := ticket.Line{
		ItemID:    o.line("itemID", ticket.MaxItemID),
		ItemName:  o.line("itemName", ticket.MaxItemName),
		UnitPrice: o.price(unitPrice, c, false),
		Quantity:  o.quantity("quantity"),
	}
	switch total := o.price(totalPrice, c, false); {
	case total != nil:
		l.Total = *total
	case l.UnitPrice == nil:
		if !o.Has(o.at(unitPrice)) {
			o.Add(o.at(totalPrice), "A line needs an itemTotalPrice or an itemUnitPrice.")
		}
	case int64(*l.UnitPrice)*l.Quantity > ticket.MaxAmount:
		o.Add(o.at(totalPrice), "The line's itemUnitPrice times its quantity is too large.")
	default:
		l.Total = *l.UnitPrice * gift.Amount(l.Quantity)
	}
	return l
}

// price reads an amount of a ticket; nil when it is absent or a problem.
func (o *object) price(name string, c gift.Currency, signed bool) *gift.Amount {
	text := o.number(name)
	if text == "" {
		return nil
	}
	switch a, err := c.ParseSigned(text); {
	case err == gift.ErrTooPrecise:
		o.Add(o.at(name), "An amount in %s has at most %d decimals.", c.Code, c.Decimals)
	case err != nil || a > ticket.MaxAmount || a < -ticket.MaxAmount:
		o.Add(o.at(name), "This amount is too large.")
	case a < 0 && !signed:
		o.Add(o.at(name), "An amount on a ticket cannot be negative: take a discount off the lines that it is for.")
	default:
		return &a
	}
	return nil
}

// quantity reads how many pieces a line of a ticket has.
func (o *object) quantity(name string) int64 {
	text := o.number(name)
	n, err := gift.Pieces.ParseSigned(text)
	switch {
	case text == "":
		o.Add(o.at(name), "This is needed.")
	case err != nil || n < 0 || n > ticket.MaxQuantity:
		o.Add(o.at(name), "A quantity must be a whole number from 0 to %d.", ticket.MaxQuantity)
	default:
		return int64(n)
	}
	return 0
}
