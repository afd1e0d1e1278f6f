package signin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/phrase"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/contact"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// Wrong sign-ins slow down: those under a name from one network, those under a name from everywhere, and those from a
// network. A device from which somebody signed in before has an allowance of its own for that name, so that whoever
// tries passwords elsewhere keeps nobody out. What is beyond an allowance is not looked at, and costs nothing further.
const (
	ofPair    = "pair"
	ofDevice  = "device"
	ofName    = "name"
	ofNetwork = "network"
)

func signInRate(under string) ratelimit.Rate {
	switch kind, _, _ := strings.Cut(under, " "); kind {
	case ofName:
		return ratelimit.Rate{Burst: 50, Refill: 20 * time.Second}
	case ofNetwork:
		return ratelimit.Rate{Burst: 100, Refill: 10 * time.Second}
	}
	return ratelimit.Rate{Burst: 5, Refill: time.Minute}
}

// wrongSignIns keeps the allowances.
type wrongSignIns struct{ Store }

// Bucket implements ratelimit.Records.
func (w wrongSignIns) Bucket(ctx context.Context, under string) (ratelimit.Bucket, error) {
	return w.SignInBucket(ctx, under)
}

// Take implements ratelimit.Records. Whoever hangs up now has tried all the same.
func (w wrongSignIns) Take(ctx context.Context, under string, n int) (ratelimit.Bucket, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return w.CountSignIn(ctx, under, signInRate(under), time.Now(), n)
}

// passwordsAtOnce is how many passwords are checked at the same time. They have places of their own: those of tills'
// PINs never wait for them.
const passwordsAtOnce = 2

var (
	errSignIn  = refusal.New(refusal.NotAuthorized, "E-mail address, password or code is wrong.")
	errTooMany = refusal.New(refusal.RateLimited, "Too many wrong sign-ins were tried. Wait a minute, then try again.")
)

// signInForm is what the sign-in page shows.
type signInForm struct {
	Account  guid.ID
	Wrong    string // why the last one was refused; "": it is the first
	Email    string
	Passkeys bool   // there may be some
	Password bool   // there may be one
	Code     bool   // and an authenticator beside it
	Provider string // the OpenID Connect provider of the installation; "": there is none
	Confirm  bool   // the member proves once more who they are
	To       string
}

// showSignIn shows how to come in. It says the same of every account, whether there is one or not.
func (f *pages) showSignIn(r *desk.Request) (desk.View, error) {
	return desk.View{Template: "signin.html", Title: "console.sign-in", Data: f.signInForm(r, signInForm{
		Account: r.AccountID()})}, nil
}

// signIn lets in who knows the password of a member, and the code of the authenticator where there is one. What is
// wrong is answered alike, and takes as long, whatever was wrong and whoever is a member.
func (f *pages) signIn(r *desk.Request) (desk.View, error) {
	account, form := r.AccountID(), r.HTTP.PostForm
	email := form.Get("email")
	m, err := f.prove(r, account, email, form.Get("password"), form.Get("code"))
	if refused, is := errors.AsType[*refusal.Error](err); is && refused.Code != refusal.Unavailable {
		return desk.View{Template: "signin.html", Title: "console.sign-in", Status: refused.Code.Status(),
			Data: f.signInForm(r, signInForm{Account: account, Wrong: wrongSignIn(r, refused), Email: email})}, nil
	}
	if err != nil {
		return desk.View{}, err
	}
	begun := m.Begin(device(r.HTTP.UserAgent()), r.Address(), r.Real)
	return f.enterAs(r, m, &begun, phrase.Kept("%s signed in to the console with a password").Say(m.Name), useUp(r, m))
}

// wrongSignIn is a refusal of a sign-in in the language of the page.
func wrongSignIn(r *desk.Request, refused *refusal.Error) string {
	if refused.Code == refusal.RateLimited {
		return r.Locale.Text("console.sign-in.limited")
	}
	return r.Locale.Text("console.sign-in.wrong")
}

