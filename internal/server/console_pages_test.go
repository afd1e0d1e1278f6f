package server_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/face/console"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/server"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

const testConsole = "/console/7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d01/"

// everyField is a form with which every page of the console finds what it asks for.
func everyField(g soldGift) url.Values {
	return url.Values{"q": {g.VoucherCode}, "key": {"K-1"}, "contact": {"thief@example.com"},
		"email": {"thief@example.com"}, "role": {"owner"}, "name": {"Thief"}, "password": {words}, "code": {"LOST"},
		"reason": {"why"}, "amount": {"5"}, "value": {"5"}, "until": {"2040-01-01"}, "redemption": {g.VoucherID},
		"gift":   {g.VoucherCode},
		"member": {g.VoucherID}, "session": {"x"}, "location": {pier39}, "organization": {pier39}, "method": {"1"},
		"kind": {"sold"}, "to": {"staff"}, "do": {"save"}}
}

// addressOf is the address of a page below an account, where voucher stands for a gift and liability for a report; the
// form is nil for a page that is looked at.
func addressOf(p *desk.Page, voucher string, form url.Values) (string, url.Values) {
	method, path, _ := strings.Cut(p.Pattern, " ")
	path = strings.NewReplacer("{voucher}", voucher, "{name}", "liability", "{section}", "promotions",
		"{record}", "new", "{list}", voucher, "{importID}", voucher, "{order}", voucher, "{$}", "").Replace(path)
	if method == http.MethodGet {
		form = nil
	}
	return strings.TrimPrefix(path, "/"), form
}

// closedPages are the pages of the console for who is signed in.
func closedPages(t *testing.T) []desk.Page {
	t.Helper()
	closed := slices.DeleteFunc(console.Pages(), func(p desk.Page) bool { return p.Open || p.Outside })
	if len(closed) < 40 {
		t.Fatalf("there are only %d pages", len(closed))
	}
	return closed
}

// TestEveryPageIsForTheStaffOfItsAccount: each page of the table leads who is not signed in there to the sign-in page,
// whatever they show in place of a session, and does nothing for them; it does nothing for a form of another origin.
func TestEveryPageIsForTheStaffOfItsAccount(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	ann := s.member("ann@example.com", staff.Owner)
	out := s.joined("out@example.com", staff.Owner)
	ended := out.token()
	out.want(http.StatusSeeOther, harborConsole+"sign-out", url.Values{})
	others := map[string]*browser{"nobody": s.browser(), "a token that is none": s.browser().take(staff.NewToken()),
		"an owner of another account": s.ofTheTestAccount("tess@example.com"),
		"a session that has ended":    s.browser().take(ended),
		"a member who was removed":    s.removed("rob@example.com"),
	}
	before := s.settled()
	for _, p := range closedPages(t) {
		path, form := addressOf(&p, g.VoucherID, everyField(g))
		for _, who := range slices.Sorted(maps.Keys(others)) {
			a := others[who].ask(harborConsole+path, form)
			if to := a.header.Get("Location"); a.status != http.StatusSeeOther || to != harborConsole+"sign-in" {
				t.Errorf("%s for %s: status %d, to %q: %s", p.Pattern, who, a.status, to, a.body)
			}
		}
		if form == nil {
			continue
		}
		for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"}, {"Origin", "null"}} {
			if a := ann.ask(harborConsole+path, form, foreign...); a.status != http.StatusForbidden {
				t.Errorf("%s of another origin, %s: status %d: %s", p.Pattern, foreign, a.status, a.body)
			}
		}
	}
	s.unchanged(t, before)
}

