package api

import (
	"boon.example/internal/merchant"
)

// NeededBy is what a key needs for a route, for the tests of package api_test.
func NeededBy(r Route) merchant.Permissions { return r.needs }

// Normalized is the text over which the fingerprint of a request is made; "": this package has no reader of the
// operation in its table.
func Normalized(operation, body string) string { return readNormalized(operation, body, nil) }

// Updating reports whether the generated files are to be written.
func Updating() bool { return *update }
