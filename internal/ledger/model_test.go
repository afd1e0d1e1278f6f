package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/racetest"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// TestEngineAgreesWithModel drives random commands against the engine on a real file and against the simplest model
// that can be written of it, and compares every answer, and the whole state after each step.
func TestEngineAgreesWithModel(t *testing.T) {
	racetest.SkipShort(t, "commands that follow each other")
	t.Parallel()
	dir, database := t.TempDir(), pgtest.Database(t) // which the runs on a server share: each has an account of its own
	rapid.Check(t, func(t *rapid.T) {
		if database == "" {
			dir = tempDir(t)
		}
		w := newWorld(t, dir, database)
		defer w.close()
		t.Repeat(map[string]func(*rapid.T){
			"":            w.compare,
			"issue":       w.issue,
			"redeem":      w.redeem,
			"stock":       w.stock,
			"activate":    w.activate,
			"deactivate":  w.deactivate,
			"replay":      w.replay,
			"reverse":     w.reverse,
			"reverse key": w.reverseKey,
			"cancel":      w.cancel,
			"reinstate":   w.reinstate,
			"deliver":     w.deliver,
			"resend":      w.resend,
			"reschedule":  w.reschedule,
			"transfer":    w.transfer,
			"replace":     w.replace,
			"hold":        w.hold,
			"capture":     w.capture,
			"release":     w.release,
			"release key": w.releaseKey,
			"give back":   w.giveBack,
			"reload":      w.reload,
			"unload":      w.reverseReload,
			"cash out":    w.cashOut,
			"unload key":  w.reverseReloadKey,
			"later":       w.later,
			"expire":      w.expire,
			"block":       w.block,
			"unblock":     w.unblock,
			"adjust":      w.adjust,
			"extend":      w.extend,
		})
	})
}

// world is an engine beside its model.
type world struct {
	store  *store.Store
	engine *engine.Engine
	caller *merchant.Caller

	gifts   []*modelGift
	taken   []*modelTaken
	answers map[string]modelAnswer // by redeem key
	keys    int

	now        time.Time
	holds      []*modelHold
	holdKeys   int // how many were used
	holdOf     map[string]*modelHold
	spentHolds map[string]bool // by key

	loads    []*modelLoad
	loadKeys int // how many were used
	loadOf   map[string]*modelLoad
}

type modelGift struct {
	id                guid.ID
	original, balance int64
	status            gift.Status
	before            gift.Status // before it was taken out of use
	sent              bool        // a message was accepted, or it is printed
	moved             bool        // some value, between it and another gift
	entries           int
	item              bool
	method            contact.Method
	resends           int
	cards             []modelCard // the last is the one that it has
	resent            guid.ID     // the job of the newest resend; zero: none
	by                guid.ID     // the job that brought the gift last
	holds             []*modelHold
	cashOuts          []*modelTaken
	fixed             int64  // of a card of a stock; 0: any worth
	code              string // the verification code that is asked for; "": none
	wrong             int    // verification codes in a row
	activation        guid.ID
	activated         int     // the number of its entry
	reversed          guid.ID // the activation that was
	blocked           gift.ReasonCode
	until             time.Time // of a promotional gift; zero: it is none
}

type modelTaken struct {
	id   guid.ID
	gift *modelGift
	left int64
	at   int        // the number of its entry
	cash bool       // it was cashed out
	of   *modelHold // that it captured of; nil: none
}

// modelAnswer is what a redemption key was answered: text, or a refusal that spends it.
type modelAnswer struct {
	text  string
	call  func() string // repeats the request
	taken *modelTaken
	spent bool
}

func newWorld(t *rapid.T, dir, database string) *world {
	s, err := store.Open(t.Context(), store.Options{Dir: dir, Database: database, GiftCache: 1 << 20})
	if err != nil {
		t.Fatalf("opening the store: %v", err)
	}
	account := &merchant.Account{ID: newID(), Name: "Model", Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone:         time.UTC,
		Locations:    []merchant.Location{{ID: newID(), Name: "Till", Jurisdiction: "US-CA"}},
		MaxGiftValue: mostWorth, Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID,
			Reloadable: true}}}
	w := &world{
		loadOf: map[string]*modelLoad{},
		store:  s, answers: map[string]modelAnswer{}, now: time.Now(), holdOf: map[string]*modelHold{},
		spentHolds: map[string]bool{},
		caller: &merchant.Caller{KeyID: newID(), Kind: merchant.AccountKey, Account: account,
			Permissions: merchant.AllPermissions},
	}
	w.engine = engine.Start(s, engine.Options{Now: func() time.Time { return w.now }})
	return w
}

