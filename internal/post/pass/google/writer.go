package google

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/refusal"
)

// Store is what a writer needs of a store.
type Store interface {
	Gift(ctx context.Context, account, voucher guid.ID) (gift.Gift, error)
	// TouchGoogle notes that objects are to be written anew, GoogleDue gives some of these, and SaveGoogle notes that they
	// were written.
	TouchGoogle(ctx context.Context, account guid.ID, gifts []event.TouchedGift) error
	GoogleDue(ctx context.Context, account guid.ID, limit int) ([]event.GooglePass, error)
	SaveGoogle(ctx context.Context, passes []event.GooglePass) error
	// GoogleWithout looks through some gifts that were made before one of them (zero: through the newest), and gives those
	// that a guest can use and that were never touched, at most limit. next is where to go on; zero: nowhere.
	GoogleWithout(ctx context.Context, account, before guid.ID, now time.Time, limit int) (without []guid.ID, next guid.ID,
		err error)
}

// Writer has Google keep an object for each gift of the merchants that have a service account, as the gift is now. What
// it is told of is kept until Google has it, so that nothing is lost when it stops.
type Writer struct {
	Store     Store
	Directory func() *merchant.Directory
	Now       func(context.Context, *merchant.Account) (time.Time, error) // by the clock of an account
	PublicURL string
	At        Addresses
	Log       *slog.Logger
	Observe   func(outcome string) // told of every object: written, refused, unreadable or failed; nil: nobody is

	mu       sync.Mutex
	accounts map[guid.ID]*work
	running  sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc
	toldAt   time.Time // when the log was told last that an account waits
	leftAt   time.Time // when it was told last of a gift that is left out
	leftOut  int       // how many it was not told of
}

// work is what is done for one account.
type work struct {
	busy     bool
	due      bool // there may be something to write
	lookAt   time.Time
	resume   time.Time
	failures int
	earlier  time.Time // when gifts are looked for next that Google was never told of
	before   guid.ID   // where to go on looking; zero: at the newest

	of      [sha256.Size]byte // the service account
	client  *client
	classes map[string][sha256.Size]byte // that Google has, as they were written
	mu      sync.Mutex                   // of classes
}

const (
	lookEvery  = time.Minute // for what another instance left
	perRound   = 40
	atOnce     = 8 // calls of an account in flight
	firstPause = 2 * time.Second
	maxPause   = 10 * time.Minute
	tellEvery  = time.Minute
	lookAgain  = 24 * time.Hour // through all gifts of an account
	// between two steps of that: Google takes 20 calls in a second
	lookPause = 4 * time.Second
)

// Begin makes the writer ready, before any other call.
func (w *Writer) Begin() {
	w.accounts = map[guid.ID]*work{}
	w.ctx, w.stop = context.WithCancel(context.Background())
}

// Stop breaks off what is in flight, which is done again later.
func (w *Writer) Stop() {
	w.stop()
	w.running.Wait()
}

// has is the account, if it has a service account.
func (w *Writer) has(account guid.ID) *merchant.Account {
	if a := w.Directory().Accounts[account]; a != nil && a.Wallet.Google.Issuer != "" {
		return a
	}
	return nil
}

// Touched notes that something happened to gifts.
func (w *Writer) Touched(ctx context.Context, account guid.ID, gifts []event.TouchedGift) error {
	if w.has(account) == nil || len(gifts) == 0 {
		return nil
	}
	if err := w.Store.TouchGoogle(ctx, account, gifts); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.of(account).due = true
	return nil
}

func (w *Writer) of(account guid.ID) *work {
	if w.accounts[account] == nil {
		w.accounts[account] = &work{due: true, classes: map[string][sha256.Size]byte{}}
	}
	return w.accounts[account]
}

