package books_test

import (
	"slices"
	"testing"
	"time"

	"boon.example/internal/books"
)

// TestDaysFollow: the days of an account follow each other without a gap, each once, also where clocks change, where
// midnight does not exist, and where the account moves to another zone.
func TestDaysFollow(t *testing.T) {
	t.Parallel()
	for _, moves := range [][]string{
		{"Pacific/Auckland"}, {"America/Los_Angeles"}, {"America/Santiago"}, {"UTC", "Pacific/Auckland"},
		{"Pacific/Auckland", "America/Los_Angeles"}, {"America/Los_Angeles", "Pacific/Auckland", "UTC"},
	} {
		zone := func(n int) *time.Location {
			z, err := time.LoadLocation(moves[n/150%len(moves)])
			if err != nil {
				t.Fatal(err)
			}
			return z
		}
		day := books.DayOf(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), zone(0))
		days := books.Days{day}
		for n := 1; n < 800; n++ {
			next := day.Next(zone(n))
			length := next.Until.Sub(next.From)
			if !next.From.Equal(day.Until) || next.Number <= day.Number || length <= 0 || length > 50*time.Hour {
				t.Fatalf("%v: after %v comes %v", moves, day, next)
			}
			if len(moves) == 1 && (length < 23*time.Hour || length > 25*time.Hour) {
				t.Errorf("%v: %v lasts %v", moves, next, length)
			}
			day, days = next, append(days, next)
		}
		months := append(days[:300].Months(), days[300:]...).Months() // as days are added to months that are known
		if len(months) > len(days)/25 {
			t.Errorf("%v: %d days have %d months", moves, len(days), len(months))
		}
		for _, d := range days {
			last := d.Until.Add(-time.Microsecond)
			if got := days.Month(d.From, time.UTC); got != d.Number/100 {
				t.Fatalf("%v: the month of %v is %d", moves, d, got)
			}
			for _, at := range []time.Time{d.From, last} {
				if got := months.Month(at, time.UTC); got != d.Number/100 {
					t.Fatalf("%v: by the months, that of %v is %d at %v", moves, d, got, at)
				}
			}
		}
		if after := days[len(days)-1].Until; months.Month(after, time.UTC) != days.Month(after, time.UTC) {
			t.Errorf("%v: the months go on beyond the days", moves)
		}
	}
}

// TestByMonth: the days of each month come together, in order, and each day once.
func TestByMonth(t *testing.T) {
	t.Parallel()
	day := books.DayOf(time.Date(2026, 1, 30, 12, 0, 0, 0, time.UTC), time.UTC)
	days := books.Days{day}
	for range 60 {
		day = day.Next(time.UTC)
		days = append(days, day)
	}
	var lengths []int
	var again books.Days
	for month := range days.ByMonth() {
		lengths, again = append(lengths, len(month)), append(again, month...)
	}
	if want := []int{2, 28, 31}; !slices.Equal(lengths, want) || !slices.Equal(again, days) {
		t.Errorf("months have %v days, want %v: %v", lengths, want, again)
	}
	for month := range (books.Days{}).ByMonth() {
		t.Errorf("no days have a month: %v", month)
	}
	for month := range days.ByMonth() { // whoever has enough ends it
		if len(month) != 2 {
			t.Errorf("it goes on: %v", month)
		}
		break
	}
}
