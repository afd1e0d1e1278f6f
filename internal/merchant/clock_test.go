package merchant

import (
	"errors"
	"testing"
	"time"

	"boon.example/internal/calendar"
	"boon.example/internal/refusal"
)

var clockNoon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestAClockOnlyGoesForward, and to the same place once.
func TestAClockOnlyGoesForward(t *testing.T) {
	t.Parallel()
	period := func(text string) *calendar.Period {
		p, ok := calendar.ParsePeriod(text)
		if !ok {
			t.Fatal(text)
		}
		return &p
	}
	c, err := Clock{}.Set(ClockChange{Advance: period("P30D"), Key: "a"}, nil, clockNoon)
	if err != nil || !c.Now(clockNoon).Equal(clockNoon.AddDate(0, 0, 30)) {
		t.Fatalf("%+v, %v", c, err)
	}
	later := clockNoon.Add(time.Minute)
	if again, err := c.Set(ClockChange{Advance: period("P30D"), Key: "a"}, nil, later); err != nil || again != c {
		t.Errorf("a repeat under the same key: %+v, %v", again, err)
	}
	if more, err := c.Set(ClockChange{Advance: period("P30D"), Key: "b"}, nil, later); err != nil ||
		!more.Now(later).Equal(later.AddDate(0, 0, 60)) {
		t.Errorf("another advance: %+v, %v", more, err)
	}
	if same, err := c.Set(ClockChange{Now: c.Target.Add(99)}, nil, later); err != nil || same != c {
		t.Errorf("the instant that it was set to: %+v, %v", same, err)
	}
	to := clockNoon.AddDate(1, 0, 0)
	if set, err := c.Set(ClockChange{Now: to}, nil, later); err != nil || !set.Now(later).Equal(to) {
		t.Errorf("set to %s: %+v, %v", to, set, err)
	}
	for field, ask := range map[refusal.Field]ClockChange{refusal.FieldNow: {Now: clockNoon.AddDate(0, 0, 29)},
		refusal.FieldAdvance: {Advance: period("P50Y50M")}} {
		refused, same := c.Set(ask, nil, later)
		var e *refusal.Error
		if !errors.As(same, &e) || e.Code != refusal.ValidationFailure || e.Messages[0].Field != field || refused != c {
			t.Errorf("%+v: %+v, %v", ask, refused, same)
		}
	}
	if _, err := c.Set(ClockChange{Now: clockNoon.Add(MaxAhead + time.Hour)}, nil, clockNoon); err == nil {
		t.Error("it may be set to any time")
	}
}
