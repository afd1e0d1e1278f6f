package reference

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The parts of a Postman collection 2.1 that are used.
type (
	collection struct {
		Info      map[string]string `json:"info"`
		Auth      map[string]any    `json:"auth"`
		Variables []pair            `json:"variable"`
		Events    []event           `json:"event"`
		Items     []folder          `json:"item"`
	}
	event struct {
		Listen string         `json:"listen"`
		Script map[string]any `json:"script"`
	}
	folder struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Items       []item `json:"item"`
	}
	item struct {
		Name      string     `json:"name"`
		Request   request    `json:"request"`
		Responses []response `json:"response"`
	}
	response struct {
		Name     string  `json:"name"`
		Original request `json:"originalRequest"`
		Status   string  `json:"status"`
		Code     int     `json:"code"`
		Preview  string  `json:"_postman_previewlanguage"`
		Headers  []pair  `json:"header"`
		Body     string  `json:"body"`
	}
	request struct {
		Description string `json:"description,omitempty"`

		Method  string         `json:"method"`
		Auth    map[string]any `json:"auth,omitempty"`
		Headers []pair         `json:"header"`
		URL     address        `json:"url"`
		Body    *body          `json:"body,omitempty"`
	}
	address struct {
		Raw      string   `json:"raw"`
		Host     []string `json:"host"`
		Path     []string `json:"path"`
		Query    []pair   `json:"query,omitempty"`
		Variable []pair   `json:"variable,omitempty"`
	}
	body struct {
		Mode    string            `json:"mode"`
		Raw     string            `json:"raw,omitempty"`
		Options map[string]any    `json:"options,omitempty"`
		File    map[string]string `json:"file,omitempty"`
	}
	pair struct {
		Key         string `json:"key"`
		Value       string `json:"value"`
		Type        string `json:"type,omitempty"`
		Description string `json:"description,omitempty"`
	}
)

// carried are the members that one call's answer has and the next one's request names.
var carried = []string{"voucherID", "voucherCode", "orderID", "redemptionID", "holdID", "reloadID", "activationID",
	"webhookID"}

// makeCollection gives the operations to Postman and what reads its files, with their descriptions and the answers that
// the OpenAPI file shows. The key is a variable, which each user fills in; what is carried are others, which a script
// fills in; an Idempotency-Key is made for each call. tags are the descriptions of the groups, by name.
func makeCollection(operations []endpoint, tags map[string]string, publicURL, version string) []byte {
	c := collection{
		Info: map[string]string{"name": "Boon", "version": version, "description": "Fill in the variable key. " +
			"Each call is about what was made before it: send a gift, then redeem it.",
			"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
		Auth: map[string]any{"type": "apikey", "apikey": []pair{{Key: "key", Value: "Authorization", Type: "string"},
			{Key: "value", Value: "{{key}}", Type: "string"}, {Key: "in", Value: "header", Type: "string"}}},
		Variables: []pair{
			{Key: "baseUrl", Value: publicURL, Type: "string", Description: "Where the service is."},
			{Key: "key", Type: "string", Description: "Your API key, such as the one that boon demo prints."},
		},
		Events: []event{{"test", map[string]any{"type": "text/javascript", "exec": carrying()}}},
	}
	for _, name := range carried {
		c.Variables = append(c.Variables, pair{Key: name, Value: exampleOf(operations, name), Type: "string",
			Description: "Filled in by the answer of the call that makes it."})
	}
	places := map[string]int{}
	for _, o := range operations {
		at, known := places[o.Tag]
		if !known {
			at = len(c.Items)
			places[o.Tag] = at
			c.Items = append(c.Items, folder{Name: o.Tag, Description: tags[o.Tag]})
		}
		c.Items[at].Items = append(c.Items[at].Items, o.item())
	}
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		panic(err) // all of it can be JSON
	}
	return b
}

// carrying is the script that runs after each call, by lines.
func carrying() []string {
	text, err := assets.ReadFile("assets/collection.js")
	names, failed := json.Marshal(carried)
	if err != nil || failed != nil {
		panic("the script is part of the program")
	}
	return strings.Split(strings.Replace(strings.TrimSpace(string(text)), "MADE", string(names), 1), "\n")
}

// item is an operation with its answers.
func (o *endpoint) item() item {
	r := o.call.request()
	i := item{Name: o.ID, Request: r, Responses: []response{}}
	i.Request.Description = strings.TrimSpace(o.Summary + ".\n\n" + o.text)
	for _, e := range o.shown {
		code, err := strconv.Atoi(e.status)
		if err != nil {
			continue // a range of them
		}
		language := "text"
		if strings.HasSuffix(e.media, "json") {
			language = "json"
		}
		i.Responses = append(i.Responses, response{e.name, r, http.StatusText(code), code, language,
			[]pair{{Key: "Content-Type", Value: e.media}}, e.body})
	}
	return i
}

// exampleOf is a value that a carried member has in one of the calls.
func exampleOf(operations []endpoint, name string) string {
	for _, o := range operations {
		if value := o.call.params[name]; value != "" {
			return value
		}
		for _, m := range carriedMember.FindAllStringSubmatch(o.call.body, -1) {
			if m[1] == name {
				return m[2]
			}
		}
	}
	panic("no call has " + name)
}

// carriedMember is one in the body of an example, which has a line for each.
var carriedMember = regexp.MustCompile(`(?m)^  "(` + strings.Join(carried, "|") + `)": "([^"]*)"`)

func (c call) request() request {
	r := request{Method: c.method, Headers: []pair{}, URL: address{Host: []string{"{{baseUrl}}"}}}
	if c.open {
		r.Auth = map[string]any{"type": "noauth"}
	}
	if c.once {
		r.Headers = append(r.Headers, pair{Key: "Idempotency-Key", Value: "{{$guid}}",
			Description: c.told["Idempotency-Key"]})
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(c.path, "/"), "/") {
		if name, is := strings.CutPrefix(part, "{"); is {
			name = strings.TrimSuffix(name, "}")
			part = ":" + name
			value := c.params[name]
			if slices.Contains(carried, name) {
				value = "{{" + name + "}}"
			}
			r.URL.Variable = append(r.URL.Variable, pair{Key: name, Value: value, Type: "string",
				Description: c.told[name]})
		}
		r.URL.Path = append(r.URL.Path, part)
	}
	r.URL.Raw = "{{baseUrl}}/" + strings.Join(r.URL.Path, "/")
	for i, q := range c.query {
		r.URL.Query = append(r.URL.Query, pair{Key: q.name, Value: q.text(), Description: c.told[q.name]})
		r.URL.Raw += map[bool]string{true: "?", false: "&"}[i == 0] + q.name + "=" + q.text()
	}
	if c.uploads {
		r.Headers = append(r.Headers, pair{Key: "Content-Type", Value: "text/csv"})
		r.Body = &body{Mode: "file", File: map[string]string{"src": "cards.csv"}}
	}
	if c.body != "" {
		r.Headers = append(r.Headers, pair{Key: "Content-Type", Value: "application/json"})
		text := carriedMember.ReplaceAllString(c.body, `  "$1": "{{$1}}"`)
		r.Body = &body{Mode: "raw", Raw: text, Options: map[string]any{"raw": map[string]string{"language": "json"}}}
	}
	return r
}
