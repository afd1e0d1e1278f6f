package intake

import (
	"context"
	"testing"
	"time"

	"boon.example/internal/base/nice"
)

// disk writes groups of gifts.
type disk struct {
	each, commit time.Duration // what a gift takes, and what the commit of a group does
	waits        bool          // tills wait for groups
}

// run writes groups one after the other. It gives the longest of the last ones, and how many gifts are written in a
// second by then.
func (d *disk) run(ctx context.Context, p *pace) (longest time.Duration, rate float64) {
	const groups, settled = 60, 30
	var gifts int
	var in time.Duration
	for n := range groups {
		took := d.commit + time.Duration(p.size)*d.each
		size, commit := p.size, time.Duration(0)
		if d.waits {
			commit = d.commit
		}
		p.wrote(ctx, took, commit)
		rest := restAfter(ctx, took)
		if n >= settled {
			longest, gifts, in = max(longest, took), gifts+size, in+took+rest
		}
	}
	return longest, float64(gifts) / in.Seconds()
}

// TestPace: where tills wait for groups, a group takes 2 ms, and 1.2 ms while they call, or not much longer than a
// commit alone, which they wait for anyway. An import of a million gifts takes ten minutes at most on any disk that
// deserves the name. Where nobody waits for a group, it takes 3 ms, 1.5 ms while tills call, or longer where it would
// be dear.
func TestPace(t *testing.T) {
	t.Parallel()
	const million = 1_000_000 / 600. // gifts a second
	for name, c := range map[string]struct {
		disk    disk
		longest time.Duration
		rate    float64
	}{
		"fast disk":       {disk{60 * time.Microsecond, 300 * time.Microsecond, true}, 2100 * time.Microsecond, 2 * million},
		"memory":          {disk{60 * time.Microsecond, time.Microsecond, true}, 2100 * time.Microsecond, 4 * million},
		"busy processor":  {disk{200 * time.Microsecond, 400 * time.Microsecond, true}, 2100 * time.Microsecond, million},
		"disk of a cloud": {disk{60 * time.Microsecond, 3 * time.Millisecond, true}, 5 * time.Millisecond, million},
		"turning disk":    {disk{60 * time.Microsecond, 20 * time.Millisecond, true}, 31 * time.Millisecond, million},
		"sick disk":       {disk{60 * time.Microsecond, 500 * time.Millisecond, true}, time.Second, 1},
		"PostgreSQL":      {disk{120 * time.Microsecond, time.Millisecond, false}, 4 * time.Millisecond, 1.2 * million},
		"of a cloud":      {disk{60 * time.Microsecond, 3 * time.Millisecond, false}, 6 * time.Millisecond, 1.1 * million},
		"far away":        {disk{120 * time.Microsecond, 10 * time.Millisecond, false}, 16 * time.Millisecond, 0.7 * million},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, begun := range []int{leastGroup, firstGroup, mostGroup} {
				p := pace{size: begun}
				if longest, rate := c.disk.run(t.Context(), &p); longest > c.longest || rate < c.rate {
					t.Errorf("from %d on, groups come to %d gifts and take %s, %.0f gifts a second", begun, p.size, longest, rate)
				}
			}
		})
	}
	p, d := pace{size: firstGroup}, disk{60 * time.Microsecond, 20 * time.Millisecond, true}
	d.run(t.Context(), &p)
	d.commit = 200 * time.Microsecond
	if longest, _ := d.run(t.Context(), &p); longest > awaited*3/2 {
		t.Errorf("on a disk that is fast again, a group of %d takes %s", p.size, longest)
	}
	calling := nice.Background(t.Context(), func() bool { return true })
	if longest, rate := d.run(calling, &p); longest > 1300*time.Microsecond || rate < 2000 {
		t.Errorf("while tills call, a group of %d takes %s, and %.0f gifts are written a second", p.size, longest, rate)
	}
	for name, c := range map[string]struct {
		disk    disk
		longest time.Duration
		rate    float64
	}{
		"PostgreSQL": {disk{120 * time.Microsecond, time.Millisecond, false}, 1600 * time.Microsecond, 500},
		"far away":   {disk{120 * time.Microsecond, 10 * time.Millisecond, false}, 16 * time.Millisecond, 300},
	} {
		p := pace{size: firstGroup}
		if longest, rate := c.disk.run(calling, &p); longest > c.longest || rate < c.rate {
			t.Errorf("%s, while tills call: a group of %d takes %s, and %.0f gifts are written a second", name, p.size, longest,
				rate)
		}
	}
	for range 1000 {
		if p.wrote(t.Context(), time.Minute, time.Millisecond); p.size < 1 {
			t.Fatal("nothing is written any more")
		}
	}
}

// TestRestAfter: while tills call, an import leaves them most of the time; while none does, little.
func TestRestAfter(t *testing.T) {
	t.Parallel()
	tills := func(call bool) context.Context { return nice.Background(t.Context(), func() bool { return call }) }
	for _, c := range []struct {
		when       string
		ctx        context.Context
		took, want time.Duration
	}{
		{"tills call", tills(true), 2 * time.Millisecond, 8 * time.Millisecond},
		{"no till calls", tills(false), 2 * time.Millisecond, 500 * time.Microsecond},
		{"nobody knows", t.Context(), 2 * time.Millisecond, 2 * time.Millisecond},
		{"a long group", tills(true), time.Second, longRest},
	} {
		if got := restAfter(c.ctx, c.took); got != c.want {
			t.Errorf("%s: after %s it pauses for %s, want %s", c.when, c.took, got, c.want)
		}
	}
}
