package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"boon.example/examples"
	"boon.example/internal/base/clientip"
	"boon.example/internal/server"
)

// gateway is nginx with the configuration of deploy/nginx in front of a service, on free ports and with its files
// in a folder.
type gateway struct {
	*testing.T
	dir    string
	client *http.Client // verifies the certificate and dials the gateway, whatever host it is asked for
	plain  string       // address of the port without TLS
	tls    string
}

// deployed is the configuration as it stands there, with the few things replaced that belong to the machine.
func deployed(t *testing.T, replace map[string]string) string {
	t.Helper()
	file, err := os.ReadFile("../../deploy/nginx/boon.conf")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	for was, is := range replace {
		if !strings.Contains(text, was) {
			t.Fatalf("the configuration lacks %q", was)
		}
		text = strings.ReplaceAll(text, was, is)
	}
	return text
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// certificate writes a certificate for a host and its key, and gives the pool that trusts it.
func certificate(t *testing.T, dir, host string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	names := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, names, names, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"gifts.pem": {Type: "CERTIFICATE", Bytes: der},
		"gifts.key": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

func startGateway(t *testing.T, upstream string) *gateway {
	t.Helper()
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx" // which is not in every PATH
		if _, err = os.Stat(nginx); err != nil {
			t.Skip("LEFT OUT: there is no nginx (Debian: nginx-light), so deploy/nginx/boon.conf was not run")
		}
	}
	g := &gateway{T: t, dir: t.TempDir(), plain: freeAddress(t), tls: freeAddress(t)}
	trusted := certificate(t, g.dir, "gifts.example.com")
	text := deployed(t, map[string]string{
		"listen 443 ssl;": "listen " + g.tls + " ssl;", "listen 80;": "listen " +
			g.plain + ";", "server 127.0.0.1:8080;": "server " + upstream + ";",
		"/etc/ssl/": g.dir + "/", "/var/log/nginx/": g.dir + "/",
	})
	main := "daemon off; master_process off; pid nginx.pid; error_log main.log info; events {}\nhttp {\naccess_log " +
		"main-access.log;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		main += kind + "_temp_path " + g.dir + "/" + kind + ";\n"
	}
	config := filepath.Join(g.dir, "nginx.conf")
	if err := os.WriteFile(config, []byte(main+text+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(nginx, "-p", g.dir, "-c", config, "-e", filepath.Join(g.dir, "main.log"))
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if t.Failed() {
			t.Logf("nginx said: %s", said.String())
		}
	})
	g.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted},
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", g.tls)
			},
		},
	}
	t.Cleanup(g.client.CloseIdleConnections)
	for begun := time.Now(); time.Since(begun) < timeout; {
		if c, err := net.Dial("tcp", g.tls); err == nil {
			c.Close()
			return g
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("nginx does not listen: %s", said.String())
	return nil
}

// ask makes a request by raw lines over TLS, as no client would make it, and gives the status.
func (g *gateway) ask(method, target, more string) (status int, header http.Header, body string) {
	g.Helper()
	dialer := &net.Dialer{}
	if runtime.GOOS == "linux" { // where all of 127.0.0.0/8 is this machine
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 7, 7, 7)}
	}
	c, err := tls.DialWithDialer(dialer, "tcp", g.tls,
		&tls.Config{RootCAs: g.client.Transport.(*http.Transport).TLSClientConfig.RootCAs, ServerName: "gifts.example.com"})
	if err != nil {
		g.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: gifts.example.com\r\nConnection: close\r\n%s\r\n", method, target, more)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, nil, ""
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(text)
}

// logs are all log files of nginx.
func (g *gateway) logs() (all map[string]string) {
	g.Helper()
	files, err := filepath.Glob(filepath.Join(g.dir, "*.log"))
	if err != nil {
		g.Fatal(err)
	}
	all = map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			g.Fatal(err)
		}
		all[filepath.Base(file)] = string(text)
	}
	return all
}

