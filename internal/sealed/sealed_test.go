package sealed

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

func create(t *testing.T) (*Keys, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	k, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return k, path
}

func code(t *testing.T, s string) codes.VoucherCode {
	t.Helper()
	c, err := codes.ParseVoucherCode(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCreateThenLoadGivesTheSameKeys(t *testing.T) {
	t.Parallel()
	made, path := create(t)
	loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	c := code(t, "412345678901")
	if !bytes.Equal(made.CodeHash(c), loaded.CodeHash(c)) {
		t.Error("CodeHash differs after loading")
	}
	if made.Fingerprint([]byte("x")) != loaded.Fingerprint([]byte("x")) {
		t.Error("Fingerprint differs after loading")
	}
	if plain, err := loaded.Open(made.Seal([]byte("secret"), []byte("id")), []byte("id")); err != nil ||
		string(plain) != "secret" {
		t.Errorf("Open = %q, %v", plain, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %04o, want 0600", got)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files were left behind, want the key file only", len(files))
	}
}

func TestCreateNeverReplaces(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), FileName)
	var made sync.Map
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			k, err := Create(path)
			switch {
			case err == nil:
				made.Store(n, k)
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("Create: %v, want fs.ErrExist", err)
			}
		})
	}
	group.Wait()
	loaded, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	made.Range(func(_, k any) bool {
		count++
		if k.(*Keys).Fingerprint(nil) != loaded.Fingerprint(nil) {
			t.Error("the file holds other keys than its creator has")
		}
		return true
	})
	if count != 1 {
		t.Errorf("%d callers made the file, want 1", count)
	}
}

func TestHashesAreKeyedAndSeparate(t *testing.T) {
	t.Parallel()
	a, _ := create(t)
	b, _ := create(t)
	c := code(t, "412345678901")
	token, err := codes.ParseToken("4123456789010000000000")
	if err != nil {
		t.Fatal(err)
	}
	forms := []merchant.CodeForm{{Digits: 12}}
	mine, err := codes.ParseImported(&merchant.Account{ID: guid.ID{1}, ImportedCodes: forms}, c.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := codes.ParseImported(&merchant.Account{ID: guid.ID{2}, ImportedCodes: forms}, c.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	hashes := map[string]bool{}
	for _, h := range [][]byte{a.CodeHash(c), b.CodeHash(c), a.CodeHash(code(t, "412345678902")), a.TokenHash(token),
		b.TokenHash(token), a.CodeHash(mine), a.CodeHash(theirs),
		a.AddressHash(c.Reveal()), a.AddressHash(token.Reveal())} {
		if len(h) != HashSize || h[0] != 1 {
			t.Errorf("hash of %d bytes with key id %d, want %d bytes and 1", len(h), h[0], HashSize)
		}
		hashes[string(h)] = true
	}
	if len(hashes) != 9 {
		t.Errorf("%d different hashes, want 9", len(hashes))
	}
	typed := a.CodeHashes(mine.Typed(guid.ID{1}))
	if !bytes.Equal(typed[0], a.CodeHash(c)) || !bytes.Equal(typed[1], a.CodeHash(mine)) {
		t.Error("what is typed is looked for among Boon's codes first, and then among the account's")
	}
	if f := a.Fingerprint([]byte("x")); f[0] != 1 || f == b.Fingerprint([]byte("x")) || f == a.Fingerprint([]byte("y")) {
		t.Error("a fingerprint must carry its key's id and depend on key and request")
	}
}

func TestSealedOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	k, _ := create(t)
	other, _ := create(t)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.SliceOf(rapid.Byte()).Draw(t, "plain")
		bound := rapid.SliceOf(rapid.Byte()).Draw(t, "bound")
		s := k.Seal(plain, bound)
		got, err := k.Open(s, bound)
		if err != nil || !bytes.Equal(got, plain) {
			t.Fatalf("Open = %x, %v, want %x", got, err, plain)
		}
		if _, err := k.Open(s, append(bytes.Clone(bound), 0)); err == nil {
			t.Fatal("it opened for another record")
		}
		if _, err := other.Open(s, bound); err == nil {
			t.Fatal("it opened with other keys")
		}
		at := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		s[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, err := k.Open(s, bound); err == nil {
			t.Fatal("it opened after it was changed")
		}
	})
	if _, err := k.Open(nil, nil); err == nil {
		t.Error("nothing opened")
	}
	if bytes.Equal(k.Seal([]byte("x"), nil), k.Seal([]byte("x"), nil)) {
		t.Error("sealing twice gave the same text: the nonce is not fresh")
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	_, path := create(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	good := string(raw)
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "not JSON"},
		{"cut off", good[:len(good)/2], "not JSON"},
		{"unknown member", strings.Replace(good, `"format"`, `"colour": 1, "format"`, 1), "unknown"},
		{"wrong type", strings.Replace(good, `"current": 1`, `"current": "1"`, 1), "wrong type"},
		{"something after it", good + "{}", "follows its end"},
		{"newer format", strings.Replace(good, `"format": 1`, `"format": 2`, 1), "format is 2"},
		{"current unknown", strings.Replace(good, `"current": 1`, `"current": 2`, 1), "is not in it"},
		{"id too large", strings.Replace(good, `"id": 1`, `"id": 256`, 1), "ids go from"},
		{"short key", strings.Replace(good, `"lookup": "`, `"lookup": "AAAA`, 1), "32 bytes each"},
		{"no keys", `{"format": 1, "current": 1, "keys": []}`, "is not in it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), FileName)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("Load: %v, want the path and %q", err, test.want)
			}
		})
	}
}

func TestLoadRefusesWhatOthersMayRead(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		_, path := create(t)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o: %v, want a sentence that says chmod 600", mode, err)
		}
	}
}

func TestLoadSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	if _, err := Load(filepath.Join(t.TempDir(), FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load: %v, want fs.ErrNotExist", err)
	}
}

// FuzzParse shows that no text makes keys of the wrong size, and that a damaged file is not quoted.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":1,"current":1,"keys":[]}`))
	f.Add([]byte(`{"format":1,"current":7,"keys":[{"id":7,"lookup":"AA==","seal":"","fingerprint":null}]}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := parse(text)
		if err != nil {
			return
		}
		k, err := newKeys(Place{}, read)
		if err != nil {
			return
		}
		if got, err := k.Open(k.Seal([]byte("x"), nil), nil); err != nil || string(got) != "x" {
			t.Errorf("keys that do not work: %q, %v", got, err)
		}
	})
}
