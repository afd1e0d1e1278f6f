package store

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"boon.example/internal/chain"
	"boon.example/internal/contact"
	"boon.example/internal/event"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/message"
	"boon.example/internal/store/db"
	"boon.example/internal/store/erase"
)

const (
	ana   = "ana@example.com"
	carla = "Carla@example.com"
)

// personal is what the gifts of a test say of people.
var personal = []string{ana, "a…@example.com", "Ana Diaz", "Happy birthday", "for my sister", carla, "Carla", "Lopez"}

// tellingGift is a gift that went to Ana, then to Bob, and was reloaded by Carla, who bought it, with all that is kept.
func tellingGift(t *testing.T, s *Store, account guid.ID) gift.Gift {
	t.Helper()
	g, issued := newGift(account)
	g.Card.Method, g.Card.Contact, g.Card.Recipient, g.Card.Sender = contact.Email, ana, "Ana Diaz", "Carla"
	g.Card.Message, g.Card.Notes = "Happy birthday", "for my sister"
	g.Card.Purchase = gift.Purchase{Reference: "R-1", FirstName: "Carla", LastName: "Lopez", EmailAddress: carla}
	body := fmt.Sprintf(`{"orderID":"x","gifts":[{"voucherID":"%s","senderDescription":"Carla","recipientDescription":"Ana Diaz",`+
		`"message":"Happy birthday","status":"PENDING"},{"voucherID":"y","message":"kept"}]}`, g.ID)
	request := ledger.Request{At: noon, Answer: ledger.Answer{Code: ledger.Created, Body: []byte(body)},
		RequestKey: ledger.RequestKey{AccountID: account, Operation: operation.SendGift, Key: "short" + g.ID.String()}}
	long := request
	long.Key = "long" + g.ID.String()
	long.Answer.Body = []byte(strings.Replace(body, `"x"`, `"`+strings.Repeat("x", 2_000)+`"`, 1))
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{issued},
		Requests: []ledger.Request{request, long}})

	enter := func(kind gift.Kind, delta money.Amount, change func(*gift.Entry, *ledger.Changes)) {
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(&g.Voucher)}}, func(st *ledger.State) (c ledger.Changes) {
			v := *st.Vouchers[ref(&g.Voucher)]
			e := gift.Entry{ID: newID(), AccountID: account, VoucherID: g.ID, Seq: v.Seq + 1, Previous: v.Last, Kind: kind,
				Delta: delta, Balance: v.Balance + delta, Status: gift.Delivered, At: noon}
			if change(&e, &c); kind == gift.Reload {
				v.Funded += delta
			}
			v.Seq, v.Last, v.Balance, v.Status = e.Seq, e.ID, e.Balance, e.Status
			c.Vouchers, c.Entries, g.Voucher = []gift.Voucher{v}, []gift.Entry{e}, v
			return c
		})
	}
	enter(gift.Sent, 0, func(*gift.Entry, *ledger.Changes) {})
	enter(gift.Adjustment, -5, func(e *gift.Entry, c *ledger.Changes) {
		e.Details.ReasonCode, e.Reason = gift.ReasonSupport, "ana diaz called"
	})
	enter(gift.Reload, 5, func(e *gift.Entry, c *ledger.Changes) { e.Details.Purchase = g.Card.Purchase })
	enter(gift.Adjustment, -5, func(e *gift.Entry, c *ledger.Changes) {
		e.Details.ReasonCode, e.Reason = gift.ReasonSupport, "too little foam"
	})
	enter(gift.Resent, 0, func(e *gift.Entry, c *ledger.Changes) {
		e.Reason = "By e-mail, to another address. From a…@example.com to b…@example.com, with a new code and link."
		c.Resends = []ledger.Resent{{AccountID: account, VoucherID: g.ID, Seq: e.Seq, ID: e.ID, At: e.At,
			Method:  contact.Email,
			Contact: ana}}
		c.Jobs = []ledger.Job{{ID: newID(), AccountID: account, VoucherID: g.ID, Kind: ledger.RedirectedJob, Due: noon,
			Method: contact.Email, Contact: ana}}
		c.DeliveryChanges = []ledger.DeliveryChange{{AccountID: account, VoucherID: g.ID,
			Delivery: gift.Delivery{Method: contact.Email, Contact: "bob@example.com", DeliveryZone: "UTC"}}}
	})
	must(t, s.KeepMessage(t.Context(), message.Message{ID: newID(), GiftID: g.ID, AccountID: account, To: ana, At: noon}))
	must(t, s.SaveWebhooks(t.Context(), nil, []event.WebhookAttempt{{ID: newID(), AccountID: account, WebhookID: account,
		Event: g.Last, Type: gift.EventResent, At: noon.Add(time.Second), Status: 200, Answer: []byte("thanks, Ana Diaz")}}))
	fillPasses(t, s, account, g.ID)
	return g
}

