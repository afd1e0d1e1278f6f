package push

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"boon.example/internal/merchant"
)

// Apple is where Apple takes pushes.
const Apple = "https://api.push.apple.com"

// Limits of one push.
const (
	timeout    = 10 * time.Second
	maxAnswer  = 1 << 10
	maxWait    = time.Hour // that an answer asks for
	maxClients = 100       // certificates whose connections are kept
)

// Outcome is what came of a push.
type Outcome struct {
	Status int    // of Apple's answer; 0: there was none
	Reason string // Apple's word for why it did not take the push
	After  time.Duration
}

// Taken reports whether Apple took the push.
func (o Outcome) Taken() bool { return o.Status == http.StatusOK }

// Gone reports whether there is no such device any more, or never was.
func (o Outcome) Gone() bool {
	return o.Status == http.StatusGone || o.Status == http.StatusBadRequest &&
		(o.Reason == "BadDeviceToken" || o.Reason == "DeviceTokenNotForTopic")
}

// slower reports whether Apple wants fewer pushes for this device.
func (o Outcome) slower() bool { return o.Status == http.StatusTooManyRequests }

// lost reports whether the push will never be taken, as it is, while others may be.
func (o Outcome) lost() bool {
	return o.Status >= 400 && o.Status < 500 && !o.slower() && o.Status != http.StatusForbidden
}

// Word says what came of it: taken, gone (there is no such device), refused (any other answer) or failed (none).
func (o Outcome) Word() string {
	switch {
	case o.Taken():
		return "taken"
	case o.Gone():
		return "gone"
	case o.Status > 0:
		return "refused"
	}
	return "failed"
}

// Sender sends pushes by HTTP/2, each account's with its own certificate. It is safe for concurrent use.
type Sender struct {
	address string
	roots   *x509.CertPool // nil: those of the system

	mu      sync.Mutex
	clients map[[sha256.Size]byte]*http.Client
}

// NewSender makes a sender to an address; "": Apple.
func NewSender(address string, roots *x509.CertPool) *Sender {
	if address == "" {
		address = Apple
	}
	return &Sender{address: strings.TrimSuffix(address, "/"), roots: roots,
		clients: map[[sha256.Size]byte]*http.Client{}}
}

// Close lets go of idle connections.
func (s *Sender) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

func (s *Sender) forget() {
	for _, c := range s.clients {
		c.CloseIdleConnections()
	}
	clear(s.clients)
}

// Send makes one push to the device that a token leads to, which is hexadecimal. It says nothing but that a pass
// changed: the device asks for the rest. It ends after some seconds, or soon after ctx does.
func (s *Sender) Send(ctx context.Context, w *merchant.AppleWallet, token string) (o Outcome, err error) {
	client, err := s.client(w)
	if err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/3/device/"+token, strings.NewReader("{}"))
	if err != nil {
		return o, fmt.Errorf("making a push: %w", err)
	}
	r.Header.Set("Apns-Topic", w.PassType)
	answer, err := client.Do(r)
	if err != nil {
		return o, failure(err)
	}
	defer answer.Body.Close()
	o.Status = answer.StatusCode
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		o.After = min(time.Duration(min(seconds, 1<<20))*time.Second, maxWait)
	}
	var said struct {
		Reason string `json:"reason"`
	}
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	_ = json.Unmarshal(body, &said) // only what is known of it matters
	o.Reason = said.Reason
	return o, nil
}

// failure leaves the address out of an error: it has the token of a device.
func failure(err error) error {
	if inner, ok := err.(interface{ Unwrap() error }); ok {
		err = inner.Unwrap()
	}
	return fmt.Errorf("sending a push: %w", err)
}

// client has connections that show the certificate of an account.
func (s *Sender) client(w *merchant.AppleWallet) (*http.Client, error) {
	of := sha256.Sum256([]byte(w.Certificate + w.Key))
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.clients[of]; c != nil {
		return c, nil
	}
	pair, err := tls.X509KeyPair([]byte(w.Certificate), []byte(w.Key))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate for pushes: %w", err)
	}
	if len(s.clients) >= maxClients {
		s.forget()
	}
	t := &http.Transport{ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 16 << 10, DisableCompression: true,
		IdleConnTimeout: 5 * time.Minute, TLSHandshakeTimeout: timeout,
		HTTP2:           &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: timeout},
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: s.roots}}
	c := &http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	s.clients[of] = c
	return c, nil
}
