package card

import (
	"net/url"
	"slices"
	"strings"

	"boon.example/internal/merchant"
)

// Place is a location at which a gift can be used, as its merchant describes it to guests.
type Place struct {
	Name    string
	Address string // "": none is told
	Phone   string // likewise
	Hours   string // likewise
	Map     string // the address of a search for Address on a map, which says nothing of the gift; "": there is none
}

// placeOf describes a location.
func placeOf(l *merchant.Location) Place {
	p := Place{Name: Line(l.Name), Address: Line(l.Address), Phone: Line(l.Phone), Hours: Line(l.Hours)}
	if p.Address != "" {
		p.Map = mapOf(p.Address, l)
	}
	return p
}

// inOneLine is a place for mail and paper: with all that is known of it where it is the only one, else with its
// address.
func (p *Place) inOneLine(only bool) string {
	words := []string{p.Name, p.Address}
	if only {
		words = append(words, p.Phone, p.Hours)
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), ", ")
}

// mapSearch is a map that anybody may link to, and that takes no note of who comes.
const mapSearch = "https://www.openstreetmap.org/search?query="

// mapOf is the search for the address of a location, and the region that it lies in, from the nearest to the farthest,
// as addresses are written: US-CA is CA, US.
func mapOf(address string, l *merchant.Location) string {
	region := strings.Split(l.Jurisdiction, "-")
	slices.Reverse(region)
	if strings.ContainsAny(region[0], "0123456789") {
		region = region[1:] // a number, which no map knows
	}
	words := slices.DeleteFunc(append([]string{address}, region...), func(s string) bool { return s == "" })
	return mapSearch + url.QueryEscape(strings.Join(words, ", "))
}
