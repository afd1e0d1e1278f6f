package api

import (
	"boon.example/internal/merchant"
)

// NeededBy is what a key needs for a route, for the tests of package api_test.
func NeededBy(r Route) merchant.Permissions { return r.needs }

// TextsThatStay is the file of texts that TestTextsStay keeps.
const TextsThatStay = "testdata/fingerprints.txt"

// Updating reports whether the generated files are to be written.
func Updating() bool { return *update }
