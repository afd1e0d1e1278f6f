package books

import "boon.example/internal/guid"

// Head is the newest row of a hash chain over entries. Whoever keeps the heads with a report can show later that the
// entries behind it are still there: the rows are in the database, with all that was written before them. How many rows
// a chain has is not told: the chains are of all accounts, and one merchant would learn how much another one sells.
type Head struct {
	Chain guid.ID
	MAC   []byte
}
