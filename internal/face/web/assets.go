package web

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"boon.example/internal/post/card"
	"boon.example/internal/refusal"
)

//go:embed templates assets
var files embed.FS

// The pages, each within the layout.
var (
	tmplFront    = parse("front.html")
	tmplGift     = parse("gift.html")
	tmplOutbox   = parse("outbox.html")
	tmplMessage  = parse("message.html")
	tmplTooMany  = parse("toomany.html")
	tmplNotFound = parse("notfound.html")
	tmplReplaced = parse("replaced.html")
	tmplMethod   = parse("method.html")
	tmplFailed   = parse("failed.html")
	tmplFind     = parse("find.html")
	tmplSent     = parse("sent.html")
	tmplEnter    = parse("enter.html")
	tmplOver     = parse("over.html")
	tmplMy       = parse("my.html")
)

func parse(name string) *template.Template {
	t := template.New("layout.html").Option("missingkey=error")
	return template.Must(t.ParseFS(files, "templates/layout.html", "templates/"+name))
}

const (
	iconName     = "icon.svg"
	accentPrefix = "accent-"
	forEver      = "public, max-age=31536000, immutable"
	forAnHour    = "public, max-age=3600"
)

var (
	icon   = read("assets/icon.svg")
	sheet  = read("assets/boon.css")
	script = read("assets/gift.js")
	// The names hold the hash of what they name, so that it can be cached for ever.
	sheetName  = fmt.Sprintf("boon-%x", sha256.Sum256(sheet))[:21] + ".css"
	scriptName = fmt.Sprintf("gift-%x", sha256.Sum256(script))[:21] + ".js"
)

func read(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}

// style serves the style sheet, the script, the icon, and for each accent colour a sheet that names it: pages carry no
// inline style.
func (s *site) style(w http.ResponseWriter, r *http.Request) {
	const css = "text/css; charset=utf-8"
	switch file := r.PathValue("file"); {
	case file == sheetName:
		w.Header().Set("Cache-Control", forEver)
		send(w, css, http.StatusOK, sheet)
	case file == scriptName:
		w.Header().Set("Cache-Control", forEver)
		send(w, "text/javascript; charset=utf-8", http.StatusOK, script)
	case file == iconName:
		w.Header().Set("Cache-Control", forAnHour)
		send(w, "image/svg+xml", http.StatusOK, icon)
	case strings.HasPrefix(file, accentPrefix) && strings.HasSuffix(file, ".css"):
		name := strings.TrimSuffix(strings.TrimPrefix(file, accentPrefix), ".css")
		if c, ok := card.ParseColor("#" + name); ok {
			w.Header().Set("Cache-Control", forAnHour)
			send(w, css, http.StatusOK, accentSheet(c))
			return
		}
		fallthrough
	default:
		s.fail(w, r, refusal.NotFound)
	}
}

// lightGrounds and darkGrounds are what links stand on, --ground and --surface of the two themes.
var (
	lightGrounds = []card.Color{{R: 0xf5, G: 0xf3, B: 0xee}, card.White}
	darkGrounds  = []card.Color{{R: 0x14, G: 0x14, B: 0x12}, {R: 0x1f, G: 0x1f, B: 0x1c}}
)

// accentSheet makes the accent colour that of the card, and of buttons and links, as far as it can be read there.
func accentSheet(c card.Color) []byte {
	return fmt.Appendf(nil, ":root{--accent:%s;--accent-shade:%s;--on-accent:%s;--link:%s;--link-on-white:%s}\n"+
		"@media screen and (prefers-color-scheme:dark){:root{--link:%s}}\n", c, c.Shade(), c.Text(), c.On(lightGrounds...),
		c.On(card.White), c.On(darkGrounds...))
}
