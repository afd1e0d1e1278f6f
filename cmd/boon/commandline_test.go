package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"boon.example/internal/command/terminal"
)

// TestCommandsAreTold: docs/reference/command-line.md has every command with the words of its help, and no other.
func TestCommandsAreTold(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/reference/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, options(&terminal.Terminal{}, func(int) {})...)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, c := range parser.Model.Children {
		if !c.Hidden {
			fmt.Fprintf(&want, "`boon %s` | %s\n", c.Name, c.Help)
		}
	}
	_, got, _ := strings.Cut(string(page), "\nCommand | What it does\n---|---\n")
	if got != want.String() {
		t.Errorf("the page has\n%s\nthe program has\n%s", got, &want)
	}
}
