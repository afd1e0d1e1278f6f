// Package docs holds those pages of this folder that the server shows to its users. It knows nothing of the service.
package docs

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

//go:embed errors.md
var errorsMD []byte

// Errors gives errors.md as HTML. Each heading has its text as id, so that an address can end in #CODE.
func Errors() template.HTML {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var b bytes.Buffer
	if err := markdown.Convert(errorsMD, &b,
		parser.WithContext(parser.NewContext(parser.WithIDs(headingIDs{})))); err != nil {
		panic(err) // it is part of the program, and a buffer takes everything
	}
	return template.HTML(b.String())
}

// headingIDs makes the id of a heading from its text as it stands: an error code is its own anchor.
type headingIDs struct{}

func (headingIDs) Generate(text []byte, _ ast.NodeKind) []byte {
	return []byte(strings.ReplaceAll(strings.Trim(string(text), "` "), " ", "-"))
}

func (headingIDs) Put([]byte) {}
