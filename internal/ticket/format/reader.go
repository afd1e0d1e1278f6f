package format

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/base/normalize"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/money"
	"boon.example/internal/ticket"
	"boon.example/internal/wire"
)

// reader reads values, and notes what is wrong with them by their paths. A value that is absent, null or an empty text
// reads as zero.
type reader struct {
	*wire.Problems
	currency money.Currency
	options  Options
	into     *ticket.Memory
	texts    *strings.Builder // those that are kept lie in few pieces of memory
}

// keep is a text that outlives the one that was read.
func (r *reader) keep(text []byte) string {
	const piece = 512
	if len(text) == 0 {
		return ""
	}
	if r.texts == nil || r.texts.Cap()-r.texts.Len() < len(text) {
		r.texts = new(strings.Builder)
		r.texts.Grow(max(piece, len(text)))
	}
	from := r.texts.Len()
	r.texts.Write(text)
	return r.texts.String()[from:]
}

// is reports whether a value says something and is of a kind; another kind is a problem.
func (r *reader) is(v jsontape.Value, kind jsontext.Kind, must phrase.Text) bool {
	if v.SaysNothing() {
		return false
	}
	if v.Kind() != kind {
		r.AddAt(v.Path, "This must be %s, not %s.", must, wire.KindName(v.Kind()))
		return false
	}
	return true
}

// pick looks up the members of an object, each into the place of its name. ok is false where there is no object.
func (r *reader) pick(v jsontape.Value, names *jsontape.Names, into ...*jsontape.Value) (ok bool) {
	if v.Kind() != '{' && !r.is(v, '{', "an object") {
		return false
	}
	v.Pick(names, into, func(name string) { r.AddAt(within(v, name), "This member is given more than once.") })
	return true
}

// only looks up the one member of an object that counts.
func (r *reader) only(v jsontape.Value, names *jsontape.Names) (m jsontape.Value) {
	r.pick(v, names, &m)
	return m
}

// within is the path of a member of an object, whether it is there or not.
func within(v jsontape.Value, name string) func() string {
	return func() string {
		if path := v.Path(); path != "" {
			return path + "." + name
		}
		return name
	}
}

// needs notes that a member is missing, unless there is a problem with it already.
func (r *reader) needs(v jsontape.Value, name string, text phrase.Text, values ...any) {
	r.AddAt(within(v, name), text, values...)
}

const needed = "This is needed."

// list is the elements of an array, of which there may be as many as a ticket has lines.
func (r *reader) list(v jsontape.Value) func(func(int, jsontape.Value) bool) {
	return func(yield func(int, jsontape.Value) bool) {
		if !r.is(v, '[', "a list") {
			return
		}
		if n := v.Len(); n > ticket.MaxLines {
			r.AddAt(v.Path, "There may be at most %d elements in this list, not %d.", ticket.MaxLines, n)
			return
		}
		for i, e := range v.Elements() {
			if e.Kind() != '{' {
				r.AddAt(e.Path, "This must be an object, not %s.", wire.KindName(e.Kind()))
			} else if !yield(i, e) {
				return
			}
		}
	}
}

// size is how many lines a list may give.
func size(v jsontape.Value) int {
	if v.Kind() != '[' {
		return 0
	}
	return min(v.Len(), ticket.MaxLines)
}

// text reads a text as it is.
func (r *reader) text(v jsontape.Value) []byte {
	if !r.is(v, '"', "a text") {
		return nil
	}
	return v.Unquoted()
}

// says reports whether a value is one of some words.
func (r *reader) says(v jsontape.Value, words ...string) bool {
	text := r.text(v)
	for _, w := range words {
		if string(text) == w {
			return true
		}
	}
	return false
}

// name reads what people call an item: what is too long is cut.
func (r *reader) name(v jsontape.Value) string { return cut(r.composed(r.text(v))) }

