package delivery

import "time"

const (
	firstDelay = 30 * time.Second
	maxDelay   = 4 * time.Hour
	jitter     = 0.2 // of the delay, to either side
)

// retryAfter is the pause before the next attempt, attempts having failed: twice the one before, from half a minute to
// four hours, the last attempt falling at the end of window. ok is false when window has passed, and with it the last
// attempt.
//
// It counts the pauses that were meant, not the time that passed, so that the hours in which the service was down use
// up no attempt. random is in [0, 1); it spreads the attempts of many jobs that failed at once.
func retryAfter(attempts int, window time.Duration, random float64) (pause time.Duration, ok bool) {
	var waited time.Duration
	pause = firstDelay
	for n := 1; n < attempts && waited < window; n++ {
		waited += pause
		pause = min(2*pause, maxDelay)
	}
	if waited >= window {
		return 0, false
	}
	pause = min(pause, window-waited)
	return time.Duration(float64(pause) * (1 - jitter + 2*jitter*random)), true
}
