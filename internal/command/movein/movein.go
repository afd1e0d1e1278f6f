// Package movein has the commands that bring gifts of another system in, check what became of them, and write gifts out
// for another system.
package movein

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"boon.example/internal/base/durable"
	"boon.example/internal/base/phrase"
	"boon.example/internal/command/terminal"
	"boon.example/internal/event"
	"boon.example/internal/guid"
	"boon.example/internal/intake"
	"boon.example/internal/intake/page"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/post/print"
	"boon.example/internal/store"
)

// File brings a file in, or takes an import back.
type File struct {
	File        string          `arg:"" optional:"" help:"The file: CSV, as the other system exports it."`
	Account     string          `required:"" placeholder:"ID" help:"Whose gifts."`
	From        merchant.System `enum:"square,shopify,toast,giftup,woocommerce,lightspeed,csv" default:"csv" help:"The system that wrote the file: square, shopify, toast, giftup, woocommerce, lightspeed or csv. Default: ${default}."`
	DryRun      bool            `help:"Say what the file comes to, and change nothing."`
	ExpectCount int             `default:"-1" placeholder:"N" help:"How many gifts there must be; with any other number, nothing is imported."`
	ExpectTotal money.Number    `placeholder:"AMOUNT" help:"What the gifts of money must come to, such as 12345.67; with any other total, nothing is imported."`
	AsOf        time.Time       `placeholder:"TIME" help:"When the gifts begin in the books: the instant of the old system's last report, at most 30 years ago. Default: now."`
	LeaveOut    bool            `name:"leave-out-refused" help:"Import the other lines, although some are refused. Default: one refused line refuses all."`
	TillsOnly   bool            `help:"Import cards without PINs whose codes would be guessed within a year as cards for tills only: no web shop and no platform takes them, and the first use gives them a new code."`
	Certificate string          `placeholder:"FILE" help:"Where the certificate is written; the file must not exist yet. Default: boon-import-ID.json."`
	Undo        string          `placeholder:"ID" help:"Take an import back, as long as none of its gifts was used. Its codes are free then."`
}

// Help tells how it is used.
func (File) Help() string {
	return `Brings gifts of another system in, so that the old cards go on working. importedCodes in the set-up declares the codes.

The file is read twice. The first time, nothing is changed: boon import tells how many gifts there are, what they come to, and which
lines are refused, each with its number, its column and the reason. If cards are for tills only, by --tills-only or by the column
tillsOnly, it tells how many, and which keys take them. The second time, the gifts are written, beside a service that runs.
Nobody sees any of them before all are written. Then all are there at once. If the file changes meanwhile, nothing is finished.

If the command is stopped, give it once more: it goes on. If it was finished, it says so and writes the certificate. Or take back what it wrote with --undo.

With --as-of, the books count the gifts from that instant on: what is owed then is what the old system's report says. Reports of days
since then change; this is the only way in which they do.

The certificate says what was read, refused and imported, with the SHA-256 of the file. It is signed. boon import verify checks it.

Example:

    boon import cards.csv --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 --dry-run
    boon import cards.csv --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 --expect-count 5120 --expect-total 81204.50 --as-of 2026-11-28T23:00:00-05:00
    boon import --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01 --undo 019d8f3e-7a10-7c11-8a55-0d8f6a3f1c01`
}

// Check refuses what cannot be meant.
func (c *File) Check() error {
	switch _, err := guid.Parse(c.Account); {
	case err != nil:
		return noAccount
	case (c.File == "") == (c.Undo == ""):
		return terminal.UsageError("give a file to import, or --undo with the id of an import")
	}
	if wrong := intake.WrongAsOf(c.AsOf, time.Now()); wrong != nil {
		return terminal.UsageError("--as-of: " + wrong.String())
	}
	return nil
}

const noAccount = terminal.UsageError("--account is not the id of an account")

// Do imports the file, or takes an import back; by is who gives the command.
func (c *File) Do(t *terminal.Terminal, s *store.Store, by string) error {
	d, err := s.Directory(t)
	if err != nil {
		return err
	}
	account, err := guid.Parse(c.Account)
	a := d.Accounts[account]
	switch {
	case err != nil || a == nil:
		return noAccount
	case c.Undo != "":
		return c.undo(t, s, a)
	}
	return c.bring(t, s, d, a, by)
}