func cut(s string) string {
	if len(s) <= ticket.MaxItemName || utf8.RuneCountInString(s) <= ticket.MaxItemName {
		return s
	}
	return string([]rune(s)[:ticket.MaxItemName])
}

// composed is a text in NFC.
func (r *reader) composed(text []byte) string {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return normalize.String(string(text))
		}
	}
	return r.keep(text)
}

// id reads what names an item: a text, or a whole number, which becomes its digits.
func (r *reader) id(v jsontape.Value) string {
	switch {
	case v.SaysNothing():
		return ""
	case v.Kind() == '0':
		if digits := v.Raw(); len(digits) <= 20 && !bytes.ContainsAny(digits, ".eE") {
			return r.keep(digits)
		}
		r.AddAt(v.Path, "This must be a whole number of at most 20 digits, or a text.")
		return ""
	}
	text := r.text(v)
	if len(text) <= ticket.MaxItemID && printable(text) {
		return r.keep(text)
	}
	id := r.composed(text)
	if err := contact.CheckText(id, ticket.MaxItemID, true); err != nil {
		r.AddAt(v.Path, "%s", err)
		return ""
	}
	return id
}

// printable reports whether a text is of printable ASCII characters, as almost all ids are.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// yes reads true or false.
func (r *reader) yes(v jsontape.Value) bool {
	if v.SaysNothing() {
		return false
	}
	if k := v.Kind(); k != 't' && k != 'f' {
		r.AddAt(v.Path, "This must be true or false, not %s.", wire.KindName(k))
	}
	return v.Kind() == 't'
}

// no reports whether a value is false.
func (r *reader) no(v jsontape.Value) bool { return !r.yes(v) && v.Kind() == 'f' }

// decimal reads a number within the bounds of a unit.
func (r *reader) decimal(v jsontape.Value, unit money.Currency, limit money.Amount) (d money.Decimal, ok bool) {
	if v.Kind() != '0' && !r.is(v, '0', "a number without quotes") {
		return d, false
	}
	return r.exact(v, v.Raw(), unit, limit)
}

// exact reads the digits of a number, which v holds.
func (r *reader) exact(v jsontape.Value, digits []byte, unit money.Currency, limit money.Amount) (d money.Decimal,
	ok bool) {
	d, err := money.ReadDecimal(digits)
	switch {
	case err == money.ErrNotANumber:
		r.AddAt(v.Path, "This must be a decimal number, such as 12.50.")
	case err == money.ErrTooLong:
		r.AddAt(v.Path, "This number has too many digits.")
	case err != nil || beyond(d, unit, limit):
		r.AddAt(v.Path, "This number is too large.")
	default:
		return d, true
	}
	return money.Decimal{}, false
}

func beyond(d money.Decimal, unit money.Currency, limit money.Amount) bool {
	a := d.Round(unit)
	return a > limit || a < -limit
}

// major reads a number of currency units, in which platforms may be finer than the currency.
func (r *reader) major(v jsontape.Value) money.Decimal {
	d, _ := r.decimal(v, r.currency, ticket.MaxAmount)
	return d
}

// priced reads a number of currency units that may be in quotes.
func (r *reader) priced(v jsontape.Value) money.Decimal {
	if v.Kind() != '"' || v.SaysNothing() {
		return r.major(v)
	}
	d, _ := r.exact(v, v.Unquoted(), r.currency, ticket.MaxAmount)
	return d
}

// minor reads a whole number of minor units, or of anything else that is counted.
func (r *reader) minor(v jsontape.Value) money.Amount {
	d, ok := r.decimal(v, money.Pieces, ticket.MaxAmount)
	if ok && !d.IsWhole() {
		r.AddAt(v.Path, "This must be a whole number.")
	}
	return d.Round(money.Pieces)
}

// ours notes where a currency is another than the account's.
func (r *reader) ours(v jsontape.Value) {
	if code := r.text(v); code != nil && string(code) != r.currency.Code {
		r.AddAt(v.Path, "The ticket must be in %s, the currency of the account.", r.currency.Code)
	}
}
