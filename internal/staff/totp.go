package staff

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"boon.example/internal/refusal"
)

// TOTP is an authenticator of a member: an app that shows another code of six digits each 30 seconds (RFC 6238).
type TOTP struct {
	Secret []byte `json:"secret"`
	Last   int64  `json:"last"` // the step of the code that was used last: each is good once
}

const (
	totpStep   = 30 // seconds
	totpSecret = 20 // bytes
	totpDrift  = 1  // steps that clocks may be apart
)

// NewSecret draws the secret of an authenticator, as people type it.
func NewSecret() string {
	var b [totpSecret]byte
	rand.Read(b[:]) // never fails
	return encoding.EncodeToString(b[:])
}

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// NewTOTP is an authenticator with a secret that NewSecret drew and a code that it shows now.
func NewTOTP(secret, code string, now time.Time) (*TOTP, error) {
	b, err := encoding.DecodeString(strings.ToUpper(strings.ReplaceAll(secret, " ", "")))
	if err != nil || len(b) != totpSecret {
		return nil, refusal.At(refusal.ValidationFailure, "secret", "This is no secret of an authenticator.")
	}
	t := &TOTP{Secret: b}
	if !t.Use(code, now) {
		return nil, refusal.At(refusal.ValidationFailure, "code",
			"This is not the code that the authenticator shows now. See that the clock of the phone is right.")
	}
	return t, nil
}

// TOTPAddress is what an authenticator reads from a QR code.
func TOTPAddress(merchant, email, secret string) string {
	q := url.Values{"secret": {secret}, "issuer": {merchant}}
	return "otpauth://totp/" + url.PathEscape(merchant+":"+email) + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// Use reports whether a code is one that the authenticator shows about now and that was not used yet, and uses it up.
func (t *TOTP) Use(code string, now time.Time) bool {
	code = strings.ReplaceAll(code, " ", "")
	at := now.Unix() / totpStep
	for step := at - totpDrift; step <= at+totpDrift; step++ {
		if step > t.Last && subtle.ConstantTimeCompare([]byte(t.code(step)), []byte(code)) == 1 {
			t.Last = step
			return true
		}
	}
	return false
}

// code is what the authenticator shows in a step.
func (t *TOTP) code(step int64) string {
	mac := hmac.New(sha1.New, t.Secret)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := mac.Sum(nil)
	from := sum[len(sum)-1] & 15
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[from:])&0x7fffffff%1_000_000)
}

// Passkey is a passkey of a member (WebAuthn).
type Passkey struct {
	ID         []byte          `json:"id"`
	Credential json.RawMessage `json:"credential"` // as the library for it writes it
	Device     string          `json:"device"`     // where it was made
	AddedAt    time.Time       `json:"addedAt"`
	// when it was asked for, where it was shown last
	UsedAt time.Time `json:"usedAt,omitzero"`
}

// Use takes a passkey that was shown, and says when it had been asked for. It refuses one that was asked for no later
// than when it was taken last: an answer is of use once. Only browsers keep challenges, and whoever has a copy of what
// a browser sent has challenge and answer.
func (p *Passkey) Use(askedAt time.Time, credential json.RawMessage) bool {
	if !askedAt.After(p.UsedAt) {
		return false
	}
	p.Credential, p.UsedAt = credential, askedAt.UTC()
	return true
}

// Device is a browser from which a member signed in. It shows a token of its own, of which the hash is kept.
type Device struct {
	Hash []byte    `json:"hash"`
	At   time.Time `json:"at"`
}

// maxDevices is how many are remembered.
const maxDevices = 20

// Knows reports whether the member signed in from a device before.
func (m *Member) Knows(device []byte) bool {
	return slices.ContainsFunc(m.Devices, func(d Device) bool { return subtle.ConstantTimeCompare(d.Hash, device) == 1 })
}

// Remember notes that the member signed in from a device.
func (m *Member) Remember(device []byte, now time.Time) {
	others := slices.DeleteFunc(slices.Clone(m.Devices), func(d Device) bool { return string(d.Hash) == string(device) })
	m.Devices = append([]Device{{device, now.UTC().Truncate(time.Second)}}, others[:min(len(others), maxDevices-1)]...)
}

// Proves reports whether the member has anything to prove with who they are.
func (m *Member) Proves() bool { return m.Password != "" || len(m.Passkeys) > 0 || m.OpenID != "" }

// Code is what an authenticator with a secret shows at an instant; "" where it is no secret.
func Code(secret string, at time.Time) string {
	b, err := encoding.DecodeString(secret)
	if err != nil {
		return ""
	}
	return (&TOTP{Secret: b}).code(at.Unix() / totpStep)
}
