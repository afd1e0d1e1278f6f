package record

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"sync"
)

// Long answers are packed: an order of a thousand says most of what it says a thousand times.

var packers = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a good one
	return w
}}

func pack(plain []byte) []byte {
	var packed bytes.Buffer
	packed.Grow(len(plain)/4 + 64)
	w := packers.Get().(*flate.Writer)
	defer packers.Put(w)
	w.Reset(&packed)
	w.Write(plain) // a buffer takes everything
	w.Close()
	return packed.Bytes()
}

// unpack gives what was packed, which has this size.
func unpack(packed []byte, size int) ([]byte, error) {
	r := flate.NewReader(bytes.NewReader(packed))
	plain := make([]byte, size)
	if _, err := io.ReadFull(r, plain); err != nil {
		return nil, fmt.Errorf("what was packed is damaged: %w", err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return nil, fmt.Errorf("what was packed is longer than the %d bytes that are noted", size)
	}
	return plain, nil
}
