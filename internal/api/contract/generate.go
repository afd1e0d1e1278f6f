package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// Request is a request that was generated. Whether the file allows it is for Judge to say.
type Request struct {
	Method, Target string // the target is a path with a query
	Header         http.Header
	Body           []byte
}

// Known are values that mean something to the server, by the name of the member, parameter or header they go into; they are JSON values. Those
// under "uuid" go into any member of that format. Members named under "always" are never left out.
type Known map[string][]any

// Requests generates requests to one operation of the file: most of them as its schemas want them, or nearly, and the rest wrong in a
// place or two, or everywhere.
func Requests(openAPI []byte, operationID string, known Known) (*rapid.Generator[Request], error) {
	v, err := decode(openAPI)
	if err != nil {
		return nil, err
	}
	all, err := Routes(openAPI)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(r Route) bool { return r.OperationID == operationID })
	if i < 0 {
		return nil, fmt.Errorf("there is no operation %s", operationID)
	}
	at := node{v, v}.in("paths", all[i].Path, strings.ToLower(all[i].Method))
	return rapid.Custom(func(t *rapid.T) Request {
		g := generator{T: t, known: known, sane: rapid.IntRange(0, 2).Draw(t, "sane") > 0}
		return g.request(all[i], at)
	}), nil
}

// generator draws one request.
type generator struct {
	*rapid.T
	known Known
	sane  bool // nothing is wrong on purpose
}

// one reports a chance of 1 in n.
func (g *generator) one(n int) bool { return rapid.IntRange(1, n).Draw(g.T, "chance") == n }

// wrong reports a chance of 1 in n to do something wrong.
func (g *generator) wrong(n int) bool { return !g.sane && g.one(n) }

func pick[T any](g *generator, from ...T) T { return rapid.SampledFrom(from).Draw(g.T, "pick") }

func (g *generator) request(r Route, at node) Request {
	q := Request{Method: r.Method, Target: r.Path, Header: http.Header{}}
	query := url.Values{}
	for _, p := range at.in("parameters").list() {
		name := p.in("name").text()
		text := func() string { return textOf(g.value(p.in("schema"), name)) }
		switch in := p.in("in").text(); {
		case in == "path":
			q.Target = strings.Replace(q.Target, "{"+name+"}", url.PathEscape(text()), 1)
		case in == "query" && g.one(3):
			query.Add(name, text())
			if g.wrong(8) {
				query.Add(name, text())
			}
		case in == "header" && g.one(3):
			q.Header.Set(name, headerValue(text()))
		}
	}
	if g.wrong(10) {
		query.Add(pick(g, "limt", "x", "", "Status", "%00"), "1")
	}
	if len(query) > 0 {
		q.Target += "?" + query.Encode()
	}
	q.Header.Set("Authorization", textOf(pick(g, g.known["Authorization"]...)))
	if body := at.in("requestBody", "content", "application/json", "schema"); body.value != nil {
		q.Header.Set("Content-Type", "application/json")
		q.Body = g.body(body)
	}
	if g.wrong(4) {
		g.spoil(&q)
	}
	return q
}

// spoil does something wrong around the body.
func (g *generator) spoil(q *Request) {
	switch rapid.IntRange(0, 6).Draw(g.T, "spoil") {
	case 0:
		q.Method = pick(g, "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS")
	case 1:
		q.Target = pick(g, q.Target+"/", strings.Replace(q.Target, "/api", "//api", 1), strings.Replace(q.Target, "integration", "Integration", 1), q.Target+"/x")
	case 2:
		q.Header.Set("Content-Type", pick(g, "text/json", "application/problem+json; charset=utf-8", "text/plain", "application/json; charset=utf-16", "x", ""))
	case 3:
		q.Header.Set("Authorization", pick(g, "", "Bearer", "Bearer  ", "Basic eDp5", "boon_test_nobody", strings.Repeat("k", 5000)))
	case 4:
		q.Header.Add("Idempotency-Key", pick(g, "a", strings.Repeat("k", 255), strings.Repeat("k", 256), "é", ""))
	case 5:
		q.Header.Add("X-Request-ID", pick(g, "r-1", strings.Repeat("x", 65), "a b", "ü"))
	default:
		q.Header.Set("Content-Encoding", pick(g, "gzip", "identity"))
	}
}

// body writes a value as JSON, and sometimes what is none.
func (g *generator) body(schema node) []byte {
	b, err := json.Marshal(g.value(schema, ""))
	if err != nil {
		g.Fatalf("%v", err)
	}
	if !g.wrong(5) {
		return b
	}
	at := rapid.IntRange(0, len(b)).Draw(g.T, "at")
	switch rapid.IntRange(0, 5).Draw(g.T, "break") {
	case 0:
		return b[:at]
	case 1:
		return slices.Concat(b[:at], rapid.SliceOfN(rapid.Byte(), 1, 4).Draw(g.T, "bytes"), b[at:])
	case 2:
		return append(b, pick(g, "{}", " ", "\x00", ",")...)
	case 3:
		return []byte(strings.Replace(string(b), "{", `{"organizationID":null,"organizationID":null,`, 1))
	case 4:
		return []byte(strings.Repeat(pick(g, "[", `{"a":`), 20_000))
	}
	return append([]byte("\ufeff"), b...)
}

