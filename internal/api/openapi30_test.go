package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const openAPI30 = "../../sdk/openapi-3.0.json"

// TestOpenAPI30FileIsGenerated: sdk/openapi-3.0.json is derived from openapi.json, for generators that do not read
// OpenAPI 3.1. go generate writes it. It says less: what 3.0 has no words for, or generators stumble over, is left out.
func TestOpenAPI30FileIsGenerated(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	want := derived(t, source)
	if *update {
		if err := os.WriteFile(openAPI30, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(openAPI30)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("sdk/openapi-3.0.json is not derived from openapi.yaml: run go generate ./internal/api")
	}
}

type object = map[string]any

func derived(t *testing.T, source []byte) []byte {
	t.Helper()
	var file object
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber() // an amount in an example keeps its decimals
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	file["openapi"] = "3.0.3"
	delete(file, "webhooks")
	info := file["info"].(object)
	delete(info, "summary")
	delete(info["license"].(object), "identifier")
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(outside(file)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// outside derives what is not a schema, down to the schemas.
func outside(v any) any {
	switch v := v.(type) {
	case object:
		for name, member := range v {
			switch name {
			case "examples", "x-story":
				delete(v, name)
			case "example":
			case "schema":
				v[name] = schema(member.(object))
			case "schemas":
				schemas(member)
			default:
				v[name] = outside(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = outside(v[i])
		}
	}
	return v
}

func schemas(named any) {
	m := named.(object)
	for name, s := range m {
		m[name] = schema(s.(object))
	}
}

// schema derives one schema and those in it. The names of properties are data: one may be called pattern.
func schema(s object) object {
	for _, name := range []string{"if", "then", "else", "pattern", "examples", "x-story"} {
		delete(s, name)
	}
	if ref, ok := s["$ref"]; ok && len(s) > 1 { // 3.0 ignores what stands beside a $ref
		delete(s, "$ref")
		s["allOf"] = []any{object{"$ref": ref}}
	}
	if named, ok := s["properties"]; ok {
		schemas(named)
	}
	for _, name := range []string{"items", "additionalProperties", "not"} {
		if in, ok := s[name].(object); ok {
			s[name] = schema(in)
		}
	}
	if only, ok := s["const"]; ok {
		delete(s, "const")
		s["enum"] = []any{only}
	}
	if above, ok := s["exclusiveMinimum"].(json.Number); ok {
		s["minimum"], s["exclusiveMinimum"] = above, true
	}
	alternatives(s)
	oneType(s)
	distinct(s)
	if s["type"] == "number" && s["format"] == nil {
		s["format"] = "double" // a float of 32 bits does not hold cents
	}
	if s["type"] == "array" && s["items"] == nil {
		s["items"] = object{}
	}
	return s
}

// distinct names the values of an enumeration where generators would call two of them the same: product.id and
// product_id.
func distinct(s object) {
	var names []any
	called, twice := map[string]bool{}, false
	list, _ := s["enum"].([]any)
	for _, v := range list {
		value, ok := v.(string)
		if !ok {
			return
		}
		name := strings.ToLower(strings.NewReplacer(".", "", "_", "").Replace(value))
		twice = twice || called[name]
		called[name] = true
		names = append(names, cmp.Or(strings.ReplaceAll(value, ".", "_dot_"), "none"))
	}
	if twice {
		s["x-enum-varnames"] = names
	}
}

// alternatives keeps of oneOf, anyOf and allOf what is a type or a reference. The others are conditions.
func alternatives(s object) {
	for _, name := range []string{"oneOf", "anyOf", "allOf"} {
		parts, ok := s[name].([]any)
		if !ok {
			continue
		}
		delete(s, name)
		var kept []any
		for _, part := range parts {
			p := part.(object)
			if format, ok := p["format"]; ok && p["type"] == nil && s["format"] == nil {
				s["format"] = format // or empty, which 3.0 cannot say of a format
			}
			if p["type"] == "null" {
				s["nullable"] = true
			} else if p["type"] != nil || p["$ref"] != nil {
				kept = append(kept, schema(p))
			} else if list, ok := p["enum"].([]any); ok && slices.Contains(list, nil) {
				s["nullable"] = true
			}
		}
		if name != "allOf" && len(kept) == 1 {
			name = "allOf"
		}
		if len(kept) > 0 {
			s[name] = kept
		}
	}
}

// oneType makes one type, and nullable, of a list of types; no type, which is any, where it cannot.
func oneType(s object) {
	if list, ok := s["enum"].([]any); ok && slices.Contains(list, nil) {
		s["enum"] = slices.DeleteFunc(list, func(v any) bool { return v == nil })
		s["nullable"] = true
	}
	types, ok := s["type"].([]any)
	if !ok {
		return
	}
	some := slices.DeleteFunc(slices.Clone(types), func(v any) bool { return v == "null" })
	if len(some) < len(types) {
		s["nullable"] = true
	}
	if len(some) > 1 && s["maxLength"] == json.Number("0") { // an empty string is as good as absent
		some = slices.DeleteFunc(some, func(v any) bool { return v == "string" })
		delete(s, "maxLength")
	}
	switch {
	case len(some) == 1:
		s["type"] = some[0]
	case len(some) == 2 && slices.Contains(some, "string") && slices.Contains(some, "integer"):
		s["type"] = "string"
		maps.DeleteFunc(s, func(name string, _ any) bool { return name == "minimum" || name == "maximum" })
	default:
		maps.DeleteFunc(s, func(name string, _ any) bool { return name != "description" && name != "title" })
	}
}
