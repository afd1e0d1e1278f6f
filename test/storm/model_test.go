package storm

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

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
		"reinstated": {cancelled, op{kind: reinstate, did: true, code: "OK", balance: 500}, -1,
			true, 500},
		"reinstated, and not told so": {cancelled, op{kind: reinstate, code: "OK", balance: 500}, -1, false, 0},
		"reinstated what was in use": {whole, op{kind: reinstate, did: true, code: "OK", balance: 500}, -1,
			false, 0},
		"in use already":               {whole, op{kind: reinstate, code: "OK", balance: 500}, -1, true, 500},
		"reinstated without its value": {cancelled, op{kind: reinstate, did: true, code: "OK"}, -1, false, 0},
		"limited, and was cancelled":   {cancelled, op{kind: reinstate, code: limited}, -1, false, 0},
		"cancelled twice": {cancelled, op{kind: cancel, did: true, code: "OK", balance: 500}, -1,
			false, 0},
		"a look is never limited": {whole, op{kind: look, code: limited}, -1, false, 0},
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
		"cancelled and released":   {op{kind: cancel, keep: true, did: true, code: "OK", balance: 500}, -1, 1},
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
	rich := state{balance: 1_000_113, left: []int64{absent}, holds: []int64{absent}}
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
		"adjusted above the most":  {rich, op{kind: adjust, amount: 1, code: "OK", moved: 1, balance: 1_000_114}, 0},
		"adjusted down above it":   {rich, op{kind: adjust, amount: -2, code: "OK", moved: -2, balance: 1_000_111}, 1},
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

// TestModelOfCards: a card that was replaced leads to nothing, the verification code is asked for, and five wrong ones
// in a row block it.
func TestModelOfCards(t *testing.T) {
	from := state{balance: 500, code: "1", token: "a", wrong: 4, left: []int64{absent}, holds: []int64{absent}}
	first, blocked, spentKey := from, from, from
	first.wrong, blocked.blocked, spentKey.left = 0, true, []int64{spent}
	renewed := from
	renewed.renewed = true
	empty, gone, card := state{}, state{balance: 500, gone: true}, state{dormant: true}
	ok := func(o op) op {
		o.code = "OK"
		return o
	}
	refused := func(o op) op {
		o.code = "REDEMPTION_NOT_ALLOWED"
		return o
	}
	redeemed := op{kind: redeem, amount: 200, moved: 200, balance: 300}
	unheeded := redeemed
	unheeded.shown = wrongCode
	by := func(o op, name string) op {
		o.by = name
		return o
	}
	with := func(o op, s shown) op {
		o.shown = s
		o.wrong = s == wrongCode
		return o
	}
	for name, c := range map[string]struct {
		from  state
		op    op
		want  bool
		wrong int // of the state afterwards
	}{
		"by the code":                       {from, ok(by(redeemed, "1")), true, 0},
		"by the token":                      {from, ok(by(redeemed, "a")), true, 0},
		"by an old code":                    {from, ok(by(redeemed, "0")), false, 0},
		"refused by an old code":            {from, refused(by(redeemed, "0")), true, 4},
		"refused by an old code, key spent": {spentKey, refused(by(redeemed, "0")), true, 4},
		"refused by the code":               {from, refused(by(redeemed, "1")), false, 0},
		"seen by an old code":               {from, ok(by(op{kind: look, balance: 500}, "0")), false, 0},
		"not seen by an old code":           {from, refused(by(op{kind: look}, "0")), true, 4},
		"loaded by an old code":             {from, ok(by(op{kind: load, amount: 1, moved: 1, balance: 501}, "0")), false, 0},
		"with a wrong code":                 {from, ok(with(redeemed, wrongCode)), false, 0},
		"with a wrong code, replaced":       {renewed, ok(unheeded), true, 0},
		"without a code, replaced":          {renewed, ok(with(redeemed, noCode)), true, 0},
		"refused for the wrong code":        {first, refused(with(redeemed, wrongCode)), true, 1},
		"refused for the fifth wrong code":  {from, refused(with(redeemed, wrongCode)), true, 5},
		"refused for no wrong code":         {from, refused(op{kind: redeem, amount: 200, wrong: true}), false, 0},
		"refused otherwise": {from, refused(op{kind: redeem, amount: 200, shown: wrongCode}), false,
			0},
		"without its code":            {from, ok(with(redeemed, noCode)), false, 0},
		"refused without its code":    {from, op{kind: hold, code: "VALIDATION_FAILURE", shown: noCode}, true, 4},
		"refused as it is blocked":    {blocked, refused(op{kind: hold, amount: 1, shown: wrongCode}), true, 4},
		"paid out with a wrong code":  {from, ok(with(op{kind: cashingOut, moved: 500}, wrongCode)), false, 0},
		"paid out":                    {from, ok(op{kind: cashingOut, moved: 500}), true, 0},
		"unblocked":                   {blocked, ok(op{kind: unblock}), true, 0},
		"unblocked, and was not":      {from, ok(op{kind: unblock}), true, 4},
		"replaced":                    {from, ok(op{kind: replace, newCode: "2", newToken: "b", balance: 500}), true, 4},
		"replaced when it is empty":   {empty, ok(op{kind: replace}), false, 0},
		"replaced when cancelled":     {gone, ok(op{kind: replace, balance: 500}), false, 0},
		"replaced before it was sold": {card, ok(op{kind: replace}), false, 0},
	} {
		c.op.gift, c.op.ended = &voucher{}, 1
		got := (asked{&c.op, 0, -1, nil}).explains(c.from)
		if (len(got) == 1) != c.want || c.want && (got[0].wrong != c.wrong || got[0].blocked != (c.wrong == 5 ||
			c.from.blocked && c.op.kind != unblock)) {
			t.Errorf("%s: explained by %+v, want %v with %d wrong codes", name, got, c.want, c.wrong)
		}
	}
	replaced := (asked{&op{kind: replace, newCode: "2", newToken: "b", balance: 500, code: "OK", gift: &voucher{}}, -1, -1,
		nil}).explains(from)
	if len(replaced) != 1 || replaced[0].code != "2" || replaced[0].token != "b" || replaced[0].left[0] != absent {
		t.Errorf("replaced: %+v", replaced)
	}
}