// undo takes an import back.
func (c *File) undo(t *terminal.Terminal, s *store.Store, a *merchant.Account) error {
	all, err := s.Imports(t, a.ID)
	if err != nil {
		return err
	}
	n := slices.IndexFunc(all, func(m intake.Import) bool { return m.ID.String() == c.Undo })
	if n < 0 {
		return terminal.UsageError("--undo is not the id of an import of this account: boon import list tells them")
	}
	m, freed := &all[n], 0
	defer t.Status("")
	defer intake.Tend(t, s, m)()
	err = s.UndoImport(t, m, event.TrailEntry{What: phrase.Kept("import %s of %d gifts is undone").Say(m.ID, m.Staged)},
		func(n int) {
			freed += n
			t.Status("%d of %d codes are free", freed, m.Staged)
		})
	if errors.Is(err, intake.ErrUsed) {
		return fmt.Errorf("import %s cannot be undone: gifts of it were used", m.ID)
	}
	if err == nil {
		fmt.Fprintf(t.Stdout, "Import %s is undone. Its %d gifts are gone, and their codes are free.\n", m.ID, m.Staged)
	}
	return err
}

// bring imports the file.
func (c *File) bring(t *terminal.Terminal, s *store.Store, d *merchant.Directory, a *merchant.Account,
	by string) error {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	o := &intake.Order{Account: a, Setup: d.Version, From: c.From, AsOf: c.AsOf, LeaveOut: c.LeaveOut,
		Count: c.ExpectCount, Total: c.ExpectTotal, TillsOnly: c.TillsOnly, MadeBy: by, Progress: progressOf(t)}
	r, err := intake.Check(t, s, o, file)
	if err != nil {
		return err
	}
	tellReport(t.Stdout, a, r)
	tellTillsOnly(t.Stdout, d, o, r)
	switch {
	case r.Refuses(o):
		return errors.New("nothing is imported")
	case c.DryRun:
		fmt.Fprintln(t.Stdout, "This was a dry run: nothing is changed.")
		return nil
	case r.Begun != nil && r.Begun.State == intake.Staged:
		fmt.Fprintf(t.Stdout, "Import %s goes on: %d of its gifts are written.\n", r.Begun.ID, r.Begun.Staged)
	}
	was := r.Begun != nil && r.Begun.State == intake.Finished
	m, err := intake.Bring(t, s, o, r, file)
	if err != nil {
		return howToGoOn(m, err)
	}
	if was {
		fmt.Fprintf(t.Stdout, "Import %s of this file is finished already.\n", m.ID)
	}
	fmt.Fprintf(t.Stdout, "Import %s is finished: %d gifts are there.\n", m.ID, m.Staged)
	return c.keep(t, m)
}

// tellTillsOnly says what becomes of cards whose codes would be guessed, how many cards are taken at tills only, and
// which keys take these.
func tellTillsOnly(to io.Writer, d *merchant.Directory, o *intake.Order, r *intake.Report) {
	if len(r.Guessed) > 0 && !o.TillsOnly {
		fmt.Fprintln(to, "If no web shop and no platform shall take these cards, give --tills-only.")
	}
	if r.TillsOnly <= 0 {
		return
	}
	fmt.Fprintf(to, "Cards that are taken at tills only, until their first use: %d.\n", r.TillsOnly)
	keys := d.TillsOnlyKeys(o.Account.ID, time.Now())
	if len(keys) == 0 {
		fmt.Fprintln(to, "Boon's own tills take them, and no key of the account does.")
		return
	}
	fmt.Fprintln(to, "Beside Boon's own tills, these keys take them. If one is a web shop's, take the permission "+
		"tills-only from it:")
	for _, k := range keys {
		fmt.Fprintf(to, "- %s (%s)\n", terminal.Cell(k.Name), k.ID)
	}
}

