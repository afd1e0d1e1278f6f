package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
)

// limit gives Harbor and one of its keys daily limits.
func (w *world) limit(account, key merchant.Limits) {
	w.Helper()
	err := w.store.Configure(w.Context(), func(d *merchant.Directory, _ merchant.Uses) (merchant.Changes, error) {
		a, k := *d.Accounts[id(harbor)], *d.Keys[merchant.HashKey(rotatedKey)]
		a.Limits, k.Limits = account, key
		return merchant.Changes{Accounts: []*merchant.Account{&a}, Keys: []*merchant.Key{&k}}, nil
	})
	if err != nil {
		w.Fatal(err)
	}
	directory, err := w.store.Directory(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	w.directory.Store(directory)
}

func byEmail(to string) string {
	return `{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"` + to + `"},` + purchase + `}`
}

func bySMS(to string) string {
	return `{"monetaryGift":{"value":5,"deliveryMethodID":2,"recipientContact":"` + to + `"},` + purchase + `}`
}

// atNoon moves the clock to the next noon of the account.
func (w *world) atNoon() {
	zone := w.directory.Load().Accounts[id(harbor)].Zone
	y, m, d := w.now().In(zone).Date()
	w.pass(time.Date(y, m, d+1, 12, 0, 0, 0, zone).Sub(w.now()))
}

// TestDailyLimits: each limit of an account is kept, also over several calls, and named by what is refused; then
// nothing was done and nothing is remembered, so that the same call works under the same Idempotency-Key once the day
// of the account is over.
func TestDailyLimits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		limits merchant.Limits
		good   []string // send-gift calls that fit
		bad    string   // and one that does not fit any more
	}{
		"issuedPerDay": {merchant.Limits{IssuedPerDay: 100_00}, []string{ofMoney("60"), ofMoney("40")}, ofMoney("0.01")},
		"giftsPerDay":  {merchant.Limits{GiftsPerDay: 2}, []string{ofMoney("60"), ofMoney("40")}, ofMoney("1")},
		"messagesPerDay": {merchant.Limits{MessagesPerDay: 2}, []string{byEmail("a@example.com"), ofMoney("1"),
			bySMS("415-555-0132")},
			byEmail("b@example.com")},
		"textsPerDay": {merchant.Limits{TextsPerDay: 1}, []string{bySMS("415-555-0132"), byEmail("a@example.com")},
			bySMS("415-555-0133")},
		"messagesPerContactPerDay": {merchant.Limits{MessagesPerContactPerDay: 2}, []string{byEmail("a@example.com"),
			byEmail("A@example.com"),
			byEmail("b@example.com")}, byEmail("a@Example.com")},
	} {
		for _, of := range []string{"account", "key"} {
			t.Run(name+" of the "+of, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.atNoon()
				other := merchant.Limits{GiftsPerDay: 1000, MessagesPerContactPerDay: 1000}
				if of == "account" {
					w.limit(tt.limits, other)
				} else {
					w.limit(other, tt.limits)
				}
				key := as(rotatedKey)
				for n, body := range tt.good {
					first := w.post("send-gift", body, append(once(fmt.Sprint(n)), key...)...).want(201)
					w.post("send-gift", body, append(once(fmt.Sprint(n)), key...)...).again(first) // a replay counts nothing
				}
				before := w.get("/gifting/gifts").want(200).at("gifts")
				refused := w.post("send-gift", tt.bad, append(once("bad"), key...)...).refused(429, refusal.RateLimited, "")
				if text := refused.at("messages[0].text"); !strings.Contains(text, "a daily limit of the "+of+", "+name+":") {
					t.Errorf("the limit is not named: %s", text)
				}
				if wait, _ := strconv.Atoi(refused.header.Get("Retry-After")); wait < 11*3600 || wait > 12*3600 {
					t.Errorf("Retry-After is %d s at noon", wait)
				}
				if after := w.get("/gifting/gifts").want(200).at("gifts"); after != before {
					t.Errorf("something was done: %s", after)
				}
				if of == "key" {
					w.post("send-gift", tt.bad).want(201) // another key has a limit of its own
				}
				w.pass(12*time.Hour + time.Minute)
				w.post("send-gift", tt.bad, append(once("bad"), key...)...).want(201)
			})
		}
	}
}

