package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"boon.example/internal/refusal"
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
	const blanks = `"accountID":"","programID":"","organizationID":"","voucherDesignID":"","senderDescription":"",` +
		`"recipientDescription":"","recipientContact":"",` +
		`"message":"","recipientLanguage":"","hasScheduledDelivery":"","deliveryDate":"","deliveryTimezoneId":""`
	sent := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3,`+blanks+
		`},"itemGift":"","recipients":"","senderDescription":"","notes":"",`+
		`"relatedOrderID":"","relatedOrderNumber":"","promotionID":"","validStarting":"","validForDays":"",`+
		`"promotionalTerms":"",`+purchase+`}`, once("s")...).
		want(201, "gifts[0].senderDescription", "Ann Lee", "gifts[0].recipientDescription", "null", "gifts[0].organizationID",
			"null")
	w.post("send-gift", ofMoney("5"), once("s")...).again(sent) // it is one and the same request
	w.post("send-gift", `{"itemGift":{"label":"Latte","quantity":1,"terms":"","equivalentValue":"",`+
		`"deliveryMethodID":""},"recipients":[{"deliveryMethodID":3,"recipientContact":""}],`+
		`"paymentMethodID":4,"promotionID":"`+spring+`","validStarting":"","validForDays":"","promotionalTerms":"",`+
		`"externalStorefrontID":""}`).
		want(201, "gifts[0].promotionalTerms", "One per guest.")
	code := sent.at("gifts[0].voucherCode")
	w.post("validate-gift", `{"voucherCode":"`+code+`","voucherPublicToken":"","organizationID":"",`+
		`"pointOfSaleSystemOrganizationIdentifier":"","ticketData":"",`+
		`"targetProgramID":"","validateTargetProgram":"","targetTypeCode":"","validateTargetType":""}`,
		as(pierKey)...).want(200)
	taken := w.post("redeem-gift", `{"voucherID":"","voucherCode":"`+code+`","organizationID":"`+pier+
		`","amount":2,"allowPartial":"","reference":""}`).
		want(200, "reference", "null")
	w.post("reverse-redemption", `{"redemptionID":"`+taken.at("redemptionID")+
		`","idempotencyKey":"","organizationID":"","reason":""}`).want(200, "reason", "null")
	w.post("cancel-gift", `{"voucherID":"`+sent.at("gifts[0].voucherID")+
		`","orderID":"","externalTransactionReferenceNumber":"","cause":"CANCELLED","reason":""}`).want(200)
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
		body := `{"monetaryGift":{"value":5,"deliveryMethodID":3,"recipientDescription":` + came + `,"senderDescription":` +
			came + `,"message":` + came + `},` + purchase + `}`
		g := w.send(body)
		r := w.get("/gifting/gifts/" + g.id)
		if n := strings.Count(string(r.body), `"`+kept+`"`); r.status != 200 || n != 3 {
			t.Errorf("%s came back as %s", came, r.body)
		}
		w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":1,"reference":`+came+
			`}`).want(200)
	}
}

func TestDeliveryDatesWithoutAnOffsetAreUTC(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	day := w.now().UTC().AddDate(0, 1, 0).Format("2006-01-02")
	for came, hour := range map[string]string{"T09:30": "09:30", "T09:30:00": "09:30", "T09:30Z": "09:30",
		"T09:30+00": "09:30", "T09:30:00.5+0000": "09:30", "T09:30-05": "14:30"} {
		g := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"a@example.com",` +
			`"hasScheduledDelivery":true,"deliveryDate":"` + day + came + `"},` + purchase + `}`)
		if got := w.get("/gifting/gifts/" + g.id).want(200).at("deliveryDate"); !strings.HasPrefix(got, day+"T"+hour) {
			t.Errorf("%s is kept as %s", came, got)
		}
		w.post("reschedule-gift", `{"voucherID":"`+g.id+`","deliveryDate":"`+day+`T23:00"}`).want(200, "deliveryDate", day+
			"T23:00:00.000Z")
	}
}

func TestAReversalNamesItsTill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	byPOS := func(redemption, pos string, more ...string) reply {
		return w.post("reverse-redemption", `{"redemptionID":"`+redemption+`","pointOfSaleSystemOrganizationIdentifier":"`+
			pos+`"`+strings.Join(more, "")+`}`)
	}
	r := w.redeem(g, "5").at("redemptionID")
	byPOS(r, "POS-1", `,"amount":1`).want(200, "organizationID", pier)
	byPOS(r, "POS-2", `,"amount":1`).refused(422, refusal.NotSupported, "pointOfSaleSystemOrganizationIdentifier")
	byPOS(r, "POS-1", `,"amount":1,"organizationID":"`+wharf+`"`).refused(400, refusal.ValidationFailure,
		"pointOfSaleSystemOrganizationIdentifier")
	byPOS(r, "POS-1").want(200, "currentBalance", "5.00")
}

