package locale

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"boon.example/internal/gift"
	"boon.example/internal/merchant"
)

// region is how amounts, dates and times are written in a region, where that is otherwise than in the language's own
// country: data of CLDR. Its names are those of regions.json, which regions.mjs writes.
type region struct {
	Decimal string   // of an amount
	Group   string   // of an amount
	Before  bool     // the sign of the currency stands before the amount
	Space   bool     // there is a space between them
	Lakh    bool     // 12,34,567
	From    int      // how many digits are grouped at least
	Number  string   // the group of a number that is no amount
	Day     string   // as the text day
	Short   string   // as the text day.short
	Clock   string   // a layout of package time
	AM, PM  string   // in it
	Months  []string // where they have other names
}

//go:embed regions.json
var regionData []byte

// regions are by a language and a country: de-CH.
var regions = sync.OnceValue(readRegions)

func readRegions() (all map[string]*region) {
	if err := json.Unmarshal(regionData, &all); err != nil {
		panic(fmt.Errorf("regions.json: %w", err)) // it is embedded
	}
	return all
}

// regional has the locales of regions that were asked for, by their tags.
var regional sync.Map

// In is the locale that writes amounts, dates and times as people of a country do who read the language of l; l itself,
// where they write as the texts do. The country is an ISO 3166-1 code; "": none in particular.
func (l *Locale) In(country string) *Locale {
	tag := string(l.language) + "-" + country
	r := regions()[tag]
	if r == nil {
		return For(l.language)
	}
	if known, ok := regional.Load(tag); ok {
		return known.(*Locale)
	}
	made, _ := regional.LoadOrStore(tag, &Locale{l.language,
		message.NewPrinter(language.Make(tag), message.Catalog(loaded().texts)), r})
	return made.(*Locale)
}

// Of is the locale of a gift for somebody who reads a language: as people write in the region that the gift's own
// language tag names, if it is of that language, else in the account's country.
func Of(l merchant.Language, g *gift.Gift, a *merchant.Account) *Locale {
	country := merchant.RegionOf(g.Card.Language)
	if own, ok := merchant.LanguageOf(g.Card.Language); country == "" || !ok || own != l {
		country = a.HomeCountry()
	}
	return For(l).In(country)
}

// money writes a decimal amount beside the sign of its currency.
func (r *region) money(amount, symbol string, code bool) string {
	space := ""
	if r.Space || code {
		space = "\u00a0"
	}
	if r.Before {
		return symbol + space + amount
	}
	return amount + space + symbol
}

// clock writes the time of day that a layout of package time made.
func (r *region) clock(told string) string {
	return strings.NewReplacer("AM", r.AM, "PM", r.PM).Replace(told)
}
