package server_test

import (
	"runtime"
	"testing"

	"boon.example/internal/server"
)

// TestSpareProcessor: there is one processor more, unless the environment says how many there are.
func TestSpareProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	t.Setenv("GOMAXPROCS", "1")
	if server.SpareProcessor(); runtime.GOMAXPROCS(0) != before {
		t.Errorf("where the environment says how many, there are %d, before %d", runtime.GOMAXPROCS(0), before)
	}
	t.Setenv("GOMAXPROCS", "")
	if server.SpareProcessor(); runtime.GOMAXPROCS(0) != before+1 {
		t.Errorf("there are %d, before %d", runtime.GOMAXPROCS(0), before)
	}
}
