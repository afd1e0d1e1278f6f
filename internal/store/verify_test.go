package store

import (
	"context"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/ledger"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/money"
)

// TestVerifyBesideWriters: gifts that are made, used and sent elsewhere while everything is checked are no problem, nor
// are hash chains that begin meanwhile.
func TestVerifyBesideWriters(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, again := open(t)
			account := newID()
			gifts := issue(t, s, account, 400)
			end := make(chan struct{})
			var writers sync.WaitGroup
			write := func(step func(s *Store, n int) error) {
				s := again() // each writer has a chain of its own, and soon another
				writers.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-end:
							return
						default:
						}
						if n%20 == 19 {
							s.writers.free = nil
						}
						err := step(s, n)
						if err != nil && strings.Contains(err.Error(), "SQLITE_BUSY") {
							continue // others had the file for seconds; whoever is told so repeats
						}
						if err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			write(func(s *Store, _ int) error { _, err := tryIssue(t.Context(), s, account, 2); return err })
			write(func(s *Store, n int) error {
				return s.Group(t.Context(), ledger.Want{}, func(*ledger.State) (c ledger.Changes) {
					c.Rekeyed = []ledger.Rekeyed{{AccountID: account, VoucherID: gifts[n%10].ID,
						Secrets: ledger.Secrets{Code: newCode(), Token: newToken()}}}
					return c
				})
			})
			write(func(s *Store, n int) error {
				_, err := tryRedeem(t.Context(), s, &gifts[10+n%10].Voucher, money.Amount(1))
				return err
			})
			for range 8 {
				report, err := verify.All(t.Context(), s, 2, func(int64, int64) {})
				if err != nil || len(report.Problems) > 0 {
					t.Errorf("%v, found %d: %.300q", err, len(report.Problems), report.Problems)
					break
				}
			}
			close(end)
			writers.Wait()
		})
	}
}

// meeting is a store with two more parts to verify, each of which ends only once the other has begun.
type meeting struct{ verify.VoucherReader }

func (m meeting) Check(found func(string)) verify.Check {
	return meetingCheck{m.VoucherReader.Check(found)}
}

type meetingCheck struct{ verify.Check }

func (c meetingCheck) Parts() []verify.Part {
	both := make(chan bool)
	meet := func(send bool) func(context.Context, func(string), func(int64)) error {
		return func(ctx context.Context, _ func(string), _ func(int64)) error {
			take, give := both, chan bool(nil)
			if send {
				take, give = nil, both
			}
			select {
			case give <- true:
			case <-take:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
	}
	return append(c.Check.Parts(), verify.Part{Name: "one", Run: meet(true)}, verify.Part{Name: "other", Run: meet(false)})
}

// TestVerifyWithSeveralReaders: the parts of a verification run beside each other. What is found, in which order, and
// how far the progress comes, is the same with one reader and with several.
func TestVerifyWithSeveralReaders(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			gifts := issue(t, s, newID(), 60)
			if _, err := verify.All(t.Context(), meeting{s}, 2, func(_, _ int64) {}); err != nil {
				t.Fatal(err)
			}
			unguarded(t, s)
			for n := range 20 {
				run(t, s, `UPDATE voucher SET balance = balance + 1 WHERE id = $1`, gifts[n].ID[:])
				run(t, s, `DELETE FROM gift_search WHERE voucher_id = $1`, gifts[20+n].ID[:])
				run(t, s, `DELETE FROM secret WHERE voucher_id = $1`, gifts[40+n].ID[:])
			}
			run(t, s, `UPDATE tally SET vouchers = vouchers + 1`)
			var first verify.Report
			for _, readers := range []int{1, 2, 8} {
				last, most := int64(0), int64(0)
				report, err := verify.All(t.Context(), s, readers, func(done, total int64) {
					if done < last || done > total {
						t.Errorf("%d readers: %d of %d after %d", readers, done, total, last)
					}
					last, most = done, total
				})
				if must(t, err); last != most || len(report.Problems) < 40 {
					t.Errorf("%d readers: %d of %d are done, and %d problems found", readers, last, most, len(report.Problems))
				}
				if readers == 1 {
					first = report
				}
				diff(t, report, first)
			}
		})
	}
}

// TestVerifyReadsALargeGroupOnce: the row of a group holds a digest for each of its entries. A check that may use
// memory reads it once. Reading it for each entry made an order of 10,000 a hundred times the work of a hundred of 100.
// What is found is the same.
func TestVerifyReadsALargeGroupOnce(t *testing.T) {
	t.Parallel()
	for name, open := range databases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t)
			account := newID()
			gifts := issue(t, s, account, 300)
			unguarded(t, s)
			quick := s.CheckSince(nil, func(problem string) { t.Error(problem) })
			quick.Quickly()
			must(t, quick.Chains(t.Context(), func(int) error { return nil }))
			// With the rows gone, only who has read them knows the digests.
			run(t, s, `DELETE FROM chain`)
			page, _, err := quick.Page(t.Context(), ledger.Ref{}, 1000, 1000)
			must(t, err)
			quick.Missing()
			if len(page) != len(gifts) {
				t.Errorf("%d gifts, want %d", len(page), len(gifts))
			}
			var found []string
			damaged := s.CheckSince(nil, func(problem string) { found = append(found, problem) })
			must(t, damaged.Chains(t.Context(), func(int) error { return nil }))
			_, _, err = damaged.Page(t.Context(), ledger.Ref{}, 1000, 1000)
			if must(t, err); len(found) < 300 {
				t.Errorf("without the rows of the chains %d entries are missed, want all", len(found))
			}
		})
	}
}
