package server_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/server"
	"boon.example/internal/store"
)

const (
	clockPath     = "/api/test/clock"
	sendPath      = "/api/integration/gifting/send-gift"
	sandboxKey    = "boon_test_sandbox_0123456789abcdefghijklmnop"
	sandboxSystem = "boon_test_partner_0123456789abcdefghijklmnop"
	sandboxID     = "5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a01"
	sandboxShop   = "5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a21"
	sandboxPromo  = "5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a31"
	sandbox       = `
  - id: ` + sandboxID + `
    name: Sandbox
    mode: test
    currency: USD
    timeZone: America/New_York
    language: de
    limits: {giftsPerDay: 40}
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}, {program: 33333333-3333-3333-3333-333333333333}]
    locations: [{id: 5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11, name: Lab}]
    storefronts: [{id: ` + sandboxShop + `, name: Web}]
    promotions: [{id: ` + sandboxPromo + `, name: Spring, validForDays: 90, terms: None.}]
    keys: [{name: all, role: all, secret: ` + sandboxKey + `}]
systemKeys:
  - {name: lab partner, mode: test, accounts: [` + sandboxID + `], secret: ` + sandboxSystem + `}
`
)

// startTesting runs a service with the example merchant, who is live, and a test account.
func startTesting(t *testing.T, c server.Config) *service {
	t.Helper()
	s := start(t, c)
	live, _, _ := strings.Cut(string(examples.HarborCoffee()), "\nsystemKeys:")
	s.apply([]byte(live + sandbox))
	s.eventually(func() bool {
		status, _, _ := s.call("GET", "/api/integration/gifting/gifts", sandboxKey, "")
		return status == http.StatusOK
	})
	return s
}

type clockAnswer struct {
	AccountID string
	Now       time.Time
	Due       int
}

// advance moves the clock of the test account until nothing is due any more.
func (s *service) advance(by string) (c clockAnswer) {
	s.Helper()
	s.must("POST", clockPath, sandboxKey, `{"advance":"`+by+`"}`, &c)
	s.eventually(func() bool {
		if c.Due > 0 {
			s.must("POST", clockPath, sandboxKey, `{"advance":"PT0S"}`, &c)
		}
		return c.Due == 0
	})
	return c
}

// sandboxGift makes a gift of the test account.
func (s *service) sandboxGift(gift string) soldGift {
	s.Helper()
	var order struct{ Gifts []soldGift }
	s.must("POST", "/api/integration/gifting/send-gift", sandboxKey, sandboxOrder(gift), &order)
	return order.Gifts[0]
}

func sandboxOrder(gift string) string {
	return `{"monetaryGift":` + gift + `,"paymentMethodID":2,"externalTransactionReferenceNumber":"T-1",
		"externalTransactionCustomerFirstName":"Carla","externalTransactionCustomerLastName":"Diaz",
		"externalTransactionCustomerEmailAddress":"carla@example.com","externalStorefrontID":"` + sandboxShop + `"}`
}

// shown is a gift as it is looked up.
func (s *service) shown(key, id string) (g struct {
	soldGift
	Mode                                     string
	IsRedeemable, IsInRedeemablePeriod       bool
	HeldBalance                              json.Number
	DeliveredAt, ValidUntil, CreatedAt       time.Time
	NotRedeemableReasons, RecipientContactID any
}) {
	s.Helper()
	s.must("GET", giftPath+id, key, "", &g)
	return g
}

// refusal is a call that is to be refused, and so can be made again when a busy service says 503.
func (s *service) refusal(method, path, key, body string) (status int, answer []byte, err error) {
	s.Helper()
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		status, answer, err = s.call(method, path, key, body)
		if err != nil || status != http.StatusServiceUnavailable || time.Since(begun) > timeout {
			return status, answer, err
		}
	}
}

// refusedWith is a call that must be refused.
func (s *service) refusedWith(status int, code, method, path, key, body string) string {
	s.Helper()
	got, answer, err := s.refusal(method, path, key, body)
	if err != nil || got != status || !strings.Contains(string(answer), `"code":"`+code+`"`) {
		s.Errorf("%s %s %s: %d %s %v, want %d %s", method, path, body, got, answer, err, status, code)
	}
	return string(answer)
}

