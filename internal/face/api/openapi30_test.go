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

const openAPI30 = "openapi-3.0.json"

// TestOpenAPI30FileIsGenerated: openapi-3.0.json is derived from openapi.json, for generators that do not read
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
		t.Error("openapi-3.0.json is not derived from openapi.yaml: run go generate ./internal/face/api")
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
	license := info["license"].(object)
	delete(license, "identifier")
	license["url"] = "https://www.apache.org/licenses/LICENSE-2.0"
	file = outside(file).(object)
	named := file["components"].(object)["schemas"].(object)
	walk(file, func(_ string, s object) { typeNullable(s, named) })
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(file); err != nil {
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

// typeNullable gives a nullable schema that refers to another the type of that other: OpenAPI 3.0.3 heeds nullable
// beside a type only.
func typeNullable(s, named object) {
	parts, _ := s["allOf"].([]any)
	if s["nullable"] != true || s["type"] != nil || len(parts) == 0 {
		return
	}
	ref, _ := parts[0].(object)["$ref"].(string)
	if other, ok := named[strings.TrimPrefix(ref, "#/components/schemas/")].(object); ok {
		s["type"] = other["type"]
	}
}

// distinct names the values of an enumeration where generators would call two of them the same: product.id and
// product_id.
func distinct(s object) {
	var names []any
	called, twice := map[string]bool{}, false
	list, _ := s["enum"].([]any)
	for _, v := range list {
		value, ok := v.(string)
		if !ok && v != nil {
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
			if one := kept[0].(object); one["$ref"] == nil {
				maps.Copy(s, one)
				kept = nil
			}
		}
		if len(kept) == 2 && kept[0].(object)["type"] == "string" && kept[1].(object)["type"] == "integer" {
			s["type"], kept = "string", nil // a text can say either
		}
		if len(kept) > 0 {
			s[name] = kept
		}
	}
}

// oneType makes one type, and nullable, of a list of types; no type, which is any, where it cannot. An enumeration has
// null where it is nullable, as OpenAPI 3.0.3 demands.
func oneType(s object) {
	types, _ := s["type"].([]any)
	some := slices.DeleteFunc(slices.Clone(types), func(v any) bool { return v == "null" })
	list, _ := s["enum"].([]any)
	if len(some) < len(types) || slices.Contains(list, nil) {
		s["nullable"] = true
	}
	if s["nullable"] == true && list != nil && !slices.Contains(list, nil) {
		delete(s, "nullable") // generators make a number called nil of a null among numbers
	}
	switch {
	case len(types) == 0:
	case len(some) == 1:
		s["type"] = some[0]
	case len(some) == 2 && slices.Contains(some, "string") && slices.Contains(some, "integer"):
		s["type"] = "string"
		maps.DeleteFunc(s, func(name string, _ any) bool { return name == "minimum" || name == "maximum" })
	default:
		maps.DeleteFunc(s, func(name string, _ any) bool { return name != "description" && name != "title" })
	}
}

// TestEnumsFitTheirTypes: in both files, every value of an enumeration is of the type that stands beside it, and null
// is among them just where the schema takes null; OpenAPI 3.0.3 demands it. Generators make clients of these lists: of
// a number among texts they make a text.
func TestEnumsFitTheirTypes(t *testing.T) {
	t.Parallel()
	for name, file := range map[string][]byte{"3.1": theFile, "3.0": OpenAPI30("1.2.3", "")} {
		enums := 0
		eachSchema(t, file, func(at string, s object) {
			list, ok := s["enum"].([]any)
			if !ok {
				return
			}
			enums++
			types, several := s["type"].([]any)
			if !several {
				types = []any{s["type"]}
			}
			null := s["nullable"] == true || slices.Contains(types, any("null"))
			if s["type"] != nil && null != slices.Contains(list, nil) {
				t.Errorf("%s: %s takes null: %t, and lists %v", name, at, null, list)
			}
			for _, v := range list {
				if s["type"] != nil && v != nil && !slices.ContainsFunc(types, func(of any) bool { return isOf(v, of) }) ||
					s["type"] == nil && name == "3.0" {
					t.Errorf("%s: %s has %v among values of the type %v", name, at, v, s["type"])
				}
			}
		})
		if enums < 40 {
			t.Errorf("%s: %d enumerations were seen", name, enums)
		}
	}
}

// TestNullableHasAType: OpenAPI 3.0.3 heeds nullable only in a schema that says its type.
func TestNullableHasAType(t *testing.T) {
	t.Parallel()
	seen := 0
	eachSchema(t, OpenAPI30("1.2.3", ""), func(at string, s object) {
		if s["nullable"] == true {
			seen++
			if s["type"] == nil {
				t.Errorf("%s is nullable and has no type", at)
			}
		}
	})
	if seen < 100 {
		t.Errorf("%d nullable schemas were seen", seen)
	}
}

// isOf tells whether a value is of a type as JSON Schema calls it.
func isOf(v, of any) bool {
	switch v := v.(type) {
	case string:
		return of == "string"
	case bool:
		return of == "boolean"
	case json.Number:
		return of == "number" || of == "integer" && !strings.ContainsAny(v.String(), ".eE")
	}
	return false
}

// eachSchema calls do with every schema of a file that has a type, an enumeration or says that it is nullable.
func eachSchema(t *testing.T, file []byte, do func(at string, s object)) {
	t.Helper()
	var whole any
	d := json.NewDecoder(bytes.NewReader(file))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		t.Fatal(err)
	}
	walk(whole, do)
}

// walk calls do with every schema below v that has a type, an enumeration or says that it is nullable.
func walk(v any, do func(at string, s object)) {
	var within func(at string, v any)
	within = func(at string, v any) {
		switch v := v.(type) {
		case object:
			if v["type"] != nil || v["enum"] != nil || v["nullable"] != nil {
				do(at, v)
			}
			for name, member := range v {
				if named, ok := member.(object); ok && name == "properties" { // whose names are data: one may be called enum
					for name, member := range named {
						within(at+"."+name, member)
					}
				} else if name != "example" && name != "examples" {
					within(at+"."+name, member)
				}
			}
		case []any:
			for i := range v {
				within(at, v[i])
			}
		}
	}
	within("", v)
}
