package mail

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	stdmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"go.uber.org/goleak"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/delivery/deliverytest"
	"boon.example/internal/post/message"
	"boon.example/internal/post/qr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post is a mail server: go-smtp's, with what it is to do wrong.
type post struct {
	*smtp.Server

	mu sync.Mutex
	wrongs
	accepted    []letter
	connections int
	signedIn    int
}

// wrongs is what a server does wrong.
type wrongs struct {
	rcpt   func(to string) error // answers to RCPT
	mail   error                 // to MAIL
	data   func(*session, io.Reader) error
	banner time.Duration // how long a connection waits for its greeting
}

// now is what the server does wrong at present.
func (p *post) now() wrongs {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wrongs
}

type letter struct{ from, to, text string }

type session struct {
	*post
	conn     *smtp.Conn
	from, to string
}

const password = "s3cret/pa55"

func newPost(secure *tls.Config) *post {
	p := &post{}
	p.Server = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session,
		error) {
		return &session{post: p, conn: c}, nil
	}))
	p.Domain, p.TLSConfig, p.AllowInsecureAuth = "mail.example.com", secure, true
	p.ErrorLog = quiet{}
	return p
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

func (s *session) Reset()                   {}
func (s *session) Logout() error            { return nil }
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, pass string) error {
		if user != "anna" || pass != password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "no: " + pass}
		}
		s.mu.Lock()
		s.signedIn++
		s.mu.Unlock()
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { s.from = from; return s.now().mail }

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	if rcpt := s.now().rcpt; rcpt != nil {
		return rcpt(to)
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	if data := s.now().data; data != nil {
		return data(s, r)
	}
	return s.accept(r)
}

func (s *session) accept(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.post.accepted = append(s.post.accepted, letter{s.from, s.to, string(text)})
	return nil
}

// letters are the mails that the server took.
func (p *post) letters() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]letter(nil), p.accepted...)
}

// start runs the server, and gives a carrier to it. Both end with the test.
func (p *post) start(t *testing.T, s Server) *Carrier {
	dial := deliverytest.Serve(t, p)
	if s.Host == "" {
		s.Host, s.mayBePlain = "mail.example.com", true
	}
	s.From = "gifts@example.com"
	c := NewCarrier(s)
	c.connect = func(context.Context) (net.Conn, error) {
		p.mu.Lock()
		p.connections++
		p.mu.Unlock()
		return dial(p.now().banner), nil
	}
	t.Cleanup(c.Close)
	return c
}

func sample(n byte) message.Message {
	code, err := qr.Encode("https://gifts.example.com/g/7nB2cD9fGhJkLmNpQrStUv")
	if err != nil {
		panic(err)
	}
	image, err := code.PNG(8)
	if err != nil {
		panic(err)
	}
	return message.Message{
		ID: guid.ID{n, 1}, GiftID: guid.ID{n,
			2}, Method: contact.Email, To: "zoë@exämple.com", ToName: "Zoë Müller 王", FromName: "Café “Ä”",
		Subject: "Ein Geschenk für dich von Zoë 🎁", Text: "Grüße\n.\n..dots\n" +
			strings.Repeat("long ", 400), QR: image, At: time.Now(),
		HTML: `<p>Grüße</p><img src="cid:` + message.QRContentID + `">` + strings.Repeat("x", 3000),
	}
}

func plain(n byte) message.Message {
	m := sample(n)
	m.To = "zoe@example.com"
	return m
}

// TestQuotedRecipient: quotes around what is before the @ are part of how an address is written, not of the address.
func TestQuotedRecipient(t *testing.T) {
	t.Parallel()
	for _, to := range []string{`"anna lee"@example.com`, `"a\"b\\c"@example.com`, `"a@b"@exämple.com`,
		`"taro..love"@docomo.ne.jp`, `"taro."@ezweb.ne.jp`} {
		m := plain(1)
		m.To = to
		source, err := Source(&m, "gifts@example.com")
		if err != nil {
			t.Fatal(err)
		}
		mail, err := stdmail.ReadMessage(bytes.NewReader(source))
		if err != nil {
			t.Fatal(err)
		}
		is, err := mail.Header.AddressList("To")
		want, _, _ := route(to)
		if err != nil || len(is) != 1 || (&stdmail.Address{Address: is[0].Address}).String() != "<"+want+">" {
			t.Errorf("%s: to %v, %v, want %s", to, is, err, want)
		}
	}
}

func TestWhatArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(nil)
		p.EnableSMTPUTF8 = true
		c := p.start(t, Server{})
		m := sample(1)
		m.Language = merchant.Japanese
		if err := c.Carry(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		got := p.letters()[0]
		if got.from != "gifts@example.com" || got.to != "zoë@xn--exmple-cua.com" {
			t.Errorf("envelope from %s to %s", got.from, got.to)
		}
		mail, err := stdmail.ReadMessage(strings.NewReader(got.text))
		if err != nil {
			t.Fatal(err)
		}
		decode := func(name string) string {
			s, err := new(mime.WordDecoder).DecodeHeader(mail.Header.Get(name))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return s
		}
		from, err := mail.Header.AddressList("From")
		if err != nil || from[0].Name != m.FromName || from[0].Address != "gifts@example.com" {
			t.Errorf("from %v, %v", from, err)
		}
		if to, err := mail.Header.AddressList("To"); err != nil || to[0].Name != m.ToName {
			t.Errorf("to %v, %v", to, err)
		}
		if decode("Subject") != m.Subject || mail.Header.Get("Message-ID") != "<"+m.ID.String()+"@example.com>" {
			t.Errorf("subject %q, id %q", decode("Subject"), mail.Header.Get("Message-ID"))
		}
		if l := mail.Header["Content-Language"]; !slices.Equal(l, []string{"ja"}) {
			t.Errorf("Content-Language %q", l)
		}
		if at, err := mail.Header.Date(); err != nil || at.Sub(m.At).Abs() > time.Second {
			t.Errorf("date %v, %v", at, err)
		}
		for name := range mail.Header {
			if strings.HasPrefix(name, "List-") || name == "Bcc" || name == "User-Agent" || name == "X-Mailer" {
				t.Errorf("there is a header %s", name)
			}
		}
		for line := range strings.SplitSeq(got.text, "\r\n") {
			if len(line) > 998 || strings.ContainsAny(line, "\r\n") {
				t.Fatalf("a line of %d bytes, or one that ends without CRLF", len(line))
			}
		}
		parts := leaves(t, mail.Header.Get("Content-Type"), mail.Body)
		if text := strings.ReplaceAll(parts["text/plain"], "\r\n", "\n"); text != m.Text {
			t.Errorf("text %q", text)
		}
		page := strings.Replace(m.HTML, message.QRContentID, "qr."+m.ID.String()+"@example.com", 1)
		if parts["text/html"] != page {
			t.Errorf("html %q", parts["text/html"])
		}
		if parts["image/png"] != string(m.QR) {
			t.Error("the QR code is not what it was")
		}
		if _, err := png.Decode(bytes.NewReader(m.QR)); err != nil {
			t.Error(err)
		}
	})
}

// leaves are the parts of a mail that hold no others, decoded.
func leaves(t *testing.T, kind string, body io.Reader) map[string]string {
	t.Helper()
	all := map[string]string{}
	name, params, err := mime.ParseMediaType(kind)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(name, "multipart/") {
		t.Fatalf("%s is not of several parts", name)
	}
	for r := multipart.NewReader(body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if err != nil {
			return all
		}
		kind := part.Header.Get("Content-Type")
		if name, _, _ := mime.ParseMediaType(kind); strings.HasPrefix(name, "multipart/") {
			for k, v := range leaves(t, kind, part) {
				all[k] = v
			}
			continue
		} else if name == "image/png" {
			if id := part.Header.Get("Content-Id"); !strings.HasPrefix(id, "<qr.") || !strings.HasSuffix(id, "@example.com>") {
				t.Errorf("Content-ID %q", id)
			}
			if d := part.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "inline") {
				t.Errorf("Content-Disposition %q", d)
			}
			all[name] = read(t, part.Header.Get("Content-Transfer-Encoding"), part)
		} else {
			all[name] = read(t, part.Header.Get("Content-Transfer-Encoding"), part)
		}
	}
}