// TestAPromotionalYearInASecond: schedules, validity, holds and the limits of a day follow the account's clock, on
// every instance, and those of live accounts do not.
func TestAPromotionalYearInASecond(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{HoldsEvery: time.Hour})
	other := s.beside(server.Config{HoldsEvery: time.Hour})
	live := s.sell(`{"value":5,"deliveryMethodID":3}`)
	var began clockAnswer
	s.must("GET", clockPath, sandboxKey, "", &began)
	in := func(days int) string { return began.Now.AddDate(0, 0, days).UTC().Format(time.RFC3339) }
	var order struct{ Gifts []soldGift }
	s.must("POST", "/api/integration/gifting/send-gift", sandboxKey, `{"paymentMethodID":4,"promotionID":"`+sandboxPromo+`",
		"validStarting":"`+in(40)+`","monetaryGift":{"value":25,"deliveryMethodID":1,
		"recipientContact":"ana@example.com","deliveryDate":"`+in(30)+`","hasScheduledDelivery":true}}`, &order)
	promotion := order.Gifts[0].VoucherID
	if g := s.shown(sandboxKey, promotion); g.Status != "PENDING" || g.Mode != merchant.TestMode {
		t.Fatalf("%+v", g)
	}

	after := s.advance("P31D")
	if after.Now.Before(began.Now.AddDate(0, 0, 30)) || after.AccountID != sandboxID {
		t.Errorf("the clock shows %+v after %+v", after, began)
	}
	g := s.shown(sandboxKey, promotion)
	if g.Status != "DELIVERED" || g.IsInRedeemablePeriod || g.DeliveredAt.Before(began.Now.AddDate(0, 0, 30)) {
		t.Errorf("a month later: %+v", g)
	}
	one := `{"voucherID":"` + promotion + `","amount":1}`
	s.refusedWith(409, "REDEMPTION_NOT_ALLOWED", "POST", redeemPath, sandboxKey, one)
	s.advance("P10D")
	var held struct{ ExpiresAt time.Time }
	s.must("POST", "/api/integration/redemption/hold-gift", sandboxKey, `{"voucherID":"`+promotion+`","amount":5}`, &held)
	other.must("POST", redeemPath, sandboxKey, one, nil)
	if g := s.shown(sandboxKey, promotion); g.HeldBalance != "5.00" || g.CurrentBalance != "24.00" ||
		!g.IsInRedeemablePeriod || held.ExpiresAt.Before(began.Now.AddDate(0, 0, 41)) {
		t.Errorf("%+v is held until %s", g, held.ExpiresAt)
	}
	s.advance("P7D")
	var history struct {
		Entries []struct {
			Kind string
			At   time.Time
		}
	}
	s.must("GET", giftPath+promotion+"/history", sandboxKey, "", &history)
	if last := history.Entries[len(history.Entries)-1]; last.Kind != "HOLD_EXPIRED" || last.At.Before(held.ExpiresAt) {
		t.Errorf("the hold was not entered as over: %+v", history)
	}
	for i := range history.Entries[1:] {
		if history.Entries[i+1].At.Before(history.Entries[i].At) {
			t.Errorf("the history goes back: %+v", history)
		}
	}
	other.must("POST", redeemPath, sandboxKey, one, nil)

	const ended = "This gift has expired"
	page := func(of string) string {
		t.Helper()
		status, text, err := s.call("GET", of+"?lang=en", "", "")
		if err != nil || status != http.StatusOK {
			t.Fatalf("its page: %d %v", status, err)
		}
		return string(text)
	}
	u, err := url.Parse(order.Gifts[0].GiftURL)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page(u.Path), ended) {
		t.Error("before its time is over, the page says that it is")
	}
	var later clockAnswer
	s.must("POST", clockPath, sandboxKey, `{"now":"`+in(365)+`"}`, &later)
	other.refusedWith(409, "REDEMPTION_NOT_ALLOWED", "POST", redeemPath, sandboxKey, one)
	if g := s.shown(sandboxKey, promotion); g.IsInRedeemablePeriod || g.CurrentBalance != "23.00" {
		t.Errorf("after its time: %+v", g)
	}
	if !strings.Contains(page(u.Path), ended) {
		t.Error("after its time, the page does not say so")
	}
	made := s.shown(sandboxKey, s.sandboxGift(`{"value":5,"deliveryMethodID":3}`).VoucherID)
	if made.CreatedAt.Before(later.Now) {
		t.Errorf("a new gift was made at %s", made.CreatedAt)
	}
	if g := s.shown(examples.HarborWebShopKey, live.VoucherID); g.Mode != merchant.LiveMode ||
		g.CreatedAt.After(time.Now()) {
		t.Errorf("a live gift lives in another time: %+v", g)
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+live.VoucherID+`","amount":1}`, nil)
}

