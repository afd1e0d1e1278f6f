package demo

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"boon.example/client"
	"boon.example/examples"
)

// bookLine is a line of the books: what it says, and how much it adds. That of the last line is the sum of the others.
type bookLine struct {
	says string
	adds *big.Rat
}

// summedUp makes six lines of a roll-forward: of the money in gifts that were sold. Each column is in one line.
func summedUp(rows []client.RollForwardRow) []bookLine {
	type row = client.RollForwardRow
	type columns = []client.Decimal
	sum := func(of func(row) columns) *big.Rat {
		total := new(big.Rat)
		for _, r := range rows {
			if r.Unit != "MONEY" || r.IsPromoType {
				continue
			}
			for _, d := range of(r) {
				total.Add(total, d.Rat())
			}
		}
		return total
	}
	return []bookLine{
		{"Owed when the story began", sum(func(r row) columns { return columns{r.Opening} })},
		{"Sold and loaded", sum(func(r row) columns { return columns{r.Issued, r.Activated, r.Reloaded, r.Imported} })},
		{"Redeemed", sum(func(r row) columns { return columns{r.Redeemed} })},
		{"Given back", sum(func(r row) columns { return columns{r.GivenBack, r.CashGivenBack} })},
		{"Cashed out, cancelled, all else", sum(func(r row) columns {
			return columns{r.CashedOut, r.Cancelled, r.Expired, r.AdjustedUp, r.AdjustedDown, r.Transferred}
		})},
		{"Owed now", sum(func(r row) columns { return columns{r.Closing} })},
	}
}

// closes reports whether the lines before the last one come to it.
func closes(lines []bookLine) bool {
	total := new(big.Rat)
	last := len(lines) - 1
	for _, l := range lines[:last] {
		total.Add(total, l.adds)
	}
	return total.Cmp(lines[last].adds) == 0
}

// books shows the books of the story, which are what a bookkeeper would see. Books that do not close end the story.
func (s *Story) books(ctx context.Context) error {
	office, err := client.New(s.Base, examples.HarborOfficeKey)
	if err != nil {
		return err
	}
	report, err := office.RollForward(ctx, client.ReportQuery{From: s.from})
	if err != nil {
		return fmt.Errorf("asking for the books: %w", err)
	}
	lines := summedUp(report.Rows)
	s.title("The books of the story, in dollars. They close to the cent.",
		"Gifts of promotions are kept apart: nobody paid for them.\n")
	for _, l := range lines {
		fmt.Fprintf(s.out, "  %-32s %8s\n", l.says, l.adds.FloatString(2))
	}
	if !closes(lines) {
		return errors.New("the books of the story do not close")
	}
	return nil
}
