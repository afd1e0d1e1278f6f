package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/command/terminal"
	"boon.example/internal/store"
	"boon.example/internal/store/transfer"
)

type copyCmd struct {
	From string `required:"" placeholder:"DIR|URL" help:"Data folder, or postgres://… database, to copy."`
	To   string `required:"" placeholder:"DIR|URL" help:"Where to: a new data folder, or an empty postgres://… database."`
	Data string `setting:"env" placeholder:"DIR" help:"Folder of the key file of a postgres://… database."`
	keyFileEnv
}

func (copyCmd) Help() string {
	return `Copies a whole installation: set-up, API keys, gifts, their ledger, idempotency records, codes, tokens, jobs, counts of wrong
codes. Every row is copied as it is; nothing is decrypted, and both sides use the same key file, which is copied into a new
folder. For a postgres://… database it is the one in --data; default: in the folder on the other side, else in ./boon-data.
With --key-file it is that one, on both sides, and nothing is copied.

Nothing else may use either side meanwhile: stop boon serve first. The destination must be empty. At the end every row is
read on both sides and compared, and the sums of each account are shown. Only then can the destination be served: a copy
that was cut off is thrown away and made again. Exit code 1 if anything differs.

Example:

    boon copy --from ./boon-data --to postgres://boon@db.example.com/boon

Then: boon verify, and boon serve, on the destination. The source stays as it was; do not serve it again.`
}

func (c *copyCmd) Run(t *terminal.Terminal) error {
	from, to := c.ends(keyFile(t, c.KeyFile))
	begun, shown := time.Now(), ""
	var show func(done, total int64)
	r, err := transfer.Copy(t, from, to, func(doing string, done, total int64) {
		if doing != shown {
			show, shown = t.Progress(doing), doing
		}
		show(done, total)
	})
	if err != nil && t.Err() != nil {
		return errors.New("stopped; what is in the destination is not complete: make an empty one and copy again")
	}
	if err != nil {
		return err
	}
	seconds := time.Since(begun).Seconds()
	fmt.Fprintf(t.Stdout, "%d rows copied and compared in %.1f s, %.0f a second.\n\n", r.Rows, seconds,
		float64(r.Rows)/seconds)
	compared(t, r.Accounts)
	for _, d := range r.Differences {
		fmt.Fprintln(t.Stdout, terminal.Cell(d))
	}
	if len(r.Differences) > 0 {
		fmt.Fprintln(t.Stdout, "The two are not equal. The destination cannot be served; make an empty one and copy again.")
		return terminal.ErrQuiet
	}
	fmt.Fprintln(t.Stdout, "Every row of every table is the same on both sides.")
	return nil
}

// ends are the two sides. The key file of a PostgreSQL database lies in the folder that --data names.
func (c *copyCmd) ends(keys store.KeyFile) (from, to store.Options) {
	end := func(this, other string) store.Options {
		switch {
		case !isURL(this):
			return store.Options{Dir: this, KeyFile: keys}
		case c.Data != "":
			return store.Options{Dir: c.Data, KeyFile: keys, Database: this}
		case !isURL(other):
			return store.Options{Dir: other, KeyFile: keys, Database: this}
		}
		return store.Options{Dir: "./boon-data", KeyFile: keys, Database: this}
	}
	return end(c.From, c.To), end(c.To, c.From)
}

func isURL(s string) bool {
	return strings.HasPrefix(s, "postgres://") || strings.HasPrefix(s, "postgresql://")
}

// compared shows the accounts on both sides, a line for each figure.
func compared(t *terminal.Terminal, accounts []transfer.AccountTotals) {
	var rows [][]string
	for _, a := range accounts {
		name := a.Account.String()
		for _, figure := range []struct {
			what     string
			from, to int64
		}{
			{"vouchers", a.From.Vouchers, a.To.Vouchers}, {"values", a.From.Funded, a.To.Funded},
			{"balances", a.From.Balance, a.To.Balance},
			{"entries", a.From.Entries, a.To.Entries}, {"changes", a.From.Delta, a.To.Delta},
			{"requests", a.From.Requests, a.To.Requests}, {"jobs", a.From.Jobs, a.To.Jobs},
		} {
			verdict := "="
			if figure.from != figure.to {
				verdict = "DIFFERS"
			}
			from, to := strconv.FormatInt(figure.from, 10), strconv.FormatInt(figure.to, 10)
			rows = append(rows, []string{name, figure.what, from, to, verdict})
			name = ""
		}
	}
	terminal.Table(t.Stdout, []string{"account", "", "source", "destination", ""}, rows)
	fmt.Fprintln(t.Stdout)
}
