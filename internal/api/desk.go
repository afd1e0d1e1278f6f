package api

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/refusal"
)

// Desk serves a call that came in another protocol than the interface's own, by the interface's rules: it is admitted,
// limited against guessing, kept under its key, logged and counted as the interface's own.
type Desk struct {
	*http.Request
	Now time.Time // of the call; since Begin, of that

	c      *call
	seen   *int // ledger.Call's Seen
	cancel context.CancelFunc
}

// Reply answers a call in the words of its protocol.
type Reply struct {
	Status int
	Type   string // of the body; "": JSON
	Body   []byte
	Code   refusal.Code // why it was refused, for the log; "": Err tells, or it was not
	Err    error        // what failed, or why it was refused; nil: nothing
}

// Foreign answers the calls of another protocol with what do replies.
func (a *API) Foreign(do func(*Desk) Reply) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := &call{API: a, ctx: r.Context(), w: w, r: r, requestID: Identify(w, r), now: a.Now().UTC(),
			leave: func() {}, setup: a.Directory().Version}
		defer c.release()
		d := &Desk{Request: r, Now: c.now, c: c, cancel: func() {}}
		var reply Reply
		_, err := attempt(c, func(*call) (ledger.Answer, error) {
			defer func() {
				d.cancel()
				c.leave()
			}()
			reply = do(d)
			return ledger.Answer{}, nil
		})
		if err != nil { // a panic
			reply = Reply{Status: http.StatusInternalServerError, Err: err}
		}
		event := c.event(reply.Err)
		event.Code = reply.Code
		if refused, ok := errors.AsType[*refusal.Error](reply.Err); ok && event.Code == "" {
			event.Code = refused.Code
		}
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if len(reply.Body) > 0 {
			h.Set("Content-Type", "application/json")
			if reply.Type != "" {
				h.Set("Content-Type", reply.Type)
			}
		}
		if reply.Status == http.StatusServiceUnavailable {
			sayWhen(h, told(reply.Err))
		}
		w.WriteHeader(reply.Status)
		w.Write(reply.Body) // a caller that has gone is no failure of ours
		a.Note(r.Context(), event)
	})
}

// ReadAll reads the body, whatever its type, of at most so many bytes. What it takes counts as the account's.
func (d *Desk) ReadAll(most int64, of *gift.Account) ([]byte, error) {
	known := d.c.account
	d.c.account = of
	defer func() { d.c.account = known }()
	return d.c.readAll(most)
}

// Setup is the newest set-up.
func (d *Desk) Setup() *gift.Directory { return d.c.Directory() }

// RequestID names the call in the log and in histories.
func (d *Desk) RequestID() string { return d.c.requestID }

// CashOutLaw is where guests may ask for cash.
func (d *Desk) CashOutLaw() gift.CashOutLaw { return d.c.CashOutLaw }

// CountAnonymous counts a call that proved no right to be made against the client's network, and refuses it once there
// were too many.
func (d *Desk) CountAnonymous() error {
	ctx, cancel := d.c.withStoreTimeout(d.c.ctx)
	defer cancel()
	return d.c.countAnonymous(ctx, d.c.ClientAddress(d.Request))
}

// Begin says who calls, at the one location that the caller has, and waits until the call is admitted. What follows
// takes so long at most. It is asked once.
func (d *Desk) Begin(caller *gift.Caller, p Priority, within time.Duration) error {
	c := d.c
	c.caller, c.account, c.location = caller, caller.Account, caller.Locations[0]
	c.now = c.Now().UTC()
	ctx, cancel := context.WithTimeout(c.r.Context(), within)
	d.cancel = cancel
	if !c.admit(ctx, p) {
		return errOverloaded
	}
	var end context.CancelFunc
	c.ctx, end = c.withStoreTimeout(ctx)
	d.cancel = func() {
		end()
		cancel()
	}
	if err := c.readClocks(); err != nil {
		return err
	}
	c.enter(c.account)
	d.Now = c.now
	return nil
}

