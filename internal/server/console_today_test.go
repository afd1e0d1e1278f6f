package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// figure is a figure of a page of the console, by its name; "": it is not there.
func figure(page, name string) string {
	m := regexp.MustCompile(`<dt>` + name + `</dt><dd>(?:<a [^>]*>)?([^<]*)`).FindStringSubmatch(page)
	if m == nil {
		return ""
	}
	return m[1]
}

// TestTodayTellsHowTheShopDoes: its figures are those of the reports; whoever may not see reports sees none.
func TestTodayTellsHowTheShopDoes(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":40,"recipientDescription":"<i>Ana</i>","deliveryMethodID":3}`)
	s.sell(`{"value":10.5,"recipientDescription":"Ben","deliveryMethodID":1,"recipientContact":"ben@example.com",
		"hasScheduledDelivery":true,"deliveryDate":"` + time.Now().AddDate(0, 1, 0).UTC().Format(time.RFC3339) + `"}`)
	for n := range 2 {
		s.must("POST", redeemPath, examples.HarborTillKey,
			fmt.Sprintf(`{"voucherID":"%s","amount":4,"reference":"T-%d"}`, g.VoucherID, n), nil)
	}
	for _, role := range []staff.Role{staff.Owner, staff.Bookkeeper, staff.Manager} {
		page := s.joined(string(role)+"@example.com", role).want(http.StatusOK, harborConsole+"today", nil).body
		want := map[string]string{"Sold": "$50.50", "Redeemed": "$8.00", "Outstanding": "$42.50",
			"Waiting for delivery": "1"}
		if role == staff.Manager {
			want = map[string]string{"Sold": "", "Redeemed": "", "Outstanding": "", "Waiting for delivery": "1"}
		}
		for name, text := range want {
			if is := figure(page, name); is != text {
				t.Errorf("%s: %s is %q, want %q", role, name, is, text)
			}
		}
		if !strings.Contains(page, "&lt;i&gt;Ana") || strings.Contains(page, "<i>Ana") {
			t.Errorf("%s: the newest gifts are not shown as they are: %s", role, page)
		}
		if drawn := strings.Contains(page, `<path class="used" d="M`); drawn != (role != staff.Manager) {
			t.Errorf("%s: a plot: %t", role, drawn)
		}
	}
	var report struct {
		Report struct {
			Rows []struct{ Issued, Redeemed, Closing float64 }
		}
	}
	s.must("GET", "/api/integration/reports/roll-forward?from=2026-01-01", examples.HarborOfficeKey, "", &report)
	if is := fmt.Sprint(report.Report.Rows); is != "[{50.5 -8 42.5}]" {
		t.Errorf("the report says %s", is)
	}
	cashier := s.joined("carl@example.com", staff.Cashier)
	cashier.want(http.StatusForbidden, harborConsole+"today", nil)
	if to := cashier.want(http.StatusSeeOther, harborConsole, nil).header.Get("Location"); to != harborConsole+"you" {
		t.Errorf("a cashier is led to %s", to)
	}
}

// TestTodayOfAnEmptyShop: it says what comes first.
func TestTodayOfAnEmptyShop(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	to := owner.want(http.StatusSeeOther, harborConsole, nil).header.Get("Location")
	page := owner.want(http.StatusOK, to, nil).body
	if to != harborConsole+"today" || !strings.Contains(page, "No gifts yet") || strings.Contains(page, "<svg") ||
		figure(page, "Waiting for delivery") != "0" {
		t.Errorf("%s: %s", to, page)
	}
}

