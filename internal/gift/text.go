package gift

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckText refuses a text that is longer than limit characters or holds what no person types: control characters, of which
// line breaks are allowed where lines is true. The error is a sentence for the sender.
func CheckText(s string, limit int, lines bool) error {
	if n := utf8.RuneCountInString(s); n > limit {
		return fmt.Errorf("This text may have at most %d characters; it has %d.", limit, n)
	}
	for _, r := range s {
		if r == '\n' && lines || r == '\r' && lines {
			continue
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return fmt.Errorf("This text holds a control character (U+%04X), which is not allowed here.", r)
		}
	}
	return nil
}

// ParseContact reads where a gift is sent: one e-mail address without a display name (RFC 5321, RFC 5322), or a mobile
// number of the North American plan, which is given back in E.164. Printed gifts have none: "". The error is a sentence
// for the sender.
func ParseContact(m Method, s string) (string, error) {
	switch m {
	case Email:
		return parseEmail(s)
	case SMS:
		return parseMobile(s)
	}
	return "", nil
}

var errEmail = errors.New("This is not one e-mail address such as name@example.com.")

// parseEmail takes the addr-spec of RFC 5322 without comments, folding and display names, within the lengths of RFC 5321.
func parseEmail(s string) (string, error) {
	a, err := mail.ParseAddress("<" + s + ">")
	if err != nil || len(s) > maxContact || strings.ContainsAny(s, "<>()\r\n\t ") && !strings.HasPrefix(s, `"`) {
		return "", errEmail
	}
	at := strings.LastIndex(s, "@")
	if a.Name != "" || at > 64 || !isDomain(s[at+1:]) || CheckText(s, maxContact, false) != nil {
		return "", errEmail
	}
	return s, nil
}

// isDomain takes a host name with at least two labels; letters beyond ASCII are left to the mail server (RFC 6531).
func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, r := range l {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}
	return len(labels) >= 2
}

var errMobile = errors.New("This is not a 10-digit mobile number of the North American plan, such as 415-555-0132.")

// parseMobile reads NPA-NXX-XXXX with the usual separators and an optional +1 or 1. Area code and exchange begin with 2-9
// and are no service codes (N11); area codes with a 9 in the middle are not in use (North American Numbering Plan).
func parseMobile(s string) (string, error) {
	digits := strings.NewReplacer(" ", "", ".", "", "-", "", "(", "", ")", "").Replace(s)
	digits = strings.TrimPrefix(digits, "+1")
	if len(digits) == 11 {
		digits = strings.TrimPrefix(digits, "1")
	}
	if len(s) > maxContact || len(digits) != 10 || !allDigits(digits) {
		return "", errMobile
	}
	area, exchange := digits[:3], digits[3:6]
	if area[0] < '2' || area[1] == '9' || exchange[0] < '2' || area[1:] == "11" || exchange[1:] == "11" {
		return "", errMobile
	}
	return "+1" + digits, nil
}
