package books

import "boon.example/internal/guid"

// Head is how far a hash chain over entries has come. Whoever keeps the heads with a report can show later that the
// entries behind it are still there.
type Head struct {
	Chain   guid.ID
	Entries int64
	MAC     []byte
}
