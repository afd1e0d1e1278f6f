package certificate_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"boon.example/internal/base/certificate"
)

// pair is a certificate that signs itself, with its key.
func pair(t *testing.T, name string, from, to time.Time) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(from.UnixNano()), Subject: pkix.Name{CommonName: name},
		DNSNames: []string{name}, NotBefore: from, NotAfter: to}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// folder has the files of a certificate.
type folder struct {
	*testing.T
	cert, key string
}

func newFolder(t *testing.T) folder {
	dir := t.TempDir()
	return folder{t, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

func (f folder) write(name string, text []byte) {
	f.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		f.Fatal(err)
	}
}

// shown is the name in the certificate that a handshake would show.
func (f folder) shown(s *certificate.Source) string {
	f.Helper()
	c, err := s.Config.GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		f.Fatal(err)
	}
	return c.Leaf.DNSNames[0]
}

var day = 24 * time.Hour

func TestFilesAreReadAgain(t *testing.T) {
	t.Parallel()
	f := newFolder(t)
	now := time.Now()
	firstCert, firstKey := pair(t, "first.example", now, now.Add(day))
	secondCert, secondKey := pair(t, "second.example.com", now, now.Add(day))
	f.write(f.cert, firstCert)
	f.write(f.key, firstKey)
	var log bytes.Buffer
	s, err := certificate.Files(f.cert, f.key, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	step := func(want, says, fails string) {
		t.Helper()
		log.Reset()
		err := s.Check(t.Context())
		if got := f.shown(s); got != want || !strings.Contains(log.String(), says) || says == "" && log.Len() > 0 {
			t.Errorf("the certificate of %s is shown, want %s; the log says %q, want %q", got, want, log.String(), says)
		}
		if (err != nil) != (fails != "") || err != nil && !strings.Contains(err.Error(), fails) {
			t.Errorf("a look at the files fails with %v, want %q", err, fails)
		}
	}
	step("first.example", "", "")
	f.write(f.cert, secondCert)
	for range 2 { // the key is yet to come
		step("first.example", "", "does not match")
	}
	f.write(f.key, secondKey)
	step("second.example.com", "a new certificate is shown", "")
	step("second.example.com", "", "")
	if err := os.Remove(f.cert); err != nil {
		t.Error(err)
	}
	step("second.example.com", "", "reading the certificate")
	f.write(f.cert, firstCert)
	f.write(f.key, firstKey)
	if err := s.Reload(); err != nil || f.shown(s) != "first.example" {
		t.Errorf("read at once, %s is shown: %v", f.shown(s), err)
	}
	step("first.example", "", "")
}

func TestFilesThatAreNoPair(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cert, key := pair(t, "a.example", now, now.Add(day))
	_, other := pair(t, "b.example", now, now.Add(day))
	for name, tt := range map[string]struct {
		cert, key []byte
		says      string
	}{
		"no certificate":    {nil, key, "reading the certificate"},
		"no key":            {cert, nil, "reading the key"},
		"empty":             {[]byte{}, key, "failed to find any PEM data"},
		"the key twice":     {key, key, "failed to find certificate"},
		"swapped":           {key, cert, "failed to find certificate"},
		"another's key":     {cert, other, "private key does not match"},
		"more than a chain": {make([]byte, 1<<20+1), key, "no file of at most 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			if tt.cert != nil {
				f.write(f.cert, tt.cert)
			}
			if tt.key != nil {
				f.write(f.key, tt.key)
			}
			_, err := certificate.Files(f.cert, f.key, slog.New(slog.NewTextHandler(io.Discard, nil)))
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "BEGIN") {
				t.Errorf("it says %v, want %q", err, tt.says)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cert, _ := pair(t, "gifts.example.com", begun, begun.Add(90*day))
	block, _ := pem.Decode(cert)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after time.Duration
		host  string
		says  string
	}{
		{60 * day, "gifts.example.com", ""},
		{60 * day, "", ""},
		{60 * day, "gifts.example.org", "not for gifts.example.org"},
		{60 * day, "127.0.0.1", "not for 127.0.0.1"},
		{-time.Hour, "gifts.example.com", "not valid before 2026-01-01T00:00:00Z"},
		{73 * day, "gifts.example.com", "should have been renewed"},
		{91 * day, "gifts.example.com", "expired at 2026-04-01T00:00:00Z"},
	} {
		got := strings.Join(certificate.Faults(leaf, tt.host, begun.Add(tt.after)), "; ")
		if !strings.Contains(got, tt.says) || tt.says == "" && got != "" {
			t.Errorf("after %s, for %s: %q, want %q", tt.after, tt.host, got, tt.says)
		}
	}
	if got := certificate.Text(leaf); got != "gifts.example.com until 2026-04-01T00:00:00Z" {
		t.Error(got)
	}
}
