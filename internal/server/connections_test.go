package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// line is a connection that notes when it is closed.
type line struct {
	net.Conn
	name   string
	closed *[]string
}

func (l *line) Close() error {
	*l.closed = append(*l.closed, l.name)
	return nil
}

func TestTheOldestIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	var closed []string
	c := newConnections(3)
	conn := map[string]*line{}
	change := func(name string, state http.ConnState) {
		if conn[name] == nil {
			conn[name] = &line{name: name, closed: &closed}
		}
		c.changed(conn[name], state)
	}
	for _, name := range []string{"a", "b", "c"} {
		change(name, http.StateNew)
	}
	c.handle(conn["a"])
	change("c", http.StateActive) // has sent some of a request
	c.read(conn["c"])             // its head, and the body is to come
	change("a", http.StateIdle)
	c.handle(conn["b"])
	change("d", http.StateNew)
	change("e", http.StateNew)
	if want := []string{"c", "a"}; !slices.Equal(closed, want) {
		t.Errorf("closed %v, want %v: the oldest idle first, and none that is served", closed, want)
	}
	for _, name := range []string{"c", "a"} { // net/http tells of these too, once their goroutines have noticed
		c.handle(conn[name])
		change(name, http.StateIdle)
		change(name, http.StateClosed)
	}
	if c.count() != 3 {
		t.Errorf("%d are open, want 3", c.count())
	}
	c.handle(conn["d"])
	c.handle(conn["e"])
	accepted := make(chan bool)
	for _, last := range []func(){
		func() { change("b", http.StateClosed) },
		func() { change("d", http.StateIdle) },
		c.end,
	} {
		n := &line{name: "new", closed: &closed}
		go func() {
			c.changed(n, http.StateNew)
			c.handle(n)
			accepted <- true
		}()
		select {
		case <-accepted:
			t.Fatal("one more was accepted while all are served")
		case <-time.After(20 * time.Millisecond):
		}
		last()
		<-accepted
	}
	if want := []string{"c", "a", "d"}; !slices.Equal(closed, want) {
		t.Errorf("closed %v, want %v", closed, want)
	}
}

func TestConnectionsFor(t *testing.T) {
	t.Parallel()
	for descriptors, want := range map[uint64]int{0: maxConnections,
		1: 1, 20: 10, 256: 128, 1024: 896, 65_536: maxConnections, 1 << 62: maxConnections} {
		if got := connectionsFor(descriptors); got != want {
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
	var closed []string
	c := newConnections(2)
	idle := &line{name: "idle", closed: &closed}
	c.changed(server, http.StateNew)
	c.changed(idle, http.StateNew)
	c.changed(server, http.StateActive)
	c.changed(&line{name: "next", closed: &closed}, http.StateNew)
	if want := []string{"idle"}; !slices.Equal(closed, want) {
		t.Errorf("closed %v, want %v", closed, want)
	}
	c.changed(server, http.StateIdle)
	c.changed(&line{name: "last", closed: &closed}, http.StateNew)
	c.changed(&line{name: "one more", closed: &closed}, http.StateNew)
	if _, err := theirs.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || len(closed) != 2 {
		t.Errorf("the idle one was not closed: %v, %v", err, closed)
	}
}
