package books_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// kindOf is what the totals of the books are apart by.
type kindOf struct{ promotional, item bool }

// total sums a cube up; owed is of the stock, and leaves out what expired.
func total(sums books.Sums, cube books.Cube, owed bool) map[kindOf]books.Value {
	totals := map[kindOf]books.Value{}
	for k, s := range sums {
		if k.Cube == cube && (!owed || books.State(k.Line).Owed()) {
			kind := kindOf{k.Promotional, k.Item}
			if totals[kind] = totals[kind].Plus(s.Value); totals[kind].IsZero() {
				delete(totals, kind)
			}
		}
	}
	return totals
}

// owedAt is what is owed at an instant, by the balances that entries say and by nothing of package books.
func (w *world) owedAt(at time.Time) map[kindOf]money.Amount {
	owed := map[kindOf]money.Amount{}
	for _, k := range w.gifts {
		balance, status, end := money.Amount(0), gift.Pending, k.v.ValidUntil
		for _, e := range k.history {
			if !e.At.Before(at) {
				break
			}
			if balance, status = e.Balance, e.Status; e.Kind == gift.Extended {
				end = e.Until
			}
		}
		if balance != 0 && status != gift.Cancelled && (end.IsZero() || !gift.AfterGrace(end, k.v.GraceDays).Before(at)) {
			owed[kindOf{k.v.Promotional, k.v.Item}] += balance
		}
	}
	return owed
}

// TestBooksClose: over any period of any history that the rules allow, what is owed at its start and all lines are what
// is owed at its end, which is what the balances of the gifts say. No later entry changes what moved before.
func TestBooksClose(t *testing.T) {
	t.Parallel()
	currencies := []money.Currency{{Code: "JPY"}, {Code: "USD", Decimals: 2}, {Code: "KWD", Decimals: 3}}
	zones := []string{"UTC", "Pacific/Auckland", "America/Los_Angeles", "America/New_York"}
	kinds := map[gift.Kind]int{}
	for seed := range uint64(60) {
		zone, err := time.LoadLocation(zones[seed%4])
		if err != nil {
			t.Fatal(err)
		}
		// In New York and Los Angeles, clocks change on 1 November 2026; in Auckland on 27 September.
		w := newWorld(seed, zone, currencies[seed%3], time.Date(2026, 9, 20+int(seed%40), 0, 0, 0, 0, time.UTC))
		begun := w.now
		for range 300 {
			w.step()
		}
		for _, k := range w.gifts {
			for _, problem := range gift.Audit(k.v, k.history) {
				t.Fatalf("seed %d: the test made a history that cannot be: %s", seed, problem)
			}
			for _, e := range k.history {
				kinds[e.Kind]++
			}
		}
		for range 8 {
			from := begun.Add(time.Duration(w.Int64N(int64(w.now.Sub(begun)))))
			until := from.Add(time.Duration(w.Int64N(int64(w.now.Sub(from)))))
			w.closes(t, fmt.Sprintf("seed %d", seed), from, until)
		}
	}
	for _, k := range gift.Kinds() {
		if line, _ := k.Books(); line != gift.NoLine && kinds[k] == 0 {
			t.Errorf("no history has an entry of kind %s", k)
		}
	}
}

// bonuses checks that a bonus is part of what was sold, and of nothing else, and that no more is cancelled than given.
func (w *world) bonuses(t *testing.T, name string, all books.Sums) {
	t.Helper()
	lines := map[books.Line]books.Sum{}
	for k, s := range all {
		if s.Bonus != 0 && (k.Cube != books.Places || k.Promotional) {
			t.Fatalf("%s: of %+v, %d is a bonus", name, k, s.Bonus)
		}
		if k.Cube == books.Places && !k.Promotional {
			lines[books.Line(k.Line)] = lines[books.Line(k.Line)].Plus(s)
		}
	}
	var sum money.Amount
	for line, s := range lines {
		switch sum += s.Bonus; line {
		case books.LineIssued, books.LineActivated, books.LineReloaded:
			if s.Bonus < 0 || s.Bonus > s.Money {
				t.Fatalf("%s: of %s, %d is a bonus of %d", name, line, s.Bonus, s.Money)
			}
		case books.LineCancelled:
		default:
			if s.Bonus != 0 {
				t.Fatalf("%s: of %s, %d is a bonus", name, line, s.Bonus)
			}
		}
	}
	if sum < 0 {
		t.Fatalf("%s: more of the bonus was cancelled than was given: %v", name, lines)
	}
}

