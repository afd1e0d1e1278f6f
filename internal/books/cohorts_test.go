package books_test

import (
	"maps"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// sumOf sums a column of a report up, by what its rows are of: promotional, item, pieces.
func sumOf(t *testing.T, table report.Table, name string) map[[3]bool]int64 {
	t.Helper()
	sums := map[[3]bool]int64{}
	for n, c := range table.Columns {
		if c.Name != name {
			continue
		}
		for _, row := range table.Rows {
			of := [3]bool{row.Cells[1].N == 1, row.Cells[2].N == 1, row.Unit == money.Pieces}
			sums[of] += row.Cells[n].N
		}
		return sums
	}
	t.Fatalf("the report has no column %s", name)
	return nil
}

// TestCohortsFit: over histories that the rules allow, the ageing comes to the liability, and what was sold of each
// month to what became of it; the estimate of breakage is never more than what is owed, and none of a promotional gift;
// dormant gifts are owed, and all of them are dormant if the last month is the present one.
func TestCohortsFit(t *testing.T) {
	t.Parallel()
	estimated := int64(0)
	for seed := range uint64(40) {
		w := newWorld(seed, time.UTC, money.Currency{Code: "USD", Decimals: 2}, time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC))
		for range 500 {
			w.step()
		}
		at := w.now.Add(-time.Duration(w.Int64N(int64(w.now.Sub(time.Date(2026, 8, 2, 0, 0, 0, 0, time.UTC))))))
		sums := w.moved(t, time.Time{}, at, w.now)
		liability, ageing := sumOf(t, report.Liability(sums, nil), "owed"), report.Ageing(sums)
		owed, sold := sumOf(t, ageing, "owed"), sumOf(t, ageing, "sold")
		for _, name := range []string{"redeemed", "cashedOut", "expired", "owed"} {
			for of, n := range sumOf(t, ageing, name) {
				sold[of] -= n
			}
		}
		all := sumOf(t, report.Dormant(sums, w.month(at), func(guid.ID) string { return "US" }), "owed")
		old := sumOf(t, report.Dormant(sums, w.month(at)-1, func(guid.ID) string { return "US" }), "owed")
		for of, n := range liability {
			if owed[of] != n || sold[of] != 0 || all[of] != n || old[of] > n {
				t.Fatalf("seed %d: of %v %d are owed; by months %d, of which %d are not accounted for; by activity %d, of "+
					"which %d are dormant", seed, of, n, owed[of], sold[of], all[of], old[of])
			}
		}
		breakage := report.Breakage(sums, int64(1+w.IntN(9_999)), func(guid.ID) bool { return false })
		for _, row := range breakage.Rows {
			cells := row.Cells
			owed, estimate := cells[len(cells)-3].N, cells[len(cells)-1].N
			if estimate < 0 || estimate > owed || row.Cells[1].N == 1 {
				t.Fatalf("seed %d: breakage of %v", seed, row)
			}
			estimated += estimate
		}
	}
	if estimated == 0 {
		t.Error("no history has breakage")
	}
}

// TestLinesAreActivity: each line says whether somebody has shown that they have the gift.
func TestLinesAreActivity(t *testing.T) {
	t.Parallel()
	merchantsOwn := map[books.Line]bool{books.LineAdjustedUp: true, books.LineAdjustedDown: true,
		books.LineCancelled: true, books.LineExpired: true, books.LineImported: true}
	for _, line := range books.Lines() {
		if line.Active() == merchantsOwn[line] {
			t.Errorf("%s is activity: %t", line, line.Active())
		}
	}
}

// TestImportedGiftsAreAsOldAsTheyAre: the last activity of an imported gift is when another system issued it, as far as
// the file says so, until somebody uses the gift; else it is the import.
func TestImportedGiftsAreAsOldAsTheyAre(t *testing.T) {
	t.Parallel()
	west := time.FixedZone("", -6*60*60) // that the account has now: the day of an entry stays
	for name, c := range map[string]struct {
		issued time.Time
		used   bool
		month  int
	}{
		"issued long ago":       {issued: on(3, 9).AddDate(-4, 0, 0), month: 202203},
		"on the first day":      {issued: time.Date(2022, 3, 1, 0, 0, 0, 0, time.UTC), month: 202203},
		"not said":              {month: 202606},
		"after it was imported": {issued: on(9, 1), month: 202606},
		"issued long ago, used": {issued: on(3, 9).AddDate(-4, 0, 0), used: true, month: 202607},
	} {
		imported := at(on(6, 15), 1, gift.Imported, 0, 0)
		imported.Balance, imported.IssuedOn = 500, c.issued
		history := []gift.Entry{imported}
		if c.used {
			history = append(history, at(on(7, 1), 2, gift.Redemption, -100, 5))
		}
		idle := map[int]money.Amount{}
		f := &books.Folder{Month: func(at time.Time) int { return books.Days(nil).Month(at, west) }}
		err := f.Fold(&books.Terms{}, history, on(8, 1), func(m books.Movement) {
			if m.Idle {
				idle[m.Month] += m.Money
			}
		})
		maps.DeleteFunc(idle, func(_ int, n money.Amount) bool { return n == 0 })
		want := money.Amount(500)
		if c.used {
			want = 400
		}
		if err != nil || len(idle) != 1 || idle[c.month] != want {
			t.Errorf("%s: idle since %v: %v", name, idle, err)
		}
	}
}
