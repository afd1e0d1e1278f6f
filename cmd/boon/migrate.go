package main

import (
	"errors"
	"fmt"

	"boon.example/internal/command/terminal"
	"boon.example/internal/store"
)

type migrateCmd struct {
	Citus bool `help:"Then spread the tables over the nodes of a Citus cluster, by account."`
	database
}

func (migrateCmd) Help() string {
	return `Brings the schema of the database up to date without serving, and makes what is not there yet. boon serve does the same when it
starts; this is for those who want it done before, in a step of its own. Programs of the version before go on working on the new
schema. Several may run at once; each step is taken once.

Example:

    boon migrate --data ./boon-data`
}

func (c *migrateCmd) Run(t *terminal.Terminal) (err error) {
	taken := 0
	o := c.options(t)
	o.Migrated = func(number int64, name string) {
		taken++
		fmt.Fprintf(t.Stdout, "schema %d: %s\n", number, terminal.Cell(name))
	}
	s, err := store.Open(t, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if taken == 0 {
		fmt.Fprintln(t.Stdout, "The schema is up to date.")
	}
	if !c.Citus {
		return nil
	}
	spread := false
	err = s.Distribute(t, func(statement string) {
		spread = true
		fmt.Fprintln(t.Stdout, statement)
	})
	if err == nil && !spread {
		fmt.Fprintln(t.Stdout, "The tables are distributed already.")
	}
	return err
}
