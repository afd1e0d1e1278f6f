// Package reports has the commands about the books, which ask a running service: they print reports, write journals for
// a bookkeeper, and tell whether a file with one of them is still what the service says.
package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	strict "github.com/go-json-experiment/json"

	"boon.example/client"
	"boon.example/internal/command/remote"
	"boon.example/internal/command/terminal"
)

// Report has the commands about the reports of the books.
type Report struct {
	Liability   reportLiability   `cmd:"" help:"What is owed for gifts."`
	RollForward reportRollForward `cmd:"" help:"How what is owed changed in a period."`
	Redemptions reportRedemptions `cmd:"" help:"What was redeemed in a period."`
	Settlement  reportSettlement  `cmd:"" help:"Which location or company owes which, and what they pay to be even."`
	Ageing      reportAgeing      `cmd:"" help:"What is owed, by the month in which it was sold."`
	Breakage    reportBreakage    `cmd:"" help:"How much of what is owed will never be redeemed."`
	Dormant     reportDormant     `cmd:"" help:"Gifts that nobody has used for months."`
	Journal     reportJournal     `cmd:"" help:"Write the entries of days for your ledger into a file."`
	Verify      reportVerify      `cmd:"" help:"Make a report again, and compare it with a file."`
}

type reportLiability struct {
	instant
	GroupBy []string `placeholder:"GROUP" help:"Split the rows by: program, organization, currency, month."`
	remote.Service
}

func (reportLiability) Help() string {
	return `Needs the permission reports. With --json: the whole answer, as boon report verify takes it.

Example:

    boon report liability --at 2026-11-30 --group-by organization`
}

// Run tells what is owed.
func (c *reportLiability) Run(t *terminal.Terminal) error {
	return report(t, &c.Service, "liability", client.ReportQuery{At: c.At, GroupBy: c.GroupBy})
}

type period struct {
	From string `required:"" placeholder:"TIME" help:"From the beginning of a day such as 2026-11-01, or from a time on."`
	To   string `placeholder:"TIME" help:"Up to the end of a day, or up to a time. Default: now."`
}

type reportRollForward struct {
	period
	remote.Service
}

func (reportRollForward) Help() string {
	return `Needs the permission reports. Each line is what it added: the opening and all lines come to the closing. With --json: the whole answer, as boon report verify takes it.

Example:

    boon report roll-forward --from 2026-11-01 --to 2026-11-30`
}

// Run tells how what is owed changed.
func (c *reportRollForward) Run(t *terminal.Terminal) error {
	return report(t, &c.Service, "roll-forward", client.ReportQuery{From: c.From, To: c.To})
}

type reportRedemptions struct {
	period
	GroupBy []string `placeholder:"GROUP" help:"Split the rows by: organization, day, program, key."`
	remote.Service
}

func (reportRedemptions) Help() string {
	return `Needs the permission reports. With --json: the whole answer, as boon report verify takes it.

Example:

    boon report redemptions --from 2026-11-01 --to 2026-11-30 --group-by organization,day`
}

// Run tells what was redeemed.
func (c *reportRedemptions) Run(t *terminal.Terminal) error {
	return report(t, &c.Service, "redemptions", client.ReportQuery{From: c.From, To: c.To, GroupBy: c.GroupBy})
}

type reportSettlement struct {
	period
	remote.Service
}

func (reportSettlement) Help() string {
	return `Needs the permission reports. Prints three tables: where value was sold and where it was used; DEBTS, what companies owe each other; PAYMENTS that settle them. A debtor without a name is the account itself. With --json: the whole answer, as boon report verify takes it.

Example:

    boon report settlement --from 2026-11-01 --to 2026-11-30`
}

// Run tells who owes whom.
func (c *reportSettlement) Run(t *terminal.Terminal) error {
	return report(t, &c.Service, "settlement", client.ReportQuery{From: c.From, To: c.To}, "debts", "payments")
}

type instant struct {
	At string `placeholder:"TIME" help:"The end of a day, such as 2026-11-30, or a time, such as 2026-11-30T17:00:00Z. Default: now."`
}

type reportAgeing struct {
	instant
	remote.Service
}

