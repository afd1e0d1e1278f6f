package signin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// joinPath is where an invitation is used.
const joinPath = desk.Path + "/join/"

// JoinLink is where an invitation is used, for a service that is reached at publicURL.
func JoinLink(publicURL, token string) string {
	return strings.TrimRight(publicURL, "/") + joinPath + token
}

// setCookie keeps the token of a session in the browser.
func setCookie(r *desk.Request, value string, seconds int) {
	r.SetCookie(r.CookieName(), value, seconds, http.SameSiteLaxMode)
}

// enter gives the browser the session that was begun.
func enter(r *desk.Request, b *staff.Begun) desk.View {
	setCookie(r, b.Token, int(b.Session.Ends().Sub(b.Session.BegunAt)/time.Second))
	r.SetCookie(accountName(r), b.Session.AccountID.String(), int(400*24*time.Hour/time.Second), http.SameSiteLaxMode)
	return desk.View{To: desk.Home(b.Session.AccountID)}
}

// accountName is what the cookie is called that says in which account somebody signed in last. It opens nothing.
func accountName(r *desk.Request) string { return r.CookieName() + "-account" }

// lastAccount is the account whose sign-in page somebody is led to who has no session: that in which the browser was
// signed in last, else the only one of the installation. Zero: nobody can tell.
func (f *pages) lastAccount(r *desk.Request) guid.ID {
	accounts := f.Directory().Accounts
	for _, c := range r.HTTP.CookiesNamed(accountName(r)) {
		if id, err := guid.Parse(c.Value); err == nil && accounts[id] != nil {
			return id
		}
	}
	for id := range accounts {
		if len(accounts) == 1 {
			return id
		}
	}
	return guid.ID{}
}

// replaced are the keys of the session that the browser had before.
func (f *pages) replaced(r *desk.Request) (keys [][]byte, _ error) {
	token := r.Token()
	if token == "" {
		return nil, nil
	}
	had, err := f.Store.Session(r.Context(), token, r.Real)
	switch {
	case errors.Is(err, refusal.NotFound):
		return nil, nil
	case err != nil:
		return nil, service.Stored(err)
	}
	return [][]byte{had.Key}, nil
}

// start leads to the console of the account that the browser is signed in to, or to where one signs in there.
func (f *pages) start(r *desk.Request) (desk.View, error) {
	if token := r.Token(); token != "" {
		s, err := f.Store.Session(r.Context(), token, r.Real)
		switch {
		case err == nil:
			return desk.View{To: desk.Home(s.AccountID)}, nil
		case !errors.Is(err, refusal.NotFound):
			return desk.View{}, service.Stored(err)
		}
	}
	if account := f.lastAccount(r); !account.IsZero() {
		return desk.View{To: desk.Home(account) + desk.SignInPath[1:]}, nil
	}
	return desk.View{Template: "start.html", Title: "console.sign-in", Data: signInForm{}}, nil
}

// signOut ends the session of the browser.
func (f *pages) signOut(r *desk.Request) (desk.View, error) {
	keys, err := f.replaced(r)
	if err != nil {
		return desk.View{}, err
	}
	account := r.AccountID()
	if len(keys) > 0 {
		err := f.Store.ChangeStaff(r.Context(), account, func([]staff.Member) (staff.Changes, error) {
			return staff.Changes{End: keys}, nil
		})
		if err != nil {
			return desk.View{}, service.Stored(fmt.Errorf("signing out: %w", err))
		}
	}
	setCookie(r, "", -1)
	return desk.View{To: desk.Home(account) + desk.SignInPath[1:]}, nil
}

// invitation is what the page of an invitation shows.
type invitation struct {
	Merchant string
	Member   staff.Member
}

var errInvitation = refusal.New(refusal.NotFound,
	"This invitation was used, has ended, or is older than 72 hours. Ask an owner of the account for a new one.")