// authority says for whom the pages of the console are, by how their patterns begin: o is the owner, m the manager, b
// the bookkeeper, c the cashier. The longest beginning counts. It is written by hand, from what an owner is told of the
// roles: the table of the pages may not contradict it.
var authority = map[string]string{
	"GET /{$}": "ombc", "GET /you": "ombc", "POST /you": "ombc", "GET /confirm": "ombc", "POST /confirm": "ombc",
	"GET /till": "oc", "GET /today": "omb", "GET /gifts": "omb", "POST /search": "omb",
	"GET /send": "om", "POST /send": "om", "GET /many": "om", "POST /many": "om",
	"GET /gifts/{voucher}/": "om", "POST /gifts/{voucher}/": "om",
	"GET /gifts/{voucher}/sell": "o", "POST /gifts/{voucher}/sell": "o",
	"GET /gifts/{voucher}/link": "o", "POST /gifts/{voucher}/link": "o",
	"GET /gifts/{voucher}/unlink": "o", "POST /gifts/{voucher}/unlink": "o",
	"GET /gifts/{voucher}/cash-out": "o", "POST /gifts/{voucher}/cash-out": "o",
	"GET /stock": "om", "POST /stock": "om", "POST /stock/{order}/": "o",
	"GET /reports": "ob", "GET /imports": "ob", "GET /imports/new": "o", "POST /imports": "o",
	"GET /export": "ob", "POST /export/file": "ob", "POST /export/codes": "o", "GET /audit": "o",
	"GET /tills": "o", "POST /tills": "o", "GET /setup": "o", "POST /setup": "o", "GET /staff": "o", "POST /staff": "o",
}

// TestEveryPageIsForItsRoles: each page and each action refuses the roles that it is not for, whatever is typed, and
// nothing changes; no page but these is refused to anybody, or is in the navigation of who may not open it.
func TestEveryPageIsForItsRoles(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	staffOf := map[byte]*browser{'o': s.member("o@example.com", staff.Owner),
		'm': s.member("m@example.com", staff.Manager),
		'b': s.member("b@example.com", staff.Bookkeeper), 'c': s.member("c@example.com", staff.Cashier)}
	before, refused, used := s.settled(), 0, map[string]bool{}
	for _, p := range closedPages(t) {
		rule := ""
		for begins := range authority {
			if strings.HasPrefix(p.Pattern, begins) && len(begins) > len(rule) {
				rule = begins
			}
		}
		if used[rule] = true; rule == "" {
			t.Errorf("nobody says for whom %s is", p.Pattern)
			continue
		}
		path, form := addressOf(&p, g.VoucherID, everyField(g))
		for _, role := range slices.Sorted(maps.Keys(staffOf)) {
			switch may := strings.IndexByte(authority[rule], role) >= 0; {
			case may && form != nil: // it would change something
			case may:
				if a := staffOf[role].ask(harborConsole+path, nil); a.status == http.StatusForbidden {
					t.Errorf("%s is refused to %c: %s", p.Pattern, role, a.body)
				}
			default:
				refused++
				if a := staffOf[role].ask(harborConsole+path, form); a.status != http.StatusForbidden {
					t.Errorf("%s for %c: status %d, to %q: %s", p.Pattern, role, a.status, a.header.Get("Location"), a.body)
				}
			}
		}
	}
	for rule := range authority {
		if !used[rule] {
			t.Errorf("there is no page %s", rule)
		}
	}
	s.unchanged(t, before)
	for role, b := range staffOf {
		for _, to := range regexp.MustCompile(`<li><a href="([^"]+)"`).FindAllStringSubmatch(b.ask(harborConsole+"you", nil).body, -1) {
			if a := b.ask(to[1], nil); a.status == http.StatusForbidden {
				t.Errorf("the navigation leads %c to %s, which is refused", role, to[1])
			}
		}
	}
	if refused < 100 {
		t.Errorf("only %d pages were refused", refused)
	}
}

// TestNoPageShowsGiftsOfAnotherAccount: each page about a gift answers for one of another account as for none.
func TestNoPageShowsGiftsOfAnotherAccount(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	tess := s.ofTheTestAccount("tess@example.com")
	before, asked := s.settled(), 0
	for _, p := range closedPages(t) {
		if !strings.Contains(p.Pattern, "{voucher}") {
			continue
		}
		asked++
		path, form := addressOf(&p, g.VoucherID, everyField(g))
		none, _ := addressOf(&p, "0197f2a4-0000-7000-8000-000000000001", form)
		foreign, absent := tess.ask(testConsole+path, form), tess.ask(testConsole+none, form)
		if foreign.status != http.StatusNotFound || absent.status != http.StatusNotFound {
			t.Errorf("%s: status %d for another account's gift, %d for none", p.Pattern, foreign.status, absent.status)
		}
	}
	if asked < 10 {
		t.Errorf("only %d pages are about a gift", asked)
	}
	s.unchanged(t, before)
}

