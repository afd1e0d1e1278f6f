package delivery

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/store"
	"boon.example/internal/store/storetest"
)

// faulty is a real store and engine, of which calls can be made to fail before they do anything. It is the embedded
// one: deliverytest has those that run on both.
type faulty struct {
	*store.Store
	t      *testing.T
	engine *engine.Engine
	file   *sql.DB // the same database, to look at

	mu     sync.Mutex
	faults map[string]int // method name: how many more calls of it fail
	claims int            // calls of ClaimJobs
	slow   time.Duration  // how long ClaimJobs takes
}

var errAway = errors.New("the store is away")

func newFaulty(t *testing.T) *faulty {
	t.Helper()
	dir := t.TempDir()
	storetest.Copy(t, dir)
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	check(t, err)
	file, err := sql.Open("sqlite", filepath.Join(dir, store.DatabaseName))
	check(t, err)
	f := &faulty{Store: s, t: t, engine: engine.Start(s, engine.Options{}), file: file, faults: map[string]int{}}
	t.Cleanup(func() {
		f.engine.Stop()
		check(t, errors.Join(file.Close(), s.Close()))
	})
	return f
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// issue adds a gift with its job, as the engine does in one transaction.
func (f *faulty) issue(g gift.Gift) ledger.Job {
	f.t.Helper()
	if g.Card.Code.Reveal() == aCode { // each is given out once
		var err error
		g.Card.Code, err = codes.NewVoucherCode(rand.Reader)
		check(f.t, err)
		g.Card.Token, err = codes.NewToken(rand.Reader)
		check(f.t, err)
	}
	due := g.Card.DeliveryDate
	if due.IsZero() {
		due = g.CreatedAt
	}
	g.Seq = 0
	g, entry := g.Begin(gift.Context{EntryID: newID(), Now: g.CreatedAt})
	job := ledger.Job{ID: newID(), AccountID: g.AccountID, VoucherID: g.ID, Due: due}
	check(f.t, f.Group(f.t.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{entry}, Jobs: []ledger.Job{job}}
	}))
	return job
}

func newID() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }

// fault makes the next n calls of a method fail before they do anything.
func (f *faulty) fault(method string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[method] = n
}

func (f *faulty) enter(method string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faults[method] == 0 {
		return nil
	}
	f.faults[method]--
	return errAway
}

func (f *faulty) ClaimJobs(ctx context.Context, now time.Time, lease time.Duration, n int) ([]ledger.Job, error) {
	time.Sleep(f.slow)
	f.mu.Lock()
	f.claims++
	f.mu.Unlock()
	if err := f.enter("ClaimJobs"); err != nil {
		return nil, err
	}
	return f.Store.ClaimJobs(ctx, now, lease, n)
}

func (f *faulty) PostponeJob(ctx context.Context, job ledger.Job, words string) error {
	if err := f.enter("PostponeJob"); err != nil {
		return err
	}
	return f.Store.PostponeJob(ctx, job, words)
}

func (f *faulty) NextJob(ctx context.Context) (time.Time, error) {
	if err := f.enter("NextJob"); err != nil {
		return time.Time{}, err
	}
	return f.Store.NextJob(ctx)
}

func (f *faulty) GiftOf(ctx context.Context, job ledger.Job) (gift.Gift, error) {
	if err := f.enter("GiftOf"); err != nil {
		return gift.Gift{}, err
	}
	return f.Store.GiftOf(ctx, job)
}

func (f *faulty) record(ctx context.Context, d ledger.Deliver) error {
	if err := f.enter("record"); err != nil {
		return err
	}
	return f.do(ctx, &d)
}

func (f *faulty) do(ctx context.Context, command ledger.Command) error {
	_, err := f.engine.Do(ctx, ledger.Call{
		AccountID: anAccount.ID, Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{} },
	}, command)
	return err
}

// row is a job as it stands.
type row struct {
	ledger.Job
	leased bool
	words  string
}

// what reads the state of a gift and its job; nil: it is done.
func (f *faulty) what(job ledger.Job) (gift.Status, *row) {
	f.t.Helper()
	r := &row{}
	var due, claimable int64
	err := f.file.QueryRow(`SELECT due, claimable_at, attempts, doubts, last_words FROM job WHERE id = $1`, job.ID[:]).
		Scan(&due, &claimable, &r.Attempts, &r.Doubts, &r.words)
	if errors.Is(err, sql.ErrNoRows) {
		r = nil
	} else {
		check(f.t, err)
		r.Due, r.leased = time.UnixMicro(due), due != claimable
	}
	return f.gift(job).Status, r
}

func (f *faulty) gift(job ledger.Job) gift.Gift {
	f.t.Helper()
	g, err := f.Gift(context.Background(), job.AccountID, job.VoucherID)
	check(f.t, err)
	return g
}

// reason is what the last entry in the history of a gift says.
func (f *faulty) reason(job ledger.Job) string {
	f.t.Helper()
	history, err := f.History(context.Background(), job.AccountID, job.VoucherID, 0, 100)
	check(f.t, err)
	return history[len(history)-1].Reason
}

// set takes a gift out of use.
func (f *faulty) set(job ledger.Job, s gift.Status) {
	f.t.Helper()
	check(f.t, f.do(context.Background(), &ledger.Cancel{
		VoucherIDs: []guid.ID{job.VoucherID}, Cancel: gift.Cancel{Caller: &merchant.Caller{Account: anAccount}, To: s}}))
}

func testID(b byte) (id guid.ID) {
	for i := range id {
		id[i] = b
	}
	return id
}
