package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"boon.example/internal/server"
)

// TestOutboxOnlyAlone: the outbox is never open beside a real gateway: neither has the service one when it was not
// asked for, nor does it start when it was.
func TestOutboxOnlyAlone(t *testing.T) {
	t.Parallel()
	_, smtp := openMailbox(t)
	_, twilio := openPhones(t)
	s := start(t, server.Config{SMTP: smtp, SMS: twilio, PublicURL: "https://gifts.example.com"})
	for _, path := range []string{"/outbox", "/outbox?kind=print",
		"/outbox/01890000-0000-7000-8000-000000000000/mail.eml"} {
		if status, _, err := s.call("GET", path, "", ""); err != nil || status != http.StatusNotFound {
			t.Errorf("GET %s beside real gateways: %d, %v", path, status, err)
		}
	}
	for name, c := range map[string]server.Config{"SMTP": {SMTP: smtp}, "SMS": {SMS: twilio}} {
		c.Listen, c.Data, c.Outbox, c.Logger = "127.0.0.1:0", t.TempDir(), true, slog.New(slog.DiscardHandler)
		ctx, stop := context.WithCancel(t.Context())
		c.Ready = func(string) { t.Errorf("the service started with an outbox and %s", name); stop() }
		if err := server.Run(ctx, c); err == nil || !strings.Contains(err.Error(), "--outbox") {
			t.Errorf("an outbox and %s: %v", name, err)
		}
		stop()
	}
}
