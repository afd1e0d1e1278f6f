package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/merchant"
)

// priced is the request for a gift by paper that is worth a value and was sold for a price.
func priced(value, price string) string { return ofMoney(value, `,"pricePaid":`+price) }

// TestAGiftIsSoldForLess: whoever pays 50 for a gift of 60 gets 60. The books owe 60, and say that nobody paid for 10
// of it. Gifts and entries tell the price to those who look them up; a till is not told.
func TestAGiftIsSoldForLess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeper(merchant.Books{Accounts: ledgerAccounts})
	w.permit(harborKey, "reports", "send", "redeem", "cancel", "look-up", "validate", "activate", "reload", "stock")
	zone := w.directory.Load().Accounts[id(harbor)].Zone
	w.pass(calendar.FromWall(w.today().Add(12*time.Hour), zone).Sub(w.now())) // far from midnight
	day := w.today().Format(time.DateOnly)

	sold := w.post("send-gift", priced("60", "50")).want(201, "gifts[0].pricePaid", "50.00", "gifts[0].value", "60.00")
	g := sold.at("gifts[0].voucherID")
	w.get("/gifting/gifts/"+g).want(200, "pricePaid", "50.00", "currentBalance", "60.00")
	w.get("/gifting/gifts/"+g+"/history").want(200, "entries[0].kind", "ISSUED", "entries[0].pricePaid", "50.00",
		"entries[0].externalTransactionReferenceNumber", "null")
	w.post("validate-gift", `{"voucherCode":"`+sold.at("gifts[0].voucherCode")+`","organizationID":"`+pier+`"}`).
		want(200, "pricePaid", "null")
	whole := w.send(ofMoney("5"))
	w.get("/gifting/gifts/"+whole.id).want(200, "pricePaid", "null")

	card := w.stock(`"count":1`)[0]
	place := `"organizationID":"` + pier + `",` + paidAt(shop)
	w.post("activate-gift", `{"voucherID":"`+card.id+`","amount":12,"pricePaid":10,`+place+`}`).want(200)
	w.post("reload-gift", `{"voucherID":"`+card.id+`","amount":6,"pricePaid":5.50,`+place+`}`).want(200)
	w.get("/gifting/gifts/"+card.id+"/history").want(200, "entries[1].kind", "ACTIVATION", "entries[1].pricePaid", "10.00",
		"entries[2].kind", "RELOAD", "entries[2].pricePaid", "5.50")

	w.post("redeem-gift", `{"voucherID":"`+g+`","organizationID":"`+pier+`","amount":20}`).want(200)
	w.post("cancel-gift", `{"voucherID":"`+g+`","cause":"CANCELLED"}`).want(200)
	w.pass(24 * time.Hour)
	want := []string{"ISSUED 1360 1700 55.00 2", "ISSUED 4600 1700 10.00 0", "ACTIVATED 1360 1700 10.00 1",
		"ACTIVATED 4600 1700 2.00 0", "RELOADED 1360 1700 5.50 1", "RELOADED 4600 1700 0.50 0", "REDEEMED 1700 1360 20.00 1",
		"CANCELLED 1700 1360 33.34 1", "CANCELLED 1700 4600 6.66 0"}
	got := booked(t, w.get("/reports/journal?from="+day+"&to="+day).want(200).body)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the journal is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	before := w.get("/reports/roll-forward?from="+day+"&to="+day).want(200, "report.rows[0].issued", "65.00",
		"report.rows[0].cancelled", "-40.00", "report.rows[0].closing", "23.00", "report.rows[0].bonus", "5.84")
	account := w.directory.Load().Accounts[id(harbor)]
	for {
		next, ok, err := w.store.NextDay(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		if !ok || next.Until.After(w.now()) {
			break
		}
		if _, err := w.store.CloseDay(t.Context(), account, next, w.now()); err != nil {
			t.Fatal(err)
		}
	}
	after := w.get("/reports/roll-forward?from=" + day + "&to=" + day).want(200)
	if after.at("report") != before.at("report") {
		t.Errorf("once the day is closed, the report is\n%s\nbefore\n%s", after.at("report"), before.at("report"))
	}
	w.sound()
}

// TestPricesThatNobodyPays: each wrong price is refused by a sentence at the member.
func TestPricesThatNobodyPays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := func(members string) string {
		return `{"itemGift":{"label":"Coffee","quantity":3,"deliveryMethodID":3,` + members + `},` + purchase + `}`
	}
	free := `{"monetaryGift":{"value":5,"deliveryMethodID":3,"pricePaid":4},` + promotion + `}`
	for _, c := range []struct{ body, path, says string }{
		{priced("60", "0"), "monetaryGift.pricePaid", "above zero"},
		{priced("60", "-1"), "monetaryGift.pricePaid", "above zero"},
		{priced("60", "60.01"), "monetaryGift.pricePaid", "At most 60.00 USD can be paid for this"},
		{priced("60", "1e300"), "monetaryGift.pricePaid", "too large"},
		{priced("60", "1.001"), "monetaryGift.pricePaid", "at most 2 decimals"},
		{item(`"pricePaid":1`), "itemGift.pricePaid", "leave pricePaid out"},
		{item(`"equivalentValue":9,"pricePaid":9.01`), "itemGift.pricePaid", "At most 9.00 USD"},
		{free, "monetaryGift.pricePaid", "an external purchase"},
	} {
		text := w.post("send-gift", c.body).refused(400, "VALIDATION_FAILURE", c.path).at("messages[0].text")
		if !strings.Contains(text, c.says) {
			t.Errorf("%s: %q does not say %q", c.body, text, c.says)
		}
	}
	w.post("send-gift", item(`"equivalentValue":9,"pricePaid":8`)).want(201, "gifts[0].pricePaid", "8.00")
	g := w.send(ofMoney("5"))
	place := `"organizationID":"` + pier + `",` + paidAt(shop)
	card := w.stock(`"count":1,"label":"Coffee","quantity":3,"equivalentValue":9`)[0]
	bare := w.stock(`"count":1,"label":"Coffee","quantity":3`)[0]
	for _, c := range []struct{ operation, body string }{
		{"reload-gift", `{"voucherID":"` + g.id + `","amount":6,"pricePaid":6.01,` + place + `}`},
		{"reload-gift", `{"voucherID":"` + g.id + `","amount":6,"pricePaid":0,` + place + `}`},
		{"activate-gift", `{"voucherID":"` + card.id + `","pricePaid":9.01,` + place + `}`},
		{"activate-gift", `{"voucherID":"` + bare.id + `","pricePaid":1,` + place + `}`},
	} {
		w.post(c.operation, c.body).refused(400, "VALIDATION_FAILURE", "pricePaid")
	}
	w.post("activate-gift", `{"voucherID":"`+card.id+`","pricePaid":9,`+place+`}`).want(200)
}
