// Package openid_test signs somebody in at a provider of OpenID Connect that is not ours: the example of zitadel/oidc,
// with its page for signing in.
package openid_test

import (
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"boon.example/internal/base/openid"
)

const (
	redirect = "http://127.0.0.1:1/console/signed-in"
	secret   = "a secret of the client"
)

// provider runs the provider, and gives a client of it.
func provider(t *testing.T) openid.Config {
	t.Helper()
	var pages http.Handler
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { pages.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	storage.RegisterClients(storage.WebClient("boon", secret, redirect))
	pages = exampleop.SetupServer(s.URL, storage.NewStorage(storage.NewUserStore(s.URL)), nil, false,
		op.WithAllowInsecure())
	return openid.Config{Issuer: s.URL, ClientID: "boon", Secret: secret, Redirect: redirect}
}

// signsIn goes to the provider, types a name and a password there, and gives what the browser brings back.
func signsIn(t *testing.T, issuer, to, password string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back url.Values
	b := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), redirect) {
			back = r.URL.Query()
			return http.ErrUseLastResponse
		}
		return nil
	}}
	page, err := b.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	at, err := url.Parse(issuer)
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"id": {page.Request.URL.Query().Get("authRequestID")}, "password": {password},
		"username": {"test-user@" + at.Hostname()}}
	if page, err = b.PostForm(issuer+"/login/username", form); err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	return back
}

// TestSomebodySignsIn: by the password that the provider knows, with the address that it verified, also where they are
// to prove it anew; a code is good once, for the client and the question that it was given to.
func TestSomebodySignsIn(t *testing.T) {
	c := provider(t)
	p := openid.New(c)
	for _, fresh := range []bool{false, true} {
		to, asked, err := p.Ask(fresh, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if back := signsIn(t, c.Issuer, to, "wrong"); back != nil {
			t.Fatalf("a wrong password brings back %v", back)
		}
		back := signsIn(t, c.Issuer, to, "verysecure")
		is, err := p.Answer(t.Context(), &asked, back, time.Now())
		if err != nil || is.Email != "test-user@zitadel.ch" || is.Subject != "id1" {
			t.Fatalf("found %+v, %v", is, err)
		}
		if fresh && time.Since(is.ProvenAt) > time.Minute {
			t.Errorf("who proved it just now did so at %v", is.ProvenAt)
		}
		if _, err := p.Answer(t.Context(), &asked, back, time.Now()); !errors.Is(err, openid.ErrUnsound) {
			t.Errorf("a code that was used is good again: %v", err)
		}
	}
}

// TestWrongClients: one that does not know its secret, and a question of which the code is another's, get nothing.
func TestWrongClients(t *testing.T) {
	c := provider(t)
	thief := c
	thief.Secret = "guessed"
	p := openid.New(thief)
	to, asked, err := p.Ask(false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if is, err := p.Answer(t.Context(), &asked, signsIn(t, c.Issuer, to, "verysecure"), time.Now()); !errors.Is(err,
		openid.ErrUnsound) {
		t.Errorf("without the secret there is %+v, %v", is, err)
	}
	p = openid.New(c)
	if to, asked, err = p.Ask(false, time.Now()); err != nil {
		t.Fatal(err)
	}
	back := signsIn(t, c.Issuer, to, "verysecure")
	asked.Verifier += "x" // of another question
	if is, err := p.Answer(t.Context(), &asked, back, time.Now()); !errors.Is(err, openid.ErrUnsound) {
		t.Errorf("with another verifier there is %+v, %v", is, err)
	}
}