// TestEndsOfGiftsAreEvents: a week before a gift ends and when it ends, by the account's clock, before the answer that
// advances it; by the machine's for live accounts. Not of one that is cancelled.
func TestEndsOfGiftsAreEvents(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	var live, order struct{ Gifts []soldGift }
	promotional := func(promotion string, days int) string {
		return `{"paymentMethodID":4,"promotionID":"` + promotion + `","validStarting":"` +
			time.Now().AddDate(0, 0, days).UTC().Format(time.RFC3339) + `","monetaryGift":{"value":5,"deliveryMethodID":3},
			"recipients":[{"recipientDescription":"Ana"},{"recipientDescription":"Ben"}]}`
	}
	s.must("POST", sendPath, sandboxKey, promotional(sandboxPromo, 0), &order)
	kept, cancelled := order.Gifts[0].VoucherID, order.Gifts[1].VoucherID
	s.must("POST", "/api/integration/gifting/cancel-gift", sandboxKey, `{"voucherID":"`+cancelled+`","cause":"CANCELLED"}`, nil)
	s.must("POST", sendPath, examples.HarborWebShopKey, promotional(examples.HarborWelcomeBack, -58), &live) // of 60 days
	type event struct {
		Type, Mode string
		OccurredAt time.Time
		Sequence   *int
		Data       struct {
			Gift struct {
				VoucherID  string
				ValidUntil time.Time
			}
		}
	}
	check := func(key string, want ...string) (events []event) {
		t.Helper()
		s.eventually(func() bool {
			var page struct{ Events []event }
			s.must("GET", "/api/integration/events?type=gift.expiring,gift.expired", key, "", &page)
			events = page.Events
			return len(events) >= len(want)
		})
		if key != sandboxKey { // of two that end at one instant, either may be told of first
			slices.Sort(want)
			slices.SortFunc(events, func(a, b event) int {
				return cmp.Compare(a.Type+" "+a.Data.Gift.VoucherID, b.Type+" "+b.Data.Gift.VoucherID)
			})
		}
		for n, e := range events {
			if test := key == sandboxKey; n >= len(want) || (e.Mode == merchant.TestMode) != test ||
				e.Type+" "+e.Data.Gift.VoucherID != want[n] || e.Sequence != nil {
				t.Fatalf("event %d is %+v, want %q", n, e, want)
			}
		}
		return events
	}
	expiring, expired := "gift.expiring "+kept, "gift.expired "+kept
	s.advance("P82D")
	check(sandboxKey)
	s.advance("P2D")
	check(sandboxKey, expiring)
	until := s.shown(sandboxKey, kept).ValidUntil
	s.must("POST", "/api/integration/gifting/extend-gift", sandboxKey,
		`{"voucherID":"`+kept+`","validUntil":"`+until.AddDate(1, 0, 0).Format(time.RFC3339)+`"}`, nil)
	s.advance("P10D")
	check(sandboxKey, expiring)
	s.advance("P1Y")
	last := check(sandboxKey, expiring, expiring, expired)[2]
	if !last.Data.Gift.ValidUntil.Equal(until.AddDate(1, 0, 0)) || last.OccurredAt.Before(until.AddDate(1, 0, 0)) {
		t.Errorf("%+v of a gift that was valid until %s", last, until)
	}
	s.beside(server.Config{}) // looks as it starts
	check(examples.HarborOfficeKey, "gift.expiring "+live.Gifts[0].VoucherID, "gift.expiring "+live.Gifts[1].VoucherID)
}

