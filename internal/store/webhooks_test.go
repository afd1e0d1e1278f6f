package store

import (
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store/hooks"

	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"boon.example/internal/gift"
)

// saveWebhook saves an endpoint as part of the set-up.
func saveWebhook(t *testing.T, s *Store, w merchant.Webhook) {
	t.Helper()
	must(t, s.Configure(t.Context(), func(*merchant.Directory, merchant.Uses) (merchant.Changes, error) {
		return merchant.Changes{Webhooks: []*merchant.Webhook{&w}, What: "changed webhook " + w.ID.String()}, nil
	}))
}

func webhooksOf(t *testing.T, s *Store, account guid.ID) []*merchant.Webhook {
	t.Helper()
	d, err := s.Directory(t.Context())
	must(t, err)
	return d.Webhooks[account]
}

// testWebhooks: endpoints come back whole with their secrets, which stand nowhere in the clear, and go when they are
// deleted.
func testWebhooks(t *testing.T, open opener) {
	s, again := open(t)
	account := newID()
	secret, err := merchant.NewWebhookSecret(bytes.NewReader(bytes.Repeat([]byte("sixteen letters!"), 2)))
	must(t, err)
	old, err := merchant.NewWebhookSecret(bytes.NewReader(bytes.Repeat([]byte("another sixteen!"), 2)))
	must(t, err)
	plain := merchant.Webhook{ID: newID(), AccountID: account, URL: "https://example.com/a", Enabled: true,
		CreatedAt: noon,
		ChangedAt: noon, Secret: secret}
	full := merchant.Webhook{ID: newID(), AccountID: account, URL: "https://example.com/b?c=d", Types: []string{"gift.*"},
		Description: "The shop's", Off: merchant.WebhookFailing, CreatedAt: noon.Add(time.Second), ChangedAt: noon,
		Start: merchant.EventPlace{Position: 5, Part: 2, Mark: [4]byte{1, 2, 3, 4}}, Secret: secret, Old: old,
		OldUntil: noon.Add(time.Hour), Replay: &merchant.WebhookReplay{ID: newID(), From: noon, To: noon.Add(time.Hour),
			Types: []string{"key.*"}, After: merchant.EventPlace{Position: 1, Part: 1}, Upto: merchant.EventPlace{Position: 9,
				Part: 1}}}
	saveWebhook(t, s, full)
	saveWebhook(t, s, plain)
	plain.Types = []string{} // as it is read
	if diff := cmp.Diff([]*merchant.Webhook{&plain, &full}, webhooksOf(t, again(), account)); diff != "" {
		t.Error(diff)
	}
	for table, rows := range dump(t, s) {
		if text := fmt.Sprint(rows); bytes.Contains([]byte(text), secret.Key()) ||
			bytes.Contains([]byte(text), []byte(secret.Reveal()[6:])) {
			t.Errorf("a secret stands in %s", table)
		}
	}
	// An instance that lacks the key leaves secrets alone.
	unknown := full
	unknown.Secret, unknown.Old, unknown.URL = "", "", "https://example.com/c"
	saveWebhook(t, s, unknown)
	if got := webhooksOf(t, s, account)[1]; got.Secret != secret || got.Old != old || got.URL != unknown.URL {
		t.Errorf("%+v", got)
	}
	deleted := full
	deleted.Deleted = true
	saveWebhook(t, s, deleted)
	if got := webhooksOf(t, s, account); len(got) != 1 || got[0].ID != plain.ID {
		t.Errorf("%d endpoints", len(got))
	}
}