// prove finds the member who a sign-in shows to be there, unless too many wrong ones were tried.
func (f *pages) prove(r *desk.Request, account guid.ID, email, password, code string) (*staff.Member, error) {
	members, err := f.Store.Members(r.Context(), account)
	if err != nil {
		return nil, service.Stored(err)
	}
	m := staff.Find(members, email)
	under := f.allowances(r, account, email, m)
	var proven bool
	var failed error
	err = f.allowed(r.Context(), under, func() (cost int) {
		if proven, failed = f.check(r, account, m, email, password, code); failed == nil && !proven {
			cost = 1
		}
		return cost
	})
	if _, limited := errors.AsType[*ratelimit.Limited](err); limited {
		return nil, errTooMany
	}
	if err = errors.Join(err, failed); err != nil {
		return nil, service.Stored(fmt.Errorf("checking a sign-in: %w", err))
	}
	if !proven {
		return nil, errSignIn
	}
	return m, nil
}

// allowances are what a sign-in may use up. All of them are counted for names that nobody has, too.
func (f *pages) allowances(r *desk.Request, account guid.ID, email string, m *staff.Member) []string {
	name := account.String() + " " + contact.FoldEmail(strings.TrimSpace(email))
	if shown := shownDevice(r); m != nil && shown != nil && m.Knows(shown) {
		return []string{fmt.Sprintf("%s %s %x", ofDevice, name, shown)}
	}
	address, _ := netip.ParseAddr(r.Address()) // else it is that of nobody
	network := clientip.Network(address)
	return []string{ofNetwork + " " + network, ofName + " " + name, ofPair + " " + name + " " + network}
}

// allowed tries within all of some allowances.
func (f *pages) allowed(ctx context.Context, under []string, try func() (cost int)) error {
	if len(under) == 0 {
		return nil
	}
	var failed error
	err := f.limits.Try(ctx, under[0], func() (cost int) {
		if len(under) == 1 {
			return try()
		}
		failed = f.allowed(ctx, under[1:], func() int {
			cost = try()
			return cost
		})
		return cost
	})
	return errors.Join(err, failed)
}

// check compares what somebody typed. It makes one hash, also where nobody has the name.
func (f *pages) check(r *desk.Request, account guid.ID, m *staff.Member, email, password, code string) (bool, error) {
	part := sha256.Sum256([]byte(contact.FoldEmail(email)))
	if f.Directory().Accounts[account] == nil {
		account = guid.ID{} // whoever makes accounts up has one turn
	}
	done, err := f.busy.Take(r.Context(), account, guid.ID(part[:16]))
	if err != nil {
		return false, err
	}
	defer done()
	if !m.IsPassword(password) {
		return false, nil
	}
	if m.TOTP == nil {
		return true, nil
	}
	shown := *m.TOTP
	return shown.Use(code, r.Real), nil
}

// useUp refuses a password that was changed meanwhile, and uses the code of the authenticator up.
func useUp(r *desk.Request, m *staff.Member) func(*staff.Member) error {
	return func(is *staff.Member) error {
		if is.Password != m.Password {
			return errSignIn
		}
		if is.TOTP != nil {
			used := *is.TOTP
			if !used.Use(r.HTTP.PostForm.Get("code"), r.Real) {
				return errSignIn
			}
			is.TOTP = &used
		}
		return nil
	}
}

// enterAs begins a session of a member who has proven to be one, where how says that it still holds.
func (f *pages) enterAs(r *desk.Request, m *staff.Member, begun *staff.Begun, what string,
	how func(*staff.Member) error) (desk.View, error) {
	had, err := f.replaced(r)
	if err != nil {
		return desk.View{}, err
	}
	shown := known(r)
	r.Member = *m
	err = f.Store.ChangeStaff(r.Context(), m.AccountID, func(members []staff.Member) (staff.Changes, error) {
		at := slices.IndexFunc(members, func(is staff.Member) bool { return is.ID == m.ID })
		if at < 0 {
			return staff.Changes{}, errSignIn
		}
		is := members[at]
		if err := how(&is); err != nil {
			return staff.Changes{}, err
		}
		c := staff.Changes{End: had, Begin: []staff.Begun{*begun}, Notices: f.comesFrom(r, &is, begun, shown),
			Trail: staff.TrailEntry{What: what, SignIn: true, By: r.By(), RequestID: r.RequestID}}
		if c.Save = []staff.Member{is}; members[at].JoinedAt.IsZero() { // no invitation was needed
			c.Uninvite = []guid.ID{is.ID}
		}
		return c, nil
	})
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	return enter(r, begun), nil
}

