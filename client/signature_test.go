package client_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"boon.example/client"
)

var (
	secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef01234567"))
	other  = "whsec_" + base64.StdEncoding.EncodeToString([]byte("another secret, of 24 by"))
)

const event = `{"id":"evt_1","type":"gift.redeemed","data":{"entry":{"amount":-9.50}}}`

// signed are the headers of a message with event.
func signed(secret string, at time.Time) http.Header {
	key, _ := base64.StdEncoding.DecodeString(secret[6:])
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "evt_1.%d.%s", at.Unix(), event)
	return http.Header{"Webhook-Id": {"evt_1"}, "Webhook-Timestamp": {fmt.Sprint(at.Unix())},
		"Webhook-Signature": {"v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}}
}

func bad(t *testing.T, what, secret string, h http.Header, body string) {
	t.Helper()
	if _, err := client.ReadEvent(secret, h, []byte(body)); !errors.Is(err, client.ErrBadSignature) {
		t.Errorf("%s: %v", what, err)
	}
}

// The message and its signature are the example of the specification's own libraries.
func TestWebhooksAsTheSpecificationHasThem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Unix(1614265330, 0)))
		h := http.Header{"Webhook-Id": {"msg_p5jXN8AQM9LWM0D4loKWxJek"}, "Webhook-Timestamp": {"1614265330"},
			"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}}
		if _, err := client.ReadEvent("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", h, []byte(`{"test": 2432232314}`)); err != nil {
			t.Error(err)
		}
	})
}

func TestWebhooksTakeTheirOwnOnly(t *testing.T) {
	t.Parallel()
	good := signed(secret, time.Now())
	e, err := client.ReadEvent(secret, good, []byte(event))
	if err != nil || e.ID != "evt_1" || e.Data.Entry == nil || e.Data.Entry.Amount.String() != "-9.50" {
		t.Errorf("%+v, %v", e, err)
	}
	bad(t, "another secret", other, good, event)
	bad(t, "another body", secret, good, event+" ")
	for name := range good {
		for _, value := range []string{"", "é", good.Get(name) + "0"} {
			h := maps.Clone(good)
			h[name] = []string{value}
			bad(t, name+": "+value, secret, h, event)
		}
	}
	plain := strings.TrimPrefix(good.Get("Webhook-Signature"), "v1,")
	for _, s := range []string{"v1,", plain, "v2," + plain, "v1a," + plain, "v1, " + plain} {
		h := maps.Clone(good)
		h.Set("Webhook-Signature", s)
		bad(t, s, secret, h, event)
	}
	both := signed(other, time.Now()) // while the secret is changed
	both.Set("Webhook-Signature", both.Get("Webhook-Signature")+" "+good.Get("Webhook-Signature"))
	for _, s := range []string{secret, other} {
		if _, err := client.ReadEvent(s, both, []byte(event)); err != nil {
			t.Error(err)
		}
	}
	for _, none := range []string{"", "whsec_", "whsec_é", "whsec_AAAA"} {
		if _, err := client.ReadEvent(none, good, []byte(event)); err == nil || errors.Is(err, client.ErrBadSignature) {
			t.Errorf("the secret %q: %v", none, err)
		}
	}
}

func TestWebhooksTakeTheMessagesOfNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for late, fits := range map[time.Duration]bool{0: true, 299 * time.Second: true, -299 * time.Second: true,
			301 * time.Second: false, -301 * time.Second: false} {
			_, err := client.ReadEvent(secret, signed(secret, time.Now().Add(-late)), []byte(event))
			if (err == nil) != fits {
				t.Errorf("%v late: %v", late, err)
			}
		}
	})
	for _, stamp := range []string{"", "1e9", "-1", " 1", "+1", strings.Repeat("9", 400)} {
		h := signed(secret, time.Now())
		h.Set("Webhook-Timestamp", stamp)
		bad(t, stamp, secret, h, event)
	}
}
