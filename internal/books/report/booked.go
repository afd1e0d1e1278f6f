package report

import (
	"cmp"
	"slices"

	"boon.example/internal/books"
	"boon.example/internal/money"
)

// The parts of a report of breakage.
const (
	totalsPart   = "totals"
	bookingsPart = "bookings"
)

var (
	totalColumns = []Column{{"programID", ID}, {"currency", Text}, {"estimate", Amount}, {"booked", Amount},
		{"toBook", Amount}}
	bookingColumns = []Column{{"month", Text}, {"programID", ID}, {"currency", Text}, {"rate", Percent},
		{"amount", Amount}, {"bookedAt", Instant}, {"keyID", ID}}
)

// Booked are the parts that stand beside a table of Breakage. The first tells of each program and currency what the
// estimates come to, what is booked, and what a booking would add, so that both are the same. The second tells each
// booking, in the order of booked.
func Booked(breakage *Table, booked []books.Booked) []Part {
	bookings := Table{Columns: bookingColumns}
	sums := map[books.Estimated]money.Amount{}
	for _, b := range booked {
		sums[books.Estimated{ProgramID: b.ProgramID, Currency: b.Currency}] += b.Amount
		bookings.Rows = append(bookings.Rows, Row{Unit: b.Currency, Cells: []Cell{{Text: MonthText(b.Month)},
			{Text: idText(b.ProgramID)}, {Text: b.Currency.Code}, {N: b.Rate}, {N: int64(b.Amount)}, {N: b.At.UnixMicro()},
			{Text: idText(b.KeyID)}}})
	}
	return []Part{{Name: totalsPart, Table: totals(Estimates(breakage), sums)}, {Name: bookingsPart, Table: bookings}}
}

// totals holds what is estimated against what is booked. Rows in which everything is nothing are left out.
func totals(estimates, booked map[books.Estimated]money.Amount) Table {
	t := Table{Columns: totalColumns}
	row := func(of books.Estimated) {
		estimate, booked := estimates[of], booked[of]
		if estimate == 0 && booked == 0 {
			return
		}
		t.Rows = append(t.Rows, Row{Unit: of.Currency, Cells: []Cell{{Text: idText(of.ProgramID)}, {Text: of.Currency.Code},
			{N: int64(estimate)}, {N: int64(booked)}, {N: int64(estimate - booked)}}})
	}
	for of := range estimates {
		row(of)
	}
	for of := range booked {
		if _, is := estimates[of]; !is {
			row(of)
		}
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Cells[0].Text, b.Cells[0].Text), cmp.Compare(a.Cells[1].Text, b.Cells[1].Text))
	})
	return t
}

// BookedWithheld are the parts of Booked for somebody who may not see what was booked.
func BookedWithheld() []Part {
	return []Part{{Name: totalsPart, Withheld: true}, {Name: bookingsPart, Withheld: true}}
}
