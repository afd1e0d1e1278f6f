package wire

import "boon.example/internal/gift"

// names has what the fields of package gift are called in requests and answers. A field that is not here has the same
// name in both.
var names = map[gift.Field]string{
	gift.FieldGift:          "voucherID",
	gift.FieldCode:          "voucherCode",
	gift.FieldToken:         "voucherPublicToken",
	gift.FieldRedemption:    "redemptionID",
	gift.FieldKey:           "Idempotency-Key",
	gift.FieldHold:          "holdID",
	gift.FieldActivation:    "activationID",
	gift.FieldReload:        "reloadID",
	gift.FieldOriginalKey:   "idempotencyKey",
	gift.FieldOrder:         "orderID",
	gift.FieldReference:     "externalTransactionReferenceNumber",
	gift.FieldStorefront:    "externalStorefrontID",
	gift.FieldAccount:       "accountID",
	gift.FieldProgram:       "programID",
	gift.FieldLocation:      "organizationID",
	gift.FieldPointOfSale:   "pointOfSaleSystemOrganizationIdentifier",
	gift.FieldTicket:        "ticketData",
	gift.FieldTargetProgram: "targetProgramID",
	gift.FieldTargetType:    "targetTypeCode",
	gift.FieldFrom:          "fromVoucherID",
	gift.FieldTo:            "toVoucherID",
	gift.FieldMonetary:      "monetaryGift",
	gift.FieldItem:          "itemGift",
	gift.FieldDesign:        "voucherDesignID",
	gift.FieldSender:        "senderDescription",
	gift.FieldRecipient:     "recipientDescription",
	gift.FieldMethod:        "deliveryMethodID",
	gift.FieldContact:       "recipientContact",
	gift.FieldLanguage:      "recipientLanguage",
	gift.FieldScheduled:     "hasScheduledDelivery",
	gift.FieldPaymentMethod: "paymentMethodID",
	gift.FieldFirstName:     "externalTransactionCustomerFirstName",
	gift.FieldLastName:      "externalTransactionCustomerLastName",
	gift.FieldEmailAddress:  "externalTransactionCustomerEmailAddress",
	gift.FieldPromotion:     "promotionID",
	gift.FieldRelatedOrder:  "relatedOrderID",
}

// name is what a field is called, without those that it is inside of.
func name(f gift.Field) string {
	if n, ok := names[f]; ok {
		return n
	}
	return string(f)
}

// Path is where a field stands in a request, such as recipients[2].recipientContact.
func Path(f gift.Field) string { return f.Rename(name) }
