package books_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// TestSettlementsAgree: over any period of any history that the rules allow, the matrix comes to what was redeemed,
// given back and paid out, and payments leave nobody anything that is owed.
func TestSettlementsAgree(t *testing.T) {
	t.Parallel()
	entityOf := func(at guid.ID) report.Entity {
		if at == shops[0] || at == shops[1] {
			return report.Entity{Company: "Two Shops Ltd"}
		}
		return report.Entity{Location: at}
	}
	paid := 0
	for seed := range uint64(20) {
		w := newWorld(seed, time.UTC, money.Currency{Code: "USD", Decimals: 2}, time.Date(2026, 9, 20, 0, 0, 0, 0, time.UTC))
		begun := w.now
		for range 300 {
			w.step()
		}
		for range 4 {
			from := begun.Add(time.Duration(w.Int64N(int64(w.now.Sub(begun)))))
			until := from.Add(time.Duration(w.Int64N(int64(w.now.Sub(from)))))
			period := w.moved(t, from, until, w.now)
			got := report.Settlement(period, entityOf)
			want := report.Redemptions(map[int]books.Sums{20260920: period}, nil)
			of := columnSums(got, "redeemed", "givenBack", "cashedOut", "cashGivenBack")
			redeemed := columnSums(want, "redeemed", "givenBack", "cashedOut", "cashGivenBack")
			if fmt.Sprint(of) != fmt.Sprint(redeemed) {
				t.Errorf("seed %d: the matrix comes to %v, the redemptions to %v", seed, of, redeemed)
			}
			left := map[string]int64{}
			for n, sign := range []int64{1, -1} {
				for _, r := range got.Parts[n].Rows {
					sort, c := fmt.Sprint(r.Cells[0], r.Cells[1]), r.Cells
					left[sort+fmt.Sprint(c[2], c[3])] -= sign * c[6].N
					left[sort+fmt.Sprint(c[4], c[5])] += sign * c[6].N
				}
			}
			for who, amount := range left {
				if amount != 0 {
					t.Errorf("seed %d: after all payments, %s is owed %d", seed, who, amount)
				}
			}
			paid += len(got.Parts[1].Rows)
		}
	}
	if paid == 0 {
		t.Error("no history has a payment")
	}
}

// columnSums are the sums of columns for each sort of gifts for which something is above nothing.
func columnSums(t report.Table, names ...string) map[string][]int64 {
	sums := map[string][]int64{}
	for _, r := range t.Rows {
		sort := fmt.Sprint(r.Cells[:4])
		if sums[sort] == nil {
			sums[sort] = make([]int64, len(names))
		}
		for n, name := range names {
			for i, c := range t.Columns {
				if c.Name == name {
					sums[sort][n] += r.Cells[i].N
				}
			}
		}
	}
	for sort, all := range sums {
		if slices.Max(all) == 0 {
			delete(sums, sort)
		}
	}
	return sums
}
