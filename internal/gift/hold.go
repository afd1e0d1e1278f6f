package gift

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// Limits of holds.
const (
	MinHoldTime     = time.Minute
	MaxHoldTime     = 30 * 24 * time.Hour
	DefaultHoldTime = 15 * time.Minute
	// MaxHolds is how many open holds a gift can have: each is read with the gift.
	MaxHolds = 100
)

// OpenHold is an amount of a gift that is kept for one sale, until it is captured or released, or its time is over.
type OpenHold struct {
	ID         guid.ID      // the HOLD entry's
	Left       money.Amount // what is still held, above zero
	Until      time.Time    // the first instant at which it is no longer held
	LocationID guid.ID      // where it was made
}

// HeldAt is how much of the balance open holds keep.
func (v *Voucher) HeldAt(now time.Time) (held money.Amount) {
	for _, h := range v.Holds {
		if now.Before(h.Until) {
			held += h.Left
		}
	}
	return held
}

// Available is how much of the balance can be redeemed or held.
func (v *Voucher) Available(now time.Time) money.Amount { return v.Balance - v.HeldAt(now) }

// Hold asks to keep an amount for one sale. Its members are those of a redemption, which its captures will be.
type Hold struct {
	Redeem
	Lasts time.Duration // 0: DefaultHoldTime
}

// Hold keeps an amount of a voucher for one sale. It changes neither balance nor status. It fails as Redeem does, and
// holds nothing where Redeem takes nothing; INSUFFICIENT_BALANCE is above what is available. A gift that has MaxHolds
// is REDEMPTION_NOT_ALLOWED.
func (v Voucher) Hold(h Hold) (Voucher, Entry, error) {
	take, err := v.amountOf(h.Redeem)
	if err != nil || take == 0 {
		return v, Entry{}, err
	}
	if len(v.Holds) >= MaxHolds {
		return v, Entry{}, refusal.New(refusal.RedemptionNotAllowed, "This gift has %d open holds; it can have no more.",
			MaxHolds)
	}
	if h.Lasts == 0 {
		h.Lasts = DefaultHoldTime
	}
	v.WrongCodes = 0
	e := v.enter(h.Context, HoldMade, 0, v.Status)
	e.Held, e.Until, e.Reference, e.Reason = take, h.Now.Add(h.Lasts), h.Reference, h.Reason
	e.HeldAfter += take
	v.Holds = append(slices.Clip(v.Holds), OpenHold{e.ID, take, e.Until, e.Actor.LocationID})
	return v, e, nil
}

// Held is a hold as the history of its voucher has it.
type Held struct {
	Entry Entry // the HOLD, without what neither captures nor releases look at, such as its amount
	Last  Entry // of one that is open no more: the newest that captured, released or ended it
}

// Capture asks to redeem what is held.
type Capture struct {
	Context
	Caller    *merchant.Caller
	Amount    money.Amount // in the voucher's unit; 0: all that is held
	Number    money.Number // in place of Amount: as the caller wrote it; "": Amount stands
	KeepRest  bool         // what is not captured stays held
	Reference string
}

// Capture redeems what is held, at the location where it was held, and releases the rest unless it is to be kept. A
// gift whose own validity ended meanwhile pays what it holds. It fails with NOT_FOUND when h is no hold of this
// voucher or was made where the caller is not enabled, HOLD_NOT_OPEN, VALIDATION_FAILURE, and INSUFFICIENT_BALANCE
// above what is held.
func (v Voucher) Capture(h Held, c Capture) (Voucher, Entry, error) {
	open, err := v.open(h, c.Caller, c.Now)
	if err != nil {
		return v, Entry{}, err
	}
	if open == nil {
		return v, Entry{}, v.holdNotOpen(h, c.Caller.Account.TimeZone())
	}
	take, err := v.amount(c.Number, c.Amount)
	switch {
	case err != nil:
		return v, Entry{}, err
	case take < 0:
		return v, Entry{}, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "The amount must be above zero.")
	case take > open.Left:
		return v, Entry{}, v.heldLess(open)
	case take == 0:
		take = open.Left
	}
	freed := open.Left
	if c.KeepRest {
		freed = take
	}
	c.Actor.LocationID = open.LocationID
	v.free(h.Entry.ID, freed)
	e := v.enter(c.Context, Redemption, -take, v.afterTaking(take))
	e.HoldID, e.Held, e.Reference = h.Entry.ID, -freed, c.Reference
	return v, e, nil
}

