package storm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/merchant"
	"boon.example/test/rig"
)

// kind is what a call asks for.
type kind int

const (
	redeem kind = iota
	hold
	capture
	reverse
	void     // a reversal by the key of the redemption or the capture
	release  // of a hold
	withdraw // a release by the hold's key
	load
	unload // of a reload
	activate
	deactivate
	adjust
	block
	unblock
	replace // the card
	extend
	cashingOut
	payBack // of what was paid out
	give    // to another gift
	receive // the same call, as the other gift sees it
	cancel
	reinstate
	look
	sell
	kinds
)

// opRow is what there is to know of a kind of call; sign and scope of keys come from the table of operations.
type opRow struct {
	path  string
	does  operation.Name // "": it changes nothing
	entry gift.Kind      // by whose id a call is acknowledged, or whose number in the history is known; "": neither
}

// sign is that of what a call adds to the balance.
func (o opRow) sign() int64 {
	switch o.entry.Balance() {
	case gift.Grows, gift.Moves:
		return 1
	case gift.Shrinks:
		return -1
	}
	return 0
}

var operations = [kinds]opRow{
	redeem:     {rig.Redeem, operation.RedeemGift, gift.Redemption},
	hold:       {rig.Hold, operation.HoldGift, gift.HoldMade},
	capture:    {rig.Capture, operation.CaptureHold, gift.Redemption},
	reverse:    {rig.Reverse, operation.ReverseRedemption, gift.Reversal},
	void:       {rig.Reverse, operation.ReverseRedemption, gift.Reversal},
	release:    {rig.Release, operation.ReleaseHold, ""}, // a hold that is over, or cancelled, is released by nobody
	withdraw:   {rig.Release, operation.ReleaseHold, ""},
	load:       {rig.Reload, operation.ReloadGift, gift.Reload},
	unload:     {rig.Unload, operation.ReverseReload, gift.ReloadReversal},
	activate:   {rig.Activate, operation.ActivateGift, gift.Activation},
	deactivate: {rig.Unsell, operation.ReverseActivation, gift.ActivationReversal},
	adjust:     {rig.Adjust, operation.AdjustGift, gift.Adjustment},
	block:      {rig.Block, operation.BlockGift, ""}, // what is blocked is not blocked again
	unblock:    {rig.Unblock, operation.UnblockGift, ""},
	replace:    {rig.Replace, operation.ReplaceGift, gift.Replaced},
	extend:     {rig.Extend, operation.ExtendGift, gift.Extended},
	cashingOut: {rig.CashOut, operation.CashOutGift, gift.CashOut},
	payBack:    {rig.Reverse, operation.ReverseRedemption, gift.Reversal},
	give:       {rig.Transfer, operation.TransferBalance, gift.TransferOut},
	receive:    {rig.Transfer, operation.TransferBalance, gift.TransferIn},
	cancel:     {rig.Cancel, operation.CancelGift, gift.Cancellation},
	reinstate:  {rig.Restore, operation.ReinstateGift, gift.Reinstatement},
	look:       {rig.Validate, "", ""},
	sell:       {rig.SendGift, operation.SendGift, ""}, // nothing is written down of it
}

// words are what the report calls them.
var words = [kinds]string{redeem: "redeemed", hold: "held", capture: "captured", reverse: "reversed",
	void: "reversed by key", release: "released", withdraw: "released by key", load: "reloaded",
	unload: "reloads reversed", activate: "activated", deactivate: "activations reversed", adjust: "adjusted",
	block: "blocked", unblock: "unblocked", replace: "replaced", extend: "extended", cashingOut: "cashed out",
	payBack: "cash taken back", give: "transferred", receive: "received", cancel: "cancelled", reinstate: "reinstated",
	look: "looked at", sell: "sold"}

// shown is what of a card's verification code a till is shown.
type shown int

const (
	rightCode shown = iota
	wrongCode
	noCode
)

