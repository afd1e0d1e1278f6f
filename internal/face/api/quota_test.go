package api_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// quotas are the daily limits that an answer tells of, by name: what is left, as "of 10 gifts 9".
func (w *world) quotas(r reply) map[string]string {
	w.Helper()
	policy := regexp.MustCompile(`^"([a-zA-Z.]+)";q=(\d{1,15});qu="([a-z-]+)";w=(\d{5})$`)
	rest := regexp.MustCompile(`^"([a-zA-Z.]+)";r=(\d{1,15});t=(\d{1,5})$`)
	policies, left := r.header.Get("RateLimit-Policy"), r.header.Get("RateLimit")
	if policies == "" && left == "" {
		return nil
	}
	all, lefts := map[string]string{}, strings.Split(left, ", ")
	for n, one := range strings.Split(policies, ", ") {
		p := policy.FindStringSubmatch(one)
		if p == nil || n >= len(lefts) {
			w.Fatalf("RateLimit-Policy is %s, RateLimit %s", policies, left)
		}
		l := rest.FindStringSubmatch(lefts[n])
		if l == nil || l[1] != p[1] {
			w.Fatalf("RateLimit-Policy is %s, RateLimit %s", policies, left)
		}
		zone := w.directory.Load().Accounts[id(harbor)].Zone
		if long := merchant.DayLength(w.now(), zone); p[4] != fmt.Sprint(int(long.Seconds())) {
			w.Errorf("RateLimit-Policy is %s; the day has %s", policies, long)
		}
		all[p[1]] = "of " + p[2] + " " + p[3] + " " + l[2]
	}
	return all
}

// TestQuotasAreTold: a call that counts against daily limits tells what is left of them, before they are met.
func TestQuotasAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{IssuedPerDay: 100_00, GiftsPerDay: 10, RedeemedPerDay: 50_00, MessagesPerContactPerDay: 5},
		merchant.Limits{GiftsPerDay: 3, MessagesPerDay: 5, TextsPerDay: 4, RedeemedPerDay: 20_00})
	told := func(r reply, name, want string) {
		t.Helper()
		if got := w.quotas(r)[name]; got != want {
			t.Errorf("%s is %q, want %q; all are %v", name, got, want, w.quotas(r))
		}
	}
	sent := w.post("send-gift", ofMoney("30"), append(once("sent"), as(rotatedKey)...)...).want(201)
	told(sent, "account.issuedPerDay", "of 10000 minor-units 7000")
	told(sent, "account.giftsPerDay", "of 10 gifts 9")
	told(sent, "account.messagesPerDay", "") // there is no such limit
	told(sent, "key.giftsPerDay", "of 3 gifts 2")
	told(sent, "key.messagesPerDay", "of 5 messages 5")
	told(sent, "key.issuedPerDay", "")
	texted := w.post("send-gift", bySMS("415-555-0132"), as(rotatedKey)...).want(201)
	told(texted, "key.messagesPerDay", "of 5 messages 4")
	told(texted, "key.textsPerDay", "of 4 messages 3")
	redeem := `{"voucherID":"` + sent.at("gifts[0].voucherID") + `","amount":12.5,"organizationID":"` + pier + `"}`
	taken := w.post("redeem-gift", redeem, as(rotatedKey)...).want(200)
	told(taken, "account.redeemedPerDay", "of 5000 minor-units 3750")
	told(taken, "key.redeemedPerDay", "of 2000 minor-units 750")
	told(taken, "key.giftsPerDay", "") // a redemption does not count as a gift
	other := w.post("send-gift", ofMoney("1")).want(201)
	told(other, "account.giftsPerDay", "of 10 gifts 7")
	told(other, "key.giftsPerDay", "") // another key has no limits
	zone := w.directory.Load().Accounts[id(harbor)].Zone
	for range 366 { // the next day on which the clocks change, for whose limit the window is as long
		if merchant.DayLength(w.now(), zone) != 24*time.Hour {
			break
		}
		w.pass(24 * time.Hour)
	}
	changed := w.post("send-gift", ofMoney("1")).want(201)
	told(changed, "account.giftsPerDay", "of 10 gifts 9")
	if policy := changed.header.Get("RateLimit-Policy"); strings.Contains(policy, "w=86400") {
		t.Errorf("on a day of %s: %s", merchant.DayLength(w.now(), zone), policy)
	}
}

// TestQuotasThatNobodyIsTold: not by refusals, replays, dry runs and what counts against nothing; nor is a key that
// sees a part of the account told what the whole of it did.
func TestQuotasThatNobodyIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.atNoon()
	w.limit(merchant.Limits{GiftsPerDay: 10, RedeemedPerDay: 10_00}, merchant.Limits{})
	sent := w.post("send-gift", ofMoney("30"), once("sent")...).want(201)
	redeem := `{"voucherID":"` + sent.at("gifts[0].voucherID") + `","amount":1,"organizationID":"` + pier + `"}`
	for name, r := range map[string]reply{
		"a replay":  w.post("send-gift", ofMoney("30"), once("sent")...).want(201),
		"a dry run": w.rehearse("send-gift", ofMoney("30")).want(201),
		"a limit that is met": w.post("redeem-gift", strings.Replace(redeem, ":1,", ":30,", 1)).
			refused(429, refusal.RateLimited, ""),
		"a wrong code": w.post("validate-gift", `{"voucherCode":"000000000000","organizationID":"`+pier+`"}`).
			refused(404, refusal.NotFound, "voucherCode"),
		"a look-up": w.get("/gifting/gifts/" + sent.at("gifts[0].voucherID")).want(200),
		"a till":    w.post("redeem-gift", redeem, as(pierKey)...).want(200),
	} {
		if r.header.Get("RateLimit") != "" || r.header.Get("RateLimit-Policy") != "" {
			t.Errorf("%s tells %v", name, w.quotas(r))
		}
	}
}
