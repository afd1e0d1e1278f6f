package api_test

import (
	"strings"
	"testing"
)

func TestAGiftFromSendingToReversal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.post("send-gift", ofMoney("25.5", `,"recipientDescription":"Bob","message":"Enjoy"`), "X-Request-ID",
		"story-1")
	sent.want(201, "requestID", "story-1", "gifts[0].status", "DELIVERED", "gifts[0].statusID", "3",
		"gifts[0].originalBalance", "25.50",
		"gifts[0].currentBalance", "25.50", "gifts[0].value", "25.50", "gifts[0].quantity", "null", "gifts[0].label", "null",
		"gifts[0].organizationID", "null", "gifts[0].programName", "Business gift cards", "gifts[0].isPromoType", "false",
		"gifts[0].isRedeemable", "true", "gifts[0].notRedeemableReasons", "[]", "gifts[0].senderDescription", "Ann Lee",
		"gifts[0].recipientDescription", "Bob", "gifts[0].message", "Enjoy", "gifts[0].deliveryMethodID", "3",
		"gifts[0].recipientIndex", "0",
		"gifts[0].eligibility", "null", "gifts[0].validUntil", "null", "gifts[0].currency", "USD", "gifts[0].voucherTypeID",
		"1")
	if sent.header.Get("X-Request-ID") != "story-1" || sent.header.Get("Boon-Version") == "" {
		t.Errorf("headers: %v", sent.header)
	}
	token := sent.at("gifts[0].voucherPublicToken")
	sent.want(201, "gifts[0].giftURL", "https://gifts.example.com/g/"+token, "gifts[0].printURL",
		"https://gifts.example.com/g/"+token+"/print.pdf")
	code, voucher := sent.at("gifts[0].voucherCode"), sent.at("gifts[0].voucherID")

	byCode := w.post("validate-gift", `{"voucherCode":"`+code+`","organizationID":"`+strings.ToUpper(pier)+`"}`).want(200,
		"voucherID", voucher, "currentBalance", "25.50", "cashOutAllowed", "false")
	w.post("validate-gift", `{"voucherCode":`+code+`,"pointOfSaleSystemOrganizationIdentifier":"POS-1"}`).want(200,
		"voucherID", voucher)
	w.post("validate-gift", `{"voucherPublicToken":"https://elsewhere.example/g/`+token+`"}`, as(pierKey)...).want(200,
		"voucherID", voucher)
	if byCode.header.Get("Cache-Control") != "no-store" {
		t.Error("a voucher must not be cached")
	}

	first := w.post("redeem-gift", `{"voucherID":"`+voucher+`","organizationID":"`+pier+
		`","amount":20,"reference":"T-1"}`).want(200,
		"voucherID", voucher, "organizationID", pier, "amount", "20.00", "currentBalance", "5.50", "currency", "USD",
		"status", "CLAIMED",
		"statusID", "5", "isRedeemable", "true", "reference", "T-1")
	w.post("validate-gift", `{"voucherCode":"`+code+`","organizationID":"`+pier+`"}`).want(200, "cashOutAllowed", "true",
		"status", "CLAIMED")
	w.post("redeem-gift", `{"voucherCode":"`+code+`","organizationID":"`+pier+
		`","amount":6,"allowPartial":true}`).want(200,
		"amount", "5.50", "currentBalance", "0.00", "status", "REDEEMED", "isRedeemable", "false", "reference", "null")
	redemption := first.at("redemptionID")
	w.post("reverse-redemption", `{"redemptionID":"`+redemption+
		`","amount":5.00,"reason":"cold coffee","organizationID":"`+wharf+`"}`).want(200,
		"redemptionID", redemption, "voucherID", voucher, "amount", "5.00", "currentBalance", "5.00", "status", "CLAIMED",
		"organizationID", wharf, "reason", "cold coffee", "isRedeemable", "true")
	w.post("reverse-redemption", `{"redemptionID":"`+redemption+`"}`).want(200, "amount", "15.00", "organizationID",
		"null", "reason", "null")
	w.get("/gifting/gifts/"+strings.ToUpper(voucher)).want(200, "voucherID", voucher, "currentBalance", "20.00")
	w.get("/gifting/gifts/"+voucher+"/history").want(200, "entries[0].kind", "ISSUED", "entries[0].amount", "25.50",
		"entries[1].amount", "-20.00", "entries[1].redemptionID", redemption, "entries[2].amount", "-5.50",
		"entries[3].kind", "REVERSAL", "entries[3].redemptionID", redemption, "entries[4].currentBalance", "20.00",
		"nextCursor", "null")
	w.post("cancel-gift", `{"voucherID":"`+voucher+`","cause":"CANCELLED","reason":"lost"}`).want(200,
		"vouchers[0].voucherID", voucher, "vouchers[0].status", "CANCELLED", "vouchers[0].currentBalance", "20.00")
	w.redeem(made{id: voucher}, "1").refused(409, "REDEMPTION_NOT_ALLOWED", "")
}
