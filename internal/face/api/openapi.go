package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/face/reference"
	"boon.example/internal/service"
)

// openapi.yaml is the description of the interface as people write it, openapi.json the same as programs read it, and
// openapi-3.0.json what of it OpenAPI 3.0 can say, for generators that do not read 3.1.
//
//go:generate go test -run TestOpenAPIFileIsGenerated -update .
//go:generate go test -run TestOpenAPI30FileIsGenerated -update .
//go:generate go test -run TestTextsStay -update .
//go:embed openapi.json
var openAPIFile []byte

//go:embed openapi-3.0.json
var openAPI30File []byte

// exampleURL is where the server of openapi.yaml stands, and unversioned its version.
const (
	exampleURL  = "https://gifts.example.com"
	unversioned = `"version":"0.0.0"`
)

// OpenAPI gives the description of the interface, OpenAPI 3.1 as JSON, with the version and the public address of
// this server.
func OpenAPI(version, publicURL string) []byte { return described(openAPIFile, version, publicURL) }

// OpenAPI30 gives what of the description OpenAPI 3.0 can say. A request that it allows is one that OpenAPI allows, but
// for members that it lets stand together; the empty text in place of null is known to OpenAPI alone.
func OpenAPI30(version, publicURL string) []byte { return described(openAPI30File, version, publicURL) }

func described(file []byte, version, publicURL string) []byte {
	address, _ := jsontext.AppendQuote(nil, strings.TrimSuffix(publicURL, "/")) // the error only tells of invalid UTF-8
	var compact bytes.Buffer
	if err := json.Compact(&compact, file); err != nil {
		panic(fmt.Sprintf("the OpenAPI file is part of the program and cannot be read: %v", err))
	}
	versioned := strings.Replace(compact.String(), unversioned, `"version":"`+version+`"`, 1)
	return []byte(strings.ReplaceAll(versioned, exampleURL, string(address[1:len(address)-1])))
}

// docsPolicy lets the pages use what this server serves and nothing else.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docPatterns are where the description of the interface and the pages about it are found, as http.ServeMux takes them.
var docPatterns = []string{"/openapi.json", "/openapi-3.0.json", "/docs", "/docs/errors", "/docs/{page}",
	"/docs/reference/{operation}", "/docs/assets/{file}"}

// docPages gives the OpenAPI files and the pages that are made of it, by path. It is a fifth of a second's work, and
// they take 7 MB, so the first call for one has them made: most services never show them.
func docPages(version, publicURL string) map[string]reference.Page {
	file := OpenAPI(version, publicURL)
	pages, err := reference.Pages(file, version, publicURL)
	if err != nil {
		panic(err) // they are part of the program
	}
	pages["/openapi.json"] = reference.Page{Type: "application/json", Body: file}
	pages["/openapi-3.0.json"] = reference.Page{Type: "application/json", Body: OpenAPI30(version, publicURL)}
	return pages
}

// serveDocs answers GET with a page.
func (a *API) serveDocs() http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, known := a.docs()[r.URL.Path]
		if !known {
			a.nothing(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			a.Refuse(w, r, service.WrongMethod(w, "GET, HEAD"))
			return
		}
		h := w.Header()
		h.Set("Content-Type", p.Type)
		h.Set("Content-Length", strconv.Itoa(len(p.Body)))
		h.Set("Content-Security-Policy", docsPolicy)
		h.Set("Cache-Control", "no-cache") // a new release shows at once
		if p.Fixed {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		w.Write(p.Body) // a caller that has gone is no failure of ours
	}
}
