package main

import (
	"fmt"
	"time"

	"boon.example/internal/command/terminal"
	"boon.example/internal/store/transfer"
)

type restoreCmd struct {
	File   string `arg:"" placeholder:"FILE" help:"Backup that boon backup wrote."`
	Verify string `enum:"first,later" default:"first" placeholder:"first|later" help:"When the backup is verified: first, before anything is changed; or later, by the service that serves it at once. Default: ${default}."`
	dataFolder
}

func (restoreCmd) Help() string {
	return `Puts a backup in the place of the embedded database. It refuses while a service has the database open. The backup is verified before anything
is changed; the database that was there is put aside with its log, under a name that says when, and stays until you delete it.

The key file, boon.key, must be in the data folder or where --key-file says; a new folder gets it from wherever it is kept. What was redeemed after the backup was made is
not in it: those balances are higher than the tills think.

To verify a large backup takes minutes. With --verify later it takes its place unverified, and the service verifies it while it serves: the
database says so until then. Take that way when tills wait, and keep the database that was put aside until the verification is done.

Example:

    boon restore /var/backups/boon/boon-20260301T034500Z.db --data ./boon-data`
}

func (c *restoreCmd) Run(t *terminal.Terminal) error {
	r, err := c.restore(t)
	if err != nil {
		return err
	}
	newest := ""
	if !r.Newest.IsZero() {
		newest = ", the newest of " + terminal.Moment(r.Newest)
	}
	if r.Later {
		fmt.Fprintf(t.Stdout, "%s is the backup now%s. It is not yet verified: the service does that once it runs, and says "+
			"in its log, in /readyz and in boon_restore_verification what came of it.\n", terminal.Cell(r.Database), newest)
	} else {
		fmt.Fprintf(t.Stdout, "%s is the backup now: %d gifts, %d ledger entries%s. Everything holds.\n",
			terminal.Cell(r.Database),
			r.Vouchers, r.Entries, newest)
	}
	if r.Aside != "" {
		fmt.Fprintf(t.Stdout, "The database that was there is %s.\n", terminal.Cell(r.Aside))
	}
	if r.AsideLog != "" {
		fmt.Fprintf(t.Stdout, "Its log, with its newest redemptions, is %s.\n", terminal.Cell(r.AsideLog))
	}
	fmt.Fprintln(t.Stdout, "What was redeemed after the backup was made is not in it: those balances are higher than "+
		"the tills think.")
	return nil
}

func (c *restoreCmd) restore(t *terminal.Terminal) (transfer.RestoreReport, error) {
	if c.Verify == "later" {
		return transfer.RestoreUnverified(t, c.File, c.options(t), time.Now())
	}
	return transfer.Restore(t, c.File, c.options(t), time.Now(), t.Progress("verifying"))
}
