// Package report makes the reports of the books of sums: tables, which are the same for JSON, CSV and people at a
// terminal. It is pure.
package report

import (
	"cmp"
	"slices"
	"strconv"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Kind is what the cells of a column are.
type Kind int

// The kinds.
const (
	Text    Kind = iota // "": none
	ID                  // likewise
	Flag                // 1: true
	Count               // a whole number
	Amount              // in the unit of the row
	Share               // in hundredths of a percent; unknown: there is nothing that it could be of
	Percent             // in hundredths of a percent, told as percent
	Instant             // microseconds since 1970
)

// unknown is a share of nothing.
const unknown = -1

// Known reports whether a cell of a share has one.
func (c Cell) Known() bool { return c.N != unknown }

// Column is a column of a table.
type Column struct {
	Name string // as the interface calls it
	Kind Kind
}

// Cell is a cell: a text, or a number.
type Cell struct {
	Text string
	N    int64
}

// Row is a row of a table.
type Row struct {
	Unit  money.Currency // of its amounts; Pieces: they are pieces
	Cells []Cell
}

// Table is a report.
type Table struct {
	Columns []Column
	Rows    []Row
	Parts   []Part // further tables of the same report
}

// Size is how many rows the report has, with those of its parts.
func (t *Table) Size() int {
	n := len(t.Rows)
	for i := range t.Parts {
		n += len(t.Parts[i].Rows)
	}
	return n
}

// Part is a table within a report. It has no parts.
type Part struct {
	Name     string // as the interface calls it
	Withheld bool   // whoever the report is made for may not see it
	Table
}

// Group is a way in which rows of a report may be apart.
type Group string

// The groups.
const (
	ByProgram      Group = "program"
	ByOrganization Group = "organization"
	ByCurrency     Group = "currency"
	ByMonth        Group = "month"
	ByDay          Group = "day"
	ByKey          Group = "key"

	// of a settlement; nobody asks for them
	bySeller Group = "soldAt"
	byTaker  Group = "redeemedAt"

	byJurisdiction Group = "jurisdiction" // of dormant gifts; nobody asks for it
)

// columns are those that tell the groups of a row. Rows of two currencies are always apart.
var columns = map[Group]Column{
	ByProgram: {"programID", ID}, ByOrganization: {"organizationID", ID}, ByMonth: {"month", Text}, ByDay: {"day", Text},
	ByKey: {"keyID", ID}, bySeller: {"soldAtID", ID}, byTaker: {"redeemedAtID", ID},
	byJurisdiction: {"jurisdiction", Text},
}

// head are the columns that every table begins with: of which values a row tells.
var head = []Column{{"currency", Text}, {"isPromoType", Flag}, {"isItemType", Flag}, {"unit", Text}}

// The units of a row.
const (
	inMoney  = "MONEY"
	inPieces = "PIECES"
)

// bucket is what a row is about.
type bucket struct {
	currency    money.Currency
	promotional bool
	item        bool
	pieces      bool
	groups      [5]string // in the order of the table's columns
}

func (b bucket) compare(o bucket) int {
	flag := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return cmp.Or(slices.Compare(b.groups[:], o.groups[:]), cmp.Compare(b.currency.Code, o.currency.Code),
		flag(b.promotional)-flag(o.promotional), flag(b.item)-flag(o.item), flag(b.pieces)-flag(o.pieces))
}

// tally adds sums up to rows of a table with some numbers in each.
type tally struct {
	groups  []Group // that have a column
	numbers []Column
	rows    map[bucket][]int64
}

func newTally(groups []Group, numbers ...Column) *tally {
	t := &tally{numbers: numbers, rows: map[bucket][]int64{}}
	for _, g := range groups {
		if columns[g].Name != "" && !slices.Contains(t.groups, g) {
			t.groups = append(t.groups, g)
		}
	}
	return t
}

// at is where a sum is told, for each group.
type at map[Group]string

// add adds a sum to some numbers of its row, of item gifts also to that of their pieces.
func (t *tally) add(k books.Key, where at, s books.Sum, numbers ...int) {
	b := bucket{currency: k.Currency, promotional: k.Promotional, item: k.Item}
	for n, g := range t.groups {
		b.groups[n] = where[g]
	}
	units := []bool{false}
	if k.Item {
		units = []bool{false, true}
	}
	for _, b.pieces = range units {
		amount := int64(s.Money)
		if b.pieces {
			amount = int64(s.Pieces)
		}
		row := t.rows[b]
		if row == nil {
			row = make([]int64, len(t.numbers))
			t.rows[b] = row
		}
		for _, n := range numbers {
			if t.numbers[n].Kind == Count {
				row[n] += s.Count
			} else {
				row[n] += amount
			}
		}
	}
}

// table is the whole. Rows in which everything is nothing are left out.
func (t *tally) table() Table {
	table := Table{Columns: slices.Clone(head)}
	for _, g := range t.groups {
		table.Columns = append(table.Columns, columns[g])
	}
	table.Columns = append(table.Columns, t.numbers...)
	var buckets []bucket
	for b, row := range t.rows {
		if slices.ContainsFunc(row, func(n int64) bool { return n != 0 }) {
			buckets = append(buckets, b)
		}
	}
	slices.SortFunc(buckets, bucket.compare)
	for _, b := range buckets {
		row := Row{Unit: b.currency,
			Cells: []Cell{{Text: b.currency.Code}, flag(b.promotional), flag(b.item), {Text: inMoney}}}
		if b.pieces {
			row.Unit, row.Cells[3] = money.Pieces, Cell{Text: inPieces}
		}
		for n := range t.groups {
			row.Cells = append(row.Cells, Cell{Text: b.groups[n]})
		}
		for _, n := range t.rows[b] {
			row.Cells = append(row.Cells, Cell{N: n})
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

func flag(is bool) Cell {
	if is {
		return Cell{N: 1}
	}
	return Cell{}
}

func amounts(names ...string) (all []Column) {
	for _, name := range names {
		all = append(all, Column{name, Amount})
	}
	return all
}

func idText(id guid.ID) string { return id.String() }

// MonthText writes 202611 as 2026-11; 0 as nothing.
func MonthText(month int) string {
	if month == 0 {
		return ""
	}
	text := strconv.Itoa(month)
	return text[:len(text)-2] + "-" + text[len(text)-2:]
}

// DayText writes the number of a day, as 20261130, as 2026-11-30; of 0, nothing.
func DayText(day int) string {
	if day == 0 {
		return ""
	}
	return MonthText(day/100) + "-" + MonthText(day)[len(MonthText(day))-2:]
}

// LiabilityGroups are the groups of Liability.
var LiabilityGroups = []Group{ByProgram, ByOrganization, ByCurrency, ByMonth}

// Liability tells what was owed at an instant, from all that moved in the stock before it: of gifts that were open,
// blocked and expired. For the last nothing is owed.
func Liability(sums books.Sums, groups []Group) Table {
	t := newTally(groups, amounts("open", "blocked", "owed", "expired")...)
	for k, s := range sums {
		if k.Cube != books.Stock {
			continue
		}
		numbers := []int{3}
		switch books.State(k.Line) {
		case books.Open:
			numbers = []int{0, 2}
		case books.Blocked:
			numbers = []int{1, 2}
		}
		t.add(k, at{ByProgram: idText(k.ProgramID), ByOrganization: idText(k.Sold), ByMonth: MonthText(k.Month)}, s,
			numbers...)
	}
	return t.table()
}

// lineNames are the names of the lines in reports, in their order.
var lineNames = map[books.Line]string{books.LineIssued: "issued", books.LineActivated: "activated",
	books.LineReloaded: "reloaded", books.LineImported: "imported", books.LineTransferred: "transferred",
	books.LineAdjustedUp: "adjustedUp",
	books.LineGivenBack:  "givenBack", books.LineCashGivenBack: "cashGivenBack", books.LineRedeemed: "redeemed",
	books.LineCashedOut: "cashedOut", books.LineAdjustedDown: "adjustedDown", books.LineCancelled: "cancelled",
	books.LineExpired: "expired"}

// RollForward tells how what was owed at the start of a period became what was owed at its end: each line is what it
// added, so that the opening and all lines are the closing. opening is the stock that moved before the period, period
// what moved in it, on lines by places and in the stock. The bonus is, of what was sold less what was cancelled, what
// nobody paid for.
func RollForward(opening, period books.Sums) Table {
	names := []string{"opening"}
	for _, line := range books.Lines() {
		names = append(names, lineNames[line])
	}
	closing := len(names)
	t := newTally(nil, amounts(append(names, "closing", "bonus")...)...)
	for k, s := range opening {
		if k.Cube == books.Stock && books.State(k.Line).Owed() {
			t.add(k, nil, s, 0, closing)
		}
	}
	for k, s := range period {
		switch {
		case k.Cube == books.Stock && books.State(k.Line).Owed():
			t.add(k, nil, s, closing)
		case k.Cube == books.Places:
			t.add(k, nil, s, 1+slices.Index(books.Lines(), books.Line(k.Line)))
			t.add(k, nil, books.Sum{Value: books.Value{Money: s.Bonus}}, closing+1)
		}
	}
	return t.table()
}

// RedemptionGroups are the groups of Redemptions.
var RedemptionGroups = []Group{ByOrganization, ByDay, ByProgram, ByKey}

// Redemptions tells what was redeemed and given back, each on the day on which it was; by days as 20261130, or 0
// where no day is told apart. Cash is apart.
func Redemptions(days map[int]books.Sums, groups []Group) Table {
	numbers := []Column{{"redemptions", Count}, {"redeemed", Amount}, {"reversals", Count}, {"givenBack", Amount},
		{"net", Amount}, {"cashOuts", Count}, {"cashedOut", Amount}, {"cashReversals", Count}, {"cashGivenBack", Amount}}
	t := newTally(groups, numbers...)
	for day, sums := range days {
		for k, s := range sums {
			if k.Cube != books.Keys {
				continue
			}
			where := at{ByOrganization: idText(k.Place), ByDay: DayText(day), ByProgram: idText(k.ProgramID),
				ByKey: idText(k.KeyID)}
			taken := books.Sum{Count: s.Count, Value: books.Value{}.Minus(s.Value)}
			switch books.Line(k.Line) {
			case books.LineRedeemed:
				t.add(k, where, taken, 0, 1, 4)
			case books.LineGivenBack:
				t.add(k, where, s, 2, 3)
				t.add(k, where, taken, 4)
			case books.LineCashedOut:
				t.add(k, where, taken, 5, 6)
			case books.LineCashGivenBack:
				t.add(k, where, s, 7, 8)
			}
		}
	}
	return t.table()
}
