// Package verify holds what a store keeps against the rules: it recomputes every gift from its history, at once (All)
// or slowly beside the service (Auditor). What it needs of a store to do so is a VoucherReader.
package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
)

// VoucherReader is what All reads.
type VoucherReader interface {
	// CountVouchers is how many there are, for the progress.
	CountVouchers(ctx context.Context) (int64, error)
	// Check begins a check of all that is committed by now, and tells found of each problem.
	Check(found func(problem string)) Check
}

// Check is a check of a store, which may be written to meanwhile. Its methods are called in this order; each fails
// only when it cannot read.
type Check interface {
	// Quickly has the check use memory, up to some hundred megabytes, to be done in less time.
	Quickly()
	// Chains follows the hash chains. pause is told after every few rows how many there were; its error ends the check.
	Chains(ctx context.Context, pause func(rows int) error) error
	// Page gives the first vouchers, at most limit, at or after a place in the order of account and id, and their whole
	// histories by id, as of one moment; none of a history with more entries than longest. It holds entries against
	// their chains.
	Page(ctx context.Context, from ledger.Ref, limit, longest int) ([]gift.Voucher, map[guid.ID][]gift.Entry, error)
	// One is such a page of one voucher alone; of none, if it is not there.
	One(ctx context.Context, voucher ledger.Ref, longest int) ([]gift.Voucher, map[guid.ID][]gift.Entry, error)
	// Acknowledged tells, once Chains has followed them, that a person has acknowledged a problem. What the check itself
	// finds is told only if it is not.
	Acknowledged(problem string) bool
	// Missing finds what is in a chain and was on no page. All pages have been read.
	Missing()
	// Parts look for damage that no single voucher shows: broken pages, secrets that do not open or lead nowhere,
	// requests without their entry. They read whole tables, in any order and beside each other and the pages.
	Parts() []Part
}

// Part is one thing that must be true of a store.
type Part struct {
	Name string // what is checked, as a noun
	Work int    // how long it takes, measured in hundredths of a verification; 0: next to nothing
	// Run tells found of each problem, and done, if it walks the vouchers, after every few how many it has read.
	Run func(ctx context.Context, found func(problem string), done func(vouchers int64)) error
}

// Report is what All found.
type Report struct {
	Vouchers, Entries int64
	Problems          []string // empty: everything holds
	More              int64    // problems beyond MaxProblems
}

// MaxProblems is how many problems a Report lists.
const MaxProblems = 1000

// pagesWork is what Part.Work is, of the pages.
const pagesWork = 25

// All recomputes every balance and status from the ledger and checks every invariant, with so many readers at a
// time. It fails only when it cannot read; what is wrong is in the report, in an order that is the same each time.
// Where a part cannot be read, the others are, and the report has what was found until then. progress is told how much
// is done, measured in vouchers, by one reader at a time.
func All(ctx context.Context, store VoucherReader, readers int, progress func(done, total int64)) (Report, error) {
	var r Report
	total, err := store.CountVouchers(ctx)
	if err != nil {
		return r, fmt.Errorf("counting vouchers: %w", err)
	}
	check := store.Check(r.add)
	check.Quickly()
	if err := check.Chains(ctx, func(int) error { return nil }); err != nil {
		return r, fmt.Errorf("reading the hash chains: %w", err)
	}
	pages := Part{Name: "the ledger", Work: pagesWork,
		Run: func(ctx context.Context, found func(string), done func(int64)) error {
			return r.readPages(ctx, check, found, done)
		}}
	parts := append([]Part{pages}, check.Parts()...)
	bar := newBar(parts, total, progress)
	found := make([]Report, len(parts)) // by each part
	failed := make([]error, len(parts))
	var side errgroup.Group
	side.SetLimit(max(1, readers))
	for n, part := range parts {
		side.Go(func() error {
			known := unless(check.Acknowledged, found[n].add)
			if err := part.Run(ctx, known, func(vouchers int64) { bar.tell(n, vouchers) }); err != nil {
				failed[n] = fmt.Errorf("checking %s: %w", part.Name, err)
				return nil
			}
			bar.tell(n, total)
			return nil
		})
	}
	_ = side.Wait() // failed has what failed
	for _, f := range found {
		r.join(f)
	}
	if err := ctx.Err(); err != nil {
		return r, err
	}
	return r, errors.Join(failed...)
}

// readPages judges every voucher by its history.
func (r *Report) readPages(ctx context.Context, check Check, found func(string), done func(int64)) error {
	const size, longest = 500, 1 << 62
	for from, more := (ledger.Ref{}), true; more; {
		page, histories, err := check.Page(ctx, from, size, longest)
		if err != nil {
			return err
		}
		audit(page, histories, longest, found)
		r.Vouchers += int64(len(page))
		r.Entries += int64(countEntries(histories))
		done(r.Vouchers)
		from, more = after(page), len(page) > 0
	}
	check.Missing()
	return nil
}

// bar tells how much of a verification is done, out of how many vouchers each part has read.
type bar struct {
	mu       sync.Mutex
	progress func(done, total int64)
	total    int64
	work     []int64
	read     []int64
	all      int64 // sum of work
}

func newBar(parts []Part, total int64, progress func(done, total int64)) *bar {
	b := &bar{progress: progress, total: max(1, total), read: make([]int64, len(parts))}
	for _, p := range parts {
		b.work = append(b.work, int64(p.Work))
		b.all += int64(p.Work)
	}
	return b
}

// tell tells that a part has read so many vouchers, of which there may be more by now.
func (b *bar) tell(part int, vouchers int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read[part] = min(vouchers, b.total)
	done := int64(0)
	for n, work := range b.work {
		done += work * b.read[n]
	}
	b.progress(done/max(1, b.all), b.total)
}

// audit checks vouchers that were read with their histories, but for those with more entries than longest.
func audit(page []gift.Voucher, histories map[guid.ID][]gift.Entry, longest int, found func(string)) {
	for _, v := range page {
		if v.Seq > longest {
			continue
		}
		for _, problem := range gift.Audit(v, histories[v.ID]) {
			found(fmt.Sprintf("gift %s: %s", v.ID, problem))
		}
	}
}

// unless tells found of what is not known.
func unless(known func(problem string) bool, found func(problem string)) func(problem string) {
	return func(problem string) {
		if !known(problem) {
			found(problem)
		}
	}
}

func countEntries(histories map[guid.ID][]gift.Entry) (n int) {
	for _, h := range histories {
		n += len(h)
	}
	return n
}

// after is where the page after another begins.
func after(page []gift.Voucher) ledger.Ref {
	if len(page) == 0 {
		return ledger.Ref{}
	}
	last := &page[len(page)-1]
	return ledger.Ref{AccountID: last.AccountID, ID: last.ID.Next()}
}

func (r *Report) add(problem string) {
	if len(r.Problems) >= MaxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, problem)
}

// join adds what another report lists.
func (r *Report) join(o Report) {
	for _, problem := range o.Problems {
		r.add(problem)
	}
	r.More += o.More
}
