package record

import (
	"boon.example/internal/chain"
	"boon.example/internal/store/db"
)

const ChainColumns = `c.writer, c.n, c.content, c.mac`

// ChainFields are where chainColumns are read into.
func ChainFields(r *chain.Row) []any {
	return []any{db.ScanID(&r.Writer), &r.N, &r.Content, db.ScanMAC(&r.MAC)}
}
