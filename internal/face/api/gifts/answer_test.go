package gifts

import (
	"testing"

	"boon.example/internal/guid"
)

// TestATestAccountLeavesSilenceToOthers: however many calls of one test account are left unanswered, one of another
// test account is left unanswered where it asks for that.
func TestATestAccountLeavesSilenceToOthers(t *testing.T) {
	t.Parallel()
	a := New(Config{})
	for a.unanswered.Take(guid.ID{1}, 1, maxUnanswered) {
	}
	if !a.unanswered.Take(guid.ID{2}, 1, maxUnanswered) {
		t.Error("another test account's call is not left unanswered")
	}
}
