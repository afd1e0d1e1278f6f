// Package phrase has what is said to people as it is decided: an English text with places for values. Who knows the
// language of the reader says it in that language; everybody else has the English.
package phrase

import (
	"fmt"
	"slices"
	"strings"
)

// Text is an English text as fmt formats it, or a word or two that stand in one. A constant Text is what a translation
// goes by: a test of the whole program demands one for each. So a text that is put together while the program runs is
// no Text, but a Phrase.
type Text string

// Phrase is a text and the values in it. It is an error, for rules that tell what is wrong with what was sent.
type Phrase struct {
	text   Text
	values []any
}

// New makes a Phrase. Of the values, a Text, a *Phrase and what is in a List are said in the language of the reader
// too.
func New(text Text, values ...any) *Phrase { return &Phrase{text, values} }

// Error is the phrase in English.
func (p *Phrase) Error() string { return p.Say(English, same) }

// String is the phrase in English.
func (p *Phrase) String() string { return p.Error() }

// English has a text be said as it is written.
func English(t Text) string { return string(t) }

func same(value any) any { return value }

// In is the phrase in the words of a language, with its values as they are.
func (p *Phrase) In(words func(Text) string) string { return p.Say(words, same) }

// Say is the phrase in the words of a language, which has the same values in its text. show gives a value as the
// reader knows it; it is not asked about what is said in words.
func (p *Phrase) Say(words func(Text) string, show func(value any) any) string {
	if text := words(p.text); len(p.values) == 0 && !strings.Contains(text, "%") {
		return text
	}
	values := slices.Clone(p.values)
	for n, value := range values {
		switch value := value.(type) {
		case Text:
			values[n] = words(value)
		case *Phrase:
			values[n] = value.Say(words, show)
		case List:
			values[n] = value.say(words, show)
		default:
			values[n] = show(value)
		}
	}
	return fmt.Sprintf(words(p.text), values...)
}

// List is several values of which each is said: "A, B or C".
type List struct {
	values []any
	last   Text // what stands between the last two
}

// OneOf lists what may be sent: "A, B or C".
func OneOf[T any](of []T) List {
	l := List{last: " or "}
	for _, one := range of {
		l.values = append(l.values, one)
	}
	return l
}

// AllOf lists what belongs together: "A, B and C".
func AllOf[T any](of []T) List {
	l := OneOf(of)
	l.last = " and "
	return l
}

func (l List) say(words func(Text) string, show func(any) any) string {
	var b strings.Builder
	for n, value := range l.values {
		switch {
		case n == 0:
		case n == len(l.values)-1:
			b.WriteString(words(l.last))
		default:
			b.WriteString(", ")
		}
		b.WriteString(New("%v", value).Say(words, show))
	}
	return b.String()
}
