package journal_test

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestRowsOfTheBooks: of what the books sum up, a journal has the lines by places, once.
func TestRowsOfTheBooks(t *testing.T) {
	t.Parallel()
	program, shop := guid.ID{1}, guid.ID{2}
	vat := books.VAT{Treatment: merchant.SinglePurpose, Rate: "19"}
	terms := &books.Terms{ProgramID: program, Currency: eur, VAT: vat}
	item := &books.Terms{ProgramID: program, Currency: eur, Item: true, VAT: vat}
	first, second := books.Sums{}, books.Sums{}
	first.Move(terms, &books.Movement{Line: books.LineIssued, Month: 202609, Count: 1, Value: books.Value{Money: 500},
		Bonus: 100})
	first.Move(terms, &books.Movement{State: books.Open, Month: 202609, Value: books.Value{Money: 500}})
	second.Move(terms, &books.Movement{Line: books.LineRedeemed, Month: 202609, Place: shop, Key: guid.ID{3}, Count: 1,
		Value: books.Value{Money: -200}})
	second.Move(item, &books.Movement{Line: books.LineRedeemed, Sold: shop, Place: shop, Count: 2,
		Value: books.Value{Pieces: -2, Money: -700}})
	got := journal.Rows(map[int]books.Sums{20260930: first, 20261001: second}, &journal.Names{
		Program: func(id guid.ID) string { return map[guid.ID]string{program: "Gift cards"}[id] },
		Place:   func(id guid.ID) string { return map[guid.ID]string{shop: "Harbour", {}: "online"}[id] },
	})
	slices.SortFunc(got, func(a, b journal.Row) int {
		if order := a.Day.Compare(b.Day); order != 0 {
			return order
		}
		return strings.Compare(b.Sold, a.Sold)
	})
	row := journal.Row{Currency: eur, Program: "Gift cards", Sold: "online", VAT: merchant.SinglePurpose, Rate: "19"}
	issued, redeemed, pieces := row, row, row
	issued.Day, issued.Line, issued.Amount, issued.Count = day(9, 30), books.LineIssued, 500, 1
	issued.Bonus = 100
	redeemed.Day, redeemed.Line, redeemed.Amount, redeemed.Count = day(10, 1), books.LineRedeemed, -200, 1
	redeemed.Place, pieces.Place, pieces.Sold = "Harbour", "Harbour", "Harbour"
	pieces.Day, pieces.Line, pieces.Amount, pieces.Count = day(10, 1), books.LineRedeemed, -700, 2
	if want := []journal.Row{issued, redeemed, pieces}; !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
