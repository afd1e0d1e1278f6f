package ledger

import (
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
)

// Hold keeps an amount of a voucher of the calling account for one sale.
type Hold struct {
	gift.Hold
	VoucherID guid.ID
	pieces
	// Eligible judges the till's ticket for the voucher, purely; nil: no ticket was given.
	Eligible func(*gift.Voucher) *gift.Eligibility
	FirstUse
}

func (h *Hold) want(c *Call, w *Want) {
	w.Vouchers = append(w.Vouchers, Ref{c.AccountID, h.VoucherID})
	c.wantRedeemed(w)
	h.wantNew(c, w)
}

func (h *Hold) weigh(worth func(guid.ID) (gift.ItemWorth, error)) error {
	return h.weighOne(h.VoucherID, worth)
}

func (h *Hold) affinity() guid.ID { return h.VoucherID }

func (h *Hold) decide(c *Call, s *state) (Result, error) {
	v, err := s.payer(c, h.VoucherID, h.Context)
	if err != nil {
		return Result{}, err
	}
	ask := h.Hold
	ask.Context = s.context(h.Context, v.Last)
	if h.Eligible != nil {
		ask.Eligibility = h.Eligible(v)
	}
	after, e, err := v.Hold(ask)
	if err != nil || e.Kind == "" {
		s.missed(*v, h.Context, err)
		return nothing(after, err)
	}
	if err := h.ready(c, s, []gift.Voucher{after}); err != nil {
		return Result{}, err
	}
	// The guest may have gone when it is captured, which counts nothing more.
	if err := s.redeemed(c, h.worth.Of(&after, e.Held)); err != nil {
		return Result{}, err
	}
	s.enter(after, e)
	done := Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
	return done.with(h.replace(c, s, after, h.Context)), nil
}

func (h *Hold) locations(*Call, *state) []guid.ID { return []guid.ID{h.LocationID} }

// Capture redeems what a hold keeps.
type Capture struct {
	gift.Capture
	HoldID guid.ID
	Notice bool // has the recipient told what is left, if something is
	Forget bool // a refusal is not remembered: the caller may ask again under its key, also for another amount
}

func (k *Capture) want(c *Call, w *Want) { w.Holds = append(w.Holds, Ref{c.AccountID, k.HoldID}) }

func (*Capture) affinity() guid.ID { return guid.ID{} }

func (k *Capture) decide(c *Call, s *state) (Result, error) {
	v, held := s.held(Ref{c.AccountID, k.HoldID}, k.Context)
	if held == nil {
		return Result{}, ofTheKey(gift.NoSuchHold())
	}
	ask := k.Capture
	ask.Context = s.context(k.Context, v.Last)
	after, e, err := v.Capture(*held, ask)
	switch {
	case err != nil && k.Forget:
		return Result{}, unstored{err}
	case err != nil:
		return Result{}, ofTheKey(err)
	}
	return s.taken(after, e, k.Notice), nil
}

func (k *Capture) locations(c *Call, s *state) []guid.ID { return s.heldAt(Ref{c.AccountID, k.HoldID}) }

// Release ends a hold, named by its id or by the Idempotency-Key that it was made with. A key that has not arrived yet
// is spent: the answer is NOT_FOUND, and the hold will be refused should it still come.
type Release struct {
	gift.Release
	HoldID      guid.ID // or
	OriginalKey string
	Of          *UsedWith
}

func (r *Release) original(c *Call) RequestKey {
	return RequestKey{c.AccountID, operation.HoldGift, r.OriginalKey}
}

func (r *Release) want(c *Call, w *Want) { c.wantUndone(w, &w.Holds, r.HoldID, r.original(c)) }

func (*Release) affinity() guid.ID { return guid.ID{} }

func (r *Release) decide(c *Call, s *state) (Result, error) {
	if err := s.byKey(c, guid.ID{}, r.original(c)); err != nil {
		return Result{}, err
	}
	v, held := s.held(s.named(c, r.HoldID, r.original(c)), r.Context)
	if held == nil {
		return Result{}, ofTheKey(gift.NoSuchHold())
	}
	if err := r.Of.check(v.ID); err != nil {
		return Result{}, err
	}
	ask := r.Release
	ask.Context = s.context(r.Context, v.Last)
	after, e, changed, err := v.Release(*held, ask)
	switch {
	case err != nil:
		return Result{}, ofTheKey(err)
	case changed:
		s.enter(after, e)
		return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}, Hold: new(*held), At: s.now}, nil
	}
	return Result{Vouchers: []gift.Voucher{after}, Hold: new(*held), At: s.now}, nil
}

func (r *Release) locations(c *Call, s *state) []guid.ID {
	if at := s.heldAt(s.named(c, r.HoldID, r.original(c))); at != nil {
		return at
	}
	return c.callerLocations()
}