// standing gives those of some texts that a store still has, in the clear or sealed.
func standing(t *testing.T, s *Store, account guid.ID, texts []string) (found []string) {
	t.Helper()
	var all strings.Builder
	for table, rows := range dump(t, s) {
		fmt.Fprintln(&all, table, rows)
	}
	var clear strings.Builder
	messages, err := s.Messages(t.Context(), guid.ID{}, 100)
	must(t, err)
	attempts, err := s.WebhookAttempts(t.Context(),
		event.WebhookAttempts{AccountID: account, WebhookID: account, Limit: 100})
	must(t, err)
	fmt.Fprintf(&clear, "%+v", messages)
	for _, a := range attempts {
		clear.Write(a.Answer)
	}
	for _, r := range answersOf(t, s, account) {
		clear.Write(r)
	}
	for _, text := range texts {
		if strings.Contains(all.String(), hex.EncodeToString([]byte(text))) || strings.Contains(clear.String(), text) {
			found = append(found, text)
		}
	}
	return found
}

// answersOf reads the stored answers of an account.
func answersOf(t *testing.T, s *Store, account guid.ID) (bodies [][]byte) {
	t.Helper()
	rows, err := s.db.Readers.QueryContext(t.Context(), `SELECT r.key FROM request AS r WHERE r.account_id = $1`, account[:])
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		k := ledger.RequestKey{AccountID: account, Operation: operation.SendGift}
		must(t, rows.Scan(&k.Key))
		var known *ledger.Request // by who decides last
		runGroup(t, s, ledger.Want{Requests: []ledger.RequestKey{k}}, func(st *ledger.State) ledger.Changes {
			known = st.Requests[k]
			return ledger.Changes{}
		})
		a := known.Answer
		if a.Long.Size > 0 {
			a.Body, err = s.LongAnswer(t.Context(), a.Long)
			must(t, err)
		}
		bodies = append(bodies, a.Body)
	}
	return bodies
}

// testErase: nothing of a person is left in any table or file, and everything else is: the ledger, what others are
// called, replies to repeated calls; and it verifies, also since a checkpoint from before.
func testErase(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	g := tellingGift(t, s, account.ID)
	other := issue(t, s, account.ID, 1)[0]
	_, before := chainProblems(t, s)
	was := problems(t, s)
	if found := standing(t, s, account.ID, personal); len(found) != len(personal) {
		t.Fatalf("of %q only %q is found", personal, found)
	}
	for _, contact := range []string{`"ANA"@EXAMPLE.COM`, "carla@ｅxample.com"} {
		ids, err := s.Eraser.Find(t.Context(), account.ID, contact, "", func(int) {})
		must(t, err)
		diff(t, ids, []guid.ID{g.ID})
		rehearsed, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account, Contact: contact, DryRun: true}, ids)
		must(t, err)
		done, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account, Contact: contact}, ids)
		must(t, err)
		if done.Gifts != 1 || done.Entries == 0 || done.Entries != rehearsed.Entries ||
			done.Answers != 2 && contact[0] == '"' {
			t.Errorf("%s: %+v, rehearsed %+v", contact, done, rehearsed)
		}
	}
	if phones := dump(t, s)["pass_device"]; len(phones) > 0 {
		t.Errorf("%d phones with passes are left", len(phones))
	}
	if due, err := s.GoogleDue(t.Context(), account.ID, 10); err != nil || len(due) != 1 {
		t.Errorf("Google is not told: %v, %v", due, err)
	}
	if found := standing(t, s, account.ID, personal); len(found) > 0 {
		t.Errorf("%q is still there", found)
	}
	kept := []string{"too little foam", "bob@example.com", "R-1", "Harbor Coffee", other.Card.Recipient, "kept"}
	if found := standing(t, s, account.ID, kept); len(found) != len(kept) {
		t.Errorf("of %q only %q is left", kept, found)
	}
	stillHolds(t, s, before, was)
	must(t, s.Eraser.Clean(t.Context(), true))
	stillHolds(t, s, before, was)
	if s.db.File != "" {
		searchFiles(t, filepath.Dir(s.db.File), personal)
	}
	if again, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account}, []guid.ID{g.ID}); err != nil ||
		again.Gifts != 1 || standing(t, s, account.ID, []string{"bob@example.com"}) != nil {
		t.Errorf("everybody's: %+v, %v", again, err)
	}
	stillHolds(t, s, before, was)
	now, err := s.Gift(t.Context(), account.ID, g.ID)
	must(t, err)
	diff(t, now.Voucher.Balance, g.Balance)
	diff(t, now.Card.Code, g.Card.Code)
}

