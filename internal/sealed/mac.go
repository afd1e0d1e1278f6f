package sealed

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
)

// MAC authenticates a content: the id of its key, and 128 bits of an HMAC-SHA-256. Without the key file none can be
// made.
type MAC [17]byte

// Authenticator makes MACs and checks them. It is not safe for concurrent use: it keeps what every HMAC with one key
// begins with, so that a MAC costs a few blocks of SHA-256 and no memory.
type Authenticator struct {
	keys *Keys
	with *version
	mac  hash.Hash
	sum  [sha256.Size]byte
}

// Authenticator gives each goroutine that needs one an Authenticator of its own.
func (k *Keys) Authenticator() *Authenticator { return &Authenticator{keys: k} }

// MAC authenticates a content with the key in use.
func (a *Authenticator) MAC(content []byte) MAC { return a.make(a.keys.ring.Load().current, content) }

// Check tells whether a MAC is that of a content. The error is ErrTampered or ErrUnknownKey.
func (a *Authenticator) Check(mac MAC, content []byte) error {
	v, err := a.keys.version(mac[0])
	if err != nil {
		return err
	}
	if is := a.make(v, content); !hmac.Equal(is[:], mac[:]) {
		return ErrTampered
	}
	return nil
}

func (a *Authenticator) make(v *version, content []byte) (m MAC) {
	if a.with != v {
		a.with, a.mac = v, hmac.New(sha256.New, v.chain)
	}
	a.mac.Reset()
	a.mac.Write(content)
	m[0] = v.id
	copy(m[1:], a.mac.Sum(a.sum[:0]))
	return m
}

// cursorMark is the length of a mark: the key's id, and as much of the HMAC as nobody guesses.
const cursorMark = 13

// MarkCursor makes a mark of a text that goes to a caller and comes back.
func (k *Keys) MarkCursor(text []byte) []byte { return k.ring.Load().current.markCursor(text) }

// CursorMarked reports whether a mark is what MarkCursor made of a text, with whichever key.
func (k *Keys) CursorMarked(mark, text []byte) bool {
	if len(mark) != cursorMark {
		return false
	}
	v := k.ring.Load().byID[mark[0]]
	return v != nil && hmac.Equal(v.markCursor(text), mark)
}

func (v *version) markCursor(text []byte) []byte {
	mac := hmac.New(sha256.New, v.cursor)
	mac.Write(text)
	return mac.Sum([]byte{v.id})[:cursorMark]
}
