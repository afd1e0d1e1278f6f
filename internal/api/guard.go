package api

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"boon.example/internal/clientip"
	"boon.example/internal/gift"
)

// guard keeps voucher codes from being guessed. The counts are the store's; what stands here is a view of them that spares the
// common case, a till without misses, most of the reading, and the number of look-ups under way, so that a thousand guesses at
// once are not answered before the first of them is counted.
type guard struct {
	records Records
	now     func() time.Time

	mu       sync.Mutex
	tills    map[till]*tillView
	keys     map[gift.ID]*dayView
	accounts map[gift.ID]*dayView

	settling sync.Mutex // held by whoever counts what is owed
}

type till struct{ key, location gift.ID }

// tillView is what is known of the attempts of a key at a location.
type tillView struct {
	bucket  gift.Bucket
	asked   time.Time   // when the store was asked
	version int         // counts what was learnt, so that an older answer does not replace a newer one
	flying  int         // look-ups under way
	waiting waiting     // for one of them to end
	owed    []gift.Miss // that the store could not count yet; at most as many as were under way
}

// dayView is what is known of the attempts of a key, or of an account, in this day.
type dayView struct {
	today   int
	limit   int
	asked   time.Time // when the limit was reckoned
	version int
	flying  int
	waiting waiting
}

// waiting is a queue of look-ups. One that ends wakes one that waits: with hundreds behind one till, waking all of them cost more than
// the look-ups.
type waiting []chan struct{}

func (w *waiting) join() (turn chan struct{}) {
	turn = make(chan struct{})
	*w = append(*w, turn)
	return turn
}

// wake gives the first its turn.
func (w *waiting) wake() {
	if len(*w) > 0 {
		close((*w)[0])
		*w = (*w)[1:]
	}
}

// leave gives up a place, or the turn that came meanwhile to the next.
func (w *waiting) leave(turn chan struct{}) {
	if at := slices.Index(*w, turn); at >= 0 {
		*w = slices.Delete(*w, at, at+1)
	} else {
		w.wake()
	}
}

// The ages at which a view is renewed. What other instances of the service counted in the meantime is missed for that long.
const (
	viewAge  = time.Second
	limitAge = 5 * time.Minute
)

func newGuard(r Records, now func() time.Time) *guard {
	return &guard{
		records: r, now: now,
		tills: map[till]*tillView{}, keys: map[gift.ID]*dayView{}, accounts: map[gift.ID]*dayView{},
	}
}

// lookUp looks a code up by find, when an attempt is left. A miss is what find refuses with NOT_FOUND or NOT_AUTHORIZED; it is
// counted before the answer is given. It fails with RATE_LIMITED before anything is looked up, so that good and bad
// codes are answered alike; while as many look-ups are under way as attempts are left, it waits for one of them to end.
func (g *guard) lookUp(ctx context.Context, m gift.Miss, find func() error) error {
	if err := g.enter(ctx, m); err != nil {
		return err
	}
	defer g.leave(m)
	err := find()
	if !isMiss(err) {
		return err
	}
	// Whoever hangs up now has made the attempt all the same. When the call's time is up, the miss is owed.
	deadline, has := ctx.Deadline()
	if !has {
		deadline = time.Now().Add(otherDeadline)
	}
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	counted, failed := g.records.CountMiss(ctx, m)
	if failed != nil {
		g.mu.Lock()
		t, _, _ := g.views(m)
		t.owed = append(t.owed, m)
		g.mu.Unlock()
		return stored(failed)
	}
	g.learn(m, counted)
	return err
}

// settle counts the misses of a till that the store could not count when they were made. Until it has, the till looks up no
// code: otherwise a store that can be read but not written to, as on a full disk, would let a guesser try as many as he likes.
func (g *guard) settle(ctx context.Context, m gift.Miss) error {
	next := func() *gift.Miss {
		g.mu.Lock()
		defer g.mu.Unlock()
		if t, _, _ := g.views(m); len(t.owed) > 0 {
			return &t.owed[0]
		}
		return nil
	}
	if next() == nil {
		return nil
	}
	g.settling.Lock()
	defer g.settling.Unlock()
	for owed := next(); owed != nil; owed = next() {
		counted, err := g.records.CountMiss(ctx, *owed)
		if err != nil {
			return stored(err)
		}
		g.learn(*owed, counted)
		g.mu.Lock()
		t, _, _ := g.views(m)
		t.owed = t.owed[1:]
		g.mu.Unlock()
	}
	return nil
}

func (g *guard) enter(ctx context.Context, m gift.Miss) error {
	var turn chan struct{}
	var given *waiting // where turn was given
	for {
		err := g.settle(ctx, m)
		if err == nil {
			err = g.renew(ctx, m)
		}
		g.mu.Lock()
		var behind *waiting
		if err == nil {
			behind, err = g.admit(m)
		}
		if given != nil && given != behind && (behind != nil || err != nil) {
			given.wake() // it is of no use here
		}
		if given = behind; behind != nil {
			turn = behind.join()
		}
		g.mu.Unlock()
		if behind == nil || err != nil {
			return err
		}
		select {
		case <-turn:
		case <-ctx.Done():
			g.mu.Lock()
			given.leave(turn)
			g.mu.Unlock()
			return ctx.Err()
		}
	}
}

