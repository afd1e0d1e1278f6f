package demo

import (
	"bytes"
	"testing"

	"boon.example/internal/command/terminal"
)

func TestDemoIsColouredForPeopleOnly(t *testing.T) {
	t.Parallel()
	if got := pen(true).bold("x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("a terminal gets %q", got)
	}
	s := New(&terminal.Terminal{Stdout: &bytes.Buffer{}, Getenv: func(string) string { return "" }}, "")
	if s.pen {
		t.Error("a pipe gets colours")
	}
}
