// Package openid asks a provider of OpenID Connect who somebody is: code flow, PKCE with S256, state and nonce. It
// knows no accounts and no roles, and takes from the provider nothing but a subject, an e-mail address that the
// provider verified, and when the person proved to the provider who they are.
//
// # Invariants
//
//  1. An answer counts only beside the Asked that its question made. Who calls keeps that with the browser that asked.
//  2. A token counts only if the provider's own keys signed it, by an algorithm of public keys, for this client alone,
//     with the nonce of the question.
package openid

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Config says which provider is asked, and as which client.
type Config struct {
	Issuer   string
	ClientID string
	Secret   string // "": the client has none
	Redirect string // where the provider sends the browser back to
}

// Check says what is wrong with a configuration.
func (c *Config) Check() error {
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return errors.New("the issuer is an address such as https://login.example.com")
	}
	address, _ := netip.ParseAddr(u.Hostname())
	if loopback := address.IsLoopback() || u.Hostname() == "localhost"; u.Scheme != "https" &&
		(u.Scheme != "http" || !loopback) {
		return errors.New("the issuer must begin with https://")
	}
	if c.ClientID == "" {
		return errors.New("the issuer needs a client id")
	}
	return nil
}

// Why nobody was told who somebody is.
var (
	// ErrAway means that the provider could not be asked.
	ErrAway = errors.New("the OpenID Connect provider could not be asked")
	// ErrStray means that the answer is not the one to this question, or came too late.
	ErrStray = errors.New("the answer is to another question, or too late")
	// ErrDeclined means that the provider, or the person there, said no.
	ErrDeclined = errors.New("the OpenID Connect provider did not sign in")
	// ErrUnsound means that the answer proves nothing.
	ErrUnsound = errors.New("the answer of the OpenID Connect provider does not hold")
	// ErrUnverified means that the provider did not verify an e-mail address of the person.
	ErrUnverified = errors.New("the OpenID Connect provider vouches for no e-mail address")
	// ErrStale means that the provider did not ask the person anew who they are, or does not say when it did.
	ErrStale = errors.New("the OpenID Connect provider did not ask anew")
)

const (
	within   = 10 * time.Second // for one request to the provider
	restFor  = 5 * time.Second  // after the provider could not be found
	maxBytes = 1 << 20          // of one answer of the provider
	skew     = 30 * time.Second // between the provider's clock and this one
)

// Lasts is how long somebody may take from the question to the answer.
const Lasts = 10 * time.Minute

// Provider asks. It finds out where to ask when it is asked first.
type Provider struct {
	Config
	client *http.Client

	mu     sync.Mutex
	found  *endpoints // nil: not yet
	failed time.Time  // when it could not be found
}

// endpoints are what a provider tells of itself.
type endpoints struct {
	is       *oidc.Provider
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	signs    bool // its answers name it (RFC 9207)
}

