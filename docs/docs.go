// Package docs holds those pages of this folder that the server shows to its users. It knows nothing of the service.
package docs

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"regexp"
	"strings"
)

//go:embed errors.md
var errorsMD string

// Errors gives errors.md as HTML. A heading that is a code in capitals has that code as its id, so that an address can end in #CODE.
func Errors() template.HTML { return render(errorsMD) }

// render turns the Markdown of our own pages into HTML: headings, paragraphs, lists, tables, fenced code, `code`, **bold** and
// [links](address). What it does not know stays text; nothing in the source becomes markup of its own.
func render(markdown string) template.HTML {
	var r renderer
	for line := range strings.Lines(markdown) {
		r.line(strings.TrimRight(line, "\r\n"))
	}
	r.end()
	return template.HTML(r.b.String())
}

type renderer struct {
	b     strings.Builder
	block string // the element that is open: p, ul, ol, table, pre or ""
	rows  int    // of the table
}

var (
	heading = regexp.MustCompile(`^(#{1,4}) +(.+?)$`)
	numbers = regexp.MustCompile(`^\d+\. +(.*)$`)
	ruler   = regexp.MustCompile(`^\|[ :|-]+\|$`)
)

func (r *renderer) line(s string) {
	switch {
	case strings.HasPrefix(s, "```"):
		r.fence()
	case r.block == "pre":
		r.b.WriteString(html.EscapeString(s) + "\n")
	case strings.TrimSpace(s) == "":
		r.end()
	case heading.MatchString(s):
		r.end()
		m := heading.FindStringSubmatch(s)
		fmt.Fprintf(&r.b, "<h%d%s>%s</h%d>\n", len(m[1]), anchor(m[2]), inline(m[2]), len(m[1]))
	case strings.HasPrefix(s, "- "), strings.HasPrefix(s, "* "):
		r.item("ul", s[2:])
	case numbers.MatchString(s):
		r.item("ol", numbers.FindStringSubmatch(s)[1])
	case strings.HasPrefix(s, "|"):
		r.row(s)
	case r.block == "":
		r.begin("p")
		fallthrough
	default:
		r.b.WriteString(inline(strings.TrimSpace(s)) + "\n")
	}
}

func (r *renderer) begin(block string) {
	if r.block != block {
		r.end()
		r.block, r.rows = block, 0
		r.b.WriteString("<" + block + ">")
	}
}

func (r *renderer) end() {
	if r.block != "" {
		r.b.WriteString("</" + r.block + ">\n")
	}
	r.block = ""
}

func (r *renderer) fence() {
	if r.block == "pre" {
		r.end()
		return
	}
	r.begin("pre")
}

// item begins a list item; HTML closes it by itself, and lines that follow belong to it.
func (r *renderer) item(list, text string) {
	r.begin(list)
	r.b.WriteString("<li>" + inline(text) + "\n")
}

func (r *renderer) row(s string) {
	r.begin("table")
	s = strings.TrimSpace(s)
	if ruler.MatchString(s) {
		return
	}
	cell := "td"
	if r.rows == 0 {
		cell = "th"
	}
	r.rows++
	cells := strings.Split(strings.Trim(s, "|"), "|")
	r.b.WriteString("<tr" + anchor(cells[0]) + ">")
	for _, c := range cells {
		fmt.Fprintf(&r.b, "<%s>%s", cell, inline(strings.TrimSpace(c)))
	}
	r.b.WriteString("\n")
}

var code = regexp.MustCompile(`^[\s#*` + "`" + `]*([A-Z]+(?:_[A-Z]+)+|UNAUTHENTICATED|UNAVAILABLE)\b`)

// anchor gives the id of what begins with a code.
func anchor(s string) string {
	if m := code.FindStringSubmatch(s); m != nil {
		return ` id="` + m[1] + `"`
	}
	return ""
}

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	bold     = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	link     = regexp.MustCompile(`\[([^\]]+)\]\(((?:https?://|/|#|\.)?[A-Za-z0-9_#./?=&;%-]+)\)`)
)

// inline renders what may stand within a line. The text is escaped first, and code spans are kept from the other rules.
func inline(s string) string {
	s = html.EscapeString(s)
	var b strings.Builder
	for {
		at := codeSpan.FindStringSubmatchIndex(s)
		if at == nil {
			return b.String() + marks(s)
		}
		b.WriteString(marks(s[:at[0]]) + "<code>" + s[at[2]:at[3]] + "</code>")
		s = s[at[1]:]
	}
}

func marks(s string) string {
	s = bold.ReplaceAllString(s, "<strong>$1</strong>")
	return link.ReplaceAllString(s, `<a href="$2">$1</a>`)
}
