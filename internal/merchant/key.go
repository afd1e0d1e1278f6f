package merchant

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/big"
	"strings"
)

// KeyKind tells whom an API key speaks for.
type KeyKind string

// The kinds of key.
const (
	AccountKey KeyKind = "account" // one account, all or some of its locations
	SystemKey  KeyKind = "system"  // no account: partner sites, which name the account they send for
)

// KeyHash is the SHA-256 of an API key's text; only it is stored. A key has 256 random bits, so a plain hash is as
// hard to reverse as the key is to guess.
type KeyHash [sha256.Size]byte

// HashKey hashes the text of an API key.
func HashKey(text string) KeyHash { return sha256.Sum256([]byte(text)) }

// MarshalText writes 64 hexadecimal digits.
func (h KeyHash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads them. What is damaged is the hash of nothing.
func (h *KeyHash) UnmarshalText(text []byte) error {
	*h = KeyHash{}
	if len(text) == hex.EncodedLen(len(h)) {
		_, _ = hex.Decode(h[:], text)
	}
	return nil
}

// The beginnings of the texts of keys, by their modes.
const (
	livePrefix = "boon_live_"
	testPrefix = "boon_test_"
)

// SaysTest reports whether the text of a key says that it is a test account's.
func SaysTest(text string) bool { return strings.HasPrefix(text, testPrefix) }

// keyLength is how many characters of base62 hold the 256 bits of a key.
const keyLength = 43

// NewKey draws an API key: boon_live_acct_…, boon_test_sys_… and so on, 256 random bits in base62 and a CRC-32 in
// hexadecimal, by which secret scanners tell a real key from a look-alike.
func NewKey(random io.Reader, kind KeyKind, test bool) (string, error) {
	prefix := livePrefix
	if test {
		prefix = testPrefix
	}
	if kind == SystemKey {
		prefix += "sys_"
	} else {
		prefix += "acct_"
	}
	var bits [32]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return "", err
	}
	number := new(big.Int).SetBytes(bits[:]).Text(62)
	text := prefix + strings.Repeat("0", keyLength-len(number)) + number
	return text + checksum(text), nil
}

// ValidKey reports whether text is a key as NewKey makes them, its checksum right. A key that an operator brought along
// from elsewhere need not be.
func ValidKey(text string) bool {
	const sum = 8
	return strings.HasPrefix(text, "boon_") && len(text) > sum && checksum(text[:len(text)-sum]) == text[len(text)-sum:]
}

// StrongSecret reports whether the text of a key that an operator brought along from elsewhere can have 128 random
// bits: as many as its characters would have, were each drawn from all of its kind. It cannot know how they were
// drawn, but it finds digits only, short words and repeated characters.
func StrongSecret(text string) bool {
	const wantBits, fewestDistinct = 128, 8
	text = strings.TrimPrefix(strings.TrimPrefix(text, livePrefix), testPrefix)
	distinct := map[rune]bool{}
	for _, r := range text {
		distinct[r] = true
	}
	pool := 0
	for _, kind := range []struct {
		of   string
		size int
	}{{"0123456789", 10}, {"abcdef", 6}, {"ghijklmnopqrstuvwxyz", 20}, {"ABCDEF", 6}, {"GHIJKLMNOPQRSTUVWXYZ", 20},
		{"-_.~+/=", 2}} {
		if strings.ContainsAny(text, kind.of) {
			pool += kind.size
		}
	}
	return len(distinct) >= fewestDistinct && pool > 1 && float64(len(text))*math.Log2(float64(pool)) >= wantBits
}

// keyboard is where the keys of letters and digits lie. Those of other countries differ in few places.
var keyboard = [...]string{"1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"}

// WalkedSecret reports whether the text of a key was likely typed along a keyboard or the alphabet, and not drawn:
// seven in ten of its characters lie there beside the one before. Of random ones, three do, and of 32 random ones never
// so many.
func WalkedSecret(text string) bool {
	place := func(c byte) (row, column int) {
		for row = range keyboard {
			if column = strings.IndexByte(keyboard[row], c); column >= 0 {
				return row, column
			}
		}
		return -9, -9
	}
	near := func(a, b int) bool { return a-b <= 1 && b-a <= 1 }
	text = strings.ToLower(text)
	steps := 0
	for n := 1; n < len(text); n++ {
		row, column := place(text[n])
		before, at := place(text[n-1])
		if near(int(text[n]), int(text[n-1])) || row >= 0 && near(row, before) && near(column, at) {
			steps++
		}
	}
	return steps*10 >= 7*(len(text)-1)
}

// PublishedSecret reports whether the text of a key is one of those that stand in the published examples, for
// everybody to read.
func PublishedSecret(text string) bool { return strings.HasPrefix(text, "boon_test_demo_only_") }

// PublishedTestSecret is PublishedSecret for the keys of test accounts. Those of the other accounts begin with
// boon_test_, too.
func PublishedTestSecret(text string) bool {
	return strings.HasPrefix(text, "boon_test_demo_only_test_account_")
}

func checksum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// KeyHint is what may be shown of a key to tell it from others: its last four characters.
func KeyHint(text string) string { return text[max(0, len(text)-4):] }
