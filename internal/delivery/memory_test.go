package delivery

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/message"
)

// memory is a strict store in memory: jobs, gifts, the outbox, and what the engine does with an outcome. A job can be given back
// only while it is leased, and an outcome is recorded in one step with the end of its job.
type memory struct {
	mu       sync.Mutex
	jobs     map[gift.ID]*row
	gifts    map[gift.ID]gift.Gift
	entries  []gift.Entry
	messages []message.Message
	faults   map[string]int // method name: how many more calls of it fail
	claims   int            // calls of ClaimJobs
	slow     time.Duration  // how long ClaimJobs takes
}

type row struct {
	ledger.Job
	leased time.Time // zero: not leased
	words  string
}

var (
	errAway  = errors.New("the store is away")
	errLease = errors.New("the job is not leased")
)

func newMemory() *memory {
	return &memory{jobs: map[gift.ID]*row{}, gifts: map[gift.ID]gift.Gift{}, faults: map[string]int{}}
}

// issue adds a gift with its job, as the engine does in one transaction.
func (m *memory) issue(g gift.Gift) ledger.Job {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gifts[g.ID] = g
	due := g.Card.DeliveryDate
	if due.IsZero() {
		due = g.CreatedAt
	}
	job := ledger.Job{ID: testID(byte(0x80 + len(m.jobs))), AccountID: g.AccountID, VoucherID: g.ID, Due: due}
	m.jobs[job.ID] = &row{Job: job}
	return job
}

// fault makes the next n calls of a method fail before they do anything.
func (m *memory) fault(method string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.faults[method] = n
}

func (m *memory) enter(ctx context.Context, method string) error {
	if m.faults[method] > 0 {
		m.faults[method]--
		return errAway
	}
	return ctx.Err()
}

func (r *row) available() time.Time {
	if r.leased.After(r.Due) {
		return r.leased
	}
	return r.Due
}

func (m *memory) ClaimJobs(ctx context.Context, now time.Time, lease time.Duration, n int) ([]ledger.Job, error) {
	time.Sleep(m.slow)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claims++
	if err := m.enter(ctx, "ClaimJobs"); err != nil {
		return nil, err
	}
	var due []*row
	for _, r := range m.jobs {
		if !r.available().After(now) {
			due = append(due, r)
		}
	}
	slices.SortFunc(due, func(a, b *row) int {
		return cmp.Or(a.Due.Compare(b.Due), slices.Compare(a.ID[:], b.ID[:]))
	})
	var jobs []ledger.Job
	for _, r := range due[:min(n, len(due))] {
		r.leased = now.Add(lease)
		jobs = append(jobs, r.Job)
	}
	return jobs, nil
}

func (m *memory) PostponeJob(ctx context.Context, job ledger.Job, words string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(ctx, "PostponeJob"); err != nil {
		return err
	}
	r := m.jobs[job.ID]
	if r == nil {
		return ledger.ErrTakenBack
	}
	if !r.leased.After(time.Now()) {
		return errLease
	}
	r.Job, r.leased, r.words = job, time.Time{}, words
	return nil
}

func (m *memory) NextJob(ctx context.Context) (next time.Time, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(ctx, "NextJob"); err != nil {
		return time.Time{}, err
	}
	for _, r := range m.jobs {
		if at := r.available(); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next, nil
}

func (m *memory) GiftOf(ctx context.Context, job ledger.Job) (gift.Gift, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(ctx, "GiftOf"); err != nil {
		return gift.Gift{}, err
	}
	if m.jobs[job.ID] == nil {
		return gift.Gift{}, ledger.ErrTakenBack
	}
	g, ok := m.gifts[job.VoucherID]
	if !ok || g.AccountID != job.AccountID {
		return gift.Gift{}, gift.NotFound
	}
	return g, nil
}

// record stands in for the engine.
func (m *memory) record(ctx context.Context, d ledger.Deliver) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(ctx, "record"); err != nil {
		return err
	}
	if _, ok := m.jobs[d.Job.ID]; !ok {
		return nil
	}
	g := m.gifts[d.Job.VoucherID]
	if d.Unwanted {
		if !g.Status.Receivable() {
			delete(m.jobs, d.Job.ID)
		}
		return nil
	}
	v, entry, changed := g.Deliver(d.Outcome)
	if changed {
		g.Voucher = v
		m.entries = append(m.entries, entry)
	}
	if d.Delivered {
		g.Card.DeliveredAt = d.Now
	}
	m.gifts[g.ID] = g
	delete(m.jobs, d.Job.ID)
	return nil
}

func (m *memory) KeepMessage(ctx context.Context, sent message.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(ctx, "KeepMessage"); err != nil {
		return err
	}
	if !slices.ContainsFunc(m.messages, func(other message.Message) bool { return other.ID == sent.ID }) {
		m.messages = append(m.messages, sent)
	}
	return nil
}

func (m *memory) Messages(_ context.Context, _ gift.ID, limit int) ([]message.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	newest := slices.Clone(m.messages)
	slices.Reverse(newest)
	return newest[:min(limit, len(newest))], nil
}

// what reads the state of a gift, its job (nil: done) and the words that were kept with it.
func (m *memory) what(job ledger.Job) (gift.Status, *row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.jobs[job.ID]
	if r != nil {
		r = new(*r)
	}
	return m.gifts[job.VoucherID].Status, r
}

// set changes the status of a gift behind the worker's back.
func (m *memory) set(job ledger.Job, s gift.Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.gifts[job.VoucherID]
	g.Status = s
	m.gifts[job.VoucherID] = g
}

func testID(b byte) (id gift.ID) {
	for i := range id {
		id[i] = b
	}
	return id
}
