package signin

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// passkeysFor are the passkeys of a service that is reached at an address: those of its host. Nil: it has none, as its
// host is no name, or browsers keep no passkeys of it.
func passkeysFor(publicURL string) *webauthn.WebAuthn {
	u, err := url.Parse(publicURL)
	if err != nil || u.Scheme != "https" && u.Hostname() != "localhost" {
		return nil
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		return nil
	}
	limit := webauthn.TimeoutConfig{Enforce: true, Timeout: ceremony, TimeoutUVD: ceremony}
	w, err := webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: "Boon",
		RPOrigins:             []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired},
		Timeouts: webauthn.TimeoutsConfig{Login: limit, Registration: limit}})
	if err != nil {
		return nil
	}
	return w
}

// ceremony is how long somebody may take to show a passkey.
const ceremony = 5 * time.Minute

// passkeyUser is a member as package webauthn asks for one. The handle names the account too.
type passkeyUser struct{ staff.Member }

// WebAuthnID implements webauthn.User.
func (u passkeyUser) WebAuthnID() []byte { return slices.Concat(u.AccountID[:], u.ID[:]) }

// WebAuthnName implements webauthn.User.
func (u passkeyUser) WebAuthnName() string { return u.Email }

// WebAuthnDisplayName implements webauthn.User.
func (u passkeyUser) WebAuthnDisplayName() string { return u.Name }

// WebAuthnCredentials implements webauthn.User. What does not read is no passkey.
func (u passkeyUser) WebAuthnCredentials() (all []webauthn.Credential) {
	for _, p := range u.Passkeys {
		var c webauthn.Credential
		if json.Unmarshal(p.Credential, &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// What a ceremony is for. That of one is of no use in the other.
const (
	addingPasskey  = "console passkey add"
	showingPasskey = "console passkey show"
)

func ceremonyName(r *desk.Request) string { return r.CookieName() + "-passkey" }

// remember keeps the challenge of a ceremony in the browser, sealed for its purpose and account.
func (f *pages) remember(r *desk.Request, purpose string, s *webauthn.SessionData) error {
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keeping the challenge for a passkey: %w", err)
	}
	account := r.AccountID()
	value := base64.RawURLEncoding.EncodeToString(f.Keys.SealOnce(purpose, text, account[:]))
	sendCeremony(r, value, int(ceremony/time.Second))
	return nil
}

func sendCeremony(r *desk.Request, value string, seconds int) {
	r.SetCookie(ceremonyName(r), value, seconds, http.SameSiteStrictMode)
}

// recall gives the challenge that remember kept, and takes it from the browser.
func (f *pages) recall(r *desk.Request, purpose string) (s webauthn.SessionData, err error) {
	found := r.HTTP.CookiesNamed(ceremonyName(r))
	sendCeremony(r, "", -1)
	if len(found) != 1 {
		return s, errPasskey
	}
	account := r.AccountID()
	sealed, err := base64.RawURLEncoding.DecodeString(found[0].Value)
	if err == nil {
		sealed, err = f.Keys.OpenOnce(purpose, sealed, account[:])
	}
	if err == nil {
		err = json.Unmarshal(sealed, &s)
	}
	if err != nil {
		return s, errPasskey
	}
	return s, nil
}

var (
	errPasskey = refusal.New(refusal.ValidationFailure,
		"This passkey was not taken: it is none of yours here, or it took too long. Try again.")
	errNoPasskeys = refusal.New(refusal.NotSupported, "This service has no passkeys: it is reached by no name of a host "+
		"over TLS.")
)

// offerPasskeys asks a browser for a passkey of anybody.
func (f *pages) offerPasskeys(r *desk.Request) (desk.View, error) {
	if f.passkeys == nil {
		return desk.View{}, errNoPasskeys
	}
	options, s, err := f.passkeys.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return desk.View{}, fmt.Errorf("asking for a passkey: %w", err)
	}
	return desk.View{JSON: options}, f.remember(r, showingPasskey, s)
}

// showPasskey lets in who shows a passkey. For a member who is signed in it proves once more who they are.
func (f *pages) showPasskey(r *desk.Request) (desk.View, error) {
	v, err := f.takePasskey(r)
	refused, is := errors.AsType[*refusal.Error](err)
	if !is || refused.Code != refusal.ValidationFailure {
		return v, err
	}
	if err := r.CountAnonymous(); err != nil {
		return desk.View{}, err
	}
	return desk.View{Template: "signin.html", Title: "console.sign-in", Status: http.StatusForbidden,
		Data: f.signInForm(r, signInForm{Account: r.AccountID(), Wrong: r.Locale.Text("console.passkey.failed")})}, nil
}

func (f *pages) takePasskey(r *desk.Request) (desk.View, error) {
	if f.passkeys == nil {
		return desk.View{}, errNoPasskeys
	}
	s, err := f.recall(r, showingPasskey)
	if err != nil {
		return desk.View{}, err
	}
	shown, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.HTTP.PostForm.Get("credential")))
	if err != nil {
		return desk.View{}, errPasskey
	}
	var away error
	account := r.AccountID()
	found, credential, err := f.passkeys.ValidatePasskeyLogin(func(_, handle []byte) (webauthn.User, error) {
		members, err := f.Store.Members(r.Context(), account)
		if away = err; err != nil {
			return nil, err
		}
		at := slices.IndexFunc(members, func(m staff.Member) bool {
			return bytes.Equal(passkeyUser{m}.WebAuthnID(), handle)
		})
		if at < 0 {
			return nil, errPasskey
		}
		return passkeyUser{members[at]}, nil
	}, s, shown)
	if away != nil {
		return desk.View{}, service.Stored(away)
	}
	if err != nil || credential.Authenticator.CloneWarning {
		return desk.View{}, errPasskey
	}
	user, ok := found.(passkeyUser)
	if !ok {
		return desk.View{}, errPasskey
	}
	return f.enterWithPasskey(r, &user.Member, credential, s.Expires.Add(-ceremony))
}