// Work goes on for an account that is this process's, if there is something to do.
func (w *Writer) Work(account guid.ID) {
	a, now := w.has(account), time.Now()
	if a == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	of := w.of(account)
	due := of.due || !now.Before(of.lookAt) || !now.Before(of.earlier)
	if of.busy || now.Before(of.resume) || !due || w.ctx.Err() != nil {
		return
	}
	of.busy, of.due, of.lookAt = true, false, now.Add(lookEvery)
	w.running.Go(func() { w.run(a, of) })
}

// run writes what is due of an account, and then looks for more.
func (w *Writer) run(a *merchant.Account, of *work) {
	err := w.all(a, of)
	if err == nil {
		err = w.lookBack(a, of)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	of.busy = false
	if err == nil || w.ctx.Err() != nil {
		of.failures = 0
		return
	}
	of.due, of.resume = true, time.Now().Add(min(maxPause, firstPause<<min(of.failures, 20)))
	of.failures++
	if now := time.Now(); now.Sub(w.toldAt) >= tellEvery {
		w.toldAt = now
		w.Log.Warn("passes of Google Wallet could not be written; this is tried again", "account", a.ID, "error", err)
	}
}

// lookBack takes a step through the gifts of an account, the newest first, if it is time to. Some of those that Google
// was never told of are touched: they were sold before the merchant had a service account, and nothing may happen to
// them before their guest looks for the link. It comes after all that is due, so that no use of a gift waits for more
// than a step of it. Position 1 is before all that happens from now on, which is told in any case.
func (w *Writer) lookBack(a *merchant.Account, of *work) error {
	if w.ctx.Err() != nil || time.Now().Before(of.earlier) {
		return nil
	}
	now, err := w.Now(w.ctx, a)
	if err != nil {
		return err
	}
	without, next, err := w.Store.GoogleWithout(w.ctx, a.ID, of.before, now, perRound)
	if err != nil {
		return err
	}
	gifts := make([]event.TouchedGift, len(without))
	for i, id := range without {
		gifts[i] = event.TouchedGift{VoucherID: id, Position: 1}
	}
	if err := w.Store.TouchGoogle(w.ctx, a.ID, gifts); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	of.before, of.earlier = next, time.Now().Add(lookPause)
	if next.IsZero() {
		of.earlier = time.Now().Add(lookAgain)
	}
	of.due = of.due || len(gifts) > 0
	return nil
}

func (w *Writer) all(a *merchant.Account, of *work) error {
	if is := sha256.Sum256([]byte(a.Wallet.Google.Key)); of.client == nil || of.of != is {
		account, err := NewAccount(a.Wallet.Google.Key)
		if err != nil {
			return err
		}
		of.of, of.client, of.classes = is, newClient(account, w.At), map[string][sha256.Size]byte{}
	}
	for {
		due, err := w.Store.GoogleDue(w.ctx, a.ID, perRound)
		if err != nil || len(due) == 0 {
			return err
		}
		done, wrong := w.some(a, of, due)
		if err := errors.Join(w.Store.SaveGoogle(w.ctx, done), wrong); err != nil {
			return err
		}
	}
}

// some writes some objects, a few at once, and gives those that need not be written again. A gift that cannot be read
// while others can is at fault itself, and is left out; where none can be read, it is the store.
func (w *Writer) some(a *merchant.Account, of *work, due []event.GooglePass) (done []event.GooglePass, wrong error) {
	came := make([]error, len(due))
	var all sync.WaitGroup
	turns := make(chan struct{}, atOnce)
	for i := range due {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			var c event.PassCard
			if c, came[i] = w.one(a, of, due[i]); came[i] == nil {
				due[i].Card = c
			}
		})
	}
	all.Wait()
	read := slices.ContainsFunc(came, func(err error) bool { return !errors.Is(err, errUnread) })
	for i, err := range came {
		outcome := outcomeOf(err)
		if read && errors.Is(err, errUnread) && w.ctx.Err() == nil {
			outcome = unreadable
		}
		switch outcome {
		case written:
			done = append(done, due[i])
		case failed:
			wrong = err
		default: // the others go on
			w.leaveOut(&due[i], err)
			done = append(done, due[i])
		}
		if w.Observe != nil {
			w.Observe(outcome)
		}
	}
	return done, wrong
}

