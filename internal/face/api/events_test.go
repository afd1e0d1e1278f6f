package api_test

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/store/feed"
)

// event is what the tests look at in an event.
type told struct {
	ID, Type string
	Sequence int
	Data     struct {
		Gift  *struct{ VoucherID, LastFour string }
		Entry *struct {
			EntryID, Kind, OrganizationID string
			Seq                           int
			Amount, CurrentBalance        json.Number
			HeldAmount                    json.Number
		}
		Key     *struct{ KeyID, KeyName string }
		Webhook *struct{ WebhookID, Host string }
	}
}

// events follows the events from a cursor on until n were read, as a program would, and gives where it goes on.
func (w *world) feed(n int, query url.Values, headers ...string) (all []told, cursor string) {
	w.Helper()
	for range 3_000 {
		var page struct {
			Events     []told
			NextCursor string
			HasMore    bool
		}
		r := w.get("/events?"+query.Encode(), headers...).want(200)
		if err := json.Unmarshal(r.body, &page); err != nil {
			w.Fatal(err)
		}
		all = append(all, page.Events...)
		query.Set("after", page.NextCursor)
		if len(all) >= n && !page.HasMore {
			return all, page.NextCursor
		}
		if !page.HasMore { // on a server, transactions of others may still be open
			time.Sleep(10 * time.Millisecond)
		}
	}
	w.Fatalf("%d events came, want %d", len(all), n)
	return nil, ""
}

// TestADayByItsEvents tells a day of a shop by its events alone: whoever adds up what they say knows every balance and
// all that is held, to the cent, and each history without a gap.
func TestADayByItsEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.send(ofMoney("50")), w.send(ofMoney("20")), w.send(ofMoney("4.50"))
	paid := w.redeem(a, "12.34").want(200)
	w.post("reverse-redemption", `{"redemptionID":"`+paid.at("redemptionID")+`","organizationID":"`+pier+`","amount":2.34}`).want(200)
	hold := w.holdGift(a, "30").want(200).at("holdID")
	w.capture(hold, `,"amount":21.07`).want(200)
	w.release(w.holdGift(b, "5").want(200).at("holdID")).want(200)
	w.reload(b, "5").want(200)
	w.block(b, "LOST").want(200)
	w.unblock(b).want(200)
	w.cashOut(c).want(200)
	w.post("transfer-balance", `{"fromVoucherID":"`+a.id+`","toVoucherID":"`+b.id+`","amount":1.5}`)
	w.post("cancel-gift", `{"voucherID":"`+b.id+`","cause":"CANCELLED"}`).want(200)
	balance, held, next := map[string]money.Amount{}, map[string]money.Amount{}, map[string]int{}
	all, _ := w.feed(14, url.Values{"type": {"gift.*"}, "limit": {"4"}})
	for _, e := range all {
		entry, id := e.Data.Entry, e.Data.Gift.VoucherID
		if next[id]++; entry == nil || e.Sequence != next[id] || entry.Seq != next[id] || e.ID != entry.EntryID {
			t.Fatalf("event %+v is number %d of its gift", e, next[id])
		}
		balance[id] += cents(t, entry.Amount)
		held[id] += cents(t, entry.HeldAmount)
		if cents(t, entry.CurrentBalance) != balance[id] {
			t.Errorf("after %s: %d, want %s", e.Type, balance[id], entry.CurrentBalance)
		}
	}
	for _, g := range []made{a, b, c} {
		now := w.get("/gifting/gifts/" + g.id).want(200)
		if is, holds := cents(t, json.Number(now.at("currentBalance"))), cents(t, json.Number(now.at("heldBalance"))); is !=
			balance[g.id] || holds != held[g.id] {
			t.Errorf("by its events a gift has %d, %d held; it has %d, %d", balance[g.id], held[g.id], is, holds)
		}
	}
}

// TestEventsTellWhatIsAvailable: beside what a gift has, and after each entry.
func TestEventsTellWhatIsAvailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.holdGift(w.send(ofMoney("10")), "6").want(200)
	w.feed(1, url.Values{"type": {"gift.held"}})
	w.get("/events?type=gift.held").want(200, "events[0].data.gift.currentBalance", "10.00",
		"events[0].data.gift.heldBalance", "6.00", "events[0].data.gift.availableBalance", "4.00",
		"events[0].data.entry.currentBalance", "10.00", "events[0].data.entry.availableBalance", "4.00")
}

