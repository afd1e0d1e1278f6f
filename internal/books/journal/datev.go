package journal

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"

	"boon.example/internal/base/phrase"
	"boon.example/internal/base/spreadsheet"
	"boon.example/internal/books"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// What DATEV publishes of its format "Buchungsstapel", version 13, with a header of version 700.
const (
	datevColumns   = 125
	datevRows      = 99_999 // of a file, at most
	datevLargest   = money.Amount(999_999_999_999)
	datevText      = 60  // characters of a Buchungstext
	datevInfo      = 210 // of a Zusatzinformation
	datevTextCells = "2 3 6 9 11 12 14 16 20-38 40 42 48-87 91 95 96 98 102 103 105 107 109 110 112 118 120 121 123"
)

// datevIsText tells which columns are texts: those stand in quotation marks, empty ones too.
var datevIsText = func() (is [datevColumns + 1]bool) {
	for cells := range strings.FieldsSeq(datevTextCells) {
		from, to, isRange := strings.Cut(cells, "-")
		if !isRange {
			to = from
		}
		first, _ := strconv.Atoi(from)
		last, _ := strconv.Atoi(to)
		for n := first; n <= last; n++ {
			is[n] = true
		}
	}
	return is
}()

// datevKinds says in German, for the tax adviser, what the postings of a line are.
var datevKinds = map[books.Line]struct{ done, undone string }{
	books.LineIssued:        {"Gutscheinverkauf", "Gutscheinverkauf storniert"},
	books.LineActivated:     {"Kartenverkauf", "Kartenverkauf storniert"},
	books.LineReloaded:      {"Aufladung", "Aufladung storniert"},
	books.LineImported:      {"Gutscheine übernommen", "Übernahme zurückgenommen"},
	books.LineAdjustedUp:    {"Guthaben erhöht", "Erhöhung zurückgenommen"},
	books.LineAdjustedDown:  {"Guthaben vermindert", "Minderung zurückgenommen"},
	books.LineRedeemed:      {"Einlösung", "Einlösung zurückgenommen"},
	books.LineGivenBack:     {"Einlösung storniert", "Storno einer Einlösung zurückgenommen"},
	books.LineCashedOut:     {"Barauszahlung", "Barauszahlung zurückgenommen"},
	books.LineCashGivenBack: {"Barauszahlung storniert", "Storno einer Auszahlung zurückgenommen"},
	books.LineCancelled:     {"Gutschein storniert", "Storno zurückgenommen"},
	books.LineExpired:       {"Verfall", "Verfall zurückgenommen"},
	LineBreakage:            {"Nicht eingelöstes Guthaben", "Nicht eingelöstes Guthaben zurückgenommen"},
}

// datev writes one file for each month, as DATEV takes the year of a day from the header.
func (j *Journal) datev() ([]File, error) {
	if err := j.datevProblems(); err != nil {
		return nil, err
	}
	var files []File
	for month := firstOfMonth(j.From); !month.After(j.To); month = month.AddDate(0, 1, 0) {
		var rows []string
		for n := range j.Entries {
			if e := &j.Entries[n]; firstOfMonth(e.Day).Equal(month) {
				for m := range e.Postings {
					rows = append(rows, datevRow(e, &e.Postings[m]))
				}
			}
		}
		for part, rows := range slices.Collect(slices.Chunk(rows, datevRows)) {
			files = append(files, j.datevFile(month, part, rows))
		}
	}
	if len(files) == 0 {
		files = append(files, j.datevFile(firstOfMonth(j.From), 0, nil))
	}
	return files, nil
}

