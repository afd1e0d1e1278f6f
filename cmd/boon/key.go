package main

import (
	"boon.example/internal/command/access"
	"boon.example/internal/command/terminal"
	"boon.example/internal/store"
)

type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Make an API key and show it once."`
	List   keyListCmd   `cmd:"" help:"List the API keys, without their text, which is kept nowhere."`
	Revoke keyRevokeCmd `cmd:"" help:"End an API key for good."`
}

type keyCreateCmd struct {
	access.Create
	database
}

// Run makes a key.
func (c *keyCreateCmd) Run(t *terminal.Terminal) error {
	q, err := c.Request()
	if err != nil {
		return err
	}
	return c.with(t, true, func(s *store.Store) error { return c.Do(t, s, q) })
}

type keyListCmd struct {
	access.List
	database
}

// Run lists the keys.
func (c *keyListCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error { return c.Do(t, s) })
}

type keyRevokeCmd struct {
	access.Revoke
	database
}

// Run revokes a key.
func (c *keyRevokeCmd) Run(t *terminal.Terminal) error {
	return c.with(t, true, func(s *store.Store) error { return c.Do(t, s) })
}
