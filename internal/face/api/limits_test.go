package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// A body of 1 MiB is read, one byte more is not, whether its length is told beforehand or not.
func TestTheLargestBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for size, want := range map[int]int{1<<20 - 1: 404, 1 << 20: 404, 1<<20 + 1: 413, 2 << 20: 413} {
		body := `{"voucherCode":"123456789012","organizationID":"` + pier + `"}`
		body += strings.Repeat(" ", size-len(body))
		w.post("validate-gift", body).want(want)
		// A reader of an unknown kind is sent in chunks.
		r, err := http.NewRequestWithContext(t.Context(), "POST", w.server.URL+paths["validate-gift"],
			io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", harborKey)
		answer, err := w.server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if r.ContentLength > 0 || answer.StatusCode != want {
			t.Errorf("%d bytes in chunks: %d, want %d", size, answer.StatusCode, want)
		}
	}
}

// An order of 1,000 with messages of 1,000 characters fits; of send-gift a body of 2 MiB is read, and no longer one.
func TestTheLargestOrder(t *testing.T) {
	racetest.SkipShort(t, "one caller, with much in each call")
	t.Parallel()
	w := newWorld(t)
	var to []string
	for n := range gift.MaxRecipients {
		to = append(to, fmt.Sprintf(`{"recipientDescription":"%s","recipientContact":"%d@example.com","message":"%s"}`,
			strings.Repeat("n", 200), n, strings.Repeat("m", 1000)))
	}
	order := `{"monetaryGift":{"value":5,"deliveryMethodID":1},"recipients":[` + strings.Join(to, ",") + `],` + purchase +
		`}`
	if r := w.post("send-gift", order).want(201); r.header.Get("Content-Length") != strconv.Itoa(len(r.body)) {
		t.Errorf("an answer of %d bytes has the Content-Length %q", len(r.body), r.header.Get("Content-Length"))
	}
	w.post("send-gift", order+strings.Repeat(" ", 2<<20-len(order))).want(201)
	w.post("send-gift", order+strings.Repeat(" ", 2<<20+1-len(order))).refused(413, refusal.ValidationFailure)
}

// TestOrdersWhoseAnswersWouldBeTooLong: what is small as a request can be large as an answer, which repeats the terms
// for each gift.
func TestOrdersWhoseAnswersWouldBeTooLong(t *testing.T) {
	racetest.SkipShort(t, "one caller, with much in each call")
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	order := func(n int) string {
		return `{"itemGift":{"label":"Latte","quantity":1,"deliveryMethodID":3,"terms":"` + strings.Repeat("é", 4000) +
			`"},"recipients":[{}` +
			strings.Repeat(`,{}`, n-1) + `],` + purchase + `}`
	}
	w.post("send-gift", order(1000), once("long")...).refused(400, refusal.ValidationFailure, "recipients")
	most := w.post("send-gift", order(800), once("long")...).want(201)
	if size := len(most.body); size < 7<<20 || size > 8<<20 {
		t.Errorf("the answer has %d bytes", size)
	}
	w.get("/gifting/gifts/"+most.at("gifts[799].voucherID")).want(200, "terms", strings.Repeat("é", 4000))
}

// TestOneContactInAnOrder: at most ten gifts of an order go to one address.
func TestOneContactInAnOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	order := func(contacts ...string) string {
		return `{"monetaryGift":{"value":5,"deliveryMethodID":1},"recipients":[{"recipientContact":"` +
			strings.Join(contacts, `"},{"recipientContact":"`) + `"}],` + purchase + `}`
	}
	ten := slices.Repeat([]string{"ann@example.com"}, 10)
	w.post("send-gift", order(append(ten, "bob@example.com")...)).want(201)
	w.post("send-gift", order(append(ten, "Ann@Example.com", "bob@example.com", "ann@example.com")...)).refused(400,
		refusal.ValidationFailure,
		"recipients[10].recipientContact", "recipients[12].recipientContact")
}

