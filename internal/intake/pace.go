package intake

import "time"

// How many gifts are written at once: as many as take about aloneTime, and far fewer while others have to wait, as
// tills do on the embedded database. Large groups cost less.
const (
	firstGroup = 100
	leastGroup = 25
	mostGroup  = 1_000
	aloneTime  = 60 * time.Millisecond
	besideTime = 8 * time.Millisecond
	longRest   = 40 * time.Millisecond // between two groups; another process comes to its turn within it
	quiet      = time.Second           // after it, nobody is there any more
)

// pace says how many gifts are written at once.
type pace struct {
	size    int
	traffic int64     // as it was after the last group
	met     time.Time // when somebody else was met last
}

// wrote takes note of a group that was written, and gives how long to pause after it: as long as it took.
func (p *pace) wrote(took time.Duration, traffic int64, now time.Time) (rest time.Duration) {
	if traffic != p.traffic {
		if p.traffic = traffic; now.Sub(p.met) >= quiet {
			p.size /= int(aloneTime / besideTime)
		}
		p.met = now
	}
	aim := aloneTime
	if now.Sub(p.met) < quiet {
		aim = besideTime
	}
	switch {
	case took > aim*3/2:
		p.size /= 2
	case took < aim*3/4:
		p.size += p.size / 2
	}
	p.size = min(max(p.size, leastGroup), mostGroup)
	return min(took, longRest)
}
