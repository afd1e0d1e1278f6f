package mail

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	stdmail "net/mail"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/emersion/go-smtp"

	"boon.example/internal/contact"
	"boon.example/internal/post/delivery/deliverytest"
)

// fickle is a server that does everything that servers do, by lot.
type fickle struct {
	*deliverytest.Fickle
	conn *smtp.Conn
	to   string // the recipient of this mail
}

func (s *fickle) Reset()                               {}
func (s *fickle) Logout() error                        { return nil }
func (s *fickle) Mail(string, *smtp.MailOptions) error { return nil }

func (s *fickle) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	s.Tried(to)
	switch {
	case strings.HasPrefix(to, "nobody"):
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	case strings.HasPrefix(to, "full"):
		return &smtp.SMTPError{Code: 452, Message: "mailbox full"}
	case s.Draw(to) == 0:
		return &smtp.SMTPError{Code: 451, Message: "try again"}
	}
	return nil
}

func (s *fickle) Data(r io.Reader) error {
	switch s.Draw(s.to) {
	case 0: // the line breaks in the middle
		io.ReadFull(r, make([]byte, 1000))
		return s.conn.Close()
	case 1:
		io.Copy(io.Discard, r)
		return &smtp.SMTPError{Code: 451, Message: "busy"}
	case 2: // taken, but the answer is lost
		s.take(r, true)
		return s.conn.Close()
	case 3: // not taken, and the answer is lost
		io.Copy(io.Discard, r)
		return s.conn.Close()
	case 4:
		time.Sleep(20 * time.Second)
	}
	return s.take(r, false)
}

func (s *fickle) take(r io.Reader, lost bool) error {
	m, err := stdmail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, m.Body); err != nil {
		return err
	}
	s.Took(s.to, m.Header.Get("Message-ID"), lost)
	return nil
}

// TestEveryMailArrives: through a server that refuses, stalls and hangs up, each gift ends as decided. Each mail was
// taken exactly once where the answer was known, and at most twice, with the same Message-ID, where it was not.
func TestEveryMailArrives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := deliverytest.NewFickle(1, 2)
		story := &deliverytest.Story{
			Server: f, Carrier: serve(t, f), SendTimeout: SendTimeout, Method: contact.Email, Gifts: gifts(),
			Somebody: "anna", Nobody: "nobody", Full: "full", Refusal: "no such user",
			Contact: func(who string, n int) string { return fmt.Sprintf("%s%d@d%d.example", who, n, n%3) },
		}
		story.Run(t)
	})
}

// gifts is how many there are: fewer where time matters.
func gifts() int {
	if testing.Short() {
		return 40
	}
	return 100
}

// serve runs the server until the test ends, and gives a carrier to it.
func serve(t *testing.T, f *deliverytest.Fickle) *Carrier {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session,
		error) {
		return &fickle{Fickle: f, conn: c}, nil
	}))
	server.Domain, server.ErrorLog = "localhost", slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	dial := f.Serve(t, server)
	carrier := NewCarrier(Server{Host: "localhost", Plain: true, From: "gifts@example.com"})
	carrier.connect = func(context.Context) (net.Conn, error) { return dial() }
	t.Cleanup(carrier.Close)
	return carrier
}
