package journal_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"

	"boon.example/internal/books"
	"boon.example/internal/books/journal"
	"boon.example/internal/merchant"
	"boon.example/internal/refusal"
)

// TestTheReaderKnowsDATEV: the reader of these tests takes the header of the sample that DATEV publishes, and a row of
// it, and refuses them with one mistake.
func TestTheReaderKnowsDATEV(t *testing.T) {
	t.Parallel()
	const header = `"EXTF";700;21;"Buchungsstapel";13;20240130140440439;;"RE";"";"";29098;55003;20240101;4;20240101;` +
		`20240831;"Buchungsstapel";"WD";1;0;0;"EUR";;"";;;"03";;;"";""`
	if _, err := datevCells(header, datevHeader); err != nil {
		t.Error(err)
	}
	row := `100,18;"S";"";;;"";48400;8401;"";3101;"";"";;"Test ""Anzahlung"";";;"";;;;"";` + strings.Repeat(`"";`, 18) +
		`;"";;"";;;;;;` + strings.Repeat(`"";`, 40) + `;;;"";2012;;1;"Projekt 4711";"AG";3;"";;;8070;"WK";"";;"";;"";;"";"";;` +
		`"";;0;;;;"";;"";"";;"";;`
	if cells, err := datevCells(row, datevRow); err != nil || cells[13] != `Test "Anzahlung";` {
		t.Errorf("%v, %v", cells, err)
	}
	for _, mistake := range []struct{ from, to string }{{"100,18", "100.18"}, {"100,18", "-100,18"}, {`"S"`, "S"},
		{`"S"`, `"D"`}, {"3101", "3113"}, {"48400", ""}, {`;"Test ""Anz`, `;"Test "Anz`}, {`"AG"`, `"AGB"`}} {
		if _, err := datevCells(strings.Replace(row, mistake.from, mistake.to, 1), datevRow); err == nil {
			t.Errorf("%v is taken", mistake)
		}
	}
}

// datevLines are the files of a journal, each as its lines.
func datevLines(t *testing.T, j *journal.Journal) map[string][]string {
	t.Helper()
	files, err := j.Write(journal.DATEV)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string][]string{}
	for _, f := range files {
		text, err := charmap.Windows1252.NewDecoder().Bytes(f.Content)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readDATEV(f.Content); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		lines[f.Name] = strings.Split(strings.TrimSuffix(string(text), "\r\n"), "\r\n")
	}
	return lines
}

// TestDATEVByHand: a sale and what undoes it, over the end of a fiscal year.
func TestDATEVByHand(t *testing.T) {
	t.Parallel()
	entries, err := journal.Entries([]journal.Row{
		{Day: day(6, 30), Line: books.LineActivated, Currency: eur, Amount: 123_456, Count: 3, Program: "Gutscheine",
			Sold: "Café Ķekava", Place: "Café Ķekava", VAT: merchant.SinglePurpose, Rate: "7"},
		{Day: day(7, 1), Line: books.LineActivated, Currency: eur, Amount: -5, Count: 1},
		{Day: day(7, 2), Line: books.LineRedeemed, Currency: eur, Amount: -100, Count: 1, Promotional: true},
		{Day: day(7, 3), Line: books.LineIssued, Currency: eur, Amount: 6000, Bonus: 1000, Count: 1},
	}, accounts)
	if err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 8, 1, 13, 45, 7, 89_000_000, time.UTC)
	lines := datevLines(t, &journal.Journal{From: day(6, 15), To: day(7, 31), Entries: entries, DATEV: datev, Made: made})
	june, july := lines["EXTF_Buchungsstapel_2026-06.csv"], lines["EXTF_Buchungsstapel_2026-07.csv"]
	if len(lines) != 2 || len(june) != 3 || len(july) != 6 {
		t.Fatalf("%v", lines)
	}
	for _, c := range []struct{ line, part string }{
		{june[0], `"EXTF";700;21;"Buchungsstapel";13;20260801134507089;;"";"Boon";"";29098;55003;20250701;4;20260615;` +
			`20260630;"Gutscheine 2026-06";"";1;0;0;"EUR";;"";;;"";;;"";""`},
		{july[0], `29098;55003;20260701;4;20260701;20260731;"Gutscheine 2026-07";"";1;0;0;"EUR";;"";;;"";;;"";""`},
		{june[1], "Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basis-Ums"},
		{june[1] + "\r\n", "EU-Land u. UStID (Ursprung);EU-Steuersatz (Ursprung);Abw. Skontokonto\r\n"},
		{june[2], `1234,56;"S";"EUR";;;"";1360;1700;"";3006;"260630-ACTIVATED-EUR";"";;` +
			`"Kartenverkauf, Gutscheine, Café Kekava"`},
		{july[2], `0,05;"H";"EUR";;;"";1360;1700;"";0107;"260701-ACTIVATED-EUR";"";;"Kartenverkauf storniert";;"";;;;"`},
		{july[4], `50,00;"S";"EUR";;;"";1360;1700;"";0307;"260703-ISSUED-EUR";"";;"Gutscheinverkauf";;"";;;;"`},
		{july[5], `10,00;"S";"EUR";;;"";4600;1700;"";0307;"260703-ISSUED-EUR";"";;"Gutscheinverkauf (Bonus)";;"";;;;"`},
		{july[3], `1,00;"S";"EUR";;;"";4600;1360;"";0207;"260702-REDEEMED-EUR";"";;"Einlösung (Aktion)";;"";;;;"`},
	} {
		if !strings.Contains(c.line, c.part) {
			t.Errorf("%s\nlacks\n%s", c.line, c.part)
		}
	}
	if info := `"Programm";"Gutscheine";"Verkauft in";"Café Kekava";"Standort";"Café Kekava";"Anzahl";"3";"Umsatzsteuer";` +
		`"Einzweckgutschein 7,00 %";`; !strings.Contains(june[2], info) {
		t.Errorf("%s\nlacks\n%s", june[2], info)
	}
}