// stillHolds holds a store against its chains and a checkpoint, and against what its checks found before.
func stillHolds(t *testing.T, s *Store, checkpoint []chain.Head, was map[string]int) {
	t.Helper()
	found, _ := chainProblems(t, s, checkpoint...)
	if len(found) > 0 {
		t.Errorf("%q", found)
	}
	diff(t, problems(t, s), was)
}

func searchFiles(t *testing.T, dir string, texts []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		must(t, err)
		for _, text := range texts {
			if strings.Contains(string(content), text) {
				t.Errorf("%q is still in %s", text, name)
			}
		}
	}
}

// testEraseHidesNothing: what was changed past the program is not made good by an erasure, nor can one be made without
// the keys, or another be put in its place.
func testEraseHidesNothing(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	g, forged := tellingGift(t, s, account.ID), tellingGift(t, s, account.ID)
	ask := erase.Request{Account: account}
	if _, err := s.Eraser.Gifts(t.Context(), ask, []guid.ID{g.ID}); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{`delta = 6`, `reference = 'forged'`, `made_at = 0`} {
		_, err := s.db.Writer.ExecContext(t.Context(), `UPDATE entry SET `+set+` WHERE voucher_id = $1 AND kind = 'RELOAD'`, g.ID[:])
		if !s.db.Rejected(err) {
			t.Errorf("%s beside an erasure: %v", set, err)
		}
	}
	chainsHold(t, s)
	spoil(t, s, `UPDATE entry SET reason = 'another' WHERE voucher_id = $1 AND kind = 'RELOAD'`, g.ID[:])
	if found, _ := chainProblems(t, s); len(found) != 2 {
		t.Errorf("another reason in the place of what was erased: %q", found)
	}
	unguarded(t, s)
	run(t, s, `UPDATE entry SET reference = 'forged' WHERE voucher_id = $1 AND kind = 'RELOAD'`, forged.ID[:])
	n, err := s.Eraser.Gifts(t.Context(), ask, []guid.ID{forged.ID})
	if err == nil || !strings.Contains(err.Error(), "not as it was written") {
		t.Errorf("an entry that was changed: %+v, %v", n, err)
	}
	diff(t, n, erase.Counts{Answers: 2, Attempts: 1, Messages: 1}) // and nothing of the gift, which is as it was
	if s.db.File != "" {                                           // others do not pay for an erasure that failed
		var secure int
		must(t, s.db.Writer.QueryRowContext(t.Context(), `PRAGMA secure_delete`).Scan(&secure))
		diff(t, secure, 2)
	}
	run(t, s, `UPDATE erasure SET after = before WHERE account_id = $1`, account.ID[:])
	if found, _ := chainProblems(t, s); len(found) < 3 {
		t.Errorf("erasures that were changed: %q", found)
	}
}

// testEraseOutbox: those about the gift go, also of the program before, which did not write whose they are; one about
// another gift is not even read.
func testEraseOutbox(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	gifts := issue(t, s, account.ID, 2)
	var ids []guid.ID
	for _, about := range []guid.ID{gifts[0].ID, gifts[0].ID, gifts[1].ID} {
		m := message.Message{ID: newID(), AccountID: account.ID, GiftID: about, At: noon}
		must(t, s.KeepMessage(t.Context(), m))
		ids = append(ids, m.ID)
	}
	spoil(t, s, `UPDATE outbox SET account_id = $1, voucher_id = $1 WHERE id = $2`, []byte{}, ids[1][:])
	spoil(t, s, `UPDATE outbox SET message = $1 WHERE id = $2`, []byte("damaged"), ids[2][:])
	done, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account, Force: true}, []guid.ID{gifts[0].ID})
	if left := dump(t, s)["outbox"]; err != nil || done.Messages != 2 || len(left) != 1 {
		t.Errorf("%+v, %v; %d messages are left", done, err, len(left))
	}
}

