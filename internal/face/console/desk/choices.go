package desk

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"

	"boon.example/internal/contact"
	"boon.example/internal/wire"
)

// Choice is what a field offers that also takes what is not offered.
type Choice struct {
	Value string // which the field takes
	Words string // by which people find it, in the language of the page
}

// Zones are the time zones that people live in: Europe/Vienna is found as Vienna and as Austria.
func (r *Request) Zones() (all []Choice) {
	country := r.countryNames()
	for _, z := range wire.Zones() {
		city := strings.ReplaceAll(z.ID[strings.LastIndexByte(z.ID, '/')+1:], "_", " ")
		all = append(all, Choice{z.ID, city + ", " + country(z.Country)})
	}
	return all
}

// Countries are those that a telephone number can be of.
func (r *Request) Countries() (all []Choice) {
	country := r.countryNames()
	for _, code := range contact.TextCountries() {
		all = append(all, Choice{code, country(code)})
	}
	return sorted(all)
}

// Jurisdictions are the countries, and the states of the United States, whose laws about gift cards differ.
func (r *Request) Jurisdictions() []Choice {
	all, states := r.Countries(), r.countryNames()("US")
	for line := range strings.Lines(usStates) {
		code, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, Choice{"US-" + code, name + ", " + states})
	}
	return sorted(all)
}

// countryNames names countries in the language of the page.
func (r *Request) countryNames() func(code string) string {
	names := display.Regions(language.Make(string(r.Locale.Language())))
	return func(code string) string {
		region, err := language.ParseRegion(code)
		if err != nil || names == nil {
			return code
		}
		return names.Name(region)
	}
}

// sorted puts choices in the order of their words, in which Österreich is near Oman.
func sorted(all []Choice) []Choice {
	plain := func(text string) string {
		return strings.Map(func(c rune) rune {
			if unicode.Is(unicode.Mn, c) {
				return -1
			}
			return unicode.ToLower(c)
		}, norm.NFD.String(text))
	}
	slices.SortFunc(all, func(a, b Choice) int { return strings.Compare(plain(a.Words), plain(b.Words)) })
	return all
}

// usStates are the states and the capital's district by their codes in ISO 3166-2 after US-.
const usStates = `AL Alabama
AK Alaska
AZ Arizona
AR Arkansas
CA California
CO Colorado
CT Connecticut
DE Delaware
DC District of Columbia
FL Florida
GA Georgia
HI Hawaii
ID Idaho
IL Illinois
IN Indiana
IA Iowa
KS Kansas
KY Kentucky
LA Louisiana
ME Maine
MD Maryland
MA Massachusetts
MI Michigan
MN Minnesota
MS Mississippi
MO Missouri
MT Montana
NE Nebraska
NV Nevada
NH New Hampshire
NJ New Jersey
NM New Mexico
NY New York
NC North Carolina
ND North Dakota
OH Ohio
OK Oklahoma
OR Oregon
PA Pennsylvania
RI Rhode Island
SC South Carolina
SD South Dakota
TN Tennessee
TX Texas
UT Utah
VT Vermont
VA Virginia
WA Washington
WV West Virginia
WI Wisconsin
WY Wyoming`
