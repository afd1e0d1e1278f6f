package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"boon.example/internal/server"
)

// TestTheOutboxIsOfThisMachine: a service that only this machine is to reach shows its outbox neither through a proxy
// nor under another host's name, unless it was told to show it anyway.
func TestTheOutboxIsOfThisMachine(t *testing.T) {
	t.Parallel()
	own, anyway := start(t, server.Config{Outbox: true}), start(t, server.Config{Outbox: true, OutboxAnyway: true})
	for _, path := range []string{"/outbox", "/outbox?kind=print"} {
		for name, c := range map[string]struct {
			host, header string
			hidden       bool
		}{
			"by its address": {}, "by localhost": {host: "localhost:8080"}, "by IPv6": {host: "[::1]:8080"},
			"without a port": {host: "localhost"}, "IPv6 without a port": {host: "[::1]"},
			"a name of anybody's": {host: "evil.example:8080", hidden: true}, "of a network": {host: "192.0.2.1", hidden: true},
			"localhost of anybody's": {host: "localhost.evil.example", hidden: true},
			"X-Forwarded-For":        {header: "X-Forwarded-For", hidden: true},
			"Forwarded":              {header: "Forwarded", hidden: true}, "Via": {header: "Via", hidden: true},
			"X-Forwarded-Host": {header: "X-Forwarded-Host", hidden: true}, "X-Real-Ip": {header: "X-Real-IP", hidden: true},
		} {
			for _, s := range []*service{own, anyway} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if r.Host = c.host; c.header != "" {
					r.Header.Set(c.header, "203.0.113.7")
				}
				resp, err := client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				want := http.StatusOK
				if c.hidden && s == own {
					want = http.StatusNotFound
				}
				if resp.StatusCode != want {
					t.Errorf("%s, %s, anyway %v: %d, want %d", path, name, s == anyway, resp.StatusCode, want)
				}
			}
		}
	}
}

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