func (w *world) close() {
	w.engine.Stop()
	w.store.Close()
}

// do runs a command and tells its outcome in a few words: "OK amount balance STATUS", or the code of the refusal.
func (w *world) do(t *rapid.T, operation operation.Name, key string, fingerprint byte, cmd ledger.Command) (string,
	ledger.Result) {
	var result ledger.Result
	answer, err := w.engine.Do(t.Context(), ledger.Call{
		AccountID: w.caller.Account.ID, Operation: operation, Key: key, Fingerprint: [32]byte{fingerprint},
		Render: func(r ledger.Result, err error) ledger.Answer {
			result = r
			if err != nil {
				return ledger.Answer{Code: refusal.RedemptionNotAllowed, Body: []byte(code(err))}
			}
			return ledger.Answer{Code: ledger.OK, Body: []byte(told(r))}
		},
	}, cmd)
	if err != nil {
		var refused *refusal.Error
		if !errors.As(err, &refused) {
			t.Fatalf("%s: %v", operation, err)
		}
		return code(err), result
	}
	return string(answer.Body), result
}

func code(err error) string {
	var refused *refusal.Error
	errors.As(err, &refused)
	return string(refused.Code)
}

func told(r ledger.Result) string {
	var b strings.Builder
	b.WriteString("OK")
	n := 0
	for i, v := range r.Vouchers {
		if r.Changed != nil && !r.Changed[i] || len(r.Entries) == 0 {
			fmt.Fprintf(&b, " - %d %s", v.Balance, v.Status)
			continue
		}
		fmt.Fprintf(&b, " %d %d %s", r.Entries[n].Delta, v.Balance, v.Status)
		n++
	}
	return b.String()
}

func (w *world) issue(t *rapid.T) {
	if len(w.gifts) >= 6 {
		t.Skip("enough gifts")
	}
	amount := rapid.Int64Range(1, 500).Draw(t, "amount")
	method := rapid.SampledFrom([]contact.Method{contact.Printed, contact.Printed, contact.Email}).Draw(t, "method")
	item := rapid.Bool().Draw(t, "item")
	until := time.Time{}
	if rapid.IntRange(0, 2).Draw(t, "promotional") == 2 {
		until = w.now.AddDate(10, 0, 0).Truncate(time.Millisecond) // which no step reaches
	}
	_, r := w.do(t, operation.SendGift, "", 0, &ledger.Issue{Gifts: []gift.Gift{{
		Voucher: gift.Voucher{
			AccountID: w.caller.Account.ID, ProgramID: merchant.BusinessProgram.ID, Currency: w.caller.Account.Currency,
			Item: item, Funded: money.Amount(amount), Balance: money.Amount(amount), Promotional: !until.IsZero(),
			ValidUntil: until,
		},
		Card: gift.Card{Method: method, Contact: "ana@example.com", Sender: "Model", DeliveryZone: "UTC"},
	}}})
	status := gift.Delivered
	if method == contact.Email {
		status = gift.Pending
	}
	w.gifts = append(w.gifts, &modelGift{id: r.Gifts[0].ID, original: amount, balance: amount, status: status, entries: 1,
		item: item, method: method, until: until})
}

func (w *world) stock(t *rapid.T) {
	if len(w.gifts) >= 6 {
		t.Skip("enough gifts")
	}
	fixed := rapid.SampledFrom([]int64{0, 0, 150}).Draw(t, "fixed")
	item, verification := fixed > 0 && rapid.Bool().Draw(t, "item"), ""
	if rapid.Bool().Draw(t, "verification codes") {
		verification = "????" // is drawn
	}
	_, r := w.do(t, operation.CreateStock, "", 0, &ledger.Issue{Gifts: []gift.Gift{{
		Voucher: gift.Voucher{
			AccountID: w.caller.Account.ID, ProgramID: merchant.BusinessProgram.ID, Currency: w.caller.Account.Currency,
			Item: item, Fixed: money.Amount(fixed), Status: gift.NotActivated,
			Verification: verification,
		},
		Card: gift.Card{Method: contact.Printed, Sender: "Model", DeliveryZone: "UTC"},
	}}})
	w.gifts = append(w.gifts, &modelGift{id: r.Gifts[0].ID, status: gift.NotActivated, entries: 1, item: item,
		method: contact.Printed, fixed: fixed, code: r.Gifts[0].Verification})
}

