package deliverytest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// server is an http.Server, or one of another protocol.
type server interface {
	Serve(net.Listener) error
	Close() error
}

// Serve runs a server without a network until the test ends. A call of dial connects to it; the server hears of that
// after the pause.
func Serve(t *testing.T, s server) (dial func(pause time.Duration) net.Conn) {
	line := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	served := make(chan struct{})
	go func() { defer close(served); s.Serve(line) }()
	t.Cleanup(func() { s.Close(); line.Close(); <-served })
	return func(pause time.Duration) net.Conn {
		near, far := net.Pipe()
		time.AfterFunc(pause, func() {
			select {
			case line.conns <- far:
			case <-line.done:
				far.Close()
			}
		})
		return near
	}
}

// pipes is a listener of connections within the process, so that everything happens within one synctest bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }
func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }
