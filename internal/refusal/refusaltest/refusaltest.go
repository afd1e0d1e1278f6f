// Package refusaltest helps tests of the domain to look at refusals.
package refusaltest

import (
	"testing"

	"boon.example/internal/refusal"
)

// CodeOf is the code of an error, "" for none. An error that is no refusal, or that has no message, ends the test.
func CodeOf(t testing.TB, err error) refusal.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := err.(*refusal.Error)
	if !ok {
		t.Fatalf("%v (%T) is no *refusal.Error", err, err)
	}
	if len(e.Messages) == 0 || e.Messages[0].Text(func(f refusal.Field) string { return string(f) }) == "" {
		t.Fatalf("%v has no message", err)
	}
	return e.Code
}