// testEnded: of more gifts than are looked at at a time, those that ended long ago are found, each once; those that
// named only their sender no more since that was erased.
func testEnded(t *testing.T, open opener) {
	s, _ := open(t)
	of := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	account := of.ID
	var want, named []guid.ID
	reloaded := func(v gift.Voucher, by gift.Purchase) gift.Entry {
		return gift.Entry{ID: newID(), AccountID: account, VoucherID: v.ID, Seq: 2, Previous: v.Last, Kind: gift.Reload,
			Delta: 1, Balance: v.Balance + 1, Status: v.Status, At: noon, Details: gift.Details{Purchase: by}}
	}
	for range 3 {
		var c ledger.Changes
		var reloads []gift.Entry
		for n := range 200 {
			g, e := newGift(account)
			g.Promotional, g.PromotionID, g.Card = true, newID(), gift.Card{Code: g.Card.Code, Token: g.Card.Token,
				Sender: "Harbor Coffee", Method: contact.Printed, DesignID: g.Card.DesignID}
			g.ValidUntil = noon.Add(time.Hour)
			switch n % 50 { // most tell of nobody
			case 0:
				g.Card.Recipient = "Ana"
				want = append(want, g.ID)
			case 1:
				c.Resends = append(c.Resends, ledger.Resent{AccountID: account, VoucherID: g.ID, Seq: 1, ID: e.ID, At: noon,
					Method: contact.Email, Contact: ana})
				want = append(want, g.ID)
			case 2:
				reloads = append(reloads, reloaded(g.Voucher, gift.Purchase{Reference: "r1", FirstName: "Ana"}))
				want = append(want, g.ID)
			case 3:
				reloads = append(reloads, reloaded(g.Voucher, gift.Purchase{Reference: "r1"})) // whose customer was erased
			case 4:
				g.Card.Sender = "Carla"
				want, named = append(want, g.ID), append(named, g.ID)
			case 5: // which tills still take
				g.Card.Recipient, g.ValidUntil, g.GraceDays = "Ana", time.Now().Truncate(time.Microsecond), 1
			}
			c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, e)
		}
		save(t, s, c)
		save(t, s, ledger.Changes{Entries: reloads})
	}
	look := func(before time.Time) (found []guid.ID, pages int) {
		for after, more := (guid.ID{}), true; more; pages++ {
			var ids []guid.ID
			var err error
			ids, after, more, err = s.Eraser.Ended(t.Context(), of, after, before)
			must(t, err)
			found = append(found, ids...)
		}
		return found, pages
	}
	if found, pages := look(time.Now().Add(time.Hour)); pages != 2 || !slices.Equal(found, want) {
		t.Errorf("in %d pages: %d gifts, want %d in 2", pages, len(found), len(want))
	}
	if found, _ := look(noon); len(found) != 0 {
		t.Errorf("before they were made %d have ended", len(found))
	}
	if n, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: of}, named); err != nil || n.Gifts != len(named) {
		t.Errorf("of %d that name their sender, %+v, %v", len(named), n, err)
	}
	want = slices.DeleteFunc(want, func(id guid.ID) bool { return slices.Contains(named, id) })
	if found, _ := look(time.Now().Add(time.Hour)); !slices.Equal(found, want) {
		t.Errorf("without senders: %d gifts, want %d", len(found), len(want))
	}
}

// testEraseEnded: a gift to which something has happened since it was found to have ended is left alone.
func testEraseEnded(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	g := tellingGift(t, s, account.ID) // the newest entry is of noon
	for _, tt := range []struct {
		ended time.Time
		gifts int
	}{{noon, 0}, {noon.Add(time.Microsecond), 1}} {
		ask := erase.Request{Account: account, Force: true, Ended: tt.ended}
		n, err := s.Eraser.Gifts(t.Context(), ask, []guid.ID{g.ID})
		if all := len(standing(t, s, account.ID, personal)) == len(personal); err != nil || n.Gifts != tt.gifts ||
			all != (tt.gifts == 0) {
			t.Errorf("ended before %v: %+v, %v; all is there: %v", tt.ended, n, err, all)
		}
	}
}

