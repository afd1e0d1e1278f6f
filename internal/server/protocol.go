package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"

	"boon.example/internal/base/clientip"
	"boon.example/internal/service"
)

// problemListener makes net/http's own refusals our kind of answer. A request that net/http cannot read (a bad line,
// two lengths, headers beyond the limit, an unknown transfer encoding) reaches no handler: it writes a line of plain
// text straight to the connection. That one write is replaced by a problem document with an X-Request-ID, under which
// it is logged.
type problemListener struct {
	net.Listener
	app *app
}

func (l problemListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &problemConn{c, l.app}, nil
}

type problemConn struct {
	net.Conn
	app *app
}

// CloseWrite tells the client that no more will come, as net/http does before it gives up a request that it will not
// read to its end.
func (c *problemConn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// plainRefusal is what net/http writes, all of it; an answer of a handler has more headers.
var plainRefusal = regexp.MustCompile(`\AHTTP/1\.1 (\d{3}) [^\r\n]*\r\nContent-Type: text/plain; ` +
	`charset=utf-8\r\nConnection: close\r\n\r\n[^\r\n]*\z`)

func (c *problemConn) Write(b []byte) (int, error) {
	const beginning, longest = "HTTP/1.1 ", 500
	if len(b) > longest || !bytes.HasPrefix(b, []byte(beginning)) {
		return c.Conn.Write(b)
	}
	parts := plainRefusal.FindSubmatch(b)
	if parts == nil {
		return c.Conn.Write(b)
	}
	status, _ := strconv.Atoi(string(parts[1])) // three digits
	if _, err := c.Conn.Write(c.app.unreadable(status, c.RemoteAddr())); err != nil {
		return 0, err
	}
	return len(b), nil
}

// unreadable makes the answer to what net/http could not read, and logs it.
func (a *app) unreadable(status int, from net.Addr) []byte {
	id := uuid.Must(uuid.NewV7()).String()
	code, body := service.Unreadable(status, a.PublicURL, id)
	peer, _ := netip.ParseAddrPort(from.String()) // there is no header that could name another
	a.Logger.Info("request", slog.String("route", "none"), slog.Int("status", status), slog.String("requestID", id),
		slog.String("network", clientip.Network(peer.Addr())), slog.String("code", string(code)))
	a.metrics.request("none", status, 0)
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: application/problem+json\r\nContent-Length: "+
		"%d\r\nCache-Control: no-store\r\n"+
		"X-Request-ID: %s\r\nBoon-Version: %s\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), time.Now().UTC().Format(http.TimeFormat), len(body), id, service.Version, body)
}
