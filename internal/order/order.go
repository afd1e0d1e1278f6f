// Package order judges orders of gifts and of cards of a stock, judges who paid, and makes the gifts. What happens to a
// gift after that is for package gift. Like gift it is pure.
package order

import (
	"errors"
	"slices"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Send is a send-gift request, decoded but not yet judged (interface, section 2.1). An absent text is "", an absent
// ID zero. Texts are NFC.
type Send struct {
	Caller *merchant.Caller

	Monetary   *Definition // exactly one of the two
	Item       *Definition
	Recipients []Recipient // nil: the member is absent
	Sender     string

	PaymentMethodID    *int
	DeliverTo          string // gift.ToBuyer or ""
	Attachment         string // a gift.Attachment; "": a PDF, where the buyer gets the gifts
	NotifyBuyer        *bool  // of the first use, too; nil: the member is absent
	BuyerLanguage      string // a BCP 47 tag in its canonical form; "": the account's
	Payment            Payment
	Notes              string
	RelatedOrderID     string
	RelatedOrderNumber string
}

// Definition is what the gifts of an order have in common (interface, sections 2.3 and 2.4).
type Definition struct {
	Value           money.Number
	Label           string
	Terms           string
	Quantity        money.Number
	EquivalentValue money.Number
	Price           money.Number // that was paid for each gift; "": as much as it is worth
	AccountID       guid.ID
	ProgramID       guid.ID
	LocationID      guid.ID
	Sender          string
	Recipient       Recipient // the single-recipient form
	Scheduled       *bool
	DeliveryDate    time.Time
	DeliveryZone    string // an IANA id, mapped from a Windows id where need be
	DesignID        guid.ID
}

// Limits of the texts of a request.
const (
	maxName      = 200
	maxMessage   = 1_000
	maxTerms     = 4_000
	maxReference = 200
)

// Issue judges a send-gift request and makes its gifts, one for each recipient and in their order, without ids, codes
// and tokens. unread tells of which fields it should say nothing, because they could not be read; nil: all could.
// That account is the one the caller may send for is Directory.SendingAccount's to say; nil is none. Where fields are
// unread or there is no account, the rest is judged all the same, but no gifts are made.
//
// It fails with VALIDATION_FAILURE, NOT_AUTHORIZED (the key is not enabled for the location),
// MISSING_OR_INVALID_GIFT_PROGRAM, or NOT_SUPPORTED (no subscription).
func Issue(s Send, account *merchant.Account, now time.Time, unread func(refusal.Field) bool) ([]gift.Gift, error) {
	i := order{Send: s, account: account, now: now, unread: unread, known: map[refusal.Field]bool{}}
	if i.unknown = account == nil; i.unknown {
		i.account = &merchant.Account{Currency: money.Currency{Code: "any currency", Decimals: 3},
			MaxGiftValue:  money.NoLimit,
			Zone:          time.UTC,
			TextCountries: contact.TextCountries()}
	}
	i.definition()
	i.pricePaid()
	i.deliverTo()
	recipients := i.recipients()
	i.sender()
	i.payment()
	i.place()
	i.schedule()
	i.lasts()
	i.texts()
	i.rights()
	if err := i.err(); err != nil || unread != nil || account == nil {
		return nil, err
	}
	gifts := make([]gift.Gift, len(recipients))
	for n, r := range recipients {
		gifts[n] = i.gift(n, r)
	}
	return gifts, nil
}

// order is one request on its way to being gifts: each method judges one part of it and keeps what the gifts need.
type order struct {
	Send
	account *merchant.Account
	unread  func(refusal.Field) bool
	known   map[refusal.Field]bool // of which there is a problem
	wrong   *refusal.Error         // all problems
	refused *refusal.Error         // what was refused with other codes
	unknown bool                   // account stands for one that is not known
	counter bool                   // a till sells: see CheckPurchase
	now     time.Time

	kind       refusal.Field // of the gift definition: FieldMonetary or FieldItem
	def        *Definition
	absent     bool // there is no gift definition that could be read; def is empty
	amount     money.Amount
	equivalent money.Amount
	price      money.Amount // 0: not said
	from       string       // the sender, as shown
	terms      string       // the promotional terms
	termsIn    merchant.Translations
	items      []merchant.Item // that the promotion names; not nil, where there is one
	validFrom  time.Time
	validUntil time.Time
	graceDays  int
	zone       string
	programID  guid.ID
	attachment gift.Attachment // as what the gifts go to their buyer; "": each goes to its recipient
}

// add notes a problem, at most one for each field: the first that was found there explains the others.
func (i *order) add(f refusal.Field, text phrase.Text, values ...any) {
	i.addAll(refusal.At(refusal.ValidationFailure, f, text, values...))
}

// addAll notes the problems of a VALIDATION_FAILURE, as add does.
func (i *order) addAll(refused *refusal.Error) {
	for _, m := range refused.Messages {
		if m.Field == "" || !i.has(m.Field) {
			i.known[m.Field] = m.Field != ""
			i.wrong = refusal.Join(i.wrong, &refusal.Error{Code: refusal.ValidationFailure, Messages: []refusal.Message{m}})
		}
	}
}

// has reports whether a problem with the field is known.
func (i *order) has(f refusal.Field) bool { return i.known[f] || i.unread != nil && i.unread(f) }

// err is all that is wrong, with the code of the problems where there are any.
func (i *order) err() error {
	switch {
	case i.wrong == nil && i.refused == nil:
		return nil
	case i.wrong == nil:
		return i.refused
	case i.refused != nil:
		for _, m := range i.refused.Messages {
			if !i.known[m.Field] {
				i.wrong.Messages = append(i.wrong.Messages, m)
			}
		}
	}
	return i.wrong
}

func (i *order) at(f refusal.Field) refusal.Field { return f.In(i.kind) }

func (i *order) definition() {
	switch {
	case i.Monetary != nil && i.Item != nil:
		i.add(refusal.FieldItem, "Send %s or %s, not both.", refusal.FieldMonetary, refusal.FieldItem)
		fallthrough
	case i.Monetary != nil:
		i.kind, i.def = refusal.FieldMonetary, i.Monetary
		i.amount = i.value(i.at(refusal.FieldValue), i.def.Value, true)
	case i.Item != nil:
		i.kind, i.def = refusal.FieldItem, i.Item
		i.require(i.at(refusal.FieldLabel), !contact.Blank(i.def.Label), "An item gift needs a label.")
		i.amount = i.quantity()
		i.equivalent = i.equivalentValue()
	default:
		i.kind, i.def, i.absent = refusal.FieldMonetary, &Definition{}, true
		if !i.has(refusal.FieldMonetary) && !i.has(refusal.FieldItem) {
			i.add("", "Send a %s or an %s.", refusal.FieldMonetary, refusal.FieldItem)
		}
	}
}

func (i *order) require(f refusal.Field, ok bool, text phrase.Text, values ...any) {
	if !ok {
		i.add(f, text, values...)
	}
}

// value reads a monetary value; what is absent and not required is 0.
func (i *order) value(f refusal.Field, number money.Number, required bool) money.Amount {
	if number == "" {
		i.require(f, !required, "A monetary gift needs a value.")
		return 0
	}
	amount, err := i.account.Currency.Read(number, i.account.MaxGiftValue)
	if err != nil {
		i.add(f, "%s", err)
	}
	return amount
}

func (i *order) quantity() money.Amount {
	field := i.at(refusal.FieldQuantity)
	if i.def.Quantity == "" {
		i.add(field, "An item gift needs a quantity.")
		return 0
	}
	n, err := money.Pieces.Parse(i.def.Quantity)
	if err != nil || n > gift.MaxQuantity {
		i.add(field, "The quantity must be a whole number from 1 to %d.", gift.MaxQuantity)
	}
	return n
}

// equivalentValue reads what an item gift is worth in money: it must be said where money is limited.
func (i *order) equivalentValue() money.Amount {
	field := i.at(refusal.FieldEquivalentValue)
	if i.def.EquivalentValue == "" && i.account.LimitsMoney() {
		i.add(field, "An item gift of this account needs an %s, what its pieces are worth together: the set-up limits how "+
			"much money is issued or redeemed in a day, and pieces count by their worth.", refusal.FieldEquivalentValue)
		return 0
	}
	return i.value(field, i.def.EquivalentValue, false)
}

// pricePaid reads what was paid for each gift, beside what it is worth. Where that could not be read, any price fits.
func (i *order) pricePaid() {
	field, worth := i.at(refusal.FieldPricePaid), i.amount
	if i.Item != nil && i.Monetary == nil {
		worth = i.equivalent
	}
	if i.has(i.at(refusal.FieldValue)) || i.has(i.at(refusal.FieldEquivalentValue)) {
		worth = money.NoLimit
	}
	price, err := gift.ReadPrice(field, i.def.Price, i.account.Currency, worth)
	i.refuse(err)
	i.price = price
}

// place judges what must belong to the account: the location and the design.
func (i *order) place() {
	if i.unknown {
		return
	}
	d := i.def
	if !d.LocationID.IsZero() && i.account.Location(d.LocationID) == nil {
		i.add(i.at(refusal.FieldLocation), "This account has no such location.")
	}
	if limit := i.Caller.Locations; d.LocationID.IsZero() && len(limit) > 0 {
		const ownOnly = "This key sends gifts only that are good at a location of its own: send "
		if l := i.account.Location(limit[0]); l != nil && len(limit) == 1 {
			i.add(i.at(refusal.FieldLocation), ownOnly+"%s %s (%s).", refusal.FieldLocation, l.ID, l.Name)
		} else {
			i.add(i.at(refusal.FieldLocation), ownOnly+"one of them as %s.", refusal.FieldLocation)
		}
	}
	if !d.DesignID.IsZero() && i.account.Design(d.DesignID) == nil {
		i.add(i.at(refusal.FieldDesign), "This account has no such design.")
	}
}

func (i *order) schedule() {
	d, date := i.def, i.at(refusal.FieldDeliveryDate)
	given := !d.DeliveryDate.IsZero()
	switch {
	case d.Scheduled == nil:
		i.require(i.at(refusal.FieldScheduled), !given, "Say %s true or false beside a %s.", refusal.FieldScheduled,
			refusal.FieldDeliveryDate)
	case !*d.Scheduled:
	case !given:
		i.add(date, "A scheduled delivery needs a %s.", refusal.FieldDeliveryDate)
	default:
		i.refuse(gift.CheckDeliveryDate(date, d.DeliveryDate, i.now))
	}
	if i.zone = d.DeliveryZone; i.zone == "" {
		i.zone = i.account.Zone.String()
	}
}

// texts bounds every text that is not bounded elsewhere.
func (i *order) texts() {
	d, p := i.def, i.Payment.Purchase
	i.text(refusal.FieldSender, i.Sender, maxName)
	i.text(i.at(refusal.FieldSender), d.Sender, maxName)
	i.text(i.at(refusal.FieldLabel), d.Label, maxName)
	i.text(i.at(refusal.FieldTerms), d.Terms, maxTerms)
	i.text(refusal.FieldPromotionalTerms, i.Payment.PromotionalTerms, maxTerms)
	i.text(refusal.FieldReference, p.Reference, maxReference)
	i.text(refusal.FieldFirstName, p.FirstName, maxName)
	i.text(refusal.FieldLastName, p.LastName, maxName)
	i.text(refusal.FieldNotes, i.Notes, maxMessage)
	i.text(refusal.FieldRelatedOrder, i.RelatedOrderID, maxReference)
	i.text(refusal.FieldRelatedOrderNumber, i.RelatedOrderNumber, maxReference)
}

// refuse notes a refusal; nil is none. Those that are no VALIDATION_FAILURE stand beside the problems.
func (i *order) refuse(err error) {
	refused, _ := errors.AsType[*refusal.Error](err)
	switch {
	case refused == nil:
	case refused.Code == refusal.ValidationFailure:
		i.addAll(refused)
	default:
		i.refused = refusal.Join(i.refused, refused)
	}
}

func (i *order) text(f refusal.Field, s string, limit int) {
	if err := contact.CheckText(s, limit, true); err != nil {
		i.add(f, "%s", err)
	}
}

// rights judges what has a code of its own: the key's right to the location, the program, and the account's right to
// that.
func (i *order) rights() {
	if !i.unknown && i.Caller.Kind == merchant.AccountKey && !i.def.LocationID.IsZero() &&
		!i.Caller.Enabled(i.def.LocationID) {
		i.refuse(refusal.At(refusal.NotAuthorized, i.at(refusal.FieldLocation), "This key is not enabled for that location."))
	}
	i.refuse(i.checkProgram())
}

// checkProgram finds the program, the default being that of the payment, and the account's right to use it. It says
// nothing where the program cannot be told, for which there is a problem already.
func (i *order) checkProgram() error {
	field := i.at(refusal.FieldProgram)
	id := i.def.ProgramID
	switch {
	case i.unknown || i.absent || i.has(field) || id.IsZero() && i.PaymentMethodID == nil:
		return nil
	case !id.IsZero():
	case *i.PaymentMethodID == ExternalTransaction:
		id = merchant.BusinessProgram.ID
	case *i.PaymentMethodID == PromotionalPayment:
		id = merchant.PromotionalProgram.ID
	default:
		return nil
	}
	program, ok := merchant.ProgramByID(id)
	if !ok {
		return refusal.At(refusal.MissingOrInvalidGiftProgram, field, "There is no such gifting program.")
	}
	i.programID = id
	if i.Caller.Kind == merchant.SystemKey && !slices.Contains(i.Caller.Programs, id) {
		return refusal.At(refusal.NotAuthorized, field, "This key does not send in the program %q.", program.Name)
	}
	sub := i.account.Subscription(program.ID)
	switch {
	case sub == nil:
		return refusal.At(refusal.NotSupported, field, "This account is not subscribed to the program %q.", program.Name)
	case len(sub.Locations) > 0 && !slices.Contains(sub.Locations, i.def.LocationID):
		return refusal.At(refusal.NotSupported, i.at(refusal.FieldLocation),
			"The program %q is open to some locations only; %s must name one of them.", program.Name, refusal.FieldLocation)
	}
	return nil
}

func (i *order) gift(n int, r Recipient) gift.Gift {
	d, method := i.def, contact.Method(*r.Method)
	to := r.Contact
	if i.attachment != "" {
		to = i.Payment.Purchase.EmailAddress
	}
	to, _ = contact.Parse(method, to, i.account.TextCountries) // judged before
	g := gift.Gift{
		Voucher: gift.Voucher{
			AccountID: i.account.ID, MadeBy: i.Caller.Integrator(), ProgramID: i.programID, LocationID: d.LocationID,
			Item: i.Item != nil, Promotional: *i.PaymentMethodID == PromotionalPayment, PromotionID: i.Payment.PromotionID,
			Items:    i.items,
			Currency: i.account.Currency, Funded: i.amount, Balance: i.amount,
			Tells: i.notices(), BuyerLanguage: i.BuyerLanguage, CustomerID: r.CustomerID,
			ValidFrom: i.validFrom, ValidUntil: i.validUntil, GraceDays: i.graceDays,
			CreatedAt: i.now,
		},
		Card: gift.Card{
			Label: d.Label, Terms: d.Terms, EquivalentValue: i.equivalent,
			Sender: i.from, Recipient: r.Name, Contact: to, Message: r.Message, Method: method,
			Attachment: i.attachment,
			Language:   r.Language,
			DesignID:   d.DesignID, DeliveryZone: i.zone, RecipientIndex: n, Purchase: i.Payment.Purchase,
			Notes: i.Notes, RelatedOrderID: i.RelatedOrderID, RelatedOrderNumber: i.RelatedOrderNumber,
		},
	}
	g.Card.Purchase.Price = i.price
	g.Card.VATTreatment, g.Card.VATRate = i.account.VAT(i.programID, i.Payment.PromotionID)
	g.Card.PromotionalTerms = i.termsIn.In(g.Reads(i.account), i.terms)
	if g.Card.DesignID.IsZero() {
		g.Card.DesignID = i.account.DesignFor(d.LocationID)
	}
	if d.Scheduled != nil && *d.Scheduled {
		g.Card.Scheduled, g.Card.DeliveryDate = true, d.DeliveryDate
	}
	return g
}
