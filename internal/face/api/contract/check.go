package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing/iotest"

	"github.com/getkin/kin-openapi/openapi3"

	"boon.example/internal/base/normalize"
)

// Handler checks every call that goes through next.
func (c *Checker) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := take(&r.Body)
		kept := httptest.NewRecorder()
		next.ServeHTTP(tee{w, kept}, r)
		for _, err := range c.check(call{r, sent, kept.Code, w.Header(), kept.Body.Bytes()}) {
			c.t.Errorf("%s %s, answered %d: %v", r.Method, r.URL.Path, kept.Code, err)
		}
	})
}

// tee keeps what a handler answers.
type tee struct {
	http.ResponseWriter
	kept *httptest.ResponseRecorder
}

func (t tee) WriteHeader(status int) {
	t.kept.WriteHeader(status)
	t.ResponseWriter.WriteHeader(status)
}

func (t tee) Write(b []byte) (int, error) { return io.MultiWriter(t.kept, t.ResponseWriter).Write(b) }

func (t tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// take reads a body and puts it back. A body that breaks off breaks off again for whoever reads it next.
func take(body *io.ReadCloser) []byte {
	if *body == nil {
		return nil
	}
	b, err := io.ReadAll(*body)
	*body = io.NopCloser(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(cmp.Or(err, io.EOF))))
	return b
}

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
	op, known := f.find(&c)
	if op == nil {
		return f.checkElsewhere(c, known)
	}
	var errs []error
	refused := c.status >= 400 && c.status < 500 || c.status == http.StatusServiceUnavailable
	if !refused { // whatever the file says of a request, it may be refused
		if wrong := f.checkRequest(op, c); wrong != nil {
			errs = append(errs, fmt.Errorf("the file forbids this request, so it must be refused: %w", wrong))
		}
	}
	documented := op.Responses.Status(c.status)
	if documented == nil {
		return append(errs, errors.New("this status is not documented"))
	}
	f.note(op, c)
	errs = append(errs, f.checkAnswer(documented.Value, c)...)
	if f.older != nil {
		errs = append(errs, f.older.check(c.request.Pattern, c)...)
	}
	return errs
}

// checkElsewhere judges the answer to a request that is not in the file.
func (f *file) checkElsewhere(c call, knownPath bool) []error {
	must := http.StatusNotFound
	if knownPath {
		must = http.StatusMethodNotAllowed
	}
	// what a parameter of the path names need not exist, whatever the method
	nothing := knownPath && c.status == http.StatusNotFound
	switch {
	case c.status == http.StatusServiceUnavailable:
		return nil
	case c.status != must && !nothing:
		return []error{fmt.Errorf("the file does not know this request, so it must be answered %d", must)}
	}
	return f.checkAnswer(f.doc.Components.Responses[elsewhere[c.status]].Value, c)
}

// find gives the operation of a call, whose request then has the values of the path; known tells whether the path
// exists, maybe for another method. Of two paths that fit, such as /imports/check and /imports/{importID}, the one
// without parameters is meant, as OpenAPI has it, also where it lacks the method.
func (f *file) find(c *call) (op *openapi3.Operation, known bool) {
	c.request = c.request.Clone(c.request.Context())
	answer := httptest.NewRecorder()
	f.mux.ServeHTTP(answer, c.request)
	if answer.Code != http.StatusOK {
		return nil, false
	}
	method := c.request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	return f.operations[Route{Method: method, Path: c.request.Pattern}.pattern()], true
}

func (f *file) note(op *openapi3.Operation, c call) {
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
func (f *file) checkRequest(op *openapi3.Operation, c call) error {
	security := op.Security
	if security == nil {
		security = &f.doc.Security
	}
	if len(*security) > 0 && c.request.Header.Get("Authorization") == "" {
		return errors.New("it shows no key")
	}
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return err
	}
	for _, ref := range op.Parameters {
		p := ref.Value
		var given []string
		switch {
		case p.Name == "X-Request-ID":
			continue // an unusable one is replaced
		case p.In == openapi3.ParameterInPath:
			given = []string{c.request.PathValue(p.Name)}
		case p.In == openapi3.ParameterInHeader:
			given = c.request.Header.Values(p.Name)
		case len(query[p.Name]) != 1 || query.Get(p.Name) != "": // an empty one is absent
			given = query[p.Name]
		}
		if err := f.asked.one(p, given); err != nil {
			return fmt.Errorf("the parameter %s: %w", p.Name, err)
		}
	}
	if bodyOf(op) == nil {
		return nil
	}
	return f.checkSent(op, c)
}

// bodyOf is the schema of the body in JSON that an operation takes; nil: it takes none, or a file.
func bodyOf(op *openapi3.Operation) *openapi3.SchemaRef {
	if op.RequestBody == nil || op.RequestBody.Value.Content["application/json"] == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"].Schema
}

func (f *file) checkSent(op *openapi3.Operation, c call) error {
	longest := 1 << 20
	if op.OperationID == "sendGift" {
		longest = 2 << 20
	}
	if media := c.request.Header.Get("Content-Type"); !isJSON(media) {
		return fmt.Errorf("content type %q", media)
	}
	if len(c.sent) > longest {
		return errors.New("the body is too large")
	}
	v, err := decode([]byte(normalize.String(string(c.sent)))) // texts are measured after composition
	if err != nil {
		return err
	}
	return f.asked.judge(bodyOf(op), present(v))
}

// present leaves out the members that are an empty text, which is as good as absent; as an amount, or as upTo, it is
// not.
func present(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if member == "" && name != "amount" && name != "upTo" {
				delete(v, name)
			} else {
				v[name] = present(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = present(v[i])
		}
	}
	return v
}

func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"))
}

// usual are headers that any answer may carry; they belong to HTTP rather than to this interface.
var usual = []string{
	"Content-Type", "Content-Length", "Date", "Cache-Control", "Connection", "Vary", "Etag", "Last-Modified",
	"Accept-Ranges",
	"X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy", "Strict-Transport-Security",
}

// checkAnswer says what is wrong with an answer.
func (f *file) checkAnswer(r *openapi3.Response, c call) []error {
	var errs []error
	documented := slices.Clone(usual)
	for name, h := range r.Headers {
		documented = append(documented, http.CanonicalHeaderKey(name))
		if err := f.answered.one(&h.Value.Parameter, c.header.Values(name)); err != nil {
			errs = append(errs, fmt.Errorf("the header %s: %w", name, err))
		}
	}
	for name := range c.header {
		if !slices.Contains(documented, name) {
			errs = append(errs, fmt.Errorf("the header %s is not documented", name))
		}
	}
	for _, err := range []error{f.checkBody(r, c), checkRequestID(c)} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (f *file) checkBody(r *openapi3.Response, c call) error {
	media, _, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	content := r.Content[media]
	if err != nil || content == nil {
		return fmt.Errorf("the content type %q is not documented", c.header.Get("Content-Type"))
	}
	if c.request.Method == http.MethodHead {
		return nil
	}
	v := any(string(c.body))
	if isJSON(media) {
		if v, err = decode(c.body); err != nil {
			return fmt.Errorf("the body: %w", err)
		}
	}
	if err := f.answered.judge(content.Schema, v); err != nil {
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
	asked := call{request: r, sent: sent}
	op, _ := c.find(&asked)
	if op == nil {
		return errors.New("the file does not know this request")
	}
	return c.checkRequest(op, asked)
}
