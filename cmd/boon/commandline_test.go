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

// TestACommandIsReadAlone: each command is read without the others, but for those that tell of them.
func TestACommandIsReadAlone(t *testing.T) {
	t.Parallel()
	model := func(grammar any) *kong.Application {
		parser, err := kong.New(grammar, options(&terminal.Terminal{}, func(int) {})...)
		if err != nil {
			t.Fatal(err)
		}
		return parser.Model
	}
	all := model(&commands{})
	for _, c := range all.Children {
		alone := model(grammar(c.Name))
		if tells := c.Name == "man" || c.Name == "complete"; tells && len(alone.Children) == len(all.Children) {
			continue
		}
		if len(alone.Children) != 1 || alone.Children[0].Name != c.Name || alone.Children[0].Summary() != c.Summary() ||
			len(alone.Flags) != len(all.Flags) {
			t.Errorf("%s is read with %d commands and %d flags", c.Name, len(alone.Children), len(alone.Flags))
		}
	}
	if got := model(grammar("gif")); len(got.Children) != len(all.Children) {
		t.Errorf("what is no command is read with %d of %d commands", len(got.Children), len(all.Children))
	}
}
