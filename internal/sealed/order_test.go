package sealed

import (
	"path/filepath"
	"testing"

	"boon.example/internal/gift"
)

func TestOrderCapability(t *testing.T) {
	t.Parallel()
	var all []*Keys
	for _, name := range []string{"a", "b"} {
		k, err := Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, k)
	}
	keys, others := all[0], all[1]
	account, order := gift.ID{1}, gift.ID{2}
	text := keys.OrderCapability(account, order)
	if a, o, ok := keys.OpenOrderCapability(text); !ok || a != account || o != order || text != keys.OrderCapability(account, order) {
		t.Errorf("%q opens as %v %v %t", text, a, o, ok)
	}
	if _, _, ok := others.OpenOrderCapability(text); ok {
		t.Error("it opens with the keys of another installation")
	}
	for i := range len(text) {
		for _, c := range "A_9" {
			changed := text[:i] + string(c) + text[i+1:]
			if _, _, ok := keys.OpenOrderCapability(changed); ok && changed != text {
				t.Errorf("%q opens too", changed)
			}
		}
		if _, _, ok := keys.OpenOrderCapability(text[:i]); ok {
			t.Errorf("%q opens too", text[:i])
		}
	}
	for _, bad := range []string{text + "A", text + "=", " " + text, others.OrderCapability(account, order), keys.OrderCapability(order, account)[:40] + text[40:]} {
		if _, _, ok := keys.OpenOrderCapability(bad); ok {
			t.Errorf("%q opens too", bad)
		}
	}
}
