package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/face/api"
)

var openAPI = api.OpenAPI("1.0.0", "https://gifts.example.com")

// one is a call that fits the file; the tables below change one thing about it.
type one struct {
	method, path  string
	requestHeader map[string]string
	sent          string
	status        int
	header        map[string]string
	body          string
}

func redemption() one {
	return one{
		method: "POST", path: "/api/integration/redemption/redeem-gift",
		requestHeader: map[string]string{"Authorization": "boon_test_x", "Content-Type": "application/json",
			"X-Request-ID": "r-1"},
		sent:   `{"voucherID":"01A1F97C-752E-7a01-8d11-5b0c6b3e9a01","amount":2.5e1,"reference":null}`,
		status: 200,
		header: map[string]string{"Content-Type": "application/json", "X-Request-ID": "r-1", "Boon-Version": "1.0.0"},
		body: `{"redemptionID":"01a1f97c-a74f-7d01-8d11-5b0c6b3e9c01","voucherID":"01a1f97c-752e-7a01-8d11-5b0c6b3e9a01",` +
			`"organizationID":"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11","amount":25.00,"currentBalance":15.50,"heldBalance":0.00,"availableBalance":15.50,"currency":"USD",` +
			`"status":"CLAIMED","statusID":5,"isRedeemable":true,"redeemedAt":"2026-11-20T15:04:18.511Z","reference":null,` +
			`"requestID":"r-1"}`,
	}
}

func refusal() one {
	c := redemption()
	c.status = 409
	c.header["Content-Type"] = "application/problem+json"
	c.body = `{"type":"https://gifts.example.com/docs/errors#ALREADY_REDEEMED","title":"The gift is already ` +
		`redeemed.","status":409,` +
		`"code":"ALREADY_REDEEMED","messages":[{"path":"","text":"This gift has been redeemed in full."}],"requestID":"r-1"}`
	return c
}

// voucher is a validate-gift call; its answer nests objects by allOf and anyOf.
func voucher(t *testing.T) one {
	c := redemption()
	c.path = "/api/integration/redemption/validate-gift"
	c.sent = `{"voucherCode":482913576024}`
	doc, err := decode(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	b := node{doc, doc}.in("paths", c.path, "post", "responses", "200", "content", "application/json", "examples",
		"withTicket", "value")
	c.body = marshal(t, b.value)
	c.body = strings.Replace(c.body, b.in("requestID").text(), "r-1", 1)
	return c
}

// errorsOf makes the call through the checker and gives what it reports.
func errorsOf(t *testing.T, f *file, c one) []error {
	t.Helper()
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.sent))
	for name, value := range c.requestHeader {
		r.Header.Add(name, value)
	}
	header := http.Header{}
	for name, value := range c.header {
		header.Add(name, value)
	}
	return f.check(call{r, []byte(c.sent), c.status, header, []byte(c.body)})
}