func read(t *testing.T, encoding string, r io.Reader) string {
	t.Helper()
	switch encoding {
	case "base64":
		r = base64.NewDecoder(base64.StdEncoding, r)
	case "quoted-printable":
		r = quotedprintable.NewReader(r)
	default:
		t.Errorf("encoding %q", encoding)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// TestHostileHeaders: nothing that a sender wrote begins a header, whatever reached the carrier.
func TestHostileHeaders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(nil)
		c := p.start(t, Server{})
		names := func(text string) string {
			mail, err := stdmail.ReadMessage(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			if to, err := mail.Header.AddressList("To"); err != nil || len(to) != 1 || to[0].Address != "zoe@example.com" {
				t.Errorf("to %v, %v", to, err)
			}
			if from, err := mail.Header.AddressList("From"); err != nil || len(from) != 1 ||
				from[0].Address != "gifts@example.com" {
				t.Errorf("from %v, %v", from, err)
			}
			var b strings.Builder
			for name := range mail.Header {
				fmt.Fprintln(&b, len(mail.Header[name]))
			}
			return b.String()
		}
		if err := c.Carry(t.Context(), plain(1)); err != nil {
			t.Fatal(err)
		}
		want := len(names(p.letters()[0].text))
		for n, evil := range []string{
			"x\r\nBcc: all@example.com", "x\nBcc: all@example.com\n\nbody", "x\r\n\r\n<html>",
			"=?utf-8?q?x=0d=0aBcc:_all@example.com?=",
			"\" <evil@example.com>, \"", "evil@example.com,", "<evil@example.com>", strings.Repeat("\u00e4", 100) + "\r\nX: y",
			strings.Repeat("word\t", 60),
			"\x00", "(comment) \\", "\u2028Bcc: x", strings.Repeat("=", 200), "a\vb\fc",
		} {
			m := plain(byte(n + 2))
			m.ToName, m.FromName, m.Subject = evil, evil, evil
			if err := c.Carry(t.Context(), m); err != nil {
				t.Errorf("%q: %v", evil, err)
				continue
			}
			letters := p.letters()
			text := letters[len(letters)-1].text
			if got := len(names(text)); got != want {
				t.Errorf("%q: another number of headers:\n%s", evil, text[:min(len(text), 1500)])
			}
			head, _, _ := strings.Cut(text, "\r\n\r\n")
			if strings.Contains(head, "=0D") || strings.Contains(head, "=0A") || strings.Contains(head, "=?utf-8?q?x=0d") {
				t.Errorf("%q: a line break in an encoded word:\n%s", evil, head)
			}
		}
	})
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	answer := func(code int) error { return &smtp.SMTPError{Code: code, Message: "said so"} }
	drain := func(err error) func(*session, io.Reader) error {
		return func(_ *session, r io.Reader) error { io.Copy(io.Discard, r); return err }
	}
	for name, tc := range map[string]struct {
		do   func(*post)
		want string
	}{
		"accepted":           {func(*post) {}, "nil"},
		"no such recipient":  {func(p *post) { p.rcpt = func(string) error { return answer(550) } }, "refusal"},
		"greylisted":         {func(p *post) { p.rcpt = func(string) error { return answer(451) } }, "now"},
		"hanging up":         {func(p *post) { p.rcpt = func(string) error { return answer(421) } }, "now"},
		"spam":               {func(p *post) { p.data = drain(answer(554)) }, "refusal"},
		"full":               {func(p *post) { p.data = drain(answer(452)) }, "now"},
		"sender not allowed": {func(p *post) { p.mail = answer(553) }, "unreachable"},
		"sender for now":     {func(p *post) { p.mail = answer(451) }, "unreachable"},
		"lost in the middle": {func(p *post) {
			p.data = func(s *session, r io.Reader) error { io.ReadFull(r, make([]byte, 100)); return s.conn.Close() }
		}, "now"},
		"lost after the dot": {func(p *post) {
			p.data = func(s *session,
				r io.Reader) error {
				s.accept(r)
				return s.conn.Close()
			}
		}, "doubt"},
		"silent after dot": {func(p *post) {
			p.data = func(s *session, r io.Reader) error { s.accept(r); time.Sleep(time.Hour); return nil }
		}, "doubt"},
		"slow answer": {func(p *post) {
			p.data = func(s *session, r io.Reader) error { time.Sleep(50 * time.Second); return s.accept(r) }
		}, "nil"},
		"slow recipient": {func(p *post) { p.rcpt = func(string) error { time.Sleep(20 * time.Second); return nil } },
			"nil"},
		"recipient for ever": {func(p *post) { p.rcpt = func(string) error { time.Sleep(time.Hour); return nil } }, "now"},
		"slow banner":        {func(p *post) { p.banner = 25 * time.Second }, "nil"},
		"no banner":          {func(p *post) { p.banner = time.Hour }, "unreachable"},
		"takes half, for now": {func(p *post) {
			p.data = func(s *session, r io.Reader) error {
				io.ReadFull(r, make([]byte, 100))
				io.Copy(io.Discard, r)
				return answer(451)
			}
		}, "now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPost(nil)
				tc.do(p)
				c := p.start(t, Server{})
				ctx, cancel := context.WithTimeout(t.Context(), SendTimeout)
				defer cancel()
				err := c.Carry(ctx, plain(1))
				if got := kind(err); got != tc.want {
					t.Errorf("%s (%v), want %s", got, err, tc.want)
				}
				// Whatever happened, the next mail goes through.
				p.mu.Lock()
				p.wrongs = wrongs{}
				p.mu.Unlock()
				before := len(p.letters())
				if err := c.Carry(t.Context(), plain(2)); err != nil || len(p.letters()) != before+1 {
					t.Errorf("the next mail: %v", err)
				}
				time.Sleep(2 * time.Hour) // what stalls ends
			})
		})
	}
}

