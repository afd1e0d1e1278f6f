package merchant

import "encoding/binary"

// EventPlace is a place in the events of an account: right after one of them. The zero value is before all.
type EventPlace struct {
	Position int64   // of the commit
	Part     int     // how many of its events come before the place
	Mark     [4]byte // the end of the id of the last of these
}

// IsZero reports whether the place is before all events.
func (p EventPlace) IsZero() bool { return p == EventPlace{} }

// Before reports whether a place comes before another.
func (p EventPlace) Before(q EventPlace) bool {
	return p.Position < q.Position || p.Position == q.Position && p.Part < q.Part
}

// Bytes is the place for keeping; ParseEventPlace reads it.
func (p EventPlace) Bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(p.Position))
	binary.BigEndian.PutUint32(b[8:], uint32(p.Part))
	copy(b[12:], p.Mark[:])
	return b
}