// New makes one from a configuration that is right. Nobody is asked yet.
func New(c Config) *Provider {
	return &Provider{Config: c, client: &http.Client{Timeout: within, Transport: short{http.DefaultTransport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// Name is how people know the provider: its host.
func (p *Provider) Name() string {
	u, err := url.Parse(p.Issuer)
	if err != nil {
		return p.Issuer
	}
	return u.Hostname()
}

// find asks the provider where its endpoints are, once.
func (p *Provider) find() (*endpoints, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if time.Since(p.failed) < restFor {
		return nil, ErrAway
	}
	// It serves whoever comes later too, so that it does not end with whoever came first. The client has its timeout.
	ctx := oidc.ClientContext(context.Background(), p.client)
	is, err := oidc.NewProvider(ctx, p.Issuer)
	if err != nil {
		p.failed = time.Now()
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	var claims struct {
		Signs bool `json:"authorization_response_iss_parameter_supported"`
	}
	if err := is.Claims(&claims); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	p.found = &endpoints{is: is, signs: claims.Signs,
		verifier: is.VerifierContext(ctx, &oidc.Config{ClientID: p.ClientID}),
		oauth: oauth2.Config{ClientID: p.ClientID, ClientSecret: p.Secret, RedirectURL: p.Redirect,
			Endpoint: is.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"}}}
	return p.found, nil
}

// Asked is a question that is not answered yet. The browser that asked keeps it, where nobody else reads or changes it.
type Asked struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	At       time.Time `json:"at"`
	Fresh    bool      `json:"fresh,omitempty"` // the person shall prove anew who they are
}

// Ask gives the address to which a browser goes with a question.
func (p *Provider) Ask(fresh bool, now time.Time) (to string, a Asked, err error) {
	found, err := p.find()
	if err != nil {
		return "", a, err
	}
	a = Asked{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(),
		At: now, Fresh: fresh}
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if fresh {
		options = append(options, oauth2.SetAuthURLParam("max_age", "0"), oauth2.SetAuthURLParam("prompt", "login"))
	}
	return found.oauth.AuthCodeURL(a.State, options...), a, nil
}

// Person is whom the provider found.
type Person struct {
	Subject  string // what the provider calls them, for good
	Email    string // which it verified
	ProvenAt time.Time
}

// claims are what is read of a token.
type claims struct {
	Email    string          `json:"email"`
	Verified json.RawMessage `json:"email_verified"` // some providers write "true"
	AuthTime int64           `json:"auth_time"`
	Party    string          `json:"azp"`
}

// Answer finds out who somebody is from the parameters with which a browser came back.
func (p *Provider) Answer(ctx context.Context, a *Asked, answer url.Values, now time.Time) (is Person, err error) {
	found, err := p.find()
	if err != nil {
		return is, err
	}
	if late := now.Sub(a.At); late > Lasts || late < -skew || a.State == "" ||
		subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(a.State)) != 1 {
		return is, ErrStray
	}
	if issuer := answer.Get("iss"); issuer != p.Issuer && (found.signs || issuer != "") {
		return is, fmt.Errorf("%w: it comes from another provider", ErrUnsound)
	}
	if answer.Get("error") != "" || answer.Get("code") == "" {
		return is, ErrDeclined
	}
	ctx = oidc.ClientContext(ctx, p.client)
	given, token, err := p.redeem(ctx, found, a, answer.Get("code"))
	if err != nil {
		return is, err
	}
	var c claims
	if err := token.Claims(&c); err != nil {
		return is, fmt.Errorf("%w: %w", ErrUnsound, err)
	}
	if c.Email == "" {
		if err := c.ask(ctx, found, given, token.Subject); err != nil {
			return is, err
		}
	}
	return p.read(token, &c, a, now)
}

// ask asks the provider itself for the address of the person, where the token has none: a provider need not put it in
// (OpenID Connect Core, section 5.4).
func (c *claims) ask(ctx context.Context, found *endpoints, given *oauth2.Token, subject string) error {
	if found.is.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := found.is.UserInfo(ctx, oauth2.StaticTokenSource(given))
	if err != nil {
		return fmt.Errorf("%w: it does not tell about the person", ErrAway) // its words may be long, and have an address
	}
	if info.Subject != subject {
		return fmt.Errorf("%w: it tells about somebody else", ErrUnsound)
	}
	c.Email, c.Verified = info.Email, json.RawMessage(strconv.FormatBool(info.EmailVerified))
	return nil
}

// redeem gives the code back for a token, and proves that the token is the provider's, for this client and question.
func (p *Provider) redeem(ctx context.Context, found *endpoints, a *Asked, code string) (*oauth2.Token, *oidc.IDToken,
	error) {
	given, err := found.oauth.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is { // its words may be long, and repeat the code
		if status := refused.Response.StatusCode; status >= http.StatusInternalServerError {
			return nil, nil, fmt.Errorf("%w: it answers the code with status %d", ErrAway, status)
		}
		return nil, nil, fmt.Errorf("%w: the code is good for nothing: %.60s", ErrUnsound, refused.ErrorCode)
	} else if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	raw, _ := given.Extra("id_token").(string)
	token, err := found.verifier.Verify(ctx, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnsound, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(a.Nonce)) != 1 {
		return nil, nil, fmt.Errorf("%w: it is to another question", ErrUnsound)
	}
	return given, token, nil
}

// read takes from a token, and its claims, what they say of the person.
func (p *Provider) read(token *oidc.IDToken, c *claims, a *Asked, now time.Time) (is Person, err error) {
	if len(token.Audience) > 1 && c.Party == "" || c.Party != "" && c.Party != p.ClientID || token.Subject == "" {
		return is, fmt.Errorf("%w: the token is not for this client alone", ErrUnsound)
	}
	if verified := strings.Trim(string(c.Verified), `"`); verified != "true" || c.Email == "" {
		return is, ErrUnverified
	}
	is = Person{Subject: token.Subject, Email: c.Email}
	if c.AuthTime > 0 {
		is.ProvenAt = time.Unix(c.AuthTime, 0)
	}
	if is.ProvenAt.After(now) {
		is.ProvenAt = now
	}
	if a.Fresh && is.ProvenAt.Before(a.At.Add(-skew)) {
		return is, ErrStale
	}
	return is, nil
}

// short reads no answer that is too long.
type short struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s short) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxBytes), answer.Body}
	}
	return answer, err
}
