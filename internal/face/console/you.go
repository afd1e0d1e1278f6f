package console

import (
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"time"

	"boon.example/internal/guid"
	"boon.example/internal/post/card"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// homePages are the pages about the member.
func (f *console) homePages() []page {
	return []page{
		{pattern: "GET /you", nav: "console.you", do: f.you},
		{pattern: "POST /you/end", do: f.endSession},
		{pattern: "POST /you/password", do: f.setPassword},
		{pattern: "POST /you/authenticator", do: f.setAuthenticator},
		{pattern: "POST /you/authenticator/end", fresh: true, do: f.endAuthenticator},
		{pattern: "POST /you/passkey/options", do: f.askForPasskey},
		{pattern: "POST /you/passkey", do: f.addPasskey},
		{pattern: "POST /you/passkey/remove", fresh: true, do: f.removePasskey},
		{pattern: "GET /confirm", do: f.showConfirm},
		{pattern: "POST /confirm", do: f.confirm},
	}
}

// you is what the page about the member shows.
type you struct {
	Email    string
	Sessions []listed
	Proves   bool // by something, not by an invitation only
	HasKeys  bool // the service has passkeys
	Passkeys []shownPasskey
	Password bool
	TOTP     bool
	Least    int           // characters of a password
	Secret   string        // of an authenticator that may be set up
	QR       template.HTML // of it
	Wrong    []string      // why a form was refused; nil: none was
}

// shownPasskey is a passkey in a list.
type shownPasskey struct {
	ID, Device string
	Added      time.Time
}

// listed is a session in a list.
type listed struct {
	staff.Session

	Here bool // it is the one that asks
	Seen time.Time
}

// you shows by what the member signs in, and where they are signed in.
func (f *console) you(r *request) (view, error) { return f.youAfter(r, nil) }

// youAfter is you, after a form was refused or done.
func (f *console) youAfter(r *request, err error) (view, error) {
	shown := you{Email: r.member.Email, HasKeys: f.passkeys != nil, Proves: r.member.Proves(),
		Password: r.member.Password != "", TOTP: r.member.TOTP != nil,
		Least: staff.ShortestAlone}
	status := 0
	if refused, is := errors.AsType[*refusal.Error](err); is && refused.Code == refusal.ValidationFailure {
		shown.Wrong, status = said(refused), refused.Code.Status()
	} else if err != nil {
		return view{}, err
	}
	for _, p := range r.member.Passkeys {
		shown.Passkeys = append(shown.Passkeys, shownPasskey{hex.EncodeToString(p.ID), p.Device,
			p.AddedAt.In(r.account.Zone)})
	}
	all, err := f.Store.Sessions(r.Context(), r.account.ID, r.Now)
	if err != nil {
		return view{}, service.Stored(err)
	}
	shown.Sessions = f.listed(r, all, r.member.ID)
	if shown.TOTP {
		shown.Least = staff.ShortestBeside
	} else if shown.Password {
		shown.Secret = staff.NewSecret()
		code, err := qr.Encode(staff.TOTPAddress(card.Merchant(r.account), r.member.Email, shown.Secret))
		if err != nil {
			return view{}, fmt.Errorf("drawing the QR code of an authenticator: %w", err)
		}
		shown.QR = template.HTML(code.SVG(r.locale.Text("console.totp.scan"))) // of this service's making
	}
	return view{template: "you.html", title: "console.you", status: status, data: shown}, nil
}

// listed are the sessions of a member, in the clock of the account.
func (f *console) listed(r *request, all []staff.Session, of guid.ID) (list []listed) {
	for _, s := range all {
		if s.StaffID == of {
			list = append(list, listed{s, s.ID == r.session.ID, s.SeenAt.In(r.account.Zone)})
		}
	}
	return list
}

// endSession ends one of the member's sessions.
func (f *console) endSession(r *request) (view, error) {
	id, err := guid.Parse(r.HTTP.PostForm.Get("session"))
	if err != nil {
		return view{}, errNoPage
	}
	all, err := f.Store.Sessions(r.Context(), r.account.ID, r.Now)
	if err != nil {
		return view{}, service.Stored(err)
	}
	c := staff.Changes{Trail: staff.TrailEntry{By: r.by(), RequestID: r.RequestID}}
	for _, s := range all {
		if s.ID == id && s.StaffID == r.member.ID {
			c.End = [][]byte{s.Key}
			c.Trail.What = fmt.Sprintf("%s ended the session in %s from %s", r.member.Name, s.Device, s.Address)
		}
	}
	err = f.Store.ChangeStaff(r.Context(), r.account.ID, func([]staff.Member) (staff.Changes, error) { return c, nil })
	if err != nil {
		return view{}, service.Stored(err)
	}
	return view{to: home(r.account.ID) + "you"}, nil
}

// change changes the member who makes the request, and ends their other sessions: whoever stole one shall not go on.
func (f *console) change(r *request, what string, how func(*staff.Member) error) (view, error) {
	all, err := f.Store.Sessions(r.Context(), r.account.ID, r.Now)
	if err != nil {
		return view{}, service.Stored(err)
	}
	err = f.Store.ChangeStaff(r.Context(), r.account.ID, func(members []staff.Member) (c staff.Changes, err error) {
		at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == r.member.ID })
		if at < 0 {
			return c, errNotForYou
		}
		is := members[at]
		if err := how(&is); err != nil {
			return c, err
		}
		for _, s := range all {
			if s.StaffID == is.ID && s.ID != r.session.ID {
				c.End = append(c.End, s.Key)
			}
		}
		c.Save = []staff.Member{is}
		c.Trail = staff.TrailEntry{What: r.member.Name + " " + what, By: r.by(), RequestID: r.RequestID}
		return c, nil
	})
	if err != nil {
		return f.youAfter(r, service.Stored(err))
	}
	return view{to: home(r.account.ID) + "you"}, nil
}

