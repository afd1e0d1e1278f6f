package staff

import (
	"testing"
	"time"
)

// TestTOTP has the test values of RFC 6238 (SHA-1, the last six of their eight digits).
func TestTOTP(t *testing.T) {
	t.Parallel()
	for at, want := range map[int64]string{1111111109: "081804", 1111111111: "050471", 1234567890: "005924",
		2000000000: "279037", 20000000000: "353130"} {
		for drift, good := range map[int64]bool{-60: false, -30: true, 0: true, 30: true, 60: false} {
			is := TOTP{Secret: []byte("12345678901234567890")}
			now := time.Unix(at+drift, 0)
			if used := is.Use(want, now); used != good {
				t.Errorf("code %s of %d is used at %d: %t", want, at, now.Unix(), used)
			}
			if is.Use(want, now) {
				t.Errorf("code %s is used twice", want)
			}
		}
	}
}

// TestPasswords are measured in characters; the commonest are refused, and no others.
func TestPasswords(t *testing.T) {
	t.Parallel()
	for password, ok := range map[string][2]bool{ // alone, beside TOTP
		"fifteen letters": {true, true}, "fourteenletter": {false, true}, "äöüäöüäö": {false, true}, "äöüäöüä": {},
		"Password1": {false, false}, "passw0rd": {}, "baseball": {}, "zzzzzzzzzzzzzzz": {true, true},
		"\xff5555555555555555": {},
	} {
		for n, withTOTP := range []bool{false, true} {
			if err := CheckPassword(password, withTOTP); (err == nil) != ok[n] {
				t.Errorf("%q beside TOTP %t: %v", password, withTOTP, err)
			}
		}
	}
	m := Member{}
	m.SetPassword("fifteen letters")
	var nobody *Member
	if !m.IsPassword("fifteen letters") || m.IsPassword("Fifteen letters") || nobody.IsPassword("") ||
		new(Member).IsPassword("") {
		t.Error("a password is not the one that was set")
	}
}
