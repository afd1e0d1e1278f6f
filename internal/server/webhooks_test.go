package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"boon.example/examples"
	"boon.example/internal/server"
)

// TestAWebhookIsCalled: a running service calls a webhook that was added by the interface, with a message that Standard
// Webhooks takes, and tells what was answered; the receiver's answer and the secret stand in no log line.
func TestAWebhookIsCalled(t *testing.T) {
	t.Parallel()
	type message struct {
		header http.Header
		body   []byte
	}
	got := make(chan message, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- message{r.Header, body}
		io.WriteString(w, "thank you very much")
	}))
	t.Cleanup(receiver.Close)
	s := start(t, server.Config{WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	const hooks = "/api/integration/webhooks"
	var hook struct{ WebhookID, Secret string }
	s.must("POST", hooks, examples.HarborOfficeKey, `{"url":"`+receiver.URL+`/a","types":["gift.created"]}`, &hook)
	s.stock("1")
	var m message
	select {
	case m = <-got:
	case <-time.After(time.Minute):
		t.Fatalf("the webhook was not called: %s", s.logs)
	}
	verifier, err := standardwebhooks.NewWebhook(hook.Secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(m.body, m.header); err != nil {
		t.Errorf("%v: %v", err, m.header)
	}
	var event struct{ ID, Type, AccountID string }
	if err := json.Unmarshal(m.body, &event); err != nil || event.Type != "gift.created" || event.AccountID !=
		examples.HarborAccount || event.ID != m.header.Get("webhook-id") {
		t.Errorf("%s, %v", m.body, err)
	}
	var page struct {
		Attempts []struct {
			EventID, Answer string
			Status          int
		}
	}
	for until := time.Now().Add(time.Minute); len(page.Attempts) == 0 && time.Now().Before(until); {
		time.Sleep(50 * time.Millisecond)
		s.must("GET", hooks+"/"+hook.WebhookID+"/attempts", examples.HarborOfficeKey, "", &page)
	}
	if len(page.Attempts) != 1 || page.Attempts[0].Status != 200 || page.Attempts[0].Answer != "thank you very much" ||
		page.Attempts[0].EventID != event.ID {
		t.Errorf("%+v", page)
	}
	if log := s.logs.String(); strings.Contains(log, "thank you") || strings.Contains(log, hook.Secret[6:]) {
		t.Errorf("the log tells: %s", log)
	}
}