// setPassword gives the member a password. Who has one already proves first who they are.
func (f *console) setPassword(r *request) (view, error) {
	password := r.HTTP.PostForm.Get("password")
	if err := staff.CheckPassword(password, r.member.TOTP != nil); err != nil {
		return f.youAfter(r, err)
	}
	if r.member.Proves() && !r.session.Proven(r.Now) {
		return r.toConfirm("you"), nil
	}
	done, err := f.busy.Take(r.Context(), r.account.ID, r.member.ID)
	if err != nil {
		return view{}, service.Stored(err)
	}
	var hashed staff.Member
	hashed.SetPassword(password)
	done()
	return f.change(r, "chose a password", func(m *staff.Member) error {
		if m.Proves() && !r.session.Proven(r.Now) {
			return errNotForYou
		}
		m.Password, m.Long = hashed.Password, hashed.Long
		return staff.CheckPassword(password, m.TOTP != nil)
	})
}

// setAuthenticator begins to ask for the codes of an authenticator beside the password.
func (f *console) setAuthenticator(r *request) (view, error) {
	if !r.session.Proven(r.Now) {
		return r.toConfirm("you"), nil
	}
	form := r.HTTP.PostForm
	made, err := staff.NewTOTP(form.Get("secret"), form.Get("code"), r.Now)
	if err != nil {
		return f.youAfter(r, err)
	}
	return f.change(r, "set up an authenticator", func(m *staff.Member) error {
		if m.TOTP != nil || m.Password == "" {
			return errNotForYou
		}
		m.TOTP = made
		return nil
	})
}

// endAuthenticator goes back to the password alone, which must be long enough for that.
func (f *console) endAuthenticator(r *request) (view, error) {
	return f.change(r, "no longer uses an authenticator", func(m *staff.Member) error {
		if !m.Long {
			return refusal.New(refusal.ValidationFailure, "Choose a password of at least %d characters first.",
				staff.ShortestAlone)
		}
		m.TOTP = nil
		return nil
	})
}

// toConfirm leads to where the member proves who they are, and from there on.
func (r *request) toConfirm(to string) view { return view{to: home(r.account.ID) + "confirm?to=" + to} }
