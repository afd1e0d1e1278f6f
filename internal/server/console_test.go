package server_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
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
	account, err := guid.Parse(examples.HarborAccount)
	if err != nil {
		s.Fatal(err)
	}
	token := staff.NewToken()
	s.withStore(func(db *store.Store) error {
		d, err := db.Directory(s.Context())
		if err != nil {
			return err
		}
		return db.ChangeStaff(s.Context(), account, func(members []staff.Member) (c staff.Changes, err error) {
			m := staff.Member{}
			if known := staff.Find(members, email); known != nil {
				m, c.EndSessions = *known, []guid.ID{known.ID}
			} else if m, err = staff.Hire(d.Accounts[account], members, staff.Member{Email: email, Role: role},
				time.Now()); err != nil {
				return c, err
			}
			c.Save, c.Invite = []staff.Member{m}, &staff.Invited{Invitation: m.Invite(time.Now()), Token: token}
			return c, nil
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
	page := b.want(http.StatusOK, harborConsole, nil)
	if !strings.Contains(page.body, "ann") || !strings.Contains(page.body, "This device, now") {
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

// TestASessionThatIsOver opens nothing: for whoever has a copy of its cookie, after signing out, after it was ended
// elsewhere, and after a new invitation of the same person.
func TestASessionThatIsOver(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	over := func(how string, b *browser, end func(*browser)) {
		t.Helper()
		thief := s.browser().take(b.token())
		thief.want(http.StatusOK, harborConsole, nil)
		end(b)
		if a := thief.ask(harborConsole, nil); a.status != http.StatusSeeOther {
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
	ben.want(http.StatusSeeOther, harborConsole+"sessions/end", url.Values{"session": {id(ann)}})
	ann.want(http.StatusOK, harborConsole, nil)
	ann.want(http.StatusSeeOther, harborConsole+"sessions/end", url.Values{"session": {id(ann)}})
	ann.want(http.StatusSeeOther, harborConsole, nil)
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
		s.browser().take(planted).want(http.StatusSeeOther, harborConsole, nil)
	}
}

// TestOtherOriginsDoNothingInTheConsole: no form of another origin is taken, on whatever address; and no page of the
// console is framed, runs something inline, or loads anything from another host.
func TestOtherOriginsDoNothingInTheConsole(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	ann, link := s.joined("ann@example.com", staff.Owner), s.invite("ben@example.com", staff.Owner)
	for _, path := range []string{link, harborConsole + "sign-out", harborConsole + "sessions/end",
		harborConsole + "nothing"} {
		for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"}, {"Origin", "null"}} {
			ann.want(http.StatusForbidden, path, url.Values{}, foreign...)
		}
	}
	inline := regexp.MustCompile(`(?i)<script>|<style|\sstyle=|\son[a-z]+=|javascript:|(src|href)="https?:`)
	for _, path := range []string{harborConsole, harborConsole + "sign-in", link, harborConsole + "nothing",
		"/console/join/x"} {
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
