package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"boon.example/docs"
)

//go:embed openapi.yaml
var openAPISource []byte

// exampleURL is where the server of openapi.yaml stands.
const exampleURL = "https://gifts.example.com"

// OpenAPI gives the description of the interface, OpenAPI 3.1 as JSON, with the version and the public address of this server. The
// order of the members and the spelling of the numbers are those of the file: an amount in an example keeps its decimals.
func OpenAPI(version, publicURL string) []byte {
	var file yaml.Node
	if err := yaml.Unmarshal(openAPISource, &file); err != nil {
		panic(fmt.Sprintf("openapi.yaml is part of the program and cannot be read: %v", err))
	}
	root := file.Content[0]
	yamlMember(yamlMember(root, "info"), "version").Value = version
	c := converter{url: strings.TrimSuffix(publicURL, "/")}
	c.value(root)
	return c.Bytes()
}

// yamlMember finds a member of a mapping.
func yamlMember(mapping *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i+1]
		}
	}
	panic("openapi.yaml lacks the member " + name)
}

// converter writes YAML nodes as JSON. What is shared by an anchor is written out wherever it is used.
type converter struct {
	bytes.Buffer
	url string // in place of exampleURL
}

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
	quoted, _ := jsontext.AppendQuote(nil, strings.ReplaceAll(s, exampleURL, c.url)) // YAML is valid UTF-8
	c.Write(quoted)
}

type pair struct {
	key   string
	value *yaml.Node
}

// merged lists the members of a mapping. A merge key (<<) gives those of another mapping, in their places, and what stands
// beside it wins. No name may stand twice.
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

//go:embed assets
var assets embed.FS

// docsPolicy lets the pages use what this server serves and nothing else.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is a fixed answer to GET: the description of the interface and the pages about it.
type page struct {
	pattern     string // as http.ServeMux takes it, without a method
	contentType string
	body        []byte
}

// docPages gives /openapi.json, its reference page /docs, the page about every code /docs/errors, and what the two are made of.
func docPages(version, publicURL string) []page {
	const html, css, script = "text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"
	return []page{
		{"/openapi.json", "application/json", OpenAPI(version, publicURL)},
		{"/docs", html, asset("docs.html")},
		{"/docs/errors", html, errorsPage()},
		{"/docs/assets/docs.css", css, asset("docs.css")},
		{"/docs/assets/docs.js", script, asset("docs.js")},
		{"/docs/assets/swagger-ui.css", css, asset("swagger-ui.css")},
		{"/docs/assets/swagger-ui-bundle.js", script, asset("swagger-ui-bundle.js")},
	}
}

// ServeHTTP gives the page, whatever the method; the mux around sees to that.
func (p page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h.Set("Content-Type", p.contentType)
	h.Set("Content-Length", strconv.Itoa(len(p.body)))
	h.Set("Content-Security-Policy", docsPolicy)
	h.Set("Cache-Control", "no-cache") // a new release shows at once
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	w.Write(p.body) // a caller that has gone is no failure of ours
}

func asset(name string) []byte {
	b, err := assets.ReadFile(path.Join("assets", name))
	if err != nil {
		panic(err) // it is part of the program
	}
	return b
}

func errorsPage() []byte {
	var b bytes.Buffer
	if err := template.Must(template.New("errors").Parse(string(asset("errors.html")))).Execute(&b, docs.Errors()); err != nil {
		panic(err)
	}
	return b.Bytes()
}
