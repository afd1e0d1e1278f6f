package server_test

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/face/web"
	"boon.example/internal/racetest"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// cardToSell makes a card of a stock with an activation code, and gives both.
func (s *service) cardToSell() (card soldGift, number string) {
	s.Helper()
	var order struct{ OrderID string }
	s.must("POST", "/api/integration/gifting/create-stock", examples.HarborOfficeKey,
		`{"count":1,"value":25,"activationCodes":true}`, &order)
	_, list, err := s.call("GET", "/api/integration/gifting/orders/"+order.OrderID+"/stock?format=csv",
		examples.HarborOfficeKey, "")
	if err != nil {
		s.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(list))).ReadAll()
	if err != nil || len(rows) != 2 {
		s.Fatalf("the stock: %v, %s", err, list)
	}
	at := func(column string) string { return rows[1][slices.Index(rows[0], column)] }
	var all struct{ Gifts []soldGift }
	s.must("GET", "/api/integration/gifting/gifts?orderID="+order.OrderID, examples.HarborOfficeKey, "", &all)
	return all.Gifts[0], at("activationCode")
}

// giftFields are the fields of forms that name a gift.
func giftFields(g soldGift) (names []string) {
	for field, value := range everyField(g) {
		if value[0] == g.VoucherCode || value[0] == g.VoucherID {
			names = append(names, field)
		}
	}
	return names
}

// TestActivationCodesOpenNothingOnPages: an activation code, in each address and in each field that names a gift of
// every page of the console and of my gifts, leads to its card no more than a number that nobody has;
// and nothing happens to the card.
func TestActivationCodesOpenNothingOnPages(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	card, number := s.cardToSell()
	unknown := number[:15] + string('0'+(number[15]-'0'+1)%10)
	ann, guest := s.member("ann@example.com", staff.Owner), s.browser()
	same := func(what string, ask func(number string) answer) {
		told := func(number string) (status int, leads bool) {
			a := ask(number)
			return a.status, strings.Contains(a.body+a.header.Get("Location"), card.VoucherID) ||
				strings.Contains(a.body+a.header.Get("Location"), card.VoucherPublicToken)
		}
		wrong, before := told(unknown)
		makes := strings.HasPrefix(what, "POST /staff/invite") || strings.HasPrefix(what, "POST /tills/pair") // once
		right, leads := told(number)
		if right != wrong && !makes || leads != before || right == http.StatusInternalServerError {
			t.Errorf("%s: status %d, leads to the card %t; for a number of nobody %d, %t", what, right, leads, wrong, before)
		}
	}
	for _, p := range closedPages(t) {
		for _, field := range append(giftFields(card), "") {
			path, form := addressOf(&p, "{}", everyField(card))
			if form == nil && field != "" {
				continue // a page that is looked at is asked once
			}
			same(p.Pattern+" with "+field, func(number string) answer {
				fields := url.Values{}
				for name, values := range form {
					fields[name] = values
				}
				if form == nil {
					fields = nil
				} else if field != "" {
					fields.Set(field, number)
				}
				return ann.ask(harborConsole+strings.ReplaceAll(path, "{}", number), fields)
			})
		}
	}
	a := ann.ask(harborConsole+"search", url.Values{"q": {card.VoucherCode}})
	if to := a.header.Get("Location"); !strings.HasSuffix(to, card.VoucherID) {
		t.Errorf("the card's own code leads to %q", to)
	}
	for _, pattern := range append(web.MyPaths(), "/g/{token}", "/g/{token}/print.pdf", "/g/{token}/pass.pkpass") {
		path := strings.ReplaceAll(pattern, "{account}", examples.HarborAccount)
		for _, form := range []bool{false, true} {
			same(pattern, func(number string) answer {
				var fields url.Values
				if form {
					fields = url.Values{"contact": {number}, "gift": {number}}
				}
				return guest.ask(strings.ReplaceAll(path, "{token}", number), fields)
			})
		}
	}
	var is struct{ Status string }
	s.must("GET", giftPath+card.VoucherID, examples.HarborOfficeKey, "", &is)
	if is.Status != "NOT_ACTIVATED" {
		t.Errorf("the card is %s", is.Status)
	}
}
