package api_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// TestSlowReadersOfLargeAnswers: callers who ask for large answers and do not read them hold some memory, and no
// more; then others are told to come again, tills are served, and all is as before when they have gone.
func TestSlowReadersOfLargeAnswers(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	order := `{"itemGift":{"label":"Latte","quantity":1,"deliveryMethodID":3,"terms":"` + strings.Repeat("é", 4000) +
		`"},"recipients":[{}` +
		strings.Repeat(`,{}`, 799) + `],` + purchase + `}`
	first := w.post("send-gift", order, once("large")...).want(201)
	g := w.send(ofMoney("5"))
	slow := w.slowReaders(3, order, harborKey)
	refused := w.post("send-gift", order, once("large")...).refused(503, refusal.Unavailable)
	if refused.header.Get("Retry-After") == "" {
		t.Error("nobody says when to come again")
	}
	w.get("/requests/large").want(200) // look-ups find some
	w.redeem(g, "1").want(200)
	w.send(ofMoney("5"))
	for _, conn := range slow {
		conn.Close()
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if r := w.post("send-gift", order, once("large")...); r.status == 201 {
			r.again(first)
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("after they have gone: %d", r.status)
		}
	}
}

// slowReaders repeat an order, whose key is large, and do not read the answer.
func (w *world) slowReaders(n int, order, key string) (slow []net.Conn) {
	w.Helper()
	for range n {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.server.URL, "http://"))
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: boon\r\nAuthorization: %s\r\nIdempotency-Key: "+
			"large\r\nContent-Length: %d\r\n\r\n%s",
			paths["send-gift"], key, len(order), order)
		if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil { // it is being answered
			w.Fatal(err)
		}
		slow = append(slow, conn)
	}
	return slow
}

// TestOrdersLeaveMemoryToLookUps: large orders, which may wait for long, take no more than a part of the memory.
func TestOrdersLeaveMemoryToLookUps(t *testing.T) {
	t.Parallel()
	pgtest.Once(t)
	w := newWorld(t)
	order := func(n int, storefront string) string {
		return `{"itemGift":{"label":"Latte","quantity":1,"deliveryMethodID":3,"terms":"` + strings.Repeat("é", 4000) +
			`"},"recipients":[{}` + strings.Repeat(`,{}`, n-1) + `],` + strings.Replace(purchase, shop, storefront, 1) + `}`
	}
	w.post("send-gift", order(200, gulfShop), as(gulfKey)...).want(201)
	for key, storefront := range map[string]string{harborKey: shop, cornerKey: cornerShop} {
		large := order(860, storefront)
		w.post("send-gift", large, append(once("large"), as(key)...)...).want(201)
		w.slowReaders(3, large, key)
	}
	w.post("send-gift", order(860, gulfShop), as(gulfKey)...).refused(503, refusal.Unavailable)
	w.get("/gifting/gifts?limit=200", as(gulfKey)...).want(200, "gifts[199].label", "Latte")
}

// TestLargeOrdersHaveMoreTime: they may be held back for longer than a call may wait for the store.
func TestLargeOrdersHaveMoreTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *config) { c.StoreTimeout = 1 })
	w.post("send-gift", order(16), once("small")...).refused(503, refusal.Unavailable)
	w.post("send-gift", order(17), once("large")...).want(201)
}

// order is a send-gift request for n gifts.
func order(n int) string {
	return `{"itemGift":{"label":"Latte","quantity":1,"deliveryMethodID":3},"recipients":[{}` + strings.Repeat(`,{}`,
		n-1) + `],` + purchase + `}`
}
