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

const stockPath = harborConsole + "stock"

// stockForm is the form that makes cards, opened anew, with more filled in.
func (b *browser) stockForm(more url.Values) url.Values {
	b.Helper()
	form := url.Values{"key": formKey.FindStringSubmatch(b.want(http.StatusOK, stockPath, nil).body)[1:]}
	for name, values := range more {
		form[name] = values
	}
	return form
}

// TestStaffMakeStock: a manager makes cards, once for each form; an owner has them printed and sells one. Only whoever
// may take codes along gets them, and proves once more who they are.
func TestStaffMakeStock(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	mia, ann := s.joined("mia@example.com", staff.Manager), s.member("ann@example.com", staff.Owner)
	if page := mia.want(http.StatusOK, stockPath, nil).body; !strings.Contains(page, "No cards are on hand") {
		t.Errorf("without a stock the page says %s", page)
	}
	form := mia.stockForm(url.Values{"count": {"3"}, "value": {"25"}, "codes": {"yes"}, "location": {pier39}})
	path := mia.want(http.StatusSeeOther, stockPath, form).header.Get("Location")
	if again := mia.want(http.StatusSeeOther, stockPath, form).header.Get("Location"); again != path {
		t.Errorf("sent again, the form makes another stock: %s, %s", path, again)
	}
	page := mia.want(http.StatusOK, path, nil).body
	if !strings.Contains(page, "3 of 3 cards are on hand") || !strings.Contains(page, "$25.00") ||
		strings.Contains(page, path+"/") || !strings.Contains(page, "An owner of the account prints") {
		t.Errorf("the stock of a manager is %s", page)
	}
	for _, form := range []string{"/sheets", "/codes"} {
		mia.want(http.StatusForbidden, path+form, url.Values{})
		to := s.unproven(ann.token()).want(http.StatusSeeOther, path+form, url.Values{}).header.Get("Location")
		if to != harborConsole+"confirm?to=stock" {
			t.Errorf("an owner who proved long ago who she is gets %s from %s", form, to)
		}
	}
	sheets := ann.want(http.StatusOK, path+"/sheets", url.Values{})
	if !strings.HasPrefix(sheets.body, "%PDF") || !strings.Contains(sheets.header.Get("Content-Disposition"), ".pdf") {
		t.Errorf("the sheets are %.80q, %v", sheets.body, sheets.header)
	}
	list := ann.want(http.StatusOK, path+"/codes", url.Values{}).body
	if lines := strings.Count(list, "NOT_ACTIVATED"); lines != 3 {
		t.Errorf("the codes of %d cards leave: %q", lines, list)
	}
	trail := ann.want(http.StatusOK, harborConsole+"audit", nil).body
	if strings.Count(trail, "the codes of 3 cards") != 2 {
		t.Errorf("the audit trail says %s", trail)
	}
	cards := ann.want(http.StatusOK, harborConsole+"gifts?order="+path[strings.LastIndexByte(path, '/')+1:], nil).body
	gifts := regexp.MustCompile(`href="([^"]*/gifts/[0-9a-f-]{36})"`).FindAllStringSubmatch(cards, -1)
	if len(gifts) != 3 {
		t.Fatalf("the stock has the cards %s", cards)
	}
	s.sellsCard(mia, ann, gifts[0][1])
	ann.want(http.StatusSeeOther, gifts[1][1]+"/cancel", ann.keyed(gifts[1][1]+"/cancel", url.Values{}))
	if page = mia.want(http.StatusOK, stockPath, nil).body; !strings.Contains(page, `<td class="number">1</td>`) {
		t.Errorf("of a sold, a cancelled and another card, these are on hand: %s", page)
	}
}

// keyed is a form opened anew, with its key.
func (b *browser) keyed(path string, form url.Values) url.Values {
	b.Helper()
	form["key"] = formKey.FindStringSubmatch(b.want(http.StatusOK, path, nil).body)[1:]
	return form
}

