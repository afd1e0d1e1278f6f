package toast

import (
	"maps"
	"slices"
)

// Types are what the header of a transaction can ask for.
func Types() []string { return slices.Sorted(maps.Keys(kinds)) }
