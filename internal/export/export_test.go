package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/export"
	"boon.example/internal/gift"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func options(format export.Format, codes bool) export.Options {
	return export.Options{Format: format, Codes: codes, At: noon,
		Account: &merchant.Account{ID: guid.ID{1}, Zone: time.UTC, Locations: []merchant.Location{
			{ID: guid.ID{2}, Name: "Main"}}}}
}

func euros(t *testing.T) money.Currency {
	t.Helper()
	euro, err := money.ParseCurrency("EUR")
	if err != nil {
		t.Fatal(err)
	}
	return euro
}

// card is a gift with a code.
func card(t *testing.T, digits string) *gift.Gift {
	t.Helper()
	code, err := codes.ParseVoucherCode(digits)
	if err != nil {
		t.Fatal(err)
	}
	g := &gift.Gift{Voucher: gift.Voucher{ID: guid.ID{9}, AccountID: guid.ID{1}, Currency: euros(t), Funded: 5000,
		Balance: 3760, Status: gift.Claimed, CreatedAt: noon, ProgramID: merchant.BusinessProgram.ID,
		LocationID: guid.ID{2}, Verification: "0042"}}
	g.Card.Code = code
	return g
}

// written is what an export of gifts is.
func written(t *testing.T, o export.Options, gifts ...*gift.Gift) string {
	t.Helper()
	var b bytes.Buffer
	w := export.Gifts(&b, o)
	for _, g := range gifts {
		if err := w.Write(g); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostileTexts: whatever somebody wrote is one cell, is no formula, and can be read again.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"=cmd|' /C calc'!A0", "a\"b,c\r\nd", "@SUM(A1)", "'=1", "＝1", "\u202etxt.exe", "\x00",
		"Ana"} {
		g := card(t, "012345678901")
		g.Card.Recipient = text
		out := written(t, options(export.CSV, true), g)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil || len(rows) != 2 {
			t.Fatalf("%q: %d rows, %v", text, len(rows), err)
		}
		cell := cellOf(t, rows, "recipient")
		if strings.ContainsRune("=+-@＝", []rune(cell)[0]) {
			t.Errorf("%q is a formula", cell)
		}
		// A reader of RFC 4180 makes \n of \r\n within a cell.
		if got := spreadsheet.Original(cell); got != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("%q came back as %q", text, got)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(written(t, options(export.JSON, true), g)), &object); err != nil ||
			object["recipient"] != text {
			t.Errorf("%q in JSON: %v, %v", text, object["recipient"], err)
		}
	}
}

func cellOf(t *testing.T, rows [][]string, column string) string {
	t.Helper()
	for n, name := range rows[0] {
		if name == column {
			return rows[1][n]
		}
	}
	t.Fatalf("there is no column %q", column)
	return ""
}

