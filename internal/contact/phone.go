package contact

import (
	"strings"

	"boon.example/internal/base/phone"
)

// DefaultTextCountries are the countries whose numbers an account sends SMS to where its set-up names none.
var DefaultTextCountries = []string{"US", "CA"}

// TextCountries lists the countries that SMS can be sent to, by their ISO 3166-1 codes.
func TextCountries() []string { return phone.Countries() }

// parseMobile reads a number as people write it and gives it in E.164. It must be of one of the countries; see package
// phone.
func parseMobile(s string, countries []string) (string, error) {
	if len(s) > maxContact {
		s = ""
	}
	number, err := phone.Parse(s, countries)
	if err == nil {
		err = phone.Check(number, countries)
	}
	if err != nil {
		return "", err
	}
	return number, nil
}

// Key is one for all spellings of a contact, as it stands in gifts: a mailbox has one, whatever the letter case,
// and a telephone number has one, also where an earlier release kept the trunk zero behind its country code.
func Key(contact string) string {
	if !strings.Contains(contact, "@") {
		return phone.One(contact)
	}
	if plain, err := parseEmail(contact); err == nil {
		contact = plain
	}
	return strings.ToLower(contact)
}

// Spellings are the texts by which gifts to a contact may be found, as its earlier spellings were kept.
func Spellings(contact string) []string {
	if strings.Contains(contact, "@") {
		return []string{FoldEmail(contact)}
	}
	return phone.Spellings(phone.One(contact))
}

// Same tells whether two contacts are spellings of one.
func Same(a, b string) bool {
	const tail = 4 // digits, which no spelling of a number changes
	if strings.Contains(a, "@") {
		return FoldEmail(a) == FoldEmail(b)
	}
	return a == b || a[max(0, len(a)-tail):] == b[max(0, len(b)-tail):] && phone.One(a) == phone.One(b)
}

// Written is one for the ways in which one sender may write a contact, whatever the account: see phone.Written.
func Written(contact string) string {
	if strings.Contains(contact, "@") {
		return contact
	}
	return phone.Written(contact)
}
