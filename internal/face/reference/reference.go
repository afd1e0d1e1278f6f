// Package reference makes the pages about the interface, all of them from the OpenAPI file and the documents in docs:
// guide, reference with samples, errors, an index to search in, and a collection of the calls. It knows neither the
// service nor its data; the pages run one small script, and read well without it.
package reference

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"mime"
	"path"
	"regexp"
	"slices"
	"strings"

	"boon.example/docs"
)

// Page is one that is served as it is.
type Page struct {
	Type  string // its content type
	Body  []byte
	Fixed bool // its address is of this very content
}

//go:embed assets
var assets embed.FS

// view is what a page's template is given.
type view struct {
	Root, Title, Path string // Root leads from Path to the service's address
	CSS, JS           string
	Parts             []part
	Groups            []group
	Codes             []errorCode
	Head, Body        template.HTML // of a document: up to its title, and below
	Sections          []link        // of a document, by their headings
	Operation         *endpoint
	Index             bool // the page lists all operations
}

type link struct{ Path, Title string }

// part is one of the navigation.
type part struct {
	Title      string
	Guides     []link
	Operations bool // it links their list, too
}

// group is a tag with its operations.
type group struct {
	Name, Description string
	Operations        []endpoint
}

// errorCode is a line of the index of errors.
type errorCode struct{ Code, Status string }

// guide is a document in the navigation.
type guide struct{ file, title string }

// parts are the documents in the order of the navigation, by what a reader wants of them.
var parts = []struct {
	title  string
	guides []guide
}{
	{"Start", []guide{
		{"start/afternoon.md", "The API in an afternoon"},
		{"start/ten-minutes.md", "Ten minutes"},
		{"start/install-go.md", "Install: Go"},
		{"start/install-python.md", "Install: Python"},
		{"start/install-typescript.md", "Install: TypeScript"},
		{"start/install-php.md", "Install: PHP"},
	}},
	{"Guides", []guide{
		{"guides/send.md", "Send gifts"},
		{"guides/take.md", "Take gifts"},
		{"guides/tickets.md", "Tickets from tills"},
		{"guides/cards.md", "Sell and load cards"},
		{"guides/care.md", "Look after gifts"},
		{"guides/customers.md", "A customer's gifts in your app"},
		{"guides/webhooks.md", "Webhooks"},
		{"guides/journals.md", "Journals for your bookkeeping"},
		{"guides/connect.md", "Connect a shop"},
		{"guides/platforms.md", "Platforms that use your gifts"},
		{"guides/agents.md", "Agents"},
		{"guides/till.md", "At the counter"},
		{"guides/console.md", "In the console"},
		{"guides/wallet.md", "Passes"},
		{"guides/my-gifts.md", "My gifts"},
		{"guides/books.md", "What is owed for gifts"},
		{"guides/import.md", "Bring cards of another system in"},
		{"guides/test-mode.md", "Test mode"},
		{"guides/going-live.md", "Go live"},
	}},
	{referencePart, []guide{
		{"reference/events.md", "Events"},
		{"reference/states.md", "States of a gift"},
		{"reference/errors.md", "Errors"},
		{"reference/setup.md", "The set-up file"},
		{"reference/command-line.md", "The command line"},
		{"reference/glossary.md", "Glossary"},
	}},
	{"Operating", []guide{
		{"operating/install.md", "Install and run"},
		{"operating/delivery.md", "E-mail, SMS, page and paper"},
		{"operating/sign-in.md", "Sign in through a provider"},
		{"operating/watch.md", "Watch"},
		{"operating/backup.md", "Back up and restore"},
		{"operating/upgrade.md", "Upgrade"},
		{"operating/erase.md", "Erase a person"},
		{"operating/scale.md", "Scale"},
		{"operating/timeouts.md", "Timeouts"},
		{"operating/troubleshoot.md", "Troubleshoot"},
	}},
	{"Why", []guide{
		{"why/promises.md", "Promises"},
		{"why/threat-model.md", "Threat model"},
		{"why/benchmarks.md", "Benchmarks"},
	}},
}

// referencePart links the list of operations, too.
const referencePart = "Reference"

const html, script, style, data = "text/html; charset=utf-8", "text/javascript; charset=utf-8",
	"text/css; charset=utf-8", "application/json"

// Pages makes all pages of a file in OpenAPI 3.1, by path.
func Pages(openAPI []byte, version, publicURL string) (map[string]Page, error) {
	doc, err := readFile(openAPI)
	if err != nil {
		return nil, fmt.Errorf("reading the OpenAPI file: %w", err)
	}
	s := &site{pages: map[string]Page{}, operations: readOperations(doc)}
	s.page = template.Must(template.New("page.html").Funcs(template.FuncMap{
		"fields": func(fields []field, of string) fieldList { return fieldList{fields, of} },
	}).ParseFS(assets, "assets/page.html"))
	s.css, s.js = s.asset("docs.css", style), s.asset("docs.js", script)
	tags := map[string]string{}
	for _, tag := range doc.in("tags").list() {
		g := group{Name: tag.in("name").text(), Description: tag.in("description").text()}
		for _, o := range s.operations {
			if o.Tag == g.Name {
				g.Operations = append(g.Operations, o)
			}
		}
		s.groups = append(s.groups, g)
		tags[g.Name] = g.Description
	}
	for at, picture := range docs.Pictures() {
		s.pages["/"+at] = Page{mime.TypeByExtension(path.Ext(at)), picture, false}
	}
	for _, p := range parts {
		for _, g := range p.guides {
			s.guide(g.file, g.title)
		}
	}
	s.render("/docs/reference", view{Title: "Reference", Index: true,
		Body: docs.HTML(doc.in("info", "description").text(), "", "../")})
	for i, o := range s.operations {
		s.render("/docs/reference/"+o.ID, view{Title: o.Summary, Operation: &s.operations[i]})
	}
	s.pages["/docs/collection.json"] = Page{data, makeCollection(s.operations, tags, publicURL, version), false}
	found, err := json.Marshal(s.index)
	if err != nil {
		return nil, err
	}
	s.pages["/docs/search.json"] = Page{data, found, false}
	return s.pages, s.err
}

