package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"boon.example/internal/money"
	"boon.example/internal/post/locale"
)

// Report is a report as the JSON interface tells it.
type Report struct {
	Report   json.RawMessage
	Names    []struct{ ID, Name string }
	ReportID string
}

// mostRows is how many rows of a table a page shows, and mostCells how many cells of a wide one: a page has to be small
// enough for a phone. The file has them all.
const (
	mostRows  = 200
	mostCells = 1_000
)

// narrow is how many columns stand beside each other on a phone.
const narrow = 3

// Table is a table of a report in the words of a bookkeeper.
type Table struct {
	Name  string // "": it is the report itself
	Heads []Cell
	Rows  [][]Cell
	Cut   bool // there are more rows
}

// reader reads rows.
type reader struct {
	in    *locale.Locale
	names map[string]string // of ids
	zone  *time.Location
}

// Cell is a cell of a table.
type Cell struct {
	Text   string
	Number bool
	spare  bool // in a heading: the column is left out where nothing stands in it, as locations have no companies
}

// Tables are the tables of a report: its rows, and those within it that people read. Payments come first: they are what
// is to be done.
func (told *Report) Tables(in *locale.Locale) ([]Table, error) {
	names := map[string]string{}
	for _, n := range told.Names {
		names[n.ID] = n.Name
	}
	var parts struct {
		TimeZone                                string
		Rows, Debts, Payments, Totals, Bookings []json.RawMessage
	}
	if err := json.Unmarshal(told.Report, &parts); err != nil {
		return nil, fmt.Errorf("reading a report: %w", err)
	}
	zone, err := time.LoadLocation(parts.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("reading the time zone of a report: %w", err)
	}
	r := reader{in, names, zone}
	above, err := r.named(part{"payments", parts.Payments}, part{"debts", parts.Debts})
	if err != nil {
		return nil, err
	}
	rows, err := r.table("", parts.Rows)
	if err != nil {
		return nil, err
	}
	if len(above) > 0 {
		rows.Name = in.Text("console.part.rows")
	}
	below, err := r.named(part{"totals", parts.Totals}, part{"bookings", parts.Bookings})
	return slices.Concat(above, []Table{rows}, below), err
}

// part is a table within a report.
type part struct {
	name string
	rows []json.RawMessage
}

// named makes the tables of those parts that have rows.
func (r *reader) named(parts ...part) (all []Table, _ error) {
	for _, p := range parts {
		if len(p.rows) == 0 {
			continue
		}
		t, err := r.table(p.name, p.rows)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// table makes a table of rows. One with few rows and many columns stands on its side, as statements do on paper, if
// what the rows are about tells them apart.
func (r *reader) table(part string, rows []json.RawMessage) (Table, error) {
	var t Table
	if part != "" {
		t.Name = r.in.Text("console.part." + part)
	}
	for n, raw := range rows {
		if t.Cut = n == mostRows || t.Wide() && n*len(t.Heads) >= mostCells; t.Cut {
			break
		}
		members, err := membersOf(raw)
		if err != nil {
			return t, err
		}
		heads, cells := r.line(part, members)
		if n == 0 {
			t.Heads = heads
		}
		t.Rows = append(t.Rows, cells)
	}
	t.leaveOut()
	if len(t.Heads) > 6 && len(t.Rows) < len(t.Heads)/2 && t.toldApart() {
		t.turn()
	}
	return t, nil
}

// Wide reports whether the table has more columns than a phone: there, each of its rows is a list.
func (t *Table) Wide() bool { return len(t.Heads) > narrow }

// leaveOut leaves out columns that need not be there and in which nothing stands.
func (t *Table) leaveOut() {
	for n := len(t.Heads) - 1; n >= 0 && len(t.Rows) > 0; n-- {
		if !t.Heads[n].spare || slices.ContainsFunc(t.Rows, func(row []Cell) bool { return row[n].Text != "" }) {
			continue
		}
		t.Heads = slices.Delete(t.Heads, n, n+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], n, n+1)
		}
	}
}

// toldApart reports whether no two rows begin with the same.
func (t *Table) toldApart() bool {
	seen := map[string]bool{}
	for _, row := range t.Rows {
		if seen[row[0].Text] {
			return false
		}
		seen[row[0].Text] = true
	}
	return true
}

