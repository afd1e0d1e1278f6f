package console

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// The addresses of signing in and out, below the account.
const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
)

// cookieName is what the cookie of a session is called. Browsers take one with the prefix of the first name from this
// very host only, so that no other page of its domain can put another session in its place.
func (f *console) cookieName() string {
	if f.secure {
		return "__Host-boon"
	}
	return "boon"
}

// cookie is the token of the session that a request is made in; "": there is none, or more than one.
func (f *console) cookie(r *http.Request) string {
	if found := r.CookiesNamed(f.cookieName()); len(found) == 1 {
		return found[0].Value
	}
	return ""
}

func (f *console) setCookie(w http.ResponseWriter, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: f.cookieName(), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: f.secure})
}

// enter gives the browser the session that was begun.
func (f *console) enter(r *request, b *staff.Begun) view {
	f.setCookie(r.Writer, b.Token, int(b.Session.Ends().Sub(b.Session.BegunAt)/time.Second))
	return view{to: home(b.Session.AccountID)}
}

// replaced are the keys of the session that the browser had before.
func (f *console) replaced(r *request) (keys [][]byte, _ error) {
	token := f.cookie(r.HTTP)
	if token == "" {
		return nil, nil
	}
	had, err := f.Store.Session(r.Context(), token, r.Now)
	switch {
	case errors.Is(err, refusal.NotFound):
		return nil, nil
	case err != nil:
		return nil, service.Stored(err)
	}
	return [][]byte{had.Key}, nil
}

// start leads to the console of the account that the browser is signed in to.
func (f *console) start(r *request) (view, error) {
	if token := f.cookie(r.HTTP); token != "" {
		s, err := f.Store.Session(r.Context(), token, r.Now)
		switch {
		case err == nil:
			return view{to: home(s.AccountID)}, nil
		case !errors.Is(err, refusal.NotFound):
			return view{}, service.Stored(err)
		}
	}
	return view{template: "start.html", title: "console.sign-in"}, nil
}

// signOut ends the session of the browser.
func (f *console) signOut(r *request) (view, error) {
	keys, err := f.replaced(r)
	if err != nil {
		return view{}, err
	}
	account := accountOf(r.HTTP)
	if len(keys) > 0 {
		err := f.Store.ChangeStaff(r.Context(), account, func([]staff.Member) (staff.Changes, error) {
			return staff.Changes{End: keys}, nil
		})
		if err != nil {
			return view{}, service.Stored(fmt.Errorf("signing out: %w", err))
		}
	}
	f.setCookie(r.Writer, "", -1)
	return view{to: home(account) + signInPath[1:]}, nil
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
func (f *console) invited(r *request) (staff.Invitation, *staff.Member, error) {
	i, err := f.Store.Invitation(r.Context(), r.HTTP.PathValue("token"), r.Now)
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
	r.account = f.Directory().Accounts[i.AccountID]
	at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == i.StaffID })
	if at < 0 || r.account == nil {
		return i, nil, errInvitation
	}
	return i, &members[at], nil
}

// showInvitation asks whoever opens the link whether to come in: link previews open it too.
func (f *console) showInvitation(r *request) (view, error) {
	i, m, err := f.invited(r)
	if err != nil {
		return view{}, err
	}
	if isFirst(&i) {
		return f.showFirst(firstForm{}), nil
	}
	r.locale = f.localeFor(r)
	return view{template: "join.html", title: "console.join", data: invitation{r.account.Name, *m}}, nil
}

// join lets the first who uses an invitation in. Earlier sessions of the member end: whoever needs a new invitation has
// lost what opened the old ones.
func (f *console) join(r *request) (view, error) {
	i, m, err := f.invited(r)
	if err != nil {
		return view{}, err
	}
	if isFirst(&i) {
		return f.beginFirst(r)
	}
	begun := m.Begin(device(r.HTTP.UserAgent()), r.Address(), r.Now)
	had, err := f.replaced(r)
	if err != nil {
		return view{}, err
	}
	r.member = *m
	err = f.Store.ChangeStaff(r.Context(), i.AccountID, func(members []staff.Member) (staff.Changes, error) {
		at := slices.IndexFunc(members, func(is staff.Member) bool { return is.ID == m.ID })
		if at < 0 {
			return staff.Changes{}, errInvitation
		}
		joined := members[at]
		if joined.JoinedAt.IsZero() {
			joined.JoinedAt = begun.Session.BegunAt
		}
		return staff.Changes{Save: []staff.Member{joined}, EndSessions: []guid.ID{m.ID}, End: had,
			Begin: []staff.Begun{begun}, Use: r.HTTP.PathValue("token"),
			Trail: staff.TrailEntry{What: m.Name + " used an invitation to the console", SignIn: true, By: r.by(),
				RequestID: r.RequestID}}, nil
	})
	if errors.Is(err, refusal.NotFound) {
		return view{}, errInvitation
	}
	if err != nil {
		return view{}, service.Stored(fmt.Errorf("using an invitation: %w", err))
	}
	return f.enter(r, &begun), nil
}
