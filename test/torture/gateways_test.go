package main

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"boon.example/test/rig"
)

// dead is a gateway for mail and text messages that is away, in one of the ways in which one can be.
func dead(t *testing.T, how string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	if how == "refuses" {
		check(t, l.Close())
		return l.Addr().String()
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		var held []net.Conn // of a silent one: nothing is ever said
		for {
			conn, err := l.Accept()
			if err != nil {
				for _, c := range held {
					c.Close()
				}
				return
			}
			if held = append(held, conn); how == "hangs up" {
				conn.Close()
			}
		}
	}()
	return l.Addr().String()
}

// TestGatewaysAway: while the gateways for mail and text messages refuse, are silent or hang up, and gifts wait for
// them, redemptions are answered as at a service that has none, and as soon: the two are asked by turns. A service that
// waits for its gateway is found out.
func TestGatewaysAway(t *testing.T) {
	for _, how := range []string{"refuses", "is silent", "hangs up"} {
		t.Run(how, func(t *testing.T) {
			alone, beside := besideDeadGateways(t, how, "")
			t.Logf("the median redemption takes %v, and %v where the gateway %s", alone, beside, how)
			if waits(alone, beside) {
				t.Errorf("a redemption takes %v, and %v where the gateway %s", alone, beside, how)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		alone, beside := besideDeadGateways(t, "is silent", "waits")
		if !waits(alone, beside) {
			t.Errorf("a service that waits for its gateway takes %v, one that does not %v: nobody would notice", beside, alone)
		}
	})
}

// waits tells whether a service waits for its gateways, by its median and that of one without. A busy machine makes
// both longer, and not one of them by as much as the mistake does.
func waits(alone, beside time.Duration) bool {
	return beside > 3*alone+20*time.Millisecond || beside > alone+150*time.Millisecond
}

// besideDeadGateways gives the median times of redemptions at a service without gateways and at one whose gateways are
// dead.
func besideDeadGateways(t *testing.T, how, mistake string) (alone, beside time.Duration) {
	t.Helper()
	address := dead(t, how)
	gateways := []string{"--smtp", "smtp://" + address + "?from=gifts@example.com", "--public-url",
		"http://gifts.example.com",
		"--sms", "twilio://AC00000000000000000000000000000000:secret@" + address + "?from=+14155550100&insecure=1"}
	c, shop := rig.NewClient(1, time.Minute), rig.Accounts()[0]
	t.Cleanup(c.Close)
	var urls, ids, waiting []string
	for n, flags := range [][]string{nil, gateways} {
		i := install(t, "")
		if n == 1 && mistake != "" {
			i.Serve = []string{unsound, "--mistake", mistake, "--gateway", address}
		}
		s := serve(t, i, flags...)
		id, _, err := c.SellOne(s.URL)
		check(t, err)
		urls, ids = append(urls, s.URL), append(ids, id)
	}
	rounds := 100
	if mistake != "" {
		rounds = 5
	}
	for n := range 20 * min(rounds/5, 2) {
		contact := []string{`"deliveryMethodID":1,"recipientContact":"ana@example.com"`,
			`"deliveryMethodID":2,"recipientContact":"+14155550123"`}[n%2]
		gifts, err := c.Sell(urls[1], rig.SendTo("", "{"+contact+"}"))
		check(t, err)
		waiting = append(waiting, gifts[0].VoucherID)
	}
	var took [2][]time.Duration
	for n := range rounds {
		for at, url := range urls {
			begun := time.Now()
			a, err := c.Repeat(url+rig.Redeem, shop.Keys[0], fmt.Sprintf("r-%d", n), fmt.Sprintf(`{"voucherID":%q,"amount":0.01}`,
				ids[at]))
			check(t, err)
			if a.Status != http.StatusOK {
				t.Fatalf("a redemption was answered %d %s", a.Status, a.Body)
			}
			took[at] = append(took[at], time.Since(begun))
		}
	}
	for _, id := range waiting {
		var g struct{ Status string }
		check(t, c.Read(urls[1]+rig.Gifts+id, shop.Keys[0], &g))
		if g.Status != "PENDING" {
			t.Fatalf("gift %s is %s: its gateway was not away", id, g.Status)
		}
	}
	for at := range took {
		slices.Sort(took[at])
	}
	return took[0][rounds/2], took[1][rounds/2]
}