// howToGoOn adds to why an import failed what is there, and what to do.
func howToGoOn(m *intake.Import, err error) error {
	switch {
	case m == nil:
		return err
	case m.State == intake.Unknown:
		return fmt.Errorf("%w; whether import %s is finished is not known: give the same command once more, and it says so, "+
			"or goes on", err, m.ID)
	case errors.Is(err, intake.ErrMoved):
		return fmt.Errorf("import %s: %w: wait until that process has ended, and give the same command once more: it goes "+
			"on, or says that the import is finished", m.ID, err)
	case errors.Is(err, intake.ErrChanged):
		return fmt.Errorf("%w; nobody sees the gifts of import %s: take them back with --undo %s, and begin again",
			err, m.ID, m.ID)
	}
	return fmt.Errorf("%w; nobody sees the gifts of import %s: give the same command once more to go on, or --undo %s",
		err, m.ID, m.ID)
}

// keep writes the certificate to a file, unless the file has it already.
func (c *File) keep(t *terminal.Terminal, m *intake.Import) error {
	name := c.Certificate
	if name == "" {
		name = "boon-import-" + m.ID.String() + ".json"
	}
	if is, err := os.ReadFile(name); err != nil || string(is) != m.Told {
		if err := durable.Create(name, []byte(m.Told)); err != nil {
			return fmt.Errorf("the certificate cannot be written; boon import list --certificate %s prints it: %w", m.ID, err)
		}
	}
	fmt.Fprintf(t.Stdout, "The certificate is in %s.\n", terminal.Cell(name))
	fmt.Fprintf(t.Stdout,
		"boon import verify %s --key-file KEYFILE --pdf FILE makes the page that the accountant signs.\n",
		terminal.Cell(name))
	return nil
}

// keepPage writes the page of a certificate.
func keepPage(t *terminal.Terminal, name string, certificate []byte, paper string) error {
	on, _ := print.ParsePaper(paper) // the command line knows no other
	pdf, err := page.Of(certificate, false, print.BuiltIn(), on)
	if err == nil {
		err = durable.Create(name, pdf)
	}
	if err != nil {
		return fmt.Errorf("the page cannot be written: %w", err)
	}
	fmt.Fprintf(t.Stdout, "The page to sign is in %s.\n", terminal.Cell(name))
	return nil
}

// progressOf shows how far an import is: a bar while gifts are written.
func progressOf(t *terminal.Terminal) func(what string, done, total int) {
	bar := t.Progress("gifts written")
	return func(what string, done, total int) {
		if total > 0 {
			bar(int64(done), int64(total))
		} else if done%10_000 == 0 {
			t.Status("%d %s", done, what)
		}
	}
}

// tellReport says what a file comes to.
func tellReport(to io.Writer, a *merchant.Account, r *intake.Report) {
	fmt.Fprintf(to, "%d lines: %d gifts, %s", r.Read, r.Taken, a.Currency.Money(r.Total))
	if r.Pieces > 0 {
		fmt.Fprintf(to, ", %d pieces of item gifts", int64(r.Pieces))
	}
	fmt.Fprintf(to, "; %d lines are refused.\nSHA-256 of the file: %x\n", r.Refused, r.File)
	if len(r.Unread) > 0 {
		fmt.Fprintf(to, "Columns that are not read: %s\n", terminal.Cell(strings.Join(r.Unread, ", ")))
	}
	for _, p := range r.Problems {
		switch {
		case p.Line == 0:
			fmt.Fprintln(to, terminal.Cell(p.Said.String()))
		case p.Column == "":
			fmt.Fprintf(to, "Line %d: %s\n", p.Line, terminal.Cell(p.Said.String()))
		default:
			fmt.Fprintf(to, "Line %d, %s: %s\n", p.Line, terminal.Cell(p.Column), terminal.Cell(p.Said.String()))
		}
	}
	if len(r.Problems) < r.Refused {
		fmt.Fprintf(to, "These are the first %d problems.\n", len(r.Problems))
	}
	for _, sentence := range slices.Concat(r.Warnings, r.Differs) {
		fmt.Fprintln(to, terminal.Cell(sentence.String()))
	}
}

// List lists imports.
type List struct {
	Account     string `required:"" placeholder:"ID" help:"Whose imports."`
	Certificate string `placeholder:"ID" help:"Print the certificate of this import, as JSON."`
}

