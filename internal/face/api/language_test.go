package api_test

import (
	"fmt"
	"strings"
	"testing"

	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// tongues is a send-gift request for three recipients: in the gift's language, in one of their own, and in one that
// guests are not written to in.
const tongues = `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientLanguage":"DE-at"},"recipients":[` +
	`{"recipientContact":"a@example.com"},{"recipientContact":"b@example.com","recipientLanguage":"ja"},` +
	`{"deliveryMethodID":3,"recipientLanguage":"pt-br"}],` + purchase + `}`

// TestTheRecipientsLanguageStaysWithTheGift: whatever becomes of a gift, and wherever it is looked at, it has the
// language that it was sent with.
func TestTheRecipientsLanguageStaysWithTheGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.post("send-gift", tongues).want(201)
	for n, language := range []string{"de-AT", "ja", "pt-BR"} {
		at := fmt.Sprintf("gifts[%d].", n)
		sent.want(201, at+"recipientLanguage", language)
		here := []string{"recipientLanguage", language}
		id := sent.at(at + "voucherID")
		one := `{"voucherID":"` + id + `"`
		w.get("/gifting/gifts/"+id).want(200, here...)
		w.get("/gifting/gifts?orderID="+sent.at("orderID")+"&limit=3").want(200,
			fmt.Sprintf("gifts[%d].recipientLanguage", 2-n), language) // the newest first
		w.post("validate-gift", `{"voucherCode":"`+sent.at(at+"voucherCode")+`","organizationID":"`+pier+`"}`).want(200,
			here...)
		if n < 2 {
			w.post("resend-gift", one+`,"recipientContact":"c@example.com"}`).want(200, here...)
			w.post("resend-gift", one+`,"deliveryMethodID":3}`).want(200, here...)
		}
		w.post("replace-gift", one+`,"reason":"lost"}`).want(200)
		w.get("/gifting/gifts/"+id).want(200, here...)
	}
	w.post("send-gift", ofMoney("5")).want(201, "gifts[0].recipientLanguage", "null")
	w.post("send-gift", ofMoney("5", `,"recipientLanguage":""`)).want(201, "gifts[0].recipientLanguage", "null")
	w.post("send-gift", ofMoney("5", `,"recipientLanguage":"fr"`)).want(201, "gifts[0].recipientLanguage", "fr")
	card := w.stock(`"count":1`)[0]
	w.post("activate-gift", activateBody(card, "5")).want(200)
	w.get("/gifting/gifts/"+card.id).want(200, "recipientLanguage", "null")
}

// TestLanguagesThatAreNone are refused with their paths, and in a sentence that does not repeat them.
func TestLanguagesThatAreNone(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	for _, bad := range []string{"german", "Deutsch", "de_AT", "de-", "%s", "de\\r\\nBcc: a@example.com", "<b>", "de;q=1",
		"de-" + strings.Repeat("aaaa-", 6) + "aaa", " de", "d\\u00e9", "x"} {
		member := `"recipientLanguage":"` + bad + `"`
		for body, path := range map[string]string{
			ofMoney("5", ","+member): "monetaryGift.recipientLanguage",
			`{"itemGift":{"label":"L","quantity":1,"deliveryMethodID":3,` + member + `},` + purchase +
				`}`: "itemGift.recipientLanguage",
			strings.Replace(tongues, `"recipientLanguage":"ja"`, member,
				1): "recipients[1].recipientLanguage",
		} {
			r := w.post("send-gift", body).refused(400, refusal.ValidationFailure, path)
			if strings.Contains(r.at("messages[0].text"), bad) {
				t.Errorf("%q is repeated: %s", bad, r.body)
			}
		}
	}
	w.post("send-gift", ofMoney("5", `,"recipientLanguage":5`)).refused(400, refusal.ValidationFailure,
		"monetaryGift.recipientLanguage")
	// The cards of a stock have no recipient.
	w.post("create-stock", `{"count":1,"recipientLanguage":"de"}`).refused(400, refusal.ValidationFailure,
		"recipientLanguage")
}

// TestOneLanguageInSeveralSpellings: a repeat may write the tag otherwise, and another language is another request.
func TestOneLanguageInSeveralSpellings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.post("send-gift", tongues, once("k")...).want(201)
	w.post("send-gift", strings.Replace(tongues, "DE-at", "de-AT", 1), once("k")...).again(first)
	w.post("send-gift", strings.Replace(tongues, "DE-at", "de-CH", 1), once("k")...).refused(422,
		refusal.IdempotencyMismatch)
	w.post("send-gift", strings.Replace(tongues, `,"recipientLanguage":"ja"`, "", 1), once("k")...).refused(422,
		refusal.IdempotencyMismatch)
}

// TestPromotionalTermsAreToldInTheRecipientsLanguage, also in the answer to a repeat; and an order whose answer would
// be too long with those of some recipients is refused.
func TestPromotionalTermsAreToldInTheRecipientsLanguage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := func(recipients string) string {
		return `{"monetaryGift":{"value":1,"deliveryMethodID":3},"recipients":[` + recipients + `],` + promotion + `}`
	}
	german := `{"recipientLanguage":"de-CH"}`
	sent := w.post("send-gift", order(`{},`+german+`,{"recipientLanguage":"ja"}`), once("k")...).want(201,
		"gifts[0].promotionalTerms", "One per guest.", "gifts[1].promotionalTerms", "Einmal pro Gast.",
		"gifts[2].promotionalTerms", "One per guest.")
	w.post("send-gift", order(`{},`+german+`,{"recipientLanguage":"ja"}`), once("k")...).again(sent)
	w.get("/gifting/gifts/"+sent.at("gifts[1].voucherID")).want(200, "promotionalTerms", "Einmal pro Gast.")
	w.get("/gifting/gifts/"+sent.at("gifts[0].voucherID")).want(200, "promotionalTerms", "One per guest.")
	french := strings.Repeat(`,{"recipientLanguage":"fr"}`, 999)
	w.post("send-gift", order(german+french)).refused(400, refusal.ValidationFailure, "recipients")
	w.post("send-gift", order(`{"recipientLanguage":"fr"}`+strings.Repeat(","+german, 999))).want(201)
}