// invited finds the invitation that a request is about, and the member whom it is for; nil: it is for whoever makes the
// first account. Tokens that are none are counted like keys that are none.
func (f *pages) invited(r *desk.Request) (staff.Invitation, *staff.Member, error) {
	i, err := f.Store.Invitation(r.Context(), r.HTTP.PathValue("token"), r.Real)
	if errors.Is(err, refusal.NotFound) {
		if err := r.CountAnonymous(); err != nil {
			return i, nil, err
		}
		return i, nil, errInvitation
	}
	if err != nil {
		return i, nil, service.Stored(err)
	}
	if isFirst(&i) {
		if len(f.Directory().Accounts) > 0 {
			return i, nil, errInvitation
		}
		return i, nil, nil
	}
	members, err := f.Store.Members(r.Context(), i.AccountID)
	if err != nil {
		return i, nil, service.Stored(err)
	}
	r.Account = f.Directory().Accounts[i.AccountID]
	at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == i.StaffID })
	if at < 0 || r.Account == nil {
		return i, nil, errInvitation
	}
	return i, &members[at], nil
}

// showInvitation asks whoever opens the link whether to come in: link previews open it too.
func (f *pages) showInvitation(r *desk.Request) (desk.View, error) {
	i, m, err := f.invited(r)
	if err != nil {
		return desk.View{}, err
	}
	if isFirst(&i) {
		return showFirst(r, firstForm{}), nil
	}
	r.ChooseLanguage()
	return desk.View{Template: "join.html", Title: "console.join", Data: invitation{r.Account.Name, *m}}, nil
}

// join lets the first who uses an invitation in. Earlier sessions of the member end: whoever needs a new invitation has
// lost what opened the old ones.
func (f *pages) join(r *desk.Request) (desk.View, error) {
	i, m, err := f.invited(r)
	if err != nil {
		return desk.View{}, err
	}
	if isFirst(&i) {
		return f.beginFirst(r)
	}
	begun := m.Begin(device(r.HTTP.UserAgent()), r.Address(), r.Real)
	had, err := f.replaced(r)
	if err != nil {
		return desk.View{}, err
	}
	r.Member = *m
	shown := known(r)
	r.ChooseLanguage()
	err = f.Store.ChangeStaff(r.Context(), i.AccountID, func(members []staff.Member) (staff.Changes, error) {
		at := slices.IndexFunc(members, func(is staff.Member) bool { return is.ID == m.ID })
		if at < 0 {
			return staff.Changes{}, errInvitation
		}
		joined := members[at]
		if joined.JoinedAt.IsZero() {
			joined.JoinedAt = begun.Session.BegunAt
		}
		notices := f.comesFrom(r, &joined, &begun, shown)
		return staff.Changes{Save: []staff.Member{joined}, EndSessions: []guid.ID{m.ID}, End: had,
			Begin: []staff.Begun{begun}, Notices: notices, Use: r.HTTP.PathValue("token"),
			Trail: staff.TrailEntry{What: phrase.Kept("%s used an invitation to the console").Say(m.Name),
				SignIn: true, By: r.By(), RequestID: r.RequestID}}, nil
	})
	if errors.Is(err, refusal.NotFound) {
		return desk.View{}, errInvitation
	}
	if err != nil {
		return desk.View{}, service.Stored(fmt.Errorf("using an invitation: %w", err))
	}
	return enter(r, &begun), nil
}

// device is what a browser says that it is, in few words: of its long text, the program and the system.
func device(agent string) string {
	first := func(marks ...string) string {
		for _, m := range marks {
			if strings.Contains(agent, m) {
				return strings.TrimSuffix(m, "/")
			}
		}
		return ""
	}
	program := first("Firefox/", "Edg/", "OPR/", "Chrome/", "Safari/", "curl/")
	system := first("iPhone", "iPad", "Android", "Windows", "Mac OS X", "Linux")
	return strings.Trim(program+", "+system, ", ")
}
