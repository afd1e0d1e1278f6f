package server_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"boon.example/examples"
	"boon.example/internal/post/mail"
	"boon.example/internal/post/sms"
	"boon.example/internal/server"
)

// mailbox is a mail server that takes everything.
type mailbox struct{ letters chan string }

func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return m, nil }
func (m *mailbox) Reset()                                      {}
func (m *mailbox) Logout() error                               { return nil }
func (m *mailbox) Mail(string, *smtp.MailOptions) error        { return nil }
func (m *mailbox) Rcpt(to string, _ *smtp.RcptOptions) error   { return nil }
func (m *mailbox) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	m.letters <- string(text)
	return err
}

// openMailbox runs a mail server until the test ends.
func openMailbox(t *testing.T) (*mailbox, *mail.Server) {
	t.Helper()
	return openServer(t, &mailbox{make(chan string, 100)})
}

// openServer runs a mail server that does as a backend says.
func openServer[B smtp.Backend](t *testing.T, backend B) (B, *mail.Server) {
	t.Helper()
	s := smtp.NewServer(backend)
	s.Domain, s.ErrorLog = "localhost", slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); s.Serve(listener) }()
	t.Cleanup(func() { s.Close(); <-served })
	address, err := mail.ParseServer("smtp://" + listener.Addr().String() + "?from=gifts@example.com")
	if err != nil {
		t.Fatal(err)
	}
	return backend, address
}

const smsToken = "auth-token-of-the-tests"

