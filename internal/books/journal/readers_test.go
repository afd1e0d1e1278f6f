package journal_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"

	"boon.example/internal/money"
)

// The readers of this file know the formats from what their programs publish, and nothing of the writers.

// balance is what an account has in a currency after some days: debits less credits.
type balance map[string]money.Amount

func (b balance) add(account string, currency money.Currency, amount money.Amount) {
	key := account + " " + currency.Code
	if b[key] += amount; b[key] == 0 {
		delete(b, key)
	}
}

// sums are balances by day.
type sums map[string]balance

func (s sums) add(day, account string, currency money.Currency, amount money.Amount) {
	if s[day] == nil {
		s[day] = balance{}
	}
	if s[day].add(account, currency, amount); len(s[day]) == 0 {
		delete(s, day)
	}
}

// readCSV reads the journal as CSV.
func readCSV(content []byte) (sums, error) {
	lines, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		return nil, err
	}
	column := map[string]int{}
	for n, name := range lines[0] {
		column[name] = n
	}
	s := sums{}
	for _, line := range lines[1:] {
		for _, cell := range line {
			if strings.ContainsRune("=+-@\t\r", rune(append([]byte(cell), ' ')[0])) || strings.ContainsAny(cell, "\r\n") {
				return nil, fmt.Errorf("a spreadsheet may take %q for a formula", cell)
			}
		}
		currency, err := money.ParseCurrency(line[column["currency"]])
		if err != nil {
			return nil, err
		}
		amount, err := currency.Parse(money.Number(line[column["amount"]]))
		if err != nil {
			return nil, err
		}
		s.add(line[column["date"]], strings.TrimPrefix(line[column["debit"]], "'"), currency, amount)
		s.add(line[column["date"]], strings.TrimPrefix(line[column["credit"]], "'"), currency, -amount)
	}
	return s, nil
}

// readXero reads the body of ManualJournals. Each must be a draft, and balance: Xero refuses others.
func readXero(content []byte, currency money.Currency) (sums, error) {
	var body struct {
		ManualJournals []struct {
			Narration, Date, Status, LineAmountTypes string
			JournalLines                             []struct {
				LineAmount               json.Number
				AccountCode, Description string
			}
		}
	}
	in := json.NewDecoder(bytes.NewReader(content))
	in.DisallowUnknownFields()
	if err := in.Decode(&body); err != nil {
		return nil, err
	}
	s := sums{}
	for _, j := range body.ManualJournals {
		if _, err := time.Parse(time.DateOnly, j.Date); err != nil || j.Narration == "" || j.Status != "DRAFT" ||
			j.LineAmountTypes != "NoTax" || len(j.JournalLines) < 2 {
			return nil, fmt.Errorf("Xero would not take %+v", j)
		}
		var total money.Amount
		for _, l := range j.JournalLines {
			amount, err := currency.ParseSigned(money.Number(l.LineAmount))
			if err != nil || l.AccountCode == "" || len([]rune(l.AccountCode)) > 10 || len([]rune(l.Description)) > 4_000 {
				return nil, fmt.Errorf("Xero would not take %+v (%w)", l, err)
			}
			total += amount
			s.add(j.Date, l.AccountCode, currency, amount)
		}
		if total != 0 {
			return nil, fmt.Errorf("%s does not balance by %d", j.Narration, total)
		}
	}
	return s, nil
}

// readQuickBooks reads a file for the import of journal entries: the lines of an entry share JournalNo, and each has a
// debit or a credit.
func readQuickBooks(content []byte, currency money.Currency) (sums, error) {
	lines, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		return nil, err
	}
	if got := strings.Join(lines[0], ","); got != "JournalNo,JournalDate,AccountName,Debits,Credits,Description" {
		return nil, fmt.Errorf("the columns are %s", got)
	}
	s, totals := sums{}, map[string]money.Amount{}
	for _, l := range lines[1:] {
		at, err := time.Parse("01/02/2006", l[1])
		if err != nil || len(l[0]) > 21 || l[2] == "" || (l[3] == "") == (l[4] == "") || len([]rune(l[5])) > 4_000 {
			return nil, fmt.Errorf("QuickBooks would not take %q (%w)", l, err)
		}
		amount, err := currency.Parse(money.Number(l[3] + l[4]))
		if err != nil {
			return nil, err
		}
		if l[3] == "" {
			amount = -amount
		}
		totals[l[0]] += amount
		s.add(at.Format(time.DateOnly), l[2], currency, amount)
	}
	for number, total := range totals {
		if total != 0 {
			return nil, fmt.Errorf("%s does not balance by %d", number, total)
		}
	}
	return s, nil
}

