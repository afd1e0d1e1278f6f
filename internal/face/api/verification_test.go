package api_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// withVerification asks for an amount of a card with a verification code; "" for none.
func withVerification(card made, amount, code string) func(*world, ...string) reply {
	return func(w *world, headers ...string) reply {
		w.Helper()
		return w.post("redeem-gift", verifyBody(card, amount, code), headers...)
	}
}

func verifyBody(card made, amount, code string) string {
	body := redeemBody(card, amount)
	if code != "" {
		body = strings.Replace(body, "{", `{"verificationCode":"`+code+`",`, 1)
	}
	return body
}

// wrong is a verification code that is not this one, the nth of those.
func wrong(code string, n int) string {
	var right int
	fmt.Sscanf(code, "%d", &right)
	return fmt.Sprintf("%04d", (right+1+n)%10_000)
}

// verified makes active cards of 20.00 and gives their verification codes.
func (w *world) verified(n int) (cards []made, codes []string) {
	w.Helper()
	byCode := map[string]string{}
	cards = w.stock(fmt.Sprintf(`"count":%d,"value":20,"verificationCodes":true`, n))
	for _, row := range w.get(exportPath(cards[0].order, "csv")).want(200).rows()[1:] {
		byCode[row[0]] = row[2]
	}
	for _, card := range cards {
		w.post("activate-gift", activateBody(card, "")).want(200)
		codes = append(codes, byCode[card.code])
	}
	return cards, codes
}

// TestVerificationCodes: what is taken and held of a card needs its verification code, however the card is named;
// captures and reversals do not. The code is in no answer but the exports.
func TestVerificationCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards, codes := w.verified(2)
	card, code := cards[0], codes[0]
	withVerification(card, "1", "")(w).refused(400, refusal.ValidationFailure, "verificationCode")
	for _, bad := range []string{"123", "12345", "abcd", "١٢٣٤", " 123"} {
		withVerification(card, "1", bad)(w).refused(400, refusal.ValidationFailure, "verificationCode")
	}
	w.post("redeem-gift", strings.Replace(redeemBody(card, "1"), "{", `{"verificationCode":1234,`, 1)).refused(400,
		refusal.ValidationFailure, "verificationCode")
	w.post("hold-gift", verifyBody(card, "1", "")).refused(400, refusal.ValidationFailure, "verificationCode")
	w.post("hold-gift", verifyBody(card, "1", wrong(code, 0))).refused(409, refusal.RedemptionNotAllowed,
		"verificationCode")

	first := withVerification(card, "1", code)(w, once("k")...).want(200, "currentBalance", "19.00")
	withVerification(card, "1", code)(w, once("k")...).again(first)
	withVerification(card, "1", wrong(code, 0))(w, once("k")...).refused(422, refusal.IdempotencyMismatch)
	held := w.post("hold-gift", verifyBody(card, "5", code)).want(200)
	w.post("capture-hold", `{"holdID":"`+held.at("holdID")+`"}`).want(200, "currentBalance", "14.00")
	w.post("reverse-redemption", `{"redemptionID":"`+first.at("redemptionID")+`"}`).want(200, "currentBalance", "15.00")
	plain := w.send(ofMoney("5"))
	withVerification(plain, "1", "1234")(w).want(200) // it has none
	for _, r := range []reply{first, held, w.get("/gifting/gifts/" + card.id), w.get("/gifting/gifts/" + card.id +
		"/history"),
		w.get("/requests/k"), w.post("validate-gift", `{"voucherCode":"`+card.code+`","organizationID":"`+pier+`"}`)} {
		if strings.Contains(string(r.body), `"`+code+`"`) || strings.Contains(string(r.body), "erificationCode") {
			t.Errorf("it tells the verification code %s: %s", code, r.body)
		}
	}
	w.sound()
}

// idsAndTimes are long enough to have any four digits in them by chance.
var idsAndTimes = regexp.MustCompile(`"[0-9a-f-]{36}"|"[0-9]{4}-[^"]*Z"`)