// Help tells how it is used.
func (List) Help() string {
	return `Lists the imports of an account, the newest first: STAGED is one that is not finished.

Example:

    boon import list --account 7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01`
}

// Do lists the imports.
func (c *List) Do(t *terminal.Terminal, s *store.Store) error {
	account, err := guid.Parse(c.Account)
	if err != nil {
		return noAccount
	}
	all, err := s.Imports(t, account)
	if err != nil {
		return err
	}
	if c.Certificate != "" {
		n := slices.IndexFunc(all, func(m intake.Import) bool { return m.ID.String() == c.Certificate && m.Told != "" })
		if n < 0 {
			return terminal.UsageError("--certificate is not the id of a finished import of this account")
		}
		m, err := s.ConfirmImport(t, account, all[n].ID)
		if err != nil {
			return err
		}
		if m.State != intake.Finished {
			fmt.Fprintf(t.Stderr, "Import %s was taken back after this certificate was signed: none of its gifts is valid.\n",
				m.ID)
		}
		_, err = io.WriteString(t.Stdout, m.Told)
		return err
	}
	w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "IMPORT\tSTATE\tGIFTS\tAS OF\tBEGUN\tBY")
	for _, m := range all {
		gifts := fmt.Sprint(m.Staged)
		if m.State == intake.Staged && m.Planned > 0 {
			gifts = fmt.Sprintf("%d of %d", m.Staged, m.Planned)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.ID, m.State, gifts, terminal.Moment(m.AsOf),
			terminal.Moment(m.StartedAt), terminal.Cell(m.MadeBy))
	}
	return w.Flush()
}

// Verify checks a certificate.
type Verify struct {
	File    string `arg:"" help:"The certificate, as JSON."`
	Key     string `placeholder:"HEX" help:"The public key that must have signed it. --key-file says which one that is."`
	KeyFile string `placeholder:"FILE" help:"The key file of the installation that must have signed it."`
	PDF     string `name:"pdf" placeholder:"FILE" help:"Where the page is written that somebody signs; the file must not exist yet."`
	Paper   string `enum:"a4,letter" default:"a4" help:"Its paper: a4 or letter. Default: ${default}."`
}

// Help tells how it is used.
func (Verify) Help() string {
	return `Checks that a certificate says what it said when it was signed, and shows it. No database and no service is needed.

Anybody can sign a certificate with a key of their own. So name the key that must have signed it: with --key, or on the machine of Boon
with --key-file. Without either, compare the key that is shown with the one that you were told on another way.

--pdf makes a page of it, with lines for date, name and signature, for the accountant. It needs --key or --key-file.

Example:

    boon import verify boon-import-019d8f3e-7a10-7c11-8a55-0d8f6a3f1c01.json --key-file /etc/boon/boon.key`
}

// Run checks a certificate.
func (c *Verify) Run(t *terminal.Terminal) error {
	if c.PDF != "" && c.Key == "" && c.KeyFile == "" {
		return terminal.UsageError("--pdf says that Boon signed the certificate: give --key or --key-file, to compare " +
			"the key that signed it")
	}
	text, err := terminal.ReadFile(t, c.File)
	if err != nil {
		return err
	}
	certificate, by, err := intake.ReadCertificate(text)
	if err != nil {
		return err
	}
	known := []string{}
	if c.Key != "" {
		known = append(known, c.Key)
	}
	if c.KeyFile != "" {
		keys, err := (store.KeyFile{Path: c.KeyFile}).Load()
		if err != nil {
			return err
		}
		known = append(known, keys.Signers()...)
	}
	w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', 0)
	for _, line := range certificate.Lines() {
		fmt.Fprintf(w, "%s\t%s\n", line[0], terminal.Cell(line[1]))
	}
	fmt.Fprintf(w, "Signed by the key\t%s\n", by.Key)
	if err := w.Flush(); err != nil {
		return err
	}
	if len(known) > 0 && !slices.Contains(known, by.Key) {
		return errors.New("the certificate is as it was signed, but another key signed it")
	}
	fmt.Fprintln(t.Stdout, "The certificate is as it was signed.")
	if c.PDF == "" {
		return nil
	}
	return keepPage(t, c.PDF, text, c.Paper)
}
