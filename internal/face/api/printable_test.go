package api_test

import (
	"strings"
	"testing"
	"time"
)

// TestNotPrintable: send-gift tells of each printed gift which of its texts have characters that no font has, and of
// others nothing; a repeat of the call is told the same.
func TestNotPrintable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"itemGift":{"label":"Café","terms":"朝顔","quantity":2,"deliveryMethodID":3,"senderDescription":"Žofie"},` +
		`"recipients":[{"recipientDescription":"السلام","message":"שלום"},{"recipientDescription":"朝顔","message":"one\n🎂 ` +
		`朝"},{"recipientDescription":"朝顔","deliveryMethodID":1,"recipientContact":"ana@example.com"}],` + purchase + `}`
	for range 2 {
		w.post("send-gift", body, once("print")...).want(201, "gifts[0].notPrintable", `["terms"]`,
			"gifts[1].notPrintable", `["recipientDescription","message","terms"]`, "gifts[2].notPrintable", "[]")
	}
	w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3},"senderDescription":"朝",`+purchase+`}`).want(201,
		"gifts[0].notPrintable", `["senderDescription"]`)
	w.post("send-gift", `{"itemGift":{"label":"朝顔","quantity":2,"deliveryMethodID":3},"paymentMethodID":4,"promotionID":"`+
		spring+`","validStarting":"`+w.now().Format(time.RFC3339)+`","validForDays":30,"promotionalTerms":"朝のみ"}`).want(201,
		"gifts[0].notPrintable", `["label","promotionalTerms"]`)
}

// TestNotPrintableAgain: so do the calls that send a gift again, replace its card or put it off, if it goes in print.
func TestNotPrintableAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"ana@example.com","message":"朝",` +
		`"recipientDescription":"Ana"},` + purchase + `}`)
	lost := `{"voucherID":"` + g.id + `","reason":"lost"}`
	w.post("replace-gift", lost).want(200, "notPrintable", "[]")
	w.post("resend-gift", `{"voucherID":"`+g.id+`"}`).want(200, "notPrintable", "[]")
	printed := w.post("resend-gift", `{"voucherID":"`+g.id+`","deliveryMethodID":3}`, once("print")...).want(200,
		"notPrintable", `["message"]`)
	w.post("resend-gift", `{"voucherID":"`+g.id+`","deliveryMethodID":3}`, once("print")...).again(printed)
	w.post("replace-gift", lost).want(200, "notPrintable", `["message"]`)
	w.post("replace-gift", strings.Replace(lost, "}", `,"deliver":{"deliveryMethodID":1,"recipientContact":`+
		`"ana@example.com"}}`, 1)).want(200, "notPrintable", "[]")
	w.post("replace-gift", strings.Replace(lost, "}", `,"deliver":{"deliveryMethodID":3}}`, 1)).want(200, "notPrintable",
		`["message"]`)
	late := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"ana@example.com","message":"朝",` +
		`"hasScheduledDelivery":true,"deliveryDate":"` + w.now().AddDate(1, 0, 0).UTC().Format(time.RFC3339) + `"},` +
		purchase + `}`)
	w.post("reschedule-gift", `{"voucherID":"`+late.id+`","deliveryDate":"`+
		w.now().AddDate(2, 0, 0).UTC().Format(time.RFC3339)+`"}`).want(200, "notPrintable",
		"[]")
}
