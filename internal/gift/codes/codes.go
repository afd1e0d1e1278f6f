// Package codes has what a gift is found by: the code on its card and the token in its QR code, as secrets that show
// themselves to no log. It draws them, reads them as people and scanners write them, and tells in which ways a gift is
// found by one. It knows no gifts.
package codes

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"boon.example/internal/guid"
	"boon.example/internal/refusal"
)

// secret is a text that does not slip into a log: every formatting verb, slog and every encoder of text show it
// masked. Where they cannot ask it (inside an unexported field), they find it encrypted with a key that this process
// made and shows nobody. Equal texts make equal secrets.
type secret struct{ encrypted [2 * aes.BlockSize]byte }

// secretKey encrypts the secrets of this process, which leave it by Reveal alone.
var secretKey = func() cipher.Block {
	var key [16]byte
	rand.Read(key[:]) // never fails
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // a key has this length
	}
	return block
}()

// newSecret takes a text of at most 32 bytes, none of which is zero: zeros follow its end.
func newSecret(text string) (s secret) {
	b := &s.encrypted
	if copy(b[:], text) < len(text) {
		panic("a secret is longer than every code and token")
	}
	first, second := b[:aes.BlockSize], b[aes.BlockSize:]
	secretKey.Encrypt(first, first)
	subtle.XORBytes(second, second, first)
	secretKey.Encrypt(second, second)
	return s
}

// Reveal gives the text itself; "" for the zero secret.
func (s secret) Reveal() string {
	if s == (secret{}) {
		return ""
	}
	b := &s.encrypted
	first, second := b[:aes.BlockSize], b[aes.BlockSize:]
	secretKey.Decrypt(second, second)
	subtle.XORBytes(second, second, first)
	secretKey.Decrypt(first, first)
	return string(bytes.TrimRight(b[:], "\x00"))
}

// String masks all but the last two characters.
func (s secret) String() string {
	const shown = 2
	text := s.Reveal()
	hidden := max(0, len(text)-shown)
	return strings.Repeat("•", hidden) + text[hidden:]
}

// Format writes what String gives, whatever the verb.
func (s secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes what String gives, for encoders that log.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// VoucherCode is the code on a gift card: one of Boon's, which has 12 digits, or one that another system gave out to an
// account. It is a secret: it formats itself masked, so that it cannot slip into a log; Reveal gives its characters.
// Codes can be compared and be keys of a map.
type VoucherCode struct {
	secret
	kind    codeKind
	account guid.ID // whose code it is, unless it is one of Boon's
}

// NewVoucherCode draws a code: first digit 1-9 (it may travel as a JSON number), 11 more from random.
func NewVoucherCode(random io.Reader) (VoucherCode, error) {
	const lowest, count = 100_000_000_000, 900_000_000_000
	n, err := rand.Int(random, big.NewInt(count))
	if err != nil {
		return VoucherCode{}, err
	}
	return VoucherCode{secret: newSecret(n.Add(n, big.NewInt(lowest)).String())}, nil
}

// ParseVoucherCode reads exactly 12 ASCII digits, without formatting characters (interface, section 4.2).
func ParseVoucherCode(s string) (VoucherCode, error) {
	if len(s) != 12 || strings.Trim(s, "0123456789") != "" {
		return VoucherCode{}, refusal.At(refusal.InvalidCodeFormat, refusal.FieldCode,
			"A voucher code is 12 digits with nothing between them.")
	}
	return VoucherCode{secret: newSecret(s)}, nil
}

// ReadVoucherCode reads one of Boon's codes as a person wrote, copied or scanned it: spaces of every kind, dashes,
// dots, marks that nobody sees, and wide digits make no difference. Anything else beside the 12 digits is refused.
func ReadVoucherCode(s string) (VoucherCode, error) { return ParseVoucherCode(tidied(s)) }

// tidied is a code without what people and scanners put around and between its characters; "": it is too long.
func tidied(s string) string {
	const longest = 200 // bytes
	if len(s) > longest {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '０' && r <= '９':
			return r - '０' + '0'
		case unicode.In(r, unicode.White_Space, unicode.Pd, unicode.Cf) || strings.ContainsRune(".·−", r):
			return -1
		}
		return r
	}, scanned(s))
}

// Grouped gives the characters as a person reads them, in fours; "" for the zero code.
func (c VoucherCode) Grouped() string { return inFours(c.Reveal()) }

func inFours(text string) string {
	var fours []string
	for four := range slices.Chunk([]byte(text), 4) {
		fours = append(fours, string(four))
	}
	return strings.Join(fours, " ")
}

// LastFour gives the characters that people tell cards apart by; "" for the zero code. Who knows those of one of Boon's
// codes still has 90,000,000 to try. Of a code with less than 8 characters, it gives the last two.
func (c VoucherCode) LastFour() string { return LastFourOf(c.Reveal()) }

// Token is the public token in a gift's QR code: 128 random bits as 22 base62 characters. A secret like the code.
type Token struct{ secret }

// TokenLength is the number of characters of every token.
const TokenLength = 22

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewToken draws a token from random.
func NewToken(random io.Reader) (Token, error) {
	var bits [16]byte
	if _, err := io.ReadFull(random, bits[:]); err != nil {
		return Token{}, err
	}
	return Token{newSecret(encode62(bits[:], TokenLength))}, nil
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

// maxTokenURL bounds the address that a scanner found.
const maxTokenURL = 2_048

// ParseToken reads what a scanner found in a QR code: the path of the URL (/g/TOKEN, g/TOKEN, /TOKEN), the bare
// token, or a whole http or https URL with such a path. The URL's host is neither compared nor fetched, its query and
// fragment are ignored. What scanners put before and behind does not matter.
func ParseToken(s string) (Token, error) {
	if len(s) <= maxTokenURL {
		s = scanned(s)
	}
	path := s
	if len(s) <= maxTokenURL && strings.Contains(s, ":") {
		if u, err := url.Parse(s); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
			path = u.EscapedPath()
		}
	}
	text := strings.TrimPrefix(strings.TrimPrefix(path, "/"), "g/")
	if len(text) != TokenLength || strings.Trim(text, base62) != "" {
		return Token{}, refusal.At(refusal.InvalidTokenFormat, refusal.FieldToken,
			"A voucher token is 22 letters and digits, or the address in the gift's QR code that ends in them.")
	}
	return Token{newSecret(text)}, nil
}

// scanned is a text without what scanners put around what they read: spaces, line ends and other control characters,
// marks that nobody sees, and before it the AIM identifier of the symbology, such as ]Q1.
func scanned(s string) string {
	s = strings.TrimFunc(s, isAround)
	if rest, ok := strings.CutPrefix(s, "]"); ok && len(rest) > 2 && isLetter(rest[0]) &&
		(isLetter(rest[1]) || '0' <= rest[1] && rest[1] <= '9') {
		s = strings.TrimFunc(rest[2:], isAround)
	}
	return s
}

func isAround(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
