package delivery

import (
	"context"
	"errors"
	"sync"
	"time"

	"boon.example/internal/post/message"
)

const (
	// breakAfter is how many failures in a row show that a gateway does not work.
	breakAfter = 5
	// breakFirst is for how long it is then left alone; twice as long each further time, up to breakMost. That is how long
	// the first message waits at most once the gateway works again.
	breakFirst = 5 * time.Second
	breakMost  = 30 * time.Second
)

// Breaker keeps a gateway that does not work from being hammered, and jobs from being charged for it. After a few
// failures that are the gateway's own (Unreachable, and Doubt, which gives a gift up the second time) it answers Paused
// without asking; then it lets one message through at a time, until one gets an answer, whatever it is.
type Breaker struct {
	Carrier

	mu       sync.Mutex
	failures int // in a row
	openings int // in a row
	until    time.Time
	probing  bool
	awaited  bool // a message is to come when the gateway has been left alone for long enough
	words    string
}

// Carry implements Carrier.
func (b *Breaker) Carry(ctx context.Context, m message.Message) error {
	probe, err := b.enter(time.Now())
	if err != nil {
		return err
	}
	err = errors.New("the carrier panicked")
	defer func() { b.leave(err, probe, time.Now()) }()
	err = b.Carrier.Carry(ctx, m)
	return err
}

// Paused reports whether the gateway is being left alone, or asked with one message at a time.
func (b *Breaker) Paused() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failures >= breakAfter
}

// mustWait tells, before a message is even rendered, that the gateway is being left alone; nil: it may be asked.
func (b *Breaker) mustWait(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures >= breakAfter && now.Before(b.until) {
		return b.paused(now)
	}
	return nil
}

// paused refuses a message while the gateway is left alone. The first comes again as soon as it may, to see whether the
// gateway works.
func (b *Breaker) paused(now time.Time) error {
	first := !b.awaited
	b.awaited = true
	return &Paused{b.words, b.until.Sub(now), first}
}

// enter lets a message through, or refuses. A probe is one after failures, to see whether the gateway works again.
func (b *Breaker) enter(now time.Time) (probe bool, _ error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.failures < breakAfter:
		return false, nil
	case now.Before(b.until):
		return false, b.paused(now)
	case b.probing:
		return false, &Paused{b.words, breakFirst, false}
	}
	b.probing = true
	return true, nil
}

func (b *Breaker) leave(err error, probe bool, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var unreachable *message.Unreachable
	var doubt *message.Doubt
	switch {
	case errors.Is(err, context.Canceled): // by a stop of ours: it tells nothing
	case !errors.As(err, &unreachable) && !errors.As(err, &doubt):
		b.failures, b.openings, b.until = 0, 0, time.Time{}
	default:
		b.failures++
		b.words = message.Reason(err)
		if b.failures >= breakAfter && !now.Before(b.until) { // else one that was begun before
			b.until = now.Add(min(breakFirst<<min(b.openings, 10), breakMost))
			b.openings++
			b.awaited = false
		}
	}
	if probe {
		b.probing = false
	}
}