func (w *world) activate(t *rapid.T) {
	g := w.pick(t)
	amount := rapid.SampledFrom([]int64{0, 0, 1, mostWorth, mostWorth + 1}).Draw(t, "amount")
	want := "ALREADY_ACTIVATED"
	g.touch(w.now)
	switch {
	case g.status == gift.Cancelled || g.status == gift.PurchaseFailed:
		want = "REDEMPTION_NOT_ALLOWED"
	case g.status != gift.NotActivated:
	case g.blocked != "":
		want = "REDEMPTION_NOT_ALLOWED"
	case g.fixed > 0 && amount > 0, g.fixed == 0 && (amount == 0 || amount > mostWorth):
		want = "VALIDATION_FAILURE"
	default:
		g.original = max(amount, g.fixed)
		g.balance, g.status, g.sent = g.original, gift.Delivered, true
		g.entries++
		want = fmt.Sprintf("OK %d %d %s", g.original, g.balance, g.status)
	}
	ask := gift.Activate{Amount: money.Amount(amount), Most: w.caller.Account.MaxGiftValue,
		Purchase: gift.Purchase{Reference: "R"}}
	got, r := w.do(t, operation.ActivateGift, "", 0, &ledger.Change{VoucherID: g.id, Counts: merchant.SentCount,
		Rule: func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
			ask.Context = c
			return v.Activate(ask)
		}})
	if got != want {
		t.Fatalf("activate %+v with %d: got %q, want %q", *g, amount, got, want)
	}
	if len(r.Entries) > 0 {
		g.activation, g.activated = r.Entries[0].ID, g.entries
	}
}

func (w *world) deactivate(t *rapid.T) {
	g := w.pick(t)
	if g.activation.IsZero() {
		t.Skip("never activated")
	}
	g.touch(w.now)
	want := "REDEMPTION_NOT_ALLOWED"
	switch {
	case g.reversed == g.activation:
		want = "ALREADY_REVERSED"
	case g.entries-g.wrong == g.activated:
		g.wrong = 0
		want = fmt.Sprintf("OK %d 0 NOT_ACTIVATED", -g.original)
		g.balance, g.original, g.status, g.sent, g.reversed = 0, 0, gift.NotActivated, false, g.activation
		g.entries++
	}
	got, _ := w.do(t, operation.ReverseActivation, "", 0, &ledger.Undo{Operation: operation.ActivateGift,
		EntryID: g.activation,
		Undo:    gift.Undo{Caller: w.caller}})
	if got != want {
		t.Fatalf("deactivate %+v: got %q, want %q", *g, got, want)
	}
}

func (w *world) pick(t *rapid.T) *modelGift {
	if len(w.gifts) == 0 {
		t.Skip("no gift yet")
	}
	return w.gifts[rapid.IntRange(0, len(w.gifts)-1).Draw(t, "gift")]
}

func (w *world) redeem(t *rapid.T) {
	g := w.pick(t)
	amount := rapid.Int64Range(0, 300).Draw(t, "amount")
	partial, upTo := rapid.Bool().Draw(t, "allowPartial"), rapid.Bool().Draw(t, "upTo")
	key := ""
	if rapid.Bool().Draw(t, "keyed") {
		w.keys++
		key = fmt.Sprintf("key-%d", w.keys)
	}
	var entry guid.ID
	tried := g.try(t)
	call := func() string {
		text, r := w.do(t, operation.RedeemGift, key, 1, &ledger.Redeem{
			VoucherID: g.id, Redeem: gift.Redeem{Amount: money.Amount(amount), AllowPartial: partial, UpTo: upTo,
				Verification: tried},
		})
		if len(r.Entries) == 1 {
			entry = r.Entries[0].ID
		}
		return text
	}
	g.touch(w.now)
	want, take := g.expectRedeem(amount, partial, upTo, tried)
	if got := call(); got != want {
		t.Fatalf("redeem %d of %+v: got %q, want %q", amount, *g, got, want)
	}
	answer := modelAnswer{text: want, call: call}
	if take > 0 {
		g.entries++
		answer.taken = &modelTaken{id: entry, gift: g, left: take, at: g.entries}
		w.taken = append(w.taken, answer.taken)
	}
	if key != "" {
		w.answers[key] = answer
	}
}

