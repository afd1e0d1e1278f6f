package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/durable"
	"boon.example/internal/base/nice"
	"boon.example/internal/chain"
	"boon.example/internal/command/terminal"
	"boon.example/internal/ledger/verify"
	"boon.example/internal/store"
)

type verifyCmd struct {
	Checkpoint  string `placeholder:"FILE" help:"Write how far every hash chain has come, to be kept elsewhere and given to --since later."`
	Since       string `placeholder:"FILE" help:"Check that nothing is gone that was there when --checkpoint wrote this file."`
	Changes     bool   `help:"Show every change of the set-up: when, by whom, what."`
	Accept      string `name:"accept-set-up" placeholder:"WHY" help:"First take the set-up in the database as it is, although it was changed past boon, and write who did so, and why, into its log."`
	Acknowledge string `placeholder:"WHY" help:"Write into the log of the set-up that you accept what is found, and why: it is not named again."`
	Readers     int    `placeholder:"N" help:"How many readers read at the same time. Default: one for each core, four at most."`
	database
}

func (verifyCmd) Help() string {
	return `Reads every gift and its whole history, computes its balance and status anew, and checks every invariant: balances are the sum of
their ledger and never below zero, nothing was reversed twice, codes are unique and can be opened, and every entry and every change of
the set-up still is what was written, in its place. It changes nothing and may run beside a service: on Linux it leaves the processor to
whoever else wants it. A database on a server does its part of the work at the priority of every other query; there, --readers 1 leaves
more to the tills. Exit code 1, and a list, if anything is off.

If anything but boon changed the set-up in the database, no service takes the change: each goes on with the set-up that it had. If the change
is yours, look at it (boon key list) and accept it with --accept-set-up. The log of the set-up keeps that you did.

If the newest rows of all hash chains are gone, nothing in the database contradicts that: it looks as it looked when it was older. So write
a checkpoint (--checkpoint) from time to time, keep it on another machine, and compare the books with the last one (--since).

If something cannot be mended, such as the gap that a restored database left, accept it with --acknowledge "WHY". From then on boon verify
names only what is new. The log of the set-up (--changes) keeps who accepted it, when and why. If an accepted record is changed once
more, it is named again only if the sentence about it differs.

Example:

    boon verify --data ./boon-data --since checkpoint.txt --checkpoint checkpoint.txt`
}

func (c *verifyCmd) Run(t *terminal.Terminal) error {
	since, err := readCheckpoint(c.Since)
	if err != nil {
		return err
	}
	readers := c.Readers
	switch {
	case readers < 0:
		return errors.New("--readers must be 1 or more")
	case readers == 0:
		readers = min(runtime.GOMAXPROCS(0), 4)
	}
	nice.GiveWay()
	return c.with(t, true, func(s *store.Store) error {
		if err := c.accept(t, s); err != nil {
			return err
		}
		if c.Changes {
			if err := printChanges(t, s); err != nil {
				return err
			}
		}
		books := &checkedSince{Store: s, checkpoint: since}
		report, err := verify.All(t, books, readers, t.Progress("verifying"))
		if err != nil { // what was found until then is told all the same
			printProblems(t, &report)
			return err
		}
		if err := noteRestored(t, s, &report); err != nil {
			return err
		}
		printProblems(t, &report)
		fmt.Fprintf(t.Stdout, "%d gifts and %d ledger entries read.\n", report.Vouchers, report.Entries)
		if n := int64(len(report.Problems)) + report.More; n > 0 {
			fmt.Fprintf(t.Stdout, "%d problems found.\n", n)
			if c.Acknowledge == "" {
				return terminal.ErrQuiet
			}
			if err := acknowledge(t, s, report, c.Acknowledge); err != nil {
				return err
			}
		}
		if c.Checkpoint != "" {
			var text bytes.Buffer
			err := errors.Join(chain.WriteCheckpoint(&text, books.check.Checkpoint()),
				durable.Replace(c.Checkpoint, text.Bytes()))
			if err != nil {
				return fmt.Errorf("writing the checkpoint: %w", err)
			}
		}
		return printVerdict(t, s)
	})
}

// printProblems lists what was found.
func printProblems(t *terminal.Terminal, r *verify.Report) {
	for _, p := range r.Problems {
		fmt.Fprintln(t.Stdout, terminal.Cell(p))
	}
	if r.More > 0 {
		fmt.Fprintf(t.Stdout, "… and %d more.\n", r.More)
	}
}

// acknowledge notes that a person accepts what was found.
func acknowledge(t *terminal.Terminal, s *store.Store, report verify.Report, why string) error {
	if report.More > 0 {
		return fmt.Errorf("nothing was acknowledged: there are more problems than the %d that were listed, and nobody can "+
			"accept what nobody has read", len(report.Problems))
	}
	return s.Acknowledge(t, report.Problems, why)
}

// printVerdict tells that everything holds, but for what was acknowledged.
func printVerdict(t *terminal.Terminal, s *store.Store) error {
	n, err := s.CountAcknowledged(t)
	if err != nil {
		return err
	}
	if n == 0 {
		fmt.Fprintln(t.Stdout, "Everything holds.")
		return nil
	}
	fmt.Fprintf(t.Stdout, "Everything holds, but for %d problems that were acknowledged: boon verify --changes shows by "+
		"whom and why.\n", n)
	return nil
}

// noteRestored notes what came of verifying a database that was restored before it was verified.
func noteRestored(t *terminal.Terminal, s *store.Store, r *verify.Report) error {
	restored, err := s.Verification(t)
	if err != nil || restored == (store.Restored{}) {
		return err
	}
	return s.NoteVerified(t, r, time.Now())
}

// accept takes a set-up that was changed past boon, if that is asked for.
func (c *verifyCmd) accept(t *terminal.Terminal, s *store.Store) error {
	why := strings.TrimSpace(c.Accept)
	if why == "" {
		return nil
	}
	accepted, err := s.Accept(t, why)
	if err == nil && !accepted {
		fmt.Fprintln(t.Stdout, "There is nothing to accept: the set-up is what its log says.")
	}
	return err
}

// checkedSince is a store that is verified with a checkpoint.
type checkedSince struct {
	*store.Store
	checkpoint []chain.Head
	check      interface{ Checkpoint() []chain.Head } // the last
}

// Check implements verify.VoucherReader.
func (s *checkedSince) Check(found func(problem string)) verify.Check {
	check := s.CheckSince(s.checkpoint, found)
	s.check = check
	return check
}

func readCheckpoint(file string) ([]chain.Head, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint (leave --since out if there is none yet): %w", err)
	}
	heads, err := chain.ReadCheckpoint(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading the checkpoint %s: %w", file, err)
	}
	return heads, nil
}

// printChanges lists the changes of the set-up.
func printChanges(t *terminal.Terminal, s *store.Store) error {
	changes, err := s.SetupChanges(t)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, c := range changes {
		for line := range strings.Lines(c.What) {
			rows = append(rows, []string{strconv.FormatInt(c.Number, 10), terminal.Moment(c.At), c.By,
				strings.TrimSuffix(line, "\n")})
		}
	}
	terminal.Table(t.Stdout, []string{"change", "at", "by", "what"}, rows)
	return nil
}
