package journal_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// run runs a program on the machine that reads journals of other programs.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.Command(name, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "LEDGER_FILE=")
	if err := command.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s%s", name, args, err, &stdout, &stderr)
	}
	return stdout.String()
}

// table reads CSV with a head, each line by its columns.
func table(t *testing.T, text string) (lines []map[string]string) {
	t.Helper()
	cells, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, line := range cells[1:] {
		by := map[string]string{}
		for n, name := range cells[0] {
			by[name] = line[n]
		}
		lines = append(lines, by)
	}
	return lines
}

// TestHLedgerReads: hledger has on each day, in each account, what was booked, whatever the names are; and so has
// beancount, to which what hledger read is told.
func TestHLedgerReads(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("hledger"); err != nil {
		t.Skip("LEFT OUT: there is no hledger")
	}
	for seed := range uint64(9) {
		random := rand.New(rand.NewPCG(seed, 7))
		currency := []money.Currency{eur, jpy, kwd}[seed%3]
		rows := randomRows(random, currency, day(2, 20), 60, hostile)
		entries, err := journal.Entries(rows, named[journal.HLedger])
		if err != nil {
			t.Fatal(err)
		}
		j := &journal.Journal{From: day(2, 20), To: day(4, 20), Entries: entries}
		files, err := j.Write(journal.HLedger)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), files[0].Name)
		written := journal.WithProof(journal.HLedger, files[0].Content, []byte(`{"name":"journal","from":"2026-02-20"}`))
		if err := os.WriteFile(file, written, 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, "hledger", "-f", file, "check")
		got, postings := sums{}, table(t, run(t, "hledger", "-f", file, "register", "-O", "csv"))
		for _, p := range postings {
			number, code, _ := strings.Cut(p["amount"], " ")
			amount, err := currency.ParseSigned(money.Number(number))
			if err != nil || code != currency.Code {
				t.Fatalf("seed %d: %q: %v", seed, p["amount"], err)
			}
			got.add(p["date"], p["account"], currency, amount)
		}
		want := booked(j)
		if !same(got, want) {
			t.Errorf("seed %d: hledger has %v\nwant %v\nof\n%s", seed, got, want, files[0].Content)
		}
		checkTags(t, file)
		checkBeancount(t, postings, want)
	}
}

// checkTags: names make no tags but ours.
func checkTags(t *testing.T, file string) {
	t.Helper()
	for tag := range strings.FieldsSeq(run(t, "hledger", "-f", file, "tags")) {
		if !slices.Contains([]string{"count", "program", "sold", "place"}, tag) {
			t.Errorf("a name made the tag %q", tag)
		}
	}
}

// checkBeancount tells the postings that hledger read to beancount, and asks it for the balances of the accounts.
func checkBeancount(t *testing.T, postings []map[string]string, want sums) {
	t.Helper()
	if _, err := exec.LookPath("bean-query"); err != nil {
		t.Log("LEFT OUT: there is no beancount")
		return
	}
	name := func(account string) string {
		return "Assets:A" + strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, account)
	}
	var b strings.Builder
	for n, p := range postings {
		if n == 0 || p["txnidx"] != postings[n-1]["txnidx"] {
			fmt.Fprintf(&b, "\n%s * \"%s\"\n", p["date"], p["code"])
		}
		fmt.Fprintf(&b, "  %s  %s\n", name(p["account"]), p["amount"])
	}
	total := balance{}
	of := named[journal.HLedger]
	for _, account := range []string{of.Liability, of.Promotion, of.Clearing, of.Cash, of.Breakage} {
		fmt.Fprintf(&b, "\n2000-01-01 open %s\n", name(account))
	}
	for _, one := range want {
		for key, amount := range one {
			account, code := key[:len(key)-4], key[len(key)-3:]
			total.add(name(account), money.Currency{Code: code}, amount)
		}
	}
	file := filepath.Join(t.TempDir(), "boon.beancount")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "bean-check", file)
	got := balance{}
	for _, line := range table(t, run(t, "bean-query", "-f", "csv", file,
		"SELECT account AS account, number AS number, currency AS currency")) {
		currency, err := money.ParseCurrency(strings.TrimSpace(line["currency"]))
		if err != nil {
			t.Fatal(err)
		}
		amount, err := currency.ParseSigned(money.Number(strings.TrimSpace(line["number"])))
		if err != nil {
			t.Fatal(err)
		}
		got.add(strings.TrimSpace(line["account"]), currency, amount)
	}
	if !maps.Equal(got, total) {
		t.Errorf("beancount has %v, want %v", got, total)
	}
}

// TestNamesThatMeanSomethingAreRefused: of accounts, which no writer may change.
func TestNamesThatMeanSomethingAreRefused(t *testing.T) {
	t.Parallel()
	for format, names := range map[journal.Format][]string{
		journal.HLedger: {"(1700)", "[1700]", "1700  ; x", "a\nb", " 1700", "* 1700", "! x", "; x", "=x", "a\tb",
			"a\u2028b"},
		journal.QuickBooks: {"1700", "=cmd()", "+x", "-x", "@x", "a\nb", " x"},
		journal.Xero:       {"12345678901", "a\nb", " x"},
		journal.DATEV: {"Gift cards", "123456", "0000", "-1700", "1700;", `"1700"`, "１７００", " 1700",
			"1700\r\n"},
	} {
		for _, name := range names {
			entries, err := journal.Entries([]journal.Row{{Day: day(7, 1), Line: books.LineIssued, Currency: eur, Amount: 1}},
				merchant.LedgerAccounts{Liability: name, Clearing: "1360"})
			if err != nil {
				t.Fatal(err)
			}
			entries[0].Postings[0].Debit = name
			j := &journal.Journal{From: day(7, 1), To: day(7, 31), Entries: entries, DATEV: datev}
			if _, err := j.Write(format); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
				t.Errorf("%s takes %q: %v", format, name, err)
			}
		}
	}
}
