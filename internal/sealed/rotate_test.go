package sealed

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestAddedKeyIsKnownAndUsedOnlyWhenToldTo(t *testing.T) {
	t.Parallel()
	k, path := create(t)
	other, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c := code(t, "412345678901")
	oldHash, oldPrint := k.CodeHash(c), k.Fingerprint([]byte("x"))
	if id, err := Add(path); err != nil || id != 2 {
		t.Fatalf("Add: %d, %v", id, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("after Add: %v, %v, want mode 0600", info, err)
	}
	if err := k.Reload(); err != nil || k.Current() != 1 || len(k.Names()) != 2 {
		t.Fatalf("after Reload: %v, current %d, %v", err, k.Current(), k.Names())
	}
	if err := k.Use(2); err != nil || k.Current() != 2 || k.CodeHash(c)[0] != 2 {
		t.Fatalf("after Use: %v, current %d", err, k.Current())
	}
	if all := k.CodeHashes(c); len(all) != 2 || all[0][0] != 2 || !bytes.Equal(all[1], oldHash) {
		t.Errorf("CodeHashes: %x, want the new hash and then %x", all, oldHash)
	}
	for _, f := range [][32]byte{oldPrint, k.Fingerprint([]byte("x"))} {
		if same, err := k.Fingerprinted(f, []byte("x")); !same || err != nil {
			t.Errorf("the fingerprint of key %d: %t, %v", f[0], same, err)
		}
		if same, _ := k.Fingerprinted(f, []byte("y")); same {
			t.Errorf("the fingerprint of key %d fits another request", f[0])
		}
	}
	// Another process has not been told anything, and meets a value of the new key.
	if plain, err := other.Open(k.Seal([]byte("secret"), nil), nil); err != nil || string(plain) != "secret" ||
		other.Current() != 1 {
		t.Errorf("another process: %q, %v, current %d", plain, err, other.Current())
	}
}

func TestFileWithoutTheKeyIsTold(t *testing.T) {
	t.Parallel()
	k, path := create(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, foreign := create(t) // an instance whose operator added a key of its own
	if err := os.WriteFile(foreign, before, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(path); err != nil {
		t.Fatal(err)
	}
	lacking, err := Load(foreign)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Use(2); err != nil {
		t.Fatal(err)
	}
	sealed, print := k.Seal([]byte("x"), nil), k.Fingerprint([]byte("x"))
	if _, err := lacking.Open(sealed, nil); !errors.Is(err, ErrUnknownKey) || !strings.Contains(err.Error(), foreign) {
		t.Errorf("Open: %v, want ErrUnknownKey and the file", err)
	}
	if _, err := lacking.Fingerprinted(print, []byte("x")); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("Fingerprinted: %v, want ErrUnknownKey", err)
	}
	if err := lacking.Use(2); !errors.Is(err, ErrUnknownKey) {
		t.Errorf("Use: %v, want ErrUnknownKey", err)
	}
	if _, err := Add(foreign); err != nil {
		t.Fatal(err)
	}
	if err := k.Reload(); err != nil {
		t.Errorf("reading its own file again: %v", err)
	}
	if err := lacking.Reload(); err != nil || lacking.Names()[1] == k.Names()[1] || lacking.Names()[0] != k.Names()[0] {
		t.Errorf("names do not tell two keys with one id apart: %v %v", lacking.Names(), k.Names())
	}
	for _, text := range [][]byte{before, []byte("{")} { // an older file, and a broken one
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := k.Reload(); err == nil || k.Current() != 2 {
			t.Errorf("Reload: %v, current %d; want a refusal, and nothing changed", err, k.Current())
		}
	}
}

func TestOneAddAtATime(t *testing.T) {
	t.Parallel()
	_, path := create(t)
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(path); err == nil || !strings.Contains(err.Error(), "remove "+path+".new") {
		t.Errorf("Add: %v, want what to remove", err)
	}
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if _, err := Add(path); err != nil {
		t.Error(err)
	}
}

// TestProofsOfPassesOutliveTheirKey: what a pass proves holds after the key file has a new key, in every process, for
// this text only; and of no other length.
func TestProofsOfPassesOutliveTheirKey(t *testing.T) {
	t.Parallel()
	k, path := create(t)
	other, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	old := k.PassProof("pass")
	if _, err := Add(path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.Reload(), k.Use(2)); err != nil {
		t.Fatal(err)
	}
	for _, keys := range []*Keys{k, other} {
		for _, proof := range [][]byte{old, k.PassProof("pass")} {
			if is, err := keys.PassProven(proof, "pass"); !is || err != nil {
				t.Errorf("the proof of key %d: %t, %v", proof[0], is, err)
			}
			for text, wrong := range map[string][]byte{"another": proof, "pass": proof[:16]} {
				if is, _ := keys.PassProven(wrong, text); is {
					t.Errorf("the proof of key %d proves %q by %d bytes", proof[0], text, len(wrong))
				}
			}
		}
	}
}
