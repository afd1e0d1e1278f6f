package merchant

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestWebhookURLs(t *testing.T) {
	t.Parallel()
	allowed := WebhookNetworks(prefixes("10.0.0.0/8", "fd00:1::/32"))
	for text, want := range map[string][2]bool{ // without and with networks that may be called by http
		"https://example.com/hooks?shop=1": {true, true}, "https://example.com:8443": {true, true},
		"https://[2606:2800:220:1::1]:443/": {true, true}, "http://example.com/": {false, true},
		"http://10.0.0.1:80/": {false, true}, "https://example.com:25/": {false, true},
		"https://10.0.0.1:25/": {false, true}, "https://93.184.215.14:25/": {false, false},
		"https://[2606:2800:220:1::1]:1023/": {false, false}, "https://93.184.215.14:1024/": {true, true},
		"https://10.0.0.1:0/": {false, false}, "https://example.com:0/": {false, false},
		"https://example.com:99999/": {false, false}, "https://example.com:/": {false, false},
		"ftp://example.com/": {false, false}, "https://": {false, false}, "example.com": {false, false},
		"https://user:pass@example.com/": {false, false}, "https://example.com/#x": {false, false},
		"https://exa mple.com/": {false, false}, "https://exämple.com/": {false, false},
		"https:example.com": {false, false}, "https://example.com\n/": {false, false},
		"https://example.com/" + strings.Repeat("x", MaxWebhookURL): {false, false}, "": {false, false},
		// Hosts of which it is known before any call that they are not public.
		"https://10.0.0.1/": {false, true}, "https://[::ffff:10.0.0.1]/": {false, true},
		"https://[fd00:1::5]/":   {false, true},
		"https://93.184.215.14/": {true, true}, "http://93.184.215.14/": {false, false}, "https://[::1]/": {false, false},
		"https://127.0.0.1:8443/": {false, false}, "https://192.168.1.1/": {false, false}, "https://0.0.0.0/": {false, false},
		"https://169.254.169.254/latest/meta-data/": {false, false}, "https://100.100.100.200/": {false, false},
		"https://[::ffff:127.0.0.1]/": {false, false}, "https://[::ffff:a9fe:a9fe]/": {false, false},
		"https://[64:ff9b::7f00:1]/": {false, false}, "https://[fe80::1]/": {false, false},
		"https://[fe80::1%25eth0]/": {false, false}, "https://[fd00:ec2::254]/": {false, false},
		"https://localhost:3000/": {false, false}, "https://LocalHost./": {false, false},
		"https://a.localhost/":              {false, false},
		"https://metadata.google.internal/": {false, true}, "https://printer.local/": {false, true},
		"https://127.1/": {false, false}, "https://2130706433/": {false, false}, "https://0x7f000001/": {false, false},
		"https://127.0.0.1./": {false, false}, "https://.": {false, false}, "https://localhost.example.com/": {true, true},
		"https://internal.example/": {true, true}, "https://1.example/": {true, true},
	} {
		for i, n := range []WebhookNetworks{nil, allowed} {
			if err := n.CheckURL(text); (err == nil) != want[i] {
				t.Errorf("%q, networks %v: %v", text, n, err)
			}
		}
	}
	loopback := WebhookNetworks(prefixes("127.0.0.0/8"))
	for text, says := range map[string]string{"http://localhost:3000/": "", "http://127.0.0.1/": "",
		"https://10.0.0.1/": "not public", "http://8.8.8.8/": "https://", "https://8.8.8.8:22/": "port",
	} {
		err := loopback.CheckURL(text)
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzWebhookURL(f *testing.F) {
	f.Add("https://example.com/hooks")
	f.Add("https://[::1%25eth0]:443/\x00")
	f.Add("https://[::ffff:127.0.0.1]/")
	f.Fuzz(func(t *testing.T, text string) {
		if WebhookNetworks(nil).CheckURL(text) != nil {
			return
		}
		u, err := url.Parse(text)
		a, wrong := netip.ParseAddr(u.Hostname())
		if wrong == nil && !WebhookNetworks(nil).May(netip.AddrPortFrom(a, 443), true) {
			t.Errorf("%q is taken", text)
		}
		if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" || strings.ContainsAny(text, " #\r\n") &&
			!strings.Contains(u.RawQuery+u.Path, " ") {
			t.Errorf("%q is taken", text)
		}
	})
}

// TestWebhookSecrets: they sign for a day after a rotation, and print masked.
func TestWebhookSecrets(t *testing.T) {
	t.Parallel()
	first, err := NewWebhookSecret(strings.NewReader(strings.Repeat("a", 32)))
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewWebhookSecret(strings.NewReader(strings.Repeat("b", 32)))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	w := Webhook{Secret: first}
	if got := w.Secrets(now); len(got) != 1 || got[0] != first || string(first.Key()) != strings.Repeat("a", 32) {
		t.Errorf("%d secrets", len(got))
	}
	rotated := w.Rotate(second, now)
	if got := rotated.Secrets(now.Add(SecretRotation - 1)); len(got) != 2 || got[0] != second || got[1] != first {
		t.Errorf("%d secrets", len(got))
	}
	if got := rotated.Secrets(now.Add(SecretRotation)); len(got) != 1 || got[0] != second {
		t.Errorf("%d secrets", len(got))
	}
	for _, shown := range []string{fmt.Sprint(rotated), fmt.Sprintf("%#v %+v %s %q", rotated, rotated, first, first)} {
		if strings.Contains(shown, strings.TrimPrefix(first.Reveal(), "whsec_")) {
			t.Errorf("it is shown: %s", shown)
		}
	}
	if text, err := json.Marshal(first); err != nil || strings.Contains(string(text), "YWFh") {
		t.Errorf("%s, %v", text, err)
	}
	if back, err := ParseWebhookSecret(first.Reveal()); err != nil || back != first {
		t.Error(err)
	}
	for _, wrong := range []string{"", "whsec_", "whsec_YQ==", strings.TrimPrefix(first.Reveal(), "whsec_"),
		first.Reveal() + "!", "whsec_" + strings.Repeat("YWFh", 30)} {
		if _, err := ParseWebhookSecret(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
