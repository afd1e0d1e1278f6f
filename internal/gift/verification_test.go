package gift

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"boon.example/internal/gift/codes"
	"boon.example/internal/refusal"
)

func TestDrawVerification(t *testing.T) {
	t.Parallel()
	for want, random := range map[string][]byte{"0000": {0, 0}, "0001": {0, 1}, "9999": {0x27, 0x0f}, "0007": {0x27, 0x17},
		"5535": {0xff, 0xff, 0xea, 0x60, 0x15, 0x9f}} { // 60,000 and more would make some likelier
		v := Voucher{Verification: VerificationToDraw}
		if err := v.DrawVerification(bytes.NewReader(random)); err != nil || v.Verification != want {
			t.Errorf("% x: %q, %v, want %s", random, v.Verification, err, want)
		}
	}
	v := Voucher{Verification: VerificationToDraw}
	if err := v.DrawVerification(bytes.NewReader(nil)); err == nil || IsVerificationCode(v.Verification) {
		t.Errorf("without random bytes it draws %q", v.Verification)
	}
	if v := (Voucher{}); v.DrawVerification(bytes.NewReader(nil)) != nil || v.Verification != "" {
		t.Error("a gift without one gets one")
	}
}

// TestVerification: however right and wrong codes follow each other, only right ones take, and MaxWrongCodes wrong ones
// in a row block for good.
func TestVerification(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := voucherIn(Delivered)
		v.Verification, v.Funded, v.Balance = "0471", 1_000_000, 1_000_000
		wrong := 0
		for range 40 {
			code := rapid.SampledFrom([]string{"0471", "0000", "4710", ""}).Draw(t, "code")
			after, e, err := v.Redeem(Redeem{Context: context(), LocationID: shop, Amount: 1, Verification: code})
			switch {
			case wrong == MaxWrongCodes:
				if !errors.Is(err, refusal.RedemptionNotAllowed) || IsWrongCode(err) || e != (Entry{}) {
					t.Fatalf("a blocked card answers %v", err)
				}
				continue
			case code == "":
				if !errors.Is(err, refusal.ValidationFailure) || IsWrongCode(err) {
					t.Fatalf("without a code: %v", err)
				}
				continue
			case code == v.Verification:
				if err != nil || after.WrongCodes != 0 || after.Balance != v.Balance-1 {
					t.Fatalf("the right code: %v, %+v", err, after)
				}
				v, wrong = after, 0
				continue
			}
			if !IsWrongCode(err) || after.Balance != v.Balance {
				t.Fatalf("a wrong code: %v", err)
			}
			v, e = v.MissCode(context())
			if wrong++; e.Kind != WrongVerificationCode || v.WrongCodes != wrong {
				t.Fatalf("%d wrong codes: %+v", wrong, e)
			}
			next, e, blocked := v.BlockMissed(context())
			if blocked != (wrong == MaxWrongCodes) || blocked && (e.Kind != Blocked || next.Blocked != e.ReasonCode) {
				t.Fatalf("%d wrong codes: %v, %+v", wrong, blocked, e)
			}
			v = next
		}
	})
}

// TestPINsAreVerificationCodes: of another length than the four digits that Boon draws, and a slip of the hand with
// those is no guess.
func TestPINsAreVerificationCodes(t *testing.T) {
	t.Parallel()
	pin, drawn := Voucher{Verification: "12345678"}, Voucher{Verification: "1234"}
	for shown, want := range map[string]refusal.Code{"12345678": "", "12345679": refusal.RedemptionNotAllowed,
		"1234": refusal.RedemptionNotAllowed, "": refusal.ValidationFailure} {
		err := pin.verify(shown)
		if got, _ := errors.AsType[*refusal.Error](err); (want == "") != (err == nil) || got != nil && got.Code != want {
			t.Errorf("a PIN shown as %q: %v", shown, err)
		}
	}
	if err := drawn.verify("12345"); IsWrongCode(err) || err == nil {
		t.Errorf("five digits for four: %v", err)
	}
}

// TestGiftsShowNoSecrets: a gift that slips into a log shows neither its code nor its token.
func TestGiftsShowNoSecrets(t *testing.T) {
	t.Parallel()
	const digits, text = "123456789012", "0123456789ABCDEFGHIJkl"
	code, _ := codes.ParseVoucherCode(digits)
	token, _ := codes.ParseToken(text)
	g := Gift{Card: Card{Code: code, Token: token}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		if shown := fmt.Sprintf(verb, g); strings.Contains(shown, digits[:8]) || strings.Contains(shown, text[:8]) {
			t.Errorf("%s shows %s", verb, shown)
		}
	}
}