// Release asks to end a hold before its time.
type Release struct {
	Context
	Caller *merchant.Caller
	Amount money.Amount // that is to be held no longer; 0: all that is held
}

// Release ends a hold before its time, or lessens it. One that holds nothing any more, because it was released or its
// time is over, stays as it is and gets no entry: changed is false. It fails with NOT_FOUND as Capture does, with
// HOLD_NOT_OPEN when the hold was captured, and with INSUFFICIENT_BALANCE above what is held.
func (v Voucher) Release(h Held, r Release) (_ Voucher, _ Entry, changed bool, _ error) {
	open, err := v.open(h, r.Caller, r.Now)
	switch {
	case err != nil:
		return v, Entry{}, false, err
	case open == nil && h.Last.Kind == Redemption:
		return v, Entry{}, false, v.holdNotOpen(h, r.Caller.Account.TimeZone())
	case open == nil:
		return v, Entry{}, false, nil
	case r.Amount < 0 || r.Amount > open.Left:
		return v, Entry{}, false, v.heldLess(open)
	}
	part := *open
	part.Left = cmp.Or(r.Amount, open.Left)
	e := v.endHold(r.Context, HoldReleased, part)
	return v, e, true, nil
}

// heldLess refuses to take more of a hold than it holds.
func (v *Voucher) heldLess(open *OpenHold) *refusal.Error {
	return refusal.At(refusal.InsufficientBalance, refusal.FieldAmount, "This hold is of %s.", v.Unit().Money(open.Left))
}

// GiveBack gives back of what was held for one sale: first what still is, which it releases, then what was captured,
// the oldest first. at is the Context of an entry that follows another. It fails as Release and Reverse do; with
// ALREADY_REVERSED when nothing is left of the sale, and VALIDATION_FAILURE above what is.
func (v Voucher) GiveBack(h Held, captured []Undoable, r Reverse, at func(last guid.ID) Context) (Voucher, []Entry,
	error) {
	open, err := v.open(h, r.Caller, r.Now)
	if err != nil {
		return v, nil, err
	}
	if open == nil {
		open = new(OpenHold)
	}
	left := open.Left
	for _, t := range captured {
		left += t.Left()
	}
	switch rest := r.Amount; {
	case left == 0:
		return v, nil, refusal.New(refusal.AlreadyReversed, "All of this has been given back already.")
	case rest <= 0 || rest > left:
		return v, nil, refusal.At(refusal.ValidationFailure, refusal.FieldAmount, "Only %s of this is left to give back.",
			v.Unit().Money(left))
	}
	before, rest, made := v, r.Amount, []Entry(nil)
	if release := min(rest, open.Left); release > 0 {
		after, e, _, err := v.Release(h, Release{Context: at(v.Last), Caller: r.Caller, Amount: release})
		if err != nil {
			return v, nil, err
		}
		v, made, rest = after, append(made, e), rest-release
	}
	for _, t := range captured {
		part := r
		if part.Amount = min(rest, t.Left()); part.Amount == 0 {
			continue
		}
		part.Context = at(v.Last)
		after, e, err := v.Reverse(t, part)
		if err != nil {
			return before, nil, err
		}
		v, made, rest = after, append(made, e), rest-part.Amount
	}
	return v, made, nil
}

// ReleaseOne ends the oldest hold, as a cancellation does with all of them; ok is false where there is none.
func (v Voucher) ReleaseOne(c Context) (_ Voucher, _ Entry, ok bool) {
	if len(v.Holds) == 0 {
		return v, Entry{}, false
	}
	e := v.endHold(c, HoldReleased, v.Holds[0])
	return v, e, true
}

