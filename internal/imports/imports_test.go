package imports

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/racetest"
)

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func account(t testing.TB) *merchant.Account {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	return &merchant.Account{ID: guid.ID{1}, Currency: money.Currency{Code: "USD", Decimals: 2}, Zone: zone,
		MaxGiftValue: 1_000_000, Locations: []merchant.Location{{ID: guid.ID{2}, Name: "Pier 39", PointOfSale: "POS-1"}},
		Subscriptions: []merchant.Subscription{{ProgramID: merchant.BusinessProgram.ID}},
		ImportedCodes: []merchant.CodeForm{{Alphanumeric: 8}, {Alphanumeric: 10, Fold: true}, {Digits: 12},
			{Alphanumeric: 16, Fold: true}}}
}

// file reads a whole file.
func file(t testing.TB, from merchant.System, in io.Reader) (lines []Line, problems []Problem, s Summary) {
	t.Helper()
	r, err := NewReader(in, account(t), from, now)
	if err != nil {
		return nil, []Problem{{Said: phrase.New("%s", err)}}, s
	}
	for {
		line, wrong, err := r.Next()
		if errors.Is(err, io.EOF) {
			return lines, problems, s
		}
		if err != nil {
			return lines, append(problems, Problem{Said: phrase.New("%s", err)}), s
		}
		s.Add(line, wrong)
		if problems = append(problems, wrong...); len(wrong) == 0 {
			lines = append(lines, line)
		}
	}
}

// TestSquareCountsCents: what Square's API tells of a balance, and connectors give on, are cents; a column named
// balance has amounts with decimals. Neither is taken for the other.
func TestSquareCountsCents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]money.Amount{
		"gan,balance_money.amount\n7783320001234567,2550\n":     25_50,
		"GAN,Balance Money Amount\n7783320001234567,5\n":        5,
		"gan,balance\n7783320001234567,25.50\n":                 25_50,
		"gan,balance\n7783320001234567,25\n":                    25_00,
		"gan,balance_money.amount\n7783320001234567,25.50\n":    0,
		"gan,balance_money.amount\n7783320001234567,$2550\n":    0,
		"gan,balance_money.amount\n7783320001234567,-2550\n":    0,
		"gan,balance_money.amount\n7783320001234567,0\n":        0,
		"gan,balance_money.amount\n7783320001234567,1e15\n":     0,
		"gan,balance_money.amount\n7783320001234567,99999999\n": 0, // above what a gift may be worth
	} {
		lines, problems, s := file(t, merchant.FromSquare, strings.NewReader(text))
		if (want == 0) != (len(lines) == 0) || want == 0 && len(problems) != 1 || s.Total != want {
			t.Errorf("%q: %+v, %v", text, lines, problems)
		}
	}
}

// coupons are the first line of a file of Smart Coupons.
const coupons = "post_title,post_excerpt,post_status,post_date,discount_type,coupon_amount,expiry_date,customer_email\n"

