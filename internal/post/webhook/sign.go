// Package webhook tells merchants' systems of events: it signs each message as Standard Webhooks has it, calls only
// addresses that may be called, and tries again by a schedule. It knows neither SQL nor the JSON interface.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/merchant"
)

// Headers of a message.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Sign gives the value of HeaderSignature: one signature for each secret, so that during a rotation a receiver that
// knows either takes the message.
func Sign(secrets []merchant.WebhookSecret, id string, at time.Time, body []byte) string {
	signatures := make([]string, 0, len(secrets))
	for _, s := range secrets {
		mac := hmac.New(sha256.New, s.Key())
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(signatures, " ")
}
