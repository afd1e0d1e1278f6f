package phrase

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Kept is an English text of which a sentence is made that is kept as it was said, such as one of the audit trail. A
// Book reads such a sentence, and says it in another language.
//
// For a book, %s and %q stand for a value, %d for a number, %v for words that the book has too, %+v for such words or a
// value, and %+s for names that the book knows, with commas or and between them. %-s stands for an id, which is one
// word. It and %-q are for programs: what a book says may leave them out.
type Kept string

// Say makes the sentence, in English.
func (k Kept) Say(values ...any) string { return fmt.Sprintf(string(k), values...) }

// Book reads sentences that were kept, and says them in one language.
type Book struct {
	pages []page
	words map[string]string // texts without values
	names map[string]string // of what programs call otherwise
}

// page is a text of a book, in pieces: between two values stands a literal.
type page struct {
	pieces []piece
	weight int // how much of it is literal
	said   string
}

// piece is a literal, or the verb of a value.
type piece struct{ literal, verb string }

// NewBook makes a book of English texts and what they are in its language.
func NewBook(texts map[Kept]string) *Book {
	b := &Book{words: map[string]string{}}
	for _, english := range slices.Sorted(maps.Keys(texts)) {
		p := page{pieces: piecesOf(string(english)), said: texts[english]}
		for _, part := range p.pieces {
			p.weight += len(part.literal)
		}
		if len(p.pieces) == 1 && p.pieces[0].verb == "" {
			b.words[p.pieces[0].literal] = p.said
			continue
		}
		b.pages = append(b.pages, p)
	}
	return b
}

// With is the book with more words.
func (b *Book) With(words map[string]string) *Book {
	more := maps.Clone(b.words)
	maps.Copy(more, words)
	return &Book{b.pages, more, b.names}
}

// Naming is the book with what people call the names that stand for %+s.
func (b *Book) Naming(names map[string]string) *Book { return &Book{b.pages, b.words, names} }

// piecesOf takes a text apart.
func piecesOf(text string) (all []piece) {
	for text != "" {
		literal, rest, found := strings.Cut(text, "%")
		if literal != "" {
			all = append(all, piece{literal: literal})
		}
		if !found {
			break
		}
		n := 1
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			n = 2
		}
		all, text = append(all, piece{verb: rest[:n]}), rest[n:]
	}
	return all
}

// Say says a sentence of one line. Not ok: no text of the book has it, or what the values are is not clear, as where a
// name has the words in it that stand between two values. Whoever reads the English sentence cannot tell either whether
// a name ends before ", which may: redeem" or behind it: as they would, a Book takes most words for its own, and says
// them in its language. show gives a value, and an id, as the reader knows it.
func (b *Book) Say(sentence string, show func(value string, id bool) string) (said string, ok bool) {
	r := &reading{book: b, show: show, known: map[string]*read{}}
	is := r.read(sentence)
	return is.said, is.ok && r.steps < maxSteps
}

// maxSteps bounds what a sentence can make a reader do.
const maxSteps = 20_000

// reading is the reading of one sentence.
type reading struct {
	book  *Book
	show  func(value string, id bool) string
	known map[string]*read // by what was read
	steps int
}

// read is what words were read as: by the text that explains most of them.
type read struct {
	said   string
	weight int
	ok     bool // there is one such text, and one way to read it
}

func (r *reading) read(words string) *read {
	if is := r.known[words]; is != nil {
		return is
	}
	is := &read{weight: -1}
	r.known[words] = is // while it is read, it is none of its own values
	if said, has := r.book.words[words]; has {
		*is = read{said, len(words), true}
	}
	for n := range r.book.pages {
		p := &r.book.pages[n]
		r.match(p.pieces, words, p.weight, nil, func(weight int, values []any) {
			switch said := fmt.Sprintf(p.said, values...); {
			case weight > is.weight:
				*is = read{said, weight, true}
			case weight == is.weight && said != is.said:
				is.ok = false
			}
		})
	}
	return is
}

// match finds all ways in which words are pieces.
func (r *reading) match(pieces []piece, words string, weight int, values []any, found func(int, []any)) {
	if r.steps++; r.steps >= maxSteps {
		return
	}
	if len(pieces) == 0 {
		if words == "" {
			found(weight, values)
		}
		return
	}
	if literal := pieces[0].literal; literal != "" {
		if rest, has := strings.CutPrefix(words, literal); has {
			r.match(pieces[1:], rest, weight, values, found)
		}
		return
	}
	if len(pieces) == 1 {
		if value, more, ok := r.value(pieces[0].verb, words); ok {
			found(weight+more, append(slices.Clone(values), value))
		}
		return
	}
	next := pieces[1].literal
	for at := 1; at < len(words); at++ {
		n := strings.Index(words[at:], next)
		if n < 0 {
			return
		}
		at += n
		if value, more, ok := r.value(pieces[0].verb, words[:at]); ok {
			r.match(pieces[1:], words[at:], weight+more, append(slices.Clone(values), value), found)
		}
	}
}

// value is a value as it is to be shown, and how much of it is literal.
func (r *reading) value(verb, words string) (value any, weight int, ok bool) {
	if r.steps++; words == "" || r.steps >= maxSteps {
		return nil, 0, false
	}
	switch verb {
	case "d":
		n, err := strconv.ParseInt(words, 10, 64)
		return n, 0, err == nil
	case "q", "-q":
		text, err := strconv.Unquote(words)
		return text, 0, err == nil && words[0] == '"'
	case "+s":
		names, ok := r.names(words)
		return names, len(words), ok
	case "-s":
		return r.show(words, true), 0, !strings.ContainsAny(words, " ,")
	case "v", "+v":
		if is := r.read(words); is.ok {
			return is.said, is.weight, true
		} else if verb == "v" {
			return nil, 0, false
		}
	}
	return r.show(words, false), 0, true
}

// names says names of which the book knows each.
func (r *reading) names(words string) (said string, ok bool) {
	all := strings.Split(strings.ReplaceAll(words, " and ", ", "), ", ")
	for n, name := range all {
		called, known := r.book.names[name]
		if !known {
			called, known = r.book.words[name]
		}
		if !known {
			return "", false
		}
		all[n] = called
	}
	return strings.Join(all, ", "), true
}