// TestCustomersLeave: exports tell the merchant's own id of the customer of each gift, as text: no spreadsheet counts
// with it, and no formula stands in it.
func TestCustomersLeave(t *testing.T) {
	t.Parallel()
	for _, customer := range []string{"C-20177", "004711", "=1+1", ""} {
		g := card(t, "482913375026")
		g.CustomerID = customer
		rows, err := csv.NewReader(strings.NewReader(written(t, options(export.CSV, false), g))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		cell := cellOf(t, rows, "customerID")
		if got := spreadsheet.Original(cell); got != customer || strings.HasPrefix(cell, "=") {
			t.Errorf("%q stands there as %q, which is read as %q", customer, cell, got)
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(written(t, options(export.JSON, false), g)), &object); err != nil ||
			object["customerID"] != customer && (customer != "" || object["customerID"] != nil) {
			t.Errorf("%q in JSON: %v, %v", customer, object["customerID"], err)
		}
	}
}

func TestCodesLeaveOnlyWithLeave(t *testing.T) {
	t.Parallel()
	for _, format := range []export.Format{export.CSV, export.JSON, export.HLedger} {
		out := written(t, options(format, false), card(t, "482913375026"))
		if digits := strings.NewReplacer("-", "", " ", "").Replace(out); strings.Contains(digits, "482913375026") ||
			strings.Contains(digits, "0042") {
			t.Errorf("%s tells a code: %s", format, out)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(written(t, options(export.CSV, true), card(t, "482913375026")))).ReadAll()
	if err != nil || cellOf(t, rows, "code") != "482-913-375-026" || cellOf(t, rows, "pin") != "0-0-4-2" {
		t.Errorf("with leave: %v, %v", rows, err)
	}
}

// TestSpreadsheetsLoseNoDigit: a number, a date or an exponent of a spreadsheet is none of the codes and PINs of any
// length. In JSON they are as they are.
func TestSpreadsheetsLoseNoDigit(t *testing.T) {
	t.Parallel()
	a := &merchant.Account{ID: guid.ID{1}, ImportedCodes: []merchant.CodeForm{{Digits: 16}, {Digits: 19},
		{Alphanumeric: 5, Fold: true}, {Alphanumeric: 8}}}
	for _, c := range []struct{ code, pin string }{{"0012345678901234", "0042"}, {"6006491234567890123", "000000000042"},
		{"1E234", "1234"}, {"12E45678", "00421"}, {"MAR12026", "123456"}} {
		code, err := codes.ParseImported(a, c.code)
		if err != nil {
			t.Fatal(err)
		}
		g := card(t, "482913375026")
		g.Card.Code, g.Verification = code, c.pin
		rows, err := csv.NewReader(strings.NewReader(written(t, options(export.CSV, true), g))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for column, want := range map[string]string{"code": c.code, "pin": c.pin} {
			cell := cellOf(t, rows, column)
			if strings.Count(cell, "-") != 3 || strings.ReplaceAll(cell, "-", "") != want {
				t.Errorf("%s %s stands there as %s", column, want, cell)
			}
		}
		var object map[string]any
		if err := json.Unmarshal([]byte(written(t, options(export.JSON, true), g)), &object); err != nil ||
			object["code"] != c.code || object["pin"] != c.pin {
			t.Errorf("in JSON: %v, %v", object, err)
		}
	}
}

// TestAnEmptyExport: there is a heading where there are no gifts.
func TestAnEmptyExport(t *testing.T) {
	t.Parallel()
	if out := written(t, options(export.CSV, false)); !strings.HasPrefix(out, "code,balance,quantity,") ||
		strings.Count(out, "\r\n") != 1 {
		t.Errorf("CSV: %q", out)
	}
	if out := written(t, options(export.JSON, false)); out != "" {
		t.Errorf("JSON: %q", out)
	}
}

// TestAFullDisk: what could not be written is told, at the latest by Close.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	full := errors.New("no space left")
	for _, format := range []export.Format{export.CSV, export.JSON, export.HLedger} {
		w := export.Gifts(failing{full}, options(format, false))
		if err := errors.Join(w.Write(card(t, "482913375026")), w.Close()); !errors.Is(err, full) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestHledgerReadsTheExport: hledger, which is not ours, sums up what is left of gifts, and what their entries moved.
func TestHledgerReadsTheExport(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("hledger"); err != nil {
		t.Skip("LEFT OUT: there is no hledger")
	}
	promotional := card(t, "482913375027")
	promotional.Promotional, promotional.Balance = true, 250
	item := card(t, "482913375028")
	item.Item, item.Balance = true, 3
	none := card(t, "482913375029")
	none.Balance = 0
	balances := written(t, options(export.HLedger, false), card(t, "482913375026"), promotional, item, none)
	holds(t, balances, `"equity:gifts","40.10 EUR, 3 pieces"`, `"liabilities:gifts","-37.60 EUR, -3 pieces"`,
		`"promotions:gifts","-2.50 EUR"`)

	var b bytes.Buffer
	w := export.Entries(&b, options(export.HLedger, false))
	for _, c := range []gift.Change{
		{Entry: gift.Entry{Seq: 1, Kind: gift.Issued, Balance: 5000}, Unit: euros(t)},
		{Entry: gift.Entry{Seq: 2, Kind: gift.Sent, Balance: 5000}, Unit: euros(t)},
		{Entry: gift.Entry{Seq: 3, Kind: gift.Redemption, Delta: -1240, Balance: 3760}, Unit: euros(t)},
	} {
		c.At, c.ID, c.VoucherID = noon, guid.ID{byte(c.Seq)}, guid.ID{9}
		if err := w.Write(&c); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || w.Rows() != 2 {
		t.Fatalf("%d rows, %v", w.Rows(), err)
	}
	holds(t, b.String(), `"gifts:issued","50.00 EUR"`, `"gifts:redemption","-12.40 EUR"`,
		`"liabilities:gifts","-37.60 EUR"`)
}

// holds asks hledger for the balances of a journal.
func holds(t *testing.T, journal string, want ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "hledger", "-f", "-", "balance", "--flat", "--no-total", "--output-format",
		"csv")
	c.Stdin = strings.NewReader(journal)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, journal)
	}
	for _, line := range want {
		if !strings.Contains(string(out), line+"\n") {
			t.Errorf("hledger does not say %s but\n%s", line, out)
		}
	}
}
