package api_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// linkBody is a request to link a gift to a customer, or to end that.
func linkBody(g made, customer string) string {
	return `{"voucherID":"` + g.id + `","customerID":"` + customer + `"}`
}

// reloadTo is a request to put 5 into a gift, and to link it to a customer.
func reloadTo(g made, customer string) string {
	return strings.Replace(activateBody(g, "5"), "{", `{"customerID":"`+customer+`",`, 1)
}

// ofCustomer gives the ids of the gifts that are linked to a customer, page by page.
func (w *world) ofCustomer(customer string, limit int, headers ...string) (ids []string) {
	w.Helper()
	for cursor := ""; ; {
		page := w.get(fmt.Sprintf("/gifting/gifts?customerID=%s&limit=%d%s", customer, limit, cursor), headers...).want(200)
		for n := range bytes.Count(page.body, []byte(`"voucherID"`)) {
			if got := page.at(fmt.Sprintf("gifts[%d].customerID", n)); got != customer {
				w.Errorf("a gift of %s is linked to %s", customer, got)
			}
			ids = append(ids, page.at(fmt.Sprintf("gifts[%d].voucherID", n)))
		}
		if page.at("nextCursor") == "null" {
			return ids
		}
		cursor = "&cursor=" + page.at("nextCursor")
	}
}

// TestGiftsOfACustomer: a customer's gifts are found by the id that the order, the reload, the sale or link-customer
// named, newest first and page by page, until the link ends.
func TestGiftsOfACustomer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sent := w.post("send-gift", ofMoney("25", `,"customerID":"C-1"`)).want(201, "gifts[0].customerID", "C-1")
	first := made{id: sent.at("gifts[0].voucherID"), code: sent.at("gifts[0].voucherCode")}
	second := w.send(ofMoney("10"))
	w.post("reload-gift", reloadTo(second, "C-1")).want(200)
	promotional := w.post("send-gift", `{"monetaryGift":{"value":5,"deliveryMethodID":3,"customerID":"C-1"},`+promotion+`}`).want(201).at("gifts[0].voucherID")
	fourth, other := w.send(ofMoney("10")), w.send(ofMoney("10"))
	w.post("link-customer", linkBody(fourth, "C-1")).want(200, "outcome", "DONE", "linked", "true", "status", "DELIVERED")
	w.post("link-customer", linkBody(fourth, "C-1")).want(200, "outcome", "ALREADY_DONE", "entryID", "null")
	w.post("link-customer", linkBody(other, "C-2")).want(200)

	all := []string{fourth.id, promotional, second.id, first.id}
	for _, limit := range []int{1, 3, 200} {
		if got := w.ofCustomer("C-1", limit); !slices.Equal(got, all) {
			t.Errorf("by %d: %q, want %q", limit, got, all)
		}
	}
	if got := w.ofCustomer("c-1", 50); len(got) > 0 {
		t.Errorf("another letter case finds %q", got)
	}
	w.get("/gifting/gifts?customerID=C-1&promotionID="+spring).want(200, "gifts[0].voucherID", promotional, "nextCursor",
		"null")
	w.post("validate-gift", `{"voucherCode":"`+first.code+`","organizationID":"`+pier+`"}`).want(200, "customerID", "null")

	w.post("link-customer", linkBody(fourth, "C-2")).refused(409, "ALREADY_LINKED", "customerID")
	w.post("reload-gift", reloadTo(second, "C-2")).refused(409, "ALREADY_LINKED", "customerID")
	w.get("/gifting/gifts/"+second.id).want(200, "currentBalance", "15.00")
	w.post("unlink-customer", linkBody(fourth, "C-2")).want(200, "outcome", "ALREADY_DONE", "linked", "true")
	w.post("unlink-customer", `{"voucherID":"`+fourth.id+`"}`).want(200, "outcome", "DONE", "linked", "false")
	if got := w.ofCustomer("C-1", 50); !slices.Equal(got, all[1:]) {
		t.Errorf("after unlink-customer: %q, want %q", got, all[1:])
	}
	w.get("/gifting/gifts/"+fourth.id+"/history").want(200, "entries[1].kind", "CUSTOMER_LINKED",
		"entries[1].customerLink", "MADE",
		"entries[2].kind", "CUSTOMER_UNLINKED", "entries[2].customerLink", "ENDED", "entries[2].amount", "0.00")
	w.get("/gifting/gifts/"+second.id+"/history").want(200, "entries[1].kind", "RELOAD", "entries[1].customerLink", "MADE")
	if history := w.get("/gifting/gifts/" + fourth.id + "/history").body; bytes.Contains(history, []byte("C-1")) {
		t.Errorf("the history tells whose link it was: %s", history)
	}
	w.redeem(first, "25").want(200) // whoever has the code redeems
}

// TestALinkIsOfWhoHasTheGift: a gift that goes to somebody else is linked to nobody, and a new card of the same guest
// stays linked.
func TestALinkIsOfWhoHasTheGift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("ana@example.com", `,"customerID":"C-1"`))
	w.post("replace-gift", `{"voucherID":"`+g.id+`","reason":"lost"}`).want(200, "customerID", "C-1")
	w.post("resend-gift", `{"voucherID":"`+g.id+`"}`).want(200, "customerID", "C-1")
	w.post("resend-gift", `{"voucherID":"`+g.id+`","recipientContact":"bob@example.com"}`).want(200, "customerID", "null")
	if got := w.ofCustomer("C-1", 50); len(got) > 0 {
		t.Errorf("the customer still finds %q", got)
	}
}

// TestLinksOfKeys: who may link what.
func TestLinksOfKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	everywhere, bound := w.send(ofMoney("10")), w.send(ofMoney("10", `,"organizationID":"`+pier+`"`))
	w.post("link-customer", linkBody(everywhere, "C-1"), as(pierKey)...).refused(404, "NOT_FOUND", "voucherID")
	w.post("link-customer", linkBody(bound, "C-1"), as(pierKey)...).want(200)
	if got := w.ofCustomer("C-1", 50, as(pierKey)...); !slices.Equal(got, []string{bound.id}) {
		t.Errorf("the key of the Pier finds %q", got)
	}
	w.post("unlink-customer", `{"voucherID":"`+bound.id+`"}`, as(cornerKey)...).refused(404, "NOT_FOUND", "voucherID")
	if got := w.ofCustomer("C-1", 50, as(cornerKey)...); len(got) > 0 {
		t.Errorf("another account finds %q", got)
	}
	w.post("send-gift", ofMoney("10", `,"customerID":"C-1","accountID":"`+harbor+`"`), as(systemKey)...).refused(422,
		"NOT_SUPPORTED", "monetaryGift.customerID")
}

// TestLinksAreRehearsed: a dry run links nothing, and a repeat gets its answer.
func TestLinksAreRehearsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("10"))
	w.rehearse("link-customer", linkBody(g, "C-1")).want(200, "linked", "true", "dryRun", "true")
	w.get("/gifting/gifts/"+g.id).want(200, "customerID", "null")
	done := w.post("link-customer", linkBody(g, "C-1"), once("k")...).want(200)
	w.post("unlink-customer", linkBody(g, "C-1")).want(200)
	if again := w.post("link-customer", linkBody(g, "C-1"), once("k")...); !bytes.Equal(again.body, done.body) {
		t.Errorf("the repeat is answered %s, want %s", again.body, done.body)
	}
	w.get("/gifting/gifts/"+g.id).want(200, "customerID", "null")
}
