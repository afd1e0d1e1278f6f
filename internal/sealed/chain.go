package sealed

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
)

// MAC is a keyed hash that is a link of a chain: the id of its key, and 128 bits of an HMAC-SHA-256 over a content and over the MAC
// before it. Without the key file none can be made; and one stands for everything before it, also against who has the key file.
type MAC [17]byte

// Chain makes MACs. It is not safe for concurrent use: it keeps what every HMAC with one key begins with, so that making one costs a
// few blocks of SHA-256 and no memory.
type Chain struct {
	keys   *Keys
	with   *version
	mac    hash.Hash
	before MAC
	sum    [sha256.Size]byte
}

// Chain gives a maker of MACs of its own to each goroutine that needs one.
func (k *Keys) Chain() *Chain { return &Chain{keys: k} }

// Next is the MAC of a content that follows another's, with the key in use; the first of a chain follows the zero MAC.
func (c *Chain) Next(before MAC, content []byte) MAC {
	return c.next(c.keys.ring.Load().current, before, content)
}

// With is Next with the key of this id. The error is ErrUnknownKey.
func (c *Chain) With(id byte, before MAC, content []byte) (MAC, error) {
	v := c.with
	if v == nil || v.id != id {
		var err error
		if v, err = c.keys.version(id); err != nil {
			return MAC{}, err
		}
	}
	return c.next(v, before, content), nil
}

func (c *Chain) next(v *version, before MAC, content []byte) (m MAC) {
	if c.with != v {
		c.with, c.mac = v, hmac.New(sha256.New, v.chain)
	}
	c.before = before
	c.mac.Reset()
	c.mac.Write(c.before[:])
	c.mac.Write(content)
	m[0] = v.id
	copy(m[1:], c.mac.Sum(c.sum[:0]))
	return m
}
