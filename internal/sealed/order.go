package sealed

import (
	"crypto/hmac"
	"encoding/base64"

	"boon.example/internal/gift"
)

// An order's capability is what stands in the address of its printed sheet: account, order, and a keyed hash of both, cut to 128 bits
// beside the key's id, so that nobody can make one for an order whose address was not given to them.
const (
	orderDomain = "print order"
	orderProof  = 1 + 16
)

// OrderCapability writes the capability of an order, for use in an address. It is always the same for one order and key.
func (k *Keys) OrderCapability(account, order gift.ID) string {
	ids := string(account[:]) + string(order[:])
	return base64.RawURLEncoding.EncodeToString(append([]byte(ids), k.hash(orderDomain, ids)[:orderProof]...))
}

// OpenOrderCapability reads what OrderCapability wrote, with whichever key of these. ok is false for anything else.
func (k *Keys) OpenOrderCapability(s string) (account, order gift.ID, ok bool) {
	const size = 2 * len(gift.ID{})
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != size+orderProof {
		return gift.ID{}, gift.ID{}, false
	}
	v := k.ring.Load().byID[b[size]]
	if v == nil || !hmac.Equal(v.hash(orderDomain, string(b[:size]))[:orderProof], b[size:]) {
		return gift.ID{}, gift.ID{}, false
	}
	return gift.ID(b[:16]), gift.ID(b[16:size]), true
}
