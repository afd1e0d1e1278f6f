package ledger_test

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
	"boon.example/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Runner{M: m}) }

func newID() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }

// tempDir is a folder with a new store for one run of a property.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "boon-model-")
	if err != nil {
		t.Fatalf("making a folder: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	storetest.Copy(t, dir)
	return dir
}

// bench is an engine on a fresh file, with one account.
type bench struct {
	testing.TB
	dir      string
	database string
	store    *store.Store
	engine   *engine.Engine
	caller   *merchant.Caller
}

func setup(t testing.TB, wrap func(engine.Store) engine.Store, opts engine.Options) *bench {
	t.Helper()
	b := &bench{TB: t, dir: t.TempDir(), database: pgtest.Database(t)}
	if b.database == "" {
		storetest.Copy(t, b.dir)
	}
	s, err := store.Open(t.Context(), store.Options{Dir: b.dir, Database: b.database, GiftCache: 1 << 20})
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	account := &merchant.Account{ID: newID(), Name: "Bench", Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone: time.UTC}
	b.store, b.caller = s, &merchant.Caller{KeyID: newID(), Kind: merchant.AccountKey, Account: account}
	var under engine.Store = s
	if wrap != nil {
		under = wrap(s)
	}
	b.engine = engine.Start(under, opts)
	t.Cleanup(func() {
		b.engine.Stop()
		s.Close()
	})
	return b
}

func (b *bench) call(op operation.Name, key string) ledger.Call {
	return ledger.Call{
		AccountID: b.caller.Account.ID, Operation: op, Key: key,
		Render: func(r ledger.Result, err error) ledger.Answer {
			if err != nil {
				return ledger.Answer{Code: refusal.RedemptionNotAllowed, Body: []byte(code(err))}
			}
			if len(r.Entries) == 0 {
				return ledger.Answer{Code: ledger.OK, Body: []byte("OK")}
			}
			return ledger.Answer{Code: ledger.OK, Body: fmt.Appendf(nil, "%s %d", r.Entries[0].ID, r.Entries[0].Balance)}
		},
	}
}

func (b *bench) gift(amount money.Amount) (id guid.ID) {
	b.Helper()
	c := b.call(operation.SendGift, "")
	c.Render = func(r ledger.Result, _ error) ledger.Answer {
		id = r.Gifts[0].ID
		return ledger.Answer{Code: ledger.Created, Body: []byte("made")}
	}
	_, err := b.engine.Do(b.Context(), c, &ledger.Issue{Gifts: []gift.Gift{b.draft(amount)}})
	if err != nil {
		b.Fatalf("issuing: %v", err)
	}
	return id
}

func (b *bench) draft(amount money.Amount) gift.Gift {
	return gift.Gift{
		Voucher: gift.Voucher{
			AccountID: b.caller.Account.ID, ProgramID: merchant.BusinessProgram.ID, Currency: b.caller.Account.Currency,
			Funded: amount, Balance: amount,
		},
		Card: gift.Card{Method: contact.Printed, Sender: "Bench", DeliveryZone: "UTC"},
	}
}

func (b *bench) redeem(ctx context.Context, id guid.ID, amount money.Amount, key string) (ledger.Answer, error) {
	return b.engine.Do(ctx, b.call(operation.RedeemGift, key), &ledger.Redeem{VoucherID: id,
		Redeem: gift.Redeem{Amount: amount}})
}

func (b *bench) balance(id guid.ID) money.Amount {
	b.Helper()
	g, err := b.store.Gift(b.Context(), b.caller.Account.ID, id)
	if err != nil {
		b.Fatalf("reading the gift: %v", err)
	}
	return g.Balance
}

func (b *bench) verify() {
	b.Helper()
	r, err := verify.All(b.Context(), b.store, 2, func(_, _ int64) {})
	if err != nil || len(r.Problems) > 0 {
		b.Fatalf("verify: %v, %q", err, r.Problems)
	}
}

func TestRacingRedemptionsTakeWhatIsThereOnce(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 16, 160} {
		t.Run(fmt.Sprintf("%d goroutines", workers), func(t *testing.T) {
			t.Parallel()
			b := setup(t, nil, engine.Options{})
			id := b.gift(50)
			balances, refused := race(b, id, workers, 160)
			if len(balances) != 50 || refused != 110 {
				t.Fatalf("%d were redeemed and %d refused, want 50 and 110", len(balances), refused)
			}
			slices.Sort(balances)
			for n, balance := range balances {
				if balance != n {
					t.Fatalf("the balances %v are not each of 0..49 once", balances)
				}
			}
			if got := b.balance(id); got != 0 {
				t.Fatalf("the balance is %d, want 0", got)
			}
			b.verify()
		})
	}
}

