package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	"boon.example/internal/base/normalize"
)

// older is the file in OpenAPI 3.0, which a judge of its own holds calls against: kin-openapi knows nullable and the
// other words of 3.0. What 3.0 cannot say of a request is made what it can say first: a member that is null or an empty
// text is absent, and a voucher code in digits is one in text.
type older struct {
	doc *openapi3.T
}

func newOlder(openAPI30 []byte) (*older, error) {
	doc, err := openapi3.NewLoader().LoadFromData(openAPI30)
	return &older{doc}, err
}

// check says what is wrong with a call that r, a route of the newer file, has found.
func (o *older) check(path string, c call) []error {
	method := c.request.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	op := o.doc.Paths.Value(path).GetOperation(method)
	if op == nil {
		return []error{fmt.Errorf("OpenAPI 3.0 has no %s %s", c.request.Method, path)}
	}
	var errs []error
	if body := bodyOf(op); c.status < 300 && body != nil {
		if err := visit(body, []byte(normalize.String(string(c.sent))), true); err != nil {
			errs = append(errs, fmt.Errorf("OpenAPI 3.0 forbids a request that was taken: %w", err))
		}
	}
	answer := op.Responses.Status(c.status)
	if answer == nil {
		return append(errs, fmt.Errorf("OpenAPI 3.0 does not document the status %d", c.status))
	}
	for media, content := range answer.Value.Content {
		if c.request.Method == http.MethodHead || !isJSON(media) || c.header.Get("Content-Type") != media {
			continue
		}
		if err := visit(content.Schema, c.body, false); err != nil {
			errs = append(errs, fmt.Errorf("OpenAPI 3.0 forbids the answer: %w", err))
		}
	}
	return errs
}

// visit holds a body against a schema.
func visit(schema *openapi3.SchemaRef, body []byte, asked bool) error {
	var v any
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&v); err != nil {
		return err
	}
	if asked {
		v = sayable(v)
	}
	return schema.Value.VisitJSON(v, openapi3.MultiErrors())
}

// sayable makes of a request what OpenAPI 3.0 has words for.
func sayable(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if number, ok := member.(float64); ok && name == "voucherCode" {
				member = fmt.Sprintf("%.0f", number)
			}
			if member == nil || member == "" {
				delete(v, name)
				continue
			}
			v[name] = sayable(member)
		}
	case []any:
		for i := range v {
			v[i] = sayable(v[i])
		}
	}
	return v
}
