package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// ids lists the voucher ids of a page.
func (r reply) ids() (ids []string) {
	r.Helper()
	var page struct {
		Gifts []struct{ VoucherID string }
	}
	if err := json.Unmarshal(r.want(200).body, &page); err != nil {
		r.Fatal(err)
	}
	for _, g := range page.Gifts {
		ids = append(ids, g.VoucherID)
	}
	return ids
}

// reversed gives what was made, the newest first.
func reversed(gifts ...made) (ids []string) {
	for _, g := range slices.Backward(gifts) {
		ids = append(ids, g.id)
	}
	return ids
}

func TestGiftsArePaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all []made
	for range 7 {
		all = append(all, w.send(ofMoney("5")))
	}
	var seen []string
	cursor := ""
	for range 10 {
		page := w.get("/gifting/gifts?limit=3" + cursor)
		seen = append(seen, page.ids()...)
		next := page.at("nextCursor")
		if next == "null" {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(next)
		w.send(ofMoney("6")) // a gift that is added does not move the page
	}
	if want := reversed(all...); !slices.Equal(seen, want) {
		t.Errorf("saw %v, want %v", seen, want)
	}
	for _, q := range []string{"limit=0", "limit=201", "limit=x", "limit=+5", "limit=1&limit=2", "cursor=x",
		"cursor=AAAA"} {
		w.get("/gifting/gifts?"+q).refused(400, refusal.ValidationFailure, q[:strings.Index(q, "=")])
	}
}

func TestGiftsAreFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	anywhere := w.send(ofMoney("5"))
	begun := w.now().UTC().Format(time.RFC3339Nano)
	w.pass(time.Second)
	atPier := w.send(ofMoney("5", `,"organizationID":"`+pier+`"`))
	atWharf := w.send(strings.Replace(ofMoney("5", `,"organizationID":"`+wharf+`"`), "R-1", "R-2", 1))
	promo := w.send(latte)
	w.redeem(anywhere, "1").want(200)
	for query, want := range map[string][]string{
		"":               reversed(anywhere, atPier, atWharf, promo),
		"status=CLAIMED": reversed(anywhere),
		"status=PENDING": nil,
		"programID=" + strings.Repeat("3", 8) + "-3333-3333-3333-333333333333": reversed(promo),
		"promotionID=" + spring:                   reversed(promo),
		"organizationID=" + strings.ToUpper(pier): reversed(atPier),
		"createdFrom=" + begun:                    reversed(atPier, atWharf, promo),
		"createdTo=" + begun:                      reversed(anywhere),
		// absent
		"status=&programID=&limit=&cursor=&createdFrom=&externalTransactionReferenceNumber=": reversed(anywhere, atPier,
			atWharf, promo),
		"status=CLAIMED&utm_source=x&stauts=PENDING":                            reversed(anywhere), // let be
		"programID=" + zeroGUID:                                                 nil,
		"createdTo=9999-12-31T23:59:59Z&externalTransactionReferenceNumber=R-2": reversed(atWharf),
	} {
		if got := w.get("/gifting/gifts?" + query).ids(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if r := w.get("/gifting/gifts?createdFrom=2026-01-01T00:00:00+01:00").refused(400, refusal.ValidationFailure,
		"createdFrom"); !strings.Contains(string(r.body), "%2B") {
		t.Errorf("it does not say what to do about a +: %s", r.body)
	}
	for query, path := range map[string]string{
		"status=claimed": "status", "programID=x": "programID", "createdFrom=2026-01-01": "createdFrom",
		"createdTo=2026-01-01T00:00:00": "createdTo",
		"a=%zz":                         "", "externalTransactionReferenceNumber=%00": "externalTransactionReferenceNumber",
	} {
		w.get("/gifting/gifts?"+query).refused(400, refusal.ValidationFailure, path)
	}
	// A key that is limited to locations sees what is good there only; another account sees nothing.
	if got, want := w.get("/gifting/gifts", as(pierKey)...).ids(), reversed(atPier); !slices.Equal(got, want) {
		t.Errorf("the pier sees %v, want %v", got, want)
	}
	if got := w.get("/gifting/gifts?organizationID="+pier, as(wharfKey)...).ids(); got != nil {
		t.Errorf("the wharf sees %v", got)
	}
	if got := w.get("/gifting/gifts", as(cornerKey)...).ids(); got != nil {
		t.Errorf("another account sees %v", got)
	}
	for _, path := range []string{"/gifting/gifts/" + atPier.id, "/gifting/gifts/" + atPier.id + "/history"} {
		w.get(path, as(pierKey)...).want(200)
		w.get(path, as(wharfKey)...).refused(404, refusal.NotFound, "voucherID")
		w.get(path, as(cornerKey)...).refused(404, refusal.NotFound, "voucherID")
		w.get(path + "?x=1").want(200) // let be
	}
	w.get("/gifting/gifts/"+anywhere.id, as(pierKey)...).refused(404, refusal.NotFound, "voucherID")
	w.get("/gifting/gifts/"+nowhere).refused(404, refusal.NotFound, "voucherID")
	w.get("/gifting/gifts/x").refused(400, refusal.ValidationFailure, "voucherID")
	// It cancels what it sees, and nothing else is there for it.
	w.post("cancel-gift", `{"voucherID":"`+atPier.id+`","cause":"CANCELLED"}`, as(wharfKey)...).refused(404, refusal.NotFound,
		"voucherID")
	w.post("cancel-gift", `{"orderID":"`+atPier.order+`","cause":"CANCELLED"}`, as(wharfKey)...).refused(404,
		refusal.NotFound)
	w.post("cancel-gift", `{"externalTransactionReferenceNumber":"R-1","cause":"CANCELLED"}`, as(wharfKey)...).refused(404,
		refusal.NotFound)
	w.post("cancel-gift", `{"voucherID":"`+anywhere.id+`","cause":"CANCELLED"}`, as(wharfKey)...).refused(404,
		refusal.NotFound, "voucherID")
	w.get("/gifting/gifts/"+atPier.id).want(200, "status", "DELIVERED")
	w.post("cancel-gift", `{"voucherID":"`+atPier.id+`","cause":"CANCELLED"}`).want(200)
	w.get("/gifting/gifts/"+atPier.id).want(200, "status", "CANCELLED")
	w.get("/gifting/gifts/"+atWharf.id).want(200, "status", "DELIVERED")
}

// Texts are stored composed, and are found however they are written.
func TestReferencesAreFoundInEitherForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(strings.Replace(ofMoney("5"), "R-1", "Cafe\u0301", 1))
	for _, same := range []string{"Cafe\u0301", "Caf\u00e9"} {
		if got := w.get("/gifting/gifts?externalTransactionReferenceNumber=" + url.QueryEscape(same)).ids(); len(got) != 1 {
			t.Errorf("%+q: %v", same, got)
		}
	}
	w.post("cancel-gift", `{"externalTransactionReferenceNumber":"Cafe\u0301","cause":"CANCELLED"}`).want(200,
		"vouchers[0].status", "CANCELLED")
}

func TestHistoryIsPaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	for range 4 {
		w.redeem(g, "1").want(200)
	}
	path := "/gifting/gifts/" + g.id + "/history"
	first := w.get(path+"?limit=2").want(200, "entries[0].seq", "1", "entries[1].seq", "2", "entries[1].organizationID",
		pier)
	second := w.get(path+"?limit=2&cursor="+first.at("nextCursor")).want(200, "entries[0].seq", "3", "entries[1].seq", "4")
	w.get(path+"?limit=2&cursor="+second.at("nextCursor")).want(200, "entries[0].seq", "5", "nextCursor", "null")
	w.get(path+"?cursor=AAAA").refused(400, refusal.ValidationFailure, "cursor")
	w.get("/gifting/gifts?cursor="+first.at("nextCursor")).refused(400, refusal.ValidationFailure, "cursor")
}

