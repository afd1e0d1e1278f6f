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
var keys = sync.OnceValues(func() (all [3]*rsa.PrivateKey, err error) {
	for n := range all {
		if all[n], err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
			return all, err
		}
	}
	return all, nil
})

// New makes the files of a merchant whose certificate ends at an instant.
func New(t testing.TB, ends time.Time) Files {
	t.Helper()
	f, err := Make(ends)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Make is New for programs that are no tests.
func Make(ends time.Time) (f Files, err error) {
	k, err := keys()
	if err != nil {
		return f, err
	}
	authority := func(name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name, Organization: []string{"Example Inc."}},
			NotBefore: ends.AddDate(-20, 0, 0), NotAfter: ends.AddDate(20, 0, 0),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		}
	}
	root, err := made(authority("Example Root CA"), nil, k[0], k[0])
	if err != nil {
		return f, err
	}
	issuer, err := made(authority("Example Developer Relations"), root, k[1], k[0])
	if err != nil {
		return f, err
	}
	merchant, err := made(&x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: ends.AddDate(-1, -1, 0), NotAfter: ends,
		Subject: pkix.Name{CommonName: "Pass Type ID: " + PassType, OrganizationalUnit: []string{Team},
			ExtraNames: []pkix.AttributeTypeAndValue{{Type: userID, Value: PassType}}},
		KeyUsage: x509.KeyUsageDigitalSignature,
	}, issuer, k[2], k[1])
	if err != nil {
		return f, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(k[2])
	return Files{Root: certificate(root), Certificate: append(certificate(merchant), certificate(issuer)...),
		Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})}, err
}

// made signs a certificate for a key; without an issuer by itself.
func made(template, issuer *x509.Certificate, of, by *rsa.PrivateKey) (*x509.Certificate, error) {
	if issuer == nil {
		issuer = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, of.Public(), by)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func certificate(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// Other is a key that no certificate is for, in PEM form.
func Other(t testing.TB) string {
	t.Helper()
	k, err := keys()
	if err != nil {
		t.Fatal(err)
	}
	key, err := x509.MarshalPKCS8PrivateKey(k[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
}
