// Package storm is many tills that use a service at once, over HTTP, and write down what they were told: they activate,
// reload, adjust, block, replace, extend, cash out, redeem, hold, capture and release, undo all that, transfer, cancel,
// reinstate and look, with right and wrong verification codes, on many gifts and a hot one, from two accounts with many
// keys each, and repeat old requests. A call that is not answered is repeated until its outcome is known, or given up
// and asked about in the end.
//
// Afterwards it holds what was acknowledged against what is there. It knows the interface, and nothing of what is
// behind it.
package storm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/gift"
	"boon.example/test/rig"
)

// Options say what the tills do. The zero value of every member but Clients is usable.
type Options struct {
	Clients int
	Seed    uint64
	Gifts   int // in use at once in each account; default 24
	// how many calls a gift lives through before another takes its place; default 400. The hot one: five times that
	Lifetime int
	Timeout  time.Duration // for a call to be answered in the end; default 2 min
	Replays  int           // how many old requests Check repeats; default 1,000
	// Older: a program of version 0.1.0 is among those at the urls. No cash-out is taken back, no card has a
	// verification code, for which it asks after a replacement, too, and nothing names a gift beside a key. It gives
	// back what was redeemed before a cash-out.
	Older bool
}

// Storm is the tills and what they wrote down.
type Storm struct {
	Options
	epoch  time.Time
	urls   []string
	client *rig.Client
	shops  []*shop

	calls, retries, givenUp, refused, limited atomic.Int64

	abandoned atomic.Bool

	mu       sync.Mutex
	history  []*op
	gifts    []*voucher
	problems []string
	more     int
	slowest  time.Duration
	kept     map[string]int // by API key, see countKept
	wrong    map[string]int // by API key: wrong verification codes, see maxWrong
}

// shop is an account, and what it has in stock.
type shop struct {
	rig.Account
	mu    sync.Mutex
	stock []*voucher
	slots []*voucher
	sold  int
}

// voucher is a gift and what the tills know of it.
type voucher struct {
	shop         *shop
	id           string
	verification string // the code; "": it has none
	item, promo  bool
	worth        int64 // in cents or pieces
	start        state
	redeemed     map[string]bool // with these API keys; under the storm's mu
	replacing    sync.Mutex      // held by the one till that replaces its card, so that the newest code is known

	mu          sync.Mutex
	calls       int
	code, token string
	old         []string       // codes and tokens that it had, in turn
	done        map[kind][]*op // that can be undone; captures are among the redemptions
}

