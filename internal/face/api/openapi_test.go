package api

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"boon.example/examples"
	"boon.example/internal/event"
	"boon.example/internal/face/api/contract"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/service"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

var theFile = OpenAPI("1.2.3", "https://cards.example.org/")

func readFile(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(theFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIIsValid(t *testing.T) {
	t.Parallel()
	doc := readFile(t)
	if !doc.IsOpenAPI31OrLater() {
		t.Error("the file must be OpenAPI 3.1")
	}
	if doc.Info.Version != "1.2.3" || doc.Servers[0].URL != "https://cards.example.org" {
		t.Errorf("version %s, server %s", doc.Info.Version, doc.Servers[0].URL)
	}
	if strings.Contains(string(theFile), exampleURL) {
		t.Error("an example still shows the address of another server")
	}
}

func TestOpenAPIKeepsOrderAndNumbers(t *testing.T) {
	t.Parallel()
	text := string(theFile)
	if !strings.HasPrefix(text, `{"openapi":"3.1.0","info":{"title":"Boon","version":"1.2.3"`) {
		t.Errorf("the file begins with %.80s", text)
	}
	for _, number := range []string{`"originalBalance":25.50`, `"amount":-10.00`, `"currentBalance":0.00`,
		`"maximum":999999999999`} {
		if !strings.Contains(text, number) {
			t.Errorf("%s is not written as in the file", number)
		}
	}
}

// The examples fit their schemas, and they are true: a server with the example set-up answers as they say.
func TestTheExamplesAreTrue(t *testing.T) {
	t.Parallel()
	checker := contract.New(t, theFile)
	story, err := checker.Story(theFile)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(checker.Handler(ServerOfTheExample(t)))
	t.Cleanup(server.Close)
	if err := story.Tell(server.Client(), server.URL, examples.HarborTillKey, examples.HarborOfficeKey); err != nil {
		t.Error(err)
	}
}

// ServerOfTheExample is the interface over a fresh store with the example set-up.
func ServerOfTheExample(t *testing.T) http.Handler {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Database: pgtest.Database(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	file, err := setup.ParseDemo("harbor-coffee.yaml", examples.HarborCoffee())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Apply(t.Context(), db, time.Now(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	directory, err := db.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The dates in the examples are ahead of the day on which they were written.
	begun := time.Now()
	clock := func() time.Time { return time.Date(2026, 11, 20, 15, 4, 0, 0, time.UTC).Add(time.Since(begun)) }
	started := engine.Start(db, engine.Options{Now: clock})
	t.Cleanup(started.Stop)
	ctx, stop := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	look := db.WatchEvents() // for those that wait: elsewhere, a transaction may be open that holds up events
	looking.Go(func() { look(ctx) })
	t.Cleanup(looking.Wait)
	t.Cleanup(stop)
	calls := service.New(service.Config{
		Engine: started, Records: db, Directory: func() *merchant.Directory { return directory },
		Fingerprint: db.Keys().Fingerprint, PublicURL: "https://cards.example.org", Now: clock,
	})
	mux := http.NewServeMux()
	New(Config{Service: calls, Records: db, Hooks: db, Cursors: db.Keys(), Email: true, SMS: true}).Register(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { calls.Fail(w, r, http.StatusNotFound) })
	return calls.Front(mux, Root, "")
}

// TestTheFileListsTheTable: the file lists the operations, the kinds of entry and the types of events that there are,
// and each in the order of the table.
func TestTheFileListsTheTable(t *testing.T) {
	t.Parallel()
	schemas := readFile(t).Components.Schemas
	for where, list := range map[string]struct {
		schema *openapi3.Schema
		want   []string
	}{
		"Entry.kind": {schemas["Entry"].Value.Properties["kind"].Value, listed(gift.Kinds())},
		"Operation":  {schemas["Operation"].Value, listed(operation.All())},
		"Redeeming":  {schemas["Redeeming"].Value, listed(operation.ReverseRedemption.Undoes())},
		"Event.type": {schemas["Event"].Value.Properties["type"].Value, listed(event.Types())},
	} {
		var is []string
		for _, name := range list.schema.Enum {
			is = append(is, fmt.Sprint(name))
		}
		if diff := cmp.Diff(list.want, is); diff != "" {
			t.Errorf("the schema %s (-table +file):\n%s", where, diff)
		}
	}
}

func listed[S ~string](of []S) (all []string) {
	for _, name := range of {
		all = append(all, string(name))
	}
	return all
}

func TestOperationIDsAreUnique(t *testing.T) {
	t.Parallel()
	routes, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range routes {
		if seen[r.OperationID] || r.OperationID == "" {
			t.Errorf("%s %s: operationId %q", r.Method, r.Path, r.OperationID)
		}
		seen[r.OperationID] = true
	}
}

// Every code is documented with an HTTP status, and no other code is.
func TestCodesAreThoseOfTheDomain(t *testing.T) {
	t.Parallel()
	doc := readFile(t)
	var all []string
	for _, c := range refusal.Codes() {
		all = append(all, string(c))
	}
	slices.Sort(all)
	var listed []string
	for _, c := range doc.Components.Schemas["Code"].Value.Enum {
		listed = append(listed, fmt.Sprint(c))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(all, listed); diff != "" {
		t.Errorf("the schema Code (-domain +file):\n%s", diff)
	}
	used := map[string]bool{}
	for _, r := range problems(doc) {
		for _, c := range r.codes {
			used[c] = true
			if !strings.Contains(r.description, c) {
				t.Errorf("%s: the description does not tell of %s", r.where, c)
			}
		}
		if len(r.codes) == 0 {
			t.Errorf("%s: the codes are not listed", r.where)
		}
	}
	if diff := cmp.Diff(all, slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("the codes of all answers (-domain +file):\n%s", diff)
	}
}

type problem struct {
	where       string
	description string
	codes       []string
}

// problems lists every documented failure.
func problems(doc *openapi3.T) (found []problem) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, ref := range op.Responses.Map() {
				content := ref.Value.Content["application/problem+json"]
				if content == nil {
					continue
				}
				p := problem{where: method + " " + path + " " + status, description: *ref.Value.Description}
				for _, part := range content.Schema.Value.AllOf {
					if code := part.Value.Properties["code"]; code != nil && code.Ref == "" {
						for _, c := range code.Value.Enum {
							p.codes = append(p.codes, fmt.Sprint(c))
						}
					}
				}
				found = append(found, p)
			}
		}
	}
	return found
}

// Every member, parameter and header says what it is, objects of requests take no unknown members, and those of
// answers have no optional ones, unless they say that they are there only where something rare was asked for. What
// tells a balance tells what of it is available.
func TestSchemasAreComplete(t *testing.T) {
	t.Parallel()
	var doc map[string]any
	if err := json.Unmarshal(theFile, &doc); err != nil {
		t.Fatal(err)
	}
	components := doc["components"].(map[string]any)["schemas"].(map[string]any)
	requests := []string{"MonetaryGift", "ItemGift", "Recipient", "TicketData", "PointOfSaleTicket"}
	for _, item := range readFile(t).Paths.Map() {
		for _, op := range item.Operations() {
			if op.RequestBody != nil && op.RequestBody.Value.Content["application/json"] != nil { // else it is a file
				requests = append(requests, path.Base(op.RequestBody.Value.Content["application/json"].Schema.Ref))
			}
		}
	}
	for name, schema := range components {
		checkSchema(t, name, schema.(map[string]any), slices.Contains(requests, name))
	}
}

func checkSchema(t *testing.T, at string, schema map[string]any, request bool) {
	ref, _ := schema["$ref"].(string)
	if d, _ := schema["description"].(string); ref == "" && (len(d) < 3 || !strings.HasSuffix(strings.TrimSpace(d), ".")) {
		t.Errorf("%s: the description is %q; it must be a sentence", at, d)
	}
	if ref == "" && schema["type"] == nil && schema["anyOf"] == nil && schema["allOf"] == nil &&
		schema["description"] != "Not used; any value." {
		t.Errorf("%s has no type", at)
	}
	properties, _ := schema["properties"].(map[string]any)
	open := strings.HasPrefix(at, "PointOfSaleTicket") // a till may tell more than is used
	if request && properties != nil && !open && schema["additionalProperties"] != false {
		t.Errorf("%s: a request must refuse unknown members", at)
	}
	// An entry tells what it added to what is held.
	if properties["currentBalance"] != nil && properties["heldAmount"] == nil &&
		(properties["heldBalance"] == nil || properties["availableBalance"] == nil) {
		t.Errorf("%s tells a balance, and not what of it is available", at)
	}
	required, _ := schema["required"].([]any)
	for name, property := range properties {
		// A column of a report is in all of its rows, or in none: see groupBy.
		said, _ := property.(map[string]any)["description"].(string)
		column := strings.HasSuffix(at, "Row") && strings.Contains(strings.ToLower(said), "only with groupby=")
		ref := property.(map[string]any)["$ref"]
		rare := ref == "#/components/schemas/DryRun" || ref == "#/components/schemas/Receipt" ||
			ref == "#/components/schemas/NewCard" ||
			strings.HasPrefix(said, "Only where ")
		if !request && !column && !rare && !slices.Contains(required, any(name)) {
			t.Errorf("%s.%s: every documented member of an answer is always present", at, name)
		}
		checkSchema(t, at+"."+name, property.(map[string]any), request)
	}
	if items, ok := schema["items"].(map[string]any); ok {
		checkSchema(t, at+"[]", items, request)
	}
	parts, _ := schema["allOf"].([]any)
	for _, part := range parts {
		if part := part.(map[string]any); part["properties"] != nil {
			part["description"] = "A part."
			checkSchema(t, at, part, request)
		}
	}
}

func TestEveryParameterAndHeaderIsDescribed(t *testing.T) {
	t.Parallel()
	doc := readFile(t)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			at := method + " " + path
			if op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s has no summary or not one tag", at)
			}
			for _, p := range op.Parameters {
				if p.Value.Description == "" || p.Value.Schema.Value.Description == "" {
					t.Errorf("%s: the parameter %s is not described", at, p.Value.Name)
				}
			}
			for status, r := range op.Responses.Map() {
				for _, always := range []string{"X-Request-ID", "Boon-Version"} {
					if r.Value.Headers[always] == nil {
						t.Errorf("%s %s lacks the header %s", at, status, always)
					}
				}
				for name, h := range r.Value.Headers {
					if h.Value.Description == "" {
						t.Errorf("%s %s: the header %s is not described", at, status, name)
					}
				}
			}
		}
	}
}

