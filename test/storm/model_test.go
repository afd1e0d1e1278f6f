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
		after := asked{&c.op, c.n, c.n, nil}.explains(c.from)
		if (len(after) == 1) != c.want || c.want && after[0].balance != c.left {
			t.Errorf("%s: explained by %v, want %v with %d left", name, after, c.want, c.left)
		}
	}
	// A void that is limited spends no key: the redemption that comes after it may be done.
	v := op{kind: void, code: limited}
	if after := (asked{&v, -1, 0, nil}).explains(whole); len(after) != 1 || after[0].left[0] != absent {
		t.Errorf("a limited void: %+v, want it without effect", after)
	}
}

// TestModelOfHolds: what is held is not there for others until its time is over, is captured once, and is never held
// for ever.
func TestModelOfHolds(t *testing.T) {
	const second, until = int64(1e9), int64(100e9)
	from := state{balance: 500, left: []int64{absent}, holds: []int64{300, captured, over, absent}}
	for name, c := range map[string]struct {
		op   op
		of   int
		want int // states that explain it
	}{
		"what is free":             {op{kind: redeem, amount: 200, code: "OK", moved: 200, balance: 300, held: 300}, -1, 1},
		"what is held":             {op{kind: redeem, amount: 201, code: "OK", moved: 201, balance: 299, held: 300}, -1, 0},
		"refused for what is held": {op{kind: redeem, amount: 201, code: "INSUFFICIENT_BALANCE"}, -1, 1},
		"at the end of a hold":     {op{kind: look, code: "OK", balance: 500, begun: until - second, ended: until}, -1, 1},
		"long after it":            {op{kind: look, code: "OK", balance: 500, held: 300, begun: until + 2*second}, -1, 0},
		"after it":                 {op{kind: look, code: "OK", balance: 500, begun: until + 2*second}, -1, 1},
		"long before it":           {op{kind: look, code: "OK", balance: 500}, -1, 0},
		"captured":                 {op{kind: capture, code: "OK", moved: 300, balance: 200}, 0, 1},
		"captured, and held still": {op{kind: capture, code: "OK", moved: 300, balance: 200, held: 300}, 0, 0},
		"captured in part": {op{kind: capture, amount: 100, keep: true, code: "OK", moved: 100, balance: 400,
			held: 200}, 0, 1},
		"captured twice":           {op{kind: capture, code: "OK", moved: 300, balance: 200, held: 300}, 1, 0},
		"not captured twice":       {op{kind: capture, code: "HOLD_NOT_OPEN"}, 1, 1},
		"captured when it is over": {op{kind: capture, code: "OK", moved: 300, balance: 200, begun: until + 2*second}, 0, 0},
		"released":                 {op{kind: release, code: "OK", moved: 300, balance: 500}, 0, 1},
		"released, and held still": {op{kind: release, code: "OK", moved: 300, balance: 500, held: 300}, 0, 0},
		"released when captured":   {op{kind: release, code: "OK", balance: 500, held: 300}, 1, 0},
		"released again":           {op{kind: release, code: "OK", moved: 1, balance: 500, held: 300}, 2, 1},
		"withdrawn first":          {op{kind: withdraw, code: "NOT_FOUND"}, 3, 1},
		"cancelled by the way":     {op{kind: cancel, code: "OK", balance: 500}, -1, 0},
		"cancelled and released":   {op{kind: cancel, keep: true, code: "OK", balance: 500}, -1, 1},
		"given what is held":       {op{kind: give, code: "OK", moved: 500, held: 300}, -1, 0},
		"given what is free":       {op{kind: give, code: "OK", moved: 200, balance: 300, held: 300}, -1, 1},
		"received":                 {op{kind: receive, code: "OK", moved: 70, balance: 570, held: 300}, -1, 1},
		"received twice":           {op{kind: receive, code: "OK", moved: 70, balance: 640, held: 300}, -1, 0},
	} {
		if got := (asked{&c.op, -1, c.of, []int64{until, until, until, until}}).explains(from); len(got) != c.want {
			t.Errorf("%s: explained by %+v, want %d", name, got, c.want)
		}
	}
}

