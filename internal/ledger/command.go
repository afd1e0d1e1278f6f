package ledger

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// Call is how a command is asked for: by whom, under which key, and how its outcome reads as an answer.
type Call struct {
	AccountID   guid.ID
	Operation   operation.Name
	Key         string   // the Idempotency-Key; "": none
	Fingerprint [32]byte // keyed hash of the normalized request
	// Fingerprinted tells whether a recorded fingerprint that differs is of this request nevertheless, made with an
	// earlier key; the error says that nobody here knows. nil: none is.
	Fingerprinted func([32]byte) (bool, error)
	Caller        *merchant.Caller  // who is told; nil: nobody in particular
	Seen          *int              // of a gift that was found by a code or token: see gift.Voucher.SameCard
	Account       *merchant.Account // whose daily limits count, and those of the caller's key; nil: none do
	Ahead         time.Duration     // how far the clock of a test account is likely to be ahead
	Setup         int64             // the version of the set-up by which it was judged, or of an older one; 0: by none
	DryRun        bool              // only what the answer would be is asked for; there is no Key: see engine.Engine
	Verifies      bool              // it shows a verification code
	// Render makes the answer of an outcome; the error is a *refusal.Error. It is pure and may run more than once.
	Render func(Result, error) Answer

	left []merchant.Quota // of the daily limits that it counted against, after it was decided
}

// made tells whether a record is of this very request.
func (c *Call) made(known *Request) (bool, error) {
	if known.Fingerprint == c.Fingerprint || c.Fingerprinted == nil {
		return known.Fingerprint == c.Fingerprint, nil
	}
	return c.Fingerprinted(known.Fingerprint)
}

// typed is what a till asks for that is shown a new code of the account. two tells that there may be a card of another
// system with the same code, where the account has such cards.
func (c *Call) typed(code codes.VoucherCode) (_ codes.VoucherCode, two bool) {
	if c.Account == nil || len(c.Account.ImportedCodes) == 0 {
		return code, false
	}
	return code.Typed(c.AccountID), true
}

// RequestKey is the scope that the call's key belongs to. Integrators without an account of their own must not share
// one in the accounts that they send for, or one would be given the codes of another's gifts for a key that both
// happen to use. A line break stands in no header, so that no key of an account can be taken for theirs.
func (c *Call) RequestKey() RequestKey { return RequestKey{c.AccountID, c.Operation, c.Scope()} }

// Scope is the Key of the call's RequestKey.
func (c Call) Scope() string {
	if c.Caller != nil && c.Caller.Integrator() != "" && c.Key != "" {
		return c.Caller.Integrator() + "\n" + c.Key
	}
	return c.Key
}

// Result is what a command did.
type Result struct {
	Gifts    []gift.Gift    // issued
	Sheet    codes.Token    // of the link to those of them that are printed; the zero one: none is
	Vouchers []gift.Voucher // redeemed, reversed, cancelled, reinstated, resent or rescheduled, as they are afterwards
	Delivery gift.Delivery  // of the one that was resent or rescheduled, afterwards
	Secrets  Secrets        // of the one that goes to somebody else now; zero: it is found by those that it had
	NewCards []NewCard      // of those whose cards were replaced, as they were used first at a till
	Entries  []gift.Entry   // what was entered in their histories, in the same order
	// Changed and NotAllowed tell of each of the vouchers of a Cancel or Reinstate whether it was changed, and if not,
	// why that was not allowed; nil: there was nothing to change.
	Changed    []bool
	NotAllowed []*refusal.Error
	Hold       *gift.Held // that was released, now or before; nil: of other commands
	At         time.Time  // of the decision; of a Release, a Cancel and a Reinstate
}

// Command is one of Issue, Redeem, RedeemTogether, Hold, Capture, Release, GiveBack, Expire, Reverse, Cancel,
// Reinstate, Resend, ResendOrder, Reschedule, Change, Undo, Transfer, Replace, Deliver, Bounce, Notice and Rejected. Of
// the gift.Context inside, the caller gives Actor and RequestID; the engine adds the time of the decision and the ids.
type Command interface {
	want(c *Call, w *Want)
	// affinity names the voucher that the command is about, as far as it is known; zero: none in particular.
	affinity() guid.ID
	// decide is pure but for drawing ids. When it returns an error, s is as it was, but for the key that a Reverse,
	// Release or Undo may have spent, and for holds whose time was over.
	decide(c *Call, s *state) (Result, error)
	// locations are the locations that an answer to the command tells of, done or refused: where something happened, or
	// where the gifts are good; zero stands for all of them.
	locations(c *Call, s *state) []guid.ID
}

