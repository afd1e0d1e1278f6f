package merchant

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
		till   Till
		spent  bool
	}{
		{name: "a chain's 1,199", misses: []int{1000, 199}, till: Till{LocationCount: 100}},
		{name: "a chain's 1,200", misses: []int{1000, 200, 100}, alarms: 1, till: Till{LocationCount: 100}},
		{name: "what a chain shares", misses: []int{0, 0}, alarms: 1, till: Till{LocationCount: 100, Share: RefillShare},
			spent: true},
		{name: "and more", misses: []int{1, 1, 1300}, alarms: 1, till: Till{LocationCount: 100}, spent: true},
		{name: "two locations' 39", misses: []int{20, 19}, till: Till{LocationCount: 2}},
		{name: "all of two locations", misses: []int{20, 20, 20}, alarms: 1, till: Till{LocationCount: 2}},
		{name: "a web shop's 199", misses: []int{100, 99}, till: Till{LocationCount: 2, Shop: true}},
		{name: "a web shop's 200", misses: []int{100, 100}, alarms: 1, till: Till{LocationCount: 2, Shop: true}},
		{name: "199", misses: []int{100, 99}},
		{name: "200", misses: []int{100, 99, 1}, alarms: 1},
		{name: "over 200 in one step", misses: []int{199, 3}, alarms: 1},
		{name: "1,000 are one event", misses: []int{300, 300, 400}, alarms: 1},
		{name: "too slow", misses: []int{150, 150}, pauses: []time.Duration{0, time.Hour}, alarms: 0},
		{name: "fast enough", misses: []int{150, 150}, pauses: []time.Duration{0, time.Hour - 1}, alarms: 1},
		{name: "again an hour later", misses: []int{200, 200}, pauses: []time.Duration{0, time.Hour}, alarms: 2},
		{name: "after a clock that was ahead", misses: []int{100, 100, 100}, alarms: 1,
			pauses: []time.Duration{0, -24 * time.Hour, 0}},
	} {
		var m MissCount
		at, alarms := now, 0
		for i, n := range tt.misses {
			if i < len(tt.pauses) {
				at = at.Add(tt.pauses[i])
			}
			var alarm bool
			if m, alarm = m.Add(tt.till, at, n, tt.spent); alarm {
				alarms++
			}
		}
		if alarms != tt.alarms {
			t.Errorf("%s: %d events, want %d", tt.name, alarms, tt.alarms)
		}
	}
}
