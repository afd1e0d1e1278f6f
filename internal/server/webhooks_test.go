package server_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"boon.example/examples"
	"boon.example/internal/boontest"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
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
	s.measures("boon_webhook_endpoints 1", "boon_webhook_endpoints_failing 0", "boon_webhook_behind_seconds 0")
	if log := s.logs.String(); strings.Contains(log, "thank you") || strings.Contains(log, hook.Secret[6:]) {
		t.Errorf("the log tells: %s", log)
	}
}

// TestAWebhookThatPointsHome: one that is called at the service itself is a caller without a key, whose calls make no
// event and so no further call.
func TestAWebhookThatPointsHome(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	const hooks = "/api/integration/webhooks"
	refused := map[string]int{sendPath: 401, hooks: 401, "/till/pair": 400, "/providers/toast/x": 400, "/": 405}
	ids := map[string]string{}
	for path := range refused {
		var hook struct{ WebhookID string }
		s.must("POST", hooks, examples.HarborOfficeKey, `{"url":"`+s.url+path+`","types":["gift.*"]}`, &hook)
		ids[path] = hook.WebhookID
	}
	s.stock("1")
	for path, id := range ids {
		var page struct{ Attempts []struct{ Status int } }
		s.eventually(func() bool {
			s.must("GET", hooks+"/"+id+"/attempts", examples.HarborOfficeKey, "", &page)
			return len(page.Attempts) > 0
		})
		if page.Attempts[0].Status != refused[path] {
			t.Errorf("%s answers with %+v", path, page)
		}
	}
	var feed struct{ Events []struct{ Type string } }
	s.must("GET", "/api/integration/events?type=gift.*", examples.HarborOfficeKey, "", &feed)
	if len(feed.Events) != 1 {
		t.Errorf("%+v", feed)
	}
}

// oldHook stores an endpoint that was made 40 days ago, has failed for some of them, and was called so many days ago.
func (s *service) oldHook(accountID, url string, failing int, called ...int) guid.ID {
	s.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	day := func(n int) time.Time { return now.Add(-time.Duration(n) * 24 * time.Hour) }
	newID := func() guid.ID { return guid.ID(uuid.Must(uuid.NewV7())) }
	account, err := guid.Parse(accountID)
	if err != nil {
		s.Fatal(err)
	}
	secret, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		s.Fatal(err)
	}
	w := &merchant.Webhook{ID: newID(), AccountID: account, URL: url, Enabled: true, CreatedAt: day(40),
		ChangedAt: day(40),
		Secret:    secret}
	var attempts []event.WebhookAttempt
	for _, n := range called {
		attempts = append(attempts, event.WebhookAttempt{ID: newID(), AccountID: account, WebhookID: w.ID, Event: newID(),
			Type: gift.EventRedeemed, At: day(n), Status: 500})
	}
	s.withStore(func(db *store.Store) (err error) {
		if w.Start, err = db.EventsEnd(s.Context(), account); err != nil {
			return err
		}
		state := event.WebhookState{AccountID: account, WebhookID: w.ID, After: w.Start}
		if failing > 0 {
			state.FailingSince = day(failing)
		}
		err = db.Configure(s.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
			return merchant.Changes{Webhooks: []*merchant.Webhook{w}, What: "made one"}, nil
		})
		return errors.Join(err, db.SaveWebhooks(s.Context(), []event.WebhookState{state}, attempts))
	})
	return w.ID
}

// TestAddressesAreCheckedWhenCalled: a webhook that leads to this machine, as one that was allowed before does, or one
// whose name was public when it was made, is not called.
func TestAddressesAreCheckedWhenCalled(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("an internal service was called")
	}))
	t.Cleanup(inside.Close)
	p := boontest.NewPlace(t)
	s := &service{T: t, data: p.Data, database: p.Database, logs: &boontest.Log{}}
	s.apply(examples.HarborCoffee())
	hook := s.oldHook(examples.HarborAccount, strings.Replace(inside.URL, "127.0.0.1", "localhost", 1), 0)
	s.run(server.Config{})
	s.stock("1")
	var page struct{ Attempts []struct{ Failure string } }
	s.eventually(func() bool {
		s.must("GET", "/api/integration/webhooks/"+hook.String()+"/attempts", examples.HarborOfficeKey, "", &page)
		return len(page.Attempts) > 0
	})
	if page.Attempts[0].Failure != "The host has no address that may be called." {
		t.Errorf("%+v", page)
	}
}

// TestATestAccountTellsNobody: the mail about a failing webhook of a test account stays in the outbox.
func TestATestAccountTellsNobody(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(receiver.Close)
	p := boontest.NewPlace(t)
	s := &service{T: t, data: p.Data, database: p.Database, logs: &boontest.Log{}}
	live, _, _ := strings.Cut(string(examples.HarborCoffee()), "\nsystemKeys:")
	s.apply([]byte(live + strings.Replace(sandbox, "mode: test", "mode: test\n    contact: owner@harbor.example", 1)))
	hook := s.oldHook(sandboxID, receiver.URL, 6)
	mails, smtp := openMailbox(t)
	s.run(server.Config{SMTP: smtp, PublicURL: "https://gifts.example.com",
		WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	s.sandboxGift(`{"value":5,"deliveryMethodID":3}`)
	s.eventually(func() bool {
		var is struct{ SwitchedOff string }
		s.must("GET", "/api/integration/webhooks/"+hook.String(), sandboxKey, "", &is)
		return is.SwitchedOff == "FAILING"
	})
	if len(mails.letters) > 0 {
		t.Errorf("a mail left: %s", <-mails.letters)
	}
	s.withStore(func(st *store.Store) error {
		kept, err := st.Messages(t.Context(), guid.ID{}, 100)
		if err != nil || len(kept) != 1 || kept[0].To != "owner@harbor.example" {
			t.Errorf("in the outbox are %+v, %v", kept, err)
		}
		return err
	})
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
	failing := s.oldHook(examples.HarborAccount, receiver.URL+"/failing", 6, 31, 29)
	ids := map[string]guid.ID{"failing": failing, "gone": s.oldHook(examples.HarborAccount, receiver.URL+"/gone", 0)}
	s.run(server.Config{Outbox: true, WebhooksAllow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	s.stock("1")
	const path = "/api/integration/webhooks/"
	for name, why := range map[string]string{"failing": "FAILING", "gone": "GONE"} {
		s.eventually(func() bool {
			var is struct {
				Enabled     bool
				SwitchedOff string
			}
			s.must("GET", path+ids[name].String(), examples.HarborOfficeKey, "", &is)
			return !is.Enabled && is.SwitchedOff == why
		})
	}
	var told []byte
	s.eventually(func() bool { // the feed waits for transactions that are still open, other tests' too
		_, told, _ = s.call("GET", "/api/integration/events?type=webhook.changed", examples.HarborOfficeKey, "")
		return strings.Contains(string(told), failing.String()) && strings.Contains(string(told), ids["gone"].String())
	})
	for name, id := range ids {
		if strings.Count(string(told), id.String()) != 1 {
			t.Errorf("events do not tell once that the %s one was switched off: %s", name, told)
		}
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
	if time.Since(calls.Attempts[1].AttemptedAt) > 30*24*time.Hour {
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
