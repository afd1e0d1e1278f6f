package openid

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"boon.example/internal/base/openid/openidtest"
)

const redirect = "https://gifts.example.com/console/signed-in"

func client(p *openidtest.Provider) *Provider {
	return New(Config{Issuer: p.URL, ClientID: openidtest.ClientID, Secret: openidtest.Secret, Redirect: redirect})
}

// browse goes to the provider as a browser does, and gives what it brings back.
func browse(t *testing.T, to string) url.Values {
	t.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := c.Get(to)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	back, err := answer.Location()
	if err != nil {
		t.Fatalf("status %d: %v", answer.StatusCode, err)
	}
	if !strings.HasPrefix(back.String(), redirect+"?") {
		t.Fatalf("the browser is sent to %s", back)
	}
	return back.Query()
}

var ann = map[string]any{"sub": "u-1", "email": "ann@example.com", "email_verified": true}

// TestAPersonIsFound: by a subject and an e-mail address that the provider verified.
func TestAPersonIsFound(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	c := client(p)
	for _, names := range []bool{false, true} {
		if names {
			p.NameItself()
			c = client(p)
		}
		p.Is(ann)
		to, asked, err := c.Ask(true, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(to, "max_age=0") || !strings.Contains(to, "prompt=login") {
			t.Errorf("nobody is asked anew: %s", to)
		}
		answer := browse(t, to)
		is, err := c.Answer(t.Context(), &asked, answer, time.Now())
		if err != nil || is.Subject != "u-1" || is.Email != "ann@example.com" || time.Since(is.ProvenAt) > time.Minute {
			t.Errorf("found %+v, %v", is, err)
		}
		if _, err := c.Answer(t.Context(), &asked, answer, time.Now()); !errors.Is(err, ErrUnsound) {
			t.Errorf("a code that was used is good again: %v", err)
		}
	}
}

// TestAPersonIsToldApart: where the token has no address, the provider is asked for it, and believed about the person
// of the token alone.
func TestAPersonIsToldApart(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	c := client(p)
	p.Is(ann)
	for name, tt := range map[string]struct {
		tell func(http.ResponseWriter, map[string]any)
		want error
	}{
		"as it is":      {openidtest.Tell, nil},
		"somebody else": {told("sub", "u-2"), ErrUnsound},
		"nobody":        {told("sub", ""), ErrUnsound},
		"unverified":    {told("email_verified", false), ErrUnverified},
		"without it":    {told("email", ""), ErrUnverified},
		"not at all": {func(w http.ResponseWriter, _ map[string]any) { http.Error(w, "ann@example.com", 500) },
			ErrAway},
	} {
		p.Apart(tt.tell)
		to, asked, err := c.Ask(false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		is, err := c.Answer(t.Context(), &asked, browse(t, to), time.Now())
		if !errors.Is(err, tt.want) || (tt.want == nil) != (is.Email == "ann@example.com") ||
			err != nil && strings.Contains(err.Error(), "ann@") {
			t.Errorf("%s: %+v, %v", name, is, err)
		}
	}
}

// told tells about a person otherwise than it is.
func told(claim string, value any) func(http.ResponseWriter, map[string]any) {
	return func(w http.ResponseWriter, claims map[string]any) {
		claims[claim] = value
		openidtest.Tell(w, claims)
	}
}

// TestWhatProvesNothing: tokens of others, for others, to other questions, without a signature or with that of somebody
// else, and people for whom the provider does not vouch.
func TestWhatProvesNothing(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	c := client(p)
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	set := func(name string, value any) func(jwt.MapClaims) {
		return func(token jwt.MapClaims) {
			if token[name] = value; value == nil {
				delete(token, name)
			}
		}
	}
	sign := func(method jwt.SigningMethod, key any) func(jwt.MapClaims) (string, error) {
		return func(token jwt.MapClaims) (string, error) { return jwt.NewWithClaims(method, token).SignedString(key) }
	}
	for name, lie := range map[string]struct {
		claim func(jwt.MapClaims)
		sign  func(jwt.MapClaims) (string, error)
		want  error
	}{
		"another issuer":            {set("iss", "https://evil.example"), nil, ErrUnsound},
		"no issuer":                 {set("iss", nil), nil, ErrUnsound},
		"another audience":          {set("aud", "another client"), nil, ErrUnsound},
		"no audience":               {set("aud", nil), nil, ErrUnsound},
		"two audiences":             {set("aud", []string{openidtest.ClientID, "another client"}), nil, ErrUnsound},
		"another party":             {set("azp", "another client"), nil, ErrUnsound},
		"another nonce":             {set("nonce", "another"), nil, ErrUnsound},
		"no nonce":                  {set("nonce", nil), nil, ErrUnsound},
		"no subject":                {set("sub", ""), nil, ErrUnsound},
		"it is over":                {set("exp", time.Now().Add(-time.Hour).Unix()), nil, ErrUnsound},
		"it never ends":             {set("exp", nil), nil, ErrUnsound},
		"no signature":              {nil, sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType), ErrUnsound},
		"signed with the secret":    {nil, sign(jwt.SigningMethodHS256, []byte(openidtest.Secret)), ErrUnsound},
		"signed by somebody else":   {nil, sign(jwt.SigningMethodES256, other), ErrUnsound},
		"no token":                  {nil, func(jwt.MapClaims) (string, error) { return "", nil }, ErrUnsound},
		"an address not verified":   {set("email_verified", false), nil, ErrUnverified},
		"nothing said of verifying": {set("email_verified", nil), nil, ErrUnverified},
		"an odd word for verified":  {set("email_verified", "yes"), nil, ErrUnverified},
		"no address":                {set("email", nil), nil, ErrUnverified},
		"asked long ago":            {set("auth_time", time.Now().Add(-time.Hour).Unix()), nil, ErrStale},
		"nothing said of asking":    {set("auth_time", nil), nil, ErrStale},
		"in truth":                  {nil, nil, nil},
	} {
		p.Is(ann)
		p.Lie(lie.claim)
		p.Sign(lie.sign)
		to, asked, err := c.Ask(true, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if is, err := c.Answer(t.Context(), &asked, browse(t, to), time.Now()); !errors.Is(err, lie.want) {
			t.Errorf("%s: found %+v, %v, want %v", name, is, err, lie.want)
		}
	}
}

// TestStrayAnswers: those to another question, those that come late, those of another provider, and those that decline.
func TestStrayAnswers(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	p.Is(ann)
	p.NameItself()
	c := client(p)
	for name, is := range map[string]struct {
		change func(a *Asked, q url.Values)
		later  time.Duration
		want   error
	}{
		"another state":        {func(_ *Asked, q url.Values) { q.Set("state", "another") }, 0, ErrStray},
		"no state":             {func(a *Asked, q url.Values) { a.State = ""; q.Del("state") }, 0, ErrStray},
		"late":                 {nil, 11 * time.Minute, ErrStray},
		"early":                {nil, -time.Minute, ErrStray},
		"another provider":     {func(_ *Asked, q url.Values) { q.Set("iss", "https://evil.example") }, 0, ErrUnsound},
		"no provider":          {func(_ *Asked, q url.Values) { q.Del("iss") }, 0, ErrUnsound},
		"declined":             {func(_ *Asked, q url.Values) { q.Set("error", "access_denied") }, 0, ErrDeclined},
		"no code":              {func(_ *Asked, q url.Values) { q.Del("code") }, 0, ErrDeclined},
		"another code":         {func(_ *Asked, q url.Values) { q.Set("code", "another") }, 0, ErrUnsound},
		"a stolen code":        {func(a *Asked, _ url.Values) { a.Verifier = strings.Repeat("v", 43) }, 0, ErrUnsound},
		"the nonce of another": {func(a *Asked, _ url.Values) { a.Nonce = "another" }, 0, ErrUnsound},
	} {
		to, asked, err := c.Ask(false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		answer := browse(t, to)
		if is.change != nil {
			is.change(&asked, answer)
		}
		if found, err := c.Answer(t.Context(), &asked, answer, time.Now().Add(is.later)); !errors.Is(err, is.want) {
			t.Errorf("%s: found %+v, %v, want %v", name, found, err, is.want)
		}
	}
}

// TestAProviderThatIsAway is asked again later, and is no other one: what answers under its address must be it.
func TestAProviderThatIsAway(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	p.Is(ann)
	c := client(p)
	to, asked, err := c.Ask(false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	answer := browse(t, to)
	p.Stop()
	if _, err := c.Answer(t.Context(), &asked, answer, time.Now()); !errors.Is(err, ErrAway) {
		t.Errorf("a provider that is away: %v", err)
	}
	if _, _, err := client(p).Ask(false, time.Now()); !errors.Is(err, ErrAway) {
		t.Errorf("a provider that was never there: %v", err)
	}
	real := openidtest.Start(t)
	mixed := New(Config{Issuer: strings.Replace(real.URL, "127.0.0.1", "localhost", 1), ClientID: openidtest.ClientID})
	if _, _, err := mixed.Ask(false, time.Now()); !errors.Is(err, ErrAway) {
		t.Errorf("a provider under the address of another is taken: %v", err)
	}
}

// TestAProviderThatFails: what it writes then is in no error, as errors are logged.
func TestAProviderThatFails(t *testing.T) {
	t.Parallel()
	p := openidtest.Start(t)
	p.Is(ann)
	c := client(p)
	answer := func() error {
		t.Helper()
		to, asked, err := c.Ask(false, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Answer(t.Context(), &asked, browse(t, to), time.Now())
		return err
	}
	if err := answer(); err != nil { // from now on the client knows how the provider takes the secret
		t.Fatal(err)
	}
	p.Sign(func(jwt.MapClaims) (string, error) { return "", errors.New("something that repeats a code") })
	if err := answer(); !errors.Is(err, ErrAway) || strings.Contains(err.Error(), "repeats") ||
		!strings.Contains(err.Error(), "500") {
		t.Errorf("a provider that fails: %v", err)
	}
}

// TestCheck: an issuer is an address over TLS, but for one of this machine.
func TestCheck(t *testing.T) {
	t.Parallel()
	for issuer, right := range map[string]bool{"https://login.example.com": true,
		"https://login.example.com/tenant/": true,
		"http://127.0.0.1:8080":             true, "http://localhost": true, "http://login.example.com": false, "": false,
		"login.example.com": false, "https://login.example.com?x=1": false, "https://a:b@login.example.com": false} {
		if err := (&Config{Issuer: issuer, ClientID: "boon"}).Check(); (err == nil) != right {
			t.Errorf("%q: %v", issuer, err)
		}
	}
	if (&Config{Issuer: "https://login.example.com"}).Check() == nil {
		t.Error("a client without an id is right")
	}
}
