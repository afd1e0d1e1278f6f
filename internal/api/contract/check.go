package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/nfc"
)

// Handler checks every call that goes through next.
func (c *Checker) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := c.take(&r.Body)
		kept := &recorder{ResponseWriter: w}
		next.ServeHTTP(kept, r)
		if kept.status == 0 {
			kept.status = http.StatusOK
		}
		for _, err := range c.check(call{r, sent, kept.status, w.Header(), kept.body.Bytes()}) {
			c.t.Errorf("%s %s, answered %d: %v", r.Method, r.URL.Path, kept.status, err)
		}
	})
}

// recorder keeps what a handler answers.
type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// take reads a body and puts it back. A body that breaks off breaks off again for whoever reads it next.
func (c *Checker) take(body *io.ReadCloser) []byte {
	if *body == nil {
		return nil
	}
	b, err := io.ReadAll(*body)
	again := io.Reader(bytes.NewReader(b))
	if err != nil {
		again = io.MultiReader(again, failing{err})
	}
	*body = struct {
		io.Reader
		io.Closer
	}{again, *body}
	return b
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }

// call is one request with its answer.
type call struct {
	request *http.Request
	sent    []byte
	status  int
	header  http.Header
	body    []byte
}

// check judges a call by the file.
func (f *file) check(c call) []error {
	op, values, known := f.find(c.request)
	if op == nil {
		return f.checkElsewhere(c, known)
	}
	wrong := op.checkRequest(c, values)
	var errs []error
	refused := c.status >= 400 && c.status < 500 || c.status == http.StatusServiceUnavailable
	if wrong != nil && !refused {
		errs = append(errs, fmt.Errorf("the file forbids this request, so it must be refused: %w", wrong))
	}
	documented := op.responses[c.status]
	if documented == nil {
		return append(errs, errors.New("this status is not documented"))
	}
	f.note(op, c)
	return append(errs, documented.check(c)...)
}

// checkElsewhere judges the answer to a request that is not in the file.
func (f *file) checkElsewhere(c call, knownPath bool) []error {
	must := http.StatusNotFound
	if knownPath {
		must = http.StatusMethodNotAllowed
	}
	// what a parameter of the path names need not exist, whatever the method
	nothing := knownPath && c.status == http.StatusNotFound
	if c.status != must && c.status != http.StatusServiceUnavailable && !nothing {
		return []error{fmt.Errorf("the file does not know this request, so it must be answered %d", must)}
	}
	if r := f.elsewhere[c.status]; r != nil {
		return r.check(c)
	}
	return nil
}

// find gives the operation of a request and its path parameters; known tells whether the path exists for another
// method.
func (f *file) find(r *http.Request) (best *operation, values map[string]string, known bool) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path := strings.Split(r.URL.EscapedPath(), "/")
	for _, op := range f.operations {
		found, ok := match(op.segments, path)
		if !ok {
			continue
		}
		known = true
		if op.Method == method && (best == nil || len(found) < len(values)) { // the more literal path wins
			best, values = op, found
		}
	}
	return best, values, known
}

func match(template, path []string) (map[string]string, bool) {
	if len(template) != len(path) {
		return nil, false
	}
	values := map[string]string{}
	for i, t := range template {
		text, err := url.PathUnescape(path[i])
		name, isParameter := strings.CutPrefix(t, "{")
		switch {
		case err != nil, isParameter && text == "", !isParameter && text != t:
			return nil, false
		case isParameter:
			values[strings.TrimSuffix(name, "}")] = text
		}
	}
	return values, true
}

func (f *file) note(op *operation, c call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer := fmt.Sprintf("%s %d", op.OperationID, c.status)
	f.seen[answer] = true
	var problem struct{ Code string }
	if json.Unmarshal(c.body, &problem) == nil && problem.Code != "" {
		f.seen[answer+" "+problem.Code] = true
	}
}

// checkRequest says what the file finds wrong with a request; nil: nothing.
func (o *operation) checkRequest(c call, path map[string]string) error {
	if o.needsKey && c.request.Header.Get("Authorization") == "" {
		return errors.New("it shows no key")
	}
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return err
	}
	for _, p := range o.parameters {
		given := map[string][]string{"query": query[p.Name], "header": c.request.Header.Values(p.Name)}[p.In]
		if text, ok := path[p.Name]; ok && p.In == "path" {
			given = []string{text}
		}
		if p.Name == "X-Request-ID" {
			continue // an unusable one is replaced
		}
		if p.In == "query" && len(given) == 1 && given[0] == "" {
			given = nil // an empty one is absent
		}
		if err := p.check(given); err != nil {
			return fmt.Errorf("the parameter %s: %w", p.Name, err)
		}
	}
	if o.body == nil {
		return nil
	}
	return o.checkBody(c)
}