// race makes calls of 1 on one gift from so many goroutines, and gives every balance that was answered.
func race(b *bench, id guid.ID, workers, calls int) (balances []int, refused int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := w; n < calls; n += workers {
				answer, err := b.redeem(b.Context(), id, 1, "")
				mu.Lock()
				switch {
				case err == nil:
					var entry string
					var balance int
					fmt.Sscan(string(answer.Body), &entry, &balance)
					balances = append(balances, balance)
				case errors.Is(err, refusal.AlreadyRedeemed):
					refused++
				default:
					b.Errorf("redeem: %v", err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return balances, refused
}

func TestOneKeyRedeemsOnceFromManyCallers(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{KeyTimeout: time.Minute})
	id := b.gift(1000)
	answers := make([]ledger.Answer, 100)
	var wg sync.WaitGroup
	for n := range answers {
		wg.Go(func() {
			var err error
			if answers[n], err = b.redeem(b.Context(), id, 7, "one"); err != nil {
				t.Errorf("caller %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	first := 0
	for _, a := range answers {
		if !bytes.Equal(a.Body, answers[0].Body) || a.Code != ledger.OK {
			t.Fatalf("answers differ: %q and %q", a.Body, answers[0].Body)
		}
		if !a.Replayed {
			first++
		}
	}
	if got := b.balance(id); got != 993 || first != 1 {
		t.Fatalf("the balance is %d and %d answers were first ones, want 993 and 1", got, first)
	}
}

func TestKeySurvivesReopening(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	id := b.gift(100)
	before, err := b.redeem(t.Context(), id, 100, "k")
	if err != nil {
		t.Fatal(err)
	}
	b.engine.Stop()
	b.store.Close()
	b.store, err = store.Open(t.Context(), store.Options{Dir: b.dir, Database: b.database, GiftCache: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer b.store.Close()
	b.engine = engine.Start(b.store, engine.Options{})
	after, err := b.redeem(t.Context(), id, 100, "k")
	if err != nil || !after.Replayed || !bytes.Equal(before.Body, after.Body) {
		t.Fatalf("the replay is %q, replayed %v, %v; want %q", after.Body, after.Replayed, err, before.Body)
	}
}

// gate is a store whose transactions wait while it is shut.
type gate struct {
	engine.Store
	waiting chan struct{} // one for each transaction that came to the shut gate
	mu      sync.Mutex
	open    chan struct{} // nil: it is open
}

func (g *gate) wrap(s engine.Store) engine.Store {
	g.Store, g.waiting = s, make(chan struct{}, 1000)
	return g
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = nil
}

func (g *gate) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open != nil {
		g.waiting <- struct{}{}
		<-open
	}
	return g.Store.Group(ctx, w, decide)
}

// queued waits until n commands stand in the engine's queue.
func (b *bench) queued(n int) {
	for b.engine.Depth() < n {
		runtime.Gosched()
	}
}

func TestSecondRequestWithAKeyWaitsThenIsTold(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{KeyTimeout: 50 * time.Millisecond})
	g.shut()
	var first ledger.Answer
	var wg sync.WaitGroup
	wg.Go(func() { first, _ = b.redeem(t.Context(), newID(), 1, "k") })
	<-g.waiting
	if !b.engine.Running(ledger.RequestKey{AccountID: b.caller.Account.ID, Operation: operation.RedeemGift, Key: "k"}) {
		t.Error("the call is under way, but is not said to be")
	}
	if _, err := b.redeem(t.Context(), newID(), 1, "k"); !errors.Is(err, refusal.RequestInProgress) {
		t.Errorf("the second request got %v, want REQUEST_IN_PROGRESS", err)
	}
	g.release()
	wg.Wait()
	if string(first.Body) != "NOT_FOUND" {
		t.Errorf("the first request got %q, want NOT_FOUND", first.Body)
	}
}

func TestFullQueueRefusesAtOnce(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{Queue: 3})
	g.shut()
	var wg sync.WaitGroup
	call := func() { b.redeem(t.Context(), newID(), 1, "") }
	wg.Go(call)
	<-g.waiting
	for n := range 3 {
		wg.Go(call)
		b.queued(n + 1)
	}
	_, err := b.redeem(t.Context(), newID(), 1, "")
	var refused *refusal.Error
	if !errors.As(err, &refused) || refused.Code != refusal.Unavailable || refused.RetryAfter == 0 {
		t.Errorf("beyond the queue: %v, want UNAVAILABLE with Retry-After", err)
	}
	g.release()
	wg.Wait()
}

// TestLargeOrdersShareNoGroup: commands on many gifts do not make one transaction that is longer than its callers wait.
func TestLargeOrdersShareNoGroup(t *testing.T) {
	t.Parallel()
	var g gate
	var mu sync.Mutex
	groups := map[int]int{} // gifts made by a transaction
	b := setup(t, g.wrap, engine.Options{Observe: func(s engine.GroupStats) {
		mu.Lock()
		defer mu.Unlock()
		if n := len(s.Done.Gifts); n > 1 {
			groups[n]++
		}
	}})
	g.shut()
	var wg sync.WaitGroup
	const orders, each = 10, 400
	for n := range orders {
		wg.Go(func() { b.order(each, 0) })
		if n == 0 {
			<-g.waiting // this one holds the writer
		}
		b.queued(n)
	}
	for n := range orders { // what is little to do, and much to say
		wg.Go(func() { b.order(2, 1<<20) })
		b.queued(orders + n)
	}
	g.release()
	wg.Wait()
	if want := map[int]int{each: orders, 2: orders}; !maps.Equal(groups, want) {
		t.Errorf("gifts in a transaction, and how many there were: %v, want %v", groups, want)
	}
}

// order makes an order of n gifts whose answer has about so many bytes.
func (b *bench) order(n, size int) {
	gifts := make([]gift.Gift, n)
	for i := range gifts {
		gifts[i] = b.draft(100)
	}
	if _, err := b.engine.Do(b.Context(), b.call("send-gift", ""), &ledger.Issue{Gifts: gifts, Bytes: size}); err != nil {
		b.Error(err)
	}
}

// TestTheClockIsFollowed: a clock that is set back a little stands still, and one that was wrong by more is believed
// when it is right again.
func TestTheClockIsFollowed(t *testing.T) {
	t.Parallel()
	var now atomic.Int64
	start := time.Now().Truncate(time.Microsecond).UTC()
	var at time.Time
	b := setup(t, nil, engine.Options{
		Now:     func() time.Time { return start.Add(time.Duration(now.Load())) },
		Observe: func(s engine.GroupStats) { at = s.Done.Gifts[0].CreatedAt },
	})
	year := 365 * 24 * time.Hour
	for _, step := range []struct{ clock, want time.Duration }{
		{0, 0}, {time.Minute, time.Minute}, {time.Minute - 900*time.Millisecond, time.Minute}, {year, year},
		{2 * time.Minute, 2 * time.Minute},
	} {
		now.Store(int64(step.clock))
		b.gift(100)
		if got := at.Sub(start); got != step.want {
			t.Errorf("with the clock at %v it was decided at %v, want %v", step.clock, got, step.want)
		}
	}
}

// TestCallerThatHasGoneIsNotBegun: a command whose caller gave up while it waited, or whose deadline passed, is not
// begun, and its key is free.
func TestCallerThatHasGoneIsNotBegun(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{})
	id := b.gift(100)
	g.shut()
	var wg sync.WaitGroup
	wg.Go(func() { b.redeem(t.Context(), newID(), 1, "") }) // holds the writer
	<-g.waiting
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		if _, err := b.redeem(ctx, id, 30, "k"); !errors.Is(err, refusal.Unavailable) {
			t.Errorf("the caller who gave up got %v, want UNAVAILABLE", err)
		}
	})
	b.queued(1)
	cancel()
	g.release()
	wg.Wait()
	again, err := b.redeem(t.Context(), id, 20, "k")
	if err != nil || again.Code != ledger.OK || again.Replayed {
		t.Fatalf("another request with the key got %s %q, replayed %v, %v; want it done", again.Code, again.Body,
			again.Replayed, err)
	}
	if got := b.balance(id); got != 80 {
		t.Fatalf("the balance is %d, want 80", got)
	}
}

func TestCallerThatGivesUpDoesNotUndoTheCommit(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{})
	id := b.gift(100)
	g.shut()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-g.waiting
		cancel()
	}()
	if _, err := b.redeem(ctx, id, 30, "k"); !errors.Is(err, refusal.Unavailable) {
		t.Fatalf("the caller who gave up got %v, want UNAVAILABLE", err)
	}
	g.release()
	again, err := b.redeem(t.Context(), id, 30, "k")
	if err != nil || !again.Replayed {
		t.Fatalf("the repeat got %q, replayed %v, %v; want the first answer", again.Body, again.Replayed, err)
	}
	if got := b.balance(id); got != 70 {
		t.Fatalf("the balance is %d, want 70", got)
	}
}

// faulty fails the nth transaction, before it happened or after it did.
type faulty struct {
	engine.Store
	mu     sync.Mutex
	n      int
	fail   func(n int) bool
	effect bool
	err    error
}

func (f *faulty) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	f.mu.Lock()
	f.n++
	fails := f.fail(f.n)
	f.mu.Unlock()
	if fails && !f.effect {
		return f.err
	}
	err := f.Store.Group(ctx, w, decide)
	if fails && err == nil {
		return f.err
	}
	return err
}

