package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// turnstile keeps a crowd before the door from holding up those inside: while the door refuses somebody, requests that arrive are read and
// looked at a few at a time, and the next few only when the service has nothing else to do.
//
// Go runs what can run in the order in which it came, and asks the network for news when nothing can, or after 10 ms. With a thousand
// requests waiting to be read there is always something that can, so that the answer of a database, for which hundreds inside are
// waiting, is noticed when its turn has come behind those requests. Therefore each few are called in by a byte that goes through a pipe:
// it is noticed when nothing else can run, and whatever arrived before it was sent has been noticed then.
type turnstile struct {
	net.Listener
	crowded func() bool

	sent, noticed *os.File // the ends of the pipe
	ended         chan struct{}

	mu      sync.Mutex
	waiting []*visitor // in the order in which they came
	passing int        // have been called in, and are not through yet
	calling bool       // a byte is on its way
	open    bool       // nobody waits any more
}

// fewForEachCore is how many are called in together, for each core: enough that the pipe costs little beside them. From 1 to 32 it
// makes no difference that can be measured.
const fewForEachCore = 8

// newTurnstile puts a turnstile before a listener, until it is dismantled.
func newTurnstile(l net.Listener, crowded func() bool) (*turnstile, error) {
	noticed, sent, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a turnstile: %w", err)
	}
	t := &turnstile{Listener: l, crowded: crowded, sent: sent, noticed: noticed, ended: make(chan struct{})}
	go t.run()
	return t, nil
}

// dismantle lets in all who wait, and whoever comes.
func (t *turnstile) dismantle() {
	t.sent.Close()
	<-t.ended
	t.noticed.Close()
}

func (t *turnstile) run() {
	defer close(t.ended)
	few := fewForEachCore * runtime.GOMAXPROCS(0)
	for b := make([]byte, 1); ; {
		_, err := t.noticed.Read(b)
		if over := t.call(few, err != nil); over {
			return
		}
	}
}

// call calls the next few in, or everybody for good.
func (t *turnstile) call(few int, everybody bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calling, t.open = false, everybody
	if few > len(t.waiting) || everybody {
		few = len(t.waiting)
	}
	for _, v := range t.waiting[:few] {
		v.turn <- struct{}{}
	}
	t.waiting = t.waiting[few:]
	t.passing += few
	return everybody
}

// wait returns when it is a visitor's turn.
func (t *turnstile) wait(v *visitor) {
	t.mu.Lock()
	if t.open {
		t.passing++
		t.mu.Unlock()
		return
	}
	t.waiting = append(t.waiting, v)
	t.next()
	t.mu.Unlock()
	<-v.turn
}

// pass is told when a visitor who was called in is through.
func (t *turnstile) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passing--
	t.next()
}

// next sends a byte when it is time for it.
func (t *turnstile) next() {
	if t.passing == 0 && len(t.waiting) > 0 && !t.calling {
		_, err := t.sent.Write([]byte{0}) // it never blocks: there is one at most. It fails when run is about to call everybody in
		t.calling = err == nil
	}
}

func (t *turnstile) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &visitor{Conn: c, turnstile: t, turn: make(chan struct{}, 1)}, nil
}

// visitor is a connection. While there is a crowd, it passes the turnstile when bytes have arrived, and is through when its request is
// let in, is answered, or needs more bytes: nobody waits behind it for anything but the processor.
type visitor struct {
	net.Conn
	turnstile *turnstile
	turn      chan struct{}
	passing   atomic.Bool
	inside    atomic.Bool // its request was let in and has not been answered
}

func (v *visitor) Read(p []byte) (int, error) {
	v.through()
	n, err := v.Conn.Read(p)
	if n > 0 && !v.inside.Load() && v.turnstile.crowded() {
		v.turnstile.wait(v)
		v.passing.Store(true)
	}
	return n, err
}

func (v *visitor) Write(p []byte) (int, error) {
	v.through()
	return v.Conn.Write(p)
}

func (v *visitor) Close() error {
	v.through()
	return v.Conn.Close()
}

// CloseWrite tells the caller that no more will come: net/http does, before it gives up a request that it will not read to its end.
func (v *visitor) CloseWrite() error {
	if c, ok := v.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return nil
}

func (v *visitor) through() {
	if v.passing.CompareAndSwap(true, false) {
		v.turnstile.pass()
	}
}

// enter is told that the visitor's request was let in, and leave that it was answered.
func (v *visitor) enter() { v.inside.Store(true); v.through() }
func (v *visitor) leave() { v.inside.Store(false) }

type visitorKey struct{}

// withVisitor lets the door see who comes.
func withVisitor(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, visitorKey{}, c)
}

// visitorOf is the connection of a request, or for one that came by no turnstile, nobody's.
func visitorOf(r *http.Request) *visitor {
	if v, ok := r.Context().Value(visitorKey{}).(*visitor); ok {
		return v
	}
	return new(visitor)
}
