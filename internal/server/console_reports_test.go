package server_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/face/api/reports"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// TestBookkeepersReadReports: each report of the interface has a page for who may see reports, and for nobody else;
// what it says is what the interface says, also as a file.
func TestBookkeepersReadReports(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	for range 2 {
		s.sell(`{"value":500,"recipientDescription":"Ben","deliveryMethodID":3}`)
	}
	g := s.sell(`{"value":234.5,"recipientDescription":"Ana","deliveryMethodID":3}`)
	s.must("POST", redeemPath, examples.HarborTillKey,
		`{"voucherID":"`+g.VoucherID+`","amount":4,"reference":"T-1"}`, nil)
	bookkeeper := s.joined("bea@example.com", staff.Bookkeeper)
	manager, cashier := s.joined("mia@example.com", staff.Manager), s.joined("carl@example.com", staff.Cashier)
	list := bookkeeper.want(http.StatusOK, harborConsole+"reports", nil).body
	paths := []string{"reports", "reports/journal"}
	for n := range reports.Kinds {
		path := "reports/" + reports.Kinds[n].Name
		if !strings.Contains(list, `href="`+harborConsole+path+`"`) {
			t.Errorf("the list has no %s: %s", path, list)
		}
		bookkeeper.want(http.StatusOK, harborConsole+path, nil)
		file := bookkeeper.want(http.StatusOK, harborConsole+path+"/file?rate=7.5&months=36", nil)
		if file.header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(file.body, "sha256,") ||
			!strings.Contains(file.header.Get("Content-Disposition"), reports.Kinds[n].Name+".csv") {
			t.Errorf("%s as a file: %v %s", path, file.header, file.body)
		}
		paths = append(paths, path, path+"/file?rate=7.5&months=36")
	}
	for _, path := range paths {
		manager.want(http.StatusForbidden, harborConsole+path, nil)
		cashier.want(http.StatusForbidden, harborConsole+path, nil)
	}
	member := regexp.MustCompile(`organizationID|isPromoType|givenBack|programID`)
	for path, want := range map[string]string{
		"liability?groupBy=program&groupBy=organization": "1,230.50",
		"roll-forward?from=2026-01-01":                   "1,234.50",
		"redemptions?groupBy=day":                        "4.00",
		"dormant?months=1200":                            "Nothing to show",
		"breakage":                                       "in percent",
		"breakage?rate=7.5":                              "Still to book",
	} {
		page := bookkeeper.want(http.StatusOK, harborConsole+"reports/"+path, nil).body
		if !strings.Contains(page, want) || member.MatchString(page) {
			t.Errorf("%s lacks %q, or shows a name of the interface: %s", path, want, page)
		}
	}
	bookkeeper.want(http.StatusNotFound, harborConsole+"reports/lottery", nil)
}

// TestReportsRefuseInTheForm: what is wrong with what was asked for stands above the form, which is filled in; what
// somebody typed is shown as text.
func TestReportsRefuseInTheForm(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	for path, want := range map[string]string{
		"liability?at=2026-02-31":                                                "date",
		"liability?at=%22%3E%3Cscript%3E":                                        "&lt;script&gt;",
		"roll-forward?from=2099-01-01&to=2099-01-02":                             "future",
		"breakage?rate=200":                                                      "in percent",
		"redemptions?groupBy=shoe":                                               "The groups of this report",
		"journal/file?from=2026-01-01&to=2099-01-01":                             "yesterday",
		"liability/file?at=" + time.Now().AddDate(1, 0, 0).Format(time.DateOnly): "future",
	} {
		page := owner.want(http.StatusBadRequest, harborConsole+"reports/"+path, nil).body
		if !strings.Contains(page, want) || !strings.Contains(page, `role="alert"`) || inline.MatchString(page) {
			t.Errorf("%s: %s", path, page)
		}
	}
}

// TestAJournalLeadsToTheBooks: where the set-up lacks what a journal needs, an owner is led to where it is written, and
// who may not write it is not.
func TestAJournalLeadsToTheBooks(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	const journal = harborConsole + "reports/journal/file?from=2026-01-01&to=2026-01-31&format=datev"
	for role, leads := range map[staff.Role]bool{staff.Owner: true, staff.Bookkeeper: false} {
		page := s.joined(string(role)+"@example.com", role).want(http.StatusConflict, journal, nil).body
		if strings.Contains(page, `href="`+harborConsole+`setup/books"`) != leads {
			t.Errorf("an %s is told %s", role, page)
		}
		if strings.Count(page, "A file for DATEV needs") != 1 || strings.Count(page, "<li>the number of the ") != 2 {
			t.Errorf("what lacks is no list: %s", page)
		}
	}
}
