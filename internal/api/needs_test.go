package api

import "boon.example/internal/gift"

// NeededBy is what a key needs for a route, for the tests of package api_test.
func NeededBy(r Route) gift.Permissions { return r.needs }
