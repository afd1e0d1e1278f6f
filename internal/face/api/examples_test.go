package api_test

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/face/api"
	"boon.example/internal/gift/operation"
)

// paths are the addresses of the operations, and of validate-gift, by the name at their end.
var paths = func() map[string]string {
	all := map[string]string{}
	for _, r := range api.Routes() {
		if name := path.Base(r.Pattern); name == "validate-gift" || slices.Contains(operation.All(), operation.Name(name)) {
			all[name] = r.Pattern
		}
	}
	return all
}()

// documented is what the OpenAPI file says of the request of an operation.
type documented struct {
	schema   string // its name
	required []string
	plain    bool // it is about one gift, which voucherID names, and made at no location
	examples []map[string]any
}

// theRequests are those of the OpenAPI file, by the end of their paths.
var theRequests = sync.OnceValue(func() map[string]documented {
	var file struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Schema struct {
							Ref string `json:"$ref"`
						}
						Examples map[string]struct{ Value map[string]any }
					}
				}
			}
		}
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]any
			}
		}
	}
	d := json.NewDecoder(strings.NewReader(string(theFile)))
	d.UseNumber()
	if err := d.Decode(&file); err != nil {
		panic(err)
	}
	all := map[string]documented{}
	for at, is := range file.Paths {
		content := is.Post.RequestBody.Content["application/json"]
		r := documented{schema: path.Base(content.Schema.Ref)}
		of := file.Components.Schemas[r.schema]
		r.required = of.Required
		r.plain = slices.Contains(of.Required, "voucherID") && of.Properties["organizationID"] == nil
		for _, name := range slices.Sorted(maps.Keys(content.Examples)) {
			r.examples = append(r.examples, content.Examples[name].Value)
		}
		all[path.Base(at)] = r
	}
	return all
})

// plainOperations are those that are about one gift, which voucherID names, and made at no location. What a test needs
// of one that it does not list, it takes from the OpenAPI file.
func plainOperations() (all []string) {
	for _, o := range operation.All() {
		if theRequests()[string(o)].plain {
			all = append(all, string(o))
		}
	}
	return all
}

// exampleRequests are the requests for a plain operation in the OpenAPI file, about another gift.
func exampleRequests(operation, voucher string) (bodies []string) {
	for _, example := range theRequests()[operation].examples {
		about := maps.Clone(example)
		about["voucherID"] = voucher
		text, err := json.Marshal(about)
		if err != nil {
			panic(err) // it was JSON
		}
		bodies = append(bodies, string(text))
	}
	return bodies
}

// TestPlainOperationsHaveExamples: where a test lists no request for an operation, there is one in the OpenAPI file.
func TestPlainOperationsHaveExamples(t *testing.T) {
	t.Parallel()
	for _, operation := range plainOperations() {
		if len(exampleRequests(operation, nowhere)) == 0 {
			t.Errorf("the OpenAPI file has no example of a request for %s", operation)
		}
	}
	if n := len(plainOperations()); n < 7 {
		t.Errorf("%d operations are plain", n)
	}
	if len(paths) != len(operation.All())+1 {
		t.Errorf("%d paths for %d operations", len(paths), len(operation.All()))
	}
}
