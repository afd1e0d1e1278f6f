// Package phone reads telephone numbers as people write them, and gives each number its one form, E.164. What it knows
// of the numbering plans is the metadata of Google's libphonenumber.
package phone

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"boon.example/internal/base/phrase"
)

// Countries lists the countries that have telephone numbers, by their ISO 3166-1 codes.
func Countries() []string { return slices.Sorted(maps.Keys(phonenumbers.GetSupportedRegions())) }

const (
	northAmerica = 1
	unknown      = "ZZ" // to the library: a number that begins with +
)

// Parse reads a number and gives it in E.164. Spaces, dashes, dots, slashes, parentheses, "tel:", digits of other
// scripts, and marks that nobody sees make no difference; nor does the trunk prefix that a country dials within itself,
// such as the zero of +44 (0)7740 125622. A number without its country code is of the numbering plan that all of the
// countries share, where they share one; else it is of the North American plan. The error is a sentence for the sender,
// with an example of such a number.
func Parse(s string, countries []string) (string, error) {
	number := whole(read(s, countries))
	if number == "" {
		return "", phrase.New("This is not a mobile number: send %s.", example(countries))
	}
	return number, nil
}

// Check refuses a number in E.164 to which no SMS should go: one of another country than these, one that costs its
// caller extra, and one of no country (satellites, freephone). The error is a sentence for the sender.
func Check(number string, countries []string) error {
	n, err := phonenumbers.Parse(number, unknown)
	if err != nil || isPaid(n) {
		return errPaid
	}
	of := countriesOf(n)
	switch {
	case len(of) == 0:
		return errPaid
	case slices.ContainsFunc(of, func(c string) bool { return slices.Contains(countries, c) }):
		return nil
	}
	return phrase.New("This is a number of the country %s; this account sends SMS to %s only.",
		phrase.OneOf(of), strings.Join(countries, ", "))
}

var errPaid = phrase.New("This is not a number that an SMS is sent to: it costs its caller extra, or is of no country.")

// One gives a number that was kept as + and digits, by whichever release, in its one form. What is no number stays as
// it is.
func One(kept string) string {
	if !strings.HasPrefix(kept, "+") {
		return kept
	}
	return cmp.Or(whole(international(kept[1:])), kept)
}

// Written is one for the ways in which a number may be written, whatever the numbering plan of who reads it: E.164
// where the number says its country code, or has ten digits of the North American plan; else its digits. What is no
// number stays as it is.
func Written(s string) string {
	if number := whole(read(s, nil)); number != "" {
		return number
	}
	if digits, _, ok := clean(s); ok {
		return digits
	}
	return s
}

// National gives the digits of a number in E.164 without its country code: as they are dialled in its own country, and
// without the trunk prefix. What is no number has none.
func National(number string) (dialled, bare string) {
	n, err := phonenumbers.Parse(number, unknown)
	if err != nil {
		return "", ""
	}
	dialled = phonenumbers.NormalizeDigitsOnly(phonenumbers.Format(n, phonenumbers.NATIONAL))
	return dialled, phonenumbers.GetNationalSignificantNumber(n)
}

// Spellings are the ways in which releases before 0.2.0 may have kept a number, its one form first: they kept the trunk
// prefix behind the country code where somebody had written it.
func Spellings(number string) []string {
	all := []string{number}
	n, err := phonenumbers.Parse(number, unknown)
	if err != nil {
		return all
	}
	code := fmt.Sprintf("+%d", n.GetCountryCode())
	region := phonenumbers.GetRegionCodeForCountryCode(int(n.GetCountryCode()))
	dialled, bare := National(number)
	for _, s := range []string{"0" + bare, phonenumbers.GetNddPrefixForRegion(region, true) + bare, "1" + bare, dialled} {
		if s = code + s; !slices.Contains(all, s) && One(s) == number {
			all = append(all, s)
		}
	}
	return all
}

// whole gives a number in E.164 that is read as itself; "" where there is none.
func whole(n *phonenumbers.PhoneNumber) string {
	const rounds, longest = 3, len("+123456789012345")
	for range rounds {
		if n == nil {
			return ""
		}
		number := phonenumbers.Format(n, phonenumbers.E164)
		again := international(number[1:])
		if again != nil && phonenumbers.Format(again, phonenumbers.E164) == number && len(number) <= longest {
			return number
		}
		n = again
	}
	return ""
}

// read gives the number that a text can be meant for; nil: none.
func read(s string, countries []string) *phonenumbers.PhoneNumber {
	digits, plus, ok := clean(s)
	switch {
	case !ok:
		return nil
	case plus:
		return international(digits)
	}
	region, code := plan(countries)
	local := parse(digits, region)
	if local != nil && phonenumbers.IsValidNumber(local) {
		return local
	}
	if abroad, found := strings.CutPrefix(digits, "00"); found {
		return international(abroad)
	}
	if american := parse(digits, "US"); american != nil {
		return american
	}
	if local != nil && int(local.GetCountryCode()) == code {
		return local
	}
	return nil
}

// clean gives the digits of a number, and whether a plus comes before them. It takes nothing that is no mark of a
// number: letters, extensions, control characters.
func clean(s string) (digits string, plus, ok bool) {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s))
	if scheme := "tel:"; len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
		s = s[len(scheme):]
	}
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits += string(r)
		case strings.ContainsRune("+＋", r):
			if plus || digits != "" {
				return "", false, false
			}
			plus = true
		case unicode.In(r, unicode.Zs, unicode.Pd) || strings.ContainsRune("().（）．/／−ー", r):
		default:
			return "", false, false
		}
	}
	const fewest, most = 4, 20
	digits = phonenumbers.NormalizeDigitsOnly(digits)
	return digits, plus, len(digits) >= fewest && len(digits) <= most
}

