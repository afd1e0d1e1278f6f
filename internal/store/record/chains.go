package record

import (
	"boon.example/internal/chain"
	"boon.example/internal/store/db"
)

// ChainColumns are those of a row of a hash chain.
const ChainColumns = `c.writer, c.n, c.content, c.mac`

// ChainFields are where ChainColumns are read into.
func ChainFields(r *chain.Row) []any {
	return []any{db.ScanID(&r.Writer), &r.N, &r.Content, db.ScanMAC(&r.MAC)}
}
