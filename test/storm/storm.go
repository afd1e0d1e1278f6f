// Package storm is many tills that use a service at once, over HTTP, and write down what they were told: they redeem,
// reverse, void, cancel and look, on many gifts and a hot one, from two accounts with many keys each, and repeat old
// requests. A call that is not answered is repeated until its outcome is known, or given up and asked about
// in the end.
//
// Afterwards it holds what was acknowledged against what is there. It knows the interface, and nothing of what is
// behind it.
package storm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

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
}

// Storm is the tills and what they wrote down.
type Storm struct {
	Options
	epoch  time.Time
	urls   []string
	client *rig.Client
	shops  []*shop

	calls, retries, givenUp, refused, limited atomic.Int64

	mu       sync.Mutex
	history  []*op
	gifts    []*voucher
	problems []string
	more     int
	slowest  time.Duration
	kept     map[string]int // by API key, see countKept
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
	shop            *shop
	id, code, token string
	item            bool
	worth           int64 // in cents or pieces

	mu    sync.Mutex
	calls int
	taken []*op // redemptions that can be reversed
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
		kept: map[string]int{}}
	for _, a := range rig.Accounts() {
		s.shops = append(s.shops, &shop{Account: a, slots: make([]*voucher, o.Gifts)})
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

// Secrets are all codes, in three spellings, tokens and API keys that the tills have used.
func (s *Storm) Secrets() (all []string) {
	for _, shop := range s.shops {
		all = append(all, shop.Keys...)
	}
	for _, v := range s.gifts {
		all = append(append(all, v.token), Spellings(v.code)...)
	}
	return all
}

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
	switch p := t.lot.IntN(1000); {
	case p < 550:
		t.redeem(v)
	case p < 700:
		t.reverse(v)
	case p < 760:
		t.void(v)
	case p < 800:
		t.voidTogether(v)
	case p < 895:
		t.look(v)
	case p < 898:
		t.finish(&op{kind: cancel, gift: v})
	case p < 970:
		t.repeat()
	default:
		t.intrude(v)
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
		s.sold++
		s.stock = t.sell(s, s.sold%2 == 0)
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

// redeem takes something: little, much, more than there is, or everything.
func (t *till) redeem(v *voucher) {
	o := &op{kind: redeem, gift: v, amount: 1 + t.lot.Int64N(max(1, v.worth/60))}
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

// reverse gives back a redemption of any till, whole or in part.
func (t *till) reverse(v *voucher) {
	of := t.taken(v)
	if of == nil {
		t.redeem(v)
		return
	}
	o := &op{kind: reverse, gift: v, of: of.key, ofID: of.id}
	if t.lot.IntN(2) == 0 {
		o.amount = 1 + t.lot.Int64N(max(1, of.moved))
	}
	t.finish(o)
}

func (t *till) taken(v *voucher) *op {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.taken) == 0 {
		return nil
	}
	return v.taken[len(v.taken)-1-t.lot.IntN(min(len(v.taken), 30))]
}

// void takes a redemption back by its key.
func (t *till) void(v *voucher) {
	of := t.taken(v)
	if of == nil {
		t.redeem(v)
		return
	}
	t.finish(&op{kind: void, gift: v, of: of.key})
}

// voidTogether sends a redemption and its void at the same moment, or the void first.
func (t *till) voidTogether(v *voucher) {
	r := &op{kind: redeem, gift: v, amount: 1 + t.lot.Int64N(max(1, v.worth/60)), paired: true}
	r.key = t.key(r)
	u := &op{kind: void, gift: v, of: r.key, paired: true}
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
	if of := t.taken(v); of != nil && t.lot.IntN(2) == 0 {
		o.kind, o.path, o.body = reverse, rig.Reverse, fmt.Sprintf(`{"redemptionID":%q}`, of.id)
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
	if operation == void {
		operation = reverse // the interface has one for both
	}
	t.keys[account][operation]++
	return fmt.Sprintf("till-%d-%d-%d", t.round, t.n, t.keys[account][operation])
}
