package export

import (
	"strconv"
	"strings"

	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// column is a column of an export.
type column[T any] struct {
	name  string
	plain bool // its texts are numbers, true or false
	text  func(*Options, T) string
}

// giftColumns are those of a gift. The first twelve are those that boon import reads.
var giftColumns = []column[*gift.Gift]{
	{"code", false, codeOf},
	{"balance", true, func(_ *Options, g *gift.Gift) string { return amount(!g.Item, g.Currency, g.Balance) }},
	{"quantity", true, func(_ *Options, g *gift.Gift) string { return amount(g.Item, money.Pieces, g.Balance) }},
	{"label", false, func(_ *Options, g *gift.Gift) string { return g.Card.Label }},
	{"program", false, func(_ *Options, g *gift.Gift) string { return programName(g.ProgramID) }},
	{"organization", false, func(o *Options, g *gift.Gift) string { return placeName(o, g.LocationID) }},
	{"validUntil", false, func(_ *Options, g *gift.Gift) string { return instant(g.End()) }},
	{"issuedAt", false, func(_ *Options, g *gift.Gift) string { return instant(g.CreatedAt) }},
	{"recipient", false, func(_ *Options, g *gift.Gift) string { return g.Card.Recipient }},
	{"contact", false, func(_ *Options, g *gift.Gift) string { return g.Card.Address() }},
	{"reference", false, func(_ *Options, g *gift.Gift) string { return g.Card.Purchase.Reference }},
	{"pin", false, func(o *Options, g *gift.Gift) string {
		switch {
		case !o.Codes:
			return ""
		case o.Format == CSV:
			return spreadsheet.Digits(g.Verification)
		}
		return g.Verification
	}},
	{"currency", false, func(_ *Options, g *gift.Gift) string { return g.Currency.Code }},
	{"value", true, func(_ *Options, g *gift.Gift) string { return amount(!g.Item, g.Currency, g.Worth()) }},
	{"pieces", true, func(_ *Options, g *gift.Gift) string { return amount(g.Item, money.Pieces, g.Worth()) }},
	{"equivalentValue", true, func(_ *Options, g *gift.Gift) string {
		return amount(g.Card.EquivalentValue != 0, g.Currency, g.Card.EquivalentValue)
	}},
	{"pricePaid", true, func(_ *Options, g *gift.Gift) string {
		return amount(g.Card.Purchase.Price != 0, g.Currency, g.Card.Purchase.Price)
	}},
	{"held", true, func(o *Options, g *gift.Gift) string { return g.Unit().Format(g.HeldAt(o.At)) }},
	{"status", false, func(_ *Options, g *gift.Gift) string { return g.Status.String() }},
	{"blocked", false, func(_ *Options, g *gift.Gift) string { return string(g.Blocked) }},
	{"promotional", true, func(_ *Options, g *gift.Gift) string { return strconv.FormatBool(g.Promotional) }},
	{"lastFour", false, func(_ *Options, g *gift.Gift) string { return g.Card.Code.LastFour() }},
	{"validFrom", false, func(_ *Options, g *gift.Gift) string { return instant(g.ValidFrom) }},
	{"graceDays", true, func(_ *Options, g *gift.Gift) string {
		return amount(g.GraceDays > 0, money.Pieces, money.Amount(g.GraceDays))
	}},
	{"terms", false, func(_ *Options, g *gift.Gift) string { return g.Card.Terms }},
	{"promotionalTerms", false, func(_ *Options, g *gift.Gift) string { return g.Card.PromotionalTerms }},
	{"sender", false, func(_ *Options, g *gift.Gift) string { return g.Card.Sender }},
	{"message", false, func(_ *Options, g *gift.Gift) string { return g.Card.Message }},
	{"language", false, func(_ *Options, g *gift.Gift) string { return g.Card.Language }},
	{"firstName", false, func(_ *Options, g *gift.Gift) string { return g.Card.Purchase.FirstName }},
	{"lastName", false, func(_ *Options, g *gift.Gift) string { return g.Card.Purchase.LastName }},
	{"emailAddress", false, func(_ *Options, g *gift.Gift) string { return g.Card.Purchase.EmailAddress }},
	{"customerID", false, func(_ *Options, g *gift.Gift) string { return g.CustomerID }},
	{"notes", false, func(_ *Options, g *gift.Gift) string { return g.Card.Notes }},
	{"programID", false, func(_ *Options, g *gift.Gift) string { return id(g.ProgramID) }},
	{"promotionID", false, func(_ *Options, g *gift.Gift) string { return id(g.PromotionID) }},
	{"organizationID", false, func(_ *Options, g *gift.Gift) string { return id(g.LocationID) }},
	{"storefrontID", false, func(_ *Options, g *gift.Gift) string { return id(g.Card.Purchase.StorefrontID) }},
	{"orderID", false, func(_ *Options, g *gift.Gift) string { return id(g.OrderID) }},
	{"voucherID", false, func(_ *Options, g *gift.Gift) string { return id(g.ID) }},
	{"tillsOnly", true, func(_ *Options, g *gift.Gift) string { return strconv.FormatBool(g.OnlyAtTills()) }},
}

// entryColumns are those of an entry. Amounts are in currency; without currency they are pieces.
var entryColumns = []column[*gift.Change]{
	{"at", false, func(_ *Options, c *gift.Change) string { return instant(c.At) }},
	{"kind", false, func(_ *Options, c *gift.Change) string { return string(c.Kind) }},
	{"amount", true, func(_ *Options, c *gift.Change) string { return c.Unit.Format(moved(c)) }},
	{"currency", false, func(_ *Options, c *gift.Change) string { return c.Unit.Code }},
	{"balance", true, func(_ *Options, c *gift.Change) string { return c.Unit.Format(c.Balance) }},
	{"held", true, func(_ *Options, c *gift.Change) string { return c.Unit.Format(c.Held) }},
	{"status", false, func(_ *Options, c *gift.Change) string { return c.Status.String() }},
	{"promotional", true, func(_ *Options, c *gift.Change) string { return strconv.FormatBool(c.Promotional) }},
	{"program", false, func(_ *Options, c *gift.Change) string { return programName(c.ProgramID) }},
	{"organization", false, func(o *Options, c *gift.Change) string { return placeName(o, c.Actor.LocationID) }},
	{"reference", false, func(_ *Options, c *gift.Change) string { return c.Reference }},
	{"reason", false, func(_ *Options, c *gift.Change) string { return c.Reason }},
	{"reasonCode", false, func(_ *Options, c *gift.Change) string { return string(c.ReasonCode) }},
	{"purchaseReference", false, func(_ *Options, c *gift.Change) string { return c.Purchase.Reference }},
	{"pricePaid", true, func(o *Options, c *gift.Change) string {
		return amount(c.Purchase.Price != 0, o.Account.Currency, c.Purchase.Price)
	}},
	{"until", false, func(_ *Options, c *gift.Change) string { return instant(c.Until) }},
	{"organizationID", false, func(_ *Options, c *gift.Change) string { return id(c.Actor.LocationID) }},
	{"keyID", false, func(_ *Options, c *gift.Change) string { return id(c.Actor.KeyID) }},
	{"reverses", false, func(_ *Options, c *gift.Change) string { return id(c.Reverses) }},
	{"holdID", false, func(_ *Options, c *gift.Change) string { return id(c.HoldID) }},
	{"counterpartVoucherID", false, func(_ *Options, c *gift.Change) string { return id(c.CounterpartGift) }},
	{"voucherID", false, func(_ *Options, c *gift.Change) string { return id(c.VoucherID) }},
	{"entryID", false, func(_ *Options, c *gift.Change) string { return id(c.ID) }},
}

// codeOf is a code with dashes in the CSV, so that it survives a spreadsheet; without leave, only its last four digits.
func codeOf(o *Options, g *gift.Gift) string {
	switch code := g.Card.Code.Reveal(); {
	case !o.Codes:
		last := g.Card.Code.LastFour()
		return strings.Repeat("•", max(0, len(code)-len(last))) + last
	case o.Format == CSV:
		return spreadsheet.Digits(code)
	default:
		return code
	}
}

// amount is an amount that the row has; "": it has none.
func amount(has bool, unit money.Currency, a money.Amount) string {
	if !has {
		return ""
	}
	return unit.Format(a)
}

func id(of guid.ID) string {
	if of.IsZero() {
		return ""
	}
	return of.String()
}

func programName(id guid.ID) string {
	program, _ := merchant.ProgramByID(id)
	return program.Name
}

// placeName is the name of a location. One that is in the set-up no more has none: its id stands in another column.
func placeName(o *Options, id guid.ID) string {
	if at := o.Account.Location(id); at != nil {
		return at.Name
	}
	return ""
}

// moved is by how much an entry changed what its gift is worth. The first entry of a gift has no Delta: its balance is
// what the gift was made with.
func moved(c *gift.Change) money.Amount {
	if c.Seq == 1 {
		return c.Balance
	}
	return c.Delta
}

// balanceOf posts what is left of a gift.
func balanceOf(o *Options, g *gift.Gift) posting {
	p := posting{at: o.At, id: g.ID.String(), what: "balance",
		tags:    "gift:" + g.ID.String() + ", status:" + g.Status.String(),
		account: owing(g.Promotional), opposite: "equity:gifts"}
	if g.Balance != 0 {
		p.amount = commodity(g.Unit(), -g.Balance)
	}
	return p
}

// movementOf posts what an entry moved.
func movementOf(_ *Options, c *gift.Change) posting {
	p := posting{at: c.At, id: c.ID.String(), what: string(c.Kind), tags: "gift:" + c.VoucherID.String(),
		account: owing(c.Promotional), opposite: "gifts:" + strings.ToLower(string(c.Kind))}
	if by := moved(c); by != 0 {
		p.amount = commodity(c.Unit, -by)
	}
	return p
}

// owing is the account of what is owed for gifts. Nobody paid for promotional ones.
func owing(promotional bool) string {
	if promotional {
		return "promotions:gifts"
	}
	return "liabilities:gifts"
}

func commodity(unit money.Currency, a money.Amount) string {
	if unit == money.Pieces {
		return unit.Format(a) + " pieces"
	}
	return unit.Format(a) + " " + unit.Code
}
