package api

import (
	"boon.example/internal/gift"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// readTicket reads the till's ticket; nil when none is given.
func readTicket(o *wire.Object, currency gift.Currency) *ticket.Ticket {
	data := o.Object("ticketData")
	if data == nil {
		return nil
	}
	defer data.Finish()
	const content = "data"
	switch format := data.Text("format"); {
	case format == "":
		data.Take(content)
		data.Add(data.At("format"), "Say the format of the ticket, such as %q.", ticket.Standard)
	case format != ticket.Standard:
		data.Take(content)
		data.Refuse(refuseAt(gift.NotSupported, data.At("format"),
			"This ticket format is not supported; the known one is %q.", ticket.Standard))
	case !data.Given(content):
		data.Take(content)
		data.Add(data.At(content), "Ticket data needs the ticket itself.")
	default:
		if t := data.Object(content); t != nil {
			return readStandard(t, currency)
		}
	}
	return nil
}

// readStandard reads what it uses of the standard schema, and lets the rest be: what a till tells beside is no reason
// to refuse a guest.
//   - lineItems is needed, and itemUnitPrice or itemTotalPrice in every line.
//     A line without a quantity is of one piece.
//   - A line without itemTotalPrice costs itemUnitPrice × quantity. With both, itemTotalPrice holds, and need not
//     be the product: tills round, and know of discounts.
//   - Numbers may be negative, as voids and coupons are, and finer than the currency.
func readStandard(o *wire.Object, c gift.Currency) *ticket.Ticket {
	t := &ticket.Ticket{Currency: c}
	given := o.Objects("lineItems", ticket.MaxLines, func(line *wire.Object) {
		t.Lines = append(t.Lines,
			readLine(line, c))
	})
	if !given {
		o.Add(o.At("lineItems"), "This is needed.")
	}
	if totals := o.Object("totals"); totals != nil {
		t.Totals = ticket.Totals{
			Sub: readAside(totals, "subTotal"), Tax: readAside(totals, "taxTotal"), Discount: readAside(totals, "discountTotal"),
			ServiceCharge: readAside(totals, "serviceChargeTotal"), Grand: readPrice(totals, "grandTotal", c),
		}
	}
	return t
}

func readLine(o *wire.Object, c gift.Currency) ticket.Line {
	const unitPrice, totalPrice = "itemUnitPrice", "itemTotalPrice"
	if o.Has(o.Path()) { // it is no object
		return ticket.Line{}
	}
	l := ticket.Line{
		ItemID:    o.Line("itemID", ticket.MaxItemID),
		ItemName:  o.Line("itemName", ticket.MaxItemName),
		UnitPrice: readPrice(o, unitPrice, c),
		Quantity:  readQuantity(o, "quantity"),
	}
	switch total := readPrice(o, totalPrice, c); {
	case total != nil:
		l.Total = *total
	case l.UnitPrice != nil:
		if l.Total = l.UnitPrice.Mul(l.Quantity); beyond(l.Total, c, ticket.MaxAmount) {
			o.Add(o.At(totalPrice), "The line's itemUnitPrice times its quantity is too large.")
		}
	case !o.Has(o.At(unitPrice)) && !o.Has(o.At(totalPrice)):
		o.Add(o.At(totalPrice), "A line needs an itemTotalPrice or an itemUnitPrice.")
	}
	return l
}

func beyond(d gift.Decimal, unit gift.Currency, limit gift.Amount) bool {
	a := d.Round(unit)
	return a > limit || a < -limit
}

// readDecimal reads a number of a ticket; nil when it is absent or a problem.
func readDecimal(o *wire.Object, name string, unit gift.Currency, limit gift.Amount) *gift.Decimal {
	text := o.Number(name)
	if text == "" {
		return nil
	}
	d, err := gift.ParseDecimal(text)
	switch {
	case err == gift.ErrTooLong:
		o.Add(o.At(name), "This number has too many digits.")
	case err != nil || beyond(d, unit, limit):
		o.Add(o.At(name), "This number is too large.")
	default:
		return &d
	}
	return nil
}

func readPrice(o *wire.Object, name string, c gift.Currency) *gift.Decimal {
	return readDecimal(o, name, c, ticket.MaxAmount)
}

// readAside reads a number that only tells one ticket from another; one that cannot be read is left out.
func readAside(o *wire.Object, name string) *gift.Decimal {
	v := o.Take(name)
	if v == nil || v.Kind() != '0' {
		return nil
	}
	d, err := gift.ParseDecimal(gift.Number(v))
	if err != nil {
		return nil
	}
	return &d
}

// readQuantity reads how many pieces a line of a ticket has.
func readQuantity(o *wire.Object, name string) gift.Decimal {
	if d := readDecimal(o, name, gift.Pieces, ticket.MaxQuantity); d != nil {
		return *d
	}
	return gift.DecimalOf(1)
}
