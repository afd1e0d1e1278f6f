package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"boon.example/internal/base/clientip"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guest"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
)

// Guests keeps who looks at their gifts. Its errors are those of package refusal.
type Guests interface {
	// AskForGuestLink keeps a link to be judged, the same for every contact; refusal.RateLimited: too many wait.
	AskForGuestLink(context.Context, *guest.Link) error
	// GuestLink finds a link that signs in, and changes nothing; refusal.NotFound: there is none, or none any more.
	GuestLink(ctx context.Context, account guid.ID, token string, now time.Time) (guest.Link, error)
	// SignInGuest uses a link up and begins a session under a token; refusal.NotFound: somebody else used the link.
	SignInGuest(ctx context.Context, l *guest.Link, token string, now time.Time) error
	// GuestSession finds a session of an account that works; refusal.NotFound: there is none.
	GuestSession(ctx context.Context, account guid.ID, token string, now time.Time) (guest.Session, error)
	// SignOutGuest ends a session; everywhere: all sessions of its contact and the links to it.
	SignOutGuest(ctx context.Context, of *guest.Session, token string, everywhere bool) error
	// GuestGifts gives a page of gifts, the newest first.
	GuestGifts(context.Context, gift.Filter) (gift.Page, error)
	// GiftsNamed finds gifts of an account by their ids.
	GiftsNamed(ctx context.Context, account guid.ID, ids []guid.ID) ([]gift.Gift, error)
}

// askRate is how often a network asks for links: 10 a minute.
var askRate = ratelimit.Rate{Burst: 10, Refill: 6 * time.Second}

// my adds the pages on which people look at their gifts. Pages that only read are GETs; what changes something is a
// form of the same origin. Programs that open every link of a mail send no forms.
func (s *site) my(mux *http.ServeMux) {
	if s.Guests == nil {
		return
	}
	own := s.SameOrigin
	if own == nil {
		own = http.NewCrossOriginProtection().Handler
	}
	with := func(do func(*site, http.ResponseWriter, *http.Request) error) myHandler {
		if do == nil {
			return nil
		}
		return func(w http.ResponseWriter, r *http.Request) error { return do(s, w, r) }
	}
	for _, p := range myRoutes() {
		mux.Handle(p.path, bodied(s.Admit(own(s.takes(with(p.get), with(p.post))))))
	}
}

// myRoute is an address, with what answers a GET and a POST; nil: there is no such method.
type myRoute struct {
	path      string
	get, post func(*site, http.ResponseWriter, *http.Request) error
}

func myRoutes() []myRoute {
	const account = guest.Path + "/{account}"
	return []myRoute{
		{account, (*site).mine, (*site).askForLink},
		{account + "/sent", (*site).linkSent, nil},
		{account + guest.LinkPath + "/{token}", (*site).showLink, (*site).signIn},
		{account + "/open", nil, (*site).openGift},
		{account + "/out", nil, (*site).signOut},
	}
}

// MyPaths are the patterns of the addresses on which people look at their gifts, for whoever asks all of them.
func MyPaths() (all []string) {
	for _, p := range myRoutes() {
		all = append(all, p.path)
	}
	return all
}

// myHandler answers a request, or says why not.
type myHandler func(http.ResponseWriter, *http.Request) error

// takes gives a GET or HEAD to one handler and a POST to another; nil: there is no such method.
func (s *site) takes(get, post myHandler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Referrer-Policy", "same-origin") // without any, browsers would hide the origin of a form
		by := map[string]myHandler{http.MethodGet: get, http.MethodHead: get, http.MethodPost: post}
		h := by[r.Method]
		if h == nil {
			var allow []string
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
				if by[method] != nil {
					allow = append(allow, method)
				}
			}
			s.refuseMethod(w, r, strings.Join(allow, ", "))
			return
		}
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// myPage is what the pages of one account show.
type myPage struct {
	Merchant, Home string // Home is the address of the first page
	Wrong          string // why the form was refused; "": it was not
	Typed          string
	Masked         string // for whom a link or a session is
	Lists          []myList
	Gifts          []myGift
	Bought         bool
	Out            bool   // somebody has just signed out
	Newest, Older  string // the addresses of the first page and of the next one; "": this is the first, the last
}

// myList is one of the lists, with its address.
type myList struct {
	Name, Address string
	Here          bool
}

// myGift is a gift in a list. It tells no code and no token.
type myGift struct {
	card.View

	ID       guid.ID
	LastFour string
	When     string // when it was bought, or will be sent; "": not told
	Arrived  string // what became of the message, in words
}

