package gift

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestWebhookURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{ // without and with networks that may be called by http
		"https://example.com/hooks?shop=1": {true, true}, "https://example.com:8443": {true, true},
		"https://[2606:2800:220:1::1]:443/": {true, true}, "http://example.com/": {false, true},
		"http://10.0.0.1:80/": {false, true}, "https://example.com:25/": {false, true},
		"https://example.com:99999/": {false, false}, "https://example.com:/": {false, false},
		"ftp://example.com/": {false, false}, "https://": {false, false}, "example.com": {false, false},
		"https://user:pass@example.com/": {false, false}, "https://example.com/#x": {false, false},
		"https://exa mple.com/": {false, false}, "https://exämple.com/": {false, false},
		"https:example.com": {false, false}, "https://example.com\n/": {false, false},
		"https://example.com/" + strings.Repeat("x", MaxWebhookURL): {false, false}, "": {false, false},
	} {
		for i, byHTTP := range []bool{false, true} {
			if err := CheckWebhookURL(text, byHTTP); (err == nil) != want[i] {
				t.Errorf("%q, http allowed %t: %v", text, byHTTP, err)
			}
		}
	}
}

func FuzzWebhookURL(f *testing.F) {
	f.Add("https://example.com/hooks")
	f.Add("https://[::1%25eth0]:443/\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if CheckWebhookURL(text, false) != nil {
			return
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" || strings.ContainsAny(text, " #\r\n") &&
			!strings.Contains(u.RawQuery+u.Path, " ") {
			t.Errorf("%q is taken", text)
		}
	})
}

func TestWebhookTypes(t *testing.T) {
	t.Parallel()
	for types, wrong := range map[string]int{"gift.redeemed": -1, "gift.*": -1, "gift.* key.created": -1, "": -1,
		"*": 0, "gift": 0, "gift.redeemed gift.sold": 1, "till.*": 0, "gift.re*": 0, "gift.redeemed gift.redeemed": 1,
		".*": 0} {
		at, err := CheckWebhookTypes(strings.Fields(types))
		if (err == nil) != (wrong < 0) || err != nil && at != wrong {
			t.Errorf("%q: %d, %v", types, at, err)
		}
	}
	for types, want := range map[string]string{"": "", "gift.redeemed": "gift.redeemed",
		"key.*": "key.created key.revoked", "key.revoked import.*": "import.finished import.undone key.revoked"} {
		w := Webhook{Types: strings.Fields(types)}
		var covered []string
		for _, kind := range w.EventTypes() {
			covered = append(covered, string(kind))
		}
		if got := strings.Join(covered, " "); got != want {
			t.Errorf("%q wants %q, want %q", types, got, want)
		}
	}
	all := Webhook{Types: []string{"gift.*"}}
	if n := len(all.EventTypes()); n < 20 || n >= len(EventTypes()) {
		t.Errorf("gift.* covers %d types", n)
	}
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
