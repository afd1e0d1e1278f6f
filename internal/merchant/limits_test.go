package merchant

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// TestDay: a day is the calendar day of the zone, 23 or 25 hours long when clocks change.
func TestDay(t *testing.T) {
	t.Parallel()
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	newYork, santiago := zone("America/New_York"), zone("America/Santiago")
	for _, tt := range []struct {
		at   string
		zone *time.Location
		day  int
		left time.Duration
		long time.Duration
	}{
		{"2026-11-22T23:59:59Z", time.UTC, 20261122, time.Second, 24 * time.Hour},
		{"2026-11-23T00:00:00Z", time.UTC, 20261123, 24 * time.Hour, 24 * time.Hour},
		{"2026-11-23T04:59:59Z", newYork, 20261122, time.Second, 24 * time.Hour},
		{"2026-03-08T05:00:00Z", newYork, 20260308, 23 * time.Hour, 23 * time.Hour},
		{"2026-11-01T04:00:00Z", newYork, 20261101, 25 * time.Hour, 25 * time.Hour},
		{"2026-12-31T12:00:00Z", time.UTC, 20261231, 12 * time.Hour, 24 * time.Hour},
		{"2026-09-06T03:30:00Z", santiago, 20260905, 30 * time.Minute, 24 * time.Hour}, // clocks go from midnight to one
		{"2026-09-06T04:00:00Z", santiago, 20260906, 23 * time.Hour, 23 * time.Hour},
	} {
		at, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if day, left := Day(at, tt.zone); day != tt.day || left != tt.left {
			t.Errorf("%s in %s: day %d with %s left, want %d with %s", tt.at, tt.zone, day, left, tt.day, tt.left)
		}
		if long := DayLength(at, tt.zone); long != tt.long {
			t.Errorf("%s in %s: a day of %s, want %s", tt.at, tt.zone, long, tt.long)
		}
	}
}

func TestBudget(t *testing.T) {
	t.Parallel()
	dollars := money.Currency{Code: "USD", Decimals: 2}
	b := Budget{Owner: "account", Currency: dollars, Zone: time.UTC, Left: 90 * time.Minute, Limits: Limits{
		IssuedPerDay: 1000_00, GiftsPerDay: 10, RedeemedPerDay: 500_00, MessagesPerDay: 6, TextsPerDay: 3,
		MessagesPerContactPerDay: 2}}
	for _, tt := range []struct {
		name       string
		ask        func(used, more Count) error
		used, more Count
		limit      string // "": none is reached
	}{
		{"all of it", b.Send, Count{}, Count{Amount: 1000_00, Gifts: 10, Messages: 6, Texts: 3}, ""},
		{"the rest", b.Send, Count{Amount: 999_00, Gifts: 9, Messages: 5, Texts: 2}, Count{Amount: 1_00, Gifts: 1,
			Messages: 1, Texts: 1}, ""},
		{"a cent too much", b.Send, Count{Amount: 999_00}, Count{Amount: 1_01, Gifts: 1},
			"issuedPerDay: 1000.00 USD a day, of which 999.00 USD were used today, and this call needs 1.01 USD"},
		{"a gift too many", b.Send, Count{Gifts: 8}, Count{Gifts: 3},
			"giftsPerDay: 10 a day, of which 8 were used today, and this call needs 3"},
		{"a message too many", b.Send, Count{Messages: 6}, Count{Messages: 1}, "messagesPerDay: 6"},
		{"a text too many", b.Send, Count{Texts: 3}, Count{Messages: 1, Texts: 1}, "textsPerDay: 3"},
		{"a limit that was lowered meanwhile", b.Send, Count{Messages: 60, Texts: 60}, Count{Amount: 1, Gifts: 1}, ""},
		{"above all that can be counted", b.Send, Count{Amount: math.MaxInt64}, Count{Amount: math.MaxInt64}, "issuedPerDay"},
		{"to one contact", b.Contact, Count{Messages: 1}, Count{Messages: 1}, ""},
		{"too often to one contact", b.Contact, Count{Messages: 1}, Count{Messages: 2}, "messagesPerContactPerDay: 2"},
		{"redeemed", b.Redeem, Count{Amount: 400_00}, Count{Amount: 100_00}, ""},
		{"redeemed above", b.Redeem, Count{Amount: 400_00}, Count{Amount: 100_01}, "redeemedPerDay: 500.00 USD"},
		{"without limits", (&Budget{Zone: time.UTC}).Send, Count{}, Count{Amount: math.MaxInt64, Gifts: math.MaxInt64}, ""},
		{"kept", func(used, _ Count) error { return b.Keep(used, 10) }, Count{Kept: MaxKeptPerDay - 1}, Count{}, ""},
		{"kept by a chain", func(used, _ Count) error { return b.Keep(used, 3_000) }, Count{Kept: 2_999_999}, Count{}, ""},
		{"kept too many", func(used, _ Count) error { return b.Keep(used, 0) }, Count{Kept: MaxKeptPerDay}, Count{},
			"10000 calls that moved nothing"},
	} {
		err := tt.ask(tt.used, tt.more)
		if tt.limit == "" {
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		refused, ok := errors.AsType[*refusal.Error](err)
		if !ok || refused.Code != refusal.RateLimited || refused.RetryAfter != 90*time.Minute ||
			!strings.Contains(refused.Messages[0].Text(inOurWords), tt.limit) {
			t.Errorf("%s: %v, want RATE_LIMITED naming %q, until midnight", tt.name, err, tt.limit)
		}
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	yesterday := Count{Day: 20261121, Amount: 5, Gifts: 5, Messages: 5, Texts: 5, Kept: 5}
	if got := yesterday.On(20261122); got != (Count{Day: 20261122}) {
		t.Errorf("on the next day: %+v", got)
	}
	if got := yesterday.On(20261121); got != yesterday {
		t.Errorf("on its day: %+v", got)
	}
	if got := yesterday.On(20261120); got != yesterday {
		t.Errorf("on the day before, by a clock that was set back: %+v", got)
	}
	if got := yesterday.On(20261119); got != (Count{Day: 20261119}) {
		t.Errorf("by a clock that is right again: %+v", got)
	}
	if first := (Count{Day: 20270101, Gifts: 1}); first.On(20261231) != first {
		t.Errorf("on the last day of the year before: %+v", first.On(20261231))
	}
	if got := yesterday.Plus(Count{Amount: math.MaxInt64, Gifts: 1}); got.Amount != math.MaxInt64 || got.Gifts != 6 ||
		got.Day != yesterday.Day {
		t.Errorf("added up: %+v", got)
	}
}
