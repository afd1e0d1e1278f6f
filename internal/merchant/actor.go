package merchant

import (
	"slices"

	"boon.example/internal/guid"
)

// Actor is who caused an entry, and where.
type Actor struct {
	KeyID      guid.ID // zero: the service itself
	LocationID guid.ID // zero: not at a location
	Person     string  // who stood at the till; "": the till asks for nobody
	Address    string  // of the client; "": it was not noted
	Till       bool    // the key is that of a paired till
}

// SeenFrom is the actor as a caller may know it who is enabled for some locations, or for all where there are none:
// of what was done elsewhere, neither who did it nor where.
func (a Actor) SeenFrom(locations []guid.ID) Actor {
	if len(locations) > 0 && !a.LocationID.IsZero() && !slices.Contains(locations, a.LocationID) {
		return Actor{}
	}
	return a
}
