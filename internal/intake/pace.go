package intake

import (
	"context"
	"time"

	"boon.example/internal/base/nice"
)

// How many gifts are written at once: as many as take about so long.
const (
	firstGroup = 10
	leastGroup = 4
	mostGroup  = 1_000
	waitedFor  = 1200 * time.Microsecond // where tills call, and wait for the group
	awaited    = 2 * time.Millisecond    // where none calls, but the next one would wait
	shared     = 1500 * time.Microsecond // where tills call, and share the processor and the disk
	beside     = 3 * time.Millisecond    // where none calls, and none would wait
	longest    = 15 * time.Millisecond   // there, where what a group takes by itself would leave too little
	dear       = 250 * time.Microsecond  // for a gift: with pauses, a million of them take eight minutes
	longRest   = 40 * time.Millisecond   // between two groups
)

// pace says how many gifts are written at once.
type pace struct{ size int }

// wrote takes note of a group that was written, and of how long a commit takes where others wait for it (0: nobody
// does). While tills call, groups are shorter. Where a commit alone takes longer than tills should wait for a group,
// they wait for each other's commits as well; so the gifts may take half as long as that, lest there be a commit for
// each. Where nobody waits for groups, those that are dear, such as with a database far away, grow. Beside tills, a
// gift of a small group is dearer by itself: there, groups grow that are twice as dear.
func (p *pace) wrote(ctx context.Context, took, commit time.Duration) {
	tills, _ := nice.Others(ctx)
	aim, most := beside, dear
	if tills {
		aim, most = shared, 2*dear
	}
	switch {
	case commit > 0 && tills:
		aim = max(waitedFor, commit*3/2)
	case commit > 0:
		aim = max(awaited, commit*3/2)
	case took > time.Duration(p.size)*most:
		aim = min(max(took*5/4, beside), longest)
	}
	fits := int(int64(p.size) * int64(aim) / max(int64(took), 1)) // by this group, which may be an odd one
	p.size = min(max(fits, p.size/2), p.size+p.size/2)
	p.size = min(max(p.size, leastGroup), mostGroup)
}

// restAfter is how long an import pauses after a group that took so long. While tills call, it leaves four fifths of
// the time to them. While none does, it pauses for a moment only: the first till that calls again waits for one group.
// Where nobody knows, as in a process of its own, it pauses for as long as the group took.
func restAfter(ctx context.Context, took time.Duration) time.Duration {
	switch tills, known := nice.Others(ctx); {
	case tills:
		took *= 4
	case known:
		took /= 4
	}
	return min(took, longRest)
}
