package server

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boon.example/internal/api"
	"boon.example/internal/web"
)

// door keeps waiting short when more calls come than can be served: it lets in no more than will be answered in time and refuses the others
// at once, before anything of them but the head was read, for what is refused costs the time of those inside.
//
// Ten times a second it counts the calls that were answered. Half as many more again is what can be answered in maxWait: so many may be
// inside. While nobody is refused nothing is learnt from that number, for then it tells what was asked and not what could be done.
//
// Ranks are shares of the house: the lower a call ranks, the emptier the house must be for it. So redemptions go on when nothing else does,
// and what is let in first is refused last.
type door struct {
	now func() time.Time

	mu     sync.Mutex
	inside int // calls that are worked on
	limit  int // how many may be

	// What the present window has seen.
	begun    time.Time
	answered int
	refused  int

	crowded atomic.Bool // somebody was refused in this window or the one before
}

const (
	// maxWait is how long a call that is let in should take at most, when the house is full. A till waits five seconds.
	maxWait = 150 * time.Millisecond
	// window is how long answers are counted before the limit follows them.
	window = 100 * time.Millisecond
	// minInside may always be inside: they fit into one transaction, so that refusing some of them would save the others little, however slow
	// the store is.
	minInside = 256
	// firstInside is the limit before anything is known.
	firstInside = 1024
)

// rank is the importance of a call. What ranks higher is refused later.
type rank int

// The ranks, from the most important.
const (
	always rank = iota // the operator's addresses, never refused
	redeem             // redeem and reverse: a guest is waiting, and has been told what the gift is worth
	check              // validate: a guest is waiting
	change             // send, cancel, resend, reschedule, a gateway's reports
	look               // what changes nothing: look-ups, pages, outbox, docs
	numRanks
)

// String is the rank's name in metrics.
func (r rank) String() string {
	return [...]string{"operator", "redeem", "validate", "send", "look"}[r]
}

// share is how full the house may be for a call of this rank to be let in, in quarters of the limit.
func (r rank) share() int { return int(numRanks - r) }

func rankOf(r *http.Request) rank {
	const base = "/api/integration/"
	switch r.URL.Path {
	case "/healthz", "/readyz", "/metrics":
		return always
	case base + "redemption/redeem-gift", base + "redemption/reverse-redemption":
		return redeem
	case base + "redemption/validate-gift":
		return check
	}
	if r.Method == http.MethodPost && (strings.HasPrefix(r.URL.Path, base) || strings.HasPrefix(r.URL.Path, "/hooks/")) {
		return change
	}
	return look
}

func newDoor(now func() time.Time) *door { return &door{now: now, limit: firstInside, begun: now()} }

// enter lets a call in, who must leave, or refuses it.
func (d *door) enter(r rank) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside == 0 { // what was before the house was empty tells nothing about now
		d.begun, d.answered, d.refused = d.now(), 0, 0
		d.crowded.Store(false)
	}
	if d.inside >= d.limit*r.share()/4 {
		d.refused++
		d.crowded.Store(true)
		return false
	}
	d.inside++
	return true
}

// leave is told when a call that was let in has been answered.
func (d *door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside--
	d.answered++
	took := d.now().Sub(d.begun)
	if took < window {
		return
	}
	if d.refused > 0 {
		inTime := int(float64(d.answered) * float64(maxWait) / float64(took))
		// By half or double at most: one slow moment is not the end of the world.
		d.limit = max(minInside, d.limit/2, min(inTime, d.limit*2))
	}
	d.crowded.Store(d.refused > 0)
	d.begun, d.answered, d.refused = d.begun.Add(took), 0, 0
}

// step counts a call out while it waits for its caller and not for us, and in again: a thousand callers who send or take a byte a second
// keep nobody out.
func (d *door) step(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside += n
}

// guard is next behind the door; who is refused goes to refuse.
func (d *door) guard(next http.Handler, refuse func(http.ResponseWriter, *http.Request, rank)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rank, visitor := rankOf(r), visitorOf(r)
		if rank != always && !d.enter(rank) {
			refuse(w, r, rank)
			return
		}
		visitor.enter()
		defer visitor.leave()
		if rank == always {
			next.ServeHTTP(w, r)
			return
		}
		defer d.leave()
		if r.Body != http.NoBody {
			r.Body = &arriving{r.Body, d}
		}
		next.ServeHTTP(&departing{w, d}, r)
	})
}

// arriving is the body of a request.
type arriving struct {
	io.ReadCloser
	door *door
}

func (a *arriving) Read(p []byte) (int, error) {
	a.door.step(-1)
	defer a.door.step(+1)
	return a.ReadCloser.Read(p)
}

// departing takes the answer.
type departing struct {
	http.ResponseWriter
	door *door
}

func (t *departing) Write(p []byte) (int, error) {
	t.door.step(-1)
	defer t.door.step(+1)
	return t.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (t *departing) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// state is a look at the door, for metrics.
func (d *door) state() (s struct{ inside, limit int }) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.inside, s.limit = d.inside, d.limit
	return s
}

// refuse answers who was not let in: a program in the words of the interface, a person in plain ones. It is counted, and writes no line in
// the log, which would cost more than all the rest of it.
func (h *house) refuse(busy http.HandlerFunc) func(http.ResponseWriter, *http.Request, rank) {
	return func(w http.ResponseWriter, r *http.Request, rank rank) {
		h.metrics.refused.WithLabelValues(rank.String()).Inc()
		if h.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		if r.ContentLength > smallBody || r.ContentLength < 0 { // what has not arrived yet need not
			w.Header().Set("Connection", "close")
		}
		if api.Identify(w, r); !web.AsksForHTML(r) {
			busy(w, r)
			return
		}
		w.Header().Set("Retry-After", "1")
		w.Header().Set("Refresh", "2") // the page of a gift, opened by its guest, comes by itself when there is time
		say(w, http.StatusServiceUnavailable, "Many people are here at the moment. Please try again in a few seconds.")
	}
}

// smallBody is what usually arrives together with the head of its request.
const smallBody = 4 << 10
