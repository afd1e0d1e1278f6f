package wix

import (
	"maps"
	"slices"
)

// Methods are what a call can ask for.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }
