package sealed

import (
	"crypto/ed25519"
	"encoding/hex"
)

// Signature is a signature with the key of one generation of the key file, which anybody can check who has its public
// half.
type Signature struct {
	Key   string // the public half, in hexadecimal
	Value string // the signature, in hexadecimal
}

// Sign signs a text with the current key. The key that signs follows from the one that finds, in a domain of its own:
// whoever has the key file has it, and nothing else has to be kept.
func (k *Keys) Sign(text []byte) Signature {
	private := k.ring.Load().current.signer()
	return Signature{hex.EncodeToString(private.Public().(ed25519.PublicKey)),
		hex.EncodeToString(ed25519.Sign(private, text))}
}

// Signers are the public halves of all keys of the file, in hexadecimal.
func (k *Keys) Signers() (all []string) {
	for _, v := range k.ring.Load().byID {
		all = append(all, hex.EncodeToString(v.signer().Public().(ed25519.PublicKey)))
	}
	return all
}

func (v *version) signer() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(v.hash("certificate", "")[1:])
}

// Signed reports whether a signature is of a text, by the key that it names.
func Signed(s Signature, text []byte) bool {
	key, err := hex.DecodeString(s.Key)
	value, wrong := hex.DecodeString(s.Value)
	return err == nil && wrong == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, text, value)
}