// kind tells errors apart.
func kind(err error) string {
	var refusal *message.Refusal
	var doubt *message.Doubt
	var unreachable *message.Unreachable
	switch {
	case err == nil:
		return "nil"
	case errors.As(err, &refusal):
		return "refusal"
	case errors.As(err, &doubt):
		return "doubt"
	case errors.As(err, &unreachable):
		return "unreachable"
	}
	return "now"
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(nil)
		p.rcpt = func(to string) error {
			if to == "nobody@example.com" {
				return &smtp.SMTPError{Code: 550, Message: "no"}
			}
			return nil
		}
		c := p.start(t, Server{})
		for n := range 20 {
			m := plain(byte(n))
			if n%5 == 4 {
				m.To = "nobody@example.com"
			}
			if err := c.Carry(t.Context(), m); (err != nil) != (n%5 == 4) {
				t.Fatal(err)
			}
		}
		if p.connections != 1 || len(p.letters()) != 16 {
			t.Errorf("%d connections for 20 mails, %d taken", p.connections, len(p.letters()))
		}
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				for range 20 {
					if err := c.Carry(t.Context(), plain(byte(n))); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if p.connections > 1+8+4 || len(p.letters()) != 16+160 {
			t.Errorf("%d connections, %d mails", p.connections, len(p.letters()))
		}
		before := p.connections
		time.Sleep(idleTimeout + 2*time.Second) // they are given up
		if err := c.Carry(t.Context(), plain(1)); err != nil || p.connections != before+1 {
			t.Errorf("after a rest: %v, %d connections", err, p.connections-before)
		}
	})
}

// TestServerHungUpMeanwhile: a connection that died while it was idle costs nothing.
func TestServerHungUpMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(nil)
		p.ReadTimeout = 5 * time.Second
		c := p.start(t, Server{})
		for n := range 3 {
			if err := c.Carry(t.Context(), plain(byte(n))); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		if len(p.letters()) != 3 || p.connections != 3 {
			t.Errorf("%d mails over %d connections", len(p.letters()), p.connections)
		}
	})
}

func TestTLSAndSigningIn(t *testing.T) {
	t.Parallel()
	secure, authority := certificate(t, "mail.example.com")
	_, another := certificate(t, "mail.example.com")
	wrongName, wrongAuthority := certificate(t, "other.example.com")
	right := Server{Host: "mail.example.com", User: "anna", Password: password, Authority: authority}
	with := func(change func(*Server)) Server { s := right; change(&s); return s }
	for name, tc := range map[string]struct {
		server *tls.Config
		client Server
		want   string
	}{
		"STARTTLS":             {secure, right, "nil"},
		"wrong password":       {secure, with(func(s *Server) { s.Password = "wr0ng-one" }), "unreachable"},
		"unknown authority":    {secure, with(func(s *Server) { s.Authority = another }), "unreachable"},
		"another's name":       {wrongName, with(func(s *Server) { s.Authority = wrongAuthority }), "unreachable"},
		"STARTTLS not offered": {nil, right, "unreachable"},
		"TLS to a plain one":   {nil, with(func(s *Server) { s.TLS = true }), "unreachable"},
		"plain to loopback":    {nil, with(func(s *Server) { s.mayBePlain = true }), "nil"},
		"offered to loopback":  {secure, with(func(s *Server) { s.mayBePlain, s.Authority = true, another }), "unreachable"},
		"insecure to loopback": {secure, with(func(s *Server) { s.mayBePlain, s.Plain, s.Authority = true, true, another }),
			"nil"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPost(tc.server)
				c := p.start(t, tc.client)
				err := c.Carry(t.Context(), plain(1))
				if kind(err) != tc.want {
					t.Errorf("%v, want %s", err, tc.want)
				}
				if err != nil && (strings.Contains(err.Error(), tc.client.Password) || p.signedIn > 0 || len(p.letters()) > 0) {
					t.Errorf("%v; signed in %d times, %d mails", err, p.signedIn, len(p.letters()))
				}
			})
		})
	}
}

// certificate makes an authority and has it vouch for a host.
func certificate(t *testing.T, host string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC) // tests live in the year 2000
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true,
		BasicConstraintsValid: true,
		NotBefore:             from, NotAfter: from.AddDate(100, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}, pool
}