// TestFaultsInPairs: a commit that failed, and one that took effect but said it failed. A caller is told that nobody
// knows, and a repeat with the same key settles it: redeemed exactly once.
func TestFaultsInPairs(t *testing.T) {
	t.Parallel()
	for _, effect := range []bool{false, true} {
		t.Run(fmt.Sprintf("took effect: %v", effect), func(t *testing.T) {
			t.Parallel()
			f := &faulty{fail: func(n int) bool { return n == 2 }, effect: effect, err: errors.New("disk I/O error")}
			b := setup(t, func(s engine.Store) engine.Store { f.Store = s; return f }, engine.Options{})
			id := b.gift(100)
			if _, err := b.redeem(t.Context(), id, 30, "k"); !errors.Is(err, refusal.Unavailable) {
				t.Fatalf("the caller got %v, want UNAVAILABLE", err)
			}
			answer, err := b.redeem(t.Context(), id, 30, "k")
			if err != nil || answer.Replayed != effect {
				t.Fatalf("the repeat: %v, replayed %v, want %v", err, answer.Replayed, effect)
			}
			if got := b.balance(id); got != 70 {
				t.Fatalf("the balance is %d, want 70", got)
			}
			b.verify()
		})
	}
}

// TestInTheWay: where another writer was in the way for as long as it was tried, the caller comes again and loses
// nothing; what breaks a constraint by itself is an error of ours.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]error{
		ledger.ErrRejected: ledger.ErrRejected,
		fmt.Errorf("%w: %w", ledger.ErrRejected, ledger.ErrInTheWay): refusal.Unavailable,
	} {
		f := &faulty{fail: func(n int) bool { return n == 2 }, err: err}
		b := setup(t, func(s engine.Store) engine.Store { f.Store = s; return f }, engine.Options{})
		id := b.gift(100)
		if _, got := b.redeem(t.Context(), id, 30, "k"); !errors.Is(got, want) {
			t.Errorf("%v: the caller got %v, want %v", err, got, want)
		}
		if answer, err := b.redeem(t.Context(), id, 30, "k"); err != nil || answer.Replayed || b.balance(id) != 70 {
			t.Errorf("the repeat: %v, replayed %v, balance %d, want 70", err, answer.Replayed, b.balance(id))
		}
	}
}

