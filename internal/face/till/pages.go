package till

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"boon.example/internal/face/web"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

//go:embed templates assets
var files embed.FS

// languages are those that the pages of a till are in: all.
var languages = merchant.Languages()

// policy lets a page run its own scripts, a decoder in WebAssembly among them, and ask this site.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: " +
	"blob:; " +
	"media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'; form-action 'self'"

func setHeaders(h http.Header) {
	web.SetHeaders(h)
	h.Set("Content-Security-Policy", policy)
	h.Set("Permissions-Policy", "camera=(self), geolocation=(), microphone=(), payment=()")
}

// file is an asset.
type file struct {
	kind, tag string
	content   []byte
}

// pages are all pages in all languages, as they never change, and what they need.
type pages struct {
	rendered map[string]map[merchant.Language][]byte // by template
	assets   map[string]*file
	// The folder that pages name them in is a hash over all of them: scripts import each other by their names, and
	// those of two releases must not meet, also where a device keeps them.
	folder string
}

// comments are the lines of our scripts that explain them. A phone on a bad line need not fetch these.
var comments = regexp.MustCompile(`(?m)^[ \t]*(//.*|/\*\*(?s:.*?)\*/)\n`)

// allPages are read when the first service of a process begins.
var allPages = sync.OnceValue(readPages)

func readPages() (p pages) {
	p.assets = map[string]*file{}
	all := sha256.New()
	must(fs.WalkDir(files, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		if path.Ext(name) == ".js" && !strings.Contains(name, "/vendor/") {
			content = comments.ReplaceAll(content, nil)
		}
		sum := sha256.Sum256(content)
		fmt.Fprintf(all, "%s %x\n", name, sum)
		p.assets[strings.TrimPrefix(name, "assets/")] = &file{tag: `"` + hex.EncodeToString(sum[:8]) + `"`,
			kind: kindOf(path.Ext(name)), content: content}
		return err
	}))
	p.folder = hex.EncodeToString(all.Sum(nil)[:8])
	p.rendered = map[string]map[merchant.Language][]byte{"till.html": {}, "pair.html": {}}
	for name, versions := range p.rendered {
		only := p.onlyInPage(name)
		for _, l := range languages {
			versions[l] = p.render(name, l, only)
		}
	}
	return p
}

func must(err error) {
	if err != nil {
		panic(err) // of what is embedded
	}
}

// kindOf is the type of a file by the end of its name: what the machine knows of them differs.
func kindOf(ext string) string {
	switch ext {
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".wasm":
		return "application/wasm"
	case ".webmanifest":
		return "application/manifest+json"
	case ".gz": // a script unpacks it
		return "application/gzip"
	}
	return mime.TypeByExtension(ext)
}

// textInPage finds the texts that stand in a page itself.
var textInPage = regexp.MustCompile(`\{\{t "(till\.[^"]+)"\}\}`)

// onlyInPage are the texts that a page shows and no script says. They need not be fetched a second time.
func (p *pages) onlyInPage(name string) (texts []string) {
	source, err := files.ReadFile("templates/" + name)
	must(err)
	for _, m := range textInPage.FindAllSubmatch(source, -1) {
		if text := string(m[1]); !p.scriptsName(text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// scriptsName reports whether a script names a text: whole, or a beginning that several have.
func (p *pages) scriptsName(text string) bool {
	for name, f := range p.assets {
		if path.Ext(name) != ".js" || strings.HasPrefix(name, "vendor/") {
			continue
		}
		for end := range text {
			whole := end+1 == len(text)
			if (whole || strings.ContainsRune(".-", rune(text[end]))) &&
				bytes.Contains(f.content, []byte(`"`+text[:end+1]+`"`)) {
				return true
			}
		}
	}
	return false
}

// render makes a page in a language. Its scripts are given all texts but some.
func (p *pages) render(name string, l merchant.Language, but []string) []byte {
	texts := locale.For(l)
	said := texts.All("till.")
	for _, text := range but {
		delete(said, text)
	}
	all, err := json.Marshal(said)
	must(err)
	tmpl, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{
		"t": texts.Text,
		"asset": func(name string) (string, error) {
			if p.assets[name] != nil {
				return path.Join(Path, "assets", p.folder, name), nil
			}
			return "", fmt.Errorf("there is no asset %s", name)
		},
	}).ParseFS(files, "templates/*.html")
	must(err)
	var b bytes.Buffer
	must(tmpl.ExecuteTemplate(&b, name, map[string]any{"Lang": string(l), "Dir": "ltr", "Texts": template.JS(all)}))
	return b.Bytes()
}

// document sends a page, in the language that the browser asks for.
func (t *tills) document(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l := merchant.Language(r.URL.Query().Get("lang"))
		if !slices.Contains(languages, l) {
			l = locale.Match(r.Header.Get("Accept-Language"), merchant.English)
		}
		w.Header().Add("Vary", "Accept-Language")
		send(w, r, "text/html; charset=utf-8", t.pages.rendered[name][l])
	})
}

// asset sends a file that pages need, from whatever folder they name: a page of an earlier release may still be open.
func (t *tills) asset(w http.ResponseWriter, r *http.Request) {
	lasting := "no-cache"
	if r.PathValue("folder") == t.pages.folder {
		lasting = "public, max-age=31536000, immutable"
	}
	t.sendFile(w, r, t.pages.assets[r.PathValue("file")], lasting)
}

// topAsset sends one that must stand beside the pages: a service worker governs what is below it.
func (t *tills) topAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if name != "sw.js" && name != "manifest.webmanifest" {
		name = ""
	}
	w.Header().Set("Service-Worker-Allowed", Path)
	t.sendFile(w, r, t.pages.assets[name], "no-cache")
}

func (t *tills) sendFile(w http.ResponseWriter, r *http.Request, f *file, lasting string) {
	if f == nil {
		t.Service.Fail(w, r, http.StatusNotFound)
		return
	}
	w.Header().Set("Cache-Control", lasting)
	w.Header().Set("Etag", f.tag)
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, r, f.kind, f.content)
}

func send(w http.ResponseWriter, r *http.Request, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the device may have gone
	}
}
