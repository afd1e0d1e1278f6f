package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrBadSignature tells that a message was not signed with the webhook's secret, or not within the last five minutes.
var ErrBadSignature = errors.New("the message is not one of Boon's, or old")

// ReadEvent gives the event in a message of a webhook, once its signature is checked: [ErrBadSignature] where it is
// wrong. body is the one that came, not one that was read and written again. An event, known by its ID, may come twice.
func ReadEvent(secret string, h http.Header, body []byte) (Event, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 16 { // it was not filled in
		return Event{}, errors.New("the secret is not one of a webhook")
	}
	id, sent := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseUint(sent, 10, 40)
	if err != nil || id == "" || time.Since(time.Unix(int64(seconds), 0)).Abs() > 5*time.Minute { //nolint:gosec // 40 bits
		return Event{}, ErrBadSignature
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, sent, body)
	want, good := []byte("v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil))), false
	for _, given := range strings.Fields(h.Get("Webhook-Signature")) {
		good = hmac.Equal([]byte(given), want) || good
	}
	if !good {
		return Event{}, ErrBadSignature
	}
	var e Event
	if err := json.Unmarshal(body, &e); err != nil {
		return Event{}, fmt.Errorf("the event could not be read: %w", err)
	}
	return e, nil
}
