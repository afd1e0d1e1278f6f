package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"boon.example/internal/contact"
	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/guid"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// mishaps is a store to whose transactions things happen, in turn. What is not said to happen goes well.
type mishaps struct {
	engine.Store
	next []mishap
}

type mishap int

const (
	none          mishap = iota
	failed               // the transaction fails
	unheard              // it is committed, and its outcome lost
	unknownFailed        // nobody knows, and it was not committed
	unknownDone          // nobody knows, and it was committed
)

var errDisk = errors.New("disk I/O error")

func (m *mishaps) Group(ctx context.Context, w ledger.Want, decide func(*ledger.State) ledger.Changes) error {
	what := none
	if len(m.next) > 0 {
		what, m.next = m.next[0], m.next[1:]
	}
	switch what {
	case failed:
		return errDisk
	case unknownFailed:
		return ledger.ErrUnknown
	}
	err := m.Store.Group(ctx, w, decide)
	switch {
	case err == nil && what == unheard:
		return errDisk
	case err == nil && what == unknownDone:
		return ledger.ErrUnknown
	}
	return err
}

// TestAVoidLeavesTheGiftAsItWas sends a redemption, its reversal by key, its reversal by id, a cancellation and another
// till's redemption in every order and grouping, repeated, with failing commits, lost answers and restarts in between.
// In the end everyone is answered once and for all, and a gift whose redemption was voided is worth what it was without
// it.
func TestAVoidLeavesTheGiftAsItWas(t *testing.T) {
	t.Parallel()
	dir, database := t.TempDir(), pgtest.Database(t) // which the runs on a server share: each has an account of its own
	rapid.Check(t, func(t *rapid.T) {
		if database == "" {
			dir = tempDir(t)
		}
		v := newVoiding(t, dir, database)
		defer v.close()
		for range rapid.IntRange(1, 4).Draw(t, "groups") {
			group := rapid.SliceOfNDistinct(rapid.SampledFrom(v.names()), 1, -1, rapid.ID).Draw(t, "group")
			what := mishap(rapid.IntRange(int(none), int(unknownDone)).Draw(t, "mishap"))
			v.together(group, what)
			if rapid.IntRange(0, 3).Draw(t, "restart") == 0 {
				v.restart()
			}
		}
		for range 2 { // the second time around, all are replays
			v.together(v.names(), none)
		}
		v.check()
	})
}

// voiding is one gift of 100 and those who ask for something of it, each under a key of its own name.
type voiding struct {
	*rapid.T
	*world
	dir      string
	database string
	under    *mishaps
	gate     *gate
	gift     guid.ID
	answered map[string]string // by key, once it is certain
}

const voidedKey = "redeem" // of the redemption that is voided

func newVoiding(t *rapid.T, dir, database string) *voiding {
	account := &merchant.Account{ID: newID(), Name: "Till", Currency: money.Currency{Code: "USD", Decimals: 2},
		Zone: time.UTC}
	v := &voiding{T: t, dir: dir, database: database, answered: map[string]string{}, world: &world{
		answers: map[string]modelAnswer{}, caller: &merchant.Caller{KeyID: newID(), Kind: merchant.AccountKey,
			Account: account}}}
	v.open()
	draft := gift.Gift{
		Voucher: gift.Voucher{AccountID: v.caller.Account.ID, ProgramID: merchant.BusinessProgram.ID,
			Currency: v.caller.Account.Currency, Funded: 100, Balance: 100},
		Card: gift.Card{Method: contact.Printed, Sender: "Till", DeliveryZone: "UTC"},
	}
	_, made := v.do(t, operation.SendGift, "", 0, &ledger.Issue{Gifts: []gift.Gift{draft}})
	if len(made.Gifts) != 1 {
		t.Fatal("no gift was made")
	}
	v.gift = made.Gifts[0].ID
	return v
}

func (v *voiding) open() {
	s, err := store.Open(v.Context(), store.Options{Dir: v.dir, Database: v.database})
	if err != nil {
		v.Fatalf("opening the store: %v", err)
	}
	v.store, v.under, v.gate = s, &mishaps{Store: s}, &gate{}
	v.engine = engine.Start(v.gate.wrap(v.under), engine.Options{})
}

func (v *voiding) restart() {
	v.close()
	v.open()
}

func (v *voiding) names() []string {
	return []string{voidedKey, "void", "again", "by id", "other", "cancel"}
}