// TestTheClockGoesOn: what becomes due by the clock of a test account while nobody advances it is done as well.
func TestTheClockGoesOn(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{HoldsEvery: 50 * time.Millisecond})
	var order struct{ Gifts []soldGift }
	s.must("POST", sendPath, sandboxKey, `{"paymentMethodID":4,"promotionID":"`+sandboxPromo+`","validStarting":"`+
		time.Now().UTC().Format(time.RFC3339)+`","monetaryGift":{"value":5,"deliveryMethodID":3}}`, &order)
	id := order.Gifts[0].VoucherID
	s.advance("P1D")
	s.must("POST", "/api/integration/redemption/hold-gift", sandboxKey,
		`{"voucherID":"`+id+`","amount":2,"expiresInSeconds":60}`, nil)
	s.withStore(func(st *store.Store) error { // as if so much time went by
		account, err := guid.Parse(sandboxID)
		if err != nil {
			return err
		}
		_, err = st.AdvanceClock(t.Context(), account, func(c merchant.Clock) (merchant.Clock, event.TrailEntry, error) {
			c.Ahead += 100 * 24 * time.Hour
			return c, event.TrailEntry{AccountID: account, Action: event.ClockAdvanced}, nil
		})
		return err
	})
	s.eventually(func() bool {
		_, history, _ := s.call("GET", giftPath+id+"/history", sandboxKey, "")
		return strings.Contains(string(history), `"HOLD_EXPIRED"`)
	})
	s.beside(server.Config{HoldsEvery: time.Hour}) // looks for ends as it starts, then once a minute
	s.eventually(func() bool {
		const told = "/api/integration/events?type=gift.hold_expired,gift.expiring,gift.expired"
		_, events, _ := s.call("GET", told, sandboxKey, "")
		return strings.Count(string(events), `"type":"gift.`) == 3
	})
}

// TestListsFollowTheClock: what was made and done since a time of the clock is found by that time.
func TestListsFollowTheClock(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	s.sandboxGift(`{"value":5,"deliveryMethodID":3}`)
	clock := s.advance("P1Y")
	since := url.QueryEscape(clock.Now.Add(-time.Hour).UTC().Format(time.RFC3339))
	made := s.sandboxGift(`{"value":5,"deliveryMethodID":3}`).VoucherID
	for _, list := range []string{"gifting/gifts?createdFrom=", "gifting/activity?from=", "audit?from="} {
		var page struct{ Gifts, Entries []struct{ VoucherID string } }
		s.must("GET", "/api/integration/"+list+since, sandboxKey, "", &page)
		if all := append(page.Gifts, page.Entries...); len(all) != 1 || all[0].VoucherID != made {
			t.Errorf("%s has %+v, want %s", list, all, made)
		}
	}
}

// TestALimitOfTheDayFollowsTheClock: a day of the clock is a day.
func TestALimitOfTheDayFollowsTheClock(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	many := `"recipients":[` + strings.TrimSuffix(strings.Repeat(`{"recipientDescription":"Ana"},`, 40), ",") + `],"paymentMethodID"`
	order := strings.Replace(sandboxOrder(`{"value":1,"deliveryMethodID":3}`), `"paymentMethodID"`, many, 1)
	s.must("POST", sendPath, sandboxKey, order, nil)
	s.refusedWith(429, "RATE_LIMITED", "POST", sendPath, sandboxKey, order)
	s.advance("P1D")
	s.must("POST", sendPath, sandboxKey, order, nil)
}

// TestTheClockRefuses what is no way forward, says so of every member, and does what is asked once.
func TestTheClockRefuses(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	for body, said := range map[string]string{
		`{}`:                                          `"path":"advance"`,
		`{"advance":"P-1D"}`:                          "ISO 8601 duration",
		`{"advance":"P1.5D"}`:                         "ISO 8601 duration",
		`{"advance":"P51Y"}`:                          "ISO 8601 duration",
		`{"advance":"P50Y600M"}`:                      "50 years ahead",
		`{"advance":30}`:                              "This must be a text",
		`{"now":"yesterday"}`:                         `"path":"now"`,
		`{"now":"2001-01-01T00:00Z"}`:                 "only goes forward",
		`{"now":"2998-01-01T00:00Z"}`:                 "50 years ahead",
		`{"advance":"P1D","now":"2090-01-01T00:00Z"}`: "not both",
		`{"advanse":"P1D"}`:                           "did you mean",
		`[]`:                                          "",
	} {
		answer := s.refusedWith(400, "VALIDATION_FAILURE", "POST", clockPath, sandboxKey, body)
		if !strings.Contains(answer, said) {
			t.Errorf("%s: %s, want %q", body, answer, said)
		}
	}
	once := func() (c clockAnswer) {
		status, answer, err := s.callOnce("POST", clockPath, sandboxKey, "month", `{"advance":"P30D"}`)
		if err != nil || status != http.StatusOK || json.Unmarshal(answer, &c) != nil {
			t.Fatalf("%d %s %v", status, answer, err)
		}
		return c
	}
	first, again := once(), once()
	if again.Now.Sub(first.Now) > 24*time.Hour {
		t.Errorf("a repeat under the same Idempotency-Key advanced the clock: %s, then %s", first.Now, again.Now)
	}
}

