package api_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/face/api/contract"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

func (w *world) hooks(method, path, body string, headers ...string) reply {
	w.Helper()
	return w.do(method, base+"/webhooks"+path, body, append(headers, "Content-Type", "application/json")...)
}

// hook adds an endpoint.
func (w *world) hook(headers ...string) (id string) {
	w.Helper()
	return w.hooks("POST", "", `{"url":"https://example.com/hooks"}`, headers...).want(201).at("webhookID")
}

// TestWebhooks: endpoints are made, listed, changed and deleted; their secrets are shown once.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.hooks("POST", "", `{"url":"https://example.com/a","types":["key.*","gift.redeemed"],"description":"Ann's"}`).
		want(201, "url", "https://example.com/a", "types", `["gift.redeemed","key.*"]`, "description", "Ann's", "enabled",
			"true", "switchedOff", "null", "oldSecretUntil", "null")
	first, secret := made.at("webhookID"), made.at("secret")
	if _, err := merchant.ParseWebhookSecret(secret); err != nil {
		t.Errorf("%q: %v", secret, err)
	}
	second := w.hook()
	w.hooks("GET", "", "").want(200, "webhooks[0].webhookID", first, "webhooks[1].webhookID", second, "webhooks[1].types",
		"[]").has("webhooks", 2)
	w.hooks("PATCH", "/"+first, `{"enabled":false,"types":[]}`).want(200, "enabled", "false", "types", "[]", "url",
		"https://example.com/a", "description", "Ann's")
	w.hooks("PATCH", "/"+first, `{"url":"https://example.com:8443/b"}`).want(200, "enabled", "false", "url",
		"https://example.com:8443/b")
	// What says nothing changes nothing, but for an empty description.
	w.hooks("PATCH", "/"+first, `{"url":"","types":null,"description":null,"enabled":""}`).want(200, "enabled", "false",
		"url", "https://example.com:8443/b", "description", "Ann's")
	w.hooks("PATCH", "/"+first, `{"description":""}`).want(200, "description", "null")
	rotated := w.hooks("POST", "/"+first+"/rotate-secret", `{}`).want(200, "webhookID", first)
	until, err := time.Parse(time.RFC3339, rotated.at("oldSecretUntil"))
	if ahead := time.Until(until); err != nil || rotated.at("secret") == secret || ahead < 23*time.Hour ||
		ahead > 24*time.Hour {
		t.Errorf("%s", rotated.body)
	}
	d, err := w.store.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if h := d.Webhook(id(harbor), id(first)); h.Old.Reveal() != secret || h.Secret.Reveal() != rotated.at("secret") {
		t.Error("the store has other secrets")
	}
	for _, path := range []string{"", "/" + first, "/" + first + "/attempts"} {
		if body := string(w.hooks("GET", path, "").want(200).body); strings.Contains(body, "whsec_") {
			t.Errorf("%s shows a secret: %s", path, body)
		}
	}
	w.hooks("DELETE", "/"+first, "").want(200, "webhookID", first)
	w.hooks("GET", "/"+first, "").refused(404, refusal.NotFound, "webhookID")
	w.hooks("DELETE", "/"+first, "").refused(404, refusal.NotFound, "webhookID")
	w.hooks("GET", "", "").want(200).has("webhooks", 1)
	for range merchant.MaxWebhooks - 1 {
		w.hook()
	}
	w.hooks("POST", "", `{"url":"https://example.com"}`).refused(400, refusal.ValidationFailure, "")
}

