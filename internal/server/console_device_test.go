package server_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/emersion/go-smtp"

	"boon.example/internal/guid"
	"boon.example/internal/server"
	"boon.example/internal/staff"
	"boon.example/internal/store"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// TestANewDeviceIsTold by e-mail, through a real conversation with a mail server: once for each device, in the language
// that the person uses, whatever that of the new device. What a thief must not read is not in it, nor in the log.
func TestANewDeviceIsTold(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	b, link := s.browser(), s.invite("ann@example.com", staff.Manager)
	b.want(http.StatusSeeOther, link, url.Values{}, "Accept-Language", "de", "User-Agent", firefox)
	source := receive(t, box.letters)
	mail := readLetter(t, source)
	if mail.subject != "Neue Anmeldung in der Konsole von Harbor Coffee" || mail.language != "de" ||
		!strings.Contains(source, "<ann@example.com>\r\n") {
		t.Errorf("the mail is %s", source)
	}
	for _, text := range []string{mail.text, mail.html} {
		for _, want := range []string{"Hallo ann!", "Harbor Coffee", "Firefox, Linux", "127.0.0.1", "New York",
			s.url + harborConsole + "you"} {
			if !strings.Contains(text, want) {
				t.Errorf("the mail lacks %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, b.token()) || strings.Contains(text, link[len(link)-43:]) {
			t.Error("the mail lets somebody in")
		}
	}
	b.want(http.StatusSeeOther, harborConsole+"you/password", url.Values{"password": {words}})
	in := signIn("ann@example.com", words, "")
	b.want(http.StatusSeeOther, harborConsole+"sign-in", in, "Accept-Language", "de") // is known
	s.browser().want(http.StatusForbidden, harborConsole+"sign-in", signIn("ann@example.com", "wrong", ""))
	s.browser().want(http.StatusSeeOther, harborConsole+"sign-in", in, "Accept-Language", "es", "User-Agent", "curl/8.5")
	if mail = readLetter(t, receive(t, box.letters)); !strings.Contains(mail.text, "\nGerät: curl\n") {
		t.Errorf("the second mail is not about the new device, in the language of the person: %s", mail.text)
	}
	s.eventually(func() bool { return s.noticesLeft() == 0 })
	if len(box.letters) > 0 {
		t.Errorf("one more mail came: %s", <-box.letters)
	}
	if strings.Contains(s.logs.String(), "ann@example.com") {
		t.Error("the log has an address")
	}
}

// noticesLeft counts the mails to the staff that are still to be sent.
func (s *service) noticesLeft() (n int) {
	s.withStore(func(db *store.Store) (err error) {
		n, err = db.CountNotices(s.Context())
		return err
	})
	return n
}

// refusing is a mail server that takes no mail, and repeats the address.
type refusing struct {
	*mailbox

	code int
}

func (m *refusing) NewSession(*smtp.Conn) (smtp.Session, error) { return m, nil }
func (m *refusing) Rcpt(to string, _ *smtp.RcptOptions) error {
	m.letters <- to
	return &smtp.SMTPError{Code: m.code, Message: "no mail for " + to}
}

// TestAMailServerThatRefuses keeps nobody out; what it refuses for now waits, what it refuses for good is given up, and
// its words about the person are in no log.
func TestAMailServerThatRefuses(t *testing.T) {
	t.Parallel()
	for code, left := range map[int]int{550: 0, 451: 1} {
		box, smtpServer := openServer(t, &refusing{&mailbox{make(chan string, 100)}, code})
		s := start(t, server.Config{SMTP: smtpServer})
		ann := s.joined("ann@example.com", staff.Manager)
		ann.want(http.StatusOK, harborConsole+"you", nil)
		receive(t, box.letters)
		s.eventually(func() bool { return strings.Contains(s.logs.String(), "a mail about a sign-in was") })
		s.eventually(func() bool { return s.noticesLeft() == left })
		if strings.Contains(s.logs.String(), "ann@example.com") {
			t.Errorf("%d: the log has an address: %s", code, s.logs)
		}
	}
}

// TestNobodyIsToldWithoutAMailServer: nothing waits for one, which may never come.
func TestNobodyIsToldWithoutAMailServer(t *testing.T) {
	t.Parallel()
	s := start(t, server.Config{})
	s.joined("ann@example.com", staff.Manager)
	if n := s.noticesLeft(); n != 0 {
		t.Errorf("%d mails wait", n)
	}
}

// TestANewDeviceInATestAccount is told in the outbox: a test account sends nobody anything.
func TestANewDeviceInATestAccount(t *testing.T) {
	t.Parallel()
	box, smtpServer := openMailbox(t)
	s := start(t, server.Config{SMTP: smtpServer})
	s.ofTheTestAccount("ann@example.com")
	s.eventually(func() bool { return s.noticesLeft() == 0 })
	if len(box.letters) > 0 {
		t.Error("a test account sent a mail")
	}
	s.withStore(func(db *store.Store) error {
		kept, err := db.Messages(s.Context(), guid.ID{}, 10)
		if err == nil && (len(kept) != 1 || kept[0].To != "ann@example.com" ||
			!strings.HasPrefix(kept[0].Subject, "New sign-in to the console of TEST ")) {
			t.Errorf("the outbox has %+v", kept)
		}
		return err
	})
}
