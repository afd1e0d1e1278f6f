package gift

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"strings"

	"boon.example/internal/base/phrase"
	"boon.example/internal/refusal"
)

// MaxWrongCodes is how many wrong verification codes in a row block a card: whoever has its code guesses one of 10,000
// with a chance of 1 in 2,000.
const MaxWrongCodes = 5

// ReasonVerificationCode is why a card is blocked for which too many wrong verification codes were tried.
const ReasonVerificationCode ReasonCode = "VERIFICATION_CODE"

// IsVerificationCode reports whether a text has the form of a verification code: Boon draws four digits, and the PINs
// of cards of other systems have VerificationCodeForm.
func IsVerificationCode(s string) bool {
	return 4 <= len(s) && len(s) <= 12 && strings.Trim(s, "0123456789") == ""
}

// VerificationCodeForm is what a verification code has, in words.
const VerificationCodeForm phrase.Text = "4 to 12 digits"

// AsksVerification reports whether something is taken of a voucher with its verification code only. That stands on the
// printed card: whoever has got the gift under another code and token does not know it.
func (v *Voucher) AsksVerification() bool { return v.Verification != "" && v.Replaced == 0 }

// verify refuses a verification code that is not the voucher's, if it asks for one, and that none is given.
func (v *Voucher) verify(code string) error {
	switch {
	case !v.AsksVerification():
		return nil
	case code == "":
		return refusal.At(refusal.ValidationFailure, refusal.FieldVerification,
			"This card has a verification code: ask for its digits.")
	case len(v.Verification) == drawnDigits && len(code) != drawnDigits: // a slip of the hand is no guess
		return refusal.At(refusal.ValidationFailure, refusal.FieldVerification,
			"The verification code of this card has four digits.")
	case subtle.ConstantTimeCompare([]byte(code), []byte(v.Verification)) == 0:
		return refusal.At(refusal.RedemptionNotAllowed, refusal.FieldVerification, "The verification code is wrong.")
	}
	return nil
}

// IsWrongCode reports whether something was refused because a verification code was wrong.
func IsWrongCode(err error) bool {
	refused, ok := errors.AsType[*refusal.Error](err)
	return ok && refused.Code == refusal.RedemptionNotAllowed &&
		strings.HasSuffix(string(refused.Messages[0].Field), string(refusal.FieldVerification))
}

// MissCode counts a wrong verification code.
func (v Voucher) MissCode(c Context) (Voucher, Entry) {
	v.WrongCodes++
	return v, v.enter(c, WrongVerificationCode, 0, v.Status)
}

// BlockMissed blocks a voucher for which MaxWrongCodes wrong codes were tried; ok is false where there were fewer.
func (v Voucher) BlockMissed(c Context) (_ Voucher, _ Entry, ok bool) {
	if v.WrongCodes < MaxWrongCodes {
		return v, Entry{}, false
	}
	v.Blocked = ReasonVerificationCode
	e := v.enter(c, Blocked, 0, v.Status)
	e.ReasonCode = v.Blocked
	return v, e, true
}

// drawnDigits is how many digits the codes have that Boon draws.
const drawnDigits = 4

// VerificationToDraw stands for a verification code that is still to be drawn.
const VerificationToDraw = "????"

// DrawVerification draws the verification code of a card that is to have one.
func (v *Voucher) DrawVerification(random io.Reader) error {
	if v.Verification == "" {
		return nil
	}
	const space, most = 10_000, 60_000 // of 65,536: every code is as likely
	for {
		var b [2]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return err
		}
		if n := int(b[0])<<8 | int(b[1]); n < most {
			v.Verification = fmt.Sprintf("%04d", n%space)
			return nil
		}
	}
}
