package api_test

import (
	"strings"
	"sync"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func replaceBody(g made, members string) string {
	return `{"voucherID":"` + g.id + `","reason":"lost"` + members + `}`
}

// replace gives a gift another card, and gives that.
func (w *world) replace(g made, headers ...string) made {
	w.Helper()
	r := w.post("replace-gift", replaceBody(g, ""), headers...).want(200, "voucherID", g.id, "sent", "false")
	return made{g.id, r.at("voucherCode"), r.at("voucherPublicToken"), g.order}
}

// TestABlockedCardIsSentToNobody: a blocked gift cannot be sent by replacing its card, whatever the method. The refusal
// names a way to do it, and that way works.
func TestABlockedCardIsSentToNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost := w.send(ofMoney("25"))
	w.post("block-gift", `{"voucherID":"`+lost.id+`","reasonCode":"LOST"}`).want(200)
	for _, deliver := range []string{`{"deliveryMethodID":3}`,
		`{"deliveryMethodID":1,"recipientContact":"ann@example.com"}`} {
		text := w.post("replace-gift", replaceBody(lost, `,"deliver":`+deliver)).refused(409, refusal.RedemptionNotAllowed,
			"deliver").at("messages[0].text")
		for _, step := range []string{"without deliver", "Unblock", "resend-gift"} {
			if !strings.Contains(text, step) {
				t.Errorf("the refusal does not name %q: %s", step, text)
			}
		}
	}
	w.replace(lost)
	w.post("redeem-gift", `{"voucherCode":"`+lost.code+`","organizationID":"`+pier+`","amount":1}`).refused(409,
		refusal.RedemptionNotAllowed)
	w.post("unblock-gift", `{"voucherID":"`+lost.id+`"}`).want(200)
	w.post("resend-gift", `{"voucherID":"`+lost.id+`","deliveryMethodID":1,"recipientContact":"ann@example.com"}`).want(200)
	w.post("redeem-gift", `{"voucherCode":"`+lost.code+`","organizationID":"`+pier+`","amount":1}`).refused(409,
		refusal.RedemptionNotAllowed)
}

// A card is lost and replaced. Whoever has found the old one learns at the till that it was replaced, and nothing more;
// the new one has the history and the balance.
func TestALostCardIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost := w.send(ofMoney("25"))
	w.redeem(lost, "5", once("sale")...).want(200)
	hold := w.holdGift(lost, "3").want(200).at("holdID")
	byCode := `{"voucherCode":"` + lost.code + `","organizationID":"` + pier + `","amount":1}`
	byToken := `{"voucherPublicToken":"` + lost.token + `","organizationID":"` + pier + `","amount":1}`
	first := w.post("redeem-gift", byCode, once("by code")...).want(200)
	w.post("block-gift", `{"voucherID":"`+lost.id+`","reasonCode":"LOST"}`).want(200)
	w.post("redeem-gift", byCode).refused(409, refusal.RedemptionNotAllowed)
	found := w.replace(lost, once("r")...)
	w.post("validate-gift", `{"voucherCode":"`+found.code+`","organizationID":"`+pier+`"}`).want(200, "isRedeemable",
		"false", "notRedeemableReasons[0].code", "BLOCKED")
	w.post("unblock-gift", `{"voucherID":"`+lost.id+`"}`).want(200)
	if found.code == lost.code || found.token == lost.token {
		t.Fatal("it has the same code or token")
	}
	again := w.replace(lost, once("r")...)
	if again != found {
		t.Errorf("a repeat gives %+v, not %+v", again, found)
	}
	told := func(r reply) {
		t.Helper()
		r.refused(409, refusal.RedemptionNotAllowed)
		if text := r.at("messages[0].text"); text != "This card was replaced on "+
			w.now().In(w.directory.Load().Accounts[id(harbor)].Zone).Format("2 January 2006")+"." {
			t.Errorf("it says %q", text)
		}
		body := strings.ReplaceAll(string(r.body), r.at("requestID"), "") // which may have any four digits
		for _, secret := range []string{found.code, found.token, found.code[8:], "19.00"} {
			if strings.Contains(body, secret) {
				t.Errorf("it tells %s: %s", secret, r.body)
			}
		}
	}
	for _, body := range []string{byCode, byToken} {
		told(w.post("redeem-gift", body))
		told(w.post("hold-gift", body))
		told(w.post("validate-gift", strings.Replace(body, `,"amount":1`, "", 1)))
		w.post("activate-gift", body).refused(400, refusal.ValidationFailure)
		sold := strings.Replace(body, "}", ","+paidAt(shop)+"}", 1)
		told(w.post("activate-gift", sold, as(pierKey)...))
		told(w.post("reload-gift", sold, as(pierKey)...))
		told(w.post("cash-out-gift", strings.Replace(body, `,"amount":1`, "", 1)))
		told(w.post("cash-out-gift", strings.Replace(body, `,"amount":1`, `,"verificationCode":"1234"`, 1)))
		w.post("redeem-gift", body, as(cornerKey)...).refused(404, refusal.NotFound)
	}
	w.post("redeem-gift", byCode, once("by code")...).again(first)
	w.post("validate-gift", `{"voucherCode":"`+found.code+`","organizationID":"`+pier+`"}`).want(200, "currentBalance",
		"19.00", "heldBalance", "3.00", "isRedeemable", "true")
	w.capture(hold, "").want(200)
	w.post("redeem-gift", strings.Replace(byCode, lost.code, found.code, 1)).want(200, "currentBalance", "15.00")
	w.get("/gifting/gifts/"+lost.id+"/history").want(200, "entries[4].kind", "BLOCKED", "entries[5].kind",
		"REPLACED", "entries[5].reason", "lost", "entries[5].amount", "0.00", "entries[6].kind", "UNBLOCKED")
	w.get("/gifting/gifts?lastFour="+lost.code[8:]).want(200, "gifts[0].voucherID", lost.id)
	newest := w.replace(found)
	told(w.post("redeem-gift", byCode))
	w.post("validate-gift", `{"voucherCode":"`+found.code+`","organizationID":"`+pier+`"}`).refused(409,
		refusal.RedemptionNotAllowed)
	w.post("validate-gift", `{"voucherCode":"`+newest.code+`","organizationID":"`+pier+`"}`).want(200)
	w.sound()
}