// New makes tills for the instances at urls, which must serve rig.Setup.
func New(o Options, urls ...string) *Storm {
	if o.Gifts == 0 {
		o.Gifts = 24
	}
	if o.Lifetime == 0 {
		o.Lifetime = 400
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.Replays == 0 {
		o.Replays = 1000
	}
	s := &Storm{Options: o, epoch: time.Now(), urls: urls, client: rig.NewClient(o.Clients, 6*time.Second),
		kept: map[string]int{}, wrong: map[string]int{}}
	for n, a := range rig.Accounts() { // the second begins with other gifts, so that a short storm has all kinds, too
		s.shops = append(s.shops, &shop{Account: a, slots: make([]*voucher, o.Gifts), sold: 2 * n})
	}
	return s
}

// now does not jump when the machine's clock is set.
func (s *Storm) now() int64 { return s.epoch.Add(time.Since(s.epoch)).UnixNano() }

// Calls is how many were answered so far.
func (s *Storm) Calls() int64 { return s.calls.Load() }

// Run keeps the tills busy until so many more calls were answered, or ctx ends and those under way are answered. Round
// tells the keys of one Run from those of the next.
func (s *Storm) Run(ctx context.Context, round int, calls int64) {
	until := s.calls.Load() + calls
	var wg sync.WaitGroup
	for n := range s.Clients {
		t := &till{Storm: s, n: n, round: round, lot: rand.New(rand.NewPCG(s.Seed+uint64(round), uint64(n)))}
		wg.Go(func() {
			for ctx.Err() == nil && s.calls.Load() < until {
				t.serve()
			}
		})
	}
	wg.Wait()
	s.client.Close()
}

// Abandon tells the tills that no server will answer any more: what became of the calls under way stays unknown, and
// Run ends at once, when its context has.
func (s *Storm) Abandon() { s.abandoned.Store(true) }

// Outlive waits until the short ones of the holds that were made are over.
func (s *Storm) Outlive() {
	last := int64(0)
	for _, o := range s.history {
		if soon := s.now() + int64(61*time.Second); o.kind == hold && o.until < soon {
			last = max(last, o.until)
		}
	}
	time.Sleep(time.Duration(last - s.now() + 2*slack))
}

// Secrets are all codes, in three spellings, tokens and API keys that the tills have used.
func (s *Storm) Secrets() (all []string) {
	for _, shop := range s.shops {
		all = append(all, shop.Keys...)
	}
	for _, v := range s.gifts {
		if v.verification != "" {
			all = append(all, Shown(v.verification))
		}
		for n, code := range append(v.old, v.code, v.token) {
			if n%2 == 1 {
				all = append(all, code)
			} else {
				all = append(all, Spellings(code)...)
			}
		}
	}
	return all
}

// Shown is a verification code as it stands in a request: its digits alone stand in many places.
func Shown(code string) string { return fmt.Sprintf(`"verificationCode":%q`, code) }

// Spellings are the ways in which a code is written.
func Spellings(code string) []string {
	return []string{code, code[:4] + "-" + code[4:8] + "-" + code[8:], code[:4] + " " + code[4:8] + " " + code[8:]}
}

// maxProblems is how many are told in words.
const maxProblems = 20

func (s *Storm) problem(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.problems) < maxProblems {
		text := fmt.Sprintf(format, args...)
		s.problems = append(s.problems, text[:min(len(text), 1500)])
	} else {
		s.more++
	}
}

// till is one client.
type till struct {
	*Storm
	n, round int
	lot      *rand.Rand
	keys     [2][kinds]int // how many were used, by account and kind: so all accounts and operations use the same ones
	old      []*op         // some of what it was answered, to be asked again
}

// maxOld is how many answers a till remembers.
const maxOld = 200

// serve makes one call, or a few that belong together.
func (t *till) serve() {
	shop := t.shops[t.lot.IntN(len(t.shops))]
	v := t.pick(shop)
	if v == nil {
		return
	}
	if v.start.dormant && t.lot.IntN(2) == 0 && !t.sold(v) {
		if t.finish(&op{kind: activate, gift: v, amount: v.worth}); t.lot.IntN(2) == 0 {
			t.undo(deactivate, v)
		}
		return
	}
	if v.verification != "" && t.lot.IntN(30) == 0 {
		t.guess(v)
		return
	}
	switch p := t.lot.IntN(1000); {
	case p < 133:
		t.change(p, v)
	case p < 340:
		t.take(redeem, v)
	case p < 450:
		t.take(hold, v)
	case p < 560:
		t.undo(capture, v)
	case p < 600:
		t.undo(release, v)
	case p < 620:
		t.undo(withdraw, v)
	case p < 720:
		t.undo(reverse, v)
	case p < 770:
		t.undo(void, v)
	case p < 790:
		t.together(redeem, void, v)
	case p < 810:
		t.together(hold, withdraw, v)
	case p < 840:
		t.give(v)
	case p < 897:
		t.look(v)
	case p < 900:
		if t.finish(&op{kind: cancel, gift: v, keep: t.lot.IntN(2) == 0}); t.lot.IntN(2) == 0 {
			t.take(kind(t.lot.IntN(int(capture))), v)
			t.finish(&op{kind: reinstate, gift: v})
		}
	case p < 970:
		t.repeat()
	default:
		t.intrude(v)
	}
}

// change makes one of the calls that only the desk makes, or few tills: the p-th of 133.
func (t *till) change(p int, v *voucher) {
	switch {
	case p < 20:
		t.together(load, unload, v)
	case p < 40:
		t.undo(unload, v)
	case p < 60:
		t.undo(deactivate, v)
	case p < 68:
		t.together(activate, deactivate, v)
	case p < 74 && !t.Older:
		t.together(cashingOut, payBack, v)
	case p < 88:
		t.finish(&op{kind: adjust, gift: v, amount: (1 - 2*t.lot.Int64N(2)) * t.little(v)})
	case p < 100:
		t.take(cashingOut, v)
	case p < 114 && !t.Older:
		t.undo(payBack, v)
	case p < 118:
		t.finish(&op{kind: block, gift: v})
		t.take(kind(t.lot.IntN(int(capture))), v)
		t.finish(&op{kind: unblock, gift: v})
	case p < 125:
		t.extend(v)
	default:
		t.replace(v)
	}
}

