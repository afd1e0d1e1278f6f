// Package guid has the ids of everything that Boon keeps.
package guid

import (
	"bytes"
	"encoding/hex"
	"errors"
)

// ID is a GUID: of an account, a location, a voucher, an order, an entry. Ours are UUIDv7 (RFC 9562), so that
// they sort by the time of their making; those of a set-up file are whatever the operator chose.
// The zero ID means "none".
type ID [16]byte

var errID = errors.New("not a GUID of the form 8-4-4-4-12 hexadecimal digits")

// Max is the ID after all others, which no record can have (RFC 9562, section 5.10).
func Max() ID { return unused }

var unused = ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// Parse reads the GUID of a record, in the form 8-4-4-4-12 and in any letter case. The all-zero GUID and the one of
// ones only are refused: no record has them.
func Parse(s string) (ID, error) {
	id, err := Read(s)
	if id == unused {
		return ID{}, errID
	}
	return id, err
}

// Read reads any GUID that a request may hold. The all-zero one, which some callers send for "not set", is none
// that we know either, and must not become the zero ID, which means that none was sent: it is read as an ID that no
// record has.
func Read(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, errID
	}
	digits := make([]byte, 0, 32)
	for _, part := range []string{s[:8], s[9:13], s[14:18], s[19:23], s[24:]} {
		digits = append(digits, part...)
	}
	if _, err := hex.Decode(id[:], digits); err != nil {
		return ID{}, errID
	}
	if id == (ID{}) {
		return unused, nil
	}
	return id, nil
}

// String writes the ID in lower case; the zero ID is "".
func (id ID) String() string {
	if id == (ID{}) {
		return ""
	}
	return string(id.AppendText(make([]byte, 0, 36)))
}

// Next is the smallest ID that is greater; after the greatest comes the zero ID.
func (id ID) Next() ID {
	for n := len(id) - 1; n >= 0; n-- {
		if id[n]++; id[n] != 0 {
			break
		}
	}
	return id
}

// Compare is negative, zero or positive as the ID sorts before, with or after another.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// AppendText appends the form 8-4-4-4-12 in lower case, also of the zero ID.
func (id ID) AppendText(b []byte) []byte {
	b = hex.AppendEncode(b, id[:4])
	b = hex.AppendEncode(append(b, '-'), id[4:6])
	b = hex.AppendEncode(append(b, '-'), id[6:8])
	b = hex.AppendEncode(append(b, '-'), id[8:10])
	return hex.AppendEncode(append(b, '-'), id[10:])
}

// IsZero reports whether the ID names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// MarshalText writes the form 8-4-4-4-12 in lower case, also of the zero ID.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil), nil }

// UnmarshalText reads what Parse reads.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = Parse(string(text))
	return err
}