func cents(t *testing.T, n json.Number) money.Amount {
	t.Helper()
	a, err := dollars.ParseSigned(money.Number(n))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestEventsTellNoSecrets: a key that may see codes sees none in events, and no address.
func TestEventsTellNoSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"ana.roe@example.com"},` + purchase + `}`)
	w.feed(1, url.Values{"type": {"gift.created"}})
	body := string(w.get("/events").want(200).body)
	for _, secret := range []string{g.code, g.token, "ana.roe", harborKey} {
		if strings.Contains(body, secret) {
			t.Errorf("%q is in %s", secret, body)
		}
	}
	if !strings.Contains(body, `"lastFour":"`+g.code[8:]) || !regexp.MustCompile(`"voucherCode":null`).MatchString(body) {
		t.Errorf("no gift in %s", body)
	}
}

// TestCursorsAreBound: a cursor is good for its account and types only, and nobody makes one.
func TestCursorsAreBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(ofMoney("5"))
	_, mine := w.feed(1, url.Values{"type": {"gift.*"}})
	_, other := w.feed(1, url.Values{}, as(cornerKey)...)
	changed := []byte(mine)
	changed[3] ^= 1
	for _, refused := range []url.Values{
		{"after": {other}}, {"after": {mine}}, {"after": {mine}, "type": {"gift.held"}},
		{"after": {string(changed)}, "type": {"gift.*"}},
		{"after": {mine[:20]}, "type": {"gift.*"}}, {"after": {mine + "A"}, "type": {"gift.*"}}, {"after": {"*"}},
		{"after": {"Now"}},
	} {
		w.get("/events?"+refused.Encode()).refused(400, "VALIDATION_FAILURE", "after")
	}
	for _, refused := range []string{"gift", "gift*", "*", "gift.held,", "gift.x.*", "gift.redeemed gift.held",
		"GIFT.HELD"} {
		w.get("/events?"+url.Values{"type": {refused}}.Encode()).refused(400, "VALIDATION_FAILURE", "type")
	}
	for _, refused := range []string{"-1", "26", "1.5", "x", "9e9", "01"} {
		w.get("/events?wait="+refused).refused(400, "VALIDATION_FAILURE", "wait")
	}
	if all, _ := w.feed(0, url.Values{"after": {"now"}}); len(all) != 0 {
		t.Errorf("after now came %d events", len(all))
	}
	both, _ := w.feed(2, url.Values{"type": {"key.created,gift.created,key.created"}})
	if both[0].Type != "key.created" || both[len(both)-1].Type != "gift.created" {
		t.Errorf("events %+v", both)
	}
}

