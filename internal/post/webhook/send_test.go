package webhook

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"boon.example/internal/merchant"
)

func secret(t *testing.T) merchant.WebhookSecret {
	t.Helper()
	s, err := merchant.NewWebhookSecret(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// loopback lets the receivers of these tests be called.
var loopback = &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}

func sender(t *testing.T, g *Guard) *Sender {
	s := NewSender(g, "Boon/test", 0)
	t.Cleanup(s.Close)
	return s
}

// TestStandardWebhooksTakesIt: the official library of Standard Webhooks takes a message with each of two secrets, and
// no other message, secret or time.
func TestStandardWebhooksTakesIt(t *testing.T) {
	t.Parallel()
	current, old, other := secret(t), secret(t), secret(t)
	body := []byte(`{"type":"gift.redeemed"}`)
	verify := func(with merchant.WebhookSecret, h http.Header, body []byte) error {
		hook, err := standardwebhooks.NewWebhook(with.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		return hook.Verify(body, h)
	}
	calls := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		got := make([]byte, r.ContentLength)
		r.Body.Read(got)
		for _, with := range []merchant.WebhookSecret{current, old} {
			if err := verify(with, r.Header, got); err != nil {
				t.Errorf("%v: %v", err, r.Header)
			}
		}
		if verify(other, r.Header, got) == nil || verify(current, r.Header, []byte(`{"type":"gift.held"}`)) == nil {
			t.Error("it verifies with another secret, or another body")
		}
		h := r.Header.Clone()
		h.Set(HeaderID, "another")
		if verify(current, h, got) == nil || r.Header.Get(HeaderID) != "evt_1" ||
			r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v", r.Header)
		}
	}))
	t.Cleanup(receiver.Close)
	o := sender(t, loopback).Send(t.Context(), receiver.URL, []merchant.WebhookSecret{current, old}, Message{"evt_1",
		body})
	if !o.Succeeded() || calls != 1 || o.Took <= 0 {
		t.Errorf("%+v", o)
	}
	if verify(current, http.Header{"Webhook-Id": {"x"}, "Webhook-Timestamp": {"1"},
		"Webhook-Signature": {Sign([]merchant.WebhookSecret{current}, "x", time.Unix(1, 0), body)}}, body) == nil {
		t.Error("an old message is taken")
	}
}

// TestAnswers: only 2xx is success, redirects are not followed, and no more of an answer is kept than its beginning.
func TestAnswers(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a redirect was followed")
	}))
	t.Cleanup(elsewhere.Close)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/"), &status)
		switch status {
		case 302, 307:
			w.Header().Set("Location", elsewhere.URL)
		case 500:
			w.WriteHeader(status)
			fmt.Fprint(w, strings.Repeat("x", 1<<20))
			return
		case 599: // it says one thing and does another
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(200)
			fmt.Fprint(w, "short")
			return
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(receiver.Close)
	s := sender(t, loopback)
	for status, taken := range map[int]bool{200: true, 202: true, 204: true, 302: false, 307: false, 400: false,
		410: false, 500: false, 599: false} {
		o := s.Send(t.Context(), fmt.Sprintf("%s/%d", receiver.URL, status), []merchant.WebhookSecret{secret(t)},
			Message{"evt_1", []byte("{}")})
		if o.Succeeded() != taken || o.Gone() != (status == 410) || len(o.Answer) > MaxAnswer {
			t.Errorf("%d: %+v", status, o)
		}
		if status != 599 && (o.Status != status || o.Words != "") || status == 599 && o.Words == "" {
			t.Errorf("%d: %d, %q", status, o.Status, o.Words)
		}
		if status == 500 && len(o.Answer) != MaxAnswer {
			t.Errorf("%d bytes of the answer", len(o.Answer))
		}
	}
}

// TestNoAnswerIn15Seconds: an endpoint has 15 s for its whole answer, whether it says nothing or a little every second.
func TestNoAnswerIn15Seconds(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing":     "",
		"its headers": "HTTP/1.1 200 OK\r\nX-Filler: " + strings.Repeat("x", 100),
		"its body":    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + strings.Repeat("x", 100),
	} {
		synctest.Test(t, func(t *testing.T) {
			var dripping sync.WaitGroup
			defer dripping.Wait()
			g := pipes(&dripping, func(theirs net.Conn) {
				sent := bufio.NewReader(theirs)
				if _, err := http.ReadRequest(sent); err != nil {
					t.Error(err)
				}
				go io.Copy(io.Discard, sent)
				for head, rest, ok := strings.Cut(answer, "x"); ok && head+rest != ""; head, rest, ok = strings.Cut(rest, "x") {
					if _, err := io.WriteString(theirs, head+"x"); err != nil {
						return
					}
					time.Sleep(time.Second)
				}
			})
			s := NewSender(g, "Boon/test", 0)
			defer s.Close()
			o := s.Send(t.Context(), "http://slow.example/", []merchant.WebhookSecret{secret(t)}, Message{"evt_1", []byte("{}")})
			if o.Succeeded() || o.Took != 15*time.Second || o.Words != "There was no whole answer within 15 seconds." {
				t.Errorf("%s: %+v", name, o)
			}
		})
	}
}

