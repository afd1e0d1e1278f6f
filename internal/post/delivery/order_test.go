package delivery_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery/deliverytest"
	"boon.example/internal/post/message"
	"boon.example/internal/store/erase"
)

const buyer = "carla@example.com"

// order issues gifts that go to their buyer in one message.
func (h shop) order(t *testing.T, n int, as gift.Attachment, due time.Time) (ids []guid.ID) {
	t.Helper()
	issue := &ledger.Issue{Context: gift.Context{Now: time.Now()}}
	for i := range n {
		issue.Gifts = append(issue.Gifts, gift.Gift{Voucher: gift.Voucher{AccountID: deliverytest.Merchant.ID,
			ProgramID: merchant.BusinessProgram.ID, Currency: deliverytest.Merchant.Currency, Funded: 2500, Balance: 2500,
			CreatedAt: time.Now(), BuyerLanguage: "de"},
			Card: gift.Card{Sender: "Carla", Recipient: "=1+1 Guest", Method: contact.Email, Contact: buyer, Attachment: as,
				DeliveryZone: "UTC", Scheduled: !due.IsZero(), DeliveryDate: due, RecipientIndex: i,
				Purchase: gift.Purchase{FirstName: "Carla", LastName: "Diaz", EmailAddress: buyer}}})
	}
	for _, g := range h.Do(t, issue).Gifts {
		ids = append(ids, g.ID)
	}
	h.Worker.Wake()
	return ids
}

// all compares the status of gifts.
func (h shop) all(t *testing.T, ids []guid.ID, status gift.Status, messages int) {
	t.Helper()
	for _, id := range ids {
		h.expect(t, id, status, messages)
	}
}

// cards tells in how many lines of the newest message's table there is a code.
func (h shop) cards(t *testing.T) (coded, lines int) {
	t.Helper()
	kept, err := h.Messages(t.Context(), guid.ID{}, 1)
	if err != nil || len(kept) != 1 || len(kept[0].Attachments) != 1 {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	return tableOf(t, h.Gateways.Complete(t.Context(), &kept[0]), kept[0])
}

func tableOf(t *testing.T, err error, m message.Message) (coded, lines int) {
	t.Helper()
	table, isMarked := bytes.CutPrefix(m.Attachments[0].Bytes, []byte("\ufeff"))
	all, readErr := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil || readErr != nil || !isMarked {
		t.Fatalf("%v, %v in %q", err, readErr, table)
	}
	for _, line := range all[1:] {
		if len(strings.ReplaceAll(line[1], "-", "")) == 12 && strings.Contains(line[2], "/g/") {
			coded++
		}
		if line[0] != "'=1+1 Guest" {
			t.Errorf("a spreadsheet would reckon %q", line[0])
		}
	}
	return coded, len(all) - 1
}

// TestOrdersComeInOneMessage: the gifts of an order go to their buyer in one message, in the buyer's language and with
// no code in its text, and each is delivered by it.
func TestOrdersComeInOneMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		due := time.Now().Add(time.Hour)
		ids := h.order(t, 40, gift.AsPDF, due)
		time.Sleep(time.Hour - time.Millisecond)
		h.all(t, ids, gift.Pending, 0)
		time.Sleep(time.Millisecond)
		h.all(t, ids, gift.Delivered, 1)
		kept, err := h.Messages(t.Context(), guid.ID{}, 1)
		if err != nil || kept[0].Attachments[0].Bytes != nil {
			t.Fatalf("the outbox keeps %d bytes, %v", len(kept[0].Attachments[0].Bytes), err)
		}
		m := kept[0]
		if err := h.Gateways.Complete(t.Context(), &m); err != nil ||
			!bytes.HasPrefix(m.Attachments[0].Bytes, []byte("%PDF")) {
			t.Errorf("attached is %.20q, %v", m.Attachments[0].Bytes, err)
		}
		if m.To != buyer || m.Subject != "Deine Geschenkkarten sind da" || !strings.Contains(m.Text, "Die 40 Geschenke") ||
			!strings.Contains(m.HTML, "Die 40 Geschenke") || m.QR != nil {
			t.Errorf("the message is %q to %s:\n%s", m.Subject, m.To, m.Text)
		}
		for _, id := range ids {
			g, history := h.Fate(t, id)
			if strings.Contains(m.Text+m.HTML, g.Card.Code.Grouped()) || strings.Contains(m.Text+m.HTML, g.Card.Token.Reveal()) {
				t.Error("the text of the message has a code or a link")
			}
			if len(history) != 2 || history[1].Kind != gift.Sent {
				t.Errorf("history %+v", history)
			}
		}
		h.Do(t, &ledger.Redeem{VoucherID: ids[0], Redeem: gift.Redeem{Amount: 137}, Notice: true})
		time.Sleep(time.Minute)
		h.expect(t, ids[0], gift.Claimed, 1) // nobody tells the buyer what is left of a gift that was given away
		h.Idle(t)
		one := h.order(t, 1, gift.AsCSV, time.Time{})
		h.all(t, one, gift.Delivered, 2)
		if coded, lines := h.cards(t); coded != 1 || lines != 1 {
			t.Errorf("%d lines, %d with a code", lines, coded)
		}
	})
}

