package doctor

import (
	"syscall"
	"testing"
)

// TestClockIsKept: of the states of adjtimex(2), leap seconds among them, only TIME_ERROR is that of a clock that
// nothing keeps.
func TestClockIsKept(t *testing.T) {
	t.Parallel()
	for state := range 6 {
		if kept, known := keptIn(state, nil); kept != (state < 5) || !known {
			t.Errorf("state %d: kept %v, known %v", state, kept, known)
		}
	}
	if _, known := keptIn(-1, syscall.EPERM); known {
		t.Error("it is known where the kernel does not tell")
	}
}