// bytesOfGift is how long the answer about a gift is, without long texts.
const bytesOfGift = 2 << 10

// weightOfHolds is what a gift weighs whose holds are released. How many it has is not known yet: at most
// gift.MaxHolds, of which eight entries are taken for one gift.
const weightOfHolds = gift.MaxHolds / 8

// weight is how many gifts a command is about; where there is much to say of them, how many would say as much.
func weight(c Command) int {
	switch c := c.(type) {
	case *Issue:
		return max(len(c.Gifts), c.Bytes/bytesOfGift)
	case *Cancel:
		if c.ReleaseHolds {
			return len(c.VoucherIDs) * weightOfHolds
		}
		return len(c.VoucherIDs)
	case *Reinstate:
		return len(c.VoucherIDs)
	case *ResendOrder:
		return len(c.VoucherIDs)
	case *RedeemTogether:
		return len(c.VoucherIDs)
	}
	return 1
}

// maxLight is the weight of the heaviest command that is light: it takes a few milliseconds.
const maxLight = 16

// Heavy tells which commands are held back while light ones come, for engine.MaxHeld at most.
func Heavy(c Command) bool { return weight(c) > maxLight }

// distinct leaves out repeats.
func distinct(ids []guid.ID) []guid.ID {
	slices.SortFunc(ids, func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

// Issue makes gifts: all of them, or none. The engine draws their ids, codes and tokens.
type Issue struct {
	gift.Context
	Gifts []gift.Gift // as order.Issue made them
	Bytes int         // of the answer, about

	ActivationCodes bool // the cards, of a stock, get each a number by which it is sold

	ahead time.Duration // of the account's clock
	at    time.Time     // when they were made, by the machine's clock
	sheet codes.Token   // of the link to the printed gifts; the zero one: none is printed
	made  Result        // what is done, unless it is refused
}

// draw gives the gifts new ids and secrets. A code may be taken already; decide finds out.
func (i *Issue) draw(random io.Reader) (err error) {
	order, drawn := idAhead(i.ahead), map[codes.VoucherCode]bool{{}: true}
	activations := map[codes.ActivationCode]bool{{}: true}
	for n := range i.Gifts {
		g := &i.Gifts[n]
		g.ID, g.OrderID, g.Card.Code = idAhead(i.ahead), order, codes.VoucherCode{}
		for drawn[g.Card.Code] {
			if g.Card.Code, err = codes.NewVoucherCode(random); err != nil {
				return err
			}
		}
		drawn[g.Card.Code] = true
		if g.Card.Token, err = codes.NewToken(random); err != nil {
			return err
		}
		if err = g.DrawVerification(random); err != nil {
			return err
		}
		for g.Card.Activation = (codes.ActivationCode{}); i.ActivationCodes && activations[g.Card.Activation]; {
			if g.Card.Activation, err = codes.NewActivationCode(random); err != nil {
				return err
			}
		}
		activations[g.Card.Activation] = true
	}
	if slices.ContainsFunc(i.Gifts, func(g gift.Gift) bool {
		return g.Card.Method == contact.Printed && g.Status != gift.NotActivated
	}) {
		i.sheet, err = codes.NewToken(random)
	}
	return err
}

// maxPrepared is how long gifts may be made before the transaction that keeps them. The books close days by that: see
// package closing.
const maxPrepared = time.Minute

// prepare makes the gifts as they will be, if they are made, by the clock of their account. No other command can know
// them yet.
func (i *Issue) prepare(real time.Time, ahead time.Duration) {
	now := real.Add(ahead)
	i.at = real
	i.made = Result{Gifts: make([]gift.Gift, len(i.Gifts)), Entries: make([]gift.Entry, len(i.Gifts)), Sheet: i.sheet}
	for n, g := range i.Gifts {
		g.CreatedAt = now
		at := i.Context
		at.EntryID, at.Now = entryIDAt(now, guid.ID{}, ahead), now
		i.made.Gifts[n], i.made.Entries[n] = g.Begin(at)
	}
}

func (i *Issue) want(c *Call, w *Want) {
	c.wantSent(w, slices.Collect(maps.Keys(i.contacts()))...)
	for n := range i.made.Gifts {
		w.Gifts = append(w.Gifts, &i.made.Gifts[n])
		if typed, two := c.typed(i.made.Gifts[n].Card.Code); two {
			w.Codes = append(w.Codes, typed)
		}
	}
}

// affinity: what one account sends waits for its count of the day, and should not keep several lanes waiting.
func (i *Issue) affinity() guid.ID { return i.Gifts[0].AccountID }

// contacts counts the messages to each contact.
func (i *Issue) contacts() map[string]merchant.Count {
	to := map[string]merchant.Count{}
	for n := range i.Gifts {
		if card := &i.Gifts[n].Card; card.Contact != "" {
			contact := contact.Key(card.Contact)
			to[contact] = to[contact].Plus(card.Messages())
		}
	}
	return to
}

func (i *Issue) decide(c *Call, s *state) (Result, error) {
	if s.ahead != c.Ahead || s.real.Sub(i.at) > maxPrepared {
		return Result{}, clockMoved{s.ahead}
	}
	for n := range i.Gifts {
		if s.leads(c, i.Gifts[n].Card.Code) {
			return Result{}, errCodeTaken
		}
	}
	var all merchant.Count
	for n := range i.Gifts {
		all = all.Plus(i.Gifts[n].Spending())
	}
	if err := s.send(c, all, i.contacts()); err != nil {
		return Result{}, err
	}
	s.changes.Gifts = slices.Grow(s.changes.Gifts, len(i.made.Gifts))
	s.changes.Entries = slices.Grow(s.changes.Entries, len(i.made.Gifts))
	for n := range i.made.Gifts {
		s.issue(&i.made.Gifts[n], &i.made.Entries[n])
	}
	if i.sheet != (codes.Token{}) {
		first := &i.made.Gifts[0]
		s.changes.Sheets = append(s.changes.Sheets, Sheet{first.AccountID, first.OrderID, i.sheet, s.real.Add(SheetLives)})
	}
	return i.made, nil
}

func (i *Issue) locations(*Call, *state) (at []guid.ID) {
	for n := range i.Gifts {
		at = append(at, i.Gifts[n].LocationID)
	}
	return at
}

// Redeem decrements a voucher of the calling account.
type Redeem struct {
	gift.Redeem
	VoucherID guid.ID
	pieces
	// Notice has the recipient told what is left, if something is.
	Notice bool
	// Eligible judges the till's ticket for the voucher, purely; nil: no ticket was given.
	Eligible func(*gift.Voucher) *gift.Eligibility
	FirstUse
}

func (r *Redeem) want(c *Call, w *Want) {
	w.Vouchers = append(w.Vouchers, Ref{c.AccountID, r.VoucherID})
	c.wantRedeemed(w)
	r.wantNew(c, w)
}

func (r *Redeem) weigh(worth func(guid.ID) (gift.ItemWorth, error)) error {
	return r.weighOne(r.VoucherID, worth)
}

func (r *Redeem) affinity() guid.ID { return r.VoucherID }

func (r *Redeem) decide(c *Call, s *state) (Result, error) {
	v, err := s.payer(c, r.VoucherID, r.Context)
	if err != nil {
		return Result{}, err
	}
	ask := r.Redeem
	ask.Context = s.context(r.Context, v.Last)
	if r.Eligible != nil {
		ask.Eligibility = r.Eligible(v)
	}
	after, e, err := v.Redeem(ask)
	if err != nil || e.Kind == "" {
		s.missed(*v, r.Context, err)
		return nothing(after, err)
	}
	if err := r.ready(c, s, []gift.Voucher{after}); err != nil {
		return Result{}, err
	}
	if err := s.redeemed(c, r.worth.Of(&after, -e.Delta)); err != nil {
		return Result{}, err
	}
	done := s.taken(after, e, r.Notice)
	return done.with(r.replace(c, s, after, r.Context)), nil
}

// with adds to what was done with one voucher the card that it got.
func (r Result) with(after gift.Voucher, card *NewCard) Result {
	if card != nil {
		r.Vouchers[0], r.NewCards = after, []NewCard{*card}
	}
	return r
}

// missed enters that a verification code was wrong, if that is why something was refused: it counts, whatever becomes
// of the command.
func (s *state) missed(v gift.Voucher, c gift.Context, err error) {
	if !gift.IsWrongCode(err) {
		return
	}
	v, e := v.MissCode(s.context(c, v.Last))
	s.enter(v, e)
	if v, e, blocked := v.BlockMissed(s.context(c, v.Last)); blocked {
		s.enter(v, e)
	}
}

// nothing is the result of what was refused, or took nothing, as it may up to an amount.
func nothing(v gift.Voucher, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return Result{Vouchers: []gift.Voucher{v}}, nil
}

// taken enters a redemption. notice has the recipient told what is left, if something is.
func (s *state) taken(after gift.Voucher, e gift.Entry, notice bool) Result {
	s.enter(after, e)
	if notice && after.Balance > 0 {
		s.changes.Jobs = append(s.changes.Jobs, Job{ID: e.ID, AccountID: after.AccountID, VoucherID: after.ID,
			Kind: BalanceJob, Due: s.now})
	}
	return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}
}

func (r *Redeem) locations(*Call, *state) []guid.ID { return []guid.ID{r.LocationID} }

// Reverse gives back what a redemption or a cash-out took, named by its id or by the Idempotency-Key that it was made
// with. A key that has not arrived yet is spent: the answer is NOT_FOUND, and the original will be refused should it
// still come.
type Reverse struct {
	gift.Reverse
	RedemptionID guid.ID // or
	OriginalKey  string
	// Operation is that of the key: one that operation.ReverseRedemption undoes; "": RedeemGift. Then it is refused where
	// nothing was taken by that and something by another, and a key that has not arrived yet is spent for all of them.
	Operation operation.Name
	Of        *UsedWith
	Misplaced *refusal.Error // what is wrong with where it is made: nothing is given back; nil: nothing
}

func (r *Reverse) original(c *Call) RequestKey {
	return RequestKey{c.AccountID, cmp.Or(r.Operation, operation.RedeemGift), r.OriginalKey}
}

func (r *Reverse) want(c *Call, w *Want) {
	c.wantUndone(w, &w.Undoable, r.RedemptionID, r.original(c))
	if r.OriginalKey != "" {
		w.Undo = append(w.Undo, r.others(c)...)
	}
}

// others are the keys besides the original that may be meant where no operation is named.
func (r *Reverse) others(c *Call) (all []RequestKey) {
	if r.Operation != "" {
		return nil
	}
	for _, op := range otherTakings {
		all = append(all, RequestKey{c.AccountID, op, r.OriginalKey})
	}
	return all
}

// spendable are the keys that may be meant, of those the ones that the caller may undo.
func (r *Reverse) spendable(c *Call) []RequestKey {
	return append([]RequestKey{r.original(c)}, slices.DeleteFunc(r.others(c), func(k RequestKey) bool {
		return k.Operation == operation.CashOutGift && c.Caller != nil && !c.Caller.May(merchant.MayCashOut)
	})...)
}

// otherTakings are the operations besides RedeemGift whose key may be meant where none is named.
var otherTakings = operation.ReverseRedemption.Undoes()[1:]

// wantUndone wants what an id names, or else the Idempotency-Key that it was made with.
func (c *Call) wantUndone(w *Want, byID *[]Ref, id guid.ID, k RequestKey) {
	if k.Key == "" {
		*byID = append(*byID, Ref{c.AccountID, id})
		return
	}
	w.Undo = append(w.Undo, k)
	c.wantKept(w)
}

// named is what an id names, or else the Idempotency-Key that it was made with; a key that made nothing, nothing.
func (s *state) named(c *Call, id guid.ID, k RequestKey) Ref {
	if original := s.Requests[k]; k.Key != "" && original != nil {
		id = original.EntryID
	}
	return Ref{c.AccountID, id}
}

func (*Reverse) affinity() guid.ID { return guid.ID{} }

func (r *Reverse) decide(c *Call, s *state) (Result, error) {
	taken, err := r.find(c, s)
	if r.Misplaced != nil {
		if err == nil && !r.Caller.Enabled(taken.Entry.Actor.LocationID) {
			err = gift.NoSuchRedemption()
		}
		return Result{}, unstored{refusal.Join(r.Misplaced, err)}
	}
	if err != nil {
		return Result{}, err
	}
	if r.OriginalKey != "" && !taken.Entry.Sale.IsZero() {
		return r.together(c, s, taken)
	}
	v := s.Vouchers[Ref{c.AccountID, taken.Entry.VoucherID}]
	ask := r.Reverse
	ask.Context = s.context(r.Context, v.Last)
	after, e, err := v.Reverse(*taken, ask)
	if err != nil {
		return Result{}, ofTheKey(err)
	}
	s.enter(after, e)
	return Result{Vouchers: []gift.Voucher{after}, Entries: []gift.Entry{e}}, nil
}

func (r *Reverse) find(c *Call, s *state) (*gift.Undoable, error) {
	if err := r.otherTaking(c, s); err != nil {
		return nil, err
	}
	if err := s.byKey(c, r.Actor.LocationID, r.spendable(c)...); err != nil {
		return nil, err
	}
	taken := r.taken(c, s)
	if taken == nil {
		return nil, ofTheKey(gift.NoSuchRedemption())
	}
	var of []guid.ID
	for part := taken; part != nil; part = s.next(part) {
		of = append(of, part.Entry.VoucherID)
	}
	return taken, r.Of.check(of...)
}

// UsedWith is the gift that a caller says an Idempotency-Key was used with; nil: it does not say. A till that makes the
// same keys anew each day must not undo an older sale.
type UsedWith struct {
	VoucherID guid.ID        // zero: it was not found
	Else      *refusal.Error // what is told where the key was used with another gift
}

// check refuses vouchers of which none is the one that the caller names.
func (u *UsedWith) check(vouchers ...guid.ID) error {
	if u == nil || slices.Contains(vouchers, u.VoucherID) {
		return nil
	}
	return u.Else
}

// otherTaking refuses a key of no redemption that took something by another operation: to say that nothing was taken
// would be wrong.
func (r *Reverse) otherTaking(c *Call, s *state) error {
	redemption := s.Requests[r.original(c)]
	if r.OriginalKey == "" || redemption != nil && !redemption.EntryID.IsZero() {
		return nil
	}
	for _, k := range r.others(c) {
		other := s.Requests[k]
		switch {
		case other == nil || other.EntryID.IsZero():
		case !other.MayBeToldTo(c.Caller):
			return ofTheKey(madeElsewhere(""))
		default:
			return refusal.At(refusal.ValidationFailure, refusal.FieldOperation,
				"This key was used with %s. Say which operation is meant, %s or %[1]s.", k.Operation, operation.RedeemGift)
		}
	}
	return nil
}

// byKey refuses to undo what was asked for under an Idempotency-Key, if one is named, when that did nothing. Where it
// may have been sent with several operations, keys has one for each, the likeliest first. A key that has not arrived
// yet is spent with each of them: at the location that the caller names, else where it is enabled.
func (s *state) byKey(c *Call, at guid.ID, keys ...RequestKey) error {
	what, late := undoings[keys[0].Operation], keys[:0:0]
	if keys[0].Key == "" {
		return nil
	}
	for _, k := range keys {
		switch original := s.Requests[k]; {
		case original == nil:
			late = append(late, k)
		case !original.MayBeToldTo(c.Caller):
			// Not NOT_FOUND: that would say that nothing was done.
			return ofTheKey(madeElsewhere(""))
		case !original.EntryID.IsZero():
			return nil
		case !original.Spent:
			return refusal.At(refusal.NotFound, refusal.FieldOriginalKey, "The request with this key did nothing, so %s.",
				what.not)
		}
	}
	if err := s.spendKeys(c, at, late); err != nil {
		return err
	}
	now := phrase.Text("is spent now")
	if c.DryRun {
		now = "would be spent"
	}
	return refusal.At(refusal.NotFound, refusal.FieldOriginalKey,
		"No %s with this key has arrived, so %s. The key %s: should the "+
			"%[1]s still come, it is refused.", what.name, what.not, now)
}

// spendKeys has calls be refused should they still come.
func (s *state) spendKeys(c *Call, at guid.ID, keys []RequestKey) error {
	for _, k := range keys {
		if err := s.keep(c); err != nil {
			return err
		}
		spent := Request{RequestKey: k, Spent: true, At: s.real}
		if !at.IsZero() {
			spent.Locations = []guid.ID{at}
		} else if c.Caller != nil {
			spent.Locations = c.Caller.Locations
		}
		s.record(spent)
	}
	return nil
}

// taken is the redemption that is meant, nil when there is none.
func (r *Reverse) taken(c *Call, s *state) *gift.Undoable {
	return s.undoable(s.named(c, r.RedemptionID, r.original(c)))
}

func (r *Reverse) locations(c *Call, s *state) []guid.ID {
	var at []guid.ID
	if !r.Actor.LocationID.IsZero() {
		at = append(at, r.Actor.LocationID)
	}
	if taken := r.taken(c, s); taken != nil {
		at = append(at, taken.Entry.Actor.LocationID)
	}
	if at == nil {
		return c.callerLocations()
	}
	return at
}

// Deliver records what became of a job, and finishes it. Where the gift was sent again meanwhile, nothing is recorded
// of it; nor where the job has brought the gift before, as a bounce may have come since.
type Deliver struct {
	gift.Outcome
	Job Job
	// Gifts are those of an OrderJob that this is about; More tells that the job has others, and so is not finished.
	// That one of them is recorded as brought shows later that the message was accepted.
	Gifts []guid.ID
	More  bool
	// Unwanted tells that nothing was sent because the gift was out of use. Should it have been reinstated meanwhile,
	// the job stays; not so an OrderJob, as a reinstated gift has one of its own.
	Unwanted bool
	// NoticeBy and NoticeTo say how a notice went, which is counted when it was delivered.
	NoticeBy contact.Method
	NoticeTo string
}

// refs are the gifts that this is about.
func (d *Deliver) refs() []Ref {
	if d.Job.Kind != OrderJob {
		return []Ref{{d.Job.AccountID, d.Job.VoucherID}}
	}
	return refs(&Call{AccountID: d.Job.AccountID}, d.Gifts)
}

func (d *Deliver) want(c *Call, w *Want) {
	if d.Job.Kind.Notice() {
		c.wantSent(w, d.NoticeTo)
	}
	all := d.refs()
	w.Vouchers, w.DeliveredBy = append(w.Vouchers, all...), append(w.DeliveredBy, all...)
	w.Resends = append(w.Resends, all...)
}

func (d *Deliver) affinity() guid.ID { return d.Job.VoucherID }

func (d *Deliver) decide(c *Call, s *state) (r Result, _ error) {
	if message := merchant.MessageCount(d.NoticeBy); d.Job.Kind.Notice() && d.Delivered {
		day, all, _ := s.sending(c, message, map[string]merchant.Count{d.NoticeTo: message})
		s.add(day, all)
	}
	stays := d.More
	for _, ref := range d.refs() {
		v := s.Vouchers[ref]
		if v == nil || !d.Job.Kind.Brings() || s.overtaken(d.Job.ID, ref) || s.DeliveredBy[ref] == d.Job.ID {
			continue
		}
		if d.Unwanted {
			stays = stays || v.Status.Receivable()
			continue
		}
		d.conclude(s, v, &r)
	}
	if !stays {
		s.dropped(d.Job)
	}
	return r, nil
}

// conclude records what became of the message for one gift.
func (d *Deliver) conclude(s *state, v *gift.Voucher, r *Result) {
	ref := Ref{v.AccountID, v.ID}
	if d.Delivered && v.ArrivesFirst(!s.DeliveredBy[ref].IsZero()) {
		s.tellBuyer(v, ArrivedJob)
	}
	ask := d.Outcome
	ask.Context = s.context(d.Context, v.Last)
	if after, e, changed := v.Deliver(ask); changed {
		s.enter(after, e)
		r.Vouchers, r.Entries = append(r.Vouchers, after), append(r.Entries, e)
	}
	if d.Delivered {
		s.delivered(d.Job, v.ID)
	}
}

func (*Deliver) locations(*Call, *state) []guid.ID { return nil }

// Bounce records that a message which was accepted did not arrive after all. It counts while no other message has
// brought the gift and none was asked for since, so that a report may come twice, late, or out of order. A report
// that overtakes our own record of the acceptance is ErrTooEarly; a gift that does not exist is NOT_FOUND.
type Bounce struct {
	gift.Context
	AccountID, VoucherID, JobID guid.ID
	Reason                      string
}

// ErrTooEarly asks for a report to be repeated in a moment.
var ErrTooEarly = errors.New("it is not recorded yet that this message was accepted")

func (b *Bounce) want(_ *Call, w *Want) {
	ref := Ref{b.AccountID, b.VoucherID}
	w.Vouchers, w.DeliveredBy, w.Resends = append(w.Vouchers, ref), append(w.DeliveredBy, ref), append(w.Resends, ref)
}

func (b *Bounce) affinity() guid.ID { return b.VoucherID }

func (b *Bounce) decide(_ *Call, s *state) (r Result, _ error) {
	ref := Ref{b.AccountID, b.VoucherID}
	v := s.Vouchers[ref]
	if v == nil {
		return Result{}, refusal.New(refusal.NotFound, "There is no such gift.")
	}
	by := s.DeliveredBy[ref]
	// A gift that was used stays as it is; those that recipients get notices of are.
	switch order := slices.Compare(b.JobID[:], by[:]); { // ids of jobs grow with time
	case !v.Status.Unused(), order < 0, s.overtaken(b.JobID, ref):
		return Result{}, nil
	case order > 0:
		return Result{}, ErrTooEarly
	}
	if after, e, changed := v.Deliver(gift.Outcome{Context: s.context(b.Context, v.Last), Reason: b.Reason}); changed {
		s.enter(after, e)
		r.Vouchers, r.Entries = []gift.Voucher{after}, []gift.Entry{e}
	}
	return r, nil
}

func (*Bounce) locations(*Call, *state) []guid.ID { return nil }

// Rejected is a request that was refused before the engine: a known key still gets its stored answer, anything else
// gets Err, and nothing is stored.
type Rejected struct{ Err error }

func (*Rejected) want(*Call, *Want) {}

func (*Rejected) affinity() guid.ID { return guid.ID{} }

func (r *Rejected) decide(*Call, *state) (Result, error) { return Result{}, unstored{r.Err} }

func (*Rejected) locations(*Call, *state) []guid.ID { return nil }

func newID() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }

// idAhead is a new id that tells the time of a clock that is so far ahead: what is listed by time is found by its id.
func idAhead(ahead time.Duration) guid.ID {
	id := newID()
	if ms := ahead.Milliseconds(); ms > 0 {
		first := binary.BigEndian.Uint64(id[:]) // of which 48 bits are the milliseconds of a version 7 UUID
		binary.BigEndian.PutUint64(id[:], first+uint64(ms)<<16)
	}
	return id
}

// entryIDAt is the id of an entry that is dated at an instant and follows last. It never tells an earlier millisecond
// than the date does, also where the clock is set back in between. So whoever looks for what was made from an instant
// on looks at no ids of before it. It may tell a later time.
func entryIDAt(at time.Time, last guid.ID, ahead time.Duration) guid.ID {
	if first := gift.FirstID(at); slices.Compare(last[:], first[:]) < 0 {
		last = first
	}
	return idAfter(last, ahead)
}

// idAfter is a new id that is greater than last, also when the clock was set back or is behind that of another
// instance: ids put a history in its order.
func idAfter(last guid.ID, ahead time.Duration) guid.ID {
	id := idAhead(ahead)
	if slices.Compare(id[:], last[:]) <= 0 {
		next := binary.BigEndian.Uint64(last[:])>>16 + 1 // the milliseconds of a version 7 UUID
		binary.BigEndian.PutUint64(id[:], next<<16|binary.BigEndian.Uint64(id[:])&0xffff)
	}
	return id
}
