package till

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/ratelimit"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/pin"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/wire"
)

const (
	// pinsAtOnce is how many PINs are checked at the same time: each takes 19 MiB, and a core for that long.
	pinsAtOnce = 2
)

func pinRate(at merchant.Till) (r ratelimit.Rate) {
	r.Burst, r.Refill = at.PINs()
	return r
}

// wrongPINs keeps the buckets of people.
type wrongPINs struct{ Store }

// Bucket implements ratelimit.Records.
func (w wrongPINs) Bucket(ctx context.Context, person merchant.Till) (ratelimit.Bucket, error) {
	return w.TillBucket(ctx, person)
}

// Take implements ratelimit.Records. Whoever hangs up now has tried all the same.
func (w wrongPINs) Take(ctx context.Context, person merchant.Till, n int) (ratelimit.Bucket, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return w.CountWrongPINs(ctx, person, time.Now(), n)
}

// maxBody is how long the body of a till's own call may be.
const maxBody = 4 << 10

// read reads the body of a call, which may take its time, and its members.
func read(c *service.Call, members func(*wire.Object)) error {
	body, err := c.ReadBody(maxBody)
	if err != nil {
		return err
	}
	c.Now = c.RealTime()
	problems, _ := new(wire.Reader).Decode(body, members)
	return problems.Err()
}

// signIn lets somebody stand at the till who knows the PIN.
func (t *tills) signIn(c *service.Call) (answer, error) {
	if _, err := t.open(c); err != nil {
		return nil, err
	}
	var name, typed, own string
	err := read(c, func(o *wire.Object) { name, typed, own = o.Text("name"), o.Text("pin"), o.Text("newPIN") })
	if err != nil {
		return nil, err
	}
	s, err := t.open(c) // once more, as the body may have taken its time
	if err != nil {
		return nil, err
	}
	p := s.caller.PersonNamed(name)
	switch {
	case p == nil:
		return nil, refusal.At(refusal.NotFound, "name", "Nobody of this name signs in here.")
	case p.PIN == "":
		return nil, refusal.At(refusal.NotAuthorized, "pin", "%s has no PIN yet. Whoever runs the shop sets one.", p.Name)
	}
	right, err := t.try(c, s.caller, p, typed)
	if err != nil {
		return nil, err
	}
	if !right {
		if err := t.tellPINLimited(c, s, p); err != nil {
			return nil, err
		}
		return nil, refusal.At(refusal.NotAuthorized, "pin", "This is not the PIN of %s.", p.Name)
	}
	if p.FirstPIN {
		if p, err = t.choosePIN(c, s, p, typed, own); err != nil {
			return nil, err
		}
	}
	return t.signedInAs(c, s, p)
}

// choosePIN has somebody whose PIN somebody else has set choose another one, and gives the person with it.
func (t *tills) choosePIN(c *service.Call, s *session, p *merchant.Person, first, own string) (*merchant.Person,
	error) {
	err := pin.Check(own)
	switch {
	case own == "":
		return nil, refusal.At(refusal.ValidationFailure, "newPIN", "This PIN is for the first sign-in of %s. Choose "+
			"another one, which nobody else knows.", p.Name)
	case err != nil:
		return nil, refusal.At(refusal.ValidationFailure, "newPIN", "The new PIN will not do: %v.", err)
	case own == first:
		return nil, refusal.At(refusal.ValidationFailure, "newPIN", "The new PIN is the one for the first sign-in. "+
			"Choose another one.")
	}
	done, err := t.busy.Take(c.Context(), s.caller.Account.ID, s.caller.KeyID)
	if err != nil {
		return nil, service.Stored(err)
	}
	hash, err := pin.Hash(own)
	done()
	if err != nil {
		return nil, fmt.Errorf("making the hash of a PIN: %w", err)
	}
	gone := refusal.New(refusal.NotAuthorized, "The PIN of %s was set anew just now. Sign in with that one.", p.Name)
	err = t.Store.Configure(c.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		a := d.Accounts[s.caller.Account.ID]
		if is := (&merchant.Caller{Account: a}).PersonNamed(p.Name); is == nil || is.PIN != p.PIN {
			return merchant.Changes{}, gone
		}
		return merchant.Changes{Accounts: []*merchant.Account{a.WithPIN(p.Name, hash, true)},
			By: merchant.Actor{KeyID: s.caller.KeyID, Person: p.Name, Address: c.Address()}, RequestID: c.RequestID,
			What: phrase.Kept("account %s: %v").Say(a.Name,
				phrase.Kept("%s chose a PIN at till %s").Say(p.Name, s.caller.Name))}, nil
	})
	if errors.Is(err, gone) {
		return nil, gone
	}
	if err == nil {
		err = t.Refresh(c.Context())
	}
	if err != nil {
		return nil, service.Stored(fmt.Errorf("keeping a PIN: %w", err))
	}
	if s.caller, err = t.again(c); err != nil {
		return nil, err
	}
	if p = s.caller.PersonNamed(p.Name); p == nil {
		return nil, gone
	}
	return p, nil
}

