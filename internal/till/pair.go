package till

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/card"
	"boon.example/internal/gift"
	"boon.example/internal/wire"
)

type answer = func(*wire.Writer)

const (
	tillCookie   = "boon_till"
	personCookie = "boon_person"
	// pairedFor is how long a browser keeps the key of a till: as long as browsers keep anything.
	pairedFor = 400 * 24 * time.Hour
)

var (
	errNotPaired = gift.Refuse(gift.Unauthenticated,
		"This device is not paired with a location, or not any more. Pair it with a new link from boon till pair.")
	errGuess = fmt.Errorf("with a key that there never was: %w", errNotPaired)
)

// session is a till that makes a call, and who stands at it.
type session struct {
	caller *gift.Caller
	person *gift.Person // nil: nobody
	until  time.Time    // the person's sign-in lasts
}

// session tells which till makes a request.
func (t *tills) session(r *http.Request, now time.Time) (*session, error) {
	cookies := r.CookiesNamed(tillCookie)
	if len(cookies) == 0 {
		return nil, errNotPaired
	}
	if len(cookies) > 1 { // of two, another page of this site may have set one
		return nil, errGuess
	}
	d := t.Directory()
	caller, ok := d.AuthenticateTill(cookies[0].Value, now)
	if !ok {
		if k := d.Keys[gift.HashKey(cookies[0].Value)]; k != nil && k.Till == gift.PairedTill {
			return nil, errNotPaired
		}
		return nil, errGuess
	}
	s := &session{caller: caller}
	s.person, s.until = t.signedIn(r, caller, now)
	return s, nil
}

// unpaired counts what looks like a guess.
func (t *tills) unpaired(c *api.Call, err error) error {
	if errors.Is(err, errGuess) {
		if err := c.CountAnonymous(); err != nil {
			return err
		}
		return errNotPaired
	}
	return err
}

// open finds the till that makes one of the calls of this package.
func (t *tills) open(c *api.Call) (*session, error) {
	s, err := t.session(c.Request, c.Now)
	if err != nil {
		return nil, t.unpaired(c, err)
	}
	if err := c.By(s.caller.By(s.person)); err != nil {
		return nil, err
	}
	return s, nil
}

// pair gives a device the key that waits for it. The first one that shows the token gets it.
func (t *tills) pair(c *api.Call) (answer, error) {
	var token string
	if err := c.Read(func(o *wire.Object) { token = o.Line("token", 200) }); err != nil {
		return nil, err
	}
	var text string
	var refused = gift.Refuse(gift.Unauthenticated,
		"This link has paired a device already, or is older than 15 minutes. Make a new one with boon till pair.")
	var elsewhere error
	err := t.Store.Configure(c.Context(), func(d *gift.Directory, _ gift.Uses) (_ gift.Changes, err error) {
		waiting := d.Keys[gift.HashKey(token)]
		if text, err = gift.NewKey(rand.Reader, gift.AccountKey, waiting != nil && waiting.Test); err != nil {
			return gift.Changes{}, fmt.Errorf("drawing the key of a till: %w", err)
		}
		k, ok := d.Pair(token, text, c.Now)
		if !ok {
			return gift.Changes{}, refused
		}
		if elsewhere = c.From(k.Networks); elsewhere != nil {
			return gift.Changes{}, elsewhere
		}
		by := gift.Actor{KeyID: k.ID, Address: c.Address()}
		return gift.Changes{Keys: []*gift.Key{k}, By: by, RequestID: c.RequestID(),
			What: fmt.Sprintf("account %s: paired a device as till %s (%s)", d.Accounts[k.AccountID].Name, k.Name, k.ID)}, nil
	})
	if errors.Is(err, refused) {
		if err := c.CountAnonymous(); err != nil {
			return nil, err
		}
		return nil, refused
	}
	if elsewhere != nil {
		return nil, elsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("pairing a till: %w", err)
	}
	if err := t.Refresh(c.Context()); err != nil {
		return nil, err
	}
	t.setCookie(c.Writer, tillCookie, text, pairedFor)
	t.setCookie(c.Writer, personCookie, "", -1)
	caller, ok := t.Directory().AuthenticateTill(text, c.Now)
	if !ok {
		return nil, errNotPaired // revoked meanwhile
	}
	if err := c.By(caller); err != nil {
		return nil, err
	}
	return t.tell(c, &session{caller: caller})
}

// setCookie gives the device a cookie that only these pages get back.
func (t *tills) setCookie(w http.ResponseWriter, name, value string, lasts time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: Path, MaxAge: int(lasts.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: t.secure})
}

// state tells a page where it is, who stands at it, and what can be done.
func (t *tills) state(c *api.Call) (answer, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	return t.tell(c, s)
}

func (t *tills) tell(c *api.Call, s *session) (answer, error) {
	now, err := c.AccountNow(s.caller.Account)
	if err != nil {
		return nil, err
	}
	caller, account := s.caller, s.caller.Account
	by := caller.By(s.person)
	return func(w *wire.Writer) {
		w.Text("merchant", card.Merchant(account))
		w.Object("location")
		for _, id := range caller.Locations {
			if l := account.Location(id); l != nil {
				w.ID("organizationID", l.ID)
				w.Text("name", l.Name)
				break
			}
		}
		w.Close()
		w.Object("device")
		w.ID("keyID", caller.KeyID)
		w.Text("name", caller.Name)
		w.Close()
		w.Text("currency", account.Currency.Code)
		w.Integer("decimals", account.Currency.Decimals)
		w.Text("timeZone", account.Zone.String())
		w.TextOrNull("language", string(account.Language))
		names := []string{}
		for _, p := range caller.People() {
			names = append(names, p.Name)
		}
		w.Texts("people", names)
		w.TextOrNull("person", by.Person)
		w.InstantOrNull("personUntil", s.until)
		w.Texts("may", by.Permissions.Names())
		w.Texts("deviceMay", caller.Permissions.Names())
		writeSale(w, caller)
		w.Instant("now", now)
	}, nil
}

// writeSale tells at which storefronts a till may sell cards and load gifts, and of which programs it loads them. Of
// several, whoever stands at it says which.
func writeSale(w *wire.Writer, caller *gift.Caller) {
	account := caller.Account
	if caller.Permissions&(gift.MayActivate|gift.MayReload) == 0 {
		return
	}
	w.List("storefronts")
	for _, s := range account.Storefronts {
		w.Open()
		w.ID("externalStorefrontID", s.ID)
		w.Text("name", s.Name)
		w.Close()
	}
	w.EndList()
	var programs []string
	for _, s := range account.Subscriptions {
		if s.Reloadable {
			programs = append(programs, s.ProgramID.String())
		}
	}
	w.Texts("reloadablePrograms", programs)
}