// TestAnOrderIsWithinItsLimitsOrNot: an order above a limit makes none of its gifts, and what it would have used is
// not used.
func TestAnOrderIsWithinItsLimitsOrNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{MessagesPerDay: 3, MessagesPerContactPerDay: 2}, merchant.Limits{})
	order := func(contacts ...string) string {
		var recipients []string
		for _, c := range contacts {
			recipients = append(recipients, `{"deliveryMethodID":1,"recipientContact":"`+c+`"}`)
		}
		return `{"monetaryGift":{"value":5},"recipients":[` + strings.Join(recipients, ",") + `],` + purchase + `}`
	}
	w.post("send-gift", order("a@example.com", "b@example.com", "c@example.com", "d@example.com")).refused(429,
		refusal.RateLimited, "")
	w.post("send-gift", order("a@example.com", "A@example.com", "a@EXAMPLE.com")).refused(429, refusal.RateLimited, "")
	w.post("send-gift", order("a@example.com", "A@example.com", "b@example.com")).want(201)
	w.post("send-gift", byEmail("c@example.com")).refused(429, refusal.RateLimited, "")
}

// TestAMailboxIsOneContact however its address is spelled, for the limits and for look-ups.
func TestAMailboxIsOneContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{MessagesPerContactPerDay: 1}, merchant.Limits{})
	g := w.send(byEmail("ana@münchen.example"))
	w.send(byEmail("ben@example.com"))
	for _, spelled := range []string{"ana@xn--mnchen-3ya.example", "ana@MU\u0308NCHEN.example", "ana@ｍünchen.example",
		`\"ana\"@münchen.example`, "Ana@𝐦ünchen.example"} {
		w.post("send-gift", byEmail(spelled)).refused(429, refusal.RateLimited, "")
		w.post("resend-gift", `{"voucherID":"`+g.id+`","recipientContact":"`+spelled+`"}`).
			refused(429, refusal.RateLimited, "")
		asked := url.QueryEscape(strings.ReplaceAll(spelled, `\`, ""))
		if got := strings.Join(w.get("/gifting/gifts?recipient="+asked).want(200).ids(), " "); got != g.id {
			t.Errorf("%s finds %q", spelled, got)
		}
	}
}

// TestResendsCount: a resend is a message, to where it goes now.
func TestResendsCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{MessagesPerDay: 4, MessagesPerContactPerDay: 2}, merchant.Limits{})
	g := w.send(byEmail("a@example.com"))
	again := `{"voucherID":"` + g.id + `"}`
	w.post("resend-gift", again).want(200)
	w.post("resend-gift", again, once("k")...).refused(429, refusal.RateLimited, "")
	w.post("resend-gift", `{"voucherID":"`+g.id+`","deliveryMethodID":3}`).want(200) // in print it is none
	w.post("resend-gift", `{"voucherID":"`+g.id+`","deliveryMethodID":1,"recipientContact":"b@example.com"}`).want(200)
	w.post("resend-gift", again).want(200)
	w.post("resend-gift", `{"voucherID":"`+g.id+`","recipientContact":"c@example.com"}`).refused(429, refusal.RateLimited, "")
	w.pass(12*time.Hour + time.Minute)
	w.post("resend-gift", again, once("k")...).want(200)
}

// TestOneNumberIsOneContact: however a telephone number is written, it is one contact, also where cards are replaced.
func TestOneNumberIsOneContact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{MessagesPerContactPerDay: 2}, merchant.Limits{})
	g := w.send(ofMoney("5"))
	to := func(number string) string {
		return fmt.Sprintf(`"voucherID":%q,"deliveryMethodID":2,"recipientContact":%q}`, g.id, number)
	}
	w.post("resend-gift", "{"+to("+14155550132")).want(200)
	w.post("resend-gift", "{"+to("(415) 555-0132")).want(200)
	for _, number := range []string{"+14155550132", "4155550132", "415-555-0132", "(415) 555-0132", "1 415 555 0132"} {
		w.post("resend-gift", "{"+to(number)).refused(429, refusal.RateLimited, "")
		w.post("replace-gift", fmt.Sprintf(`{"voucherID":%q,"reason":"lost","deliver":{"deliveryMethodID":2,`+
			`"recipientContact":%q}}`, g.id, number)).refused(429, refusal.RateLimited, "")
	}
	w.post("resend-gift", "{"+to("415-555-0133")).want(200)
}

// TestRedemptionsHaveALimit: of an account and of a key, in money; pieces of a gift from before the limit whose worth
// nobody said are not counted, and what is given back stays used.
func TestRedemptionsHaveALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	item := w.send(items(500, ""))
	w.limit(merchant.Limits{RedeemedPerDay: 100_00}, merchant.Limits{RedeemedPerDay: 30_00})
	g := w.send(ofMoney("500"))
	redeem := func(g made, amount, key, once string) reply {
		return w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":`+amount+`}`,
			"Authorization", key, "Idempotency-Key", once)
	}
	first := redeem(g, "30", rotatedKey, "1").want(200)
	redeem(g, "30", rotatedKey, "1").again(first)
	refused := redeem(g, "0.01", rotatedKey, "2").refused(429, refusal.RateLimited, "")
	if text := refused.at("messages[0].text"); !strings.Contains(text,
		"of the key, redeemedPerDay: 30.00 USD a day, of which 30.00 USD were used today, and this call needs 0.01 USD") {
		t.Errorf("the limit is not named: %s", text)
	}
	w.post("reverse-redemption", `{"redemptionID":"`+first.at("redemptionID")+`"}`).want(200)
	redeem(g, "0.01", rotatedKey, "2").refused(429, refusal.RateLimited, "")
	redeem(item, "400", rotatedKey, "3").want(200)
	redeem(g, "70", harborKey, "4").want(200)
	redeem(g, "0.01", harborKey, "5").refused(429, refusal.RateLimited, "")
	if left := w.get("/gifting/gifts/" + g.id).want(200).at("currentBalance"); left != "430.00" {
		t.Errorf("the balance is %s, want 430.00", left)
	}
	w.pass(12*time.Hour + time.Minute)
	redeem(g, "0.01", rotatedKey, "2").want(200)
	redeem(g, "0.01", harborKey, "5").want(200)
}