// enterWithPasskey begins a session, or goes on with one that is proven now.
func (f *pages) enterWithPasskey(r *desk.Request, m *staff.Member, credential *webauthn.Credential,
	askedAt time.Time) (desk.View, error) {
	kept, err := json.Marshal(credential)
	if err != nil {
		return desk.View{}, fmt.Errorf("keeping a passkey: %w", err)
	}
	begun, to := m.Begin(device(r.HTTP.UserAgent()), r.Address(), r.Real), ""
	switch err := r.SignedIn(m.AccountID); {
	case err == nil && r.Member.ID == m.ID:
		begun.Session.BegunAt, to = r.Session.BegunAt, within(r.HTTP.PostForm.Get("to"))
	case err != nil && !errors.Is(err, refusal.NotFound):
		return desk.View{}, err
	}
	const what phrase.Kept = "%s signed in to the console with a passkey"
	v, err := f.enterAs(r, m, &begun, what.Say(m.Name), func(is *staff.Member) error {
		at := slices.IndexFunc(is.Passkeys, func(p staff.Passkey) bool { return bytes.Equal(p.ID, credential.ID) })
		is.Passkeys = slices.Clone(is.Passkeys)
		if at < 0 || !is.Passkeys[at].Use(askedAt, kept) {
			return errPasskey
		}
		return nil
	})
	if err == nil {
		v.To = desk.Home(m.AccountID) + to
	}
	return v, err
}

// askForPasskey asks the member's browser to make a passkey.
func (f *pages) askForPasskey(r *desk.Request) (desk.View, error) {
	if f.passkeys == nil {
		return desk.View{}, errNoPasskeys
	}
	if r.Member.Proves() && !r.Session.Proven(r.Real) {
		return r.ToConfirm("you"), nil
	}
	user := passkeyUser{r.Member}
	options, s, err := f.passkeys.BeginRegistration(user,
		webauthn.WithExclusions(webauthn.Credentials(user.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return desk.View{}, fmt.Errorf("asking for a new passkey: %w", err)
	}
	return desk.View{JSON: options}, f.remember(r, addingPasskey, s)
}

// maxPasskeys is how many a member may have.
const maxPasskeys = 10

// addPasskey keeps the passkey that the browser made.
func (f *pages) addPasskey(r *desk.Request) (desk.View, error) {
	if f.passkeys == nil {
		return desk.View{}, errNoPasskeys
	}
	s, err := f.recall(r, addingPasskey)
	if err != nil {
		return f.youAfter(r, err)
	}
	made, err := protocol.ParseCredentialCreationResponseBytes([]byte(r.HTTP.PostForm.Get("credential")))
	if err != nil {
		return f.youAfter(r, errPasskey)
	}
	credential, err := f.passkeys.CreateCredential(passkeyUser{r.Member}, s, made)
	if err != nil {
		return f.youAfter(r, errPasskey)
	}
	kept, err := json.Marshal(credential)
	if err != nil {
		return desk.View{}, fmt.Errorf("keeping a passkey: %w", err)
	}
	return f.change(r, "%s added a passkey", func(m *staff.Member) error {
		switch {
		case m.Proves() && !r.Session.Proven(r.Real):
			return desk.ErrNotForYou
		case len(m.Passkeys) >= maxPasskeys:
			return refusal.New(refusal.ValidationFailure, "You have %d passkeys. Remove one first.", maxPasskeys)
		}
		m.Passkeys = append(slices.Clone(m.Passkeys), staff.Passkey{ID: credential.ID, Credential: kept,
			Device: device(r.HTTP.UserAgent()), AddedAt: r.Real.UTC().Truncate(time.Second)})
		return nil
	})
}

// removePasskey takes a passkey of the member away, such as that of a lost phone.
func (f *pages) removePasskey(r *desk.Request) (desk.View, error) {
	id, err := hex.DecodeString(r.HTTP.PostForm.Get("passkey"))
	if err != nil {
		return desk.View{}, desk.ErrNoPage
	}
	return f.change(r, "%s removed a passkey", func(m *staff.Member) error {
		m.Passkeys = slices.DeleteFunc(slices.Clone(m.Passkeys), func(p staff.Passkey) bool { return bytes.Equal(p.ID, id) })
		return nil
	})
}

// Keys seal what browsers keep for a while.
type Keys interface {
	SealOnce(domain string, plain, record []byte) []byte
	OpenOnce(domain string, sealed, record []byte) ([]byte, error)
}