// testWebhookProgress: how far endpoints came, and attempts, come back whole; old attempts go.
func testWebhookProgress(t *testing.T, open opener) {
	s, again := open(t)
	account, hook := newID(), newID()
	state := event.WebhookState{AccountID: account, WebhookID: hook, After: merchant.EventPlace{Position: 7, Part: 3},
		Aside: []event.WebhookAside{{Event: newID(), Type: gift.EventRedeemed, Attempts: 4, Due: noon,
			Before: merchant.EventPlace{Position: 2, Part: 1, Mark: [4]byte{9}}}},
		FailingSince: noon, Replay: newID(), ReplayAfter: merchant.EventPlace{Position: 1}, Replayed: true}
	other := event.WebhookState{AccountID: account, WebhookID: newID()}
	attempts := make([]event.WebhookAttempt, 40)
	for i := range attempts {
		attempts[i] = event.WebhookAttempt{ID: newID(), AccountID: account, WebhookID: hook, Event: newID(),
			Type: gift.EventRedeemed, At: noon.Add(time.Duration(i) * time.Second), Took: 15 * time.Millisecond, Status: 500,
			Answer: []byte("Our answer \xff")}
	}
	attempts[39].Status, attempts[39].Answer, attempts[39].Words = 0, nil, "The attempt was broken off."
	must(t, s.SaveWebhooks(t.Context(), []event.WebhookState{other, state}, attempts[:20]))
	state.After.Position++
	must(t, s.SaveWebhooks(t.Context(), []event.WebhookState{state}, attempts[10:]))
	s = again()
	states, err := s.WebhookStates(t.Context(), account)
	must(t, err)
	if i := slices.IndexFunc(states, func(s event.WebhookState) bool { return s.WebhookID == hook }); len(states) != 2 ||
		cmp.Diff(state, states[i]) != "" {
		t.Errorf("%+v, want %+v", states, state)
	}
	slices.Reverse(attempts)
	q := event.WebhookAttempts{AccountID: account, WebhookID: hook, Limit: 25}
	first, err := s.WebhookAttempts(t.Context(), q)
	must(t, err)
	q.Before = first[24].ID
	second, err := s.WebhookAttempts(t.Context(), q)
	must(t, err)
	if diff := cmp.Diff(attempts, append(first, second...)); diff != "" {
		t.Error(diff)
	}
	if rows := fmt.Sprint(dump(t, s)["webhook_attempt"]); bytes.Contains([]byte(rows), []byte("Our answer")) {
		t.Error("an answer stands in the clear")
	}
	q.AccountID = newID()
	if none, err := s.WebhookAttempts(t.Context(), q); err != nil || len(none) != 0 {
		t.Errorf("%d attempts of another account, %v", len(none), err)
	}
	n, err := s.ForgetAttempts(t.Context(), account, noon.Add(10*time.Second), 8)
	must(t, err)
	rest, err := s.ForgetAttempts(t.Context(), account, noon.Add(10*time.Second), 8)
	must(t, err)
	q = event.WebhookAttempts{AccountID: account, WebhookID: hook, Limit: 100}
	left, err := s.WebhookAttempts(t.Context(), q)
	must(t, err)
	if n != 8 || rest != 2 || len(left) != 30 {
		t.Errorf("%d and %d forgotten, %d left", n, rest, len(left))
	}
}

// testManyAttempts: of the attempts at an endpoint the newest are kept, however many there are; those at another are
// its own.
func testManyAttempts(t *testing.T, open opener) {
	s, _ := open(t)
	account, busy, calm := newID(), newID(), newID()
	save := func(hook guid.ID, n int) (newest guid.ID) {
		t.Helper()
		some := make([]event.WebhookAttempt, n)
		for i := range some {
			newest = newID()
			some[i] = event.WebhookAttempt{ID: newest, AccountID: account, WebhookID: hook, Event: newID(),
				Type: gift.EventRedeemed, At: noon, Status: 200}
		}
		must(t, s.SaveWebhooks(t.Context(), nil, some))
		return newest
	}
	kept := func(hook guid.ID) []event.WebhookAttempt {
		t.Helper()
		all, err := s.WebhookAttempts(t.Context(), event.WebhookAttempts{AccountID: account, WebhookID: hook, Limit: 10_000})
		must(t, err)
		return all
	}
	save(calm, 99)
	newest := save(busy, 1_500) // as an earlier version has left them
	for range 20 {
		newest = save(busy, 100)
	}
	if left := kept(busy); len(left) != hooks.AttemptsKept || left[0].ID != newest {
		t.Errorf("%d attempts are kept, the newest %s, want %s", len(left), left[0].ID, newest)
	}
	if left := kept(calm); len(left) != 99 {
		t.Errorf("%d attempts at another endpoint are kept", len(left))
	}
}

