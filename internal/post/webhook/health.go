package webhook

import "time"

// Health is how the endpoints fare that a deliverer calls.
type Health struct {
	Endpoints int // that are switched on
	Failing   int // that took nothing since a call failed
	// Behind is for how long the one of the others that is longest behind has had events before it; 0: none is behind.
	Behind time.Duration
}

// standsStill is after how long a deliverer that looks after nothing stands still.
const standsStill = 10 * flushEvery

// healthSnapshot is what a deliverer saw of its lanes.
type healthSnapshot struct {
	at, behindSince time.Time
	Health
}

// Health tells how the endpoints fare. Where the deliverer stands still all are behind.
func (d *Deliverer) Health() Health {
	s := d.seen.Load()
	if s == nil {
		return Health{}
	}
	h, now := s.Health, time.Now()
	if !s.behindSince.IsZero() {
		h.Behind = now.Sub(s.behindSince)
	}
	if still := now.Sub(s.at); still > standsStill && h.Endpoints > 0 {
		h.Behind = max(h.Behind, still)
	}
	return h
}

// look notes how the endpoints fare.
func (d *Deliverer) look() {
	s := &healthSnapshot{at: time.Now()}
	for _, stream := range d.streams {
		stream.look(s)
	}
	d.seen.Store(s)
}

func (s *stream) look(at *healthSnapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		at.Endpoints++
		switch {
		case !l.state.FailingSince.IsZero():
			at.Failing++
		case !l.waiting && (at.behindSince.IsZero() || l.behindSince.Before(at.behindSince)):
			at.behindSince = l.behindSince
		}
	}
}
