package journal

import (
	"time"

	"boon.example/internal/books"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Names are what people call programs and locations, in a journal.
type Names struct {
	Program func(guid.ID) string
	Place   func(guid.ID) string // a location; of the zero ID, where value is sold online
	// VAT is how gifts of a program are taxed that were paid for. Nobody pays for the others.
	VAT func(program guid.ID) (merchant.VATTreatment, money.Number)
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
				Amount: sum.Money, Count: sum.Count, Program: names.Program(key.ProgramID), Sold: names.Place(key.Sold)}
			if !key.Place.IsZero() {
				row.Place = names.Place(key.Place)
			}
			if !key.Promotional {
				row.VAT, row.Rate = names.VAT(key.ProgramID)
			}
			rows = append(rows, row)
		}
	}
	return rows
}
