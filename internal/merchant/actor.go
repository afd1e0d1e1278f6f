package merchant

import "boon.example/internal/guid"

// Actor is who caused an entry, and where.
type Actor struct {
	KeyID      guid.ID // zero: the service itself
	LocationID guid.ID // zero: not at a location
	Person     string  // who stood at the till; "": the till asks for nobody
	Address    string  // of the client; "": it was not noted
	Till       bool    // the key is that of a paired till
}
