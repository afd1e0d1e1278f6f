package pass

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/smallstep/pkcs7"

	"boon.example/internal/base/phrase"
)

// Signer signs passes for Apple Wallet, with the certificate that Apple gave a merchant.
type Signer struct {
	PassType string // such as pass.com.example.gifts
	Team     string // the merchant's team at Apple, ten letters and digits

	chain []*x509.Certificate // that of the merchant, then those of its issuers
	key   crypto.Signer
}

// ReadCertificates reads a file in PEM form that holds a certificate for a pass type and below it that of its issuer
// (Apple Worldwide Developer Relations). It gives the certificates alone, in PEM form. The error is a sentence.
func ReadCertificates(file []byte) (certificates string, err error) {
	var text strings.Builder
	for block, rest := pem.Decode(file); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "CERTIFICATE":
			text.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY":
			return "", phrase.New("This holds a private key beside the certificate; put the key into a file of its own.")
		}
	}
	if text.Len() == 0 {
		return "", phrase.New("This holds no certificate in PEM form, from -----BEGIN CERTIFICATE----- to its end. " +
			"Convert a .cer file with openssl x509 -inform der.")
	}
	if _, err := chainOf(text.String()); err != nil {
		return "", err
	}
	return text.String(), nil
}

// ReadKey reads a private key in PEM form, and gives it in PEM form as PKCS #8 has it. The error is a sentence, and
// tells nothing of the key.
func ReadKey(file []byte) (key string, err error) {
	parsed, err := keyOf(file)
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKCS8PrivateKey(parsed)
	if err != nil {
		return "", phrase.New("This private key cannot be read; it seems to be damaged.")
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), nil
}

// maxKey is how many bytes a private key has at most: an RSA key of 8,192 bits has some 4,700. To check a key takes
// time that grows much faster than its length.
const maxKey = 5_000

// maxChain is how many certificates a file has at most. Apple's chains have three.
const maxChain = 5

// keyOf reads a private key in PEM form that signs passes. The error is a sentence.
func keyOf(file []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(file)
	switch {
	case block == nil:
		return nil, phrase.New("This holds no private key in PEM form, from -----BEGIN PRIVATE KEY----- to its end. " +
			"Take the key out of a .p12 file with openssl pkcs12 -nocerts -nodes.")
	case len(block.Bytes) > maxKey:
		return nil, phrase.New("This private key is larger than any of Apple's.")
	}
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, phrase.New("This private key is encrypted; decrypt it with openssl pkey.")
	default:
		return nil, phrase.New("This is no private key; its PEM form says %q.", block.Type)
	}
	if err != nil {
		return nil, phrase.New("This private key cannot be read; it seems to be damaged.")
	}
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return key, nil
	case *ecdsa.PrivateKey:
		return key, nil
	}
	return nil, phrase.New("This private key is of a kind that signs no passes; Apple's are RSA keys.")
}

// chainOf reads certificates and puts them into the order that they vouch for each other in.
func chainOf(text string) ([]*x509.Certificate, error) {
	var all []*x509.Certificate
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, phrase.New("A certificate in this file cannot be read; it seems to be damaged.")
		}
		if all = append(all, c); len(all) > maxChain {
			return nil, phrase.New("This file has more than %d certificates; Apple's chains have three.", maxChain)
		}
	}
	at := slices.IndexFunc(all, func(c *x509.Certificate) bool { return named(c.Subject, userID) != "" })
	if at < 0 {
		return nil, phrase.New("None of the certificates in this file is for a pass type: their subjects have no user id. " +
			"Take the Pass Type ID Certificate that Apple made for your pass type.")
	}
	chain := []*x509.Certificate{all[at]}
	for last := chain[0]; !bytes.Equal(last.RawSubject, last.RawIssuer); last = chain[len(chain)-1] {
		issuer := slices.IndexFunc(all, func(c *x509.Certificate) bool {
			return !slices.Contains(chain, c) && last.CheckSignatureFrom(c) == nil
		})
		if issuer < 0 {
			break
		}
		chain = append(chain, all[issuer])
	}
	if len(chain) == 1 {
		return nil, phrase.New("This file lacks the certificate of whoever issued the first one. Add Apple's " +
			"intermediate certificate (Worldwide Developer Relations) to it; phones ask for both.")
	}
	return chain, nil
}

// userID is the attribute of a subject in which Apple writes the pass type (RFC 4519, section 2.39).
var userID = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}

// named is the attribute of a subject; "": it has none.
func named(subject pkix.Name, attribute asn1.ObjectIdentifier) string {
	for _, one := range subject.Names {
		if text, ok := one.Value.(string); ok && one.Type.Equal(attribute) {
			return text
		}
	}
	return ""
}

// For tells for which pass type of which team certificates are that ReadCertificates gave.
func For(certificates string) (passType, team string) {
	chain, err := chainOf(certificates)
	if err != nil {
		return "", ""
	}
	if units := chain[0].Subject.OrganizationalUnit; len(units) > 0 {
		team = units[0]
	}
	return named(chain[0].Subject, userID), team
}

// NewSigner makes a signer of what ReadCertificates and ReadKey gave. The error is a sentence.
func NewSigner(certificates, key string) (*Signer, error) {
	chain, err := chainOf(certificates)
	if err != nil {
		return nil, err
	}
	s := &Signer{chain: chain}
	s.PassType, s.Team = For(certificates)
	if s.key, err = keyOf([]byte(key)); err != nil {
		return nil, err
	}
	if own, ok := s.key.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !own.Equal(chain[0].PublicKey) {
		return nil, phrase.New("This private key is not that of the certificate. Take the key that the certificate was " +
			"asked for with.")
	}
	return s, nil
}

// Ends is when the first of the certificates ends: phones take no pass that is signed later.
func (s *Signer) Ends() time.Time {
	ends := s.chain[0].NotAfter
	for _, c := range s.chain[1:] {
		if c.NotAfter.Before(ends) {
			ends = c.NotAfter
		}
	}
	return ends
}

// sign gives a detached signature of a text as PKCS #7 (RFC 5652), with the certificates that phones need to check it
// and the time of the signing among what is signed.
func (s *Signer) sign(text []byte) ([]byte, error) {
	signed, err := pkcs7.NewSignedData(text)
	if err != nil {
		return nil, fmt.Errorf("signing a pass: %w", err)
	}
	signed.SetDigestAlgorithm(pkcs7.OIDDigestAlgorithmSHA256)
	if err := signed.AddSignerChain(s.chain[0], s.key, s.chain[1:], pkcs7.SignerInfoConfig{}); err != nil {
		return nil, fmt.Errorf("signing a pass: %w", err)
	}
	signed.Detach()
	der, err := signed.Finish()
	if err != nil {
		return nil, fmt.Errorf("signing a pass: %w", err)
	}
	return der, nil
}
