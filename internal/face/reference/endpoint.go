package reference

import (
	"cmp"
	"encoding/json"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"boon.example/docs"
)

// endpoint is an operation of the interface, as its page shows it.
type endpoint struct {
	ID, Tag, Method, Path, Summary string
	Description                    template.HTML
	Params, Body                   []field
	Answers                        []answer
	Samples                        []sample
	Example                        string // of the answer
	call                           call
	text                           string    // the description as it is written, in Markdown
	shown                          []example // answers that the file shows
}

// example is an answer that the file shows.
type example struct{ name, status, media, body string }

// field is a member or a parameter.
type field struct {
	Name, In, Type string
	Required       bool
	When           string // when else it is required, or what may stand in its place
	Description    template.HTML
	Fields         []field
}

// answer is what a status means.
type answer struct {
	Status      string
	Description template.HTML
	Codes       []string
	Fields      []field
}

// call is an example of a call.
type call struct {
	id, method, address, body string // address is the path with its query
	path                      string // with its parameters in braces
	query                     []member
	params                    map[string]string
	told                      map[string]string // what each parameter is
	open, once, file          bool              // it needs no key; it takes an Idempotency-Key; its answer is no JSON
	uploads                   bool              // its body is a file, cards.csv
}

const root3 = "../../" // from the page of an operation to the service

func readOperations(doc node) (all []endpoint) {
	for _, path := range doc.in("paths").members() {
		for _, m := range path.members() {
			if id := m.in("operationId"); id.is() {
				all = append(all, readOperation(path.name, m))
			}
		}
	}
	return all
}

func readOperation(path string, at member) endpoint {
	o := endpoint{ID: at.in("operationId").text(), Method: strings.ToUpper(at.name), Path: path,
		Summary: at.in("summary").text(), Tag: at.in("tags").texts()[0]}
	if d := at.in("description"); d.is() {
		o.Description, o.text = docs.HTML(d.text(), "", root3), d.text()
	}
	body := at.in("requestBody", "content", "application/json")
	o.Body = readFields(body.in("schema"), 0)
	name := exampleName(at, body)
	o.call = call{id: o.ID, method: o.Method, path: path, address: path, params: map[string]string{},
		told: map[string]string{},
		open: at.in("security").is(), uploads: at.in("requestBody", "content", "text/csv").is()}
	query := url.Values{}
	for _, p := range at.in("parameters").list() {
		f := readField(p.in("name").text(), p.in("schema"), 0)
		f.In, f.Required = p.in("in").text(), p.in("required").text() == "true"
		f.Description = at.file.described(p.in("description").text())
		o.call.told[f.Name] = p.in("description").text()
		o.Params = append(o.Params, f)
		o.call.once = o.call.once || f.Name == "Idempotency-Key"
		value := p.in("examples", name, "value")
		if !value.is() && f.Required {
			value = anyValue(f.Name, p)
		}
		switch {
		case !value.is():
		case f.In == "path":
			o.call.params[f.Name] = value.text()
			o.call.address = strings.ReplaceAll(o.call.address, "{"+f.Name+"}", url.PathEscape(value.text()))
		case f.In == "query":
			o.call.query = append(o.call.query, member{f.Name, value})
			query.Set(f.Name, value.text())
		}
	}
	if len(query) > 0 {
		o.call.address += "?" + query.Encode()
	}
	o.call.body = body.in("examples", name, "value").indented()
	for _, status := range at.in("responses").members() {
		o.Answers = append(o.Answers, readAnswer(status))
		content := status.in("content").members() // the first is what comes where no format is named
		o.call.file = o.call.file || status.name == "200" && len(content) > 0 && content[0].name != "application/json"
		for _, media := range content {
			if value := media.in("examples", name, "value"); value.is() {
				o.Example = cmp.Or(value.indented(), value.text())
			}
			for _, e := range media.in("examples").members() {
				if value := e.in("value"); value.is() {
					o.shown = append(o.shown, example{e.name, status.name, media.name, cmp.Or(value.indented(), value.text())})
				}
			}
		}
	}
	o.Samples = o.call.samples()
	return o
}