// again is the till that makes a call, by the set-up as it is now.
func (t *tills) again(c *service.Call) (*merchant.Caller, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	return s.caller, nil
}

// signedInAs has somebody stand at the till, and nobody else.
func (t *tills) signedInAs(c *service.Call, s *session, p *merchant.Person) (answer, error) {
	if err := c.By(s.caller.By(p)); err != nil {
		return nil, err
	}
	s.person = p
	if err := t.tellSignIn(c, s); err != nil {
		return nil, err
	}
	var err error
	if s.until, err = t.beginShift(c, s.caller); err != nil {
		return nil, err
	}
	t.setCookie(c.Writer, personCookie, t.proof(s), signedInFor)
	return t.tell(c, s)
}

// tellSignIn writes into the audit trail that somebody signed in, unless it says so of the last minute: right PINs
// may be typed as often as one likes.
func (t *tills) tellSignIn(c *service.Call, s *session) error {
	at := told{event.TillSignedIn, s.caller.Account.PINKey(s.person, s.caller.KeyID)}
	if !t.told.isNew(at, c.Now, time.Minute) {
		return nil
	}
	err := t.addTrail(c, s, s.person.Name, event.TillSignedIn,
		phrase.Kept("%s signed in at till %s").Say(s.person.Name, s.caller.Name))
	if err != nil {
		t.told.forget(at)
	}
	return err
}

// addTrail writes what was done at a till into the audit trail.
func (t *tills) addTrail(c *service.Call, s *session, person string, action gift.EventType, what string) error {
	err := t.Store.AddTrail(c.Context(), event.TrailEntry{AccountID: s.caller.Account.ID, Action: action, What: what,
		Actor: merchant.Actor{KeyID: s.caller.KeyID, Person: person, Address: c.Address()}, RequestID: c.RequestID})
	if err != nil {
		return service.Stored(fmt.Errorf("writing the audit trail: %w", err))
	}
	return nil
}

// toldOf is what the audit trail was told of lately, so that a device that goes on and on does not fill it.
type toldOf struct {
	mu   sync.Mutex
	last map[told]time.Time
}

// told is what a person did at a till, or at all of them together.
type told struct {
	action gift.EventType
	at     merchant.Till
}

// isNew tells whether the trail was not told of it for so long, and takes it that it is told now.
func (t *toldOf) isNew(of told, now time.Time, long time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Before(t.last[of].Add(long)) {
		return false
	}
	if t.last == nil {
		t.last = map[told]time.Time{}
	}
	t.last[of] = now
	return true
}

// forget is for what could not be told.
func (t *toldOf) forget(of told) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.last, of)
}

// tellPINLimited tells the log, a metric, the audit trail and, as an event, the merchant that a PIN is paused, if the
// wrong one just now was the last that may be tried at this till, or at all of them; once an hour for each.
func (t *tills) tellPINLimited(c *service.Call, s *session, p *merchant.Person) error {
	for _, at := range []merchant.Till{s.caller.Account.PINKey(p, s.caller.KeyID), s.caller.Account.PINKey(p,
		guid.ID{})} {
		b, err := t.Store.TillBucket(c.Context(), at)
		if err != nil {
			return service.Stored(fmt.Errorf("reading how many PINs may be tried: %w", err))
		}
		note := told{event.PINLimited, at}
		if pinRate(at).Left(b, c.Now) > 0 || !t.told.isNew(note, c.Now, time.Hour) {
			continue
		}
		where := phrase.Kept("at till %s")
		if at.LocationID.IsZero() {
			where = "at all tills, the last of them at till %s"
		}
		t.PINLimited(c.Context(), merchant.Till{AccountID: at.AccountID, KeyID: s.caller.KeyID, LocationID: at.LocationID})
		err = t.addTrail(c, s, "", event.PINLimited, phrase.Kept("the PIN of %s is paused after %d wrong ones %v").Say(p.Name,
			pinRate(at).Burst, where.Say(s.caller.Name)))
		if err != nil {
			t.told.forget(note)
			return err
		}
	}
	return nil
}

