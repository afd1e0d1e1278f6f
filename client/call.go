package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Limits on the size of an answer, far above what the service sends: a thousand gifts with all their texts, and
// anything else.
const (
	largeAnswer = 64 << 20
	smallAnswer = 4 << 20
	// reportAnswer is that of a report, which may have a row for each key on each day.
	reportAnswer = 256 << 20
)

// call is one call, whatever the number of attempts.
type call struct {
	op      Operation // "" for a look-up
	method  string
	path    string // with the query
	request any    // nil: no body
	upload  []byte // in place of a request: a CSV file
	key     string
	limit   int64
	file    bool // the answer is one, and no JSON
	digest  bool // the answer is a file of any type, with its SHA-256
	// Overrides of the client's own; 0: none.
	attempts   int
	perAttempt time.Duration
}

// changes reports whether the call may change something, so that it needs a key to be repeated.
func (k *call) changes() bool { return k.op != "" && k.op != OpValidateGift }

// post is a call of an operation. A changing one gets a key of its own when the caller gave none.
func post(op Operation, path string, request any, key string) call {
	k := call{op: op, method: http.MethodPost, path: path + string(op), request: request, key: key, limit: smallAnswer}
	if k.changes() && key == "" {
		k.key = NewKey()
	}
	return k
}

func get(path string) call {
	return call{method: http.MethodGet, path: giftingPath + path, limit: smallAnswer}
}

const (
	integrationPath = "/api/integration/"
	giftingPath     = integrationPath + "gifting/"
	redemptionPath  = integrationPath + "redemption/"
)

// do makes the call and decodes its answer into answer.
func (c *Client) do(ctx context.Context, k call, answer any) (Meta, error) {
	var body []byte
	if k.request != nil {
		var err error
		if body, err = json.Marshal(k.request); err != nil {
			return Meta{}, fmt.Errorf("writing the request: %w", err)
		}
	}
	if k.upload != nil {
		body = k.upload
	}
	meta, unsure, err := c.repeat(ctx, k, body)
	if err == nil && c.dry && k.changes() {
		if err = checkDry(meta.Body); err != nil {
			return meta, err
		}
	}
	if err == nil {
		if err = json.Unmarshal(meta.Body, answer); err != nil {
			unsure, err = true, fmt.Errorf("the service's answer could not be read: %w", err)
		}
	}
	if unsure && err != nil && k.changes() {
		err = &UnknownOutcome{k.op, k.key, err}
	}
	return meta, err
}

// checkDry refuses an answer that is not that of a dry run.
func checkDry(answer []byte) error {
	var told struct {
		DryRun bool `json:"dryRun"`
	}
	if json.Unmarshal(answer, &told) != nil || !told.DryRun {
		return ErrNotDry
	}
	return nil
}

// answered makes the call and gives its answer with what stands around it.
func answered[T any](ctx context.Context, c *Client, k call, answer *T, meta *Meta) (*T, error) {
	var err error
	if *meta, err = c.do(ctx, k, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// repeat tries until there is a definite answer, attempts run out, or the context's deadline would pass in the pause.
// unsure tells, where err is not nil, that one of the attempts may have taken effect.
func (c *Client) repeat(ctx context.Context, k call, body []byte) (meta Meta, unsure bool, err error) {
	attempts := c.attempts
	if k.attempts > 0 {
		attempts = k.attempts
	}
	if err := ctx.Err(); err != nil {
		return Meta{}, false, fmt.Errorf("nothing was sent: %w", err)
	}
	for n := 1; ; n++ {
		var sent bool
		meta, sent, err = c.attempt(ctx, k, body)
		if err == nil {
			return meta, false, nil
		}
		refusal, answered := errors.AsType[*Error](err)
		if answered && Refused(refusal) {
			unsure = unsure && ofTheMoment(refusal)
		} else if sent {
			unsure = true
		}
		if n >= attempts || ctx.Err() != nil || errors.Is(err, errFinal) || answered && !refusal.passing() {
			return meta, unsure, err
		}
		pause := jitter(c.backoff(n))
		if answered {
			pause += refusal.RetryAfter
		}
		if answered && refusal.RetryAfter > c.maxPause || !wait(ctx, pause) {
			return meta, unsure, err
		}
	}
}

// ofTheMoment reports whether a refusal is about the key or the load at this moment: then it is given before the
// service looks at the Idempotency-Key, and says nothing about what an earlier attempt did.
func ofTheMoment(e *Error) bool {
	return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden ||
		e.Status == http.StatusTooManyRequests
}

// backoff is the longest pause after the nth attempt: doubling, bounded.
func (c *Client) backoff(n int) time.Duration {
	d := c.pause
	for ; n > 1 && d < c.maxPause; n-- {
		d *= 2
	}
	return min(d, c.maxPause)
}

// jitter is a random pause from half of d to d, so that callers that failed together do not come back together.
func jitter(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d/2+1)
}

// wait pauses; false: the context would end before the pause does, so there is no use in waiting.
func wait(ctx context.Context, pause time.Duration) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
		return false
	}
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

var errFinal = errors.New("a repeat would not fare better")

