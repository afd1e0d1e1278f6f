// Package contact has the addresses that gifts go to, the ways in which they go there, and the texts that people write:
// what is taken, the one form of each, and how they are found again.
package contact

import (
	"boon.example/internal/refusal"

	"boon.example/internal/base/phrase"
)

// Method is a delivery method of the interface, section 2.7.
type Method int

// The delivery methods.
const (
	Email   Method = 1
	SMS     Method = 2
	Printed Method = 3
)

// String is the method's name.
func (m Method) String() string { return string(m.Text()) }

// Text is the method's name in a sentence.
func (m Method) Text() phrase.Text {
	switch m {
	case Email:
		return "e-mail"
	case SMS:
		return "SMS"
	case Printed:
		return "print"
	}
	return "unknown"
}

// ParseMethod finds the delivery method of a number.
func ParseMethod(id int) (Method, error) {
	if !Method(id).Valid() {
		return 0, refusal.At(refusal.ValidationFailure, refusal.FieldMethod, NotAMethod, refusal.FieldMethod)
	}
	return Method(id), nil
}

// Valid reports whether there is such a method.
func (m Method) Valid() bool { return m >= Email && m <= Printed }

// NotAMethod is what is told of another number; it names the field.
const NotAMethod = "The %s must be 1 (e-mail), 2 (SMS) or 3 (printed)."

// What is told of a contact where none fits, and where one is missing.
const (
	TakesNoContact = "A printed gift takes no %s."
	NeedsContact   = "A gift sent by %s needs a %s."
)