// TestAThiefWithATestKey: no key of a test account reaches a live gift, nor does its clock bring anything, and no key
// of a live account reaches a test gift.
func TestAThiefWithATestKey(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	real, fake := s.sell(`{"value":50,"deliveryMethodID":3}`), s.sandboxGift(`{"value":50,"deliveryMethodID":3}`)
	for _, c := range []struct {
		key    string
		victim soldGift
	}{{sandboxKey, real}, {sandboxSystem, real}, {examples.HarborOfficeKey, fake}, {examples.HarborTillKey, fake}} {
		for _, body := range []string{`{"voucherID":"` + c.victim.VoucherID + `","amount":1}`,
			`{"voucherCode":"` + c.victim.VoucherCode + `","amount":1}`,
			`{"voucherPublicToken":"` + c.victim.VoucherPublicToken + `","amount":1}`} {
			for _, path := range []string{redeemPath, "/api/integration/redemption/hold-gift"} {
				if status, answer, _ := s.refusal("POST", path, c.key, body); status < 400 || status >= 500 ||
					strings.Contains(string(answer), c.victim.VoucherCode) {
					t.Errorf("%s with %.14s: %d %s", path, c.key, status, answer)
				}
			}
		}
		for _, more := range []string{"", "/history"} {
			status, answer, _ := s.call("GET", giftPath+c.victim.VoucherID+more, c.key, "")
			if status != 404 && status != 403 {
				t.Errorf("looked up with %.14s: %d %s", c.key, status, answer)
			}
		}
	}
	const events = "/api/integration/events"
	for key, other := range map[string]string{sandboxKey: examples.HarborOfficeKey, examples.HarborOfficeKey: sandboxKey} {
		var feed, foreign struct {
			Events     []struct{ Mode, AccountID string }
			NextCursor string
		}
		s.eventually(func() bool { // whatever else runs on the same PostgreSQL holds the feed back
			s.must("GET", events, key, "", &feed)
			return len(feed.Events) >= 2
		})
		s.must("GET", events, other, "", &foreign)
		s.refusedWith(400, "VALIDATION_FAILURE", "GET", events+"?after="+foreign.NextCursor, key, "")
		for _, e := range feed.Events {
			if test := key == sandboxKey; (e.Mode == merchant.TestMode) != test || (e.AccountID == sandboxID) != test {
				t.Errorf("%.14s reads %+v", key, e)
			}
		}
	}
	s.refusedWith(422, "NOT_SUPPORTED", "GET", events, sandboxSystem, "")
	s.refusedWith(403, "NOT_AUTHORIZED", "POST", "/api/integration/gifting/send-gift", sandboxSystem,
		strings.Replace(sandboxOrder(`{"accountID":"`+examples.HarborAccount+`","value":5,"deliveryMethodID":3}`), sandboxShop,
			examples.HarborStorefront, 1))
	for _, key := range []string{examples.HarborOfficeKey, examples.HarborTillKey} {
		s.refusedWith(422, "NOT_SUPPORTED", "POST", clockPath, key, `{"advance":"P1D"}`)
		s.refusedWith(422, "NOT_SUPPORTED", "GET", clockPath, key, "")
	}
	s.refusedWith(422, "NOT_SUPPORTED", "POST", clockPath, sandboxSystem, `{"advance":"P1D"}`)

	// Who has used up the wrong codes gets no new ones by the clock.
	guess := func(n int) (status int) {
		status, _, _ = s.call("POST", validatePath, sandboxKey, fmt.Sprintf(`{"voucherCode":"1000000%05d"}`, n))
		return status
	}
	for n := 0; guess(n) != http.StatusTooManyRequests; n++ {
		if n > 2*merchant.GuessBurst {
			t.Fatal("codes can be guessed without end")
		}
	}
	s.advance("P2Y")
	if status := guess(99); status != http.StatusTooManyRequests {
		t.Errorf("after two years of the clock codes can be guessed again: %d", status)
	}
	for key, g := range map[string]soldGift{examples.HarborOfficeKey: real, sandboxKey: fake} {
		if now := s.shown(key, g.VoucherID); now.CurrentBalance != "50.00" {
			t.Errorf("%+v", now)
		}
	}
}

