package report

import (
	"maps"
	"math/big"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// hundred is 100 percent, as rates and shares are told: in hundredths of a percent.
const hundred = 100_00

// The numbers of a cohort, which is what was sold in one month. What was sold comes to what was redeemed, was paid out
// in cash, has expired and is owed.
const (
	cohortSold = iota // less what was cancelled
	cohortRedeemed
	cohortCashedOut
	cohortExpired
	cohortOwed
	cohortNumbers
)

var cohortColumns = amounts("sold", "redeemed", "cashedOut", "expired", "owed")

// cohorts adds what moved to the row of its month: by the lines of the months, and by the stock.
func cohorts(t *tally, sums books.Sums) {
	for k, s := range sums {
		where := at{ByProgram: idText(k.ProgramID), ByMonth: MonthText(k.Month)}
		switch less := (books.Sum{Value: books.Value{}.Minus(s.Value)}); {
		case k.Cube == books.Stock && books.State(k.Line).Owed():
			t.add(k, where, s, cohortOwed)
		case k.Cube != books.Months:
		case k.Line == string(books.LineRedeemed), k.Line == string(books.LineGivenBack):
			t.add(k, where, less, cohortRedeemed)
		case k.Line == string(books.LineCashedOut), k.Line == string(books.LineCashGivenBack):
			t.add(k, where, less, cohortCashedOut)
		case k.Line == string(books.LineExpired):
			t.add(k, where, less, cohortExpired)
		default:
			t.add(k, where, s, cohortSold)
		}
	}
}

// Ageing tells what is owed by the month in which it was sold, and which share of what was sold then was redeemed or
// paid out in cash. sums are what moved by months and in the stock, since the beginning.
func Ageing(sums books.Sums) Table {
	t := newTally([]Group{ByMonth}, append(cohortColumns[:cohortNumbers:cohortNumbers], Column{"redeemedShare", Share})...)
	cohorts(t, sums)
	for _, row := range t.rows {
		row[cohortNumbers] = unknown
		if sold := row[cohortSold]; sold > 0 {
			row[cohortNumbers] = part(row[cohortRedeemed]+row[cohortCashedOut], hundred, sold)
		}
	}
	return t.table()
}

// Breakage estimates how much of what is owed will never be redeemed, in proportion to what was redeemed (ASC
// 606-10-55-48, IFRS 15 B46), by program and month of sale. rate is how much of what is sold is never redeemed, in
// hundredths of a percent, above 0 and below 100 percent. Where escheat says so of a program, what is not redeemed goes
// to a state: nothing is estimated. Promotional gifts are not owed. sums are as in Ageing.
func Breakage(sums books.Sums, rate int64, escheat func(program guid.ID) bool) Table {
	t := newTally([]Group{ByProgram, ByMonth}, append(cohortColumns[:cohortNumbers:cohortNumbers],
		Column{"escheat", Flag}, Column{"estimate", Amount})...)
	paid := books.Sums{}
	for k, s := range sums {
		if !k.Promotional {
			paid[k] = s
		}
	}
	cohorts(t, paid)
	maps.DeleteFunc(t.rows, func(b bucket, _ []int64) bool { return b.pieces })
	for b, row := range t.rows {
		if program, err := guid.Parse(b.groups[0]); err == nil && escheat(program) {
			row[cohortNumbers] = 1
			continue
		}
		row[cohortNumbers+1] = estimate(row, rate)
	}
	return t.table()
}

// Estimates are what a table of Breakage estimates of each program and currency.
func Estimates(t *Table) map[books.Estimated]money.Amount {
	sums := map[books.Estimated]money.Amount{}
	for n := range t.Rows {
		row := &t.Rows[n]
		program, err := guid.Parse(row.Cells[len(head)].Text)
		if err != nil {
			continue // a row has a program
		}
		sums[books.Estimated{ProgramID: program, Currency: row.Unit}] += money.Amount(row.Cells[len(row.Cells)-1].N)
	}
	return sums
}

// estimate is what of a cohort counts as never to be redeemed. Of each amount that was redeemed, the same part counts:
// so all of the breakage has counted when all that is expected to be redeemed is. What has expired will not be redeemed
// for sure, and is part of it. It is rounded down, and never more than what is owed.
func estimate(cohort []int64, rate int64) int64 {
	whole := part(cohort[cohortSold], rate, hundred)
	counts := part(cohort[cohortRedeemed]+cohort[cohortCashedOut], rate, hundred-rate)
	return max(0, min(min(whole, counts)-cohort[cohortExpired], cohort[cohortOwed]))
}

// part is n × by ÷ of, rounded down; of is above 0.
func part(n, by, of int64) int64 {
	product := new(big.Int).Mul(big.NewInt(n), big.NewInt(by))
	return product.Div(product, big.NewInt(of)).Int64()
}

// Dormant tells how many gifts nobody used since a month, as 202611, which is the last that counts, and what is owed
// for them, by the jurisdiction of the location that sold the value. idle is the stock by the month of the last
// activity.
func Dormant(idle books.Sums, last int, jurisdiction func(location guid.ID) string) Table {
	t := newTally([]Group{byJurisdiction}, Column{"gifts", Count}, Column{"owed", Amount})
	for k, s := range idle {
		if k.Cube == books.Idle && books.State(k.Line).Owed() && k.Month <= last {
			t.add(k, at{byJurisdiction: jurisdiction(k.Sold)}, s, 0, 1)
		}
	}
	return t.table()
}
