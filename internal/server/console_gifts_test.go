package server_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// found types a text into the search and gives the page that it leads to, with the address of it; "": it is the answer.
func (b *browser) found(text string) (address, page string) {
	b.Helper()
	a := b.ask(harborConsole+"search", url.Values{"q": {text}})
	if a.status == http.StatusOK {
		return "", a.body
	}
	if a.status != http.StatusSeeOther {
		b.Fatalf("%q: status %d: %s", text, a.status, a.body)
	}
	address = a.header.Get("Location")
	return address, b.want(http.StatusOK, address, nil).body
}

// TestStaffFindGifts: whatever of a gift somebody knows leads to it; a code never stands in an address.
func TestStaffFindGifts(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	ana := s.sell(`{"value":25,"recipientDescription":"Ana Lee","deliveryMethodID":1,
		"recipientContact":"ana@example.com"}`)
	ben := s.sell(`{"value":10,"recipientDescription":"<b>Ben</b>","deliveryMethodID":3}`)
	owner := s.joined("ann@example.com", staff.Owner)
	whole := owner.want(http.StatusOK, harborConsole+"gifts", nil).body
	if !strings.Contains(whole, "Ana Lee") || !strings.Contains(whole, "&lt;b&gt;Ben&lt;/b&gt;") ||
		strings.Contains(whole, "<b>Ben") || strings.Contains(whole, ana.VoucherCode) {
		t.Errorf("the list is %s", whole)
	}
	grouped := ana.VoucherCode[:4] + " " + ana.VoucherCode[4:8] + " " + ana.VoucherCode[8:]
	for _, text := range []string{ana.VoucherCode, grouped, ana.VoucherID, ana.VoucherPublicToken,
		"http://elsewhere.example/g/" + ana.VoucherPublicToken,
		"http://elsewhere.example/g/" + ana.VoucherPublicToken + "/print.pdf"} {
		address, page := owner.found(text)
		if address != harborConsole+"gifts/"+ana.VoucherID || !strings.Contains(page, "Ana Lee") ||
			!strings.Contains(page, "ana@example.com") || strings.Contains(page, ana.VoucherCode) ||
			strings.Contains(page, ana.VoucherPublicToken) {
			t.Errorf("%q leads to %s: %s", text, address, page)
		}
	}
	for _, text := range []string{ana.VoucherCode[8:], "ANA@example.com", "lee"} {
		address, page := owner.found(text)
		if address != "" || !strings.Contains(page, "/gifts/"+ana.VoucherID) ||
			strings.Contains(page, ben.VoucherID) {
			t.Errorf("%q leads to %s: %s", text, address, page)
		}
	}
	for _, slip := range []string{ana.VoucherCode + "x", "http://x/g/" + ana.VoucherPublicToken + "/y",
		ana.VoucherCode[1:]} {
		if address, page := owner.found(slip); address != "" || !strings.Contains(page, "No gift fits") {
			t.Errorf("a code with a slip leads to %q: %s", address, page)
		}
	}
	if strings.Contains(s.logs.String(), ana.VoucherCode) || strings.Contains(s.logs.String(), ana.VoucherPublicToken) {
		t.Error("the log has a code")
	}
	if _, page := owner.found("nobody at all"); !strings.Contains(page, "No gift fits") {
		t.Errorf("what is not there: %s", page)
	}
	page := owner.want(http.StatusOK, harborConsole+"gifts?status=REDEEMED", nil).body
	if strings.Contains(page, ana.VoucherID) {
		t.Errorf("the used up: %s", page)
	}
	owner.want(http.StatusNotFound, harborConsole+"gifts?status=LOST", nil)
	owner.want(http.StatusNotFound, harborConsole+"gifts/"+examples.HarborAccount, nil)
}

