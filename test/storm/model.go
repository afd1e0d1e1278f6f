package storm

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"boon.example/internal/gift"
)

// state is a gift as the simplest till would keep it. It is never changed, only copied.
type state struct {
	balance int64
	gone    bool
	blocked bool
	dormant bool   // a card that was not activated
	shelved bool   // it was one before it was cancelled
	code    string // what its card shows; those that it had before lead to no value
	token   string
	renewed bool      // the card was replaced, and asks for no verification code
	wrong   int       // verification codes in a row
	valid   int64     // until when, in seconds; 0: it does not expire
	touched bool      // something happened since it was activated
	left    []int64   // of each call that a till wanted to undo: what can be taken back, or one of those below
	holds   []int64   // what each hold holds, or one of those below
	cashed  []cashOut // those that stand, the oldest first
	older   bool      // a program that gives back what was redeemed before a cash-out may answer, too
}

// cashOut is a cash-out. While it stands, no redemption from before it is given back.
type cashOut struct {
	slot   int    // in left; -1: no till wanted to take it back
	before []bool // of each call in left: whether it was done by then
}

func (c cashOut) equal(d cashOut) bool { return c.slot == d.slot && slices.Equal(c.before, d.before) }

// standing are the cash-outs that stand after another, which has this slot in left.
func (s state) standing(slot int) []cashOut {
	before := make([]bool, len(s.left))
	for n, left := range s.left {
		before[n] = left >= 0
	}
	return append(slices.Clone(s.cashed), cashOut{slot, before})
}

// barred tells whether a cash-out stands that was made after a redemption.
func (s state) barred(redemption int) bool {
	return slices.ContainsFunc(s.cashed, func(c cashOut) bool { return c.before[redemption] })
}

const (
	absent   = -1 // it has not arrived, or was refused without its key being remembered as its own
	spent    = -2 // its key was voided before it arrived
	denied   = -3 // it was refused, and its key is used
	captured = -4
	over     = -5 // released, or its time is over
)

func set(slots []int64, n int, to int64) []int64 {
	if n >= 0 {
		slots = slices.Clone(slots)
		slots[n] = to
	}
	return slots
}

func (s state) held() (sum int64, open int) {
	for _, h := range s.holds {
		if h > 0 {
			sum += h
			open++
		}
	}
	return sum, open
}

// asked is a call as the model sees it: n is what it makes, of what it undoes or
// captures, where that matters, else -1. until is when each hold is over.
type asked struct {
	*op
	n, of int
	until []int64
}

// model explains the calls on one gift, with so many calls that a till wanted to undo, and so many holds.
func model(start state, undone, holds int) porcupine.Model {
	start.left, start.holds = slices.Repeat([]int64{absent}, undone), slices.Repeat([]int64{absent}, holds)
	m := porcupine.NondeterministicModel{
		Init: func() []any {
			return []any{start}
		},
		Step: func(from, input, _ any) (all []any) {
			for _, after := range input.(asked).explains(from.(state)) {
				all = append(all, after)
			}
			return all
		},
		Equal: func(a, b any) bool {
			x, y := a.(state), b.(state)
			return x.balance == y.balance && x.gone == y.gone && x.blocked == y.blocked && x.dormant == y.dormant &&
				x.shelved == y.shelved && x.renewed == y.renewed &&
				x.touched == y.touched && x.code == y.code && x.token == y.token && x.wrong == y.wrong && x.valid == y.valid &&
				slices.Equal(x.left, y.left) && slices.Equal(x.holds, y.holds) &&
				slices.EqualFunc(x.cashed, y.cashed, cashOut.equal)
		},
	}
	return m.ToModel()
}

// limited is the answer to a call that moves nothing, by a key that has had too many of them kept today: it is as if it
// had not been made.
const limited = "RATE_LIMITED"

// effect is what a call comes to in a state.
type effect struct {
	code  string
	moved int64
	state state // afterwards
	kept  bool  // under the call's key, though nothing moved
	wrong bool  // the verification code was
}

