// Package docs holds those pages of this folder that the server shows to its users. It knows nothing of the service.
package docs

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed start guides reference operating why pictures/*.svg
//go:embed pictures/till-en.png pictures/till-more-en.png pictures/mail-picture.png pictures/page-logo-light.png
//go:embed pictures/paper-picture.png pictures/outbox.png
var files embed.FS

// pictures is the folder of the pictures that the documents show, and assets where the service has them.
const pictures, assets = "pictures", "docs/assets/"

// Pictures are those that served documents show, by the address below the service's.
func Pictures() map[string][]byte {
	all := map[string][]byte{}
	found, err := files.ReadDir(pictures)
	for _, f := range found {
		var b []byte
		if b, err = files.ReadFile(path.Join(pictures, f.Name())); err != nil {
			break
		}
		all[assets+f.Name()] = b
	}
	if err != nil {
		panic(err) // they are part of the program
	}
	return all
}

// Served are the documents that the service shows, by file, each with its address below the service's.
var Served = map[string]string{
	"start/afternoon.md":          "docs",
	"start/ten-minutes.md":        "docs/ten-minutes",
	"start/install-go.md":         "docs/install-go",
	"start/install-php.md":        "docs/install-php",
	"start/install-python.md":     "docs/install-python",
	"start/install-typescript.md": "docs/install-typescript",
	"guides/agents.md":            "docs/agents",
	"guides/books.md":             "docs/books",
	"guides/connect.md":           "docs/connect",
	"guides/import.md":            "docs/import",
	"guides/wallet.md":            "docs/wallet",
	"guides/my-gifts.md":          "docs/my-gifts",
	"guides/customers.md":         "docs/customers",
	"guides/cards.md":             "docs/cards",
	"guides/care.md":              "docs/care",
	"guides/going-live.md":        "docs/going-live",
	"guides/journals.md":          "docs/journals",
	"guides/platforms.md":         "docs/platforms",
	"guides/send.md":              "docs/send",
	"guides/take.md":              "docs/take",
	"guides/test-mode.md":         "docs/test-mode",
	"guides/tickets.md":           "docs/tickets",
	"guides/till.md":              "docs/till",
	"guides/console.md":           "docs/console",
	"guides/webhooks.md":          "docs/webhooks",
	"operating/backup.md":         "docs/backup",
	"operating/delivery.md":       "docs/delivery",
	"operating/sign-in.md":        "docs/sign-in",
	"operating/erase.md":          "docs/erase",
	"operating/install.md":        "docs/install",
	"operating/scale.md":          "docs/scale",
	"operating/timeouts.md":       "docs/timeouts",
	"operating/troubleshoot.md":   "docs/troubleshoot",
	"operating/upgrade.md":        "docs/upgrade",
	"operating/watch.md":          "docs/watch",
	"reference/command-line.md":   "docs/command-line",
	"reference/errors.md":         "docs/errors",
	"reference/events.md":         "docs/events",
	"reference/glossary.md":       "docs/glossary",
	"reference/setup.md":          "docs/setup",
	"reference/states.md":         "docs/states",
	"why/benchmarks.md":           "docs/benchmarks",
	"why/promises.md":             "docs/promises",
	"why/threat-model.md":         "docs/threat-model",
}

// Source gives a served document as it is written.
func Source(file string) string {
	b, err := files.ReadFile(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}

// HTML renders Markdown of ours. file is the document that it is from, whose links begin at its folder; "" is a text of
// no document. root leads from the page to the service's address ("../" from /docs/errors). A link to a document that
// is not served is left as text, a picture that is not as its description, and comments and diagrams are left out, as
// the pages run no script for these. Code can have the focus.
func HTML(markdown, file, root string) template.HTML {
	ctx := parser.NewContext(parser.WithIDs(headingIDs{}))
	ctx.Set(rootKey, root)
	ctx.Set(folderKey, path.Dir(file))
	var b bytes.Buffer
	if err := renderer.Convert([]byte(markdown), &b, parser.WithContext(ctx)); err != nil {
		panic(err) // a buffer takes everything
	}
	// Code scrolls within its box, also by keyboard.
	return template.HTML(strings.ReplaceAll(b.String(), "<pre>", `<pre tabindex="0">`))
}

var (
	rootKey, folderKey = parser.NewContextKey(), parser.NewContextKey()

	// The pages allow no style within a tag.
	aligned  = extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))
	renderer = goldmark.New(goldmark.WithExtensions(aligned), goldmark.WithParserOptions(
		parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(links{}, 1))))
)

// links makes links between documents links between pages.
type links struct{}

func (links) Transform(doc *ast.Document, reader text.Reader, ctx parser.Context) {
	root, folder := ctx.Get(rootKey).(string), ctx.Get(folderKey).(string)
	var gone []ast.Node
	// It fails only where the function does.
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			to, anchor, _ := strings.Cut(string(n.Destination), "#")
			page, served := Served[path.Join(folder, to)]
			switch {
			case !entering || to == "" || strings.Contains(to, "://"):
			case served && anchor != "":
				n.Destination = []byte(root + page + "#" + anchor)
			case served:
				n.Destination = []byte(root + page)
			default:
				gone = append(gone, n)
			}
		case *ast.Image:
			at := path.Join(folder, string(n.Destination))
			switch _, err := fs.Stat(files, at); {
			case !entering:
			case err == nil:
				n.Destination = []byte(root + assets + path.Base(at))
			default:
				gone = append(gone, n)
			}
		case *ast.HTMLBlock: // a comment
			if entering {
				gone = append(gone, n)
			}
		case *ast.FencedCodeBlock:
			if entering && string(n.Language(reader.Source())) == "mermaid" {
				gone = append(gone, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, n := range gone {
		if n.Type() == ast.TypeInline {
			for child := n.FirstChild(); child != nil; child = n.FirstChild() {
				n.Parent().InsertBefore(n.Parent(), n, child)
			}
		}
		n.Parent().RemoveChild(n.Parent(), n)
	}
}

// headingIDs makes the id of a heading from its text: an error code is its own anchor, others are as on the sites that
// show repositories.
type headingIDs struct{}

var (
	code  = regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	other = regexp.MustCompile("[^a-z0-9 _-]")
)

// Anchor gives the id of a heading.
func Anchor(heading string) string {
	heading = strings.Trim(heading, "` ")
	if code.MatchString(heading) {
		return heading
	}
	return strings.ReplaceAll(other.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

func (headingIDs) Generate(text []byte, _ ast.NodeKind) []byte { return []byte(Anchor(string(text))) }

func (headingIDs) Put([]byte) {}
