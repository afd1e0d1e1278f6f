package api

import (
	"boon.example/internal/merchant"
)

// NeededBy is what a key needs for a route, for the tests of package api_test.
func NeededBy(r Route) merchant.Permissions { return r.needs }

// Normalized is the text over which the fingerprint of a request is made.
func Normalized(operation, body string) string { return readNormalized(operation, body, nil) }