// TestModelOfExtending: only what does not cost anything is made valid for longer, and never for less.
func TestModelOfExtending(t *testing.T) {
	until, bought, promo := state{balance: 500, valid: 100}, &voucher{}, &voucher{promo: true}
	gone := until
	gone.gone = true
	for name, c := range map[string]struct {
		from state
		op   op
		want bool
	}{
		"longer":             {until, op{kind: extend, gift: promo, valid: 101, code: "OK"}, true},
		"not longer":         {until, op{kind: extend, gift: promo, valid: 100, code: "OK"}, false},
		"refused as shorter": {until, op{kind: extend, gift: promo, valid: 100, code: "VALIDATION_FAILURE"}, true},
		"bought":             {until, op{kind: extend, gift: bought, valid: 101, code: "OK"}, false},
		"cancelled":          {gone, op{kind: extend, gift: promo, valid: 101, code: "OK"}, false},
		"seen":               {until, op{kind: look, gift: promo, balance: 500, valid: 100, code: "OK"}, true},
		"seen otherwise":     {until, op{kind: look, gift: promo, balance: 500, valid: 99, code: "OK"}, false},
		"loaded":             {until, op{kind: load, gift: promo, amount: 1, moved: 1, balance: 501, code: "OK"}, false},
		"paid out":           {until, op{kind: cashingOut, gift: promo, moved: 500, code: "OK"}, false},
	} {
		if got := (asked{&c.op, -1, -1, nil}).explains(c.from); (len(got) == 1) != c.want {
			t.Errorf("%s: explained by %+v, want %v", name, got, c.want)
		}
	}
}

