package api

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/gift"
)

// writer appends JSON. Its methods write one member of the object that is open; what is zero in the methods named …OrNull is
// null, because a documented member is always present.
type writer struct{ b []byte }

// comma parts a member or element from the one before it.
func (w *writer) comma() {
	if n := len(w.b); n > 0 && w.b[n-1] != '{' && w.b[n-1] != '[' {
		w.b = append(w.b, ',')
	}
}

// open begins an object: an element of the list that is open, or the whole.
func (w *writer) open() {
	w.comma()
	w.b = append(w.b, '{')
}

func (w *writer) close() { w.b = append(w.b, '}') }

// name begins a member.
func (w *writer) name(name string) {
	w.comma()
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

func (w *writer) object(name string) {
	w.name(name)
	w.b = append(w.b, '{')
}

func (w *writer) list(name string) {
	w.name(name)
	w.b = append(w.b, '[')
}

func (w *writer) endList() { w.b = append(w.b, ']') }

func (w *writer) null(name string) {
	w.name(name)
	w.b = append(w.b, "null"...)
}

func (w *writer) text(name, s string) {
	w.name(name)
	w.b, _ = jsontext.AppendQuote(w.b, s) // the error only tells that invalid UTF-8 became U+FFFD
}

func (w *writer) textOrNull(name, s string) {
	if s == "" {
		w.null(name)
		return
	}
	w.text(name, s)
}

func (w *writer) id(name string, id gift.ID) {
	w.name(name)
	w.b = append(id.AppendText(append(w.b, '"')), '"')
}

func (w *writer) idOrNull(name string, id gift.ID) {
	if id.IsZero() {
		w.null(name)
		return
	}
	w.id(name, id)
}

func (w *writer) integer(name string, n int) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, int64(n), 10)
}

func (w *writer) boolean(name string, is bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, is)
}

func (w *writer) amount(name string, unit gift.Currency, a gift.Amount) {
	w.name(name)
	w.b = unit.Append(w.b, a)
}

func (w *writer) amountOrNull(name string, unit gift.Currency, a gift.Amount) {
	if a == 0 {
		w.null(name)
		return
	}
	w.amount(name, unit, a)
}

func (w *writer) instant(name string, t time.Time) {
	w.name(name)
	w.b = t.UTC().AppendFormat(append(w.b, '"'), "2006-01-02T15:04:05.000Z")
	w.b = append(w.b, '"')
}

func (w *writer) instantOrNull(name string, t time.Time) {
	if t.IsZero() {
		w.null(name)
		return
	}
	w.instant(name, t)
}

func (w *writer) raw(name string, value []byte) {
	w.name(name)
	w.b = append(w.b, value...)
}