// sentOrders counts messages, and remembers of how many gifts each was.
type sentOrders struct {
	mu   sync.Mutex
	of   []int
	fail error
}

func (s *sentOrders) Send(_ context.Context, gifts []gift.Gift, _ ledger.Job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of = append(s.of, len(gifts))
	return s.fail
}

// TestAnOrderIsNotSentAgain: a program that is stopped while it writes which gifts a message brought has the next one
// write the rest, and nothing goes out again.
func TestAnOrderIsNotSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, sent := shop{deliverytest.Open(t)}, &sentOrders{}
		record, written := h.Worker.Record, 0
		h.Worker.Gateway = sent
		h.Worker.Record = func(ctx context.Context, d ledger.Deliver) error {
			if written++; written > 1 && written < 20 { // beyond the end of its lease
				return errors.New("the program is stopped")
			}
			return record(ctx, d)
		}
		h.Run(t)
		ids := h.order(t, 40, gift.AsPDF, time.Time{})
		time.Sleep(10 * time.Minute)
		h.all(t, ids, gift.Delivered, 0)
		if !slices.Equal(sent.of, []int{40}) {
			t.Errorf("sent %v", sent.of)
		}
		h.Idle(t)
	})
}

// TestAnOrderThatFails: each gift of a message that is refused for good failed.
func TestAnOrderThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Worker.Gateway = &sentOrders{fail: &message.Refusal{Words: "550 no such mailbox"}}
		h.Run(t)
		ids := h.order(t, 20, gift.AsPDF, time.Time{})
		h.all(t, ids, gift.FailedDelivery, 0)
		h.Idle(t)
	})
}

// TestOrdersLeaveOut: what was cancelled, or sent to its recipient, does not come with the message; what is reinstated
// comes in one of its own; and while a gift is blocked, the message waits.
func TestOrdersLeaveOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, sent := shop{deliverytest.Open(t)}, &sentOrders{}
		h.Worker.Gateway = sent
		h.Run(t)
		ids := h.order(t, 6, gift.AsPDF, time.Now().Add(time.Hour))
		h.Do(t, &ledger.Cancel{VoucherIDs: ids[:3], Cancel: gift.Cancel{Caller: ourShop, To: gift.Cancelled}})
		h.Do(t, &ledger.Resend{VoucherID: ids[3], Resend: gift.Resend{Caller: ourShop, Contact: "ben@example.com"}})
		h.Do(t, &ledger.Resend{VoucherID: ids[5], Resend: gift.Resend{Caller: ourShop}}) // as before, and by itself
		if g, _ := h.Fate(t, ids[3]); g.Card.Attachment != "" {
			t.Error("a gift that goes to its recipient is still the buyer's")
		}
		block := func(rule func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error)) {
			h.Do(t, &ledger.Change{VoucherID: ids[4], Rule: rule})
		}
		block(func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			return v.Block(gift.Block{Context: at, Caller: ourShop, ReasonCode: gift.ReasonFraud})
		})
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		if !slices.Equal(sent.of, []int{1, 1}) { // to Ben, and what goes by itself
			t.Errorf("while a gift is blocked, sent %v", sent.of)
		}
		block(func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			return v.Unblock(gift.Unblock{Context: at, Caller: ourShop})
		})
		time.Sleep(time.Hour)
		h.all(t, ids[3:], gift.Delivered, 0)
		h.Do(t, &ledger.Reinstate{VoucherIDs: ids[:2], Reinstate: gift.Reinstate{Caller: ourShop}})
		h.Worker.Wake()
		h.all(t, ids[:2], gift.Delivered, 0)
		if !slices.Equal(sent.of, []int{1, 1, 1, 2}) {
			t.Errorf("sent %v", sent.of)
		}
		sent.of = nil
		two := h.order(t, 2, gift.AsPDF, time.Now().Add(time.Hour))
		h.Do(t, &ledger.Resend{VoucherID: two[1], Resend: gift.Resend{Caller: ourShop}})
		time.Sleep(time.Hour)
		h.all(t, two, gift.Delivered, 0)
		if !slices.Equal(sent.of, []int{1, 1}) {
			t.Errorf("of two gifts at the same time, sent %v", sent.of)
		}
		h.Idle(t)
	})
}