// openPhones runs an SMS gateway that takes everything.
func openPhones(t *testing.T) (<-chan url.Values, *sms.Account) {
	t.Helper()
	sent := make(chan url.Values, 100)
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"sid":"SM1","status":"queued"}`)
		sent <- r.PostForm
	}))
	t.Cleanup(gateway.Close)
	a, err := sms.ParseAccount("twilio://AC1:" + smsToken +
		"@" + strings.TrimPrefix(gateway.URL, "http://") + "?from=+14155550100&insecure=1")
	if err != nil {
		t.Fatal(err)
	}
	return sent, a
}

func receive[T any](t *testing.T, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(timeout):
		t.Fatalf("nothing arrived within %v", timeout)
	}
	return got
}

// become waits until a gift has a status.
func (s *service) become(g soldGift, status string) {
	s.Helper()
	var now soldGift
	s.eventually(func() bool {
		s.must("GET", giftPath+g.VoucherID, examples.HarborWebShopKey, "", &now)
		return now.Status == status
	})
}

// TestRealGateways: a gift by mail and one by SMS leave, a notice of what is left follows, a late failure is heard once
// and a replay of it is not, and no secret is in the log.
func TestRealGateways(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	phones, account := openPhones(t)
	s := start(t, server.Config{SMTP: smtpServer, SMS: account})
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()),
		"    timeZone:", "    balanceNotice: true\n    timeZone:", 1)))

	g := s.sell(`{"value":25,"deliveryMethodID":1,"recipientDescription":"Ana Müller",` +
		`"recipientContact":"ana@example.com"}`)
	letter := receive(t, box.letters)
	if !strings.Contains(letter, "\r\nTo: =?utf-8?") || !strings.Contains(letter,
		"From: \"Harbor Coffee\" <gifts@example.com>\r\n") {
		t.Errorf("the mail is\n%.1500s", letter)
	}
	s.become(g, "DELIVERED")
	s.learned()
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":9.5}`, nil)
	if notice := receive(t, box.letters); !strings.Contains(notice,
		"Subject: $15.50 left on your gift at Harbor Coffee") {
		t.Errorf("the notice is\n%.1500s", notice)
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`"}`, nil)

	text := s.sell(`{"value":10,"deliveryMethodID":2,"recipientContact":"4155550132"}`)
	form := receive(t, phones)
	if !strings.HasSuffix(form.Get("Body"), " "+text.GiftURL) || form.Get("To") != "+14155550132" {
		t.Errorf("the text message is %v", form)
	}
	for range 2 { // the second is a replay
		s.report(form.Get("StatusCallback"), "undelivered", http.StatusNoContent)
		s.become(text, "FAILED_DELIVERY")
	}
	s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+text.VoucherID+`","amount":1}`, nil)
	receive(t, phones) // the notice
	s.report(form.Get("StatusCallback"), "failed", http.StatusNoContent)
	s.become(text, "CLAIMED")
	forged := strings.Replace(form.Get("StatusCallback"), "/hooks/twilio/", "/hooks/twilio/x", 1)
	s.report(forged, "failed", http.StatusNotFound)
	if len(box.letters) > 0 || len(phones) > 0 {
		t.Errorf("%d more mails and %d more text messages", len(box.letters), len(phones))
	}
	s.measures(`boon_delivery_attempts_total{method="email",outcome="accepted"} 2`,
		`boon_delivery_attempts_total{method="sms",outcome="accepted"} 2`,
		`boon_delivery_attempts_total{method="sms",outcome="given_up"} 0`, `boon_delivery_gateway_resting{method="email"} 0`,
		`boon_delivery_gateway_resting{method="sms"} 0`, "boon_delivery_jobs_waiting 0", "boon_delivery_jobs_overdue "+
			"0", "boon_delivery_oldest_seconds 0")
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{smsToken, "AC1", "ana@example.com",
		"5550132", g.VoucherCode, text.VoucherPublicToken} {
		if strings.Contains(s.logs.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

// measures waits until the metrics have these lines.
func (s *service) measures(lines ...string) {
	s.Helper()
	for begun := time.Now(); ; {
		_, metrics, err := s.call("GET", "/metrics", "", "")
		if err != nil {
			s.Fatal(err)
		}
		missing := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
			return strings.Contains(string(metrics),
				line+"\n")
		})
		if len(missing) == 0 {
			return
		}
		if time.Since(begun) > timeout {
			s.Fatalf("/metrics lacks %q after %v:\n%s", missing, timeout, metrics)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// report tells the service what became of a text message, as Twilio does.
func (s *service) report(address, status string, want int) {
	s.Helper()
	form := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {status}, "ErrorCode": {"30003"}}
	mac := hmac.New(sha1.New, []byte(smsToken))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		mac.Write([]byte(name + form.Get(name)))
	}
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Twilio-Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	answer, err := client.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != want {
		s.Errorf("a report that a message is %s was answered %d, want %d", status, answer.StatusCode, want)
	}
}

// TestNoticesStopAtALimit: a notice of what is left counts as a message, and is left out silently when the day's limit
// is reached; no redemption is refused for that. The gift itself is refused then.
func TestNoticesStopAtALimit(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.apply([]byte(strings.Replace(string(examples.HarborCoffee()), "    timeZone:",
		"    balanceNotice: true\n    limits: {messagesPerContactPerDay: 3}\n    timeZone:", 1)))
	s.learned()
	g := s.sell(`{"value":50,"deliveryMethodID":1,"recipientContact":"sam@example.com"}`)
	receive(t, box.letters)
	s.become(g, "DELIVERED")
	for n := range 5 {
		s.must("POST", redeemPath, examples.HarborTillKey, `{"voucherID":"`+g.VoucherID+`","amount":1}`, nil)
		if n < 2 {
			receive(t, box.letters)
			s.measures(fmt.Sprintf(`boon_delivery_attempts_total{method="email",outcome="accepted"} %d`, n+2))
		}
	}
	s.eventually(func() bool {
		return strings.Count(s.logs.String(), "a notice is left out: a daily limit is reached") == 3
	})
	if n := len(box.letters); n != 0 {
		t.Errorf("%d notices more than the limit; the log: %s", n, s.logs)
	}
	if strings.Contains(s.logs.String(), "sam@example.com") {
		t.Error("the log has a contact")
	}
}