// TestDATEVIsRefused: everything that DATEV would not take is told at once.
func TestDATEVIsRefused(t *testing.T) {
	t.Parallel()
	wrong := merchant.LedgerAccounts{Liability: "Gift cards", Clearing: "0000", Promotion: "123456"}
	entries, err := journal.Entries([]journal.Row{
		{Day: day(7, 1), Line: books.LineIssued, Currency: kwd, Amount: 5},
		{Day: day(7, 1), Line: books.LineIssued, Currency: jpy, Amount: 5},
		{Day: day(7, 1), Line: books.LineIssued, Currency: eur, Amount: 1_000_000_000_000},
		{Day: day(7, 1), Line: books.LineRedeemed, Currency: eur, Amount: -1, Promotional: true},
	}, wrong)
	if err != nil {
		t.Fatal(err)
	}
	j := &journal.Journal{From: day(7, 1), To: day(7, 31), Entries: entries}
	j.DATEV.AccountLength = 4
	_, err = j.Write(journal.DATEV)
	var refused *refusal.Error
	if !errors.As(err, &refused) {
		t.Fatalf("%v", err)
	}
	var got []string
	for _, m := range refused.Messages {
		got = append(got, m.Path+": "+m.Text(nil))
	}
	for _, want := range []string{"books.datev: A file for DATEV needs", "books.datev.consultant: ",
		"books.datev.client: ", "books.datev.fiscalYearStart: ",
		"format: A file for DATEV is in EUR. This journal has entries in JPY, KWD", `books.accounts: The account "0000"`,
		`books.accounts: The account "123456"`, `books.accounts: The account "Gift cards"`,
		"format: DATEV takes amounts up to 9999999999.99. The entry 260701-ISSUED-EUR has 10000000000.00 EUR."} {
		if !slices.ContainsFunc(got, func(text string) bool { return strings.HasPrefix(text, want) }) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	if len(got) != 9 || strings.Count(strings.Join(got, "\n"), "An owner writes them in the console") != 1 {
		t.Errorf("%d problems: %q", len(got), got)
	}
}

// TestAMonthHasManyRows: a file of DATEV has 99,999 rows at most.
func TestAMonthHasManyRows(t *testing.T) {
	t.Parallel()
	e := journal.Entry{Number: "260701-ISSUED-EUR", Day: day(7, 1), Line: books.LineIssued, Currency: eur,
		Postings: make([]journal.Posting, 100_001)}
	for n := range e.Postings {
		e.Postings[n] = journal.Posting{Debit: "1360", Credit: "1700", Amount: 1}
	}
	j := &journal.Journal{From: day(7, 1), To: day(7, 31), Entries: []journal.Entry{e}, DATEV: datev, Made: day(8, 1)}
	files, err := j.Write(journal.DATEV)
	if err != nil || len(files) != 2 || files[1].Name != "EXTF_Buchungsstapel_2026-07_2.csv" ||
		strings.Count(string(files[0].Content), "\r\n") != 2+99_999 ||
		strings.Count(string(files[1].Content), "\r\n") != 2+2 {
		t.Errorf("%d files, %v", len(files), err)
	}
}

// TestMonthsTravelTogether: several files are an archive, which is the same whenever it is made.
func TestMonthsTravelTogether(t *testing.T) {
	t.Parallel()
	rows := []journal.Row{{Day: day(6, 30), Line: books.LineIssued, Currency: eur, Amount: 1},
		{Day: day(7, 1), Line: books.LineIssued, Currency: eur, Amount: 2}}
	entries, err := journal.Entries(rows, accounts)
	if err != nil {
		t.Fatal(err)
	}
	j := &journal.Journal{From: day(6, 1), To: day(7, 31), Entries: entries, DATEV: datev, Made: day(8, 1)}
	files, err := j.Write(journal.DATEV)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := j.Whole(files)
	if err != nil || whole.Name != "journal-2026-06-01-2026-07-31.zip" || whole.Media != "application/zip" {
		t.Fatalf("%s, %s, %v", whole.Name, whole.Media, err)
	}
	archive, err := zip.NewReader(bytes.NewReader(whole.Content), int64(len(whole.Content)))
	if err != nil || len(archive.File) != 2 {
		t.Fatalf("%v", err)
	}
	for n, f := range archive.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil || f.Name != files[n].Name || !bytes.Equal(content, files[n].Content) {
			t.Errorf("%s: %q, %v", f.Name, content, err)
		}
	}
	if again, err := j.Whole(files); err != nil || !bytes.Equal(again.Content, whole.Content) {
		t.Errorf("it is another archive: %v", err)
	}
	if one, err := j.Whole(files[:1]); err != nil || one.Name != files[0].Name {
		t.Errorf("%s, %v", one.Name, err)
	}
}

// TestAnEmptyJournal: every format has a file for it.
func TestAnEmptyJournal(t *testing.T) {
	t.Parallel()
	for _, format := range journal.Formats() {
		j := &journal.Journal{From: day(7, 1), To: day(7, 31), DATEV: datev, Made: day(8, 1)}
		files, err := j.Write(format)
		if err != nil || len(files) != 1 || len(files[0].Content) == 0 {
			t.Errorf("%s: %d files, %v", format, len(files), err)
		}
		if format != journal.HLedger {
			if got, err := read(format, files, eur); err != nil || len(got) != 0 {
				t.Errorf("%s: %v, %v", format, got, err)
			}
		}
	}
}
