package storm

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// state is a gift as the simplest till would keep it. It is never changed, only copied.
type state struct {
	balance int64
	gone    bool
	left    []int64 // of each redemption that a till wanted to undo: what can be given back, or one of the two below
}

const (
	absent = -1 // it has not arrived, or was refused without its key being remembered as a redemption's
	spent  = -2 // its key was voided before it arrived
	denied = -3 // it was refused, and its key is used
)

func (s state) set(n int, to int64) state {
	if n >= 0 {
		s.left = slices.Clone(s.left)
		s.left[n] = to
	}
	return s
}

// asked is a call as the model sees it: n is the redemption that it makes or undoes, where that matters, else -1.
type asked struct {
	*op
	n int
}

// model explains the calls on one gift: undone is how many of its redemptions a till wanted to undo.
func model(worth int64, undone int) porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			return state{balance: worth, left: slices.Repeat([]int64{absent}, undone)}
		},
		Step: func(from, input, _ any) (bool, any) {
			return input.(asked).explains(from.(state))
		},
		Equal: func(a, b any) bool {
			x, y := a.(state), b.(state)
			return x.balance == y.balance && x.gone == y.gone && slices.Equal(x.left, y.left)
		},
	}
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
}

// explains tells whether the call, done in this state, is answered as it was, and what the gift is afterwards.
func (o asked) explains(s state) (bool, state) {
	var e effect
	switch o.kind {
	case redeem:
		e = o.redeem(s)
	case reverse, void:
		e = o.reverse(s)
	case cancel:
		e = o.cancel(s)
	default:
		return o.code == "OK" && o.balance == s.balance && o.gone == s.gone, s
	}
	if o.code == limited {
		return e.kept, s
	}
	if e.code != "OK" || o.kind == cancel {
		return o.code == e.code, e.state
	}
	return o.code == "OK" && o.moved == e.moved && o.balance == e.state.balance, e.state
}

func (o asked) cancel(s state) effect {
	switch {
	case s.gone: // it counts as done
		return effect{code: "OK", state: s, kept: true}
	case s.balance == 0:
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s, kept: true}
	}
	s.gone = true
	return effect{code: "OK", state: s}
}

func (o asked) redeem(s state) effect {
	if o.n >= 0 && s.left[o.n] == spent {
		return effect{code: "REDEMPTION_NOT_ALLOWED", state: s}
	}
	take, refusal := o.amount, ""
	switch {
	case s.balance == 0:
		refusal = "ALREADY_REDEEMED"
	case s.gone:
		refusal = "REDEMPTION_NOT_ALLOWED"
	case take == 0 || take > s.balance && o.partial:
		take = s.balance
	case take > s.balance:
		refusal = "INSUFFICIENT_BALANCE"
	}
	if refusal != "" {
		return effect{code: refusal, state: s.set(o.n, denied), kept: true}
	}
	s.balance -= take
	return effect{code: "OK", moved: take, state: s.set(o.n, take)}
}

func (o asked) reverse(s state) effect {
	left := s.left[o.n]
	switch {
	case left == absent && o.kind == void:
		return effect{code: "NOT_FOUND", state: s.set(o.n, spent), kept: true}
	case left < 0:
		return effect{code: "NOT_FOUND", state: s, kept: true}
	case left == 0:
		return effect{code: "ALREADY_REVERSED", state: s, kept: true}
	case o.amount > left:
		return effect{code: "VALIDATION_FAILURE", state: s, kept: true}
	}
	give := o.amount
	if give == 0 {
		give = left
	}
	s.balance += give
	return effect{code: "OK", moved: give, state: s.set(o.n, left-give)}
}
