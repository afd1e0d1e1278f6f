package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/maphash"
)

// row is one row of a table as any database gives it: nil, int64, string or []byte. A truth is 0 or 1.
type row []any

// scanRow reads the columns of a row, whatever they are.
func scanRow(rows *sql.Rows, columns int) (row, error) {
	r, to := make(row, columns), make([]any, columns)
	for i := range r {
		to[i] = &r[i]
	}
	if err := rows.Scan(to...); err != nil {
		return nil, err
	}
	for i, column := range r {
		switch v := column.(type) {
		case nil, int64, string:
		case bool:
			r[i] = int64(0)
			if v {
				r[i] = int64(1)
			}
		case []byte:
			if len(v) == 0 {
				r[i] = []byte{} // never a nil slice, which would be written as NULL
			}
		default:
			return nil, fmt.Errorf("column %d is a %T, which no column of ours is", i+1, v)
		}
	}
	return r, nil
}

// digest adds up hashes of rows. The sum does not depend on their order, in which databases differ for texts.
type digest struct {
	seed maphash.Seed
	rows int64
	sum  uint64
}

func (d *digest) add(r row) {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, column := range r {
		var size [9]byte
		switch v := column.(type) {
		case nil:
			h.WriteByte('0')
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
func digestOf(ctx context.Context, q querier, t *table, seed maphash.Seed, read func(rows int64)) (digest, error) {
	const told = 1000 // rows after which read is told of them
	d := digest{seed: seed}
	// The order is that of the primary key, in which a table lies or is indexed.
	err := each(ctx, q, t.selectAll(), nil, func(rows *sql.Rows) error {
		r, err := scanRow(rows, len(t.columns))
		if err != nil {
			return err
		}
		d.add(r)
		if d.rows%told == 0 {
			read(told)
		}
		return nil
	})
	read(d.rows % told)
	if err != nil {
		return d, fmt.Errorf("reading %s: %w", t.name, err)
	}
	return d, nil
}

// place is a key in its written form.
type place struct {
	Bytes  []byte  `json:"b,omitempty"`
	Text   *string `json:"t,omitempty"`
	Number *int64  `json:"n,omitempty"`
}

func formatKey(key row) ([]byte, error) {
	places := make([]place, len(key))
	for i, column := range key {
		switch v := column.(type) {
		case []byte:
			places[i].Bytes = v
		case string:
			places[i].Text = &v
		case int64:
			places[i].Number = &v
		default:
			return nil, fmt.Errorf("a key holds a %T", v)
		}
	}
	return json.Marshal(places)
}

func parseKey(text []byte) (row, error) {
	var places []place
	if err := json.Unmarshal(text, &places); err != nil {
		return nil, fmt.Errorf("reading how far the copy had come: %w", err)
	}
	key := make(row, len(places))
	for i, p := range places {
		switch {
		case p.Text != nil:
			key[i] = *p.Text
		case p.Number != nil:
			key[i] = *p.Number
		default:
			key[i] = p.Bytes
		}
	}
	return key, nil
}