func theFile(t testing.TB) *file {
	t.Helper()
	f, err := load(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestGoodCallsPass(t *testing.T) {
	t.Parallel()
	f := theFile(t)
	calls := map[string]one{"a redemption": redemption(), "a refusal": refusal(), "a voucher": voucher(t)}
	head := redemption()
	head.method, head.path, head.sent, head.body = "HEAD", "/healthz", "", ""
	head.header["Content-Type"] = "text/plain; charset=utf-8"
	calls["HEAD"] = head
	replayed := redemption()
	replayed.header["Idempotent-Replayed"] = "true"
	replayed.body = strings.Replace(replayed.body, `"requestID":"r-1"`, `"requestID":"r-0"`, 1)
	calls["a replay keeps the first requestID"] = replayed
	elsewhere := refusal()
	elsewhere.path, elsewhere.status = "/api/nowhere", 404
	elsewhere.body = strings.NewReplacer("409", "404", `"ALREADY_REDEEMED"`, `"NOT_FOUND"`).Replace(elsewhere.body)
	calls["an unknown path"] = elsewhere
	method := refusal()
	method.method, method.status, method.header["Allow"] = "PUT", 405, "POST"
	method.body = strings.NewReplacer("409", "405", `"ALREADY_REDEEMED"`, `"NOT_SUPPORTED"`).Replace(method.body)
	calls["a wrong method"] = method
	for _, media := range []string{"", "text/json", "application/vnd.till+json; charset=utf-8"} {
		c := redemption()
		c.requestHeader["Content-Type"] = media
		calls["content type "+media] = c
	}
	for name, c := range calls {
		if errs := errorsOf(t, f, c); errs != nil {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

func TestWrongAnswersAreReported(t *testing.T) {
	t.Parallel()
	f := theFile(t)
	body := func(make func() one, from, to string) one {
		c := make()
		changed := strings.Replace(c.body, from, to, 1)
		if changed == c.body {
			t.Fatalf("%q is not in %s", from, c.body)
		}
		c.body = changed
		return c
	}
	with := func(c one, change func(*one)) one {
		change(&c)
		return c
	}
	validated := func() one { return voucher(t) }
	head := func(c *one) {
		c.method, c.path, c.header["Content-Type"] = "HEAD", "/healthz", "text/plain; charset=utf-8"
	}
	for name, c := range map[string]one{
		"a member is missing":            body(redemption, `"reference":null,`, ``),
		"a member too many":              body(redemption, `"reference":null,`, `"reference":null,"more":1,`),
		"a duplicate member":             body(redemption, `"reference":null,`, `"reference":null,"reference":null,`),
		"a wrong type":                   body(redemption, `"amount":25.00`, `"amount":"25.00"`),
		"null where none is allowed":     body(redemption, `"amount":25.00`, `"amount":null`),
		"a value out of bounds":          body(redemption, `"currentBalance":15.50`, `"currentBalance":-0.01`),
		"a status there is not":          body(redemption, `"CLAIMED"`, `"SPENT"`),
		"a number beyond bounds":         body(redemption, `"amount":25.00`, `"amount":25e99999`),
		"a fraction for an integer":      body(redemption, `"statusID":5`, `"statusID":5.5`),
		"a GUID in capitals":             body(redemption, `01a1f97c-752e`, `01A1F97C-752E`),
		"a GUID of another form":         body(redemption, `01a1f97c-752e`, `01a1f97c752e-`),
		"a time without milliseconds":    body(redemption, `18.511Z`, `18Z`),
		"a time with an offset":          body(redemption, `18.511Z`, `18.511+00:00`),
		"a currency in small letters":    body(redemption, `"USD"`, `"usd"`),
		"half a body":                    body(redemption, `"requestID":"r-1"}`, ``),
		"two bodies":                     body(redemption, `"requestID":"r-1"}`, `"requestID":"r-1"}{}`),
		"another requestID":              body(redemption, `"requestID":"r-1"`, `"requestID":"r-2"`),
		"a member too many in a problem": body(refusal, `"requestID"`, `"stack":"x","requestID"`),
		"a member too many in a message": body(refusal, `"path":"",`, `"path":"","sql":"x",`),
		"a problem without messages":     body(refusal, `[{"path":"","text":"This gift has been redeemed in full."}]`, `[]`),
		"a problem of another status":    body(refusal, `"status":409`, `"status":400`),
		"a code of another status":       body(refusal, `"code":"ALREADY_REDEEMED"`, `"code":"NOT_FOUND"`),
		"a code there is not":            body(refusal, `"code":"ALREADY_REDEEMED"`, `"code":"OOPS"`),
		"a member too many in a voucher": body(validated, `"cashOutAllowed"`, `"recipientContact":"x","cashOutAllowed"`),
		"a member too few in a voucher":  body(validated, `"cashOutAllowed":false,`, ``),
		"too many in an eligibility":     body(validated, `"maximumAmount"`, `"most":1,"maximumAmount"`),
		"too many in a line":             body(validated, `"index":0`, `"index":0,"itemID":"x"`),
		"a reason without its code": body(validated, `"notRedeemableReasons":[]`,
			`"notRedeemableReasons":[{"text":"x"}]`),
		"a code with a mark in it":       body(validated, `"voucherCode":"3`, `"voucherCode":"_`),
		"an undocumented status":         with(redemption(), func(c *one) { c.status = 202 }),
		"another documented status":      with(redemption(), func(c *one) { c.status = 409 }),
		"an undocumented header":         with(redemption(), func(c *one) { c.header["X-Debug"] = "1" }),
		"a header is missing":            with(redemption(), func(c *one) { delete(c.header, "Boon-Version") }),
		"another request id":             with(redemption(), func(c *one) { c.header["X-Request-ID"] = "r-2" }),
		"a header is given twice":        with(redemption(), func(c *one) { c.header["boon-version"] = "1.0.0" }),
		"an undocumented header of HEAD": with(redemption(), func(c *one) { head(c); c.header["X-Debug"] = "1" }),
		"a header is missing of HEAD":    with(redemption(), func(c *one) { head(c); delete(c.header, "Boon-Version") }),
		"a header with a wrong value":    with(redemption(), func(c *one) { c.header["Idempotent-Replayed"] = "yes" }),
		"a Retry-After that is no count": with(refusal(), func(c *one) { c.header["Retry-After"] = "soon" }),
		"an undocumented content type":   with(redemption(), func(c *one) { c.header["Content-Type"] = "text/plain" }),
		"no content type":                with(redemption(), func(c *one) { delete(c.header, "Content-Type") }),
		"a problem as plain JSON":        with(refusal(), func(c *one) { c.header["Content-Type"] = "application/json" }),
		"an unknown path that works":     with(redemption(), func(c *one) { c.path += "/more" }),
		"an unclean path that works":     with(redemption(), func(c *one) { c.path = "/api/" + c.path[4:] }),
		"a wrong method that works":      with(redemption(), func(c *one) { c.method = "PUT" }),
		"401 without a challenge": with(body(refusal, `ALREADY_REDEEMED","messages`, `UNAUTHENTICATED","messages`),
			func(c *one) {
				c.status, c.body = 401, strings.Replace(c.body, "409", "401", 1)
			}),
	} {
		if errorsOf(t, f, c) == nil {
			t.Errorf("%s is not reported", name)
		}
	}
}

func TestWrongRequestsMustBeRefused(t *testing.T) {
	t.Parallel()
	f := theFile(t)
	const id = `"voucherID":"01a1f97c-752e-7a01-8d11-5b0c6b3e9a01"`
	sent := func(body string) func(*one) { return func(c *one) { c.sent = body } }
	for name, change := range map[string]func(*one){
		"an unknown member":      sent(`{` + id + `,"tip":1}`),
		"a member twice":         sent(`{` + id + `,` + id + `}`),
		"a number as text":       sent(`{` + id + `,"amount":"10"}`),
		"zero":                   sent(`{` + id + `,"amount":0}`),
		"a number beyond bounds": sent(`{` + id + `,"amount":1e999999999}`),
		"no gift":                sent(`{"amount":1}`),
		"a gift that is null":    sent(`{"voucherID":null}`),
		"two gifts":              sent(`{` + id + `,"voucherCode":482913576024}`),
		"a short code":           sent(`{"voucherCode":"4829"}`),
		"a short code, a number": sent(`{"voucherCode":48291357602}`),
		"not a GUID":             sent(`{"voucherID":"01a1f97c"}`),
		"a list":                 sent(`[]`),
		"not JSON":               sent(`{`),
		"not UTF-8":              sent(`{` + id + `,"reference":"` + "\xff" + `"}`),
		"too long a reference":   sent(`{` + id + `,"reference":"` + strings.Repeat("x", 101) + `"}`),
		"too large a body":       sent(`{` + id + strings.Repeat(" ", 1<<20) + `}`),
		"nested without end":     sent(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)),
		"ticket data too many members": sent(`{` + id +
			`,"ticketData":{"format":"standard","data":{"lineItems":[]},"price":1}}`),
		"a ticket line without a price": sent(`{` + id +
			`,"ticketData":{"format":"standard","data":{"lineItems":[{"quantity":1}]}}}`),
		"no key":                      func(c *one) { delete(c.requestHeader, "Authorization") },
		"another content type":        func(c *one) { c.requestHeader["Content-Type"] = "application/xml" },
		"too long an Idempotency-Key": func(c *one) { c.requestHeader["Idempotency-Key"] = strings.Repeat("k", 256) },
		"two Idempotency-Keys": func(c *one) {
			c.requestHeader["Idempotency-Key"], c.requestHeader["idempotency-key"] = "a", "b"
		},
		"an Idempotency-Key in Greek": func(c *one) { c.requestHeader["Idempotency-Key"] = "κ" },
	} {
		accepted := redemption()
		change(&accepted)
		if errorsOf(t, f, accepted) == nil {
			t.Errorf("%s: that it was accepted is not reported", name)
		}
		refused := refusal()
		change(&refused)
		if errs := errorsOf(t, f, refused); errs != nil {
			t.Errorf("%s: that it was refused is reported: %v", name, errs)
		}
		failed := refused
		failed.status = 500
		failed.body = strings.NewReplacer("409", "500", `"ALREADY_REDEEMED"`, `"UNEXPECTED_ERROR"`).Replace(failed.body)
		if errorsOf(t, f, failed) == nil {
			t.Errorf("%s: that it led to a 500 is not reported", name)
		}
	}
}

func TestPathsAndQueries(t *testing.T) {
	t.Parallel()
	f := theFile(t)
	for path, good := range map[string]bool{
		"/api/integration/gifting/gifts/01a1f97c-752e-7a01-8d11-5b0c6b3e9a01":                  true,
		"/api/integration/gifting/gifts/x":                                                     false,
		"/api/integration/gifting/gifts?limit=200&status=CLAIMED":                              true,
		"/api/integration/gifting/gifts?limit=201":                                             false,
		"/api/integration/gifting/gifts?limit=ten":                                             false,
		"/api/integration/gifting/gifts?limit=1&limit=1":                                       false,
		"/api/integration/gifting/gifts?state=CLAIMED&limit=":                                  true, // unknown, and empty
		"/api/integration/gifting/gifts?createdFrom=2026-03-01":                                false,
		"/api/integration/gifting/gifts?createdFrom=2026-03-01T00:00:00%2B01:00":               true,
		"/api/integration/requests/a%2Fb?operation=redeem-gift":                                true,
		"/api/integration/requests/a%00b":                                                      false,
		"/api/integration/gifting/gifts/01a1f97c-752e-7a01-8d11-5b0c6b3e9a01/history?cursor=x": true,
	} {
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Authorization", "boon_test_x")
		c := call{request: r}
		op, _ := f.find(&c)
		if op == nil {
			t.Errorf("%s has no operation", path)
			continue
		}
		if err := f.checkRequest(op, c); (err == nil) != good {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What the file says by if and then, by null in a list of types, and by constants, holds too.
func TestConditions(t *testing.T) {
	t.Parallel()
	checker := New(t, openAPI)
	file, err := decode(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/integration/gifting/send-gift"
	sent := marshal(t, node{file, file}.in("paths", path, "post", "requestBody", "content", "application/json",
		"examples", "printed", "value").value)
	const printed = `"deliveryMethodID":3`
	if !strings.Contains(sent, printed) {
		t.Fatalf("%s is not in %s", printed, sent)
	}
	for to, good := range map[string]bool{
		printed:                              true,
		printed + `,"recipientContact":null`: true,
		printed + `,"recipientContact":"ana@example.com"`:           false,
		`"deliveryMethodID":1`:                                      false,
		`"deliveryMethodID":1,"recipientContact":"ana@example.com"`: true,
		`"deliveryMethodID":null`:                                   false,
		`"deliveryMethodID":4`:                                      false,
	} {
		r := httptest.NewRequest("POST", path, nil)
		r.Header.Set("Authorization", "boon_test_x")
		if err := checker.Forbids(r, []byte(strings.Replace(sent, printed, to, 1))); (err == nil) != good {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// An example that does not fit its schema, and a story that does not tell all of them, are found.
func TestFalseExamplesAreReported(t *testing.T) {
	t.Parallel()
	c := New(t, openAPI)
	for name, change := range map[string]func(file, request, answer map[string]any){
		"":                      func(_, _, _ map[string]any) {},
		"an unknown member":     func(_, _, answer map[string]any) { answer["more"] = true },
		"a missing member":      func(_, _, answer map[string]any) { delete(answer, "currency") },
		"a wrong type":          func(_, _, answer map[string]any) { answer["amount"] = "25.50" },
		"a status there is not": func(_, _, answer map[string]any) { answer["status"] = "SPENT" },
		"a GUID in capitals": func(_, _,
			answer map[string]any) {
			answer["voucherID"] = strings.ToUpper(answer["voucherID"].(string))
		},
		"a member of no request":    func(_, request, _ map[string]any) { request["more"] = true },
		"an example not told":       func(file, _, _ map[string]any) { file["x-story"] = file["x-story"].([]any)[1:] },
		"an example there is not":   func(file, _, _ map[string]any) { file["x-story"].([]any)[0] = "sendGift/none" },
		"an operation there is not": func(file, _, _ map[string]any) { file["x-story"].([]any)[0] = "sellGift/printed" },
	} {
		v, err := decode(openAPI)
		if err != nil {
			t.Fatal(err)
		}
		file := v.(map[string]any)
		at := node{v, v}.in("paths", redemption().path, "post")
		found := false
		for example, content := range at.in("responses", "200", "content", "application/json", "examples").members() {
			request, _ := at.in("requestBody", "content", "application/json", "examples", example,
				"value").value.(map[string]any)
			if answer, _ := content.in("value").value.(map[string]any); !found && request != nil && answer != nil {
				change(file, request, answer)
				found = true
			}
		}
		if _, err := c.Story([]byte(marshal(t, v))); (err == nil) != (name == "") || !found {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// What kin-openapi read is the file to the last keyword: values are judged by it.
func TestNothingIsLostInReading(t *testing.T) {
	t.Parallel()
	doc, err := read(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(openAPI, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(marshal(t, doc)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-file +read:\n%s", diff)
	}
}

// complaints is a test that keeps what it is told.
type complaints struct {
	testing.TB
	mu   sync.Mutex
	told []string
}

func (c *complaints) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, fmt.Sprintf(format, args...))
}

// The handler sees the whole call, hands it on unchanged, and reports to the test.
func TestHandler(t *testing.T) {
	t.Parallel()
	good, bad := redemption(), redemption()
	bad.body = strings.Replace(bad.body, `"reference":null,`, ``, 1)
	for _, c := range []one{good, bad} {
		heard := &complaints{TB: t}
		checker := New(t, openAPI).For(heard)
		server := httptest.NewServer(checker.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if b, _ := io.ReadAll(r.Body); string(b) != c.sent {
				t.Errorf("the handler got %q", b)
			}
			for name, value := range c.header {
				w.Header().Set(name, value)
			}
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})))
		t.Cleanup(server.Close)
		r, err := http.NewRequest(c.method, server.URL+c.path, strings.NewReader(c.sent))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range c.requestHeader {
			r.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(answer.Body); string(b) != c.body {
			t.Errorf("the client got %q", b)
		}
		answer.Body.Close()
		want := 0
		if c.body == bad.body {
			want = 1
		}
		if len(heard.told) != want {
			t.Errorf("reported: %v", heard.told)
		}
	}
}

func TestMissingShrinksAsAnswersAreSeen(t *testing.T) {
	t.Parallel()
	c := New(t, openAPI)
	before := c.Missing()
	for _, answer := range []string{"redeemGift 200", "redeemGift 409", "redeemGift 409 ALREADY_REDEEMED",
		"listGifts 503 UNAVAILABLE"} {
		if !slices.Contains(before, answer) {
			t.Errorf("%s is not listed", answer)
		}
	}
	errorsOf(t, c.file, redemption())
	errorsOf(t, c.For(t).file, refusal())
	after := c.Missing()
	if len(after) != len(before)-3 || slices.Contains(after, "redeemGift 409 ALREADY_REDEEMED") {
		t.Errorf("%d answers were missing, %d are", len(before), len(after))
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	routes, err := Routes(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Route{
		{"POST", "/api/integration/gifting/send-gift", "sendGift"},
		{"GET", "/api/integration/gifting/gifts/{voucherID}/history", "getGiftHistory"},
		{"GET", "/api/integration/requests/{key}", "getRequest"},
	} {
		if !slices.Contains(routes, want) {
			t.Errorf("%v is not among %v", want, routes)
		}
	}
}

func TestBrokenFilesAreRefused(t *testing.T) {
	t.Parallel()
	text := string(openAPI)
	for name, broken := range map[string]string{
		"a dangling reference": strings.Replace(text, `"#/components/schemas/Recipient"`, `"#/components/schemas/Receiver"`,
			1),
		"no responses":           strings.Replace(text, `"responses":{"201"`, `"answers":{"201"`, 1),
		"a type there is not":    strings.Replace(text, `"type":"object"`, `"type":"thing"`, 1),
		"a pattern that is none": strings.Replace(text, `"pattern":"^[A-Z]{3}$"`, `"pattern":"^[A-Z"`, 1),
		"a bound that is none":   strings.Replace(text, `"maxLength":200`, `"maxLength":-1`, 1),
		"not JSON":               text[:1000],
	} {
		if _, err := load([]byte(broken)); err == nil || broken == text {
			t.Errorf("%s is not found", name)
		}
	}
}

// FuzzCheck looks for calls on which the checker itself fails.
func FuzzCheck(f *testing.F) {
	c := redemption()
	f.Add(c.path, c.sent, c.status, c.body)
	r := refusal()
	f.Add("/api/integration/requests/a%2Fb?operation=x", r.sent, r.status, r.body)
	f.Add("/%zz", `{"amount":1e-999999}`, 500, `[[[`)
	file := theFile(f)
	f.Fuzz(func(t *testing.T, path, sent string, status int, body string) {
		request, err := http.NewRequest("POST", "http://x"+path, strings.NewReader(sent))
		if err != nil {
			return
		}
		file.check(call{request, []byte(sent), status, http.Header{"Content-Type": {"application/json"}}, []byte(body)})
	})
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
