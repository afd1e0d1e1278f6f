package storm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/test/rig"
)

// kind is what a call asks for.
type kind int

const (
	redeem kind = iota
	reverse
	void // a reversal by the redemption's key
	cancel
	look
	sell
	kinds
)

// op is one call: what was asked, and what was answered in the end.
type op struct {
	kind    kind
	gift    *voucher
	key     string // its Idempotency-Key
	of      string // reverse, void: the key of the redemption
	ofID    string // reverse: its id
	amount  int64  // 0: everything
	partial bool
	paired  bool // with a void that may spend its key

	path, apiKey, body string
	begun, ended       int64
	unknown            bool

	code    string // "OK", or the refusal's
	id      string // of the redemption or the reversal
	moved   int64
	balance int64
	gone    bool // look: the gift is cancelled
	answer  []byte
}

// finish makes a call, sees it through, and writes it down.
func (t *till) finish(o *op) {
	t.write(o)
	o.begun = t.now()
	a := t.see(o, o.kind == redeem && !o.paired)
	o.ended = t.now()
	if a == nil {
		o.unknown = true
	} else if err := o.read(a); err != nil {
		t.problem("%s %s: %v", o.path, o.key, err)
		return
	}
	t.mu.Lock()
	t.history = append(t.history, o)
	t.mu.Unlock()
	if o.kind == redeem && o.code == "OK" {
		o.gift.mu.Lock()
		o.gift.taken = append(o.gift.taken, o)
		o.gift.mu.Unlock()
	}
	if a != nil && o.stored(a.Status) && (len(t.old) < maxOld || t.lot.IntN(8) == 0) {
		o.answer = a.Body
		t.remember(o)
	}
}

// stored tells whether the answer is to be given again.
func (o *op) stored(status int) bool {
	// A redemption whose key is spent has no answer of its own.
	return o.kind != look && status != http.StatusBadRequest && status != http.StatusTooManyRequests &&
		!(o.paired && o.kind == redeem && status >= 300)
}

// remember keeps some answers, old ones among them.
func (t *till) remember(o *op) {
	switch {
	case o.answer == nil:
	case len(t.old) < maxOld:
		t.old = append(t.old, o)
	default:
		t.old[t.lot.IntN(maxOld)] = o
	}
}

// write makes the request of what is asked.
func (t *till) write(o *op) {
	o.apiKey = t.anyKey(o.gift.shop)
	if o.key == "" && o.kind != look {
		o.key = t.key(o)
	}
	amount := ""
	if o.amount > 0 {
		amount = `,"amount":` + o.gift.written(o.amount)
	}
	switch o.kind {
	case redeem:
		o.path, o.body = rig.Redeem, fmt.Sprintf(`{%s%s,"allowPartial":%v}`, t.named(o.gift), amount, o.partial)
	case reverse:
		o.path, o.body = rig.Reverse, fmt.Sprintf(`{"redemptionID":%q%s}`, o.ofID, amount)
	case void:
		o.path, o.body = rig.Reverse, fmt.Sprintf(`{"idempotencyKey":%q%s}`, o.of, amount)
	case cancel:
		o.path, o.body = rig.Cancel, fmt.Sprintf(`{"voucherID":%q,"cause":"CANCELLED"}`, o.gift.id)
	case look:
		name := fmt.Sprintf(`"voucherCode":%q`, o.gift.code)
		if t.lot.IntN(2) == 0 {
			name = fmt.Sprintf(`"voucherPublicToken":%q`, o.gift.token)
		}
		o.path, o.body = rig.Validate, "{"+name+"}"
	}
}

func (t *till) anyKey(s *shop) string { return s.Keys[t.lot.IntN(len(s.Keys))] }

// named names a gift in one of the three ways.
func (t *till) named(v *voucher) string {
	switch t.lot.IntN(4) {
	case 0:
		return fmt.Sprintf(`"voucherCode":%q`, v.code)
	case 1:
		return fmt.Sprintf(`"voucherPublicToken":%q`, v.token)
	}
	return fmt.Sprintf(`"voucherID":%q`, v.id)
}

func (v *voucher) written(amount int64) string {
	if v.item {
		return strconv.FormatInt(amount, 10)
	}
	return fmt.Sprintf("%d.%02d", amount/100, amount%100)
}

// read takes from an answer what the check needs.
func (o *op) read(a *rig.Answer) error {
	if o.code = a.Code(); o.code != "OK" || o.kind == cancel {
		return nil
	}
	var said struct {
		RedemptionID, ReversalID, Status string
		Amount, CurrentBalance           json.Number
	}
	err := json.Unmarshal(a.Body, &said)
	if err != nil {
		return err
	}
	o.id, o.gone = said.RedemptionID, said.Status == "CANCELLED"
	if said.ReversalID != "" {
		o.id = said.ReversalID
	}
	if o.balance, err = o.gift.counted(said.CurrentBalance); err != nil || o.kind == look {
		return err
	}
	o.moved, err = o.gift.counted(said.Amount)
	return err
}