// turn makes a column of each row.
func (t *Table) turn() {
	was := append([][]Cell{t.Heads}, t.Rows...)
	turned := make([][]Cell, len(t.Heads))
	for n := range turned {
		for _, row := range was {
			turned[n] = append(turned[n], row[n])
		}
		turned[n][0].Number = false
		for i := range turned[n][1:] {
			turned[n][i+1].Number = true // texts stand above numbers
		}
	}
	t.Heads, t.Rows = turned[0], turned[1:]
}

// line is a row of a table, and what stands above it. What says of which gifts a row is comes to one cell.
func (r *reader) line(part string, members []member) (heads, cells []Cell) {
	about := make([]string, 0, 3)
	for n, m := range members {
		text, isText := m.value.(string)
		switch {
		case m.name == "currency" && text != "":
			about = append(about, text)
		case m.name == "isPromoType" || m.name == "isItemType":
			if m.value == true {
				about = append(about, r.in.Text("console.about."+m.name))
			}
		case m.name == "unit":
			if text == "PIECES" {
				about = append(about, r.in.Text("console.about.PIECES"))
			}
		case m.name == "currency":
		default:
			number, isNumber := m.value.(json.Number)
			c := Cell{Number: isNumber}
			switch {
			case isNumber:
				c.Text = r.number(m.name, number.String())
			case strings.HasSuffix(m.name, "LegalEntity"):
				c.Text = text
			case strings.HasSuffix(m.name, "ID") && !(n > 0 && strings.HasSuffix(members[n-1].name, "LegalEntity") &&
				members[n-1].value != nil): // else it is a company
				c.Text = r.called(m.name, text)
			case m.name == "bookedAt":
				c.Text = r.moment(text)
			case m.name == "month":
				c.Text = written(text, "2006-01", r.in.Month)
			case m.name == "day":
				c.Text = written(text, time.DateOnly, r.in.Day)
			case isText:
				c.Text = text
			case m.value == true:
				c.Text = r.in.Text("console.yes")
			case m.value == false:
				c.Text = r.in.Text("console.no")
			}
			heads = append(heads, Cell{Text: r.heading(part, m.name), Number: isNumber,
				spare: strings.HasSuffix(m.name, "LegalEntity")})
			cells = append(cells, c)
		}
	}
	return append([]Cell{{Text: r.in.Text("console.column.about")}}, heads...),
		append([]Cell{{Text: strings.Join(about, ", ")}}, cells...)
}

// heading stands above a column.
func (r *reader) heading(part, column string) string {
	if part == "bookings" && column == "month" { // in other tables it is that of the sale
		column = "bookedFor"
	}
	return r.in.Text("console.column." + column)
}

// moment is an instant by the clocks of the account.
func (r *reader) moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return r.in.Moment(at.In(r.zone))
}

// written is a date of a report as people write it.
func written(text, layout string, write func(time.Time) string) string {
	at, err := time.Parse(layout, text)
	if err != nil {
		return text
	}
	return write(at)
}

// number is a number of a report as people write it. Rates and shares of a whole are told as percent.
func (r *reader) number(column, text string) string {
	switch column {
	case "rate":
		return r.in.Decimal(text) + percent
	case "redeemedShare":
	default:
		return r.in.Decimal(text)
	}
	share, err := money.Currency{Decimals: 4}.ParseSigned(money.Number(text))
	if err != nil {
		return r.in.Decimal(text)
	}
	return r.in.Decimal(money.Currency{Decimals: 2}.Format(share)) + percent
}

const percent = "\u00a0%"

// called is how people call what an id stands for.
func (r *reader) called(column, id string) string {
	switch {
	case r.names[id] != "":
		return r.names[id]
	case id != "":
		return id
	case column == "programID" || column == "keyID":
		return "–"
	}
	return r.in.Text("console.report.online")
}

// member is a member of an object of JSON.
type member struct {
	name  string
	value any
}

// membersOf are the members of an object, in their order.
func membersOf(raw []byte) (all []member, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if _, err = d.Token(); err != nil {
		return nil, fmt.Errorf("reading a row of a report: %w", err)
	}
	for d.More() {
		var m member
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&m.value)
		}
		if err != nil {
			return nil, fmt.Errorf("reading a row of a report: %w", err)
		}
		m.name, _ = name.(string)
		all = append(all, m)
	}
	return all, nil
}