func (p parameter) check(given []string) error {
	switch {
	case len(given) > 1:
		return errors.New("given more than once")
	case len(given) == 1:
		return p.schema.Validate(scalar(given[0], p.Schema.Value.Type.Is("integer")))
	case p.Required:
		return errors.New("missing")
	}
	return nil
}

// scalar reads the text of a header or parameter.
func scalar(text string, integer bool) any {
	if integer {
		if v, err := decode([]byte(text)); err == nil {
			return v
		}
	}
	return text
}

// maxBody is the length of the longest body that an operation takes.
func (o *operation) maxBody() int {
	if o.OperationID == "sendGift" {
		return 2 << 20
	}
	return 1 << 20
}

func (o *operation) checkBody(c call) error {
	if media := c.request.Header.Get("Content-Type"); !isJSON(media) {
		return fmt.Errorf("content type %q", media)
	}
	if len(c.sent) > o.maxBody() {
		return errors.New("the body is too large")
	}
	v, err := strict([]byte(nfc.String(string(c.sent)))) // texts are measured after composition
	if err != nil {
		return err
	}
	return o.body.Validate(v)
}

func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"))
}

// strict reads one JSON value in UTF-8 whose objects name nothing twice.
func strict(body []byte) (any, error) {
	if v := jsontext.Value(body); !v.IsValid() {
		return nil, errors.New("not one JSON value in UTF-8 without duplicate members")
	}
	return decode(body)
}

// usual are headers that any answer may carry; they belong to HTTP rather than to this interface.
var usual = []string{
	"Content-Type", "Content-Length", "Date", "Cache-Control", "Connection", "Vary", "Etag", "Last-Modified",
	"Accept-Ranges",
	"X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Strict-Transport-Security",
}

// check judges an answer.
func (r *response) check(c call) []error {
	var errs []error
	note := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for name, values := range c.header {
		h, documented := r.headers[name]
		switch {
		case !documented && !slices.Contains(usual, name):
			note("the header %s is not documented", name)
		case documented && len(values) != 1:
			note("the header %s is given %d times", name, len(values))
		case documented:
			if err := h.schema.Validate(scalar(values[0], h.integer)); err != nil {
				note("the header %s: %w", name, err)
			}
		}
	}
	for name, h := range r.headers {
		if _, given := c.header[name]; h.required && !given {
			note("the header %s is missing", name)
		}
	}
	if err := r.checkBody(c); err != nil {
		note("%w", err)
	}
	if err := checkRequestID(c); err != nil {
		note("%w", err)
	}
	return errs
}

func (r *response) checkBody(c call) error {
	media, _, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	schema, documented := r.bodies[media]
	switch {
	case err != nil || !documented:
		return fmt.Errorf("the content type %q is not documented", c.header.Get("Content-Type"))
	case c.request.Method == http.MethodHead:
		return nil
	case !isJSON(media):
		return schema.Validate(string(c.body))
	}
	v, err := strict(c.body)
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

// checkRequestID holds the names of a call together: the caller's own comes back, and the body has the header's,
// unless the body was given to an earlier call.
func checkRequestID(c call) error {
	got := c.header.Get("X-Request-ID")
	if asked := c.request.Header.Values("X-Request-ID"); len(asked) == 1 && usable(asked[0]) && got != asked[0] {
		return fmt.Errorf("X-Request-ID is %q, the request's was %q", got, asked[0])
	}
	var body struct {
		RequestID *string `json:"requestID"`
	}
	if c.header.Get("Idempotent-Replayed") != "" || !isJSON(c.header.Get("Content-Type")) ||
		json.Unmarshal(c.body, &body) != nil {
		return nil
	}
	if body.RequestID != nil && *body.RequestID != got {
		return fmt.Errorf("requestID is %q, X-Request-ID %q", *body.RequestID, got)
	}
	return nil
}

func usable(id string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
	return id != "" && len(id) <= 64 && strings.Trim(id, letters) == ""
}

// Forbids says what the file finds wrong with a request; nil: nothing.
func (c *Checker) Forbids(r *http.Request, sent []byte) error {
	op, values, _ := c.find(r)
	if op == nil {
		return errors.New("the file does not know this request")
	}
	return op.checkRequest(call{request: r, sent: sent}, values)
}
