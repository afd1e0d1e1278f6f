// Package refusal has the failures that a caller may see: their codes, their messages, and the fields that they are
// about. Any other error is an internal one.
package refusal

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
)

// Message is one problem in plain words that a cashier's screen can show.
type Message struct {
	Field Field  // what it is about
	Path  string // the same in the words of who sent the request, where only those are known

	said *phrase.Phrase // where a value is a Field, the text names it
}

// MessageAt is about something that this package does not know, by the sender's own name for it.
func MessageAt(path string, text phrase.Text, values ...any) Message {
	return Message{Path: path, said: phrase.New(text, values...)}
}

// And is the message with one more sentence, which is formatted as fmt does it.
func (m Message) And(text phrase.Text, values ...any) Message {
	return Message{Field: m.Field, Path: m.Path, said: phrase.New("%s %s", m.said, phrase.New(text, values...))}
}

// Text is the message in English, with the names that whoever reads it has for fields.
func (m Message) Text(name func(Field) string) string { return m.In(phrase.English, name) }

// In is the message in the words of a language.
func (m Message) In(words func(phrase.Text) string, name func(Field) string) string {
	if m.said == nil {
		return ""
	}
	return m.said.Say(words, func(value any) any {
		if f, is := value.(Field); is {
			return f.Rename(name)
		}
		return value
	})
}

// Error is a failure that the caller may see. Any other error is an internal one, of which the caller
// learns nothing but UNEXPECTED_ERROR.
type Error struct {
	Code       Code
	Messages   []Message
	RetryAfter time.Duration // when a repeat makes sense; 0: not said
}

// New makes an Error about the request as a whole.
func New(code Code, text phrase.Text, values ...any) *Error { return At(code, "", text, values...) }

// At makes an Error about one field of the request. Where a value is a Field, the text names it.
func At(code Code, field Field, text phrase.Text, values ...any) *Error {
	return &Error{Code: code, Messages: []Message{{Field: field, said: phrase.New(text, values...)}}}
}

// Join adds the messages of err, if it is an Error, to those of e, which is not used any more; the first of them
// gives the code. Either may be nil.
func Join(e *Error, err error) *Error {
	var more *Error
	if !errors.As(err, &more) {
		return e
	}
	if e == nil {
		return more
	}
	return &Error{Code: e.Code, Messages: append(e.Messages, more.Messages...), RetryAfter: max(e.RetryAfter,
		more.RetryAfter)}
}

// Error is the code and every message, for logs and tests.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	for i, m := range e.Messages {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		if about := cmp.Or(string(m.Field), m.Path); about != "" {
			b.WriteString(about + ": ")
		}
		b.WriteString(m.Text(plain))
	}
	return b.String()
}

// plain is what this package calls a field.
func plain(f Field) string { return string(f) }

// Unwrap gives the code, for errors.Is.
func (e *Error) Unwrap() error { return e.Code }

// In puts what an Error is about inside of another field.
func (e *Error) In(outer Field) *Error {
	inside := *e
	inside.Messages = nil
	for _, m := range e.Messages {
		if m.Field != "" {
			m.Field = m.Field.In(outer)
		}
		inside.Messages = append(inside.Messages, m)
	}
	return &inside
}
