package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestAgentsPageFitsTheProtocols: the examples on the page of agents are what the published schemas of the two
// protocols of agentic shopping allow, and without what these demand they would not be.
func TestAgentsPageFitsTheProtocols(t *testing.T) {
	t.Parallel()
	const acp, ucp = "https://example.com/schemas/agentic-checkout/bundle.schema.json",
		"https://ucp.dev/schemas/shopping/"
	c := jsonschema.NewCompiler()
	addSchemas(t, c)
	schemas := map[string]string{
		"PaymentHandler":                 acp + "#/$defs/PaymentHandler",
		"PaymentData":                    acp + "#/$defs/PaymentData",
		"business_split_payments_config": ucp + "types/business_split_payments_config.json",
		"payment_instruments":            ucp + "split_payments.json#/$defs/payment_instrument"}
	example := regexp.MustCompile("(?s)<!-- [au]cp: (\\w+) -->\n```json\n(.*?)```")
	page := Source("guides/agents.md")
	found := example.FindAllStringSubmatch(page, -1)
	if marks := strings.Count(page, "<!-- "); len(found) != marks || len(found) != 5 {
		t.Fatalf("there are %d examples of %d marks", len(found), marks)
	}
	for _, m := range found {
		s, err := c.Compile(schemas[m[1]])
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal([]byte(m[2]), &value); err != nil {
			t.Fatalf("%s: %v", m[1], err)
		}
		all, several := value.([]any)
		if !several {
			all = []any{value}
		}
		for _, one := range all {
			if err := s.Validate(one); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
			for _, demanded := range []string{"id", "handler_id", "allowed_combinations"} {
				lacking := one.(map[string]any)
				if _, has := lacking[demanded]; !has {
					continue
				}
				delete(lacking, demanded)
				if s.Validate(lacking) == nil {
					t.Errorf("%s: without %s it is allowed, too", m[1], demanded)
				}
			}
		}
	}
}

// addSchemas adds the published schemas under their own ids.
func addSchemas(t *testing.T, c *jsonschema.Compiler) {
	t.Helper()
	err := filepath.WalkDir("testdata", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.Open(path)
		if err != nil {
			return err
		}
		defer text.Close()
		value, err := jsonschema.UnmarshalJSON(text)
		if err != nil {
			return err
		}
		return c.AddResource(value.(map[string]any)["$id"].(string), value)
	})
	if err != nil {
		t.Fatal(err)
	}
}
