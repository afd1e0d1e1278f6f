// Package certificate gives a server the certificate that it shows to its clients: from two files, which are read again
// when they change, or from an authority, by ACME.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Every is how often the files are looked at.
const Every = 5 * time.Second

// Source is where a server's certificate comes from. It is safe for concurrent use.
type Source struct {
	// Config makes a server show the newest certificate, and speak HTTP/2.
	Config *tls.Config
	// Open takes what Run needs of this machine; nil: nothing. It is called once, before Run.
	Open func() error
	// Run keeps the certificate young until its context ends. It is called once. nil: Check does.
	Run func(context.Context)
	// Check takes a new certificate if there is one, to be called every Every. It fails for as long as there is one that
	// cannot be used; the one before is shown then. nil: Run does.
	Check func(context.Context) error
	// Reload looks for a new certificate now. On an error the one before stays.
	Reload func() error
	// Leaf is the certificate that is shown now.
	Leaf func() (*x509.Certificate, error)
}

// config is what all certificates are shown with.
func config(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{GetCertificate: get, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}

// files are a certificate with its chain, and its key, both as PEM.
type files struct {
	cert, key string
	log       *slog.Logger

	mu    sync.Mutex
	shown *tls.Certificate
	seen  stamps // of the files when they were last read, whatever was in them
	wrong error  // what was wrong with them then
}

// stamps tell whether files have changed, also where a link now leads elsewhere.
type stamps [2]struct {
	modified time.Time
	size     int64
	inode    os.FileInfo
}

// Files reads a certificate with its chain, and its key. It fails where they cannot be read, are no PEM, or do not
// belong together.
func Files(cert, key string, log *slog.Logger) (*Source, error) {
	f := &files{cert: cert, key: key, log: log}
	if err := f.reload(); err != nil {
		return nil, err
	}
	return &Source{Config: config(f.get), Check: f.check, Reload: f.reload, Leaf: f.leaf}, nil
}

func (f *files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown, nil
}

func (f *files) leaf() (*x509.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.shown.Leaf, nil
}

// reload reads the files. A pair that is half written does not belong together, and is read again when the rest is
// there.
func (f *files) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = f.stamps()
	f.wrong = f.read()
	return f.wrong
}

func (f *files) read() error {
	cert, err := read("certificate", f.cert)
	if err != nil {
		return err
	}
	key, err := read("key", f.key)
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("the certificate %s with the key %s: %s", f.cert, f.key, reason(err))
	}
	f.shown = &pair
	return nil
}

// maxFile is more than a chain of certificates has.
const maxFile = 1 << 20

func read(what, name string) ([]byte, error) {
	switch info, err := os.Stat(name); {
	case err != nil:
		return nil, fmt.Errorf("reading the %s: %w", what, err)
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("the %s %s is no file of at most 1 MiB", what, name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", what, err)
	}
	return text, nil
}

// reason is why two files are no pair, without the name of Go's function.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "tls: ") }

func (f *files) stamps() (s stamps) {
	for n, name := range []string{f.cert, f.key} {
		if info, err := os.Stat(name); err == nil {
			s[n].modified, s[n].size, s[n].inode = info.ModTime(), info.Size(), info
		}
	}
	return s
}

// same reports whether nothing has changed.
func (s stamps) same(other stamps) bool {
	for n := range s {
		a, b := s[n], other[n]
		if !a.modified.Equal(b.modified) || a.size != b.size || (a.inode == nil) != (b.inode == nil) ||
			a.inode != nil && !os.SameFile(a.inode, b.inode) {
			return false
		}
	}
	return true
}

func (f *files) changed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !f.seen.same(f.stamps())
}

// check reads the files again when they have changed.
func (f *files) check(context.Context) error {
	if !f.changed() {
		return f.fault()
	}
	if err := f.reload(); err != nil {
		return err
	}
	leaf, err := f.leaf()
	if err == nil {
		f.log.Info("a new certificate is shown", "certificate", Text(leaf))
	}
	return err
}

// fault is what was wrong with the files when they were last read.
func (f *files) fault() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wrong
}

// Pinned makes a client of this machine's own service take the certificate in a file, and no other.
func Pinned(name string) (*tls.Config, error) {
	text, err := read("certificate", name)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no certificate as PEM", name)
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	host := ""
	if len(leaf.DNSNames) > 0 {
		host = leaf.DNSNames[0]
	} else if len(leaf.IPAddresses) > 0 {
		host = leaf.IPAddresses[0].String()
	}
	return &tls.Config{RootCAs: pool, ServerName: strings.Replace(host, "*", "any", 1), MinVersion: tls.VersionTLS12}, nil
}

// Text tells for whom a certificate is, and until when.
func Text(leaf *x509.Certificate) string {
	names := slices.Clone(leaf.DNSNames) // others look at the same certificate
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	const most = 3
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return fmt.Sprintf("%s until %s", strings.Join(names, ", "), leaf.NotAfter.UTC().Format(time.RFC3339))
}

// Faults are what clients, or those that come to a host, will not like about a certificate.
func Faults(leaf *x509.Certificate, host string, now time.Time) (faults []string) {
	left := leaf.NotAfter.Sub(now)
	switch {
	case now.Before(leaf.NotBefore):
		faults = append(faults, "the certificate is not valid before "+leaf.NotBefore.UTC().Format(time.RFC3339))
	case left <= 0:
		faults = append(faults, "the certificate expired at "+leaf.NotAfter.UTC().Format(time.RFC3339))
	case left < leaf.NotAfter.Sub(leaf.NotBefore)/5:
		faults = append(faults, "the certificate expires at "+leaf.NotAfter.UTC().Format(time.RFC3339)+
			", and four fifths of its life are over: it should have been renewed")
	}
	if host != "" {
		if err := leaf.VerifyHostname(host); err != nil {
			faults = append(faults, fmt.Sprintf("the certificate is not for %s, where links lead", host))
		}
	}
	return faults
}