// The expressions that DATEV publishes: of the header, and of the columns of a Buchungsstapel of version 13.
var (
	datevHeader = compile(strings.Fields(`^"(EXTF|DTVF)"$ ^700$ ^21$ ^"Buchungsstapel"$ ^13$ ^20\d{15}$ ^$ ^"\w{0,2}"$
		^"\w{0,25}"$ ^"\w{0,25}"$ ^\d{4,7}$ ^\d{1,5}$ ^20\d{6}$ ^[4-8]$ ^20\d{6}$ ^20\d{6}$ ^"[\w.\-/\x20]{0,30}"$
		^"([A-Z]{2})?"$ ^[12]$ ^(0|30|40|50|64)$ ^[01]$ ^"([A-Z]{3})?"$ ^$ ^""$ ^$ ^$ ^"(\d{2}|\d{4})?"$ ^\d{0,4}$ ^$ ^""$
		^".{0,16}"$`))
	datevRow = func() []*regexp.Regexp {
		all := make([]string, 126)
		for n, expression := range map[int]string{1: `^\d{1,10},\d{2}$`, 2: `^"[SH]"$`, 3: `^"([A-Z]{3})?"$`,
			4: `^([1-9]\d{0,3},\d{2,6})?$`, 5: `^(\d{1,10},\d{2})?$`, 6: `^"([A-Z]{3})?"$`, 7: `^\d{1,9}$`, 8: `^\d{1,9}$`,
			9: `^"(\d{4})?"$`, 10: `^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])$`, 11: `^"[\w$%\-/]{0,36}"$`,
			12: `^"[\w$%\-/]{0,12}"$`, 13: `^([1-9]\d{0,7},\d{2})?$`, 14: `^".{0,60}"$`, 15: `^[01]?$`, 16: `^"\w{0,9}"$`,
			17: `^(\d{3})?$`, 18: `^(\d{2})?$`, 19: `^[01]?$`, 20: `^".{0,210}"$`, 37: `^"[\w ]{0,36}"$`,
			38: `^"[\w ]{0,36}"$`, 39: `^(\d{1,12},\d{4})?$`, 40: `^".{0,15}"$`, 41: `^(\d{2},\d{2})?$`, 42: `^"[IKPS]?"$`,
			43: `^\d{0,3}$`, 44: `^\d{0,3}$`, 45: `^\d?$`, 46: `^\d{0,2}$`, 47: `^\d{0,3}$`, 88: `^\d{0,8}$`,
			89: `^(\d{1,8},\d{2})?$`, 90: `^\d{0,2}$`, 91: `^"\w{0,10}"$`, 92: `^(20\d{2})?$`, 93: `^(\d{4}20\d{2})?$`,
			94: `^\d?$`, 95: `^".{0,30}"$`, 96: `^"([A-Z]{2})?"$`, 97: `^\d{0,4}$`, 98: `^"([A-Z]{2})?"$`, 99: `^\d{0,3}$`,
			100: `^(\d{1,2},\d{2})?$`, 101: `^(\d{4,8})?$`, 102: `^"([A-Z]{2})?"$`, 103: `^".{0,36}"$`,
			104: `^(\d{4}20\d{2})?$`, 105: `^".{0,35}"$`, 106: `^[01]?$`, 107: `^".{0,76}"$`, 108: `^(\d{4})?$`,
			109: `^".{0,11}"$`, 110: `^".{0,20}"$`, 111: `^(\d{4}20\d{2})?$`, 112: `^".{0,30}"$`, 113: `^\d{0,2}$`,
			114: `^[01]?$`, 115: `^(\d{4}20\d{2})?$`, 116: `^(\d{4}20\d{2})?$`, 117: `^(\d{4}20\d{2})?$`, 118: `^"[01G]?"$`,
			119: `^(\d{1,2},\d{2})?$`, 120: `^"([A-Z]{2})?"$`, 121: `^".{0,50}"$`, 122: `^[1-5]?$`, 123: `^".{0,15}"$`,
			124: `^(\d{2},\d{2})?$`, 125: `^\d{0,9}$`} {
			all[n] = expression
		}
		for n := range all {
			if n >= 21 && n <= 36 || n >= 48 && n <= 87 { // of each kind of information, its name and then its text
				all[n] = `^".{0,20}"$`
				if (n <= 36) == (n%2 == 0) {
					all[n] = `^".{0,210}"$`
				}
			}
		}
		return compile(all[1:])
	}()
)

