package connections

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/base/clientip"
)

// line is a connection that notes when it is closed.
type line struct {
	net.Conn
	name   string
	from   string
	closed *[]string
}

func (l *line) Close() error {
	*l.closed = append(*l.closed, l.name)
	return nil
}

func (l *line) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(cmp.Or(l.from, "203.0.113.1")), 4711))
}

// lines are connections by their names.
type lines struct {
	*Connections
	closed []string
	conn   map[string]*line
}

func newLines(most int) *lines {
	return &lines{Connections: New(most, clientip.Proxies{netip.MustParsePrefix("10.0.0.0/8")}),
		conn: map[string]*line{}}
}

func (l *lines) open(name, from string) {
	l.conn[name] = &line{name: name, from: from, closed: &l.closed}
	l.changed(l.conn[name], http.StateNew)
}

func (l *lines) want(t *testing.T, closed ...string) {
	t.Helper()
	if !slices.Equal(l.closed, closed) {
		t.Errorf("closed %v, want %v", l.closed, closed)
	}
}

// Each is of a network of its own, as none has more than its share.
func TestTheOldestIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLines(3)
		count := 0
		made := 0
		l.made = func() { made++ }
		open := func(name string) {
			count++
			l.open(name, fmt.Sprintf("203.0.%d.1", count))
		}
		for _, name := range []string{"a", "b", "c"} {
			open(name)
		}
		l.handle(l.conn["a"])
		l.changed(l.conn["c"], http.StateActive) // has sent some of a request
		l.read(l.conn["c"])                      // its head, and the body is to come
		l.changed(l.conn["a"], http.StateIdle)
		l.handle(l.conn["b"])
		open("d")
		open("e")
		l.want(t, "c", "a")                       // the oldest idle first, and none that is served
		for _, name := range []string{"c", "a"} { // net/http tells of these too, once their goroutines have noticed
			l.handle(l.conn[name])
			l.changed(l.conn[name], http.StateIdle)
			l.changed(l.conn[name], http.StateClosed)
		}
		if l.Count() != 3 || made != 2 || len(l.networks) != 3 {
			t.Errorf("%d are open of %d networks, and %d made room", l.Count(), len(l.networks), made)
		}
		l.handle(l.conn["d"])
		l.handle(l.conn["e"])
		accepted := make(chan bool)
		for n, last := range []func(){
			func() { l.changed(l.conn["b"], http.StateClosed) },
			func() { l.changed(l.conn["d"], http.StateIdle) },
			l.End,
		} {
			name := fmt.Sprint("new ", n)
			go func() {
				open(name)
				l.handle(l.conn[name])
				accepted <- true
			}()
			synctest.Wait()
			select {
			case <-accepted:
				t.Fatal("one more was accepted while all are served")
			default:
			}
			last()
			<-accepted
		}
		l.want(t, "c", "a", "d")
	})
}

// TestTheLongestCallMakesRoom: of connections that all handle a call, the one goes whose call has taken the longest,
// and no call before busyLeast.
func TestTheLongestCallMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, begun := newLines(2), time.Now()
		l.open("first", "203.0.113.1")
		l.handle(l.conn["first"])
		time.Sleep(time.Second)
		l.open("second", "203.0.114.1")
		l.Connections.open[l.conn["second"]].current.end()
		end := l.call(l.conn["second"]) // one call of HTTP/2 after the other: none of them takes long
		l.open("third", "203.0.115.1")
		if waited := time.Since(begun); waited < busyLeast || waited > busyLeast+lookAgain {
			t.Errorf("the third waited until %s", waited)
		}
		l.want(t, "first")
		l.handle(l.conn["third"])
		time.Sleep(busyLeast)
		l.call(l.conn["second"])
		end()
		l.open("fourth", "203.0.116.1")
		l.want(t, "first", "third")
	})
}

// TestANetworkBeyondItsShareMakesRoom, whatever its connections do, and however long the others wait. Trusted proxies
// have no share.
func TestANetworkBeyondItsShareMakesRoom(t *testing.T) {
	t.Parallel()
	l := newLines(12) // three for each network
	for _, name := range []string{"proxy 1", "proxy 2", "proxy 3", "proxy 4", "proxy 5"} {
		l.open(name, "10.0.0.1")
	}
	l.open("till 1", "203.0.113.1")
	l.open("till 2", "203.0.113.2")
	for n := range 5 {
		name := fmt.Sprint("crowd ", n)
		l.open(name, fmt.Sprint("198.51.100.", n))
		l.handle(l.conn[name])
	}
	l.open("crowd 5", "198.51.100.9")
	l.open("till 3", "203.0.113.1")
	l.want(t, "crowd 0", "crowd 5") // at first the one that waits
	l.handle(l.conn["till 3"])
	l.open("till 4", "203.0.113.1") // four of each now
	l.want(t, "crowd 0", "crowd 5", "crowd 1")
	l.changed(l.conn["crowd 2"], http.StateClosed)
	l.open("till 5", "203.0.113.1") // there is room
	l.open("till 6", "203.0.113.1")
	l.want(t, "crowd 0", "crowd 5", "crowd 1", "till 1")
	for name, conn := range l.conn {
		l.changed(conn, http.StateClosed)
		l.changed(conn, http.StateClosed)
		delete(l.conn, name)
	}
	if len(l.networks)+len(l.beyond)+l.Count() != 0 || l.phases.longest(time.Now(), 0) != nil {
		t.Errorf("all are closed, and %v, %v are left", l.networks, l.beyond)
	}
}

func TestConnectionsFor(t *testing.T) {
	t.Parallel()
	for descriptors, want := range map[uint64]int{0: maxConnections,
		1: 1, 20: 10, 256: 128, 1024: 896, 65_536: maxConnections, 1 << 62: maxConnections} {
		if got := For(descriptors); got != want {
			t.Errorf("%d descriptors: %d connections, want %d", descriptors, got, want)
		}
	}
}

// TestConnectionsOfHTTP2: such a connection is not closed while a call is under way on it, whatever the others do; a
// client that does not listen holds nobody up.
func TestConnectionsOfHTTP2(t *testing.T) {
	t.Parallel()
	cert := httptest.NewUnstartedServer(nil)
	cert.EnableHTTP2 = true
	cert.StartTLS()
	defer cert.Close()
	settings := cert.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	settings.NextProtos, settings.ServerName = []string{"h2"}, "example.com"
	ours, theirs := net.Pipe() // whose other end reads nothing after the handshake
	silent := cert.TLS.Clone()
	silent.SessionTicketsDisabled = true // which the other end would have to read
	server := tls.Server(ours, silent)
	peer := tls.Client(theirs, settings)
	shaken := make(chan error, 1)
	go func() { shaken <- peer.Handshake() }()
	if err := errors.Join(server.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	l := newLines(2)
	l.changed(server, http.StateNew)
	l.open("idle", "203.0.113.1")
	l.changed(server, http.StateActive)
	end := l.call(server)
	l.open("next", "203.0.114.1")
	l.want(t, "idle")
	end()
	l.changed(server, http.StateIdle)
	l.open("last", "203.0.115.1")
	l.open("one more", "203.0.116.1")
	if _, err := theirs.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || len(l.closed) != 2 {
		t.Errorf("the idle one was not closed: %v, %v", err, l.closed)
	}
}
