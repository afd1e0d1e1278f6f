package store

import (
	"strings"
	"sync"
	"testing"

	"boon.example/internal/ledger"
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
				report, err := ledger.Verify(t.Context(), s, func(int64, int64) {})
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
