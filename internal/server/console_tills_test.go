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

// TestOwnersPairTills: a link is shown once, with its QR code, and makes a till that takes, or takes and sells; a till
// is switched off for good. Nobody but owners sees the page, and what was forgotten is told.
func TestOwnersPairTills(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const path = harborConsole + "tills"
	pier := regexp.MustCompile(`<option value="([^"]+)">Pier 39<`).FindStringSubmatch(owner.want(http.StatusOK, path,
		nil).body)
	if pier == nil {
		t.Fatal("the form names no locations")
	}
	pair := url.Values{"name": {"Counter <1>"}, "location": {pier[1]}, "sells": {"yes"}}
	page := owner.want(http.StatusOK, path+"/pair", pair).body
	if !strings.Contains(page, "/till/pair#") || !strings.Contains(page, "<svg") ||
		!strings.Contains(page, "Counter &lt;1&gt;") || strings.Contains(page, "Counter <1>") {
		t.Errorf("a new till: %s", page)
	}
	if again := owner.want(http.StatusOK, path, nil).body; strings.Contains(again, "/till/pair#") {
		t.Error("the link is shown again")
	}
	var told struct {
		Tills []struct {
			KeyID, Name string
			May         []string
		}
	}
	s.must("GET", "/api/integration/tills", examples.HarborOfficeKey, "", &told)
	if len(told.Tills) != 1 || !strings.Contains(strings.Join(told.Tills[0].May, " "), "activate") {
		t.Fatalf("the interface tells %+v", told)
	}
	owner.want(http.StatusSeeOther, path+"/off", url.Values{"key": {told.Tills[0].KeyID}})
	if gone := owner.want(http.StatusOK, path, nil).body; strings.Contains(gone, "&lt;1&gt;") {
		t.Errorf("it is there still: %s", gone)
	}
	owner.want(http.StatusNotFound, path+"/off", url.Values{"key": {"x/../y"}})
	a := owner.want(http.StatusUnprocessableEntity, path+"/pair", url.Values{"location": {pier[1]}})
	if !strings.Contains(a.body, `role="alert"`) {
		t.Errorf("without a name: %s", a.body)
	}
	s.joined("mia@example.com", staff.Manager).want(http.StatusForbidden, path, nil)
}
