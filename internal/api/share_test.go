package api

import (
	"testing"
	"testing/synctest"

	"boon.example/internal/fair"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
)

// TestATestAccountLeavesPlacesToOthers: however many calls of one test account are under way, one of another test
// account is admitted at once, and is kept silent where it asks for that.
func TestATestAccountLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &API{Config: Config{Admission: unbounded{}}, tests: fair.NewShared(maxTests, maxTestsOfAccount)}
		callOf := func(account byte) *call {
			return &call{API: a, caller: &gift.Caller{KeyID: guid.ID{0xff, account}},
				account: &gift.Account{ID: guid.ID{account}, Test: true}}
		}
		flood := 0
		for ; callOf(1).admit(t.Context(), PriorityRedeem); flood++ {
		}
		if flood != maxTestsOfAccount {
			t.Errorf("a test account has %d of %d places", flood, maxTests)
		}
		if !callOf(2).admit(t.Context(), PriorityRedeem) {
			t.Error("another test account has none")
		}
		for a.silent.Take(guid.ID{1}, 1, maxSilent) {
		}
		if !a.silent.Take(guid.ID{2}, 1, maxSilent) {
			t.Error("another test account's call is not kept silent")
		}
	})
}
