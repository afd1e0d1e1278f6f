package client

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client calls one service with one API key. Make it with [New]; it is safe for concurrent use.
type Client struct {
	base       string // without a slash at its end
	key        string
	account    string // that look-ups are about; "": the key's
	dry        bool   // its calls are dry runs
	receipts   bool   // its calls ask for receipts
	http       http.Client
	userAgent  string
	attempts   int
	perAttempt time.Duration
	pause      time.Duration
	maxPause   time.Duration
}

// Option changes how a Client works.
type Option func(*Client)

// WithHTTPClient makes calls go through h: its transport, cookies and time-out. Redirects are never followed,
// whatever h says; they would carry the key to another place. The default is a client of its own over
// http.DefaultTransport.
func WithHTTPClient(h *http.Client) Option { return func(c *Client) { c.http = *h } }

// WithAttempts says how often a call is tried at most when its outcome is unknown, the first time included; the
// default is 4, and 1 turns repeats off.
func WithAttempts(n int) Option { return func(c *Client) { c.attempts = n } }

// WithAttemptTimeout limits each attempt, so that a call that hangs is repeated before the context ends. The default
// is a minute, as the service may hold a large order back for half of one.
func WithAttemptTimeout(d time.Duration) Option { return func(c *Client) { c.perAttempt = d } }

// WithBackoff sets the pauses between attempts: random, up to first before the second attempt, up to twice as much
// before the next and so on, but never above longest. A service that asks for a longer pause than longest
// (Retry-After) is not waited for: the error tells when to come back. The defaults are 250 milliseconds and 10
// seconds.
func WithBackoff(first, longest time.Duration) Option {
	return func(c *Client) { c.pause, c.maxPause = first, longest }
}

// WithUserAgent sets the User-Agent header, by which operators tell callers apart.
func WithUserAgent(s string) Option { return func(c *Client) { c.userAgent = s } }

// New makes a client of the service at baseURL, such as https://gifts.example.com, that calls with an API key. It
// calls nothing yet; a wrong key shows as [Unauthenticated] at the first call.
func New(baseURL, key string, opts ...Option) (*Client, error) {
	u, err := url.Parse(baseURL)
	switch {
	case err != nil:
		return nil, errors.New("the base address is not a URL such as https://gifts.example.com")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the base address must begin with http:// or https:// and name a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base address must not hold a user name, a query or a fragment; the key is given apart")
	case key == "" || strings.Trim(key, printable) != "":
		return nil, errors.New("the API key must be visible ASCII characters, and at least one")
	}
	c := &Client{
		base: strings.TrimRight(u.String(), "/"), key: key, userAgent: "boon-client-go",
		attempts: 4, perAttempt: time.Minute, pause: 250 * time.Millisecond, maxPause: 10 * time.Second,
	}
	for _, o := range opts {
		o(c)
	}
	if c.attempts < 1 || c.perAttempt <= 0 || c.pause < 0 || c.maxPause < c.pause {
		return nil, errors.New("attempts must be at least 1, the time for one above 0, and the longest pause not below " +
			"the first")
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

const printable = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"

// ForAccount is a client whose look-ups (Gift, History, Gifts, RequestStatus) are about an account: a system
// integrator key that serves several must say which.
func (c *Client) ForAccount(accountID string) *Client {
	of := *c
	of.account = accountID
	return &of
}

// DryRun is a client whose calls change nothing: the operations on gifts give the answers that they would have, with
// ids that name nothing, and refuse what they would refuse. What has no dry run, such as changing a webhook, is refused
// with [NotSupported]. A service before 0.2.0 has no dry runs and does what it is asked: then the call fails with
// [ErrNotDry].
func (c *Client) DryRun() *Client {
	dry := *c
	dry.dry = true
	return &dry
}

// Receipt is what a till prints below its own receipt: at most 6 lines of at most 32 columns, in the account's
// language.
type Receipt struct {
	Lines []string `json:"lines"`
}

// Receipts is a client whose redemptions, captures, reloads, cash-outs and activations are answered with a [Receipt].
func (c *Client) Receipts() *Client {
	with := *c
	with.receipts = true
	return &with
}

// withReceipts are the operations whose answers may have a receipt.
var withReceipts = map[Operation]bool{OpRedeemGift: true, OpCaptureHold: true, OpReloadGift: true, OpCashOutGift: true,
	OpActivateGift: true}

// ErrNotDry tells that the service took no notice of a dry run, and did what it was asked: its version is before
// 0.2.0.
var ErrNotDry = errors.New("the service took no notice of the dry run and did what it was asked: its version is " +
	"before 0.2.0")

// String names the service, and not the key.
func (c *Client) String() string { return fmt.Sprintf("client of %s", c.base) }

// GoString is String, so that no verb of package fmt shows the key.
func (c *Client) GoString() string { return c.String() }

// NewKey makes an Idempotency-Key: a UUIDv7. Calls make their own when they are given none; a caller that must be
// able to ask about a call after a crash makes the key first and keeps it.
func NewKey() string {
	var b [16]byte
	rand.Read(b[6:]) // it ends the program rather than fail
	binary.BigEndian.PutUint64(b[:8], uint64(time.Now().UnixMilli())<<16|uint64(b[6])<<8|uint64(b[7]))
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Operation names an endpoint. All but OpValidateGift, which changes nothing, take an Idempotency-Key.
type Operation string

// OpValidateGift keeps nothing under a key. The other operations stand in names.go.
const OpValidateGift Operation = "validate-gift"

// Meta is what came with an answer beside its members.
type Meta struct {
	RequestID      string // of the call, see [Error].RequestID
	IdempotencyKey string // under which the call was made; "": none
	Replayed       bool   // the service had given this answer before, to the same call; nothing happened twice
	Body           []byte // the answer as it came: JSON, with any members that are newer than this package
	// Quotas are the daily limits that the call counted against, by name; nil: none, or nothing was done.
	Quotas []Quota

	proof string // of a journal, in JSON
	next  string // of a page of an export: the path of the next one
}
