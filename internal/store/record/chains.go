package record

import (
	"boon.example/internal/chain"
	"boon.example/internal/store/db"
)

// ChainFields are where writer, n, content and mac of a row of a hash chain are read into.
func ChainFields(r *chain.Row) []any {
	return []any{db.ScanID(&r.Writer), &r.N, &r.Content, db.ScanMAC(&r.MAC)}
}

// SelectDigest gives the digest that chain $1 has of its entry $2, for each pair.
var SelectDigest = &db.Query{What: "reading digests",
	Each: `SELECT substr(c.content, CAST(length(c.content) - 16 * (c.n - $2) - 15 AS INTEGER), 16) AS digest
		FROM chain AS c
		WHERE c.writer = $1 AND c.n >= $2 ORDER BY c.n LIMIT 1`,
	Postgres: `SELECT f.digest FROM unnest($1::BYTEA[], $2::BIGINT[]) AS w (writer, n) CROSS JOIN LATERAL (
			SELECT substr(c.content, CAST(length(c.content) - 16 * (c.n - w.n) - 15 AS INTEGER), 16) AS digest
			FROM chain AS c WHERE c.writer = w.writer AND c.n >= w.n ORDER BY c.n LIMIT 1) AS f`}

// SelectErasures finds erasures by their entries.
var SelectErasures = &db.Query{What: "reading erasures", Scoped: true,
	SQLite: `SELECT x.account_id, x.entry_id, x.before, x.after, x.mac, x.made_at
		FROM json_each($2) AS w CROSS JOIN erasure AS x
		WHERE x.account_id = $1 AND x.entry_id = unhex(w.value)`,
	Postgres: `SELECT found.* FROM unnest($1::BYTEA[], $2::BYTEA[]) AS w (account_id, key) CROSS JOIN LATERAL (
			SELECT x.account_id, x.entry_id, x.before, x.after, x.mac, x.made_at
			FROM erasure AS x
			WHERE x.account_id = w.account_id AND x.entry_id = w.key OFFSET 0) AS found`,
	Citus: `SELECT x.account_id, x.entry_id, x.before, x.after, x.mac, x.made_at
		FROM erasure AS x
		WHERE x.account_id = $1 AND x.entry_id = ANY($2::BYTEA[])`}

// ScanErasure reads a row of SelectErasures or SelectErasure.
func ScanErasure(from db.Scanner) (x chain.Erasure, err error) {
	var before, after []byte
	var at int64
	err = from.Scan(db.ScanID(&x.AccountID), db.ScanID(&x.EntryID), &before, &after, db.ScanMAC(&x.MAC), &at)
	copy(x.Before[:], before)
	copy(x.After[:], after)
	return x, err
}

// SelectErasure finds the erasure of an entry.
const SelectErasure = `SELECT x.account_id, x.entry_id, x.before, x.after, x.mac, x.made_at
	FROM erasure AS x
	WHERE x.account_id = $1 AND x.entry_id = $2`
