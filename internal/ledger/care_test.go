package ledger_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// What the interface asks of the engine.

func blocking(g guid.ID, ask gift.Block) *ledger.Change {
	return &ledger.Change{VoucherID: g, Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
		ask := ask
		ask.Context = at
		return v.Block(ask)
	}}
}

func unblocking(g guid.ID, ask gift.Unblock) *ledger.Change {
	return &ledger.Change{VoucherID: g, Sends: true, Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry,
		error) {
		ask := ask
		ask.Context = at
		return v.Unblock(ask)
	}}
}

func adjusting(g guid.ID, ask gift.Adjust) *ledger.Change {
	return &ledger.Change{VoucherID: g, Counts: merchant.SentCount,
		Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
			ask := ask
			ask.Context = at
			return v.Adjust(ask)
		}}
}

func extending(g guid.ID, ask gift.Extend) *ledger.Change {
	return &ledger.Change{VoucherID: g, Rule: func(v gift.Voucher, at gift.Context) (gift.Voucher, gift.Entry, error) {
		ask := ask
		ask.Context = at
		return v.Extend(ask)
	}}
}

func (b *bench) block(g guid.ID) *ledger.Change {
	return blocking(g, gift.Block{Caller: b.caller, ReasonCode: gift.ReasonStolen})
}

func (b *bench) adjust(g guid.ID, by money.Amount) *ledger.Change {
	return adjusting(g, gift.Adjust{Caller: b.caller, Amount: by, ReasonCode: gift.ReasonMistake, Reason: "typed wrong"})
}

// outcome is the code of a command's refusal, "" where it was done, and whether that entered something.
func (b *bench) outcome(c ledger.Call, cmd ledger.Command) (refused refusal.Code, entered bool) {
	b.Helper()
	a, err := b.engine.Do(b.Context(), c, cmd)
	switch no, ok := errors.AsType[*refusal.Error](err); {
	case ok:
		return no.Code, false
	case err != nil:
		b.Errorf("%T: %v", cmd, err)
	case a.Code != ledger.OK:
		return refusal.Code(a.Body), false
	}
	return "", string(a.Body) != "OK"
}

