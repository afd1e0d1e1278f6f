package server_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// added are what the forms of new records are filled in with, by section.
var added = map[string]url.Values{
	"locations":   {"name": {"Extra"}},
	"storefronts": {"name": {"Extra"}},
	"people":      {"name": {"Extra"}},
	"designs":     {"name": {"Extra"}},
	"promotions":  {"name": {"Extra"}, "validForDays": {"30"}, "terms.en": {"Once."}},
	"programs":    {}, // the example has all of them
	"keys":        {"name": {"Extra"}, "role": {"shop"}},
	"webhooks":    {"url": {"https://extra.example/"}},
	"platforms": {"name": {"Extra"}, "platform": {"toast"}, "secret": {"5f0cda7e9b1c4d3280aa6f9e1b7c2d41"},
		"permissions": {"redeem"}, "sites.0.name": {"R-1"}},
}

// TestRemovalsAreTakenBack: in each list, what was removed comes back by Undo as it was. Where something of it would
// not come back, no Undo is offered. Taking the last person out says that tills ask for no PIN any more.
func TestRemovalsAreTakenBack(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	lists := 0
	for _, section := range owner.want(http.StatusOK, harborConsole+"setup", nil).links("setup/") {
		name, path := strings.TrimPrefix(section, "setup/"), harborConsole+section
		if page := owner.want(http.StatusOK, path, nil); len(page.links(name+"/")) == 0 {
			continue // fields of the account
		}
		lists++
		typed := owner.want(http.StatusOK, path+"/new", nil).form(t, "save")
		if added[name] == nil {
			t.Errorf("no record of %s is added", name)
			continue
		}
		maps.Copy(typed, added[name])
		if name == "platforms" {
			typed.Set("sites.0.location", pier39)
		}
		before := owner.want(http.StatusOK, path, nil).links(name + "/")
		its := harborConsole + "setup/" + before[len(before)-1]
		if len(added[name]) > 0 {
			owner.want(http.StatusOK, path+"/new", typed)
		}
		for _, link := range owner.want(http.StatusOK, path, nil).links(name + "/") {
			if !strings.Contains(strings.Join(before, " "), link) {
				its = harborConsole + "setup/" + link
			}
		}
		was := owner.want(http.StatusOK, its, nil)
		gone := owner.want(http.StatusOK, its, was.form(t, "remove"))
		owner.want(http.StatusNotFound, its, nil)
		if says := strings.Contains(gone.body, "every till takes gifts without a PIN"); says != (name == "people") {
			t.Errorf("the removal of the last of %s says that nobody signs in at tills any more: %t", name, says)
		}
		offered := strings.Contains(gone.body, `value="undo"`)
		if offered == strings.Contains(gone.body, "This cannot be undone here") {
			t.Errorf("the removal from %s says %s", name, gone.body)
		}
		if secret := name == "keys" || name == "webhooks" || name == "platforms"; secret == offered {
			t.Errorf("the removal from %s is told with %s", name, gone.body)
		}
		if !offered {
			continue
		}
		owner.want(http.StatusOK, its, gone.form(t, "undo"))
		if back := owner.want(http.StatusOK, its, nil); back.form(t, "save").Encode() != was.form(t, "save").Encode() {
			t.Errorf("what comes back of %s: %s", name, back.body)
		}
	}
	if lists != len(added) {
		t.Errorf("%d lists were tried, and there are %d", lists, len(added))
	}
}
