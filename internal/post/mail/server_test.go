package mail

import (
	"strings"
	"testing"
)

func TestParseServer(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]Server{
		"smtp://anna:s%40cret@mail.example.com": {Host: "mail.example.com", Port: 587, User: "anna",
			Password: "s@cret"},
		"smtps://a@x.org:pw@mail.example.com": {Host: "mail.example.com", Port: 465, TLS: true,
			User: "a@x.org", Password: "pw", From: "a@x.org"},
		"smtp://mail.example.com:2525/?from=gifts@example.com": {Host: "mail.example.com", Port: 2525,
			From: "gifts@example.com"},
		"smtp://mail.example.com?from=gifts@m%C3%BCnchen.example": {Host: "mail.example.com", Port: 587,
			From: "gifts@xn--mnchen-3ya.example"},
		"smtp://127.0.0.1:1025":      {Host: "127.0.0.1", Port: 1025, mayBePlain: true},
		"smtp://[::1]:25?insecure=1": {Host: "::1", Port: 25, Plain: true, mayBePlain: true},
	} {
		got, err := ParseServer(strings.Replace(address, "a@x.org:", "a%40x.org:", 1))
		if err != nil || *got != want {
			t.Errorf("%s: %+v, %v", address, got, err)
		}
	}
	for _, bad := range []string{
		"", "mail.example.com:587", "http://anna:s3cret@mail.example.com", "smtp://anna:s3cret@",
		"smtp://anna@mail.example.com",
		"smtp://anna:s3cret@mail.example.com/path", "smtp://anna:s3cret@mail.example.com#s3cret",
		"smtp://anna:s3cret@mail.example.com:0",
		"smtp://anna:s3cret@mail.example.com?from=Anna%20<a@x.org>", "smtp://anna:s3cret@mail.example.com?insecure=1",
		"smtp://anna:s3cret/@host",
		"smtps://anna:s3cret@127.0.0.1?insecure=1", "smtp://anna:s3cret@host?colour=s3cret",
		"smtp://anna:s3cret@host?from=a@x.org&from=b@x.org",
		"smtp://anna:s3cret@host?from=zo%C3%AB@x.org", "smtp://anna:s3cret@host?from=a@x_%C3%A9.org",
		"smtp://anna:s3%cret@host", "smtp://anna:s3cret@host:port", "smtp://anna:s3cret@host?from=a@x.org%0d%0aBcc:b@x.org",
	} {
		got, err := ParseServer(bad)
		if err == nil {
			t.Errorf("%s was taken as %+v", bad, got)
		} else if strings.Contains(err.Error(), "s3") {
			t.Errorf("%s: the refusal repeats the secret: %v", bad, err)
		}
	}
}

func TestSetSender(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://gifts.example.com": "gifts@gifts.example.com", "http://127.0.0.1:8080": "gifts@localhost",
		"": "gifts@localhost", "https://geschenke-münchen.example": "gifts@xn--geschenke-mnchen-tzb.example",
	} {
		s := Server{}
		if s.SetSender(url); s.From != want {
			t.Errorf("%q: %s, want %s", url, s.From, want)
		}
	}
	s := Server{From: "a@x.org"}
	if s.SetSender("https://gifts.example.com"); s.From != "a@x.org" {
		t.Error("a sender that was given is replaced")
	}
}