// TestWebhooksAreEvents: who watches the events learns of an endpoint that somebody adds, changes or takes away, though
// no more of its address than the host. Neither a replay nor what changes nothing is one.
func TestWebhooksAreEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.hooks("POST", "", `{"url":"https://thief.example:8443/hook?token=SECRET"}`).want(201).at("webhookID")
	w.hooks("PATCH", "/"+h, `{"types":["gift.*"]}`).want(200)
	w.hooks("POST", "/"+h+"/rotate-secret", `{}`).want(200)
	from := w.now().Add(-time.Hour).UTC().Format(time.RFC3339)
	w.hooks("POST", "/"+h+"/replay", `{"from":"`+from+`"}`).want(200)
	w.hooks("PATCH", "/"+h, `{"url":"https://other.example/"}`).want(200)
	w.hooks("DELETE", "/"+h, "").want(200)
	all, cursor := w.feed(5, url.Values{"type": {"webhook.*"}})
	var told []string
	for _, e := range all {
		told = append(told, e.Type+" "+e.Data.Webhook.Host)
		if e.Data.Webhook.WebhookID != h || e.Data.Key != nil || e.Data.Gift != nil || e.Sequence != 0 {
			t.Errorf("event %+v", e)
		}
	}
	if want := []string{"webhook.created thief.example:8443", "webhook.changed thief.example:8443",
		"webhook.changed thief.example:8443", "webhook.changed other.example", "webhook.deleted other.example"}; !slices.
		Equal(told, want) {
		t.Errorf("told %v", told)
	}
	if more, _ := w.feed(0, url.Values{"type": {"webhook.*"}, "after": {cursor}}); len(more) > 0 {
		t.Errorf("more events: %+v", more)
	}
	if body := string(w.get("/events?type=webhook.*").want(200).body); strings.Contains(body, "SECRET") {
		t.Errorf("events tell more than the host: %s", body)
	}
}

// TestWebhooksAreChecked: every problem of a request is told with its place.
func TestWebhooksAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := "/" + w.hook()
	for body, paths := range map[string][]string{
		`{}`: {"url"}, `{"url":"","description":null}`: {"url"}, `{"url":7}`: {"url"},
		`{"url":"http://example.com","types":["gift.sold"],"enabled":1,"description":"` + strings.Repeat("x", 201) +
			`","more":1}`: {"url", "types[0]", "enabled", "description", "more"},
		`{"url":"https://example.com","types":["gift.redeemed","gift.redeemed"]}`: {"types[1]"},
		`{"url":"https://example.com","types":[1]}`:                               {"types[0]"},
		`{"url":"https://example.com","types":"gift.*"}`:                          {"types"},
		`{"url":"https://user:pass@example.com"}`:                                 {"url"},
		`{"url":"https://example.com","description":"a\nb"}`:                      {"description"},
	} {
		w.hooks("POST", "", body).refused(400, refusal.ValidationFailure, paths...)
	}
	w.hooks("PATCH", one, `{"url":"ftp://x","types":["*"]}`).refused(400, refusal.ValidationFailure, "url", "types[0]")
	for _, host := range []string{"10.0.0.1", "localhost", "169.254.169.254", "[::ffff:127.0.0.1]", "[::1]:8443"} {
		for method, path := range map[string]string{"POST": "", "PATCH": one} {
			refused := w.hooks(method, path, `{"url":"https://`+host+`/"}`).refused(400, refusal.ValidationFailure, "url")
			if says := refused.at("messages[0].text"); !strings.Contains(says, "--webhooks-allow") {
				t.Errorf("%s: %s", host, says)
			}
		}
	}
	w.hooks("PATCH", "/x", `{"url":"ftp://x"}`).refused(400, refusal.ValidationFailure, "webhookID", "url")
	w.hooks("POST", one+"/rotate-secret", `{"x":1}`).refused(400, refusal.ValidationFailure, "x")
	at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }
	for body, paths := range map[string][]string{
		`{}`: {"from"}, `{"from":"yesterday","types":["x"]}`: {"from", "types[0]"},
		`{"from":"` + at(-time.Hour) + `","to":"` + at(-2*time.Hour) + `"}`: {"to"},
		`{"from":"` + at(-91*24*time.Hour) + `"}`:                           {"from"},
	} {
		w.hooks("POST", one+"/replay", body).refused(400, refusal.ValidationFailure, paths...)
	}
	w.hooks("GET", one+"/attempts?limit=0&cursor=x", "").refused(400, refusal.ValidationFailure, "limit", "cursor")
	// Too many changes, of which each is one of the set-up.
	for range 59 {
		w.hooks("PATCH", one, `{"enabled":true}`).want(200)
	}
	limited := w.hooks("PATCH", one, `{"enabled":true}`).refused(429, refusal.RateLimited)
	if limited.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	w.hooks("GET", one, "").want(200)
}

