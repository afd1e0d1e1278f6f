package api

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/docs"
)

// openapi.yaml is the description of the interface as people write it, openapi.json the same as programs read it.
//
//go:generate go test -run TestOpenAPIFileIsGenerated -update .
//go:embed openapi.json
var openAPIFile []byte

// exampleURL is where the server of openapi.yaml stands, and unversioned its version.
const (
	exampleURL  = "https://gifts.example.com"
	unversioned = `"version":"0.0.0"`
)

// OpenAPI gives the description of the interface, OpenAPI 3.1 as JSON, with the version and the public address of
// this server.
func OpenAPI(version, publicURL string) []byte {
	address, _ := jsontext.AppendQuote(nil, strings.TrimSuffix(publicURL, "/")) // the error only tells of invalid UTF-8
	var compact bytes.Buffer
	if err := json.Compact(&compact, openAPIFile); err != nil {
		panic(fmt.Sprintf("openapi.json is part of the program and cannot be read: %v", err))
	}
	versioned := strings.Replace(compact.String(), unversioned, `"version":"`+version+`"`, 1)
	return []byte(strings.ReplaceAll(versioned, exampleURL, string(address[1:len(address)-1])))
}

//go:embed assets
var assets embed.FS

// docsPolicy lets the pages use what this server serves and nothing else.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// page is a fixed answer to GET: the description of the interface and the pages about it.
type page struct {
	pattern     string // as http.ServeMux takes it, without a method
	contentType string
	body        []byte
}

// docPages gives /openapi.json, its reference page /docs, the page about every code /docs/errors, and what the two
// are made of.
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
	if err := template.Must(template.New("errors").Parse(string(asset("errors.html")))).Execute(&b,
		docs.Errors()); err != nil {
		panic(err)
	}
	return b.Bytes()
}