// expectRedeem is the rule of redemption, written a second time in the plainest way.
func (g *modelGift) expectRedeem(amount int64, partial, upTo bool, tried string) (answer string, take int64) {
	if take, answer = g.expectTake(amount, partial, upTo, tried); answer != "" {
		return answer, 0
	}
	if take == 0 {
		return fmt.Sprintf("OK - %d %s", g.balance, g.status), 0
	}
	g.balance -= take
	g.status = gift.Claimed
	if g.balance == 0 {
		g.status = gift.Redeemed
	}
	return fmt.Sprintf("OK %d %d %s", -take, g.balance, g.status), take
}

func (w *world) replay(t *rapid.T) {
	if w.keys == 0 {
		t.Skip("no key yet")
	}
	key := fmt.Sprintf("key-%d", rapid.IntRange(1, w.keys).Draw(t, "key"))
	a, known := w.answers[key]
	switch {
	case known && a.call != nil:
		if got := a.call(); got != a.text {
			t.Fatalf("replay of %s: got %q, want %q", key, got, a.text)
		}
		if got, _ := w.do(t, operation.RedeemGift, key, 2,
			&ledger.Redeem{VoucherID: newID()}); got != "IDEMPOTENCY_MISMATCH" {
			t.Fatalf("another request under %s: got %q", key, got)
		}
	case known && a.spent && len(w.gifts) > 0:
		late := &ledger.Redeem{VoucherID: w.gifts[0].id}
		if got, _ := w.do(t, operation.RedeemGift, key, 1, late); got != "REDEMPTION_NOT_ALLOWED" {
			t.Fatalf("a late original under the spent %s: got %q", key, got)
		}
	}
}

func (w *world) reverse(t *rapid.T) {
	if len(w.taken) == 0 {
		t.Skip("nothing was taken yet")
	}
	taken := w.taken[rapid.IntRange(0, len(w.taken)-1).Draw(t, "redemption")]
	amount := rapid.Int64Range(0, 300).Draw(t, "amount")
	got, _ := w.do(t, operation.ReverseRedemption, "", 0, &ledger.Reverse{
		RedemptionID: taken.id, Reverse: gift.Reverse{Caller: w.caller, Amount: money.Amount(amount)},
	})
	if want := taken.expectReverse(amount); got != want {
		t.Fatalf("reverse %d of %+v: got %q, want %q", amount, *taken, got, want)
	}
}

// cashedOut reports whether the gift was cashed out since then, and that this stands.
func (taken *modelTaken) cashedOut() bool {
	return !taken.cash && slices.ContainsFunc(taken.gift.cashOuts, func(paid *modelTaken) bool {
		return paid.left > 0 && paid.at > taken.at
	})
}

func (taken *modelTaken) expectReverse(amount int64) string {
	if taken.cashedOut() {
		return "REDEMPTION_NOT_ALLOWED"
	}
	if taken.left == 0 {
		return "ALREADY_REVERSED"
	}
	if amount == 0 {
		amount = taken.left
	}
	if amount > taken.left || taken.cash && amount < taken.left {
		return "VALIDATION_FAILURE"
	}
	g := taken.gift
	taken.left -= amount
	g.balance += amount
	g.entries++
	if g.status == gift.Redeemed {
		g.status = gift.Claimed
	}
	return fmt.Sprintf("OK %d %d %s", amount, g.balance, g.status)
}