// TestSimulatedRecipients: messages of test accounts stay in the outbox, whatever gateways there are, and what becomes
// of them is known.
func TestSimulatedRecipients(t *testing.T) {
	t.Parallel()
	mails, smtp := openMailbox(t)
	texts, twilio := openPhones(t)
	s := startTesting(t, server.Config{SMTP: smtp, SMS: twilio, PublicURL: "https://gifts.example.com"})
	for to, want := range map[string][2]string{
		"delivered@simulator.boon.example": {"DELIVERED", "DELIVERED"},
		"Bounced@simulator.boon.example":   {"FAILED_DELIVERY", "FAILED_DELIVERY"},
		"slow@simulator.boon.example":      {"PENDING", "DELIVERED"},
		"real@customer.example.com":        {"DELIVERED", "DELIVERED"},
		"4155550100":                       {"DELIVERED", "DELIVERED"},
		"4155550101":                       {"FAILED_DELIVERY", "FAILED_DELIVERY"},
		"4155550102":                       {"PENDING", "DELIVERED"},
		"4155550199":                       {"DELIVERED", "DELIVERED"},
		"4155550201":                       {"DELIVERED", "DELIVERED"}, // is none of them
	} {
		method := "2"
		if strings.Contains(to, "@") {
			method = "1"
		}
		g := s.sandboxGift(`{"value":5,"deliveryMethodID":` + method + `,"recipientContact":"` + to + `"}`)
		s.advance("PT1S")
		if is := s.shown(sandboxKey, g.VoucherID); is.Status != want[0] {
			t.Errorf("%s: %s, want %s", to, is.Status, want[0])
		}
		s.advance("PT1H")
		if is := s.shown(sandboxKey, g.VoucherID); is.Status != want[1] {
			t.Errorf("an hour later %s: %s, want %s", to, is.Status, want[1])
		}
	}
	select {
	case m := <-mails.letters:
		t.Errorf("a mail left: %s", m)
	case m := <-texts:
		t.Errorf("a text left: %v", m)
	default:
	}
	live := s.sell(`{"value":5,"deliveryMethodID":1,"recipientContact":"bounced@simulator.boon.example"}`)
	if mail := receive(t, mails.letters); !strings.Contains(mail, "bounced@simulator.boon.example") {
		t.Errorf("the mail of a live account is %s", mail)
	}
	s.become(live, "DELIVERED")
	s.withStore(func(st *store.Store) error {
		kept, err := st.Messages(t.Context(), guid.ID{}, 100)
		if err != nil || len(kept) != 9 {
			t.Errorf("%d messages are in the outbox, %v", len(kept), err)
		}
		for _, m := range kept {
			if !strings.Contains(m.Text, "TEST Sandbox") || m.Method == contact.Email &&
				(!strings.HasPrefix(m.Subject, "TEST ") || !strings.Contains(m.HTML, "nichts wert")) {
				t.Errorf("it does not say that it is a test: %q %s", m.Subject, m.Text)
			}
		}
		return err
	})
}

