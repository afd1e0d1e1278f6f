package gift

import (
	"fmt"
	"strings"
	"time"
)

// Payment holds the payment fields of both methods; those of the method that was not chosen must be absent.
type Payment struct {
	Purchase         Purchase
	PromotionID      ID
	ValidStarting    time.Time
	ValidForDays     *int
	PromotionalTerms string
}

// The payment methods of the interface, section 2.9.
const (
	ExternalTransaction = 2
	PromotionalPayment  = 4
)

// sender is who is shown: the request's, else the gift's, else the purchaser, else the account.
func (i *order) sender() {
	p := i.Payment.Purchase
	i.from = i.Sender
	if blank(i.from) {
		i.from = i.def.Sender
	}
	if blank(i.from) && i.PaymentMethodID != nil && *i.PaymentMethodID == ExternalTransaction {
		i.from = strings.TrimSpace(p.FirstName + " " + p.LastName)
	}
	if blank(i.from) {
		i.from = i.account.Name
	}
}

func (i *order) payment() {
	switch {
	case i.PaymentMethodID == nil:
		i.Add("paymentMethodID", "A paymentMethodID is needed: 2 (external transaction) or 4 (promotional).")
	case *i.PaymentMethodID == ExternalTransaction:
		i.purchase()
	case *i.PaymentMethodID == PromotionalPayment:
		i.promotion()
	default:
		i.Add("paymentMethodID", "The paymentMethodID must be 2 (external transaction) or 4 (promotional).")
	}
}

func (i *order) purchase() {
	const needed, foreign = "An external purchase (paymentMethodID 2) needs this.",
		"This belongs to a promotional gift (paymentMethodID 4)."
	p := i.Payment
	i.require("externalTransactionReferenceNumber", !blank(p.Purchase.Reference), needed)
	i.require("externalTransactionCustomerFirstName", !blank(p.Purchase.FirstName), needed)
	i.require("externalTransactionCustomerLastName", !blank(p.Purchase.LastName), needed)
	i.require("externalTransactionCustomerEmailAddress", p.Purchase.EmailAddress != "", needed)
	i.require("externalStorefrontID", !p.Purchase.StorefrontID.IsZero(), needed)
	i.require("promotionID", p.PromotionID.IsZero(), foreign)
	i.require("validStarting", p.ValidStarting.IsZero(), foreign)
	i.require("validForDays", p.ValidForDays == nil, foreign)
	i.require("promotionalTerms", p.PromotionalTerms == "", foreign)
	if p.Purchase.EmailAddress != "" {
		if _, err := ParseContact(Email, p.Purchase.EmailAddress, nil); err != nil {
			i.Add("externalTransactionCustomerEmailAddress", "%s", err)
		}
	}
	if !i.unknown && !p.Purchase.StorefrontID.IsZero() && i.account.Storefront(p.Purchase.StorefrontID) == nil {
		i.Add("externalStorefrontID", "This account has no such storefront.")
	}
}

func (i *order) promotion() {
	const foreign = "This belongs to an external purchase (paymentMethodID 2)."
	p := i.Payment
	i.require("externalTransactionReferenceNumber", p.Purchase.Reference == "", foreign)
	i.require("externalTransactionCustomerFirstName", p.Purchase.FirstName == "", foreign)
	i.require("externalTransactionCustomerLastName", p.Purchase.LastName == "", foreign)
	i.require("externalTransactionCustomerEmailAddress", p.Purchase.EmailAddress == "", foreign)
	i.require("externalStorefrontID", p.Purchase.StorefrontID.IsZero(), foreign)
	i.require("validForDays", p.ValidForDays == nil || *p.ValidForDays >= 1 && *p.ValidForDays <= MaxValidForDays,
		fmt.Sprintf("validForDays must be from 1 to %d.", MaxValidForDays))
	if p.PromotionID.IsZero() {
		i.Add("promotionID", "A promotional gift (paymentMethodID 4) needs this.")
		return
	}
	if i.unknown {
		return
	}
	record := i.account.Promotion(p.PromotionID)
	if record == nil {
		i.Add("promotionID", "This account has no such promotion.")
		return
	}
	i.items = append([]Item{}, record.EligibleItems...)
	i.validity(p, record)
	if i.terms = p.PromotionalTerms; blank(i.terms) {
		i.terms = record.Terms
	}
	i.require("promotionalTerms", !blank(i.terms), neither)
}

const neither = "Neither the request nor the promotion gives this."

// lastYear is the last that RFC 3339 can write.
const lastYear = 9999

// validity runs from validStarting for validForDays calendar days in the account's time zone.
func (i *order) validity(p Payment, record *Promotion) {
	days := record.ValidForDays
	if p.ValidForDays != nil {
		days = *p.ValidForDays
	}
	if i.validFrom = p.ValidStarting; i.validFrom.IsZero() {
		i.validFrom = record.ValidStarting
	}
	i.require("validStarting", !i.validFrom.IsZero(), neither)
	i.require("validForDays", days != 0, neither)
	if days = min(days, MaxValidForDays); i.validFrom.IsZero() {
		return
	}
	i.validUntil = AddDays(i.validFrom, days, i.account.Zone)
	i.require("validStarting", i.validUntil.UTC().Year() <= lastYear, "This gift would be valid beyond the year 9999.")
}

// lasts refuses gifts that nobody could ever redeem: those that are over already, or before they are delivered.
func (i *order) lasts() {
	if i.validUntil.IsZero() || i.Has("validForDays") || i.Has("validStarting") {
		return
	}
	delivered, when := i.now, "already"
	if d := i.def; d.Scheduled != nil && *d.Scheduled && d.DeliveryDate.After(i.now) {
		delivered, when = d.DeliveryDate, "before the deliveryDate"
	}
	if delivered.Before(i.validUntil) {
		return
	}
	source := ""
	if i.Payment.ValidForDays == nil || i.Payment.ValidStarting.IsZero() {
		source = fmt.Sprintf(" What the request does not say of that is from the promotion %q.",
			i.account.Promotion(i.Payment.PromotionID).Name)
	}
	i.Add("validForDays", "This gift could never be redeemed: it would be valid from %s until %s, which is over %s.%s",
		LocalTime(i.validFrom, i.account.Zone), LocalTime(i.validUntil, i.account.Zone), when, source)
}