// op is one call: what was asked, and what was answered in the end.
type op struct {
	kind    kind
	gift    *voucher
	key     string   // its Idempotency-Key
	of      *op      // what is captured of, released or given back
	to      *voucher // give: the other gift
	amount  int64    // 0: everything; adjust: below zero, it is taken
	partial bool
	byKey   bool // unload, deactivate, payBack: of is named by its key
	keep    bool // capture: the rest stays held; cancel: what is held is released
	paired  bool // with what may spend its key
	shown   shown
	by      string // the code or token that named the gift; "": it was named by its id

	path, apiKey, body string
	begun, ended       int64
	unknown            bool

	code              string // "OK", or the refusal's
	id                string // of what was entered
	moved             int64
	balance           int64
	held              int64
	until             int64  // hold: when it is over
	did               bool   // cancel, reinstate: it was not so already
	gone              bool   // look: the gift is cancelled
	blocked           bool   // look: it is blocked
	wrong             bool   // refused, for its verification code
	valid             int64  // extend: what was asked for; look: what is said
	newCode, newToken string // replace
	answer            []byte
}

// delta is what an acknowledged call added to the balance.
func (o *op) delta() int64 {
	if o.code != "OK" {
		return 0
	}
	return operations[o.kind].sign() * o.moved
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
	all := []*op{o}
	if o.kind == give && a != nil {
		all = append(all, o.received(a))
	}
	t.mu.Lock()
	t.history = append(t.history, all...)
	t.mu.Unlock()
	o.gift.mu.Lock()
	if o.code == "OK" {
		as := o.kind
		if as == capture {
			as = redeem
		}
		o.gift.done[as] = append(o.gift.done[as], o)
		if o.kind == replace {
			o.gift.old = append(o.gift.old, o.gift.code, o.gift.token)
			o.gift.code, o.gift.token = o.newCode, o.newToken
		}
	}
	o.gift.mu.Unlock()
	t.count(o)
	if a != nil && o.stored(a) && (len(t.old) < maxOld || t.lot.IntN(8) == 0) {
		o.answer = a.Body
		t.remember(o)
	}
}

// stored tells whether the answer is to be given again.
func (o *op) stored(a *rig.Answer) bool {
	status := a.Status
	// A redemption whose key is spent has no answer of its own, nor has one with a card that was replaced.
	return o.kind != look && status != http.StatusBadRequest && status != http.StatusTooManyRequests &&
		!bytes.Contains(a.Body, []byte("This card was replaced")) &&
		!(o.paired && slices.Contains([]kind{redeem, hold, load, activate, cashingOut}, o.kind) && status >= 300)
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
	byKey := t.byKey(o)
	o.path = operations[o.kind].path
	switch o.kind {
	case redeem:
		o.body = fmt.Sprintf(`{%s%s%s,"allowPartial":%v}`, t.named(o), t.verification(o), amount, o.partial)
	case hold: // every third is over in a minute
		o.body = fmt.Sprintf(`{%s%s%s,"allowPartial":%v,"expiresInSeconds":%d}`, t.named(o), t.verification(o), amount,
			o.partial, []int{60, 900, 3600}[t.lot.IntN(3)])
	case capture:
		o.body = fmt.Sprintf(`{"holdID":%q%s,"final":%v}`, o.of.id, amount, !o.keep)
	case reverse:
		o.body = fmt.Sprintf(`{"redemptionID":%q%s}`, o.of.id, amount)
	case payBack:
		o.body = fmt.Sprintf(`{"redemptionID":%q%s}`, o.of.id, amount)
		if o.byKey {
			o.body = byKey + fmt.Sprintf(`,"operation":%q%s}`, operations[cashingOut].does, amount)
		}
	case void:
		o.body = byKey + fmt.Sprintf(`,"operation":%q%s}`, operations[o.of.kind].does, amount)
	case release:
		o.body = fmt.Sprintf(`{"holdID":%q}`, o.of.id)
	case withdraw:
		o.body = byKey + "}"
	case load, activate:
		o.body = fmt.Sprintf(`{%s%s,%s}`, t.named(o), amount, purchase(o.gift.shop))
	case unload, deactivate:
		o.body = fmt.Sprintf(`{%q:%q}`, map[kind]string{unload: "reloadID", deactivate: "activationID"}[o.kind], o.of.id)
		if o.byKey {
			o.body = byKey + "}"
		}
	case adjust:
		o.body = fmt.Sprintf(`{"voucherID":%q,"amount":%s,"reasonCode":"MISTAKE","reason":"storm"}`, o.gift.id,
			o.gift.written(o.amount))
	case cashingOut:
		o.body = "{" + t.named(o) + t.verification(o) + "}"
	case replace:
		o.body = fmt.Sprintf(`{"voucherID":%q,"reason":"storm"}`, o.gift.id)
	case extend:
		o.body = fmt.Sprintf(`{"voucherID":%q,"validUntil":%q}`, o.gift.id, time.Unix(o.valid, 0).UTC().Format(time.RFC3339))
	case block:
		o.body = fmt.Sprintf(`{"voucherID":%q,"reasonCode":"LOST"}`, o.gift.id)
	case unblock:
		o.body = fmt.Sprintf(`{"voucherID":%q}`, o.gift.id)
	case give:
		o.body = fmt.Sprintf(`{"fromVoucherID":%q,"toVoucherID":%q%s}`, o.gift.id, o.to.id, amount)
	case cancel:
		o.body = fmt.Sprintf(`{"voucherID":%q,"cause":"CANCELLED","releaseHolds":%v}`, o.gift.id, o.keep)
	case reinstate:
		o.body = fmt.Sprintf(`{"voucherID":%q}`, o.gift.id)
	case look:
		name := t.byCard(o, t.lot.IntN(2) == 0)
		o.body = "{" + name + "}"
	}
}

