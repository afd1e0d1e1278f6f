package agent

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"time"

	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// confirmable is how long a call may be confirmed.
const confirmable = 10 * time.Minute

// A confirmation is also the Idempotency-Key of the call that it allows, so that two calls with one do one thing. It is
// the text confirmed, and in base64 when it ends (8 bytes), what tells it from others of the same call (16), and a code
// (32) by which the service knows that it gave it to this key for this tool with these arguments. Nothing is kept, so
// every instance knows it.
const (
	confirmed   = "agent-"
	nonceLength = 16
	codeLength  = 32
)

// confirmationOf makes the confirmation of a call.
func (f *face) confirmationOf(c *service.Call, t *tool, arguments []byte, before time.Time) string {
	open := binary.BigEndian.AppendUint64(nil, uint64(before.Unix()))
	nonce := make([]byte, nonceLength)
	_, _ = rand.Read(nonce) // it never fails
	open = append(open, nonce...)
	code := f.Service.Fingerprint(said(c, t, arguments, open))
	return confirmed + base64.RawURLEncoding.EncodeToString(append(open, code[:]...))
}

// said is what the code of a confirmation says: who may do what, and the open part of the confirmation.
func said(c *service.Call, t *tool, arguments, open []byte) []byte {
	return fmt.Appendf(nil, "agent's confirmation\x00%s\x00%s\x00%x\x00%s", c.Caller.KeyID, t.Name, open, arguments)
}

// confirm refuses a confirmation that was given to another key or for another call, and one that is over.
func (f *face) confirm(c *service.Call, t *tool, arguments []byte, given string) error {
	wrong := service.RefuseAt(refusal.ValidationFailure, confirmation, "This confirms another call, or none. Call the "+
		"tool without confirm, then with what that answers and the very same arguments.")
	text, is := bytes.CutPrefix([]byte(given), []byte(confirmed))
	all, err := base64.RawURLEncoding.Strict().AppendDecode(nil, text)
	if !is || err != nil || len(all) != 8+nonceLength+codeLength {
		return wrong
	}
	open, code := all[:8+nonceLength], [codeLength]byte(all[8+nonceLength:])
	whole := said(c, t, arguments, open)
	own := f.Service.Fingerprint(whole)
	if subtle.ConstantTimeCompare(own[:], code[:]) == 0 {
		earlier, err := f.Service.Fingerprinted(code, whole)
		if err != nil {
			return err
		}
		if !earlier {
			return wrong
		}
	}
	if before := time.Unix(int64(binary.BigEndian.Uint64(open)), 0); !f.Service.Now().Before(before) {
		return service.RefuseAt(refusal.ValidationFailure, confirmation,
			"This was good for 10 minutes, and nothing was done by it now. Call the tool without confirm again.")
	}
	return nil
}
