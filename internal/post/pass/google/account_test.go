package google

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"strings"
	"testing"
)

// TestServiceAccounts: what is wrong with the file of a service account is told in a sentence, which tells nothing of
// its key; of a good one is kept what is needed.
func TestServiceAccounts(t *testing.T) {
	t.Parallel()
	of := func(key any) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}
	good, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change map[string]any) string {
		all := map[string]any{"type": "service_account", "client_email": "a@b.example", "private_key_id": "1",
			"private_key": of(good), "token_uri": "http://evil.example/", "project_id": "p"}
		for name, v := range change {
			all[name] = v
		}
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for name, text := range map[string]string{
		"no JSON": "-----BEGIN PRIVATE KEY-----", "a list": "[]",
		"another type": with(map[string]any{"type": "authorized_user"}),
		"no address":   with(map[string]any{"client_email": ""}), "no key": with(map[string]any{"private_key": nil}),
		"an id that is none":  with(map[string]any{"private_key_id": ""}),
		"another kind of key": with(map[string]any{"private_key": of(other)}),
		"a giant": with(map[string]any{"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY",
			Bytes: make([]byte, maxKey+1)}))}),
		"a damaged key": with(map[string]any{"private_key": strings.Replace(of(good), "MII", "AAA", 1)}),
	} {
		if kept, err := ReadAccount([]byte(text)); err == nil || kept != "" || !strings.HasSuffix(err.Error(), ".") ||
			strings.Contains(err.Error(), "MII") {
			t.Errorf("%s: %q, %v", name, kept, err)
		}
	}
	kept, err := ReadAccount([]byte(with(nil)))
	if err != nil || strings.Contains(kept, "evil") {
		t.Fatalf("%s, %v", kept, err)
	}
	if again, err := ReadAccount([]byte(kept)); err != nil || again != kept {
		t.Errorf("what is kept does not survive being read: %v", err)
	}
	if a, err := NewAccount(kept); err != nil || a.Email != "a@b.example" {
		t.Errorf("%+v, %v", a, err)
	}
}