// TestUnknownCommitsAreSettledByTheRecords: when nobody knows whether a commit took effect, who has a key gets the true
// outcome, and who has none is told that it is unknown.
func TestUnknownCommitsAreSettledByTheRecords(t *testing.T) {
	t.Parallel()
	for _, effect := range []bool{false, true} {
		t.Run(fmt.Sprintf("took effect: %v", effect), func(t *testing.T) {
			t.Parallel()
			f := &faulty{fail: func(n int) bool { return n == 2 || n == 3 }, effect: effect, err: ledger.ErrUnknown}
			b := setup(t, func(s engine.Store) engine.Store { f.Store = s; return f }, engine.Options{})
			id := b.gift(100)
			if _, err := b.redeem(t.Context(), id, 30, "k"); err != nil {
				t.Fatalf("the caller with a key got %v", err)
			}
			if got := b.balance(id); got != 70 {
				t.Fatalf("the balance is %d, want 70", got)
			}
			f.fail = func(int) bool { return true }
			if _, err := b.redeem(t.Context(), id, 1, ""); !errors.Is(err, refusal.Unavailable) {
				t.Fatalf("the caller without a key got %v, want UNAVAILABLE", err)
			}
			if _, err := b.redeem(t.Context(), id, 1, "hopeless"); !errors.Is(err, refusal.Unavailable) {
				t.Fatalf("a caller got %v while no commit is known, want UNAVAILABLE", err)
			}
			b.verify()
		})
	}
}

