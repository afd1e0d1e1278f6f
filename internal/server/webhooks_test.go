package server_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/gift"
	"boon.example/internal/server"
	"boon.example/internal/store"
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

// TestWebhooksAreSwitchedOff: one that answers 410 is switched off at once, and one that took nothing for five days, of
// which a mail tells the account's contact, once; a change switches it on again. Attempts are kept for 30 days.
func TestWebhooksAreSwitchedOff(t *testing.T) {
	t.Parallel()
	works := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-works:
		default:
			w.WriteHeader(map[string]int{"/gone": http.StatusGone, "/failing": http.StatusInternalServerError}[r.URL.Path])
		}
	}))
	t.Cleanup(receiver.Close)
	p := boontest.NewPlace(t)
	s := &service{T: t, data: p.Data, database: p.Database, logs: &boontest.Log{}}
	s.apply(bytes.Replace(examples.HarborCoffee(), []byte("    currency: USD"),
		[]byte("    contact: owner@harbor.example\n    currency: USD"), 1))
	account, err := gift.ParseID(examples.HarborAccount)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	day := func(n int) time.Time { return now.AddDate(0, 0, -n) }
	hooks := map[string]*gift.Webhook{}
	for _, name := range []string{"failing", "gone"} {
		secret, err := gift.NewWebhookSecret(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		hooks[name] = &gift.Webhook{ID: gift.ID(uuid.Must(uuid.NewV7())), AccountID: account, URL: receiver.URL + "/" + name,
			Enabled: true, CreatedAt: day(40), ChangedAt: day(40), Secret: secret}
	}
	failing, event := hooks["failing"].ID, gift.ID(uuid.Must(uuid.NewV7()))
	attempt := func(at time.Time) gift.WebhookAttempt {
		return gift.WebhookAttempt{ID: gift.ID(uuid.Must(uuid.NewV7())), AccountID: account, WebhookID: failing, Event: event,
			Type: gift.EventRedeemed, At: at, Status: 500}
	}
	s.withStore(func(db *store.Store) error {
		end, err := db.EventsEnd(t.Context(), account)
		if err != nil {
			return err
		}
		for _, h := range hooks {
			h.Start = end
		}
		err = db.Configure(t.Context(), func(*gift.Directory, gift.Uses) (gift.Changes, error) {
			return gift.Changes{Webhooks: slices.Collect(maps.Values(hooks)), What: "made two"}, nil
		})
		return errors.Join(err, db.SaveWebhooks(t.Context(), []gift.WebhookState{{AccountID: account, WebhookID: failing,
			After: end, FailingSince: day(6)}}, []gift.WebhookAttempt{attempt(day(31)), attempt(day(29))}))
	})
	s.run(server.Config{Outbox: true, WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	s.stock("1")
	const path = "/api/integration/webhooks/"
	for name, why := range map[string]string{"failing": "FAILING", "gone": "GONE"} {
		s.eventually(func() bool {
			var is struct {
				Enabled     bool
				SwitchedOff string
			}
			s.must("GET", path+hooks[name].ID.String(), examples.HarborOfficeKey, "", &is)
			return !is.Enabled && is.SwitchedOff == why
		})
	}
	_, page, err := s.call("GET", "/outbox", "", "")
	if n := strings.Count(string(page), "A webhook of Harbor Coffee was switched off"); err != nil || n != 1 ||
		!strings.Contains(string(page), "owner@harbor.example") {
		t.Errorf("%d mails tell of it: %s", n, page)
	}
	var calls struct {
		Attempts []struct {
			Status      int
			AttemptedAt time.Time
		}
	}
	s.eventually(func() bool {
		s.must("GET", path+failing.String()+"/attempts", examples.HarborOfficeKey, "", &calls)
		return len(calls.Attempts) == 2
	})
	if calls.Attempts[1].AttemptedAt.Sub(day(29)).Abs() > time.Second {
		t.Errorf("kept are %+v", calls)
	}
	// It works again: what happened meanwhile comes.
	close(works)
	s.must("PATCH", path+failing.String(), examples.HarborOfficeKey, `{"enabled":true}`, nil)
	s.eventually(func() bool {
		s.must("GET", path+failing.String()+"/attempts", examples.HarborOfficeKey, "", &calls)
		return len(calls.Attempts) > 2 && calls.Attempts[0].Status == 200
	})
}
