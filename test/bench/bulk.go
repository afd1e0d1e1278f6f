package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/emersion/go-smtp"

	"boon.example/internal/post/mail"
	"boon.example/internal/server"
	"boon.example/internal/setup"
	"boon.example/internal/store"
	"boon.example/internal/store/pgtest"
)

// What a bulk is: so many calls of send-gift with so many recipients each.
const (
	bulkCalls = 10
	bulkSize  = 1000
	bulkKey   = "boon_live_bulk_0123456789abcdef0123456789abcdef"
)

const bulkSetup = `accounts:
  - id: 0199a000-0000-7000-8000-000000000001
    name: Bulk
    currency: USD
    timeZone: UTC
    language: en
    subscriptions: [{program: 22222222-2222-2222-2222-222222222222}]
    locations: [{id: 0199a000-0000-7000-8000-000000000002, name: Here}]
    storefronts: [{id: 0199a000-0000-7000-8000-000000000003, name: Web}]
    keys: [{name: shop, role: all, secret: ` + bulkKey + `}]
`

// bulk tells of a bulk on a store of its own, of the kind that the trial has.
func (h *trial) bulk() (err error) {
	url := ""
	if h.name == "postgres" {
		database, err := pgtest.Start()
		if err != nil {
			return err
		}
		defer database.Close()
		url = database.URL
	}
	return bulk(h.report.note, url)
}

// bulk measures what ten calls for a thousand gifts by e-mail each come to, on a store of its own: an empty database,
// or "" for the embedded store. The service sends to a mail server in this process, which takes everything, on the same
// cores. It notes the time of the calls, the time from the first of them to the last mail, and mails per second.
func bulk(note func(format string, args ...any), database string) (err error) {
	dir, err := os.MkdirTemp("", "boon-bulk-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sink, err := openSink()
	if err != nil {
		return err
	}
	defer sink.Close()
	url, stop, err := serveBulk(dir, database, sink.address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	begun := time.Now()
	for call := range bulkCalls {
		if err := sendBulk(url, call); err != nil {
			return err
		}
	}
	called := time.Since(begun)
	select {
	case <-sink.full:
	case <-time.After(10 * time.Minute):
		return fmt.Errorf("only %d mails came within ten minutes", sink.taken.Load())
	}
	took := time.Since(begun)
	note("**10,000 gifts by e-mail in ten calls**: answered after %.1f s, the last mail after %.1f s, %.0f mails a "+
		"second.", called.Seconds(), took.Seconds(), bulkCalls*bulkSize/took.Seconds())
	return nil
}

// sink is a mail server that takes everything, and keeps nothing.
type sink struct {
	*smtp.Server
	address string
	taken   atomic.Int64
	full    chan struct{} // closed when all of a bulk has come
}

func openSink() (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{address: l.Addr().String(), full: make(chan struct{})}
	s.Server = smtp.NewServer(s)
	s.Domain, s.ErrorLog = "localhost", slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	go s.Serve(l)
	return s, nil
}

// NewSession implements smtp.Backend, and the rest a session.
func (s *sink) NewSession(*smtp.Conn) (smtp.Session, error) { return s, nil }

func (s *sink) Reset()                               {}
func (s *sink) Logout() error                        { return nil }
func (s *sink) Mail(string, *smtp.MailOptions) error { return nil }
func (s *sink) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (s *sink) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	if err == nil && s.taken.Add(1) == bulkCalls*bulkSize {
		close(s.full)
	}
	return err
}

// serveBulk starts the service.
func serveBulk(dir, database, smtpAddress string) (url string, stop func() error, _ error) {
	gateway, err := mail.ParseServer("smtp://" + smtpAddress + "?from=gifts@example.com")
	if err != nil {
		return "", nil, err
	}
	db, err := store.Open(context.Background(), store.Options{Dir: dir, Database: database})
	if err != nil {
		return "", nil, err
	}
	file, err := setup.Parse("setup.yaml", []byte(bulkSetup))
	if err == nil {
		_, err = file.Apply(context.Background(), db, time.Now(), rand.Reader)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- server.Run(ctx, server.Config{Listen: "127.0.0.1:0", Data: dir, Database: database, SMTP: gateway,
			PublicURL: "https://gifts.example.com", Logger: slog.New(slog.DiscardHandler), Ready: func(a string) { ready <- a }})
	}()
	stop = func() error { cancel(); return <-ended }
	select {
	case address := <-ready:
		return "http://" + strings.TrimPrefix(address, "http://"), stop, nil
	case err := <-ended:
		cancel()
		return "", nil, fmt.Errorf("the service did not start: %w", err)
	}
}

// sendBulk makes one call.
func sendBulk(url string, call int) error {
	var to []string
	for n := range bulkSize {
		at := call*bulkSize + n
		to = append(to, fmt.Sprintf(`{"recipientDescription":"Recipient %d","recipientContact":"r%d@d%d.example","message":"Thank you!"}`, at, at, at%20))
	}
	body := fmt.Sprintf(`{"monetaryGift":{"value":25,"deliveryMethodID":1},"recipients":[%s],"paymentMethodID":2,`+
		`"externalTransactionReferenceNumber":"BULK","externalTransactionCustomerFirstName":"Ann","externalTransactionCustomerLastName":"Lee",`+
		`"externalTransactionCustomerEmailAddress":"ann@example.com","externalStorefrontID":"0199a000-0000-7000-8000-000000000003"}`, strings.Join(to, ","))
	request, err := http.NewRequest("POST", url+"/api/integration/gifting/send-gift", bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", bulkKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err = io.Copy(io.Discard, answer.Body); err == nil && answer.StatusCode != http.StatusCreated {
		err = fmt.Errorf("send-gift was answered %d", answer.StatusCode)
	}
	return err
}
