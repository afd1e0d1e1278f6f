package ledger_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/money"
)

// modelHold is a hold of a modelGift.
type modelHold struct {
	id    guid.ID
	gift  *modelGift
	left  int64
	until time.Time
	ended string // how; "": it is open
}

// touch ends the holds that are over, as whatever is done with a gift does first.
func (g *modelGift) touch(now time.Time) { g.expire(now, gift.MaxHolds) }

// expire ends the first of the holds that are over, so many at most.
func (g *modelGift) expire(now time.Time, most int) {
	for _, h := range g.holds {
		if most > 0 && h.ended == "" && !now.Before(h.until) {
			h.ended = "expired"
			g.entries++
			most--
		}
	}
}

func (g *modelGift) held() (sum int64) {
	for _, h := range g.holds {
		if h.ended == "" {
			sum += h.left
		}
	}
	return sum
}

// expectTake is what a redemption or a hold takes, or the refusal.
func (g *modelGift) expectTake(amount int64, partial, upTo bool, tried string) (take int64, refusal string) {
	if g.status == gift.Redeemed && !upTo {
		return 0, "ALREADY_REDEEMED"
	}
	if g.status != gift.Delivered && g.status != gift.FailedDelivery && g.status != gift.Claimed &&
		g.status != gift.Redeemed || g.blocked != "" {
		return 0, "REDEMPTION_NOT_ALLOWED"
	}
	if g.code != "" && tried != g.code {
		g.wrong++
		g.entries++
		if g.wrong == gift.MaxWrongCodes {
			g.blocked = gift.ReasonVerificationCode
			g.entries++
		}
		return 0, "REDEMPTION_NOT_ALLOWED"
	}
	available := g.balance - g.held()
	if amount == 0 || (partial || upTo) && amount > available {
		amount = available
	}
	if upTo {
		return amount, ""
	}
	if available == 0 || amount > available {
		return 0, "INSUFFICIENT_BALANCE"
	}
	g.wrong = 0
	return amount, ""
}

// try draws a verification code for a gift that asks for one: often the right one.
func (g *modelGift) try(t *rapid.T) string {
	if g.code == "" || rapid.IntRange(0, 2).Draw(t, "right code") > 0 {
		return g.code
	}
	return map[bool]string{true: "1234", false: "4321"}[g.code == "4321"]
}

func (w *world) later(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second)
}