// sellsCard has an owner sell a card of $25 of a stock, which a manager may not.
func (s *service) sellsCard(mia, ann *browser, gift string) {
	s.Helper()
	mia.want(http.StatusForbidden, gift+"/sell", nil)
	sale := ann.keyed(gift+"/sell", url.Values{"location": {pier39}, "reference": {"R-7"}, "first": {"Ana"},
		"last": {"Diaz"}, "email": {"ana@example.com"}, "storefront": {examples.HarborStorefront}})
	to := ann.want(http.StatusSeeOther, gift+"/sell", sale).header.Get("Location")
	if page := ann.want(http.StatusOK, to, nil).body; !strings.Contains(page, "The card is sold") ||
		!strings.Contains(page, "$25.00") || !strings.Contains(page, gift[strings.LastIndexByte(gift, '/')+1:]+"/cancel") {
		s.Errorf("after the sale the card says %s", page)
	}
	ann.want(http.StatusConflict, gift+"/sell", nil)
}

// TestStaffMakeStockOfThings: cards for things are made beside those for money, each with a second number by which it
// is sold. What was typed wrong comes back with the part of the form open.
func TestStaffMakeStockOfThings(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	mia, ann := s.joined("mia@example.com", staff.Manager), s.member("ann@example.com", staff.Owner)
	things := url.Values{"count": {"2"}, "label": {"Flat white"}, "quantity": {"10"}, "terms": {"Any size."},
		"equivalent": {"45"}, "numbers": {"yes"}}
	path := mia.want(http.StatusSeeOther, stockPath, mia.stockForm(things)).header.Get("Location")
	page := ann.want(http.StatusOK, path, nil).body
	for _, want := range []string{"10 × Flat white", "Second number for the sale", "Cover the dashed field"} {
		if !strings.Contains(page, want) {
			t.Errorf("the stock does not say %q: %s", want, page)
		}
	}
	list := ann.want(http.StatusOK, path+"/codes", url.Values{}).body
	if !regexp.MustCompile(`(?m),[0-9]{16},[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}\r$`).MatchString(list) {
		t.Errorf("the list has no second numbers: %q", list)
	}
	for want, form := range map[string]url.Values{
		"How many of it: Write a whole number from 1 to 10,000.": {"count": {"1"}, "label": {"Tea"}, "quantity": {"x"}},
		"What a card is good for: A card for an item needs":      {"count": {"1"}, "quantity": {"3"}},
		"What each card is worth: Send value, or label": {"count": {"1"}, "label": {"Tea"}, "quantity": {"3"},
			"value": {"5"}},
	} {
		a := mia.ask(stockPath, mia.stockForm(form))
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, want) ||
			!strings.Contains(a.body, `<details class="field part" open>`) {
			t.Errorf("%s: status %d: %s", want, a.status, a.body)
		}
	}
	if page := mia.want(http.StatusOK, stockPath, nil).body; strings.Contains(page, `part" open`) {
		t.Error("the part about things is open from the beginning")
	}
}

// TestBadStock: everything that is wrong with the form is told at once, by the names on the page, and nothing is made.
func TestBadStock(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	mia := s.joined("mia@example.com", staff.Manager)
	for want, form := range map[string]url.Values{
		"How many: Write a whole number":           {"count": {"<b>many"}, "value": {"much"}},
		"What each card is worth: “much” is no":    {"count": {"many"}, "value": {"much"}},
		"How many: The count must be from 1 to 1":  {"count": {"10001"}},
		"What each card is worth: The amount must": {"count": {"1"}, "value": {"-5"}},
	} {
		a := mia.ask(stockPath, mia.stockForm(form))
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, want) || strings.Contains(a.body, "<b>many") {
			t.Errorf("%s: status %d: %s", want, a.status, a.body)
		}
	}
	if page := mia.want(http.StatusOK, stockPath, nil).body; !strings.Contains(page, "No cards are on hand") {
		t.Errorf("something was made: %s", page)
	}
	for _, role := range []staff.Role{staff.Bookkeeper, staff.Cashier} {
		s.joined(string(role)+"@example.com", role).want(http.StatusForbidden, stockPath, nil)
	}
	mia.want(http.StatusNotFound, stockPath+"?before=x", nil)
	mia.want(http.StatusNotFound, stockPath+"/0197f2a4-0000-7000-8000-000000000001", nil)
}