// TestModelOfCare: nothing is taken of a blocked gift but what was held, and no adjustment takes what is held.
func TestModelOfCare(t *testing.T) {
	from := state{balance: 500, left: []int64{100}, holds: []int64{301}}
	blocked := from
	blocked.blocked = true
	dormant := state{dormant: true, left: []int64{absent}, holds: []int64{absent}}
	for name, c := range map[string]struct {
		from state
		op   op
		want int
	}{
		"adjusted up": {from, op{kind: adjust, amount: 5, code: "OK", moved: 5, balance: 505, held: 301}, 1},
		"adjusted down": {from, op{kind: adjust, amount: -199, code: "OK", moved: -199, balance: 301, held: 301},
			1},
		"adjusted to less": {from, op{kind: adjust, amount: -5, code: "OK", moved: -4, balance: 496, held: 301}, 0},
		"adjusted into what is held": {from, op{kind: adjust, amount: -200, code: "OK", moved: -200, balance: 300, held: 301},
			0},
		"a card adjusted":          {dormant, op{kind: adjust, amount: 5, code: "OK", moved: 5, balance: 5}, 0},
		"blocked":                  {from, op{kind: block, code: "OK"}, 1},
		"blocked again":            {blocked, op{kind: block, code: "OK"}, 1},
		"redeemed, and blocked":    {blocked, op{kind: redeem, amount: 1, code: "OK", moved: 1, balance: 499, held: 301}, 0},
		"loaded, and blocked":      {blocked, op{kind: load, amount: 1, code: "OK", moved: 1, balance: 501, held: 301}, 0},
		"refused, and not blocked": {from, op{kind: redeem, amount: 1, code: "REDEMPTION_NOT_ALLOWED"}, 0},
		"captured, and blocked":    {blocked, op{kind: capture, code: "OK", moved: 301, balance: 199}, 1},
		"given back, and blocked":  {blocked, op{kind: reverse, code: "OK", moved: 100, balance: 600, held: 301}, 1},
		"not seen to be blocked":   {blocked, op{kind: look, code: "OK", balance: 500, held: 301}, 0},
		"seen to be blocked":       {blocked, op{kind: look, code: "OK", balance: 500, held: 301, blocked: true}, 1},
	} {
		c.op.gift, c.op.ended = &voucher{}, 1
		of := 0
		if got := (asked{&c.op, -1, of, []int64{1e18}}).explains(c.from); len(got) != c.want {
			t.Errorf("%s: explained by %+v, want %d", name, got, c.want)
		}
	}
}

// TestModelOfValue: a card is activated once, and taken back only while nothing else happened to it; what was loaded is
// taken back as long as it is there.
func TestModelOfValue(t *testing.T) {
	card := state{dormant: true, left: []int64{absent}}
	fresh, used := state{balance: 500, left: []int64{500}}, state{balance: 400, touched: true, left: []int64{500}}
	loaded := state{balance: 500, touched: true, left: []int64{200}, holds: []int64{301}}
	for name, c := range map[string]struct {
		from  state
		op    op
		n, of int
		want  int
	}{
		"activated": {card, op{kind: activate, amount: 500, code: "OK", moved: 500, balance: 500}, 0, -1,
			1},
		"redeemed, and not activated": {card, op{kind: redeem, amount: 1, code: "OK", moved: 1}, -1, -1, 0},
		"activated twice": {fresh, op{kind: activate, amount: 500, code: "OK", moved: 500, balance: 1000}, -1,
			-1, 0},
		"refused, and not activated":  {card, op{kind: activate, amount: 500, code: "ALREADY_ACTIVATED"}, 0, -1, 0},
		"taken back":                  {fresh, op{kind: deactivate, code: "OK", moved: 500}, -1, 0, 1},
		"taken back, and it was used": {used, op{kind: deactivate, code: "OK", moved: 500}, -1, 0, 0},
		"taken back first":            {card, op{kind: deactivate, byKey: true, code: "NOT_FOUND"}, -1, 0, 1},
		"loaded before it was sold":   {card, op{kind: load, amount: 1, code: "OK", moved: 1, balance: 1}, -1, -1, 0},
		"adjusted below what is held": {loaded, op{kind: adjust, amount: -200, code: "OK", moved: -200, balance: 300,
			held: 301},
			-1, -1, 0},
		"adjusted": {loaded, op{kind: adjust, amount: -199, code: "OK", moved: -199, balance: 301,
			held: 301}, -1, -1, 1},
		"cashed out":                     {state{balance: 1499}, op{kind: payOut, code: "OK", moved: 1499}, -1, -1, 1},
		"cashed out, and it is too much": {state{balance: 1500}, op{kind: payOut, code: "OK", moved: 1500}, -1, -1, 0},
		"cashed out beside a hold":       {loaded, op{kind: payOut, code: "OK", moved: 500}, -1, -1, 0},
		"redeemed when blocked": {state{balance: 9, blocked: true}, op{kind: redeem, amount: 1, code: "OK", moved: 1,
			balance: 8},
			-1, -1, 0},
		"unloaded":                      {used, op{kind: unload, code: "OK", moved: 500}, -1, 0, 0},
		"unloaded, and it is not there": {used, op{kind: unload, code: "INSUFFICIENT_BALANCE"}, -1, 0, 1},
		"unloaded of what is held": {loaded, op{kind: unload, code: "OK", moved: 200, balance: 300, held: 301}, -1, 0,
			0},
	} {
		c.op.gift, c.op.ended = &voucher{}, 1
		if got := (asked{&c.op, c.n, c.of, []int64{1e18}}).explains(c.from); len(got) != c.want {
			t.Errorf("%s: explained by %+v, want %d", name, got, c.want)
		}
	}
}
