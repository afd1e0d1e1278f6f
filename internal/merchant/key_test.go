package merchant

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestValidKey(t *testing.T) {
	t.Parallel()
	key, _ := NewKey(rand.NewChaCha8([32]byte{2}), AccountKey, true)
	for _, bad := range []string{"", "boon_", key[1:], key[:len(key)-1], key + "0", strings.ToUpper(key),
		"boon_test_acct_" + strings.Repeat("0", 51)} {
		if ValidKey(bad) {
			t.Errorf("%q is taken for a key", bad)
		}
	}
	changed := []byte(key)
	changed[20] ^= 1
	if ValidKey(string(changed)) {
		t.Error("the checksum does not see a change")
	}
	if HashKey(key) == HashKey(string(changed)) {
		t.Error("two keys have one hash")
	}
	if KeyHint("abc") != "abc" {
		t.Error("a short key has no hint")
	}
}

func TestStrongSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0f3a9c27b1e84d5566a0c3f2e19b7d48":         true, // 128 random bits in hexadecimal
		"K7dQzP2vXw9LmT4cRb8NyJ3sHf":               true,
		"1234567890123456789012345678901234567890": true,
		"12345678901234567890123456789012":         false, // digits have too few bits
		"boon_test_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": false, // what is ours is no secret, and the rest is one letter
		"abababababababababababababababababababab": false,
		"K7dQzP2vXw9LmT4cRb":                       false,
		"":                                         false,
	} {
		if got := StrongSecret(text); got != want {
			t.Errorf("StrongSecret(%q) = %t", text, got)
		}
	}
}

func TestWalkedSecret(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"qwertyuiopasdfghjklzxcvbnm123456":   true,
		"QWERTZUIOPasdfghjklYXCVBNM0987654":  true,
		"azertyuiopqsdfghjklmwxcvbn123456":   true,
		"1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol": true,
		"abcdefghijklmnopqrstuvwxyz0123456":  true,
		"zyxwvutsrqponmlkjihgfedcba9876543":  true,
		"0f3a9c27b1e84d5566a0c3f2e19b7d48":   false,
		"K7dQzP2vXw9LmT4cRb8NyJ3sHf":         false,
		"correct-horse-battery-staple-again": false,
	} {
		if got := WalkedSecret(text); got != want {
			t.Errorf("WalkedSecret(%q) = %t", text, got)
		}
	}
	for seed := range 100_000 {
		drawn := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(seed)))
		for _, text := range []string{hex.EncodeToString(drawn[:16]), base64.StdEncoding.EncodeToString(drawn[:24])} {
			if WalkedSecret(text) {
				t.Errorf("WalkedSecret(%q), which is random", text)
			}
		}
	}
}
