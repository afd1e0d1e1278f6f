package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Story is what the examples of the file tell in the order of its member x-story: calls that can be made one after
// the other on a server with the example set-up, and that get the answers shown.
type Story struct{ steps []step }

// step is one call. What has the same name belongs together: an example of the body, of parameters, and of one answer.
type step struct {
	name string
	Route
	op     *openapi3.Operation
	params map[string]string // by name
	body   any               // nil: none
	status string
	answer any
}

// Story reads the examples. It fails when one does not fit its schema, when x-story names one that is not there or
// lacks one that is.
func (c *Checker) Story(openAPI []byte) (*Story, error) {
	v, err := decode(openAPI)
	if err != nil {
		return nil, err
	}
	doc := node{v, v}
	s := &Story{}
	told := map[string]bool{}
	for _, name := range doc.in("x-story").list() {
		told[name.text()] = true
		step, err := c.step(doc, name.text())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name.text(), err)
		}
		s.steps = append(s.steps, step)
	}
	for _, op := range c.operations {
		for name := range named(op) {
			if !told[op.OperationID+"/"+name] {
				return nil, fmt.Errorf("x-story lacks %s/%s", op.OperationID, name)
			}
		}
	}
	return s, nil
}

// named gives the examples that an operation has of its answers, by name, each with its status.
func named(op *openapi3.Operation) map[string][]string {
	found := map[string][]string{}
	for status, ref := range op.Responses.Map() {
		for _, content := range ref.Value.Content {
			for name := range content.Examples {
				found[name] = append(found[name], status)
			}
		}
	}
	return found
}

func (c *Checker) step(doc node, full string) (step, error) {
	id, name, _ := strings.Cut(full, "/")
	i := slices.IndexFunc(c.routes, func(r Route) bool { return r.OperationID == id })
	if i < 0 {
		return step{}, errors.New("there is no such operation")
	}
	s := step{name: full, Route: c.routes[i], op: c.operations[c.routes[i].pattern()], params: map[string]string{}}
	at := doc.in("paths", s.Path, strings.ToLower(s.Method))
	for _, p := range at.in("parameters").list() {
		if example := p.in("examples", name, "value"); example.value != nil {
			s.params[p.in("name").text()] = fmt.Sprint(example.value)
		}
	}
	if body := bodyOf(s.op); body != nil {
		s.body = at.in("requestBody", "content", "application/json", "examples", name, "value").value
		if err := c.asked.judge(body, s.body); err != nil {
			return s, fmt.Errorf("the request: %w", err)
		}
	}
	statuses := named(s.op)[name]
	if len(statuses) != 1 {
		return s, fmt.Errorf("there must be one answer of this name, not %d", len(statuses))
	}
	s.status = statuses[0]
	for media, content := range s.op.Responses.Value(s.status).Value.Content {
		if content.Examples[name] == nil {
			continue
		}
		s.answer = at.in("responses", s.status, "content", media, "examples", name, "value").value
		if err := c.answered.judge(content.Schema, s.answer); err != nil {
			return s, fmt.Errorf("the answer: %w", err)
		}
	}
	return s, nil
}

// ofTills are the operations for which a till of the example set-up has the permission.
var ofTills = []string{"validateGift", "redeemGift", "holdGift", "captureHold", "releaseHold", "reverseRedemption"}