type fieldList struct {
	Fields []field
	Of     string
}

// site is what Pages works on.
type site struct {
	page       *template.Template
	css, js    string
	groups     []group
	operations []endpoint
	index      []found
	pages      map[string]Page
	err        error
}

// found is an entry of the index: what is written, where, of which kind it is, and the words that stand there.
type found struct {
	Text  string `json:"t"`
	In    string `json:"i"`
	Path  string `json:"p"`
	Words string `json:"w,omitempty"`
}

var (
	word = regexp.MustCompile(`[\pL\pN_]{2,}`)
	tag  = regexp.MustCompile(`<[^>]*>`)
)

// words are those of a text, each once, in small letters and without hyphens, as the search asks for them. The search
// finds a word within others too: one that is part of another is left out.
func words(text string) string {
	all := word.FindAllString(strings.ToLower(strings.ReplaceAll(text, "-", "")), -1)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	kept := ""
	for _, w := range all {
		if !strings.Contains(kept, w) {
			kept += w + " "
		}
	}
	return strings.TrimSuffix(kept, " ")
}

// asset serves a file under a name that changes with what is in it, so that browsers may keep it.
func (s *site) asset(name, contentType string) string {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	sum := sha256.Sum256(b)
	ending := path.Ext(name)
	name = strings.TrimSuffix(name, ending) + "." + hex.EncodeToString(sum[:6]) + ending
	s.pages["/docs/assets/"+name] = Page{contentType, b, true}
	return "docs/assets/" + name
}

func (s *site) guide(file, title string) {
	at, source := "/"+docs.Served[file], docs.Source(file)
	v := view{Title: title}
	head, body, _ := strings.Cut(string(docs.HTML(source, file, strings.Repeat("../", strings.Count(at, "/")-1))), "</h1>")
	v.Head, v.Body = template.HTML(head+"</h1>"), template.HTML(body)
	s.index = append(s.index, sections(source, title, at[1:])...)
	if file != "reference/errors.md" { // whose codes are a list of their own
		for _, h := range regexp.MustCompile("(?m)^## (.+)$").FindAllStringSubmatch(source, -1) {
			v.Sections = append(v.Sections, link{"#" + docs.Anchor(h[1]), strings.ReplaceAll(h[1], "`", "")})
		}
	} else {
		for _, m := range regexp.MustCompile(`(?m)^## ([A-Z_]+)\n\nHTTP (\d+)`).FindAllStringSubmatch(source, -1) {
			v.Codes = append(v.Codes, errorCode{m[1], m[2]})
		}
		slices.SortFunc(v.Codes, func(a, b errorCode) int { return strings.Compare(a.Code, b.Code) })
	}
	s.render(at, v)
}

var heading = regexp.MustCompile("(?m)^##+ (.+)$")

// sections are the entries of a document: what stands before its first heading, and what stands below each.
func sections(source, title, at string) []found {
	headings := heading.FindAllStringSubmatchIndex(source, -1)
	all := []found{{title, "Guide", at, ""}}
	begin := 0
	for _, h := range headings {
		all[len(all)-1].Words = words(source[begin:h[0]])
		name := source[h[2]:h[3]]
		all = append(all, found{strings.Trim(name, "`"), title, at + "#" + docs.Anchor(name), ""})
		begin = h[1]
	}
	all[len(all)-1].Words = words(source[begin:])
	return all
}

func (s *site) render(at string, v view) {
	v.Path, v.Root = at[1:], strings.Repeat("../", strings.Count(at, "/")-1)
	v.CSS, v.JS, v.Groups = s.css, s.js, s.groups
	for _, of := range parts {
		p := part{Title: of.title, Operations: of.title == referencePart}
		for _, g := range of.guides {
			p.Guides = append(p.Guides, link{docs.Served[g.file], g.title})
		}
		v.Parts = append(v.Parts, p)
	}
	if o := v.Operation; o != nil {
		s.index = append(s.index, found{o.Summary, o.Method + " " + o.Path, v.Path, o.words()},
			found{o.ID, o.Summary, v.Path, ""})
		seen := map[string]bool{}
		s.note(o.Params, o, seen)
		s.note(o.Body, o, seen)
		for _, a := range o.Answers {
			s.note(a.Fields, o, seen)
		}
	}
	var b bytes.Buffer
	if err := s.page.Execute(&b, v); err != nil && s.err == nil {
		s.err = fmt.Errorf("%s: %w", at, err)
	}
	s.pages[at] = Page{html, b.Bytes(), false}
}

// note lets the fields of an operation be found.
func (s *site) note(fields []field, o *endpoint, seen map[string]bool) {
	for _, f := range fields {
		if !seen[f.Name] {
			s.index = append(s.index, found{f.Name, o.ID, "docs/reference/" + o.ID + "#" + f.Name, ""})
		}
		seen[f.Name] = true
		s.note(f.Fields, o, seen)
	}
}

// words are those that describe an operation and the members of its request.
func (o *endpoint) words() string {
	var b strings.Builder
	b.WriteString(string(o.Description))
	var describe func([]field)
	describe = func(fields []field) {
		for _, f := range fields {
			b.WriteString(" " + f.Type + " " + string(f.Description))
			describe(f.Fields)
		}
	}
	describe(o.Params)
	describe(o.Body)
	return words(tag.ReplaceAllString(b.String(), " "))
}
