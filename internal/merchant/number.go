package merchant

import (
	"cmp"
	"strings"

	"boon.example/internal/base/phone"
	"boon.example/internal/contact"
)

// TextedCountries are the countries that the account sends SMS to.
func (a *Account) TextedCountries() []string {
	if a == nil || a.TextCountries == nil {
		return contact.DefaultTextCountries
	}
	return a.TextCountries
}

// WholeNumber gives a telephone number in E.164 as the account reads it; any other contact stays as it is.
func (a *Account) WholeNumber(contact string) string {
	if strings.Contains(contact, "@") {
		return contact
	}
	if number, err := phone.Parse(contact, a.TextedCountries()); err == nil {
		return number
	}
	return contact
}

// DialledNumber gives a telephone number as it is dialled within its country; any other contact stays as it is.
func (a *Account) DialledNumber(contact string) string {
	dialled, _ := phone.National(a.WholeNumber(contact))
	return phone.Written(cmp.Or(dialled, contact))
}

// BareNumber gives a telephone number without country code and trunk prefix; any other contact stays as it is.
func (a *Account) BareNumber(contact string) string {
	_, bare := phone.National(a.WholeNumber(contact))
	return phone.Written(cmp.Or(bare, contact))
}