// byKey begins the request to undo something by the key that it was made with, and every other time by the gift, too.
func (t *till) byKey(o *op) string {
	switch {
	case o.of == nil:
		return ""
	case t.Older || t.lot.IntN(2) == 0:
		return fmt.Sprintf(`{"idempotencyKey":%q`, o.of.key)
	}
	return fmt.Sprintf(`{"idempotencyKey":%q,"voucherID":%q`, o.of.key, o.gift.id)
}

func (t *till) anyKey(s *shop) string { return s.Keys[t.lot.IntN(len(s.Keys))] }

// named names a gift in one of the three ways.
func (t *till) named(o *op) string {
	if n := t.lot.IntN(4); n < 2 {
		return t.byCard(o, n == 0)
	}
	return fmt.Sprintf(`"voucherID":%q`, o.gift.id)
}

// byCard names a gift by its code or token, now and then by one that it had before its card was replaced.
func (t *till) byCard(o *op, byCode bool) string {
	v := o.gift
	v.mu.Lock()
	code, token, old := v.code, v.token, v.old
	v.mu.Unlock()
	if n := t.lot.IntN(8); n < len(old)/2 && t.round >= 0 {
		code, token = old[2*n], old[2*n+1]
	}
	if o.by = token; byCode {
		o.by = code
		return fmt.Sprintf(`"voucherCode":%q`, code)
	}
	return fmt.Sprintf(`"voucherPublicToken":%q`, token)
}

// verification is the member with the verification code of a card that has one. A key has only so many wrong ones.
func (t *till) verification(o *op) string {
	code := o.gift.verification
	if code == "" {
		o.shown = rightCode // as good as that
	}
	if code == "" || o.shown == noCode {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if o.shown == wrongCode && t.wrong[o.apiKey] >= maxWrong {
		o.shown = rightCode
	}
	if o.shown == wrongCode {
		t.wrong[o.apiKey]++
		code = string(code[:3]) + string('0'+(code[3]-'0'+1)%10)
	}
	return "," + Shown(code)
}

// maxWrong is how many wrong verification codes of a key are sure to be answered: of 20, some of which a kill may have
// counted twice.
const maxWrong = 12

// count takes a wrong verification code off those of a key when it redeems a gift for the first time: the service gives
// three back then.
func (s *Storm) count(o *op) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.kind == redeem && o.code == "OK" && !o.gift.redeemed[o.apiKey] {
		o.gift.redeemed[o.apiKey] = true
		s.wrong[o.apiKey] = max(0, s.wrong[o.apiKey]-1)
	}
}

