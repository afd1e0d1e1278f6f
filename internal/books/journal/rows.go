package journal

import (
	"time"

	"boon.example/internal/books"
	"boon.example/internal/guid"
)

// Names are what people call programs and locations, in a journal.
type Names struct {
	Program func(guid.ID) string
	Place   func(guid.ID) string // a location; of the zero ID, where value is sold online
}

// Rows are the sums of the books for each day, by its number, as 20261130.
func Rows(days map[int]books.Sums, names *Names) (rows []Row) {
	for day, sums := range days {
		at := time.Date(day/10_000, time.Month(day/100%100), day%100, 0, 0, 0, 0, time.UTC)
		for key, sum := range sums {
			if key.Cube != books.Places {
				continue
			}
			row := Row{Day: at, Line: books.Line(key.Line), Promotional: key.Promotional, Currency: key.Currency,
				Amount: sum.Money, Bonus: sum.Bonus, Count: sum.Count, Program: names.Program(key.ProgramID),
				Sold: names.Place(key.Sold)}
			if !key.Place.IsZero() {
				row.Place = names.Place(key.Place)
			}
			if !key.Promotional { // nobody pays for the others
				row.VAT, row.Rate = key.VAT.Treatment, key.VAT.Rate
			}
			rows = append(rows, row)
		}
	}
	return rows
}
