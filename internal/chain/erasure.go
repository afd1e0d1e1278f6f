package chain

import (
	"boon.example/internal/gift"
	"boon.example/internal/guid"
	"boon.example/internal/sealed"
)

// erasureDomain begins what the MAC of an erasure is over.
const erasureDomain = 'X'

// Erasure says that names and contacts were taken out of an entry: what its chain has of it, and what is left. Without
// the key file none can be made, so that nothing else is changed in the place of what was erased.
type Erasure struct {
	AccountID, EntryID guid.ID
	Before             Digest // that the entry's chain has
	After              Digest // of what is left of the entry
	MAC                sealed.MAC
}

func (e *Erasure) authenticated() []byte {
	b := append([]byte{erasureDomain}, e.AccountID[:]...)
	b = append(append(b, e.EntryID[:]...), e.Before[:]...)
	return append(b, e.After[:]...)
}

// Authenticate gives an erasure its MAC.
func (e *Erasure) Authenticate(auth *sealed.Authenticator) { e.MAC = auth.MAC(e.authenticated()) }

// Check tells whether an erasure was made with a key of the key file. The error is ErrTampered or ErrUnknownKey.
func (e *Erasure) Check(auth *sealed.Authenticator) error {
	return auth.Check(e.MAC, e.authenticated())
}

// DigestOf is what the row that an entry names has at its place. terms is the gift of its first entry, and items the
// key of the list of what that is good for.
func DigestOf(at Place, e *gift.Entry, terms *gift.Voucher, items guid.ID) Digest {
	return new(digester).digest(at, e, terms, items)
}

// Erased tells whether an erasure explains that what is left of an entry has this digest; then Before is what its row
// must have.
func (c *Check) Erased(e *Erasure, left Digest) bool {
	return e.After == left && e.Check(c.auth) == nil
}
