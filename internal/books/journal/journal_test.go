package journal_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

var (
	eur = money.Currency{Code: "EUR", Decimals: 2}
	jpy = money.Currency{Code: "JPY", Decimals: 0}
	kwd = money.Currency{Code: "KWD", Decimals: 3}

	accounts = merchant.LedgerAccounts{Liability: "1700", Promotion: "4600", Clearing: "1360",
		Cash: "1000", Breakage: "2700"}
)

func day(month time.Month, d int) time.Time { return time.Date(2026, month, d, 0, 0, 0, 0, time.UTC) }

// TestEveryLineIsBooked holds, by hand, which account each line debits and which it credits: when more is owed and when
// less, for gifts that were paid for and for promotional ones. "": there is no entry.
func TestEveryLineIsBooked(t *testing.T) {
	t.Parallel()
	type want struct{ more, less, promoMore, promoLess string }
	table := map[books.Line]want{
		books.LineIssued:        {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineActivated:     {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineReloaded:      {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineImported:      {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineTransferred:   {"", "", "", ""},
		books.LineAdjustedUp:    {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineAdjustedDown:  {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineRedeemed:      {"1360 to 1700", "1700 to 1360", "1360 to 4600", "4600 to 1360"},
		books.LineGivenBack:     {"1360 to 1700", "1700 to 1360", "1360 to 4600", "4600 to 1360"},
		books.LineCashedOut:     {"1000 to 1700", "1700 to 1000", "1000 to 4600", "4600 to 1000"},
		books.LineCashGivenBack: {"1000 to 1700", "1700 to 1000", "1000 to 4600", "4600 to 1000"},
		books.LineCancelled:     {"1360 to 1700", "1700 to 1360", "", ""},
		books.LineExpired:       {"2700 to 1700", "1700 to 2700", "", ""},
		journal.LineBreakage:    {"2700 to 1700", "1700 to 2700", "", ""},
	}
	for _, line := range append(books.Lines(), journal.LineBreakage) {
		want, known := table[line]
		if !known {
			t.Errorf("nobody has said how the ledger books the line %s", line)
			continue
		}
		for _, c := range []struct {
			amount money.Amount
			promo  bool
			want   string
		}{{500, false, want.more}, {-500, false, want.less}, {500, true, want.promoMore}, {-500, true, want.promoLess}} {
			row := journal.Row{Day: day(9, 1), Line: line, Promotional: c.promo, Currency: eur, Amount: c.amount, Count: 1}
			entries, err := journal.Entries([]journal.Row{row}, accounts)
			if err != nil {
				t.Errorf("%s: %v", line, err)
			}
			got := ""
			for _, e := range entries {
				for _, p := range e.Postings {
					got += p.Debit + " to " + p.Credit
					if p.Amount != 500 {
						t.Errorf("%s %d: the ledger books %d", line, c.amount, p.Amount)
					}
				}
			}
			if got != c.want {
				t.Errorf("%s %d, promotional %t: %q, want %q", line, c.amount, c.promo, got, c.want)
			}
		}
	}
}

// TestWhatNobodyPaidForIsThePromotions: the buyer of a gift of 60 who pays 50 gets a gift of 60; 10 of that the
// merchant gives. Where the sale is taken back, so is that. VAT is due on what was paid.
func TestWhatNobodyPaidForIsThePromotions(t *testing.T) {
	t.Parallel()
	row := journal.Row{Day: day(9, 1), Line: books.LineActivated, Currency: eur, Amount: 6000, Bonus: 1000, Count: 2,
		VAT: merchant.SinglePurpose, Rate: "19"}
	for _, c := range []struct {
		line          books.Line
		amount, bonus money.Amount
		want          string
	}{
		{books.LineIssued, 6000, 1000, "1360 1700 5000 x2 19 gifts sold; 4600 1700 1000 x0  bonus of gifts sold"},
		{books.LineReloaded, -6000, -1000, "1700 1360 5000 x2 19 loads of cards taken back; " +
			"1700 4600 1000 x0  bonus of loads of cards taken back"},
		{books.LineCancelled, -4000, -666, "1700 1360 3334 x2 19 gifts cancelled; " +
			"1700 4600 666 x0  bonus of gifts cancelled"},
		{books.LineActivated, 0, 1000, "1700 1360 1000 x2 19 sales of cards taken back; " +
			"4600 1700 1000 x0  bonus of cards sold"},
		{books.LineCancelled, -1, -1, "1700 4600 1 x2  bonus of gifts cancelled"},
	} {
		row.Line, row.Amount, row.Bonus = c.line, c.amount, c.bonus
		entries, err := journal.Entries([]journal.Row{row}, accounts)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range entries[0].Postings {
			got = append(got, fmt.Sprintf("%s %s %d x%d %s %s", p.Debit, p.Credit, p.Amount, p.Count, p.Rate,
				saysInCSV(t, &journal.Journal{From: row.Day, To: row.Day, Entries: entries}, p.Amount, p.Bonus)))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s %d: %s\nwant %s", c.line, c.amount, text, c.want)
		}
	}
}

// saysInCSV is how the journal as CSV describes a posting.
func saysInCSV(t *testing.T, j *journal.Journal, amount money.Amount, bonus bool) string {
	t.Helper()
	files, err := j.Write(journal.CSV)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(files[0].Content)) {
		cells := strings.Split(line, ",")
		if cells[7] == eur.Format(amount) && strings.HasPrefix(cells[3], "bonus") == bonus {
			return cells[3]
		}
	}
	return ""
}

func TestALineWithoutARuleIsAnError(t *testing.T) {
	t.Parallel()
	_, err := journal.Entries([]journal.Row{{Day: day(9, 1), Line: "FOUND", Currency: eur, Amount: 1}}, accounts)
	if err == nil || !strings.Contains(err.Error(), "FOUND") {
		t.Errorf("%v", err)
	}
}

// TestMissingAccountsAreNamed: all that are needed, and none that is not.
func TestMissingAccountsAreNamed(t *testing.T) {
	t.Parallel()
	rows := []journal.Row{
		{Day: day(9, 1), Line: books.LineIssued, Currency: eur, Amount: 500},
		{Day: day(9, 1), Line: books.LineCashedOut, Currency: eur, Amount: -200},
		{Day: day(9, 2), Line: books.LineExpired, Currency: eur, Amount: -100},
		{Day: day(9, 3), Line: books.LineRedeemed, Currency: money.Pieces, Amount: -1},
	}
	_, err := journal.Entries(rows, merchant.LedgerAccounts{Clearing: "1360"})
	var refused *refusal.Error
	if !errors.As(err, &refused) || refused.Code != refusal.AccountMisconfigured {
		t.Fatalf("%v", err)
	}
	var paths []string
	ways := 0
	for _, m := range refused.Messages {
		paths = append(paths, m.Path)
		ways += strings.Count(m.Text(nil), "books: {accounts: ")
	}
	if want := []string{"books.accounts", "books.accounts.cash", "books.accounts.liability"}; !slices.Equal(paths, want) {
		t.Errorf("%v, want %v", paths, want)
	}
	if ways != 1 {
		t.Errorf("how to name them is said %d times: %v", ways, refused)
	}
}

// TestExpiredStaysOwed: without to account for breakage, the ledger goes on owing for gifts that expired. What a person
// books needs the account.
func TestExpiredStaysOwed(t *testing.T) {
	t.Parallel()
	some := merchant.LedgerAccounts{Liability: "1700", Clearing: "1360"}
	expired := journal.Row{Day: day(9, 2), Line: books.LineExpired, Currency: eur, Amount: -100}
	if entries, err := journal.Entries([]journal.Row{expired}, some); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	expired.Line = journal.LineBreakage
	if _, err := journal.Entries([]journal.Row{expired}, some); !errors.Is(err, refusal.AccountMisconfigured) {
		t.Errorf("%v", err)
	}
}

func TestEntriesAreInOrderAndSumUp(t *testing.T) {
	t.Parallel()
	row := func(d int, line books.Line, c money.Currency, amount money.Amount, place string) journal.Row {
		return journal.Row{Day: day(9, d), Line: line, Currency: c, Amount: amount, Count: 2, Place: place}
	}
	entries, err := journal.Entries([]journal.Row{
		row(2, books.LineRedeemed, eur, -100, "Harbour"), row(1, books.LineRedeemed, eur, -300, "Old Town"),
		row(1, books.LineIssued, jpy, 700, ""), row(1, books.LineIssued, eur, 500, "Harbour"),
		row(1, books.LineRedeemed, eur, -200, "Harbour"), row(1, books.LineRedeemed, eur, -50, "Harbour"),
		row(1, books.LineReloaded, eur, 0, "Harbour"),
	}, accounts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		text := e.Number
		for _, p := range e.Postings {
			text += fmt.Sprintf(" %s:%d/%d", p.Place, p.Amount, p.Count)
		}
		got = append(got, text)
	}
	want := []string{"260901-ISSUED-EUR Harbour:500/2", "260901-ISSUED-JPY :700/2",
		"260901-REDEEMED-EUR Harbour:250/4 Old Town:300/2", "260902-REDEEMED-EUR Harbour:100/2"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestNumbersFit: the number of to entry fits into the shortest field of all programs, and tells entries apart.
func TestNumbersFit(t *testing.T) {
	t.Parallel()
	seen := map[string]books.Line{}
	for _, line := range append(books.Lines(), journal.LineBreakage) {
		entries, err := journal.Entries([]journal.Row{{Day: day(12, 31), Line: line, Currency: eur, Amount: 1}}, accounts)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if other := seen[e.Number]; len(e.Number) > 21 || other != "" {
				t.Errorf("%s: %q is too long, or also that of %q", line, e.Number, other)
			}
			seen[e.Number] = line
		}
	}
}

func TestSumsThatAreTooLarge(t *testing.T) {
	t.Parallel()
	row := journal.Row{Day: day(9, 1), Line: books.LineIssued, Currency: eur, Amount: math.MaxInt64}
	if _, err := journal.Entries([]journal.Row{row, row}, accounts); err == nil {
		t.Error("two largest amounts have a sum")
	}
	row.Amount = math.MinInt64
	if _, err := journal.Entries([]journal.Row{row}, accounts); err == nil {
		t.Error("the smallest amount has a positive one")
	}
}