// TestEveryLookUpThatFailsIsTold: who names several records that are not there hears of all of them, with what else
// is wrong.
func TestEveryLookUpThatFailsIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pos = "pointOfSaleSystemOrganizationIdentifier"
	nowhereAtAll := `"organizationID":"` + nowhere + `","` + pos + `":"POS-9"`
	unknownToken := strings.Repeat("0", 22)
	taken := w.redeem(w.send(ofMoney("5")), "2").at("redemptionID")
	earlier := w.now().AddDate(-1, 0, 0).UTC().Format(time.RFC3339)
	unknown := func(paths ...string) badCase { return badCase{"", "", 404, refusal.NotFound, paths} }
	for _, c := range []struct {
		operation, body string
		want            badCase
	}{
		{"send-gift", strings.Replace(ofMoney("0.001", `,"organizationID":"`+nowhere+`","voucherDesignID":"`+nowhere+
			`","programID":"`+nowhere+`"`), shop, nowhere, 1),
			invalid("", "", "monetaryGift.value", "monetaryGift.organizationID", "monetaryGift.voucherDesignID",
				"monetaryGift.programID", "externalStorefrontID")},
		{"send-gift", `{"monetaryGift":{"value":20000,"deliveryMethodID":3,"organizationID":"` + nowhere +
			`"},"paymentMethodID":4,"promotionID":"` + nowhere + `"}`,
			invalid("", "", "monetaryGift.value", "monetaryGift.organizationID", "promotionID")},
		{"redeem-gift", `{"voucherID":"` + nowhere + `",` + nowhereAtAll + `}`, unknown("organizationID", pos, "voucherID")},
		{"redeem-gift", `{"voucherPublicToken":"` + unknownToken + `",` + nowhereAtAll + `}`, unknown("organizationID", pos,
			"voucherPublicToken")},
		{"redeem-gift", `{"voucherID":"` + nowhere + `","amount":0,` + nowhereAtAll + `}`, invalid("", "", "amount",
			"organizationID", pos)},
		{"redeem-gift", `{"voucherID":"` + nowhere + `","amount":0}`, invalid("", "", "amount", "organizationID")},
		{"redeem-gift", `{"voucherCode":"1","organizationID":"` + nowhere + `"}`, badCase{"", "", 400, refusal.InvalidCodeFormat,
			[]string{"voucherCode", "organizationID"}}},
		{"redeem-gift", `{"voucherID":"` + nowhere + `","organizationID":"` + nowhere + `","` + pos + `":"POS-2"}`,
			unknown("organizationID", pos, "voucherID")},
		{"validate-gift", `{"voucherPublicToken":"` + unknownToken + `",` + nowhereAtAll + `}`, unknown("organizationID", pos,
			"voucherPublicToken")},
		{"validate-gift", `{"voucherCode":"1"}`, invalid("", "", "voucherCode", "organizationID")},
		{"validate-gift", `{"voucherPublicToken":"` + unknownToken + `","targetTypeCode":"X",` + nowhereAtAll + `}`,
			invalid("", "", "targetTypeCode", "organizationID", pos)},
		{"validate-gift", `{"voucherPublicToken":"` + w.send(ofMoney("5")).token + `","organizationID":"` + pier +
			`","targetProgramID":"` + nowhere + `","targetTypeCode":"NOT_GIFT"}`,
			badCase{"", "", 422, refusal.MissingOrInvalidGiftProgram, []string{"targetProgramID", "targetTypeCode"}}},
		{"reverse-redemption", `{"redemptionID":"` + nowhere + `",` + nowhereAtAll + `}`, unknown("organizationID", pos,
			"redemptionID")},
		{"reverse-redemption", `{"redemptionID":"` + taken + `",` + nowhereAtAll + `}`, unknown("organizationID", pos)},
		{"reverse-redemption", `{"redemptionID":"` + nowhere + `","amount":0,` + nowhereAtAll + `}`, invalid("", "", "amount",
			"organizationID", pos)},
		{"reverse-redemption", `{"idempotencyKey":"never",` + nowhereAtAll + `}`, invalid("", "", "organizationID", pos)},
		{"resend-gift", `{"voucherID":"` + nowhere + `","recipientContact":"a@b"}`, invalid("", "", "recipientContact",
			"voucherID")},
		{"resend-gift", `{"voucherID":"` + nowhere + `","recipientContact":"12"}`, invalid("", "", "recipientContact",
			"voucherID")},
		{"resend-gift", `{"voucherID":"` + nowhere + `","deliveryMethodID":3,"recipientContact":"a@example.com"}`,
			invalid("", "", "recipientContact", "voucherID")},
		{"resend-gift", `{"voucherID":"` + nowhere + `","deliveryMethodID":9,"recipientContact":"a@b"}`,
			invalid("", "", "deliveryMethodID", "recipientContact", "voucherID")},
		{"resend-gift", `{"voucherID":"` + nowhere + `","recipientContact":"a@example.com"}`, unknown("voucherID")},
		{"reschedule-gift", `{"voucherID":"` + nowhere + `","deliveryDate":"` + earlier + `"}`,
			invalid("", "", "deliveryDate", "voucherID")},
		{"send-gift", strings.Replace(ofMoney("0", `,"accountID":"`+corner+`","recipientContact":"x","organizationID":"`+
			nowhere+`"`), "ann@example.com", "ann", 1),
			invalid("", "", "monetaryGift.value", "monetaryGift.recipientContact", "externalTransactionCustomerEmailAddress",
				"monetaryGift.accountID")},
		{"send-gift", ofMoney("5.001", `,"accountID":"`+corner+`"`), badCase{"", "", 403, refusal.NotAuthorized,
			[]string{"monetaryGift.accountID"}}},
		{"cancel-gift", `{"accountID":"` + corner + `","cause":"OTHER"}`, invalid("", "", "cause", "accountID", "")},
	} {
		r := w.post(c.operation, c.body).refused(c.want.status, c.want.code, c.want.paths...)
		var problem struct{ Messages []struct{ Path string } }
		if err := json.Unmarshal(r.body, &problem); err != nil || len(problem.Messages) != len(c.want.paths) {
			t.Errorf("%s %s: %d messages, want %d: %s", c.operation, c.body, len(problem.Messages), len(c.want.paths), r.body)
		}
	}
	// A redemption that a key may not see is as good as not there, also beside an unknown location.
	for _, redemption := range []string{taken, nowhere} {
		w.post("reverse-redemption", `{"redemptionID":"`+redemption+`","organizationID":"`+nowhere+`"}`, as(wharfKey)...).
			refused(404, refusal.NotFound, "organizationID", "redemptionID")
	}
	// So is a gift: what else is wrong with the call is told of both alike.
	for _, voucher := range []string{w.send(ofMoney("5", `,"organizationID":"`+pier+`"`)).id, nowhere} {
		w.post("resend-gift", `{"voucherID":"`+voucher+`","recipientContact":"a@b"}`, as(wharfKey)...).
			refused(400, refusal.ValidationFailure, "recipientContact", "voucherID")
	}
	w.get("/gifting/gifts?limit=0&accountID="+corner).refused(400, refusal.ValidationFailure, "limit", "accountID")
	w.get("/gifting/gifts/"+zeroGUID).refused(404, refusal.NotFound, "voucherID")
	for key, path := range map[string]string{"never": "key", "%2E": "key", "%2E%2E": "key", "%2F": ""} {
		w.get("/requests/"+key).refused(404, refusal.NotFound, path)
	}
	w.validate(1).refused(404, refusal.NotFound, "voucherCode")
}