func compile(expressions []string) (all []*regexp.Regexp) {
	for _, one := range expressions {
		all = append(all, regexp.MustCompile(one))
	}
	return all
}

// readDATEV reads a Buchungsstapel: CP1252, lines that end with CR LF, semicolons, texts in quotation marks.
func readDATEV(content []byte) (sums, error) {
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(content)
	if err != nil {
		return nil, err
	}
	text, ended := strings.CutSuffix(string(decoded), "\r\n")
	lines := strings.Split(text, "\r\n")
	if !ended || len(lines) < 2 || strings.ContainsAny(strings.Join(lines, ""), "\r\n\x00�") {
		return nil, fmt.Errorf("these are no lines of DATEV: %.80q", text)
	}
	header, err := datevCells(lines[0], datevHeader)
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	if n := len(strings.Split(lines[1], ";")); n != 125 {
		return nil, fmt.Errorf("%d columns", n)
	}
	begins, from, to := datevDay(header[12]), datevDay(header[14]), datevDay(header[15])
	if from.Before(begins) || to.Before(from) || !to.Before(begins.AddDate(1, 0, 0)) || from.Month() != to.Month() {
		return nil, fmt.Errorf("%s to %s is no part of the fiscal year that begins %s", from, to, begins)
	}
	s := sums{}
	for _, line := range lines[2:] {
		cells, err := datevCells(line, datevRow)
		if err != nil {
			return nil, fmt.Errorf("%.80s: %w", line, err)
		}
		at, err := time.Parse("020106", cells[9]+from.Format("06"))
		if err != nil || at.Before(from) || at.After(to) {
			return nil, fmt.Errorf("%s is not from %s to %s", cells[9], from, to)
		}
		length, _ := strconv.Atoi(header[13])
		amount, err := eur.Parse(money.Number(strings.Replace(cells[0], ",", ".", 1)))
		if err != nil || strings.Trim(cells[6], "0") == "" || len(cells[6]) > length+1 || strings.Trim(cells[7], "0") == "" ||
			len(cells[7]) > length+1 || cells[113] != "0" {
			return nil, fmt.Errorf("DATEV would not take %q (%w)", line, err)
		}
		if cells[1] == "H" {
			amount = -amount
		}
		s.add(at.Format(time.DateOnly), cells[6], eur, amount)
		s.add(at.Format(time.DateOnly), cells[7], eur, -amount)
	}
	return s, nil
}

func datevDay(text string) time.Time {
	at, _ := time.Parse("20060102", text)
	return at
}

// datevCells takes a line apart and holds each cell against its expression, which is about what stands between the
// semicolons, with each doubled quotation mark counted as one.
func datevCells(line string, expressions []*regexp.Regexp) (cells []string, _ error) {
	rest := line + ";"
	for rest != "" {
		end := strings.IndexByte(rest, ';')
		cell := rest[:max(end, 0)]
		if strings.HasPrefix(rest, `"`) {
			for end = 1; end < len(rest) && rest[end] != '"' || strings.HasPrefix(rest[end:], `""`); end++ {
				if rest[end] == '"' {
					end++
				}
			}
			end++
			if end >= len(rest) || rest[end] != ';' {
				return nil, io.ErrUnexpectedEOF
			}
			cell = `"` + strings.ReplaceAll(rest[1:end-1], `""`, `"`) + `"`
		}
		if len(cells) == len(expressions) {
			return nil, fmt.Errorf("more than %d cells", len(expressions))
		}
		if !expressions[len(cells)].MatchString(cell) {
			return nil, fmt.Errorf("cell %d, %s, is not as DATEV says: %s", len(cells)+1, cell, expressions[len(cells)])
		}
		if len(cell) > 1 && strings.ContainsRune("=+-@", rune(cell[1])) {
			return nil, fmt.Errorf("a spreadsheet may take %s for a formula", cell)
		}
		cells, rest = append(cells, strings.Trim(cell, `"`)), rest[end+1:]
	}
	if len(cells) != len(expressions) {
		return nil, fmt.Errorf("%d cells, not %d", len(cells), len(expressions))
	}
	return cells, nil
}