func TestSeveralRecipients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.post("send-gift", `{"itemGift":{"label":"Cafe\u0301","quantity":2,"equivalentValue":9,
			"deliveryMethodID":3,"voucherDesignID":""},
		"recipients":[{"recipientDescription":"Ann"},{"deliveryMethodID":1,"recipientContact":"bob@example.com",
			"message":"a\nb"},
		{"deliveryMethodID":2,"recipientContact":"(415) 555-0132"}],"senderDescription":"Zoe",`+purchase+`}`).want(201,
		"gifts[0].deliveryMethodID", "3", "gifts[0].recipientDescription", "Ann", "gifts[0].label", "Caf\u00e9",
		"gifts[0].quantity", "2",
		"gifts[0].currentBalance", "2", "gifts[0].equivalentValue", "9.00", "gifts[0].value", "null",
		"gifts[0].voucherTypeID", "2",
		"gifts[0].senderDescription", "Zoe", "gifts[0].voucherDesignID", "null", "gifts[0].currency", "null", "gifts[0].unit",
		"items",
		"gifts[1].deliveryMethodID", "1", "gifts[1].status", "PENDING", "gifts[1].recipientIndex", "1", "gifts[1].message",
		"a\nb",
		"gifts[1].printURL", "null", "gifts[1].isRedeemable", "false", "gifts[1].notRedeemableReasons[0].code",
		"REDEMPTION_NOT_ALLOWED",
		"gifts[2].recipientIndex", "2", "gifts[2].deliveredAt", "null")
	for _, secret := range []string{"bob@example.com", "5550132", "recipientContact"} {
		if strings.Contains(string(r.body), secret) {
			t.Errorf("the answer holds %s", secret)
		}
	}
	if w.wakes.Load() != 1 {
		t.Errorf("woken %d times", w.wakes.Load())
	}
	many := strings.Repeat(`,{"recipientDescription":"x"}`, gift.MaxRecipients)[1:]
	w.post("send-gift", `{"monetaryGift":{"value":1,"deliveryMethodID":3},"recipients":[`+many+`],`+purchase+`}`).want(201,
		fmt.Sprintf("gifts[%d].recipientIndex", gift.MaxRecipients-1), fmt.Sprint(gift.MaxRecipients-1))
}

func TestTicketsAndTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(latte)
	ask := func(more string) string {
		return `{"voucherCode":"` + g.code + `","organizationID":"` + pier + `"` + more + `}`
	}
	w.post("validate-gift", ask("")).want(200, "requiresEligibleItems", "true", "eligibility", "null", "isPromoType",
		"true",
		"programIsPromotional", "true", "voucherTypeID", "3", "promotionalTerms", "One per guest.")
	two := `,"ticketData":{"format":"standard","data":{"lineItems":[{"itemID":"TEA","quantity":1,"itemTotalPrice":3},` +
		`{"itemID":"LATTE","quantity":2,"itemTotalPrice":9.0}]}}`
	w.post("validate-gift", ask(two)).want(200, "eligibility.maximumAmount", "9.00", "eligibility.eligibleLines[0].index",
		"1",
		"eligibility.eligibleLines[0].amount", "9.00", "eligibility.excludedLines[0].index", "0")
	w.post("redeem-gift", ask(two+`,"amount":9.5`)).refused(400, refusal.ValidationFailure, "amount")
	w.post("redeem-gift", ask(`,"ticketData":`+ticketOf("TEA"))).refused(422, refusal.ItemEligibilityFailure)
	w.post("redeem-gift", ask(two), once("t")...).want(200, "amount", "9.00", "currentBalance", "1.00")
	w.post("redeem-gift", ask(strings.Replace(two, "9.0", "9", 1)), once("t")...).want(200, "amount", "9.00")
	w.post("redeem-gift", ask(strings.Replace(two, "9.0", "8", 1)), once("t")...).refused(422, refusal.IdempotencyMismatch)

	business := `,"targetProgramID":"22222222-2222-2222-2222-222222222222"`
	w.post("validate-gift", ask(business)).refused(422, refusal.MissingOrInvalidGiftProgram, "targetProgramID")
	w.post("validate-gift", ask(business+`,"validateTargetProgram":false`)).want(200)
	w.post("validate-gift", ask(`,"targetTypeCode":"GIFT"`)).refused(422, refusal.InvalidVoucherType, "targetTypeCode")
	w.post("validate-gift", ask(`,"targetTypeCode":"GIFT","validateTargetType":false`)).want(200)
	w.post("validate-gift", ask(`,"targetTypeCode":"NOT_GIFT","validateTargetType":true`)).want(200)
	w.post("validate-gift", ask(`,"targetTypeCode":"gift"`)).refused(400, refusal.ValidationFailure, "targetTypeCode")
}

