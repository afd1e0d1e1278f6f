package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write openapi.json")

// TestOpenAPIFileIsGenerated: openapi.json says what openapi.yaml says. go generate writes it. The order of the
// members and the spelling of the numbers are those of the file: an amount in an example keeps its decimals.
func TestOpenAPIFileIsGenerated(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file yaml.Node
	if err := yaml.Unmarshal(source, &file); err != nil {
		t.Fatal(err)
	}
	var c converter
	c.value(file.Content[0])
	var want bytes.Buffer
	if err := json.Indent(&want, append(c.Bytes(), '\n'), "", "  "); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(openAPIFile, want.Bytes()) {
		t.Error("openapi.json is not what openapi.yaml says: run go generate ./internal/face/api")
	}
	if strings.Count(c.String(), unversioned) != 1 {
		t.Errorf("openapi.yaml must say %s once", unversioned)
	}
}

// converter writes YAML nodes as JSON. What is shared by an anchor is written out wherever it is used.
type converter struct{ bytes.Buffer }

func (c *converter) value(n *yaml.Node) {
	switch n.Kind {
	case yaml.AliasNode:
		c.value(n.Alias)
	case yaml.MappingNode:
		c.WriteByte('{')
		for i, pair := range merged(n) {
			c.part(i)
			c.text(pair.key)
			c.WriteByte(':')
			c.value(pair.value)
		}
		c.WriteByte('}')
	case yaml.SequenceNode:
		c.WriteByte('[')
		for i, element := range n.Content {
			c.part(i)
			c.value(element)
		}
		c.WriteByte(']')
	default:
		c.scalar(n)
	}
}

func (c *converter) part(i int) {
	if i > 0 {
		c.WriteByte(',')
	}
}

func (c *converter) scalar(n *yaml.Node) {
	switch n.Tag {
	case "!!null":
		c.WriteString("null")
	case "!!bool":
		is, err := strconv.ParseBool(n.Value)
		if err != nil {
			panic("openapi.yaml: write true or false, not " + n.Value)
		}
		c.WriteString(strconv.FormatBool(is))
	case "!!int", "!!float":
		if !json.Valid([]byte(n.Value)) {
			panic("openapi.yaml: not a JSON number: " + n.Value)
		}
		c.WriteString(n.Value)
	default:
		c.text(n.Value)
	}
}

func (c *converter) text(s string) {
	quoted, _ := jsontext.AppendQuote(nil, s) // YAML is valid UTF-8
	c.Write(quoted)
}

type pair struct {
	key   string
	value *yaml.Node
}

// merged lists the members of a mapping. A merge key (<<) gives those of another mapping, in their places, and what
// stands beside it wins. No name may stand twice.
func merged(n *yaml.Node) []pair {
	var pairs []pair
	own := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" {
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			pairs = append(pairs, merged(value)...)
			continue
		}
		if own[key.Value] {
			panic(fmt.Sprintf("openapi.yaml, line %d: %s stands twice", key.Line, key.Value))
		}
		own[key.Value] = true
		at := slices.IndexFunc(pairs, func(p pair) bool { return p.key == key.Value })
		if at < 0 {
			pairs = append(pairs, pair{key.Value, value})
		} else {
			pairs[at].value = value
		}
	}
	return pairs
}
