package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/base/phrase"
	"boon.example/internal/wire"
)

const (
	maxFile  = 4 << 20
	maxDepth = 16 // of nested nodes; a set-up needs 8

	empty = "The file is empty; a set-up has accounts, systemKeys, or both."
)

// value is a node of the file and where it stands.
type value struct {
	*yaml.Node
	path string
}

// Place is where something stands in the file.
type Place struct {
	Line int
	Path string // such as accounts[0].locations[1]
}

func (v value) place() Place { return Place{v.Line, v.path} }

// document reads the one YAML document of a file as a tree. What a set-up has no use for and can only be a mistake or
// an attack is refused: anchors, aliases, tags, more than one document, deep nesting. ok is false after a problem.
func (r *reader) document(data []byte) (_ value, ok bool) {
	if len(data) > maxFile {
		r.inFile(0, "", "A set-up file may have at most %d MiB; this one has %d bytes.", maxFile>>20, len(data))
		return value{}, false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		r.inFile(0, "", empty)
		return value{}, false
	case err != nil:
		r.syntax(err)
		return value{}, false
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		r.inFile(second.Line, "", "A second YAML document begins here (---); a set-up file is one document.")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	r.plain(&doc, 0)
	if len(r.problems) > 0 {
		return value{}, false
	}
	if root := (value{Node: doc.Content[0]}); !root.empty() {
		return root, true
	}
	r.inFile(0, "", empty)
	return value{}, false
}

// syntax passes on what the YAML reader says, with the line taken out of its sentence.
func (r *reader) syntax(err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if rest, found := strings.CutPrefix(text, "line "); found {
		if number, after, found := strings.Cut(rest, ": "); found {
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, after
			}
		}
	}
	r.inFile(line, "", "This is not YAML: %s.", text)
}

// plain notes what makes a tree more than nested mappings, lists and scalars.
func (r *reader) plain(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		r.inFile(n.Line, "", "The nesting is deeper than any set-up needs.")
		return
	case n.Kind == yaml.AliasNode:
		r.inFile(n.Line, "", "Aliases (*%s) are not supported in a set-up file; write the value out.", short(n.Value))
		return
	case n.Anchor != "":
		r.inFile(n.Line, "", "Anchors (&%s) are not supported in a set-up file; write the value out where it is needed.",
			short(n.Anchor))
	case n.Style&yaml.TaggedStyle != 0:
		r.inFile(n.Line, "", "Tags (%s) are not supported in a set-up file; leave it out.", short(n.Tag))
	}
	for _, child := range n.Content {
		r.plain(child, depth+1)
	}
}

const (
	scalarKind  phrase.Text = "a single value"
	mappingKind phrase.Text = "a mapping"
)

// kind says in the operator's words what a node is.
func (v value) kind() phrase.Text {
	switch v.Kind {
	case yaml.MappingNode:
		return mappingKind
	case yaml.SequenceNode:
		return "a list"
	}
	return scalarKind
}

// empty reports a value that was left out after its colon or dash, or null.
func (v value) empty() bool { return v.Kind == yaml.ScalarNode && v.Tag == "!!null" }

// fields is a mapping, field by field. A field that stands in the file without a usable value has a nil Node.
type fields struct {
	*reader
	at     value
	values map[string]value
}

// fields takes a mapping apart and notes fields that are unknown, double or without a value.
func (r *reader) fields(v value, known ...string) fields {
	f := fields{reader: r, at: v, values: make(map[string]value)}
	if v.Kind != yaml.MappingNode {
		r.problem(v, "This must be a mapping of fields (%s), not %s.", strings.Join(known, ", "), v.kind())
		for _, name := range known {
			f.values[name] = value{}
		}
		return f
	}
	lines := make(map[string]int)
	for i := 0; i < len(v.Content); i += 2 {
		key, child := v.Content[i], value{v.Content[i+1], f.path(short(v.Content[i].Value))}
		first, double := lines[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode:
			r.inFile(key.Line, v.path, "The name of a field must be a plain word.")
			continue
		case double:
			r.inFile(key.Line, child.path, "This field stands on line %d already.", first)
			continue
		case key.Value == "<<":
			r.inFile(key.Line, child.path, "Merge keys (<<) are not supported in a set-up file; write the fields out.")
		case !slices.Contains(known, key.Value):
			r.add(key.Line, child.path, "%s", unknown(key.Value, known))
		case child.empty():
			r.add(key.Line, child.path, "This field has no value; write one, or leave the field out.")
			child.Node = nil
		}
		lines[key.Value], f.values[key.Value] = key.Line, child
	}
	return f
}

// fieldOf gives a field of a mapping that was read before; the mapping itself, where it has none.
func (*reader) fieldOf(v value, name string) value {
	for i := 0; i+1 < len(v.Content); i += 2 {
		if v.Content[i].Value == name {
			return value{v.Content[i+1], v.path + "." + name}
		}
	}
	return v
}

func (f fields) path(name string) string {
	if f.at.path == "" {
		return name
	}
	return f.at.path + "." + name
}

// require notes which of the fields are missing.
func (f fields) require(names ...string) {
	for _, name := range names {
		_, there := f.values[name]
		switch {
		case there:
		case name == "id":
			f.lacking = append(f.lacking, f.at)
			var how any = phrase.Text("")
			if !f.typed {
				how = phrase.New("; boon id --into %s writes every id that is missing", f.file)
			}
			f.add(f.at.Line, f.path(name), "This field is required%s.", how)
		default:
			f.add(f.at.Line, f.path(name), "This field is required.")
		}
	}
}

// get gives a field that has a value.
func (f fields) get(name string) (value, bool) {
	v := f.values[name]
	return v, v.Node != nil
}

// scalar gives the text of a field exactly as it stands in the file, whatever YAML takes it for: 0042 stays 0042. plain
// tells that it stands without quotes.
func (f fields) scalar(name string) (v value, plain, ok bool) {
	if v, ok = f.get(name); !ok {
		return v, false, false
	}
	if v.Kind != yaml.ScalarNode {
		f.problem(v, "This must be a single value, not %s.", v.kind())
		return v, false, false
	}
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return v, v.Style&quoted == 0, true
}

// list gives the members of a list; there is no list when ok is false.
func (f fields) list(name string) (_ []value, ok bool) {
	v, ok := f.get(name)
	if !ok {
		return nil, false
	}
	if v.Kind != yaml.SequenceNode {
		f.problem(v, "This must be a list, not %s.", v.kind())
		return nil, false
	}
	members := make([]value, 0, len(v.Content))
	for i, n := range v.Content {
		member := value{n, fmt.Sprintf("%s[%d]", v.path, i)}
		if member.empty() {
			f.problem(member, "This member of the list has no value; write one, or take it out.")
			continue
		}
		members = append(members, member)
	}
	return members, true
}

// unknown says that a field is not known, and which one may have been meant.
func unknown(name string, known []string) *phrase.Phrase {
	return noSuch("There is no such field; did you mean %s?", "There is no such field; there are %s.", name, known)
}

// noSuch says that a name of something is not known: which one may have been meant, or which there are.
func noSuch(meant, are phrase.Text, name string, known []string) *phrase.Phrase {
	if best := wire.Closest(name, known); best != "" {
		return phrase.New(meant, best)
	}
	return phrase.New(are, strings.Join(known, ", "))
}

// short keeps what an operator wrote from filling the screen, and control characters off it.
func short(s string) string {
	const limit = 40
	if len(s) > limit {
		s = s[:limit] + "…"
	}
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}
