// Package contract holds every request and every answer of the API tests against the OpenAPI file, in both
// directions: an answer of success may only follow a request that the file allows, a request that the file forbids
// must be refused with a 4xx problem, and every answer must be documented to the last member, header, status and
// content type.
//
// kin-openapi reads the file and judges the file itself. Values are judged by the JSON Schema library beneath it,
// asked directly: kin-openapi compiles a schema anew for every value and, for schemas that hold references but no
// keyword of 2020-12 that it guards, falls back silently to its validator for OpenAPI 3.0. Beyond JSON Schema,
// answers must have no undocumented member, GUIDs in lower case and times in UTC with milliseconds.
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
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Checker checks calls against one OpenAPI file and remembers which answers were seen. It is safe for concurrent use.
type Checker struct {
	t testing.TB
	*file
}

// file is what all checkers of one file share.
type file struct {
	operations []*operation
	elsewhere  map[int]*response // what paths and methods that are not in the file answer

	mu   sync.Mutex
	seen map[string]bool // "redeemGift 409" and "redeemGift 409 ALREADY_REDEEMED"
}

// operation is one operation of the file, ready to be checked against.
type operation struct {
	Route
	segments   []string
	parameters []parameter
	body       *jsonschema.Schema // nil: it takes none
	needsKey   bool
	responses  map[int]*response
}

type parameter struct {
	*openapi3.Parameter
	schema *jsonschema.Schema
}

type response struct {
	headers map[string]header // by canonical name
	bodies  map[string]*jsonschema.Schema
	codes   []string
}

type header struct {
	required bool
	integer  bool
	schema   *jsonschema.Schema
}

// Route is one operation as a router knows it.
type Route struct {
	Method      string
	Path        string // with parameters in braces, as http.ServeMux takes them
	OperationID string
}

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
	for _, op := range c.operations {
		for _, status := range slices.Sorted(maps.Keys(op.responses)) {
			answer := fmt.Sprintf("%s %d", op.OperationID, status)
			note(answer)
			for _, code := range op.responses[status].codes {
				note(answer + " " + code)
			}
		}
	}
	return missing
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
	l := loader{doc: doc}
	if l.asked, err = compiler(openAPI, false); err != nil {
		return nil, err
	}
	if l.answered, err = compiler(openAPI, true); err != nil {
		return nil, err
	}
	f := &file{elsewhere: map[int]*response{}, seen: map[string]bool{}}
	for _, r := range routes(doc) {
		f.operations = append(f.operations, l.operation(r))
	}
	for status, name := range map[int]string{http.StatusNotFound: "UnknownPath",
		http.StatusMethodNotAllowed: "WrongMethod"} {
		ref := doc.Components.Responses[name]
		if ref == nil {
			return nil, fmt.Errorf("components.responses has no %s", name)
		}
		f.elsewhere[status] = l.response(ref, "#/components/responses/"+name)
	}
	return f, l.err
}

// loader compiles the parts of a file. The first failure is kept.
type loader struct {
	doc             *openapi3.T
	asked, answered *jsonschema.Compiler
	err             error
}

// compile compiles the schema that a JSON pointer into the file leads to.
func (l *loader) compile(c *jsonschema.Compiler, pointer string) *jsonschema.Schema {
	schema, err := c.Compile(location + (&url.URL{Fragment: strings.TrimPrefix(pointer, "#")}).String())
	if err != nil && l.err == nil {
		l.err = fmt.Errorf("%s: %w", pointer, err)
	}
	return schema
}

func (l *loader) operation(r Route) *operation {
	item := l.doc.Paths.Find(r.Path)
	op := item.GetOperation(r.Method)
	at := "#/paths/" + escape(r.Path) + "/" + strings.ToLower(r.Method)
	o := &operation{Route: r, segments: strings.Split(r.Path, "/"), responses: map[int]*response{}}
	security := op.Security
	if security == nil {
		security = &l.doc.Security
	}
	o.needsKey = len(*security) > 0
	for i, ref := range op.Parameters {
		pointer := refOr(ref.Ref, at+"/parameters/"+strconv.Itoa(i))
		o.parameters = append(o.parameters, parameter{ref.Value, l.compile(l.asked, pointer+"/schema")})
	}
	if op.RequestBody != nil {
		o.body = l.compile(l.asked, refOr(op.RequestBody.Ref, at+"/requestBody")+"/content/application~1json/schema")
	}
	for text, ref := range op.Responses.Map() {
		status, err := strconv.Atoi(text)
		if err != nil && l.err == nil {
			l.err = fmt.Errorf("%s: a status must be a number, not %s", r.OperationID, text)
		}
		o.responses[status] = l.response(ref, at+"/responses/"+text)
	}
	return o
}

