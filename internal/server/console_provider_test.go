package server_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"boon.example/examples"
	"boon.example/internal/base/openid"
	"boon.example/internal/base/openid/openidtest"
	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// startWithProvider runs a service whose staff sign in with an OpenID Connect provider.
func startWithProvider(t *testing.T) (*service, *openidtest.Provider) {
	t.Helper()
	p := openidtest.Start(t)
	return start(t, server.Config{OpenID: &openid.Config{Issuer: p.URL, ClientID: openidtest.ClientID,
		Secret: openidtest.Secret}}), p
}

// toProvider goes to the provider from a page, and gives the path with which the provider sends the browser back.
func (b *browser) toProvider(path string) string {
	b.Helper()
	return b.follows(b.want(http.StatusSeeOther, path, nil).header.Get("Location"))
}

// follows goes to the provider, and gives the path with which the provider sends the browser back.
func (b *browser) follows(to string) string {
	b.Helper()
	at, err := b.Get(to)
	if err != nil {
		b.Fatal(err)
	}
	at.Body.Close()
	back, err := at.Location()
	if err != nil {
		b.Fatalf("the provider answers %d to %s", at.StatusCode, to)
	}
	return back.RequestURI()
}

func person(email string, more ...any) map[string]any {
	claims := map[string]any{"sub": "subject of " + email, "email": email, "email_verified": true}
	for n := 0; n < len(more); n += 2 {
		claims[more[n].(string)] = more[n+1]
	}
	return claims
}

// TestStaffSignInWithAProvider: who was invited comes in by the e-mail address that the provider verified, in the role
// that they were invited to, whatever the provider says of roles; later by the subject too. Nobody else does.
func TestStaffSignInWithAProvider(t *testing.T) {
	t.Parallel()
	s, p := startWithProvider(t)
	link := s.invite("Ann@example.com", staff.Bookkeeper)
	b := s.browser()
	if page := b.want(http.StatusOK, harborConsole+"sign-in", nil); !strings.Contains(page.body,
		harborConsole+"provider\">Sign in with 127.0.0.1") {
		t.Errorf("the page for signing in does not say so: %s", page.body)
	}
	p.Is(person("ann@EXAMPLE.com", "roles", []string{"owner"}, "role", "owner", "groups", []string{"owner"}))
	kept := b.want(http.StatusSeeOther, harborConsole+"provider", nil).header.Get("Set-Cookie")
	for _, want := range []string{"boon-provider=", "HttpOnly", "SameSite=Lax", "Max-Age=600"} {
		if !strings.Contains(kept, want) {
			t.Errorf("the question is kept as %s", kept)
		}
	}
	answer := b.toProvider(harborConsole + "provider")
	if a := b.want(http.StatusSeeOther, answer, nil); a.header.Get("Location") != harborConsole {
		t.Errorf("signing in leads to %s", a.header.Get("Location"))
	}
	if page := b.want(http.StatusOK, harborConsole+"you", nil); !strings.Contains(page.body, "Bookkeeper") {
		t.Errorf("she came in as %s", page.body)
	}
	b.want(http.StatusForbidden, harborConsole+"staff", nil)
	b.want(http.StatusForbidden, answer, nil) // once more
	s.browser().want(http.StatusNotFound, link, url.Values{})
	s.invite("kim@example.com", staff.Owner)
	for why, is := range map[string]map[string]any{
		"Verify it there":                    person("ann@example.com", "email_verified", false),
		"nobody of that e-mail address":      person("eve@example.com"),
		"nobody of that e-mail address may":  person("ann@example.com", "sub", "another who was given her address"),
		"nobody of that e-mail address may ": person("ann@example.com.evil.example"),
		" nobody of that e-mail address may": person("\u212aim@example.com"), // the Kelvin sign is another mailbox
	} {
		p.Is(is)
		thief := s.browser()
		if page := thief.want(http.StatusForbidden, thief.toProvider(harborConsole+"provider"), nil); !strings.Contains(
			page.body, strings.TrimSpace(why)) || thief.token() != "" {
			t.Errorf("%v: %s", is, page.body)
		}
	}
	p.Is(person("ann@example.com"))
	s.browser().want(http.StatusForbidden, b.toProvider(harborConsole+"provider"), nil) // of another browser
	other := b.toProvider("/console/0197f2a4-0000-7000-8000-000000000001/provider")
	b.want(http.StatusForbidden, other, nil) // of an account that there is not
	p.Lie(func(token jwt.MapClaims) { token["nonce"] = "another" })
	if page := b.want(http.StatusForbidden, b.toProvider(harborConsole+"provider"), nil); !strings.Contains(page.body,
		"proves nothing") || !strings.Contains(s.logs.String(), "it is to another question") {
		t.Errorf("an answer to another question: %s", page.body)
	}
	s.must("GET", "/api/integration/audit", examples.HarborOfficeKey, "", nil)
	if strings.Contains(s.logs.String(), openidtest.Secret) || strings.Contains(s.logs.String(), "example.com") {
		t.Error("the log has a secret or an address")
	}
}