// testEraseWaiting: a gift whose message is still to be sent is left alone; with force, its delivery is due at once and
// has nobody to go to.
func testEraseWaiting(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	g, issued := newGift(account.ID)
	g.Card.Method, g.Card.Contact, g.Status, issued.Status = contact.Email, ana, gift.Pending, gift.Pending
	now := time.Now().UTC().Truncate(time.Second).Add(time.Minute)
	due := now.Add(time.Hour)
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{issued},
		Jobs: []ledger.Job{{ID: newID(), AccountID: account.ID, VoucherID: g.ID, Due: due}}})
	fillPasses(t, s, account.ID, g.ID)
	// Google is told anew with the gift, in one transaction: what it is told before that has the old words.
	google := func(due int) {
		t.Helper()
		if is, err := s.GoogleDue(t.Context(), account.ID, 10); err != nil || len(is) != due {
			t.Errorf("Google is to be told of %v, %v", is, err)
		}
	}
	ask := erase.Request{Account: account, Contact: ana}
	n, err := s.Eraser.Gifts(t.Context(), ask, []guid.ID{g.ID})
	google(0)
	if err != nil || n.Waiting != 1 || standing(t, s, account.ID, []string{ana}) == nil || len(claim(t, s, now, 1)) > 0 {
		t.Errorf("%+v, %v", n, err)
	}
	ask.Force = true
	n, err = s.Eraser.Gifts(t.Context(), ask, []guid.ID{g.ID})
	if err != nil || n.Waiting != 0 || standing(t, s, account.ID, []string{ana}) != nil || len(claim(t, s, now, 1)) != 1 {
		t.Errorf("by force: %+v, %v", n, err)
	}
	google(1)
}

// orderFor makes an order of a gift for each of some people, bought by Carla at a time, whose answer is long.
func orderFor(t *testing.T, s *Store, account guid.ID, at time.Time, people ...string) (gifts []gift.Gift) {
	t.Helper()
	var c ledger.Changes
	body := `{"orderID":"` + strings.Repeat("x", 2_000) + `","gifts":[`
	for i, name := range people {
		g, issued := newGift(account)
		g.CreatedAt, issued.At = at, at
		g.Card.Method, g.Card.Contact, g.Card.Recipient, g.Card.Sender = contact.Email, name+"@example.com", name, "Carla"
		g.Card.Message = "Hello " + name
		g.Card.Purchase = gift.Purchase{Reference: "R-1", FirstName: "Carla", LastName: "Lopez", EmailAddress: carla}
		c.Gifts, c.Entries = append(c.Gifts, g), append(c.Entries, issued)
		if i > 0 {
			body += ","
		}
		body += fmt.Sprintf(`{"voucherID":"%s","senderDescription":"Carla","recipientDescription":"%s","message":"Hello %[2]s"}`,
			g.ID, name)
	}
	c.Requests = []ledger.Request{{At: at, Answer: ledger.Answer{Code: ledger.Created, Body: []byte(body + `]}`)},
		RequestKey: ledger.RequestKey{AccountID: account, Operation: operation.SendGift, Key: "order" + newID().String()}}}
	save(t, s, c)
	return c.Gifts
}

// answered gives those of some texts that the stored answers of an account have.
func answered(t *testing.T, s *Store, account guid.ID, texts ...string) (found []string) {
	t.Helper()
	all := fmt.Sprintf("%s", answersOf(t, s, account))
	for _, text := range texts {
		if strings.Contains(all, text) {
			found = append(found, text)
		}
	}
	return found
}

func findAll(t *testing.T, s *Store, account guid.ID, contact string) []guid.ID {
	t.Helper()
	ids, err := s.Eraser.Find(t.Context(), account, contact, "", func(int) {})
	must(t, err)
	return ids
}

