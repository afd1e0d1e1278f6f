package journal_test

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/refusal"
)

// datev is what DATEV has to know of the merchant of these tests, whose fiscal year begins in July.
var datev = merchant.DATEV{Consultant: 29098, Client: 55003, FiscalYearStart: 7, AccountLength: 4}

// named are accounts as each format names them.
var named = map[journal.Format]merchant.LedgerAccounts{
	journal.CSV: accounts, journal.DATEV: accounts, journal.Xero: accounts,
	journal.QuickBooks: {Liability: "Liabilities:Gift cards", Promotion: "Promotions, other",
		Clearing: "Gift \"clearing\"", Cash: "Petty cash", Breakage: "Other income"},
	journal.HLedger: {Liability: "liabilities:gift cards", Promotion: "expenses:promotions",
		Clearing: "assets:gift clearing", Cash: "assets:cash", Breakage: "1700"}}

// randomRows are rows of any lines, of which some have hostile names.
func randomRows(random *rand.Rand, currency money.Currency, from time.Time, days int, names []string) []journal.Row {
	lines := append(books.Lines(), journal.LineBreakage)
	name := func() string { return names[random.IntN(len(names))] }
	rows := make([]journal.Row, random.IntN(60))
	for n := range rows {
		rows[n] = journal.Row{Day: from.AddDate(0, 0, random.IntN(days)), Line: lines[random.IntN(len(lines))],
			Promotional: random.IntN(4) == 0, Currency: currency, Amount: money.Amount(random.IntN(1_000_000) - 500_000),
			Bonus: money.Amount(random.IntN(3) * (random.IntN(100_000) - 50_000)),
			Count: random.Int64N(100), Program: name(), Sold: name(), Place: name(),
			VAT:  []merchant.VATTreatment{"", merchant.MultiPurpose, merchant.SinglePurpose}[random.IntN(3)],
			Rate: []money.Number{"19", "7.5", "", "0"}[random.IntN(4)]}
	}
	return rows
}

// booked are the sums of a journal.
func booked(j *journal.Journal) sums {
	s := sums{}
	for _, e := range j.Entries {
		for _, p := range e.Postings {
			s.add(e.Day.Format(time.DateOnly), p.Debit, e.Currency, p.Amount)
			s.add(e.Day.Format(time.DateOnly), p.Credit, e.Currency, -p.Amount)
		}
	}
	return s
}

// read reads files of a format as somebody else does.
func read(format journal.Format, files []journal.File, currency money.Currency) (sums, error) {
	all := sums{}
	for _, f := range files {
		var one sums
		var err error
		switch format {
		case journal.CSV:
			one, err = readCSV(f.Content)
		case journal.DATEV:
			one, err = readDATEV(f.Content)
		case journal.Xero:
			one, err = readXero(f.Content, currency)
		case journal.QuickBooks:
			one, err = readQuickBooks(f.Content, currency)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(all, one)
	}
	return all, nil
}

func same(a, b sums) bool { return maps.EqualFunc(a, b, maps.Equal[balance, balance]) }

// hostile are names that mean something to a program that reads a journal.
var hostile = []string{"", "Gift cards", `Bob's "best"`, "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "a;b", "a,b",
	"two\nlines", "\r\n2026-01-01 x\n  a  1\n  b", "date:2001-01-01", "[2001-01-01]", "; x", "a\tb", "  wide  gap  ",
	"Café Ķēķava", "東京", "🎁", "\u202egnihtyna", "a\u2028b", "\xff\xfe", "＝1+1", "⁼1+1", "﹢1+1", "x  (y)", "€ 5 – „so“",
	strings.Repeat("long ", 100), strings.Repeat("ﷺ", 50), `""`, `";"`, "a \\ b", "'", "#", "%", "{", "<b>"}

// TestJournalsAreReadBack: whoever reads a journal has on each day, in each account, what was booked.
func TestJournalsAreReadBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 39))
		currency := []money.Currency{eur, jpy, kwd}[seed%3]
		rows := randomRows(random, currency, day(5, 20), 60, hostile)
		for _, format := range journal.Formats() {
			if format == journal.HLedger || format == journal.DATEV && currency != eur {
				continue
			}
			entries, err := journal.Entries(rows, named[format])
			if err != nil {
				t.Fatal(err)
			}
			j := &journal.Journal{From: day(5, 20), To: day(7, 18), Entries: entries, DATEV: datev, Made: day(8, 1)}
			files, err := j.Write(format)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, format, err)
			}
			got, err := read(format, files, currency)
			if want := booked(j); err != nil || !same(got, want) {
				t.Fatalf("seed %d, %s: %v, %v\nwant %v", seed, format, err, got, want)
			}
			checkFiles(t, format, files)
		}
	}
}

func checkFiles(t *testing.T, format journal.Format, files []journal.File) {
	t.Helper()
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		invisible := func(r rune) bool { return unicode.Is(unicode.C, r) && r != '\r' && r != '\n' }
		if format != journal.DATEV && (!utf8.Valid(f.Content) || bytes.ContainsFunc(f.Content, invisible)) {
			t.Errorf("%s: what nobody sees is in it: %q", f.Name, f.Content)
		}
	}
	switch {
	case format == journal.DATEV:
		for _, name := range names {
			if !slices.Contains([]string{"EXTF_Buchungsstapel_2026-05.csv", "EXTF_Buchungsstapel_2026-06.csv",
				"EXTF_Buchungsstapel_2026-07.csv"}, name) {
				t.Errorf("%s is not one of the months", name)
			}
		}
	case len(names) != 1 || !strings.HasPrefix(names[0], "journal-2026-05-20-2026-07-18."):
		t.Errorf("%s: %v", format, names)
	}
}

// FuzzJournals: names of any bytes, also of accounts, give files that read back, or a refusal in sentences.
func FuzzJournals(f *testing.F) {
	for n, name := range hostile {
		f.Add(uint64(n), name, hostile[(n+7)%len(hostile)], "1700")
	}
	f.Add(uint64(1), "a", "b", "(1700)")
	f.Add(uint64(2), "a", "b", "=1700")
	f.Fuzz(func(t *testing.T, seed uint64, program, place, account string) {
		rows := randomRows(rand.New(rand.NewPCG(seed, 1)), eur, day(6, 25), 10, []string{program, place, ""})
		for _, format := range journal.Formats() {
			mine := named[format]
			mine.Liability = account
			entries, err := journal.Entries(rows, mine)
			if err != nil {
				if account != "" || !errors.Is(err, refusal.AccountMisconfigured) {
					t.Fatal(err)
				}
				continue
			}
			j := &journal.Journal{From: day(6, 25), To: day(7, 4), Entries: entries, DATEV: datev, Made: day(8, 1)}
			files, err := j.Write(format)
			switch {
			case errors.Is(err, refusal.AccountMisconfigured):
				continue
			case err != nil:
				t.Fatal(err)
			case format == journal.HLedger:
				continue // its own reader takes too long: TestHLedgerReads
			}
			got, err := read(format, files, eur)
			if want := booked(j); err != nil || format != journal.CSV && !same(got, want) {
				t.Fatalf("%s: %v, %v\nwant %v", format, err, got, want)
			}
		}
	})
}