// TestAProviderConfirms: it proves once more who a member is, where it says that it asked anew; and the way on stays
// within the console.
func TestAProviderConfirms(t *testing.T) {
	t.Parallel()
	s, p := startWithProvider(t)
	s.invite("ann@example.com", staff.Owner)
	s.invite("ben@example.com", staff.Owner)
	long := time.Now().Add(-time.Hour).Unix()
	b := s.browser()
	p.Is(person("ann@example.com", "auth_time", long))
	b.want(http.StatusSeeOther, b.toProvider(harborConsole+"provider"), nil)
	invite := url.Values{"email": {"cleo@example.com"}, "role": {"cashier"}}
	to := b.want(http.StatusSeeOther, harborConsole+"staff/invite", invite).header.Get("Location")
	if to != harborConsole+"confirm?to=staff" {
		t.Fatalf("who was asked an hour ago is sent to %s", to)
	}
	page := b.want(http.StatusOK, to, nil).body
	const confirm = harborConsole + "confirm/provider?to=staff"
	if !strings.Contains(page, `href="`+confirm+`"`) {
		t.Fatalf("the page to confirm does not offer the provider: %s", page)
	}
	stale := b.want(http.StatusForbidden, b.toProvider(confirm), nil)
	if !strings.Contains(stale.body, "Use your passkey or your password") {
		t.Errorf("who was not asked anew is told %s", stale.body)
	}
	p.Is(person("ben@example.com"))
	b.want(http.StatusForbidden, b.toProvider(confirm), nil) // somebody else's
	b.want(http.StatusSeeOther, harborConsole+"staff/invite", invite)
	p.Is(person("ann@example.com"))
	if a := b.want(http.StatusSeeOther, b.toProvider(confirm), nil); a.header.Get("Location") != harborConsole+"staff" {
		t.Errorf("confirming leads to %s", a.header.Get("Location"))
	}
	b.want(http.StatusOK, harborConsole+"staff/invite", invite)
	for _, elsewhere := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "..%2f..%2f"} {
		a := b.want(http.StatusSeeOther, b.toProvider(harborConsole+"confirm/provider?to="+elsewhere), nil)
		if a.header.Get("Location") != harborConsole {
			t.Errorf("%s leads to %s", elsewhere, a.header.Get("Location"))
		}
	}
}

// TestAProviderThatIsAway: the page says so, and other ways of signing in go on.
func TestAProviderThatIsAway(t *testing.T) {
	t.Parallel()
	s, p := startWithProvider(t)
	s.member("ann@example.com", staff.Manager)
	p.Stop()
	b := s.browser()
	if page := b.want(http.StatusServiceUnavailable, harborConsole+"provider", nil); !strings.Contains(page.body,
		"cannot be reached now") || !strings.Contains(page.body, `name="password"`) {
		t.Errorf("the page says %s", page.body)
	}
	b.want(http.StatusSeeOther, harborConsole+"sign-in", signIn("ann@example.com", words, ""))
	plain := start(t, server.Config{})
	plain.browser().want(http.StatusUnprocessableEntity, harborConsole+"provider", nil)
	plain.browser().want(http.StatusUnprocessableEntity, "/console/signed-in?code=x&state=y", nil)
}

// TestAnAddressThatIsGivenAway: whoever signs in by something else is nobody whom a provider knows by an address alone.
// They connect themselves, once they proved who they are; then the account there opens the console, and no other.
func TestAnAddressThatIsGivenAway(t *testing.T) {
	t.Parallel()
	s, p := startWithProvider(t)
	ann := s.member("ann@example.com", staff.Owner)
	ann.want(http.StatusOK, harborConsole+"you", nil)
	p.Is(person("ann@example.com", "sub", "who was given her address"))
	for range 2 {
		thief := s.browser()
		page := thief.want(http.StatusForbidden, thief.toProvider(harborConsole+"provider"), nil)
		if thief.token() != "" || !strings.Contains(page.body, "sign in here with a passkey or a password") {
			t.Fatalf("who has her address at the provider is told %s", page.body)
		}
	}
	page := ann.want(http.StatusOK, harborConsole+"confirm?to=you", nil).body
	if strings.Contains(page, "confirm/provider") {
		t.Error("she is offered to prove who she is by an account that is not connected")
	}
	told := ann.want(http.StatusForbidden, ann.toProvider(harborConsole+"confirm/provider"), nil).body
	if !strings.Contains(told, "nobody of that e-mail address") {
		t.Errorf("who proves once more by it is told %s", told)
	}
	const connect = harborConsole + "you/provider"
	old := s.unproven(ann.token())
	a := old.want(http.StatusSeeOther, connect, url.Values{})
	if to := a.header.Get("Location"); to != harborConsole+"confirm?to=you" {
		t.Errorf("in a session of long ago, connecting leads to %s", to)
	}
	p.Is(person("ann@example.com"))
	page = ann.want(http.StatusOK, connect, url.Values{}).body
	link := regexp.MustCompile(`href="(http[^"]*)"`).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("nothing leads to the provider: %s", page)
	}
	back := ann.follows(html.UnescapeString(link[1]))
	if a := ann.want(http.StatusSeeOther, back, nil); a.header.Get("Location") != harborConsole+"you" {
		t.Errorf("connecting leads to %s", a.header.Get("Location"))
	}
	if page := ann.want(http.StatusOK, harborConsole+"you", nil).body; !strings.Contains(page, "You are connected") {
		t.Errorf("her page says %s", page)
	}
	again := s.browser()
	again.want(http.StatusSeeOther, again.toProvider(harborConsole+"provider"), nil)
	p.Is(person("ann@example.com", "sub", "who was given her address"))
	thief := s.browser()
	thief.want(http.StatusForbidden, thief.toProvider(harborConsole+"provider"), nil)
}
