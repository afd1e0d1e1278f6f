package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"boon.example/client"
	"boon.example/internal/books/journal"
	"boon.example/internal/command/remote"
	"boon.example/internal/command/terminal"
)

type reportJournal struct {
	From   string `required:"" placeholder:"DAY" help:"The first day, such as 2026-09-01."`
	To     string `placeholder:"DAY" help:"The last day, yesterday at the latest. Default: yesterday."`
	Format string `enum:"csv,datev,xero,quickbooks,hledger" default:"csv" help:"csv, datev, xero, quickbooks or hledger. Default: ${default}."`
	Out    string `required:"" placeholder:"FILE" help:"The file, which must not exist yet."`
	remote.Service
}

func (reportJournal) Help() string {
	return `The key needs the permission reports. Name the accounts of the ledger in the set-up file (books) before.
Of several months, datev is a ZIP archive.
Beside FILE, FILE.proof.json says what the journal is of, its report id, its SHA-256 and the heads of the hash chains. boon report verify FILE takes both.

Example:

    boon report journal --from 2026-09-01 --to 2026-09-30 --format datev --out september.csv`
}

// Run writes the file.
func (c *reportJournal) Run(t *terminal.Terminal) error {
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	made, err := api.Journal(t, client.JournalFilter{From: c.From, To: c.To, Format: client.JournalFormat(c.Format)})
	if err != nil {
		return err
	}
	if err := create(c.Out, made.Content); err != nil {
		return err
	}
	if err := create(c.Out+proofFile, append(made.Proof, '\n')); err != nil {
		_ = os.Remove(c.Out) // each would be there without the other
		return err
	}
	fmt.Fprintf(t.Stdout, "%s holds the journal, and %s what proves it: report %s, SHA-256 %s.\n", terminal.Cell(c.Out),
		terminal.Cell(c.Out+proofFile), terminal.Cell(made.ReportID), terminal.Cell(made.SHA256))
	return nil
}

// proofFile is what follows the name of a journal in the name of the file that proves it.
const proofFile = ".proof.json"

// create writes a file, which must not exist yet.
func create(name string, content []byte) error {
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return terminal.UsageError(fmt.Sprintf("--out: %v.", err))
	}
	_, err = to.Write(content)
	if closed := to.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(name) // it holds nothing whole
	}
	return err
}

// proofOf is what proves the journal in a file: in the file beside it, or in its last line; nil: it is no journal.
func proofOf(name string, text []byte) (proof []byte, err error) {
	proof, err = os.ReadFile(name + proofFile)
	if errors.Is(err, fs.ErrNotExist) {
		_, proof = journal.Proof(text)
		err = nil
	}
	return proof, err
}

// verifyJournal says whether a journal was changed since it was made, and whether the service makes the same today.
func (c *reportVerify) verifyJournal(t *terminal.Terminal, text, proof []byte) error {
	var was struct {
		From, To, ReportID, SHA256 string
		Format                     journal.Format
	}
	if json.Unmarshal(proof, &was) != nil || was.SHA256 == "" {
		return terminal.UsageError("what proves the journal is no JSON, as boon report journal writes it")
	}
	content, format := text, was.Format
	if format == journal.HLedger {
		content, _ = journal.Proof(text)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != was.SHA256 {
		return errors.New("the file was changed: its SHA-256 is not that of its proof")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	is, err := api.Journal(t, client.JournalFilter{From: was.From, To: was.To, Format: client.JournalFormat(was.Format)})
	if err != nil {
		return err
	}
	if !journal.Same(format, is.Content, text) {
		return fmt.Errorf("the service makes another journal today: its SHA-256 is %s, that of the file %s. If the set-up "+
			"now has other names of accounts, programs or locations, the journal has them too", is.SHA256, was.SHA256)
	}
	fmt.Fprintf(t.Stdout, "Journal %s is what the service says today.\n", terminal.Cell(was.ReportID))
	return nil
}
