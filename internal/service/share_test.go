package service

import (
	"testing"
	"testing/synctest"

	"boon.example/internal/base/admission"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestATestAccountLeavesPlacesToOthers: however many calls of some test accounts are under way, one of another test
// account is admitted at once.
func TestATestAccountLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{})
		callOf := func(account byte) *Call {
			return &Call{Service: s, Caller: &merchant.Caller{KeyID: guid.ID{0xff, account}},
				Account: &merchant.Account{ID: guid.ID{account}, Test: true}}
		}
		for account, want := range []int{8, 4, 2, 1, 1} {
			flood := 0
			for ; callOf(byte(account)).enter(t.Context(), admission.Redeem); flood++ {
			}
			if flood != want {
				t.Errorf("test account %d has %d of %d places, want %d", account, flood, maxTests, want)
			}
		}
	})
}