// A replacement can be sent at once, within the limits of a resend. Then its code is only for keys that may see codes,
// whoever repeats the call.
func TestAReplacementIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("ann@example.com"))
	w.permit(rotatedKey, "replace", "look-up")
	deliver := `,"deliver":{"deliveryMethodID":1,"recipientContact":"ben@example.com"}`
	masked := w.post("replace-gift", replaceBody(g, deliver), append(once("r"), as(rotatedKey)...)...).want(200, "sent",
		"true", "voucherCode", "null", "voucherPublicToken", "null", "giftURL", "null", "status", "PENDING")
	w.post("replace-gift", replaceBody(g, deliver), append(once("r"), as(rotatedKey)...)...).again(masked)
	whole := w.post("replace-gift", replaceBody(g, deliver), once("s")...).want(200)
	code := whole.at("voucherCode")
	w.get("/gifting/gifts/"+g.id).want(200, "voucherCode", code)
	repeated := w.post("replace-gift", replaceBody(g, deliver), append(once("s"), as(rotatedKey)...)...).want(200)
	if strings.Contains(string(repeated.body), code) {
		t.Errorf("the code is told to a key that may not see it: %s", repeated.body)
	}
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[1].kind", "REPLACED", "entries[2].kind", "RESENT",
		"entries[3].kind", "REPLACED")
	for range gift.MaxResends - 2 {
		w.post("replace-gift", replaceBody(g, deliver)).want(200)
	}
	w.post("replace-gift", replaceBody(g, deliver)).refused(429, refusal.RateLimited)
	w.post("replace-gift", replaceBody(g, `,"deliver":{"deliveryMethodID":3,"recipientContact":"x@example.com"}`)).refused(
		400, refusal.ValidationFailure, "deliver.recipientContact")
	printed := w.send(ofMoney("5"))
	w.post("replace-gift", replaceBody(printed, `,"deliver":{"deliveryMethodID":2}`)).refused(400, refusal.ValidationFailure,
		"deliver.recipientContact")
	told := w.post("replace-gift", replaceBody(printed, ""), as(rotatedKey)...).want(200, "sent", "false")
	if len(told.at("voucherCode")) != 12 || !strings.HasSuffix(told.at("printURL"), told.at("voucherPublicToken")+
		"/print.pdf") {
		t.Errorf("whoever replaces a card does not get it: %s", told.body)
	}
	w.sound()
}