// testEraseOrder: the answer to an order is written once for all of its gifts, in live accounts and in test accounts,
// before the first of them is changed.
func testEraseOrder(t *testing.T, open opener) {
	s, _ := open(t)
	for _, test := range []bool{false, true} {
		account := &merchant.Account{ID: newID(), Name: "Harbor Coffee", Test: test}
		gifts := orderFor(t, s, account.ID, noon, "Ana", "Bob", "Cleo", "Dan")
		orderFor(t, s, account.ID, noon, "Eve")
		ids := findAll(t, s, account.ID, carla)
		if len(ids) != 5 {
			t.Fatalf("%d gifts of Carla, want 5", len(ids))
		}
		done := 0
		ask := erase.Request{Account: account, Contact: carla, Done: func() {
			if done++; done == 1 {
				diff(t, answered(t, s, account.ID, "Carla", "Hello"), []string(nil))
			}
		}}
		n, err := s.Eraser.Gifts(t.Context(), ask, ids)
		if must(t, err); n.Answers != 2 || n.Gifts != 5 || done != 5 {
			t.Errorf("test %v: %+v of 5 gifts in 2 orders, told of %d", test, n, done)
		}
		diff(t, answered(t, s, account.ID, "Carla", "Hello", "Ana", "Dan", gifts[3].ID.String()),
			[]string{"Ana", "Dan", gifts[3].ID.String()}) // they did not ask for it
		diff(t, findAll(t, s, account.ID, carla), []guid.ID(nil))
	}
}

// testEraseCutOff: whatever an erasure had done when it was cut off, the next finds the rest.
func testEraseCutOff(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	orderFor(t, s, account.ID, noon, "Ana", "Bob", "Cleo")
	for left := 3; left > 0; left-- {
		ids := findAll(t, s, account.ID, carla)
		if len(ids) != left {
			t.Fatalf("%d gifts are found again, want %d", len(ids), left)
		}
		ctx, cut := context.WithCancel(t.Context())
		_, err := s.Eraser.Gifts(ctx, erase.Request{Account: account, Contact: carla, Done: cut}, ids)
		if cut(); err == nil && left > 1 {
			t.Error("it was not cut off")
		}
	}
	diff(t, answered(t, s, account.ID, "Carla", "Hello"), []string(nil))
	diff(t, findAll(t, s, account.ID, carla), []guid.ID(nil))
	diff(t, problems(t, s), map[string]int{})
}

// testEraseBeside: what is answered about a gift after its answers were changed, and before it is, is found as well.
func testEraseBeside(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	gifts := orderFor(t, s, account.ID, noon, "Ana", "Bob")
	ids := []guid.ID{gifts[0].ID, gifts[1].ID}
	reschedule := sync.OnceFunc(func() {
		g := &gifts[1].Voucher
		runGroup(t, s, ledger.Want{Vouchers: []ledger.Ref{ref(g)}}, func(st *ledger.State) (c ledger.Changes) {
			v := *st.Vouchers[ref(g)]
			e := gift.Entry{ID: newID(), AccountID: account.ID, VoucherID: g.ID, Seq: v.Seq + 1, Previous: v.Last,
				Kind: gift.Rescheduled, Balance: v.Balance, Status: v.Status, At: noon.AddDate(0, 0, 1)}
			v.Seq, v.Last = e.Seq, e.ID
			c.Vouchers, c.Entries = []gift.Voucher{v}, []gift.Entry{e}
			c.Requests = []ledger.Request{{At: e.At, Answer: ledger.Answer{Code: ledger.OK, Body: []byte(fmt.Sprintf(
				`{"voucherID":"%s","message":"Hello again","recipientDescription":"Bob"}`, g.ID))},
				RequestKey: ledger.RequestKey{AccountID: account.ID, Operation: operation.SendGift, Key: "again"}}}
			return c
		})
	})
	about := func(g gift.Gift) message.Message {
		return message.Message{ID: newID(), GiftID: g.ID, AccountID: account.ID, To: ana, At: noon}
	}
	must(t, s.KeepMessage(t.Context(), about(gifts[1]))) // it goes before the gift is seen to be another
	n, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account, Done: reschedule}, ids)
	must(t, err)
	diff(t, n, erase.Counts{Gifts: 2, Answers: 2, Messages: 1, Jobs: n.Jobs, Entries: n.Entries})
	must(t, s.KeepMessage(t.Context(), about(gifts[0]))) // the gift itself says nothing any more
	n, err = s.Eraser.Gifts(t.Context(), erase.Request{Account: account}, ids)
	must(t, err)
	diff(t, n, erase.Counts{Messages: 1})
	diff(t, answered(t, s, account.ID, "Carla", "Hello", "Ana", "Bob"), []string(nil))
	diff(t, problems(t, s), map[string]int{})
}

