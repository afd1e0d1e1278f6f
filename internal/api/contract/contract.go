// Package contract holds every request and every answer of the API tests against the OpenAPI file, in both
// directions: an answer of success may only follow a request that the file allows, a request that the file forbids
// must be refused with a 4xx problem, and every answer must be documented to the last member, header, status and
// content type.
//
// libopenapi-validator judges, in its strict mode for answers, which have no undocumented member or header. What it
// cannot do is done here: GUIDs in lower case and times in UTC with milliseconds; JSON that names nothing twice;
// parameters and headers that are given once, of which empty ones are absent; the length of bodies; texts measured
// after composition; what is not in the file, which is 404 or 405; the names of calls.
//
// The file cannot say everything. A request that it allows may still be refused: that its ids belong to the account,
// that an amount has no more decimals than the currency, that a time is not past, that a code has no fraction
// (123456789012.0 is an integer to JSON Schema) are the server's to judge. The other way round there are two
// exceptions: 503 may come before a request is looked at, and the content types text/json, any …+json and none at all
// are as good as application/json.
//
// The package is for tests. It knows nothing of how the service works.
package contract

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// Checker checks calls against one OpenAPI file and remembers which answers were seen. It is safe for concurrent use.
type Checker struct {
	t testing.TB
	*file
}

// file is what all checkers of one file share.
type file struct {
	asked      validator.Validator       // of requests
	answered   *config.ValidationOptions // of answers: nothing undocumented, and values in one form
	doc        *v3.Document
	operations []*operation

	mu   sync.Mutex
	seen map[string]bool // "redeemGift 409" and "redeemGift 409 ALREADY_REDEEMED"
}

// operation is one operation of the file.
type operation struct {
	Route
	*v3.Operation
}

// Route is one operation as a router knows it.
type Route struct {
	Method      string
	Path        string // with parameters in braces, as http.ServeMux takes them
	OperationID string
}

// New reads the file, which takes a moment: read it once and give every test a checker of its own by For. It
// ends the test when the file is not valid OpenAPI 3.1.
func New(t testing.TB, openAPI []byte) *Checker {
	t.Helper()
	f, err := load(openAPI)
	if err != nil {
		t.Fatalf("the OpenAPI file: %v", err)
	}
	return &Checker{t, f}
}

// For gives a checker that reports to another test and shares what was read and what has been seen.
func (c *Checker) For(t testing.TB) *Checker { return &Checker{t, c.file} }

// Routes lists the operations of the file, ordered by path and method.
func Routes(openAPI []byte) ([]Route, error) {
	_, doc, err := read(openAPI)
	if err != nil {
		return nil, err
	}
	var routes []Route
	for _, op := range operations(doc) {
		routes = append(routes, op.Route)
	}
	return routes, nil
}

func operations(doc *v3.Document) (all []*operation) {
	for path, item := range doc.Paths.PathItems.FromOldest() {
		for method, op := range item.GetOperations().FromOldest() {
			all = append(all, &operation{Route{strings.ToUpper(method), path, op.OperationId}, op})
		}
	}
	slices.SortFunc(all, func(a, b *operation) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return all
}

// Missing lists the documented answers that have not been seen, as "operation status" and for each code of a problem
// "operation status CODE".
func (c *Checker) Missing() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var missing []string
	note := func(answer string) {
		if !c.seen[answer] {
			missing = append(missing, answer)
		}
	}
	for _, op := range c.operations {
		for status, response := range op.Responses.Codes.FromOldest() {
			note(op.OperationID + " " + status)
			for _, code := range codes(response) {
				note(op.OperationID + " " + status + " " + code)
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// codes lists those that a problem may have.
func codes(r *v3.Response) (all []string) {
	for _, content := range r.Content.FromOldest() {
		for _, part := range content.Schema.Schema().AllOf {
			if part.Schema().Properties == nil {
				continue
			}
			if code := part.Schema().Properties.GetOrZero("code"); code != nil && !code.IsReference() {
				for _, value := range code.Schema().Enum {
					all = append(all, value.Value)
				}
			}
		}
	}
	return all
}

func read(openAPI []byte) (libopenapi.Document, *v3.Document, error) {
	document, err := libopenapi.NewDocument(openAPI)
	if err != nil {
		return nil, nil, err
	}
	model, err := document.BuildV3Model()
	if err != nil {
		return nil, nil, err
	}
	return document, &model.Model, nil
}

func load(openAPI []byte) (*file, error) {
	document, doc, err := read(openAPI)
	if err != nil {
		return nil, err
	}
	asked, errs := validator.NewValidator(document, config.WithFormatAssertions())
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	if ok, wrong := asked.ValidateDocument(); !ok {
		return nil, joined(wrong)
	}
	answered := config.NewValidationOptions(config.WithFormatAssertions(),
		config.WithStrictMode(), config.WithStrictIgnoredHeaders(usual...),
		config.WithStrictIgnorePaths("$.body.requests[*].answer.*"), // that of another operation, which the file leaves open
		config.WithCustomFormat("uuid", shaped(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)),
		config.WithCustomFormat("date-time", shaped(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)))
	return &file{asked, answered, doc, operations(doc), sync.Mutex{}, map[string]bool{}}, nil
}

// usual are headers that any answer may carry; they belong to HTTP rather than to this interface.
var usual = []string{
	"content-type", "content-length", "date", "cache-control", "connection", "vary", "etag", "last-modified",
	"accept-ranges", "x-content-type-options", "content-security-policy", "referrer-policy", "strict-transport-security",
}

func shaped(pattern string) func(any) error {
	re := regexp.MustCompile(pattern)
	return func(v any) error {
		if s, ok := v.(string); ok && !re.MatchString(s) {
			return fmt.Errorf("must match %s", re)
		}
		return nil
	}
}