// TestHoldsHaveALimit: a hold counts when it is made, and its capture nothing more: the guest has gone.
func TestHoldsHaveALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	item := w.send(items(500, ""))
	w.limit(merchant.Limits{RedeemedPerDay: 100_00}, merchant.Limits{RedeemedPerDay: 50_00})
	g := w.send(ofMoney("500"))
	key := as(rotatedKey)
	hold := w.holdGift(g, "40", key...).want(200).at("holdID")
	w.holdGift(g, "10.01", key...).refused(429, refusal.RateLimited, "")
	w.redeem(g, "10.01", key...).refused(429, refusal.RateLimited, "")
	w.redeem(g, "10", key...).want(200)
	w.capture(hold, `,"amount":30`, key...).want(200)
	released := w.holdGift(g, "50").want(200).at("holdID")
	w.redeem(g, "0.01").refused(429, refusal.RateLimited, "")
	w.release(released).want(200)
	w.redeem(g, "0.01").refused(429, refusal.RateLimited, "")
	w.holdGift(item, "400").want(200)
	w.pass(12*time.Hour + time.Minute)
	w.holdGift(g, "50", key...).want(200)
}

// TestTwoInstancesKeepALimit: two instances, with several lanes each, over one store never issue or redeem more than
// a day may have, and never less, and do not stand in each other's way for good.
func TestTwoInstancesKeepALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{GiftsPerDay: 100, RedeemedPerDay: 50_00, MessagesPerContactPerDay: 40},
		merchant.Limits{GiftsPerDay: 60})
	beside, err := store.Open(t.Context(), store.Options{Dir: w.dir, Database: w.database})
	if err != nil {
		t.Fatal(err)
	}
	var handlers []*siege
	for _, s := range []*store.Store{w.store, beside} {
		started := engine.Start(s, engine.Options{Lanes: 3, Now: w.now})
		t.Cleanup(started.Stop)
		c := w.config
		c.Engine, c.Records = started, s
		handlers = append(handlers, &siege{world: w, handler: c.handler()})
	}
	t.Cleanup(func() { beside.Close() })
	g := [4]made{}
	for n := range g {
		g[n] = w.send(ofMoney("100")) // 4 gifts of the day
	}
	var sent, byKey, mailed, redeemed atomic.Int32
	var all sync.WaitGroup
	for n := range 300 {
		all.Go(func() {
			h := handlers[n%2]
			key := []string{harborKey, rotatedKey}[n/2%2]
			switch n % 5 {
			case 0, 1, 2:
				body := ofMoney("1")
				if n%5 == 2 {
					body = byEmail("a@example.com")
				}
				if h.status("send-gift", body, key) == 201 {
					sent.Add(1)
					if key == rotatedKey {
						byKey.Add(1)
					}
					if n%5 == 2 {
						mailed.Add(1)
					}
				}
			default:
				if h.status("redeem-gift", `{"voucherID":"`+g[n%4].id+`","organizationID":"`+pier+`","amount":0.60}`, key) == 200 {
					redeemed.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d sent, %d of them with the key, %d by mail, %d redeemed", sent.Load(), byKey.Load(), mailed.Load(),
		redeemed.Load())
	if sent.Load() != 96 || byKey.Load() > 60 || mailed.Load() > 40 || redeemed.Load() != 83 {
		t.Errorf("%d sent, %d of them with the key, %d by mail, %d redeemed; want 96, at most 60 and 40, and 83",
			sent.Load(), byKey.Load(), mailed.Load(), redeemed.Load())
	}
}

// kept has so many calls of a key that moved nothing be kept today.
func (w *world) kept(key string, n int64) {
	w.Helper()
	k := w.directory.Load().Keys[merchant.HashKey(key)]
	count := merchant.CountKey{AccountID: k.AccountID, Kind: merchant.KeptCount, Owner: k.ID}
	day, _ := merchant.Day(w.now(), w.directory.Load().Accounts[k.AccountID].Zone)
	err := w.store.Group(w.Context(), ledger.Want{}, func(*ledger.State) ledger.Changes {
		return ledger.Changes{Counts: map[merchant.CountKey]merchant.Count{count: {Day: day, Kept: n}}}
	})
	if err != nil {
		w.Fatal(err)
	}
}

// TestWhatMovesNothingHasALimit: each call that succeeds, moves nothing and is kept for ever counts, also without an
// Idempotency-Key, and is refused once there were too many; then nothing is kept of it, and what moves something goes
// on.
func TestWhatMovesNothingHasALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	g := w.promotional("50")
	day := func(n int) string { return w.now().AddDate(0, 0, n).UTC().Format(time.RFC3339) }
	waits := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"a@example.com",` +
		`"hasScheduledDelivery":true,"deliveryDate":"` + day(30) + `"},` + purchase + `}`)
	order := w.stock(`"count":2,"value":25`)[0].order
	days := 30
	calls := map[string]func() reply{
		"export":  func() reply { return w.get(exportPath(order, "csv")) },
		"block":   func() reply { return w.post("block-gift", `{"voucherID":"`+g.id+`","reasonCode":"LOST"}`) },
		"unblock": func() reply { return w.post("unblock-gift", `{"voucherID":"`+g.id+`","reason":"found"}`) },
		"extend": func() reply {
			days++
			return w.post("extend-gift", `{"voucherID":"`+g.id+`","validUntil":"`+day(365+days)+`"}`)
		},
		"reschedule": func() reply {
			days++
			return w.post("reschedule-gift", `{"voucherID":"`+waits.id+`","deliveryDate":"`+day(days)+`"}`)
		},
	}
	w.kept(harborKey, merchant.MaxKeptPerDay-int64(len(calls)))
	for _, name := range []string{"export", "block", "unblock", "extend", "reschedule"} {
		calls[name]().want(200)
	}
	before := w.get("/gifting/activity").body
	for name, call := range calls {
		if r := call(); r.status != 429 {
			t.Errorf("%s, of which too many are kept, is answered %d %s", name, r.status, r.body)
		}
	}
	if after := w.get("/gifting/activity").body; len(after) != len(before) {
		t.Errorf("what was refused is kept: %s", after)
	}
	w.redeem(g, "1").want(200)
	w.kept(sandboxKey, merchant.MaxKeptPerDay-1)
	const clock = "/api/test/clock"
	for range 3 { // stands where it stood: nothing is kept, nor counted
		w.do("POST", clock, `{"advance":"P0D"}`, as(sandboxKey)...).want(200)
	}
	w.do("POST", clock, `{"advance":"PT1S"}`, as(sandboxKey)...).want(200)
	w.do("POST", clock, `{"advance":"PT1S"}`, as(sandboxKey)...).refused(429, refusal.RateLimited)
	moved := slices.DeleteFunc(w.trail(url.Values{}, as(sandboxKey)...),
		func(d deed) bool { return d.Action != "clock.advanced" })
	if len(moved) != 1 {
		t.Errorf("the audit trail has %d advances, want one", len(moved))
	}
}

// TestKeptRefusalsHaveALimit: what moves nothing and is kept under a key is kept 10,000 times a day for each API key.
func TestKeptRefusalsHaveALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	g := w.send(ofMoney("5"))
	asks := `{"voucherID":"` + g.id + `","organizationID":"` + pier + `","amount":6}`
	fits := `{"voucherID":"` + g.id + `","organizationID":"` + pier + `","amount":1}`
	cards, codes := w.verified(6)
	first := w.post("redeem-gift", asks, once("first")...).refused(409, refusal.InsufficientBalance, "amount")
	w.kept(harborKey, merchant.MaxKeptPerDay-4)
	w.post("redeem-gift", asks, once("second")...).refused(409, refusal.InsufficientBalance, "amount")
	w.post("reverse-redemption", `{"idempotencyKey":"never"}`).refused(404, refusal.NotFound)
	refused := w.post("redeem-gift", asks, once("third")...).refused(429, refusal.RateLimited, "")
	if wait, _ := strconv.Atoi(refused.header.Get("Retry-After")); wait < 11*3600 || wait > 12*3600 {
		t.Errorf("Retry-After is %d s at noon", wait)
	}
	w.post("reverse-redemption", `{"idempotencyKey":"late"}`).refused(429, refusal.RateLimited, "")
	w.post("redeem-gift", fits, once("late")...).want(200) // it was not spent
	w.post("redeem-gift", fits, once("never")...).refused(409, refusal.RedemptionNotAllowed, "")
	w.post("redeem-gift", asks, once("first")...).again(first)
	w.post("redeem-gift", asks).refused(409, refusal.InsufficientBalance, "amount")
	w.post("redeem-gift", asks, append(once("third"), as(rotatedKey)...)...).refused(409, refusal.InsufficientBalance,
		"amount")
	// Wrong verification codes are entered, and have a limit of their own, which nobody goes around by way of this one.
	for n := range merchant.GuessBurst {
		card := n / (gift.MaxWrongCodes - 1)
		withVerification(cards[card], "1", wrong(codes[card], n))(w, once(fmt.Sprintf("wrong-%d", n))...).refused(409,
			refusal.RedemptionNotAllowed, "verificationCode")
	}
	withVerification(cards[5], "1", wrong(codes[5], 0))(w, once("wrong")...).refused(429, refusal.RateLimited)
	withVerification(cards[5], "1", codes[5])(w, once("right")...).refused(429, refusal.RateLimited)
	w.pass(12*time.Hour + time.Minute)
	w.post("redeem-gift", asks, once("fourth")...).refused(409, refusal.InsufficientBalance, "amount")
}