// command is what goes under a key.
func (v *voiding) command(name string) (operation.Name, ledger.Command) {
	reverse := gift.Reverse{Caller: v.caller}
	switch name {
	case voidedKey:
		return operation.RedeemGift, &ledger.Redeem{VoucherID: v.gift, Redeem: gift.Redeem{Amount: 30}}
	case "other":
		return operation.RedeemGift, &ledger.Redeem{VoucherID: v.gift, Redeem: gift.Redeem{Amount: 5}}
	case "cancel":
		return operation.CancelGift, &ledger.Cancel{VoucherIDs: []guid.ID{v.gift}, Cancel: gift.Cancel{Caller: v.caller,
			To: gift.Cancelled}}
	case "by id": // in part, and of what may not be there
		var id guid.ID
		for _, e := range v.history() {
			if e.Kind == gift.Redemption && e.Delta == -30 {
				id = e.ID
			}
		}
		reverse.Amount = 10
		return operation.ReverseRedemption, &ledger.Reverse{RedemptionID: id, Reverse: reverse}
	}
	return operation.ReverseRedemption, &ledger.Reverse{OriginalKey: voidedKey, Reverse: reverse}
}

// together has several asked in one group, in this order.
func (v *voiding) together(names []string, what mishap) {
	type asked struct {
		operation operation.Name
		command   ledger.Command
	}
	var all []asked
	for _, name := range names {
		op, cmd := v.command(name)
		all = append(all, asked{op, cmd})
	}
	v.gate.shut()
	v.under.next = []mishap{none, what}
	var wg sync.WaitGroup
	ask := func(op operation.Name, key string, cmd ledger.Command, got *string) {
		wg.Go(func() { *got = v.ask(op, key, cmd) })
	}
	var first string
	ask(operation.RedeemGift, "", &ledger.Rejected{Err: gift.NoSuchGift()}, &first)
	<-v.gate.waiting
	got := make([]string, len(names))
	for n, a := range all {
		ask(a.operation, names[n], a.command, &got[n])
		for v.engine.Depth() <= n {
		}
	}
	v.gate.release()
	wg.Wait()
	v.under.next = nil
	for n, name := range names {
		if was := v.answered[name]; was != "" && got[n] != was && got[n] != string(refusal.Unavailable) {
			v.Fatalf("%s was answered %q, and now %q", name, was, got[n])
		}
		unseen := name == "by id" && got[n] == string(refusal.NotFound) // that an id is not there is not remembered
		if got[n] != string(refusal.Unavailable) && !unseen {
			v.answered[name] = got[n]
		}
	}
}

func (v *voiding) ask(op operation.Name, key string, cmd ledger.Command) string {
	call := ledger.Call{AccountID: v.caller.Account.ID, Operation: op, Key: key, Render: func(r ledger.Result,
		err error) ledger.Answer {
		if err != nil {
			return ledger.Answer{Code: refusal.RedemptionNotAllowed, Body: []byte(code(err))}
		}
		answer := ledger.Answer{Code: ledger.OK, Body: []byte("OK")}
		if len(r.Entries) > 0 {
			answer.Body = fmt.Appendf(nil, "OK %s %d", r.Entries[0].ID, r.Entries[0].Balance)
		}
		return answer
	}}
	answer, err := v.engine.Do(v.Context(), call, cmd)
	if err != nil {
		return code(err)
	}
	return string(answer.Body)
}

func (v *voiding) history() []gift.Entry {
	all, err := v.store.History(v.Context(), v.caller.Account.ID, v.gift, 0, 100)
	if err != nil {
		v.Fatalf("reading the history: %v", err)
	}
	return all
}

func (v *voiding) check() {
	voided, others, redemptions := money.Amount(0), money.Amount(0), 0
	for _, e := range v.history() {
		switch {
		case e.Kind == gift.Redemption && e.Delta == -30:
			redemptions++
			voided += e.Delta
		case e.Kind == gift.Reversal:
			voided += e.Delta
		default:
			others += e.Delta
		}
	}
	if voided != 0 || redemptions > 1 || others != 0 && others != -5 {
		v.Fatalf("after the void %d of the redemption is missing (made %d times), others took %d; %q", -voided, redemptions,
			-others, v.answered)
	}
	for name, answer := range v.answered {
		if answer == "" {
			v.Fatalf("%s was never answered", name)
		}
	}
	r, err := verify.All(v.Context(), v.store, 2, func(_, _ int64) {})
	if err != nil || len(r.Problems) > 0 {
		v.Fatalf("verify: %v, %q", err, r.Problems)
	}
}