// closes checks a period.
func (w *world) closes(t *testing.T, name string, from, until time.Time) {
	t.Helper()
	forever := w.now.AddDate(1, 0, 0)
	opening, period := w.moved(t, time.Time{}, from, forever), w.moved(t, from, until, forever)
	closing := w.moved(t, time.Time{}, until, forever)
	both := maps.Clone(opening)
	both.AddAll(period)
	if !maps.Equal(both, closing) {
		t.Fatalf("%s: %v + %v is not %v", name, opening, period, closing)
	}
	if then := w.moved(t, from, until, until); !maps.Equal(then, period) {
		t.Fatalf("%s: with the entries of then, %v moved; with later ones, %v", name, then, period)
	}
	w.bonuses(t, name, closing)
	for _, cube := range []books.Cube{books.Places, books.Months} {
		if lines, stock := total(period, cube, false), total(period, books.Stock, true); !maps.Equal(lines, stock) {
			t.Fatalf("%s: the lines of %s come to %v; the stock changed by %v", name, cube, lines, stock)
		}
	}
	for at, sums := range map[time.Time]books.Sums{from: opening, until: closing} {
		owed := w.owedAt(at)
		for kind, v := range total(sums, books.Stock, true) {
			if is := v.Money; kind.item && v.Pieces != owed[kind] || !kind.item && is != owed[kind] {
				t.Fatalf("%s: at %v %v is owed of %v; the balances say %d", name, at, v, kind, owed[kind])
			}
			delete(owed, kind)
		}
		if len(owed) > 0 {
			t.Fatalf("%s: at %v the balances say %v beside what is owed", name, at, owed)
		}
	}
	w.settles(t, name, period, from, until)
	w.idles(t, name, closing, until)
}

// lively are the kinds of entry that show that somebody has the gift.
var lively = []gift.Kind{gift.Issued, gift.Activation, gift.ActivationReversal, gift.Reload, gift.ReloadReversal,
	gift.Redemption, gift.Reversal, gift.CashOut, gift.TransferIn, gift.TransferOut, gift.Imported}

// idles holds the stock by the month of the last activity against the entries: how many gifts there are, and what is in
// them.
func (w *world) idles(t *testing.T, name string, sums books.Sums, at time.Time) {
	t.Helper()
	type stock struct {
		gifts  int64
		amount money.Amount // pieces of item gifts
	}
	want, got := map[int]stock{}, map[int]stock{}
	for _, k := range w.gifts {
		balance, status, end, month := money.Amount(0), gift.Pending, k.v.ValidUntil, 0
		for _, e := range k.history {
			if !e.At.Before(at) {
				break
			}
			if balance, status = e.Balance, e.Status; e.Kind == gift.Extended {
				end = e.Until
			}
			if slices.Contains(lively, e.Kind) {
				month = w.month(e.At)
			}
		}
		if balance != 0 && status != gift.Cancelled && (end.IsZero() || !gift.AfterGrace(end, k.v.GraceDays).Before(at)) {
			want[month] = stock{want[month].gifts + 1, want[month].amount + balance}
		}
	}
	for k, s := range sums {
		if k.Cube != books.Idle || !books.State(k.Line).Owed() {
			continue
		}
		amount := s.Money
		if k.Item {
			amount = s.Pieces
		}
		got[k.Month] = stock{got[k.Month].gifts + s.Count, got[k.Month].amount + amount}
	}
	maps.DeleteFunc(got, func(_ int, s stock) bool { return s == stock{} })
	if !maps.Equal(got, want) {
		t.Fatalf("%s: at %v the books have %v by the last activity; the entries say %v", name, at, got, want)
	}
	if idle, stock := total(sums, books.Idle, true), total(sums, books.Stock, true); !maps.Equal(idle, stock) {
		t.Fatalf("%s: at %v %v is there by the last activity; the stock is %v", name, at, idle, stock)
	}
}

// settles holds what places redeemed of each other's sales against the entries.
func (w *world) settles(t *testing.T, name string, period books.Sums, from, until time.Time) {
	t.Helper()
	entries := map[guid.ID]money.Amount{}
	counts := map[guid.ID]int64{}
	for _, k := range w.gifts {
		for _, e := range k.history {
			if e.Kind == gift.Redemption && !e.At.Before(from) && e.At.Before(until) {
				if counts[e.Actor.LocationID]++; !k.v.Item {
					entries[e.Actor.LocationID] += e.Delta
				}
			}
		}
	}
	for _, cube := range []books.Cube{books.Places, books.Keys} {
		sums, counted := map[guid.ID]money.Amount{}, map[guid.ID]int64{}
		for k, s := range period {
			if k.Cube == cube && k.Line == string(books.LineRedeemed) {
				if counted[k.Place] += s.Count; !k.Item && s.Money != 0 {
					sums[k.Place] += s.Money
				}
			}
		}
		maps.DeleteFunc(entries, func(_ guid.ID, a money.Amount) bool { return a == 0 })
		if !maps.Equal(sums, entries) || !maps.Equal(counted, counts) {
			t.Fatalf("%s: the redemptions of %s are %v, %v; the entries say %v, %v", name, cube, counted, sums, counts, entries)
		}
	}
}