// admit takes a place among the look-ups under way, if an attempt is left for it; else it tells behind which of them to wait.
func (g *guard) admit(m gift.Miss) (behind *waiting, _ error) {
	now := g.now()
	t, key, account := g.views(m)
	left := t.bucket.Left(now, gift.GuessBurst, gift.GuessRefill)
	switch {
	case left == 0:
		return nil, limited(t.bucket.Wait(now, gift.GuessBurst, gift.GuessRefill))
	case key.today >= key.limit || account.today >= account.limit:
		return nil, limited(now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now))
	case t.flying >= left:
		return &t.waiting, nil
	case key.flying >= key.limit-key.today:
		return &key.waiting, nil
	case account.flying >= account.limit-account.today:
		return &account.waiting, nil
	}
	t.flying++
	key.flying++
	account.flying++
	return nil, nil
}

func limited(wait time.Duration) error {
	refused := gift.Refuse(gift.RateLimited,
		"Too many unknown voucher codes were tried here. Scan the QR code of the gift instead, or try again later.")
	refused.RetryAfter = wait
	return refused
}

func isMiss(err error) bool {
	refused, ok := err.(*gift.Error)
	return ok && (refused.Code == gift.NotFound || refused.Code == gift.NotAuthorized)
}

func (g *guard) leave(m gift.Miss) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, key, account := g.views(m)
	t.flying--
	key.flying--
	account.flying--
	t.waiting.wake()
	key.waiting.wake()
	account.waiting.wake()
}

// learn takes over what the store answered after counting a miss. Answers may come out of order; the higher count is the later.
func (g *guard) learn(m gift.Miss, counted gift.Guesses) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, key, account := g.views(m)
	if counted.Till.FullAt.After(t.bucket.FullAt) {
		t.bucket = counted.Till
	}
	key.today, account.today = max(key.today, counted.KeyToday), max(account.today, counted.AccountToday)
	t.version++
	key.version++
	account.version++
}

// renew asks the store for what the views do not know, or have known for too long.
func (g *guard) renew(ctx context.Context, m gift.Miss) error {
	g.mu.Lock()
	t, key, account := g.views(m)
	now := g.now()
	fresh, reckoned := now.Sub(t.asked) < viewAge && !t.asked.IsZero(), now.Sub(account.asked) < limitAge && !account.asked.IsZero()
	before := [3]int{t.version, key.version, account.version}
	g.mu.Unlock()
	if !reckoned {
		live, err := g.records.LiveGifts(ctx, m.AccountID)
		if err != nil {
			return stored(err)
		}
		g.mu.Lock()
		account.limit, account.asked = gift.GuessesPerDay(live), now
		g.mu.Unlock()
	}
	if fresh {
		return nil
	}
	read, err := g.records.Guesses(ctx, m)
	if err != nil {
		return stored(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key.limit = max(1, account.limit/2)
	if t.version == before[0] {
		t.bucket, t.asked = read.Till, now
	}
	if key.version == before[1] {
		key.today = read.KeyToday
	}
	if account.version == before[2] {
		account.today = read.AccountToday
	}
	return nil
}

// views finds or makes the three views that a look-up concerns. There are as many as the set-up has keys and locations.
func (g *guard) views(m gift.Miss) (t *tillView, key, account *dayView) {
	at := till{m.KeyID, m.LocationID}
	if t = g.tills[at]; t == nil {
		t = new(tillView)
		g.tills[at] = t
	}
	return t, day(g.keys, m.KeyID), day(g.accounts, m.AccountID)
}

func day(views map[gift.ID]*dayView, id gift.ID) *dayView {
	v := views[id]
	if v == nil {
		v = new(dayView)
		views[id] = v
	}
	return v
}

// reward gives attempts back to a till that made a successful redemption, if any are missing. The redemption stands, whatever
// becomes of the reward.
func (g *guard) reward(ctx context.Context, m gift.Miss) error {
	g.mu.Lock()
	t, _, _ := g.views(m)
	unknown := t.asked.IsZero()
	g.mu.Unlock()
	if unknown {
		if err := g.renew(ctx, m); err != nil {
			return err
		}
	}
	g.mu.Lock()
	full := t.bucket.Left(g.now(), gift.GuessBurst, gift.GuessRefill) == gift.GuessBurst
	g.mu.Unlock()
	if full {
		return nil
	}
	if err := g.records.RewardTill(ctx, m); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t.asked = time.Time{}
	t.version++
	return nil
}

// stranger counts a request without a valid key against the client's address, and refuses it once there were too many.
func (g *guard) stranger(ctx context.Context, address netip.Addr) error {
	client := clientip.Network(address)
	bucket, err := g.records.Stranger(ctx, client)
	if err != nil {
		return stored(err)
	}
	now, refused := g.now(), false
	take := func(b gift.Bucket) gift.Bucket {
		if bucket, refused = b, b.Left(now, gift.StrangerBurst, gift.StrangerRefill) == 0; refused {
			return b
		}
		return b.Take(now, gift.StrangerRefill)
	}
	if take(bucket); !refused { // else the store is spared a write
		if err := g.records.CountStranger(ctx, client, take); err != nil {
			return stored(err)
		}
	}
	if !refused {
		return nil
	}
	limited := gift.Refuse(gift.RateLimited, "Too many requests without a valid API key came from this address. Try again in a moment.")
	limited.RetryAfter = bucket.Wait(now, gift.StrangerBurst, gift.StrangerRefill)
	return limited
}