func (l *loader) response(ref *openapi3.ResponseRef, at string) *response {
	at = refOr(ref.Ref, at)
	r := &response{headers: map[string]header{}, bodies: map[string]*jsonschema.Schema{}}
	for name, h := range ref.Value.Headers {
		schema := l.compile(l.answered, refOr(h.Ref, at+"/headers/"+escape(name))+"/schema")
		r.headers[http.CanonicalHeaderKey(name)] = header{h.Value.Required, h.Value.Schema.Value.Type.Is("integer"), schema}
	}
	for media, content := range ref.Value.Content {
		r.bodies[media] = l.compile(l.answered, at+"/content/"+escape(media)+"/schema")
		for _, part := range content.Schema.Value.AllOf {
			if code := part.Value.Properties["code"]; code != nil && code.Ref == "" {
				for _, c := range code.Value.Enum {
					r.codes = append(r.codes, fmt.Sprint(c))
				}
			}
		}
	}
	return r
}

func refOr(ref, at string) string {
	if ref != "" {
		return ref
	}
	return at
}

// escape writes a name as a part of a JSON pointer (RFC 6901).
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

const location = "https://contract.test/openapi.json"

// compiler knows the whole file, so that references lead where they say. For answers it is stricter than the file.
func compiler(openAPI []byte, answers bool) (*jsonschema.Compiler, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(openAPI)))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if answers {
		for _, schema := range schemasOf(doc) {
			forbidMore(schema.node, schema.whole)
		}
		c.RegisterFormat(&jsonschema.Format{Name: "uuid", Validate: shaped(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)})
		c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: shaped(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)})
	}
	c.AssertFormat()
	return c, c.AddResource(location, doc)
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

// located is a schema in the file; whole tells that it judges a value by itself, not as a part of another schema.
type located struct {
	node  any
	whole bool
}

// schemasOf finds the outermost schemas of the file: the components, and those of bodies.
func schemasOf(node any) (found []located) {
	switch node := node.(type) {
	case []any:
		for _, element := range node {
			found = append(found, schemasOf(element)...)
		}
	case map[string]any:
		for name, value := range node {
			components, ok := value.(map[string]any)
			switch {
			case name == "schemas" && ok:
				for _, schema := range components {
					found = append(found, located{schema, false})
				}
			case name == "schema":
				found = append(found, located{value, true})
			case name != "example" && name != "examples":
				found = append(found, schemasOf(value)...)
			}
		}
	}
	return found
}

// forbidMore makes a schema refuse members that it does not name. The file itself allows them, since callers ignore
// what they do not know; this server has no business sending them.
func forbidMore(node any, whole bool) {
	schema, ok := node.(map[string]any)
	if !ok {
		return
	}
	if _, says := schema["additionalProperties"]; whole && !says {
		schema["unevaluatedProperties"] = false
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for _, p := range properties {
			forbidMore(p, true)
		}
	}
	forbidMore(schema["items"], true)
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		if parts, ok := schema[keyword].([]any); ok {
			for _, p := range parts {
				forbidMore(p, false)
			}
		}
	}
}

// decode reads JSON with its numbers as they are written.
func decode(body []byte) (any, error) {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	return v, bounded(v)
}

// bounded refuses numbers that would take for ever to reckon with.
func bounded(v any) error {
	switch v := v.(type) {
	case json.Number:
		if _, exponent, ok := strings.Cut(strings.ToLower(v.String()), "e"); ok {
			if n, err := strconv.Atoi(exponent); err != nil || n > 1000 || n < -1000 {
				return fmt.Errorf("the number %.40s is beyond all bounds", v)
			}
		}
	case []any:
		for _, element := range v {
			if err := bounded(element); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, member := range v {
			if err := bounded(member); err != nil {
				return err
			}
		}
	}
	return nil
}