// TestTodayByLocation: what was sold and redeemed at one location, or online, is told apart from the rest.
func TestTodayByLocation(t *testing.T) {
	t.Parallel()
	const pier, wharf = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c12"
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":40,"recipientDescription":"Ana","deliveryMethodID":3}`)
	s.must("POST", redeemPath, examples.HarborTillKey,
		fmt.Sprintf(`{"voucherID":"%s","amount":4,"reference":"T-1"}`, g.VoucherID), nil)
	s.must("POST", redeemPath, examples.HarborOfficeKey,
		fmt.Sprintf(`{"voucherID":"%s","amount":6,"reference":"T-2","organizationID":"%s"}`, g.VoucherID, wharf), nil)
	owner := s.joined("ann@example.com", staff.Owner)
	for at, want := range map[string][3]string{
		"":                 {"$40.00", "$10.00", "$30.00"},
		"?at=":             {"$40.00", "$10.00", "$30.00"},
		"?at=online":       {"$40.00", "$0.00", "$30.00"},
		"?at=" + pier:      {"$0.00", "$4.00", "$0.00"},
		"?at=" + wharf:     {"$0.00", "$6.00", "$0.00"},
		"?at=" + wharf[:9]: {},
		"?at=7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d11": {}, // of another account
	} {
		status := http.StatusOK
		if want[0] == "" {
			status = http.StatusNotFound
		}
		page := owner.want(status, harborConsole+"today"+at, nil).body
		if is := [3]string{figure(page, "Sold"), figure(page, "Redeemed"), figure(page, "Outstanding")}; is != want {
			t.Errorf("%q: sold, redeemed and outstanding are %q, want %q", at, is, want)
		}
		all := strings.TrimPrefix(at, "?at=") == ""
		const row = `>Pier 39</a></td><td class="number extra">$0.00</td><td class="number extra">$4.00`
		if apart := strings.Contains(page, row); apart != all {
			t.Errorf("%q: a table tells the locations apart: %t", at, apart)
		}
		if shown := strings.Contains(page, ` selected>Long Wharf</option>`); shown != (at == "?at="+wharf) {
			t.Errorf("%q: Long Wharf is chosen: %t", at, shown)
		}
	}
}

// TestTodayTellsANewShopWhatIsNext: what the shop lacks and somebody may do stands there as links, each gone once it is
// done, and all of them once the shop has a few gifts.
func TestTodayTellsANewShopWhatIsNext(t *testing.T) {
	t.Parallel()
	p := boontest.NewPlace(t)
	s := &service{T: t, data: p.Data, database: p.Database, logs: &boontest.Log{}}
	var link string
	s.run(server.Config{First: func(made string) { link = made }})
	owner := s.browser()
	begun := owner.want(http.StatusOK, link[strings.Index(link, "/console/"):], url.Values{"name": {"Café Nord"},
		"currency": {"EUR"}, "zone": {"Europe/Berlin"}, "location": {"Hafen"}, "till": {"Theke 1"}, "owner": {"Nora"},
		"email": {"nora@example.com"}}).body
	home := owner.want(http.StatusSeeOther, "/console", nil).header.Get("Location")
	account := strings.Split(home, "/")[2]
	steps := func(b *browser, want ...string) {
		t.Helper()
		_, list, _ := strings.Cut(b.want(http.StatusOK, home+"today", nil).body, `aria-labelledby="steps"`)
		list, _, _ = strings.Cut(list, "</section>")
		var is []string
		for _, m := range regexp.MustCompile(`<li><a href="`+home+`([^"]*)"`).FindAllStringSubmatch(list, -1) {
			is = append(is, m[1])
		}
		if !slices.Equal(is, want) {
			t.Errorf("the steps are %q, want %q", is, want)
		}
	}
	const access, till, place, team, gift = "you", "tills", "setup/locations/new", "staff", "send"
	steps(owner, access, till, place, team, gift)
	for role, open := range map[staff.Role][]string{staff.Bookkeeper: {access}, staff.Manager: {access, gift}} {
		b := s.browser()
		b.want(http.StatusSeeOther, s.inviteTo(account, string(role)+"@example.com", role), url.Values{})
		steps(b, open...)
	}
	steps(owner, access, till, place, gift)
	token := regexp.MustCompile(`/till/pair#([^<"]+)<`).FindStringSubmatch(begun)[1]
	s.device().want(http.StatusOK, `"name":"Theke 1"`, "POST", "/till/pair", `{"token":"`+token+`"}`)
	steps(owner, access, place, gift)
	owner.want(http.StatusSeeOther, home+"you/password", url.Values{"password": {words}})
	steps(owner, place, gift)
	other := owner.want(http.StatusOK, home+place, nil).form(t, "save")
	other.Set("name", "Markt")
	owner.want(http.StatusOK, home+place, other)
	steps(owner, gift)
	form := owner.want(http.StatusOK, home+"send", nil).body
	sent := url.Values{"storefront": regexp.MustCompile(`<option value="([^"]+)"[^>]*>Café Nord<`).FindStringSubmatch(form)[1:],
		"key": {"first"}, "value": {"5"}, "to": {"paper"}, "how": {"paid"}, "reference": {"R-1"},
		"first": {"Ana"}, "last": {"Diaz"}, "email": {"ana@example.com"}}
	owner.want(http.StatusOK, home+"send", sent)
	steps(owner)
	late := s.browser()
	late.want(http.StatusSeeOther, s.inviteTo(account, "max@example.com", staff.Manager), url.Values{})
	steps(late, access)
	for n := range 7 {
		sent.Set("key", fmt.Sprint("more ", n))
		owner.want(http.StatusOK, home+"send", sent)
	}
	steps(late)
}
