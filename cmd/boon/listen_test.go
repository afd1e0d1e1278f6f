package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// posted is a message as a developer's machine gets it.
type posted struct {
	header http.Header
	body   []byte
}

// signed reports whether a message was signed with a secret.
func (p *posted) signed(secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, p.header.Get("webhook-id")+"."+p.header.Get("webhook-timestamp")+".")
	mac.Write(p.body)
	return err == nil && p.header.Get("webhook-signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// receiver keeps what is posted to it, and answers with one status after the other, the last one again and again.
type receiver struct {
	statuses []int
	mu       sync.Mutex
	got      []posted
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(r.statuses[min(len(r.got), len(r.statuses)-1)])
	r.got = append(r.got, posted{q.Header, body})
}

// messages gives what came so far.
func (r *receiver) messages() []posted {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.got
}

// TestListen: an event reaches a developer's machine, which fails at first, signed with the secret that was printed,
// with the body that the list of events has, and as the OpenAPI file says.
func TestListen(t *testing.T) {
	t.Parallel()
	service := served(t).String()
	to := []string{"--url", service, "--key", "boon_live_scripts_of_tests_harbor_coffee_head_office"}
	if code, _, log := typed(t, append([]string{"gift", "send", "--value", "20", "--print", "Ana", "--purchase", "WEB-1",
		"--first-name", "Carla", "--last-name", "Diaz", "--customer", "carla@example.com", "--storefront",
		"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"}, to...)...); code != exitOK {
		t.Fatal(log)
	}
	hook := &receiver{statuses: []int{500, 204}}
	machine := httptest.NewServer(hook)
	defer machine.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, log := &watched{word: "204 No Content", seen: cancel}, &bytes.Buffer{}
	if code := run(ctx, append([]string{"listen", "--forward", machine.URL + "/hook", "--types", "gift.created", "--all"},
		to...), strings.NewReader(""), out, log, func(string) string { return "" }); code != exitOK || log.Len() > 0 {
		t.Fatalf("exit code %d, %s", code, log)
	}
	m := regexp.MustCompile(`^Events go to http\S+/hook, signed with (whsec_\S+)\n` +
		`gift\.created  (\S+)  500 Internal Server Error \(again in 1s\)\n` +
		`gift\.created  (\S+)  204 No Content\n$`).FindStringSubmatch(out.text.String())
	got := hook.messages()
	if m == nil || m[2] != m[3] || len(got) != 2 {
		t.Fatalf("%d messages, and it printed\n%s", len(got), out.text.String())
	}
	code, listed, _ := typed(t, append([]string{"events", "tail", "--all", "--no-follow", "--json", "--type",
		"gift.created"}, to...)...)
	if code != exitOK {
		t.Fatal(listed)
	}
	for _, p := range got {
		if !p.signed(m[1]) || p.header.Get("webhook-id") != m[2] || string(p.body) != strings.TrimSpace(listed) {
			t.Errorf("%s was sent with %v; the list has %s", p.body, p.header, listed)
		}
		asDocumented(t, service, p.header)
	}
}

// asDocumented checks the headers of a message against the webhooks of the service's OpenAPI file.
func asDocumented(t *testing.T, service string, h http.Header) {
	t.Helper()
	answer, err := http.Get(service + "/openapi.json") //nolint:noctx // of the test's own service
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var file struct {
		Webhooks struct {
			Event struct {
				Post struct {
					Parameters []struct {
						Name   string
						Schema struct{ Pattern string }
					}
				}
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&file); err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, p := range file.Webhooks.Event.Post.Parameters {
		documented[p.Name] = true
		if v := h.Get(p.Name); v == "" || !regexp.MustCompile(p.Schema.Pattern).MatchString(v) {
			t.Errorf("the header %s is %q", p.Name, v)
		}
	}
	for name := range h {
		if name = strings.ToLower(name); strings.HasPrefix(name, "webhook-") && !documented[name] {
			t.Errorf("the file does not tell of the header %s", name)
		}
	}
}

// TestPeopleSeeWhatHappened: a line for each event, and one in the audit trail for who did it.
func TestPeopleSeeWhatHappened(t *testing.T) {
	t.Parallel()
	to := []string{"--url", served(t).String(), "--key", "boon_live_scripts_of_tests_harbor_coffee_head_office"}
	if code, _, log := typed(t, append([]string{"gift", "send", "--value", "20", "--print", "Ana", "--purchase", "WEB-1",
		"--first-name", "Carla", "--last-name", "Diaz", "--customer", "carla@example.com", "--storefront",
		"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"}, to...)...); code != exitOK {
		t.Fatal(log)
	}
	const when, id = `\d{4}-\d\d-\d\d \S+.*  `, `[0-9a-f-]{36}`
	for command, want := range map[string]string{
		"events tail --all --no-follow --type gift.*": `(?m)^` + when + `gift\.created +` + id + ` +\S*20\.00.* +\S*20\.00.*$`,
		"audit": `(?m)^` + when + `.*\S  +127\.0\.0\.1 +gift\.created +` + id + `$`,
	} {
		code, told, log := typed(t, append(strings.Fields(command), to...)...)
		if code != exitOK || len(regexp.MustCompile(want).FindAllString(told, -1)) != 1 {
			t.Errorf("boon %s: %d %s\n%s", command, code, log, told)
		}
	}
}