// TestWhatThereIsIsListed: whoever asks for a status or a kind of change that there is not is told all that there are.
func TestWhatThereIsIsListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status := w.get("/gifting/gifts?status=OPEN").refused(400, refusal.ValidationFailure, "status").body
	for _, s := range gift.Statuses() {
		if !strings.Contains(string(status), s.String()) {
			t.Errorf("%s is not in %s", s, status)
		}
	}
	kind := w.get("/gifting/activity?kind=SPENT").refused(400, refusal.ValidationFailure, "kind").body
	for _, k := range gift.Kinds() {
		if !strings.Contains(string(kind), string(k)) {
			t.Errorf("%s is not in %s", k, kind)
		}
	}
}

// TestLookUpFilters finds gifts by what people know of them.
func TestLookUpFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	web := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientDescription":"Zo\u00eb Park",` +
		`"recipientContact":"Zoe@example.com"},` + purchase + `}`)
	text := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":2,"recipientDescription":"Lee PARK",` +
		`"recipientContact":"(415) 555-0132"},` +
		strings.Replace(purchase, shop, counter, 1) + `}`)
	plain := w.send(ofMoney("5"))
	w.post("cancel-gift", `{"voucherID":"`+plain.id+`","cause":"CANCELLED"}`).want(200)
	w.post("resend-gift", `{"voucherID":"`+web.id+`","recipientContact":"zoe.park@example.com"}`).want(200)
	for query, want := range map[string]string{
		"recipient=ZOE%40EXAMPLE.com":       web.id, // where it went before
		"recipient=zoe.park%40example.com":  web.id,
		"recipient=%2B1%20415%20555%200132": text.id,
		"recipient=4155550132":              text.id,
		"recipient=park":                    text.id + " " + web.id,
		"recipient=park%20ZO%C3%8B":         web.id,
		"recipient=par":                     "",
		"recipient=%21%21":                  "",
		"lastFour=" + text.code[8:]:         text.id,
		"orderID=" + web.order:              web.id,
		"externalStorefrontID=" + counter:   text.id,
		"status=CANCELLED":                  plain.id,
		"status=CANCELLED&recipient=park":   "",
		"status=PURCHASE_FAILED":            "",
		"externalTransactionReferenceNumber=R-1&externalStorefrontID=" + counter: text.id,
	} {
		if got := strings.Join(w.get("/gifting/gifts?"+query).want(200, "nextCursor", "null").ids(), " "); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	for query, path := range map[string]string{"lastFour=1": "lastFour", "lastFour=12-4": "lastFour",
		"orderID=x": "orderID"} {
		w.get("/gifting/gifts?"+query).refused(400, refusal.ValidationFailure, path)
	}
}

