package agent

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSchemasAreThoseOfTheOpenAPIFile: a tool takes what its operation takes, and tells what that answers, member by
// member as the OpenAPI file has it, but for what is withheld and what the table of tools leaves out. What any text may
// stand in is set apart.
func TestSchemasAreThoseOfTheOpenAPIFile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("../api/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	d := readDocument(file)
	tools := slices.Concat(readingTools(d), writingTools(d))
	for _, tool := range tools {
		if tool.operation == "" {
			continue
		}
		var op *described
		for _, methods := range d.Paths {
			for _, one := range methods {
				if one.OperationID == tool.operation {
					op = one
				}
			}
		}
		compareAsked(t, d, tool, op)
		for status, response := range op.Responses {
			if answer := response.Content["application/json"].Schema; strings.HasPrefix(status, "2") && answer != nil {
				compareTold(t, tool.Name, d.whole(answer), tool.told)
			}
		}
	}
	if len(tools) != 14 {
		t.Errorf("there are %d tools", len(tools))
	}
}

func compareAsked(t *testing.T, d *document, tool *tool, op *described) {
	t.Helper()
	own := maps.Clone(tool.asked["properties"].(schema))
	theirs := schema{}
	if sent := op.RequestBody.Content["application/json"].Schema; sent != nil {
		theirs = d.whole(sent)["properties"].(schema)
	} else {
		for _, p := range op.Parameters {
			if p = d.whole(p); p["in"] != "header" && p["name"] != "format" {
				theirs[p["name"].(string)] = d.whole(p["schema"].(schema))
			}
		}
	}
	if tool.writing {
		delete(own, confirmation)
	}
	for name, s := range theirs {
		left := withheld[name] && name != "reason" || slices.Contains(tool.without, name)
		if has := own[name] != nil; has == left {
			t.Errorf("%s: argument %s: taken: %t, left out: %t", tool.Name, name, has, left)
			continue
		}
		if !left && !sameRule(own[name].(schema), s.(schema)) {
			t.Errorf("%s: argument %s is %v, not %v", tool.Name, name, own[name], s)
		}
		delete(own, name)
	}
	if len(own) > 0 {
		t.Errorf("%s takes what its operation does not: %v", tool.Name, own)
	}
}

func compareTold(t *testing.T, at string, theirs, own schema) {
	t.Helper()
	if items, is := theirs["items"].(schema); is {
		compareTold(t, at+"[]", items, own["items"].(schema))
		return
	}
	properties, is := theirs["properties"].(schema)
	if !is {
		return
	}
	told := own["properties"].(schema)
	apart := schema{}
	if s, has := told[others].(schema); has {
		apart = s["properties"].(schema)
	}
	for name, s := range properties {
		inner, open := told[name].(schema)
		set, isApart := apart[name].(schema)
		switch {
		case withheld[name]:
			if open || isApart {
				t.Errorf("%s tells %s", at, name)
			}
		case open == isApart:
			t.Errorf("%s: %s is told %t, set apart %t", at, name, open, isApart)
		case open && !sameRule(inner, s.(schema)), isApart && !sameRule(set, s.(schema)):
			t.Errorf("%s: %s is %v, not %v", at, name, inner, s)
		case open:
			compareTold(t, at+"."+name, s.(schema), inner)
		}
	}
	for name := range told {
		if name != others && properties[name] == nil {
			t.Errorf("%s tells %s, which the operation does not answer", at, name)
		}
	}
}

// sameRule reports whether two schemas say the same of a value, but for what is in it.
func sameRule(a, b schema) bool {
	for _, rule := range []string{"type", "enum", "format", "pattern", "minimum", "maximum", "exclusiveMinimum",
		"minLength", "maxLength", "maxItems", "default"} {
		one, _ := json.Marshal(a[rule])
		other, _ := json.Marshal(b[rule])
		if string(one) != string(other) {
			return false
		}
	}
	return true
}

// TestTextsThatAreOurs: the members of answers that may hold any text, and that are told as Boon's own words all the
// same, are those that are named here. Whoever adds one looks where it comes from.
func TestTextsThatAreOurs(t *testing.T) {
	t.Parallel()
	want := []string{"currency", "groupBy", "key", "nextCursor", "reasonCode", "recipientLanguage", "text", "timeZone"}
	if got := slices.Sorted(maps.Keys(ours)); !slices.Equal(got, want) {
		t.Errorf("they are %q", got)
	}
}
