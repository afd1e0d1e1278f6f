package record

import (
	"strings"

	"boon.example/internal/chain"
	"boon.example/internal/store/db"
)

// ChainColumns are those of a row of a hash chain.
const ChainColumns = `c.writer, c.n, c.content, c.mac`

// ChainFields are where ChainColumns are read into.
func ChainFields(r *chain.Row) []any {
	return []any{db.ScanID(&r.Writer), &r.N, &r.Content, db.ScanMAC(&r.MAC)}
}

// SelectDigest gives the digest that chain $1 has of its entry $2, for each pair.
var SelectDigest = digestStatement()

func digestStatement() *db.Query {
	of := func(writer, n string) string {
		return strings.NewReplacer("{writer}", writer, "{n}", n).Replace(
			`SELECT substr(c.content, CAST(length(c.content) - 16 * (c.n - {n}) - 15 AS INTEGER), 16) AS digest
			FROM chain AS c WHERE c.writer = {writer} AND c.n >= {n} ORDER BY c.n LIMIT 1`)
	}
	return &db.Query{What: "reading digests", One: of("$1", "$2"),
		Arrays: `SELECT f.digest FROM unnest(` + db.ArrayPlaceholders(1, "BN") + `) AS w (writer, n)
			CROSS JOIN LATERAL (` + of("w.writer", "w.n") + `) AS f`}
}

// ErasureColumns are those of an erasure, ErasureTypes their types: see db.InsertRows.
const (
	ErasureColumns = `x.account_id, x.entry_id, x.before, x.after, x.mac, x.made_at`
	ErasureTypes   = "BBBBBN"
)

// SelectErasures finds erasures by their entries.
var SelectErasures = db.SelectByKeys("erasures",
	`SELECT `+ErasureColumns+` FROM erasure AS x WHERE x.account_id = $1 AND x.entry_id {keys}`, "B", true)

// ScanErasure reads ErasureColumns.
func ScanErasure(from db.Scanner) (x chain.Erasure, err error) {
	var before, after []byte
	var at int64
	err = from.Scan(db.ScanID(&x.AccountID), db.ScanID(&x.EntryID), &before, &after, db.ScanMAC(&x.MAC), &at)
	copy(x.Before[:], before)
	copy(x.After[:], after)
	return x, err
}

// SelectErasure finds the erasure of an entry.
const SelectErasure = `SELECT ` + ErasureColumns + ` FROM erasure AS x WHERE x.account_id = $1 AND x.entry_id = $2`
