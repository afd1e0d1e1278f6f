package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/racetest"
	"boon.example/internal/store/pgtest"
)

// What a request may take: a small multiple of the longest body, and what a thousand gifts are, with their codes,
// mails, answer, record and what they are searched by.
const (
	mostMemory  = 8 << 20
	orderMemory = 48 << 20 // on PostgreSQL; SQLite takes two thirds of it
)

// TestMemoryOfARequestIsBounded counts all memory that a request is given, from the first byte of its body to the
// last of its answer, of which it never holds more at once. It runs alone: what is counted is the whole process's.
func TestMemoryOfARequestIsBounded(t *testing.T) {
	racetest.Skip(t, "it counts memory")
	pgtest.Once(t)
	w := newWorld(t)
	h := w.config.handler()
	key := ""
	ask := func(name string, most int, method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		r.Header.Set("Authorization", harborKey)
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		answer.Body.Grow(8 << 20)
		took := allocated(func() { h.ServeHTTP(answer, r) })
		t.Logf("%s: %d, %d KiB for %d KiB", name, answer.Code, took>>10, len(body)>>10)
		if took > most {
			t.Errorf("%s: %d KiB for a body of %d KiB, more than %d", name, took>>10, len(body)>>10, most>>10)
		}
		if answer.Code >= http.StatusInternalServerError {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
		return answer
	}
	for operation, path := range paths {
		for name, body := range giantBodies() {
			ask(operation+", "+name, mostMemory, "POST", path, body)
		}
	}
	for _, key = range []string{"a thousand", ""} {
		if answer := ask("a thousand gifts with the key "+key, orderMemory, "POST", paths["send-gift"],
			giantOrder()); answer.Code != http.StatusCreated {
			t.Fatalf("%d %.500s", answer.Code, answer.Body)
		}
	}
	ask("a list", mostMemory, "GET", base+"/gifting/gifts?limit=200", "")
	ask("a long query", mostMemory, "GET", base+"/gifting/gifts?"+strings.Repeat("limit=200&", 5_000), "")
	g := w.send(ofMoney("25.50"))
	for name, line := range map[string]string{
		"lines without members": `{}`,
		"good lines":            `{"itemID":"LATTE","quantity":1,"itemTotalPrice":3}`,
	} {
		lines := strings.Repeat(line+",", (1<<20-2_000)/(len(line)+1))
		body := strings.TrimSuffix(redeemBody(g, ""), "}") + `,"ticketData":{"format":"standard","data":{"lineItems":[` +
			strings.TrimSuffix(lines, ",") + `]}}}`
		ask("a ticket of "+name, mostMemory, "POST", paths["redeem-gift"], body)
		ask("a ticket of "+name, mostMemory, "POST", paths["validate-gift"], body)
	}
}

// allocated counts the bytes that are allocated while fn runs.
func allocated(fn func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// giantBodies are as long as a body may be, or longer.
func giantBodies() map[string]string {
	const size = 1<<20 - 100
	fill := func(begin, some, end string) string {
		return begin + strings.Repeat(some, (size-len(begin)-len(end))/len(some)) + end
	}
	return map[string]string{
		"deep lists":      fill("", "[", ""),
		"deep objects":    fill("", `{"a":`, ""),
		"unknown members": fill(`{"a":1`, `,"b":1`, "}"),
		"different names": fill("{", manyNames(), `"z":1}`),
		"one text":        fill(`{"voucherID":"`, "x", `"}`),
		"escapes":         fill(`{"voucherID":"`, `\u00e9`, `"}`),
		"one number":      fill(`{"amount":`, "9", "}"),
		"an exponent":     fill(`{"amount":1e`, "9", "}"),
		"a list of lists": fill(`{"ticketData":{"format":"standard","data":{"lineItems":[[]`, ",[]", "]}}}"),
		"empty recipients": fill(`{"monetaryGift":{"value":5,"deliveryMethodID":3},`+purchase+`,"recipients":[{}`, ",{}",
			`]}`),
		"wrong recipients": fill(`{"monetaryGift":{"value":5,"deliveryMethodID":1},`+purchase+`,"recipients":[1`,
			`,{"recipientContact":1,"message":2,"unknown":3}`, `]}`),
		"vouchers":  fill(`{"voucherIDs":["x"`, `,"x"`, "]}"),
		"not UTF-8": fill(`{"voucherID":"`, "\xff", `"}`),
		"too long":  strings.Repeat(" ", 4<<20),
	}
}

func manyNames() string {
	var b strings.Builder
	for n := range 50_000 {
		fmt.Fprintf(&b, `"n%d":%d,`, n, n)
	}
	return b.String()
}

// giantOrder sends as many gifts as one call may, with texts as long as they may be.
func giantOrder() string {
	recipient := `{"recipientDescription":"` + strings.Repeat("é", 100) + `","message":"` + strings.Repeat("m", 700) + `"}`
	return `{"monetaryGift":{"value":5,"deliveryMethodID":3},` + purchase + `,"recipients":[` +
		strings.TrimSuffix(strings.Repeat(recipient+",", gift.MaxRecipients), ",") + `]}`
}
