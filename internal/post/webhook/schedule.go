package webhook

import "time"

// retries is how long after each failed attempt an event is tried again.
var retries = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// jitter is by how much of itself a wait is made shorter or longer.
const jitter = 0.1

// Retry tells how long to wait after so many failed attempts at an event; random is in [0, 1). After the last of them
// ok is false: the event is given up.
func Retry(attempts int, random float64) (wait time.Duration, ok bool) {
	if attempts < 1 || attempts > len(retries) {
		return 0, false
	}
	wait = retries[attempts-1]
	return wait + time.Duration(float64(wait)*jitter*(2*random-1)), true
}

// FailingMost is for how long an endpoint may fail without one success in between before it is switched off.
const FailingMost = 5 * 24 * time.Hour

// AttemptsKept is how long attempts can be read.
const AttemptsKept = 30 * 24 * time.Hour