// account is the one that the path names.
func (s *site) account(r *http.Request) (*merchant.Account, error) {
	text := r.PathValue("account")
	id, err := guid.Parse(text)
	if a := s.Directory().Accounts[id]; err == nil && a != nil && id.String() == text {
		return a, nil
	}
	return nil, s.miss(r)
}

// myPage makes a page about an account.
func (s *site) myPage(r *http.Request, a *merchant.Account) (page, *myPage) {
	l := readIn(r, a.GuestLanguage()).In(a.HomeCountry())
	m := &myPage{Merchant: card.Merchant(a), Home: guest.Path + "/" + a.ID.String()}
	p := page{Locale: l, guests: true, Title: l.Text("my.title", m.Merchant), Main: m, tmpl: tmplMy, forms: true}
	if d := a.Design(a.DefaultDesign); d != nil {
		if c, ok := card.ParseColor(d.AccentColor); ok {
			p.Accent = strings.TrimPrefix(c.String(), "#")
		}
	}
	return p, m
}

// localized is an address in the language of a page, so that a guest who chose one keeps it.
func localized(address string, l *locale.Locale, more ...string) string {
	q := url.Values{languageQuery: {string(l.Language())}}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			q.Set(more[i], more[i+1])
		}
	}
	return address + "?" + q.Encode()
}

// Localized is an address in the language of the page.
func (p page) Localized(address string) string { return localized(address, p.Locale) }

// mine shows the gifts of whoever is signed in, and else asks for a contact.
func (s *site) mine(w http.ResponseWriter, r *http.Request) error {
	a, err := s.account(r)
	if err != nil {
		return err
	}
	p, m := s.myPage(r, a)
	of, _, err := s.guest(r, a)
	switch {
	case errors.Is(err, refusal.NotFound):
		m.Out, p.tmpl = r.URL.Query().Has(outQuery), tmplFind
	case err != nil:
		return err
	default:
		if err := s.listGifts(r, a, &of, p.Locale, m); err != nil {
			return err
		}
		q := r.URL.Query()
		p.kept = []string{listQuery, q.Get(listQuery), beforeQuery, q.Get(beforeQuery)}
	}
	s.write(w, r, p)
	return nil
}

// What an address says beside its path: which list it is, and after which gift the page begins.
const (
	listQuery   = "list"
	beforeQuery = "before"
	outQuery    = "out" // in the address to which signing out leads
)

// listGifts fills a page of a list.
func (s *site) listGifts(r *http.Request, a *merchant.Account, of *guest.Session, l *locale.Locale, m *myPage) error {
	list, name := guest.Received, string(guest.Bought)
	if of.Method == contact.Email {
		m.Bought = r.URL.Query().Get(listQuery) == name
		if m.Bought {
			list = guest.Bought
		}
		m.Lists = []myList{{l.Text("my.received"), localized(m.Home, l), !m.Bought},
			{l.Text("my.bought"), localized(m.Home, l, listQuery, name), m.Bought}}
	}
	before, err := guid.Parse(r.URL.Query().Get(beforeQuery))
	if err == nil {
		m.Newest = localized(m.Home, l, listQuery, string(list))
	}
	m.Masked = guest.Masked(of.Contact)
	found, err := s.Guests.GuestGifts(r.Context(), of.Filter(list, before))
	if err != nil {
		return fmt.Errorf("listing the gifts of a guest: %w", err)
	}
	now, err := s.now(r.Context(), a)
	if err != nil {
		return err
	}
	for i := range found.Gifts {
		g := &found.Gifts[i]
		if !of.Has(list, g) {
			continue
		}
		if m.Bought {
			if err := s.asBought(r.Context(), g); err != nil {
				return err
			}
		}
		m.Gifts = append(m.Gifts, inList(l, g, a, now))
	}
	if !found.Next.IsZero() {
		m.Older = localized(m.Home, l, listQuery, string(list), beforeQuery, found.Next.String())
	}
	return nil
}

// asBought makes a gift worth what it was when it was made. What was put into it or moved out of it since would tell
// who bought it what is left, or what the guest does with it.
func (s *site) asBought(ctx context.Context, g *gift.Gift) error {
	if g.Seq < 2 {
		return nil
	}
	made, err := s.Gifts.History(ctx, g.AccountID, g.ID, 0, 1)
	if err != nil {
		return fmt.Errorf("reading what a gift was worth: %w", err)
	}
	if len(made) > 0 && made[0].Balance > 0 { // a card of a stock is made with nothing in it
		g.Funded = made[0].Balance
	} else if g.Fixed > 0 {
		g.Funded = g.Fixed
	}
	return nil
}