// together does all at once.
func together(n int, do func(n int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// TestRacingBlocks: what is redeemed is redeemed before the block, and nothing after its answer; of many blocks at
// once, one is entered.
func TestRacingBlocks(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	for range 5 {
		g := b.gift(1000)
		var blocked atomic.Bool
		var taken, entered atomic.Int64
		together(40, func(n int) {
			if n%10 == 5 {
				refused, done := b.outcome(b.call(operation.BlockGift, ""), b.block(g))
				if done {
					entered.Add(1)
				}
				if blocked.Store(true); refused != "" {
					t.Errorf("block: %s", refused)
				}
				return
			}
			before := blocked.Load()
			switch refused, _ := b.outcome(b.call(operation.RedeemGift, ""), &ledger.Redeem{VoucherID: g,
				Redeem: gift.Redeem{Amount: 1}}); {
			case refused == "" && before:
				t.Error("redeemed after the answer to the block")
			case refused == "":
				taken.Add(1)
			case refused != refusal.RedemptionNotAllowed:
				t.Errorf("refused: %s", refused)
			}
		})
		if got := b.balance(g); int64(got) != 1000-taken.Load() || entered.Load() != 1 {
			t.Errorf("%d is left after %d redemptions; %d blocks were entered", got, taken.Load(), entered.Load())
		}
	}
	b.verify()
}

// TestRacingAdjustments: whatever is adjusted, redeemed and held at once, it adds up, and what is held stays there.
func TestRacingAdjustments(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	b.caller.Account.MaxGiftValue = 10_000
	for range 5 {
		g := b.gift(100)
		var sum, held atomic.Int64
		together(60, func(n int) {
			amount, by := money.Amount(n%7+5), int64(0)
			var cmd ledger.Command
			var count *atomic.Int64
			switch n % 4 {
			case 0:
				cmd, count, by = b.adjust(g, -3*amount), &sum, -3*int64(amount)
			case 1:
				cmd, count, by = b.adjust(g, amount), &sum, int64(amount)
			case 2:
				cmd, count, by = &ledger.Redeem{VoucherID: g, Redeem: gift.Redeem{Amount: amount}}, &sum, -int64(amount)
			case 3:
				cmd = &ledger.Hold{VoucherID: g, Hold: gift.Hold{Redeem: gift.Redeem{Amount: amount}}}
				count, by = &held, int64(amount)
			}
			switch refused, _ := b.outcome(b.call("race", ""), cmd); refused {
			case "":
				count.Add(by)
			case refusal.InsufficientBalance, refusal.AlreadyRedeemed:
			default:
				t.Errorf("%T is refused: %s", cmd, refused)
			}
		})
		made, err := b.store.Gift(t.Context(), b.caller.Account.ID, g)
		if err != nil || int64(made.Balance) != 100+sum.Load() || int64(made.HeldAt(time.Now())) != held.Load() ||
			made.Balance < made.HeldAt(time.Now()) {
			t.Errorf("it is %d, of which %d is held; want %d and %d: %v", made.Balance, made.HeldAt(time.Now()), 100+sum.Load(),
				held.Load(), err)
		}
	}
	b.verify()
}

// TestAdjustmentsAreLimited: what is added counts as issued on the day, also of pieces, and what is taken frees none.
func TestAdjustmentsAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	b.caller.Account.MaxGiftValue, b.caller.Account.Limits.IssuedPerDay = 10_000, 1000
	do := func(cmd ledger.Command) refusal.Code {
		c := b.call(operation.AdjustGift, "")
		c.Account, c.Caller = b.caller.Account, b.caller
		refused, _ := b.outcome(c, cmd)
		return refused
	}
	cash, pieces := b.gift(500), b.draft(3)
	pieces.Item, pieces.Card.EquivalentValue = true, 1350
	item := b.issued(pieces)
	of := func(by money.Amount) ledger.Command { return b.adjust(item, by) }
	for n, step := range []struct {
		cmd  ledger.Command
		want refusal.Code
	}{
		{b.adjust(cash, 600), ""}, {b.adjust(cash, 401), refusal.RateLimited}, {b.adjust(cash, -1000), ""},
		{b.adjust(cash, 401), refusal.RateLimited}, {of(1), refusal.RateLimited},
		{b.adjust(cash, -101), refusal.InsufficientBalance},
		{b.adjust(cash, 400), ""}, {of(1), refusal.RateLimited}, {of(-1), ""},
	} {
		if got := do(step.cmd); got != step.want {
			t.Errorf("adjustment %d: %q, want %q", n+1, got, step.want)
		}
	}
	if cash, item := b.balance(cash), b.balance(item); cash != 500 || item != 2 {
		t.Errorf("the balances are %d and %d", cash, item)
	}
	b.verify()
}

// issued makes a gift of a draft.
func (b *bench) issued(g gift.Gift) (id guid.ID) {
	b.Helper()
	c := b.call(operation.SendGift, "")
	c.Render = func(r ledger.Result, _ error) ledger.Answer {
		id = r.Gifts[0].ID
		return ledger.Answer{Code: ledger.Created, Body: []byte("made")}
	}
	if _, err := b.engine.Do(b.Context(), c, &ledger.Issue{Gifts: []gift.Gift{g}}); err != nil {
		b.Fatal(err)
	}
	return id
}

// TestCareOfNothing: a gift that is not there is refused, and the refusal is not remembered.
func TestCareOfNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	g := newID()
	for name, cmd := range map[operation.Name]ledger.Command{
		operation.BlockGift: b.block(g), operation.AdjustGift: b.adjust(g, 1),
		operation.UnblockGift: unblocking(g, gift.Unblock{Caller: b.caller}),
		operation.ExtendGift:  extending(g, gift.Extend{Caller: b.caller, Until: time.Now()}),
	} {
		if refused, _ := b.outcome(b.call(name, "k"), cmd); refused != refusal.NotFound {
			t.Errorf("%s: %s", name, refused)
		}
		if found, err := b.store.Requests(t.Context(), b.caller.Account.ID, name, "k"); err != nil &&
			!errors.Is(err, refusal.NotFound) || len(found) > 0 {
			t.Errorf("%s is remembered: %v, %v", name, found, err)
		}
	}
}

