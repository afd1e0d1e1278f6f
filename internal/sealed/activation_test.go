package sealed

import (
	"path/filepath"
	"testing"

	"boon.example/internal/gift/codes"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
)

// TestActivationHashes: an activation code is found under no hash of a code, also one of another system with the same
// digits, and under another one in each account.
func TestActivationHashes(t *testing.T) {
	t.Parallel()
	keys, err := Create(filepath.Join(t.TempDir(), FileName))
	if err != nil {
		t.Fatal(err)
	}
	a := &merchant.Account{ID: guid.ID{1}, ImportedCodes: []merchant.CodeForm{{Digits: 16}}}
	number, err := codes.ReadActivationCode("4829135760248137")
	if err != nil {
		t.Fatal(err)
	}
	typed, err := codes.Parse(a, "4829135760248137")
	if err != nil {
		t.Fatal(err)
	}
	hashes := append(keys.CodeHashes(typed), keys.ActivationHash(guid.ID{2}, number))
	for _, hash := range hashes {
		if string(hash) == string(keys.ActivationHash(a.ID, number)) {
			t.Error("an activation code is found as something else")
		}
	}
	if all := keys.ActivationHashes(a.ID, number); len(all) != 1 ||
		string(all[0]) != string(keys.ActivationHash(a.ID, number)) {
		t.Error("an activation code is not found as what it was kept under")
	}
}