// What is over is not replaced, and a resend elsewhere leaves the codes of cards that were replaced before known as
// such.
func TestWhatIsNotReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("ann@example.com"))
	old := w.replace(g)
	w.post("resend-gift", `{"voucherID":"`+g.id+`","recipientContact":"ben@example.com"}`).want(200)
	use := func(code string) reply {
		return w.post("validate-gift", `{"voucherCode":"`+code+`","organizationID":"`+pier+`"}`)
	}
	use(g.code).refused(409, refusal.RedemptionNotAllowed)
	use(old.code).refused(404, refusal.NotFound)
	spent := w.send(ofMoney("5"))
	w.redeem(spent, "").want(200)
	w.post("replace-gift", replaceBody(spent, "")).refused(409, refusal.AlreadyRedeemed)
	w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"CANCELLED"}`).want(200)
	w.post("replace-gift", replaceBody(g, "")).refused(409, refusal.RedemptionNotAllowed)
	w.sound()

	mute := newWorld(t, func(c *config) { c.Email = false })
	kept := mute.send(ofMoney("5"))
	mute.post("replace-gift", replaceBody(kept, `,"deliver":{"deliveryMethodID":1,"recipientContact":"ann@example.com"}`)).
		refused(409, refusal.AccountMisconfigured)
	mute.redeem(kept, "").want(200)
}

// TestThievesReplaceNothing: the keys of a till, a shop and an office, one of another location, and another merchant's.
func TestThievesReplaceNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("25"))
	for _, role := range []string{"till", "shop", "office"} {
		may, _ := merchant.RoleByName(role)
		w.permit(rotatedKey, may.Names()...)
		w.post("replace-gift", replaceBody(g, ""), as(rotatedKey)...).refused(403, refusal.NotAuthorized)
	}
	w.post("replace-gift", replaceBody(g, ""), as(pierKey)...).refused(404, refusal.NotFound, "voucherID")
	w.post("replace-gift", replaceBody(g, ""), as(cornerKey)...).refused(404, refusal.NotFound, "voucherID")
	w.redeem(g, "").want(200)
}

// TestAPrintedReplacementNeedsCodes: a card that is printed shows its code. A key that may not see codes is told which
// deliveries work, and nothing is replaced.
func TestAPrintedReplacementNeedsCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("50"))
	const printed = `,"deliver":{"deliveryMethodID":3}`
	w.permit(rotatedKey, "replace", "look-up")
	text := w.post("replace-gift", replaceBody(g, printed), as(rotatedKey)...).refused(403, refusal.NotAuthorized,
		"deliver.deliveryMethodID").at("messages[0].text")
	for _, way := range []string{"Leave deliver out", "e-mail (1)", "SMS (2)"} {
		if !strings.Contains(text, way) {
			t.Errorf("it is refused with %q, which does not name %q", text, way)
		}
	}
	w.post("validate-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`"}`).want(200)
	w.permit(rotatedKey, "replace", "look-up", "codes")
	w.post("replace-gift", replaceBody(g, printed), as(rotatedKey)...).want(200)
}

// TestReplacedWhileRedeemed: a redemption by the old code that races with the replacement has one outcome.
func TestReplacedWhileRedeemed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 30 {
		g := w.send(ofMoney("10"))
		var done sync.WaitGroup
		var replaced, taken reply
		done.Go(func() { replaced = w.post("replace-gift", replaceBody(g, "")) })
		done.Go(func() {
			taken = w.post("redeem-gift", `{"voucherCode":"`+g.code+`","organizationID":"`+pier+`","amount":4}`)
		})
		done.Wait()
		left := "10.00"
		if replaced.want(200); taken.status == 200 {
			left = "6.00"
		} else {
			taken.refused(409, refusal.RedemptionNotAllowed)
		}
		seq := w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[1].currentBalance", left)
		if taken.status == 200 && seq.at("entries[1].kind") != "REDEMPTION" {
			t.Errorf("it was redeemed by the old code after it was replaced: %s", seq.body)
		}
	}
	w.sound()
}