// TestWhatLastsIsWaitedForOnce: while a disk or a database goes on failing, one group finds out how long that lasts;
// those behind it are told at once. When it is well again, the next group that fails is waited for as before.
func TestWhatLastsIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	f := &faulty{fail: func(int) bool { return broken.Load() }, err: ledger.ErrUnknown}
	b := setup(t, func(s engine.Store) engine.Store { f.Store = s; return f }, engine.Options{})
	id := b.gift(100)
	tries := func(key string) int {
		before := f.n
		if _, err := b.redeem(t.Context(), id, 1, key); (err != nil) != broken.Load() {
			t.Errorf("%s: %v", key, err)
		}
		return f.n - before
	}
	for round := range 2 {
		broken.Store(true)
		long := tries(fmt.Sprintf("first-%d", round))
		for n := range 3 {
			if got := tries(fmt.Sprintf("behind-%d-%d", round, n)); got != 2 {
				t.Errorf("a group behind was tried %d times, want 2: once, and once more under its keys", got)
			}
		}
		if long < 5 {
			t.Errorf("the first group was given up after %d tries", long)
		}
		broken.Store(false)
		if got := tries(fmt.Sprintf("well-%d", round)); got != 1 {
			t.Errorf("%d tries on a store that is well", got)
		}
	}
	if got := b.balance(id); got != 98 {
		t.Errorf("the balance is %d, want 98", got)
	}
	b.verify()
}

// TestSettlingEndsWithItsCallers: when nobody waits any more for a commit of unknown outcome, its lane is free for
// others. The repeat under the key finds out.
func TestSettlingEndsWithItsCallers(t *testing.T) {
	t.Parallel()
	for _, effect := range []bool{false, true} {
		t.Run(fmt.Sprintf("took effect: %v", effect), func(t *testing.T) {
			t.Parallel()
			ctx, leave := context.WithCancel(t.Context())
			f := &faulty{effect: effect, err: ledger.ErrUnknown, fail: func(n int) bool {
				if n == 2 {
					leave()
				}
				return n == 2
			}}
			b := setup(t, func(s engine.Store) engine.Store { f.Store = s; return f }, engine.Options{})
			id := b.gift(100)
			if _, err := b.redeem(ctx, id, 30, "k"); !errors.Is(err, refusal.Unavailable) {
				t.Fatalf("the caller that left got %v, want UNAVAILABLE", err)
			}
			answer, err := b.redeem(t.Context(), id, 30, "k")
			if err != nil || answer.Replayed != effect {
				t.Fatalf("the repeat: %v, replayed %v, want %v", err, answer.Replayed, effect)
			}
			if got := b.balance(id); got != 70 {
				t.Fatalf("the balance is %d, want 70", got)
			}
			b.verify()
		})
	}
}

// TestLanesKeepOneTruth runs the races with several transactions under way at once.
func TestLanesKeepOneTruth(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{Lanes: 4, Group: 4})
	id := b.gift(50)
	balances, refused := race(b, id, 16, 160)
	if len(balances) != 50 || refused != 110 || b.balance(id) != 0 {
		t.Fatalf("%d were redeemed and %d refused, %d are left; want 50, 110 and 0", len(balances), refused, b.balance(id))
	}
	b.verify()
}