// inList is a gift as a list shows it.
func inList(l *locale.Locale, g *gift.Gift, a *merchant.Account, now time.Time) myGift {
	v := myGift{View: card.In(l, g, a, now), ID: g.ID, LastFour: g.Card.Code.LastFour()}
	day := func(t time.Time) string { return v.Day(t.In(a.TimeZone())) }
	v.When = day(g.CreatedAt)
	switch {
	case v.State == card.Cancelled || v.State == card.Unpaid:
		v.Arrived = v.StateTitle()
	case g.Card.Method == contact.Printed:
		v.Arrived = v.Text("my.state.printed")
	case g.Status == gift.FailedDelivery:
		v.Arrived = v.Text("my.state.failed")
	case g.Status != gift.Pending:
		v.Arrived = v.Text("my.state.arrived")
	case g.Card.DeliveryDate.After(now):
		v.Arrived = v.Text("my.state.scheduled", day(g.Card.DeliveryDate))
	default:
		v.Arrived = v.Text("my.state.sending")
	}
	return v
}

// askForLink keeps that somebody asked for a link. Whether the contact has gifts is found out later: whoever asks is
// told the same, in the same time.
func (s *site) askForLink(w http.ResponseWriter, r *http.Request) error {
	a, err := s.account(r)
	if err != nil {
		return err
	}
	p, m := s.myPage(r, a)
	p.tmpl = tmplFind
	m.Typed = card.Clip(card.Line(r.PostFormValue("contact")), maxTyped)
	method, to, err := guest.Read(r.PostFormValue("contact"), a)
	switch {
	case err != nil:
		m.Wrong = p.Text("my.wrong.form")
	case method == contact.Email && !s.Email && !a.Test:
		m.Wrong = p.Text("my.wrong.email", m.Merchant)
	case method == contact.SMS && !s.SMS && !a.Test:
		m.Wrong = p.Text("my.wrong.text", m.Merchant)
	}
	if m.Wrong != "" {
		p.status = http.StatusBadRequest
		s.write(w, r, p)
		return nil
	}
	now := time.Now()
	if wait := s.asks.take(askRate, clientip.Network(s.ClientAddress(r)), now); wait > 0 {
		return &tooMany{wait: wait, links: true}
	}
	err = s.Guests.AskForGuestLink(r.Context(), guest.Ask(a, method, to, p.Language(), now))
	if errors.Is(err, refusal.RateLimited) {
		return &tooMany{wait: time.Minute, links: true}
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, localized(m.Home+"/sent", p.Locale), http.StatusSeeOther)
	return nil
}

// maxTyped is how much of what was typed is shown again.
const maxTyped = 254

// linkSent tells what happens next, to everybody the same.
func (s *site) linkSent(w http.ResponseWriter, r *http.Request) error {
	a, err := s.account(r)
	if err != nil {
		return err
	}
	p, _ := s.myPage(r, a)
	p.Title, p.tmpl = p.Text("my.sent.title"), tmplSent
	s.write(w, r, p)
	return nil
}

// showLink shows for whom a link is, and a button. It uses nothing up.
func (s *site) showLink(w http.ResponseWriter, r *http.Request) error {
	a, l, p, m, err := s.link(r)
	if a == nil || err != nil && !errors.Is(err, refusal.NotFound) {
		return err
	}
	if err != nil {
		s.linkOver(w, r, a, p, m)
		return nil
	}
	m.Masked, p.tmpl = guest.Masked(l.Contact), tmplEnter
	s.write(w, r, p)
	return nil
}

// link finds the link that the path names. Without an account there is an error.
func (s *site) link(r *http.Request) (a *merchant.Account, l guest.Link, p page, m *myPage, err error) {
	if a, err = s.account(r); err != nil {
		return nil, l, p, m, err
	}
	p, m = s.myPage(r, a)
	l, err = s.Guests.GuestLink(r.Context(), a.ID, r.PathValue("token"), time.Now())
	if errors.Is(err, refusal.NotFound) {
		if many := s.miss(r); !errors.Is(many, refusal.NotFound) {
			return nil, l, p, m, many
		}
	}
	return a, l, p, m, err
}

