// Package acme_test gets certificates from a real ACME server, Pebble, which looks where DNS leads it.
package acme_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/letsencrypt/challtestsrv"
	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"

	"boon.example/internal/base/certificate"
	"boon.example/test/rig"
)

func TestMain(m *testing.M) {
	os.Setenv("PEBBLE_VA_NOSLEEP", "1") // it asks at once
	os.Exit(m.Run())
}

const domain = "gifts.boon-shop.net"

// port is one that is free.
func port(t *testing.T) int {
	t.Helper()
	address, err := rig.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(text)
	return n
}

func at(port int) string { return "127.0.0.1:" + strconv.Itoa(port) }

// authority is an ACME server whose world has one machine, this one.
type authority struct {
	directory, root string         // a URL and a file
	trust           *x509.CertPool // what its certificates come from
	plain, secure   int            // the ports that it takes for 80 and 443
}

// open starts one whose certificates are valid for so many seconds.
func open(t *testing.T, validity uint64) authority {
	t.Helper()
	a := authority{plain: port(t), secure: port(t), trust: x509.NewCertPool()}
	quiet, resolver := log.New(io.Discard, "", 0), at(port(t))
	names, err := challtestsrv.New(challtestsrv.Config{DNSAddrs: []string{resolver}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	names.SetDefaultDNSIPv6("")
	go names.Run()
	t.Cleanup(names.Shutdown)
	records := db.NewMemoryStore()
	issuing := ca.New(quiet, records, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: validity}})
	looking := va.New(quiet, a.plain, a.secure, true, resolver, records)
	front := wfe.New(quiet, records, looking, issuing, []string{"boon-shop.net"}, true, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	a.directory, a.root = server.URL+wfe.DirectoryPath, filepath.Join(t.TempDir(), "root.pem")
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(a.root, root, 0o600); err != nil {
		t.Fatal(err)
	}
	a.trust.AppendCertsFromPEM(issuing.GetRootCert(0).PEM())
	return a
}

// client asks this machine, whatever host it is asked for, and trusts what the authority gives.
func (a authority) client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{RootCAs: a.trust},
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				_, port, _ := net.SplitHostPort(address)
				return new(net.Dialer).DialContext(ctx, network, "127.0.0.1:"+port)
			}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// eventually asks until it holds, three minutes at most: what an order fails for, it is made again for after one.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after three minutes still not: %s", what)
		}
	}
}

// output is a log.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// serve shows a source's certificate until the test ends, on the port that the authority takes for 443.
func serve(t *testing.T, s *certificate.Source, address string) {
	t.Helper()
	listener, err := tls.Listen("tcp", address, s.Config)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	running.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		stop()
		server.Close()
		running.Wait()
	})
}

// serial is the number of the certificate that is shown; "": none.
func serial(s *certificate.Source) string {
	leaf, err := s.Leaf()
	if err != nil {
		return ""
	}
	return leaf.SerialNumber.String()
}

// TestEachWayAndRenewal: one way is enough, plain HTTP or TLS, and the certificate is renewed before it ends.
func TestEachWayAndRenewal(t *testing.T) {
	t.Parallel()
	for name, without := range map[string]string{"http": "tls", "tls": "http"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, said := open(t, 12), &output{}
			own := name + "." + domain // two proofs of one name in one process are mistaken for each other
			o := certificate.Order{Domain: own, Directory: a.directory, Root: a.root, Folder: t.TempDir(),
				Listen: at(a.secure), HTTP: at(a.plain), Redirect: "https://" + own, Every: 200 * time.Millisecond,
				Log: slog.New(slog.NewTextHandler(said, nil))}
			listen := o.Listen
			if without == "http" {
				o.HTTP = certificate.None
			} else {
				o.Listen = at(0) // it is not known, so that nothing is proven there
			}
			s, err := certificate.ACME(o)
			if err != nil {
				t.Fatal(err)
			}
			if first := serial(s); first != "" {
				t.Fatal("there is a certificate already:", first)
			}
			serve(t, s, listen)
			eventually(t, "a certificate", func() bool { return serial(s) != "" })
			first := serial(s)
			eventually(t, "another one", func() bool { return serial(s) != first })
			if log := said.String(); !strings.Contains(log, "renewal=true") || strings.Contains(log, "level=ERROR") {
				t.Error(log)
			}
		})
	}
}