// GiveBack gives back of what was held for one sale, and captured of it.
type GiveBack struct {
	gift.Reverse
	HoldID   guid.ID
	Captures []guid.ID // of the hold, the oldest first
}

func (b *GiveBack) want(c *Call, w *Want) {
	w.Holds = append(w.Holds, Ref{c.AccountID, b.HoldID})
	for _, id := range b.Captures {
		w.Undoable = append(w.Undoable, Ref{c.AccountID, id})
	}
}

func (*GiveBack) affinity() guid.ID { return guid.ID{} }

// decide remembers no refusal: a capture that the caller did not know of yet may be there when it asks again.
func (b *GiveBack) decide(c *Call, s *state) (Result, error) {
	v, held := s.held(Ref{c.AccountID, b.HoldID}, b.Context)
	if held == nil {
		return Result{}, unstored{gift.NoSuchHold()}
	}
	var captured []gift.Undoable
	for _, id := range b.Captures {
		if t := s.undoable(Ref{c.AccountID, id}); t != nil && t.Entry.HoldID == b.HoldID {
			captured = append(captured, *t)
		}
	}
	ask, at := b.Reverse, func(last guid.ID) gift.Context { return s.context(b.Context, last) }
	ask.Context = at(v.Last)
	after, made, err := v.GiveBack(*held, captured, ask, at)
	if err != nil {
		return Result{}, unstored{err}
	}
	for _, e := range made {
		s.enter(after, e)
	}
	return Result{Vouchers: []gift.Voucher{after}, Entries: made}, nil
}

func (b *GiveBack) locations(c *Call, s *state) []guid.ID {
	return s.heldAt(Ref{c.AccountID, b.HoldID})
}

// expireAtOnce is how many holds an Expire enters: what redeems meanwhile waits for all of its group.
const expireAtOnce = 8

// Expire enters in a voucher's history which of its holds are over, the rest of many when it is repeated.
type Expire struct{ Ref }

func (x *Expire) want(_ *Call, w *Want) { w.Vouchers = append(w.Vouchers, x.Ref) }

func (x *Expire) affinity() guid.ID { return x.ID }

func (x *Expire) decide(_ *Call, s *state) (Result, error) {
	s.expire(x.Ref, gift.Context{}, expireAtOnce)
	return Result{}, nil
}

func (*Expire) locations(*Call, *state) []guid.ID { return nil }

// current is a voucher without the holds whose time is over; nil: there is none. That they are is entered here, where
// the voucher is touched next, whatever becomes of the command that does.
func (s *state) current(r Ref, c gift.Context) *gift.Voucher { return s.expire(r, c, gift.MaxHolds) }

// card is the current voucher, unless its card was replaced since the call found it.
func (s *state) card(c *Call, id guid.ID, at gift.Context) (*gift.Voucher, error) {
	v := s.current(Ref{c.AccountID, id}, at)
	if v == nil {
		return nil, gift.NoSuchGift()
	}
	return v, v.SameCard(c.Seen, s.now, c.Account.TimeZone())
}

// payer is the card of a gift of which the caller takes something, unless the card is taken at tills only and the
// caller is none.
func (s *state) payer(c *Call, id guid.ID, at gift.Context) (*gift.Voucher, error) {
	v, err := s.card(c, id, at)
	if err == nil {
		err = v.MayBeTakenBy(c.Caller)
	}
	return v, err
}

// expire enters which holds of a voucher are over, so many at most, and gives the voucher.
func (s *state) expire(ref Ref, c gift.Context, most int) *gift.Voucher {
	v := s.Vouchers[ref]
	for n := 0; v != nil && len(v.Holds) > 0 && n < most; n++ {
		after, e, due := v.ExpireOne(s.context(gift.Context{RequestID: c.RequestID}, v.Last))
		if !due {
			break
		}
		s.enter(after, e)
	}
	return v
}

// held finds a hold and its voucher; nil: there is none.
func (s *state) held(hold Ref, c gift.Context) (*gift.Voucher, *gift.Held) {
	if held := s.Holds[hold]; held != nil {
		return s.current(Ref{hold.AccountID, held.Entry.VoucherID}, c), held
	}
	return nil, nil
}

// heldAt is where a hold was made.
func (s *state) heldAt(hold Ref) []guid.ID {
	if held := s.Holds[hold]; held != nil {
		return []guid.ID{held.Entry.Actor.LocationID}
	}
	return nil
}

// releaseAll ends all holds of a voucher, which is not entered yet.
func (s *state) releaseAll(v gift.Voucher, c gift.Context) (_ gift.Voucher, entries []gift.Entry) {
	for len(v.Holds) > 0 {
		var e gift.Entry
		v, e, _ = v.ReleaseOne(s.context(c, v.Last))
		entries = append(entries, e)
	}
	return v, entries
}
