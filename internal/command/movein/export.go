package movein

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"boon.example/internal/base/durable"
	"boon.example/internal/base/nice"
	"boon.example/internal/command/terminal"
	"boon.example/internal/event"
	"boon.example/internal/export"
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/store"
)

// Export writes what Boon keeps of the gifts of an account.
type Export struct {
	What      string        `arg:"" enum:"gifts,entries" placeholder:"gifts|entries" help:"gifts: each as it is now. entries: everything that ever happened to them."`
	Account   string        `required:"" placeholder:"ID" help:"Whose gifts."`
	Format    export.Format `enum:"csv,jsonl,hledger" default:"csv" help:"csv: for spreadsheets and boon import; jsonl: an object in each line; hledger: plain text accounting. Default: ${default}."`
	From      time.Time     `placeholder:"TIME" help:"Only gifts that were made, or entries that happened, from then on."`
	To        time.Time     `placeholder:"TIME" help:"Only those before then."`
	WithCodes bool          `help:"Write whole codes and verification codes. Needs --out. Default: the last four digits."`
	Out       string        `placeholder:"FILE" help:"The file, which must not exist yet. Only you can read it. Default: standard output."`
}

// Help is the text of boon export --help.
func (Export) Help() string {
	return `Writes what Boon keeps of an account's gifts, so that you can take it elsewhere. The service can run meanwhile: the file tells
everything as it is at one moment. The audit trail notes the export before the first line is written.

Whoever has the codes can spend the gifts. Without --with-codes a file still has names and addresses of your customers.

Example:

    boon export gifts --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 --out gifts.csv
    boon export gifts --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 --with-codes --out cards.csv
    boon export entries --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 --from 2026-01-01 --to 2027-01-01 --format jsonl --out 2026.jsonl`
}

// Check refuses flags that do not go together.
func (c *Export) Check() error {
	switch _, err := guid.Parse(c.Account); {
	case err != nil:
		return terminal.UsageError("--account is not the id of an account")
	case c.WithCodes && c.Out == "":
		return terminal.UsageError("--with-codes needs --out: whoever sees the codes can spend the gifts, so they go into " +
			"a file that only you can read")
	case c.WithCodes && c.What != "gifts":
		return terminal.UsageError("--with-codes is for gifts: entries have no codes")
	case !c.From.IsZero() && !c.To.IsZero() && !c.From.Before(c.To):
		return terminal.UsageError("--from must be before --to")
	}
	return nil
}

// Do writes the export.
func (c *Export) Do(t *terminal.Terminal, s *store.Store) error {
	nice.GiveWay()
	account, err := guid.Parse(c.Account)
	if err != nil {
		return err
	}
	d, err := s.Directory(t)
	if err != nil {
		return err
	}
	a := d.Accounts[account]
	if a == nil {
		return terminal.UsageError("--account is not the id of an account")
	}
	if c.Out == "" {
		_, err := c.write(t, s, a, t.Stdout)
		return err
	}
	return c.toFile(t, s, a)
}

// toFile writes the export into a new file, which has its name once it is whole.
func (c *Export) toFile(t *terminal.Terminal, s *store.Store, a *merchant.Account) (err error) {
	if _, err := os.Lstat(c.Out); err == nil {
		return terminal.UsageError("--out: there is a file of this name already")
	}
	f, err := os.CreateTemp(filepath.Dir(c.Out), ".boon-export-*")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }() // its own name stays
	rows, err := c.write(t, s, a, durable.InSteps(f))
	if err != nil {
		return err
	}
	if err := durable.Publish(f, c.Out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	secret := ""
	if c.WithCodes {
		secret = " It holds the codes of gifts: keep it secret."
	}
	fmt.Fprintf(t.Stdout, "%s: %d %s.%s\n", terminal.Cell(c.Out), rows, c.What, secret)
	return nil
}

// write notes the export in the audit trail, and writes it.
func (c *Export) write(t *terminal.Terminal, s *store.Store, a *merchant.Account, to io.Writer) (int, error) {
	now := time.Now()
	o := export.Options{Format: c.Format, Account: a, Codes: c.WithCodes, At: now}
	trail := event.TrailEntry{AccountID: a.ID, Action: event.GiftsExported,
		What: event.SaidExported.Say(c.What, a.Name, a.ID, c.Format)}
	if c.WithCodes {
		trail.Action = event.CodesExported
		trail.What = event.SaidWithCodes.Say(a.Name, a.ID, c.Format)
	}
	if err := s.LogExport(t, trail); err != nil {
		return 0, err
	}
	if c.What == "gifts" {
		return all(t, export.Gifts(to, o), func(each func(*gift.Gift) error) error {
			return s.EachGift(t, a.ID, c.From, c.To, each)
		})
	}
	return all(t, export.Entries(to, o), func(each func(*gift.Change) error) error {
		return s.EachEntry(t, a.ID, c.From, c.To, each)
	})
}

// all writes all rows, and tells meanwhile how many there were.
func all[T any](t *terminal.Terminal, w *export.Writer[T], read func(each func(T) error) error) (int, error) {
	defer t.Status("")
	err := read(func(row T) error {
		if n := w.Rows(); n%10_000 == 0 {
			t.Status("%d written", n)
		}
		return w.Write(row)
	})
	return w.Rows(), errors.Join(err, w.Close())
}
