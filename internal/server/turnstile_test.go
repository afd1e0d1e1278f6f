package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// hall is a server behind a turnstile, with a crowd before it.
type hall struct {
	*testing.T
	turnstile *turnstile
	address   string
	crowded   atomic.Bool
	asked     chan *looked // handlers tell that they have been reached
}

// looked is a request that is looked at until it is told to be done.
type looked struct {
	*visitor
	done chan struct{}
}

func newHall(t *testing.T) *hall {
	h := &hall{T: t, asked: make(chan *looked)}
	h.crowded.Store(true)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if h.turnstile, err = newTurnstile(listener, h.crowded.Load); err != nil {
		t.Fatal(err)
	}
	h.address = listener.Addr().String()
	srv := &http.Server{ConnContext: withVisitor, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := &looked{visitorOf(r), make(chan struct{})}
		h.asked <- l
		<-l.done
		_, _ = io.WriteString(w, "answer")
	})}
	ended := make(chan error)
	go func() { ended <- srv.Serve(h.turnstile) }()
	t.Cleanup(func() {
		srv.Close()
		<-ended
		h.isEmpty()
		h.turnstile.dismantle()
	})
	return h
}

// say opens a connection and sends.
func (h *hall) say(what string) net.Conn {
	c, err := net.Dial("tcp", h.address)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, what)
	return c
}

const aRequest = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"

// comes waits for the next request to be looked at.
func (h *hall) comes() *looked {
	select {
	case l := <-h.asked:
		return l
	case <-time.After(10 * time.Second):
		h.Fatal("no request was looked at")
		return nil
	}
}

// answer has a request answered, and reads that.
func (h *hall) answer(l *looked, c net.Conn) {
	close(l.done)
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		h.Fatal(err)
	}
	if got, err := io.ReadAll(r.Body); string(got) != "answer" || err != nil {
		h.Fatalf("answer %q, %v", got, err)
	}
}

// isEmpty waits until nobody is on the way through.
func (h *hall) isEmpty() {
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		h.turnstile.mu.Lock()
		left := h.turnstile.passing + len(h.turnstile.waiting)
		h.turnstile.mu.Unlock()
		if left == 0 {
			return
		}
		if time.Now().After(end) {
			h.Fatalf("%d never came through", left)
		}
	}
}

// While there is a crowd, a request is looked at when the one before has been answered.
func TestTurnstilePassesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	first := h.say(aRequest)
	one := h.comes()
	second := h.say(aRequest)
	select {
	case <-h.asked:
		t.Fatal("the next was called in while one was on its way")
	case <-time.After(50 * time.Millisecond):
	}
	h.answer(one, first)
	h.answer(h.comes(), second)
}

// A connection that is asked again gets a place again.
func TestTurnstileServesAConnectionAgain(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	c := h.say(aRequest)
	for range 3 {
		h.answer(h.comes(), c)
		_, _ = io.WriteString(c, aRequest)
	}
	h.answer(h.comes(), c)
}

// Who was let in waits for the store, and nobody waits for that.
func TestTurnstileIsFreeOnceARequestIsIn(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	first := h.say(aRequest)
	inside := h.comes()
	inside.enter()
	second := h.say(aRequest)
	h.answer(h.comes(), second)
	h.answer(inside, first)
}

// Who sends half a request, takes no answer, or goes away, keeps nobody's place.
func TestTurnstileWaitsForNoCaller(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.say("GET / HTT")
	h.say("GET / HTT").Close()
	h.say("nonsense\r\n\r\n")
	gone := h.say(aRequest)
	l := h.comes()
	gone.Close()
	close(l.done)
	c := h.say(aRequest)
	h.answer(h.comes(), c)
	h.isEmpty()
}

// Many who wait come in a few at a time, in the end all.
func TestTurnstileCallsAFewTogether(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.say(aRequest)
	looked := []*looked{h.comes()}
	few := fewForEachCore * runtime.GOMAXPROCS(0)
	for range few + 1 {
		h.say(aRequest)
	}
	for { // until all but the first wait
		h.turnstile.mu.Lock()
		n := len(h.turnstile.waiting)
		h.turnstile.mu.Unlock()
		if n == few+1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for _, together := range []int{few, 1} {
		for _, l := range looked {
			close(l.done)
		}
		looked = looked[:0]
		for range together {
			looked = append(looked, h.comes())
		}
		select {
		case <-h.asked:
			t.Fatalf("more than %d were called in together", together)
		case <-time.After(20 * time.Millisecond):
		}
	}
	close(looked[0].done)
}

// When the turnstile is dismantled nobody waits any more.
func TestTurnstileIsDismantled(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.say(aRequest)
	first := h.comes()
	h.say(aRequest)
	h.turnstile.dismantle()
	second := h.comes()
	h.say(aRequest)
	close(h.comes().done)
	close(first.done)
	close(second.done)
}

// Without a crowd nobody waits.
func TestTurnstileIsOpen(t *testing.T) {
	t.Parallel()
	h := newHall(t)
	h.crowded.Store(false)
	all := make([]*looked, 5)
	for n := range all {
		h.say(aRequest)
		all[n] = h.comes()
	}
	for _, l := range all {
		close(l.done)
	}
}
