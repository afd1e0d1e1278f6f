package api

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ticket"
)

// canon is the canonical form of a request, over which its fingerprint is made. Members come in a fixed order, each with its
// name, and what is absent leaves no trace: so spacing, the order of members, the way a number is written and the letter case of
// a GUID make no difference, and a member that a later version adds leaves the fingerprints of old requests as they are.
type canon struct{ b []byte }

func (c *canon) text(name, s string) {
	if s != "" {
		c.name('t', name)
		c.b = append(binary.AppendUvarint(c.b, uint64(len(s))), s...)
	}
}

func (c *canon) name(kind byte, name string) {
	c.b = append(c.b, kind)
	c.b = append(binary.AppendUvarint(c.b, uint64(len(name))), name...)
}

// open begins an object, even an empty one; close ends it.
func (c *canon) open(name string) { c.name('{', name) }
func (c *canon) close()           { c.b = append(c.b, '}') }

func (c *canon) id(name string, id gift.ID) { c.text(name, id.String()) }

func (c *canon) number(name, number string) { c.text(name, canonNumber(number)) }

func (c *canon) integer(name string, n *int) {
	if n != nil {
		c.text(name, strconv.Itoa(*n))
	}
}

func (c *canon) boolean(name string, is *bool) {
	if is != nil {
		c.text(name, strconv.FormatBool(*is))
	}
}

func (c *canon) instant(name string, t time.Time) {
	if !t.IsZero() {
		c.text(name, t.UTC().Format(time.RFC3339Nano))
	}
}

func (c *canon) decimal(name string, d *gift.Decimal, unit gift.Currency) {
	if d != nil {
		c.text(name, d.In(unit))
	}
}

func (c *canon) wanted(w wanted) {
	c.id("voucherID", w.id)
	c.text("voucherCode", w.code.Reveal())
	c.text("voucherPublicToken", w.token.Reveal())
}

// place is where a request is made. Where it leaves that to a key of a single location, the location is part of what was asked: two
// tills that by accident use the same Idempotency-Key do not see each other's answers. What the account's set-up implies is not:
// a replay must find its answer after the set-up has changed.
func (c *canon) place(p gift.Place, caller *gift.Caller) {
	c.id("organizationID", p.LocationID)
	c.text("pointOfSaleSystemOrganizationIdentifier", p.PointOfSale)
	if p == (gift.Place{}) && len(caller.Locations) == 1 {
		c.id("location", caller.Locations[0])
	}
}

func (c *canon) target(t gift.Target) {
	c.id("targetProgramID", t.ProgramID)
	c.boolean("targetPromotional", t.Promotional)
}

func (c *canon) ticket(t *ticket.Ticket) {
	if t == nil {
		return
	}
	c.open("ticketData")
	for _, l := range t.Lines {
		c.open("line")
		c.text("itemID", l.ItemID)
		c.text("itemName", l.ItemName)
		c.decimal("itemUnitPrice", l.UnitPrice, t.Currency)
		c.decimal("quantity", &l.Quantity, gift.Pieces)
		c.decimal("itemTotalPrice", &l.Total, t.Currency)
		c.close()
	}
	c.decimal("subTotal", t.Totals.Sub, t.Currency)
	c.decimal("taxTotal", t.Totals.Tax, t.Currency)
	c.decimal("discountTotal", t.Totals.Discount, t.Currency)
	c.decimal("serviceChargeTotal", t.Totals.ServiceCharge, t.Currency)
	c.decimal("grandTotal", t.Totals.Grand, t.Currency)
	c.close()
}

// canonNumber writes a JSON number in one way: 25, 25.0 and 2.5e1 are all 25e0. An exponent beyond all reason stays as it is.
func canonNumber(s string) string {
	number, power := s, 0
	if e := strings.IndexAny(s, "eE"); e >= 0 {
		n, err := strconv.Atoi(s[e+1:])
		if err != nil || n > 1<<30 || n < -1<<30 {
			return s
		}
		number, power = s[:e], n
	}
	sign := ""
	if strings.HasPrefix(number, "-") {
		sign, number = "-", number[1:]
	}
	whole, fraction, _ := strings.Cut(number, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	if power += len(digits) - len(trimmed); trimmed == "" {
		if s == "" {
			return ""
		}
		return "0e0"
	}
	return sign + trimmed + "e" + strconv.Itoa(power)
}
