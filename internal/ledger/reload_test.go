package ledger_test

import (
	"fmt"

	"pgregory.net/rapid"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// mostWorth is what a gift of the model may be worth.
const mostWorth = 700

type modelLoad struct {
	id     guid.ID
	gift   *modelGift
	amount int64
	undone bool
}

// reload asks for a reload, maybe under a key that was spent before.
func (w *world) reload(t *rapid.T) {
	g := w.pick(t)
	amount := rapid.Int64Range(1, 300).Draw(t, "amount")
	key := ""
	if rapid.Bool().Draw(t, "keyed") {
		w.loadKeys++
		key = fmt.Sprintf("key-%d", w.loadKeys) // which may be one of a redemption or a hold, too
	}
	g.touch(w.now)
	want, load := "", (*modelLoad)(nil)
	usable := g.status == gift.Delivered || g.status == gift.FailedDelivery || g.status == gift.Claimed ||
		g.status == gift.Redeemed
	switch {
	case g.item || !g.until.IsZero():
		want = "NOT_SUPPORTED"
	case !usable || g.blocked != "":
		want = "REDEMPTION_NOT_ALLOWED"
	case g.balance+amount > mostWorth:
		want = "VALIDATION_FAILURE"
	default:
		load = &modelLoad{gift: g, amount: amount}
		g.balance, g.original = g.balance+amount, g.original+amount
		g.entries++
		if g.status == gift.Redeemed {
			g.status = gift.Claimed
		}
		want = fmt.Sprintf("OK %d %d %s", amount, g.balance, g.status)
	}
	ask := gift.ReloadRequest{Amount: money.Amount(amount), Account: w.caller.Account}
	got, r := w.do(t, operation.ReloadGift, key, 1, &ledger.Change{VoucherID: g.id, Counts: merchant.SentCount,
		Rule: func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
			ask.Context = c
			return v.Reload(ask)
		}})
	if got != want {
		t.Fatalf("reload %d of %+v: got %q, want %q", amount, *g, got, want)
	}
	if load != nil {
		load.id = r.Entries[0].ID
		w.loads = append(w.loads, load)
	}
	if key != "" {
		w.loadOf[key] = load
	}
}

func (w *world) reverseReload(t *rapid.T) {
	if len(w.loads) == 0 {
		t.Skip("nothing was loaded yet")
	}
	load := w.loads[rapid.IntRange(0, len(w.loads)-1).Draw(t, "reload")]
	w.expectUndone(t, load, &ledger.Undo{EntryID: load.id})
}

func (w *world) reverseReloadKey(t *rapid.T) {
	n := rapid.IntRange(1, w.loadKeys+1).Draw(t, "key")
	key := fmt.Sprintf("key-%d", n)
	cmd := &ledger.Undo{OriginalKey: key}
	if load := w.loadOf[key]; load != nil {
		w.expectUndone(t, load, cmd)
		return
	}
	cmd.Operation, cmd.Caller = operation.ReloadGift, w.caller
	if got, _ := w.do(t, operation.ReverseReload, "", 0, cmd); got != "NOT_FOUND" {
		t.Fatalf("undoing by %s: got %q", key, got)
	}
	spent := n > w.loadKeys
	w.loadKeys = max(w.loadKeys, n)
	if !spent || len(w.gifts) == 0 {
		return
	}
	// The store may have it decided before it knows better; nothing of that may be left.
	rule := func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
		return v.Reload(gift.ReloadRequest{Context: c, Amount: 1, Account: w.caller.Account})
	}
	late := &ledger.Change{VoucherID: w.gifts[0].id, Rule: rule}
	if got, _ := w.do(t, operation.ReloadGift, key, 1, late); got != "REDEMPTION_NOT_ALLOWED" {
		t.Fatalf("a late reload under the spent %s: got %q", key, got)
	}
}

func (w *world) expectUndone(t *rapid.T, load *modelLoad, cmd *ledger.Undo) {
	g := load.gift
	g.touch(w.now)
	want := ""
	switch {
	case load.undone:
		want = "ALREADY_REVERSED"
	case load.amount > g.balance-g.held():
		want = "INSUFFICIENT_BALANCE"
	case load.amount == g.balance && g.status == gift.PurchaseFailed:
		want = "REDEMPTION_NOT_ALLOWED"
	default:
		load.undone = true
		g.balance, g.original = g.balance-load.amount, g.original-load.amount
		g.entries++
		if g.balance == 0 && g.status != gift.Cancelled {
			g.status = gift.Redeemed
		}
		want = fmt.Sprintf("OK %d %d %s", -load.amount, g.balance, g.status)
	}
	cmd.Operation, cmd.Caller = operation.ReloadGift, w.caller
	if got, _ := w.do(t, operation.ReverseReload, "", 0, cmd); got != want {
		t.Fatalf("undoing %+v of %+v: got %q, want %q", *load, *g, got, want)
	}
}

// payable is what the law of the model lets a guest ask for in cash.
const payable = 100

func (w *world) cashOut(t *rapid.T) {
	g := w.pick(t)
	g.touch(w.now)
	at, tried := w.caller.Account.Locations[0].ID, g.try(t)
	want, paid := "", (*modelTaken)(nil)
	switch {
	case g.item || !g.until.IsZero():
		want = "NOT_SUPPORTED"
	case g.status == gift.Redeemed:
		want = "ALREADY_REDEEMED"
	case g.status != gift.Delivered && g.status != gift.FailedDelivery && g.status != gift.Claimed, g.blocked != "",
		g.held() > 0 && g.balance > 0:
		want = "REDEMPTION_NOT_ALLOWED"
	case g.balance > payable:
		want = "NOT_SUPPORTED"
	case g.code != "" && tried != g.code:
		want = "REDEMPTION_NOT_ALLOWED"
		g.wrong++
		g.entries++
		if g.wrong == gift.MaxWrongCodes {
			g.blocked = gift.ReasonVerificationCode
			g.entries++
		}
	default:
		g.wrong = 0
		want = fmt.Sprintf("OK %d 0 REDEEMED", -g.balance)
		paid = &modelTaken{gift: g, left: g.balance, cash: true}
		g.balance, g.status = 0, gift.Redeemed
		g.entries++
		paid.at, g.cashOuts = g.entries, append(g.cashOuts, paid)
	}
	got, r := w.do(t, operation.CashOutGift, "", 0, &ledger.Change{VoucherID: g.id, Counts: merchant.RedeemedCount,
		Context: gift.Context{Actor: merchant.Actor{LocationID: at}},
		Rule: func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
			return v.CashOut(gift.CashOutRequest{Context: c, Verification: tried, Account: w.caller.Account,
				Law: gift.CashOutLaw{{Jurisdiction: "US-CA",
					Currency: w.caller.Account.Currency, Limit: payable, OrEqual: true}}})
		}})
	if got != want {
		t.Fatalf("cash out %+v: got %q, want %q", *g, got, want)
	}
	if paid != nil {
		paid.id = r.Entries[0].ID
		w.taken = append(w.taken, paid)
	}
}
