package api_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/base/admission"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestTheClockOfATestAccount is read and advanced by its own keys only, and only it is advanced.
func TestTheClockOfATestAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(r reply) time.Time {
		t.Helper()
		now, err := time.Parse(time.RFC3339, r.want(200, "accountID", sandbox, "due", "0").at("now"))
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	const path = "/api/test/clock"
	before := at(w.do("GET", path, "", as(sandboxKey)...))
	set := before.AddDate(10, 0, 0).UTC().Format(time.RFC3339)
	if after := at(w.do("POST", path, `{"now":"`+set+`"}`, as(sandboxKey)...)); after.Year() != before.Year()+10 {
		t.Errorf("it shows %s after %s", after, before)
	}
	if after := at(w.do("POST", path, `{"now":"`+set+`"}`, as(sandboxKey)...)); after.Sub(before) > 3_654*24*time.Hour {
		t.Errorf("a repeat leads to %s", after)
	}
	moved := w.trail(url.Values{}, as(sandboxKey)...)
	moved = slices.DeleteFunc(moved, func(d deed) bool { return d.Action != "clock.advanced" })
	if len(moved) != 1 || moved[0].KeyName == "" || moved[0].Address == "" || moved[0].RequestID == "" ||
		!strings.Contains(moved[0].What, set[:len("2036-11-25T18")]) {
		t.Errorf("the audit trail has %+v, want one advance", moved)
	}
	w.do("POST", path, `{"advance":"-P1D","now":"x"}`, as(sandboxKey)...).refused(400, refusal.ValidationFailure)
	w.do("GET", path, "", as(harborKey)...).refused(422, refusal.NotSupported)
	w.do("POST", path, `{"advance":"P1D"}`, as(harborKey)...).refused(422, refusal.NotSupported)
	w.do("POST", path, `{"advance":"P1D"}`, as(systemKey)...).refused(422, refusal.NotSupported)
	w.get("/gifting/gifts", as(harborKey)...).want(200)
	w.send(ofMoney("5")) // of a live account, whose clock nobody can advance
}

// TestTestsTakeFewPlaces: calls of test accounts are few at once, and come after those of live ones.
func TestTestsTakeFewPlaces(t *testing.T) {
	t.Parallel()
	asked := make(chan admission.Priority, 64)
	w := newWorld(t, func(c *config) { c.Admission = noted{asked} })
	w.get("/gifting/gifts", as(sandboxKey)...).want(200)
	if p := <-asked; p != admission.Read {
		t.Errorf("a test account's call has priority %s", p)
	}
	w.do("POST", "/api/test/clock", `{"advance":"P1D"}`, as(sandboxKey)...).want(http.StatusOK)
	if p := <-asked; p != admission.Read {
		t.Errorf("a test account's call has priority %s", p)
	}
}

// noted is an admission that lets everything in.
type noted struct{ asked chan admission.Priority }

func (n noted) Enter(_ context.Context, _ admission.Party, p admission.Priority) bool {
	n.asked <- p
	return true
}

func (noted) Leave(admission.Party, admission.Priority) {}

func (noted) Busy() bool { return false }

// TestWebhooksGoByTheTestClock: a webhook of a test account tells what a gift is by that account's clock, as the feed.
func TestWebhooksGoByTheTestClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(ofMoney("5"))
	w.feed(1, url.Values{"type": {string(gift.EventCreated)}}) // waits for what others have under way on the same server
	page, err := w.store.Events(t.Context(), event.Query{AccountID: id(harbor), Limit: 1,
		Types: []gift.EventType{gift.EventCreated}})
	if err != nil || len(page.Events) != 1 {
		t.Fatalf("%+v, %v", page.Events, err)
	}
	e := &page.Events[0]
	e.AccountID, e.Gift.ValidUntil = id(sandbox), w.config.Now().Add(24*time.Hour)
	for _, open := range [][2]string{{"PT1S", "true"}, {"P60D", "false"}} {
		w.do("POST", "/api/test/clock", `{"advance":"`+open[0]+`"}`, as(sandboxKey)...).want(200)
		body := string(w.config.api().EventBody(t.Context(), e))
		if !strings.Contains(body, `"isInRedeemablePeriod":`+open[1]) {
			t.Errorf("after %s: %s", open[0], body)
		}
	}
}

// TestSecretsOfTestWebhooksEndByTheRealClock: messages are signed and called by it, however far a test account's clock
// is ahead.
func TestSecretsOfTestWebhooksEndByTheRealClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do("POST", "/api/test/clock", `{"advance":"P30D"}`, as(sandboxKey)...).want(200)
	hook := w.hook(as(sandboxKey)...)
	is := func() *merchant.Webhook {
		t.Helper()
		d, err := w.store.Directory(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d.Webhook(id(sandbox), id(hook))
	}
	made := is()
	if ahead := time.Until(made.CreatedAt); ahead < 29*24*time.Hour {
		t.Errorf("it was made %s from now, which is not by the account's clock", ahead)
	}
	w.hooks("POST", "/"+hook+"/rotate-secret", `{}`, as(sandboxKey)...).want(200)
	rotated := is()
	now := w.now()
	if signs := len(rotated.Secrets(now)); signs != 2 {
		t.Errorf("after a rotation %d secrets sign", signs)
	}
	if signs := len(rotated.Secrets(now.Add(merchant.SecretRotation))); signs != 1 {
		t.Errorf("a day after a rotation %d secrets sign", signs)
	}
	w.hooks("PATCH", "/"+hook, `{"description":"changed"}`, as(sandboxKey)...).want(200)
	for _, h := range []*merchant.Webhook{made, rotated, is()} {
		if h.ChangedAt.After(w.now()) {
			t.Errorf("it was changed %s from now", time.Until(h.ChangedAt))
		}
	}
}