func (v *voucher) counted(n json.Number) (int64, error) {
	return strconv.ParseInt(strings.Replace(string(n), ".", "", 1), 10, 64)
}

// see repeats a call with the same key until it is answered. nil: it was given up, which only some may be.
func (t *till) see(o *op, mayGiveUp bool) *rig.Answer {
	begun := time.Now()
	t.countKept(o.apiKey, 1)
	for try := 0; ; try++ {
		asked := time.Now()
		a, err := t.client.Post(t.urls[t.lot.IntN(len(t.urls))]+o.path, o.apiKey, o.key, o.body)
		t.waited(time.Since(asked))
		if err == nil && t.final(o, a) {
			t.calls.Add(1)
			if a.Status < 300 {
				t.countKept(o.apiKey, -1)
			}
			return a
		}
		t.retries.Add(1)
		if err != nil && mayGiveUp && t.lot.IntN(20) == 0 {
			t.givenUp.Add(1)
			return nil
		}
		if time.Since(begun) > t.Timeout {
			t.problem("nobody told within %v what became of %s %s: %v", t.Timeout, o.path, o.key, err)
			return nil
		}
		time.Sleep(5*time.Millisecond + rand.N(20*time.Millisecond)<<min(try, 3))
	}
}

// final tells an answer from a request to come again.
func (t *till) final(o *op, a *rig.Answer) bool {
	switch {
	case a.Status == http.StatusServiceUnavailable:
		t.refused.Add(1)
		if a.RetryAfter == "" {
			t.problem("%s was answered 503 without Retry-After", o.path)
		}
		return false
	case a.Status == http.StatusConflict && a.Code() == "REQUEST_IN_PROGRESS":
		return false
	case a.Status == http.StatusTooManyRequests && a.Code() == limited && t.countKept(o.apiKey, 0) >= gift.MaxKeptPerDay:
		t.limited.Add(1)
	case a.Status >= 500 || a.Status == http.StatusTooManyRequests:
		t.problem("%s %s was answered %d: %s", o.path, o.body, a.Status, a.Body)
	}
	return true
}

// countKept counts the calls with an API key that the service may have kept though they moved nothing: all but those
// that succeeded.
func (s *Storm) countKept(apiKey string, more int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[apiKey] += more
	return s.kept[apiKey]
}

// waited notes how long a till waited for an answer, or for there to be none.
func (s *Storm) waited(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slowest = max(s.slowest, took)
}

// again repeats an old request and compares the answers. It tells whether it was answered at all.
func (t *till) again(o *op) bool {
	repeat := *o
	repeat.apiKey = o.apiKey
	if o.gift != nil {
		repeat.apiKey = t.anyKey(o.gift.shop)
	}
	a := t.see(&repeat, false)
	if a == nil {
		return false
	}
	if !a.Replayed || !bytes.Equal(a.Body, o.answer) {
		t.problem("%s %s was answered %s and, when repeated, (replayed: %v) %s", o.path, o.key, o.answer, a.Replayed, a.Body)
	}
	return true
}

// batch is how many gifts are sold at once: the largest order that is not held back while tills redeem, and is answered
// within two seconds when the database is away.
const batch = 16

// sell makes gifts: large and small ones, of money or of items.
func (t *till) sell(s *shop, item bool) (sold []*voucher) {
	worth := []int64{1000, 100_000}[t.lot.IntN(2)]
	what := fmt.Sprintf(`"monetaryGift":{"value":%d,"deliveryMethodID":3}`, worth/100)
	if item {
		what = fmt.Sprintf(`"itemGift":{"label":"Coffee","quantity":%d,"deliveryMethodID":3}`, worth/10)
		worth /= 10
	}
	account := 0
	if s != t.shops[0] {
		account = 1
	}
	t.keys[account][sell]++
	o := &op{kind: sell, path: rig.SendGift, apiKey: s.Keys[0], key: fmt.Sprintf("sell-%d-%d-%d", t.round, t.n,
		t.keys[account][sell])}
	o.body = fmt.Sprintf(`{%s,"recipients":[{}%s],"paymentMethodID":2,"externalTransactionReferenceNumber":"r",
		"externalTransactionCustomerFirstName":"A","externalTransactionCustomerLastName":"B",
		"externalTransactionCustomerEmailAddress":"a@example.com","externalStorefrontID":%q}`, what, strings.Repeat(",{}", batch-1), s.Storefront)
	a := t.see(o, false)
	var order struct {
		Gifts []struct{ VoucherID, VoucherCode, VoucherPublicToken string }
	}
	if a == nil || a.Status != http.StatusCreated || json.Unmarshal(a.Body, &order) != nil || len(order.Gifts) != batch {
		t.problem("send-gift was not answered with %d gifts: %+v", batch, a)
		return nil
	}
	for _, g := range order.Gifts {
		sold = append(sold, &voucher{shop: s, id: g.VoucherID, code: g.VoucherCode, token: g.VoucherPublicToken, item: item,
			worth: worth})
	}
	o.answer = a.Body
	t.remember(o)
	t.mu.Lock()
	t.gifts = append(t.gifts, sold...)
	t.mu.Unlock()
	return sold
}