// expire does what the service does from time to time.
func (w *world) expire(t *rapid.T) {
	due, err := w.store.DueHolds(t.Context(), w.now, 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range due {
		if ref.AccountID != w.caller.Account.ID {
			continue // of another run on the same server
		}
		if got, _ := w.do(t, "expire", "", 0, &ledger.Expire{Ref: ref}); got != "OK" {
			t.Fatalf("expire: got %q", got)
		}
	}
	for _, g := range w.gifts {
		g.expire(w.now, 8)
	}
}

// TestExpiryTakesTurns: no redemption waits until all of many holds that are over are entered.
func TestExpiryTakesTurns(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	entered := 0
	b := setup(t, nil, engine.Options{
		Now:     func() time.Time { return time.Now().Add(time.Duration(later.Load())) },
		Observe: func(s engine.GroupStats) { entered = len(s.Done.Entries) },
	})
	g := b.gift(gift.MaxHolds)
	do := func(c ledger.Command) {
		if _, err := b.engine.Do(t.Context(), b.call(operation.HoldGift, ""), c); err != nil {
			t.Fatal(err)
		}
	}
	for range gift.MaxHolds {
		do(&ledger.Hold{VoucherID: g, Hold: gift.Hold{Redeem: gift.Redeem{Amount: 1}}})
	}
	later.Store(int64(gift.DefaultHoldTime))
	for left := gift.MaxHolds; left > 0; left -= entered {
		do(&ledger.Expire{Ref: ledger.Ref{AccountID: b.caller.Account.ID, ID: g}})
		if entered < 1 || entered > 8 {
			t.Fatalf("%d were entered at once, of %d", entered, left)
		}
	}
	if a, err := b.redeem(t.Context(), g, gift.MaxHolds, ""); err != nil || a.Code != ledger.OK {
		t.Errorf("the redemption: %s %s, %v", string(a.Code), a.Body, err)
	}
	b.verify()
}

func (w *world) hold(t *rapid.T) {
	g := w.pick(t)
	amount, lasts := rapid.Int64Range(0, 300).Draw(t, "amount"), rapid.IntRange(60, 300).Draw(t, "lasts")
	partial, upTo := rapid.Bool().Draw(t, "allowPartial"), rapid.Bool().Draw(t, "upTo")
	key := ""
	if rapid.Bool().Draw(t, "keyed") {
		w.holdKeys++
		key = fmt.Sprintf("key-%d", w.holdKeys) // which may be one of a redemption, too
	}
	g.touch(w.now)
	tried, take, want := g.try(t), int64(0), "REDEMPTION_NOT_ALLOWED"
	if key == "" || !w.spentHolds[key] {
		take, want = g.expectTake(amount, partial, upTo, tried)
	}
	if want == "" && take == 0 {
		want = fmt.Sprintf("OK - %d %s", g.balance, g.status)
	} else if want == "" {
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	ask := gift.Hold{Redeem: gift.Redeem{Amount: money.Amount(amount), AllowPartial: partial, UpTo: upTo,
		Verification: tried},
		Lasts: time.Duration(lasts) * time.Second}
	got, r := w.do(t, operation.HoldGift, key, 1, &ledger.Hold{VoucherID: g.id, Hold: ask})
	if got != want {
		t.Fatalf("hold %d of %+v: got %q, want %q", amount, *g, got, want)
	}
	if take > 0 {
		h := &modelHold{id: r.Entries[0].ID, gift: g, left: take, until: w.now.Add(ask.Lasts)}
		g.entries++
		g.holds, w.holds = append(g.holds, h), append(w.holds, h)
		if key != "" {
			w.holdOf[key] = h
		}
	}
}

func (w *world) pickHold(t *rapid.T) *modelHold {
	if len(w.holds) == 0 {
		t.Skip("nothing was held yet")
	}
	return w.holds[rapid.IntRange(0, len(w.holds)-1).Draw(t, "hold")]
}

func (w *world) capture(t *rapid.T) {
	h := w.pickHold(t)
	amount, keep := rapid.Int64Range(0, 300).Draw(t, "amount"), rapid.Bool().Draw(t, "keep")
	got, r := w.do(t, operation.CaptureHold, "", 0, &ledger.Capture{HoldID: h.id,
		Capture: gift.Capture{Caller: w.caller, Amount: money.Amount(amount), KeepRest: keep}})
	g := h.gift
	g.touch(w.now)
	take, want := amount, "HOLD_NOT_OPEN"
	if amount == 0 {
		take = h.left
	}
	if h.ended == "" && take > h.left {
		want = "INSUFFICIENT_BALANCE"
	} else if h.ended == "" {
		g.balance -= take
		g.entries++
		if g.status = gift.Claimed; g.balance == 0 {
			g.status = gift.Redeemed
		}
		if h.left -= take; !keep || h.left == 0 {
			h.ended = "captured"
		}
		want = fmt.Sprintf("OK %d %d %s", -take, g.balance, g.status)
	}
	if got != want {
		t.Fatalf("capture %d of %+v: got %q, want %q", amount, *h, got, want)
	}
	if len(r.Entries) > 0 {
		w.taken = append(w.taken, &modelTaken{id: r.Entries[0].ID, gift: g, left: take, at: g.entries, of: h})
	}
}

// giveBack gives back of what was held: what still is, then what was captured.
func (w *world) giveBack(t *rapid.T) {
	h := w.pickHold(t)
	amount, g := rapid.Int64Range(1, 300).Draw(t, "amount"), h.gift
	cmd := &ledger.GiveBack{HoldID: h.id, Reverse: gift.Reverse{Caller: w.caller, Amount: money.Amount(amount)}}
	g.touch(w.now)
	left, captured := int64(0), []*modelTaken(nil)
	if h.ended == "" {
		left = h.left
	}
	held := left
	for _, taken := range w.taken {
		if taken.of == h {
			left, captured = left+taken.left, append(captured, taken)
			cmd.Captures = append(cmd.Captures, taken.id)
		} else if taken.gift == g && rapid.Bool().Draw(t, "another's") {
			cmd.Captures = append(cmd.Captures, taken.id) // of which nothing is given back
		}
	}
	want := "VALIDATION_FAILURE"
	switch {
	case left == 0:
		want = "ALREADY_REVERSED"
	case amount <= left:
		want = g.expectGiveBack(h, amount, min(amount, held), captured)
	}
	if got, _ := w.do(t, "give-back", "", 0, cmd); got != want {
		t.Fatalf("give back %d of %+v: got %q, want %q", amount, *h, got, want)
	}
}

func (g *modelGift) expectGiveBack(h *modelHold, amount, release int64, captured []*modelTaken) string {
	rest := amount - release
	for _, taken := range captured {
		if rest > 0 && taken.left > 0 && taken.cashedOut() {
			return "REDEMPTION_NOT_ALLOWED"
		}
		rest -= min(rest, taken.left)
	}
	first := int64(0)
	if release > 0 {
		h.left -= release
		g.entries++
		if h.left == 0 {
			h.ended = "released"
		}
	} else {
		first = -1
	}
	for rest := amount - release; rest > 0; captured = captured[1:] {
		if part := min(rest, captured[0].left); part > 0 {
			captured[0].expectReverse(part)
			rest -= part
			if first < 0 {
				first = part
			}
		}
	}
	return fmt.Sprintf("OK %d %d %s", first, g.balance, g.status)
}

func (w *world) release(t *rapid.T) {
	h := w.pickHold(t)
	w.expectRelease(t, h, &ledger.Release{HoldID: h.id})
}

func (w *world) releaseKey(t *rapid.T) {
	n := rapid.IntRange(1, w.holdKeys+1).Draw(t, "key")
	key := fmt.Sprintf("key-%d", n)
	if h := w.holdOf[key]; h != nil {
		w.expectRelease(t, h, &ledger.Release{OriginalKey: key})
		return
	}
	if n > w.holdKeys {
		w.spentHolds[key] = true
	}
	got, _ := w.do(t, operation.ReleaseHold, "", 0, &ledger.Release{OriginalKey: key,
		Release: gift.Release{Caller: w.caller}})
	if got != "NOT_FOUND" {
		t.Fatalf("release by %s: got %q", key, got)
	}
}

func (w *world) expectRelease(t *rapid.T, h *modelHold, cmd *ledger.Release) {
	g := h.gift
	g.touch(w.now)
	var want string
	switch h.ended {
	case "captured":
		want = "HOLD_NOT_OPEN"
	case "":
		h.ended = "released"
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	default:
		want = fmt.Sprintf("OK - %d %s", g.balance, g.status)
	}
	cmd.Caller = w.caller
	if got, _ := w.do(t, operation.ReleaseHold, "", 0, cmd); got != want {
		t.Fatalf("release %+v: got %q, want %q", *h, got, want)
	}
}