// slack is how far the clocks of the tills and of the service may be apart.
const slack = int64(time.Second)

// explains gives what the gift may be after the call, if it was done in this state and is answered as it was; none
// where it is not. Holds end by the clock, before the call or while it is under way.
func (o asked) explains(s state) (all []state) {
	moments := []int64{o.begun - slack}
	for n, h := range s.holds {
		if h > 0 && o.until[n] > moments[0] && o.until[n] <= o.ended+slack {
			moments = append(moments, o.until[n])
		}
	}
	for _, at := range moments {
		now := s
		for n, h := range s.holds {
			if h > 0 && o.until[n] <= at {
				now.holds = set(now.holds, n, over)
			}
		}
		if after, ok := o.explain(now); ok {
			all = append(all, after)
		}
	}
	return all
}

func (o asked) explain(s state) (state, bool) {
	e := o.effect(s)
	if o.code == limited {
		return s, e.kept
	}
	if o.code != "OK" || e.code != "OK" {
		return e.state, o.code == e.code && o.wrong == e.wrong
	}
	if (o.kind == cancel || o.kind == reinstate) && o.did == e.kept {
		return e.state, false
	}
	if !e.kept && o.kind != look {
		e.state.touched = o.kind != activate
	}
	if o.kind == block || o.kind == unblock || o.kind == extend {
		return e.state, true
	}
	held, _ := e.state.held()
	return e.state, o.balance == e.state.balance && o.held == held && o.gone == (o.kind == look && e.state.gone) &&
		o.blocked == (o.kind == look && e.state.blocked) && (o.kind != look || o.valid == e.state.valid) &&
		(o.moved == e.moved || e.kept)
}

func (o asked) effect(s state) effect {
	if o.by != "" && o.by != s.code && o.by != s.token { // its key is only used if the card was replaced meanwhile
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: o.kind != look}
	}
	switch o.kind {
	case redeem, hold:
		return o.take(s)
	case capture:
		return o.capture(s)
	case release, withdraw:
		return o.release(s)
	case reverse, void, unload, deactivate, payBack:
		return o.undo(s)
	case load, activate:
		return o.add(s)
	case cancel:
		return o.cancel(s)
	case reinstate:
		same := !s.gone
		if !same {
			s.gone, s.dormant, s.shelved = false, s.shelved, false
		}
		return effect{code: "OK", state: s, kept: same}
	case give, receive:
		return o.transfer(s)
	case adjust:
		return o.adjust(s)
	case cashingOut:
		return o.cashingOut(s)
	case block, unblock:
		same := s.blocked == (o.kind == block)
		if s.blocked = o.kind == block; !same && !s.blocked {
			s.wrong = 0
		}
		return effect{code: "OK", state: s, kept: same}
	case replace:
		return o.replace(s)
	case extend:
		return o.extend(s)
	}
	return effect{code: "OK", state: s}
}

func (o asked) replace(s state) effect {
	switch {
	case s.gone, s.dormant:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	case s.balance == 0:
		return effect{code: "ALREADY_REDEEMED", state: s, kept: true}
	}
	s.code, s.token, s.renewed = o.newCode, o.newToken, true
	return effect{code: "OK", state: s}
}

func (o asked) extend(s state) effect {
	switch {
	case !o.gift.promo:
		return effect{code: "NOT_SUPPORTED", state: s, kept: true}
	case s.gone:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	case o.valid <= s.valid:
		return effect{code: "VALIDATION_FAILURE", state: s}
	}
	s.valid = o.valid
	return effect{code: "OK", state: s}
}

// verify is what a call comes to that does not show the verification code of its card; ok: it shows it, or there is
// none. Five wrong ones in a row block the card.
func (o asked) verify(s state) (_ effect, ok bool) {
	switch {
	case s.renewed:
	case o.shown == noCode:
		return effect{code: "VALIDATION_FAILURE", state: s}, false
	case o.shown == wrongCode:
		s.wrong++
		s.blocked = s.wrong >= gift.MaxWrongCodes
		s.touched = s.touched || s.blocked
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, wrong: true}, false
	}
	return effect{}, true
}

