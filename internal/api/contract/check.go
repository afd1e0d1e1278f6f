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
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pb33f/libopenapi-validator/config"
	liberrors "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/paths"
	"github.com/pb33f/libopenapi-validator/responses"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"

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
	f.mu.Lock() // the file is read on as it is asked
	defer f.mu.Unlock()
	op, known := f.find(c.request)
	if op == nil {
		return f.checkElsewhere(c, known)
	}
	var errs []error
	refused := c.status >= 400 && c.status < 500 || c.status == http.StatusServiceUnavailable
	if wrong := f.checkRequest(op, c); wrong != nil && !refused {
		errs = append(errs, fmt.Errorf("the file forbids this request, so it must be refused: %w", wrong))
	}
	documented := op.Responses.Codes.GetOrZero(strconv.Itoa(c.status))
	if documented == nil {
		return append(errs, errors.New("this status is not documented"))
	}
	f.note(op, c)
	return append(errs, f.checkAnswer(documented, c)...)
}

// elsewhere names the answers to what is not in the file.
var elsewhere = map[int]string{http.StatusNotFound: "UnknownPath", http.StatusMethodNotAllowed: "WrongMethod"}

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
	if r := f.doc.Components.Responses.GetOrZero(elsewhere[c.status]); r != nil {
		return f.checkAnswer(r, c)
	}
	return nil
}

// find gives the operation of a request; known tells whether the path exists for another method.
func (f *file) find(r *http.Request) (_ *operation, known bool) {
	_, _, path := paths.FindPath(r, f.doc, f.answered)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, op := range f.operations {
		if op.Path == path {
			if known = true; op.Method == method {
				return op, true
			}
		}
	}
	return nil, known
}

func (f *file) note(op *operation, c call) {
	answer := fmt.Sprintf("%s %d", op.OperationID, c.status)
	f.seen[answer] = true
	var problem struct{ Code string }
	if json.Unmarshal(c.body, &problem) == nil && problem.Code != "" {
		f.seen[answer+" "+problem.Code] = true
	}
}

// checkRequest says what the file finds wrong with a request; nil: nothing.
func (f *file) checkRequest(op *operation, c call) error {
	query, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return err
	}
	r := c.request.Clone(c.request.Context())
	r.Header.Del("X-Request-ID") // an unusable one is replaced
	for _, p := range op.Parameters {
		given := map[string][]string{"query": query[p.Name], "header": r.Header.Values(p.Name)}[p.In]
		if len(given) > 1 {
			return fmt.Errorf("the parameter %s is given more than once", p.Name)
		}
		if p.In == "query" && len(given) == 1 && given[0] == "" {
			query.Del(p.Name) // an empty one is absent
		}
	}
	r.URL.RawQuery = query.Encode()
	if r.Method == http.MethodHead {
		r.Method = http.MethodGet
	}
	r.Body, r.ContentLength = http.NoBody, 0
	if op.RequestBody != nil {
		body, err := checkBody(op, c)
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	}
	_, wrong := f.asked.ValidateHttpRequestSync(r)
	return joined(wrong)
}

func joined(wrong []*liberrors.ValidationError) error {
	var errs []error
	for _, w := range wrong {
		errs = append(errs, w)
		for _, s := range w.SchemaValidationErrors {
			errs = append(errs, s)
		}
	}
	return errors.Join(errs...)
}

// maxBody is the length of the longest body that an operation takes.
func (o *operation) maxBody() int {
	if o.OperationID == "sendGift" {
		return 2 << 20
	}
	return 1 << 20
}

// checkBody says what is wrong with how a body is sent, and gives it as its texts are measured: after composition.
func checkBody(op *operation, c call) (string, error) {
	switch media := c.request.Header.Get("Content-Type"); {
	case !isJSON(media):
		return "", fmt.Errorf("content type %q", media)
	case len(c.sent) > op.maxBody():
		return "", errors.New("the body is too large")
	case !jsontext.Value(c.sent).IsValid():
		return "", errNotJSON
	}
	return nfc.String(string(c.sent)), nil
}

var errNotJSON = errors.New("not one JSON value in UTF-8 without duplicate members")

func isJSON(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"))
}

// checkAnswer judges an answer.
func (f *file) checkAnswer(documented *v3.Response, c call) (errs []error) {
	for name := range documented.Headers.FromOldest() {
		if values := c.header.Values(name); len(values) > 1 {
			errs = append(errs, fmt.Errorf("the header %s is given %d times", name, len(values)))
		}
	}
	answer := &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(bytes.NewReader(c.body))}
	status := strconv.Itoa(c.status)
	_, wrong := responses.ValidateResponseHeaders(c.request, answer, documented.Headers, c.request.URL.Path, status,
		config.WithExistingOpts(f.answered))
	for _, err := range []error{joined(wrong), f.checkContent(documented, c, answer), checkRequestID(c)} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// checkContent judges the body of an answer, and what it says to be.
func (f *file) checkContent(documented *v3.Response, c call, answer *http.Response) error {
	media, _, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	content := documented.Content.GetOrZero(media)
	switch {
	case err != nil || content == nil:
		return fmt.Errorf("the content type %q is not documented", c.header.Get("Content-Type"))
	case c.request.Method == http.MethodHead || !isJSON(media):
		return nil
	case !jsontext.Value(c.body).IsValid():
		return fmt.Errorf("the body: %w", errNotJSON)
	}
	options := config.NewValidationOptions(config.WithExistingOpts(f.answered))
	if schema := content.Schema.Schema(); schema.AdditionalProperties != nil {
		options.StrictMode = false // the file leaves it open
	}
	_, wrong := responses.ValidateResponseSchema(&responses.ValidateResponseSchemaInput{
		Request: c.request, Response: answer, Schema: content.Schema.Schema(), Version: 3.1,
		Options: []config.Option{config.WithExistingOpts(options)},
	})
	return joined(wrong)
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
	c.mu.Lock()
	defer c.mu.Unlock()
	op, _ := c.find(r)
	if op == nil {
		return errors.New("the file does not know this request")
	}
	return c.checkRequest(op, call{request: r, sent: sent})
}
