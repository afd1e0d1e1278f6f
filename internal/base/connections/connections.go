// Package connections keeps a process from running out of file descriptors, however many connections its clients open
// and whatever they do with them.
package connections

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"boon.example/internal/base/clientip"
)

// Connections are those of a server's clients, at most so many at once. Without this limit no new connection could be
// accepted until the timeouts of the others, and the database could not open its files.
//
// When a new connection finds all places taken, an older connection is closed:
//  1. If a client network has more than its share of the places, it loses one; of several, the network with the most.
//     Else any network may lose one.
//  2. Of these connections, the one goes that has done the same for the longest: waited for bytes of its client (idle,
//     or in the middle of a request), or handled a call, if that has taken busyLeast. So a call ends whose answer
//     nobody reads, and so does a slow stream of HTTP/2.
//  3. If there is none, a network beyond its share loses the longest of its calls. Else the new connection waits.
//
// Trusted proxies have no share: their connections are those of many clients.
type Connections struct {
	max     int
	share   int // of one network
	proxies clientip.Proxies
	made    func()

	mu       sync.Mutex
	fewer    sync.Cond // a connection was closed, or may be
	open     map[net.Conn]*connection
	phases   phases // of all
	networks map[string]*network
	beyond   map[*network]bool // those with more than their share
	ended    bool              // new connections no longer wait
}

// network is a client network that has connections.
type network struct {
	name   string
	open   int
	phases phases
}

// connection is an open connection.
type connection struct {
	conn    net.Conn
	network *network // nil: it is a trusted proxy's
	current phase    // what it does; of HTTP/2 only while it has no stream
	calls   []*phase // the streams of HTTP/2
}

// The descriptors that are not for connections: files of the database, connections to it and to gateways, standard
// streams. And as many connections as can be useful: an idle one takes some 10 KiB of memory.
const (
	reservedDescriptors = 128
	maxConnections      = 16_384
)

const (
	shares    = 4               // so many networks beyond their shares take all places
	busyLeast = 5 * time.Second // of a call, before its connection makes room; a till waits no longer for its answer
	lookAgain = 250 * time.Millisecond
)

// For is how many connections a process with so many descriptors can have; 0 descriptors: it is not known.
func For(descriptors uint64) int {
	switch {
	case descriptors == 0 || descriptors >= maxConnections+reservedDescriptors:
		return maxConnections
	case descriptors < 2*reservedDescriptors:
		return max(1, int(descriptors/2))
	}
	return int(descriptors - reservedDescriptors)
}

// New allows so many connections. Those of trusted proxies are of many clients.
func New(most int, proxies clientip.Proxies) *Connections {
	c := &Connections{max: most, share: max(1, most/shares), proxies: proxies, made: func() {},
		open: map[net.Conn]*connection{}, networks: map[string]*network{}, beyond: map[*network]bool{}}
	c.fewer.L = &c.mu
	return c
}

// connectionKey is under which a request's connection travels in its context.
type connectionKey struct{}

// Attach makes a server tell of its connections, and its handler of the requests that have come.
func (c *Connections) Attach(s *http.Server) {
	s.ConnState = c.changed
	handler := s.Handler
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch conn, ok := r.Context().Value(connectionKey{}).(net.Conn); {
		case !ok:
		case r.ProtoMajor > 1:
			// Its context ends with the stream. Its handler may end before: the end of the answer waits for the client.
			context.AfterFunc(r.Context(), c.call(conn))
		case r.Body == http.NoBody:
			c.handle(conn)
		default:
			c.read(conn)
			r.Body = &requestBody{r.Body, c, conn}
		}
		handler.ServeHTTP(w, r)
	})
}

// requestBody tells when it has been read.
type requestBody struct {
	io.ReadCloser
	connections *Connections
	conn        net.Conn
}

func (b *requestBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.connections.handle(b.conn)
	}
	return n, err
}

// handle is told that a request of HTTP/1.1 has been read, and is handled from now on.
func (c *Connections) handle(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.open[conn]; n != nil {
		n.current.end()
		c.busy(&n.current)
	}
}

