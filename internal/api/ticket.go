package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"boon.example/internal/gift"
	"boon.example/internal/ticket"
	"boon.example/internal/ticket/format"
	"boon.example/internal/wire"
)

// readTicket reads the till's ticket; nil when none is given.
// at is where it is; nil: that cannot be told.
func readTicket(o *wire.Object, currency gift.Currency, at *gift.Location) *ticket.Ticket {
	data := o.Object("ticketData")
	if data == nil {
		return nil
	}
	defer data.Finish()
	const content = "data"
	name, order := data.Text("format"), data.Value(content)
	options := readTicketOptions(data, name)
	there := at.Reading(name)
	options.ItemID = cmp.Or(options.ItemID, there.ItemID)
	options.TaxInclusive = cmp.Or(options.TaxInclusive, there.TaxInclusive)
	options.GiftCards = there.GiftCards
	switch {
	case name == "":
		data.Add(data.At("format"), "Say the format of the ticket, such as %q.", ticket.Standard)
	case !format.Known(name):
		data.Refuse(refuseAt(gift.NotSupported, data.At("format"),
			"This ticket format is not supported; the known ones are %s.", list(format.Names())))
	case !data.Given(content):
		data.Add(data.At(content), "Ticket data needs the ticket itself.")
	case order.Exists() && order.Kind() != '{':
		data.Add(data.At(content), "This must be an object, not %s.", wire.KindName(order.Kind()))
	case order.Exists():
		return format.Read(name, order, options, currency, data.Problems)
	}
	return nil
}

// noteTicket has the log tell of a ticket whose parts are not its total.
func (c *call) noteTicket(t *ticket.Ticket) *ticket.Ticket {
	if t != nil && t.Difference != 0 {
		c.warning = fmt.Sprintf("the parts of a ticket of the format %s are %s more than its total", t.Format,
			t.Currency.Money(t.Difference))
	}
	return t
}

// readTicketOptions reads how the ticket is to be read. An option of another format is a problem.
func readTicketOptions(data *wire.Object, name string) (o format.Options) {
	const check, itemID, inclusive = "checkGuid", "itemID", "taxInclusive"
	options := data.Object("options")
	if options == nil {
		return o
	}
	defer options.Finish()
	only := func(member, of string) {
		if options.Given(member) && name != of {
			options.Add(options.At(member), "Only tickets of the format %q have this option.", of)
		}
	}
	o.CheckGUID, o.ItemID = options.Text(check), options.Text(itemID)
	o.TaxInclusive = options.Boolean(inclusive)
	only(check, format.Toast)
	only(inclusive, format.LightspeedX)
	switch known := format.ItemIDs(name); {
	case o.ItemID == "" || slices.Contains(known, o.ItemID):
	case len(known) == 0:
		options.Add(options.At(itemID), "Tickets of this format have one itemID only.")
	default:
		options.Add(options.At(itemID), "This must be one of %s.", list(known))
	}
	return o
}

// list writes names for a sentence: "a", "b".
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, ", ")
}
