package main

import (
	"boon.example/internal/command/movein"
	"boon.example/internal/command/terminal"
	"boon.example/internal/store"
)

type importCmd struct {
	Bring  importFileCmd `cmd:"" name:"file" default:"withargs" help:"Bring gifts of another system in."`
	List   importListCmd `cmd:"" help:"List the imports of an account."`
	Verify movein.Verify `cmd:"" help:"Check the certificate of an import, without a database."`
}

type importFileCmd struct {
	movein.File
	database
}

// Run imports a file, or takes an import back.
func (c *importFileCmd) Run(t *terminal.Terminal) error {
	if err := c.Check(); err != nil {
		return err
	}
	return c.with(t, true, func(s *store.Store) error { return c.Do(t, s, operator()) })
}

type importListCmd struct {
	movein.List
	database
}

// Run lists the imports.
func (c *importListCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error { return c.Do(t, s) })
}

type exportCmd struct {
	movein.Export
	database
}

// Run writes an export.
func (c *exportCmd) Run(t *terminal.Terminal) error {
	if err := c.Check(); err != nil {
		return err
	}
	return c.with(t, true, func(s *store.Store) error { return c.Do(t, s) })
}