// hot is how many calls in a hundred go to the first gift of an account.
const hot = 25

// pick finds a gift, and puts another into its place once it has lived long enough. nil: there is none to be had.
func (t *till) pick(s *shop) *voucher {
	slot := t.lot.IntN(t.Gifts)
	life := t.Lifetime
	if t.lot.IntN(100) < hot {
		slot, life = 0, 5*t.Lifetime
	}
	s.mu.Lock()
	defer s.mu.Unlock() // while gifts are sold, too: the others wait for them
	if v := s.slots[slot]; v != nil && v.live(life) {
		return v
	}
	if len(s.stock) == 0 {
		if s.sold++; s.sold%3 == 2 {
			s.stock = t.print(s, s.sold%6 == 2 && !t.Older)
		} else {
			s.stock = t.sell(s, s.sold%3 == 0, s.sold%4 == 0)
		}
	}
	if len(s.stock) == 0 {
		return nil
	}
	v := s.stock[0]
	s.slots[slot], s.stock = v, s.stock[1:]
	return v
}

func (v *voucher) live(life int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.calls++
	return v.calls <= life
}

// sold tells whether a card is active, as far as is known.
func (t *till) sold(v *voucher) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.done[activate]) > len(v.done[deactivate])
}

// take takes, holds or adds something: little, much, more than there is, or everything.
func (t *till) take(k kind, v *voucher) {
	o := &op{kind: k, gift: v, amount: t.little(v)}
	if k == activate || k == load {
		t.finish(o)
		return
	}
	if o.shown = t.show(); k == cashingOut {
		o.amount = 0
		t.finish(o)
		return
	}
	switch t.lot.IntN(20) {
	case 0:
		o.amount = 0
	case 1:
		o.amount = v.worth
	case 2, 3:
		o.amount, o.partial = 1+t.lot.Int64N(v.worth/2), true
	}
	t.finish(o)
}

// show is the verification code that a till is shown: mostly the right one.
func (t *till) show() shown { return max(0, shown(t.lot.IntN(30)-27)) }

// guess tries verification codes until the card is blocked, and may have it unblocked.
func (t *till) guess(v *voucher) {
	for range gift.MaxWrongCodes {
		k := kind(t.lot.IntN(int(capture)))
		if t.lot.IntN(10) == 0 {
			k = cashingOut
		}
		t.finish(&op{kind: k, gift: v, amount: 1, shown: wrongCode})
	}
	t.take(redeem, v)
	if t.lot.IntN(4) > 0 {
		t.finish(&op{kind: unblock, gift: v})
		t.take(hold, v)
	}
}

// replace gives a gift another card.
func (t *till) replace(v *voucher) {
	v.replacing.Lock()
	defer v.replacing.Unlock()
	t.finish(&op{kind: replace, gift: v})
}

// extend asks for a later time than a gift had at first, which others may have made later still.
func (t *till) extend(v *voucher) {
	from := v.start.valid
	if from == 0 {
		from = 2_000_000_000
	}
	t.finish(&op{kind: extend, gift: v, valid: from + t.lot.Int64N(100_000_000)})
}

func (t *till) little(v *voucher) int64 { return 1 + t.lot.Int64N(max(1, v.worth/60)) }

