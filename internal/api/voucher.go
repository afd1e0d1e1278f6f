package api

import (
	"regexp"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ticket"
)

// view is from where a gift is looked at.
type view struct {
	account  *gift.Account
	location *gift.Location // where it is to be redeemed; nil: nowhere in particular
	now      time.Time
	verdict  *ticket.Verdict // of the till's ticket; nil: none was given
	pages    string          // the public URL, below which gift pages are
	masked   bool            // code, token and link are not for the caller
}

// lookUp is a view of gifts that are looked up: their secrets are for keys only that may see codes.
func (c *call) lookUp() view {
	return view{account: c.account, now: c.now, pages: c.PublicURL, masked: !c.caller.May(gift.MaySeeCodes)}
}

// voucher writes the members of the voucher payload. The recipient's address is not among them: a till has no need of it.
func (w *writer) voucher(g *gift.Gift, s view) {
	v := &g.Voucher
	w.voucherIdentity(g, s)
	w.voucherOrigin(g)
	w.voucherState(v, s)
	w.voucherValue(g)
	w.textOrNull("promotionalTerms", g.Card.PromotionalTerms)
	w.instantOrNull("validFrom", v.ValidFrom)
	w.instantOrNull("validUntil", v.ValidUntil)
	w.text("senderDescription", g.Card.Sender)
	w.textOrNull("recipientDescription", g.Card.Recipient)
	w.textOrNull("message", g.Card.Message)
	w.integer("deliveryMethodID", int(g.Card.Method))
	w.instantOrNull("deliveryDate", g.Card.DeliveryDate)
	w.instantOrNull("deliveredAt", g.Card.DeliveredAt)
	w.idOrNull("voucherDesignID", g.Card.DesignID)
	w.instant("createdAt", v.CreatedAt)
	items := s.account.Items(v)
	w.boolean("requiresEligibleItems", len(items) > 0)
	w.eligibleItems(items)
	w.eligibility(v.Unit(), s.verdict)
	w.boolean("cashOutAllowed", gift.CashOutAllowed(s.jurisdiction(v), v))
}

// voucherIdentity writes what names the gift, and its secrets.
func (w *writer) voucherIdentity(g *gift.Gift, s view) {
	w.id("voucherID", g.ID)
	if s.masked {
		for _, name := range secretMembers {
			w.null(name)
		}
	} else {
		w.text("voucherCode", g.Card.Code.Reveal())
		w.text("voucherPublicToken", g.Card.Token.Reveal())
		w.text("giftURL", giftURL(g, s.pages))
	}
	w.text("lastFour", g.Card.Code.LastFour())
}

// secretMembers are those by which a gift can be spent.
var secretMembers = []string{"voucherCode", "voucherPublicToken", "giftURL"}

// secretValues finds them in an answer of ours. In a text within it, the quotes would be escaped.
var secretValues = regexp.MustCompile(`"(` + strings.Join(secretMembers, "|") + `)":"[^"\\]*"`)

// mask takes the secrets of gifts out of an answer that may have been made for another key, unless the caller may see codes.
func (c *call) mask(op ledger.Operation, a ledger.Answer) ledger.Answer {
	if (op == ledger.ResendGift || op == ledger.RescheduleGift) && !c.caller.May(gift.MaySeeCodes) {
		a.Body = secretValues.ReplaceAll(a.Body, []byte(`"$1":null`))
	}
	return a
}

// voucherOrigin writes whose the gift is, how it came about, and of what kind it is.
func (w *writer) voucherOrigin(g *gift.Gift) {
	v := &g.Voucher
	program, _ := gift.ProgramByID(v.ProgramID)
	w.id("orderID", v.OrderID)
	w.textOrNull("externalTransactionReferenceNumber", g.Card.Purchase.Reference)
	w.idOrNull("externalStorefrontID", g.Card.Purchase.StorefrontID)
	w.idOrNull("promotionID", v.PromotionID)
	w.id("accountID", v.AccountID)
	w.idOrNull("organizationID", v.LocationID)
	w.id("programID", v.ProgramID)
	w.text("programName", program.Name)
	w.boolean("programIsPromotional", program.Promotional)
	w.integer("voucherTypeID", v.TypeID())
	w.boolean("isItemType", v.Item)
	w.boolean("isPromoType", v.Promotional)
}

func (w *writer) voucherState(v *gift.Voucher, s view) {
	reasons := v.NotRedeemable(s.locationID(), s.now, s.account.TimeZone())
	w.text("status", v.Status.String())
	w.integer("statusID", int(v.Status))
	w.boolean("isRedeemable", len(reasons) == 0)
	w.boolean("hasRemainingBalance", v.Balance > 0)
	w.boolean("isInRedeemableStatus", v.Status.Redeemable())
	w.boolean("isInRedeemablePeriod", v.InPeriod(s.now))
	w.list("notRedeemableReasons")
	for _, r := range reasons {
		w.open()
		w.text("code", string(r.Code))
		w.text("text", r.Text)
		w.close()
	}
	w.endList()
}

func (w *writer) voucherValue(g *gift.Gift) {
	v := &g.Voucher
	w.unitCode(v)
	w.text("unit", unitName(v))
	w.amount("originalBalance", v.Unit(), v.Original)
	w.amount("currentBalance", v.Unit(), v.Balance)
	if v.Item {
		w.null("value")
		w.textOrNull("label", g.Card.Label)
		w.textOrNull("terms", g.Card.Terms)
		w.amount("quantity", v.Unit(), v.Original)
		w.amountOrNull("equivalentValue", v.Currency, g.Card.EquivalentValue)
		return
	}
	w.amount("value", v.Unit(), v.Original)
	w.null("label")
	w.textOrNull("terms", g.Card.Terms)
	w.null("quantity")
	w.null("equivalentValue")
}

// eligibleItems writes what a gift is good for; null is anything.
func (w *writer) eligibleItems(items []gift.Item) {
	if len(items) == 0 {
		w.null("eligibleItems")
		return
	}
	w.list("eligibleItems")
	for _, i := range items {
		w.open()
		w.text("id", i.ID)
		w.textOrNull("name", i.Name)
		w.close()
	}
	w.endList()
}

// eligibility writes what the ticket says; null without a ticket.
func (w *writer) eligibility(unit gift.Currency, v *ticket.Verdict) {
	if v == nil {
		w.null("eligibility")
		return
	}
	w.object("eligibility")
	w.amount("maximumAmount", unit, v.Most)
	w.list("eligibleLines")
	for _, l := range v.Eligible {
		w.open()
		w.integer("index", l.Index)
		w.amount("amount", unit, l.Amount)
		w.close()
	}
	w.endList()
	w.list("excludedLines")
	for _, l := range v.LeftOut {
		w.open()
		w.integer("index", l.Index)
		w.text("reason", l.Reason)
		w.close()
	}
	w.endList()
	w.close()
}

func (s view) locationID() gift.ID {
	if s.location == nil {
		return gift.ID{}
	}
	return s.location.ID
}

// jurisdiction is that of the location asked about, else of the only one where the gift is good; "" is unknown.
func (s view) jurisdiction(v *gift.Voucher) string {
	l := s.location
	if l == nil {
		l = s.account.Location(v.LocationID)
	}
	if l == nil {
		return ""
	}
	return l.Jurisdiction
}

// unitName says what a gift's amounts are.
func unitName(v *gift.Voucher) string {
	if v.Item {
		return "items"
	}
	return "money"
}

// unitCode writes the currency of a gift's amounts, null for pieces.
func (w *writer) unitCode(v *gift.Voucher) { w.textOrNull("currency", v.Unit().Code) }