// pipes is a guard whose connections end in serve.
func pipes(serving *sync.WaitGroup, serve func(net.Conn)) *Guard {
	return &Guard{Allow: []netip.Prefix{netip.MustParsePrefix("8.8.8.8/32")},
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			serving.Go(func() { serve(theirs) })
			return ours, nil
		}}
}

// TestNothingOutlivesACall: neither an endpoint that never shakes hands, nor one that takes the connection for another
// protocol and falls silent, keeps a call beyond its time, or a connection.
func TestNothingOutlivesACall(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]Outcome{
		"https://silent.example/": {Words: "There was no whole answer within 15 seconds.", Took: 15 * time.Second},
		"http://switch.example/":  {Status: http.StatusSwitchingProtocols},
	} {
		synctest.Test(t, func(t *testing.T) {
			var serving sync.WaitGroup
			s := NewSender(pipes(&serving, func(theirs net.Conn) {
				sent := bufio.NewReader(theirs)
				if strings.HasPrefix(url, "http:") {
					if r, err := http.ReadRequest(sent); err == nil {
						io.Copy(io.Discard, r.Body)
					}
					io.WriteString(theirs, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
				}
				io.Copy(io.Discard, sent) // until the other end closes
			}), "Boon/test", 0)
			o := s.Send(t.Context(), url, []merchant.WebhookSecret{secret(t)}, Message{"evt_1", []byte("{}")})
			if o.Succeeded() || o.Status != want.Status || o.Words != want.Words || o.Took != want.Took {
				t.Errorf("%s: %+v", url, o)
			}
			synctest.Wait() // a dial that went beyond the call may have begun to serve
			serving.Wait()
		})
	}
}

// TestNothingIsToldOfOtherNetworks: an endpoint at an address of the operator's own network gets no call, and its owner
// learns as much as of a name that there is not.
func TestNothingIsToldOfOtherNetworks(t *testing.T) {
	t.Parallel()
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("an internal service was called")
	}))
	t.Cleanup(inside.Close)
	none := &Guard{Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, context.DeadlineExceeded }}
	for url, g := range map[string]*Guard{
		inside.URL: {}, strings.Replace(inside.URL, "127.0.0.1", "localhost", 1): {}, "https://nowhere.invalid": none,
		strings.Replace(inside.URL, "127.0.0.1", "[::ffff:127.0.0.1]", 1): {}, "http://93.184.215.14": {},
	} {
		o := sender(t, g).Send(t.Context(), url, []merchant.WebhookSecret{secret(t)}, Message{"evt_1", []byte("{}")})
		if o.Words != "The host has no address that may be called." || o.Status != 0 || o.Answer != nil {
			t.Errorf("%s: %+v", url, o)
		}
	}
	// Allowed, but with a certificate of its own making.
	o := sender(t, loopback).Send(t.Context(), inside.URL, []merchant.WebhookSecret{secret(t)}, Message{"evt_1",
		[]byte("{}")})
	if o.Status != 0 || o.Words != "Its certificate is not valid for the host." {
		t.Errorf("%+v", o)
	}
}

// TestRetrySchedule: 5 s, 5 min, … 24 h, each up to a tenth shorter or longer; then no more.
func TestRetrySchedule(t *testing.T) {
	t.Parallel()
	total := time.Duration(0)
	for n, want := range []string{"5s", "5m", "30m", "2h", "5h", "10h", "14h", "20h", "24h"} {
		d, err := time.ParseDuration(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, random := range []float64{0, 0.25, 0.5, 0.999} {
			got, ok := Retry(n+1, random)
			if !ok || got < d*9/10 || got > d*11/10 || random == 0.5 && got != d {
				t.Errorf("attempt %d: %s, want %s", n+1, got, want)
			}
		}
		total += d
	}
	if _, ok := Retry(10, 0); ok {
		t.Error("it is tried an eleventh time")
	}
	if _, ok := Retry(0, 0); ok || total >= FailingMost {
		t.Errorf("%s", total)
	}
}

// TestDestinations: hosts whose calls ended at one address are one destination; of IPv6 that is a network of 64 bits.
func TestDestinations(t *testing.T) {
	t.Parallel()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	port := receiver.URL[strings.LastIndexByte(receiver.URL, ':'):]
	s := sender(t, &Guard{Allow: loopback.Allow, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	if at := s.Destination("http://a.example" + port); at != "a.example" {
		t.Errorf("before a call: %s", at)
	}
	for _, url := range []string{"http://a.example" + port, "http://B.example" + port + "/x", receiver.URL} {
		if o := s.Send(t.Context(), url, []merchant.WebhookSecret{secret(t)}, Message{"evt_1",
			[]byte("{}")}); !o.Succeeded() {
			t.Fatalf("%+v", o)
		}
		if at := s.Destination(url); at != "127.0.0.1/32" {
			t.Errorf("%s is at %s", url, at)
		}
	}
	for address, want := range map[string]string{"[2606:2800:220:1::1]:443": "2606:2800:220:1::/64",
		"[::ffff:8.8.8.8]:443": "8.8.8.8/32"} {
		if _, err := s.remember("six.example:443", conn{to: address}, nil); err != nil {
			t.Error(err)
		}
		if got := s.Destination("https://six.example/hook"); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}

// conn is a connection to somewhere.
type conn struct {
	net.Conn
	to string
}

func (c conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.to)) }