// value draws a value for a schema; name is that of the member it is for.
func (g *generator) value(s node, name string) any {
	if g.wrong(12) {
		return g.anything()
	}
	if len(g.known[name]) > 0 && (g.sane || !g.one(4)) {
		return pick(g, g.known[name]...)
	}
	if options, ok := s.in("enum").value.([]any); ok {
		return pick(g, options...)
	}
	if v := s.in("const").value; v != nil {
		return v
	}
	for _, choice := range []string{"anyOf", "oneOf"} {
		if options := s.in(choice).list(); len(options) > 0 && s.in("properties").value == nil {
			return g.value(pick(g, options...), name)
		}
	}
	switch g.kind(s) {
	case "object":
		return g.object(s)
	case "array":
		var list []any
		for range rapid.IntRange(1, 3).Draw(g.T, "length") {
			list = append(list, g.value(s.in("items"), ""))
		}
		return list
	case "string":
		return g.text(s)
	case "integer":
		return rapid.IntRange(1, 400).Draw(g.T, "integer")
	case "number":
		return json.Number(pick(g, "1", "2.5", "0.01", "10.00", "1e1", "25.50", "9999", "3"))
	case "boolean":
		return rapid.Bool().Draw(g.T, "boolean")
	case "null":
		return nil
	}
	return g.anything()
}

func (g *generator) kind(s node) string {
	switch kinds := s.in("type").value.(type) {
	case string:
		return kinds
	case []any:
		if g.one(8) {
			return "null"
		}
		return fmt.Sprint(kinds[0])
	}
	if s.in("format").value != nil || s.in("pattern").value != nil || s.in("maxLength").value != nil {
		return "string"
	}
	if s.in("properties").value != nil {
		return "object"
	}
	return ""
}

func (g *generator) text(s node) any {
	switch s.in("format").text() {
	case "uuid":
		return pick(g, g.known["uuid"]...)
	case "date-time":
		return pick(g, "2026-03-01T00:00:00Z", "2027-02-28T09:00:00-05:00", "2031-01-01T00:00:00.5Z", "2026-02-29T00:00:00Z")
	}
	pattern := s.in("pattern").text()
	switch {
	case fmt.Sprint(s.in("maxLength").value) == "0" && pattern == "":
		return ""
	case strings.HasPrefix(pattern, "^(19"):
		return pick(g, "2026-03-01T00:00Z", "2027-02-28T09:00:00-05:00", "2031-01-01T00:00:00.5Z", "2026-02-29T00:00:00+0000")
	case pattern != "" && !strings.HasPrefix(pattern, "^[^"): // else it only leaves out control characters
		return rapid.StringMatching(pattern).Draw(g.T, "text")
	}
	if g.sane {
		return pick(g, "a", "Ann", "é", "e\u0301", "名前", "👩‍👩‍👧‍👦", "'; DROP TABLE gift; --", "<b>", "\u202eabc", strings.Repeat("x", 100))
	}
	return pick(g, "a", "Ann", "é", "e\u0301", "名前", "👩‍👩‍👧‍👦", "two\nlines", " ", "'; DROP TABLE gift; --", "<b>", "\u202eabc", strings.Repeat("x", 200), strings.Repeat("y", 4001))
}

// anything draws a value that is likely to be wrong wherever it stands.
func (g *generator) anything() any {
	return pick[any](g, nil, true, json.Number("-1"), json.Number("0"), json.Number("1e400"), json.Number("25.001"), json.Number("99999999999999999999"), json.Number("1.5"),
		"", "x", "\x00", "\u2028", "123456789012", "not a guid", []any{}, []any{nil, "x"}, map[string]any{}, map[string]any{"a": map[string]any{"b": []any{1}}},
		strings.Repeat("z", 5000))
}

// object draws the members of an object that suit one another.
func (g *generator) object(s node) any {
	properties := s.in("properties").members()
	must, never, fixed := map[string]bool{}, map[string]bool{}, map[string]any{}
	settle(s, must, never)
	if options := s.in("oneOf").list(); len(options) > 0 {
		settle(pick(g, options...), must, never)
	}
	for _, part := range append(s.in("allOf").list(), s) {
		g.condition(s, part, must, never, fixed)
	}
	o := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		v, decided := fixed[name]
		switch {
		case decided:
			o[name] = v
		case never[name] && !g.wrong(20), must[name] && g.wrong(20):
		case must[name]:
			for range 5 {
				if o[name] = g.value(properties[name], name); o[name] != nil {
					break
				}
			}
		case slices.Contains(g.known["always"], any(name)), g.one(5):
			o[name] = g.value(properties[name], name)
		}
	}
	if g.wrong(12) {
		o[pick(g, "amuont", "x", "OrganizationID", "", "a b", strings.Repeat("n", 100))] = 1
	}
	return o
}

// settle notes which members a schema, or one of its branches, wants and which it forbids.
func settle(s node, must, never map[string]bool) {
	for _, name := range s.in("required").list() {
		must[name.text()] = true
	}
	for name, p := range s.in("properties").members() {
		if p.in("type").text() == "null" || p.in("description").value == nil && p.in("enum").value != nil {
			never[name] = true
		}
	}
}

// condition draws whether the if of a part of a schema holds, and makes it so where it is about constants.
func (g *generator) condition(s, part node, must, never map[string]bool, fixed map[string]any) {
	holds, known := rapid.Bool().Draw(g.T, "if"), false
	for name, p := range part.in("if", "properties").members() {
		if p.in("const").value == nil && p.in("enum").value == nil {
			continue
		}
		want := p.in("const").value
		known = true
		if holds {
			fixed[name] = want
			continue
		}
		for _, other := range s.in("properties", name, "enum").list() {
			if other.value != want {
				fixed[name] = other.value
			}
		}
	}
	if known {
		settle(part.in(map[bool]string{true: "then", false: "else"}[holds]), must, never)
	}
}

// textOf writes a value as a parameter or header holds it.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "x"
	}
	return string(b)
}

// headerValue leaves out what no header can hold.
func headerValue(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s))
}
