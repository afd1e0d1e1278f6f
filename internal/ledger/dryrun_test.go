package ledger_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"boon.example/internal/gift"
	"boon.example/internal/gift/operation"
	"boon.example/internal/ledger"
	"boon.example/internal/ledger/engine"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// slowStore is a store whose transactions wait for an outcome and do nothing else.
type slowStore struct {
	engine.Store
	began    chan struct{}
	outcomes chan error
}

func (s slowStore) Group(context.Context, ledger.Want, func(*ledger.State) ledger.Changes) error {
	s.began <- struct{}{}
	return <-s.outcomes
}

// verifying is a dry run that shows a verification code.
func verifying() (ledger.Call, ledger.Command) {
	c := ledger.Call{AccountID: newID(), Caller: &merchant.Caller{KeyID: newID()}, Operation: operation.RedeemGift,
		DryRun: true, Verifies: true,
		Render: func(ledger.Result, error) ledger.Answer { return ledger.Answer{Code: ledger.OK, Body: []byte("OK")} }}
	return c, &ledger.Redeem{VoucherID: newID(), Redeem: gift.Redeem{Amount: 1, Verification: "0000"}}
}

// TestDryRunsWaitInTurn: however many dry runs show verification codes, they keep one connection of the store.
func TestDryRunsWaitInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const runs = 8
		s := slowStore{began: make(chan struct{}, runs), outcomes: make(chan error)}
		e := engine.Start(s, engine.Options{Lanes: 4})
		defer e.Stop()
		for range runs {
			go func() {
				c, cmd := verifying()
				if _, err := e.Do(t.Context(), c, cmd); err != nil {
					t.Error(err)
				}
			}()
		}
		for n := range runs {
			synctest.Wait()
			if began := len(s.began); began != n+1 {
				t.Errorf("%d transactions have begun, want %d", began, n+1)
			}
			s.outcomes <- nil
		}
		synctest.Wait()
	})
}

// TestDryRunsOfUnknownOutcome: where nobody knows whether a wrong code was counted, a dry run does not say that it was
// not.
func TestDryRunsOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := slowStore{began: make(chan struct{}, 1), outcomes: make(chan error, 1)}
	var told []engine.GroupStats
	e := engine.Start(s, engine.Options{Observe: func(g engine.GroupStats) { told = append(told, g) }})
	defer e.Stop()
	s.outcomes <- ledger.ErrUnknown
	c, cmd := verifying()
	_, err := e.Do(t.Context(), c, cmd)
	if code(err) != string(refusal.Unavailable) || !strings.Contains(err.Error(), "not known whether the verification") {
		t.Errorf("the dry run got %v", err)
	}
	if len(told) != 1 || told[0].Err == nil {
		t.Errorf("of the transaction was told %+v", told)
	}
}

// TestDryRunsAreObserved: what a dry run keeps is told as what a group keeps, so that it is audited.
func TestDryRunsAreObserved(t *testing.T) {
	t.Parallel()
	var told []engine.GroupStats
	b := setup(t, nil, engine.Options{Observe: func(g engine.GroupStats) { told = append(told, g) }})
	card := b.draft(500)
	card.Verification = "1234"
	issuing := b.call(operation.SendGift, "")
	issue := &ledger.Issue{Gifts: []gift.Gift{card}}
	issuing.Render = func(r ledger.Result, _ error) ledger.Answer {
		card.ID = r.Gifts[0].ID
		return ledger.Answer{Code: ledger.Created, Body: []byte("made")}
	}
	if _, err := b.engine.Do(b.Context(), issuing, issue); err != nil {
		t.Fatal(err)
	}
	told = nil
	c := b.call(operation.RedeemGift, "")
	c.DryRun, c.Verifies = true, true
	_, err := b.engine.Do(b.Context(), c, &ledger.Redeem{VoucherID: card.ID,
		Redeem: gift.Redeem{Amount: 1, Verification: "4321"}})
	if !gift.IsWrongCode(err) {
		t.Fatalf("a wrong verification code got %v", err)
	}
	if len(told) != 1 || told[0].Commands != 1 || len(told[0].Done.Entries) != 1 ||
		told[0].Done.Entries[0].Kind != gift.WrongVerificationCode {
		t.Errorf("of what it kept was told %+v", told)
	}
	b.verify()
}