// TestReplayIsAskedFor: which events are to come again is in the set-up, from which a deliverer takes it.
func TestReplayIsAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.hook()
	g := w.send(ofMoney("5"))
	w.redeem(g, "1").want(200)
	for told := false; !told; { // where others have transactions open on the same server, events wait for them
		told = strings.Contains(string(w.get("/events?limit=200").want(200).body), "gift.redeemed")
	}
	from := w.now().Add(-time.Hour).UTC().Truncate(time.Second)
	asked := w.hooks("POST", "/"+one+"/replay", `{"from":"`+from.Format(time.RFC3339)+`","types":["gift.redeemed"]}`).
		want(200, "webhookID", one)
	d, err := w.store.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := d.Webhook(id(harbor), id(one)).Replay
	if r == nil || r.ID != id(asked.at("replayID")) || !r.From.Equal(from) || !slices.Equal(r.Types,
		[]string{"gift.redeemed"}) || r.Upto.IsZero() {
		t.Errorf("%+v", r)
	}
}

// TestAttemptsAreListed in pages; an answer that is no text is shown as far as it goes.
func TestAttemptsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.hook()
	attempts := []event.WebhookAttempt{
		{Status: 500, Answer: []byte(strings.Repeat("é", 511) + "x\xc3"), Took: 1_500 * time.Millisecond},
		{Status: 200}, {Words: "The host has no address that may be called."}, {Status: 404, Answer: []byte("<b>\xff\x00")},
	}
	for i := range attempts {
		a := &attempts[i]
		a.ID, a.Event = id(fmt.Sprintf("00000000-0000-7000-8000-00000000000%d", i)), id(nowhere)
		a.AccountID, a.WebhookID, a.Type, a.At = id(harbor), id(one), gift.EventRedeemed, w.now()
	}
	if err := w.store.SaveWebhooks(t.Context(), nil, attempts); err != nil {
		t.Fatal(err)
	}
	page := w.hooks("GET", "/"+one+"/attempts?limit=3", "").want(200, "attempts[0].status", "404", "attempts[1].status",
		"null", "attempts[1].failure", attempts[2].Words, "attempts[1].answer", "null", "attempts[2].status", "200",
		"attempts[2].answer", "null", "attempts[2].type", "gift.redeemed", "attempts[2].eventID", nowhere).has("attempts", 3)
	w.hooks("GET", "/"+one+"/attempts?cursor="+page.at("nextCursor"), "").want(200, "attempts[0].milliseconds", "1500",
		"attempts[0].answer", strings.Repeat("é", 511)+"x", "attempts[0].failure", "null", "nextCursor", "null")
}

// TestAuthorityOverWebhooks: a key of an account with the permission manages its webhooks; one that is limited to
// locations manages none, and those of others do not exist.
func TestAuthorityOverWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own, others := w.hook(), w.hook(as(cornerKey)...)
	w.permit(rotatedKey, "look-up", "codes")
	operations, err := contract.Routes(theFile)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, op := range operations {
		if !strings.Contains(op.Path, "/webhooks") {
			continue
		}
		seen++
		body := map[string]string{"createWebhook": `{"url":"https://example.com"}`, "changeWebhook": `{"enabled":false}`,
			"rotateWebhook": `{}`, "replayWebhook": `{"from":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `"}`,
		}[op.OperationID]
		ask := func(hook, key string) reply {
			return w.do(op.Method, strings.Replace(op.Path, "{webhookID}", hook, 1), body, append(as(key), "Content-Type",
				"application/json")...)
		}
		ask(own, systemKey).refused(422, refusal.NotSupported)
		ask(own, rotatedKey).refused(403, refusal.NotAuthorized)
		ask(own, pierKey).refused(403, refusal.NotAuthorized)
		for _, dead := range deadKeys[1:] {
			ask(own, dead).refused(401, refusal.Unauthenticated)
			w.pass(6 * time.Second)
		}
		if strings.Contains(op.Path, "{webhookID}") {
			theirs := ask(others, harborKey).refused(404, refusal.NotFound)
			none := ask(nowhere, harborKey).refused(404, refusal.NotFound)
			var a, b struct{ Messages any }
			if json.Unmarshal(theirs.body, &a) != nil || json.Unmarshal(none.body, &b) != nil ||
				fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%s: %s and %s", op.OperationID, theirs.body, none.body)
			}
		} else if body := string(ask("", harborKey).body); strings.Contains(body, others) {
			t.Errorf("%s tells of another account's: %s", op.OperationID, body)
		}
	}
	if seen != 8 {
		t.Errorf("%d operations", seen)
	}
	w.hooks("GET", "/"+others, "", as(cornerKey)...).want(200, "enabled", "true")
	w.hooks("GET", "/"+own, "").want(200, "enabled", "true")
}

