package gifts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/ticket"
	"boon.example/internal/ticket/format"
	"boon.example/internal/wire"
)

// readTicket reads the till's ticket; nil when none is given. at is where it is; nil: that cannot be told. asked is the
// ticket as the request has it, for its fingerprint: what the location's set-up says of tickets, and how a version
// reads the orders of a platform, make no other request of it. into is memory that the caller lends; nil: none.
func readTicket(o *wire.Object, currency money.Currency, at *merchant.Location, into *ticket.Memory) (t *ticket.Ticket,
	asked any) {
	data := o.Object("ticketData")
	if data == nil {
		return nil, nil
	}
	defer data.Finish()
	const content = "data"
	name, order := data.Text("format"), data.Value(content)
	there := at.Reading(name)
	said := readTicketOptions(data, name, there)
	switch {
	case name == "":
		data.Add(data.At("format"), "Say the format of the ticket, such as %q.", ticket.Standard)
	case !format.Known(name):
		data.Refuse(service.RefuseAt(refusal.NotSupported, data.At("format"),
			"This ticket format is not supported; the known ones are %s.", list(format.Names())))
	case !data.Given(content):
		data.Add(data.At(content), "Ticket data needs the ticket itself.")
	case order.Exists() && order.Kind() != '{':
		data.Add(data.At(content), "This must be an object, not %s.", wire.KindName(order.Kind()))
	case order.Exists():
		used := said
		used.ItemID = cmp.Or(said.ItemID, there.ItemID)
		used.TaxInclusive = cmp.Or(said.TaxInclusive, there.TaxInclusive)
		used.GiftCards = there.GiftCards
		t = format.Read(name, order, used, currency, into, data.Problems)
		switch {
		case name != ticket.Standard:
			asked = &askedOrder{name, said, order.Raw()}
		case t != nil && len(there.GiftCards) > 0:
			asked = askedFor(format.Read(name, order, said, currency, nil, &wire.Problems{}))
		case t != nil:
			asked = askedFor(t)
		}
	}
	return t, asked
}

// askedOrder is a platform's order as a request has it.
type askedOrder struct {
	Format  string
	Options format.Options
	Data    jsontext.Value
}

// askedTicket is a ticket of the standard format as a request has it. Its members are those of earlier versions.
type askedTicket struct {
	*ticket.Ticket
	GrandIsZero bool // else a grandTotal of 0 would leave no trace, as one that is absent
}

func askedFor(t *ticket.Ticket) *askedTicket {
	return &askedTicket{t, t.Totals.Grand != nil && t.Totals.Grand.IsZero()}
}

// noteTicket has the log tell of a ticket whose parts are not its total.
func (c *Call) noteTicket(t *ticket.Ticket) *ticket.Ticket {
	if t != nil && t.Difference != 0 {
		c.Warning = fmt.Sprintf("the parts of a ticket of the format %s are %s more than its total", t.Format,
			t.Currency.Money(t.Difference))
	}
	return t
}

// readTicketOptions reads how the ticket is to be read. An option of another format is a problem, and so is another
// itemID than the one by which the location lists its gift cards.
func readTicketOptions(data *wire.Object, name string, there merchant.TicketReading) (o format.Options) {
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
	if known := format.ItemIDs(name); o.ItemID != "" && len(known) > 0 && len(there.GiftCards) > 0 {
		if its := cmp.Or(there.ItemID, known[0]); o.ItemID != its {
			options.Add(options.At(itemID), "This location lists its gift cards by %q, which must be the itemID here.", its)
		}
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
