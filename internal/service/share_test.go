package service

import (
	"testing"
	"testing/synctest"

	"boon.example/internal/base/admission"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestATestAccountLeavesPlacesToOthers: however many calls of one test account are under way, one of another test
// account is admitted at once.
func TestATestAccountLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{})
		callOf := func(account byte) *Call {
			return &Call{Service: s, Caller: &merchant.Caller{KeyID: guid.ID{0xff, account}},
				Account: &merchant.Account{ID: guid.ID{account}, Test: true}}
		}
		flood := 0
		for ; callOf(1).enter(t.Context(), admission.Redeem); flood++ {
		}
		if flood != maxTestsOfAccount {
			t.Errorf("a test account has %d of %d places", flood, maxTests)
		}
		if !callOf(2).enter(t.Context(), admission.Redeem) {
			t.Error("another test account has none")
		}
	})
}
