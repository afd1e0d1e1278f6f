package injection

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/http"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"boon.example/internal/base/normalize"
)

// seen is all that comes out of one gift.
type seen struct {
	page tree
	mail letterSeen
	sms  string
	pdf  document
}

func (w *world) see(t *testing.T, kind string, g *sentGift) *seen {
	t.Helper()
	s := &seen{}
	switch kind {
	case "email":
		s.mail = openMail(t, wait(t, &w.mailbox.mu, w.mailbox.by, g.contact))
	case "sms":
		s.sms = wait(t, &w.phone.mu, w.phone.texts, "+1"+g.contact)
	case "printed":
		s.pdf = openPDF(t, w.get(t, *g.PrintURL))
	}
	w.delivered(t, g)
	s.page = openPage(t, w.get(t, g.GiftURL))
	return s
}

func (w *world) get(t *testing.T, address string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	status, body := do(t, r)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", address, status, body)
	}
	return body
}

// tree is an HTML document: its elements and attributes, and its text apart from them.
type tree struct{ shape, text string }

// own are the attributes in which every gift differs.
var own = regexp.MustCompile(`/g/[0-9A-Za-z]{22}|\d{4}-\d\d-\d\dT[0-9:.]+Z|cid:(qr|logo|picture)\.[0-9a-f-]{36}@.*`)

func openPage(t *testing.T, page []byte) tree {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var shape, text strings.Builder
	var walk func(*html.Node, int)
	walk = func(n *html.Node, depth int) {
		switch n.Type {
		case html.TextNode:
			text.WriteString(n.Data)
		case html.ElementNode:
			fmt.Fprintf(&shape, "%*s<%s", depth, "", n.Data)
			for _, a := range n.Attr {
				value := own.ReplaceAllString(a.Val, "…")
				if a.Key == "d" || a.Key == "content" && strings.HasPrefix(shown(n), "og:") {
					value = "…" // the QR code, and what messengers show of the page
				}
				if n.Data == "a" && onMap.MatchString(value) {
					value = "a map"
				}
				fmt.Fprintf(&shape, " %s=%q", a.Key, value)
			}
			shape.WriteString(">\n")
		case html.DocumentNode:
		default:
			fmt.Fprintf(&shape, "%*snode %d %q\n", depth, "", n.Type, n.Data)
		}
		for c := range n.ChildNodes() {
			walk(c, depth+1)
		}
	}
	unfold(root)
	walk(root, 0)
	return tree{shape.String(), normalize.String(text.String())}
}

// onMap is a link to a map, which holds what to search for and nothing else.
var onMap = regexp.MustCompile(`^https://www\.openstreetmap\.org/search\?query=[%+.0-9A-Z_a-z~-]+$`)

// shown is what a meta element is about.
func shown(n *html.Node) string { return attribute(n, "property") }

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// unfold makes of a message that is folded one that is not, unless its summary holds more than three texts: whether a
// message is folded goes by its length alone.
func unfold(n *html.Node) {
	for c := range n.ChildNodes() {
		unfold(c)
	}
	if n.Data != "details" || attribute(n, "class") != "message" {
		return
	}
	var summary *html.Node
	for c := range n.ChildNodes() {
		if c.Data == "summary" {
			summary = c
		}
	}
	spans := 0
	for c := range summary.ChildNodes() {
		switch {
		case c.Type == html.TextNode:
		case c.Data == "span" && (c.FirstChild == nil || c.FirstChild == c.LastChild && c.FirstChild.Type == html.TextNode):
			spans++
		default:
			return
		}
	}
	if spans != 3 {
		return
	}
	n.RemoveChild(summary)
	for c := range n.ChildNodes() {
		if c.Data == "blockquote" {
			n.Data, n.DataAtom, n.FirstChild, n.LastChild = c.Data, c.DataAtom, c.FirstChild, c.LastChild
			n.Attr = []html.Attribute{{Key: "class", Val: "message"}}
			break
		}
	}
}

// letterSeen is a mail that was taken apart.
type letterSeen struct {
	headers    string // their names and those values that are not the gift's own
	parts      string
	subject    string
	text       string
	html       tree
	recipients int
}

func openMail(t *testing.T, text string) (l letterSeen) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Header)) {
		l.headers += fmt.Sprintf("%s × %d\n", name, len(m.Header[name]))
	}
	words := mime.WordDecoder{}
	if l.subject, err = words.DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Errorf("the subject %q: %v", m.Header.Get("Subject"), err)
	}
	to, err := m.Header.AddressList("To")
	if err != nil {
		t.Errorf("To %q: %v", m.Header.Get("To"), err)
	}
	from, err := m.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Address != "gifts@example.com" {
		t.Errorf("From %q: %v", m.Header.Get("From"), err)
	}
	l.recipients = len(to)
	l.open(t, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body, 0)
	return l
}

