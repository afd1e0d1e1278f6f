package refusal

import (
	"strconv"
	"strings"
)

// Field names what a problem is about, in the words of this package: a member of what was asked for, after those that
// it is inside of, as in "recipients[2].contact". "" is the whole of it. What a caller of this package calls a field
// in its own interface is the caller's to know.
type Field string

// The fields that name what a request is about, and where it is made.
const (
	FieldGift       Field = "gift"
	FieldCode       Field = "code"
	FieldToken      Field = "token"
	FieldRedemption Field = "redemption"
	FieldHold       Field = "hold"
	FieldReload     Field = "reload"
	FieldActivation Field = "activation"

	FieldActivationCode Field = "activationCode" // that a card is sold by
	FieldKey            Field = "key"            // the Idempotency-Key of the request itself
	FieldOriginalKey    Field = "originalKey"    // that of what is to be undone
	FieldOperation      Field = "operation"      // that the original key was sent with
	FieldOrder          Field = "order"
	FieldReference      Field = "reference" // of a purchase
	FieldStorefront     Field = "storefront"
	FieldAccount        Field = "account"
	FieldProgram        Field = "program"
	FieldLocation       Field = "location"
	FieldPointOfSale    Field = "pointOfSale"
	FieldPerson         Field = "person" // who stands at the till
)

// The fields of a redemption, a reversal, a cancellation and a transfer.
const (
	FieldGifts         Field = "gifts" // of a sale that several pay for
	FieldUpTo          Field = "upTo"
	FieldAmount        Field = "amount"
	FieldTicket        Field = "ticket"
	FieldTargetProgram Field = "targetProgram"
	FieldVerification  Field = "verificationCode"
	FieldTargetType    Field = "targetType"
	FieldCause         Field = "cause"
	FieldReason        Field = "reason"
	FieldDeliver       Field = "deliver"
	FieldFrom          Field = "from" // of a transfer: the gift that gives
	FieldTo            Field = "to"   // and the one that receives
)

// The fields of a block, an adjustment and an extension.
const (
	FieldReasonCode Field = "reasonCode"
	FieldValidUntil Field = "validUntil"

	FieldAdvance Field = "advance"
	FieldNow     Field = "now"
)

// The fields of an order and of its gifts.
const (
	FieldMonetary           Field = "monetary"
	FieldItem               Field = "item"
	FieldValue              Field = "value"
	FieldQuantity           Field = "quantity"
	FieldCount              Field = "count"
	FieldEquivalentValue    Field = "equivalentValue"
	FieldPricePaid          Field = "pricePaid"
	FieldLabel              Field = "label"
	FieldTerms              Field = "terms"
	FieldDesign             Field = "design"
	FieldSender             Field = "sender"
	FieldRecipients         Field = "recipients"
	FieldRecipient          Field = "recipient" // the name
	FieldMethod             Field = "method"
	FieldContact            Field = "contact"
	FieldMessage            Field = "message"
	FieldLanguage           Field = "language"
	FieldScheduled          Field = "scheduled"
	FieldDeliveryDate       Field = "deliveryDate"
	FieldPaymentMethod      Field = "paymentMethod"
	FieldFirstName          Field = "firstName"
	FieldLastName           Field = "lastName"
	FieldEmailAddress       Field = "emailAddress"
	FieldBuyerLanguage      Field = "buyerLanguage"
	FieldDeliverTo          Field = "deliverTo"
	FieldAttachment         Field = "attachment"
	FieldNotifyBuyer        Field = "notifyBuyer"
	FieldPromotion          Field = "promotion"
	FieldValidStarting      Field = "validStarting"
	FieldValidForDays       Field = "validForDays"
	FieldPromotionalTerms   Field = "promotionalTerms"
	FieldNotes              Field = "notes"
	FieldRelatedOrder       Field = "relatedOrder"
	FieldCustomerID         Field = "customerID"
	FieldRelatedOrderNumber Field = "relatedOrderNumber"
)

// In is the field inside another one.
func (f Field) In(outer Field) Field {
	if outer == "" {
		return f
	}
	return outer + "." + f
}

// At is an element of a list.
func (f Field) At(n int) Field { return f + Field("["+strconv.Itoa(n)+"]") }

// Rename gives the field with each word in it replaced.
func (f Field) Rename(name func(Field) string) string {
	if !strings.ContainsAny(string(f), ".[") {
		return name(f)
	}
	parts := strings.Split(string(f), ".")
	for n, part := range parts {
		word, index, _ := strings.Cut(part, "[")
		if parts[n] = name(Field(word)); index != "" {
			parts[n] += "[" + index
		}
	}
	return strings.Join(parts, ".")
}
