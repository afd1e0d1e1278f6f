package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// judge holds values against schemas of the file, each of which it compiles once.
type judge struct {
	answers bool // of answers it asks more than the file

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[*openapi3.SchemaRef]*jsonschema.Schema
}

const location = "https://contract.test/openapi.json"

func newJudge(openAPI []byte, answers bool) (*judge, error) {
	whole, err := decode(openAPI)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if answers {
		for _, schema := range (node{whole, whole}).in("components", "schemas").members() {
			forbidMore(schema.value, false)
		}
		c.RegisterFormat(&jsonschema.Format{Name: "uuid", Validate: shaped(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)})
		c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: shaped(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`)})
	}
	return &judge{answers: answers, compiler: c, compiled: map[*openapi3.SchemaRef]*jsonschema.Schema{}},
		c.AddResource(location, whole)
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

func (j *judge) judge(ref *openapi3.SchemaRef, v any) error {
	schema, err := j.schema(ref)
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func (j *judge) schema(ref *openapi3.SchemaRef) (*jsonschema.Schema, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if schema := j.compiled[ref]; schema != nil {
		return schema, nil
	}
	text, err := json.Marshal(ref)
	if err != nil {
		return nil, err
	}
	schema, err := decode(bytes.ReplaceAll(text, []byte(`"$ref":"#`), []byte(`"$ref":"`+location+"#")))
	if err != nil {
		return nil, err
	}
	if j.answers {
		forbidMore(schema, true)
	}
	at := fmt.Sprintf("%s?%d", location, len(j.compiled))
	if err := j.compiler.AddResource(at, schema); err != nil {
		return nil, err
	}
	j.compiled[ref], err = j.compiler.Compile(at)
	return j.compiled[ref], err
}

// one judges the values given for a parameter or header, which may be one at most.
func (j *judge) one(p *openapi3.Parameter, given []string) error {
	switch {
	case len(given) > 1:
		return errors.New("given more than once")
	case len(given) == 0 && p.Required:
		return errors.New("missing")
	case len(given) == 0:
		return nil
	}
	if p.Schema.Value.Type.Is("integer") {
		if v, err := decode([]byte(given[0])); err == nil {
			return j.judge(p.Schema, v)
		}
	}
	return j.judge(p.Schema, given[0])
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

var endless = regexp.MustCompile(`[eE][+-]?0*[1-9][0-9]{3,}$`)

// decode reads one JSON value in UTF-8 whose objects name nothing twice. Its numbers stay as they are written; those
// that would take for ever to reckon with are refused.
func decode(body []byte) (any, error) {
	for d := jsontext.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.ReadToken()
		switch {
		case err == io.EOF:
			return jsonschema.UnmarshalJSON(bytes.NewReader(body))
		case err != nil:
			return nil, err
		case token.Kind() == '0' && endless.MatchString(token.String()):
			return nil, fmt.Errorf("the number %.40s is beyond all bounds", token)
		}
	}
}
