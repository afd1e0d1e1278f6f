package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"boon.example/internal/server"
	"boon.example/internal/staff"
)

// authenticator is a device with a passkey, whose counter stands still, as that of a passkey that is kept in a cloud.
type authenticator struct {
	*ecdsa.PrivateKey
	host, handle string
	id           []byte
}

const (
	isThere     = 0x01 // somebody is there, the device has verified who, and a key is told
	isVerified  = 0x04
	isNewKey    = 0x40
	lengthOfKey = 32
)

// data is what the authenticator signs about itself.
func (a *authenticator) data(flags byte, more ...byte) []byte {
	host := sha256.Sum256([]byte(a.host))
	return slices.Concat(host[:], []byte{flags, 0, 0, 0, 0}, more)
}

func (a *authenticator) client(kind, challenge string) []byte {
	return []byte(`{"type":"` + kind + `","challenge":"` + challenge + `","origin":"http://` + a.host + `"}`)
}

func base64URL(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// credential is how a browser sends what an authenticator answered.
func (a *authenticator) credential(response map[string]string) url.Values {
	text, err := json.Marshal(map[string]any{"id": base64URL(a.id), "rawId": base64URL(a.id), "type": "public-key",
		"response": response})
	if err != nil {
		panic(err) // texts do not fail
	}
	return url.Values{"credential": {string(text)}}
}

// made answers the question for a new passkey.
func (a *authenticator) made(t *testing.T, challenge string) url.Values {
	t.Helper()
	point, err := a.PublicKey.Bytes() // a byte, and the coordinates
	if err != nil {
		t.Fatal(err)
	}
	key := slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, lengthOfKey}, point[1:1+lengthOfKey],
		[]byte{0x22, 0x58, lengthOfKey}, point[1+lengthOfKey:]) // as CBOR and COSE have it: ES256, P-256, x and y
	data := a.data(isThere|isVerified|isNewKey, slices.Concat(make([]byte, 16), []byte{0, byte(len(a.id))}, a.id, key)...)
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(data))}, data)
	return a.credential(map[string]string{"attestationObject": base64URL(object),
		"clientDataJSON": base64URL(a.client("webauthn.create", challenge))})
}

// shown answers the question for a passkey.
func (a *authenticator) shown(t *testing.T, challenge string) url.Values {
	t.Helper()
	data, client := a.data(isThere|isVerified), a.client("webauthn.get", challenge)
	of := sha256.Sum256(client)
	signed := sha256.Sum256(slices.Concat(data, of[:]))
	signature, err := ecdsa.SignASN1(rand.Reader, a.PrivateKey, signed[:])
	if err != nil {
		t.Fatal(err)
	}
	return a.credential(map[string]string{"authenticatorData": base64URL(data), "clientDataJSON": base64URL(client),
		"signature": base64URL(signature), "userHandle": a.handle})
}

// question asks for a challenge.
func (b *browser) question(path string) (challenge, user string) {
	b.Helper()
	var q struct {
		PublicKey struct {
			Challenge string
			User      struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(b.want(http.StatusOK, path, url.Values{}).body), &q); err != nil {
		b.Fatal(err)
	}
	return q.PublicKey.Challenge, q.PublicKey.User.ID
}

// TestAPasskeyIsShownOnce: whoever has a copy of all that a browser sent to sign in with a passkey does not come in by
// it, neither as the browser did nor in another ceremony.
func TestAPasskeyIsShownOnce(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{PublicURL: "http://localhost", Outbox: true})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ann, device := s.joined("ann@example.com", staff.Owner), &authenticator{PrivateKey: key, host: "localhost",
		id: []byte("a passkey of Ann")}
	const you, show = harborConsole + "you", harborConsole + "passkey"
	challenge, user := ann.question(you + "/passkey/options")
	device.handle = user
	ann.want(http.StatusSeeOther, you+"/passkey", device.made(t, challenge))
	if page := ann.want(http.StatusOK, you, nil).body; !strings.Contains(page, "passkey/remove") {
		t.Fatalf("no passkey was kept: %s", page)
	}

	other := s.browser() // of Ann; its question is open while she signs in elsewhere
	unused, _ := other.question(show + "/options")
	for range 2 { // a passkey is of use again and again
		b, thief := s.browser(), s.browser()
		challenge, _ = b.question(show + "/options")
		at, err := url.Parse(s.url + show)
		if err != nil {
			t.Fatal(err)
		}
		thief.Jar.SetCookies(at, b.Jar.Cookies(at))
		sent := device.shown(t, challenge)
		b.want(http.StatusSeeOther, show, sent)
		b.want(http.StatusOK, you, nil)
		thief.want(http.StatusForbidden, show, sent)
		thief.want(http.StatusSeeOther, you, nil)
		b.want(http.StatusSeeOther, harborConsole+"sign-out", url.Values{})
	}
	other.want(http.StatusForbidden, show, device.shown(t, unused))
}