// testWebhookLeases: an account is one owner's until its lease ends or is given back.
func testWebhookLeases(t *testing.T, open opener) {
	s, _ := open(t)
	a, b, one, other := newID(), newID(), newID(), newID()
	claim := func(owner guid.ID, now, until time.Duration, want ...guid.ID) {
		t.Helper()
		owned, err := s.ClaimWebhooks(t.Context(), owner, []guid.ID{a, b}, noon.Add(now), noon.Add(until))
		must(t, err)
		sorted := slices.SortedFunc(slices.Values(want), func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
		slices.SortFunc(owned, func(a, b guid.ID) int { return slices.Compare(a[:], b[:]) })
		if !slices.Equal(owned, sorted) {
			t.Errorf("it owns %v, want %v", owned, sorted)
		}
	}
	claim(one, 0, time.Minute, a, b)
	claim(other, time.Second, 2*time.Minute)
	claim(one, 30*time.Second, 90*time.Second, a, b)
	claim(other, time.Minute, 2*time.Minute)
	claim(other, 90*time.Second, 3*time.Minute, a, b)
	claim(one, 2*time.Minute, 3*time.Minute)
	must(t, s.ReleaseWebhooks(t.Context(), other))
	claim(one, 2*time.Minute, 3*time.Minute, a, b)
	claim(other, 24*time.Hour, 25*time.Hour, a, b) // its clock is ahead
	claim(one, 24*time.Hour-10*time.Minute, 24*time.Hour)
	claim(one, 4*time.Minute, 5*time.Minute, a, b)
}

// testNewEvents: which accounts have new events is told once, and where the events of a time begin and end.
func testNewEvents(t *testing.T, open opener) {
	s, _ := open(t)
	account, other := newID(), newID()
	none, start, err := s.NewEvents(t.Context(), -1)
	must(t, err)
	g := issue(t, s, account, 1)
	issue(t, s, other, 1)
	redeem(t, s, &g[0].Voucher, 5)
	settled(t, s, event.Query{AccountID: account, Limit: 10}, 2)
	settled(t, s, event.Query{AccountID: other, Limit: 10}, 1)
	both, upTo, err := s.NewEvents(t.Context(), start)
	must(t, err)
	if len(none) != 0 || len(both) != 2 || !slices.Contains(both, account) || !slices.Contains(both, other) {
		t.Errorf("%v, then %v have events", none, both)
	}
	if again, same, err := s.NewEvents(t.Context(), upTo); err != nil || len(again) != 0 || same != upTo {
		t.Errorf("%v have events after %d, up to %d, %v", again, upTo, same, err)
	}
	for at, want := range map[time.Duration]int{-time.Hour: 2, 0: 2, time.Hour: 0} { // the events are of noon
		place, err := s.EventsBefore(t.Context(), account, noon.Add(at))
		must(t, err)
		if rest, _ := follow(t, s, event.Query{AccountID: account, Limit: 10, After: place}); len(rest) != want {
			t.Errorf("%d events from %s on, want %d", len(rest), at, want)
		}
		if place, err = s.EventsUntil(t.Context(), account, noon.Add(at)); err != nil || place.IsZero() != (at < 0) {
			t.Errorf("the events up to %s end at %v, %v", at, place, err)
		}
		if made, _ := follow(t, s, event.Query{AccountID: account, Limit: 10, From: noon.Add(at)}); len(made) != want {
			t.Errorf("%d events are of %s or later, want %d", len(made), at, want)
		}
		made, _ := follow(t, s, event.Query{AccountID: account, Limit: 10, To: noon.Add(at)})
		if (len(made) == 0) != (at <= 0) {
			t.Errorf("%d events are from before %s", len(made), at)
		}
	}
}

// fillWebhooks gives an account an endpoint with all that belongs to one.
func fillWebhooks(t *testing.T, s *Store, account guid.ID) {
	t.Helper()
	secret, err := merchant.NewWebhookSecret(bytes.NewReader(bytes.Repeat([]byte("sixteen letters!"), 2)))
	must(t, err)
	hook := newID()
	saveWebhook(t, s, merchant.Webhook{ID: hook, AccountID: account, URL: "https://example.com", Enabled: true,
		CreatedAt: noon, ChangedAt: noon, Secret: secret})
	must(t, s.SaveWebhooks(t.Context(), []event.WebhookState{{AccountID: account, WebhookID: hook}},
		[]event.WebhookAttempt{{ID: newID(), AccountID: account, WebhookID: hook, Event: newID(), Type: gift.EventRedeemed,
			At: noon, Status: 500, Answer: []byte("no")}}))
	_, err = s.ClaimWebhooks(t.Context(), newID(), []guid.ID{account}, noon, noon.Add(time.Minute))
	must(t, err)
}