func (o asked) cancel(s state) effect {
	_, open := s.held()
	switch {
	case s.gone: // it counts as done
		return effect{code: "OK", state: s, kept: true}
	case s.balance == 0 && !s.dormant, open > 0 && !o.keep:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	}
	s.gone, s.shelved, s.dormant = true, s.dormant, false
	for n, h := range s.holds {
		if h > 0 {
			s.holds = set(s.holds, n, over)
		}
	}
	return effect{code: "OK", state: s}
}

func (o asked) take(s state) effect {
	slots := &s.left
	if o.kind == hold {
		slots = &s.holds
	}
	if o.n >= 0 && (*slots)[o.n] == spent {
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s}
	}
	held, open := s.held()
	take, available, refusal := o.amount, s.balance-held, ""
	if take == 0 || take > available && o.partial {
		take = available
	}
	switch {
	case s.gone, s.dormant:
		refusal = "REDEMPTION_NOT_ALLOWED"
	case s.balance == 0:
		refusal = "ALREADY_REDEEMED"
	case s.blocked:
		refusal = "REDEMPTION_NOT_ALLOWED"
	default:
		if e, ok := o.verify(s); !ok {
			return e
		}
	}
	switch {
	case refusal != "":
	case available == 0, take > available:
		refusal = "INSUFFICIENT_BALANCE"
	case o.kind == hold && open == gift.MaxHolds:
		refusal = "REDEMPTION_NOT_ALLOWED"
	}
	if refusal != "" {
		*slots = set(*slots, o.n, denied)
		return effect{code: refusal, state: s, kept: true}
	}
	if *slots = set(*slots, o.n, take); o.kind == redeem {
		s.balance -= take
	}
	s.wrong = 0
	return effect{code: "OK", moved: take, state: s}
}

func (o asked) capture(s state) effect {
	h := s.holds[o.of]
	take := o.amount
	if take == 0 {
		take = h
	}
	switch {
	case h < 0:
		return effect{code: "HOLD_NOT_OPEN", state: s, kept: true}
	case take > h:
		return effect{code: "INSUFFICIENT_BALANCE", state: s, kept: true}
	}
	rest := int64(captured)
	if o.keep && take < h {
		rest = h - take
	}
	s.balance, s.holds, s.left = s.balance-take, set(s.holds, o.of, rest), set(s.left, o.n, take)
	return effect{code: "OK", moved: take, state: s}
}

func (o asked) release(s state) effect {
	switch h := s.holds[o.of]; {
	case h == absent:
		s.holds = set(s.holds, o.of, spent)
		return effect{code: "NOT_FOUND", state: s, kept: true}
	case h == spent, h == denied:
		return effect{code: "NOT_FOUND", state: s, kept: true}
	case h == captured:
		return effect{code: "HOLD_NOT_OPEN", state: s, kept: true}
	case h == over:
		return effect{code: "OK", state: s, kept: true}
	default:
		s.holds = set(s.holds, o.of, over)
		return effect{code: "OK", moved: h, state: s}
	}
}

// transfer takes what it was answered for what it is, as far as this gift allows it: the other gift may have refused.
func (o asked) transfer(s state) effect {
	held, _ := s.held()
	take, available := o.amount, s.balance-held
	if take == 0 {
		take = available
	}
	switch {
	case o.code != "OK":
		return effect{code: o.code, state: s, kept: true}
	case s.gone, s.dormant, s.blocked, o.kind == give && (take == 0 || take > available):
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s}
	case o.kind == receive:
		take = o.moved
	}
	s.balance += operations[o.kind].sign() * take
	return effect{code: "OK", moved: take, state: s}
}