// TestActivity lists what happened in the account, with names, to those who may see it.
func TestActivity(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	atPier := w.send(ofMoney("5", `,"organizationID":"`+pier+`"`))
	w.send(strings.Replace(ofMoney("5"), shop, cornerShop, 1), as(cornerKey)...)
	w.redeem(g, "1").want(200)
	all := w.get("/gifting/activity").want(200, "entries[0].kind", "REDEMPTION", "entries[0].voucherID", g.id,
		"entries[0].organizationID", pier,
		"entries[0].organizationName", "Pier 39", "entries[0].keyName", harborKey[10:], "entries[0].user", "null",
		"entries[0].currency", "USD", "entries[0].programID", merchant.BusinessProgram.ID.String(),
		"entries[0].isPromoType", "false", "entries[0].endedBalance", "null",
		"entries[0].amount", "-1.00", "entries[1].voucherID", atPier.id, "entries[1].amount", "5.00",
		"entries[1].organizationName", "null").has("entries", 3)
	page := w.get("/gifting/activity?limit=2").want(200).has("entries", 2)
	w.send(ofMoney("6")) // newer than the cursor
	w.get("/gifting/activity?limit=2&cursor="+page.at("nextCursor")).want(200, "entries[0].voucherID", g.id, "nextCursor",
		"null").has("entries", 1)
	w.get("/gifting/activity?kind=REDEMPTION").want(200).has("entries", 1)
	w.get("/gifting/activity?kind=REDEMPTION&organizationID="+wharf).want(200).has("entries", 0)
	w.get("/gifting/activity?organizationID="+pier).want(200).has("entries", 1)
	w.get("/gifting/activity?keyID="+all.at("entries[0].keyID")).want(200).has("entries", 4)
	w.get("/gifting/activity?keyID="+nowhere).want(200).has("entries", 0)
	at := strings.NewReplacer("+", "%2B").Replace(all.at("entries[0].at"))
	w.get("/gifting/activity?from="+at).want(200, "entries[1].kind", "REDEMPTION").has("entries", 2)
	w.get("/gifting/activity?to="+at).want(200, "entries[0].kind", "ISSUED").has("entries", 2)
	w.get("/gifting/activity?kind=SOLD").refused(400, refusal.ValidationFailure, "kind")
	w.get("/gifting/activity?cursor="+w.get("/gifting/gifts?limit=1").at("nextCursor")).refused(400,
		refusal.ValidationFailure, "cursor")
	for _, e := range strings.Split(w.get("/gifting/activity", as(wharfKey)...).want(200).at("entries"), "},") {
		if strings.Contains(e, atPier.id) {
			t.Errorf("a key of the wharf is told of a gift of the pier: %s", e)
		}
	}
	w.get("/gifting/gifts/"+g.id+"/history").want(200, "entries[1].organizationName", "Pier 39", "entries[1].keyName",
		harborKey[10:])
}

// TestActivityTellsOfGifts: an entry of the activity tells of which program its gift is and whether it is promotional,
// and a cancellation what it ended.
func TestActivityTellsOfGifts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bought, given := w.send(ofMoney("5")), w.promotional("7")
	w.redeem(bought, "1").want(200)
	for _, g := range []made{bought, given} {
		w.post("cancel-gift", `{"voucherID":"`+g.id+`","cause":"CANCELLED"}`).want(200)
	}
	w.get("/gifting/activity").want(200,
		"entries[0].voucherID", given.id, "entries[0].programID", merchant.PromotionalProgram.ID.String(),
		"entries[0].isPromoType", "true", "entries[0].kind", "CANCELLATION", "entries[0].endedBalance", "7.00",
		"entries[1].voucherID", bought.id, "entries[1].programID", merchant.BusinessProgram.ID.String(),
		"entries[1].isPromoType", "false", "entries[1].endedBalance", "4.00", "entries[2].kind", "REDEMPTION",
		"entries[2].endedBalance", "null")
	w.get("/gifting/gifts/"+bought.id+"/history").want(200, "entries[2].endedBalance", "4.00")
}
