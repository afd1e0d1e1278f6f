package signin

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/base/openid"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// providerPath is where a provider of OpenID Connect sends browsers back to. It is no account's: providers want to know
// each such address.
const providerPath = desk.Path + "/signed-in"

// ProviderLink is that address, for a service that is reached at publicURL.
func ProviderLink(publicURL string) string { return strings.TrimRight(publicURL, "/") + providerPath }

// providerPages are those by which the provider of the installation says who somebody is.
func (f *pages) providerPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET " + providerPath, Outside: true, Do: f.cameBack},
		{Pattern: "GET /provider", Open: true, Do: func(r *desk.Request) (desk.View, error) {
			return f.toProvider(r, asking{Account: r.AccountID()})
		}},
		{Pattern: "GET /confirm/provider", Do: func(r *desk.Request) (desk.View, error) {
			return f.toProvider(r, asking{Account: r.Account.ID, Confirms: r.Member.ID, To: within(r.HTTP.FormValue("to"))})
		}},
		{Pattern: "POST /you/provider", Do: f.connect},
	}
}

// asking is a question to the provider that is not answered yet. The browser keeps it, sealed.
type asking struct {
	openid.Asked

	Account  guid.ID `json:"account"`
	Confirms guid.ID `json:"confirms,omitzero"`  // the member who proves once more who they are; zero: somebody signs in
	Connects bool    `json:"connects,omitempty"` // the member, who proved who they are, wants to sign in so from now on
	To       string  `json:"to,omitempty"`       // where the member was going
}

const askingProvider = "console provider"

func askingName(r *desk.Request) string { return r.CookieName() + "-provider" }

// keepQuestion has the browser keep a question. The answer comes from another site: the cookie is not a strict one.
func keepQuestion(r *desk.Request, value string, seconds int) {
	r.SetCookie(askingName(r), value, seconds, http.SameSiteLaxMode)
}

var errNoProvider = refusal.New(refusal.NotSupported, "This service has no OpenID Connect provider.")

// toProvider leads to the provider, with a question that only this browser can bring the answer to.
func (f *pages) toProvider(r *desk.Request, q asking) (desk.View, error) {
	if f.Provider == nil {
		return desk.View{}, errNoProvider
	}
	r.Leave() // it may take its time
	to, asked, err := f.Provider.Ask(!q.Confirms.IsZero(), r.Real)
	if err != nil {
		return f.notProven(r, &q, err)
	}
	q.Asked = asked
	text, err := json.Marshal(q)
	if err != nil {
		return desk.View{}, err
	}
	keepQuestion(r, base64.RawURLEncoding.EncodeToString(f.Keys.SealOnce(askingProvider, text, nil)),
		int(openid.Lasts/time.Second))
	return desk.View{To: to}, nil
}

// connect has a member who is signed in show who they are at the provider: from then on they can sign in there. Who
// signs in by something else proves so first: nobody connects an account of theirs in a session that they found.
// The page leads on by a link: a form may lead to no other site.
func (f *pages) connect(r *desk.Request) (desk.View, error) {
	if r.Member.Proves() && !r.Session.Proven(r.Real) {
		return r.ToConfirm("you"), nil
	}
	v, err := f.toProvider(r, asking{Account: r.Account.ID, Confirms: r.Member.ID, Connects: true, To: "you"})
	if err != nil || v.To == "" {
		return v, err
	}
	return desk.View{Template: "connect.html", Title: "console.you",
		Data: connecting{f.Provider.Name(), v.To, desk.Home(r.Account.ID) + "you"}}, nil
}

// connecting is what the page shows that leads to the provider: both are addresses.
type connecting struct{ Provider, To, Back string }

// question gives the question that the browser kept, and takes it from the browser.
func (f *pages) question(r *desk.Request) (q asking, err error) {
	found := r.HTTP.CookiesNamed(askingName(r))
	keepQuestion(r, "", -1)
	if len(found) != 1 {
		return q, openid.ErrStray
	}
	sealed, err := base64.RawURLEncoding.DecodeString(found[0].Value)
	if err == nil {
		sealed, err = f.Keys.OpenOnce(askingProvider, sealed, nil)
	}
	if err == nil {
		err = json.Unmarshal(sealed, &q)
	}
	if err != nil {
		return q, openid.ErrStray
	}
	return q, nil
}

// cameBack lets in whom the provider found, where the e-mail address that the provider verified is a member's.
func (f *pages) cameBack(r *desk.Request) (desk.View, error) {
	if f.Provider == nil {
		return desk.View{}, errNoProvider
	}
	q, err := f.question(r)
	if err == nil {
		r.Account = f.Directory().Accounts[q.Account]
		if !q.Confirms.IsZero() {
			if err := r.SignedIn(q.Account); err != nil && !errors.Is(err, refusal.NotFound) {
				return desk.View{}, err
			}
		}
		r.ChooseLanguage()
		var found openid.Person
		if found, err = f.Provider.Answer(r.Context(), &q.Asked, r.HTTP.URL.Query(), r.Real); err == nil {
			return f.enterFromProvider(r, &q, &found)
		}
	}
	if !errors.Is(err, openid.ErrAway) && !errors.Is(err, openid.ErrDeclined) {
		if err := r.CountAnonymous(); err != nil {
			return desk.View{}, err
		}
	}
	return f.notProven(r, &q, err)
}

