package imports

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"

	"boon.example/internal/base/phrase"
)

// Table reads a CSV file line by line, as spreadsheets and other programs write it: with commas, semicolons or tabs,
// in UTF-8, UTF-16 or Windows-1252, with whatever ends its lines.
type Table struct {
	Names []string // of the columns

	records *records
	csv     *csv.Reader
	feed    *strings.Reader // what csv reads: one record
}

// Row is a line of a table.
type Row struct {
	Number int            // of the line of the file, the first one is 1
	Fields []string       // as many as the table has names, or fewer
	Wrong  *phrase.Phrase // why the line cannot be read: a sentence; nil: it can
}

// NewTable begins with a file whose first line names the columns. The error is a sentence about the whole file, or what
// reading it failed with.
func NewTable(file io.Reader) (*Table, error) {
	t, first, err := openTable(file)
	if err == nil {
		err = t.name(first)
	}
	return t, err
}

// openTable begins with a file, and gives its first line that says something.
func openTable(file io.Reader) (*Table, record, error) {
	text, err := decoded(file)
	if err != nil {
		return nil, record{}, err
	}
	t := &Table{records: &records{text: text, comma: ','}, feed: strings.NewReader("")}
	first, err := t.separator()
	t.parseAnew()
	return t, first, err
}

func (t *Table) parseAnew() {
	t.csv = csv.NewReader(t.feed)
	t.csv.Comma, t.csv.FieldsPerRecord, t.csv.LazyQuotes, t.csv.ReuseRecord = rune(t.records.comma), -1, true, true
}

// separator finds out what parts the columns, by the first line that says something.
func (t *Table) separator() (record, error) {
	first, err := t.records.next()
	if errors.Is(err, io.EOF) {
		return first, phrase.New("The file has no line that says anything.")
	}
	mark, named := strings.CutPrefix(strings.TrimSpace(string(first.text)), "sep=")
	if err == nil && named && len(mark) == 1 {
		t.records.comma = mark[0]
		first, err = t.records.next()
		return first, err
	}
	if err == nil && numbered(string(first.text)) {
		if first, err = t.records.next(); err != nil {
			return first, err
		}
	}
	most := 0
	for _, comma := range []byte{',', ';', '\t'} {
		if n := strings.Count(string(first.text), string(rune(comma))); n > most {
			most, t.records.comma = n, comma
		}
	}
	return first, err
}

// numbered reports whether a line numbers the columns, as YITH's plugin for WooCommerce does in front of their names.
func numbered(line string) bool {
	columns := strings.Split(strings.TrimSpace(line), ",")
	for n, column := range columns {
		if column != strconv.Itoa(n) {
			return false
		}
	}
	return len(columns) > 2
}

// name takes the names of the columns from a line.
func (t *Table) name(first record) error {
	names, wrong := t.split(first)
	if wrong != nil {
		return phrase.New("Line %d: %s", first.line, wrong)
	}
	for _, name := range names {
		t.Names = append(t.Names, strings.TrimSpace(name))
	}
	return nil
}

// unread has a line be read once more.
func (t *Table) unread(first record) {
	t.records.again, t.records.line = append([][]byte{first.text}, t.records.again...), first.line-1
}

// split gives the columns of a record, or a sentence about what is wrong with it.
func (t *Table) split(of record) ([]string, *phrase.Phrase) {
	if of.bad != nil {
		return nil, of.bad
	}
	text := string(utf8Text(of.text))
	t.feed.Reset(text)
	before := t.csv.InputOffset()
	fields, err := t.csv.Read()
	if read := t.csv.InputOffset() - before; err != nil || read != int64(len(text)) {
		t.parseAnew() // what is left of this record is no part of the next one
		return nil, phrase.New("The line cannot be taken apart into columns.")
	}
	return fields, nil
}

// Next gives the next line that says something; its fields are good until the one after it. The error is io.EOF at the
// end of the file. A spreadsheet leaves lines of nothing but commas where somebody has emptied cells.
func (t *Table) Next() (Row, error) {
	for {
		next, err := t.records.next()
		if err != nil {
			return Row{}, err
		}
		row := Row{Number: next.line}
		row.Fields, row.Wrong = t.split(next)
		text := strings.Join(row.Fields, "")
		switch {
		case row.Wrong != nil:
		case strings.TrimSpace(text) == "":
			continue
		case strings.Contains(text, "\x00"):
			row.Wrong = phrase.New("The line has a zero byte in it: the file is damaged.")
		case len(row.Fields) > len(t.Names):
			row.Wrong = phrase.New("The line has %d columns, and the file names %d: put a text with %q in it into quotation "+
				"marks.", len(row.Fields), len(t.Names), string(rune(t.records.comma)))
		}
		return row, nil
	}
}
