package mail

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"boon.example/internal/post/message"
)

// connection is one to the server, of which one goroutine at a time makes use.
type connection struct {
	raw    net.Conn
	client *smtp.Client
	mails  int
	expiry *time.Timer // while it is idle
}

// envelope is one mail on its way.
type envelope struct {
	from, to      string
	international bool // the recipient's address is beyond ASCII
	text          []byte
}

// dial connects, secures the connection and signs in. Whatever fails is the server's fault, not the mail's.
func (c *Carrier) dial(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, greetingTimeout)
	defer cancel()
	raw, err := c.connect(ctx)
	if err != nil {
		return nil, &message.Unreachable{Cause: err}
	}
	conn := &connection{raw: raw}
	if err := conn.during(ctx, func() error { return c.greet(ctx, conn) }); err != nil {
		conn.close()
		return nil, &message.Unreachable{Cause: err}
	}
	return conn, nil
}

func (c *Carrier) greet(ctx context.Context, conn *connection) (err error) {
	if err := conn.within(greetingTimeout); err != nil {
		return err
	}
	secure := &tls.Config{ServerName: c.server.Host, MinVersion: tls.VersionTLS12, RootCAs: c.server.Authority}
	stream := conn.raw
	if c.server.TLS {
		encrypted := tls.Client(conn.raw, secure)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return fmt.Errorf("securing the connection: %w", err)
		}
		stream = encrypted
	}
	if conn.client, err = smtp.NewClient(stream, c.server.Host); err != nil {
		return fmt.Errorf("the mail server's greeting: %w", err)
	}
	if err := conn.client.Hello(c.hello); err != nil {
		return fmt.Errorf("introducing ourselves to the mail server: %w", err)
	}
	if err := c.startTLS(conn, secure); err != nil {
		return err
	}
	return c.signIn(conn)
}

// startTLS secures a connection that is not yet. Only to loopback it may stay plain: anything else could be an attacker
// between us and the server that removed the offer.
func (c *Carrier) startTLS(conn *connection, secure *tls.Config) error {
	offered, _ := conn.client.Extension("STARTTLS")
	switch {
	case c.server.TLS || c.server.Plain || !offered && c.server.mayBePlain:
		return nil
	case !offered:
		return errors.New("the mail server does not offer STARTTLS, without which nothing is sent to it; smtps:// uses " +
			"TLS from the start")
	}
	if err := conn.client.StartTLS(secure); err != nil {
		return fmt.Errorf("securing the connection: %w", err)
	}
	return nil
}

// signIn uses the safest way that the server offers.
func (c *Carrier) signIn(conn *connection) error {
	if c.server.User == "" {
		return nil
	}
	_, offered := conn.client.Extension("AUTH")
	user, password, host := c.server.User, c.server.Password, c.server.Host
	var way smtp.Auth
	for _, name := range strings.Fields(offered) {
		switch {
		case name == "SCRAM-SHA-256":
			way = smtp.ScramSHA256Auth(user, password)
		case name == "PLAIN" && way == nil:
			way = smtp.PlainAuth("", user, password, host, true) // the connection is secure, or does not leave the machine
		}
	}
	if way == nil && strings.Contains(offered, "LOGIN") {
		way = smtp.LoginAuth(user, password, host, true)
	}
	if way == nil && strings.Contains(offered, "CRAM-MD5") {
		way = smtp.CRAMMD5Auth(user, password)
	}
	if way == nil {
		return errors.New("the mail server offers no way to sign in that we know (PLAIN, LOGIN, SCRAM-SHA-256, CRAM-MD5)")
	}
	if err := conn.client.Auth(way); err != nil {
		return fmt.Errorf("signing in to the mail server: %w", err)
	}
	return nil
}

// during does something with the connection, which is cut when ctx ends.
func (conn *connection) during(ctx context.Context, do func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.raw.Close() })
	err := do()
	if !stop() && err != nil && !answered(err) {
		if doubt := new(message.Doubt); errors.As(err, &doubt) {
			return &message.Doubt{Cause: ctx.Err()}
		}
		return ctx.Err()
	}
	return err
}

func (conn *connection) within(d time.Duration) error { return conn.raw.SetDeadline(time.Now().Add(d)) }

// begin names the sender. What is wrong here is between the server and us, not the recipient's.
func (conn *connection) begin(e *envelope) error {
	if err := conn.within(commandTimeout); err != nil {
		return &message.Unreachable{Cause: err}
	}
	international, _ := conn.client.Extension("SMTPUTF8")
	if e.international && !international {
		return &message.Refusal{Words: "The mail server does not take addresses with letters beyond ASCII."}
	}
	conn.client.SkipSMTPUTF8(!e.international)
	if err := conn.client.Mail("<" + e.from + ">"); err != nil {
		return &message.Unreachable{Cause: fmt.Errorf("naming the sender: %w", err)}
	}
	return nil
}

// send names the recipient and hands the mail over.
func (conn *connection) send(e *envelope) error {
	if err := conn.client.Rcpt("<" + e.to + ">"); err != nil {
		return judge(err)
	}
	w, err := conn.client.Data()
	if err != nil {
		return judge(err)
	}
	if err := conn.within(answerTimeout); err != nil {
		return lost(err)
	}
	if _, err := w.Write(e.text); err != nil {
		return lost(err)
	}
	if err := conn.client.Text.W.Flush(); err != nil {
		return lost(err)
	}
	if err := conn.alive(); err != nil {
		return lost(err)
	}
	// Up to here the server has no whole mail and cannot have accepted it. From the final dot on, only its answer tells.
	if err := w.(*smtp.DataCloser).WriteCloser.Close(); err != nil {
		return &message.Doubt{Cause: err}
	}
	if _, _, err = conn.client.Text.ReadResponse(250); err == nil {
		return nil
	}
	var answer *textproto.Error
	if errors.As(err, &answer) && answer.Code >= 400 && answer.Code < 600 {
		return judge(err)
	}
	return &message.Doubt{Cause: err}
}

// alive finds out whether the server has hung up or spoken in the middle, as far as that can be known: an end that came
// before the final dot is no matter of doubt, and what was said before it is no answer to the mail.
func (conn *connection) alive() error {
	const glance = 2 * time.Millisecond
	if err := conn.raw.SetReadDeadline(time.Now().Add(glance)); err != nil {
		return err
	}
	switch _, err := conn.client.Text.R.Peek(1); {
	case err == nil:
		return errors.New("the mail server answered before it had the whole mail")
	case !timedOut(err):
		return err
	}
	return conn.within(answerTimeout)
}

// judge tells an answer about this mail apart: 5xx is for good.
func judge(err error) error {
	var answer *textproto.Error
	if !errors.As(err, &answer) {
		return lost(err)
	}
	if answer.Code >= 500 && answer.Code < 600 {
		return &message.Refusal{Words: answer.Error()}
	}
	return err
}

// lost tells that the connection ended under a mail. It is not said to be the server's fault: a slow recipient can make
// a server wait for long.
func lost(err error) error {
	return fmt.Errorf("the connection to the mail server was lost: %w", err)
}

// reset makes the connection ready for another mail after a refusal.
func (conn *connection) reset() error {
	if err := conn.within(commandTimeout); err != nil {
		return err
	}
	return conn.client.Reset()
}

// goodbye ends the dialogue with QUIT and closes the connection.
func (conn *connection) goodbye() {
	if conn.within(goodbyeTimeout) == nil {
		_ = conn.client.Quit() // it is over either way
	}
	conn.close()
}

func (conn *connection) close() { conn.raw.Close() }