// ExpireOne ends a hold whose time is over; ok is false where there is none.
func (v Voucher) ExpireOne(c Context) (_ Voucher, _ Entry, ok bool) {
	due := slices.IndexFunc(v.Holds, func(h OpenHold) bool { return !c.Now.Before(h.Until) })
	if due < 0 {
		return v, Entry{}, false
	}
	e := v.endHold(c, HoldExpired, v.Holds[due])
	return v, e, true
}

// open finds an open hold for a caller; nil: it is not open. NOT_FOUND: it is none that the caller may see.
func (v *Voucher) open(h Held, c *merchant.Caller, now time.Time) (*OpenHold, error) {
	if h.Entry.Kind != HoldMade || h.Entry.VoucherID != v.ID || !c.Enabled(h.Entry.Actor.LocationID) {
		return nil, NoSuchHold()
	}
	if o := holdIn(v.Holds, h.Entry.ID); o != nil && now.Before(o.Until) {
		return o, nil
	}
	return nil, nil
}

// free takes an amount off a hold, which is over when nothing is left. Other values of the voucher keep their holds.
func (v *Voucher) free(hold guid.ID, amount money.Amount) {
	v.Holds = slices.Clone(v.Holds)
	holdIn(v.Holds, hold).Left -= amount
	v.Holds = slices.DeleteFunc(v.Holds, func(h OpenHold) bool { return h.Left == 0 })
	if len(v.Holds) == 0 {
		v.Holds = nil
	}
}

func (v *Voucher) endHold(c Context, kind Kind, h OpenHold) Entry {
	v.free(h.ID, h.Left)
	c.Actor.LocationID = h.LocationID
	e := v.enter(c, kind, 0, v.Status)
	e.HoldID, e.Held = h.ID, -h.Left
	return e
}

// holdNotOpen tells what became of a hold.
func (v *Voucher) holdNotOpen(h Held, zone *time.Location) *refusal.Error {
	at := LocalTime(h.Last.At, zone)
	switch {
	case h.Last.Kind == Redemption:
		return refusal.At(refusal.HoldNotOpen, refusal.FieldHold, "This hold was captured at %s.", at)
	case h.Last.Kind == HoldReleased:
		return refusal.At(refusal.HoldNotOpen, refusal.FieldHold, "This hold was released at %s.", at)
	}
	return refusal.At(refusal.HoldNotOpen, refusal.FieldHold, "This hold expired at %s.", LocalTime(h.Entry.Until, zone))
}

// held tells what is held and until when, as the end of a sentence.
func (v *Voucher) held(now time.Time, zone *time.Location) *phrase.Phrase {
	n, first, last := 0, time.Time{}, time.Time{}
	for _, h := range v.Holds {
		switch {
		case !now.Before(h.Until):
			continue
		case n == 0:
			first, last = h.Until, h.Until
		case h.Until.Before(first):
			first = h.Until
		case h.Until.After(last):
			last = h.Until
		}
		n++
	}
	held, until := v.Unit().Money(v.HeldAt(now)), LocalTime(last, zone)
	if n > 1 {
		return phrase.New("%s is held until %s, the first of %d holds until %s", held, until, n, LocalTime(first, zone))
	}
	return phrase.New("%s is held until %s", held, until)
}

// openHolds names open holds, as many as a sentence can.
func (v *Voucher) openHolds() *phrase.Phrase {
	const most = 10
	var names []string
	for _, h := range v.Holds[:min(len(v.Holds), most)] {
		names = append(names, h.ID.String())
	}
	if more := len(v.Holds) - most; more > 0 {
		return phrase.New("%s, and %d more", strings.Join(names, ", "), more)
	}
	return phrase.New("%s", strings.Join(names, ", "))
}

// holdIn finds one of some holds; nil: it is none of them.
func holdIn(holds []OpenHold, id guid.ID) *OpenHold {
	for n := range holds {
		if holds[n].ID == id {
			return &holds[n]
		}
	}
	return nil
}