// cashingOut is what the law of California says: what is left is paid out below 15.00.
func (o asked) cashingOut(s state) effect {
	refusal := ""
	switch _, open := s.held(); {
	case o.n >= 0 && s.left[o.n] == spent:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s}
	case o.gift.item, o.gift.promo:
		refusal = "NOT_SUPPORTED"
	case s.gone, s.dormant:
		refusal = "REDEMPTION_NOT_ALLOWED"
	case s.balance == 0:
		refusal = "ALREADY_REDEEMED"
	case s.blocked, open > 0:
		refusal = "REDEMPTION_NOT_ALLOWED"
	case s.balance >= 1500:
		refusal = "NOT_SUPPORTED"
	}
	if refusal != "" {
		s.left = set(s.left, o.n, denied)
		return effect{code: refusal, state: s, kept: true}
	}
	if e, ok := o.verify(s); !ok {
		return e
	}
	moved := s.balance
	s.balance, s.wrong, s.cashed, s.left = 0, 0, s.standing(o.n), set(s.left, o.n, moved)
	return effect{code: "OK", moved: moved, state: s}
}

func (o asked) adjust(s state) effect {
	held, _ := s.held()
	most := int64(1_000_000)
	if o.gift.item {
		most = gift.MaxQuantity
	}
	switch {
	case s.gone, s.dormant:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	case -o.amount > s.balance-held:
		return effect{code: "INSUFFICIENT_BALANCE", state: s, kept: true}
	case o.amount > 0 && o.amount > most-s.balance: // reversals may have brought it above that
		return effect{code: "VALIDATION_FAILURE", state: s}
	}
	s.balance += o.amount
	return effect{code: "OK", moved: o.amount, state: s}
}

// add is a reload or an activation.
func (o asked) add(s state) effect {
	refusal := ""
	switch {
	case o.n >= 0 && s.left[o.n] == spent:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s}
	case o.kind == load && (o.gift.item || o.gift.promo):
		refusal = "NOT_SUPPORTED"
	case s.gone, o.kind == load && s.dormant:
		refusal = "REDEMPTION_NOT_ALLOWED"
	case o.kind == activate && !s.dormant:
		refusal = "ALREADY_ACTIVATED"
	case s.blocked:
		refusal = "REDEMPTION_NOT_ALLOWED"
	}
	if refusal != "" {
		s.left = set(s.left, o.n, denied)
		return effect{code: refusal, state: s, kept: true}
	}
	s.balance, s.dormant, s.left = s.balance+o.amount, false, set(s.left, o.n, o.amount)
	return effect{code: "OK", moved: o.amount, state: s}
}

// undo gives back what was taken, or takes back what was added, which must be there.
func (o asked) undo(s state) effect {
	left, held := s.left[o.of], int64(0)
	held, _ = s.held()
	back := o.amount
	if back == 0 {
		back = left
	}
	switch {
	case left == absent && (o.kind == void || o.byKey && o.kind != reverse):
		s.left = set(s.left, o.of, spent)
		return effect{code: "NOT_FOUND", state: s, kept: true}
	case left < 0:
		return effect{code: "NOT_FOUND", state: s, kept: true}
	case o.barred(s):
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	case left == 0:
		return effect{code: "ALREADY_REVERSED", state: s, kept: true}
	case o.kind == deactivate && (s.touched || s.gone):
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	case o.kind == unload && back > s.balance-held:
		return effect{code: "INSUFFICIENT_BALANCE", state: s, kept: true}
	case back > left, o.kind == payBack && back < left: // cash is taken back as a whole
		return effect{code: "VALIDATION_FAILURE", state: s, kept: true}
	}
	s.balance, s.left = s.balance+operations[o.kind].sign()*back, set(s.left, o.of, left-back)
	if s.dormant = o.kind == deactivate; s.dormant {
		s.wrong = 0
	}
	if o.kind == payBack {
		s.cashed = slices.DeleteFunc(slices.Clone(s.cashed), func(c cashOut) bool { return c.slot == o.of })
	}
	return effect{code: "OK", moved: back, state: s}
}

// barred tells whether a redemption is not given back because of a later cash-out. An older program does give it back,
// and only these two refusals tell that another one answered.
func (o asked) barred(s state) bool {
	return (o.kind == reverse || o.kind == void) && s.barred(o.of) &&
		(!s.older || o.code == "REDEMPTION_NOT_ALLOWED" || o.code == limited)
}