// testEraseAtOnce: several who erase different people in the same answer lose nothing of what the others took out.
func testEraseAtOnce(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	people := []string{"Ana", "Bob", "Cleo", "Dan", "Eve", "Finn"}
	for range 5 {
		orderFor(t, s, account.ID, noon, people...)
	}
	var all sync.WaitGroup
	for _, name := range people {
		ids := findAll(t, s, account.ID, name+"@example.com")
		all.Go(func() {
			ask := erase.Request{Account: account, Contact: name + "@example.com"}
			if n, err := s.Eraser.Gifts(t.Context(), ask, ids); err != nil || n.Gifts != 5 || n.Answers != 5 {
				t.Errorf("%s: %+v, %v", name, n, err)
			}
		})
	}
	all.Wait()
	diff(t, answered(t, s, account.ID, append(people, "Hello")...), []string(nil))
	diff(t, problems(t, s), map[string]int{})
}

// testEraseDamaged: a gift of which an answer cannot be read is not erased, and holds up others only where it is to.
func testEraseDamaged(t *testing.T, open opener) {
	s, _ := open(t)
	account := &merchant.Account{ID: newID(), Name: "Harbor Coffee"}
	gifts := append(orderFor(t, s, account.ID, noon, "Ana"), orderFor(t, s, account.ID, noon.AddDate(0, 0, 1), "Bob")...)
	spoil(t, s, `UPDATE answer SET body = $2
		WHERE key = (SELECT key FROM request WHERE account_id = $1 ORDER BY made_at LIMIT 1)`,
		db.KeyOf(account.ID), []byte("damaged"))
	ids := []guid.ID{gifts[0].ID, gifts[1].ID}
	for _, tt := range []struct {
		goOn bool
		want int
	}{{false, 0}, {true, 1}} {
		n, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: account, GoOn: tt.goOn}, ids)
		if n.Gifts != tt.want || err == nil || !strings.Contains(err.Error(), "gift "+ids[0].String()) {
			t.Errorf("going on %v: %+v, %v", tt.goOn, n, err)
		}
	}
	for i, want := range []string{"Ana", ""} {
		g, err := s.Gift(t.Context(), account.ID, ids[i])
		must(t, err)
		diff(t, g.Card.Recipient, want)
	}
}

// testEarlierNumbers: 0.1.0 kept the trunk zero of +44 (0)7740 125622. Such a gift is found by its number, and erased.
func testEarlierNumbers(t *testing.T, open opener) {
	s, _ := open(t)
	account := newID()
	g, issued := newGift(account)
	g.Card.Method, g.Card.Contact, g.Card.Recipient = contact.SMS, "+4407740125622", "Ana Diaz"
	save(t, s, ledger.Changes{Gifts: []gift.Gift{g}, Entries: []gift.Entry{issued}})
	for _, asked := range []string{"+447740125622", "07740 125622", "+44 (0)7740 125622", "+4407740125622"} {
		contacts, _ := contact.ParseSearch(asked, []string{"GB"})
		found, err := s.Gifts(t.Context(), gift.Filter{AccountID: account, Contacts: contacts, Limit: 2})
		if err != nil || len(found) != 1 || found[0].ID != g.ID {
			t.Errorf("%s: found %v, %v", asked, found, err)
		}
	}
	for _, contact := range []string{"+447740125623", "+447740125622"} {
		ids, err := s.Eraser.Find(t.Context(), account, contact, "", func(int) {})
		if err != nil || (len(ids) == 1) != (contact == "+447740125622") {
			t.Errorf("%s: erases %v, %v", contact, ids, err)
		}
	}
	a := &merchant.Account{ID: account, Name: "Harbor Coffee"}
	n, err := s.Eraser.Gifts(t.Context(), erase.Request{Account: a, Contact: "+447740125622", Force: true},
		[]guid.ID{g.ID})
	if err != nil || n.Gifts != 1 {
		t.Fatalf("erased %+v, %v", n, err)
	}
	after, err := s.Gift(t.Context(), account, g.ID)
	if err != nil || after.Card.Contact != "" || after.Card.Recipient != "" {
		t.Errorf("kept %+v, %v", after.Card, err)
	}
	verifyClean(t, s)
}
