package contact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"boon.example/internal/base/phrase"
)

// CheckText refuses a text that is longer than limit characters, is no UTF-8, or holds what no person types: control
// characters and Unicode's line separators, of which plain line breaks are allowed where lines is true. That texts
// are NFC (Unicode's composed form) is for the decoder to see to. The error is a sentence for the sender.
func CheckText(s string, limit int, lines bool) error {
	if !utf8.ValidString(s) {
		return phrase.New("This text is not valid UTF-8.")
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return phrase.New("This text may have at most %d characters; it has %d.", limit, n)
	}
	for _, r := range s {
		if lines && (r == '\n' || r == '\r') {
			continue
		}
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return phrase.New("This text holds a control character (U+%04X), which is not allowed here.", r)
		}
	}
	return nil
}

// Blank reports whether a text shows nothing: it has no more than spaces, line breaks, and marks that nobody sees.
func Blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !unseen(r) })
}

// unseen reports whether a character by itself shows nothing: those that join, part, turn around or fill up what stands
// beside them, and the empty pattern of Braille.
func unseen(r rune) bool {
	const emptyBraille = '\u2800'
	return r == emptyBraille ||
		unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Parse reads where a gift is sent: one e-mail address without a display name (RFC 5321, RFC 5322), or a
// mobile number of one of these countries, nil the default ones, which is given back in E.164. Printed gifts have
// none: "". The error is a sentence for the sender.
func Parse(m Method, s string, countries []string) (string, error) {
	switch m {
	case Email:
		return parseEmail(s)
	case SMS:
		if countries == nil {
			countries = DefaultTextCountries
		}
		return parseMobile(s, countries)
	}
	return "", nil
}

// maxContact is how long a contact may be.
const maxContact = 254

// maxLocal is how long the part before the @ may be (RFC 5321, 4.5.3.1.1), with its quotes.
const maxLocal = 64

var errEmail = phrase.New("This is not one e-mail address such as name@example.com.")

// parseEmail takes the addr-spec of RFC 5322 without comments, folding and display names, within the lengths of RFC
// 5321, and gives the one form that all spellings of a mailbox share: without quotes that are not needed, with those
// that old addresses of Japanese carriers need, and the domain in lower case. Letters beyond ASCII are allowed on both
// sides (RFC 6531) and left to the mail server; that a domain with such letters is in its one form is for the decoder
// to see to, as this package knows no tables of them.
func parseEmail(s string) (string, error) {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > maxLocal || CheckText(s, maxContact, false) != nil || len(s) > maxContact || !isDomain(s[at+1:]) {
		return "", errEmail
	}
	local, domain := s[:at], strings.ToLower(s[at+1:])
	if quoted := strings.TrimPrefix(local, `"`); quoted != local {
		switch inside, ends := strings.CutSuffix(quoted, `"`); {
		case !ends || !isQuoted(inside):
			return "", errEmail
		case isDotAtom(inside):
			local = inside
		}
	} else if !isDotAtom(local) {
		const quotes = 2
		if !isOfCarrier(local, domain) || len(local)+quotes > maxLocal {
			return "", errEmail
		}
		local = `"` + local + `"`
	}
	return local + "@" + domain, nil
}

// isOfCarrier takes what stands before the @ of addresses that Japanese carriers gave out until about 2009, with dots
// where RFC 5321 takes them in quotes only: two in a row, or one before the @. People write them without quotes.
func isOfCarrier(local, domain string) bool {
	dots := strings.Trim(local, ".")
	for strings.Contains(dots, "..") {
		dots = strings.ReplaceAll(dots, "..", ".")
	}
	if !isDotAtom(dots) {
		return false
	}
	for _, carrier := range []string{"docomo.ne.jp", "ezweb.ne.jp", "au.com"} {
		if domain == carrier || strings.HasSuffix(domain, "."+carrier) {
			return true
		}
	}
	return false
}

// isQuoted takes what may stand between quotes.
func isQuoted(s string) bool {
	return s != "" && !strings.ContainsAny(strings.NewReplacer(`\\`, "", `\"`, "").Replace(s), `"\`)
}

func isDotAtom(s string) bool {
	for atom := range strings.SplitSeq(s, ".") {
		if atom == "" {
			return false
		}
		for _, r := range atom {
			if r < utf8.RuneSelf && !isAlphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r) ||
				r >= utf8.RuneSelf && (!unicode.IsGraphic(r) || unicode.IsSpace(r)) {
				return false
			}
		}
	}
	return true
}

// isDomain takes a host name with at least two labels, of which the last is no number.
func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || utf8.RuneCountInString(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, r := range l {
			if r != '-' && !isAlphanumeric(r) && (r < utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsMark(r)) {
				return false
			}
		}
	}
	return len(labels) >= 2 && !allDigits(labels[len(labels)-1])
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// allDigits reports whether a text has digits only, and at least one.
func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
