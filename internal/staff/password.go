package staff

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"boon.example/internal/base/normalize"
	"boon.example/internal/base/slowhash"
	"boon.example/internal/refusal"
)

// How many characters a password has (NIST SP 800-63B-4, 3.1.1.2).
const (
	ShortestAlone  = 15
	ShortestBeside = 8 // beside TOTP
	LongestAllowed = 128
)

//go:embed common.txt
var common string

// commonest are those of the 10,000 commonest passwords that are long enough for a second factor, sorted.
var commonest = strings.Fields(common)

// CheckPassword refuses a password that is too short, too long, or one of the commonest. There is no other rule.
func CheckPassword(password string, withTOTP bool) error {
	least, n := ShortestAlone, utf8.RuneCountInString(normalize.String(password))
	if withTOTP {
		least = ShortestBeside
	}
	switch {
	case !utf8.ValidString(password):
		return refusal.At(refusal.ValidationFailure, "password", "The password is no valid text.")
	case n < least && withTOTP:
		return refusal.At(refusal.ValidationFailure, "password", "A password has at least %d characters.", least)
	case n < least:
		return refusal.At(refusal.ValidationFailure, "password",
			"A password without an authenticator has at least %d characters. A few words make a good one.", least)
	case n > LongestAllowed:
		return refusal.At(refusal.ValidationFailure, "password", "A password has at most %d characters.", LongestAllowed)
	}
	if _, is := slices.BinarySearch(commonest, strings.ToLower(normalize.String(password))); is {
		return refusal.At(refusal.ValidationFailure, "password",
			"This password is one of the 10,000 that people choose most. Choose another one.")
	}
	return nil
}

// SetPassword gives the member a password, which CheckPassword has taken.
func (m *Member) SetPassword(password string) {
	password = normalize.String(password)
	m.Password, m.Long = slowhash.Make(password), utf8.RuneCountInString(password) >= ShortestAlone
}

// nobody is the hash of a password that nobody knows: whoever has none is compared with it, which takes as long.
var nobody = sync.OnceValue(func() string { return slowhash.Make(NewToken()) })

// IsPassword reports whether a password is the member's; nil is nobody. It takes as long for nobody as for anybody.
func (m *Member) IsPassword(password string) bool {
	if len(password) > 4*LongestAllowed { // bytes
		password = ""
	}
	hash := nobody()
	if m != nil && m.Password != "" {
		hash = m.Password
	}
	return slowhash.Is(hash, normalize.String(password)) && hash != nobody()
}
