package journal_test

import (
	"strings"
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// TestVATOfSales: the VAT of a gift for one purpose is told when it is sold, and when the sale is cancelled; it is
// rounded once, and with the rest it comes to the amount. When the gift is redeemed, none is due.
func TestVATOfSales(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line     books.Line
		vat      merchant.VATTreatment
		rate     money.Number
		currency money.Currency
		amount   money.Amount
		want     string // the end of the line
	}{
		{books.LineIssued, merchant.SinglePurpose, "19", eur, 119_00, "EinzweckgutscheinKauf,19.00,100.00,19.00"},
		{books.LineActivated, merchant.SinglePurpose, "7", eur, 10_00, "EinzweckgutscheinKauf,7.00,9.35,0.65"},
		{books.LineReloaded, merchant.SinglePurpose, "7.5", eur, 1, "EinzweckgutscheinKauf,7.50,0.01,0.00"},
		{books.LineCancelled, merchant.SinglePurpose, "19", eur, -119_00, "EinzweckgutscheinKauf,19.00,100.00,19.00"},
		{books.LineIssued, merchant.SinglePurpose, "10", jpy, 1_105, "EinzweckgutscheinKauf,10.00,1005,100"},
		{books.LineIssued, merchant.SinglePurpose, "100", eur, 3, "EinzweckgutscheinKauf,100.00,0.01,0.02"},
		{books.LineIssued, merchant.SinglePurpose, "5", kwd, 9_000_000_000_000_000, "8571428571428.571,428571428571.429"},
		{books.LineRedeemed, merchant.SinglePurpose, "19", eur, -119_00, "EinzweckgutscheinEinloesung,19.00,,"},
		{books.LineExpired, merchant.SinglePurpose, "19", eur, -119_00, ",,19.00,,"},
		{books.LineIssued, merchant.MultiPurpose, "", eur, 119_00, "MehrzweckgutscheinKauf,,,"},
		{books.LineIssued, "", "", eur, 119_00, ",,,,"},
	} {
		entries, err := journal.Entries([]journal.Row{{Day: day(9, 1), Line: test.line, Currency: test.currency,
			Amount: test.amount, Count: 1, VAT: test.vat, Rate: test.rate}}, accounts)
		if err != nil {
			t.Fatal(err)
		}
		j := &journal.Journal{From: day(9, 1), To: day(9, 1), Entries: entries}
		files, err := j.Write(journal.CSV)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.TrimSpace(string(files[0].Content)); !strings.HasSuffix(text, test.want) {
			t.Errorf("%s of %d at %s %s is written as %s, want %s", test.line, test.amount, test.vat, test.rate, text, test.want)
		}
	}
}