// errUnread tells that a gift could not be read.
var errUnread = errors.New("reading a gift for Google Wallet")

// What came of an object.
const (
	written    = "written"
	refused    = "refused"    // Google never takes it as it is
	unreadable = "unreadable" // the gift does not open
	failed     = "failed"     // it is tried again
)

func outcomeOf(err error) string {
	switch {
	case err == nil:
		return written
	case status(err) == http.StatusBadRequest:
		return refused
	case errors.Is(err, refusal.UnexpectedError):
		return unreadable
	}
	return failed
}

// leaveOut tells the log of a gift that is not tried again before something happens to it, of one a minute.
func (w *Writer) leaveOut(p *event.GooglePass, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leftOut++
	if now := time.Now(); now.Sub(w.leftAt) >= tellEvery {
		w.Log.Error("a gift has no pass of Google Wallet as it is now, until something happens to it", "account", p.AccountID,
			"gift", p.VoucherID, "error", err, "gifts", w.leftOut)
		w.leftAt, w.leftOut = now, 0
	}
}

// one writes the object of a gift as the gift is now, and gives its card. The object of a card that the gift has no
// more dies first, if this issuer has it.
func (w *Writer) one(a *merchant.Account, of *work, p event.GooglePass) (c event.PassCard, err error) {
	g, err := w.Store.Gift(w.ctx, a.ID, p.VoucherID)
	if errors.Is(err, refusal.NotFound) { // its import was taken back
		return c, w.kill(a, of, p, locale.For(a.GuestLanguage()))
	}
	if err == nil && !Saved(&g) {
		return p.Card, nil
	}
	if err != nil {
		return c, fmt.Errorf("%w: %w", errUnread, err)
	}
	now, err := w.Now(w.ctx, a)
	if err != nil {
		return c, err
	}
	v := card.New(&g, a, now)
	o := objectOf(a.Wallet.Google.Issuer, w.PublicURL, a, &g, &v, now)
	if c = CardAt(a.Wallet.Google.Issuer, &g); p.Card != c {
		if err := w.kill(a, of, p, v.Locale); err != nil {
			return c, err
		}
	}
	if err := w.class(of, o.Class, &v); err != nil {
		return c, err
	}
	return c, of.client.write(w.ctx, "giftCardObject", o.ID, o)
}

// kill has the object of a card say that the gift has another one, if Google has such an object at this issuer.
func (w *Writer) kill(a *merchant.Account, of *work, p event.GooglePass, l *locale.Locale) error {
	if p.Card == (event.PassCard{}) {
		return nil
	}
	dead := deadObject(a.Wallet.Google.Issuer, p.VoucherID, p.Card, l)
	if err := of.client.change(w.ctx, "giftCardObject", dead.ID, dead); status(err) != http.StatusNotFound {
		return err
	}
	return nil
}

// class has Google keep a class as it is now, unless it does.
func (w *Writer) class(of *work, id string, v *card.View) error {
	c := classOf(id, w.PublicURL, v)
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("writing a class of passes: %w", err)
	}
	is := sha256.Sum256(text)
	of.mu.Lock()
	defer of.mu.Unlock()
	if of.classes[id] == is {
		return nil
	}
	err = of.client.write(w.ctx, "giftCardClass", id, c)
	if status(err) == http.StatusBadRequest && c.Logo != nil {
		// Google fetches the logo while it answers, and refuses a class of which it cannot: a firewall may keep it out. A
		// class without one is better than no pass of any gift.
		w.Log.Warn("Google does not take the logo of a design; its passes of Google Wallet go without", "class", id)
		c.Logo = nil
		err = of.client.write(w.ctx, "giftCardClass", id, c)
	}
	if err != nil {
		return err
	}
	of.classes[id] = is
	return nil
}