// TestGuessingVerificationCodes: five wrong ones in a row block a card, whoever tries them and wherever; a repeat of a
// call counts once, a right one in between begins anew.
func TestGuessingVerificationCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards, codes := w.verified(3)
	card, code := cards[0], codes[0]
	for n := range 4 {
		headers := append(as([]string{harborKey, pierKey}[n%2]), once(fmt.Sprintf("g%d", n))...)
		first := withVerification(card, "1", wrong(code, n))(w, headers...).refused(409, refusal.RedemptionNotAllowed,
			"verificationCode")
		withVerification(card, "1", wrong(code, n))(w, headers...).again(first) // and does not count
	}
	withVerification(card, "1", code)(w).want(200)
	for n := range 5 { // also where more is asked for than there is
		withVerification(card, "5000", wrong(code, n))(w).refused(409, refusal.RedemptionNotAllowed, "verificationCode")
	}
	blocked := withVerification(card, "1", code)(w).refused(409, refusal.RedemptionNotAllowed)
	if text := blocked.at("messages[0].text"); !strings.Contains(text, "blocked") {
		t.Error(text)
	}
	w.post("hold-gift", verifyBody(card, "1", code)).refused(409, refusal.RedemptionNotAllowed)
	w.post("validate-gift", `{"voucherCode":"`+card.code+`","organizationID":"`+pier+`"}`).want(200, "isRedeemable",
		"false",
		"notRedeemableReasons[0].code", "BLOCKED")
	history := w.get("/gifting/gifts/"+card.id+"/history").want(200, "entries[2].kind", "WRONG_VERIFICATION_CODE",
		"entries[2].amount", "0.00", "entries[12].kind", "BLOCKED").has("entries", 13)
	if strings.Contains(idsAndTimes.ReplaceAllString(string(history.body), ""), wrong(code, 0)) {
		t.Errorf("the history tells what was tried: %s", history.body)
	}

	w.unblock(card).want(200)
	for n := range 4 {
		withVerification(card, "1", wrong(code, n))(w).refused(409, refusal.RedemptionNotAllowed, "verificationCode")
	}
	withVerification(card, "1", code)(w).want(200)

	// At once, from several tills: five are counted, and the card is blocked for the rest, the right one among them.
	card, code = cards[1], codes[1]
	var tries sync.WaitGroup
	for n := range 16 {
		tries.Go(func() {
			withVerification(card, "1", wrong(code, n))(w, as([]string{harborKey, pierKey, rotatedKey}[n%3])...)
		})
	}
	tries.Wait()
	withVerification(card, "1", code)(w).refused(409, refusal.RedemptionNotAllowed)
	w.get("/gifting/gifts/"+card.id+"/history").want(200, "entries[7].kind", "BLOCKED").has("entries", 8)
	w.sound()
}

// TestGuessingAtATill: wrong verification codes count as wrong codes of the till, so that whoever has many cards does
// not try five for each.
func TestGuessingAtATill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards, codes := w.verified(7)
	till := as(pierKey)
	for n := range merchant.GuessBurst {
		withVerification(cards[n/4], "1", wrong(codes[n/4], n))(w, till...).refused(409, refusal.RedemptionNotAllowed,
			"verificationCode")
	}
	withVerification(cards[6], "1", codes[6])(w, till...).refused(429, refusal.RateLimited)
	w.post("hold-gift", verifyBody(cards[6], "1", codes[6]), till...).refused(429, refusal.RateLimited)
	withVerification(cards[6], "1", codes[6])(w, as(harborKey)...).want(200) // another till is served
	w.redeem(w.send(ofMoney("5")), "1", till...).want(200)                   // and this one, where no code is asked for
	scanned := `{"voucherPublicToken":"` + w.send(ofMoney("5")).token + `","amount":1,"verificationCode":"1234"}`
	w.post("redeem-gift", scanned, till...).want(200) // though one is shown
	w.sound()
}