func firstOfMonth(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func (j *Journal) datevFile(month time.Time, part int, rows []string) File {
	name := "EXTF_Buchungsstapel_" + month.Format("2006-01")
	if part > 0 {
		name += "_" + strconv.Itoa(part+1)
	}
	lines := append([]string{j.datevHeader(month), datevHead()}, rows...)
	return File{Name: name + ".csv", Media: "text/csv; charset=windows-1252",
		Content: []byte(strings.Join(lines, "\r\n") + "\r\n")}
}

// datevHeader is the first line. Its days are those of the journal in the month.
func (j *Journal) datevHeader(month time.Time) string {
	from, to := month, month.AddDate(0, 1, -1)
	if j.From.After(from) {
		from = j.From
	}
	if j.To.Before(to) {
		to = j.To
	}
	year := time.Date(month.Year(), time.Month(j.DATEV.FiscalYearStart), 1, 0, 0, 0, 0, time.UTC)
	if year.After(month) {
		year = year.AddDate(-1, 0, 0)
	}
	const day = "20060102"
	made := j.Made.UTC()
	return strings.Join([]string{`"EXTF"`, "700", "21", `"Buchungsstapel"`, "13",
		made.Format("20060102150405") + fmt.Sprintf("%03d", made.Nanosecond()/1e6), "", `""`, `"Boon"`, `""`,
		strconv.Itoa(j.DATEV.Consultant), strconv.Itoa(j.DATEV.Client), year.Format(day),
		strconv.Itoa(j.DATEV.AccountLength), from.Format(day), to.Format(day),
		`"Gutscheine ` + month.Format("2006-01") + `"`, `""`, "1", "0", "0", `"EUR"`, "", `""`, "", "", `""`, "", "", `""`,
		`""`}, ";")
}

// datevRow is a line of the file. The account of a line is always the same, but of bonuses; what undoes the line is on
// its other side, H in place of S. Nothing is fixed (Festschreibung): the tax adviser looks first.
func datevRow(e *Entry, p *Posting) string {
	account, against, side, kind := p.Debit, p.Credit, "S", datevKinds[e.Line].done
	if p.Undone {
		account, against, side, kind = p.Credit, p.Debit, "H", datevKinds[e.Line].undone
	}
	switch {
	case p.Promotional:
		kind += " (Aktion)"
	case p.Bonus:
		kind += " (Bonus)"
	}
	cells := [datevColumns + 1]string{1: strings.Replace(e.Currency.Format(p.Amount), ".", ",", 1), 2: side,
		3: e.Currency.Code, 7: account, 8: against, 10: e.Day.Format("0201"), 11: e.Number,
		14: ansi(joined(", ", kind, plain(p.Program), plain(p.Place)), datevText), 114: "0"}
	info := 48
	for _, about := range [][2]string{{"Programm", p.Program}, {"Verkauft in", p.Sold}, {"Standort", p.Place},
		{"Anzahl", strconv.FormatInt(p.Count, 10)}, {"Umsatzsteuer", datevVAT(p)}} {
		// In Windows-1252, a sign that looks like = is one.
		text := spreadsheet.Text(ansi(plain(about[1]), datevInfo))
		if text = text[:min(len(text), datevInfo)]; text != "" {
			cells[info], cells[info+1] = about[0], text
			info += 2
		}
	}
	for n := range cells {
		if datevIsText[n] {
			cells[n] = `"` + strings.ReplaceAll(cells[n], `"`, `""`) + `"`
		}
	}
	return strings.Join(cells[1:], ";")
}

func datevVAT(p *Posting) string {
	switch p.VAT {
	case merchant.MultiPurpose:
		return "Mehrzweckgutschein"
	case merchant.SinglePurpose:
		return strings.TrimSpace("Einzweckgutschein " + strings.Replace(rate(p), ".", ",", 1) + " %")
	}
	return ""
}

// datevHead is the second line: the names of the columns.
func datevHead() string {
	var b strings.Builder
	b.WriteString("Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basis-Umsatz;WKZ Basis-Umsatz;" +
		"Konto;Gegenkonto (ohne BU-Schlüssel);BU-Schlüssel;Belegdatum;Belegfeld 1;Belegfeld 2;Skonto;Buchungstext;" +
		"Postensperre;Diverse Adressnummer;Geschäftspartnerbank;Sachverhalt;Zinssperre;Beleglink;")
	for n := range 8 {
		fmt.Fprintf(&b, "Beleginfo - Art %d;Beleginfo - Inhalt %d;", n+1, n+1)
	}
	b.WriteString("KOST1 - Kostenstelle;KOST2 - Kostenstelle;Kost-Menge;EU-Land u. UStID (Bestimmung);" +
		"EU-Steuersatz (Bestimmung);Abw. Versteuerungsart;Sachverhalt L+L;Funktionsergänzung L+L;BU 49 Hauptfunktionstyp;" +
		"BU 49 Hauptfunktionsnummer;BU 49 Funktionsergänzung;")
	for n := range 20 {
		fmt.Fprintf(&b, "Zusatzinformation - Art %d;Zusatzinformation- Inhalt %d;", n+1, n+1)
	}
	b.WriteString("Stück;Gewicht;Zahlweise;Forderungsart;Veranlagungsjahr;Zugeordnete Fälligkeit;Skontotyp;" +
		"Auftragsnummer;Buchungstyp;USt-Schlüssel (Anzahlungen);EU-Land (Anzahlungen);Sachverhalt L+L (Anzahlungen);" +
		"EU-Steuersatz (Anzahlungen);Erlöskonto (Anzahlungen);Herkunft-Kz;Buchungs GUID;KOST-Datum;SEPA-Mandatsreferenz;" +
		"Skontosperre;Gesellschaftername;Beteiligtennummer;Identifikationsnummer;Zeichnernummer;Postensperre bis;" +
		"Bezeichnung SoBil-Sachverhalt;Kennzeichen SoBil-Buchung;Festschreibung;Leistungsdatum;" +
		"Datum Zuord. Steuerperiode;Fälligkeit;Generalumkehr (GU);Steuersatz;Land;Abrechnungsreferenz;BVV-Position;" +
		"EU-Land u. UStID (Ursprung);EU-Steuersatz (Ursprung);Abw. Skontokonto")
	return ansi(b.String(), math.MaxInt)
}

// ansi is a text in Windows-1252, of at most so many characters. A letter that Windows-1252 lacks loses its marks; what
// is then still lacking becomes a question mark.
func ansi(text string, most int) string {
	var b []byte
	for _, r := range norm.NFC.String(text) {
		if c, ok := charmap.Windows1252.EncodeRune(r); ok {
			b = append(b, c)
			continue
		}
		before := len(b)
		for _, part := range norm.NFKD.String(string(r)) {
			if c, ok := charmap.Windows1252.EncodeRune(part); ok {
				b = append(b, c)
			}
		}
		if len(b) == before {
			b = append(b, '?')
		}
	}
	return string(b[:min(len(b), most)])
}

var datevAccount = regexp.MustCompile(`^0*[1-9][0-9]*$`)

// datevProblems tells everything that DATEV would not take.
func (j *Journal) datevProblems() error {
	var p problems
	number := func(path string, n, least, most int, what phrase.Text) {
		if n >= least && n <= most {
			return
		}
		if len(p.Messages) == 0 {
			p.add("books.datev", "A file for DATEV needs numbers that the set-up does not have. An owner writes them in the "+
				"console, in Set-up, Books. In a set-up file, they are in books: {datev: {…}} of this account.")
		}
		p.add("books.datev."+path, "%s, from %d to %d", what, least, most)
	}
	number("consultant", j.DATEV.Consultant, 1001, 9_999_999, "the number of the tax adviser (Beraternummer)")
	number("client", j.DATEV.Client, 1, 99_999, "the number of the client (Mandantennummer)")
	number("fiscalYearStart", j.DATEV.FiscalYearStart, 1, 12, "the month in which the fiscal year begins")
	number("accountLength", j.DATEV.AccountLength, 4, 8, "how many digits the accounts have (Sachkontenlänge)")
	j.oneCurrency(&p, "EUR", "A file for DATEV is in EUR. This journal has entries in %s, for which DATEV needs an "+
		"exchange rate, which Boon does not know. Take another format.")
	most := 9 // digits of the account of a customer, in a ledger of 8
	if j.DATEV.AccountLength > 0 {
		most = min(j.DATEV.AccountLength+1, most)
	}
	j.fits(&p, func(name string) *phrase.Phrase {
		if !datevAccount.MatchString(name) || len(name) > most {
			return phrase.New("is no account of DATEV. An account has at most %d digits, and nothing else.", most)
		}
		return nil
	})
	for _, e := range j.Entries {
		for _, posting := range e.Postings {
			if posting.Amount > datevLargest {
				p.add("format", "DATEV takes amounts up to %s. The entry %s has %s.",
					money.Currency{Decimals: 2}.Format(datevLargest), e.Number, e.Currency.Money(posting.Amount))
			}
		}
	}
	return p.err()
}

// sameDATEV compares files, or ZIP archives of files, but for when they were made.
func sameDATEV(a, b []byte) bool {
	if zipped(a) != zipped(b) {
		return false
	}
	if !zipped(a) {
		return bytes.Equal(withoutMade(a), withoutMade(b))
	}
	one, err := unzipped(a)
	other, failed := unzipped(b)
	return err == nil && failed == nil && slices.EqualFunc(one, other, func(x, y File) bool {
		return x.Name == y.Name && sameDATEV(x.Content, y.Content)
	})
}

func zipped(file []byte) bool { return bytes.HasPrefix(file, []byte("PK")) }

// withoutMade takes the sixth value out of the header of a file, which is when the file was made.
func withoutMade(file []byte) []byte {
	cells := bytes.SplitN(file, []byte(";"), 7)
	if len(cells) == 7 {
		cells[5] = nil
	}
	return bytes.Join(cells, []byte(";"))
}

// unzipped are the files of an archive of Whole.
func unzipped(file []byte) (files []File, err error) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, err
		}
		files = append(files, File{Name: f.Name, Content: content})
	}
	return files, nil
}