// TestLookingAtPagesChangesNothing: no page of the table changes anything when it is looked at, or loads anything from
// elsewhere; and what asks for a fresh proof does nothing without one.
func TestLookingAtPagesChangesNothing(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	ann := s.unproven(s.member("ann@example.com", staff.Owner).token())
	before := s.settled()
	for _, p := range closedPages(t) {
		path, form := addressOf(&p, g.VoucherID, everyField(g))
		if form != nil && !p.Fresh {
			continue
		}
		a := ann.ask(harborConsole+path, form)
		if p.Fresh {
			if to := a.header.Get("Location"); !strings.HasPrefix(to, harborConsole+"confirm?to=") {
				t.Errorf("%s without a fresh proof: status %d, to %q: %s", p.Pattern, a.status, to, a.body)
			}
			continue
		}
		policy := a.header.Get("Content-Security-Policy")
		source, framed := "default-src 'self'", "frame-ancestors 'none'"
		if p.Pattern == "GET /send/preview" { // the guest's page, in a frame of the console
			source, framed = "default-src 'none'", "frame-ancestors 'self'"
		}
		if !strings.Contains(policy, source) || !strings.Contains(policy, framed) ||
			strings.Contains(policy, "unsafe") || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s has the headers %v", p.Pattern, a.header)
		}
		if found := inline.FindString(a.body); found != "" {
			t.Errorf("%s has %q", p.Pattern, found)
		}
		if strings.Contains(a.body, g.VoucherCode) || strings.Contains(a.body, g.VoucherPublicToken) {
			t.Errorf("%s tells the code of a gift: %s", p.Pattern, a.body)
		}
	}
	s.unchanged(t, before)
}

// ofTheConsole are the forms that call no operation of the JSON interface: what they do is of the console alone.
var ofTheConsole = regexp.MustCompile(`^(sign-out|confirm|search|today|staff/.+|you/.+|setup/.+|many/[^/]+/(discard|leave))$`)

