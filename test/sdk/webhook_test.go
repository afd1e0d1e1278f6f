package sdk_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"boon.example/client"
	"boon.example/internal/gift"
	"boon.example/internal/webhook"
)

// delivery is a message as a receiver gets it.
type delivery struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	good    bool
}

// deliveries are messages signed as the service signs them, good and bad, while a secret is changed, too.
func deliveries(t *testing.T) (all []delivery) {
	t.Helper()
	first, err := gift.NewWebhookSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	second, err := gift.NewWebhookSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
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

// TestReceivers: the clients take what the service signs, and nothing else.
func TestReceivers(t *testing.T) {
	t.Parallel()
	sent := deliveries(t)
	args, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	for language, judge := range map[string]func(t *testing.T) []bool{
		"Go": func(*testing.T) (judged []bool) {
			for _, d := range sent {
				h := http.Header{}
				for name, value := range d.Headers {
					h.Set(name, value)
				}
				_, err := client.ReadEvent(d.Secret, h, []byte(d.Body))
				judged = append(judged, err == nil)
			}
			return judged
		},
		"Python": func(t *testing.T) []bool {
			return booleans(t, python(t, os.Environ(), "-c", `import json, sys
from boon_gifts import verify
print(json.dumps([verify(d["secret"], d["headers"], d["body"].encode()) for d in json.loads(sys.argv[1])]))`, string(args)))
		},
		"TypeScript": func(t *testing.T) []bool {
			return booleans(t, node(t, os.Environ(), "--input-type=module", "-e", `import {verify} from "boon-gifts";
const all = JSON.parse(process.argv[1]);
console.log(JSON.stringify(all.map((d) => verify(d.secret, d.headers, Buffer.from(d.body)))));`, string(args)))
		},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			judged := judge(t)
			for i, d := range sent {
				if i >= len(judged) || judged[i] != d.good {
					t.Errorf("message %d: %v", i, judged)
				}
			}
		})
	}
}

func booleans(t *testing.T, text string) (all []bool) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return all
}
