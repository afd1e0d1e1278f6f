package order

import (
	"slices"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Recipient is one receiver of a gift (interface, section 2.2).
type Recipient struct {
	Method   *int
	Name     string
	Contact  string
	Message  string
	Language string // a BCP 47 tag in its canonical form; "": the account's
	// CustomerID is to whom the gift is linked; "": nobody.
	CustomerID string
}

// recipients judges both forms and gives the receivers with their delivery methods.
func (i *order) recipients() []Recipient {
	single := i.def.Recipient
	if i.Recipients == nil {
		if !i.absent && !i.has(refusal.FieldRecipients) {
			i.recipient(i.kind, single, nil)
		}
		return []Recipient{single}
	}
	const beside = "Leave this out when %s is used; give it for each recipient."
	i.require(i.at(refusal.FieldRecipient), single.Name == "", beside, refusal.FieldRecipients)
	i.require(i.at(refusal.FieldContact), single.Contact == "", beside, refusal.FieldRecipients)
	i.require(i.at(refusal.FieldMessage), single.Message == "", beside, refusal.FieldRecipients)
	i.require(i.at(refusal.FieldCustomerID), single.CustomerID == "", beside, refusal.FieldRecipients)
	i.require(i.at(refusal.FieldMethod), single.Method == nil || contact.Method(*single.Method).Valid(),
		contact.NotAMethod, refusal.FieldMethod)
	if n := len(i.Recipients); n == 0 || n > gift.MaxRecipients {
		i.add(refusal.FieldRecipients, "There must be 1 to %d recipients, not %d.", gift.MaxRecipients, n)
		return nil
	}
	all := slices.Clone(i.Recipients)
	for n := range all {
		element := refusal.FieldRecipients.At(n)
		if !i.has(element) {
			i.recipient(element, all[n], single.Method)
		}
		if all[n].Method == nil {
			all[n].Method = single.Method
		}
		if all[n].Language == "" {
			all[n].Language = single.Language
		}
	}
	i.contacts(all)
	return all
}

// deliverTo judges who gets the gifts. A buyer has an e-mail address, which is judged with the purchase.
func (i *order) deliverTo() {
	const needs = "Only gifts that go to their buyer (%s %q) are attached to a message."
	switch {
	case i.DeliverTo == "":
		i.require(refusal.FieldAttachment, i.Attachment == "", needs, refusal.FieldDeliverTo, gift.ToBuyer)
		return
	case i.DeliverTo != gift.ToBuyer:
		i.add(refusal.FieldDeliverTo, "%s can only be %q: then all gifts go to who bought them, in one e-mail. "+
			"Leave it out, and each goes to its recipient.", refusal.FieldDeliverTo, gift.ToBuyer)
		return
	}
	switch i.attachment = gift.Attachment(i.Attachment); i.attachment {
	case "":
		i.attachment = gift.AsPDF
	case gift.AsPDF, gift.AsCSV:
	default:
		i.add(refusal.FieldAttachment, "An attachment is %q or %q.", gift.AsPDF, gift.AsCSV)
	}
	i.require(refusal.FieldDeliverTo, i.PaymentMethodID == nil || *i.PaymentMethodID != PromotionalPayment,
		"A promotional gift has no buyer.")
}

// MaxPerContact is how many gifts of one order one address or number can get.
const MaxPerContact = 10

// contacts holds each address and number to its share of the order.
func (i *order) contacts(all []Recipient) {
	seen := make(map[string]int, len(all))
	for n, r := range all {
		if r.Contact == "" || r.Method == nil || !contact.Method(*r.Method).Valid() {
			continue
		}
		to, err := contact.Parse(contact.Method(*r.Method), r.Contact, i.account.TextCountries)
		if err != nil {
			continue // told already
		}
		to = contact.Key(to)
		if seen[to]++; seen[to] > MaxPerContact {
			i.add(refusal.FieldContact.In(refusal.FieldRecipients.At(n)), "One recipient can get at most %d gifts of an order.",
				MaxPerContact)
		}
	}
}

// recipient judges one receiver; inherited is the delivery method of the gift, judged elsewhere.
func (i *order) recipient(of refusal.Field, r Recipient, inherited *int) {
	method := r.Method
	if method == nil {
		method = inherited
	}
	methodField, contactField := refusal.FieldMethod.In(of), refusal.FieldContact.In(of)
	i.text(refusal.FieldRecipient.In(of), r.Name, maxName)
	i.text(refusal.FieldMessage.In(of), r.Message, maxMessage)
	i.customer(refusal.FieldCustomerID.In(of), r.CustomerID)
	switch {
	case method == nil:
		i.require(methodField, i.absent || i.has(i.at(refusal.FieldMethod)),
			"A %s is needed: 1 e-mail, 2 SMS, 3 printed.", refusal.FieldMethod)
	case !contact.Method(*method).Valid():
		i.require(methodField, r.Method == nil, contact.NotAMethod, refusal.FieldMethod)
	case i.attachment != "":
		if r.Method == nil {
			methodField = i.at(refusal.FieldMethod)
		}
		i.require(methodField, contact.Method(*method) == contact.Email,
			"Gifts go to their buyer (%s %q) by e-mail, and in no other way.", refusal.FieldDeliverTo, gift.ToBuyer)
		i.require(contactField, r.Contact == "", "Leave this out: the gifts go to their buyer (%s %q). "+
			"resend-gift sends one of them to its recipient.", refusal.FieldDeliverTo, gift.ToBuyer)
	case contact.Method(*method) == contact.Printed:
		i.require(contactField, r.Contact == "", contact.TakesNoContact, refusal.FieldContact)
	case r.Contact == "":
		i.add(contactField, contact.NeedsContact, contact.Method(*method).Text(), refusal.FieldContact)
	default:
		if _, err := contact.Parse(contact.Method(*method), r.Contact, i.account.TextCountries); err != nil {
			i.add(contactField, "%s", err)
		}
	}
}

// customer judges to whom a gift is linked. The ids are those of one system, the merchant's: a partner who sells for
// many merchants has ids of its own, which would name somebody else.
func (i *order) customer(f refusal.Field, id string) {
	i.refuse(gift.CheckCustomerID(f, id))
	if id != "" && i.Caller.Kind == merchant.SystemKey {
		i.refuse(refusal.At(refusal.NotSupported, f, "A system key links gifts to no customers: leave %s out.",
			refusal.FieldCustomerID))
	}
}
