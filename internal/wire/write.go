package wire

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/guid"
	"boon.example/internal/money"
)

// Writer appends JSON. Its methods write one member of the object that is open; what is zero in the methods named
// …OrNull is null, because a documented member is always present.
type Writer struct{ b []byte }

// NewWriter makes a writer with room for so many bytes.
func NewWriter(size int) Writer { return Writer{make([]byte, 0, size)} }

// Grow makes room for so many bytes more.
func (w *Writer) Grow(size int) { w.b = slices.Grow(w.b, size) }

// Bytes is what was written.
func (w *Writer) Bytes() []byte { return w.b }

// Cut gives what was written and begins anew. What is short is copied, so that the writer keeps its memory.
func (w *Writer) Cut() []byte {
	const short = 16 << 10
	b := w.b
	if len(b) > short {
		w.b = nil
		return b
	}
	w.b = b[:0]
	b = bytes.Clone(b)
	clear(w.b[:len(b)]) // there may be codes in it
	return b
}

// comma parts a member or element from the one before it.
func (w *Writer) comma() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' {
		w.b = append(w.b, ',')
	}
}

// Open begins an object: an element of the list that is open, or the whole.
func (w *Writer) Open() {
	w.comma()
	w.b = append(w.b, '{')
}

// Close ends the object that is open.
func (w *Writer) Close() { w.b = append(w.b, '}') }

// name begins a member.
func (w *Writer) name(name string) {
	w.comma()
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

// Object begins an object.
func (w *Writer) Object(name string) {
	w.name(name)
	w.b = append(w.b, '{')
}

// List begins a list.
func (w *Writer) List(name string) {
	w.name(name)
	w.b = append(w.b, '[')
}

// EndList ends it.
func (w *Writer) EndList() { w.b = append(w.b, ']') }

// Null writes null.
func (w *Writer) Null(name string) {
	w.name(name)
	w.b = append(w.b, "null"...)
}

// Text writes a text.
func (w *Writer) Text(name, s string) {
	w.name(name)
	w.b, _ = jsontext.AppendQuote(w.b, s) // the error only tells that invalid UTF-8 became U+FFFD
}

// Texts writes a list of texts.
func (w *Writer) Texts(name string, all []string) {
	w.List(name)
	for _, s := range all {
		w.comma()
		w.b, _ = jsontext.AppendQuote(w.b, s) // see Text
	}
	w.EndList()
}

// TextOrNull writes a text that may be absent.
func (w *Writer) TextOrNull(name, s string) {
	if s == "" {
		w.Null(name)
		return
	}
	w.Text(name, s)
}

// ID writes a GUID.
func (w *Writer) ID(name string, id guid.ID) {
	w.name(name)
	w.b = append(id.AppendText(append(w.b, '"')), '"')
}

// IDOrNull writes a GUID that may be absent.
func (w *Writer) IDOrNull(name string, id guid.ID) {
	if id.IsZero() {
		w.Null(name)
		return
	}
	w.ID(name, id)
}

// Integer writes a whole number.
func (w *Writer) Integer(name string, n int) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

// Boolean writes true or false.
func (w *Writer) Boolean(name string, is bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, is)
}

// Amount writes an amount with the decimals of its unit.
func (w *Writer) Amount(name string, unit money.Currency, a money.Amount) {
	w.name(name)
	w.b = unit.Append(w.b, a)
}

// AmountOrNull writes an amount that may be absent.
func (w *Writer) AmountOrNull(name string, unit money.Currency, a money.Amount) {
	if a == 0 {
		w.Null(name)
		return
	}
	w.Amount(name, unit, a)
}

// Instant writes a time, in UTC with milliseconds.
func (w *Writer) Instant(name string, t time.Time) {
	w.name(name)
	w.b = t.UTC().AppendFormat(append(w.b, '"'), "2006-01-02T15:04:05.000Z")
	w.b = append(w.b, '"')
}

// InstantOrNull writes a time that may be absent.
func (w *Writer) InstantOrNull(name string, t time.Time) {
	if t.IsZero() {
		w.Null(name)
		return
	}
	w.Instant(name, t)
}

// Raw writes what is JSON already.
func (w *Writer) Raw(name string, value []byte) {
	w.name(name)
	w.b = append(w.b, value...)
}
