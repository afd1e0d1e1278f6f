// Package openidtest is a provider of OpenID Connect for tests: a real one, over HTTP, that holds clients to PKCE, lets
// each code be used once, and can be told to lie.
package openidtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// What a client is known by here.
const (
	ClientID = "boon"
	Secret   = "the secret of the client"
)

// Provider signs in whoever comes as one person.
type Provider struct {
	URL string

	mu     sync.Mutex
	key    *ecdsa.PrivateKey
	person map[string]any      // claims
	lie    func(jwt.MapClaims) // changes a token before it is signed; nil: nothing does
	sign   func(jwt.MapClaims) (string, error)
	names  bool                                               // it names itself in answers
	apart  func(w http.ResponseWriter, claims map[string]any) // tells about the person beside the token; nil: nothing does
	asked  map[string]url.Values
	server *httptest.Server
}

// Start runs a provider until the test ends.
func Start(t *testing.T) *Provider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{key: key, asked: map[string]url.Values{}}
	p.sign = p.Signed
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.tell)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	p.server = httptest.NewServer(mux)
	p.URL = p.server.URL
	t.Cleanup(p.server.Close)
	return p
}

// Stop has the provider be away.
func (p *Provider) Stop() { p.server.Close() }

// Is says who signs in from now on: claims, such as sub and email.
func (p *Provider) Is(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = claims
}

// Lie changes tokens before they are signed; nil ends that.
func (p *Provider) Lie(how func(jwt.MapClaims)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lie = how
}

// Sign signs tokens in another way; nil: in the right one.
func (p *Provider) Sign(how func(jwt.MapClaims) (string, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sign = how; how == nil {
		p.sign = p.Signed
	}
}

// NameItself has the provider name itself in its answers, and say that it does.
func (p *Provider) NameItself() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names = true
}

// Apart has the tokens tell nothing of the person but the subject: the e-mail address is told by how, to whoever shows
// the access token (OpenID Connect Core, section 5.3).
func (p *Provider) Apart(how func(w http.ResponseWriter, claims map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apart = how
}

// Tell tells about a person as a provider does.
func Tell(w http.ResponseWriter, claims map[string]any) { write(w, claims) }

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer A":
		http.Error(w, "no", http.StatusUnauthorized)
	case p.apart == nil:
		write(w, map[string]any{"sub": p.person["sub"]})
	default:
		p.apart(w, maps.Clone(p.person))
	}
}

// Signed is a token with the provider's own signature.
func (p *Provider) Signed(claims jwt.MapClaims) (string, error) {
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = "one"
	return token.SignedString(p.key)
}

func (p *Provider) tell(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	write(w, map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize",
		"userinfo_endpoint": p.URL + "/userinfo",
		"token_endpoint":    p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"id_token_signing_alg_values_supported":          []string{"none", "HS256", "ES256"},
		"authorization_response_iss_parameter_supported": p.names})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	public, err := p.key.PublicKey.Bytes() // 4, X, Y
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	text := base64.RawURLEncoding.EncodeToString
	write(w, map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256",
		"kid": "one", "x": text(public[1:33]), "y": text(public[33:])}}})
}

func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("state") == "" ||
		q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43 || len(q.Get("nonce")) < 43 {
		http.Error(w, "not a question: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.asked[code] = q
	answer := url.Values{"code": {code}, "state": {q.Get("state")}}
	if p.names {
		answer.Set("iss", p.URL)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.asked[r.FormValue("code")]
	delete(p.asked, r.FormValue("code")) // good once
	id, secret, _ := r.BasicAuth()
	proof := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if secret, _ = url.QueryUnescape(secret); q == nil || id != ClientID || secret != Secret ||
		base64.RawURLEncoding.EncodeToString(proof[:]) != q.Get("code_challenge") ||
		r.FormValue("redirect_uri") != q.Get("redirect_uri") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	now := time.Now()
	claims := jwt.MapClaims{"iss": p.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
		"nonce": q.Get("nonce"), "auth_time": now.Unix()}
	maps.Copy(claims, p.person)
	if p.apart != nil {
		delete(claims, "email")
		delete(claims, "email_verified")
	}
	if p.lie != nil {
		p.lie(claims)
	}
	signed, err := p.sign(claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, map[string]any{"access_token": "A", "token_type": "Bearer", "id_token": signed})
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
