package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/webhook"
)

// verify is the receiver of docs/events.md.
func verify(secret string, h http.Header, body []byte) bool {
	sent, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(sent, 0)).Abs() > 5*time.Minute {
		return false
	}
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", h.Get("webhook-id"), sent, body)
	for _, s := range strings.Fields(h.Get("webhook-signature")) {
		got, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "v1,"))
		if err == nil && hmac.Equal(got, mac.Sum(nil)) {
			return true
		}
	}
	return false
}

// delivery is a message as a receiver of the documents gets it.
type delivery struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	good    bool
}

func deliveries(t *testing.T) (all []delivery) {
	t.Helper()
	first, err := gift.NewWebhookSecret(rand.Reader)
	check(t, err)
	second, err := gift.NewWebhookSecret(rand.Reader)
	check(t, err)
	add := func(secret gift.WebhookSecret, by []gift.WebhookSecret, at time.Time, signed, body string, good bool) {
		all = append(all, delivery{secret.Reveal(), map[string]string{"webhook-id": "evt_1",
			"webhook-timestamp": strconv.FormatInt(at.Unix(), 10),
			"webhook-signature": webhook.Sign(by, "evt_1", at, []byte(signed))}, body, good})
	}
	now, both := time.Now(), []gift.WebhookSecret{first, second}
	add(first, both[:1], now, "{}", "{}", true)
	add(first, both, now, `{"é":1}`, `{"é":1}`, true)
	add(second, both, now, "{}", "{}", true)
	add(second, both[:1], now, "{}", "{}", false)
	add(first, both, now, "{}", `{"more":1}`, false)
	add(first, both, now.Add(-time.Hour), "{}", "{}", false)
	add(first, both, now.Add(time.Hour), "{}", "{}", false)
	return all
}

// drivers have each receiver of the documents judge messages, one after the other.
var drivers = map[string]struct{ program, file, rest string }{
	"ts": {"node", "receiver.mjs", `
const all = JSON.parse(process.argv[2]);
console.log(JSON.stringify(all.map((d) => verify(d.secret, d.headers, Buffer.from(d.body)))));
`},
	"python": {"python3", "receiver.py", `
import json, sys
print(json.dumps([verify(d["secret"], d["headers"], d["body"].encode()) for d in json.loads(sys.argv[1])]))
`},
}

// types are what node does not read of TypeScript.
var types = regexp.MustCompile(`: (Record<string, string>|string|Buffer|boolean)`)

// TestReceiversOfTheDocuments: the receivers in docs/events.md take what they should, and nothing else. Those of
// languages that this machine lacks are not run.
func TestReceiversOfTheDocuments(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/events.md")
	check(t, err)
	own, err := os.ReadFile("receivers_test.go")
	check(t, err)
	sent := deliveries(t)
	blocks := regexp.MustCompile("(?ms)^```(go|ts|python)\n(.*?)^```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("%d receivers", len(blocks))
	}
	for _, b := range blocks {
		var judged []bool
		if b[1] == "go" {
			if !strings.Contains(string(own), b[2]) {
				t.Errorf("the receiver in Go is another one than that of this test: %s", b[2])
			}
			for _, d := range sent {
				h := http.Header{}
				for name, value := range d.Headers {
					h.Set(name, value)
				}
				judged = append(judged, verify(d.Secret, h, []byte(d.Body)))
			}
		} else if judged = run(t, b[1], b[2], sent); judged == nil {
			continue
		}
		for i, d := range sent {
			if i >= len(judged) || judged[i] != d.good {
				t.Errorf("%s: message %d: %v", b[1], i, judged)
			}
		}
	}
}

// run gives what a receiver says of each message; nil: there is nothing to run it with.
func run(t *testing.T, language, code string, sent []delivery) (judged []bool) {
	t.Helper()
	d := drivers[language]
	program, err := exec.LookPath(d.program)
	if err != nil {
		t.Logf("%s is not run: %v", language, err)
		return nil
	}
	file := filepath.Join(t.TempDir(), d.file)
	if language == "ts" {
		code = types.ReplaceAllString(code, "")
	}
	check(t, os.WriteFile(file, []byte(code+d.rest), 0o600))
	args, err := json.Marshal(sent)
	check(t, err)
	command := exec.CommandContext(t.Context(), program, file, string(args))
	client, err := filepath.Abs("../../sdk/python")
	check(t, err)
	command.Env = append(os.Environ(), "PYTHONPATH="+client, "PYTHONDONTWRITEBYTECODE=1")
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", language, err, stderr.String())
	}
	check(t, json.Unmarshal(out, &judged))
	return judged
}