// TestForgottenCursors: a place whose events are not kept any more is refused, so that nobody takes a gap for silence.
func TestForgottenCursors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.send(ofMoney("5"))
	_, place := w.feed(1, url.Values{"type": {"gift.*"}})
	w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"LOST"}`).want(200)
	w.feed(2, url.Values{"type": {"gift.*"}})
	_, err := w.store.ForgetEvents(t.Context(), id(harbor), time.Now().Add(time.Hour), time.Now().Add(time.Hour), 1_000)
	if err != nil {
		t.Fatal(err)
	}
	w.get("/events?"+url.Values{"after": {place}, "type": {"gift.*"}}.Encode()).refused(404, refusal.NotFound)
}

// TestEventsOfLocations: a key of one location sees what happened there, and the gifts that are good there only.
func TestEventsOfLocations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	free, bound := w.send(ofMoney("5")), w.send(ofMoney("5", `,"organizationID":"`+wharf+`"`))
	w.post("redeem-gift", `{"voucherID":"`+free.id+`","organizationID":"`+pier+`","amount":1}`).want(200)
	w.post("redeem-gift", `{"voucherID":"`+free.id+`","organizationID":"`+wharf+`","amount":1}`).want(200)
	w.feed(4, url.Values{"type": {"gift.*"}})
	for key, want := range map[string][]string{pierKey: {free.id}, wharfKey: {bound.id, free.id}} {
		all, _ := w.feed(len(want), url.Values{"limit": {"1"}}, as(key)...)
		var got []string
		for _, e := range all {
			got = append(got, e.Data.Gift.VoucherID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("a key of %s sees %v, want %v", key[10:], got, want)
		}
	}
}

// TestEventsAreWaitedFor: a call that waits is answered when something happens that it asked for, and many waiting ones
// hold up nothing else; at most feed.MaxWaitingOfAccount of an account wait, and all end with the service.
func TestEventsAreWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed(6, url.Values{"type": {"key.*"}}) // of other tests' transactions, the feed may be behind
	ctx, stop := context.WithCancel(t.Context())
	var looking, waiting sync.WaitGroup
	look := w.store.WatchEvents()
	looking.Go(func() { look(ctx) })
	query := event.Query{AccountID: id(harbor), Types: []gift.EventType{gift.EventRedeemed}, Limit: 5}
	idle := make(chan struct{}, 2*feed.MaxWaitingOfAccount)
	pages := make(chan event.Page, feed.MaxWaitingOfAccount)
	begin := func() {
		waiting.Go(func() {
			page, err := w.store.Await(t.Context(), query, time.Minute, func() { idle <- struct{}{} })
			if err != nil {
				t.Error(err)
			}
			pages <- page
		})
	}
	for range feed.MaxWaitingOfAccount {
		begin()
	}
	for range feed.MaxWaitingOfAccount {
		<-idle
	}
	w.get("/events?wait=1").refused(429, "RATE_LIMITED", "")
	_, cursor := w.feed(0, url.Values{"type": {"gift.created"}}, as(cornerKey)...)
	answered := make(chan reply)
	go func() {
		waits := url.Values{"type": {"gift.created"}, "after": {cursor}, "wait": {"25"}}
		answered <- w.get("/events?"+waits.Encode(), as(cornerKey)...)
	}()
	g := w.send(ofMoney("5")) // of another type
	w.redeem(g, "1").want(200)
	for range feed.MaxWaitingOfAccount {
		if page := <-pages; len(page.Events) != 1 || page.Events[0].Gift.ID.String() != g.id {
			t.Errorf("%d events were waited for", len(page.Events))
		}
	}
	corners := w.send(strings.ReplaceAll(ofMoney("5"), shop, cornerShop), as(cornerKey)...)
	(<-answered).want(200, "events[0].type", "gift.created", "events[0].data.gift.voucherID", corners.id)
	query.Types = []gift.EventType{gift.EventHeld}
	begin()
	stop()
	looking.Wait()
	waiting.Wait()
}

// TestOthersTakeNoPlace: where calls of other accounts have all places of those that wait, one of theirs is answered,
// without events and without harm, and this one waits.
func TestOthersTakeNoPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed(6, url.Values{"type": {"key.*"}}) // of other tests' transactions, the feed may be behind
	ctx, stop := context.WithCancel(t.Context())
	var looking, waiting sync.WaitGroup
	look := w.store.WatchEvents()
	looking.Go(func() { look(ctx) })
	defer waiting.Wait()
	defer looking.Wait()
	defer stop()
	idle, ended := make(chan struct{}, feed.MaxWaiting), make(chan event.Page, feed.MaxWaiting)
	for n := range feed.MaxWaiting {
		waiting.Go(func() {
			q := event.Query{AccountID: guid.ID{15: byte(n / feed.MaxWaitingOfAccount)}, Limit: 5}
			page, err := w.store.Await(t.Context(), q, time.Minute, func() { idle <- struct{}{} })
			if err != nil {
				t.Error(err)
			}
			ended <- page
		})
	}
	for range feed.MaxWaiting {
		<-idle
	}
	answered := make(chan reply)
	go func() { answered <- w.get("/events?wait=25&after=now") }()
	if page := <-ended; len(page.Events) != 0 {
		t.Errorf("%d events of nobody", len(page.Events))
	}
	g := w.send(ofMoney("5"))
	(<-answered).want(200, "events[0].data.gift.voucherID", g.id)
}

// TestKeysAreEvents: a key that is revoked is an event, and one that guesses codes, once.
func TestKeysAreEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	all, cursor := w.feed(6, url.Values{"type": {"key.*"}})
	var types []string
	for _, e := range all {
		types = append(types, e.Type)
		if e.Data.Key == nil || e.Data.Key.KeyName == "" || e.Data.Gift != nil || e.Sequence != 0 {
			t.Errorf("event %+v", e)
		}
	}
	if slices.Sort(types); !slices.Equal(types, append(slices.Repeat([]string{"key.created"}, 6), "key.revoked")) {
		t.Errorf("types %v", types)
	}
	err := w.store.Configure(t.Context(), func(now *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		k := *now.Keys[merchant.HashKey(pierKey)]
		k.RevokedAt = w.now()
		return merchant.Changes{Keys: []*merchant.Key{&k}, What: "revoked"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	all, _ = w.feed(1, url.Values{"type": {"key.*"}, "after": {cursor}})
	if len(all) != 1 || all[0].Type != "key.revoked" {
		t.Errorf("events %+v", all)
	}
	till := merchant.Till{AccountID: id(harbor), KeyID: id("00000000-0000-7000-8000-000000000001"), LocationID: id(pier)}
	for range 3 {
		if _, _, err := w.store.CountMisses(t.Context(), till, w.now(), merchant.GuessAlarm); err != nil {
			t.Fatal(err)
		}
	}
	if all, _ = w.feed(1, url.Values{"type": {"guessing.limited"}}); len(all) != 1 ||
		all[0].Data.Key.KeyID != till.KeyID.String() {
		t.Errorf("events %+v", all)
	}
}