var errNobody = errors.New("nobody of this e-mail address was invited")

// sameMailbox reports whether two addresses are one but for the letter case of ASCII. Unicode takes more letters for
// one, such as the Kelvin sign for a k; a provider may have verified a mailbox of that name that is somebody else's.
func sameMailbox(one, other string) bool {
	lower := func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return strings.Map(lower, one) == strings.Map(lower, strings.TrimSpace(other))
}

// enterFromProvider begins a session of the member whom the provider found, or goes on with theirs.
func (f *pages) enterFromProvider(r *desk.Request, q *asking, found *openid.Person) (desk.View, error) {
	members, err := f.Store.Members(r.Context(), q.Account)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	m, is := staff.Find(members, found.Email), f.Provider.Issuer+" "+found.Subject
	if m == nil || !sameMailbox(m.Email, found.Email) || !m.MayBe(is, q.Connects, r.Real) {
		return f.notProven(r, q, errNobody)
	}
	begun := m.Begin(device(r.HTTP.UserAgent()), r.Address(), r.Real)
	begun.Session.ProvenAt = found.ProvenAt.UTC().Truncate(time.Second)
	what := phrase.Kept("%s signed in to the console through the OpenID Connect provider")
	if !q.Confirms.IsZero() {
		if q.Confirms != m.ID || r.Member.ID != m.ID {
			return f.notProven(r, q, errNobody)
		}
		begun.Session.BegunAt, begun.Session.Device = r.Session.BegunAt, r.Session.Device
		what = "%s proved once more who they are, through the OpenID Connect provider"
	}
	if q.Connects && m.OpenID == "" {
		what = "%s connected an account at the OpenID Connect provider"
	}
	v, err := f.enterAs(r, m, &begun, what.Say(m.Name), func(now *staff.Member) error {
		if !now.MayBe(is, q.Connects, r.Real) || contact.FoldEmail(now.Email) != contact.FoldEmail(m.Email) {
			return errSignIn
		}
		if now.OpenID = is; now.JoinedAt.IsZero() {
			now.JoinedAt = begun.Session.SeenAt
		}
		return nil
	})
	if err == nil {
		v.To = desk.Home(q.Account) + within(q.To)
	}
	return v, err
}

// providerSays are the texts of what a provider did not prove, in the order in which they are looked for.
var providerSays = []struct {
	why    error
	text   string
	status int
}{
	{openid.ErrAway, "console.provider.away", http.StatusServiceUnavailable},
	{openid.ErrStray, "console.provider.stray", http.StatusForbidden},
	{openid.ErrDeclined, "console.provider.declined", http.StatusForbidden},
	{openid.ErrUnverified, "console.provider.unverified", http.StatusForbidden},
	{openid.ErrStale, "console.provider.stale", http.StatusForbidden},
	{errNobody, "console.provider.nobody", http.StatusForbidden},
}

// notProven says on the page for signing in why nobody came in. The log says more of what the operator can mend.
func (f *pages) notProven(r *desk.Request, q *asking, why error) (desk.View, error) {
	text, status := "console.provider.unsound", http.StatusForbidden
	for _, is := range providerSays {
		if errors.Is(why, is.why) {
			text, status = is.text, is.status
			break
		}
	}
	if errors.Is(why, openid.ErrAway) || errors.Is(why, openid.ErrUnsound) {
		f.Log.Warn("the OpenID Connect provider let nobody in", "request", r.RequestID, "error", why)
	}
	if r.Locale == nil {
		r.ChooseLanguage()
	}
	shown := signInForm{Account: q.Account, Wrong: r.Locale.Text(text, f.Provider.Name())}
	if q.Account.IsZero() {
		return desk.View{Template: "start.html", Title: "console.sign-in", Status: status,
			Data: f.signInForm(r, shown)}, nil
	}
	v := desk.View{Template: "signin.html", Title: "console.sign-in", Status: status}
	if !q.Confirms.IsZero() && r.Member.ID == q.Confirms {
		v.Title, shown.Confirm, shown.Email, shown.To = "console.confirm", true, r.Member.Email, q.To
	}
	v.Data = f.signInForm(r, shown)
	return v, nil
}

// signInForm is a page for signing in with all ways to do so. Whoever signs in by something else proves nothing by the
// provider before they are connected. Whoever proves once more who they are is asked only for what they have.
func (f *pages) signInForm(r *desk.Request, shown signInForm) signInForm {
	m := &r.Member
	shown.Passkeys = f.passkeys != nil && (!shown.Confirm || len(m.Passkeys) > 0)
	shown.Password = !shown.Confirm || m.Password != ""
	shown.Code = !shown.Confirm || m.TOTP != nil
	if f.Provider != nil && (!shown.Confirm || r.Member.OpenID != "" || !r.Member.Proves()) {
		shown.Provider = f.Provider.Name()
	}
	return shown
}
