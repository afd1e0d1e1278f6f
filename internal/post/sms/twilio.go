// Package sms carries text messages to Twilio's Messages resource, or to whatever speaks like it, and hears from it
// what became of them.
//
// It knows messages, not gifts, and retries nothing itself.
package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"boon.example/internal/post/message"
)

// Account is the address of the gateway, and our account there.
type Account struct {
	SID   string
	Token string // the auth token: our password, and the key of Twilio's signatures
	Host  string // with its port, if it is not the usual one
	From  string // the number they come from, in E.164
	Plain bool   // HTTP instead of HTTPS; only to loopback
}

const example = "write twilio://SID:TOKEN@api.twilio.com?from=+14155550100"

var e164 = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// ParseAccount reads an address such as twilio://SID:TOKEN@api.twilio.com?from=+14155550100. Its errors never repeat
// what was given, which holds a password.
func ParseAccount(s string) (*Account, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("the SMS gateway's address is not a URL: " + example)
	}
	a := &Account{SID: u.User.Username(), Host: u.Host}
	a.Token, _ = u.User.Password()
	switch {
	case u.Scheme != "twilio":
		return nil, errors.New("the SMS gateway's address must begin with twilio://: " + example)
	case a.SID == "" || a.Token == "":
		return nil, errors.New("the SMS gateway's address needs the account's SID and its auth token: " + example)
	case u.Hostname() == "":
		return nil, errors.New("the SMS gateway's address names no host: " + example)
	case strings.Trim(u.Path, "/") != "" || u.Fragment != "":
		return nil, errors.New("nothing but ?from=NUMBER may follow the host of the SMS gateway: " + example)
	}
	// A plus sign in a query is decoded as a space, which no telephone number has.
	q, err := url.ParseQuery(strings.ReplaceAll(u.RawQuery, "+", "%2B"))
	if err != nil {
		return nil, errors.New("what follows the question mark of the SMS gateway's address is not understood: " + example)
	}
	for name, values := range q {
		switch {
		case len(values) != 1:
			return nil, fmt.Errorf("the SMS gateway's address sets %q more than once", name)
		case name == "from":
			a.From = values[0]
		case name == "insecure" && values[0] == "1" && loopback(u.Hostname()):
			a.Plain = true
		case name == "insecure":
			return nil, errors.New("insecure=1 is for a gateway on this machine itself only: the auth token would cross a " +
				"network for everyone to read")
		default:
			return nil, fmt.Errorf("the SMS gateway's address has an option %q that does not exist; there are from and insecure",
				name)
		}
	}
	if !e164.MatchString(a.From) {
		return nil, errors.New("the SMS gateway's address must name the number that messages come from, with + and " +
			"country code: " + example)
	}
	return a, nil
}

// loopback reports whether a host is this machine itself.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Carrier hands text messages over to one account.
type Carrier struct {
	account  Account
	resource string // the address of the Messages resource
	callback string // the base of our own addresses; "": no reports are asked for
	client   *http.Client
}

const (
	answerTimeout = 25 * time.Second
	maxAnswer     = 64 << 10
)

