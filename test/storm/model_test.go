package storm

import "testing"

// TestModel: what a call may be answered in a state, and what it may not: the model explains no answer that is wrong.
func TestModel(t *testing.T) {
	whole, empty := state{balance: 500, left: []int64{absent}}, state{left: []int64{300}}
	cancelled := state{balance: 500, gone: true, left: []int64{spent}}
	for name, c := range map[string]struct {
		from state
		op   op
		n    int
		want bool
		left int64 // of the balance afterwards
	}{
		"redeemed": {whole, op{kind: redeem, amount: 200, code: "OK", moved: 200, balance: 300}, 0,
			true, 300},
		"redeemed, and too much is left": {whole, op{kind: redeem, amount: 200, code: "OK", moved: 200, balance: 500}, 0,
			false, 0},
		"refused, and could be redeemed": {whole, op{kind: redeem, amount: 200, code: "INSUFFICIENT_BALANCE"}, -1, false,
			0},
		"limited, and could be redeemed":    {whole, op{kind: redeem, amount: 200, code: limited}, -1, false, 0},
		"limited instead of refused":        {empty, op{kind: redeem, amount: 200, code: limited}, -1, true, 0},
		"limited, and its key was spent":    {cancelled, op{kind: redeem, amount: 200, code: limited}, 0, false, 0},
		"limited, and could be given back":  {empty, op{kind: reverse, code: limited}, 0, false, 0},
		"limited, and nothing to give back": {whole, op{kind: reverse, code: limited}, 0, true, 500},
		"a void first":                      {whole, op{kind: void, code: "NOT_FOUND"}, 0, true, 500},
		"limited, and could be cancelled":   {whole, op{kind: cancel, code: limited}, -1, false, 0},
		"limited, and cancelled before":     {cancelled, op{kind: cancel, code: limited}, -1, true, 500},
		"a look is never limited":           {whole, op{kind: look, code: limited}, -1, false, 0},
		"given back more than was taken": {empty, op{kind: reverse, amount: 400, code: "OK", moved: 400, balance: 400}, 0,
			false, 0},
		"looked at, and it is another value": {whole, op{kind: look, code: "OK", balance: 400}, -1, false, 0},
	} {
		got, after := asked{&c.op, c.n}.explains(c.from)
		if got != c.want || got && after.balance != c.left {
			t.Errorf("%s: explained %v with %d left, want %v with %d", name, got, after.balance, c.want, c.left)
		}
	}
	// A void that is limited spends no key: the redemption that comes after it may be done.
	v := op{kind: void, code: limited}
	if ok, after := (asked{&v, 0}).explains(whole); !ok || after.left[0] != absent {
		t.Errorf("a limited void: %v %+v, want it without effect", ok, after)
	}
}