// TestServeACME: the program gets a certificate, speaks HTTP/2 with it, leads those to it who come by plain HTTP, and
// keeps it over a restart. Nothing of it can be read by others, no secret is in the log.
func TestServeACME(t *testing.T) {
	t.Parallel()
	a := open(t, 0)
	i, server, flags := a.program(t)
	client := a.client()
	home := fmt.Sprintf("https://%s:%d/healthz", domain, a.secure)
	var first string
	eventually(t, "an answer by TLS", func() bool {
		r, err := client.Get(home)
		if err != nil {
			return false
		}
		r.Body.Close()
		first = r.TLS.PeerCertificates[0].SerialNumber.String()
		return r.StatusCode == http.StatusOK && r.ProtoMajor == 2
	})
	a.plainly(t, client)
	out, err := i.Run("ping", "--listen", at(a.secure), "--acme", domain)
	if err != nil || !strings.Contains(out, "can serve") {
		t.Errorf("boon ping: %v %s", err, out)
	}
	private(t, filepath.Join(i.Flags[1], "acme"))
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{"ops@boon-shop.net", "PRIVATE", "token"} {
		if strings.Contains(server.Logs(), secret) {
			t.Errorf("the log has %s:\n%s", secret, server.Logs())
		}
	}
	server, err = i.Start(at(a.secure), flags...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := client.Get(home)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if again := r.TLS.PeerCertificates[0].SerialNumber.String(); again != first {
		t.Error("another certificate after the restart")
	}
	if err := server.Stop(); err != nil || strings.Contains(server.Logs(), "the authority gave") {
		t.Errorf("%v\n%s", err, server.Logs())
	}
}

// program installs Boon and starts it with a certificate of the authority's.
func (a authority) program(t *testing.T) (*rig.Installation, *rig.Server, []string) {
	t.Helper()
	dir, binary, err := rig.Workshop()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	i, err := rig.Install(binary, filepath.Join(dir, "data"), "")
	if err != nil {
		t.Fatal(err)
	}
	flags := []string{"--acme", "GIFTS.boon-shop.net", "--acme-directory", a.directory, "--acme-root", a.root,
		"--acme-listen", at(a.plain), "--acme-contact", "ops@boon-shop.net"}
	server, err := i.Start(at(a.secure), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return i, server, flags
}

// plainly asks by plain HTTP.
func (a authority) plainly(t *testing.T, client *http.Client) {
	t.Helper()
	for _, tt := range []struct {
		method, path, key string
		status            int
		leads             string
	}{
		{"GET", "/g/abc?x=1", "", http.StatusMovedPermanently, "https://gifts.boon-shop.net/g/abc?x=1"},
		{"GET", "//evil.example/", "", http.StatusMovedPermanently, "https://gifts.boon-shop.net//evil.example/"},
		{"GET", "/.well-known/acme-challenge/guess", "", http.StatusMovedPermanently,
			"https://gifts.boon-shop.net/.well-known/acme-challenge/guess"},
		{"GET", "/api", "boon_live_x", http.StatusForbidden, ""},
		{"POST", "/api", "", http.StatusForbidden, ""},
	} {
		r, err := http.NewRequest(tt.method, "http://"+at(a.plain)+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "evil.example"
		if tt.key != "" {
			r.Header.Set("Authorization", tt.key)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Location"); answer.StatusCode != tt.status || got != tt.leads {
			t.Errorf("%s %s: %d to %q, want %d to %q", tt.method, tt.path, answer.StatusCode, got, tt.status, tt.leads)
		}
	}
}

// private fails for what others than the owner can read.
func private(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %04o", name, info.Mode().Perm())
		}
		files++
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files: %v", files, err)
	}
}

// TestRefused: an authority that finds nothing gives no certificate, which the log says with its reason. The service
// goes on, and others' names are shown none.
func TestRefused(t *testing.T) {
	t.Parallel()
	a, said := open(t, 0), &output{}
	s, err := certificate.ACME(certificate.Order{Domain: domain, Directory: a.directory, Root: a.root, Folder: t.TempDir(),
		Listen: at(0), HTTP: at(port(t)), Log: slog.New(slog.NewTextHandler(said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, s, at(a.secure))
	eventually(t, "a refusal", func() bool { return strings.Contains(said.String(), "the authority gave no certificate") })
	if log := said.String(); !strings.Contains(log, "connection refused") {
		t.Error("the log does not say why:", log)
	}
	if _, err := a.client().Get(fmt.Sprintf("https://%s:%d/", domain, a.secure)); err == nil {
		t.Error("a certificate is shown")
	}
}
