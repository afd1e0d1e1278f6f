// Package mail carries messages to a mail server over SMTP: it composes them as MIME, keeps a few connections open, and
// tells what the server said apart into accepted, refused for good, refused for now, and unknown.
//
// It knows messages, not gifts, and retries nothing itself.
package mail

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
)

// Server says where mail is handed over and how.
type Server struct {
	Host      string
	Port      int
	TLS       bool // from the first byte, instead of STARTTLS
	Plain     bool // no TLS even if the server offers it; only to loopback
	User      string
	Password  string
	From      string         // the sender's address; "": to be filled in
	Authority *x509.CertPool // who may vouch for the server; nil: whom the system trusts

	mayBePlain bool // to loopback, TLS is not required
}

const example = "write smtp://user:password@host:587, or smtps://… for TLS from the start; characters other than " +
	"letters and digits " +
	"in user and password are percent-encoded (@ is %40)"

// ParseServer reads an address such as smtp://user:password@host:587?from=gifts@example.com. Its errors never repeat
// what was given, which holds a password.
func ParseServer(s string) (*Server, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("the mail server's address is not a URL: " + example)
	}
	if u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("the mail server's address must begin with smtp:// or smtps://: " + example)
	}
	v := &Server{Host: u.Hostname(), Port: 587, TLS: u.Scheme == "smtps", User: u.User.Username()}
	v.Password, _ = u.User.Password()
	if v.TLS {
		v.Port = 465
	}
	if p := u.Port(); p != "" {
		if v.Port, err = strconv.Atoi(p); err != nil || v.Port < 1 || v.Port > 65535 {
			return nil, errors.New("the port of the mail server must be from 1 to 65535")
		}
	}
	switch {
	case v.Host == "":
		return nil, errors.New("the mail server's address names no host: " + example)
	case strings.Trim(u.Path, "/") != "" || u.Fragment != "":
		return nil, errors.New("nothing but ?from=ADDRESS may follow the host and port of the mail server: " + example)
	case (v.User == "") != (v.Password == ""):
		return nil, errors.New("the mail server's address needs both user and password, or none: " + example)
	}
	v.mayBePlain = loopback(v.Host)
	return v, v.options(u.RawQuery)
}

func (v *Server) options(query string) error {
	q, err := url.ParseQuery(query)
	if err != nil {
		return errors.New("what follows the question mark of the mail server's address is not understood; it may be " +
			"from=ADDRESS")
	}
	for name, values := range q {
		switch {
		case len(values) != 1:
			return fmt.Errorf("the mail server's address sets %q more than once", name)
		case name == "from":
			if v.From, err = plainAddress(values[0]); err != nil {
				return fmt.Errorf("from= in the mail server's address must be one e-mail address, such as gifts@example.com, %w",
					err)
			}
		case name == "insecure" && values[0] == "1" && v.mayBePlain && !v.TLS:
			v.Plain = true
		case name == "insecure":
			return errors.New("insecure=1 is for smtp:// to this machine itself only: the mail would cross a network for " +
				"everyone to read")
		default:
			return fmt.Errorf("the mail server's address has an option %q that does not exist; there are from and insecure",
				name)
		}
	}
	if v.From == "" {
		v.From, _ = plainAddress(v.User)
	}
	return nil
}

// SetSender fills in the sender's address where neither the address nor its user names one: gifts@ the service's own
// host.
func (v *Server) SetSender(publicURL string) {
	if v.From != "" {
		return
	}
	v.From = "gifts@localhost"
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil {
		if from, err := plainAddress("gifts@" + u.Hostname()); err == nil {
			v.From = from
		}
	}
}

// plainAddress reads a sender's address, and gives it with its domain in ASCII: mail whose sender is not needs a server
// that speaks of international mail.
func plainAddress(s string) (string, error) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Name != "" || a.Address != s {
		return "", errors.New("without a name")
	}
	address, international, err := route(s)
	switch {
	case err != nil:
		return "", errors.New("with a valid domain")
	case international:
		return "", errors.New("with none but ASCII characters before the @")
	}
	return address, nil
}

// loopback reports whether a host is this machine itself.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

func (v *Server) address() string { return net.JoinHostPort(v.Host, strconv.Itoa(v.Port)) }