// Tell makes the calls on a server that has the example set-up and nothing else, with the key of its till for
// redemptions and that of its office for all else, and compares the answers. What the server draws for itself stands
// for what the examples show: UUIDv7s, codes, tokens, and the times of 20 November 2026. All else must be the same,
// the decimals of amounts included.
func (s *Story) Tell(client *http.Client, server, till, office string) error {
	same := map[string]string{} // what stands for what
	for _, step := range s.steps {
		key := office
		if slices.Contains(ofTills, step.OperationID) {
			key = till
		}
		if err := step.tell(client, server, key, same); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

func (s *step) tell(client *http.Client, server, key string, same map[string]string) error {
	request, err := s.request(server, same)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", key)
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	got, err := decode(body)
	if err != nil {
		return fmt.Errorf("%w in %s", err, body)
	}
	learn(s.answer, got, same)
	if diff := compare("", s.answer, got, same); diff != "" || strconv.Itoa(answer.StatusCode) != s.status {
		return fmt.Errorf("answered %d instead of %s, %s; the whole answer: %s", answer.StatusCode, s.status, diff, body)
	}
	return nil
}

func (s *step) request(server string, same map[string]string) (*http.Request, error) {
	path, query, headers := s.Path, url.Values{}, http.Header{}
	for _, ref := range s.op.Parameters {
		p := ref.Value
		text, given := s.params[p.Name]
		text = replace(text, same)
		switch {
		case !given:
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(text))
		case p.In == "query":
			query.Set(p.Name, text)
		default:
			headers.Set(p.Name, text)
		}
	}
	var body io.Reader
	if s.body != nil {
		b, err := json.Marshal(s.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader([]byte(replace(string(b), same)))
		headers.Set("Content-Type", "application/json")
	}
	address := server + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequest(s.Method, address, body)
	if err == nil {
		request.Header = headers
	}
	return request, err
}

var (
	drawn = regexp.MustCompile(`^([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}|` +
		`[1-9][0-9]{11}|[0-9A-Za-z]{22}|whsec_[0-9A-Za-z+/]{20,}=*|` +
		`[0-9a-f]{64}|` + // hashes of what has drawn ids in it
		`[0-9A-Za-z_-]{39}|YXVkaX[0-9A-Za-z_-]{22})$`) // places in the events and in the audit trail
	now   = regexp.MustCompile(`^2026-11-2[01]T`)
	clock = regexp.MustCompile(`\b20\d\d-\d\d-\d\d \d\d:\d\d\b`) // a time in a sentence
	// the token in the address of an order's sheet, or in the link that pairs a till
	order = regexp.MustCompile(`(?:/orders/|/till/pair#)([0-9A-Za-z]{22,26})(?:/|$)`)
)

// lastFour is the member with the end of a code that was drawn.
const lastFour = "lastFour"

// chains is the member with the hash chains of the server: how many it needs depends on what runs at once.
const chains = "chains"

// learn notes what the server drew in place of what the example shows.
func learn(want, got any, same map[string]string) {
	switch want := want.(type) {
	case string:
		if got, ok := got.(string); ok && drawn.MatchString(want) && drawn.MatchString(got) && same[want] == "" {
			same[want] = got
		}
		wanted, drew := order.FindStringSubmatch(want), order.FindStringSubmatch(fmt.Sprint(got))
		if wanted != nil && drew != nil {
			same[wanted[1]] = drew[1]
		}
	case []any:
		got, _ := got.([]any)
		for i := range min(len(want), len(got)) {
			learn(want[i], got[i], same)
		}
	case map[string]any:
		got, _ := got.(map[string]any)
		for name := range want {
			learn(want[name], got[name], same)
		}
		if want, ok := want[lastFour].(string); ok && same[lastFour+want] == "" {
			same[lastFour+want] = fmt.Sprint(got[lastFour])
		}
	}
}

// compare says where got is not what the example shows; "" when it is.
func compare(path string, want, got any, same map[string]string) string {
	switch want := want.(type) {
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return fmt.Sprintf("%s has not %d elements", path, len(want))
		}
		for i := range want {
			if diff := compare(fmt.Sprintf("%s[%d]", path, i), want[i], got[i], same); diff != "" {
				return diff
			}
		}
		return ""
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || !slices.Equal(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))) {
			return fmt.Sprintf("%s has other members: %v", path, slices.Sorted(maps.Keys(got)))
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if name == chains {
				continue
			}
			if name == lastFour && got[name] == same[lastFour+fmt.Sprint(want[name])] {
				continue
			}
			if diff := compare(path+"."+name, want[name], got[name], same); diff != "" {
				return diff
			}
		}
		return ""
	case string:
		text, ok := got.(string)
		if ok && (clock.ReplaceAllString(text, "") == clock.ReplaceAllString(replace(want, same), "") ||
			now.MatchString(want)) {
			return ""
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v, the example says %v", path, got, want)
}

func replace(text string, same map[string]string) string {
	for want, got := range same {
		text = strings.ReplaceAll(text, want, got)
	}
	return text
}

// node is a place in the file; references are followed.
type node struct{ doc, value any }

func (n node) in(names ...string) node {
	for _, name := range names {
		members, _ := n.value.(map[string]any)
		n = node{n.doc, members[name]}.resolved()
	}
	return n
}

func (n node) resolved() node {
	members, _ := n.value.(map[string]any)
	ref, ok := members["$ref"].(string)
	if !ok {
		return n
	}
	var names []string
	for _, part := range strings.Split(ref, "/")[1:] {
		names = append(names, strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return node{n.doc, n.doc}.in(names...)
}

func (n node) members() map[string]node {
	found := map[string]node{}
	members, _ := n.value.(map[string]any)
	for name := range members {
		found[name] = n.in(name)
	}
	return found
}

func (n node) list() []node {
	elements, _ := n.value.([]any)
	found := make([]node, len(elements))
	for i, e := range elements {
		found[i] = node{n.doc, e}.resolved()
	}
	return found
}

func (n node) text() string {
	s, _ := n.value.(string)
	return s
}