// TestEventsHoldNoSecrets: an event tells of its gift and entry without what a gift could be spent with, and without
// the recipient's address. A webhook is sent what the feed has, whose members are documented.
func TestEventsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(mailed("ana@example.com"))
	w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"LOST"}`).want(200)
	w.feed(2, url.Values{}) // waits for what others have under way on the same server
	page, err := w.store.Events(t.Context(), event.Query{AccountID: id(harbor), Limit: 100})
	if err != nil || len(page.Events) < 2 {
		t.Fatalf("%d events, %v", len(page.Events), err)
	}
	var listed struct{ Events []json.RawMessage }
	err = json.Unmarshal(w.get("/events").want(200).body, &listed)
	if err != nil || len(listed.Events) != len(page.Events) {
		t.Fatalf("%d events are listed, %v", len(listed.Events), err)
	}
	sequence := 0
	for i := range page.Events {
		e := &page.Events[i]
		body := string(w.config.api().EventBody(t.Context(), e))
		if body != string(listed.Events[i]) {
			t.Errorf("a webhook is sent %s, the feed has %s", body, listed.Events[i])
		}
		if !json.Valid([]byte(body)) {
			t.Errorf("no JSON: %s", body)
		}
		for _, secret := range []string{g.code, g.token, "ana@example.com"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s is told: %s", secret, body)
			}
		}
		if e.Gift == nil {
			continue
		}
		sequence++
		var event struct {
			ID, Type, AccountID, OccurredAt, Mode string
			Sequence                              int
			Data                                  struct {
				Gift struct {
					VoucherID, LastFour string
					VoucherCode         *string
				}
				Entry struct{ EntryID, Kind string }
			}
		}
		if err := json.Unmarshal([]byte(body), &event); err != nil {
			t.Fatal(err)
		}
		if event.ID != e.ID.String() || event.Type != string(e.Type) || event.AccountID != harbor || event.Mode != "live" ||
			event.Sequence != sequence || event.Data.Gift.VoucherID != g.id || event.Data.Gift.LastFour != g.code[8:] ||
			event.Data.Gift.VoucherCode != nil || event.Data.Entry.EntryID != e.ID.String() {
			t.Errorf("%s", body)
		}
	}
	if sequence != 2 {
		t.Errorf("%d events of the gift, want 2", sequence)
	}
}

// TestLongBodiesOfSettings: what changes webhooks, tills, people and clocks is bounded like everything else.
func TestLongBodiesOfSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, long := w.hook(), `{"description":"`+strings.Repeat("x", 2<<20)+`"}`
	for _, c := range []struct{ method, path string }{
		{"POST", ""}, {"PATCH", "/" + id}, {"POST", "/" + id + "/rotate-secret"}, {"POST", "/" + id + "/replay"},
	} {
		w.hooks(c.method, c.path, long).refused(413, refusal.ValidationFailure)
	}
	for _, path := range []string{"/tills", "/people/set-pin"} {
		w.tills("POST", path, long).refused(413, refusal.ValidationFailure)
	}
	w.do("POST", "/api/test/clock", long, as(sandboxKey)...).refused(413, refusal.ValidationFailure)
	w.post("book", long).refused(413, refusal.ValidationFailure)
}

// TestTheLimitOnChangesOfWebhooks is that of each account: a test account that advances its clock gives nobody changes.
func TestTheLimitOnChangesOfWebhooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine, theirs := "/"+w.hook(), "/"+w.hook(as(sandboxKey)...)
	change := func(hook string, headers ...string) reply {
		return w.hooks("PATCH", hook, `{"description":"`+rand.Text()+`"}`, headers...)
	}
	for _, account := range []struct {
		hook    string
		headers []string
	}{{mine, nil}, {theirs, as(sandboxKey)}} {
		for n := 1; change(account.hook, account.headers...).status == http.StatusOK; n++ {
			if n > 100 {
				t.Fatal("webhooks can be changed without end")
			}
		}
	}
	w.do("POST", "/api/test/clock", `{"advance":"P1D"}`, as(sandboxKey)...).want(200)
	change(theirs, as(sandboxKey)...).refused(429, refusal.RateLimited)
	change(mine).refused(429, refusal.RateLimited)
	w.pass(time.Hour)
	change(mine).want(200)
}
