package transfer

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"boon.example/internal/store/db"
)

// digest adds up hashes of rows. The sum does not depend on their order, in which databases differ for texts.
type digest struct {
	seed maphash.Seed
	rows int64
	sum  uint64
}

func (d *digest) add(r []any) {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, column := range r {
		var size [9]byte
		switch v := column.(type) {
		case nil:
			h.WriteByte('0')
		case bool:
			fmt.Fprint(&h, v)
		case int64:
			size[0] = 'i'
			binary.BigEndian.PutUint64(size[1:], uint64(v))
			h.Write(size[:])
		case string:
			size[0] = 's'
			binary.BigEndian.PutUint64(size[1:], uint64(len(v)))
			h.Write(size[:])
			h.WriteString(v)
		case []byte:
			size[0] = 'b'
			binary.BigEndian.PutUint64(size[1:], uint64(len(v)))
			h.Write(size[:])
			h.Write(v)
		}
	}
	d.rows++
	d.sum += h.Sum64()
}

// digestOf reads a whole table.
func digestOf(ctx context.Context, q db.Querier, t *Table, seed maphash.Seed, read func(rows int64)) (digest, error) {
	const told = 1000 // rows after which read is told of them
	d := digest{seed: seed}
	// The order is that of the primary key, in which a table lies or is indexed.
	err := db.Each(ctx, q, t.SelectAll, nil, func(rows *sql.Rows) error {
		r, err := db.ScanTuple(rows, len(t.Columns))
		if err != nil {
			return err
		}
		t.convert(r)
		d.add(r)
		if d.rows%told == 0 {
			read(told)
		}
		return nil
	})
	read(d.rows % told)
	if err != nil {
		return d, fmt.Errorf("reading %s: %w", t.Name, err)
	}
	return d, nil
}