// read is told that the body of a request of HTTP/1.1 is going to be read.
func (c *Connections) read(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.open[conn]; n != nil {
		c.wait(n)
	}
}

// call is told that a stream of HTTP/2 begins; end, that it has ended.
func (c *Connections) call(conn net.Conn) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.open[conn]
	if n == nil {
		return func() {}
	}
	s := &phase{conn: n}
	c.busy(s)
	n.calls = append(n.calls, s)
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		s.end()
		n.calls = slices.DeleteFunc(n.calls, func(other *phase) bool { return other == s })
	}
}

// busy begins a phase of handling a call, and wait one of waiting for bytes.
func (c *Connections) busy(s *phase) {
	if s.conn.network == nil {
		s.begin(&c.phases.busy)
	} else {
		s.begin(&c.phases.busy, &s.conn.network.phases.busy)
	}
}

func (c *Connections) wait(n *connection) {
	n.current.end()
	if n.network == nil {
		n.current.begin(&c.phases.waiting)
	} else {
		n.current.begin(&c.phases.waiting, &n.network.phases.waiting)
	}
	c.fewer.Broadcast()
}

// changed is told of every change in the state of a connection.
func (c *Connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.open[conn]
	switch {
	case state == http.StateNew:
		c.makeRoom()
		c.add(conn)
	case n == nil: // it was closed to make room
	case state == http.StateActive && isHTTP2(conn): // it has streams, which are told of one by one
		n.current.end()
	case state == http.StateIdle:
		c.wait(n)
	case state == http.StateClosed, state == http.StateHijacked:
		c.forget(n)
	}
}

// makeRoom waits until there is room for a new connection, and closes others for it.
func (c *Connections) makeRoom() {
	for len(c.open) >= c.max && !c.ended {
		if victim := c.victim(time.Now()); victim != nil {
			c.forget(victim)
			abandon(victim.conn)
			c.made()
			continue
		}
		again := time.AfterFunc(lookAgain, c.fewer.Broadcast)
		c.fewer.Wait()
		again.Stop()
	}
}

// victim is the connection that is closed next; nil: none for now.
func (c *Connections) victim(now time.Time) *connection {
	if len(c.beyond) == 0 {
		return c.phases.longest(now, busyLeast)
	}
	most := slices.MaxFunc(slices.Collect(maps.Keys(c.beyond)), func(a, b *network) int { return a.open - b.open })
	if victim := most.phases.longest(now, busyLeast); victim != nil {
		return victim
	}
	return most.phases.longest(now, 0)
}

func (c *Connections) add(conn net.Conn) {
	n := &connection{conn: conn, network: c.networkOf(conn)}
	n.current.conn = n
	c.open[conn] = n
	if n.network != nil {
		c.tally(n.network, +1)
	}
	c.wait(n)
}

// networkOf is the client network of a connection; nil: its other end is a trusted proxy.
func (c *Connections) networkOf(conn net.Conn) *network {
	var peer netip.Addr
	if address, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		peer = address.AddrPort().Addr()
	}
	if c.proxies.Trust(peer) {
		return nil
	}
	name := clientip.Network(peer)
	n := c.networks[name]
	if n == nil {
		n = &network{name: name}
		c.networks[name] = n
	}
	return n
}

func (c *Connections) tally(n *network, more int) {
	n.open += more
	if n.open > c.share {
		c.beyond[n] = true
	} else {
		delete(c.beyond, n)
	}
	if n.open == 0 {
		delete(c.networks, n.name)
	}
}

func (c *Connections) forget(n *connection) {
	n.current.end()
	for _, call := range n.calls {
		call.end()
	}
	delete(c.open, n.conn)
	if n.network != nil {
		c.tally(n.network, -1)
	}
	c.fewer.Broadcast()
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

// End lets connections that wait be accepted, so that the servers can stop.
func (c *Connections) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.fewer.Broadcast()
}

// Count is how many are open.
func (c *Connections) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Max is how many may be open.
func (c *Connections) Max() int { return c.max }

// OnRoom has somebody be told of every connection that is closed to make room for another. It is called before Attach.
func (c *Connections) OnRoom(made func()) { c.made = made }
