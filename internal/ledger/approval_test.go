package ledger_test

import (
	"testing"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/money"
)

// TestPartialApproval: a redemption or a hold up to an amount succeeds with what there is, also with nothing, of which
// nothing is entered; its key is used all the same.
func TestPartialApproval(t *testing.T) {
	t.Parallel()
	b := setup(t, nil, engine.Options{})
	g := b.gift(1000)
	do := func(op operation.Name, key string, amount money.Amount) (moved money.Amount, replayed bool) {
		t.Helper()
		ask := gift.Redeem{Amount: amount, UpTo: true}
		var cmd ledger.Command = &ledger.Redeem{VoucherID: g, Redeem: ask}
		if op == operation.HoldGift {
			cmd = &ledger.Hold{VoucherID: g, Hold: gift.Hold{Redeem: ask}}
		}
		c := b.call(op, key)
		c.Render = func(r ledger.Result, err error) ledger.Answer {
			switch {
			case err != nil || len(r.Vouchers) != 1:
				t.Errorf("%d of it: %v, %+v", amount, err, r)
			case len(r.Entries) == 0:
				return ledger.Answer{Code: ledger.Nothing, Body: []byte("0")}
			default:
				moved = r.Entries[0].Held - r.Entries[0].Delta
			}
			return ledger.Answer{Code: ledger.OK, Body: []byte(r.Entries[0].ID.String())}
		}
		a, err := b.engine.Do(t.Context(), c, cmd)
		if err != nil || !a.Succeeded() {
			t.Errorf("%d of it: %s, %v", amount, string(a.Code), err)
		}
		return moved, a.Replayed
	}
	for _, step := range []struct {
		op           operation.Name
		key          string
		amount, want money.Amount
		replayed     bool
	}{
		{operation.RedeemGift, "some", 300, 300, false},
		{operation.HoldGift, "hold", 600, 600, false},
		{operation.RedeemGift, "rest", 400, 100, false},
		{operation.RedeemGift, "none", 400, 0, false},
		{operation.RedeemGift, "none", 400, 0, true},
		{operation.HoldGift, "no hold", 1, 0, false},
		{operation.HoldGift, "no hold", 1, 0, true},
		{operation.RedeemGift, "", 400, 0, false},
	} {
		moved, replayed := do(step.op, step.key, step.amount)
		if moved != step.want || replayed != step.replayed {
			t.Errorf("%s of %d: %d, replayed %v; want %d, %v", step.op, step.amount, moved, replayed, step.want, step.replayed)
		}
	}
	read, err := b.store.Gift(t.Context(), b.caller.Account.ID, g)
	if err != nil || read.Seq != 4 || read.Balance != 600 {
		t.Errorf("%d is left after %d entries, want 600 after 4: %v", read.Balance, read.Seq, err)
	}
	undo := func(cmd ledger.Command) {
		a, err := b.engine.Do(t.Context(), b.call("undo", ""), cmd)
		if code(err) != "NOT_FOUND" {
			t.Errorf("what did nothing was undone: %s, %v", a.Body, err)
		}
	}
	undo(&ledger.Reverse{OriginalKey: "none", Reverse: gift.Reverse{Caller: b.caller}})
	undo(&ledger.Release{OriginalKey: "no hold", Release: gift.Release{Caller: b.caller}})
	b.verify()
}
