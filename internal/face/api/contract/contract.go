// Package contract holds every request and every answer of the API tests against the OpenAPI file, in both
// directions: an answer of success may only follow a request that the file allows, a request that the file forbids
// must be refused with a 4xx problem, and every answer must be documented to the last member, header, status and
// content type.
//
// kin-openapi reads the file and judges the file itself; http.ServeMux finds the operation of a request. Values are
// judged by the JSON Schema library beneath kin-openapi, asked directly, since openapi3filter compiles a schema anew
// for every value and, for schemas that hold references but no keyword of 2020-12 that it guards, falls back silently
// to its validator for OpenAPI 3.0. Beyond JSON Schema, answers must have no undocumented member, GUIDs in lower case
// and times in UTC with milliseconds.
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
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Checker checks calls against one OpenAPI file and remembers which answers were seen. It is safe for concurrent use.
type Checker struct {
	t testing.TB
	*file
}

// file is what all checkers of one file share.
type file struct {
	doc             *openapi3.T
	routes          []Route
	operations      map[string]*openapi3.Operation // by pattern
	mux             *http.ServeMux                 // finds the path that fits best, whatever the method
	asked, answered *judge
	older           *older // nil: there is none

	mu   sync.Mutex
	seen map[string]bool // "redeemGift 409" and "redeemGift 409 ALREADY_REDEEMED"
}

// Route is one operation as a router knows it.
type Route struct {
	Method      string
	Path        string // with parameters in braces, as http.ServeMux takes them
	OperationID string
}

func (r Route) pattern() string { return r.Method + " " + r.Path }

// New reads the file, which takes half a second: read it once and give every test a checker of its own by For. It
// ends the test when the file is not valid OpenAPI 3.1.
func New(t testing.TB, openAPI []byte) *Checker {
	t.Helper()
	f, err := load(openAPI)
	if err != nil {
		t.Fatalf("the OpenAPI file: %v", err)
	}
	return &Checker{t, f}
}

// WithOlder gives a checker that holds calls against the file in OpenAPI 3.0, too.
func (c *Checker) WithOlder(openAPI30 []byte) *Checker {
	c.t.Helper()
	older, err := newOlder(openAPI30)
	if err != nil {
		c.t.Fatalf("the file in OpenAPI 3.0: %v", err)
	}
	c.file.older = older
	return c
}

// Knows reports whether the file has an operation for a request.
func (c *Checker) Knows(r *http.Request) bool {
	op, _ := c.find(&call{request: r})
	return op != nil
}

// For gives a checker that reports to another test and shares what was read and what has been seen.
func (c *Checker) For(t testing.TB) *Checker { return &Checker{t, c.file} }

// Routes lists the operations of the file, ordered by path and method.
func Routes(openAPI []byte) ([]Route, error) {
	doc, err := read(openAPI)
	if err != nil {
		return nil, err
	}
	return routes(doc), nil
}

func routes(doc *openapi3.T) []Route {
	var routes []Route
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			routes = append(routes, Route{method, path, op.OperationID})
		}
	}
	slices.SortFunc(routes, func(a, b Route) int { return strings.Compare(a.Path+a.Method, b.Path+b.Method) })
	return routes
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
	for _, route := range c.routes {
		responses := c.operations[route.pattern()].Responses
		for _, status := range slices.Sorted(maps.Keys(responses.Map())) {
			answer := route.OperationID + " " + status
			note(answer)
			for _, code := range codes(responses.Value(status).Value) {
				note(answer + " " + code)
			}
		}
	}
	return missing
}

// codes lists the codes that a problem may have.
func codes(r *openapi3.Response) (codes []string) {
	for _, content := range r.Content {
		for _, part := range content.Schema.Value.AllOf {
			if code := part.Value.Properties["code"]; code != nil && code.Ref == "" {
				for _, c := range code.Value.Enum {
					codes = append(codes, fmt.Sprint(c))
				}
			}
		}
	}
	return codes
}

func read(openAPI []byte) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		return nil, err
	}
	// Examples are held against their schemas by Story.
	return doc, doc.Validate(context.Background(), openapi3.DisableExamplesValidation())
}

func load(openAPI []byte) (*file, error) {
	doc, err := read(openAPI)
	if err != nil {
		return nil, err
	}
	f := &file{doc: doc, routes: routes(doc), operations: map[string]*openapi3.Operation{}, mux: http.NewServeMux(),
		seen: map[string]bool{}}
	for _, route := range f.routes {
		f.operations[route.pattern()] = doc.Paths.Value(route.Path).GetOperation(route.Method)
	}
	for path := range doc.Paths.Map() {
		f.mux.HandleFunc(path, func(http.ResponseWriter, *http.Request) {})
	}
	for _, name := range elsewhere {
		if doc.Components.Responses[name] == nil {
			return nil, fmt.Errorf("components.responses has no %s", name)
		}
	}
	if f.asked, err = newJudge(openAPI, false); err != nil {
		return nil, err
	}
	f.answered, err = newJudge(openAPI, true)
	return f, err
}

// elsewhere names what paths and methods that are not in the file answer.
var elsewhere = map[int]string{http.StatusNotFound: "UnknownPath", http.StatusMethodNotAllowed: "WrongMethod"}
