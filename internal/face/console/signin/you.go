package signin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"slices"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/post/card"
	"boon.example/internal/post/qr"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/staff"
)

// homePages are the pages about the member.
func (f *pages) homePages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /you", Nav: "console.you", Key: "y", Do: f.you},
		{Pattern: "POST /you/end", Do: f.endSession},
		{Pattern: "POST /you/password", Do: f.setPassword},
		{Pattern: "POST /you/authenticator", Do: f.setAuthenticator},
		{Pattern: "POST /you/authenticator/end", Fresh: true, Do: f.endAuthenticator},
		{Pattern: "POST /you/passkey/options", Do: f.askForPasskey},
		{Pattern: "POST /you/passkey", Do: f.addPasskey},
		{Pattern: "POST /you/passkey/remove", Fresh: true, Do: f.removePasskey},
		{Pattern: "GET /confirm", Do: f.showConfirm},
		{Pattern: "POST /confirm", Do: f.confirm},
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
	Provider string        // the OpenID Connect provider of the installation; "": there is none
	OpenID   bool          // the member is connected with it
	Secret   string        // of an authenticator that may be set up
	QR       template.HTML // of it
	Wrong    []string      // why a form was refused; nil: none was
	Changed  bool          // what the member signs in with, just now
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
func (f *pages) you(r *desk.Request) (desk.View, error) { return f.youAfter(r, nil) }

// youAfter is you, after a form was refused or done.
func (f *pages) youAfter(r *desk.Request, err error) (desk.View, error) {
	shown := you{Email: r.Member.Email, HasKeys: f.passkeys != nil, Proves: r.Member.Proves(),
		Password: r.Member.Password != "", TOTP: r.Member.TOTP != nil,
		Least: staff.ShortestAlone, Changed: r.HTTP.URL.Query().Get("done") == "changed"}
	status := 0
	if refused, is := errors.AsType[*refusal.Error](err); is && refused.Code == refusal.ValidationFailure {
		shown.Wrong, status = r.Said(refused), refused.Code.Status()
	} else if err != nil {
		return desk.View{}, err
	}
	if f.Provider != nil {
		shown.Provider, shown.OpenID = f.Provider.Name(), r.Member.OpenID != ""
	}
	for _, p := range r.Member.Passkeys {
		shown.Passkeys = append(shown.Passkeys, shownPasskey{hex.EncodeToString(p.ID), p.Device,
			p.AddedAt.In(r.Account.Zone)})
	}
	all, err := f.Store.Sessions(r.Context(), r.Account.ID, r.Real)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	shown.Sessions = sessionsOf(r, all, r.Member.ID)
	if shown.TOTP {
		shown.Least = staff.ShortestBeside
	} else if shown.Password {
		shown.Secret = staff.NewSecret()
		code, err := qr.Encode(staff.TOTPAddress(card.Merchant(r.Account), r.Member.Email, shown.Secret))
		if err != nil {
			return desk.View{}, fmt.Errorf("drawing the QR code of an authenticator: %w", err)
		}
		shown.QR = template.HTML(code.SVG(r.Locale.Text("console.totp.scan"))) // of this service's making
	}
	return desk.View{Template: "you.html", Title: "console.you", Status: status, Data: shown}, nil
}

// sessionsOf are the sessions of a member, in the clock of the account.
func sessionsOf(r *desk.Request, all []staff.Session, of guid.ID) (list []listed) {
	for _, s := range all {
		if s.StaffID == of {
			list = append(list, listed{s, s.ID == r.Session.ID, s.SeenAt.In(r.Account.Zone)})
		}
	}
	return list
}

