package setup

import (
	"encoding/base64"
	"strings"

	"boon.example/internal/sealed"
)

// sealedMark begins a text of the set-up that is sealed where it stands: no hash of a PIN, no address of a webhook
// and no private key begins so.
const sealedMark = "sealed:"

// The domains in which texts of the set-up are sealed.
const (
	pinDomain = "pin hash"
	urlDomain = "webhook url"

	passKeyDomain = "key of passes"
	// googleKeyDomain is that of service accounts of Google.
	googleKeyDomain = "service account of passes"
)

// sealText seals a text of the set-up for its record. A text that this instance could not open stays as it is.
func sealText(k *sealed.Keys, domain, text string, record []byte) string {
	if text == "" || strings.HasPrefix(text, sealedMark) {
		return text
	}
	return sealedMark + base64.StdEncoding.EncodeToString(k.SealOnce(domain, []byte(text), record))
}

// openText opens what sealText made. A text that is not sealed, as earlier builds wrote it, and one that does not open
// are given as they stand: StillSealed tells of the latter.
func openText(k *sealed.Keys, domain, text string, record []byte) string {
	encoded, is := strings.CutPrefix(text, sealedMark)
	if !is {
		return text
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return text
	}
	plain, err := k.OpenOnce(domain, b, record)
	if err != nil {
		return text
	}
	return string(plain)
}

// StillSealed tells that a text of a directory did not open.
func StillSealed(text string) bool { return strings.HasPrefix(text, sealedMark) }
