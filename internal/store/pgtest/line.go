package pgtest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Line leads to a server, and can go silent: what is said on it is lost, and no connection ends by that. So do a
// firewall that drops packets for a while, and one that restarts and has forgotten its connections.
type Line struct {
	Address        string // where it is reached
	to             string
	calls, answers atomic.Bool // are swallowed
	ends           sync.WaitGroup

	mu    sync.Mutex
	conns []*atomic.Bool // each is set for a connection that is forgotten
}

// NewLine makes a line to an address, which ends with the test. Its connections have to end before.
func NewLine(t testing.TB, to string) *Line {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{Address: listener.Addr().String(), to: to}
	l.ends.Go(func() { l.accept(listener) })
	t.Cleanup(func() { listener.Close() })
	return l
}

// Swallow makes the line lose the calls of all connections, or the answers, or both, until it is told otherwise. Then
// it goes on as if nothing had been.
func (l *Line) Swallow(calls, answers bool) {
	l.calls.Store(calls)
	l.answers.Store(answers)
}

// Forget makes the line lose all that is said on the connections that there are, for good. New connections work.
func (l *Line) Forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, forgotten := range l.conns {
		forgotten.Store(true)
	}
}

func (l *Line) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		forgotten := new(atomic.Bool)
		l.mu.Lock()
		l.conns = append(l.conns, forgotten)
		l.mu.Unlock()
		l.ends.Go(func() { l.connect(near, forgotten) })
	}
}

func (l *Line) connect(near net.Conn, forgotten *atomic.Bool) {
	defer near.Close()
	far, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer far.Close()
	var both sync.WaitGroup
	both.Go(func() { pass(far, near, func() bool { return forgotten.Load() || l.calls.Load() }) })
	both.Go(func() { pass(near, far, func() bool { return forgotten.Load() || l.answers.Load() }) })
	both.Wait()
}

// pass hands on what is said, and that one end was closed. While it swallows, it hands on neither.
func pass(to, from net.Conn, swallows func() bool) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if !swallows() {
			if _, failed := to.Write(piece[:n]); failed != nil || err != nil {
				to.Close()
				from.Close()
				return
			}
		}
		if err != nil {
			return // and the other end does not learn it
		}
	}
}
