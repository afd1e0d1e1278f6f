package mail

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/post/message"
)

// script is a mail server that says one thing after the other, whatever it hears; NUL parts them. It gives what it
// said.
func script(conn net.Conn, says string) (said string) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(200 * time.Millisecond)) // it may wait for more than is said
	answers := strings.Split(says, "\x00")
	next := func() bool {
		if len(answers) == 0 {
			return false
		}
		n, err := conn.Write([]byte(answers[0]))
		said, answers = said+answers[0][:n], answers[1:]
		return err == nil
	}
	if !next() {
		return said
	}
	data := false
	for in := bufio.NewScanner(conn); in.Scan(); {
		line := in.Text()
		if data && line != "." {
			continue
		}
		before := len(said)
		if !next() || data {
			return said
		}
		data = line == "DATA" && strings.HasPrefix(said[before:], "354")
	}
	return said
}

// tookMail reports whether what a server said can be an answer of 250 to a whole mail: a line of 250 after one of 354.
// A
// server that says both before it has heard the mail is not told from one that took it.
func tookMail(said string) bool {
	_, after, goOn := strings.Cut("\n"+said, "\n354")
	return goOn && strings.Contains(after, "\n250")
}

// FuzzReplies: whatever a mail server answers, the attempt ends, and a mail counts as accepted only when the server
// said 250 to the whole of it.
func FuzzReplies(f *testing.F) {
	good := []string{"220 hello\r\n", "250-hello\r\n250 8BITMIME\r\n", "250 ok\r\n", "250 ok\r\n", "354 go on\r\n",
		"250 taken\r\n", "221 bye\r\n"}
	f.Add(strings.Join(good, "\x00"))
	for n, bad := range []string{"554 no\r\n", "500\r\n", "250-\r\n", "550 5.1.1 no such user\r\n", "354\r\n354 x\r\n",
		"451 later\r\n"} {
		f.Add(strings.Join(append(append(append([]string{}, good[:n]...), bad), good[n+1:]...), "\x00"))
	}
	f.Add("220 x\r\n\x00250-a\r\n250-STARTTLS\r\n250 AUTH PLAIN\r\n")
	f.Add("\xff\x00\r\n")
	m := message.Message{ID: guid.ID{7}, GiftID: guid.ID{8}, AccountID: guid.ID{9}, Method: contact.Email,
		To: "ann@example.com", Subject: "A gift", Text: "x", HTML: "<p>x"}
	f.Fuzz(func(t *testing.T, says string) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		said := make(chan string, 1)
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				said <- ""
				return
			}
			said <- script(conn, says)
		}()
		server, err := ParseServer("smtp://" + listener.Addr().String() + "?from=gifts@example.com&insecure=1")
		if err != nil {
			t.Fatal(err)
		}
		c := NewCarrier(*server)
		carried := c.Carry(t.Context(), m)
		c.Close()
		listener.Close()
		if heard := <-said; carried == nil && !tookMail(heard) {
			t.Errorf("%q: the mail counts as accepted", heard)
		}
	})
}

// FuzzServer: a refusal of the mail server's address never repeats the password.
func FuzzServer(f *testing.F) {
	f.Add("smtp://anna:" + password + "@mail.example.com:587?from=gifts@example.com")
	f.Add("smtps://anna:s3cret%2Fpa55@[::1]:465?insecure=1")
	f.Add("smtp://h:99999?from=a@b&from=c@d")
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseServer(s)
		if err == nil && (v.Host == "" || v.Port < 1 || v.Port > 65535 || strings.ContainsAny(v.From, "\r\n <>")) {
			t.Errorf("%q is read as %+v", s, v)
		}
		if err != nil && strings.Contains(err.Error(), password) {
			t.Errorf("the refusal repeats the password: %v", err)
		}
	})
}
