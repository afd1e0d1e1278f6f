package certificate

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestRedirectsStayHere: whatever stands in the request line, the redirect leads to the service's own name.
func TestRedirectsStayHere(t *testing.T) {
	t.Parallel()
	a := &acme{Order: Order{Redirect: "https://gifts.example.com"}}
	s := httptest.NewServer(a.redirect())
	defer s.Close()
	for target, want := range map[string]string{
		"/g/abc?lang=de":          "/g/abc?lang=de",
		"/":                       "/",
		"//evil.example/x":        "//evil.example/x",
		"/@evil.example":          "/@evil.example",
		"http://evil.example/x?y": "/x?y",
		"http://evil.example":     "/",
		"x:@evil.example":         "/",
		"x:.evil.example":         "/",
		"x:%2f@evil.example":      "/",
		"x:?@evil.example":        "/?@evil.example",
		"x::443@evil.example":     "/",
		"x://@evil.example":       "/",
		"x:/@evil.example":        "/@evil.example",
		"*":                       "/",
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", target)
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if answer.StatusCode == http.StatusBadRequest && answer.Header.Get("Location") == "" {
			continue // net/http has refused it
		}
		to, err := url.Parse(answer.Header.Get("Location"))
		if err != nil || to.Host != "gifts.example.com" || to.User != nil || to.Scheme != "https" ||
			answer.Header.Get("Location") != "https://gifts.example.com"+want {
			t.Errorf("GET %s leads to %q (%v), want %s", target, answer.Header.Get("Location"), err, want)
		}
	}
}
