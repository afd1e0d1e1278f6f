package pin

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "123", "123456789", "12a4", "١٢٣٤", "-123", "1 23", "0000", "99999999", "1234",
		"4321",
		"0123", "7890", "9876", "2109", "1212", "696969", "1987", "2026", "87654321", "890123"} {
		if Check(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, good := range []string{"4711", "1357", "8052", "271828", "31415926", "1123", "2468", "10293847"} {
		if err := Check(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	hash, err := Hash("4711")
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := Hash("4711"); again == hash {
		t.Error("two people with one PIN can be told to have it")
	}
	if !Valid(hash) || !Is(hash, "4711") || Is(hash, "4712") || Is(hash, "") || Is(hash, strings.Repeat("4711", 3)) {
		t.Errorf("%s is not the hash of 4711 and of nothing else", hash)
	}
	for _, bad := range []string{"", "4711", hash + "=", hash[:len(hash)-1], strings.Replace(hash, "m=19456", "m=4194304",
		1),
		strings.Replace(hash, "t=2", "t=1000", 1), strings.Replace(hash, "argon2id", "argon2i", 1), hash + "$", hash + "\n"} {
		if Valid(bad) || Is(bad, "4711") {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
	if _, err := Hash("1234"); err == nil {
		t.Error("1234 is hashed")
	}
}