// Before says how a gift is found that the caller used before.
type Before struct {
	// References are under which something may be kept: a key is a reference, a colon and the id of the gift, and more.
	References []string
	// Known tells whether a gift was used by what is asked for again, or to be taken back.
	Known func(*gift.Voucher) (bool, error)
}

// Find looks a gift up by its code, which is limited against guessing. Where no attempt is left, or the card was
// replaced, nothing is looked up by the code, but it is compared with those of gifts that the caller used before: what
// became of these can be asked for and undone all the same. The zero Before is none.
func (d *Desk) Find(code gift.VoucherCode, before Before) (gift.Gift, error) {
	g, err := d.c.find(giftRef{Code: code}, &gift.Location{ID: d.c.location})
	seen := g.Replaced
	if errors.Is(err, refusal.RateLimited) || errors.Is(err, refusal.RedemptionNotAllowed) {
		g, seen, err = d.findUsed(code, before, err)
	}
	if err != nil {
		return gift.Gift{}, err // whose it is, is nobody's business
	}
	d.seen = &seen
	return g, nil
}

// findUsed finds a gift that was refused, if the caller used it before, and what Replaced was when its card was seen.
func (d *Desk) findUsed(code gift.VoucherCode, before Before, refused error) (gift.Gift, int, error) {
	used, err := d.usedUnder(before.References)
	if err != nil {
		return gift.Gift{}, 0, err
	}
	g, err := d.c.compare(code, d.c.location, used)
	seen := g.Replaced
	_, replaced := errors.AsType[*gift.ReplacedError](err)
	switch {
	case replaced:
		seen = -1 // nothing new can be done with that card
	case errors.Is(err, refusal.NotFound), errors.Is(err, refusal.RateLimited):
		return gift.Gift{}, 0, refused
	case err != nil:
		return gift.Gift{}, 0, err
	}
	if _, err := d.c.caller.CheckUse(&g.Voucher, d.c.location, gift.NoSuchCode()); err != nil {
		return gift.Gift{}, 0, refused
	}
	if is, err := before.Known(&g.Voucher); err != nil || !is {
		return gift.Gift{}, 0, cmp.Or(err, refused)
	}
	return g, seen, nil
}

// maxUsed is how many gifts are compared: no guest pays one order with as many.
const maxUsed = 100

// usedUnder lists the gifts that the provider used under references.
func (d *Desk) usedUnder(references []string) (used []guid.ID, _ error) {
	for _, reference := range references {
		begin := d.Scope(reference + ":")
		keys, err := d.c.Records.ProviderKeys(d.c.ctx, d.c.account.ID, begin, maxUsed)
		if err != nil {
			return nil, stored(err)
		}
		for _, key := range keys {
			text, _, _ := strings.Cut(strings.TrimPrefix(key, begin), ":")
			if id, err := guid.Parse(text); err == nil && !slices.Contains(used, id) {
				used = append(used, id)
			}
		}
	}
	return used, nil
}

// Gift finds a gift by its id, if it may be used where the call is made.
func (d *Desk) Gift(id guid.ID) (gift.Gift, error) {
	g, err := d.c.Records.Gift(d.c.ctx, d.c.account.ID, id)
	if errors.Is(err, refusal.NotFound) || err == nil && !g.AllowedAt(d.c.location) {
		return gift.Gift{}, gift.NoSuchGift()
	}
	return g, stored(err)
}

// Token is a proof for the provider that it was told of a gift: it is good for nobody else, and for no other gift.
func (d *Desk) Token(voucher guid.ID) string {
	made := d.c.Fingerprint(d.tokenText(voucher))
	return hex.EncodeToString(made[:])
}

func (d *Desk) tokenText(voucher guid.ID) []byte { return []byte(d.Scope("token " + voucher.String())) }

// TokenOf reports whether a text is the Token of a gift, also if it was made with an earlier key.
func (d *Desk) TokenOf(text string, voucher guid.ID) bool {
	var shown [32]byte
	if len(text) != hex.EncodedLen(len(shown)) {
		return false
	}
	if _, err := hex.Decode(shown[:], []byte(text)); err != nil {
		return false
	}
	made := d.c.Fingerprint(d.tokenText(voucher))
	if subtle.ConstantTimeCompare(shown[:], made[:]) == 1 || d.c.Fingerprinted == nil {
		return shown == made
	}
	earlier, err := d.c.Fingerprinted(shown, d.tokenText(voucher))
	return err == nil && earlier
}

