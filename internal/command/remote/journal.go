package remote

import (
	"fmt"
	"os"

	"boon.example/client"
	"boon.example/internal/command/terminal"
)

type reportJournal struct {
	From   string `required:"" placeholder:"DAY" help:"The first day, such as 2026-09-01."`
	To     string `placeholder:"DAY" help:"The last day, yesterday at the latest. Default: yesterday."`
	Format string `enum:"csv,datev,xero,quickbooks,hledger" default:"csv" help:"csv, datev, xero, quickbooks or hledger. Default: ${default}."`
	Out    string `required:"" placeholder:"FILE" help:"The file, which must not exist yet."`
	service
}

func (reportJournal) Help() string {
	return `The key needs the permission reports. Name the accounts of the ledger in the set-up file (books) before.
Of several months, datev is a ZIP archive.

Example:

    boon report journal --from 2026-09-01 --to 2026-09-30 --format datev --out september.csv`
}

// Run writes the file.
func (c *reportJournal) Run(t *terminal.Terminal) error {
	api, err := c.client(t)
	if err != nil {
		return err
	}
	journal, err := api.Journal(t, client.JournalFilter{From: c.From, To: c.To, Format: client.JournalFormat(c.Format)})
	if err != nil {
		return err
	}
	to, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return terminal.UsageError(fmt.Sprintf("--out: %v.", err))
	}
	_, err = to.Write(journal)
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(c.Out) // it holds nothing whole
		return err
	}
	fmt.Fprintf(t.Stdout, "%s holds the journal.\n", terminal.Cell(c.Out))
	return nil
}