func (reportAgeing) Help() string {
	return `Needs the permission reports. Of each month: what was sold, what became of it, and which share of it was redeemed (REDEEMEDSHARE, as a part of 1). With --json: the whole answer, as boon report verify takes it.

Example:

    boon report ageing --at 2026-11-30`
}

// Run tells what is owed of each month.
func (c *reportAgeing) Run(t *terminal.Terminal) error {
	return report(t, &c.Service, "ageing", client.ReportQuery{At: c.At})
}

type reportBreakage struct {
	instant
	Rate string `required:"" placeholder:"PERCENT" help:"How much of what is sold is never redeemed, such as 7.5. Ask your accountant."`
	Post string `placeholder:"MONTH" help:"Book the breakage of a month that is over, such as 2026-11, once."`
	remote.Service
}

func (reportBreakage) Help() string {
	return `Needs the permission reports. Estimates in proportion to what was redeemed, for each program and month of sale (ASC 606-10-55-48, IFRS 15 B46). Nothing is estimated where the set-up says escheat. Prints three tables: the estimate; TOTALS, what is booked and what a booking would add; BOOKINGS, what was booked, when and with which key. The last two are of the whole account: a key that is limited to locations is not told them. With --json: the whole answer, as boon report verify takes it.

With --post, the estimate of the end of a month is booked, as far as earlier months have not booked it: the journal of today has it. The set-up must name the accounts liability and breakage.

Examples:

    boon report breakage --at 2026-11-30 --rate 7.5
    boon report breakage --post 2026-11 --rate 7.5`
}

// Run tells what will never be redeemed.
func (c *reportBreakage) Run(t *terminal.Terminal) error {
	rate, err := remote.Amount("--rate", c.Rate)
	if err != nil {
		return err
	}
	if c.Post != "" {
		return c.post(t, rate)
	}
	return report(t, &c.Service, "breakage", client.ReportQuery{At: c.At, Rate: rate}, "totals", "bookings")
}

// post books breakage.
func (c *reportBreakage) post(t *terminal.Terminal, rate client.Decimal) error {
	if c.At != "" {
		return terminal.UsageError("--post names a month: leave --at out")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	booked, err := api.BookBreakage(t, client.BookBreakageRequest{Month: c.Post, Rate: rate})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.Answer(t, booked.Meta.Body, nil)
	}
	rows := make([][]string, len(booked.Bookings))
	for n, b := range booked.Bookings {
		rows[n] = []string{b.ProgramID, b.Currency, b.Amount.String()}
	}
	terminal.Table(t.Stdout, []string{"PROGRAMID", "CURRENCY", "BOOKED"}, rows)
	return nil
}

type reportDormant struct {
	instant
	Months int `required:"" placeholder:"MONTHS" help:"For how many months nobody has used the gifts, such as 36."`
	remote.Service
}

func (reportDormant) Help() string {
	return `Needs the permission reports. Tells how many gifts nobody has used, and what is owed for them, by the jurisdiction of the location that sold them: for whoever reports unclaimed property. With --json: the whole answer, as boon report verify takes it.

Example:

    boon report dormant --at 2026-06-30 --months 36`
}

// Run tells of gifts that nobody has used.
func (c *reportDormant) Run(t *terminal.Terminal) error {
	return report(t, &c.Service, "dormant", client.ReportQuery{At: c.At, Months: c.Months})
}

// report prints a report, and further lists of it under their names: for people as a table, in which ids have their
// names.
func report(t *terminal.Terminal, s *remote.Service, name string, q client.ReportQuery, more ...string) error {
	api, err := s.Client(t)
	if err != nil {
		return err
	}
	r, err := api.AnyReport(t, name, q)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.Answer(t, r.Meta.Body, nil)
	}
	var named struct{ Names []struct{ ID, Name string } }
	if err := json.Unmarshal(r.Meta.Body, &named); err != nil {
		return err
	}
	names := map[string]string{}
	for _, n := range named.Names {
		names[n.ID] = n.Name
	}
	if len(r.Rows) == 0 {
		fmt.Fprintln(t.Stdout, "There is nothing to report.")
	} else if err := printRows(t, r.Rows, names); err != nil {
		return err
	}
	var lists map[string]json.RawMessage
	if err := json.Unmarshal(r.Content, &lists); err != nil {
		return err
	}
	for _, list := range more {
		var rows []json.RawMessage
		if err := json.Unmarshal(lists[list], &rows); err != nil {
			return err
		}
		if rows == nil || len(r.Rows)+len(rows) == 0 {
			continue // the key may not see it, or there is nothing
		}
		fmt.Fprintf(t.Stdout, "\n%s\n", strings.ToUpper(list))
		if len(rows) == 0 {
			fmt.Fprintln(t.Stdout, "None.")
		} else if err := printRows(t, rows, names); err != nil {
			return err
		}
	}
	return nil
}

