package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/books"
	"boon.example/internal/books/report"
	"boon.example/internal/face/api/payload"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/wire"
)

// content is a report itself, in JSON: what its SHA-256 is of. It has nothing that may change later, such as a name.
func (c *Call) content(a *asked, table *report.Table) []byte {
	w := wire.NewWriter(512 + 256*len(table.Rows))
	w.Open()
	w.Text("name", a.Name)
	w.ID("accountID", c.Account.ID)
	w.Text("timeZone", c.Account.Zone.String())
	if a.period {
		w.Instant("from", a.from)
		w.Instant("to", a.until)
	} else {
		w.Instant("at", a.until)
	}
	if a.Kind.number != nil {
		w.Amount(a.Kind.number.name, a.Kind.number.unit, a.number)
	}
	w.Texts("groupBy", names(a.groups))
	w.Texts("organizationIDs", c.locations())
	writeRows(&w, "rows", table)
	for n := range table.Parts {
		if part := &table.Parts[n]; part.Withheld {
			w.Null(part.Name)
		} else {
			writeRows(&w, part.Name, &part.Table)
		}
	}
	w.Close()
	return w.Bytes()
}

func writeRows(w *wire.Writer, name string, table *report.Table) {
	w.List(name)
	for n := range table.Rows {
		w.Open()
		for i, column := range table.Columns {
			writeCell(w, column, table.Rows[n].Unit, table.Rows[n].Cells[i])
		}
		w.Close()
	}
	w.EndList()
}

// locations are those that the key is limited to, in order.
func (c *Call) locations() []string {
	texts := make([]string, len(c.Caller.Locations))
	for n, id := range c.Caller.Locations {
		texts[n] = id.String()
	}
	slices.Sort(texts)
	return texts
}

func writeCell(w *wire.Writer, column report.Column, unit money.Currency, cell report.Cell) {
	switch column.Kind {
	case report.Flag:
		w.Boolean(column.Name, cell.N != 0)
	case report.Count:
		w.Integer(column.Name, int(cell.N))
	case report.Amount:
		w.Amount(column.Name, unit, money.Amount(cell.N))
	case report.Share:
		if !cell.Known() {
			w.Null(column.Name)
			return
		}
		w.Amount(column.Name, shares, money.Amount(cell.N))
	case report.Percent:
		w.Amount(column.Name, rate.unit, money.Amount(cell.N))
	case report.Instant:
		w.Instant(column.Name, time.UnixMicro(cell.N))
	default:
		w.TextOrNull(column.Name, cell.Text)
	}
}

// shares are told as parts of 1.
var shares = money.Currency{Decimals: 4}

// proof is what a report ends with.
type proof struct {
	id    guid.ID
	sum   string // the SHA-256 of its content, in hexadecimal
	heads []books.Head
}

func (p *proof) write(w *wire.Writer) {
	w.ID("reportID", p.id)
	w.Text("sha256", p.sum)
	w.List("chains")
	for _, h := range p.heads {
		w.Open()
		w.ID("chain", h.Chain)
		w.Text("mac", hex.EncodeToString(h.MAC))
		w.Close()
	}
	w.EndList()
}

// namer says how people call what the ids in a report stand for.
type namer func(column report.Column, id string) string

func (c *Call) namer() namer {
	known := payload.NamesOf(c.Account, c.Directory())
	return func(column report.Column, text string) string {
		id, err := guid.Parse(text)
		if err != nil {
			return ""
		}
		switch column.Name {
		case "programID":
			program, _ := merchant.ProgramByID(id)
			return program.Name
		case "keyID":
			return known.Key(id)
		}
		if at := c.Account.Location(id); at != nil {
			return at.Name
		}
		return ""
	}
}

// writeNames writes how people call what the ids in a report stand for, each once and in the order of the rows.
func (c *Call) writeNames(w *wire.Writer, table *report.Table) {
	name, told := c.namer(), map[string]bool{}
	w.List("names")
	eachID(table, func(column report.Column, id string) {
		if told[id] {
			return
		}
		told[id] = true
		w.Open()
		w.Text("id", id)
		w.TextOrNull("name", name(column, id))
		w.Close()
	})
	w.EndList()
}

// eachID tells the ids in a table and in its parts, in the order of the rows.
func eachID(table *report.Table, tell func(column report.Column, id string)) {
	for _, row := range table.Rows {
		for n, column := range table.Columns {
			if id := row.Cells[n].Text; column.Kind == report.ID && id != "" {
				tell(column, id)
			}
		}
	}
	for n := range table.Parts {
		eachID(&table.Parts[n].Table, tell)
	}
}

// csv is a report as RFC 4180 has it: its rows, with a name beside each id; after an empty line each further table,
// under its name; and after another one what it is of and what proves it.
func (c *Call) csv(a *asked, table *report.Table, p *proof) []byte {
	var b bytes.Buffer
	w, name := csv.NewWriter(&b), c.namer()
	w.UseCRLF = true
	line := func(cells ...string) { _ = w.Write(cells) } // a buffer takes everything
	csvRows(line, table, name)
	for n := range table.Parts {
		if part := &table.Parts[n]; !part.Withheld {
			line("")
			line(part.Name)
			csvRows(line, &part.Table, name)
		}
	}
	line("")
	line("report", a.Name)
	line("accountID", c.Account.ID.String(), spreadsheet.Text(c.Account.Name))
	if a.period {
		line("from", instant(a.from))
		line("to", instant(a.until))
	} else {
		line("at", instant(a.until))
	}
	if a.Kind.number != nil {
		line(a.Kind.number.name, a.Kind.number.unit.Format(a.number))
	}
	line("reportID", p.id.String())
	line("sha256", p.sum)
	for _, h := range p.heads {
		line("chain", h.Chain.String(), hex.EncodeToString(h.MAC))
	}
	w.Flush()
	return b.Bytes()
}

func csvRows(line func(...string), table *report.Table, name namer) {
	var cells []string
	for _, column := range table.Columns {
		if cells = append(cells, column.Name); column.Kind == report.ID {
			cells = append(cells, strings.TrimSuffix(column.Name, "ID")+"Name")
		}
	}
	line(cells...)
	for _, row := range table.Rows {
		cells = cells[:0]
		for n, column := range table.Columns {
			if cells = append(cells, text(column, row.Unit, row.Cells[n])); column.Kind == report.ID {
				cells = append(cells, spreadsheet.Text(name(column, row.Cells[n].Text)))
			}
		}
		line(cells...)
	}
}

func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func text(column report.Column, unit money.Currency, cell report.Cell) string {
	switch column.Kind {
	case report.Flag:
		return strconv.FormatBool(cell.N != 0)
	case report.Count:
		return strconv.FormatInt(cell.N, 10)
	case report.Amount:
		return unit.Format(money.Amount(cell.N))
	case report.Share:
		if !cell.Known() {
			return ""
		}
		return shares.Format(money.Amount(cell.N))
	case report.Percent:
		return rate.unit.Format(money.Amount(cell.N))
	case report.Instant:
		return instant(time.UnixMicro(cell.N))
	}
	return spreadsheet.Text(cell.Text)
}
