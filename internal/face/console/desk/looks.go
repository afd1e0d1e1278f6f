package desk

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/post/card"
	"boon.example/internal/post/locale"
	"boon.example/internal/staff"
)

//go:embed templates assets
var files embed.FS

// looks are the templates of all pages in all languages, and what pages load.
type looks struct {
	parts     []Part
	templates sync.Map // of pages by name, by how their locale writes times: few ways, so that all of them are kept
	assets    map[string][]byte
	folder    string // is named after the assets, so that those of two releases do not meet in a browser
}

// sharedTemplates are parts of pages that several pages of a part have.
const sharedTemplates = "templates/shared-*.html"

func readLooks(parts []Part) *looks {
	l := &looks{parts: parts, assets: map[string][]byte{}}
	all := sha256.New()
	for _, name := range list(files, "assets/*") {
		content, err := files.ReadFile(name)
		must(err)
		fmt.Fprintf(all, "%s %x\n", name, sha256.Sum256(content))
		l.assets[path.Base(name)] = content
	}
	l.folder = hex.EncodeToString(all.Sum(nil)[:8])
	for _, lang := range locale.ConsoleLanguages() {
		l.in(locale.For(lang)) // so that one which is wrong is noticed now
	}
	return l
}

// in are the templates of pages by name, which write times as people of a country do.
func (l *looks) in(texts *locale.Locale) map[string]*template.Template {
	if known, ok := l.templates.Load(texts.Times()); ok {
		return known.(map[string]*template.Template)
	}
	pages := map[string]*template.Template{}
	layout := template.New("layout.html").Option("missingkey=error").Funcs(l.functions(texts))
	layout = template.Must(layout.ParseFS(files, "templates/layout.html"))
	for _, part := range append(slices.Clip(l.parts), Part{Templates: files}) {
		shared := template.Must(layout.Clone())
		if names := list(part.Templates, sharedTemplates); len(names) > 0 {
			shared = template.Must(shared.ParseFS(part.Templates, names...))
		}
		for _, name := range list(part.Templates, "templates/*.html") {
			page := template.Must(shared.Clone())
			pages[path.Base(name)] = template.Must(page.ParseFS(part.Templates, name))
		}
	}
	kept, _ := l.templates.LoadOrStore(texts.Times(), pages)
	return kept.(map[string]*template.Template)
}

func list(in fs.FS, pattern string) []string {
	names, err := fs.Glob(in, pattern)
	must(err)
	return names
}

func must(err error) {
	if err != nil {
		panic(err) // of what is embedded
	}
}

// functions are what templates ask: t is a text, moment a time as people there write it.
func (l *looks) functions(times *locale.Locale) template.FuncMap {
	texts := locale.For(times.Language())
	return template.FuncMap{
		"t": texts.Text,
		"asset": func(name string) (string, error) {
			if l.assets[name] == nil {
				return "", fmt.Errorf("there is no asset %s", name)
			}
			return assetsPath + l.folder + "/" + name, nil
		},
		"role": func(r staff.Role) string { return texts.Text("console.role." + string(r)) },
		"permission": func(name string) string {
			if name == merchant.MayExport.Names()[0] { // staff export codes only where they also may see them
				return texts.Text("console.staff.export")
			}
			return texts.Text("console.may." + name)
		},
		"moment": func(t time.Time) string { return times.Moment(t) },
		"day":    func(t time.Time) string { return times.Day(t) },
		"when":   func(t time.Time) string { return times.Day(t) + ", " + times.Clock(t) },
	}
}

// frame is what the layout shows around a page.
type frame struct {
	Language merchant.Language
	Title    string
	Merchant string
	Accent   string // the address of the sheet that names the accent of the account; "": the console's own
	Home     string // the address of the account's console
	SignedIn bool
	Searches bool // the member may look for gifts
	Member   staff.Member
	Nav      [][]Link // in groups
	State    *State
	Action   *Link
	Data     any
}

// Link is one in a navigation.
type Link struct {
	Text, To string
	Key      string // the letter that opens it after g; "": none
	Here     bool
}

// State is the state of what a page is about, in a word or two.
type State struct {
	Text string
	Tone string // good, wait, bad or ""
}

// render makes a page.
func (f *desk) render(r *Request, v *View) ([]byte, error) {
	l := r.Locale.Language()
	shown := frame{Language: l, Title: r.Locale.Text(v.Title), SignedIn: len(r.Session.Key) > 0, Member: r.Member,
		State: v.State, Action: v.Action, Data: v.Data}
	if v.Heading != "" {
		shown.Title = v.Heading
	}
	if r.Account != nil && shown.SignedIn {
		shown.Searches = r.Member.Role.May().Has(merchant.MayLookUp)
		shown.Merchant, shown.Home, shown.Nav = card.Merchant(r.Account), Home(r.Account.ID), f.navigation(r)
		if c, ok := accent(r.Account); ok {
			shown.Accent = "/style/accent-" + strings.TrimPrefix(c.String(), "#") + ".css"
		}
	}
	var b bytes.Buffer
	if err := f.looks.in(r.Locale)[v.Template].Execute(&b, shown); err != nil {
		return nil, fmt.Errorf("making page %s of the console: %w", v.Template, err)
	}
	return b.Bytes(), nil
}

// accent is the color that an account chose: that of its default design.
func accent(a *merchant.Account) (card.Color, bool) {
	for _, d := range a.Designs {
		if d.ID == a.DefaultDesign {
			return card.ParseColor(d.AccentColor)
		}
	}
	return card.Color{}, false
}

// navigation are the pages that the member may see, in groups.
func (f *desk) navigation(r *Request) (groups [][]Link) {
	here, last := strings.TrimPrefix(r.HTTP.URL.Path, "/"), -1
	for _, p := range f.table {
		if p.Nav == "" || !r.sees(&p) {
			continue
		}
		_, below, _ := strings.Cut(p.Pattern, "/")
		below = strings.TrimSuffix(below, "{$}")
		if p.group != last {
			groups, last = append(groups, nil), p.group
		}
		group := &groups[len(groups)-1]
		*group = append(*group, Link{r.Locale.Text(p.Nav), Home(r.Account.ID) + below, p.Key,
			here == below || below != "" && strings.HasPrefix(here, below+"/")})
	}
	return groups
}

// ChooseLanguage chooses the language that the request asks for by its address, else by its browser, and the region of
// the account.
func (r *Request) ChooseLanguage() {
	l := merchant.Language(r.HTTP.FormValue("lang"))
	if !slices.Contains(locale.ConsoleLanguages(), l) {
		l = locale.Match(r.HTTP.Header.Get("Accept-Language"), merchant.English)
	}
	if !slices.Contains(locale.ConsoleLanguages(), l) {
		l = merchant.English
	}
	r.Writer.Header().Set("Vary", "Accept-Language, Cookie")
	found := locale.For(l)
	if r.Account != nil {
		found = found.In(r.Account.Country)
	}
	r.Locale = found
}

// asset serves what pages load, from whatever folder they name: a page of an earlier release may still be open.
func (f *desk) asset(w http.ResponseWriter, r *http.Request) {
	content := f.looks.assets[r.PathValue("file")]
	if content == nil {
		f.Service.Fail(w, r, http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	if r.PathValue("folder") == f.looks.folder {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	w.Header().Set("Content-Type", mime.TypeByExtension(path.Ext(r.PathValue("file"))))
	_, _ = w.Write(content) // the browser may have gone
}
