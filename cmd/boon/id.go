package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"boon.example/internal/base/durable"
	"boon.example/internal/command/terminal"
	"boon.example/internal/guid"
	"boon.example/internal/setup"
)

type idCmd struct {
	Count int    `arg:"" optional:"" default:"1" help:"How many ids. Default: ${default}."`
	Into  string `placeholder:"FILE" help:"Write an id into each record of this set-up file that lacks one."`
}

func (idCmd) Help() string {
	return `A record of a set-up file is known by its id: with the same id, boon apply changes the record, and with another id it makes
another one. So the ids stand in the file. With --into, the file gets those that are missing, and nothing else of it changes.

Examples:

    boon id 3
    boon id --into setup.yaml

Next: boon apply setup.yaml.`
}

// maxIDs is how many ids are printed at once.
const maxIDs = 1_000

func (c *idCmd) Run(t *terminal.Terminal) error {
	next := func() guid.ID { return guid.ID(uuid.New()) }
	if c.Into != "" {
		return c.write(t, next)
	}
	if c.Count < 1 || c.Count > maxIDs {
		return terminal.UsageError(fmt.Sprintf("Say how many ids, from 1 to %d.", maxIDs))
	}
	for range c.Count {
		if _, err := fmt.Fprintln(t.Stdout, next()); err != nil {
			return err
		}
	}
	return nil
}

// write gives the set-up file the ids that it lacks. A link to the file stays a link.
func (c *idCmd) write(t *terminal.Terminal, next func() guid.ID) error {
	path, err := filepath.EvalSymlinks(c.Into)
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the set-up: %w", err)
	}
	text, made, err := setup.WithIDs(c.Into, text, next)
	if err != nil {
		return problems(t, err)
	}
	if len(made) == 0 {
		_, err := fmt.Fprintf(t.Stdout, "No id is missing in %s.\n", terminal.Cell(c.Into))
		return err
	}
	if err := durable.Replace(path, text); err != nil {
		return fmt.Errorf("writing the set-up: %w", err)
	}
	for _, record := range made {
		fmt.Fprintf(t.Stdout, "%s has an id now.\n", terminal.Cell(record))
	}
	return nil
}