func (w *world) reverseKey(t *rapid.T) {
	n := rapid.IntRange(1, w.keys+1).Draw(t, "key")
	w.keys = max(w.keys, n)
	key := fmt.Sprintf("key-%d", n)
	want := "NOT_FOUND"
	if a, known := w.answers[key]; !known {
		w.answers[key] = modelAnswer{spent: true}
	} else if a.taken != nil {
		want = a.taken.expectReverse(0)
	}
	got, _ := w.do(t, operation.ReverseRedemption, "", 0, &ledger.Reverse{OriginalKey: key,
		Reverse: gift.Reverse{Caller: w.caller}})
	if got != want {
		t.Fatalf("reverse by %s: got %q, want %q", key, got, want)
	}
}

func (w *world) cancel(t *rapid.T) {
	g, skip := w.pick(t), false
	to := rapid.SampledFrom([]gift.Status{gift.Cancelled, gift.PurchaseFailed}).Draw(t, "to")
	release := rapid.Bool().Draw(t, "releaseHolds")
	want, before := "REDEMPTION_NOT_ALLOWED", g.status
	g.touch(w.now)
	held := g.held() > 0 && !release
	untouched := g.status == gift.Pending || g.status == gift.Delivered || g.status == gift.FailedDelivery
	switch {
	case !held && (untouched && (to == gift.Cancelled || g.until.IsZero() && !g.moved) || to == gift.Cancelled &&
		(g.status == gift.Claimed || g.status == gift.NotActivated)):
		for _, h := range g.holds {
			if h.ended == "" {
				h.ended = "released"
				g.entries++
			}
		}
		g.status, g.before = to, before
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	case g.status == to:
		want = fmt.Sprintf("OK - %d %s", g.balance, g.status)
	case rapid.Bool().Draw(t, "skip"):
		skip, want = true, fmt.Sprintf("OK - %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, operation.CancelGift, "", 0, &ledger.Cancel{
		VoucherIDs: []guid.ID{g.id}, SkipNotAllowed: skip, ReleaseHolds: release, Cancel: gift.Cancel{Caller: w.caller,
			To: to},
	})
	if got != want {
		t.Fatalf("cancel to %s: got %q, want %q", to, got, want)
	}
}

func (w *world) reinstate(t *rapid.T) {
	g := w.pick(t)
	want := fmt.Sprintf("OK - %d %s", g.balance, g.status)
	if g.status == gift.Cancelled || g.status == gift.PurchaseFailed {
		if g.status = g.before; g.balance == 0 && g.status != gift.NotActivated {
			g.status = gift.Redeemed
		} else if g.status == gift.Pending && g.sent {
			g.status = gift.Delivered
		}
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, operation.ReinstateGift, "", 0, &ledger.Reinstate{VoucherIDs: []guid.ID{g.id},
		Reinstate: gift.Reinstate{Caller: w.caller}})
	if got != want {
		t.Fatalf("reinstate %+v: got %q, want %q", *g, got, want)
	}
}

func (w *world) deliver(t *rapid.T) {
	g := w.pick(t)
	delivered := rapid.Bool().Draw(t, "delivered")
	to := gift.FailedDelivery
	if delivered {
		to = gift.Delivered
	}
	want := "OK"
	job := g.id // which is older than every resend
	overtaken := !g.resent.IsZero()
	if overtaken && rapid.Bool().Draw(t, "newest") {
		job, overtaken = g.resent, false
	}
	recorded := job == g.by
	waiting := g.status == gift.Pending || g.status == gift.Delivered || g.status == gift.FailedDelivery
	unwanted := rapid.IntRange(0, 4).Draw(t, "unwanted") == 0 // it was looked at while out of use, and may not be any more
	if delivered && !overtaken && !unwanted {
		g.sent, g.by = true, job
	}
	if waiting && g.status != to && !overtaken && !unwanted && !recorded {
		g.status = to
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, "deliver", "", 0, &ledger.Deliver{
		Job:     ledger.Job{ID: job, AccountID: w.caller.Account.ID, VoucherID: g.id},
		Outcome: gift.Outcome{Delivered: delivered && !unwanted}, Unwanted: unwanted,
	})
	if got != want {
		t.Fatalf("delivery %v: got %q, want %q", delivered, got, want)
	}
}

