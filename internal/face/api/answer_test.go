package api

import (
	"testing"

	"boon.example/internal/guid"
)

// TestATestAccountLeavesSilenceToOthers: however many calls of one test account are kept silent, one of another test
// account is kept silent where it asks for that.
func TestATestAccountLeavesSilenceToOthers(t *testing.T) {
	t.Parallel()
	a := New(Config{})
	for a.silent.Take(guid.ID{1}, 1, maxSilent) {
	}
	if !a.silent.Take(guid.ID{2}, 1, maxSilent) {
		t.Error("another test account's call is not kept silent")
	}
}
