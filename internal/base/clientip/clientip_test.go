package clientip_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"boon.example/internal/base/clientip"
)

func TestNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"203.0.113.9":              "203.0.113.0/24",
		"203.0.113.255":            "203.0.113.0/24",
		"203.0.114.9":              "203.0.114.0/24",
		"::ffff:203.0.113.9":       "203.0.113.0/24",
		"2001:db8:1:2ff::7":        "2001:db8:1:200::/56",
		"2001:db8:1:200:1:2:3:4":   "2001:db8:1:200::/56",
		"2001:db8:1:300::7":        "2001:db8:1:300::/56",
		"fe80::1%eth0":             "fe80::/56",
		"::1":                      "::/56",
		"127.0.0.1":                "127.0.0.0/24",
		"::ffff:203.0.113.9%owned": "203.0.113.0/24",
	} {
		if got := clientip.Network(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is in %s, want %s", address, got, want)
		}
	}
	if got := clientip.Network(netip.Addr{}); got != "unknown" {
		t.Errorf("no address is in %s", got)
	}
}

// TestClient: X-Forwarded-For counts when a trusted proxy sent it, from its end to the first address that is not
// trusted.
func TestClient(t *testing.T) {
	t.Parallel()
	const proxies = "10.0.0.0/8, 192.0.2.7, 2001:db8:ffff::/48, ::ffff:198.51.100.0/120"
	for name, tt := range map[string]struct {
		trusted, peer string
		forwarded     []string
		want          string
	}{
		"nobody is trusted by default":      {"", "10.0.0.1:4711", []string{"203.0.113.9"}, "10.0.0.1"},
		"an untrusted peer is not believed": {proxies, "203.0.113.1:4711", []string{"192.168.0.1"}, "203.0.113.1"},
		"a proxy is believed":               {proxies, "10.0.0.1:4711", []string{"203.0.113.9"}, "203.0.113.9"},
		"one that is named by address":      {proxies, "192.0.2.7:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"its neighbour is not":              {proxies, "192.0.2.8:1", []string{"203.0.113.9"}, "192.0.2.8"},
		"an IPv4 network written as IPv6":   {proxies, "198.51.100.4:1", []string{"203.0.113.9"}, "203.0.113.9"},
		"IPv4 that arrives as IPv6":         {proxies, "[::ffff:10.0.0.1]:1", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"IPv6":                              {proxies, "[2001:db8:ffff::1]:1", []string{"2001:db8::7"}, "2001:db8::7"},
		"with a zone":                       {proxies, "10.0.0.1:1", []string{"fe80::1%eth0"}, "fe80::1"},
		"with ports":                        {proxies, "10.0.0.1:1", []string{"[2001:db8::7]:443"}, "2001:db8::7"},
		"IPv4 with a port":                  {proxies, "10.0.0.1:1", []string{"203.0.113.9:443"}, "203.0.113.9"},
		"in brackets":                       {proxies, "10.0.0.1:1", []string{"[2001:db8::7]"}, "2001:db8::7"},
		"the rightmost that is untrusted": {proxies, "10.0.0.1:1",
			[]string{"1.1.1.1, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		"what the client wrote is not read": {proxies, "10.0.0.1:1",
			[]string{"10.9.9.9, 8.8.8.8,203.0.113.9"}, "203.0.113.9"},
		"spaces and tabs": {proxies, "10.0.0.1:1", []string{" 1.1.1.1 ,\t203.0.113.9 "}, "203.0.113.9"},
		"several headers are one list": {proxies, "10.0.0.1:1",
			[]string{"203.0.113.9", "10.0.0.3, 10.0.0.2"}, "203.0.113.9"},
		"the last header counts first":  {proxies, "10.0.0.1:1", []string{"10.0.0.3", "203.0.113.9"}, "203.0.113.9"},
		"only proxies":                  {proxies, "10.0.0.1:1", []string{"10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		"no header":                     {proxies, "10.0.0.1:1", nil, "10.0.0.1"},
		"an empty header":               {proxies, "10.0.0.1:1", []string{""}, "10.0.0.1"},
		"a comma at the end":            {proxies, "10.0.0.1:1", []string{"203.0.113.9,"}, "10.0.0.1"},
		"garbage":                       {proxies, "10.0.0.1:1", []string{"203.0.113.9, unknown"}, "10.0.0.1"},
		"garbage behind a proxy":        {proxies, "10.0.0.1:1", []string{"203.0.113.9, <script>, 10.0.0.2"}, "10.0.0.2"},
		"garbage that the client wrote": {proxies, "10.0.0.1:1", []string{"\x00\xff', 203.0.113.9"}, "203.0.113.9"},
		"a number":                      {proxies, "10.0.0.1:1", []string{"3405803785"}, "10.0.0.1"},
		"an octal that others read so":  {proxies, "10.0.0.1:1", []string{"0313.0.0113.011"}, "10.0.0.1"},
		"a network":                     {proxies, "10.0.0.1:1", []string{"203.0.113.0/24"}, "10.0.0.1"},
		"a very long element":           {proxies, "10.0.0.1:1", []string{strings.Repeat("2001:", 10_000)}, "10.0.0.1"},
		"a very long list": {proxies, "10.0.0.1:1",
			[]string{strings.Repeat("1.1.1.1,", 100_000) + "203.0.113.9"}, "203.0.113.9"},
		"a very long list of proxies": {proxies, "10.0.0.1:1",
			[]string{"203.0.113.9," + strings.Repeat("10.0.0.2,", 10_000) + "10.0.0.3"}, "203.0.113.9"},
		"a connection without an address": {proxies, "@", []string{"203.0.113.9"}, "::"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trusted, err := clientip.ParseProxies(tt.trusted)
			if err != nil {
				t.Fatal(err)
			}
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded,
				"Forwarded": {"for=9.9.9.9"}, "X-Real-Ip": {"9.9.9.9"}}}
			if got := trusted.Client(r).String(); got != tt.want {
				t.Errorf("the client is %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseProxiesRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "localhost", "10.0.0.1,", ",",
		"10.0.0.1:80",
		"fe80::1%eth0", "10.0.0.0/8 192.0.2.0/24", "*",
	} {
		if p, err := clientip.ParseProxies(text); err == nil {
			t.Errorf("%q was taken as %v", text, p)
		} else if !strings.Contains(err.Error(), `"`) {
			t.Errorf("%q is refused with %v, which does not name it", text, err)
		}
	}
	if p, err := clientip.ParseProxies(" "); err != nil || p != nil {
		t.Errorf("nothing is %v, %v", p, err)
	}
}
