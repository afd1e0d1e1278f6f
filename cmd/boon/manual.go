package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"boon.example/internal/command/manual"
	"boon.example/internal/command/terminal"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `Prints a script for the shell, which completes commands, flags and known values. It asks boon itself for them.

Example:

    source <(boon completion bash)
    boon completion fish > ~/.config/fish/completions/boon.fish`
}

// Run prints the script.
func (c *completionCmd) Run(t *terminal.Terminal) error {
	_, err := io.WriteString(t.Stdout, manual.Script(c.Shell))
	return err
}

// completeCmd is what the scripts call.
type completeCmd struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints what can come next.
func (c *completeCmd) Run(t *terminal.Terminal, command *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	_, err := fmt.Fprint(t.Stdout, manual.Lines(manual.Complete(command.Model.Node, words)))
	return err
}

type manCmd struct{}

func (manCmd) Help() string {
	return `Prints the manual page of boon, with every command and flag.

Example:

    boon man > /usr/local/share/man/man1/boon.1`
}

// Run prints the page.
func (c *manCmd) Run(t *terminal.Terminal, command *kong.Context) error {
	return manual.Page(t.Stdout, command.Model.Node, thisBuild().Version, describe)
}