// TestOneBadCommandFailsAlone: what the database rejects fails by itself, the others of its group succeed.
func TestOneBadCommandFailsAlone(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{})
	good := b.gift(100)
	g.shut()
	bad := b.draft(100)
	bad.Balance = 101 // more than the original: no rule makes such a gift
	var wg sync.WaitGroup
	wg.Go(func() { b.redeem(t.Context(), good, 1, "") })
	<-g.waiting
	errs := make([]error, 3)
	for n := range errs {
		wg.Go(func() {
			if n == 1 {
				_, errs[n] = b.engine.Do(t.Context(), b.call(operation.SendGift, ""), &ledger.Issue{Gifts: []gift.Gift{bad}})
			} else {
				_, errs[n] = b.redeem(t.Context(), good, 10, "")
			}
		})
	}
	b.queued(len(errs))
	g.release()
	wg.Wait()
	if errs[0] != nil || errs[2] != nil || !errors.Is(errs[1], ledger.ErrRejected) {
		t.Fatalf("got %v; want only the second to be rejected", errs)
	}
	if got := b.balance(good); got != 79 {
		t.Fatalf("the balance is %d, want 79", got)
	}
}

// rewound is a source of random numbers that can begin anew.
type rewound struct{ *rand.ChaCha8 }

func (r rewound) rewind() { r.Seed([32]byte{1}) }

// TestACodeInUseIsDrawnAnew: for one gift and for a large order, with a key and without.
func TestACodeInUseIsDrawnAnew(t *testing.T) {
	t.Parallel()
	random := rewound{rand.NewChaCha8([32]byte{})}
	b := setup(t, nil, engine.Options{Random: random})
	made := 0
	for n, order := range []int{1, 1, 1, 40, 40} {
		random.rewind()
		key := ""
		if n%2 == 1 {
			key = fmt.Sprint("order-", n)
		}
		issue := &ledger.Issue{}
		for range order {
			issue.Gifts = append(issue.Gifts, b.draft(100))
		}
		if _, err := b.engine.Do(b.Context(), b.call(operation.SendGift, key), issue); err != nil {
			t.Fatalf("order %d, of %d gifts: %v", n, order, err)
		}
		made += order
	}
	if n, err := b.store.CountVouchers(b.Context()); err != nil || n != int64(made) {
		t.Errorf("%d gifts were made, want %d (%v)", n, made, err)
	}
	b.verify()
}

// TestACodeOfAnotherSystemIsNotDrawn: what a till types must not lead to two cards of the account.
func TestACodeOfAnotherSystemIsNotDrawn(t *testing.T) {
	t.Parallel()
	random := rewound{rand.NewChaCha8([32]byte{})}
	b := setup(t, nil, engine.Options{Random: random})
	a := b.caller.Account
	a.ImportedCodes = []merchant.CodeForm{{Digits: 12}}
	random.rewind()
	first, err := codes.NewVoucherCode(random)
	if err != nil {
		t.Fatal(err)
	}
	old := b.draft(100)
	old.ID, old.OrderID, old.CreatedAt = newID(), newID(), time.Now()
	if old.Card.Code, err = codes.ParseImported(a, first.Reveal()); err != nil {
		t.Fatal(err)
	}
	if old.Card.Token, err = codes.NewToken(crand.Reader); err != nil {
		t.Fatal(err)
	}
	old, e := old.Begin(gift.Context{EntryID: newID(), Now: time.Now()})
	if err := b.store.Group(b.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Gifts: []gift.Gift{old}, Entries: []gift.Entry{e}}
	}); err != nil {
		t.Fatal(err)
	}
	var made gift.Gift
	c := b.call(operation.SendGift, "")
	c.Account = a
	c.Render = func(r ledger.Result, _ error) ledger.Answer {
		made = r.Gifts[0]
		return ledger.Answer{Code: ledger.Created, Body: []byte("made")}
	}
	random.rewind()
	if _, err := b.engine.Do(b.Context(), c, &ledger.Issue{Gifts: []gift.Gift{b.draft(100)}}); err != nil {
		t.Fatal(err)
	}
	if old.Card.Code.Is(made.Card.Code.Typed(a.ID)) {
		t.Error("a new gift has the code of a card of another system")
	}
	random.rewind()
	c.Operation, c.Render = operation.ReplaceGift, func(r ledger.Result, _ error) ledger.Answer {
		made.Card.Code = r.Secrets.Code
		return ledger.Answer{Code: ledger.OK, Body: []byte("replaced")}
	}
	_, err = b.engine.Do(b.Context(), c, &ledger.Replace{VoucherID: made.ID, Replace: gift.Replace{Caller: b.caller}})
	if err != nil || old.Card.Code.Is(made.Card.Code.Typed(a.ID)) {
		t.Errorf("a replaced card has the code of a card of another system: %v", err)
	}
	b.verify()
}