// TestSimulatedTroubles: amounts that lose the answer of a redemption, keep it back, or have nothing done. Whoever
// repeats under the same Idempotency-Key takes once.
func TestSimulatedTroubles(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	g := s.sandboxGift(`{"value":2000,"deliveryMethodID":3}`)
	take := func(key, amount string) (int, string) {
		status, answer, err := s.callOnce("POST", redeemPath, sandboxKey, key,
			`{"voucherID":"`+g.VoucherID+`","amount":`+amount+`}`)
		if err != nil {
			t.Fatal(err)
		}
		return status, string(answer)
	}
	left := func(want string) {
		t.Helper()
		if is := s.shown(sandboxKey, g.VoucherID); string(is.CurrentBalance) != want {
			t.Errorf("%s is left, want %s", is.CurrentBalance, want)
		}
	}
	if status, answer := take("lost", "503.01"); status != 503 || !strings.Contains(answer, "UNAVAILABLE") {
		t.Errorf("%d %s", status, answer)
	}
	left("1496.99")
	if log := s.logs.String(); !strings.Contains(log, `"rehearsed":true`) || strings.Contains(log, `"level":"ERROR"`) {
		t.Errorf("the log does not tell it from a failure: %s", log)
	}
	if _, metrics, err := s.call("GET", "/metrics", "", ""); err != nil ||
		strings.Contains(string(metrics), `redeem-gift",status="503"`) {
		t.Errorf("who has to be woken for failures is woken for it: %v %s", err, metrics)
	}
	if status, answer := take("lost", "503.01"); status != 200 || !strings.Contains(answer, `"currentBalance":1496.99`) {
		t.Errorf("the repeat: %d %s", status, answer)
	}
	for range 2 {
		if status, answer := take("overloaded", "503.03"); status != 503 || !strings.Contains(answer, "has not begun") {
			t.Errorf("%d %s", status, answer)
		}
	}
	if status, answer := take("malformed", `503.03,"validateTargetType":"no"`); status != 503 {
		t.Errorf("an overloaded service reads a request: %d %s", status, answer)
	}
	left("1496.99")
	ctx, giveUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+redeemPath, strings.NewReader(`{"voucherID":"`+g.VoucherID+
		`","amount":503.02}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", sandboxKey)
	r.Header.Set("Idempotency-Key", "silent")
	answered := make(chan error, 1)
	go func() {
		resp, err := client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		answered <- err
	}()
	s.eventually(func() bool { return s.shown(sandboxKey, g.VoucherID).CurrentBalance == "993.97" })
	giveUp()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Errorf("there was an answer: %v", err)
	}
	if status, answer := take("silent", "503.02"); status != 200 || !strings.Contains(answer, `"currentBalance":993.97`) {
		t.Errorf("the repeat: %d %s", status, answer)
	}
	real := s.sell(`{"value":500,"deliveryMethodID":3}`)
	s.refusedWith(409, "INSUFFICIENT_BALANCE", "POST", redeemPath, examples.HarborTillKey,
		`{"voucherID":"`+real.VoucherID+`","amount":503.03}`)
}

// TestWhatSaysTEST: the page, the paper and the till.
func TestWhatSaysTEST(t *testing.T) {
	t.Parallel()
	s := startTesting(t, server.Config{})
	g := s.sandboxGift(`{"value":5,"deliveryMethodID":3}`)
	u, err := url.Parse(g.GiftURL)
	if err != nil {
		t.Fatal(err)
	}
	for language, words := range map[string]string{"en": "This gift is a test.", "de": "Dieses Geschenk ist ein Test.",
		"fr": "Ce cadeau est un test.", "es": "Este regalo es una prueba (test).", "ja": "これはテスト用のギフトです。"} {
		status, page, err := s.call("GET", u.Path+"?lang="+language, "", "")
		if err != nil || status != 200 || !strings.Contains(string(page), words) ||
			!strings.Contains(string(page), "TEST Sandbox") {
			t.Errorf("%s: %d %v %s", language, status, err, page)
		}
	}
	s.advance("P30D")
	if status, _, err := s.call("GET", u.Path+"/print.pdf", "", ""); err != nil || status != 200 {
		t.Errorf("the PDF: %d %v", status, err)
	}
	d := s.pairedIn(sandboxID, "5a0d1a6e-7c1f-4a57-9a43-6f2f5f0e7a11")
	state := d.want(http.StatusOK, `"merchant":"TEST Sandbox"`, "GET", "/till/state", "")
	var till struct{ Now time.Time }
	if err := json.Unmarshal([]byte(state), &till); err != nil || time.Until(till.Now) < 29*24*time.Hour {
		t.Errorf("the till lives in another time: %s", state)
	}
	d.want(http.StatusOK, `"currentBalance":4.00`, "POST", "/till/api/redemption/redeem-gift",
		`{"voucherID":"`+g.VoucherID+`","amount":1}`, "Idempotency-Key", "till-1")
	d.want(http.StatusOK, `"TAKEN"`, "GET", "/till/today", "")
}
