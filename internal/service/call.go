package service

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/base/nice"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Call is one call on its way to a reply.
type Call struct {
	*Service
	HTTP      *http.Request
	Writer    http.ResponseWriter
	RequestID string            // names the call in the log and in histories
	Now       time.Time         // of the call, by the account's clock
	Caller    *merchant.Caller  // nil: not known yet
	Account   *merchant.Account // the caller's; nil for a system key, until it has named one
	Key       string            // the Idempotency-Key, "" none
	DryRun    bool              // only what it would come to is asked for: nothing is done, and no Key kept
	Location  guid.ID           // where it is made, for the log; zero: not said
	Warning   string            // for the log; "": none
	Codes     int               // that a look-up shows
	Rehearsed bool              // it fails as a test account asked for, and not by anybody's fault
	Body      []byte            // of a POST, whole
	Media     string            // of the answer, if it succeeds; "": JSON

	ctx    context.Context
	ends   [2]context.CancelFunc      // of ctx
	setup  int64                      // the version of the set-up that says who calls, or of an older one
	clocks map[guid.ID]merchant.Clock // of the test accounts that the caller may act for
	place  place
	lent   *[trusted]byte // where the body lies, if that is used again
	memory int            // bytes that TakeMemory counted
	payer  *guid.ID       // for whom; nil: there were few
	terms  Terms          // that it was admitted under
}

// Terms are what a handler asks of a call, and of the service for it.
type Terms struct {
	Priority admission.Priority
	Within   time.Duration        // how long the call takes at most
	Needs    merchant.Permissions // of the caller
	AnyKey   bool                 // also for a system key
	Body     int64                // how long its body in JSON may be; 0: it has none
}

// Admit takes a call that is made with an API key: it tells who calls, reads the body, and waits until the call's turn
// has come.
func (c *Call) Admit(t Terms) (err error) {
	keys := c.Directory()
	c.terms = t
	if err := c.authorize(&t); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.HTTP.Context(), t.Within)
	c.ends[0] = cancel
	if t.Body > 0 {
		if c.Body, err = c.ReadBody(t.Body); err != nil {
			return err
		}
		// A body may take its time, and the key may be revoked or have expired meanwhile.
		c.Now = c.RealTime()
		if c.Directory() != keys || c.Caller.Temporary(c.Now) {
			if err := c.authorize(&t); err != nil {
				return err
			}
		}
	}
	return c.begin(ctx, t.Priority)
}

// Begin takes a call of a caller that the face has identified, at the one location that the caller has, if it has one:
// it waits until the call's turn has come. What follows takes so long at most. It is asked once.
func (c *Call) Begin(caller *merchant.Caller, p admission.Priority, within time.Duration) error {
	c.Caller, c.Account = caller, caller.Account
	if len(caller.Locations) == 1 {
		c.Location = caller.Locations[0]
	}
	c.Now = c.RealTime()
	ctx, cancel := context.WithTimeout(c.HTTP.Context(), within)
	c.ends[0] = cancel
	return c.begin(ctx, p)
}

func (c *Call) begin(ctx context.Context, p admission.Priority) error {
	if !c.enter(ctx, p) {
		return ErrOverloaded
	}
	if p == admission.Read {
		ctx, c.HTTP = c.inBackground(ctx), c.HTTP.WithContext(c.inBackground(c.HTTP.Context()))
	}
	c.ctx, c.ends[1] = c.withStoreTimeout(ctx)
	if err := c.readClocks(); err != nil {
		return err
	}
	c.ActFor(c.Account)
	return nil
}

// end gives the call's place and time back.
func (c *Call) end() {
	for _, cancel := range c.ends {
		if cancel != nil {
			cancel()
		}
	}
	c.Leave()
}

// Context ends when the time of the call is over, or its caller has gone.
func (c *Call) Context() context.Context { return c.ctx }

// Proceed has what follows take as long as a context allows: MoreTime's.
func (c *Call) Proceed(ctx context.Context) { c.ctx = ctx }

// withStoreTimeout is the context of what waits for the store.
func (s *Service) withStoreTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.config.StoreTimeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, s.config.StoreTimeout)
}

// HeavyDeadline is for orders that are held back while tills are busy, and for sheets.
const HeavyDeadline = engine.MaxHeld + 15*time.Second

// MoreTime is the context of what may be held back. It should keep no place from other calls meanwhile.
func (c *Call) MoreTime() (context.Context, context.CancelFunc) {
	c.Leave()
	// a test's writer has none
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Now().Add(HeavyDeadline + 15*time.Second))
	return context.WithTimeout(c.HTTP.Context(), HeavyDeadline)
}