// printRows prints rows as a table; names are those of ids.
func printRows(t *terminal.Terminal, objects []json.RawMessage, names map[string]string) error {
	var heading []string
	var rows [][]string
	for _, text := range objects {
		columns, cells, err := members(text)
		if err != nil {
			return err
		}
		for n, cell := range cells {
			if names[cell] != "" {
				cells[n] = names[cell]
			}
		}
		heading, rows = columns, append(rows, cells)
	}
	terminal.Table(t.Stdout, heading, rows)
	return nil
}

// members are the names and values of an object, in their order.
func members(object []byte) (names, values []string, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	for n := 0; ; n++ {
		token, err := d.Token()
		_, brace := token.(json.Delim)
		switch {
		case err != nil:
			return nil, nil, err
		case brace && n > 0:
			return names, values, nil
		case brace:
		case n%2 == 1:
			names = append(names, strings.ToUpper(fmt.Sprint(token)))
		case token == nil:
			values = append(values, "")
		default:
			values = append(values, fmt.Sprint(token))
		}
	}
}

type reportVerify struct {
	File string `arg:"" placeholder:"FILE" help:"What boon report printed with --json, or the service answered; or a journal, with FILE.proof.json beside it."`
	remote.Service
}

func (reportVerify) Help() string {
	return `Says whether the file was changed since the report was made, and whether the service makes the same report today. It needs the permission reports, and a key that is limited to the same locations.

Example:

    boon report liability --at 2026-11-30 --json > november.json
    boon report verify november.json
    boon report verify september.csv`
}

// proven is an answer with a report.
type proven struct {
	Report   json.RawMessage
	ReportID string
	SHA256   string
}

// Run compares.
func (c *reportVerify) Run(t *terminal.Terminal) error {
	text, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	if proof, err := proofOf(c.File, text); err != nil {
		return err
	} else if proof != nil {
		return c.verifyJournal(t, text, proof)
	}
	var was proven
	var asked struct {
		Name, At, From, To string
		GroupBy            []string
		Rate               client.Decimal
		Months             int
	}
	// With a report twice in the file, another one could be compared than the one that people see in it.
	wrong := strict.Unmarshal(text, &was, strict.MatchCaseInsensitiveNames(true))
	if wrong != nil || json.Unmarshal(was.Report, &asked) != nil || was.SHA256 == "" {
		return terminal.UsageError("FILE is no report in JSON, as boon report prints it with --json, and no journal with " +
			"FILE.proof.json beside it")
	}
	if sum := sha256.Sum256(was.Report); hex.EncodeToString(sum[:]) != was.SHA256 {
		return errors.New("the file was changed: its SHA-256 is not that of its report")
	}
	api, err := c.Client(t)
	if err != nil {
		return err
	}
	q := client.ReportQuery{At: asked.At, From: asked.From, To: asked.To, GroupBy: asked.GroupBy, Rate: asked.Rate,
		Months: asked.Months}
	r, err := api.AnyReport(t, asked.Name, q)
	if err != nil {
		return err
	}
	var is proven
	if err := json.Unmarshal(r.Meta.Body, &is); err != nil {
		return err
	}
	if !bytes.Equal(is.Report, was.Report) {
		return fmt.Errorf("the service makes another report today: its SHA-256 is %s, that of the file %s", is.SHA256,
			was.SHA256)
	}
	fmt.Fprintf(t.Stdout, "Report %s is what the service says today.\n", terminal.Cell(was.ReportID))
	return nil
}