// TestButtonsNameTheirCalls: each form of a page names the operation that its button calls, or does something that is
// of the console alone; and its page asks for the permissions that the table of authority has for the operation.
func TestButtonsNameTheirCalls(t *testing.T) {
	racetest.SkipShort(t, "calls one after the other")
	t.Parallel()
	s := start(t, server.Config{Outbox: true})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	ann := s.member("ann@example.com", staff.Owner)
	ready := ann.uploads(ann.manyForm(nil), "contact,value\nana@example.com,5\n")
	list := ready[strings.LastIndexByte(ready, '/')+1:]
	described, err := os.ReadFile("../face/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]merchant.Permissions{"pairTill": merchant.MayTills, "revokeTill": merchant.MayTills,
		"listAudit": merchant.MayAudit, "exportGifts": merchant.MayExport}
	for _, name := range []string{"checkImport", "importGifts", "undoImport"} {
		needs[name] = merchant.MayImport | merchant.MaySeeCodes
	}
	for _, o := range operation.All() {
		needs[string(o)] = o.Needs()
	}
	for _, id := range regexp.MustCompile(`"/api/integration/reports/[a-z-]+": \{\s*"get": \{\s*"operationId": "(\w+)"`).
		FindAllStringSubmatch(string(described), -1) {
		needs[id[1]] = merchant.MayReport
	}
	attribute := func(form, name string) string {
		if found := regexp.MustCompile(` ` + name + `="([^"]*)"`).FindStringSubmatch(form); found != nil {
			return found[1]
		}
		return ""
	}
	named := map[string]bool{}
	for _, p := range closedPages(t) {
		path, form := addressOf(&p, g.VoucherID, url.Values{})
		if form != nil {
			continue
		}
		if strings.Contains(p.Pattern, "{list}") {
			path = "many/" + list
		}
		at, err := url.Parse(ann.url + harborConsole + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range regexp.MustCompile(`<form[^>]*>`).FindAllString(ann.ask(harborConsole+path, nil).body, -1) {
			if attribute(form, "method") == "dialog" {
				continue
			}
			to, err := at.Parse(attribute(form, "action"))
			if err != nil {
				t.Fatal(err)
			}
			below := strings.TrimPrefix(to.Path, harborConsole)
			calls := attribute(form, "data-operation")
			need, known := needs[calls]
			switch {
			case calls == "" && ofTheConsole.MatchString(below):
			case calls == "":
				t.Errorf("%s: the form to %s names no operation", p.Pattern, below)
			case !known:
				t.Errorf("%s: the form to %s names %s, which is no operation", p.Pattern, below, calls)
			case !needed(closedPages(t), attribute(form, "method"), below).Has(need):
				t.Errorf("%s: the page of the form to %s asks for less than %s needs", p.Pattern, below, calls)
			default:
				named[calls] = true
			}
		}
	}
	if len(named) < 10 {
		t.Errorf("only these operations have a button: %v", slices.Sorted(maps.Keys(named)))
	}
}

// TestNamedOperationsExist: each operation that a template names is one of the interface, also where its page is shown
// only now and then.
func TestNamedOperationsExist(t *testing.T) {
	t.Parallel()
	described, err := os.ReadFile("../face/api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../face/console/*/templates/*.html")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range regexp.MustCompile(`data-operation="([\w-]+)"`).FindAllStringSubmatch(string(text), -1) {
			found++
			if !slices.Contains(operation.All(), operation.Name(named[1])) &&
				!strings.Contains(string(described), `"operationId": "`+named[1]+`"`) {
				t.Errorf("%s names %s, which is no operation", file, named[1])
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d operations are named", found)
	}
}

// needed are the permissions that the page asks for to which a form leads.
func needed(pages []desk.Page, method, path string) (needs merchant.Permissions) {
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc(p.Pattern, func(http.ResponseWriter, *http.Request) { needs = p.Needs })
	}
	r := httptest.NewRequest(strings.ToUpper(method), "/"+path, nil)
	mux.ServeHTTP(httptest.NewRecorder(), r)
	return needs
}

// ofTheTestAccount is the browser of an owner of the example's test account, which it sets up.
func (s *service) ofTheTestAccount(email string) *browser {
	s.Helper()
	s.apply(examples.HarborTest())
	s.eventually(func() bool { // until the service has read it
		status, _, err := s.call("GET", "/api/test/clock", examples.HarborTestKey, "")
		return err == nil && status == http.StatusOK
	})
	b := s.browser()
	b.want(http.StatusSeeOther, s.inviteTo(strings.Split(testConsole, "/")[2], email, staff.Owner), url.Values{})
	return b
}

// removed is the browser of somebody who came in, and is of the staff no more.
func (s *service) removed(email string) *browser {
	s.Helper()
	b := s.joined(email, staff.Owner)
	s.withStore(func(db *store.Store) error {
		session, err := db.Session(s.Context(), b.token(), time.Now())
		if err != nil {
			return err
		}
		return db.ChangeStaff(s.Context(), session.AccountID, func([]staff.Member) (staff.Changes, error) {
			return staff.Changes{Remove: []guid.ID{session.StaffID}}, nil
		})
	})
	return b
}

// settled are all rows, once the mails that tell of the sign-ins so far are sent.
func (s *service) settled() map[string][]string {
	s.Helper()
	s.eventually(func() bool { return s.noticesLeft() == 0 })
	s.walletsTold()
	return s.rows()
}

// unchanged compares all rows with those of before, but for what counts calls.
func (s *service) unchanged(t *testing.T, before map[string][]string) {
	t.Helper()
	for table, rows := range s.rows() {
		if table != "anonymous_bucket" && table != "key_use" && !slices.Equal(rows, before[table]) {
			t.Errorf("%s: %d rows before, %d after\n%s\n%s", table, len(before[table]), len(rows),
				strings.Join(before[table], "\n"), strings.Join(rows, "\n"))
		}
	}
}