// Texts are measured in characters after composition. The longest ones are taken and come back, one more is refused.
func TestTheLongestTexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	of := func(n int) string { return strings.Repeat("e\u0301", n) }
	money := func(member, text string) string { return ofMoney("5", `,"`+member+`":"`+text+`"`) }
	item := func(member, text string) string {
		return `{"itemGift":{"label":"L","quantity":1,"deliveryMethodID":3,"` + member + `":"` + text + `"},` + purchase + `}`
	}
	top := func(member, text string) string {
		return `{"monetaryGift":{"value":5,"deliveryMethodID":3},"` + member + `":"` + text + `",` + purchase + `}`
	}
	terms := func(member, text string) string {
		return `{"monetaryGift":{"value":5,"deliveryMethodID":3},"` + member + `":"` + text + `",` + promotion + `}`
	}
	for _, c := range []struct {
		body    func(member, text string) string
		in      string
		member  string
		longest int
		shown   bool
	}{
		{money, "monetaryGift.", "senderDescription", 200, true}, {money, "monetaryGift.", "recipientDescription", 200, true},
		{money, "monetaryGift.", "message", 1000, true}, {item, "itemGift.", "terms", 4000, true},
		{top, "", "senderDescription", 200, true},
		{terms, "", "promotionalTerms", 4000, true}, {top, "", "notes", 1000, false}, {top, "", "relatedOrderID", 200, false},
		{top, "", "relatedOrderNumber", 200, false},
	} {
		r := w.post("send-gift", c.body(c.member, of(c.longest))).want(201)
		if c.shown && r.at("gifts[0]."+c.member) != strings.Repeat("\u00e9", c.longest) {
			t.Errorf("%s came back as %.20q…", c.member, r.at("gifts[0]."+c.member))
		}
		w.post("send-gift", c.body(c.member, of(c.longest+1))).refused(400, refusal.ValidationFailure, c.in+c.member)
	}
	label := strings.Replace(item("terms", "x"), `"L"`, `"`+of(200)+`"`, 1)
	w.post("send-gift", label).want(201, "gifts[0].label", strings.Repeat("\u00e9", 200))
	w.post("send-gift", strings.Replace(label, of(200), of(201), 1)).refused(400, refusal.ValidationFailure,
		"itemGift.label")

	g := w.send(money("message", "x"))
	redeem := func(reference string) reply {
		return w.post("redeem-gift", `{"voucherID":"`+g.id+`","organizationID":"`+pier+`","amount":1,"reference":"`+reference+
			`"}`)
	}
	redeem(of(101)).refused(400, refusal.ValidationFailure, "reference")
	redemption := redeem(of(100)).want(200, "reference", strings.Repeat("\u00e9", 100)).at("redemptionID")
	reverse := func(reason string) reply {
		return w.post("reverse-redemption", `{"redemptionID":"`+redemption+`","amount":0.5,"reason":"`+reason+`"}`)
	}
	reverse(of(201)).refused(400, refusal.ValidationFailure, "reason")
	reverse(of(200)).want(200, "reason", strings.Repeat("\u00e9", 200))
}

func TestTheLongestKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := strings.Repeat("~ ", 127) + "!"
	w.post("send-gift", ofMoney("5"), once(key)...).want(201)
	w.post("send-gift", ofMoney("5"), once(key+"!")...).refused(400, refusal.ValidationFailure, "Idempotency-Key")
	w.post("send-gift", ofMoney("5"), once("")...).refused(400, refusal.ValidationFailure, "Idempotency-Key")
	w.post("send-gift", ofMoney("5"), "Idempotency-Key", "a", "Idempotency-Key", "a").refused(400,
		refusal.ValidationFailure,
		"Idempotency-Key")
	w.get("/requests/"+strings.ReplaceAll(key, " ", "%20")).want(200, "requests[0].key", key)
	for _, bad := range []string{"%7F", "%00", "%0A", "%C3%A9", strings.Repeat("k", 256)} {
		w.get("/requests/"+bad).refused(400, refusal.ValidationFailure, "key")
	}
	for _, odd := range []string{"%2E", "%2E%2E", "a%2Fb"} {
		w.get("/requests/"+odd).refused(404, refusal.NotFound, "key")
	}
}

func TestTheLargestPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post("send-gift", `{"monetaryGift":{"value":1,"deliveryMethodID":3},"recipients":[{}`+strings.Repeat(`,{}`, 200)+
		`],`+purchase+`}`).want(201)
	for query, want := range map[string]int{"": 50, "?limit=1": 1, "?limit=200": 200} {
		var page struct{ Gifts []any }
		if err := json.NewDecoder(bytes.NewReader(w.get("/gifting/gifts" +
			query).want(200).body)).Decode(&page); err != nil || len(page.Gifts) != want {
			t.Errorf("%s: %d gifts, %v, want %d", query, len(page.Gifts), err, want)
		}
	}
}

// The most that a gift may be worth is taken in every currency, and one unit more is not.
func TestTheMostValue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ key, storefront, most, more, finer string }{
		{harborKey, shop, "10000.00", "10000.01", "0.001"}, {carefulKey, carefulShop, "10000", "10001", "0.1"},
		{gulfKey, gulfShop, "10000.000", "10000.001", "0.0001"},
	} {
		send := func(value string) reply {
			return w.post("send-gift", strings.Replace(ofMoney(value), shop, c.storefront, 1),
				append(as(c.key), once(value)...)...)
		}
		send(c.most).want(201, "gifts[0].value", c.most)
		send(c.more).refused(400, refusal.ValidationFailure, "monetaryGift.value")
		send(c.finer).refused(400, refusal.ValidationFailure, "monetaryGift.value")
	}
	for quantity, want := range map[string]string{"1e4": "10000", "1.0": "1", "100e-1": "10"} {
		w.post("send-gift", `{"itemGift":{"label":"L","deliveryMethodID":3.0,"quantity":`+quantity+`},`+
			strings.Replace(purchase, ":2", ":2e0", 1)+`}`).want(201, "gifts[0].quantity", want)
	}
}