// The pages are those of the file, they come under a policy that names no other host, and use nothing that they must
// not.
func TestDocPages(t *testing.T) {
	racetest.SkipShort(t, "it reads pages, which nothing changes")
	t.Parallel()
	pgtest.Once(t)
	remote := regexp.MustCompile(`(?i)(src|action|<link[^>]*href)="?(https?:)?//|@import|url\("?(https?:)?//`)
	handler := ServerOfTheExample(t)
	for path, p := range docPages("1.2.3", "https://cards.example.org") {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK || w.Body.Len() == 0 {
			t.Errorf("%s: %d, %d bytes", path, w.Code, w.Body.Len())
		}
		if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if strings.HasSuffix(p.Type, "html; charset=utf-8") || strings.HasPrefix(p.Type, "text/css") {
			if found := remote.FindString(w.Body.String()); found != "" {
				t.Errorf("%s asks another host: %s", path, found)
			}
		}
	}
}

// The routes are those of the file and the other way round. /healthz and /readyz are the server's.
func TestRoutesAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	documented, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, r := range documented {
		want = append(want, r.Method+" "+r.Path)
	}
	for _, r := range Routes() {
		got = append(got, r.Method+" "+r.Pattern)
	}
	for _, pattern := range docPatterns {
		got = append(got, "GET "+pattern)
	}
	got = append(got, "GET /healthz", "GET /readyz")
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-file +mux):\n%s", diff)
	}
}

