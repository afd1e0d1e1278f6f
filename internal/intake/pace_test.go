package intake

import (
	"testing"
	"time"
)

// TestPace: groups grow while nobody else is there. From the moment that somebody is, they are short, until nobody was
// for a while. After each, the import pauses as long as it wrote.
func TestPace(t *testing.T) {
	t.Parallel()
	const each = 100 * time.Microsecond // a gift
	p, now, traffic := pace{size: firstGroup}, time.Unix(1, 0), int64(0)
	writes := func(groups int) (longest time.Duration) {
		for range groups {
			took := time.Duration(p.size) * each
			longest = max(longest, took)
			now = now.Add(took)
			rest := p.wrote(took, traffic, now)
			if rest != min(took, longRest) {
				t.Fatalf("a group took %s, and the rest after it %s", took, rest)
			}
			now = now.Add(rest)
		}
		return longest
	}
	if writes(20); p.size < 450 {
		t.Errorf("alone, %d gifts are written at once", p.size)
	}
	traffic++
	writes(1)
	if longest := writes(3); longest > 2*besideTime {
		t.Errorf("beside tills, a group takes %s", longest)
	}
	for range 100 {
		traffic++
		if longest := writes(1); longest > besideTime*3/2 {
			t.Fatalf("beside tills, a group takes %s", longest)
		}
	}
	for begun := now; now.Sub(begun) < quiet/2; {
		if longest := writes(1); longest > besideTime*3/2 {
			t.Fatalf("soon after a till, a group takes %s", longest)
		}
	}
	if writes(200); p.size < 450 {
		t.Errorf("alone again, %d gifts are written at once", p.size)
	}
	for range 50 { // a disk that is slow
		now = now.Add(time.Second)
		p.wrote(time.Second, traffic, now)
	}
	if p.size != leastGroup {
		t.Errorf("on a slow disk, %d gifts are written at once", p.size)
	}
}