// What the model does with gifts that need care.

func (w *world) block(t *rapid.T) {
	g := w.pick(t)
	why := rapid.SampledFrom([]gift.ReasonCode{gift.ReasonLost, gift.ReasonFraud}).Draw(t, "why")
	g.touch(w.now)
	want := fmt.Sprintf("OK - %d %s", g.balance, g.status)
	if g.blocked != why {
		g.blocked = why
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, operation.BlockGift, "", 0, blocking(g.id, gift.Block{Caller: w.caller, ReasonCode: why}))
	if got != want {
		t.Fatalf("block %+v: got %q, want %q", *g, got, want)
	}
}

func (w *world) unblock(t *rapid.T) {
	g := w.pick(t)
	g.touch(w.now)
	want := fmt.Sprintf("OK - %d %s", g.balance, g.status)
	if g.blocked != "" {
		g.blocked, g.wrong = "", 0
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, operation.UnblockGift, "", 0, unblocking(g.id, gift.Unblock{Caller: w.caller}))
	if got != want {
		t.Fatalf("unblock %+v: got %q, want %q", *g, got, want)
	}
}

func (w *world) adjust(t *rapid.T) {
	g, amount := w.pick(t), rapid.Int64Range(-400, 400).Draw(t, "amount")
	g.touch(w.now)
	want := g.expectAdjust(amount)
	got, _ := w.do(t, operation.AdjustGift, "", 0, adjusting(g.id, gift.Adjust{Caller: w.caller,
		Amount:     money.Amount(amount),
		ReasonCode: gift.ReasonSupport, Reason: "model"}))
	if got != want {
		t.Fatalf("adjust %+v by %d: got %q, want %q", *g, amount, got, want)
	}
}

func (g *modelGift) expectAdjust(amount int64) string {
	switch {
	case g.status == gift.Cancelled || g.status == gift.PurchaseFailed || g.status == gift.NotActivated:
		return "REDEMPTION_NOT_ALLOWED"
	case amount < 0 && g.balance-g.held()+amount < 0:
		return "INSUFFICIENT_BALANCE"
	case amount == 0, amount > 0 && !g.item && g.balance+amount > mostWorth:
		return "VALIDATION_FAILURE"
	case g.status == gift.Pending && g.balance+amount == 0:
		return "REDEMPTION_NOT_ALLOWED"
	}
	g.balance += amount
	g.original += amount
	g.entries++
	if g.balance == 0 {
		g.status = gift.Redeemed
	} else if g.status == gift.Redeemed {
		g.status = gift.Claimed
	}
	return fmt.Sprintf("OK %d %d %s", amount, g.balance, g.status)
}

func (w *world) extend(t *rapid.T) {
	g := w.pick(t)
	until := w.now.AddDate(rapid.IntRange(0, 20).Draw(t, "years"), 0, 0).Truncate(time.Millisecond)
	g.touch(w.now)
	want := "NOT_SUPPORTED"
	switch {
	case g.until.IsZero():
	case g.status == gift.Cancelled || g.status == gift.PurchaseFailed:
		want = "REDEMPTION_NOT_ALLOWED"
	case !until.After(g.until):
		want = "VALIDATION_FAILURE"
	default:
		g.until = until
		g.entries++
		want = fmt.Sprintf("OK 0 %d %s", g.balance, g.status)
	}
	got, _ := w.do(t, operation.ExtendGift, "", 0, extending(g.id, gift.Extend{Caller: w.caller, Until: until}))
	if got != want {
		t.Fatalf("extend %+v to %v: got %q, want %q", *g, until, got, want)
	}
}
