package remote

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/client"
	"boon.example/internal/command/terminal"
	"boon.example/internal/merchant"
	"boon.example/internal/post/webhook"
)

// TestForwardLeavesWhatFails: what is not taken is sent again after each pause, told each time, and then left; neither
// a redirect nor silence takes it. Once it was ended, nothing is sent.
func TestForwardLeavesWhatFails(t *testing.T) {
	t.Parallel()
	secret, err := merchant.NewWebhookSecret(strings.NewReader(strings.Repeat("s", 32)))
	if err != nil {
		t.Fatal(err)
	}
	statuses, n := []int{500, 307, 404}, 0
	machine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(statuses[min(n, len(statuses)-1)])
		n++
	}))
	defer machine.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	allowed, err := webhook.ParseAllow("127.0.0.0/8,::1/128")
	if err != nil {
		t.Fatal(err)
	}
	sender := webhook.NewSender(&webhook.Guard{Allow: allowed}, "boon-cli/test", 0)
	defer sender.Close()
	e := &client.Event{ID: "e1", Type: "gift.created\x1b[2J", Meta: client.Meta{Body: []byte("{}")}}
	var out bytes.Buffer
	pauses := []time.Duration{time.Millisecond, 2 * time.Millisecond}
	f := forwarder{sender: sender, url: machine.URL, secret: secret, pauses: pauses, out: &out}
	f.forward(t.Context(), e)
	f.url = gone.URL
	f.forward(t.Context(), e)
	f.url = machine.URL
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f.forward(ended, e)
	const each, broken = `gift.created\u001b[2J  e1  `, "The connection could not be made, or broke."
	want := each + "500 Internal Server Error (again in 1ms)\n" + each + "307 Temporary Redirect (again in 2ms)\n" +
		each + "404 Not Found (left)\n" + each + broken + " (again in 1ms)\n" + each + broken + " (again in 2ms)\n" +
		each + broken + " (left)\n"
	if out.String() != want || n != 3 {
		t.Errorf("%d messages, and it printed\n%swant\n%s", n, out.String(), want)
	}
}

// TestNamesInEvents: a name in an event commands no terminal.
func TestNamesInEvents(t *testing.T) {
	t.Parallel()
	const hostile = "Pier\x1b]0;owned\x07\u009b2J\u202e\n39"
	e := &client.Event{Type: hostile}
	e.Data.Gift = &client.Voucher{VoucherID: hostile}
	e.Data.Entry = &client.Entry{OrganizationName: hostile, KeyName: hostile, Person: hostile}
	key := &client.Event{Type: hostile}
	key.Data.Key = &client.EventKey{KeyName: hostile}
	hook := &client.Event{Type: hostile}
	hook.Data.Webhook = &client.EventWebhook{WebhookID: hostile, Host: hostile}
	var shown bytes.Buffer
	terminal.Table(&shown, nil, [][]string{eventRow(e), eventRow(key), eventRow(hook)})
	if strings.ContainsAny(shown.String(), "\x1b\x07\u009b\u202e") || strings.Count(shown.String(), "\n") != 3 {
		t.Errorf("a terminal is sent %q", shown.String())
	}
}
