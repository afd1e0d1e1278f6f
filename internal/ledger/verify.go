package ledger

import (
	"context"
	"fmt"

	"boon.example/internal/gift"
)

// Books is what Verify reads.
type Books interface {
	// CountVouchers is how many there are, for the progress.
	CountVouchers(ctx context.Context) (int64, error)
	// WalkVouchers hands over every voucher with its whole history, as of one moment.
	WalkVouchers(ctx context.Context, visit func(gift.Voucher, []gift.Entry) error) error
	// CheckRecords looks for damage that no single voucher shows: broken pages, secrets that do not open or lead nowhere,
	// requests without their entry. note is told of each finding.
	CheckRecords(ctx context.Context, note func(finding string)) error
}

// Report is what Verify found.
type Report struct {
	Vouchers, Entries int64
	Problems          []string // empty: everything holds
	More              int64    // problems beyond MaxProblems
}

// MaxProblems is how many problems a Report lists.
const MaxProblems = 1000

// Verify recomputes every balance and status from the ledger and checks every invariant. It fails only when it cannot read;
// what is wrong is in the report.
func Verify(ctx context.Context, books Books, progress func(done, total int64)) (Report, error) {
	var r Report
	total, err := books.CountVouchers(ctx)
	if err != nil {
		return r, fmt.Errorf("counting vouchers: %w", err)
	}
	err = books.WalkVouchers(ctx, func(v gift.Voucher, history []gift.Entry) error {
		r.Vouchers++
		r.Entries += int64(len(history))
		examine(v, history, r.note)
		progress(r.Vouchers, max(total, r.Vouchers))
		return nil
	})
	if err != nil {
		return r, fmt.Errorf("reading the ledger: %w", err)
	}
	if err := books.CheckRecords(ctx, r.note); err != nil {
		return r, fmt.Errorf("checking records: %w", err)
	}
	return r, nil
}

// examine tells note of everything that is wrong with a gift.
func examine(v gift.Voucher, history []gift.Entry, note func(finding string)) {
	for _, finding := range gift.Audit(v, history) {
		note(fmt.Sprintf("gift %s: %s", v.ID, finding))
	}
}

func (r *Report) note(finding string) {
	if len(r.Problems) >= MaxProblems {
		r.More++
		return
	}
	r.Problems = append(r.Problems, finding)
}