func (v *voucher) written(amount int64) string {
	if v.item {
		return strconv.FormatInt(amount, 10)
	}
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	return fmt.Sprintf("%s%d.%02d", sign, amount/100, amount%100)
}

// received is what a transfer was to the gift that got it.
func (o *op) received(a *rig.Answer) *op {
	r := *o
	r.kind, r.gift, r.answer = receive, o.to, nil
	_ = r.read(a) // as it was read before
	return &r
}

// balances are what an answer says of a gift.
type balances struct {
	Status, EntryID, Outcome                      string
	CurrentBalance, HeldBalance, AvailableBalance json.Number
}

// read takes from an answer what the check needs.
func (o *op) read(a *rig.Answer) error {
	if o.code = a.Code(); o.code != "OK" {
		o.wrong = o.code == "REDEMPTION_NOT_ALLOWED" && bytes.Contains(a.Body, []byte("verification code"))
		return nil
	}
	var said struct {
		balances
		VoucherCode, VoucherPublicToken                                                   string
		ValidUntil                                                                        *time.Time
		RedemptionID, ReversalID, HoldID, ReloadID, ActivationID, AdjustmentID, CashOutID string
		NotRedeemableReasons                                                              []struct{ Code string }
		Amount                                                                            json.Number
		ExpiresAt                                                                         time.Time
		From, To                                                                          balances
		Vouchers                                                                          []balances
	}
	err := json.Unmarshal(a.Body, &said)
	if err != nil {
		return err
	}
	switch o.kind {
	case give:
		said.balances = said.From
	case receive:
		said.balances = said.To
	case cancel, reinstate:
		said.balances = said.Vouchers[0]
		o.did = said.Outcome == "DONE"
	}
	o.id = cmp.Or(said.EntryID, said.ReversalID, said.ReloadID, said.ActivationID, said.AdjustmentID, said.CashOutID,
		said.RedemptionID, said.HoldID)
	o.until, o.gone = said.ExpiresAt.UnixNano(), o.kind == look && said.Status == "CANCELLED"
	for _, why := range said.NotRedeemableReasons {
		o.blocked = o.blocked || o.kind == look && why.Code == "BLOCKED"
	}
	switch o.kind {
	case block, unblock:
		return nil
	case extend:
		if said.ValidUntil == nil || said.ValidUntil.Unix() != o.valid {
			return fmt.Errorf("it is valid until %v", said.ValidUntil)
		}
		return nil
	case replace:
		o.newCode, o.newToken = said.VoucherCode, said.VoucherPublicToken
	case look:
		if said.ValidUntil != nil {
			o.valid = said.ValidUntil.Unix()
		}
	}
	var wrong [4]error
	o.balance, wrong[0] = o.gift.counted(said.CurrentBalance)
	o.held, wrong[1] = o.gift.counted(said.HeldBalance)
	available, err := o.gift.counted(said.AvailableBalance)
	if wrong[2] = err; err == nil && available != o.balance-o.held {
		err = fmt.Errorf("%d is available of %d, of which %d is held", available, o.balance, o.held)
	}
	if o.kind != look && o.kind != cancel && o.kind != reinstate && o.kind != replace {
		o.moved, wrong[3] = o.gift.counted(said.Amount)
	}
	return errors.Join(append(wrong[:], err)...)
}

func (v *voucher) counted(n json.Number) (int64, error) {
	return strconv.ParseInt(strings.Replace(string(n), ".", "", 1), 10, 64)
}