// UploadDeadline is for calls whose body is a file.
const UploadDeadline = 10 * time.Minute

// Upload writes the body, a CSV file, into another one, no longer than most, and gives the context of what follows,
// which makes room for tills. It keeps no place from other calls meanwhile. Whether the caller still may make the call
// has to be asked: see StillMay.
func (c *Call) Upload(to io.Writer, most int64) (context.Context, context.CancelFunc, error) {
	if media, _, _ := mime.ParseMediaType(c.HTTP.Header.Get("Content-Type")); media != "" && media != "text/csv" &&
		media != "application/octet-stream" || c.HTTP.Header.Get("Content-Encoding") != "" {
		return nil, nil, refuseWith(http.StatusUnsupportedMediaType, refusal.NotSupported, "Content-Type",
			"The body must be a file, without compression: send Content-Type: text/csv.")
	}
	tooLong := func() error {
		c.throwAway()
		return refuseWith(http.StatusRequestEntityTooLarge, refusal.ValidationFailure, "",
			"The file may have at most %d MiB: cut it into several files.", most>>20)
	}
	if c.HTTP.ContentLength > most {
		return nil, nil, tooLong()
	}
	c.Leave()
	c.MoreTimeToRead()
	ctx := nice.LongBackground(c.HTTP.Context(), c.config.Admission.Busy)
	kept := &keeping{Writer: to, rest: nice.Resting(ctx)}
	if _, err := io.Copy(kept, http.MaxBytesReader(c.Writer, c.HTTP.Body, most)); err != nil {
		if kept.failed != nil {
			c.throwAway()
			return nil, nil, Unkept(kept.failed)
		}
		if _, long := errors.AsType[*http.MaxBytesError](err); long {
			return nil, nil, tooLong()
		}
		c.Writer.Header().Set("Connection", "close")
		return nil, nil, refusal.New(refusal.ValidationFailure, "The file did not arrive in full.")
	}
	ctx, cancel := context.WithTimeout(ctx, UploadDeadline)
	return ctx, cancel, nil
}

// StillMay asks once more who calls, and refuses who may not make the call any more: in the minutes that a file takes
// to come and to be checked, a key may be revoked, expire or be changed.
func (c *Call) StillMay() error {
	now := c.Now
	defer func() { c.Now = now }()
	c.Now = c.RealTime()
	return c.authorize(&c.terms)
}

// keeping is a writer that makes room for tills, and remembers why it failed: what is read may fail as well.
type keeping struct {
	io.Writer
	rest   func()
	failed error
}

// Write implements io.Writer.
func (k *keeping) Write(p []byte) (n int, err error) {
	k.rest()
	n, k.failed = k.Writer.Write(p)
	return n, k.failed
}

// MoreTimeToRead has the body take as long as a file may take, and the answer as long as checking the file may take
// after that.
func (c *Call) MoreTimeToRead() {
	control := http.NewResponseController(c.Writer)
	// a test's writer has none
	_ = control.SetReadDeadline(time.Now().Add(UploadDeadline))
	_ = control.SetWriteDeadline(time.Now().Add(2*UploadDeadline + 15*time.Second))
}

// Actor is who causes an entry, at a location; zero: at none in particular.
func (c *Call) Actor(location guid.ID) gift.Context {
	return gift.Context{RequestID: c.RequestID, Actor: merchant.Actor{KeyID: c.Caller.KeyID, LocationID: location,
		Person: c.Caller.Person, Address: c.Address(), Till: c.Caller.Till == merchant.PairedTill}}
}

// Address is that of the client.
func (c *Call) Address() string { return c.config.ClientAddress(c.HTTP).String() }

// event is what the call came to.
func (c *Call) event(r Reply) Event {
	event := Event{RequestID: c.RequestID, Overloaded: errors.Is(r.Err, ErrOverloaded), Err: hidden(r.Err),
		Warning: c.Warning, Codes: c.Codes, Code: r.Code, DryRun: c.DryRun}
	if refused, ok := errors.AsType[*refusal.Error](r.Err); ok && event.Code == "" {
		event.Code = refused.Code
	}
	if event.Rehearsed = c.Rehearsed; c.Rehearsed {
		event.Err = nil
	}
	if c.Account != nil {
		event.AccountID = c.Account.ID
	}
	if c.Caller != nil {
		event.KeyID, event.KeyName, event.LocationID = c.Caller.KeyID, c.Caller.Name, c.Location
		event.Person = c.Caller.Person
		if len(c.Caller.Locations) == 1 && c.Location.IsZero() {
			event.LocationID = c.Caller.Locations[0]
		}
	}
	return event
}
