package wire

import (
	"boon.example/internal/refusal"
)

// names has what the fields of package gift are called in requests and answers. A field that is not here has the same
// name in both.
var names = map[refusal.Field]string{
	refusal.FieldGift:          "voucherID",
	refusal.FieldCode:          "voucherCode",
	refusal.FieldToken:         "voucherPublicToken",
	refusal.FieldRedemption:    "redemptionID",
	refusal.FieldKey:           "Idempotency-Key",
	refusal.FieldHold:          "holdID",
	refusal.FieldActivation:    "activationID",
	refusal.FieldReload:        "reloadID",
	refusal.FieldOriginalKey:   "idempotencyKey",
	refusal.FieldOrder:         "orderID",
	refusal.FieldReference:     "externalTransactionReferenceNumber",
	refusal.FieldStorefront:    "externalStorefrontID",
	refusal.FieldAccount:       "accountID",
	refusal.FieldProgram:       "programID",
	refusal.FieldLocation:      "organizationID",
	refusal.FieldPointOfSale:   "pointOfSaleSystemOrganizationIdentifier",
	refusal.FieldTicket:        "ticketData",
	refusal.FieldTargetProgram: "targetProgramID",
	refusal.FieldTargetType:    "targetTypeCode",
	refusal.FieldFrom:          "fromVoucherID",
	refusal.FieldTo:            "toVoucherID",
	refusal.FieldMonetary:      "monetaryGift",
	refusal.FieldItem:          "itemGift",
	refusal.FieldDesign:        "voucherDesignID",
	refusal.FieldSender:        "senderDescription",
	refusal.FieldRecipient:     "recipientDescription",
	refusal.FieldMethod:        "deliveryMethodID",
	refusal.FieldContact:       "recipientContact",
	refusal.FieldLanguage:      "recipientLanguage",
	refusal.FieldScheduled:     "hasScheduledDelivery",
	refusal.FieldPaymentMethod: "paymentMethodID",
	refusal.FieldFirstName:     "externalTransactionCustomerFirstName",
	refusal.FieldLastName:      "externalTransactionCustomerLastName",
	refusal.FieldEmailAddress:  "externalTransactionCustomerEmailAddress",
	refusal.FieldBuyerLanguage: "externalTransactionCustomerLanguage",
	refusal.FieldPromotion:     "promotionID",
	refusal.FieldRelatedOrder:  "relatedOrderID",
}

// name is what a field is called, without those that it is inside of.
func name(f refusal.Field) string {
	if n, ok := names[f]; ok {
		return n
	}
	return string(f)
}

// Path is where a field stands in a request, such as recipients[2].recipientContact.
func Path(f refusal.Field) string { return f.Rename(name) }
