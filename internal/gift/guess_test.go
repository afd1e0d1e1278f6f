package gift

import (
	"testing"
	"time"
)

// TestMissCount: 200 misses of a key within an hour are an event, once; those of another hour do not count.
func TestMissCount(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		misses []int           // counted one after the other
		pauses []time.Duration // before each; absent: none
		alarms int
	}{
		{"199", []int{100, 99}, nil, 0},
		{"200", []int{100, 99, 1}, nil, 1},
		{"over 200 in one step", []int{199, 3}, nil, 1},
		{"1,000 are one event", []int{300, 300, 400}, nil, 1},
		{"too slow", []int{150, 150}, []time.Duration{0, time.Hour}, 0},
		{"fast enough", []int{150, 150}, []time.Duration{0, time.Hour - 1}, 1},
		{"again an hour later", []int{200, 200}, []time.Duration{0, time.Hour}, 2},
		{"after a clock that was ahead", []int{100, 100, 100}, []time.Duration{0, -24 * time.Hour, 0}, 1},
	} {
		var m MissCount
		at, alarms := now, 0
		for i, n := range tt.misses {
			if i < len(tt.pauses) {
				at = at.Add(tt.pauses[i])
			}
			var alarm bool
			if m, alarm = m.Add(at, n); alarm {
				alarms++
			}
		}
		if alarms != tt.alarms {
			t.Errorf("%s: %d events, want %d", tt.name, alarms, tt.alarms)
		}
	}
}