// TestModelOfValue: a card is activated once, and taken back only while nothing else happened to it; what was loaded is
// taken back as long as it is there.
func TestModelOfValue(t *testing.T) {
	card := state{dormant: true, left: []int64{absent}}
	fresh, used := state{balance: 500, left: []int64{500}}, state{balance: 400, touched: true, left: []int64{500}}
	loaded := state{balance: 500, touched: true, left: []int64{200}, holds: []int64{301}}
	cash, called := state{touched: true, left: []int64{420}}, state{balance: 420, left: []int64{spent}}
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
		"cashed out":                     {state{balance: 1499}, op{kind: cashingOut, code: "OK", moved: 1499}, -1, -1, 1},
		"cashed out, and it is too much": {state{balance: 1500}, op{kind: cashingOut, code: "OK", moved: 1500}, -1, -1, 0},
		"cashed out beside a hold":       {loaded, op{kind: cashingOut, code: "OK", moved: 500}, -1, -1, 0},
		"cash taken back":                {cash, op{kind: payBack, code: "OK", moved: 420, balance: 420}, -1, 0, 1},
		"cash taken back in part":        {cash, op{kind: payBack, amount: 9, code: "OK", moved: 9, balance: 9}, -1, 0, 0},
		"no part of cash":                {cash, op{kind: payBack, amount: 400, code: "VALIDATION_FAILURE"}, -1, 0, 1},
		"cash taken back twice":          {fresh, op{kind: payBack, byKey: true, code: "ALREADY_REVERSED"}, -1, 0, 0},
		"cash taken back first":          {card, op{kind: payBack, byKey: true, code: "NOT_FOUND"}, -1, 0, 1},
		"cashed out after that":          {called, op{kind: cashingOut, code: "OK", moved: 420}, 0, -1, 0},
		"refused after that":             {called, op{kind: cashingOut, code: "REDEMPTION_NOT_ALLOWED"}, 0, -1, 1},
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

// TestModelOfCashedOut: while a later cash-out stands, and only then, no redemption is given back.
func TestModelOfCashedOut(t *testing.T) {
	// Of left: redemptions before and after the first cash-out, and the two cash-outs.
	const early, late, first, second = 0, 1, 2, 3
	left := func(first, second int64) []int64 { return []int64{300, 200, first, second} }
	fromFirst := cashOut{first, []bool{true, false, false, false}}
	fromSecond := cashOut{second, []bool{true, true, true, false}}
	forever := cashOut{-1, fromSecond.before}
	standing := func(c ...cashOut) state { return state{left: left(700, 100), cashed: c} }
	nothingLeft := state{left: make([]int64, 4), cashed: []cashOut{fromFirst}}
	loaded := state{balance: 300, left: left(700, 100), cashed: []cashOut{fromSecond}}
	fresh := state{balance: 400, left: []int64{300, absent, absent, absent}}
	older := standing(fromFirst)
	older.older = true
	given := func(of kind, amount int64) op { return op{kind: of, code: "OK", moved: amount, balance: amount} }
	refused := func(of kind) op { return op{kind: of, code: "REDEMPTION_NOT_ALLOWED"} }
	part, tooMuch := given(reverse, 1), op{kind: reverse, amount: 301, code: "VALIDATION_FAILURE"}
	part.amount = 1
	for name, c := range map[string]struct {
		from state
		op   op
		of   int
		want bool
	}{
		"refused":                            {standing(fromFirst), refused(reverse), early, true},
		"refused by key":                     {standing(fromFirst), refused(void), early, true},
		"given back":                         {standing(fromFirst), given(reverse, 300), early, false},
		"given back by key":                  {standing(fromFirst), given(void, 300), early, false},
		"given back in part":                 {standing(fromFirst), part, early, false},
		"told that it is too much":           {standing(fromFirst), tooMuch, early, false},
		"refused when nothing is left":       {nothingLeft, refused(void), early, true},
		"told that nothing is left":          {nothingLeft, op{kind: void, code: "ALREADY_REVERSED"}, early, false},
		"of after it, refused":               {standing(fromFirst), refused(reverse), late, false},
		"of after it, given back":            {standing(fromFirst), given(reverse, 200), late, true},
		"of between two, refused":            {standing(fromFirst, fromSecond), refused(void), late, true},
		"of between two, the first one back": {standing(fromSecond), refused(reverse), late, true},
		"of before two, the first one back":  {standing(fromSecond), refused(reverse), early, true},
		"of before two, both back":           {standing(), given(reverse, 300), early, true},
		"refused, and both back":             {standing(), refused(reverse), early, false},
		"refused for one that stays":         {standing(forever), refused(reverse), late, true},
		"given back, and one stays":          {standing(forever), given(reverse, 200), late, false},
		"refused, and none was made":         {fresh, refused(reverse), early, false},
		"limited":                            {standing(fromFirst), op{kind: void, code: limited}, early, true},
		"limited, and could be given back":   {standing(), op{kind: void, code: limited}, early, false},
		"its key came before":                {fresh, op{kind: void, code: "NOT_FOUND"}, late, true},
		"a cash-out before another, back":    {standing(fromFirst, fromSecond), given(payBack, 700), first, true},
		"a cash-out before another, refused": {standing(fromFirst, fromSecond), refused(payBack), first, false},
		"a reload before it":                 {loaded, op{kind: unload, code: "OK", moved: 300}, early, true},
		"given back by an older program":     {older, given(reverse, 300), early, true},
		"refused by an older one's fellow":   {older, refused(reverse), early, true},
		"limited by an older one's fellow":   {older, op{kind: reverse, code: limited}, early, true},
		"refused by either for no reason":    {older, refused(reverse), late, false},
	} {
		c.op.gift, c.op.ended = &voucher{}, 1
		if got := (asked{&c.op, -1, c.of, nil}).explains(c.from); (len(got) == 1) != c.want {
			t.Errorf("%s: explained by %+v, want %v", name, got, c.want)
		}
	}
}

// TestModelRemembersCashOuts tells a gift's whole story: what the model keeps of a cash-out is what bars a redemption.
func TestModelRemembersCashOuts(t *testing.T) {
	ok := func(k kind, moved, balance int64) op { return op{kind: k, code: "OK", moved: moved, balance: balance} }
	refused := func(k kind) op { return op{kind: k, code: "REDEMPTION_NOT_ALLOWED"} }
	amount := func(o op) op {
		o.amount = o.moved
		return o
	}
	// Slots of left: 0 a redemption, 1 a cash-out, 2 a capture, 3 another cash-out.
	s := []state{{balance: 1000, left: []int64{absent, absent, absent, absent}, holds: []int64{absent}}}
	for n, c := range []struct {
		op    op
		n, of int
	}{
		{amount(ok(redeem, 300, 700)), 0, -1},
		{ok(cashingOut, 700, 0), 1, -1},
		{refused(reverse), -1, 0},
		{amount(ok(load, 500, 500)), -1, -1},
		{op{kind: hold, amount: 200, code: "OK", moved: 200, balance: 500, held: 200}, 0, -1},
		{ok(capture, 200, 300), 2, 0},
		{amount(ok(reverse, 50, 350)), -1, 2},
		{ok(cashingOut, 350, 0), 3, -1},
		{refused(void), -1, 2},
		{ok(payBack, 700, 700), -1, 1},
		{refused(reverse), -1, 0},
		{refused(void), -1, 2},
		{ok(payBack, 350, 1050), -1, 3},
		{ok(void, 150, 1200), -1, 2},
		{ok(reverse, 300, 1500), -1, 0},
		{op{kind: void, code: "ALREADY_REVERSED"}, -1, 0},
		{amount(ok(redeem, 100, 1400)), -1, -1},
		{ok(cashingOut, 1400, 0), -1, -1}, // which nobody takes back
		{refused(void), -1, 0},
	} {
		c.op.gift, c.op.ended = &voucher{}, 1
		if s = (asked{&c.op, c.n, c.of, []int64{1e18}}).explains(s[0]); len(s) != 1 {
			t.Fatalf("step %d, %s: explained by %+v", n, words[c.op.kind], s)
		}
	}
}

// TestOrderOfCashOuts: where only the reversal tells which of a redemption and a cash-out came first, both orders are
// tried.
func TestOrderOfCashOuts(t *testing.T) {
	v := &voucher{start: state{balance: 1000}}
	redeemed := op{kind: redeem, amount: 1000, code: "OK", moved: 1000}
	for _, reversal := range []op{{code: "OK", moved: 1000, balance: 1000}, {code: "REDEMPTION_NOT_ALLOWED"}} {
		reversal.kind, reversal.of, reversal.begun, reversal.ended = reverse, &redeemed, 2, 3
		ops := []*op{&redeemed, {kind: load, amount: 1000, code: "OK", moved: 1000, balance: 1000},
			{kind: cashingOut, code: "OK", moved: 1000}, &reversal}
		for _, o := range ops {
			o.gift, o.ended = v, max(1, o.ended)
		}
		if got := linearizable(v, ops); got != porcupine.Ok {
			t.Errorf("with a reversal that is answered %s: %s", reversal.code, got)
		}
	}
}

// TestMissing: a storm in which some kind of call never succeeded says so.
func TestMissing(t *testing.T) {
	var all Done
	for k := range all {
		all[k] = 1
	}
	s := &Storm{}
	if none := s.missing(all); len(none) > 0 {
		t.Errorf("of everything, %q is missing", none)
	}
	for k := range kinds {
		some := all
		some[k] = 0
		if none := s.missing(some); (len(none) == 1 && none[0] == words[k] && words[k] != "") == (k == sell) {
			t.Errorf("without %d, %q is missing", k, none)
		}
	}
}
