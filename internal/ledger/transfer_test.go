package ledger_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/store/pgtest"
)

// TestTransfersBothWaysAtOnce moves value between four gifts, every way at once, through the engines of two instances.
// None waits for another in a circle, and together the gifts keep what they had.
func TestTransfersBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{Lanes: 4})
	b.caller.Account.MaxGiftValue = 5000
	second := engine.Start(b.store, engine.Options{Lanes: 4})
	defer second.Stop()
	var gifts []guid.ID
	for range 4 {
		gifts = append(gifts, b.gift(1000))
	}
	transfers, workers := 10_000, 64
	if testing.Short() {
		transfers = 1000
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	moved := 0
	for w := range workers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			started := []*engine.Engine{b.engine, second}[w%2]
			for n := w; n < transfers; n += workers {
				from := random.IntN(4)
				to := (from + 1 + random.IntN(3)) % 4
				ask := &ledger.Transfer{From: gifts[from], To: gifts[to], Transfer: gift.Transfer{Caller: b.caller,
					Amount: money.Amount(random.IntN(300))}}
				answer, err := started.Do(b.Context(), b.call(operation.TransferBalance, ""), ask)
				switch {
				case err == nil && answer.Succeeded():
					mu.Lock()
					moved++
					mu.Unlock()
				case !errors.Is(err, refusal.InsufficientBalance) && !errors.Is(err, refusal.AlreadyRedeemed):
					t.Errorf("%s, %v", answer.Body, err)
				}
			}
		})
	}
	wg.Wait()
	sum := money.Amount(0)
	for _, id := range gifts {
		sum += b.balance(id)
	}
	if sum != 4000 || moved < transfers/4 {
		t.Errorf("together they have %d after %d transfers", sum, moved)
	}
	b.verify()
	second.Stop()
	b.engine.Stop()
	b.store.Close()
	if n := pgtest.Deadlocks(t, b.database); n > 0 {
		t.Errorf("%d transactions waited for each other in a circle", n)
	}
}

// TestATransferIsRepeated: a transfer under a key has one effect, whatever the groups are, and its record names its
// first entry.
func TestATransferIsRepeated(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	b.caller.Account.MaxGiftValue = 5000
	from, to := b.gift(1000), b.gift(500)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			answer, err := b.engine.Do(b.Context(), b.call(operation.TransferBalance, "once"), &ledger.Transfer{From: from,
				To:       to,
				Transfer: gift.Transfer{Caller: b.caller, Amount: 100}})
			if err != nil || !answer.Succeeded() {
				t.Errorf("%s, %v", answer.Body, err)
			}
		})
	}
	wg.Wait()
	if b.balance(from) != 900 || b.balance(to) != 600 {
		t.Errorf("they have %d and %d", b.balance(from), b.balance(to))
	}
	b.verify() // which holds the record against its entry
}

// TestAFailedPurchaseWasNotTransferred: a purchase of which value lives on in another gift is not undone by taking its
// gift out of use, nor is another purchase taken for it whose value was moved to it. An adjustment is no reason.
func TestAFailedPurchaseWasNotTransferred(t *testing.T) {
	t.Parallel()
	var g gate
	b := setup(t, g.wrap, engine.Options{})
	b.caller.Account.MaxGiftValue = 5000
	from, to, adjusted := b.gift(1000), b.gift(500), b.gift(500)
	failed := func(id guid.ID) *ledger.Cancel {
		k := b.cancel(id)
		k.To = gift.PurchaseFailed
		return k
	}
	move := &ledger.Transfer{From: from, To: to, Transfer: gift.Transfer{Caller: b.caller, Amount: 900}}
	errs := b.together(&g, move, failed(from))
	for _, id := range []guid.ID{from, adjusted} {
		b.must(&ledger.Change{VoucherID: id, Rule: func(v gift.Voucher, c gift.Context) (gift.Voucher, gift.Entry, error) {
			return v.Adjust(gift.Adjust{Context: c, Caller: b.caller, Amount: -50, ReasonCode: gift.ReasonMistake,
				Reason: "typed wrong"})
		}})
	}
	if errs[0] != nil {
		t.Fatal(errs[0])
	}
	for _, err := range []error{errs[1], b.do(failed(from)), b.do(failed(to))} {
		if !errors.Is(err, refusal.RedemptionNotAllowed) ||
			!strings.Contains(err.Error(), "transferred between it and another gift") {
			t.Errorf("the purchase of what was moved: %v", err)
		}
	}
	b.status(from, gift.Delivered)
	b.must(failed(adjusted), b.cancel(from))
	b.status(adjusted, gift.PurchaseFailed)
	b.status(from, gift.Cancelled)
	b.verify()
}