// undo captures a hold, releases it, or gives a redemption back, of any till, whole or in part.
func (t *till) undo(k kind, v *voucher) {
	first := map[kind]kind{capture: hold, release: hold, withdraw: hold, reverse: redeem, void: redeem, unload: load,
		deactivate: activate, payBack: cashingOut}[k]
	v.mu.Lock()
	from := v.done[first]
	var of *op
	if len(from) > 0 {
		of = from[len(from)-1-t.lot.IntN(min(len(from), 30))]
	}
	v.mu.Unlock()
	if of == nil {
		t.take(first, v)
		return
	}
	o := &op{kind: k, gift: v, of: of, byKey: t.lot.IntN(2) == 0}
	if (k == capture || k == reverse || k == payBack) && t.lot.IntN(2) == 0 {
		o.amount, o.keep = 1+t.lot.Int64N(max(1, of.moved)), t.lot.IntN(2) == 0
	}
	t.finish(o)
}

// together sends something and its withdrawal by key at the same moment, or the withdrawal first.
func (t *till) together(k, undo kind, v *voucher) {
	r := &op{kind: k, gift: v, amount: t.little(v), paired: true}
	if k == cashingOut {
		r.amount = 0
	}
	r.key = t.key(r)
	u := &op{kind: undo, gift: v, of: r, byKey: true, paired: true}
	u.key = t.key(u)
	if t.lot.IntN(2) == 0 {
		t.finish(u)
		t.finish(r)
		return
	}
	var wg sync.WaitGroup
	wg.Go(func() { (&till{Storm: t.Storm, lot: rand.New(rand.NewPCG(t.lot.Uint64(), 0))}).finish(u) })
	t.finish(r)
	wg.Wait()
	t.remember(u)
}

// give moves something to another gift of the same kind.
func (t *till) give(v *voucher) {
	v.shop.mu.Lock()
	to := v.shop.slots[t.lot.IntN(len(v.shop.slots))]
	v.shop.mu.Unlock()
	if to == nil || to == v || to.item != v.item || to.promo != v.promo {
		t.look(v)
		return
	}
	o := &op{kind: give, gift: v, to: to, amount: t.little(v)}
	if t.lot.IntN(10) == 0 {
		o.amount = 0
	}
	t.finish(o)
}

func (t *till) look(v *voucher) { t.finish(&op{kind: look, gift: v}) }

// repeat asks again what was answered before, perhaps with the account's other key: the answer must be the same to the
// byte.
func (t *till) repeat() {
	if len(t.old) > 0 {
		t.again(t.old[t.lot.IntN(len(t.old))])
	}
}

// intrude asks another account for what is not its own.
func (t *till) intrude(v *voucher) {
	other := t.shops[0]
	if other == v.shop {
		other = t.shops[1]
	}
	t.keys[0][look]++
	o := &op{kind: redeem, gift: v, amount: 1, key: fmt.Sprintf("foreign-%d-%d-%d", t.round, t.n, t.keys[0][look]),
		path: rig.Redeem}
	o.apiKey, o.body = t.anyKey(other), fmt.Sprintf(`{"voucherID":%q,"amount":1}`, v.id)
	want := "NOT_FOUND"
	v.mu.Lock()
	var of *op
	if all := slices.Concat(v.done[redeem], v.done[hold]); len(all) > 0 {
		of = all[t.lot.IntN(len(all))]
	}
	v.mu.Unlock()
	if of != nil && t.lot.IntN(2) == 0 {
		o.kind, o.path, o.body = reverse, rig.Reverse, fmt.Sprintf(`{"redemptionID":%q}`, of.id)
		if of.kind == hold {
			o.kind, o.path, o.body = capture, rig.Capture, fmt.Sprintf(`{"holdID":%q}`, of.id)
		}
	} else if t.lot.IntN(3) == 0 {
		want, o.body = "NOT_AUTHORIZED", fmt.Sprintf(`{"voucherPublicToken":%q,"amount":1}`, v.token)
	}
	if a := t.see(o, false); a != nil && a.Code() != want && a.Code() != limited {
		t.problem("account %s asked for a gift of another with %s and was answered %s, want %s", other.ID, o.body, a.Code(),
			want)
	}
}

func (t *till) key(o *op) string {
	account := 0
	if o.gift.shop != t.shops[0] {
		account = 1
	}
	operation := o.kind
	switch operation { // of which the interface has one for both
	case void, payBack:
		operation = reverse
	case withdraw:
		operation = release
	}
	t.keys[account][operation]++
	return fmt.Sprintf("till-%d-%d-%d", t.round, t.n, t.keys[account][operation])
}
