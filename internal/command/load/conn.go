package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Target is a service as the load sees it.
type Target struct {
	address string // host:port
	head    string // of every request to it: Host, Authorization
	base    string // path that the interface's paths are under
	tls     *tls.Config
}

// NewTarget names the service at a URL such as https://gifts.example.com, and the API key that calls it.
func NewTarget(base, key string) (*Target, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" ||
		u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the target must be http://HOST:PORT or https://HOST, with nothing behind it but a path")
	}
	if strings.ContainsAny(key, "\r\n") {
		return nil, errors.New("the API key holds a line break")
	}
	t := &Target{base: strings.TrimRight(u.EscapedPath(), "/")}
	port := "80"
	if u.Scheme == "https" {
		port, t.tls = "443", &tls.Config{ServerName: u.Hostname()}
	}
	if u.Port() != "" {
		port = u.Port()
	}
	t.address = net.JoinHostPort(u.Hostname(), port)
	t.head = "Host: " + u.Host + "\r\nAuthorization: Bearer " + key + "\r\n"
	return t, nil
}

// conn is one connection, kept alive. It writes requests as they are and reads answers, no more of HTTP than that, so
// that the load costs little beside what it measures.
type conn struct {
	net.Conn
	in      *bufio.Reader
	limited time.Time // when its deadline was set
}

// answerTimeout is how long one answer may take; setting it anew for each call would cost more than it is worth.
const answerTimeout = time.Minute

func (t *Target) dial(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var c net.Conn
	var err error
	if t.tls == nil {
		c, err = new(net.Dialer).DialContext(ctx, "tcp", t.address)
	} else {
		c, err = (&tls.Dialer{Config: t.tls}).DialContext(ctx, "tcp", t.address)
	}
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: bufio.NewReaderSize(c, 4<<10)}, nil
}

// answer is what is of interest in an answer.
type answer struct {
	status int
	code   string // of the interface; "": a success, or not the interface's answer
	body   string // of a refusal
	close  bool   // the connection takes no more requests
}

// exchange sends a request and reads its answer to the end.
func (c *conn) exchange(request []byte) (a answer, _ error) {
	if now := time.Now(); now.Sub(c.limited) > time.Second {
		c.limited = now
		if err := c.SetDeadline(now.Add(answerTimeout)); err != nil {
			return a, err
		}
	}
	if _, err := c.Write(request); err != nil {
		return a, err
	}
	return readAnswer(c.in)
}

func readAnswer(in *bufio.Reader) (a answer, err error) {
	length, chunked := int64(-1), false
	for a.status < 200 { // what is below is not the answer yet
		line, err := in.ReadSlice('\n')
		if err != nil {
			return a, err
		}
		if !bytes.HasPrefix(line, []byte("HTTP/1.")) || len(line) < 12 {
			return a, errors.New("the answer is not HTTP/1.1")
		}
		if a.status, err = strconv.Atoi(string(line[9:12])); err != nil {
			return a, errors.New("the answer is not HTTP/1.1")
		}
		if length, chunked, err = readHeader(in, &a); err != nil {
			return a, err
		}
	}
	var body io.Reader = in
	switch {
	case a.status == 204 || a.status == 304:
		return a, nil
	case chunked:
		body = httputil.NewChunkedReader(in)
	case length >= 0:
		if a.status < 400 {
			_, err := in.Discard(int(length))
			return a, err
		}
		body = io.LimitReader(in, length)
	default:
		a.close = true // the body ends with the connection
	}
	if a.status >= 400 {
		text, err := io.ReadAll(io.LimitReader(body, 64<<10))
		if err != nil {
			return a, err
		}
		a.code, a.body = codeIn(text), string(text)
	}
	if _, err = io.Copy(io.Discard, body); err != nil || !chunked {
		return a, err
	}
	_, _, err = readHeader(in, &a) // the trailer, with the empty line behind it
	return a, err
}

// readHeader reads lines up to the empty one.
func readHeader(in *bufio.Reader, a *answer) (length int64, chunked bool, _ error) {
	length = -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, false, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return length, chunked, nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case len(name) == 14 && bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.ParseInt(string(value), 10, 32); err != nil || length < 0 {
				return 0, false, fmt.Errorf("the answer's Content-Length is %q", value)
			}
		case len(name) == 17 && bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = bytes.EqualFold(value, []byte("chunked"))
		case len(name) == 10 && bytes.EqualFold(name, []byte("Connection")):
			a.close = a.close || bytes.EqualFold(value, []byte("close"))
		}
	}
}

// codeIn finds the code of a refusal.
func codeIn(problem []byte) string {
	_, rest, _ := bytes.Cut(problem, []byte(`"code":"`))
	code, _, found := bytes.Cut(rest, []byte(`"`))
	if !found || len(code) > 64 {
		return ""
	}
	return string(code)
}