// TestNginx runs the configuration of deploy/nginx: no log has the address of a gift or of a printed
// sheet, whatever goes wrong; the outbox and the metrics are closed; browsers are told to stay with HTTPS; and clients
// are told apart.
func TestNginx(t *testing.T) {
	t.Parallel()
	trusted, err := clientip.ParseProxies("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, server.Config{Outbox: true, OutboxAnyway: true,
		PublicURL: "https://gifts.example.com", Proxies: trusted})
	g := startGateway(t, s.address)
	var order struct {
		PrintURL string
		Gifts    []soldGift
	}
	s.must("POST", "/api/integration/gifting/send-gift", examples.HarborWebShopKey,
		`{"monetaryGift":{"value":25,"deliveryMethodID":3},
		"paymentMethodID":2,"externalTransactionReferenceNumber":"W-1","externalTransactionCustomerFirstName":"Carla",
		"externalTransactionCustomerLastName":"Diaz","externalTransactionCustomerEmailAddress":"carla@example.com",
		"externalStorefrontID":"`+examples.HarborStorefront+`"}`, &order)
	token := order.Gifts[0].VoucherPublicToken
	sheet := strings.TrimPrefix(order.PrintURL, "https://gifts.example.com")
	if len(token) != 22 || len(sheet) < 30 {
		t.Fatalf("%+v", order)
	}
	for _, url := range []string{order.Gifts[0].GiftURL, order.PrintURL} {
		resp, err := g.client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Strict-Transport-Security") != "max-age=31536000" {
			t.Errorf("a page: %d, HSTS %q", resp.StatusCode, resp.Header.Get("Strict-Transport-Security"))
		}
	}
	g.closed()
	if status, _, body := g.ask("GET", "/api/integration/gifting/gifts",
		"Authorization: wrong\r\n"); status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d %s", status, body)
	}
	g.misuse(token, sheet)
	if err := s.stop(); err != nil { // from now on nginx has no service behind it
		t.Fatal(err)
	}
	g.misuse(token, sheet)
	if status, header, _ := g.ask("GET", "/g/"+token, ""); status != http.StatusBadGateway ||
		header.Get("Strict-Transport-Security") == "" {
		t.Errorf("while boon is down: %d, %v", status, header)
	}
	if status, _, _ := g.ask("POST", "/api/integration/redemption/redeem-gift",
		"Content-Length: 0\r\n"); status != http.StatusBadGateway {
		t.Errorf("a call while boon is down: %d", status)
	}
	g.checkLogs(token, strings.Split(sheet, "/")[2], order.Gifts[0].VoucherCode)
	if runtime.GOOS == "linux" && !strings.Contains(s.logs.String(), `"network":"127.7.7.0/24"`) {
		t.Error("boon does not hear who the client is")
	}
}

// checkLogs finds no secret in the proxy's logs, and what an operator needs.
func (g *gateway) checkLogs(secrets ...string) {
	g.Helper()
	logs := g.logs()
	for name, text := range logs {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				g.Errorf("%s holds the address of a gift or a sheet:\n%s", name, text)
			}
		}
	}
	if text := logs["boon.log"]; !regexp.MustCompile(`(?m)^\S+ 127\.0\.0\.1 GET 200 [0-9.]+ ` +
		`[0-9a-f-]{36}$`).MatchString(text) {
		g.Errorf("the access log tells nothing:\n%s", text)
	}
	if text := logs["boon-error.log"]; !strings.Contains(text, "connect() failed") ||
		!strings.Contains(text, "redeem-gift") {
		g.Errorf("the error log tells nothing of calls:\n%s", text)
	}
}

// closed looks at what nobody may reach from outside, also under other spellings.
func (g *gateway) closed() {
	g.Helper()
	for _, target := range []string{"/outbox", "/outbox/",
		"/outbox?q=ana", "/outbox/019576b2-6a00-7000-8000-000000000002", "//outbox", "/x/../outbox", "/%6Futbox",
		"/outbox%2f", "/./outbox", "/metrics", "//metrics", "/x/../metrics", "/%6detrics", "/metrics?x", "/metrics/",
		"/./metrics"} {
		status, header, body := g.ask("GET", target, "")
		if status != http.StatusNotFound && status != http.StatusForbidden ||
			strings.Contains(body, "boon_") || header.Get("Strict-Transport-Security") == "" {
			g.Errorf("GET %s: %d %v %.100s", target, status, header, body)
		}
	}
}

// misuse asks for the addresses of a gift and a sheet in every way that makes nginx or boon complain.
func (g *gateway) misuse(token, sheet string) {
	g.Helper()
	for _, target := range []string{"/g/" + token, sheet, "/g/" + token + "/print.pdf",
		"/G/" + token, "//g/" + token, "/x/../g/" + token, "/%67/" + token,
		"/" + token, "/g/" + token + "/%00", "/api/../g/" + token, sheet +
			"/x", "/g/" + token + "?" + strings.Repeat("x", 9000), "https://gifts.example.com/g/" + token} {
		g.ask("GET", target, "")
		g.ask("POST", target, "Content-Length: 0\r\n")
		g.ask("POST", target, "Content-Length: 99000000\r\n") // more than nginx takes
		g.ask("GET", target, "Referer: https://gifts.example.com/g/"+token+"\r\nX-Bad\x01: x\r\n")
		g.ask("GET", target, "X-Long: "+strings.Repeat("x", 40_000)+"\r\n")
		g.ask("OWNED", target, "")
	}
	g.ask("GET", "/style/x.css", "Referer: https://gifts.example.com/g/"+token+"\r\n")
	c, err := net.Dial("tcp", g.plain)
	if err != nil {
		g.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /g/%s HTTP/1.1\r\nHost: gifts.example.com\r\nConnection: close\r\n\r\n", token)
	if answer, _ := io.ReadAll(c); !bytes.Contains(answer, []byte("Location: https://gifts.example.com/g/"+token)) {
		g.Errorf("without TLS: %.200s", answer)
	}
	g.ask("GET", "/g/"+token+" HTTP/9.9\r\nX: ", "")
}