func (w *world) resend(t *rapid.T) {
	g := w.pick(t)
	ask := gift.Resend{Caller: w.caller, Method: rapid.SampledFrom([]contact.Method{0, contact.Email,
		contact.Printed}).Draw(t,
		"method")}
	if ask.Method == contact.Email {
		ask.Contact = rapid.SampledFrom([]string{"ana@example.com", "ben@example.com"}).Draw(t, "contact")
	}
	want := "REDEMPTION_NOT_ALLOWED"
	switch {
	case g.status == gift.Redeemed:
		want = "ALREADY_REDEEMED"
	case g.status == gift.Cancelled || g.status == gift.PurchaseFailed || g.status == gift.NotActivated:
	case g.resends == gift.MaxResends:
		want = "RATE_LIMITED"
	case g.blocked != "":
	default:
		if ask.Method != 0 {
			g.method = ask.Method
		}
		if g.method == contact.Printed && g.status != gift.Claimed {
			g.status = gift.Delivered
		}
		g.entries++
		g.resends++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, r := w.do(t, operation.ResendGift, "", 0, &ledger.Resend{VoucherID: g.id, Resend: ask})
	if got != want {
		t.Fatalf("resend %+v of %+v: got %q, want %q", ask, *g, got, want)
	}
	if len(r.Entries) > 0 {
		if g.resent = r.Entries[len(r.Entries)-1].ID; g.method == contact.Printed {
			g.by = g.resent // at once
		}
	}
	switch {
	case r.Secrets == (ledger.Secrets{}):
	case g.code != "": // which stays on the card
		g.touch(w.now)
		g.entries++
		g.code = ""
		g.rekey(r.Secrets, "replaced")
	default:
		g.rekey(r.Secrets, "")
	}
}

// modelCard is a card that a gift had; leads tells what it leads to, "gift", "replaced" or "".
type modelCard struct {
	ledger.Secrets
	leads string
}

// rekey gives a gift another card; the one before leads somewhere else from then on.
func (g *modelGift) rekey(card ledger.Secrets, before string) {
	if n := len(g.cards); n > 0 {
		g.cards[n-1].leads = before
	}
	g.cards = append(g.cards, modelCard{card, "gift"})
}

// compareCards holds the newest cards of a gift against the store.
func (w *world) compareCards(t *rapid.T, g *modelGift) {
	for _, card := range g.cards[max(0, len(g.cards)-3):] {
		got := ""
		found, err := w.store.GiftByCode(t.Context(), card.Code)
		if _, old := errors.AsType[*gift.ReplacedError](err); old {
			got = "replaced"
		} else if err == nil && found.ID == g.id {
			got = "gift"
		}
		if got != card.leads {
			t.Fatalf("one of the cards %v of %s leads to %q, want %q: %v", g.cards, g.id, got, card.leads, err)
		}
	}
}

func (w *world) replace(t *rapid.T) {
	g := w.pick(t)
	g.touch(w.now)
	ask := &ledger.Replace{VoucherID: g.id, Replace: gift.Replace{Caller: w.caller, Reason: "lost"}}
	want := "REDEMPTION_NOT_ALLOWED"
	deliver := rapid.Bool().Draw(t, "deliver")
	if deliver {
		ask.Deliver = &gift.Resend{Caller: w.caller, Method: contact.Email, Contact: "cid@example.com"}
	}
	switch {
	case g.status == gift.Redeemed:
		want = "ALREADY_REDEEMED"
	case g.status == gift.Cancelled || g.status == gift.PurchaseFailed || g.status == gift.NotActivated:
	case deliver && g.resends == gift.MaxResends:
		want = "RATE_LIMITED"
	case deliver && g.blocked != "": // it is sent as little as a resend sends it
	case deliver:
		g.method, g.entries, g.resends = contact.Email, g.entries+2, g.resends+1
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	default:
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, r := w.do(t, operation.ReplaceGift, "", 0, ask)
	if got != want {
		t.Fatalf("replace %+v: got %q, want %q", *g, got, want)
	}
	if len(r.Entries) == 2 {
		g.resent = r.Entries[1].ID
	}
	if len(r.Entries) > 0 {
		g.code = ""
		g.rekey(r.Secrets, "replaced")
	}
}

func (w *world) transfer(t *rapid.T) {
	from, to := w.pick(t), w.pick(t)
	amount := rapid.Int64Range(0, 300).Draw(t, "amount")
	from.touch(w.now)
	to.touch(w.now)
	redeemable := func(g *modelGift) bool {
		return g.status == gift.Delivered || g.status == gift.FailedDelivery || g.status == gift.Claimed
	}
	available, want := from.balance-from.held(), ""
	take := amount
	if amount == 0 {
		take = available
	}
	most := int64(mostWorth)
	if from.item {
		most = gift.MaxQuantity
	}
	switch {
	case from == to:
		want = "VALIDATION_FAILURE"
	case from.until.IsZero() != to.until.IsZero():
		want = "MISSING_OR_INVALID_GIFT_PROGRAM"
	case from.item != to.item:
		want = "INVALID_VOUCHER_TYPE"
	case to.until.After(from.until):
		want = "REDEMPTION_NOT_ALLOWED"
	case from.status == gift.Redeemed:
		want = "ALREADY_REDEEMED"
	case !redeemable(from), !redeemable(to) && to.status != gift.Redeemed, from.blocked != "", to.blocked != "":
		want = "REDEMPTION_NOT_ALLOWED"
	case available == 0, take > available:
		want = "INSUFFICIENT_BALANCE"
	case to.balance+take > most:
		want = "VALIDATION_FAILURE"
	default:
		from.balance, from.original, from.entries = from.balance-take, from.original-take, from.entries+1
		to.balance, to.original, to.entries = to.balance+take, to.original+take, to.entries+1
		from.moved, to.moved = true, true
		if from.balance == 0 {
			from.status = gift.Redeemed
		}
		if to.status == gift.Redeemed {
			to.status = gift.Claimed
		}
		want = fmt.Sprintf("OK %d %d %s %d %d %s", -take, from.balance, from.status, take, to.balance, to.status)
	}
	got, _ := w.do(t, operation.TransferBalance, "", 0, &ledger.Transfer{From: from.id, To: to.id,
		Transfer: gift.Transfer{Caller: w.caller, Amount: money.Amount(amount)}})
	if got != want {
		t.Fatalf("transfer %d of %+v to %+v: got %q, want %q", amount, *from, *to, got, want)
	}
}

func (w *world) reschedule(t *rapid.T) {
	g := w.pick(t)
	want := "REDEMPTION_NOT_ALLOWED"
	switch g.status {
	case gift.Redeemed:
		want = "ALREADY_REDEEMED"
	case gift.Pending:
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, operation.RescheduleGift, "", 0, &ledger.Reschedule{VoucherID: g.id,
		Reschedule: gift.Reschedule{Caller: w.caller, Date: w.now}})
	if got != want {
		t.Fatalf("reschedule %+v: got %q, want %q", *g, got, want)
	}
}

// compare holds the whole state of the store against the model.
func (w *world) compare(t *rapid.T) {
	for _, g := range w.gifts {
		v, err := w.store.Gift(t.Context(), w.caller.Account.ID, g.id)
		if err != nil {
			t.Fatalf("reading gift %s: %v", g.id, err)
		}
		if end := v.End(); v.Blocked != g.blocked || !g.until.IsZero() && end.Sub(g.until).Abs() > time.Microsecond {
			t.Fatalf("the store says that it is blocked %q, valid until %v, the model %+v", v.Blocked, end, *g)
		}
		if int64(v.Balance) != g.balance || v.Status != g.status || v.Seq != g.entries || int64(v.Funded) != g.original {
			t.Fatalf("the store says %d %s %d entries, the model %+v", v.Balance, v.Status, v.Seq, *g)
		}
		w.compareCards(t, g)
		held := int64(0)
		for _, h := range v.Holds {
			held += int64(h.Left)
		}
		if held != g.held() {
			t.Fatalf("the store says that %d is held of %d, the model %d", held, v.Balance, g.held())
		}
		history, err := w.store.History(t.Context(), w.caller.Account.ID, g.id, 0, g.entries+1)
		if err != nil {
			t.Fatalf("reading the history of %s: %v", g.id, err)
		}
		if problems := gift.Audit(v.Voucher, history); len(problems) > 0 {
			t.Fatalf("the books are wrong: %q", problems)
		}
	}
}