// The pages, and what is answered beside them, are as the file says.
func TestServedDocs(t *testing.T) {
	racetest.SkipShort(t, "it reads pages, which nothing changes")
	t.Parallel()
	pgtest.Once(t)
	checker := contract.New(t, theFile)
	handler := checker.Handler(ServerOfTheExample(t))
	for path, want := range map[string]int{
		"GET /openapi.json": 200, "GET /openapi-3.0.json": 200, "HEAD /docs": 200, "GET /docs": 200, "GET /docs/errors": 200,
		"GET /docs/events": 200, "GET /docs/watch": 200, "GET /docs/promises": 200,
		"GET /docs/assets/till-en.png":    200,
		"GET /docs/assets/answer-wix.svg": 200, "GET /docs/assets/nothing.png": 404,
		"GET /docs/collection.json": 200, "GET /docs/search.json": 200,
		"GET /docs/reference": 200, "GET /docs/reference/redeemGift": 200, "GET /docs/reference/nothing": 404,
		"GET /docs/nothing": 404, "GET /docs/assets/docs.css": 404, "GET /docs/assets/": 404,
		"POST /docs":         405,
		"GET /docs/errors/x": 404, "GET /": 404, "DELETE /api/integration/gifting/gifts": 405,
		"GET /api/integration/gifting/send-gift": 405,
	} {
		method, path, _ := strings.Cut(path, " ")
		w := httptest.NewRecorder()
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("X-Request-ID", "docs-1")
		handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s %s: answered %d, want %d", method, path, w.Code, want)
		}
	}
}

// The type of a problem document leads to the code on the page of errors.
func TestEveryCodeHasItsPlaceOnTheErrorsPage(t *testing.T) {
	t.Parallel()
	html := string(docPages("1.2.3", "")["/docs/errors"].Body)
	for _, c := range refusal.Codes() {
		if n := strings.Count(html, `id="`+string(c)+`"`); n != 1 {
			t.Errorf("%s has %d places", c, n)
		}
	}
}

// TestOpenAPIKnowsTheFamiliesOfEvents: whoever asks for events may name the families that there are, and no other.
func TestOpenAPIKnowsTheFamiliesOfEvents(t *testing.T) {
	t.Parallel()
	var families []string
	for _, kind := range event.Types() {
		if family, _, _ := strings.Cut(string(kind), "."); !slices.Contains(families, family) {
			families = append(families, family)
		}
	}
	file, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	patterns := regexp.MustCompile(`\((gift\|[a-z|]*)\)`).FindAllSubmatch(file, -1)
	for _, p := range patterns {
		if told := slices.Sorted(strings.SplitSeq(string(p[1]), "|")); !slices.Equal(told, families) {
			t.Errorf("openapi.yaml has the families %s, there are %s", told, families)
		}
	}
	if len(patterns) < 3 {
		t.Errorf("only %d patterns were found", len(patterns))
	}
}
