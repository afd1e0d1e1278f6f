// Package passtest makes certificates as Apple makes them for passes, of an authority of its own.
package passtest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"sync"
	"testing"
	"time"
)

// PassType and Team are those of every merchant here.
const (
	PassType = "pass.example.harbor.gifts"
	Team     = "A1B2C3D4E5"
)

// Files are the files of a merchant, in PEM form.
type Files struct {
	Root        []byte // of the authority, which phones know
	Certificate []byte // of the pass type, and below it that of its issuer
	Key         []byte
}

// userID is the attribute of a subject in which Apple writes the pass type.
var userID = asn1.ObjectIdentifier{0, 9, 2342, 19200300, 100, 1, 1}

// keys are drawn once: that of the root, of the issuer and of the merchant.
var keys = sync.OnceValue(func() (all [3]*rsa.PrivateKey) {
	for n := range all {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			panic(err)
		}
		all[n] = key
	}
	return all
})

// New makes the files of a merchant whose certificate ends at an instant.
func New(t testing.TB, ends time.Time) Files {
	t.Helper()
	k := keys()
	authority := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{"Example Inc."}},
			NotBefore: ends.AddDate(-20, 0, 0), NotAfter: ends.AddDate(20, 0, 0),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
	}
	root := made(t, authority("Example Root CA"), nil, k[0], k[0])
	issuer := made(t, authority("Example Developer Relations"), root, k[1], k[0])
	merchant := made(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: ends.AddDate(-1, -1, 0), NotAfter: ends,
		Subject: pkix.Name{CommonName: "Pass Type ID: " + PassType, OrganizationalUnit: []string{Team},
			ExtraNames: []pkix.AttributeTypeAndValue{{Type: userID, Value: PassType}}},
		KeyUsage: x509.KeyUsageDigitalSignature,
	}, issuer, k[2], k[1])
	key, err := x509.MarshalPKCS8PrivateKey(k[2])
	if err != nil {
		t.Fatal(err)
	}
	return Files{Root: certificate(root), Certificate: append(certificate(merchant), certificate(issuer)...),
		Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}
}

// made signs a certificate for a key; without an issuer by itself.
func made(t testing.TB, template, issuer *x509.Certificate, of, by *rsa.PrivateKey) *x509.Certificate {
	t.Helper()
	if issuer == nil {
		issuer = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, of.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func certificate(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// Other is a key that no certificate is for, in PEM form.
func Other(t testing.TB) string {
	t.Helper()
	key, err := x509.MarshalPKCS8PrivateKey(keys()[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
}
