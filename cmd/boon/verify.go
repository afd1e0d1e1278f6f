package main

import (
	"fmt"

	"github.com/schollz/progressbar/v3"

	"boon.example/internal/ledger"
	"boon.example/internal/store"
)

type verifyCmd struct{ database }

// Help teaches.
func (verifyCmd) Help() string {
	return `Reads every gift and its whole history, computes its balance and status anew, and checks every invariant: balances are the sum of
their ledger and never below zero, nothing was reversed twice, codes are unique and can be opened. It changes nothing and may run
beside a service. Exit code 1, and a list, if anything is off.

Example:

    boon verify --data ./boon-data`
}

// Run verifies the data folder.
func (c *verifyCmd) Run(t *terminal) error {
	return c.with(t, true, func(s *store.Store) error {
		report, err := ledger.Verify(t, s, t.progress("verifying"))
		if err != nil {
			return err
		}
		for _, p := range report.Problems {
			fmt.Fprintln(t.stdout, cell(p))
		}
		if report.More > 0 {
			fmt.Fprintf(t.stdout, "… and %d more.\n", report.More)
		}
		fmt.Fprintf(t.stdout, "%d gifts and %d ledger entries read.\n", report.Vouchers, report.Entries)
		if n := int64(len(report.Problems)) + report.More; n > 0 {
			fmt.Fprintf(t.stdout, "%d problems found.\n", n)
			return errQuiet
		}
		fmt.Fprintln(t.stdout, "Everything holds.")
		return nil
	})
}

// progress shows a bar on a terminal, and nothing elsewhere.
func (t *terminal) progress(what string) func(done, total int64) {
	if !onTerminal(t.stderr) {
		return func(int64, int64) {}
	}
	var bar *progressbar.ProgressBar
	return func(done, total int64) {
		if bar == nil {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(t.stderr), progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(65e6))
		}
		if bar.GetMax64() != total {
			bar.ChangeMax64(total)
		}
		bar.Set64(done)
	}
}
