package deliverytest

import (
	"hash/fnv"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/post/delivery"
)

// Fickle decides by lot what a server does wrong, and remembers what the server took. The server asks it, and tells it.
type Fickle struct {
	mu   sync.Mutex
	seed uint64
	line *rand.Rand // whether the next line is dead
	// Each recipient has a lot of its own, so that what happens to one does not hang on the order in which all come.
	lots map[string]*rand.Rand
	// by recipient; after enough tries a recipient is served well, so that the tricks end before the retries do
	tried   map[string]int
	arrived map[string]int  // by recipient
	taken   map[string]int  // by the message's id
	unknown map[string]bool // the ids of which an answer was lost
}

// maxTricks is how often a server plays its tricks on one recipient.
const maxTricks = 6

// NewFickle makes one whose lot begins with these two numbers.
func NewFickle(a, b uint64) *Fickle {
	return &Fickle{
		seed: a, line: rand.New(rand.NewPCG(a, b)), lots: map[string]*rand.Rand{}, tried: map[string]int{},
		arrived: map[string]int{}, taken: map[string]int{}, unknown: map[string]bool{},
	}
}

// Serve runs the server as the function Serve does, over a line that is dead one time in ten.
func (f *Fickle) Serve(t *testing.T, s server) (dial func() (net.Conn, error)) {
	connect := Serve(t, s)
	return func() (net.Conn, error) {
		f.mu.Lock()
		dead := f.line.IntN(10) == 0
		f.mu.Unlock()
		if dead {
			return nil, &net.OpError{Op: "dial", Err: net.ErrClosed}
		}
		return connect(0), nil
	}
}

// Tried counts an attempt to reach a recipient.
func (f *Fickle) Tried(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tried[to]++
}

// Draw draws one of eight tricks, 0 to 7, or 8 when the recipient has seen enough of them.
func (f *Fickle) Draw(to string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tried[to] > maxTricks {
		return 8
	}
	lot := f.lots[to]
	if lot == nil {
		h := fnv.New64a()
		h.Write([]byte(to))
		lot = rand.New(rand.NewPCG(f.seed, h.Sum64()))
		f.lots[to] = lot
	}
	return lot.IntN(8)
}

// Took remembers a message. Copies of one message have the same id; lost tells that the sender gets no answer.
func (f *Fickle) Took(to, id string, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arrived[to]++
	f.taken[id]++
	f.unknown[id] = f.unknown[id] || lost
}

// Story is many gifts that leave through a fickle server.
type Story struct {
	Server      *Fickle
	Carrier     delivery.Carrier // to that server
	SendTimeout time.Duration
	Method      contact.Method
	Gifts       int

	// how contacts begin: reached in the end, refused for good, refused for now and ever
	Somebody, Nobody, Full string
	Contact                func(who string, n int) string // makes the nth contact, which begins with one of the three
	Refusal                string                         // is among the server's words about Nobody
}

// Run delivers the gifts in 30 hours, with the real worker, retries over a day and the breaker. Each gift must end as
// decided, and none be tried again after a refusal. Each message was taken exactly once where the answer was known,
// and at most twice, with the same id, where it was not; and some answers were lost.
func (s *Story) Run(t *testing.T) {
	h := Open(t)
	h.Worker.SendTimeout, h.Worker.Senders, h.Worker.RetryFor = s.SendTimeout, 16, 24*time.Hour
	way := &h.Gateways.Email
	if s.Method == contact.SMS {
		way = &h.Gateways.SMS
	}
	*way = &delivery.Breaker{Carrier: s.Carrier}
	contacts := map[guid.ID]string{}
	for n := range s.Gifts {
		who := s.Somebody
		switch n % 20 {
		case 7:
			who = s.Nobody
		case 13:
			who = s.Full
		}
		to := s.Contact(who, n)
		contacts[h.Issue(t, s.Method, to, time.Time{})] = to
	}
	stop := h.Run(t)
	time.Sleep(30 * time.Hour)
	stop()
	h.Idle(t)
	twice, doubted := s.Server.twice(t), 0
	for id, to := range contacts {
		g, history := h.Fate(t, id)
		if s.check(t, to, g.Status, history[len(history)-1].Reason) {
			doubted++
		}
	}
	t.Logf("%d messages to %d recipients; %d twice, %d given up in doubt", len(s.Server.taken), len(s.Server.arrived),
		twice, doubted)
	if twice == 0 || doubted == 0 {
		t.Error("the server lost no answers: the test shows nothing")
	}
}

// check holds what was decided about a gift, with the last words, against what the server knows. doubted: it is
// unknown whether it arrived.
func (s *Story) check(t *testing.T, to string, status gift.Status, words string) (doubted bool) {
	arrived, nobody := s.Server.arrived[to], strings.HasPrefix(to, s.Nobody)
	doubted = status == gift.FailedDelivery && strings.Contains(words, "answer was lost")
	switch {
	case nobody, strings.HasPrefix(to, s.Full):
		if status != gift.FailedDelivery || arrived > 0 || nobody && !strings.Contains(words, s.Refusal) {
			t.Errorf("%s is %v with the words %q, %d arrived", to, status, words, arrived)
		}
		if tried := s.Server.tried[to]; nobody && tried != 1 {
			t.Errorf("%s was tried %d times", to, tried)
		}
		return false
	case status == gift.Delivered:
		if arrived < 1 || arrived > 2 {
			t.Errorf("%s is DELIVERED and got %d messages", to, arrived)
		}
	case doubted:
		if arrived > 2 {
			t.Errorf("%s got %d messages", to, arrived)
		}
	default:
		t.Errorf("%s is %v: %q", to, status, words)
	}
	return doubted
}

// twice is how many messages were taken twice. It fails the test for one whose answer was not lost, and for one taken
// more often.
func (f *Fickle) twice(t *testing.T) (twice int) {
	for id, n := range f.taken {
		if n > 2 || n > 1 && !f.unknown[id] {
			t.Errorf("%s was taken %d times, an answer was lost: %t", id, n, f.unknown[id])
		}
		if n == 2 {
			twice++
		}
	}
	return twice
}
