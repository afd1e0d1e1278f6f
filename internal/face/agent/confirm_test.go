package agent

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/service"
)

// TestConfirmations: a confirmation is good for the key that it was given to, for one tool, with the very same
// arguments, and for less than 10 minutes.
func TestConfirmations(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	made := now
	hash := func(key string) func([]byte) [32]byte {
		return func(text []byte) [32]byte {
			h := hmac.New(sha256.New, []byte(key))
			h.Write(text)
			return [32]byte(h.Sum(nil))
		}
	}
	earlier := hash("the key before")
	f := &face{Config: Config{Service: service.New(service.Config{Now: func() time.Time { return now },
		Fingerprint:   hash("the key in use"),
		Fingerprinted: func(code [32]byte, text []byte) (bool, error) { return code == earlier(text), nil }})}}
	before := &face{Config: Config{Service: service.New(service.Config{Now: f.Service.Now, Fingerprint: earlier})}}
	by := func(key byte) *service.Call {
		return &service.Call{Caller: &merchant.Caller{KeyID: guid.ID{key}}}
	}
	block, send := &tool{Tool: mcp.Tool{Name: "block_gift"}}, &tool{Tool: mcp.Tool{Name: "send_gift"}}
	body := []byte(`{"voucherID":"a","reasonCode":"LOST"}`)
	rotated := before.confirmationOf(by(1), block, body, now.Add(confirmable))
	given := f.confirmationOf(by(1), block, body, now.Add(confirmable))
	again := f.confirmationOf(by(1), block, body, now.Add(confirmable))
	if given == again {
		t.Error("two intentions have one confirmation, so that only one is carried out")
	}
	if !service.IsKey(given) {
		t.Errorf("%q can be no Idempotency-Key", given)
	}
	for name, c := range map[string]struct {
		call  *service.Call
		tool  *tool
		body  string
		given string
		later time.Duration
		good  bool
	}{
		"the same":            {by(1), block, string(body), given, 0, true},
		"at the last instant": {by(1), block, string(body), given, confirmable - 1, true},
		"after 10 minutes":    {by(1), block, string(body), given, confirmable, false},
		"of the key before":   {by(1), block, string(body), rotated, 0, true},
		"another key":         {by(2), block, string(body), given, 0, false},
		"another tool":        {by(1), send, string(body), given, 0, false},
		"another argument":    {by(1), block, strings.Replace(string(body), "LOST", "FRAUD", 1), given, 0, false},
		"one more":            {by(1), block, strings.Replace(string(body), "}", `,"reason":"x"}`, 1), given, 0, false},
		"cut off":             {by(1), block, string(body), given[:len(given)-1], 0, false},
		"a longer time":       {by(1), block, string(body), given[:8] + "B" + given[9:], 0, false},
		"made up":             {by(1), block, string(body), "agent-" + strings.Repeat("A", 75), 0, false},
		"a word":              {by(1), block, string(body), "yes", 0, false},
		"nothing":             {by(1), block, string(body), "", 0, false},
	} {
		now = made.Add(c.later)
		if err := f.confirm(c.call, c.tool, []byte(c.body), c.given); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