// TestColumnsOfSystems: the names that exports and connectors have for the same facts.
func TestColumnsOfSystems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from     merchant.System
		text     string
		from2030 bool
		refused  string
	}{
		{merchant.FromGiftUp, "Balance,Code,Purchaser Name,Recipient Name,Initial Balance,Price,Item Name,Valid From\n" +
			"49.99,AB12C3D4,Carla,Ana,75.49,100.00,$50 Gift Card,2030-01-01\n", true, ""},
		{merchant.FromShopify, "Id,Code,Enabled,ExpiresOn,LastCharacters,DeactivatedAt,BalanceAmount,BalanceCurrencyCode," +
			"InitialValueAmount\n1,abcdefgh12345678,true,,5678,,49.99,USD,75.49\n", false, ""},
		{merchant.FromShopify, "Code,BalanceAmount,DeactivatedAt\nabcdefgh12345678,49.99,2024-01-01\n", false,
			"does not take this gift any more"},
		{merchant.FromLightspeed, "Code,Balance,Created at,Last used,Expiry,Status,Last recipient email\n" +
			"000123456789,49.99,2024-01-01,2024-02-01,2031-01-01,active,ana@example.com\n", false, ""},
		{merchant.FromLightspeed, "Code,Balance,Status\n000123456789,49.99,transferred\n", false, "does not take this gift"},
		{merchant.FromShopify, "Id,Code,Last Characters,Customer Name,Email,Recipient Name,Recipient Email,Order Name," +
			"Date Issued,Expires On,Initial Balance,Current Balance,Currency,Expired?,Enabled?\n1,abcdefgh12345678,5678,Carla," +
			"carla@example.com,Ana,ana@example.com,#1001,2024-01-01 10:00:00 -0400,,75.49,49.99,USD,false,true\n", false, ""},
		{merchant.FromShopify, "Code,Current Balance,Expired?,Enabled?\nabcdefgh12345678,49.99,false,false\n", false,
			"does not take this gift"},
		{merchant.FromShopify, "Code,Current Balance,Initial Balance,Balance\nabcdefgh12345678,49.99,75.49,20\n", false,
			"both say balance"},
		{merchant.FromWooCommerce, "ID,Code,Recipient,Sender,Sender E-mail,Message,Issued value,Balance,Order ID," +
			"Order item ID,Template ID,Create date,Delivery date,Expiration date,Redeemed date,Redeemed by user,Delivered," +
			"Virtual,Status,Currency\n7,WXYZ-1234-ABCD-5678,ana@example.com,Carla,carla@example.com,,75.49,49.99,12,13," +
			"default,2024-01-01 10:00:00,0,0,0,0,no,on,on,USD\n", false, ""},
		{merchant.FromWooCommerce, "Code,Balance,Status\nWXYZ-1234-ABCD-5678,49.99,off\n", false, "does not take this gift"},
		{merchant.FromWooCommerce, "number,balance,expiration_date,recipient_email\nWXYZ-1234-ABCD-5678,49.99," +
			"2031-01-31 00:00:00,ana@example.com\n", false, ""},
		{merchant.FromWooCommerce, "0,1,2,3,4,5,6,7,8,9,10,11\n\"Order ID\";\"Gift Card ID\";Code;Amount;" +
			"\"Current balance\";\"Sender's name\";\"Recipient's name\";\"Recipient's email\";Message;\"Expiration date\";" +
			"\"Delivery date\";\"Internal note\"\n12;7;WXYZ-1234-ABCD-5678;75.49;49.99;Carla;Ana;ana@example.com;Hi;;;\n", false,
			""},
		{merchant.FromWooCommerce, coupons + "WXYZ-1234-ABCD-5678,,publish,2024-01-01 10:00:00,smart_coupon,49.99," +
			"2031/01/31,ana@example.com\n", false, ""},
		{merchant.FromWooCommerce, coupons + "WXYZ-1234-ABCD-5678,,publish,,Store Credit / Gift Certificate,49.99,,\n", false,
			""},
		{merchant.FromWooCommerce, coupons + "WXYZ-1234-ABCD-5678,,publish,,percent,10,,\n", false,
			"a discount and no gift"},
		{merchant.FromWooCommerce, coupons + "WXYZ-1234-ABCD-5678,,publish,,,10,,\n", false, "a discount and no gift"},
		{merchant.FromWooCommerce, coupons + "WXYZ-1234-ABCD-5678,,draft,,smart_coupon,10,,\n", false, "does not take"},
		{merchant.FromWooCommerce, "post_title,coupon_amount\nWXYZ-1234-ABCD-5678,49.99\n", false,
			"names no column for kind"},
		{merchant.FromToast, "Card Number,Current Balance,Last Used\n6006491234567890,49.99,01/02/2026\n", false, ""},
		{merchant.FromToast, "6006491234567890,49.99\n", false, ""},
		{merchant.FromToast, "Gift card,Owner\n6006491234567890,Ana\n", false, "no amount"},
		{merchant.FromOther, "Card Number;Current Balance;Expiry Date;Recipient Email;PIN Code\n6006491234567890;49,99;" +
			"31.1.2031;ana@example.com;0042\n", false, ""},
		{merchant.FromWooCommerce, "0,1,2\nCode;Current balance;Expiration date\nWXYZ-1234-ABCD-5678;49.99;31-01-27\n", false,
			"no date that can be told"},
		{merchant.FromSquare, "Id,State,BalanceMoneyAmount,BalanceMoneyCurrency,GiftCardAccountNumber,CreatedAt\n" +
			"gftc:1,ACTIVE,4999,USD,7783320001234567,2024-01-01T00:00:00Z\n", false, ""},
	} {
		lines, problems, _ := file(t, c.from, strings.NewReader(c.text))
		switch {
		case c.refused != "":
			if len(lines) > 0 || !strings.Contains(fmt.Sprint(problems), c.refused) {
				t.Errorf("%s %q: %+v, %v", c.from, c.text, lines, problems)
			}
		case len(lines) != 1 || lines[0].Balance != 49_99 ||
			lines[0].Contact != "" && lines[0].Contact != "ana@example.com" ||
			(lines[0].ValidFrom.Year() == 2030) != c.from2030:
			t.Errorf("%s %q: %+v, %v", c.from, c.text, lines, problems)
		}
	}
}

