package imports

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"boon.example/internal/base/phrase"
)

// maxRecord is how long a line of a file is at most, with the lines that its quoted texts go over.
const maxRecord = 64 << 10

// notCSV are the beginnings of files that people take for CSV files.
var notCSV = []struct {
	begin string
	what  phrase.Text
}{
	{"PK\x03\x04", "a workbook of a spreadsheet (.xlsx) or a zip archive"},
	{"\xd0\xcf\x11\xe0", "a workbook of an old spreadsheet (.xls)"},
	{"\x1f\x8b", "a compressed file (.gz)"}, {"%PDF", "a PDF file"}, {"<!DO", "a web page"}, {"<htm", "a web page"},
}

// decoded is the text of a file, whatever UTF it is in and whatever ends its lines: UTF-8 with \n. A line that is no
// UTF-8 is still to be read: see utf8Text. The error is a sentence.
func decoded(file io.Reader) (*bufio.Reader, error) {
	raw := bufio.NewReader(file)
	begin, err := raw.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(begin) == 0 {
		return nil, phrase.New("The file is empty.")
	}
	for _, other := range notCSV {
		if bytes.HasPrefix(begin, []byte(other.begin)) {
			return nil, phrase.New("This is %s, no CSV file: open it with the program that made it, and save it as CSV "+
				"in UTF-8.", other.what)
		}
	}
	var text io.Reader = raw
	err = nil
	switch {
	case bytes.HasPrefix(begin, []byte("\xef\xbb\xbf")):
		_, err = raw.Discard(3)
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), len(begin) == 4 && begin[1] == 0 && begin[3] == 0:
		text = transform.NewReader(raw, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
	case bytes.HasPrefix(begin, []byte("\xfe\xff")), len(begin) == 4 && begin[0] == 0 && begin[2] == 0:
		text = transform.NewReader(raw, unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewDecoder())
	}
	return bufio.NewReaderSize(transform.NewReader(text, &lineEnds{}), maxRecord), err
}

// lineEnds makes \n of \r\n and of \r.
type lineEnds struct{ after bool } // a \r

// Reset implements transform.Transformer.
func (l *lineEnds) Reset() { l.after = false }

// Transform implements transform.Transformer.
func (l *lineEnds) Transform(to, from []byte, _ bool) (written, read int, err error) {
	for ; read < len(from); read++ {
		b := from[read]
		if b == '\n' && l.after {
			l.after = false
			continue
		}
		if written == len(to) {
			return written, read, transform.ErrShortDst
		}
		if l.after = b == '\r'; l.after {
			b = '\n'
		}
		to[written] = b
		written++
	}
	return written, read, nil
}

// records takes a text apart into the lines of a table: a quoted text may go over several lines of the file.
type records struct {
	text     *bufio.Reader
	comma    byte
	line     int      // the number of the last line that was read
	again    [][]byte // lines that were read and are to be read once more, the first one first; nil: a long one
	unclosed int      // quotation marks that were opened and never closed
}

// record is a line of a table.
type record struct {
	text []byte         // with its end
	line int            // the number of the line of the file in which it begins
	bad  *phrase.Phrase // why it cannot be read: a sentence; nil: it can
}

// next gives the next record that is not empty; io.EOF: there is none.
func (r *records) next() (record, error) {
	for {
		first, long, err := r.nextLine()
		if err != nil {
			return record{}, err
		}
		switch {
		case long:
			return record{line: r.line, bad: phrase.New("The line has more than %d bytes.", maxRecord)}, nil
		case len(bytes.TrimSpace(first)) > 0:
			return r.whole(slices.Clone(first))
		}
	}
}

// The bounds of what is read twice, so that no file takes long.
const (
	maxLinesOfRecord = 500
	maxUnclosed      = 1_000
)

// whole adds the lines to a record in which its quoted texts go on. Where a quotation mark is never closed, the lines
// behind the first one are records of their own.
func (r *records) whole(text []byte) (record, error) {
	begin, inside := r.line, r.after(text, atStart)
	var more [][]byte
	for inside == inQuotes {
		line, long, err := r.nextLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return record{}, err
		}
		if err == nil {
			more = append(more, slices.Clone(line))
		}
		if err != nil || long || len(text)+len(line) > maxRecord || len(more) > maxLinesOfRecord {
			if r.unclosed++; r.unclosed > maxUnclosed {
				return record{}, phrase.New("The file has too many quotation marks that are opened and never closed.")
			}
			r.again, r.line = append(more, r.again...), begin
			return record{line: begin, bad: phrase.New("A quotation mark is opened and never closed.")}, nil
		}
		text, inside = append(text, line...), r.after(line, inside)
	}
	return record{text: text, line: begin}, nil
}

// place is where in a table a text ends.
type place int

const (
	atStart  place = iota // of a field
	inField               // that begins with no quotation mark
	inQuotes              // of a field
	atQuote               // in such a field: it ends it, or the next one is behind it
)

// after tells where a line ends that begins at some place.
func (r *records) after(line []byte, at place) place {
	for _, b := range line {
		switch {
		case at == inQuotes && b == '"':
			at = atQuote
		case at == inQuotes:
		case b == r.comma || b == '\n':
			at = atStart
		case at == atStart && b == '"' || at == atQuote: // in the latter, the mark was a character of the text
			at = inQuotes
		default:
			at = inField
		}
	}
	return at
}

// nextLine gives the next line of the file, with its end; the slice is good until the next call. long: it is longer
// than maxRecord and left out.
func (r *records) nextLine() (line []byte, long bool, err error) {
	r.line++
	if len(r.again) > 0 {
		line, r.again = r.again[0], r.again[1:]
		return line, line == nil, nil
	}
	line, err = r.text.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) > 0:
		return append(slices.Clone(line), '\n'), false, nil
	case !errors.Is(err, bufio.ErrBufferFull):
		return line, false, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.text.ReadSlice('\n')
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return nil, true, err
}

// utf8Text is a text in UTF-8. What is no UTF-8 is read as Windows-1252, of which Latin-1 is nearly a part.
func utf8Text(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	converted, err := charmap.Windows1252.NewDecoder().Bytes(text)
	if err != nil {
		return bytes.ToValidUTF8(text, []byte("�"))
	}
	return converted
}
