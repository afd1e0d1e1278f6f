package mail

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/textproto"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/idna"

	"boon.example/internal/post/message"
)

// Carrier hands mail over to one server. It keeps connections for the next mails and uses as many at once as there are
// callers.
type Carrier struct {
	server Server
	hello  string // the name by which it introduces itself
	// connect makes a connection to the server.
	connect func(context.Context) (net.Conn, error)

	mu     sync.Mutex
	idle   []*connection // the last used last
	closed bool
}

// Limits on what a server may take, and what is kept.
const (
	// to connect, for the banner, TLS and AUTH together; some servers make unknown clients wait
	greetingTimeout = 30 * time.Second
	commandTimeout  = 30 * time.Second
	answerTimeout   = time.Minute // for the answer to a whole message; filters take their time
	goodbyeTimeout  = time.Second
	idleTimeout     = 20 * time.Second // servers hang up after a minute or more
	maxPerConn      = 100              // mails over one connection
	maxIdle         = 16
)

// SendTimeout is how long a caller should give Carry: less would cut off a server that is only slow.
const SendTimeout = greetingTimeout + answerTimeout

// NewCarrier makes a carrier. Nothing is connected yet.
func NewCarrier(s Server) *Carrier {
	c := &Carrier{server: s, hello: cmp.Or(domain(s.From), "localhost")}
	c.connect = func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.address())
	}
	return c
}

// Close closes the idle connections. Mails under way are finished by their callers.
func (c *Carrier) Close() {
	c.mu.Lock()
	c.closed = true
	idle := c.idle
	c.idle = nil
	c.mu.Unlock()
	for _, conn := range idle {
		conn.goodbye()
	}
}

// Carry sends a message; its errors are those of package message.
func (c *Carrier) Carry(ctx context.Context, m message.Message) error {
	return c.veil(c.carry(ctx, m))
}

func (c *Carrier) carry(ctx context.Context, m message.Message) error {
	to, international, err := route(m.To)
	if err != nil {
		return &message.Refusal{Words: "The address of the recipient has no valid domain."}
	}
	text, err := compose(&m, c.server.From, to)
	if err != nil {
		return err
	}
	e := envelope{c.server.From, to, international, text}
	for conn := c.idleConnection(); conn != nil; conn = c.idleConnection() {
		// The server may have hung up since; nothing has been said yet, so that another connection may be tried.
		err := conn.during(ctx, func() error { return conn.begin(&e) })
		switch {
		case err == nil:
			return c.finish(ctx, conn, &e)
		case answered(err):
			return c.afterwards(conn, err)
		}
		conn.close()
		if ctx.Err() != nil {
			return err
		}
	}
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	if err := conn.during(ctx, func() error { return conn.begin(&e) }); err != nil {
		return c.afterwards(conn, err)
	}
	return c.finish(ctx, conn, &e)
}

// finish sends what follows the sender's address.
func (c *Carrier) finish(ctx context.Context, conn *connection, e *envelope) error {
	return c.afterwards(conn, conn.during(ctx, func() error { return conn.send(e) }))
}

// afterwards keeps a connection that is good for another mail, and gives the error as it was.
func (c *Carrier) afterwards(conn *connection, err error) error {
	conn.mails++
	if err != nil && (!answered(err) || conn.reset() != nil) || conn.mails >= maxPerConn {
		conn.close()
		return err
	}
	c.mu.Lock()
	full := c.closed || len(c.idle) >= maxIdle
	if !full {
		c.idle = append(c.idle, conn)
		conn.expiry = time.AfterFunc(idleTimeout, func() { c.expire(conn) })
	}
	c.mu.Unlock()
	if full {
		conn.goodbye()
	}
	return err
}

// idleConnection gives an idle connection, nil if there is none.
func (c *Carrier) idleConnection() *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == 0 {
		return nil
	}
	conn := c.idle[len(c.idle)-1]
	c.idle = c.idle[:len(c.idle)-1]
	conn.expiry.Stop()
	return conn
}

// expire closes a connection that was idle for long.
func (c *Carrier) expire(conn *connection) {
	c.mu.Lock()
	mine := false
	for i, other := range c.idle {
		if other == conn {
			c.idle = append(c.idle[:i], c.idle[i+1:]...)
			mine = true
			break
		}
	}
	c.mu.Unlock()
	if mine {
		conn.goodbye()
	}
}

// route makes an address fit for the server: domains with letters beyond ASCII have an ASCII form. Local parts have
// none; they need a server that speaks of international mail (RFC 6531).
func route(to string) (address string, international bool, err error) {
	at := strings.LastIndexByte(to, '@')
	local, host := to[:max(at, 0)], to[at+1:]
	if !ascii(host) {
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", false, err
		}
	}
	return local + "@" + host, !ascii(local), nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7f })
}

// answered reports whether an error is an answer of the server's that leaves the connection as it should be.
func answered(err error) bool {
	var refusal *message.Refusal
	var answer *textproto.Error
	if errors.As(err, &refusal) {
		return true
	}
	return errors.As(err, &answer) && answer.Code != 421 // 421: the server hangs up
}

// veil takes our password out of an error's text: a server may repeat what it was sent.
func (c *Carrier) veil(err error) error {
	if err == nil || c.server.Password == "" {
		return err
	}
	said := err.Error()
	for _, secret := range []string{
		c.server.Password,
		base64.StdEncoding.EncodeToString([]byte(c.server.Password)),
		base64.StdEncoding.EncodeToString([]byte("\x00" + c.server.User + "\x00" + c.server.Password)),
	} {
		said = strings.ReplaceAll(said, secret, "…")
	}
	if said == err.Error() {
		return err
	}
	var refusal *message.Refusal
	var doubt *message.Doubt
	switch {
	case errors.As(err, &refusal):
		return &message.Refusal{Words: said}
	case errors.As(err, &doubt):
		return &message.Doubt{Cause: errors.New("the connection was lost")}
	}
	return &message.Unreachable{Cause: errors.New(said)}
}

// timedOut makes a deadline of ours readable.
func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
