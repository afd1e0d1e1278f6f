package order

import (
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/calendar"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Payment holds the payment fields of both methods; those of the method that was not chosen must be absent.
type Payment struct {
	Purchase         gift.Purchase
	PromotionID      guid.ID
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
	if contact.Blank(i.from) {
		i.from = i.def.Sender
	}
	if contact.Blank(i.from) && i.PaymentMethodID != nil && *i.PaymentMethodID == ExternalTransaction {
		i.from = strings.TrimSpace(p.FirstName + " " + p.LastName)
	}
	if contact.Blank(i.from) {
		i.from = i.account.Name
	}
}

func (i *order) payment() {
	switch {
	case i.PaymentMethodID == nil:
		i.add(refusal.FieldPaymentMethod, "A %s is needed: 2 (external transaction) or 4 (promotional).",
			refusal.FieldPaymentMethod)
	case *i.PaymentMethodID == ExternalTransaction:
		i.purchase()
	case *i.PaymentMethodID == PromotionalPayment:
		i.promotion()
	default:
		i.add(refusal.FieldPaymentMethod, "The %s must be 2 (external transaction) or 4 (promotional).",
			refusal.FieldPaymentMethod)
	}
}

func (i *order) purchase() {
	const foreign = "This belongs to a promotional gift (%s 4)."
	p := i.Payment
	i.bought("An external purchase (%s 2) needs this.", refusal.FieldPaymentMethod)
	i.require(refusal.FieldPromotion, p.PromotionID.IsZero(), foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldValidStarting, p.ValidStarting.IsZero(), foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldValidForDays, p.ValidForDays == nil, foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldPromotionalTerms, p.PromotionalTerms == "", foreign, refusal.FieldPaymentMethod)
}

// bought judges who paid, and where.
func (i *order) bought(needed phrase.Text, values ...any) {
	p := i.Payment.Purchase
	i.require(refusal.FieldReference, !contact.Blank(p.Reference), needed, values...)
	i.require(refusal.FieldFirstName, i.counter || !contact.Blank(p.FirstName), needed, values...)
	i.require(refusal.FieldLastName, i.counter || !contact.Blank(p.LastName), needed, values...)
	i.require(refusal.FieldEmailAddress, i.counter || p.EmailAddress != "", needed, values...)
	i.require(refusal.FieldStorefront, !p.StorefrontID.IsZero(), needed, values...)
	if p.EmailAddress != "" {
		if _, err := contact.Parse(contact.Email, p.EmailAddress, nil); err != nil {
			i.add(refusal.FieldEmailAddress, "%s", err)
		}
	}
	if !i.unknown && !p.StorefrontID.IsZero() && i.account.Storefront(p.StorefrontID) == nil {
		i.add(refusal.FieldStorefront, "This account has no such storefront.")
	}
}

// CheckPurchase refuses what did not pay for value that a gift of the caller's account gets later, as an order's
// external purchase is refused. At a paired till nobody asks a guest for name and e-mail: they may be left out there,
// and nowhere else. unread is as in Issue.
func CheckPurchase(c *merchant.Caller, p gift.Purchase, unread func(refusal.Field) bool) error {
	i := order{Send: Send{Payment: Payment{Purchase: p}}, account: c.Account, unread: unread,
		known:   map[refusal.Field]bool{},
		counter: c.Till == merchant.PairedTill}
	i.bought("What was paid needs this.")
	i.text(refusal.FieldReference, p.Reference, maxReference)
	i.text(refusal.FieldFirstName, p.FirstName, maxName)
	i.text(refusal.FieldLastName, p.LastName, maxName)
	return i.err()
}

// notices are what the buyer is told: what the account tells every buyer, and what the request asks for.
func (i *order) notices() (tell gift.BuyerNotices) {
	if *i.PaymentMethodID != ExternalTransaction {
		return 0
	}
	if i.account.ArrivalNotice {
		tell |= gift.TellArrival
	}
	if i.NotifyBuyer != nil && *i.NotifyBuyer {
		tell |= gift.TellArrival | gift.TellFirstUse
	}
	if i.attachment != "" { // which the buyer sees arrive
		tell &^= gift.TellArrival
	}
	return tell
}

func (i *order) promotion() {
	const foreign = "This belongs to an external purchase (%s 2)."
	p := i.Payment
	i.require(refusal.FieldReference, p.Purchase.Reference == "", foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldFirstName, p.Purchase.FirstName == "", foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldLastName, p.Purchase.LastName == "", foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldEmailAddress, p.Purchase.EmailAddress == "", foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldStorefront, p.Purchase.StorefrontID.IsZero(), foreign, refusal.FieldPaymentMethod)
	i.require(i.at(refusal.FieldPricePaid), i.def.Price == "", foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldBuyerLanguage, i.BuyerLanguage == "", foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldNotifyBuyer, i.NotifyBuyer == nil || !*i.NotifyBuyer, foreign, refusal.FieldPaymentMethod)
	i.require(refusal.FieldValidForDays, p.ValidForDays == nil || *p.ValidForDays >= 1 &&
		*p.ValidForDays <= gift.MaxValidForDays,
		"%s must be from 1 to %d.", refusal.FieldValidForDays, gift.MaxValidForDays)
	if p.PromotionID.IsZero() {
		i.add(refusal.FieldPromotion, "A promotional gift (%s 4) needs this.", refusal.FieldPaymentMethod)
		return
	}
	if i.unknown {
		return
	}
	record := i.account.Promotion(p.PromotionID)
	if record == nil {
		i.add(refusal.FieldPromotion, "This account has no such promotion.")
		return
	}
	i.items = append([]merchant.Item{}, record.EligibleItems...)
	i.graceDays = record.GraceDays
	i.validity(p, record)
	if i.terms = p.PromotionalTerms; contact.Blank(i.terms) {
		i.terms, i.termsIn = record.Terms, record.TermsIn
	}
	i.require(refusal.FieldPromotionalTerms, !contact.Blank(i.terms), neither)
}

const neither = "Neither the request nor the promotion gives this."

// lastYear is the last that RFC 3339 can write.
const lastYear = 9999

// validity runs from validStarting for validForDays calendar days in the account's time zone.
func (i *order) validity(p Payment, record *merchant.Promotion) {
	days := record.ValidForDays
	if p.ValidForDays != nil {
		days = *p.ValidForDays
	}
	if i.validFrom = p.ValidStarting; i.validFrom.IsZero() {
		i.validFrom = record.ValidStarting
	}
	i.require(refusal.FieldValidStarting, !i.validFrom.IsZero(), neither)
	i.require(refusal.FieldValidForDays, days != 0, neither)
	if days = min(days, gift.MaxValidForDays); i.validFrom.IsZero() {
		return
	}
	i.validUntil = calendar.AddDays(i.validFrom, days, i.account.Zone)
	i.require(refusal.FieldValidStarting, gift.AfterGrace(i.validUntil, i.graceDays).UTC().Year() <= lastYear,
		"This gift would be valid beyond the year 9999.")
}

// lasts refuses gifts that nobody could ever redeem: those that are over already, or before they are delivered.
func (i *order) lasts() {
	if i.validUntil.IsZero() || i.has(refusal.FieldValidForDays) || i.has(refusal.FieldValidStarting) {
		return
	}
	d := i.def
	waits := d.Scheduled != nil && *d.Scheduled && d.DeliveryDate.After(i.now)
	if !waits && i.now.Before(i.validUntil) || waits && d.DeliveryDate.Before(i.validUntil) {
		return
	}
	source := phrase.New("")
	if i.Payment.ValidForDays == nil || i.Payment.ValidStarting.IsZero() {
		source = phrase.New(" What the request does not say of that is from the promotion %q.",
			i.account.Promotion(i.Payment.PromotionID).Name)
	}
	const never = "This gift could never be redeemed: it would be valid from %s until %s, which is over "
	from, until := gift.LocalTime(i.validFrom, i.account.Zone), gift.LocalTime(i.validUntil, i.account.Zone)
	if waits {
		i.add(refusal.FieldValidForDays, never+"before the %s.%s", from, until, refusal.FieldDeliveryDate, source)
	} else {
		i.add(refusal.FieldValidForDays, never+"already.%s", from, until, source)
	}
}