// stutter gives the same first code a few times.
type stutter struct{ left int }

func (s *stutter) Read(p []byte) (int, error) {
	if len(p) > 8 || s.left == 0 { // a token, or another code
		return crand.Read(p)
	}
	s.left--
	clear(p)
	return len(p), nil
}

// TestOneCodeTwiceInAnOrder: a code that an order has already is drawn anew.
func TestOneCodeTwiceInAnOrder(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{Random: &stutter{3}})
	issue := &ledger.Issue{}
	for range 3 {
		issue.Gifts = append(issue.Gifts, b.draft(100))
	}
	if _, err := b.engine.Do(b.Context(), b.call(operation.SendGift, ""), issue); err != nil {
		t.Error(err)
	}
	b.verify()
}

func TestStopAnswersThoseWhoWait(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	id := b.gift(10_000)
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range 200 {
		wg.Go(func() {
			_, err := b.redeem(t.Context(), id, 1, "")
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				done++
			} else if !errors.Is(err, refusal.Unavailable) {
				t.Errorf("while stopping: %v", err)
			}
		})
	}
	b.engine.Stop()
	wg.Wait()
	if got := b.balance(id); got != money.Amount(10_000-done) {
		t.Fatalf("%d were answered, but the balance is %d", done, got)
	}
	if _, err := b.redeem(t.Context(), id, 1, ""); !errors.Is(err, refusal.Unavailable) {
		t.Errorf("after the stop: %v, want UNAVAILABLE", err)
	}
}

// TestAPanicSavesNothing: a command whose decision or answer panics changes nothing, not even half of something, and
// can be repeated with its key; the others of its group succeed.
func TestAPanicSavesNothing(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{})
	id, order := b.gift(100), []guid.ID{b.gift(7), b.gift(8)}
	broken := true
	fail := func(c ledger.Call) ledger.Call {
		render := c.Render
		c.Render = func(r ledger.Result, err error) ledger.Answer {
			if broken {
				panic("the answer cannot be written")
			}
			return render(r, err)
		}
		return c
	}
	redeem := func() (ledger.Answer, error) {
		return b.engine.Do(t.Context(), fail(b.call(operation.RedeemGift, "k")), &ledger.Redeem{VoucherID: id,
			Redeem: gift.Redeem{Amount: 30}})
	}
	cancel := func() (ledger.Answer, error) {
		return b.engine.Do(t.Context(), fail(b.call(operation.CancelGift, "c")),
			&ledger.Cancel{VoucherIDs: order, Cancel: gift.Cancel{Caller: b.caller, To: gift.Cancelled}})
	}
	g.shut()
	var wg sync.WaitGroup
	wg.Go(func() { b.redeem(t.Context(), id, 1, "") })
	<-g.waiting
	errs := make([]error, 4)
	for n, do := range []func() (ledger.Answer, error){
		func() (ledger.Answer, error) { return b.redeem(t.Context(), id, 10, "a") }, redeem, cancel,
		func() (ledger.Answer, error) { return b.redeem(t.Context(), id, 10, "b") },
	} {
		wg.Go(func() { _, errs[n] = do() })
	}
	b.queued(len(errs))
	g.release()
	wg.Wait()
	for n, err := range errs {
		var refused *refusal.Error
		if panics := n == 1 || n == 2; panics != (err != nil) || errors.As(err, &refused) {
			t.Errorf("call %d: %v", n, err)
		}
	}
	if got := b.balance(id); got != 79 {
		t.Errorf("the balance is %d, want 79: what panicked took something", got)
	}
	broken = false
	for n, again := range []func() (ledger.Answer, error){redeem, cancel} {
		if answer, err := again(); err != nil || answer.Replayed || answer.Code != ledger.OK {
			t.Errorf("repeat %d: %q, replayed %v, %v; want it done", n, answer.Body, answer.Replayed, err)
		}
	}
	if got := b.balance(id); got != 49 {
		t.Errorf("the balance is %d, want 49", got)
	}
	b.verify()
}
