package journal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// september is the month of two shops that docs/guides/journals.md tells of.
func september() []journal.Row {
	row := func(d int, line books.Line, amount money.Amount, count int64, sold, place string) journal.Row {
		return journal.Row{Day: day(9, d), Line: line, Currency: eur, Amount: amount, Count: count, Program: "Gift cards",
			Sold: sold, Place: place, VAT: merchant.MultiPurpose}
	}
	rows := []journal.Row{
		row(1, books.LineActivated, 100_00, 2, "Harbour", "Harbour"),
		row(3, books.LineIssued, 80_00, 1, "online", ""),
		row(5, books.LineRedeemed, -30_00, 1, "Harbour", "Old Town"),
		row(9, books.LineRedeemed, -80_00, 1, "online", "Harbour"),
		row(10, books.LineGivenBack, 20_00, 1, "online", "Harbour"),
		row(12, books.LineRedeemed, -10_00, 1, "online", "Old Town"),
		row(20, books.LineCashedOut, -5_00, 1, "Harbour", "Harbour"),
		row(28, books.LineCancelled, -20_00, 1, "online", ""),
	}
	rows[5].Promotional, rows[5].Program, rows[5].VAT = true, "Summer", ""
	return rows
}

var block = regexp.MustCompile("(?s)\n```([a-z-]+)\n(.*?)```\n")

// TestTheGuideIsTrue: the files of docs/guides/journals.md are those of its month.
func TestTheGuideIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/guides/journals.md")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]string{}
	for format, names := range map[journal.Format]merchant.LedgerAccounts{journal.CSV: accounts, journal.DATEV: accounts,
		journal.Xero: {Liability: "835", Promotion: "420", Clearing: "836", Cash: "091"},
		journal.QuickBooks: {Liability: "Gift cards", Promotion: "Promotions",
			Clearing: "Gift clearing", Cash: "Petty cash"},
		journal.HLedger: {Liability: "liabilities:gifts", Promotion: "expenses:promotions",
			Clearing: "assets:clearing", Cash: "assets:cash"}} {
		entries, err := journal.Entries(september(), names)
		if err != nil {
			t.Fatal(err)
		}
		j := &journal.Journal{From: day(9, 1), To: day(9, 30), Entries: entries, DATEV: merchant.DATEV{Consultant: 29098,
			Client: 55003, FiscalYearStart: 1, AccountLength: 4}, Made: day(10, 1)}
		files, err := j.Write(format)
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %d files, %v", format, len(files), err)
		}
		made[string(format)] = strings.ReplaceAll(string(files[0].Content), "\r\n", "\n")
	}
	seen := map[string]bool{}
	for _, b := range block.FindAllStringSubmatch(string(page), -1) {
		name, text := b[1], b[2]
		switch whole := made[name]; {
		case name == "balances":
			checkBalances(t, made["hledger"], text)
		case whole == "":
			continue
		case !strings.Contains(whole, strings.TrimSuffix(text, "\n")):
			t.Errorf("%s is\n%s\nand the guide says\n%s", name, whole, text)
		}
		seen[name] = true
	}
	for _, name := range []string{"csv", "hledger", "quickbooks", "xero", "balances"} {
		if !seen[name] {
			t.Errorf("the guide shows no %s", name)
		}
	}
}

// checkBalances asks hledger for what the guide says that it says.
func checkBalances(t *testing.T, text, want string) {
	t.Helper()
	if _, err := exec.LookPath("hledger"); err != nil {
		t.Log("LEFT OUT: there is no hledger")
		return
	}
	file := filepath.Join(t.TempDir(), "september.journal")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, "hledger", "-f", file, "balance", "--no-total", "--flat"); got != want {
		t.Errorf("hledger says\n%s\nand the guide\n%s", got, want)
	}
}