// see repeats a call with the same key until it is answered. nil: it was given up, which only some may be, or no server
// is left.
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
		if t.abandoned.Load() {
			return nil
		}
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
	case a.Status == http.StatusTooManyRequests && a.Code() == limited && t.countKept(o.apiKey,
		0) >= merchant.MaxKeptPerDay:
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

// sell makes gifts: large and small ones, of money or of items, sold or given away.
func (t *till) sell(s *shop, item, promo bool) (sold []*voucher) {
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
	paid := `"paymentMethodID":2,` + purchase(s)
	if promo {
		paid = fmt.Sprintf(`"paymentMethodID":4,"promotionID":%q`, s.Promotion)
	}
	o.body = fmt.Sprintf(`{%s,"recipients":[{}%s],%s}`, what, strings.Repeat(",{}", batch-1), paid)
	a := t.see(o, false)
	var order struct {
		Gifts []struct {
			VoucherID, VoucherCode, VoucherPublicToken string
			ValidUntil                                 time.Time
		}
	}
	if a == nil || a.Status != http.StatusCreated || json.Unmarshal(a.Body, &order) != nil || len(order.Gifts) != batch {
		t.problem("send-gift was not answered with %d gifts: %+v", batch, a)
		return nil
	}
	for _, g := range order.Gifts {
		v := &voucher{shop: s, id: g.VoucherID, code: g.VoucherCode, token: g.VoucherPublicToken, item: item, promo: promo,
			worth: worth, start: state{balance: worth}}
		if promo {
			v.start.valid = g.ValidUntil.Unix()
		}
		sold = append(sold, t.known(v))
	}
	o.answer = a.Body
	t.remember(o)
	t.mu.Lock()
	t.gifts = append(t.gifts, sold...)
	t.mu.Unlock()
	return sold
}

// purchase are the members that say how a gift is paid for.
func purchase(s *shop) string {
	return fmt.Sprintf(`"externalTransactionReferenceNumber":"r","externalTransactionCustomerFirstName":"A",
		"externalTransactionCustomerLastName":"B","externalTransactionCustomerEmailAddress":"a@example.com",
		"externalStorefrontID":%q`, s.Storefront)
}

// known is a gift as it is to begin with.
func (t *till) known(v *voucher) *voucher {
	v.start.code, v.start.token, v.start.older = v.code, v.token, t.Older
	v.done, v.redeemed = map[kind][]*op{}, map[string]bool{}
	return v
}

// print makes cards without value and reads their codes from the list of them.
func (t *till) print(s *shop, verified bool) (cards []*voucher) {
	o := &op{kind: sell, path: rig.Stock, apiKey: s.Keys[0], body: fmt.Sprintf(`{"count":%d,"verificationCodes":%v}`,
		batch, verified)}
	var order struct{ OrderID string }
	a := t.see(o, false)
	if a == nil || a.Status != http.StatusCreated || json.Unmarshal(a.Body, &order) != nil {
		t.problem("create-stock was answered %+v", a)
		return nil
	}
	list, err := t.client.Export(t.urls[0]+rig.Orders+order.OrderID+"/stock?format=csv", s.Keys[0])
	if err != nil || len(list) != batch {
		t.problem("of a stock, %d codes: %v", len(list), err)
		return nil
	}
	for _, line := range list {
		var card struct{ VoucherID, VoucherPublicToken string }
		o := &op{kind: look, path: rig.Validate, apiKey: s.Keys[0], body: fmt.Sprintf(`{"voucherCode":%q}`, line[0])}
		if a := t.see(o, false); a == nil || json.Unmarshal(a.Body, &card) != nil || card.VoucherID == "" {
			t.problem("a card of a stock was answered %+v", a)
			return nil
		}
		v := &voucher{shop: s, id: card.VoucherID, code: line[0], token: card.VoucherPublicToken, verification: line[2],
			worth: 1000, start: state{dormant: true}}
		cards = append(cards, t.known(v))
	}
	t.mu.Lock()
	t.gifts = append(t.gifts, cards...)
	t.mu.Unlock()
	return cards
}
