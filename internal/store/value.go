package store

import (
	"fmt"
	"strings"
	"time"

	"boon.example/internal/gift"
	"boon.example/internal/sealed"
)

// How Go values stand in columns. Arguments are made by id, keyOf and micros; columns are read into scanID and
// scanTime.

// id is a column that may be NULL: the zero ID is.
func id(v gift.ID) any {
	if v.IsZero() {
		return nil
	}
	return v[:]
}

// keyOf is a column that is part of a key, where the zero ID is 16 zeros.
func keyOf(v gift.ID) any { return v[:] }

// micros is a time; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// scanID reads a column into an ID.
type scanID struct{ to *gift.ID }

// Scan implements sql.Scanner.
func (s scanID) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*s.to = gift.ID{}
		return nil
	case []byte:
		if len(v) == len(s.to) {
			*s.to = gift.ID(v)
			return nil
		}
	}
	return fmt.Errorf("a column that should hold 16 bytes does not")
}

// scanMAC reads a column into a MAC; what is none becomes the zero MAC, which fits nothing.
type scanMAC struct{ to *sealed.MAC }

// Scan implements sql.Scanner.
func (s scanMAC) Scan(column any) error {
	*s.to = sealed.MAC{}
	if v, ok := column.([]byte); ok && len(v) == len(s.to) {
		*s.to = sealed.MAC(v)
	}
	return nil
}

// scanTime reads a column into a time in UTC.
type scanTime struct{ to *time.Time }

// Scan implements sql.Scanner.
func (s scanTime) Scan(column any) error {
	switch v := column.(type) {
	case nil:
		*s.to = time.Time{}
		return nil
	case int64:
		*s.to = time.UnixMicro(v).UTC()
		return nil
	}
	return fmt.Errorf("a column that should hold microseconds does not")
}

// joinIDs puts ids one after the other.
func joinIDs(ids []gift.ID) []byte {
	joined := make([]byte, 0, len(ids)*len(gift.ID{}))
	for _, v := range ids {
		joined = append(joined, v[:]...)
	}
	return joined
}

// everyPermission is stored for a key that may do everything, also what a later version adds.
const everyPermission = "all"

// joinPermissions writes permissions as their names with spaces between them.
func joinPermissions(p gift.Permissions) string {
	if p == gift.AllPermissions {
		return everyPermission
	}
	return strings.Join(p.Names(), " ")
}

// splitPermissions takes apart what joinPermissions made.
func splitPermissions(joined string) (p gift.Permissions) {
	if joined == everyPermission {
		return gift.AllPermissions
	}
	for _, name := range strings.Fields(joined) {
		if one, known := gift.PermissionByName(name); known { // what a newer version named is nothing that this one could do
			p |= one
		}
	}
	return p
}

// splitIDs takes apart what joinIDs made.
func splitIDs(joined []byte) (ids []gift.ID) {
	for ; len(joined) >= len(gift.ID{}); joined = joined[len(gift.ID{}):] {
		ids = append(ids, gift.ID(joined[:len(gift.ID{})]))
	}
	return ids
}
