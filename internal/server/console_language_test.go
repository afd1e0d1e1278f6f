package server_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/racetest"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

var (
	// unread are parts of a page that nobody reads, and those whose language is said to be English.
	unread = regexp.MustCompile(`(?s)<(script|style|textarea|iframe|code)\b.*?</(script|style|textarea|iframe|code)>|` +
		`<(p|span|td|small|dd|b)[^>]* lang="en"[^>]*>.*?</(p|span|td|small|dd|b)>`)
	// saidBeside are what a page says beside its texts.
	saidBeside = regexp.MustCompile(`(?:aria-label|placeholder|title|alt)="([^"]*)"`)
	// saidInEnglish finds a sentence that says of itself that it is in English.
	saidInEnglish = regexp.MustCompile(`<(p|small|span)[^>]* lang="en"`)

	tags = regexp.MustCompile(`<[^>]*>`)
	// inEnglish are words that German and Spanish lack, and hardly a sentence in English.
	inEnglish = regexp.MustCompile(`(?i)\b(the|and|of|is|are|this|that|with|from|your|which|you|by|been|not)\b`)
)

// english are the texts of a page that are in English, and are not said to be.
func english(page string) (all []string) {
	page = unread.ReplaceAllString(page, "\n")
	for _, m := range saidBeside.FindAllStringSubmatch(page, -1) {
		page += "\n" + m[1]
	}
	for line := range strings.Lines(tags.ReplaceAllString(page, "\n")) {
		if text := strings.TrimSpace(html.UnescapeString(line)); inEnglish.MatchString(text) {
			all = append(all, text)
		}
	}
	return all
}

// speaking asks for pages in a language.
type speaking struct {
	http.RoundTripper
	language string
}

// RoundTrip implements http.RoundTripper.
func (s speaking) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept-Language", s.language)
	return s.RoundTripper.RoundTrip(r)
}

// foreign are texts of the example that stand in English on pages, because somebody wrote them so.
var foreign = []string{"Once per table."}

// TestPagesAreInOneLanguage: each page in German or Spanish has no sentence in English, unless it is marked as one. So
// does what a form answers that was filled in wrongly, and what an edit of the set-up has changed.
func TestPagesAreInOneLanguage(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	for _, language := range []string{"de", "es"} {
		ann := s.member(language+"@example.com", staff.Owner)
		ann.Transport = speaking{http.DefaultTransport, language}
		stock := ann.want(http.StatusSeeOther, stockPath, ann.stockForm(url.Values{"count": {"2"}}))
		list := ann.uploads(ann.manyForm(nil), "contact,value\nana@example.com,5\n=1,12\n")
		pages := []string{stock.header.Get("Location"), list, harborConsole + "sign-in", harborConsole + "reports/journal"}
		var forms []string
		for _, p := range closedPages(t) {
			path, form := addressOf(&p, g.VoucherID, everyField(g))
			if form == nil && !strings.Contains(p.Pattern, "/send/preview") {
				pages = append(pages, harborConsole+path)
			} else if form != nil && !strings.Contains(p.Pattern, "end") && !strings.Contains(p.Pattern, "/you/") {
				forms = append(forms, harborConsole+path)
			}
		}
		for _, link := range ann.want(http.StatusOK, harborConsole+"setup", nil).links("setup/") {
			pages = append(pages, harborConsole+link, harborConsole+link+"/new")
		}
		check := func(path string, a answer) {
			for _, text := range english(a.body) {
				if strings.HasPrefix(a.header.Get("Content-Type"), "text/html") && !slices.Contains(foreign, text) {
					t.Errorf("%s in %s, status %d, says: %s", path, language, a.status, text)
				}
			}
		}
		for _, path := range pages {
			check(path, ann.ask(path, nil))
		}
		for _, path := range forms {
			check("a form of "+path, ann.ask(path, url.Values{"key": {"K-2"}}))
		}
		promotion := ann.record("promotions", "Spring")
		typed := ann.want(http.StatusOK, promotion, nil).form(t, "save")
		typed.Set("validForDays", map[string]string{"de": "61", "es": "62"}[language])
		saved := ann.ask(promotion, typed)
		instead := map[string]string{"de": " statt ", "es": " en lugar de "}[language]
		if check(promotion, saved); !strings.Contains(saved.body, instead) {
			t.Errorf("what changed is told in %s so: %s", language, saved.body)
		}
		typed = ann.want(http.StatusOK, promotion, nil).form(t, "save")
		typed.Set("validForDays", "0")
		refused := ann.ask(promotion, typed)
		if check(promotion, refused); refused.status != http.StatusUnprocessableEntity ||
			saidInEnglish.MatchString(refused.body) {
			t.Errorf("what is wrong is told in %s so: %s", language, refused.body)
		}
		trail := ann.want(http.StatusOK, harborConsole+"audit", nil)
		if check("audit", trail); !strings.Contains(trail.body, instead) || saidInEnglish.MatchString(trail.body) {
			t.Errorf("what was done is told in %s so: %s", language, trail.body)
		}
	}
	if found := english(`<p lang="de">ja</p><p title="Look at the gift">x</p><b>It is &amp; was</b>`); len(found) != 2 {
		t.Errorf("of a page in English it finds %q", found)
	}
}

// TestTimesAreWrittenOneWay: where the account says in which country it is, all times of a page are written as there,
// those in its templates too.
func TestTimesAreWrittenOneWay(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	owner := s.joined("ann@example.com", staff.Owner)
	const business = harborConsole + "setup/business"
	typed := owner.want(http.StatusOK, business, nil).form(t, "save")
	typed.Set("country", "GB")
	owner.want(http.StatusOK, business, typed)
	gift := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`).VoucherID
	american := regexp.MustCompile(`(January|February|March|April|May|June|July|August|September|October|November|` +
		`December) \d+, \d{4}|\d\s?[AP]M`)
	british := regexp.MustCompile(`\d+ [A-Z][a-z]+ \d{4}, \d\d:\d\d`)
	for _, path := range []string{"gifts/" + gift, "staff", "audit"} {
		page := owner.want(http.StatusOK, harborConsole+path, nil).body
		if wrong := american.FindString(page); wrong != "" || !british.MatchString(page) {
			t.Errorf("%s says %q: %s", path, wrong, page)
		}
	}
}
