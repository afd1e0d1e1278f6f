package demo

import (
	"math/big"
	"reflect"
	"testing"

	"boon.example/client"
)

// Each column of a roll-forward is in one line of the books, also a column that reports get later.
func TestBooksHaveEachColumnOnce(t *testing.T) {
	t.Parallel()
	decimal := reflect.TypeFor[client.Decimal]()
	moves := 0
	for f := range reflect.TypeFor[client.RollForwardRow]().Fields() {
		if f.Type != decimal || f.Name == "Bonus" { // which is a part of others
			continue
		}
		row := client.RollForwardRow{ReportSort: client.ReportSort{Unit: "MONEY"}}
		reflect.ValueOf(&row).Elem().FieldByIndex(f.Index).Set(reflect.ValueOf(client.MustDecimal("0.01")))
		total := new(big.Rat)
		for _, l := range summedUp([]client.RollForwardRow{row}) {
			total.Add(total, l.adds)
		}
		if total.Cmp(big.NewRat(1, 100)) != 0 {
			t.Errorf("the lines tell %s of 0.01 in %s", total.FloatString(2), f.Name)
		}
		moves++
	}
	if moves < 14 {
		t.Errorf("a row has %d columns", moves)
	}
}

func TestBooksAreOfMoneyThatWasPaid(t *testing.T) {
	t.Parallel()
	row := func(unit string, promo bool, issued, closing string) client.RollForwardRow {
		return client.RollForwardRow{ReportSort: client.ReportSort{Unit: unit, IsPromoType: promo},
			Issued: client.MustDecimal(issued), Closing: client.MustDecimal(closing)}
	}
	rows := []client.RollForwardRow{row("MONEY", false, "50.00", "50.00"), row("MONEY", false, "11.00", "11.00"),
		row("PIECES", false, "2", "2"), row("MONEY", true, "5.00", "5.00")}
	lines := summedUp(rows)
	if got := lines[len(lines)-1].adds.FloatString(2); got != "61.00" || len(lines) != 6 || !closes(lines) {
		t.Errorf("of 61 dollars, %d lines close (%v) with %s", len(lines), closes(lines), got)
	}
	rows[0].Redeemed = client.MustDecimal("-0.01")
	if closes(summedUp(rows)) {
		t.Error("books that lack a cent close")
	}
}
