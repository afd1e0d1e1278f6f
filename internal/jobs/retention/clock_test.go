package retention

import (
	"testing"
	"time"
)

// TestAClockThatIsSetAheadErasesNothing: nor does one that was ahead at the start and is right again.
func TestAClockThatIsSetAheadErasesNothing(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	later := begun.Round(0).Add(time.Hour)
	for _, clock := range []time.Time{later, begun.AddDate(1, 0, 0).Round(0), begun.AddDate(-1, 0, 0).Round(0)} {
		want := clock
		if clock.After(later) {
			want = later
		}
		if got := notAhead(begun, time.Hour, clock); !got.Equal(want) {
			t.Errorf("an hour after %s the clock shows %s, and it is taken for %s", begun, clock, got)
		}
	}
}