// international reads what follows a plus. Behind the country code goes a zero that no number there begins with, and
// the 1 that Mexico had before its mobile numbers until 2019.
func international(digits string) *phonenumbers.PhoneNumber {
	n, err := phonenumbers.Parse("+"+digits, unknown)
	if err != nil {
		return nil
	}
	if phonenumbers.IsValidNumber(n) {
		return n
	}
	code := fmt.Sprint(n.GetCountryCode())
	national := strings.TrimPrefix(digits, code)
	if national[0] == '0' || code == "52" && national[0] == '1' {
		if shorter := parse("+"+code+national[1:], unknown); shorter != nil && phonenumbers.IsValidNumber(shorter) {
			return shorter
		}
	}
	return possible(n)
}

// parse reads a number as it is dialled in a region; "" and what cannot be one: nil.
func parse(digits, region string) *phonenumbers.PhoneNumber {
	if region == "" {
		return nil
	}
	n, err := phonenumbers.Parse(digits, region)
	if err != nil {
		return nil
	}
	return possible(n)
}

// possible gives nil for what has not the length of a number, and in North America for what is of no area code: there
// ten digits are anything. Elsewhere numbers are taken that the metadata does not know yet.
func possible(n *phonenumbers.PhoneNumber) *phonenumbers.PhoneNumber {
	if phonenumbers.IsPossibleNumberWithReason(n) != phonenumbers.IS_POSSIBLE ||
		n.GetCountryCode() == northAmerica && !isNorthAmerican(n) {
		return nil
	}
	return n
}

// isNorthAmerican takes NPA-NXX-XXXX: area code and exchange begin with 2-9 and are no service codes (N11), and area
// codes with a 9 in the middle are kept for a longer plan (NANPA's guidelines).
func isNorthAmerican(n *phonenumbers.PhoneNumber) bool {
	digits := phonenumbers.GetNationalSignificantNumber(n)
	area, exchange := digits[:3], digits[3:6]
	return area[0] >= '2' && area[1] != '9' && exchange[0] >= '2' && area[1:] != "11" && exchange[1:] != "11"
}

// plan gives a region of the numbering plan that all of the countries share, and its country code; "": they share none.
func plan(countries []string) (region string, code int) {
	for _, c := range countries {
		switch of := phonenumbers.GetCountryCodeForRegion(c); {
		case region == "":
			region, code = c, of
		case of != code:
			return "", 0
		}
	}
	return region, code
}

// countriesOf gives the countries that a number can be of; none for what is in no country in use, as far as the
// metadata knows.
func countriesOf(n *phonenumbers.PhoneNumber) (all []string) {
	code := int(n.GetCountryCode())
	if !phonenumbers.IsValidNumber(n) {
		if first := phonenumbers.GetRegionCodeForCountryCode(code); beginsAsMobile(n, first) {
			return []string{first}
		}
		return nil
	}
	for _, c := range phonenumbers.GetRegionCodesForCountryCode(code) {
		if c != phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY && phonenumbers.IsValidNumberForRegion(n, c) {
			all = append(all, c)
		}
	}
	if len(all) > 0 && strings.Contains("AS GU MP PR VI", all[0]) { // territories of the United States
		all = append(all, "US")
	}
	return all
}

// beginsAsMobile takes a number that the metadata does not know, if mobile numbers of the region begin like it:
// networks get new numbers beside their old ones, and films have numbers there (+44 7700 900123).
func beginsAsMobile(n *phonenumbers.PhoneNumber, region string) bool {
	const beginning = 3
	digits, example := phonenumbers.GetNationalSignificantNumber(n), phonenumbers.GetExampleNumberForType(region,
		phonenumbers.MOBILE)
	if example == nil || n.GetCountryCode() == northAmerica || len(digits) <= beginning {
		return false
	}
	like := digits[:beginning] + phonenumbers.GetNationalSignificantNumber(example)[beginning:]
	known := parse(fmt.Sprintf("+%d%s", n.GetCountryCode(), like), unknown)
	return known != nil && phonenumbers.IsValidNumber(known) && phonenumbers.GetNumberType(known) == phonenumbers.MOBILE
}

// isPaid tells of numbers that cost more than others, or are no person's. In North America an exchange of 976 is paid
// in every area, which the metadata does not say, and what it calls VOIP is the area code 600, which is of no place.
func isPaid(n *phonenumbers.PhoneNumber) bool {
	switch phonenumbers.GetNumberType(n) {
	case phonenumbers.PREMIUM_RATE, phonenumbers.SHARED_COST, phonenumbers.TOLL_FREE, phonenumbers.PERSONAL_NUMBER,
		phonenumbers.UAN, phonenumbers.VOICEMAIL:
		return true
	}
	if n.GetCountryCode() != northAmerica {
		return false
	}
	digits := phonenumbers.GetNationalSignificantNumber(n)
	return len(digits) > 6 && digits[3:6] == "976" || phonenumbers.GetNumberType(n) == phonenumbers.VOIP
}

// example shows how to write a number of the countries.
func example(countries []string) *phrase.Phrase {
	country, code := plan(countries)
	if country == "" && len(countries) > 0 {
		country = countries[0]
	}
	n := phonenumbers.GetExampleNumberForType(country, phonenumbers.MOBILE)
	if n == nil {
		return phrase.New("+ and the country code, or 10 digits of the North American plan")
	}
	national, whole := phonenumbers.Format(n, phonenumbers.NATIONAL), phonenumbers.Format(n, phonenumbers.INTERNATIONAL)
	if code == 0 {
		return phrase.New("+ and the country code, such as %s, or 10 digits of the North American plan", whole)
	}
	return phrase.New("a number of %s such as %s, or + and the country code, such as %s", country, national, whole)
}