// comesFrom remembers the device on which a member signs in. Where it is a new one, it gives the mail that tells the
// member: in the language of a device that they know, as somebody else may have chosen that of this one.
func (f *pages) comesFrom(r *desk.Request, m *staff.Member, begun *staff.Begun, shown []byte) (mails []staff.Notice) {
	known := m.Knows(shown)
	if known || m.Language == "" {
		m.Language = r.Locale.Language()
	}
	a := f.Directory().Accounts[m.AccountID]
	if !known && a != nil && (f.Email || a.Test) {
		mails = []staff.Notice{m.Notice(&begun.Session)}
	}
	m.Remember(shown, r.Real)
	return mails
}

// deviceName is what the cookie of a device is called. It opens nothing.
func deviceName(r *desk.Request) string { return r.CookieName() + "-device" }

// shownDevice is the hash of the token that a device shows; nil: it has none.
func shownDevice(r *desk.Request) []byte {
	found := r.HTTP.CookiesNamed(deviceName(r))
	if len(found) != 1 || len(found[0].Value) != len(staff.NewToken()) {
		return nil
	}
	sum := sha256.Sum256([]byte(found[0].Value))
	return sum[:]
}

// known is shownDevice; a device that has no token gets one.
func known(r *desk.Request) []byte {
	if shown := shownDevice(r); shown != nil {
		return shown
	}
	token := staff.NewToken()
	r.SetCookie(deviceName(r), token, int(400*24*time.Hour/time.Second), http.SameSiteLaxMode)
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// showConfirm asks the member to prove once more who they are, before what only they may do. Who came in by an
// invitation and has nothing to prove it with chooses that first: no password would be right.
func (f *pages) showConfirm(r *desk.Request) (desk.View, error) {
	if !r.Member.Proves() {
		return desk.View{To: desk.Home(r.Account.ID) + "you"}, nil
	}
	return desk.View{Template: "signin.html", Title: "console.confirm", Data: f.signInForm(r, signInForm{
		Account: r.Account.ID, Confirm: true, Email: r.Member.Email, To: within(r.HTTP.FormValue("to"))})}, nil
}

// confirm goes on where the member was, in a new session that is proven now. It ends when the old one would have.
func (f *pages) confirm(r *desk.Request) (desk.View, error) {
	form := r.HTTP.PostForm
	m, err := f.prove(r, r.Account.ID, r.Member.Email, form.Get("password"), form.Get("code"))
	if refused, is := errors.AsType[*refusal.Error](err); is && refused.Code != refusal.Unavailable {
		return desk.View{Template: "signin.html", Title: "console.confirm", Status: refused.Code.Status(),
			Data: f.signInForm(r, signInForm{Account: r.Account.ID, Wrong: wrongSignIn(r, refused), Email: r.Member.Email,
				Confirm: true, To: within(form.Get("to"))})}, nil
	}
	if err != nil {
		return desk.View{}, err
	}
	begun := m.Begin(r.Session.Device, r.Address(), r.Real)
	begun.Session.BegunAt = r.Session.BegunAt
	v, err := f.enterAs(r, m, &begun, phrase.Kept("%s proved once more who they are").Say(m.Name), useUp(r, m))
	if err == nil {
		v.To = desk.Home(r.Account.ID) + within(form.Get("to"))
	}
	return v, err
}

// within is an address below the account; "": the first page.
func within(to string) string {
	if to == "" || strings.Trim(to, "abcdefghijklmnopqrstuvwxyz0123456789-/") != "" || to[0] == '/' {
		return ""
	}
	return to
}
