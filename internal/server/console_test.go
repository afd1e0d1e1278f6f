package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/guid"
	"boon.example/internal/server"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

// browser is one of somebody of the staff.
type browser struct {
	*service
	*http.Client
}

func (s *service) browser() *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.Fatal(err)
	}
	return &browser{s, &http.Client{Jar: jar, Timeout: time.Minute,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is what a browser was answered.
type answer struct {
	status int
	body   string
	header http.Header
}

// ask gets a page, or sends a form where there is one.
func (b *browser) ask(path string, form url.Values, headers ...string) answer {
	b.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	return b.answered(req)
}

// answered sends a request.
func (b *browser) answered(req *http.Request) answer {
	b.Helper()
	resp, err := b.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return answer{resp.StatusCode, string(body), resp.Header}
}

// want asks and expects a status.
func (b *browser) want(status int, path string, form url.Values, headers ...string) answer {
	b.Helper()
	a := b.ask(path, form, headers...)
	if a.status != status {
		b.Fatalf("%s: status %d, want %d: %s", path, a.status, status, a.body)
	}
	return a
}

// token is the session of the browser.
func (b *browser) token() string {
	at, err := url.Parse(b.url)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range b.Jar.Cookies(at) {
		if c.Name == "boon" {
			return c.Value
		}
	}
	return ""
}

// take puts a session into the browser, as a thief does.
func (b *browser) take(token string) *browser {
	at, err := url.Parse(b.url)
	if err != nil {
		b.Fatal(err)
	}
	b.Jar.SetCookies(at, []*http.Cookie{{Name: "boon", Value: token, Path: "/"}})
	return b
}

const harborConsole = "/console/" + examples.HarborAccount + "/"

// invite makes an invitation to the console of the example, and gives its path.
func (s *service) invite(email string, role staff.Role) string {
	s.Helper()
	return s.inviteTo(examples.HarborAccount, email, role)
}

// inviteTo makes one to the console of an account.
func (s *service) inviteTo(of, email string, role staff.Role) string {
	s.Helper()
	account, err := guid.Parse(of)
	if err != nil {
		s.Fatal(err)
	}
	var token string
	s.withStore(func(db *store.Store) error {
		d, err := db.Directory(s.Context())
		if err != nil {
			return err
		}
		return db.ChangeStaff(s.Context(), account, func(members []staff.Member) (c staff.Changes, err error) {
			who := staff.Member{Email: email, Role: role}
			if known := staff.Find(members, email); known != nil {
				who.ID = known.ID
			}
			if _, c, err = staff.Invite(d.Accounts[account], members, who, time.Now()); err == nil {
				token = c.Invite.Token
			}
			return c, err
		})
	})
	return "/console/join/" + token
}

// joined is the browser of somebody who came in.
func (s *service) joined(email string, role staff.Role) *browser {
	s.Helper()
	b := s.browser()
	if a := b.want(http.StatusSeeOther, s.invite(email, role), url.Values{}); a.header.Get("Location") != harborConsole {
		s.Fatalf("an invitation leads to %s", a.header.Get("Location"))
	}
	return b
}

// TestAnInvitationSignsIn: once, in the browser that uses it first, and not by being looked at.
func TestAnInvitationSignsIn(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	b, link := s.browser(), s.invite("ann@example.com", staff.Manager)
	for range 2 { // a preview
		page := b.want(http.StatusOK, link, nil)
		if !strings.Contains(page.body, "Harbor") || !strings.Contains(page.body, "Manager") {
			t.Errorf("the page of an invitation says %s", page.body)
		}
	}
	if b.token() != "" {
		t.Error("looking at an invitation signs in")
	}
	b.want(http.StatusSeeOther, harborConsole, nil)
	b.want(http.StatusSeeOther, link, url.Values{})
	page := b.want(http.StatusOK, harborConsole+"you", nil)
	if !strings.Contains(page.body, "<b>ann</b>") || !strings.Contains(page.body, "This device, now") {
		t.Errorf("the first page says %s", page.body)
	}
	b.want(http.StatusNotFound, link, nil)
	s.browser().want(http.StatusNotFound, link, url.Values{})
	if a := b.want(http.StatusSeeOther, "/console", nil); a.header.Get("Location") != harborConsole {
		t.Errorf("/console leads to %q", a.header.Get("Location"))
	}
	if strings.Contains(s.logs.String(), link[len(link)-20:]) || strings.Contains(s.logs.String(), b.token()) {
		t.Error("the log has a token")
	}
}

// TestTheConsoleIsFoundAgain: whoever is signed out, on a device where they were signed in, comes from the address of
// the console to where they sign in; elsewhere they do where there is one account only.
func TestTheConsoleIsFoundAgain(t *testing.T) {
	t.Parallel()
	s := &service{T: t, data: t.TempDir(), logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	s.apply(examples.AsagaoTea())
	s.run(server.Config{})
	ann := s.joined("ann@example.com", staff.Owner)
	ann.want(http.StatusSeeOther, harborConsole+"sign-out", url.Values{})
	if to := ann.want(http.StatusSeeOther, "/console", nil).header.Get("Location"); to != harborConsole+"sign-in" {
		t.Errorf("a device that was signed in is led to %q", to)
	}
	elsewhere := s.browser()
	if page := elsewhere.want(http.StatusOK, "/console", nil); !strings.Contains(page.body, "does not know your account") {
		t.Errorf("with several accounts, another device is told %s", page.body)
	}
	for _, cookie := range []string{"<script>", examples.HarborDesign, examples.HarborAccount + "x"} {
		elsewhere.want(http.StatusOK, "/console", nil, "Cookie", "boon-account="+cookie)
	}
}

// TestASessionThatIsOver opens nothing: for whoever has a copy of its cookie, after signing out, after it was ended
// elsewhere, and after a new invitation of the same person.
func TestASessionThatIsOver(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	over := func(how string, b *browser, end func(*browser)) {
		t.Helper()
		thief := s.browser().take(b.token())
		thief.want(http.StatusOK, harborConsole+"you", nil)
		end(b)
		if a := thief.ask(harborConsole+"you", nil); a.status != http.StatusSeeOther {
			t.Errorf("%s: a stolen session goes on: status %d", how, a.status)
		}
	}
	over("signing out", s.joined("ann@example.com", staff.Owner), func(b *browser) {
		b.want(http.StatusSeeOther, harborConsole+"sign-out", url.Values{})
		if b.token() != "" {
			t.Error("the browser keeps its cookie")
		}
	})
	over("a new invitation", s.joined("ann@example.com", staff.Owner), func(*browser) {
		s.invite("ann@example.com", staff.Owner)
	})
	over("signing in once more", s.joined("ben@example.com", staff.Owner), func(b *browser) {
		b.want(http.StatusSeeOther, s.invite("cleo@example.com", staff.Owner), url.Values{})
	})
}

// TestEndingASession: somebody ends one of their own sessions, and nobody else's.
func TestEndingASession(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann, ben := s.joined("ann@example.com", staff.Owner), s.joined("ben@example.com", staff.Owner)
	id := func(b *browser) string { return s.sessionOf(b.token()) }
	ben.want(http.StatusSeeOther, harborConsole+"you/end", url.Values{"session": {id(ann)}})
	ann.want(http.StatusOK, harborConsole+"you", nil)
	ann.want(http.StatusSeeOther, harborConsole+"you/end", url.Values{"session": {id(ann)}})
	ann.want(http.StatusSeeOther, harborConsole+"you", nil)
	var trail struct{ Entries []struct{ What string } }
	s.must("GET", "/api/integration/audit", examples.HarborOfficeKey, "", &trail)
	ended := 0
	for _, e := range trail.Entries {
		if strings.Contains(e.What, "127.0.0.1") {
			t.Errorf("an address is kept for ever: %s", e.What)
		}
		if e.What == "ann ended one of their sessions" {
			ended++
		}
	}
	if ended != 1 {
		t.Errorf("the trail tells of %d sessions that ended: %+v", ended, trail)
	}
}

// sessionOf is the id of a session.
func (s *service) sessionOf(token string) (id string) {
	s.withStore(func(db *store.Store) error {
		found, err := db.Session(s.Context(), token, time.Now())
		id = found.ID.String()
		return err
	})
	return id
}

// TestASessionIsOfOneAccount: it opens no other account's console, nor one that there is not; both are answered alike.
func TestASessionIsOfOneAccount(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.apply(examples.HarborTest())
	ann := s.joined("ann@example.com", staff.Owner)
	for _, other := range []string{"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1d01", "0197f2a4-0000-7000-8000-000000000001"} {
		a := ann.want(http.StatusSeeOther, "/console/"+other+"/", nil)
		if want := "/console/" + other + "/sign-in"; a.header.Get("Location") != want {
			t.Errorf("the console of another account leads to %s, not to %s", a.header.Get("Location"), want)
		}
	}
	ann.want(http.StatusNotFound, "/console/none/", nil)
	ann.want(http.StatusNotFound, harborConsole+"nothing", nil)
}

// TestAFixedSession: a session that somebody put into the browser before is not the one that is signed in.
func TestAFixedSession(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	for _, planted := range []string{staff.NewToken(), s.joined("ben@example.com", staff.Cashier).token()} {
		victim := s.browser().take(planted)
		victim.want(http.StatusSeeOther, s.invite("ann@example.com", staff.Owner), url.Values{})
		if victim.token() == planted {
			t.Error("a session goes on under the token that was there before")
		}
		to := s.browser().take(planted).want(http.StatusSeeOther, harborConsole+"you", nil)
		if !strings.HasSuffix(to.header.Get("Location"), "/sign-in") {
			t.Error("the session that was there before goes on")
		}
	}
}

// inline finds what runs or styles something within a page, or leads elsewhere.
var inline = regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|javascript:|(src|href)="https?:`)

// TestOtherOriginsDoNothingInTheConsole: no form of another origin is taken, on whatever address; and no page of the
// console is framed, runs something inline, or loads anything from another host.
func TestOtherOriginsDoNothingInTheConsole(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann, link := s.joined("ann@example.com", staff.Owner), s.invite("ben@example.com", staff.Owner)
	for _, path := range []string{link, harborConsole + "sign-out", harborConsole + "you/end",
		harborConsole + "nothing"} {
		for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"}, {"Origin", "null"}} {
			ann.want(http.StatusForbidden, path, url.Values{}, foreign...)
		}
	}
	for _, path := range []string{harborConsole + "you", harborConsole + "staff", harborConsole + "sign-in", link,
		harborConsole + "nothing", "/console/join/x"} {
		page := ann.ask(path, nil)
		policy := page.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		if found := inline.FindString(page.body); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

// signIn is the form of a sign-in.
func signIn(email, password, code string) url.Values {
	return url.Values{"email": {email}, "password": {password}, "code": {code}}
}

const words = "orange bicycle on a roof"

// member is the browser of somebody who came in and has a password.
func (s *service) member(email string, role staff.Role) *browser {
	s.Helper()
	b := s.joined(email, role)
	b.want(http.StatusSeeOther, harborConsole+"you/password", url.Values{"password": {words}})
	return b
}

// TestSigningInWithAPassword: with the right one, in whatever spelling of Unicode; choosing one ends other sessions.
func TestSigningInWithAPassword(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann := s.joined("ann@example.com", staff.Manager)
	for _, weak := range []string{"", "short", "fourteen chars", strings.Repeat("long", 40)} {
		page := ann.want(http.StatusBadRequest, harborConsole+"you/password", url.Values{"password": {weak}})
		if !strings.Contains(page.body, "A password ") {
			t.Errorf("%q: %s", weak, page.body)
		}
	}
	other := s.browser().take(ann.token())
	other.want(http.StatusOK, harborConsole+"you", nil)
	const composed, apart = "Gr\u00fcne \u00c4pfel am Baum", "Gru\u0308ne A\u0308pfel am Baum"
	saved := ann.want(http.StatusSeeOther, harborConsole+"you/password", url.Values{"password": {composed}})
	if page := ann.want(http.StatusOK, saved.header.Get("Location"), nil).body; !strings.Contains(page, "Saved. Where") {
		t.Errorf("nothing says that the password was saved: %s", page)
	}
	again := s.browser()
	for _, wrong := range []url.Values{signIn("ann@example.com", words, ""), signIn("ben@example.com", composed, ""),
		signIn("", "", "")} {
		again.want(http.StatusForbidden, harborConsole+"sign-in", wrong)
	}
	if a := again.want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ANN@example.com ", apart, "")); a.header.Get(
		"Location") != harborConsole {
		t.Errorf("signing in leads to %q", a.header.Get("Location"))
	}
	again.want(http.StatusOK, harborConsole+"you", nil)
	ann.want(http.StatusOK, harborConsole+"you", nil)
	again.want(http.StatusSeeOther, harborConsole+"you/password", url.Values{"password": {words}})
	if a := ann.ask(harborConsole+"you", nil); a.status != http.StatusSeeOther {
		t.Error("a session goes on after another password was chosen elsewhere")
	}
}

// TestASignInTellsNothing of who exists: a name that nobody has, a wrong password, a wrong code and an account that
// there is not are answered by the same page.
func TestASignInTellsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.member("ann@example.com", staff.Manager)
	s.joined("ben@example.com", staff.Manager) // has no password
	same := map[string]bool{}
	for _, account := range []string{examples.HarborAccount, "0197f2a4-0000-7000-8000-000000000001"} {
		for _, email := range []string{"ann@example.com", "ben@example.com", "none@example.com"} {
			b := s.browser()
			before := b.want(http.StatusOK, "/console/"+account+"/sign-in", nil)
			a := b.want(http.StatusForbidden, "/console/"+account+"/sign-in", signIn(email, "wrong", "123456"))
			if len(a.header.Values("Set-Cookie")) > 0 || len(before.header.Values("Set-Cookie")) > 0 {
				t.Errorf("%s: a cookie is set", email)
			}
			same[strings.NewReplacer(account, "ACCOUNT", email, "EMAIL").Replace(a.body)] = true
		}
	}
	if len(same) != 1 {
		t.Errorf("wrong sign-ins are answered by %d pages", len(same))
	}
}

// TestManyWrongPasswords slow down one name and nobody else; from a device that it knows, the person signs in all the
// same, and from another one not even with the right password.
func TestManyWrongPasswords(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann := s.member("ann@example.com", staff.Manager)
	ben := s.member("ben@example.com", staff.Manager)
	ann.want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ann@example.com", words, "")) // the device is known now
	thief, looked := s.browser(), 0
	tries := 10_000
	if testing.Short() {
		tries = 500
	}
	for range tries {
		if thief.ask(harborConsole+"sign-in", signIn("ann@example.com", "guess", "")).status == http.StatusForbidden {
			looked++
		}
	}
	if looked < 5 || looked > 15 { // one more each minute, on a slow machine
		t.Errorf("%d wrong passwords were looked at", looked)
	}
	thief.want(http.StatusTooManyRequests, harborConsole+"sign-in", signIn("ann@example.com", words, ""))
	ann.want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ann@example.com", words, ""))
	ben.want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ben@example.com", words, ""))
	s.browser().want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ben@example.com", words, ""))
}

// TestPasswordsDelayNoTill: while passwords wait to be checked, which are slow to check on purpose, a gift is redeemed.
func TestPasswordsDelayNoTill(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	g := s.sell(`{"value":25,"recipientDescription":"Ana","deliveryMethodID":3}`)
	const guesses = 24 // fewer than a network has at once, and than a busy machine checks before a call must end
	var answered atomic.Int32
	var all sync.WaitGroup
	first := make(chan struct{}, guesses)
	for n := range guesses {
		all.Go(func() {
			form := signIn(fmt.Sprintf("guest%d@example.com", n), "a guess", "")
			a, err := http.PostForm(s.url+harborConsole+"sign-in", form)
			if err == nil {
				a.Body.Close()
			}
			if err != nil || a.StatusCode != http.StatusForbidden {
				t.Errorf("a wrong password: %v, %v", a, err)
			}
			answered.Add(1)
			first <- struct{}{}
		})
	}
	<-first // so that they are under way
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":1}`, nil)
	if n := answered.Load(); n == guesses { // two at a time: more than ten are checked one after the other meanwhile
		t.Error("a redemption waited for all passwords")
	}
	all.Wait()
}

// TestAnAuthenticator: its code is asked for beside the password, and each code is good once.
func TestAnAuthenticator(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann := s.member("ann@example.com", staff.Manager)
	page := ann.want(http.StatusOK, harborConsole+"you", nil)
	secret := regexp.MustCompile(`name="secret" value="(\w+)"`).FindStringSubmatch(page.body)[1]
	ann.want(http.StatusBadRequest, harborConsole+"you/authenticator", url.Values{"secret": {secret}, "code": {"000000"}})
	shows := func() string { return staff.Code(secret, time.Now()) }
	used := shows()
	ann.want(http.StatusSeeOther, harborConsole+"you/authenticator", url.Values{"secret": {secret}, "code": {used}})
	b := s.browser()
	b.want(http.StatusForbidden, harborConsole+"sign-in", signIn("ann@example.com", words, ""))
	b.want(http.StatusForbidden, harborConsole+"sign-in", signIn("ann@example.com", words, used))
	next := staff.Code(secret, time.Now().Add(30*time.Second)) // a clock that is ahead
	b.want(http.StatusForbidden, harborConsole+"sign-in", signIn("ann@example.com", "wrong", next))
	b.want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ann@example.com", words, next))
	s.browser().want(http.StatusForbidden, harborConsole+"sign-in", signIn("ann@example.com", words, next))
	b.want(http.StatusSeeOther, harborConsole+"you/password", url.Values{"password": {"eight888"}})
	b.want(http.StatusBadRequest, harborConsole+"you/authenticator/end", url.Values{})
}

// TestOwnersManageTheStaff: an owner invites, changes roles, ends sessions and removes; nobody else does; and one owner
// is left.
func TestOwnersManageTheStaff(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann := s.member("ann@example.com", staff.Owner)
	page := ann.want(http.StatusOK, harborConsole+"staff/invite", url.Values{"email": {"ben@example.com"}, "name": {"Ben"},
		"role": {"manager"}})
	link := regexp.MustCompile(`/console/join/[\w-]{43}`).FindString(page.body)
	ben := s.browser()
	ben.want(http.StatusSeeOther, link, url.Values{})
	member := regexp.MustCompile(`name="member" value="([0-9a-f-]{36})"`)
	ids := map[string]bool{}
	page = ann.want(http.StatusOK, harborConsole+"staff", nil)
	for _, m := range member.FindAllStringSubmatch(page.body, -1) {
		ids[m[1]] = true
	}
	if len(ids) != 2 {
		t.Fatalf("the page has %d members", len(ids))
	}
	own := s.memberOf(ann.token())
	delete(ids, own)
	var his string
	for his = range ids {
	}
	for _, path := range []string{"staff", "staff/invite", "staff/role", "staff/end", "staff/remove"} {
		var form url.Values
		if path != "staff" {
			form = url.Values{"member": {own}, "role": {"cashier"}}
		}
		ben.want(http.StatusForbidden, harborConsole+path, form)
	}
	for _, path := range []string{"staff/role", "staff/remove"} { // nobody else has come in as an owner
		a := ann.want(http.StatusBadRequest, harborConsole+path, url.Values{"member": {own}, "role": {"manager"}})
		if !strings.Contains(a.body, "without an owner") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	ann.want(http.StatusSeeOther, harborConsole+"staff/role", url.Values{"member": {his}, "role": {"owner"}})
	ben.want(http.StatusOK, harborConsole+"staff", nil)
	ann.want(http.StatusSeeOther, harborConsole+"staff/end", url.Values{"member": {his}})
	ben.want(http.StatusSeeOther, harborConsole+"you", nil)
	page = ann.want(http.StatusOK, harborConsole+"staff/invite", url.Values{"member": {his}})
	ben.want(http.StatusSeeOther, regexp.MustCompile(`/console/join/[\w-]{43}`).FindString(page.body), url.Values{})
	ann.want(http.StatusSeeOther, harborConsole+"staff/remove", url.Values{"member": {his}})
	ben.want(http.StatusSeeOther, harborConsole+"you", nil)
	ann.want(http.StatusBadRequest, harborConsole+"staff/role", url.Values{"member": {his}, "role": {"owner"}})
}

// TestWhereCashiersWork: an owner says at which locations a cashier works, and changes that; the page and the trail
// name them. A location of nobody's is refused, and whoever is no cashier works everywhere.
func TestWhereCashiersWork(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann, cleo := s.member("ann@example.com", staff.Owner), s.joined("cleo@example.com", staff.Cashier)
	id := s.memberOf(cleo.token())
	works := func() string {
		page := ann.want(http.StatusOK, harborConsole+"staff", nil).body
		row := page[strings.Index(page, "cleo@example.com"):]
		return row[:strings.Index(row, "</tr>")]
	}
	if strings.Contains(works(), " checked") {
		t.Errorf("a cashier of all locations: %s", works())
	}
	role := func(status int, role string, locations ...string) answer {
		return ann.want(status, harborConsole+"staff/role", url.Values{"member": {id}, "role": {role}, "location": locations})
	}
	role(http.StatusSeeOther, "cashier", pier39)
	if row := works(); strings.Count(row, " checked") != 1 || !strings.Contains(row, `<span class="small">Pier 39</span>`) {
		t.Errorf("a cashier of one location: %s", row)
	}
	if a := role(http.StatusBadRequest, "cashier", "0197f2a4-0000-7000-8000-000000000001"); !strings.Contains(a.body,
		"no location") {
		t.Errorf("a location of nobody's: %s", a.body)
	}
	role(http.StatusSeeOther, "manager", pier39)
	if strings.Contains(works(), " checked") {
		t.Errorf("a manager: %s", works())
	}
	var trail struct{ Entries []struct{ What string } }
	s.must("GET", "/api/integration/audit", examples.HarborOfficeKey, "", &trail)
	for n, want := range []string{"ann made cleo, who was cashier at Pier 39, manager",
		"ann made cleo, who was cashier, cashier at Pier 39"} {
		if trail.Entries[n].What != want {
			t.Errorf("the trail says %q, not %q", trail.Entries[n].What, want)
		}
	}
}

// memberOf is the member whose session has a token.
func (s *service) memberOf(token string) (id string) {
	s.withStore(func(db *store.Store) error {
		found, err := db.Session(s.Context(), token, time.Now())
		id = found.StaffID.String()
		return err
	})
	return id
}

// unproven makes a session as if its member had proven long ago who they are.
func (s *service) unproven(token string) *browser {
	s.Helper()
	old := staff.NewToken()
	s.withStore(func(db *store.Store) error {
		now, err := db.Session(s.Context(), token, time.Now())
		if err != nil {
			return err
		}
		now.ProvenAt = now.ProvenAt.Add(-5 * time.Minute)
		return db.ChangeStaff(s.Context(), now.AccountID, func([]staff.Member) (staff.Changes, error) {
			return staff.Changes{Begin: []staff.Begun{{Session: now, Token: old}}}, nil
		})
	})
	return s.browser().take(old)
}

// TestWhoHasNothingToProveWithChoosesFirst: who came in by an invitation alone is not asked for a password that they do
// not have, but led to where they choose one; then they may go on.
func TestWhoHasNothingToProveWithChoosesFirst(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann := s.unproven(s.joined("ann@example.com", staff.Owner).token())
	a := ann.want(http.StatusSeeOther, harborConsole+"confirm?to=staff", nil)
	if to := a.header.Get("Location"); to != harborConsole+"you" {
		t.Fatalf("nothing to prove with leads to %q", to)
	}
	ann.want(http.StatusSeeOther, harborConsole+"you/password", url.Values{"password": {words}})
	page := ann.want(http.StatusOK, harborConsole+"confirm?to=staff", nil).body
	if !strings.Contains(page, `name="password"`) || strings.Contains(page, `data-passkey`) || strings.Contains(page,
		`name="code"`) {
		t.Errorf("a member with a password alone is asked for more: %s", page)
	}
	ann.want(http.StatusSeeOther, harborConsole+"confirm", url.Values{"password": {words}, "to": {"staff"}})
	ann.want(http.StatusOK, harborConsole+"staff/invite", url.Values{"email": {"x@example.com"}, "role": {"manager"}})
}

// TestProvingOnceMore: who did not prove lately who they are is asked for it before roles, invitations and passwords
// change; then the session is another one.
func TestProvingOnceMore(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	first := s.member("ann@example.com", staff.Owner)
	ann := s.unproven(first.token())
	for path, to := range map[string]string{"staff/invite": "staff", "staff/role": "staff", "staff/remove": "staff",
		"you/password": "you", "you/authenticator": "you", "you/authenticator/end": "you"} {
		a := ann.want(http.StatusSeeOther, harborConsole+path, url.Values{"email": {"x@example.com"}, "role": {"owner"},
			"password": {words}})
		if want := harborConsole + "confirm?to=" + to; a.header.Get("Location") != want {
			t.Errorf("%s leads to %q", path, a.header.Get("Location"))
		}
	}
	// A form that would be lost on the way there is not shown before.
	for _, page := range []string{"staff", "tills"} {
		body := ann.want(http.StatusOK, harborConsole+page, nil).body
		if strings.Contains(body, `name="name"`) || !strings.Contains(body, "confirm?to="+page) {
			t.Errorf("%s asks for what is lost then: %s", page, body)
		}
	}
	old := ann.token()
	ann.want(http.StatusForbidden, harborConsole+"confirm", url.Values{"password": {"wrong"}, "to": {"staff"}})
	a := ann.want(http.StatusSeeOther, harborConsole+"confirm", url.Values{"password": {words}, "to": {"staff"}})
	if a.header.Get("Location") != harborConsole+"staff" || ann.token() == old {
		t.Errorf("proving leads to %q", a.header.Get("Location"))
	}
	s.browser().take(old).want(http.StatusSeeOther, harborConsole+"you", nil)
	ann.want(http.StatusOK, harborConsole+"staff/invite", url.Values{"email": {"x@example.com"}, "role": {"manager"}})
	for _, elsewhere := range []string{"//evil.example", "https://evil.example", "/console", "..", "\\evil"} {
		a = ann.want(http.StatusSeeOther, harborConsole+"confirm", url.Values{"password": {words}, "to": {elsewhere}})
		if to := a.header.Get("Location"); to != harborConsole {
			t.Errorf("%q leads to %q", elsewhere, to)
		}
	}
}

// TestTheFirstAccount: whoever has the link of the first start makes an account by five answers, once, and is its
// owner; the till is paired by the link that the page shows, and sells.
func TestTheFirstAccount(t *testing.T) {
	t.Parallel()
	p := boontest.NewPlace(t)
	s := &service{T: t, data: p.Data, database: p.Database, logs: &boontest.Log{}}
	var links []string
	c := server.Config{First: func(link string) { links = append(links, link) }}
	s.run(c)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.run(c)
	if len(links) != 2 || strings.Contains(s.logs.String(), links[1][len(links[1])-40:]) {
		t.Fatalf("the links are %q", links)
	}
	path := func(link string) string { return link[strings.Index(link, "/console/"):] }
	b := s.browser()
	b.want(http.StatusNotFound, path(links[0]), nil) // of the earlier start
	first := path(links[1])
	b.want(http.StatusOK, first, nil)
	page := b.want(http.StatusBadRequest, first, url.Values{"currency": {"EUR"}, "zone": {"Mars/Base"}, "email": {"no"}})
	for _, told := range []string{"<p>What is the business called? This text", "<p>Time zone: This is",
		"no e-mail address"} {
		if !strings.Contains(page.body, told) {
			t.Errorf("nothing is said of %q: %s", told, page.body)
		}
	}
	answers := url.Values{"name": {"Café Nord"}, "currency": {"EUR"}, "zone": {"Europe/Berlin"}, "location": {"Hafen"},
		"till": {"Theke 1"}, "owner": {"Nora"}, "email": {"nora@example.com"}}
	page = b.want(http.StatusOK, first, answers)
	token := regexp.MustCompile(`/till/pair#([^<"]+)<`).FindStringSubmatch(page.body)
	if token == nil {
		t.Fatalf("there is no till: %s", page.body)
	}
	s.device().want(http.StatusOK, `"name":"Theke 1"`, "POST", "/till/pair", `{"token":"`+token[1]+`"}`)
	to := b.want(http.StatusSeeOther, "/console", nil).header.Get("Location")
	if page = b.want(http.StatusOK, to+"staff", nil); !strings.Contains(page.body, "nora@example.com") {
		t.Errorf("the staff are %s", page.body)
	}
	b.givesPresents(to)
	if at := s.browser().want(http.StatusSeeOther, "/console", nil).header.Get("Location"); at != to+"sign-in" {
		t.Errorf("with one account, another device is led to %q", at)
	}
	s.browser().want(http.StatusNotFound, first, nil)
	s.browser().want(http.StatusNotFound, first, answers)
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	s.run(c)
	if len(links) != 2 {
		t.Error("an installation with an account makes a link")
	}
}

// givesPresents makes a promotion in an account and sends a gift of it, on paper: nothing else has to be set up first.
// What the promotion lacks is told in words of the console.
func (b *browser) givesPresents(home string) {
	b.Helper()
	made := b.want(http.StatusOK, home+"setup/promotions/new", nil).form(b.T, "save")
	made.Set("name", "Winter")
	if saved := b.want(http.StatusOK, home+"setup/promotions/new", made); !strings.Contains(saved.body, "Winter") {
		b.Fatalf("the promotion: %s", saved.body)
	}
	promotions := b.want(http.StatusOK, home+"setup/promotions", nil).links("promotions/")
	promotion := home + "setup/" + promotions[len(promotions)-1]
	send := b.want(http.StatusOK, home+"send", nil)
	present := url.Values{"key": {"winter"}, "value": {"5"}, "to": {"paper"}, "recipient": {"Finn"}, "how": {"present"},
		"promotion": regexp.MustCompile(`<option value="([^"]+)"[^>]*>Winter<`).FindStringSubmatch(send.body)[1:]}
	refused := b.want(http.StatusBadRequest, home+"send", present).body
	for _, told := range []string{"<p>This promotion does not say for how many days", "<p>This promotion has no terms."} {
		if !strings.Contains(refused, told) {
			b.Errorf("nothing is said of %q: %s", told, refused)
		}
	}
	changed := b.want(http.StatusOK, promotion, nil).form(b.T, "save")
	changed.Set("validForDays", "30")
	changed.Set("terms.en", "One for each guest.")
	b.want(http.StatusOK, promotion, changed)
	for range 2 { // as when the button is pressed twice
		if page := b.want(http.StatusOK, home+"send", present); !strings.Contains(page.body, "/print.pdf") {
			b.Errorf("the present: %s", page.body)
		}
	}
}

// TestStaffGoByRealTime: in a test account, too, sessions, proofs, invitations and authenticators go by the service's
// clock, not by the account's, which anybody with a key of it sets.
func TestStaffGoByRealTime(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	const path = "/console/" + sandboxID + "/"
	ann := s.browser()
	ann.want(http.StatusSeeOther, s.inviteTo(sandboxID, "ann@example.com", staff.Owner), url.Values{})
	ann.want(http.StatusSeeOther, path+"you/password", url.Values{"password": {words}})
	s.advance("P30D")
	ann.want(http.StatusOK, path+"you", nil)
	page := ann.want(http.StatusOK, path+"staff/invite", url.Values{"email": {"ben@example.com"}, "role": {"manager"}})
	link := regexp.MustCompile(`/console/join/[\w-]{43}`).FindString(page.body)
	s.browser().want(http.StatusSeeOther, link, url.Values{})
	secret := regexp.MustCompile(`name="secret" value="(\w+)"`).FindStringSubmatch(
		ann.want(http.StatusOK, path+"you", nil).body)[1]
	if to := ann.want(http.StatusSeeOther, path+"you/authenticator", url.Values{"secret": {secret},
		"code": {staff.Code(secret, time.Now())}}).header.Get("Location"); to != path+"you?done=changed" {
		t.Errorf("an authenticator that is set up leads to %s", to)
	}
	ben := s.browser()
	ben.want(http.StatusForbidden, path+"sign-in", signIn("ann@example.com", words, ""))
	ben.want(http.StatusSeeOther, path+"sign-in",
		signIn("ann@example.com", words, staff.Code(secret, time.Now().Add(30*time.Second))))
	s.advance("P30D")
	stale := s.unproven(ben.token())
	if to := stale.want(http.StatusSeeOther, path+"staff/invite", url.Values{}).header.Get("Location"); !strings.Contains(
		to, "confirm") {
		t.Errorf("who proved nothing lately is led to %s", to)
	}
}
