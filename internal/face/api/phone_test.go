package api_test

import (
	"net/url"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// numberSpellings are ways to write one number, as an account reads them that sends SMS to Great Britain only.
var numberSpellings = []string{"+447740125622", "+44 (0)7740 125622", "tel:+44-7740-125622", "0044 7740 125622",
	"07740 125622",
	"\u202a+44\u00a07740 125622\u202c", "7740125622"}

func texted(number string) string {
	return `{"monetaryGift":{"value":5,"deliveryMethodID":2,"recipientContact":"` + number + `"},` + purchase + `}`
}

// british makes the account send SMS to Great Britain only.
func british(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.configure(func(a *merchant.Account) { a.TextCountries = []string{"GB"} })
	return w
}

// TestNumberHowever: whichever way a number is written, a gift goes to it, is found by it, and counts towards its
// limits.
func TestNumberHowever(t *testing.T) {
	t.Parallel()
	w := british(t)
	w.limit(merchant.Limits{MessagesPerContactPerDay: int64(len(numberSpellings))}, merchant.Limits{})
	for n, spelling := range numberSpellings {
		g := w.send(texted(spelling))
		w.goesTo(w.claim(), "+447740125622")
		for _, asked := range numberSpellings {
			found := w.get("/gifting/gifts?recipient=" + url.QueryEscape(asked)).want(200).ids()
			if len(found) != n+1 || found[0] != g.id {
				t.Fatalf("%q sent, %q asked for: %v", spelling, asked, found)
			}
		}
	}
	for _, spelling := range numberSpellings {
		w.post("send-gift", texted(spelling)).refused(429, refusal.RateLimited, "")
	}
	eleven := strings.Repeat(`{"recipientContact":"07740 125622"},`, 10) + `{"recipientContact":"+44 (0)7740 125622"}`
	w.post("send-gift", `{"recipients":[`+eleven+`],"monetaryGift":{"value":5,"deliveryMethodID":2},`+purchase+`}`).refused(
		400, refusal.ValidationFailure, "recipients[10].recipientContact")
}

// TestNationalNumberRefused: what is no number is refused with an example of the account's own country.
func TestNationalNumberRefused(t *testing.T) {
	t.Parallel()
	w := british(t)
	for _, bad := range []string{"07740", "call me", "+44 7740 125622 x5"} {
		r := w.post("send-gift", texted(bad)).refused(400, refusal.ValidationFailure, "monetaryGift.recipientContact")
		if !strings.Contains(string(r.body), "07400 123456") {
			t.Errorf("%s: %s", bad, r.body)
		}
	}
}

// TestSpellingIsNoOtherRequest: under one Idempotency-Key a number written another way is the same request.
func TestSpellingIsNoOtherRequest(t *testing.T) {
	t.Parallel()
	w := british(t)
	var g made
	bodies := map[string]func(number string) string{
		"send-gift":   texted,
		"resend-gift": func(n string) string { return `{"voucherID":"` + g.id + `","recipientContact":"` + n + `"}` },
		"replace-gift": func(n string) string {
			return `{"voucherID":"` + g.id + `","reason":"lost","deliver":{"deliveryMethodID":2,"recipientContact":"` + n + `"}}`
		},
	}
	for operation, body := range bodies {
		for _, first := range numberSpellings {
			g = w.send(texted("+447740125622"))
			key := once(operation + " " + first[:min(4, len(first))] + strings.Repeat("x", len(first)))
			key[1] = strings.Map(func(r rune) rune { return min(r, '~') }, key[1])
			was := w.post(operation, body(first), key...)
			if was.status >= 400 {
				t.Fatalf("%s to %q: %s", operation, first, was.body)
			}
			for _, other := range numberSpellings {
				if r := w.post(operation, body(other), key...); r.header.Get("Idempotent-Replayed") != "true" {
					t.Errorf("%s to %q, then to %q: %s", operation, first, other, r.body)
				}
			}
			w.post(operation, body("+447740125623"), key...).refused(422, refusal.IdempotencyMismatch, "")
		}
	}
}

// TestCarrierAddress: an old address of a Japanese carrier is sent to in quotes, and found with and without them.
func TestCarrierAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for address, kept := range map[string]string{"taro..love@docomo.ne.jp": `"taro..love"@docomo.ne.jp`,
		"taro.@ezweb.ne.jp": `"taro."@ezweb.ne.jp`} {
		g := w.send(`{"monetaryGift":{"value":5,"deliveryMethodID":1,"recipientContact":"` + address + `"},` + purchase + `}`)
		w.goesTo(w.claim(), kept)
		for _, asked := range []string{address, kept, strings.ToUpper(address)} {
			found := w.get("/gifting/gifts?recipient=" + url.QueryEscape(asked)).want(200).ids()
			if len(found) != 1 || found[0] != g.id {
				t.Errorf("%s: %v", asked, found)
			}
		}
	}
	typo := strings.ReplaceAll(texted("taro..love@example.com"), `"deliveryMethodID":2`, `"deliveryMethodID":1`)
	w.post("send-gift", typo).refused(400, refusal.ValidationFailure, "monetaryGift.recipientContact")
}