// Told is what a caller may be told of an error: a refusal as it is, and of a failure no reason.
func (d *Desk) Told(err error) *refusal.Error { return told(err) }

// Problem is the interface's problem document of a refusal that is answered with a status.
func (d *Desk) Problem(refused *refusal.Error, status int) []byte {
	return problemDocument(refused, status, d.c.PublicURL, d.c.requestID).Body
}

// Scope is an idempotency key of the provider that calls.
func (d *Desk) Scope(key string) string { return ledger.ForeignKey(d.c.caller.KeyID, key) }

// Requests gives the records under one of the provider's keys of which the caller may be told.
func (d *Desk) Requests(key string) (told []ledger.Request, err error) {
	all, err := d.Kept(key)
	for _, r := range all {
		if r.MayBeToldTo(d.c.caller) {
			told = append(told, r)
		}
	}
	return told, err
}

// Kept gives all records under one of the provider's keys, at whichever of its locations they were made.
func (d *Desk) Kept(key string) ([]ledger.Request, error) {
	all, err := d.c.Records.Requests(d.c.ctx, d.c.account.ID, "", d.Scope(key))
	if errors.Is(err, refusal.NotFound) {
		return nil, nil
	}
	return all, stored(err)
}

// Newest gives the newest of what happened to a gift of the account, so many entries at most, the oldest of them first.
func (d *Desk) Newest(g *gift.Gift, most int) ([]gift.Entry, error) {
	entries, err := d.c.Records.History(d.c.ctx, d.c.account.ID, g.ID, max(0, g.Seq-most), most)
	return entries, stored(err)
}

// Parts gives an entry of a gift of the account and what became of it, however long the gift's history is; none where
// it has no such entry.
func (d *Desk) Parts(voucher, entry guid.ID) ([]gift.Entry, error) {
	parts, err := d.c.Records.Parts(d.c.ctx, d.c.account.ID, entry)
	if len(parts) > 0 && (parts[0].ID != entry || parts[0].VoucherID != voucher) {
		parts = nil
	}
	return parts, stored(err)
}

// From refuses a call that does not come from where it may.
func (d *Desk) From(allowed gift.Networks) error { return d.c.from(allowed) }

// Order is something to be done under a key.
type Order struct {
	Operation    gift.Operation
	Key          string // the provider's; "": none
	Asked        any    // what was asked for: a struct of nothing else, whose fields can be written as JSON
	Verification string // that a card was shown with; "": none
	Command      ledger.Command
	// Render makes the answer, which is kept under the key; it is pure and may run more than once.
	Render func(ledger.Result, error) ledger.Answer
}

// Context is who causes an entry.
func (d *Desk) Context() gift.Context { return d.c.actor(d.c.location) }

// Do has the engine do something. What the key may not do, and what cannot be told now, is an error; every other
// refusal is an answer.
func (d *Desk) Do(o Order) (ledger.Answer, error) {
	if o.Key != "" {
		d.c.key = d.Scope(o.Key)
	}
	r := d.c.request(o.Operation, o.Asked)
	r.seen = d.seen
	if o.Verification == "" {
		return r.run(o.Command, o.Render)
	}
	var answer ledger.Answer
	err := d.c.guesses.lookUp(d.c.ctx, d.c.till(d.c.location), func() (cost int, err error) {
		if answer, err = r.run(o.Command, o.Render); r.wrongCode.Load() || gift.IsWrongCode(err) {
			cost = gift.MissUnknown
		}
		return cost, err
	})
	if errors.Is(err, refusal.RateLimited) { // what is known under the key is told all the same
		return r.run(&ledger.Rejected{Err: err}, o.Render)
	}
	return answer, err
}

// Redeemed is told of a redemption that was done by this very call.
func (d *Desk) Redeemed(voucher guid.ID) { d.c.redeemed(voucher, d.c.location) }
