package server_test

import (
	"encoding/csv"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"boon.example/examples"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// TestStaffSeeWhoDidWhat: an owner sees what people and keys did, by person, key and day, page by page, each gift with
// its page; and takes it along. Nobody else does.
func TestStaffSeeWhoDidWhat(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	ann := s.joined("ann@example.com", staff.Owner)
	mia := s.joined("mia@example.com", staff.Manager)
	mia.does(g, "block", url.Values{"code": {"LOST"}, "reason": {"lost"}})
	const path = harborConsole + "audit"
	page := ann.want(http.StatusOK, path, nil).body
	for _, text := range []string{"Gift blocked</a>", "/gifts/" + g.VoucherID + `"`, "<td>mia</td>", "127.0.0.1",
		"Gift made</a>", "<td>web shop", "Signed in to the console"} {
		if !strings.Contains(page, text) {
			t.Errorf("the trail lacks %q: %s", text, page)
		}
	}
	option := func(name string) string {
		found := regexp.MustCompile(`<option value="([^"]+)">` + name).FindStringSubmatch(page)
		if found == nil {
			t.Fatalf("%s cannot be asked for: %s", name, page)
		}
		return url.QueryEscape(found[1])
	}
	for query, want := range map[string][2]string{
		"who=" + option("mia"):            {"Gift blocked", "Gift made"},
		"who=" + option("web shop"):       {"Gift made", "Gift blocked"},
		"to=2020-01-01":                   {"Nothing here", "Gift made"},
		"from=2020-01-01&to=2099-01-01":   {"Gift made", "Nothing here"},
		"who=person%3A%3Cscript%3Ealert":  {"Nothing here", "<script>alert"},
		"who=person%3Aann&from=2020-1-1":  {"Choose a day", "Gift made"},
		"who=key%3Anone":                  {`role="alert"`, "Gift made"},
		"cursor=%3Cscript%3E":             {`role="alert"`, "Gift made"},
		"lang=de&who=" + option("mia"):    {"Gutschein gesperrt", "Gift blocked"},
		"lang=es&from=2020-01-01&to=none": {"Elija un día", "Gift made"},
	} {
		if body := ann.ask(path+"?"+query, nil).body; !strings.Contains(body, want[0]) || strings.Contains(body, want[1]) {
			t.Errorf("%s: %s", query, body)
		}
	}
	file := ann.want(http.StatusOK, path+"/file?who="+option("mia"), nil)
	lines, err := csv.NewReader(strings.NewReader(file.body)).ReadAll()
	if err != nil || len(lines) < 3 || lines[0][1] != "action" || !strings.Contains(file.body, "gift.blocked") ||
		strings.Contains(file.body, "gift.created") || strings.Contains(file.body, g.VoucherCode) {
		t.Errorf("the file is %q, %v", file.body, err)
	}
	for _, who := range []*browser{mia, s.joined("bo@example.com", staff.Bookkeeper)} {
		who.want(http.StatusForbidden, path, nil)
		who.want(http.StatusForbidden, path+"/file", nil)
	}
}

// TestPagesOfTheTrail: following the pages shows each entry once; what somebody did long ago is on the first page of
// what they did.
func TestPagesOfTheTrail(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	s.joined("mia@example.com", staff.Manager).does(g, "block", url.Values{"code": {"LOST"}})
	const sold = 120
	for range sold - 1 {
		s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	}
	ann := s.joined("ann@example.com", staff.Owner)
	older := regexp.MustCompile(`href="([^"]+)" rel="next"`)
	gifts, pages := map[string]int{}, 0
	for path := harborConsole + "audit"; path != ""; pages++ {
		page := ann.want(http.StatusOK, path, nil).body
		for _, m := range regexp.MustCompile(`/gifts/([0-9a-f-]{36})">Gift made`).FindAllStringSubmatch(page, -1) {
			gifts[m[1]]++
		}
		path = ""
		if next := older.FindStringSubmatch(page); next != nil {
			path = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	if len(gifts) != sold || pages != 3 {
		t.Errorf("%d pages have %d gifts", pages, len(gifts))
	}
	for id, times := range gifts {
		if times != 1 {
			t.Errorf("%s is there %d times", id, times)
		}
	}
	if page := ann.want(http.StatusOK, harborConsole+"audit?who=person:mia", nil).body; !strings.Contains(page,
		"Gift blocked") {
		t.Errorf("what mia did: %s", page)
	}
}

// TestTheTrailSpeaksInWords: the trail names keys, locations and permissions as people call them, in the language of
// the page, and no id where there is a name.
func TestTheTrailSpeaksInWords(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	ann := s.joined("ann@example.com", staff.Owner)
	for path, typed := range map[string]url.Values{
		"setup/keys/new": {"name": {"web"}, "permissions": {"codes", "redeem"},
			"locations": {examples.HarborPier39, examples.HarborLongWharf}},
		"setup/messages": {"textCountries": {"AT", "DE"}},
	} {
		form := ann.want(http.StatusOK, harborConsole+path, nil).form(t, "save")
		maps.Copy(form, typed)
		ann.want(http.StatusOK, harborConsole+path, form)
	}
	s.must("POST", "/api/integration/tills", examples.HarborOfficeKey,
		`{"name":"Counter 7","organizationID":"`+examples.HarborPier39+`"}`, nil)
	for language, want := range map[string][]string{
		"en": {"added key web (Redeem gifts, See codes)", "added till Counter 7 at Pier 39, which may: Till"},
		"de": {"Schlüssel web hinzugefügt (Gutscheine einlösen, Codes sehen)",
			"Kasse Counter 7 an Pier 39 hinzugefügt, darf: Kasse",
			"Österreich, Deutschland statt Vereinigte Staaten, Kanada"},
		"es": {"clave web añadida (Canjear regalos, Ver códigos)"},
	} {
		page := html.UnescapeString(ann.want(http.StatusOK, harborConsole+"audit?lang="+language, nil).body)
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("the trail in %s lacks %q: %s", language, text, page)
			}
		}
		for _, line := range regexp.MustCompile(`<span class="small"[^>]*>([^<]*)</span>`).FindAllStringSubmatch(page, -1) {
			if regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-|account Harbor|redeem|lang="en"`).MatchString(line[1]) &&
				language != "en" {
				t.Errorf("the trail in %s says %q", language, line[0])
			}
		}
	}
}
