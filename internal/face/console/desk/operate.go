package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// Operate has the JSON interface carry out an operation as a call of the member: path is that below the interface,
// body is written as JSON, nil for a GET, and key is the Idempotency-Key, "" for none. What it answers is read into the
// value that answer points to; nil: into none; an Answered is given it as it came. A refusal is given back as it would
// have been told. Where it is open whether the operation was done, the page gives the error back as it is: the member
// is asked to send the very same form again.
func (r *Request) Operate(method, path, key string, body, answer any) error {
	r.Leave() // the call takes a place of its own
	from := r.HTTP.Clone(service.WithCaller(r.Context(), func(time.Time) (*merchant.Caller, error) {
		return r.Member.Caller(r.Account), nil
	}))
	from.Header = http.Header{"X-Request-Id": {r.RequestID},
		"Accept-Language": {string(r.Locale.Language())},      // in which the member reads what the interface says in words
		forwardedFor:      r.HTTP.Header.Values(forwardedFor)} // else the proxy would be who asks
	return Operate(r.desk.Operations, from, method, path, key, body, answer)
}

// Upload has the JSON interface take a CSV file as a call of the member: see Operate. The file is read as it comes, and
// may take its time. Who has lost the right to bring it in meanwhile is refused.
func (r *Request) Upload(path string, file io.Reader, answer any) error {
	r.Leave() // the call takes a place of its own
	r.MoreTimeToRead()
	from := r.HTTP.Clone(service.WithCaller(r.HTTP.Context(), r.nowSignedIn))
	from.Header = http.Header{"X-Request-Id": {r.RequestID}, "Content-Type": {"text/csv"},
		"Accept-Language": {string(r.Locale.Language())},
		forwardedFor:      r.HTTP.Header.Values(forwardedFor)}
	to, err := url.Parse(path)
	if err != nil {
		return fmt.Errorf("sending a file to %s: %w", path, err)
	}
	from.Method, from.URL, from.Body = http.MethodPost, to, io.NopCloser(file)
	from.ContentLength, from.Form, from.PostForm = -1, nil, nil
	return answered(r.desk.Operations, from, answer)
}

// Operate is Request.Operate for what is done without a page: from says who calls, by service.WithCaller, and from
// where.
func Operate(operations http.Handler, from *http.Request, method, path, key string, body, answer any) error {
	var sent []byte
	var err error
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			return fmt.Errorf("writing a call of the console: %w", err)
		}
	}
	to, err := url.Parse(path)
	if err != nil {
		return fmt.Errorf("calling %s %s: %w", method, path, err)
	}
	from.Method, from.URL, from.Body = method, to, http.MaxBytesReader(nil, readCloser{bytes.NewReader(sent)}, maxSent)
	from.ContentLength, from.Form, from.PostForm = int64(len(sent)), nil, nil
	from.Header.Set("Content-Type", "application/json")
	if key != "" {
		from.Header.Set("Idempotency-Key", key)
	}
	return answered(operations, from, answer)
}

// answered has a call be carried out, and reads its answer.
func answered(operations http.Handler, from *http.Request, answer any) error {
	var w Answered
	operations.ServeHTTP(&w, from)
	if w.Status() >= http.StatusBadRequest {
		return w.refused()
	}
	if as, whole := answer.(*Answered); whole {
		*as = w
		return nil
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(w.Body.Bytes(), answer); err != nil {
		return fmt.Errorf("reading the answer to %s %s: %w", from.Method, from.URL.Path, err)
	}
	return nil
}

// forwardedFor is where a proxy names whom it asks for.
const forwardedFor = "X-Forwarded-For"

// maxSent is how long a call of the console may be: as long as one of the interface.
const maxSent = 16 << 20

type readCloser struct{ *bytes.Reader }

// Close implements io.Closer.
func (readCloser) Close() error { return nil }

// Answered is an answer of the interface.
type Answered struct{ service.Kept }

// undecided is a refusal that leaves open whether the operation was done. It is none for a page, so that no page shows
// its form anew: under another key the operation could be done twice. See again.
type undecided struct{ told *refusal.Error }

// Error implements error.
func (u undecided) Error() string { return u.told.Error() }

// Undecided is what was told where it is open whether an operation was done; nil: it is not.
func Undecided(err error) *refusal.Error {
	open, _ := errors.AsType[undecided](err)
	return open.told
}

// refused is what a problem document says.
func (w *Answered) refused() error {
	var problem struct {
		Code     refusal.Code
		Messages []struct{ Path, Text string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil {
		return fmt.Errorf("reading a refusal: %w", err)
	}
	refused := &refusal.Error{Code: problem.Code}
	for _, m := range problem.Messages {
		refused.Messages = append(refused.Messages, refusal.MessageAt(m.Path, "%s", m.Text))
	}
	if refused.Code.Undecided() {
		return undecided{refused}
	}
	return refused
}

// download is the answer as a file for the browser.
func (w *Answered) download(h http.Header) service.Reply {
	for _, name := range []string{"Content-Disposition", "Content-Digest", "Boon-Proof"} {
		if value := w.Header().Get(name); value != "" {
			h.Set(name, value)
		}
	}
	return service.Reply{Status: http.StatusOK, Type: w.Header().Get("Content-Type"), Body: w.Body.Bytes()}
}