// endSession ends one of the member's sessions.
func (f *pages) endSession(r *desk.Request) (desk.View, error) {
	id, err := guid.Parse(r.HTTP.PostForm.Get("session"))
	if err != nil {
		return desk.View{}, desk.ErrNoPage
	}
	all, err := f.Store.Sessions(r.Context(), r.Account.ID, r.Real)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	after := desk.View{To: desk.Home(r.Account.ID) + "you"}
	at := slices.IndexFunc(all, func(s staff.Session) bool { return s.ID == id && s.StaffID == r.Member.ID })
	if at < 0 { // it is over already, or somebody else's
		return after, nil
	}
	what := phrase.Kept("%s ended one of their sessions").Say(r.Member.Name)
	if device := all[at].Device; device != "" { // a program may not say what it is
		what = phrase.Kept("%s ended one of their sessions: %s").Say(r.Member.Name, device)
	}
	err = f.Store.ChangeStaff(r.Context(), r.Account.ID, func([]staff.Member) (staff.Changes, error) {
		return staff.Changes{End: [][]byte{all[at].Key}, Trail: trail(r, what)}, nil
	})
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	return after, nil
}

// change changes the member who makes the request, and ends their other sessions: whoever stole one shall not go on.
func (f *pages) change(r *desk.Request, what phrase.Kept, how func(*staff.Member) error) (desk.View, error) {
	err := f.Store.ChangeStaff(r.Context(), r.Account.ID, func(members []staff.Member) (c staff.Changes, err error) {
		at := slices.IndexFunc(members, func(m staff.Member) bool { return m.ID == r.Member.ID })
		if at < 0 {
			return c, desk.ErrNotForYou
		}
		is := members[at]
		if err := how(&is); err != nil {
			return c, err
		}
		c.EndSessions, c.Keep = []guid.ID{is.ID}, r.Session.Key
		c.Save = []staff.Member{is}
		c.Trail = staff.TrailEntry{What: what.Say(r.Member.Name), By: r.By(), RequestID: r.RequestID}
		return c, nil
	})
	if err != nil {
		return f.youAfter(r, service.Stored(err))
	}
	return desk.View{To: desk.Home(r.Account.ID) + "you?done=changed"}, nil
}

// setPassword gives the member a password. Who has one already proves first who they are.
func (f *pages) setPassword(r *desk.Request) (desk.View, error) {
	password := r.HTTP.PostForm.Get("password")
	if err := staff.CheckPassword(password, r.Member.TOTP != nil); err != nil {
		return f.youAfter(r, err)
	}
	if r.Member.Proves() && !r.Session.Proven(r.Real) {
		return r.ToConfirm("you"), nil
	}
	done, err := f.busy.Take(r.Context(), r.Account.ID, r.Member.ID)
	if err != nil {
		return desk.View{}, service.Stored(err)
	}
	var hashed staff.Member
	hashed.SetPassword(password)
	done()
	return f.change(r, "%s chose a password", func(m *staff.Member) error {
		if m.Proves() && !r.Session.Proven(r.Real) {
			return desk.ErrNotForYou
		}
		m.Password, m.Long = hashed.Password, hashed.Long
		return staff.CheckPassword(password, m.TOTP != nil)
	})
}

// setAuthenticator begins to ask for the codes of an authenticator beside the password.
func (f *pages) setAuthenticator(r *desk.Request) (desk.View, error) {
	if !r.Session.Proven(r.Real) {
		return r.ToConfirm("you"), nil
	}
	form := r.HTTP.PostForm
	made, err := staff.NewTOTP(form.Get("secret"), form.Get("code"), r.Real)
	if err != nil {
		return f.youAfter(r, err)
	}
	return f.change(r, "%s set up an authenticator", func(m *staff.Member) error {
		if m.TOTP != nil || m.Password == "" {
			return desk.ErrNotForYou
		}
		m.TOTP = made
		return nil
	})
}

// endAuthenticator goes back to the password alone, which must be long enough for that.
func (f *pages) endAuthenticator(r *desk.Request) (desk.View, error) {
	return f.change(r, "%s no longer uses an authenticator", func(m *staff.Member) error {
		if !m.Long {
			return refusal.New(refusal.ValidationFailure, "Choose a password of at least %d characters first.",
				staff.ShortestAlone)
		}
		m.TOTP = nil
		return nil
	})
}
