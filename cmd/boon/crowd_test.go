//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// TestACrowdOfOneNetwork: one client opens more connections than there are descriptors for, keeps each of them busy,
// and opens another when one is closed. The calls of other networks are answered all the same.
func TestACrowdOfOneNetwork(t *testing.T) {
	t.Parallel()
	const places, crowd, calls = 128, 180, 16 // places: those of 256 descriptors
	if listener, err := net.Listen("tcp", "127.0.66.1:0"); err != nil {
		t.Skipf("LEFT OUT: this machine has one loopback network only (%v)", err)
	} else {
		listener.Close()
	}
	for name, attack := range map[string]struct {
		protocol string
		keepBusy func(c net.Conn, begun func())
	}{
		"answers of HTTP/1.1 that nobody reads": {"http/1.1", readNothing},
		"answers of HTTP/2 that nobody reads":   {"h2", readNoAnswer},
		"slow bodies of HTTP/2":                 {"h2", sendSlowly},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			certificate, key, trusted := pairForTLS(t)
			address := fewDescriptors(t, "--tls-cert", certificate, "--tls-key", key, "--public-url", "https://example.com")
			attacker, others := from("127.0.66.1", trusted, attack.protocol), from("127.0.77.1", trusted, "http/1.1")
			begun := make(chan bool, 1<<20)
			ctx, cancel := context.WithCancel(t.Context())
			var attackers sync.WaitGroup
			for range crowd {
				attackers.Go(func() {
					for ctx.Err() == nil {
						c, err := attacker.DialContext(ctx, "tcp", address)
						if err != nil {
							continue
						}
						ended := context.AfterFunc(ctx, func() { c.(*tls.Conn).NetConn().Close() })
						attack.keepBusy(c, func() { begun <- true })
						ended()
						c.Close()
					}
				})
			}
			defer attackers.Wait()
			defer cancel()
			for range places {
				<-begun
			}
			client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true,
				DialTLSContext: others.DialContext}}
			for n, first := 0, time.Now(); n < calls || len(begun) < crowd-places; n++ {
				if err := callOfATill(client, "https://"+address); err != nil {
					t.Fatalf("call %d: %v", n, err)
				}
				if n >= calls && time.Since(first) > time.Minute {
					t.Fatalf("the attack ended: it has had %d connections more", len(begun))
				}
			}
		})
	}
}

// from dials from an address.
func from(address string, trusted *x509.CertPool, protocol string) *tls.Dialer {
	return &tls.Dialer{NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}},
		Config: &tls.Config{RootCAs: trusted, NextProtos: []string{protocol}, MinVersion: tls.VersionTLS12}}
}

// pairForTLS makes the files of a certificate for 127.0.0.1.
func pairForTLS(t *testing.T) (certificate, key string, trusted *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	secret, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), "boon.pem"), filepath.Join(t.TempDir(), "boon.key")
	for name, block := range map[string]pem.Block{certificate: {Type: "CERTIFICATE", Bytes: s.Certificate().Raw},
		key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(&block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trusted = x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	return certificate, key, trusted
}

// readNothing asks again and again for a long page, until the service has closed the connection. What the system keeps
// of questions and answers is made small: neither side then fills megabytes before it waits.
func readNothing(c net.Conn, begun func()) {
	line := c.(*tls.Conn).NetConn().(*net.TCPConn)
	if line.SetReadBuffer(4<<10) != nil || line.SetWriteBuffer(4<<10) != nil {
		return // it is closed
	}
	ask := []byte(strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: boon\r\n\r\n", 100))
	for n := 0; ; n++ {
		if _, err := c.Write(ask); err != nil {
			return
		}
		if n == 0 {
			begun()
		}
	}
}

// readNoAnswer asks again and again for a page in HTTP/2, and lets the service send no byte of it.
func readNoAnswer(c net.Conn, begun func()) {
	streams(c, begun, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}, true,
		hpack.HeaderField{Name: ":method", Value: "GET"}, hpack.HeaderField{Name: ":path", Value: "/docs"})
}

// sendSlowly begins to send gifts again and again, and sends no more than the first byte.
func sendSlowly(c net.Conn, begun func()) {
	streams(c, begun, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16}, false,
		hpack.HeaderField{Name: ":method", Value: "POST"},
		hpack.HeaderField{Name: ":path", Value: "/api/integration/gifting/send-gift"},
		hpack.HeaderField{Name: "authorization", Value: webShop}, hpack.HeaderField{Name: "content-length", Value: "99"})
}

// streams opens a stream every second, until the service has closed the connection.
func streams(c net.Conn, begun func(), setting http2.Setting, whole bool, fields ...hpack.HeaderField) {
	closed := make(chan bool)
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, c)
	}()
	fmt.Fprint(c, http2.ClientPreface)
	f := http2.NewFramer(c, nil)
	err := f.WriteSettings(setting)
	for id := uint32(1); err == nil; id += 2 {
		var block bytes.Buffer
		e := hpack.NewEncoder(&block)
		for _, field := range append(fields, hpack.HeaderField{Name: ":scheme", Value: "https"},
			hpack.HeaderField{Name: ":authority", Value: "boon"}) {
			_ = e.WriteField(field) // a buffer takes everything
		}
		err = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true,
			EndStream: whole})
		if !whole && err == nil {
			err = f.WriteData(id, false, []byte("{"))
		}
		if id == 1 {
			begun()
		}
		select {
		case <-closed:
			return
		case <-time.After(time.Second):
		}
	}
	<-closed
}
