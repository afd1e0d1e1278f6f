package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/command/terminal"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/store"
)

type booksCmd struct {
	CloseAgain closeAgainCmd `cmd:"" help:"Work a closed day out again, after a repair."`
}

type closeAgainCmd struct {
	Account string `arg:"" placeholder:"ACCOUNT" help:"Id of the account."`
	Day     string `arg:"" placeholder:"DAY" help:"The day, such as 2026-11-30."`
	database
}

func (closeAgainCmd) Help() string {
	return `Days are closed by the service itself. This command is for a day that boon verify names: its sums are not what its entries say.
Look first at what else boon verify names. The sums are made from the entries again; the audit trail of the account tells that they were.

Example:

    boon books close-again 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 2026-11-30`
}

// Run works a day out again.
func (c *closeAgainCmd) Run(t *terminal.Terminal) error {
	id, err := guid.Parse(c.Account)
	if err != nil {
		return terminal.UsageError("ACCOUNT must be the id of an account, such as 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01")
	}
	if _, err := time.Parse(time.DateOnly, c.Day); err != nil {
		return terminal.UsageError("DAY must be a day such as 2026-11-30")
	}
	return c.with(t, true, func(s *store.Store) error {
		d, err := s.Directory(t)
		if err != nil {
			return err
		}
		account := d.Accounts[id]
		if account == nil {
			return terminal.UsageError("There is no account of this id")
		}
		days, err := s.ClosedDays(t, id)
		if err != nil {
			return err
		}
		number, err := strconv.Atoi(strings.ReplaceAll(c.Day, "-", ""))
		if err != nil {
			return err
		}
		n := slices.IndexFunc(days, func(d books.Day) bool { return d.Number == number })
		if n < 0 {
			return fmt.Errorf("%s is not a closed day of the account", c.Day)
		}
		// That it is done stands in the trail before.
		err = s.LogExport(t, event.TrailEntry{AccountID: id, Action: event.DayClosedAgain,
			What: event.SaidAgain.Say(c.Day, id)})
		if err != nil {
			return err
		}
		if err := s.CloseDayAgain(t, account, days[n], time.Now()); err != nil {
			return err
		}
		fmt.Fprintf(t.Stdout, "%s was worked out again.\n", c.Day)
		return nil
	})
}
