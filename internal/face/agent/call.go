package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// turnKey is where a message has what the calls of its tools need.
type turnKey struct{}

// turn is one message of an agent.
type turn struct {
	call    *service.Call
	from    *http.Request         // says who calls and from where, for the calls that follow from the message
	failure atomic.Pointer[error] // what went wrong on our side; nil: nothing
}

// turnOf is the message that a call brings. What the calls of its tools do stands under the agent's name in histories.
// They are made without the right to see codes: nobody else is told these.
func (f *face) turnOf(c *service.Call) *turn {
	whoever := c.As("agent " + c.Caller.Name)
	from := c.HTTP.Clone(service.WithCaller(c.HTTP.Context(), func(now time.Time) (*merchant.Caller, error) {
		caller, err := whoever(now)
		if err == nil {
			caller.Permissions &^= merchant.MaySeeCodes
		}
		return caller, err
	}))
	from.Header = http.Header{"X-Request-Id": {c.RequestID}, "Content-Type": {"application/json"}}
	for _, name := range []string{"X-Forwarded-For", "Accept-Language"} {
		from.Header[name] = c.HTTP.Header.Values(name)
	}
	return &turn{call: c, from: from}
}

// turnIn is the message that a tool is called by.
func turnIn(ctx context.Context) *turn { return ctx.Value(turnKey{}).(*turn) }

// operate has the JSON interface carry out an operation: path is that below the interface, key the Idempotency-Key, ""
// for none.
func (f *face) operate(ctx context.Context, method, path, key string, sent []byte) (*service.Kept, error) {
	t := turnIn(ctx)
	to, err := url.Parse(path)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", path, err)
	}
	r := t.from.Clone(t.from.Context())
	r.Method, r.URL, r.Body, r.ContentLength = method, to, body(sent), int64(len(sent))
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	var answer service.Kept
	f.Operations.ServeHTTP(&answer, r)
	return &answer, nil
}

// refused tells an agent why nothing was done, as the interface would: of a failure of ours no reason, which is for the
// log.
func refused(ctx context.Context, err error) *mcp.CallToolResult {
	t, why := turnIn(ctx), service.Told(err)
	if why.Code == refusal.UnexpectedError {
		t.failure.Store(&err)
	}
	value, _ := decode(t.call.Problem(why, why.Code.Status())) // it was written from values
	return told(cut(value, problemSchema), true)
}

// body is that of a request which lies in memory.
func body(text []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(text)) }
