package till

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
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
	errNotPaired = refusal.New(refusal.Unauthenticated,
		"This device is not paired with a location, or not any more. Pair it with a new link from boon till pair.")
	errGuess = fmt.Errorf("with a key that there never was: %w", errNotPaired)
)

// session is a till that makes a call, and who stands at it.
type session struct {
	caller *merchant.Caller
	person *merchant.Person // nil: nobody
	until  time.Time        // the person's sign-in lasts
}

// mayShop reports whether whoever stands at the till sees what all tills of the location did: somebody who may look
// gifts up.
func (s *session) mayShop() bool { return s.person != nil && s.person.May.Has(merchant.MayLookUp) }

// session tells which till makes a request.
func (t *tills) session(r *http.Request, now time.Time) (*session, error) {
	key := t.cookie(r, tillCookie)
	if key == "" {
		return nil, errNotPaired
	}
	d := t.Directory()
	caller, ok := d.AuthenticateTill(key, now)
	if !ok {
		if k := d.Keys[merchant.HashKey(key)]; k != nil && k.Till == merchant.PairedTill {
			return nil, errNotPaired
		}
		return nil, errGuess
	}
	s := &session{caller: caller}
	var err error
	s.person, s.until, err = t.signedIn(r, caller, now)
	return s, err
}

// unpaired counts what looks like a guess.
func (t *tills) unpaired(c *service.Call, err error) error {
	if errors.Is(err, errGuess) {
		if err := c.CountAnonymous(); err != nil {
			return err
		}
		return errNotPaired
	}
	return err
}

// open finds the till that makes one of the calls of this package.
func (t *tills) open(c *service.Call) (*session, error) {
	s, err := t.session(c.HTTP, c.Now)
	if err != nil {
		return nil, t.unpaired(c, err)
	}
	if err := c.By(s.caller.By(s.person)); err != nil {
		return nil, err
	}
	return s, nil
}

// replaced gives the till that a device is now, which the call must name; zero: it is none.
func (t *tills) replaced(c *service.Call, named guid.ID) (guid.ID, error) {
	now, err := t.session(c.HTTP, c.Now)
	switch {
	case errors.Is(err, errNotPaired):
		return guid.ID{}, nil
	case err != nil:
		return guid.ID{}, err
	case now.caller.KeyID != named:
		return guid.ID{}, refusal.At(refusal.ValidationFailure, "instead", "This device is the till %s of %s already. "+
			"Name its keyID here if it is to become another till.", now.caller.Name, card.Merchant(now.caller.Account))
	}
	return named, nil
}

// pair gives a device the key that waits for it. The first one that shows the token gets it. A device that is a till
// already becomes another one only where the call says which it is now, for whoever holds it was shown that.
func (t *tills) pair(c *service.Call) (answer, error) {
	var token string
	var instead guid.ID
	err := read(c, func(o *wire.Object) { token, instead = o.Line("token", 200), o.GUID("instead") })
	if err != nil {
		return nil, err
	}
	if instead, err = t.replaced(c, instead); err != nil {
		return nil, err
	}
	var text string
	var refused = refusal.New(refusal.Unauthenticated,
		"This link has paired a device already, or is older than 15 minutes. Make a new one with boon till pair.")
	var elsewhere error
	err = t.Store.Configure(c.Context(), func(d *merchant.Directory, _ merchant.Uses) (_ merchant.Changes, err error) {
		waiting := d.Keys[merchant.HashKey(token)]
		if text, err = merchant.NewKey(rand.Reader, merchant.AccountKey, waiting != nil && waiting.Test); err != nil {
			return merchant.Changes{}, fmt.Errorf("drawing the key of a till: %w", err)
		}
		k, ok := d.ExchangePairingToken(token, text, c.Now)
		if !ok {
			return merchant.Changes{}, refused
		}
		if elsewhere = c.From(k.Networks); elsewhere != nil {
			return merchant.Changes{}, elsewhere
		}
		changes := merchant.Changes{Keys: []*merchant.Key{k}, By: merchant.Actor{KeyID: k.ID, Address: c.Address()},
			RequestID: c.RequestID, Of: map[guid.ID]string{},
			What: phrase.Kept("account %s: %v").Say(d.Accounts[k.AccountID].Name,
				phrase.Kept("paired a device as till %s (%-s)").Say(k.Name, k.ID))}
		changes.Of[k.AccountID] = changes.What
		giveUp(d, &changes, instead, c.Now)
		return changes, nil
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
	t.clearCookie(c.Writer, personCookie)
	caller, ok := t.Directory().AuthenticateTill(text, c.Now)
	if !ok {
		return nil, errNotPaired // revoked meanwhile
	}
	if err := c.By(caller); err != nil {
		return nil, err
	}
	return t.tell(c, &session{caller: caller})
}

// giveUp ends the key of the till that a device was.
func giveUp(d *merchant.Directory, changes *merchant.Changes, till guid.ID, now time.Time) {
	k := d.Key(till)
	if k == nil || k.Till != merchant.PairedTill || !k.Works(now) {
		return
	}
	ended := *k
	ended.RevokedAt = now.UTC().Truncate(time.Microsecond)
	what := phrase.Kept("account %s: %v").Say(d.Accounts[k.AccountID].Name,
		phrase.Kept("the device of till %s (%-s) became another till; its key is revoked").Say(k.Name, k.ID))
	changes.Keys = append(changes.Keys, &ended)
	changes.What += "\n" + what
	changes.Of[k.AccountID] = strings.TrimPrefix(changes.Of[k.AccountID]+"\n"+what, "\n")
}

// state tells a page where it is, who stands at it, and what can be done.
func (t *tills) state(c *service.Call) (answer, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	return t.tell(c, s)
}

func (t *tills) tell(c *service.Call, s *session) (answer, error) {
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
		w.Boolean("importedCodes", len(account.ImportedCodes) > 0)
		names := []string{}
		for _, p := range caller.People() {
			names = append(names, p.Name)
		}
		w.Texts("people", names)
		w.TextOrNull("person", by.Person)
		w.InstantOrNull("personUntil", s.until)
		w.Texts("may", by.Permissions.Names())
		w.Texts("deviceMay", caller.Permissions.Names())
		w.List("peopleMay") // who may undo what
		for _, p := range caller.People() {
			w.Open()
			w.Text("name", p.Name)
			w.Texts("may", caller.By(p).Permissions.Names())
			w.Close()
		}
		w.EndList()
		writeSale(w, caller)
		w.Instant("now", now)
	}, nil
}

// writeSale tells at which storefronts a till may sell cards and load gifts, and of which programs it loads them. Of
// several, whoever stands at it says which.
func writeSale(w *wire.Writer, caller *merchant.Caller) {
	account := caller.Account
	if caller.Permissions&(merchant.MayActivate|merchant.MayReload) == 0 {
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
