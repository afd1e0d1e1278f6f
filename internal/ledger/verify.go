package ledger

import (
	"context"
	"fmt"

	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// VoucherReader is what Verify reads.
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
	Page(ctx context.Context, from Ref, limit, longest int) ([]gift.Voucher, map[guid.ID][]gift.Entry, error)
	// One is such a page of one voucher alone; of none, if it is not there.
	One(ctx context.Context, voucher Ref, longest int) ([]gift.Voucher, map[guid.ID][]gift.Entry, error)
	// Acknowledged tells, once Chains has followed them, that a person has acknowledged a problem. What the check itself
	// finds is told only if it is not.
	Acknowledged(problem string) bool
	// Missing finds what is in a chain and was on no page. All pages have been read.
	Missing()
	// Records looks for damage that no single voucher shows: broken pages, secrets that do not open or lead nowhere,
	// requests without their entry. It reads whole tables.
	Records(ctx context.Context) error
}

// Report is what Verify found.
type Report struct {
	Vouchers, Entries int64
	Problems          []string // empty: everything holds
	More              int64    // problems beyond MaxProblems
}

// MaxProblems is how many problems a Report lists.
const MaxProblems = 1000

// Verify recomputes every balance and status from the ledger and checks every invariant. It fails only when it cannot
// read; what is wrong is in the report.
func Verify(ctx context.Context, store VoucherReader, progress func(done, total int64)) (Report, error) {
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
	const size, longest = 500, 1 << 62
	for from, more := (Ref{}), true; more; {
		page, histories, err := check.Page(ctx, from, size, longest)
		if err != nil {
			return r, fmt.Errorf("reading the ledger: %w", err)
		}
		audit(page, histories, longest, unless(check.Acknowledged, r.add))
		r.Vouchers += int64(len(page))
		r.Entries += int64(countEntries(histories))
		progress(r.Vouchers, max(total, r.Vouchers))
		from, more = after(page), len(page) > 0
	}
	check.Missing()
	if err := check.Records(ctx); err != nil {
		return r, fmt.Errorf("checking records: %w", err)
	}
	return r, nil
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
func after(page []gift.Voucher) Ref {
	if len(page) == 0 {
		return Ref{}
	}
	last := &page[len(page)-1]
	return Ref{AccountID: last.AccountID, ID: last.ID.Next()}
}

func (r *Report) add(problem string) {
	if len(r.Problems) >= MaxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, problem)
}