// TestStaffFindTheGiftsOfACustomer: the id of a customer leads to all their gifts, also where it looks like the last
// digits of a code, like a code or like a telephone number, and beside the gifts that have those.
func TestStaffFindTheGiftsOfACustomer(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	manager := s.joined("mia@example.com", staff.Manager)
	link := func(g soldGift, customer string) {
		s.must("POST", "/api/integration/gifting/link-customer", examples.HarborOfficeKey,
			`{"voucherID":"`+g.VoucherID+`","customerID":"`+customer+`"}`, nil)
	}
	ana, ben := s.sell(twenty), s.sell(twenty)
	for _, customer := range []string{ben.VoucherCode[8:], "100000000002", "2025550123", "C-20177"} {
		g := s.sell(twenty)
		link(g, customer)
		address, page := manager.found(customer)
		if address != "" || !strings.Contains(page, g.VoucherID) || strings.Contains(page, ana.VoucherID) {
			t.Errorf("%s leads to %q: %s", customer, address, page)
		}
		if other := strings.Contains(page, ben.VoucherID); other != (customer == ben.VoucherCode[8:]) {
			t.Errorf("%s: the gift whose code ends so is there: %t", customer, other)
		}
	}
	const many = 60 // more than a page has
	for range many {
		link(s.sell(twenty), ben.VoucherCode[8:])
	}
	seen, form := map[string]bool{}, url.Values{"q": {ben.VoucherCode[8:]}}
	for pages := 0; pages < 4; pages++ {
		page := manager.want(http.StatusOK, harborConsole+"search", form).body
		for _, m := range regexp.MustCompile(`/gifts/([0-9a-f-]{36})"`).FindAllStringSubmatch(page, -1) {
			if pages > 0 && seen[m[1]] {
				t.Errorf("%s is on two pages", m[1])
			}
			seen[m[1]] = true
		}
		next := regexp.MustCompile(`name="before" value="([^"]+)"`).FindStringSubmatch(page)
		if next == nil {
			break
		}
		form.Set("before", next[1])
	}
	if len(seen) != many+2 || !seen[ben.VoucherID] {
		t.Errorf("%d gifts on all pages, want %d", len(seen), many+2)
	}
}

// TestStaffGuessLikeTills: codes that are none are counted, and no more are looked up beyond the limit.
func TestStaffGuessLikeTills(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	manager := s.joined("mia@example.com", staff.Manager)
	sold := s.sellAs(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`, "100000000001")
	for range 100 { // the number of a sale is no guess
		if address, page := manager.found("100000000001"); address != "" || !strings.Contains(page, sold.VoucherID) {
			t.Fatalf("the number of a sale leads to %q: %s", address, page)
		}
	}
	for tried := 0; ; tried++ {
		a := manager.ask(harborConsole+"search", url.Values{"q": {"100000000000"}})
		if a.status == http.StatusTooManyRequests {
			break
		}
		if a.status != http.StatusNotFound || tried > 100 {
			t.Fatalf("try %d: status %d: %s", tried, a.status, a.body)
		}
	}
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	manager.want(http.StatusTooManyRequests, harborConsole+"search", url.Values{"q": {g.VoucherCode}})
	manager.want(http.StatusOK, harborConsole+"gifts/"+g.VoucherID, nil)
}

// TestAGiftTellsItsLife: everything that happened is there, the newest first, with who did it.
func TestAGiftTellsItsLife(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","message":"</script><script>alert(1)</script>",
		"deliveryMethodID":3}`)
	s.must("POST", redeemPath, examples.HarborTillKey,
		`{"voucherID":"`+g.VoucherID+`","amount":5,"reference":"T-1"}`, nil)
	s.must("POST", "/api/integration/gifting/block-gift", examples.HarborOfficeKey, `{"voucherID":"`+g.VoucherID+`","reasonCode":"LOST"}`, nil)
	page := s.joined("ann@example.com", staff.Bookkeeper).want(http.StatusOK, harborConsole+"gifts/"+g.VoucherID, nil).body
	if found := inline.FindString(page); found != "" {
		t.Errorf("a message runs, %s: %s", found, page)
	}
	told := regexp.MustCompile(`(?s)<li class="[a-z]*"><b>(.*?)</b>`).FindAllStringSubmatch(page, -1)
	var all []string
	for _, m := range told {
		all = append(all, m[1])
	}
	if got := strings.Join(all, "; "); got != "Blocked; $5.00 redeemed; Gift made, $25.00" {
		t.Errorf("what happened: %s", got)
	}
	for _, text := range []string{"T-1", "LOST", "$20.00 left", "Blocked"} {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q: %s", text, page)
		}
	}
	cashier := s.joined("carl@example.com", staff.Cashier)
	cashier.want(http.StatusForbidden, harborConsole+"gifts/"+g.VoucherID, nil)
	cashier.want(http.StatusForbidden, harborConsole+"search", url.Values{"q": {g.VoucherCode}})
}