// try checks a PIN, unless too many wrong ones were tried at this till, or at all of the account's: then right and
// wrong ones are answered alike.
func (t *tills) try(c *service.Call, at *merchant.Caller, p *merchant.Person, typed string) (right bool, _ error) {
	ctx := c.Context()
	var gone, failed error
	err := t.pins.Try(ctx, at.Account.PINKey(p, at.KeyID), func() (cost int) {
		failed = t.pins.Try(ctx, at.Account.PINKey(p, guid.ID{}), func() int {
			if right, gone = t.check(ctx, at, p.PIN, typed); gone == nil && !right {
				cost = 1
			}
			return cost
		})
		return cost
	})
	if err == nil {
		err = failed
	}
	if limited, ok := errors.AsType[*ratelimit.Limited](err); ok {
		refused := refusal.New(refusal.RateLimited, "Too many wrong PINs were tried for this person. Wait a moment.")
		refused.RetryAfter = limited.Wait
		return false, refused
	}
	if err = errors.Join(err, gone); err != nil {
		return false, service.Stored(fmt.Errorf("checking a PIN: %w", err))
	}
	return right, nil
}

// check waits for the till's turn, and compares a PIN with its hash.
func (t *tills) check(ctx context.Context, at *merchant.Caller, hash, typed string) (right bool, _ error) {
	done, err := t.busy.Take(ctx, at.Account.ID, at.KeyID)
	if err != nil {
		return false, err
	}
	defer done()
	return pin.Is(hash, typed), nil
}

// signOut has nobody stand at the till: whoever has a copy of the cookie stands there no more either.
func (t *tills) signOut(c *service.Call) (answer, error) {
	s, err := t.open(c)
	if err != nil {
		return nil, err
	}
	if s.person != nil {
		if _, err := t.beginShift(c, s.caller); err != nil {
			return nil, err
		}
	}
	t.clearCookie(c.Writer, personCookie)
	return t.tell(c, &session{caller: s.caller})
}

// proof is the cookie of somebody who signed in: until when, who, and what only the service could have made of that.
func (t *tills) proof(s *session) string {
	until := binary.BigEndian.AppendUint64(nil, uint64(s.until.Unix()))
	b := append(until, t.Keys.SignIn(claim(s.caller, s.person, s.until))...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.person.Name...))
}

// proofSize is how long what the service made is.
const proofSize = 33

// claim is what a proof proves. With another PIN, or at another till, it is another one.
func claim(c *merchant.Caller, p *merchant.Person, until time.Time) string {
	return fmt.Sprintf("%s %s %d %q %q", c.Account.ID, c.KeyID, until.Unix(), p.PIN, p.Name)
}

// signedIn tells who is signed in at the till that makes a request, and until when; nil: nobody.
func (t *tills) signedIn(r *http.Request, c *merchant.Caller, now time.Time) (*merchant.Person, time.Time, error) {
	b, err := base64.RawURLEncoding.DecodeString(t.cookie(r, personCookie))
	if err != nil || len(b) < 8+proofSize {
		return nil, time.Time{}, nil
	}
	until := time.Unix(int64(binary.BigEndian.Uint64(b)), 0).UTC()
	p := c.PersonNamed(string(b[8+proofSize:]))
	if p == nil || !now.Before(until) || !t.Keys.SignedIn(b[8:8+proofSize], claim(c, p, until)) {
		return nil, time.Time{}, nil
	}
	shift, err := t.shift(r.Context(), c, now)
	if err != nil {
		return nil, time.Time{}, service.Stored(err)
	}
	if until.Before(shift) { // this one, or somebody after, has signed out or in
		return nil, time.Time{}, nil
	}
	return p, until, nil
}
