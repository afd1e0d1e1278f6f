package storm

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// state is a gift as the simplest till would keep it. It is never changed, only copied.
type state struct {
	balance int64
	gone    bool
	left    []int64 // of each redemption that somebody wanted to undo: what can be given back, or one of the two below
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

// model explains the calls on one gift: undone is how many of its redemptions somebody wanted to undo.
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

// explains tells whether the call, done in this state, is answered as it was, and what the gift is afterwards.
func (o asked) explains(s state) (bool, state) {
	switch o.kind {
	case redeem:
		return o.redeemed(s)
	case reverse, void:
		return o.reversed(s)
	case cancel:
		if s.gone {
			return o.code == "OK", s // it counts as done
		}
		if s.balance == 0 {
			return o.code == "REDEMPTION_NOT_ALLOWED", s
		}
		s.gone = true
		return o.code == "OK", s
	}
	return o.code == "OK" && o.balance == s.balance && o.gone == s.gone, s
}

func (o asked) redeemed(s state) (bool, state) {
	if o.n >= 0 && s.left[o.n] == spent {
		return o.code == "REDEMPTION_NOT_ALLOWED", s
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
		return o.code == refusal, s.set(o.n, denied)
	}
	s.balance -= take
	return o.code == "OK" && o.moved == take && o.balance == s.balance, s.set(o.n, take)
}

func (o asked) reversed(s state) (bool, state) {
	left := s.left[o.n]
	switch {
	case left == absent && o.kind == void:
		return o.code == "NOT_FOUND", s.set(o.n, spent)
	case left < 0:
		return o.code == "NOT_FOUND", s
	case left == 0:
		return o.code == "ALREADY_REVERSED", s
	case o.amount > left:
		return o.code == "VALIDATION_FAILURE", s
	}
	give := o.amount
	if give == 0 {
		give = left
	}
	s.balance += give
	return o.code == "OK" && o.moved == give && o.balance == s.balance, s.set(o.n, left-give)
}