// attempt makes the call once. An error that is not an *Error means that no answer came; sent tells whether the
// request may have reached the service all the same.
func (c *Client) attempt(ctx context.Context, k call, body []byte) (_ Meta, sent bool, _ error) {
	limit := c.perAttempt
	if k.perAttempt > 0 {
		limit = k.perAttempt
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// The transport repeats a request with a key on its own when a kept-alive connection turns out dead, so that the error
	// of the last connection does not tell whether anything was written on the one before.
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	req, err := c.newRequest(ctx, k, body)
	if err != nil {
		return Meta{}, false, fmt.Errorf("%w: %w", errFinal, err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
			return Meta{}, wrote.Load(), fmt.Errorf("calling the service: %w: %w", errFinal, err)
		}
		dial, ok := errors.AsType[*net.OpError](err)
		return Meta{}, wrote.Load() || !ok || dial.Op != "dial", fmt.Errorf("calling the service: %w", err)
	}
	defer resp.Body.Close()
	meta, err := read(resp, k)
	return meta, true, err
}

// address is where a call goes, with what the client adds to its query.
func (c *Client) address(k *call) string {
	var query []string
	if c.account != "" && k.method == http.MethodGet && !strings.Contains(k.path, "accountID=") {
		query = append(query, "accountID="+url.QueryEscape(c.account))
	}
	if c.dry && k.method != http.MethodGet {
		query = append(query, "dryRun=true")
	}
	if c.receipts && withReceipts[k.op] {
		query = append(query, "receipt=true")
	}
	switch {
	case query == nil:
		return c.base + k.path
	case strings.Contains(k.path, "?"):
		return c.base + k.path + "&" + strings.Join(query, "&")
	}
	return c.base + k.path + "?" + strings.Join(query, "&")
}

func (c *Client) newRequest(ctx context.Context, k call, body []byte) (*http.Request, error) {
	address := c.address(&k)
	req, err := http.NewRequestWithContext(ctx, k.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Accept", "application/json, application/problem+json")
	req.Header.Set("User-Agent", c.userAgent)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if k.upload != nil {
		req.Header.Set("Content-Type", "text/csv")
	}
	if k.key != "" {
		req.Header.Set("Idempotency-Key", k.key)
	}
	return req, nil
}

// read takes the answer in, up to the limit.
func read(resp *http.Response, k call) (Meta, error) {
	meta := Meta{
		RequestID: resp.Header.Get("X-Request-ID"), IdempotencyKey: k.key,
		Replayed: resp.Header.Get("Idempotent-Replayed") == "true",
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, k.limit+1))
	switch {
	case err != nil:
		return meta, fmt.Errorf("reading the answer: %w", err)
	case int64(len(body)) > k.limit:
		return meta, fmt.Errorf("the answer is longer than %d bytes: %w", k.limit, errFinal)
	case resp.StatusCode < 200 || resp.StatusCode > 299 || !k.answeredBy(resp, body):
		return meta, problem(resp, body)
	}
	meta.Quotas = quotas(resp.Header)
	meta.Body, meta.proof = body, resp.Header.Get("Boon-Proof")
	if link, ok := strings.CutSuffix(resp.Header.Get("Link"), `>; rel="next"`); ok {
		meta.next = strings.TrimPrefix(link, "<")
	}
	return meta, nil
}

// tells is what a success tells beside its requestID, which every answer has.
var tells = map[Operation]string{OpRedeemGift: "redemptionID", OpReverseRedemption: "reversalID"}

// answeredBy reports whether a success is the service's answer to this call, and not one of a portal, a gateway, or a
// proxy that lost the rest.
func (k *call) answeredBy(resp *http.Response, body []byte) bool {
	kind := mediaType(resp)
	if k.file {
		return len(body) > 0 && (kind == "text/csv" || kind == "application/pdf")
	}
	if k.digest {
		sum := sha256.Sum256(body)
		return resp.Header.Get("Content-Digest") == "sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":"
	}
	var members map[string]json.RawMessage // of exactly these names, which a struct would not mind
	if kind == problemType || json.Unmarshal(body, &members) != nil {
		return false
	}
	for _, name := range []string{"requestID", cmp.Or(tells[k.op], "requestID")} {
		var id string
		if json.Unmarshal(members[name], &id) != nil || id == "" {
			return false
		}
	}
	return true
}

const problemType = "application/problem+json"

func mediaType(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind
}

// problem makes an Error of an answer that is no success of the service's, whoever wrote it.
func problem(resp *http.Response, body []byte) *Error {
	e := &Error{Status: resp.StatusCode, RequestID: resp.Header.Get("X-Request-ID"), RetryAfter: retryAfter(resp.Header)}
	var p struct {
		Code      Code      `json:"code"`
		Messages  []Message `json:"messages"`
		RequestID string    `json:"requestID"`
	}
	if resp.StatusCode >= 400 && mediaType(resp) == problemType && json.Unmarshal(body, &p) == nil && p.Code != "" {
		e.Code, e.Messages = p.Code, p.Messages
		if p.RequestID != "" {
			e.RequestID = p.RequestID
		}
		return e
	}
	text := "The answer is not one of Boon's; something between may have given it. Check the base address."
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		text = "The service answered with a redirect, which is not followed. Use the address it leads to as the base address."
	}
	e.Messages = []Message{{Text: text}}
	return e
}

// retryAfter reads the header in seconds or as a date (RFC 9110, section 10.2.3); 0: absent or nonsense.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(s) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(t))
	}
	return 0
}
