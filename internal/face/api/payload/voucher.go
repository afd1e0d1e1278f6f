// Package payload writes how gifts, entries and events stand in answers and in the calls of webhooks, and takes the
// secrets of gifts out of answers.
package payload

import (
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// View is from where a gift is looked at.
type View struct {
	Account  *merchant.Account
	Location *merchant.Location // where it is to be redeemed; nil: nowhere in particular
	Now      time.Time
	Verdict  *ticket.Eligibility // of the till's ticket; nil: none was given
	Law      gift.CashOutLaw
	Pages    string // the public URL, below which gift pages are
	Masked   bool   // code, token and link are not for the caller
}

// WriteVoucher writes the members of the voucher payload. The recipient's address is not among them: a till has no need
// of it.
func WriteVoucher(w *wire.Writer, g *gift.Gift, s View) {
	v := &g.Voucher
	writeVoucherIdentity(w, g, s)
	writeVoucherOrigin(w, g)
	writeVoucherState(w, v, s)
	writeVoucherValue(w, g, s)
	writeVAT(w, &g.Card)
	w.TextOrNull("promotionalTerms", g.Card.PromotionalTerms)
	w.InstantOrNull("validFrom", v.ValidFrom)
	w.InstantOrNull("validUntil", v.End())
	if s.Location != nil {
		WriteGrace(w, v)
	}
	w.Text("senderDescription", g.Card.Sender)
	w.TextOrNull("recipientDescription", g.Card.Recipient)
	w.TextOrNull("message", g.Card.Message)
	w.TextOrNull("recipientLanguage", g.Card.Language)
	if s.Location != nil { // a till has no need of it
		w.Null("customerID")
	} else {
		w.TextOrNull("customerID", v.CustomerID)
	}
	w.Integer("deliveryMethodID", int(g.Card.Method))
	if g.Card.Attachment != "" {
		w.Text("deliverTo", gift.ToBuyer)
		w.Text("attachment", string(g.Card.Attachment))
	}
	w.InstantOrNull("deliveryDate", g.Card.DeliveryDate)
	w.InstantOrNull("deliveredAt", g.Card.DeliveredAt)
	w.IDOrNull("voucherDesignID", g.Card.DesignID)
	w.Instant("createdAt", v.CreatedAt)
	items := v.GoodFor(s.Account)
	w.Boolean("requiresEligibleItems", len(items) > 0)
	writeEligibleItems(w, items)
	writeEligibility(w, v.Unit(), s.Verdict)
	at := s.Location // where it is asked about, else the only one where the gift is good
	if at == nil {
		at = s.Account.Location(v.LocationID)
	}
	w.Boolean("cashOutAllowed", v.CashOutAllowed(s.Law, s.Account, at, s.Now))
}

// WriteGrace tells a till until when it takes a gift that has days of grace. Nobody else is told.
func WriteGrace(w *wire.Writer, v *gift.Voucher) {
	if v.GraceDays > 0 {
		w.InstantOrNull("graceUntil", v.EndForTill())
	}
}

// writeVoucherIdentity writes what names the gift, and its secrets.
func writeVoucherIdentity(w *wire.Writer, g *gift.Gift, s View) {
	w.ID("voucherID", g.ID)
	writeSecrets(w, g, s)
	w.Text("lastFour", g.Card.Code.LastFour())
	w.Text("mode", s.Account.Mode())
}

// writeVoucherOrigin writes whose the gift is, how it came about, and of what kind it is.
func writeVoucherOrigin(w *wire.Writer, g *gift.Gift) {
	v := &g.Voucher
	program, _ := merchant.ProgramByID(v.ProgramID)
	w.ID("orderID", v.OrderID)
	w.TextOrNull("externalTransactionReferenceNumber", g.Card.Purchase.Reference)
	w.IDOrNull("externalStorefrontID", g.Card.Purchase.StorefrontID)
	w.IDOrNull("promotionID", v.PromotionID)
	w.ID("accountID", v.AccountID)
	w.IDOrNull("organizationID", v.LocationID)
	w.ID("programID", v.ProgramID)
	w.Text("programName", program.Name)
	w.Boolean("programIsPromotional", program.Promotional)
	w.Integer("voucherTypeID", v.TypeID())
	w.Boolean("isItemType", v.Item)
	w.Boolean("isPromoType", v.Promotional)
}

func writeVoucherState(w *wire.Writer, v *gift.Voucher, s View) {
	reasons := v.NotRedeemable(s.locationID(), s.Now, s.Account.TimeZone())
	w.Text("status", v.Status.String())
	w.Integer("statusID", int(v.Status))
	w.Boolean("isRedeemable", len(reasons) == 0)
	w.Boolean("hasRemainingBalance", v.Balance > 0)
	w.Boolean("isInRedeemableStatus", v.Status.Redeemable())
	w.Boolean("isInRedeemablePeriod", v.InPeriod(s.locationID(), s.Now))
	w.List("notRedeemableReasons")
	for _, r := range reasons {
		w.Open()
		w.Text("code", string(r.Code))
		w.Text("text", r.Text.String())
		w.Close()
	}
	w.EndList()
	if s.Location != nil { // a till is told that it is blocked, not why
		w.Null("blockedReason")
		return
	}
	w.TextOrNull("blockedReason", string(v.Blocked))
}

func writeVoucherValue(w *wire.Writer, g *gift.Gift, s View) {
	v := &g.Voucher
	WriteUnitCode(w, v)
	w.Text("unit", UnitName(v))
	price := g.Card.Purchase.Price
	if s.Location != nil { // what it was bought for is no matter of whoever takes it
		price = 0
	}
	w.AmountOrNull("pricePaid", v.Currency, price)
	w.Amount("originalBalance", v.Unit(), v.Funded)
	WriteBalances(w, v, s.Now)
	if v.Item {
		w.Null("value")
		w.TextOrNull("label", g.Card.Label)
		w.TextOrNull("terms", g.Card.Terms)
		w.Amount("quantity", v.Unit(), v.Worth())
		w.AmountOrNull("equivalentValue", v.Currency, g.Card.EquivalentValue)
		return
	}
	w.Amount("value", v.Unit(), v.Worth())
	w.Null("label")
	w.TextOrNull("terms", g.Card.Terms)
	w.Null("quantity")
	w.Null("equivalentValue")
}

// writeVAT writes how the gift is taxed, as the set-up said when it was made.
func writeVAT(w *wire.Writer, c *gift.Card) {
	w.TextOrNull("vatTreatment", string(c.VATTreatment))
	if c.VATRate == "" {
		w.Null("vatRate")
		return
	}
	w.Raw("vatRate", []byte(c.VATRate))
}

// writeEligibleItems writes what a gift is good for; null is anything.
func writeEligibleItems(w *wire.Writer, items []merchant.Item) {
	if len(items) == 0 {
		w.Null("eligibleItems")
		return
	}
	w.List("eligibleItems")
	for _, i := range items {
		w.Open()
		w.TextOrNull("id", i.ID)
		w.TextOrNull("name", i.Name)
		w.TextOrNull("group", i.Group)
		w.Close()
	}
	w.EndList()
}

// writeEligibility writes what the ticket says; null without a ticket.
func writeEligibility(w *wire.Writer, unit money.Currency, v *ticket.Eligibility) {
	if v == nil {
		w.Null("eligibility")
		return
	}
	w.Grow(256 + 48*len(v.Eligible) + 96*len(v.LeftOut))
	w.Object("eligibility")
	w.Amount("maximumAmount", unit, v.Most)
	w.List("eligibleLines")
	for _, l := range v.Eligible {
		w.Open()
		w.Integer("index", l.Index)
		w.Amount("amount", unit, l.Amount)
		w.Close()
	}
	w.EndList()
	w.List("excludedLines")
	for _, l := range v.LeftOut {
		w.Open()
		w.Integer("index", l.Index)
		w.Text("reason", string(l.Reason))
		w.Close()
	}
	w.EndList()
	w.Close()
}

func (s View) locationID() guid.ID {
	if s.Location == nil {
		return guid.ID{}
	}
	return s.Location.ID
}

// UnitName says what a gift's amounts are.
func UnitName(v *gift.Voucher) string {
	if v.Item {
		return "items"
	}
	return "money"
}

// WriteUnitCode writes the currency of a gift's amounts, null for pieces.
func WriteUnitCode(w *wire.Writer, v *gift.Voucher) { w.TextOrNull("currency", v.Unit().Code) }
