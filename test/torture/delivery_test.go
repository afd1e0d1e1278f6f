package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	stdmail "net/mail"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"boon.example/internal/store/pgtest"
	"boon.example/test/rig"
)

// The whole proof: go -C test test ./torture -run Gifts -gifts 2000 -wait-for-leases
var (
	giftsSent     = flag.Int("gifts", 300, "how many scheduled gifts come due while servers are killed")
	waitForLeases = flag.Bool("wait-for-leases", false,
		"let the leases of the killed end by themselves, which takes two minutes")
)

// world is a mail server and Twilio's, both real and slow: what they took, under which id, for whom.
type world struct {
	mu    sync.Mutex
	taken map[string]map[string]int // by recipient, by Message-ID or callback
	lot   *rand.Rand
}

// take remembers a message, and gives how long its sender waits for the answer, so that many are awaited when a server
// is killed.
func (w *world) take(to, id string) (pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken[to] == nil {
		w.taken[to] = map[string]int{}
	}
	w.taken[to][id]++
	return time.Duration(100+w.lot.IntN(400)) * time.Millisecond
}

func (w *world) recipients() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.taken)
}

// gateways starts the two and gives the flags that name them.
func (w *world) gateways(t *testing.T) []string {
	t.Helper()
	mail, closeMail, err := rig.Mailbox(func(to, text string) {
		m, err := stdmail.ReadMessage(strings.NewReader(text))
		if err != nil {
			t.Error(err)
			return
		}
		time.Sleep(w.take(to, m.Header.Get("Message-ID")))
	})
	check(t, err)
	t.Cleanup(closeMail)
	phone, closePhone := rig.Phone(func(form url.Values) {
		time.Sleep(w.take(form.Get("To"),
			form.Get("StatusCallback")))
	})
	t.Cleanup(closePhone)
	return []string{"--smtp", mail, "--sms", phone, "--public-url", "http://gifts.example.com"}
}

// TestGiftsComeDueOnOneFolder and its sibling: two servers over one store are killed in turns while scheduled gifts
// come due. Every gift is delivered, none is lost, and what arrives twice has one Message-ID.
func TestGiftsComeDueOnOneFolder(t *testing.T) {
	t.Parallel()
	boon := install(t, "")
	comeDue(t, boon, "sqlite", filepath.Join(boon.Flags[1], "boon.db")+"?_pragma=busy_timeout(30000)")
}

// TestGiftsComeDueOnPostgres is the same over a database of its own.
func TestGiftsComeDueOnPostgres(t *testing.T) {
	t.Parallel()
	pgtest.Need(t)
	database := pgtest.Fresh(t)
	comeDue(t, install(t, database), "pgx", database)
}

func comeDue(t *testing.T, boon *rig.Installation, driver, source string) {
	w := &world{taken: map[string]map[string]int{}, lot: rand.New(rand.NewPCG(1, 2))}
	flags := w.gateways(t)
	servers := []*rig.Server{serve(t, boon, flags...), serve(t, boon, flags...)}
	c := rig.NewClient(4, 20*time.Second)
	t.Cleanup(c.Close)
	due := time.Now().Add(3 * time.Second)
	ids := schedule(t, c, servers[0].URL, *giftsSent, due)
	time.Sleep(time.Until(due))
	killed := 0
	for deadline := time.Now().Add(3 * time.Minute); w.recipients() < len(ids) && time.Now().Before(deadline); killed++ {
		time.Sleep(time.Duration(300+rand.IntN(500)) * time.Millisecond)
		n := killed % 2
		servers[n].Kill()
		if killed > 2 && !*waitForLeases {
			endLeases(t, driver, source)
		}
		servers[n] = serve(t, boon, flags...)
	}
	if !*waitForLeases {
		endLeases(t, driver, source)
	}
	begun := time.Now()
	for deadline := begun.Add(4 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if waiting := inStatus(t, c, servers[0].URL, "PENDING"); waiting == 0 || time.Now().After(deadline) {
			break
		}
		if !*waitForLeases {
			endLeases(t, driver, source) // of those that were killed with the last jobs in hand
			time.Sleep(2 * time.Second)
		}
	}
	w.check(t, c, servers[0].URL, ids)
	t.Logf("%d kills; everything recorded %v after the last one", killed, time.Since(begun).Round(time.Second))
	for _, s := range servers {
		s.Kill()
	}
	check(t, boon.Verify())
}

// schedule sends gifts of two methods for a time, and gives their ids.
func schedule(t *testing.T, c *rig.Client, url string, n int, due time.Time) (ids []string) {
	t.Helper()
	for len(ids) < n {
		var to []string
		for range min(1000, n-len(ids)) {
			at := len(ids) + len(to)
			to = append(to, fmt.Sprintf(`{"deliveryMethodID":1,"recipientContact":"r%d@d%d.example"}`, at, at%20))
			if at%10 == 9 {
				to[len(to)-1] = fmt.Sprintf(`{"deliveryMethodID":2,"recipientContact":"415555%04d"}`, at)
			}
		}
		gifts, err := c.Sell(url, rig.SendTo(fmt.Sprintf(`,"hasScheduledDelivery":true,"deliveryDate":%q`,
			due.UTC().Format(time.RFC3339Nano)), strings.Join(to, ",")))
		check(t, err)
		for _, g := range gifts {
			ids = append(ids, g.VoucherID)
		}
	}
	return ids
}

// endLeases makes every lease end now, as it would by itself two minutes after it was taken. A message that is on its
// way meanwhile may be sent once more, under the same Message-ID: so it would be by a server that was thought dead.
func endLeases(t *testing.T, driver, source string) {
	t.Helper()
	db, err := sql.Open(driver, source)
	check(t, err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	now := time.Now().UnixMicro()
	if _, err := db.ExecContext(ctx,
		fmt.Sprintf(`UPDATE job SET claimable_at = %d WHERE claimable_at <> due AND claimable_at > %d`, now,
			now)); err != nil {
		t.Fatal(err)
	}
}

// inStatus counts gifts.
func inStatus(t *testing.T, c *rig.Client, url, status string) int {
	t.Helper()
	var page struct{ Gifts []json.RawMessage }
	check(t, c.Read(url+"/api/integration/gifting/gifts?limit=200&status="+status, rig.Accounts()[0].Keys[0], &page))
	return len(page.Gifts)
}

// check holds what arrived against what was sent.
func (w *world) check(t *testing.T, c *rig.Client, url string, ids []string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	messages, repeats := 0, 0
	for to, under := range w.taken {
		if len(under) != 1 {
			t.Errorf("%s got messages under %d ids: %v", to, len(under), under)
		}
		for _, n := range under {
			messages, repeats = messages+n, repeats+n-1
		}
	}
	if len(w.taken) != len(ids) {
		t.Errorf("%d recipients of %d got theirs", len(w.taken), len(ids))
	}
	for _, status := range []string{"PENDING", "FAILED_DELIVERY"} {
		if n := inStatus(t, c, url, status); n > 0 {
			t.Errorf("%d gifts are %s", n, status)
		}
	}
	t.Logf("%d gifts, %d messages, %d of them repeats, each under the id of the first", len(ids), messages, repeats)
}