// TestVerificationCodeOfAReplacedCard: the digits stand on the printed card, so that they are not asked for once the
// gift has another code, as its card was replaced or it goes to somebody else.
func TestVerificationCodeOfAReplacedCard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards, codes := w.verified(3)
	replaced := w.replace(cards[0])
	withVerification(replaced, "1", "")(w).want(200)
	withVerification(replaced, "1", codes[0])(w).want(200) // is ignored
	withVerification(replaced, "1", wrong(codes[0], 0))(w).want(200)
	w.post("hold-gift", verifyBody(replaced, "1", "")).want(200)

	elsewhere := `{"voucherID":"` + cards[1].id + `","deliveryMethodID":1,"recipientContact":"ben@example.com"}`
	sent := w.post("resend-gift", elsewhere).want(200, "status", "DELIVERED")
	withVerification(made{id: cards[1].id, code: sent.at("voucherCode")}, "1", "")(w).want(200)
	w.get("/gifting/gifts/"+cards[1].id+"/history").want(200, "entries[2].kind", "REPLACED", "entries[3].kind", "RESENT")
	w.post("redeem-gift", `{"voucherCode":"`+cards[1].code+`","organizationID":"`+pier+`","verificationCode":"`+codes[1]+
		`"}`).refused(409, refusal.RedemptionNotAllowed)

	w.post("resend-gift", `{"voucherID":"`+cards[2].id+`"}`).want(200) // in print, as before
	withVerification(cards[2], "1", "")(w).refused(400, refusal.ValidationFailure, "verificationCode")
	withVerification(cards[2], "1", codes[2])(w).want(200)
	w.sound()
}

// TestAMistypedCodeDoesNotKeepASale: a sale whose verification code was mistyped once is taken back all the same.
func TestAMistypedCodeDoesNotKeepASale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	card := w.stock(`"count":1,"value":20,"verificationCodes":true`)[0]
	code := w.get(exportPath(card.order, "csv")).want(200).rows()[1][2]
	for _, sale := range []string{"first", "second"} {
		w.post("activate-gift", activateBody(card, ""), once(sale)...).want(200)
		for n := range 2 {
			withVerification(card, "1", wrong(code, n))(w).refused(409, refusal.RedemptionNotAllowed, "verificationCode")
		}
		w.post("reverse-activation", `{"idempotencyKey":"`+sale+`"}`).want(200, "status", "NOT_ACTIVATED")
	}
	w.sound()
}

// TestASaleThatIsTakenBackForgetsNoWrongCode: whoever may sell a card and take the sale back has no more tries than
// others. A sale with another change since then is not taken back, however many codes were mistyped before it.
func TestASaleThatIsTakenBackForgetsNoWrongCode(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cards := w.stock(`"count":2,"value":20,"verificationCodes":true`)
	codes := map[string]string{}
	for _, row := range w.get(exportPath(cards[0].order, "csv")).want(200).rows()[1:] {
		codes[row[0]] = row[2]
	}
	for _, card := range cards {
		code := codes[card.code]
		sell := func(sale string) { w.post("activate-gift", activateBody(card, ""), once(card.id+sale)...).want(200) }
		takeBack := func(sale string) reply {
			return w.post("reverse-activation", `{"idempotencyKey":"`+card.id+sale+`"}`)
		}
		sell("first")
		for n := range 4 {
			withVerification(card, "1", wrong(code, n))(w).refused(409, refusal.RedemptionNotAllowed, "verificationCode")
		}
		takeBack("first").want(200, "status", "NOT_ACTIVATED")
		sell("second")
		if card == cards[1] {
			w.post("block-gift", `{"voucherID":"`+card.id+`","reasonCode":"LOST"}`).want(200)
			takeBack("second").refused(409, refusal.RedemptionNotAllowed)
			continue
		}
		withVerification(card, "1", wrong(code, 4))(w).refused(409, refusal.RedemptionNotAllowed, "verificationCode")
		withVerification(card, "1", code)(w).refused(409, refusal.RedemptionNotAllowed)
		w.post("validate-gift", `{"voucherCode":"`+card.code+`","organizationID":"`+pier+`"}`).want(200, "isRedeemable",
			"false", "notRedeemableReasons[0].code", "BLOCKED")
	}
	w.sound()
}