// anyValue is one that a parameter can have, or a word in its place.
func anyValue(name string, p node) (value node) {
	value.raw = json.RawMessage(strconv.Quote(strings.ToUpper(name)))
	if p.in("schema", "format").text() == "uuid" {
		value.raw = json.RawMessage(`"01a1f97c-7e44-7b04-8d11-5b0c6b3e9b04"`)
	}
	for _, one := range p.in("schema", "enum").list() {
		value = one
	}
	if shown := p.in("examples").members(); len(shown) > 0 {
		value = shown[0].in("value")
	}
	return value
}

// exampleName chooses what the samples show: the first example of the body, else of an answer.
func exampleName(at member, body node) string {
	for _, e := range body.in("examples").members() {
		return e.name
	}
	for _, status := range at.in("responses").members() {
		for _, media := range status.in("content").members() {
			for _, e := range media.in("examples").members() {
				return e.name
			}
		}
	}
	return ""
}

func readAnswer(status member) answer {
	a := answer{Status: status.name, Description: status.file.described(status.in("description").text())}
	for _, media := range status.in("content").members() {
		if media.name != "application/problem+json" {
			a.Fields = readFields(media.in("schema"), 0)
			continue
		}
		for _, part := range media.in("schema", "allOf").list() {
			if codes := part.in("properties", "code", "enum").texts(); len(codes) < 10 { // else it is the list of all
				a.Codes = append(a.Codes, codes...)
			}
		}
	}
	return a
}

const deepest = 5

// readFields lists the members of an object, of what an array holds, or of the first of several kinds.
func readFields(schema node, depth int) (all []field) {
	if depth > deepest || !schema.is() {
		return nil
	}
	required := schema.in("required").texts()
	for _, p := range schema.in("properties").members() {
		f := readField(p.name, p.node, depth)
		if f.Type == "" && f.Description == "" {
			continue // a rule about a member that is described elsewhere
		}
		f.Required = slices.Contains(required, p.name)
		if !f.Required {
			f.When = requiredWhen(schema, p.name)
		}
		all = append(all, f)
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if len(all) > 0 {
			break
		}
		for _, part := range schema.in(name).list() {
			all = append(all, readFields(part, depth)...)
		}
	}
	if len(all) == 0 {
		all = readFields(schema.in("items"), depth)
	}
	return all
}

// requiredWhen says it of a member that one of several kinds requires, or a rule about a constant.
func requiredWhen(schema node, name string) string {
	var kinds []string
	asked := false
	for _, kind := range schema.in("oneOf").list() {
		needs := kind.in("required").texts()
		kinds, asked = append(kinds, strings.Join(needs, " with ")), asked || slices.Contains(needs, name)
	}
	if asked {
		return "one of " + strings.Join(kinds, ", ")
	}
	for _, rule := range append(schema.in("allOf").list(), schema) {
		for _, of := range rule.in("if", "properties").members() {
			constant := of.in("const")
			switch {
			case !constant.is():
			case slices.Contains(rule.in("then", "required").texts(), name):
				return "required if " + of.name + " is " + constant.text()
			case slices.Contains(rule.in("else", "required").texts(), name):
				return "required unless " + of.name + " is " + constant.text()
			}
		}
	}
	return ""
}

func readField(name string, schema node, depth int) field {
	f := field{Name: name, Type: typeOf(schema), Fields: readFields(schema, depth+1)}
	if d := schema.in("description"); d.is() {
		f.Description = schema.file.described(d.text())
	}
	return f
}

// described renders a description, which many fields share, once.
func (f *file) described(text string) template.HTML {
	if _, known := f.texts[text]; !known {
		f.texts[text] = docs.HTML(text, "", root3)
	}
	return f.texts[text]
}

// typeOf says in a few words what a value is.
func typeOf(schema node) string {
	types := schema.in("type").texts()
	if len(types) == 0 && schema.in("type").is() {
		types = []string{schema.in("type").text()}
	}
	if len(types) == 0 {
		for _, part := range schema.in("anyOf").list() {
			types = append(types, typeOf(part))
		}
	}
	types = slices.DeleteFunc(types, func(t string) bool { return t == "" })
	words := strings.Join(types, " or ")
	if format := schema.in("format"); format.is() && format.text() != "double" { // of an amount, it is for generators
		words += ", " + format.text()
	}
	if values := slices.DeleteFunc(schema.in("enum").texts(), func(v string) bool {
		return v == "" || v == "null"
	}); len(values) > 0 {
		words += ": " + strings.Join(values, ", ")
	}
	return words
}
