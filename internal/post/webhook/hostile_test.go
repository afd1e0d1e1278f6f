package webhook

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
)

// TestHostileAnswers: an answer without end is read as far as it is kept and the connection closed, one that is
// compressed is kept as it came, one of headers is none, and a redirect to where secrets of a cloud are is an answer.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	io.Copy(z, io.LimitReader(zeros{}, 10<<20))
	z.Close()
	ended := make(chan bool, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			_, err := io.Copy(w, zeros{})
			ended <- err != nil
		case "/bomb":
			if r.Header.Get("Accept-Encoding") != "" {
				t.Error("it asks for something compressed")
			}
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(bomb.Bytes())
		case "/headers":
			w.Header().Set("X", strings.Repeat("\x1b[2J", 8<<10))
		case "/metadata":
			w.Header().Set("Location", "http://169.254.169.254/latest/meta-data/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}))
	t.Cleanup(receiver.Close)
	s := sender(t, loopback)
	for path, want := range map[string]Outcome{
		"/endless": {Status: 200, Answer: make([]byte, MaxTaken)}, "/metadata": {Status: 307},
		"/bomb":    {Status: 200, Answer: bomb.Bytes()[:MaxTaken]},
		"/headers": {Words: "The connection could not be made, or broke."},
	} {
		o := s.Send(t.Context(), receiver.URL+path, []merchant.WebhookSecret{secret(t)}, Message{"evt_1", []byte("{}")})
		if o.Status != want.Status || !bytes.Equal(o.Answer, want.Answer) || o.Words != want.Words {
			t.Errorf("%s: %d, %d bytes, %q", path, o.Status, len(o.Answer), o.Words)
		}
	}
	if !<-ended {
		t.Error("all of an endless answer was read")
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestItsCertificateEnds: a certificate that was good until a moment ago, or is of another host, is none.
func TestItsCertificateEnds(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	receiver.Config.ErrorLog = log.New(io.Discard, "", 0)
	receiver.StartTLS()
	t.Cleanup(receiver.Close)
	good := receiver.Certificate()
	const wrong = "Its certificate is not valid for the host."
	for name, tt := range map[string]struct {
		url  string
		now  time.Time
		want string
	}{
		"good": {receiver.URL, good.NotAfter.Add(-time.Second), ""},
		"over": {receiver.URL, good.NotAfter.Add(time.Second), wrong},
		"of another host": {strings.Replace(receiver.URL, "127.0.0.1", "127.0.0.2", 1), good.NotBefore.Add(time.Second),
			wrong},
	} {
		s := sender(t, &Guard{Allow: loopback.Allow, Dial: func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("tcp", receiver.Listener.Addr().String()) //nolint:noctx // of this test's own
		}})
		c := s.client.Transport.(*http.Transport).TLSClientConfig
		c.RootCAs, c.Time = x509.NewCertPool(), func() time.Time { return tt.now }
		c.RootCAs.AddCert(good)
		o := s.Send(t.Context(), tt.url, []merchant.WebhookSecret{secret(t)}, Message{"evt_1", []byte("{}")})
		if o.Words != tt.want || o.Succeeded() != (tt.want == "") {
			t.Errorf("one that is %s: %+v", name, o)
		}
	}
}