// TestOrdersAreSentAgain: all gifts of an order that still go to their buyer come again in one message, to a corrected
// address with other codes, of which the old address is told once and gets none.
func TestOrdersAreSentAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		ids := h.order(t, 20, gift.AsCSV, time.Time{})
		h.all(t, ids, gift.Delivered, 1)
		h.Do(t, &ledger.Resend{VoucherID: ids[3], Resend: gift.Resend{Caller: ourShop, Contact: "ben@example.com"}})
		h.Do(t, &ledger.Cancel{VoucherIDs: ids[4:5], Cancel: gift.Cancel{Caller: ourShop, To: gift.Cancelled}})
		h.Worker.Wake()
		h.expect(t, ids[3], gift.Delivered, 3) // and a notice to the buyer
		again := func(to string) ledger.Result {
			t.Helper()
			r := h.Do(t, &ledger.ResendOrder{VoucherIDs: ids, Known: buyer, Resend: gift.Resend{Caller: ourShop, Contact: to}})
			h.Worker.Wake()
			synctest.Wait()
			return r
		}
		before, _ := h.Fate(t, ids[0])
		if r := again(""); len(r.Vouchers) != 18 || r.Secrets != (ledger.Secrets{}) {
			t.Errorf("%d gifts are sent again, with other secrets: %t", len(r.Vouchers), r.Secrets != (ledger.Secrets{}))
		}
		h.expect(t, ids[0], gift.Delivered, 4)
		if coded, _ := h.cards(t); coded != 18 { // as it is made now: with the one that is cancelled, which has no code
			t.Errorf("%d lines have a code", coded)
		}
		if r := again("carla.diaz@example.com"); len(r.Vouchers) != 18 {
			t.Errorf("%d gifts are sent elsewhere", len(r.Vouchers))
		}
		h.expect(t, ids[0], gift.Delivered, 6) // the message, and one notice to the old address
		after, history := h.Fate(t, ids[0])
		if after.Card.Code == before.Card.Code || after.Card.Token == before.Card.Token ||
			after.Card.Attachment != gift.AsCSV || history[len(history)-1].Kind != gift.Resent {
			t.Errorf("after it %+v, %+v", after.Card, history)
		}
		kept, err := h.Messages(t.Context(), guid.ID{}, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kept {
			if (m.To == buyer) != (len(m.Attachments) == 0) {
				t.Errorf("to %s: %q with %d files", m.To, m.Subject, len(m.Attachments))
			}
		}
		h.Idle(t)
	})
}

// TestErasedBuyersGetNoOrder: while an order waits to go to its buyer, erasing leaves its gifts alone; forced, nothing
// goes to the buyer any more, and each gift says why.
func TestErasedBuyersGetNoOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := shop{deliverytest.Open(t)}
		h.Run(t)
		ids := h.order(t, 3, gift.AsPDF, time.Now().Add(time.Hour))
		ask := erase.Request{Account: deliverytest.Merchant, Contact: buyer}
		forget := func() erase.Counts {
			t.Helper()
			n, err := h.Eraser.Gifts(t.Context(), ask, ids)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := forget(); n.Waiting != 3 {
			t.Errorf("erased of an order that waits: %+v", n)
		}
		ask.Force = true
		if n := forget(); n.Gifts != 3 || n.Waiting != 0 {
			t.Errorf("erased: %+v", n)
		}
		time.Sleep(time.Hour)
		h.all(t, ids, gift.FailedDelivery, 0)
		if _, history := h.Fate(t, ids[2]); history[len(history)-1].Reason != "The recipient's contact was erased." {
			t.Errorf("the history ends with %+v", history[len(history)-1])
		}
		h.Idle(t)
	})
}
