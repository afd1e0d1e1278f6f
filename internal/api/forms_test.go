package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"boon.example/internal/gift"
)

// quote writes a text as JSON.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestAnEmptyTextIsAnAbsentMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const blanks = `"accountID":"","programID":"","organizationID":"","voucherDesignID":"","senderDescription":"","recipientDescription":"","recipientContact":"",` +
		`"message":"","hasScheduledDelivery":"","deliveryDate":"","deliveryTimezoneId":""`
	sent := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3,`+blanks+`},"itemGift":"","recipients":"","senderDescription":"","notes":"",`+
		`"relatedOrderID":"","relatedOrderNumber":"","promotionID":"","validStarting":"","validForDays":"","promotionalTerms":"",`+purchase+`}`, once("s")...).
		want(201, "gifts[0].senderDescription", "Ann Lee", "gifts[0].recipientDescription", "null", "gifts[0].organizationID", "null")
	w.post("send-gift", money("5"), once("s")...).again(sent) // it is one and the same request
	w.post("send-gift", `{"itemGift":{"label":"Latte","quantity":1,"terms":"","equivalentValue":"","deliveryMethodID":""},"recipients":[{"deliveryMethodID":3,"recipientContact":""}],`+
		`"paymentMethodID":4,"promotionID":"`+spring+`","validStarting":"","validForDays":"","promotionalTerms":"","externalStorefrontID":""}`).
		want(201, "gifts[0].promotionalTerms", "One per guest.")
	code := sent.at("gifts[0].voucherCode")
	w.post("validate-gift", `{"voucherCode":"`+code+`","voucherPublicToken":"","organizationID":"","pointOfSaleSystemOrganizationIdentifier":"","ticketData":"",`+
		`"targetProgramID":"","validateTargetProgram":"","targetTypeCode":"","validateTargetType":""}`, as(pierKey)...).want(200)
	taken := w.post("redeem-gift", `{"voucherID":"","voucherCode":"`+code+`","organizationID":"`+pier+`","amount":2,"allowPartial":"","reference":""}`).
		want(200, "reference", "null")
	w.post("reverse-redemption", `{"redemptionID":"`+taken.at("redemptionID")+`","idempotencyKey":"","organizationID":"","reason":""}`).want(200, "reason", "null")
	w.post("cancel-gift", `{"voucherID":"`+sent.at("gifts[0].voucherID")+`","orderID":"","externalTransactionReferenceNumber":"","cause":"CANCELLED","reason":""}`).want(200)
}

func TestTextsAreKeptAsTheyCame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	marks := "Zoe" + strings.Repeat("\u0301\u0316", 40)
	for came, kept := range map[string]string{
		"one\r\ntwo\rthree\nfour": "one\r\ntwo\rthree\nfour",
		"Zoe\u0308":               "Zo\u00eb",
		marks:                     "Zo\u00e9" + strings.Repeat("\u0316", 40) + strings.Repeat("\u0301", 39),
	} {
		came, kept = quote(came), strings.Trim(quote(kept), `"`)
		body := `{"monetaryGift":{"value":5,"deliveryMethodID":3,"recipientDescription":` + came + `,"senderDescription":` + came + `,"message":` + came + `},` + purchase + `}`
		g := w.send(body)
		r := w.get("/gifting/gifts/" + g.id)
		if n := strings.Count(string(r.body), `"`+kept+`"`); r.status != 200 || n != 3 {
			t.Errorf("%s came back as %s", came, r.body)
		}
		w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":1,"reference":`+came+`}`).want(200)
	}
}

func TestDeliveryDatesWithoutAnOffsetAreUTC(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := w.now().UTC().AddDate(0, 1, 0).Format("2006-01-02")
	for came, hour := range map[string]string{"T09:30": "09:30", "T09:30:00": "09:30", "T09:30Z": "09:30", "T09:30+00": "09:30", "T09:30:00.5+0000": "09:30", "T09:30-05": "14:30"} {
		g := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"a@example.com","hasScheduledDelivery":true,"deliveryDate":"` + day + came + `"},` + purchase + `}`)
		if got := w.get("/gifting/gifts/" + g.id).want(200).at("deliveryDate"); !strings.HasPrefix(got, day+"T"+hour) {
			t.Errorf("%s is kept as %s", came, got)
		}
		w.post("reschedule-gift", `{"voucherID":"`+g.id+`","deliveryDate":"`+day+`T23:00"}`).want(200, "deliveryDate", day+"T23:00:00.000Z")
	}
}

func TestAReversalNamesItsTill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(money("5"))
	byPOS := func(redemption, pos string, more ...string) reply {
		return w.post("reverse-redemption", `{"redemptionID":"`+redemption+`","pointOfSaleSystemOrganizationIdentifier":"`+pos+`"`+strings.Join(more, "")+`}`)
	}
	r := w.redeem(g, "5").at("redemptionID")
	byPOS(r, "POS-1", `,"amount":1`).want(200, "organizationID", pier)
	byPOS(r, "POS-2", `,"amount":1`).refused(422, gift.NotSupported, "pointOfSaleSystemOrganizationIdentifier")
	byPOS(r, "POS-1", `,"amount":1,"organizationID":"`+wharf+`"`).refused(400, gift.ValidationFailure, "pointOfSaleSystemOrganizationIdentifier")
	byPOS(r, "POS-1").want(200, "currentBalance", "5.00")
}
