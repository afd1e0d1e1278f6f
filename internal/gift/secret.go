package gift

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"net/url"
	"strings"
)

// VoucherCode is the 12-digit number on a gift card. It is a secret: it formats itself masked, so that it cannot slip
// into a log; Reveal gives the digits.
type VoucherCode struct{ digits string }

// NewVoucherCode draws a code: first digit 1-9 (it may travel as a JSON number), 11 more from random.
func NewVoucherCode(random io.Reader) (VoucherCode, error) {
	const lowest, count = 100_000_000_000, 900_000_000_000
	n, err := rand.Int(random, big.NewInt(count))
	if err != nil {
		return VoucherCode{}, err
	}
	return VoucherCode{n.Add(n, big.NewInt(lowest)).String()}, nil
}

// ParseVoucherCode reads exactly 12 ASCII digits, without formatting characters (interface, section 4.2).
func ParseVoucherCode(s string) (VoucherCode, error) {
	if len(s) != 12 || !allDigits(s) {
		return VoucherCode{}, RefuseAt(InvalidCodeFormat, "voucherCode", "A voucher code is 12 digits with nothing between them.")
	}
	return VoucherCode{s}, nil
}

// Reveal gives the 12 digits.
func (c VoucherCode) Reveal() string { return c.digits }

// Grouped gives the digits as a person reads them: 4-4-4.
func (c VoucherCode) Grouped() string {
	if len(c.digits) != 12 {
		return ""
	}
	return c.digits[:4] + " " + c.digits[4:8] + " " + c.digits[8:]
}

// String masks all but the last two digits.
func (c VoucherCode) String() string { return mask(c.digits, 2) }

// Token is the public token in a gift's QR code: 128 random bits as 22 base62 characters. A secret like the code.
type Token struct{ text string }

// TokenLength is the number of characters of every token.
const TokenLength = 22

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewToken draws a token from random.
func NewToken(random io.Reader) (Token, error) {
	var bits [16]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return Token{}, err
	}
	return Token{encode62(bits[:], TokenLength)}, nil
}

// encode62 writes the number that bits hold in base 62, padded to length.
func encode62(bits []byte, length int) string {
	n, radix, digit := new(big.Int).SetBytes(bits), big.NewInt(62), new(big.Int)
	text := make([]byte, length)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, radix, digit)
		text[i] = base62[digit.Int64()]
	}
	return string(text)
}

// ParseToken reads what a scanner found in a QR code: the whole URL, its path (/g/TOKEN, g/TOKEN, /TOKEN), or the bare
// token. The URL's host is neither compared nor fetched.
func ParseToken(s string) (Token, error) {
	refused := RefuseAt(InvalidTokenFormat, "voucherPublicToken",
		"A voucher token is 22 letters and digits, or the address in the gift's QR code that ends in them.")
	path := s
	if strings.Contains(s, ":") {
		u, err := url.Parse(s)
		if err != nil || len(s) > 2048 || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !strings.HasPrefix(u.EscapedPath(), "/g/") {
			return Token{}, refused
		}
		path = u.EscapedPath()
	}
	path = strings.TrimPrefix(path, "/")
	text := strings.TrimPrefix(path, "g/")
	if len(text) != TokenLength || strings.Trim(text, base62) != "" {
		return Token{}, refused
	}
	return Token{text}, nil
}

// Reveal gives the 22 characters.
func (t Token) Reveal() string { return t.text }

// String masks all but the last two characters.
func (t Token) String() string { return mask(t.text, 2) }

func mask(s string, keep int) string {
	if len(s) <= keep {
		return strings.Repeat("•", len(s))
	}
	return strings.Repeat("•", len(s)-keep) + s[len(s)-keep:]
}

// KeyKind tells whom an API key speaks for.
type KeyKind string

const (
	AccountKey KeyKind = "account" // one account, all or some of its locations
	SystemKey  KeyKind = "system"  // no account: partner sites, which name the account they send for
)

// KeyHash is the SHA-256 of an API key's text; only it is stored. A key has 256 random bits, so a plain hash is as hard to
// reverse as the key is to guess.
type KeyHash [sha256.Size]byte

// HashKey hashes the text of an API key.
func HashKey(text string) KeyHash { return sha256.Sum256([]byte(text)) }

// NewKey draws an API key: boon_live_acct_…, boon_test_sys_… and so on, 256 random bits in base62 and a CRC-32 in
// hexadecimal, by which secret scanners tell a real key from a look-alike.
func NewKey(random io.Reader, kind KeyKind, test bool) (string, error) {
	prefix := "boon_live_"
	if test {
		prefix = "boon_test_"
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
	text := prefix + encode62(bits[:], 43)
	return text + checksum(text), nil
}

// ValidKey reports whether text is a key as NewKey makes them, its checksum right. A key that an operator brought along
// from elsewhere need not be.
func ValidKey(text string) bool {
	const sum = 8
	return strings.HasPrefix(text, "boon_") && len(text) > sum && checksum(text[:len(text)-sum]) == text[len(text)-sum:]
}

func checksum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

// KeyHint is what may be shown of a key to tell it from others: its last four characters.
func KeyHint(text string) string { return text[max(0, len(text)-4):] }
