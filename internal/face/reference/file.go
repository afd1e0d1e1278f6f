package reference

import (
	"bytes"
	"encoding/json"
	"html/template"
	"regexp"
	"strings"
)

// node is a place in the OpenAPI file; references are followed. It keeps the order of members and the spelling of
// numbers.
type node struct {
	file *file
	raw  json.RawMessage
}

// file remembers where references lead, and descriptions as HTML.
type file struct {
	root    map[string]json.RawMessage
	refs    map[string]json.RawMessage
	objects map[*byte]map[string]json.RawMessage // by where their texts begin
	texts   map[string]template.HTML
}

// member is one of an object's.
type member struct {
	name string
	node
}

func readFile(openAPI []byte) (node, error) {
	f := &file{objects: map[*byte]map[string]json.RawMessage{}, refs: map[string]json.RawMessage{},
		texts: map[string]template.HTML{}}
	err := json.Unmarshal(openAPI, &f.root)
	return node{f, openAPI}, err
}

func (n node) is() bool { return len(n.raw) > 0 }

// in gives what stands at the end of a path of names; nothing, where a name is missing.
func (n node) in(names ...string) node {
	for _, name := range names {
		n = node{n.file, n.object()[name]}.followed()
	}
	return n
}

// object gives the members of an object, each of which is taken apart once.
func (n node) object() map[string]json.RawMessage {
	if len(n.raw) == 0 {
		return nil
	}
	members, known := n.file.objects[&n.raw[0]]
	if !known {
		if json.Unmarshal(n.raw, &members) != nil {
			members = nil
		}
		n.file.objects[&n.raw[0]] = members
	}
	return members
}

var reference = regexp.MustCompile(`^\{\s*"\$ref"`)

func (n node) followed() node {
	if !reference.Match(n.raw) {
		return n
	}
	var ref struct {
		Ref string `json:"$ref"`
	}
	if json.Unmarshal(n.raw, &ref) != nil || ref.Ref == "" {
		return n
	}
	if _, known := n.file.refs[ref.Ref]; !known {
		parts := strings.Split(strings.TrimPrefix(ref.Ref, "#/"), "/")
		n.file.refs[ref.Ref] = node{n.file, n.file.root[parts[0]]}.in(parts[1:]...).raw
	}
	return node{n.file, n.file.refs[ref.Ref]}
}

// members lists those of an object, in their order.
func (n node) members() (all []member) {
	d := json.NewDecoder(bytes.NewReader(n.raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return all
		}
		all = append(all, member{name.(string), node{n.file, value}.followed()})
	}
	return all
}

func (n node) list() (all []node) {
	var elements []json.RawMessage
	if json.Unmarshal(n.raw, &elements) != nil {
		return nil
	}
	for _, e := range elements {
		all = append(all, node{n.file, e}.followed())
	}
	return all
}

// text gives a text as such and every other value as JSON.
func (n node) text() string {
	var s string
	if json.Unmarshal(n.raw, &s) != nil {
		return string(n.raw)
	}
	return s
}

func (n node) texts() (all []string) {
	for _, e := range n.list() {
		all = append(all, e.text())
	}
	return all
}

// indented is the value over several lines.
func (n node) indented() string {
	var b bytes.Buffer
	if json.Indent(&b, n.raw, "", "  ") != nil {
		return ""
	}
	return b.String()
}