// linkOver tells that a link does not sign in: one that was used, is too old, or never was. Whoever is signed in, as
// after a second click on the button, is shown their list: it says whose it is.
func (s *site) linkOver(w http.ResponseWriter, r *http.Request, a *merchant.Account, p page, m *myPage) {
	if _, _, err := s.guest(r, a); err == nil {
		http.Redirect(w, r, localized(m.Home, p.Locale), http.StatusSeeOther)
		return
	}
	p.Title, p.tmpl, p.status = p.Text("my.over.title"), tmplOver, http.StatusNotFound
	s.write(w, r, p)
}

// signIn uses a link up, and gives the browser a session.
func (s *site) signIn(w http.ResponseWriter, r *http.Request) error {
	a, l, p, m, err := s.link(r)
	if a == nil || err != nil && !errors.Is(err, refusal.NotFound) {
		return err
	}
	session := guest.NewToken()
	if err == nil {
		err = s.Guests.SignInGuest(r.Context(), &l, session, time.Now())
	}
	if errors.Is(err, refusal.NotFound) {
		s.linkOver(w, r, a, p, m)
		return nil
	}
	if err != nil {
		return err
	}
	s.setSession(w, a, session, int(guest.SessionFor/time.Second))
	http.Redirect(w, r, localized(m.Home, p.Locale), http.StatusSeeOther)
	return nil
}

// openGift leads to the page of a gift of whoever is signed in. The list has no address of a page, so that whoever
// gets hold of a list has no gift; whose the gift is now is asked anew.
func (s *site) openGift(w http.ResponseWriter, r *http.Request) error {
	a, of, _, p, m, err := s.signedIn(r)
	if a == nil {
		return err
	}
	if err != nil {
		http.Redirect(w, r, localized(m.Home, p.Locale), http.StatusSeeOther)
		return nil
	}
	id, err := guid.Parse(r.PostFormValue("gift"))
	if err != nil {
		return refusal.NotFound
	}
	found, err := s.Guests.GiftsNamed(r.Context(), a.ID, []guid.ID{id})
	if err != nil {
		return fmt.Errorf("finding a gift of a guest: %w", err)
	}
	if len(found) != 1 || !of.Has(guest.Received, &found[0]) {
		return refusal.NotFound
	}
	http.Redirect(w, r, localized(card.GiftURL("", found[0].Card.Token), p.Locale), http.StatusSeeOther)
	return nil
}

// signOut ends the session, or all sessions of its contact.
func (s *site) signOut(w http.ResponseWriter, r *http.Request) error {
	a, of, token, p, m, err := s.signedIn(r)
	if a == nil {
		return err
	}
	if err == nil {
		err = s.Guests.SignOutGuest(r.Context(), &of, token, r.PostFormValue("everywhere") != "")
		if err != nil {
			return err
		}
	}
	s.setSession(w, a, "", -1)
	http.Redirect(w, r, localized(m.Home, p.Locale, outQuery, "yes"), http.StatusSeeOther)
	return nil
}

// signedIn finds the session of a request: refusal.NotFound where there is none. Without an account there is another
// error.
func (s *site) signedIn(r *http.Request) (a *merchant.Account, of guest.Session, token string, p page, m *myPage,
	err error) {
	if a, err = s.account(r); err != nil {
		return nil, of, "", p, m, err
	}
	p, m = s.myPage(r, a)
	of, token, err = s.guest(r, a)
	if err != nil && !errors.Is(err, refusal.NotFound) {
		a = nil
	}
	return a, of, token, p, m, err
}

// guest finds the session that a request is made in.
func (s *site) guest(r *http.Request, a *merchant.Account) (of guest.Session, token string, err error) {
	found := r.CookiesNamed(s.sessionCookie(a))
	if len(found) != 1 { // there is none, or another page of this site set a second one
		return of, "", refusal.NotFound
	}
	token = found[0].Value
	of, err = s.Guests.GuestSession(r.Context(), a.ID, token, time.Now())
	return of, token, err
}

// sessionCookie is what the cookie of a session is called: one for each account. Browsers take one with the prefix of
// the first name from this very host only.
func (s *site) sessionCookie(a *merchant.Account) string {
	name := "boon_my_" + a.ID.String()
	if s.secure {
		return "__Host-" + name
	}
	return name
}

// setSession has the browser keep a session for some seconds; below zero: no more. Requests that other sites cause
// carry it only where somebody follows a link.
func (s *site) setSession(w http.ResponseWriter, a *merchant.Account, token string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: s.sessionCookie(a), Value: token, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: s.secure})
}
