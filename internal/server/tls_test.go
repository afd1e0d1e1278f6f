package server_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	certs "boon.example/internal/base/certificate"
	"boon.example/internal/server"
)

// TestTLS: the service itself speaks TLS, HTTP/2 and HTTP/1.1, shows a new certificate without a restart, and stops.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trusted := certificate(t, dir, "gifts.example.com")
	source, err := certs.Files(filepath.Join(dir, "gifts.pem"), filepath.Join(dir, "gifts.key"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, server.Config{Certificate: source, PublicURL: "https://gifts.example.com"})
	if logs := s.logs.String(); !strings.Contains(logs, `"certificate":"gifts.example.com until `) ||
		strings.Contains(logs, "--trusted-proxies") || strings.Contains(logs, "in the clear") {
		t.Errorf("it starts with\n%s", logs)
	}
	settings := &tls.Config{RootCAs: trusted, ServerName: "gifts.example.com", MinVersion: tls.VersionTLS12}
	ask := func(two bool) (protocol string, serial string) {
		t.Helper()
		transport := &http.Transport{TLSClientConfig: settings, ForceAttemptHTTP2: two}
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get("https://" + s.address + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Strict-Transport-Security") == "" ||
			answer.Header.Get("X-Request-ID") == "" {
			t.Errorf("%d %v", answer.StatusCode, answer.Header)
		}
		return answer.Proto, string(answer.TLS.PeerCertificates[0].Signature)
	}
	one, before := ask(false)
	two, _ := ask(true)
	if one != "HTTP/1.1" || two != "HTTP/2.0" {
		t.Errorf("it speaks %s and %s", one, two)
	}
	settings.RootCAs = certificate(t, dir, "gifts.example.com")
	if err := source.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, after := ask(true); after == before {
		t.Error("the certificate before is still shown")
	}
	old := settings.Clone()
	old.MaxVersion, old.MinVersion = tls.VersionTLS11, tls.VersionTLS10
	if conn, err := tls.Dial("tcp", s.address, old); err == nil {
		conn.Close()
		t.Error("it speaks TLS 1.1")
	}
	plain, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := io.WriteString(plain, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(plain).ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.0 400") {
		t.Errorf("plain HTTP is answered %q, %v", line, err)
	}
}

// TestCheckTellsOfTheCertificate: also that it is not for the host of the links.
func TestCheckTellsOfTheCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir, "gifts.example.com")
	source, err := certs.Files(filepath.Join(dir, "gifts.pem"), filepath.Join(dir, "gifts.key"), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := server.Check(t.Context(), server.Config{Certificate: source, Listen: "127.0.0.1:0", Data: t.TempDir(),
		PublicURL: "https://gifts.example.org"})
	if err != nil || !strings.Contains(strings.Join(r.Wrong, "\n"),
		"the certificate is not for gifts.example.org, where links lead") {
		t.Errorf("Check says %v, %v", r.Wrong, err)
	}
}
