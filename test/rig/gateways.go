package rig

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/emersion/go-smtp"
)

// Mailbox is a mail server that accepts every message and hands it to take before it answers; url is what --smtp is
// given.
func Mailbox(take func(to, text string)) (url string, closeIt func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{take: take}, nil }))
	s.Domain, s.EnableSMTPUTF8, s.ErrorLog = "localhost", true, slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(l) }() // until it is closed
	return "smtp://" + l.Addr().String() + "?from=gifts@example.com", func() { s.Close(); <-served }, nil
}

type session struct {
	take func(to, text string)
	to   []string
}

func (s *session) Reset()                                    { s.to = nil }
func (s *session) Logout() error                             { return nil }
func (s *session) Mail(string, *smtp.MailOptions) error      { s.to = nil; return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = append(s.to, to); return nil }
func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		s.take(strings.Join(s.to, " and "), string(text))
	}
	return err
}

// Phone answers as Twilio's Messages resource does, accepts every text, and hands it to take before it answers; address
// is what --sms is given.
func Phone(take func(form url.Values)) (address string, closeIt func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ParseForm() == nil {
			take(r.PostForm)
		}
		w.WriteHeader(http.StatusCreated)
		// to a server that may have been killed
		_, _ = io.WriteString(w, `{"sid":"SM00000000000000000000000000000001","status":"queued"}`)
	}))
	return "twilio://AC00000000000000000000000000000000:secret@" + strings.TrimPrefix(s.URL, "http://") +
		"?from=+14155550100&insecure=1", s.Close
}
