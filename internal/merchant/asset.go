package merchant

import (
	"crypto/sha256"
	"encoding/hex"

	"boon.example/internal/guid"
)

// AssetHash names a picture by the SHA-256 of its bytes; the zero AssetHash means "none".
type AssetHash [sha256.Size]byte

// HashAsset names a picture.
func HashAsset(b []byte) AssetHash { return sha256.Sum256(b) }

// ParseAssetHash reads what String writes, and nothing else. ok is false for the zero hash too.
func ParseAssetHash(s string) (h AssetHash, ok bool) {
	if len(s) != hex.EncodedLen(len(h)) {
		return AssetHash{}, false
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil || h.String() != s {
		return AssetHash{}, false
	}
	return h, !h.IsZero()
}

// String writes 64 hexadecimal digits in lower case; the zero AssetHash is "".
func (h AssetHash) String() string {
	if h.IsZero() {
		return ""
	}
	return hex.EncodeToString(h[:])
}

// MarshalText writes what String writes.
func (h AssetHash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads it. What is damaged names nothing.
func (h *AssetHash) UnmarshalText(text []byte) error {
	*h, _ = ParseAssetHash(string(text))
	return nil
}

// IsZero reports whether the hash names nothing.
func (h AssetHash) IsZero() bool { return h == AssetHash{} }

// AssetKind is the format of a picture.
type AssetKind string

// The kinds of picture. There is no SVG: it can carry scripts.
const (
	PNG  AssetKind = "png"
	JPEG AssetKind = "jpeg"
)

// Asset is a picture of an account's designs. It never changes and is never taken away: mails that were sent show it.
type Asset struct {
	AccountID guid.ID
	Hash      AssetHash // of Bytes
	Kind      AssetKind
	Bytes     []byte
}