func (l *letterSeen) open(t *testing.T, contentType, encoding string, body io.Reader, depth int) {
	t.Helper()
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatalf("%q: %v", contentType, err)
	}
	l.parts += fmt.Sprintf("%*s%s %s %s\n", depth, "", media, params["charset"], encoding)
	if strings.HasPrefix(media, "multipart/") {
		for r := multipart.NewReader(body, params["boundary"]); ; {
			part, err := r.NextRawPart()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatalf("a part of the mail: %v", err)
			}
			l.open(t, part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part, depth+1)
		}
	}
	switch encoding {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("a part of %s: %v", media, err)
	}
	content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	switch media {
	case "text/plain":
		l.text = string(content)
	case "text/html":
		l.html = openPage(t, content)
	}
}

// document is a PDF: its names outside of streams, and the operators within, without those that draw the characters
// that no built-in font has.
type document struct {
	shape   string
	drawn   bool // it has such characters
	objects int
	pages   int
}

// like tells whether two documents are made of the same: characters that are drawn are objects of their own.
func (d document) like(other document) bool {
	return d.shape == other.shape && (d.drawn || other.drawn || d.objects == other.objects)
}

var (
	stream  = regexp.MustCompile(`>>\s*stream\r?\n`)
	length  = regexp.MustCompile(`/Length (\d+)`)
	literal = regexp.MustCompile(`(?s)\((?:\\.|[^\\()])*\)`)
	pdfName = regexp.MustCompile(`/[A-Za-z0-9]+`)
	word    = regexp.MustCompile(`[A-Za-z*']+`)
	keyword = regexp.MustCompile(`\b(obj|endobj|trailer|startxref|xref)\b`)
	// what a font of drawn characters is made of, with its characters; and how they are placed in a line
	drawing = regexp.MustCompile(`^/(Type3|CharProcs|FontMatrix|FirstChar|LastChar|Widths|Differences|Prev|G\d+|a\d+)$`)
	placing = regexp.MustCompile(`^(Tm|TJ|Ts)$`)
)

// openPDF lists what a PDF is made of. Fonts, of which every text needs other parts, are not looked into.
func openPDF(t *testing.T, pdf []byte) document {
	t.Helper()
	if !bytes.HasPrefix(pdf, []byte("%PDF-1.")) || !bytes.HasSuffix(bytes.TrimSpace(pdf), []byte("%%EOF")) {
		t.Fatalf("this is no PDF: %.40q", pdf)
	}
	names, operators := map[string]bool{}, map[string]bool{}
	var outside []byte
	rest := pdf
	for {
		at := stream.FindIndex(rest)
		if at == nil {
			break
		}
		said, n := length.FindAllSubmatch(rest[:at[1]], -1), 0
		if len(said) > 0 {
			fmt.Sscan(string(said[len(said)-1][1]), &n)
		}
		outside = append(outside, rest[:at[1]]...)
		if n == 0 || at[1]+n > len(rest) {
			t.Fatal("a stream of the PDF does not say how long it is, or is longer than the file")
		}
		content := rest[at[1] : at[1]+n]
		rest = rest[at[1]+n:]
		if after := bytes.TrimLeft(rest, "\r\n"); !bytes.HasPrefix(after, []byte("endstream")) {
			t.Fatalf("a stream of the PDF does not end where it says: %.40q", after)
		}
		z, err := zlib.NewReader(bytes.NewReader(content))
		if err != nil {
			continue
		}
		if content, err = io.ReadAll(z); err != nil || !bytes.Contains(content, []byte("BT ")) {
			continue
		}
		for _, o := range word.FindAllString(string(literal.ReplaceAll(content, nil)), -1) {
			if !placing.MatchString(o) {
				operators[o] = true
			}
		}
	}
	outside = literal.ReplaceAll(append(outside, rest...), nil)
	for _, n := range pdfName.FindAllString(string(outside), -1) {
		if !drawing.MatchString(n) {
			names[n] = true
		}
	}
	return document{
		shape:   fmt.Sprintf("%v %v", slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(operators))),
		drawn:   bytes.Contains(outside, []byte("/CharProcs")),
		objects: len(keyword.FindAll(outside, -1)),
		pages:   bytes.Count(outside, []byte("/Type /Page\n")),
	}
}
