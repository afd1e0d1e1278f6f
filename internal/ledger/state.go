package ledger

import (
	"errors"
	"slices"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// state is what a group of commands works on: what was loaded, and what has been decided so far. Two commands on one
// voucher in one group see each other's effect.
type state struct {
	*State
	real    time.Time     // of the group
	now     time.Time     // of the command at hand: by the clock of its account
	ahead   time.Duration // how far that is ahead
	jobs    int           // before it
	changes Changes
	test    bool
	heavy   bool        // Want.Heavy
	undoes  bool        // a command of the group undoes something, maybe of another one of the group
	touched map[Ref]int // index in changes.Vouchers
	keptBy  *Call       // the call that was counted last by keep
}

// newState begins the state of a group of so many commands, each of which is likely to enter one thing.
func newState(s *State, want *Want, commands int, now time.Time) *state {
	return &state{State: s, real: now, now: now, heavy: want.Heavy, undoes: len(want.Undo)+len(want.Undoable) > 0,
		touched: make(map[Ref]int, len(want.Vouchers)), changes: Changes{
			Vouchers: make([]gift.Voucher, 0, len(want.Vouchers)), Entries: make([]gift.Entry, 0, commands),
			Requests: make([]Request, 0, len(want.Requests))}}
}

// wantClock wants what tells the time of a test account. A live one's needs nothing.
func (c *Call) wantClock(w *Want) {
	if c.Account != nil && c.Account.Test {
		w.Clocks = append(w.Clocks, c.Account.ID)
	}
}

// begin has a command decided by the clock of its account.
func (s *state) begin(c *Call) {
	s.jobs, s.ahead = len(s.changes.Jobs), 0
	if c.Account != nil && c.Account.Test {
		s.ahead = s.Clocks[c.Account.ID]
	}
	s.test, s.now = c.Account != nil && c.Account.Test, s.real.Add(s.ahead)
}

// end marks the messages of a command as those of a test account.
func (s *state) end() {
	for n := range s.changes.Jobs[s.jobs:] {
		s.changes.Jobs[s.jobs+n].Test = s.test
	}
}

// clockMoved asks for gifts to be made anew: by another clock than they were prepared for, or because that is too long
// ago.
type clockMoved struct{ ahead time.Duration }

func (clockMoved) Error() string { return "the account's clock has moved on" }

// context completes what the caller gave; last is the newest entry of the history that the command adds to.
func (s *state) context(c gift.Context, last guid.ID) gift.Context {
	c.EntryID, c.Now = s.entryID(last), s.now
	return c
}

// entryID is the id of an entry whose history has last as its newest one.
func (s *state) entryID(last guid.ID) guid.ID { return entryIDAt(s.now, last, s.ahead) }

// enter notes a voucher's new state and the entry that led to it.
func (s *state) enter(v gift.Voucher, e gift.Entry) {
	ref := Ref{v.AccountID, v.ID}
	if was := s.Vouchers[ref]; was.UsedFirst(&e) {
		s.tellBuyer(was, UsedJob)
	}
	*s.Vouchers[ref] = v
	if n, ok := s.touched[ref]; ok {
		s.changes.Vouchers[n] = v
	} else {
		s.touched[ref] = len(s.changes.Vouchers)
		s.changes.Vouchers = append(s.changes.Vouchers, v)
	}
	s.changes.Entries = append(s.changes.Entries, e)
	if s.undoes && e.Kind.Undoable() {
		s.Undoable[Ref{e.AccountID, e.ID}] = &gift.Undoable{Entry: e}
	}
	switch e.Kind {
	case gift.HoldMade:
		s.Holds[Ref{e.AccountID, e.ID}] = &gift.Held{Entry: e}
	case gift.TransferOut, gift.TransferIn:
		s.Transferred[ref] = true
	}
	s.cashedOut(&e)
	if e.Kind == gift.WrongVerificationCode {
		for _, of := range s.Undoable {
			if of.Entry.Kind == gift.Activation && of.Entry.AccountID == e.AccountID && of.Entry.VoucherID == e.VoucherID {
				of.Missed++
			}
		}
	}
	if undone := s.Undoable[Ref{e.AccountID, e.Reverses}]; undone != nil {
		undone.Reversed += max(e.Delta, -e.Delta)
		undone.Parts++
	}
	switch e.Kind {
	case gift.Activation:
		s.changes.Sold = append(s.changes.Sold, Sold{e.AccountID, e.VoucherID, e.Purchase, e.At})
	case gift.ActivationReversal:
		s.changes.Sold = append(s.changes.Sold, Sold{AccountID: e.AccountID, VoucherID: e.VoucherID})
	}
	if held := s.Holds[Ref{e.AccountID, e.HoldID}]; held != nil {
		held.Last = e
	}
}

// cashedOut notes which cash-outs of a gift stand.
func (s *state) cashedOut(e *gift.Entry) {
	ref := Ref{e.AccountID, e.VoucherID}
	if s.CashOuts[ref] == nil {
		if e.Kind != gift.CashOut {
			return
		}
		s.CashOuts[ref] = gift.CashOuts{}
	}
	s.CashOuts[ref].Enter(e)
}

// undoable is what of a voucher can be undone as it stands now; nil: there is no such entry.
func (s *state) undoable(r Ref) *gift.Undoable {
	t := s.Undoable[r]
	if t != nil {
		t.CashedOut = s.CashOuts[Ref{r.AccountID, t.Entry.VoucherID}].Since(t.Entry.Seq)
	}
	return t
}

// issue notes a new gift, and the job that will deliver it.
func (s *state) issue(g *gift.Gift, e *gift.Entry) {
	s.Codes[g.Card.Code] = true
	s.changes.Gifts = append(s.changes.Gifts, *g)
	s.changes.Entries = append(s.changes.Entries, *e)
	if delivery := g.Card.Delivery(); g.Status == gift.Pending && !g.Card.ComesAlong() {
		s.job(e, &g.Voucher, &delivery, delivery.SendAt(s.now))
	}
}

// job notes a message that is to bring a gift, or with it the gifts of its order that go to their buyer. It has the id
// of the entry that asks for it: the ids of a history grow whatever the clocks of the instances say, so that they tell
// which message was asked for last.
func (s *state) job(by *gift.Entry, v *gift.Voucher, d *gift.Delivery, due time.Time) Job {
	j := Job{ID: by.ID, AccountID: by.AccountID, VoucherID: by.VoucherID, Kind: GiftJob, Due: due}
	if d.Attachment != "" {
		j.Kind, j.OrderID = OrderJob, v.OrderID
	}
	s.changes.Jobs = append(s.changes.Jobs, j)
	return j
}

// tellBuyer notes a message to whoever bought a gift.
func (s *state) tellBuyer(v *gift.Voucher, what JobKind) {
	s.changes.Jobs = append(s.changes.Jobs, Job{ID: idAhead(s.ahead), AccountID: v.AccountID, VoucherID: v.ID, Kind: what,
		Due: s.now, Language: v.BuyerLanguage})
}

// delivered notes that a job brought a gift; it does not finish the job.
func (s *state) delivered(j Job, voucher guid.ID) {
	ref := Ref{j.AccountID, voucher}
	s.DeliveredBy[ref] = j.ID
	if d := s.Deliveries[ref]; d != nil {
		d.DeliveredAt = s.now
	}
	s.done(Done{JobID: j.ID, AccountID: j.AccountID, VoucherID: voucher, DeliveredAt: s.now, Open: true})
}

// dropped notes that a job is finished, or taken back, and brought no gift.
func (s *state) dropped(j Job) {
	s.done(Done{JobID: j.ID, AccountID: j.AccountID, VoucherID: j.VoucherID})
}

// done has a job be open no more, for the commands of the group that follow, too.
func (s *state) done(d Done) {
	if delivery := s.Deliveries[Ref{d.AccountID, d.VoucherID}]; delivery != nil {
		delivery.Jobs = slices.DeleteFunc(delivery.Jobs, func(j Job) bool { return j.ID == d.JobID })
	}
	s.changes.Done = append(s.changes.Done, d)
}

// overtaken reports whether the gift was sent again since a job was made: what becomes of that job does not count any
// more.
func (s *state) overtaken(job guid.ID, r Ref) bool {
	resends := s.Resends[r]
	return len(resends) > 0 && slices.Compare(job[:], resends[len(resends)-1].ID[:]) < 0
}

// record notes an idempotency record.
func (s *state) record(r Request) {
	s.Requests[r.RequestKey] = &r
	s.changes.Requests = append(s.changes.Requests, r)
}

// wantNew wants to know whether a code that is to be given out leads to a gift already.
func (c *Call) wantNew(w *Want, code codes.VoucherCode) {
	typed, _ := c.typed(code)
	w.Codes = append(w.Codes, typed)
}

// leads reports whether a code that is to be given out leads to a gift already.
func (s *state) leads(c *Call, code codes.VoucherCode) bool {
	typed, _ := c.typed(code)
	return s.Codes[code] || s.Codes[typed]
}

// errCodeTaken asks the caller's goroutine to draw other codes.
var errCodeTaken = errors.New("a drawn voucher code is in use")

// unstored is a refusal that must not be remembered under the request's key.
type unstored struct{ error }

func (u unstored) Unwrap() error { return u.error }

// ofTheKey marks the refusals of what the API key may not do: another key may repeat the request. What it may not see
// is NOT_FOUND to it, and so what is not there is not remembered either: a repeat would tell one from the other.
func ofTheKey(err error) error {
	if errors.Is(err, refusal.NotAuthorized) || errors.Is(err, refusal.NotFound) {
		return unstored{err}
	}
	return err
}

// storable reports whether an outcome is remembered under the request's key: what was done, and refusals that were
// decided on a gift's state. Malformed requests, refusals of the key, limits, what the set-up lacks, and failures are
// not: they may be repeated.
func storable(err error) bool {
	if err == nil {
		return true
	}
	var refused *refusal.Error
	if _, ok := errors.AsType[unstored](err); ok || !errors.As(err, &refused) {
		return false
	}
	return !slices.Contains([]refusal.Code{refusal.ValidationFailure, refusal.InvalidCodeFormat,
		refusal.InvalidTokenFormat,
		refusal.Unauthenticated, refusal.RateLimited, refusal.AccountMisconfigured, refusal.UnexpectedError,
		refusal.Unavailable,
		refusal.RequestInProgress, refusal.IdempotencyMismatch}, refused.Code)
}