// TestCustomersAreRead: the column customerID is the merchant's own id of a customer, letter by letter; one that no
// customer can have is refused with its line.
func TestCustomersAreRead(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{"C-20177": "C-20177", "004711": "004711", " C-1 ": "C-1", "": "",
		strings.Repeat("é", 64): strings.Repeat("é", 64), strings.Repeat("x", 65): "refused", "a\u0007b": "refused"} {
		lines, problems, _ := file(t, merchant.FromOther, strings.NewReader("code,balance,customerID\nAB12C3D4,5,"+cell+"\n"))
		switch {
		case want == "refused":
			if len(lines) > 0 || len(problems) != 1 || problems[0].Line != 2 || problems[0].Column != "customerID" {
				t.Errorf("%q: %+v, %+v", cell, lines, problems)
			}
		case len(problems) > 0 || len(lines) != 1 || lines[0].Customer != want:
			t.Errorf("%q: %+v, %+v", cell, lines, problems)
		}
	}
}

// TestTextsOfAnExportComeBack: whatever a guest, a label, a reference, a customer or a location is called, what an
// export of Boon says of it is read as that again, letter by letter. A formula that no export has written is refused.
func TestTextsOfAnExportComeBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Ana", "O'Neill", "'", "''", "'Ana'", "=1+1", "'=1+1", "''=1+1", `=HYPERLINK("x")`,
		`'=HYPERLINK("x")`, "+49 (30) 1", "-", "- Bob!", "@SUM(A1)", "＝A(1)", "Ana;=A(1)", "Ana;'=A(1)", "=1;+B(2)",
		"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0", "Thanks ;-)"} {
		cell := `"` + strings.ReplaceAll(spreadsheet.Text(text), `"`, `""`) + `"`
		a := account(t)
		a.Locations[0].Name = text
		r, err := NewReader(strings.NewReader("code,quantity,label,recipient,reference,customerID,organization\n"+
			"AAAA1111,5,"+strings.Repeat(cell+",", 4)+cell+"\n"), a, merchant.FromOther, now)
		if err != nil {
			t.Fatal(err)
		}
		l, problems, err := r.Next()
		if got := []string{l.Label, l.Recipient, l.Reference, l.Customer}; err != nil || len(problems) > 0 ||
			!slices.Equal(got, []string{text, text, text, text}) || l.LocationID != a.Locations[0].ID {
			t.Errorf("%q is read as %q at %s, %v, %v", text, got, l.LocationID, problems, err)
		}
	}
	for _, cell := range []string{`=HYPERLINK("x")`, "Ana;=A(1)", "'=A(1);=B(2)", "@SUM(A1)", "=cmd|' /C calc'!A0"} {
		quoted := `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		in := strings.NewReader("code,balance,recipient\nAAAA1111,5," + quoted + "\n")
		lines, problems, _ := file(t, merchant.FromOther, in)
		if len(lines) > 0 || len(problems) != 1 || problems[0].Said.String() != "This text is a formula of a spreadsheet." {
			t.Errorf("%q: %+v, %v", cell, lines, problems)
		}
	}
}

// TestEverySystemHasAMapAndAFixture: each fixture is read by the map of its system.
func TestEverySystemHasAMapAndAFixture(t *testing.T) {
	t.Parallel()
	want := map[merchant.System]string{
		merchant.FromOther:   "0006123456789012 25.50, 0006123456789013 3 x Latte",
		merchant.FromSquare:  "7783320001234567 1025.00",
		merchant.FromShopify: "abcdefgh12345678 40.00", merchant.FromToast: "6006491234567890 12.34, 6006491234567891 20.00",
		merchant.FromGiftUp: "AB12C3D4 1049.99", merchant.FromWooCommerce: "WXYZ1234ABCD5678 15.00",
		merchant.FromLightspeed: "000123456789 5.50",
	}
	refused := map[merchant.System]string{merchant.FromSquare: "[{3 State The old system does not take",
		merchant.FromShopify: "[{3 Code The code is masked. Shopify shows"}
	for _, system := range merchant.Systems() {
		in, err := os.Open("testdata/" + string(system) + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		lines, problems, _ := file(t, system, in)
		in.Close()
		var got []string
		for _, l := range lines {
			what := l.Code.Reveal() + " " + money.Currency{Code: "USD", Decimals: 2}.Format(l.Balance)
			if l.Item {
				what = fmt.Sprintf("%s %d x %s", l.Code.Reveal(), l.Balance, l.Label)
			}
			got = append(got, what)
		}
		if strings.Join(got, ", ") != want[system] || !strings.HasPrefix(fmt.Sprint(problems), refused[system]) ||
			(refused[system] == "") != (len(problems) == 0) {
			t.Errorf("%s: %v, %v", system, got, problems)
		}
		format, err := FormatOf(system)
		if err != nil || format.System != system {
			t.Errorf("%s: its map is that of %q: %v", system, format.System, err)
		}
		for field := range format.Columns {
			if !strings.Contains(fmt.Sprint(Fields()), string(field)) {
				t.Errorf("%s: there is no field %s", system, field)
			}
		}
	}
}

func TestALineIsReadWhole(t *testing.T) {
	t.Parallel()
	in, err := os.Open("testdata/csv.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines, problems, s := file(t, merchant.FromOther, in)
	if len(problems) > 0 || len(lines) != 2 {
		t.Fatalf("%v, %v", lines, problems)
	}
	l := lines[0]
	l.Code = lines[1].Code
	if want := (Line{Number: 2, Code: l.Code, Balance: 2550, ProgramID: merchant.BusinessProgram.ID,
		LocationID: guid.ID{2}, ValidUntil: time.Date(2028, 1, 1, 5, 0, 0, 0, time.UTC),
		IssuedAt:  time.Date(2021, 5, 1, 4, 0, 0, 0, time.UTC),
		Recipient: "Ana", Contact: "ana@example.com", Reference: "A-1", PIN: "4711"}); l != want {
		t.Errorf("%+v\nwant %+v", l, want)
	}
	if s.Read != 2 || s.Taken != 2 || s.Total != 2550 || s.Pieces != 3 || lines[1].Contact != "+14155550132" {
		t.Errorf("%+v, %+v", s, lines[1])
	}
}

// TestFilesOfGermanAndSpanishSpreadsheets: their names of columns, separators, amounts, days and letters are read.
func TestFilesOfGermanAndSpanishSpreadsheets(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"Kartennummer;Restguthaben;Gültig bis;Empfänger;Währung\r\nAAAA1111;1.250,50;31.12.2027;Jörg Maß;USD\r\n",
		"Gutscheincode;Guthaben;Ablaufdatum;Empfänger\r\nAAAA1111;1250,50;31.12.2027;Jörg Maß\r\n",
		"Número de tarjeta;Saldo;Válido hasta;Destinatario;Moneda\r\nAAAA1111;1.250,50;31.12.2027;Jörg Maß;USD\r\n",
	} {
		windows, err := charmap.Windows1252.NewEncoder().String(in)
		if err != nil {
			t.Fatal(err)
		}
		lines, problems, _ := file(t, merchant.FromOther, strings.NewReader(windows))
		if len(problems) > 0 || len(lines) != 1 || lines[0].Balance != 1250_50 || lines[0].Recipient != "Jörg Maß" ||
			lines[0].ValidUntil.IsZero() {
			t.Errorf("%q: %+v, %+v", in, lines, problems)
		}
	}
}

// TestFilesFromHell: each says in one sentence what is wrong with which line and column.
func TestFilesFromHell(t *testing.T) {
	t.Parallel()
	const head, good = "code,balance\n", "AAAA1111,5\n"
	utf16 := func(s string, e unicode.Endianness, b unicode.BOMPolicy) string {
		encoded, err := unicode.UTF16(e, b).NewEncoder().String(s)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	for _, c := range []struct {
		name, in, want string
		lines          int
	}{
		{"nothing", "", "empty", 0}, {"only blanks", "\n \n", "no line", 0},
		{"an xlsx", "PK\x03\x04\x14\x00rest", "workbook", 0}, {"a PDF", "%PDF-1.7", "PDF", 0},
		{"other columns", "kode,amount\nx,1\n", "names no column for code", 0},
		{"a column twice", "code,Code,balance\n" + good, `"code" and "Code" both say code`, 0},
		{"BOM and CRLF", "\xef\xbb\xbfcode,balance\r\nAAAA1111,5\r\n", "", 1},
		{"CR", "code,balance\rAAAA1111,5\rBBBB2222,5", "", 2}, {"tabs", "code\tbalance\nAAAA1111\t5\n", "", 1},
		{"a named separator", "sep=;\ncode;balance\nAAAA1111;5,5\n", "", 1},
		{"UTF-16 with a mark", utf16(head+good, unicode.LittleEndian, unicode.UseBOM), "", 1},
		{"UTF-16 without", utf16(head+good, unicode.LittleEndian, unicode.IgnoreBOM), "", 1},
		{"UTF-16, big end first", utf16(head+good, unicode.BigEndian, unicode.IgnoreBOM), "", 1},
		{"quotes", head + "\"AAAA1111\",\"5\"\n\"BB\"\"B2222\",5\n", "[{3 code A code has letters", 1},
		{"a quote that stays open", head + "\"AAAA1111,5\nBBBB2222,5\n", "[{2  A quotation mark", 1},
		{"text behind a quote", head + "\"AAAA1111\"x,5\nBBBB2222,5\n", "[{2  A quotation mark", 1},
		{"a quoted text of two lines", "code,balance,recipient\nAAAA1111,5,\"A\nB\"\nBBBB2222,5,C\n", "[{2 recipient", 1},
		{"10 MB", head + strings.Repeat("x", 10<<20) + "\n" + good, "[{2  The line has more than", 1},
		{"NUL", head + "AAAA\x001111,5\n" + good, "[{2  The line has a zero byte", 1},
		{"a formula", "code,balance,recipient\nAAAA1111,5,\"=HYPERLINK(\"\"x\"\")\"\n",
			"[{2 recipient This text is a formula", 0},
		{"Latin-1", "code,balance,recipient\nAAAA1111,5,J\xfcrgen\n", "", 1},
		{"a column too many", head + "AAAA1111,5,5\n", "[{2  The line has 3 columns", 0},
		{"an exponent", head + "6.00612E+15,5\n", "[{2 code A spreadsheet has made a number", 0},
		{"lost zeros", head + "12345678,5\n61234567890,5\n", "[{3 code The code has 11 digits", 1},
		{"the same code", head + good + good, "[{3 code The code stands on line 2 already.", 1},
		{"the same code when folded", head + "GIFTOI0123,5\ngift-010123,5\n", "[{3 code The code stands on line 2", 1},
		{"below zero", head + "AAAA1111,-5\nBBBB2222,(5.00)\n", "[{2 balance The amount is negative.} {3 balance", 0},
		{"nothing left", head + "AAAA1111,0.00\n", "[{2 balance Nothing is left", 0},
		{"a quadrillion", head + "AAAA1111,1e15\nBBBB2222,1000000000000000\n", "[{2 balance A spreadsheet", 0},
		{"three decimals or thousands", head + "AAAA1111,\"1,234\"\n", "[{2 balance Whether the mark", 0},
		{"a total as the last line", head + good + "Total,5\n", "[{3 code This line is a total of the others", 1},
		{"a total that is as long as a code", head + good + "Grand Total,5\nSUBTOTAL,5\nTotal: 2,5\nsumme,5\nGesamt (2),5\n",
			"[{3 code This line is a total of the others and no gift: delete it.} {4 code This line is a total", 1},
		{"a code that begins like a total", head + "TOTAL123,5\n", "", 1},
		{"a total without a word", "recipient,code,balance\nAna,AAAA1111,5\nTotal,,5\n",
			"[{3 code The code is missing. If this line is a total", 1},
		{"lines of commas", head + good + ",\n , \n\"\",\"\"\nBBBB2222,5\n,\n", "", 2},
		{"masks", head + "600649XXXXXX1234,5\n############1234,5\n...1234,5\n●●●●1234,5\nxxxx1234,5\n",
			"[{2 code The code is masked.} {3 code The code is masked.} {4 code The code is masked.} {5 code The code is " +
				"masked.} {6 code The code is masked.}]", 0},
		{"cells that a spreadsheet keeps as text", "code,balance,validUntil\n\"=\"\"AAAA1111\"\"\",\"=\"\"5.00\"\"\"," +
			"\"=\"\"2027-12-31\"\"\"\n", "", 1},
		{"lines above the names", "Gift cards\n\ncode,balance\n" + good, "names no column for code", 0},
		{"more decimals than the currency has", head + "AAAA1111,25.5000\nBBBB2222,25.5050\n", "[{3 balance", 1},
		{"no amount", head + "AAAA1111,five\n", "[{2 balance This is no amount", 0},
		{"another currency", "code,balance,currency\nAAAA1111,5,EUR\n", "[{2 currency The account's currency is USD", 0},
		{"expired", "code,balance,validUntil\nAAAA1111,5,2026-10-31\n", "[{2 validUntil The gift has expired.", 0},
		{"the end of the calendar",
			"code,balance,validUntil\nAAAA1111,5,9999-12-31\nBBBB2222,5,9999-12-31T23:59:59-05:00\n", "", 2},
		{"the euro in an account of dollars",
			head + "AAAA1111,EUR 5\nBBBB2222,€5\nCCCC3333,C$5\nDDDD4444,5 kr\nEEEE5555,US$5\n",
			"[{2 balance The currency beside this amount is not that of the account, which is USD", 1},
		{"states", "code,balance,status\nAAAA1111,5,CANCELLED\nBBBB2222,5,PENDING\nCCCC3333,5,CLAIMED\nDDDD4444,5,\n",
			"[{2 status The old system does not take this gift.", 2},
		{"ended gifts", "code,balance,blocked\nAAAA1111,5,LOST\nBBBB2222,5,false\n", "[{2 blocked The old system", 1},
		{"promotional gifts", "code,balance,promotional\nAAAA1111,5,true\nBBBB2222,5,false\n",
			"[{2 promotional Nobody paid", 1},
		{"held gifts", "code,balance,held\nAAAA1111,5,1.50\nBBBB2222,5,0.00\n",
			"[{2 held A part of this gift is held.", 1},
		{"a gift that begins after its end", "code,balance,validFrom,validUntil\nAAAA1111,5,2028-01-01,2027-12-31\n",
			"[{2 validFrom The gift would be", 0},
		{"no date", "code,balance,validUntil\nAAAA1111,5,46387\n", "[{2 validUntil This is no date", 0},
		{"a program", "code,balance,program\nAAAA1111,5,x\n", "[{2 program There is no such program", 0},
		{"a place", "code,balance,organization\nAAAA1111,5,x\n", "[{2 organization The account has no such", 0},
		{"a PIN as boon export writes it", "code,balance,pin\nAAAA1111,5,0-0-4-2\nBBBB2222,5,1-2-3 456\n", "", 2},
		{"a PIN", "code,balance,pin\nAAAA1111,5,12\n", "[{2 pin A PIN has 4 to 12", 0},
		{"a card for tills only with a PIN", "code,balance,pin,tillsOnly\nAAAA1111,5,4711,true\nBBBB2222,5,4711,false\n",
			"[{2 tillsOnly A card with a PIN", 1},
		{"a contact", "code,balance,contact\nAAAA1111,5,x@\n", "[{2 contact This is neither", 0},
		{"many things", "code,balance,pin\nA_A1111,x,1\n",
			"[{2 code A code has letters from A to Z and digits, and nothing else.} " +
				"{2 balance This is no amount; write it as 1234.50.} {2 pin", 0},
	} {
		lines, problems, _ := file(t, merchant.FromOther, strings.NewReader(c.in))
		if told := fmt.Sprint(problems); len(lines) != c.lines || !strings.Contains(told, c.want) ||
			(c.want == "") != (len(problems) == 0) {
			t.Errorf("%s: %d lines, %.300s\nwant %d and %s", c.name, len(lines), told, c.lines, c.want)
		}
	}
}

func TestAmountsAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"25": "25", "25.5": "25.5", "25,50": "25.50", "$1,025.00": "1025.00",
		"1.025,00 €": "1025.00", "USD 1'025.00": "1025.00", "1.234.567": "1234567", "1,234,567.8": "1234567.8", "5.": "5",
		".5": "0.5", "US$ 5": "5", "1 025,00": "1025.00", "1 234 567.80 €": "1234567.80", "+5 '": "5"} {
		if got, err := plainNumber(text, 2); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]error{"1,234": errAmbiguous, "1.234": errAmbiguous, "-5": errNegative,
		"(5)": errNegative,
		"":    errNoAmount, "$": errNoAmount, "1.2.3": errNoAmount, "1,23,456": errNoAmount, ".": errNoAmount,
		"5/4":  errNoAmount,
		"25+5": errNoAmount, "25 + 5": errNoAmount, "25 (30)": errNoAmount, "12€50": errNoAmount, "12 50": errNoAmount,
		"1'0": errNoAmount, "1 2345": errNoAmount, "5-": errNegative, "€ -5": errNegative, "−5": errNegative,
		"1..2": errNoAmount} {
		if got, err := plainNumber(text, 2); !errors.Is(err, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if yen, err := plainNumber("1,234", 0); err != nil || yen != "1234" {
		t.Errorf("thousands without decimals: %q, %v", yen, err)
	}
	if dinar, err := plainNumber("1.234", 3); err != nil || dinar != "1.234" {
		t.Errorf("three decimals: %q, %v", dinar, err)
	}
}

// TestRoundedCodesAreNoticed: nobody is told of a code that it ends in 0, but all do only where a spreadsheet was.
func TestRoundedCodesAreNoticed(t *testing.T) {
	t.Parallel()
	in := strings.Builder{}
	in.WriteString("code,balance\n")
	for n := range 20 {
		fmt.Fprintf(&in, "600612345678%03d0,5\n", n)
	}
	_, _, s := file(t, merchant.FromOther, strings.NewReader(in.String()))
	if p := s.Damaged(); p == nil || !strings.Contains(p.Said.String(), "All 20 codes") {
		t.Errorf("%+v", p)
	}
	in.WriteString("6006123456780001,5\n")
	if _, _, s := file(t, merchant.FromOther, strings.NewReader(in.String())); s.Damaged() != nil || s.Taken != 21 {
		t.Errorf("%+v", s.Damaged())
	}
}

// table gives lines without keeping them.
type table struct {
	n    int
	left []byte
	line func(n int) string
}

func (s *table) Read(p []byte) (int, error) {
	for len(s.left) < len(p) && s.n > 0 {
		s.left = append(s.left, s.line(s.n)...)
		s.n--
	}
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.left)
	s.left = append(s.left[:0], s.left[n:]...)
	return n, nil
}

// TestLargeFilesTakeLittleMemory: what is kept of a line is a hash.
func TestLargeFilesTakeLittleMemory(t *testing.T) {
	racetest.Skip(t, "it counts memory")
	const lines, most = 300_000, 40 << 20
	in := &table{n: lines, line: func(n int) string { return fmt.Sprintf("%016d,5\n", n) }}
	r, err := NewReader(io.MultiReader(strings.NewReader("code,balance\n"), in), account(t), merchant.FromOther, now)
	if err != nil {
		t.Fatal(err)
	}
	var s Summary
	for {
		line, problems, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		s.Add(line, problems)
	}
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	if runtime.KeepAlive(r); s.Taken != lines || memory.HeapAlloc > most {
		t.Errorf("%d lines are taken and %d bytes in use, %v", s.Taken, memory.HeapAlloc, s.Problems)
	}
}

// TestProblemsAreBounded: of many bad lines 1,000 are told, and quotation marks that stay open cost no more.
func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	bad := func(n int, line string) io.Reader {
		return io.MultiReader(strings.NewReader("code,balance\n"), &table{n: n, line: func(int) string { return line }})
	}
	_, _, s := file(t, merchant.FromOther, bad(5_000, "x,5\n"))
	if s.Refused != 5_000 || len(s.Problems) != MaxProblems {
		t.Errorf("%d refused, %d told", s.Refused, len(s.Problems))
	}
	_, problems, _ := file(t, merchant.FromOther, bad(5_000, "x,\"y\"z\n"))
	last := problems[len(problems)-1]
	if len(problems) != maxUnclosed+1 || !strings.Contains(last.Said.String(), "too many quotation marks") {
		t.Errorf("%d problems, the last %v", len(problems), problems[len(problems)-1])
	}
}

// FuzzFile: whatever a file holds, it ends, and every line is taken or told of.
func FuzzFile(f *testing.F) {
	for _, s := range []string{"code,balance\nAAAA1111,5\n", "\xff\xfec\x00", "code;balance\n\"A\"\"\",\n", "a\rb\r\nc",
		"sep=,\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		lines, problems, sum := file(t, merchant.FromOther, strings.NewReader(s))
		if sum.Read != sum.Taken+sum.Refused || len(lines) != sum.Taken || sum.Refused > len(problems) {
			t.Fatalf("%+v", sum)
		}
		for _, l := range lines {
			if l.Code.Reveal() == "" || l.Balance <= 0 || l.Number < 2 {
				t.Fatalf("%+v", l)
			}
		}
	})
}

// TestCodesThatWouldBeGuessedNeedPINs: short ones, and those that follow each other.
func TestCodesThatWouldBeGuessedNeedPINs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		step, n    int
		guessed    bool
	}{
		{"numbers in a row", "60061234%08d,5,", 1, 1_000, true},

		{"numbers far apart", "6%015d,5,", 9_000_000_000_000, 100, false},
		{"numbers in a row with PINs", "60061234%08d,5,4711", 1, 1_000, false},
		{"short codes of digits", "%08d,5,", 18_000, 5_000, true}, {"short codes with a letter", "A%07d,5,", 1, 1_000, true},
		{"letters far apart", "%08X,5,", 50_000_000, 80, false},
		{"as Boon's", "%012d,5,", 900_000_000, 1_000, false},
	} {
		in := strings.Builder{}
		in.WriteString("code,balance,pin\n")
		for n := range c.n {
			fmt.Fprintf(&in, c.line+"\n", (n+1)*c.step)
		}
		_, problems, s := file(t, merchant.FromOther, strings.NewReader(in.String()))
		if got := s.Guessable(account(t), func() {}); (len(got) > 0) != c.guessed || len(problems) > 0 {
			t.Errorf("%s: %v, %v", c.name, got, problems)
		}
	}
}

// TestFiveCharactersAreNeverEnough: a single card with a code of five characters needs a PIN. One of six does not.
func TestFiveCharactersAreNeverEnough(t *testing.T) {
	t.Parallel()
	a := account(t)
	a.ImportedCodes = []merchant.CodeForm{{Alphanumeric: 5, Fold: true}, {Alphanumeric: 6, Fold: true}}
	for text, want := range map[string][]Guessed{
		"AB12C,5,":                {{5, 1}},
		"AB12C,5,4711":            nil,
		"AB12C,5,4711\nXY34Z,5,":  {{5, 1}},
		"AB12CD,5,\nAB12C,5,4711": nil,
	} {
		r, err := NewReader(strings.NewReader("code,balance,pin\n"+text+"\n"), a, merchant.FromOther, now)
		if err != nil {
			t.Fatal(err)
		}
		var s Summary
		for line, problems, err := r.Next(); err == nil; line, problems, err = r.Next() {
			s.Add(line, problems)
		}
		if got := s.Guessable(a, func() {}); !slices.Equal(got, want) || s.Refused > 0 {
			t.Errorf("%q: %v, %+v", text, got, s.Problems)
		}
	}
}

// TestOneCardFarAwayHidesNoRow: series of cards with numbers in a row are noticed wherever they lie among others, and
// codes that lie as close as chance has them are not.
func TestOneCardFarAwayHidesNoRow(t *testing.T) {
	t.Parallel()
	var s Summary
	note := func(text string) {
		t.Helper()
		code, err := codes.ParseImported(account(t), text)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(Line{Code: code, Balance: 1}, nil)
	}
	for _, n := range rand.Perm(100_000) {
		note(fmt.Sprintf("%012d", int64(n)*9_999_991+int64(n*n%9_973)))
	}
	pauses := 0
	if got := s.Guessable(account(t), func() { pauses++ }); len(got) > 0 {
		t.Errorf("far apart: %v", got)
	}
	if pauses < 1_000 {
		t.Errorf("100,000 codes are put in order with %d pauses", pauses)
	}
	for n := range 4 {
		note(fmt.Sprintf("7770000000%02d", n*n*3))
	}
	if got := s.Guessable(account(t), func() {}); len(got) > 0 {
		t.Errorf("four neighbours among 100,000: %v", got)
	}
	note("777000000099")
	if got := s.Guessable(account(t), func() {}); len(got) != 1 {
		t.Errorf("a row of five among 100,000: %v", got)
	}
	s = Summary{}
	for n := range 1_000 {
		note(fmt.Sprintf("600612%06d", n))
	}
	note("999999999999")
	if got := s.Guessable(account(t), func() {}); len(got) != 1 {
		t.Errorf("numbers in a row, and one far away: %v", got)
	}
	for form, step := range map[string]int{"6006120000%06d": 1, "600612%010d": 4_000, "A123450000%06d": 1, "600%07d": 7,
		"4%07d": 9} {
		s = Summary{}
		for n := range 1_000 {
			note(fmt.Sprintf(form, n*step))
		}
		note("ZZ" + strings.Repeat("7", len(fmt.Sprintf(form, 0))-2))
		note(strings.Repeat("9", len(fmt.Sprintf(form, 0))))
		if got := s.Guessable(account(t), func() {}); len(got) != 1 {
			t.Errorf("%s, and one with letters: %v", form, got)
		}
	}
	s = Summary{}
	for n := range uint64(100_000) {
		note(fmt.Sprintf("%016s", strings.ToUpper(strconv.FormatUint(n*n*184_467_440+n*100_000_000_000_003, 36))))
	}
	if got := s.Guessable(account(t), func() {}); len(got) > 0 {
		t.Errorf("letters far apart: %v", got)
	}
}
