package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"boon.example/internal/base/span"
	"boon.example/internal/merchant"
)

// Limits of one call.
const (
	CallTimeout = 15 * time.Second
	MaxAnswer   = 1 << 10 // bytes of an answer that are read, and kept if it was no success
	MaxTaken    = 200     // that are kept of a success: they are nearly all, and tell the least
	// How many connections wait for their next message: with fewer than there are endpoints, each message costs twice the
	// processor time.
	minIdle, maxIdle = 64, 1_024
	// maxHosts is of how many hosts it is remembered where they are.
	maxHosts = 4_096
)

// Message is what is sent to an endpoint.
type Message struct {
	ID   string // of the event: the same each time
	Body []byte
}

// Outcome is what came of a call.
type Outcome struct {
	Status int    // of the answer; 0: there was none
	Answer []byte // its first bytes
	Words  string // why there was no answer; "": there was one
	Took   time.Duration
}

// Succeeded reports whether the endpoint took the message.
func (o *Outcome) Succeeded() bool { return o.Status >= 200 && o.Status < 300 }

// Gone reports whether the endpoint wants no more messages.
func (o *Outcome) Gone() bool { return o.Status == http.StatusGone }

// Word says what came of it: taken, refused (an answer other than 2xx) or failed (none).
func (o *Outcome) Word() string {
	switch {
	case o.Succeeded():
		return "taken"
	case o.Status > 0:
		return "refused"
	}
	return "failed"
}

// err tells a trace that the endpoint did not take the message.
func (o *Outcome) err() error {
	if o.Succeeded() {
		return nil
	}
	return errNotTaken
}

var errNotTaken = errors.New("the endpoint did not take the message")

// Sender calls endpoints. It is safe for concurrent use.
type Sender struct {
	client *http.Client
	agent  string

	mu sync.Mutex
	at map[string]string // by URL's host: the network that was connected to last
}

// NewSender makes a sender that calls what a guard lets through. agent is what it calls itself. Of so many descriptors
// that the process has, it uses a sixteenth for idle connections.
func NewSender(g *Guard, agent string, descriptors uint64) *Sender {
	s := &Sender{agent: agent, at: map[string]string{}}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, CallTimeout) // it does not end with the call
			defer cancel()
			c, err := g.connect(ctx, network, address, false)
			return s.remember(address, c, err)
		},
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		MaxResponseHeaderBytes: 16 << 10, DisableCompression: true,
		MaxIdleConns: int(min(max(descriptors/16, minIdle), maxIdle)), MaxIdleConnsPerHost: atOnce,
		IdleConnTimeout: 30 * time.Second,
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, CallTimeout)
		defer cancel()
		c, err := dialTLS(ctx, g, t.TLSClientConfig, network, address)
		return s.remember(address, c, err)
	}
	s.client = &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return s
}

// Client is a client of HTTP that calls what the guard lets through. It follows no redirect and uses no proxy.
func (g *Guard) Client() *http.Client {
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, MaxResponseHeaderBytes: 16 << 10,
		MaxIdleConns: minIdle, IdleConnTimeout: 30 * time.Second}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return g.connect(ctx, network, address, false)
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return dialTLS(ctx, g, t.TLSClientConfig, network, address)
	}
	return &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// remember remembers where a connection leads, and hands it on.
func (s *Sender) remember(address string, c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	to, wrong := netip.ParseAddrPort(c.RemoteAddr().String())
	if wrong != nil {
		return c, nil
	}
	bits := 64 // of IPv6, one customer's
	if to.Addr().Unmap().Is4() {
		bits = 32
	}
	if network, err := to.Addr().Unmap().Prefix(bits); err == nil {
		host, _, _ := net.SplitHostPort(address)
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.at) >= maxHosts {
			clear(s.at)
		}
		s.at[host] = network.String()
	}
	return c, nil
}

// Destination is the network that the calls of a URL went to last, or its host: what has many names is one.
func (s *Sender) Destination(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if network, ok := s.at[u.Hostname()]; ok {
		return network
	}
	return u.Hostname()
}

// dialTLS connects and shakes hands.
func dialTLS(ctx context.Context, g *Guard, c *tls.Config, network, address string) (net.Conn, error) {
	raw, err := g.connect(ctx, network, address, true)
	if err != nil {
		return nil, err
	}
	own := c.Clone()
	own.ServerName, _, _ = net.SplitHostPort(address)
	conn := tls.Client(raw, own)
	if err := conn.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, err
	}
	return conn, nil
}

// Close lets go of idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send makes one attempt. It ends after CallTimeout, or soon after ctx does.
func (s *Sender) Send(ctx context.Context, address string, secrets []merchant.WebhookSecret, m Message) (o Outcome) {
	ctx, cancel := context.WithTimeout(ctx, CallTimeout)
	defer cancel()
	begun := time.Now()
	defer func() { o.Took = time.Since(begun) }()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(m.Body))
	if err != nil {
		return Outcome{Words: "The address is no URL."}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.agent)
	r.Header.Set(HeaderID, m.ID)
	r.Header.Set(HeaderTimestamp, strconv.FormatInt(begun.Unix(), 10))
	r.Header.Set(HeaderSignature, Sign(secrets, m.ID, begun, m.Body))
	span.Inject(ctx, r.Header)
	answer, err := s.client.Do(r)
	if err != nil {
		return Outcome{Words: failure(err)}
	}
	defer answer.Body.Close()
	if o.Status = answer.StatusCode; o.Status == http.StatusSwitchingProtocols {
		return o // what follows is no body: reading it would end with the connection, not with ctx
	}
	o.Answer, err = io.ReadAll(io.LimitReader(answer.Body, MaxAnswer))
	if err != nil && o.Succeeded() { // the rest of its answer may never come, and it may not have taken the message
		return Outcome{Answer: o.Answer, Words: failure(err)}
	}
	if o.Succeeded() {
		o.Answer = o.Answer[:min(len(o.Answer), MaxTaken)]
	}
	return o
}

// failure says in our words why there was no answer. Nothing of an error's own text is told: it names addresses.
func failure(err error) string {
	var unknown *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.Is(err, errNoAddress):
		return errNoAddress.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "There was no whole answer within 15 seconds."
	case errors.Is(err, context.Canceled):
		return "The attempt was broken off."
	case errors.As(err, &unknown):
		return "Its certificate is not valid for the host."
	case errors.As(err, &record), strings.Contains(err.Error(), "tls:"):
		return "No TLS connection could be made."
	}
	return "The connection could not be made, or broke."
}