// NewCarrier makes a carrier. publicURL is where Twilio finds this service, to report what became of a message; reports
// are asked for only when that is not this machine itself, or the gateway is as well.
func NewCarrier(a Account, publicURL string) *Carrier {
	scheme := "https"
	if a.Plain {
		scheme = "http"
	}
	c := &Carrier{account: a, client: &http.Client{
		Timeout: answerTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute,
			TLSHandshakeTimeout: 10 * time.Second, Proxy: http.ProxyFromEnvironment},
		// our password must not be sent to another host
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.resource = scheme + "://" + a.Host + "/2010-04-01/Accounts/" + url.PathEscape(a.SID) + "/Messages.json"
	if u, err := url.Parse(publicURL); err == nil && (!loopback(u.Hostname()) || a.Plain) {
		c.callback = strings.TrimSuffix(publicURL, "/")
	}
	return c
}

// Close closes the idle connections.
func (c *Carrier) Close() { c.client.CloseIdleConnections() }

// Carry sends a message; its errors are those of package message.
func (c *Carrier) Carry(ctx context.Context, m message.Message) error {
	form := url.Values{"To": {m.To}, "From": {c.account.From}, "Body": {m.Text}}
	if c.callback != "" {
		form.Set("StatusCallback", c.callback+callbackPath(&m))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.resource, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("asking the SMS gateway: %w", err)
	}
	request.SetBasicAuth(c.account.SID, c.account.Token)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	var handed atomic.Bool
	answer, err := c.client.Do(traced(request, &handed))
	if err != nil {
		return c.lost(err, handed.Load())
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		body = nil
	}
	if answer.StatusCode/100 == 2 {
		return c.accepted(answer, body)
	}
	return c.judge(answer, body)
}

// accepted believes a success only in the gateway's own words: the page of a network that wants us to sign in is
// answered with 200, too.
func (c *Carrier) accepted(answer *http.Response, body []byte) error {
	var taken struct {
		SID    string `json:"sid"`
		Status string `json:"status"`
		Code   int    `json:"error_code"`
	}
	if json.Unmarshal(body, &taken) != nil || taken.SID == "" {
		return &message.Doubt{Cause: errors.New(c.veil(answer.Status) + ", but not as Twilio says it")}
	}
	switch taken.Status {
	case "failed", "undelivered", "canceled":
		words := fmt.Sprintf("The message was accepted, but not sent: %s (error %d)", taken.Status, taken.Code)
		if slices.Contains(forNow, taken.Code) {
			return errors.New(words)
		}
		return &message.Refusal{Words: words}
	}
	return nil
}

// veil takes what names our account out of a text.
func (c *Carrier) veil(s string) string {
	return strings.NewReplacer(c.account.Token, "…", c.account.SID, "…").Replace(s)
}

// lost tells what became of a request without an answer: if it was not handed over whole, nothing.
func (c *Carrier) lost(err error, handed bool) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if handed {
		return &message.Doubt{Cause: err}
	}
	return &message.Unreachable{Cause: err}
}

// twilioError is Twilio's answer to a request that it does not take.
type twilioError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// forNow are the codes of a 4xx that a later attempt may not meet (https://www.twilio.com/docs/api/errors): too many
// requests, a queue that is full, an account that is suspended or lacks its rights or money, a number to send from that
// is not ours (yet).
var forNow = []int{20003, 20005, 20429, 21611, 14107, 30001, 30002, 63038, 20001, 21212, 21408, 21603, 21606, 21659,
	21660}

// judge tells the answers apart. What is wrong with this message or its recipient is for good; what is wrong with the
// account, the gateway or the moment is for now.
func (c *Carrier) judge(answer *http.Response, body []byte) error {
	var t twilioError
	_ = json.Unmarshal(body, &t) // it may be no JSON: then the status tells
	words := c.veil(answer.Status)
	if t.Code != 0 {
		words = fmt.Sprintf("%d: %s", t.Code, c.veil(t.Message))
	}
	after := retryAfter(answer.Header.Get("Retry-After"), time.Now())
	switch {
	case t.Code == 0 && slices.Contains(doubtful, answer.StatusCode):
		return &message.Doubt{Cause: errors.New(words)}
	case answer.StatusCode == http.StatusTooManyRequests || after > 0:
		return &message.Later{Words: words, After: after}
	case answer.StatusCode >= 500 || answer.StatusCode == http.StatusUnauthorized ||
		answer.StatusCode == http.StatusForbidden && t.Code == 0:
		return &message.Unreachable{Cause: errors.New(words)}
	case answer.StatusCode == http.StatusBadRequest && t.Code != 0 && !slices.Contains(forNow, t.Code):
		return &message.Refusal{Words: words}
	case answer.StatusCode == http.StatusForbidden && !slices.Contains(forNow, t.Code):
		return &message.Refusal{Words: words}
	}
	return errors.New(words)
}

// doubtful are answers of a proxy that may have handed the message on. With 502 and 503 it found nobody.
var doubtful = []int{http.StatusInternalServerError, http.StatusGatewayTimeout}

// retryAfter reads the header of that name: seconds, or a date. 0: it says nothing.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return time.Duration(min(n, 1<<30)) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
