package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"sync"
)

// connections keeps the process from running out of file descriptors: when more connections come than there are
// descriptors for, the one that the service has been reading from for the longest is closed, be it idle or in the
// middle of a request's head or body. Else no new connection could be accepted until the timeouts of the others, and
// the database could not open its files.
type connections struct {
	max int

	mu     sync.Mutex
	fewer  sync.Cond // one was closed or is being read
	open   map[net.Conn]*connection
	oldest *connection // of those being read, a list that the newest ends
	newest *connection
	ended  bool // new connections no longer wait
}

// connection is an open connection; it is in the list while bytes of its client are waited for.
type connection struct {
	conn         net.Conn
	listed       bool
	older, newer *connection
}

// The descriptors that are not for connections: files of the database, connections to it and to gateways, standard
// streams. And as many connections as can be useful: an idle one takes some 10 KiB of memory.
const (
	reservedDescriptors = 128
	maxConnections      = 16_384
)

// connectionsFor is how many connections a process with so many descriptors can have; 0 descriptors: it is not known.
func connectionsFor(descriptors uint64) int {
	switch {
	case descriptors == 0 || descriptors >= maxConnections+reservedDescriptors:
		return maxConnections
	case descriptors < 2*reservedDescriptors:
		return max(1, int(descriptors/2))
	}
	return int(descriptors - reservedDescriptors)
}

func newConnections(most int) *connections {
	c := &connections{max: most, open: map[net.Conn]*connection{}}
	c.fewer.L = &c.mu
	return c
}

// connectionKey is under which a request's connection travels in its context.
type connectionKey struct{}

// attach makes a server tell of its connections, and its handler of the requests that have come.
func (c *connections) attach(s *http.Server) {
	s.ConnState = c.changed
	handler := s.Handler
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn, ok := r.Context().Value(connectionKey{}).(net.Conn); ok && r.ProtoMajor == 1 {
			if r.Body == http.NoBody {
				c.handle(conn)
			} else {
				c.read(conn)
				r.Body = &requestBody{r.Body, c, conn}
			}
		}
		handler.ServeHTTP(w, r)
	})
}

// requestBody takes its connection from the list when it has been read.
type requestBody struct {
	io.ReadCloser
	connections *connections
	conn        net.Conn
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.connections.handle(b.conn)
	}
	return n, err
}

// handle is told that a request has been read, so that its connection stays until it has been answered.
func (c *connections) handle(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.open[conn]; n != nil {
		c.unlink(n)
	}
}

// read is told that the body of a request is going to be read.
func (c *connections) read(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.open[conn]; n != nil {
		c.link(n)
	}
}

// changed is told of every change in the state of a connection. A new one beyond the limit takes the place of the one
// that has been read for the longest; while all requests are being handled, accepting waits.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		for len(c.open) >= c.max && !c.ended {
			if c.oldest == nil {
				c.fewer.Wait()
				continue
			}
			victim := c.oldest
			c.forget(victim)
			abandon(victim.conn)
		}
		n := &connection{conn: conn}
		c.open[conn] = n
		c.link(n)
	case http.StateActive: // many requests share a connection of HTTP/2, which says so once it has read one
		if n := c.open[conn]; n != nil && isHTTP2(conn) {
			c.unlink(n)
		}
	case http.StateIdle:
		if n := c.open[conn]; n != nil {
			c.link(n)
			c.fewer.Signal()
		}
	case http.StateClosed, http.StateHijacked:
		if n := c.open[conn]; n != nil {
			c.forget(n)
			c.fewer.Signal()
		}
	}
}

func isHTTP2(conn net.Conn) bool {
	secure, ok := conn.(*tls.Conn)
	return ok && secure.ConnectionState().NegotiatedProtocol == "h2"
}

// abandon closes a connection without a word to its client, who may not be listening.
func abandon(conn net.Conn) {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	conn.Close()
}

// end lets connections that wait be accepted, so that the servers can stop.
func (c *connections) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.fewer.Broadcast()
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// link puts a connection at the end of the list.
func (c *connections) link(n *connection) {
	c.unlink(n)
	n.listed, n.older = true, c.newest
	if c.newest != nil {
		c.newest.newer = n
	} else {
		c.oldest = n
	}
	c.newest = n
}

func (c *connections) unlink(n *connection) {
	if !n.listed {
		return
	}
	if n.older != nil {
		n.older.newer = n.newer
	} else {
		c.oldest = n.newer
	}
	if n.newer != nil {
		n.newer.older = n.older
	} else {
		c.newest = n.older
	}
	n.listed, n.older, n.newer = false, nil, nil
}

func (c *connections) forget(n *connection) {
	c.unlink(n)
	delete(c.open, n.conn)
}
