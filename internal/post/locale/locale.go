// Package locale has the texts that people are shown, in the languages of package merchant, and writes amounts and
// times as people there write them.
//
// The texts lie in files, one for each place that shows them, every text in all of its languages side by side. A text
// names its arguments by their place, %[1]s, so that a language can put them in its own order. Texts that count have
// plural forms. A test holds them complete.
package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/currency"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

//go:embed texts/*.json
var files embed.FS

// Locale writes for people of one language, in one region. The zero value is not one: see For.
type Locale struct {
	language merchant.Language
	printer  *message.Printer
	region   *region // nil: that of the texts
}

// loaded are the texts of all files. They are read when the first one is asked for: most commands of the command line
// ask for none, and reading them is a sixth of what starting takes.
var loaded = sync.OnceValue(load)

// library is what the files hold.
type library struct {
	texts   *catalog.Builder
	names   map[string]bool // of all texts
	locales map[merchant.Language]*Locale
}

// For is the locale of a language; that of English for one that there is none of.
func For(l merchant.Language) *Locale {
	locales := loaded().locales
	if known := locales[l]; known != nil {
		return known
	}
	return locales[merchant.English]
}

// ConsoleLanguages are those of the console. Its texts, whose names begin with ConsoleTexts, are in no other.
func ConsoleLanguages() []merchant.Language {
	return []merchant.Language{merchant.English, merchant.German, merchant.Spanish}
}

// ConsoleTexts begins the names of the texts of the console.
const ConsoleTexts = "console."

// Language is the one that the locale writes.
func (l *Locale) Language() merchant.Language { return l.language }

// Text is the text of a name, with its arguments. It panics for a name that no file has: a test finds those first.
func (l *Locale) Text(name string, args ...any) string {
	if !loaded().names[name] {
		panic("there is no text named " + name)
	}
	return l.printer.Sprintf(name, args...)
}

// Piece is a part of a text: words of its own, or an argument, which a page marks as somebody else's words.
type Piece struct {
	Text string
	Arg  int // which argument it is, from 1; 0: none
}

// Pieces is the text of a name, with its arguments apart.
func (l *Locale) Pieces(name string, args ...string) []Piece {
	marks := make([]any, len(args))
	for i := range args {
		marks[i] = string(firstMark + rune(i))
	}
	var pieces []Piece
	words := ""
	for _, r := range l.Text(name, marks...) {
		i := int(r - firstMark)
		if i < 0 || i >= len(args) {
			words += string(r)
			continue
		}
		if words != "" {
			pieces, words = append(pieces, Piece{Text: words}), ""
		}
		pieces = append(pieces, Piece{args[i], i + 1})
	}
	if words != "" {
		pieces = append(pieces, Piece{Text: words})
	}
	return pieces
}

// firstMark stands for the first argument while a text is cut: a character for private use, which no text has.
const firstMark = '\ue000'

// All gives the texts whose names begin with a prefix as they stand in the files, for a script that fills in the
// arguments itself: a string, or its plural forms by their categories. What the language lacks is in English. The texts
// are looked for in the files whose names begin with the first word of the prefix.
func (l *Locale) All(prefix string) map[string]any {
	all := map[string]any{}
	family, _, _ := strings.Cut(prefix, ".")
	for name, versions := range readTexts(family) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		t, has := versions[l.language]
		if !has {
			t = versions[merchant.English]
		}
		if all[name] = t.text; t.forms != nil {
			all[name] = t.forms
		}
	}
	return all
}

// translated is one text in one language: a string, or its plural forms by their categories ("one", "other").
type translated struct {
	text  string
	forms map[string]string
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *translated) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		return json.Unmarshal(b, &t.forms)
	}
	return json.Unmarshal(b, &t.text)
}

// message is the text for the catalog. Plural forms go by the first argument.
func (t *translated) message() catalog.Message {
	if t.forms == nil {
		return catalog.String(t.text)
	}
	var cases []any
	for _, form := range slices.Sorted(maps.Keys(t.forms)) { // "other" comes after "one"
		cases = append(cases, form, t.forms[form])
	}
	return plural.Selectf(1, "%d", cases...)
}

// readTexts reads the files whose names begin with a word, "" for all files: name, then language.
func readTexts(family string) map[string]map[merchant.Language]translated {
	all := map[string]map[merchant.Language]translated{}
	found, err := fs.Glob(files, "texts/"+family+"*.json")
	if err != nil || len(found) == 0 {
		panic(fmt.Sprintf("no file of texts begins with %q: %v", family, err)) // the program names it
	}
	for _, file := range found {
		content, err := files.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(content, &all)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", file, err)) // it is embedded
		}
	}
	return all
}

func load() *library {
	l := &library{texts: catalog.NewBuilder(catalog.Fallback(language.English)), names: map[string]bool{},
		locales: map[merchant.Language]*Locale{}}
	for name, versions := range readTexts("") {
		l.names[name] = true
		for in, t := range versions {
			if err := l.texts.Set(language.Make(string(in)), name, t.message()); err != nil {
				panic(fmt.Errorf("text %s in %s: %w", name, in, err)) // it is embedded
			}
		}
	}
	for _, in := range merchant.Languages() {
		l.locales[in] = &Locale{in, message.NewPrinter(language.Make(string(in)), message.Catalog(l.texts)), nil}
	}
	return l
}

// Number writes a whole number: 1,000.
func (l *Locale) Number(n int64) string {
	group, from := l.grouping()
	if l.region != nil {
		group = l.region.Number
	}
	return l.grouped(strconv.FormatInt(n, 10), group, from)
}

// Money writes an amount with its currency: $1,025.00, 1.025,00 €, ¥3,000, CHF 1'025.00.
func (l *Locale) Money(a money.Amount, c money.Currency) string {
	symbol := l.symbol(c.Code)
	group, from := l.grouping()
	amount, code := l.grouped(c.Format(a), group, from), symbol == c.Code
	if l.region != nil {
		return l.region.money(amount, symbol, code)
	}
	if code {
		symbol += "\u00a0" // CHF 25.00, where $25.00 has no space
	}
	return strings.TrimRight(l.Text("money", amount, symbol), "\u00a0")
}

// Decimal writes a decimal number, such as 1025.50, as people do: 1,025.50.
func (l *Locale) Decimal(number string) string {
	group, from := l.grouping()
	return l.grouped(number, group, from)
}

// grouping tells what stands between groups of the digits of an amount, and of how many digits it does at least.
func (l *Locale) grouping() (group string, from int) {
	switch {
	case l.region != nil:
		return l.region.Group, l.region.From
	case l.language == merchant.Spanish:
		return l.Text("number.group"), 5 // 1000, but 10 000: the rule of the Real Academia
	}
	return l.Text("number.group"), 4
}

// grouped writes a decimal number with the signs of the language and the region.
func (l *Locale) grouped(decimal, group string, from int) string {
	whole, fraction, has := strings.Cut(decimal, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	step := 3
	if l.region != nil && l.region.Lakh {
		step = 2 // after the first three
	}
	if len(whole) >= from {
		for at := len(whole) - 3; at > 0; at -= step {
			whole = whole[:at] + group + whole[at:]
		}
	}
	if !has {
		return sign + whole
	}
	point := l.Text("number.decimal")
	if l.region != nil {
		point = l.region.Decimal
	}
	return sign + whole + point + fraction
}

// symbol is that of a currency: $, CA$, €; its code where there is none.
func (l *Locale) symbol(code string) string {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return code
	}
	if code == "JPY" { // CLDR has a full-width sign, which breaks the line of figures, or none
		return "¥"
	}
	return l.printer.Sprint(currency.Symbol(unit))
}

// Match picks the language of a page: that which a reader's browser asks for first (Accept-Language, RFC 9110), else
// the one given.
func Match(accept string, otherwise merchant.Language) merchant.Language {
	asked, _, err := language.ParseAcceptLanguage(accept)
	if err != nil || len(asked) > maxAsked {
		return otherwise
	}
	for _, tag := range asked {
		if l, ok := merchant.LanguageOf(tag.String()); ok {
			return l
		}
	}
	return otherwise
}

// maxAsked is how many languages a browser may ask for.
const maxAsked = 50

// Day writes a date: March 30, 2026.
func (l *Locale) Day(t time.Time) string { return l.date(l.dayPattern(), t) }

// dayPattern is how a date is written, with its day, its month and its year as the arguments 1 to 3.
func (l *Locale) dayPattern() string {
	if l.region != nil {
		return l.region.Day
	}
	return l.Text("day", "%[1]s", "%[2]s", "%[3]s")
}

// DayAndMonth writes a date without its year: March 30.
func (l *Locale) DayAndMonth(t time.Time) string {
	if l.region != nil {
		return l.date(l.region.Short, t)
	}
	return l.date(l.Text("day.short", "%[1]s", "%[2]s", "%[3]s"), t)
}

// Month writes a month with its year: March 2026.
func (l *Locale) Month(t time.Time) string {
	return l.date(l.Text("month.year", "%[1]s", "%[2]s", "%[3]s"), t)
}

// Days writes whole days, from the first to the last, with the zone that they are in: November 20 to 29, 2026 (New York
// time).
func (l *Locale) Days(first, last time.Time) string {
	var days string
	switch {
	case first.Year() != last.Year():
		days = l.Text("dates.range", l.Day(first), l.Day(last))
	case first.Month() != last.Month():
		days = l.Text("dates.range", l.DayAndMonth(first), l.Day(last))
	case first.Day() == last.Day():
		days = l.Day(last)
	default:
		days = l.dateOf(l.dayPattern(), l.Text("day.range", l.day(first), l.day(last)), first)
	}
	return l.Text("day.zone", days, l.zone(last))
}

// StartOfDay writes that something begins with a day: March 30, 2026 (New York time).
func (l *Locale) StartOfDay(t time.Time) string { return l.Text("day.zone", l.Day(t), l.zone(t)) }

// Addressed is the name of the text that addresses a person, where it would add a title that the name has already: 様.
func (l *Locale) Addressed(text, person string) string {
	if l.language == merchant.Japanese && slices.ContainsFunc(titles, func(t string) bool {
		return strings.HasSuffix(strings.TrimRight(person, " \u3000"), t)
	}) {
		return text + ".honoured"
	}
	return text
}

// titles are what Japanese names end in that need no other.
var titles = []string{"様", "さま", "さん", "殿", "ちゃん", "くん", "君", "先生", "御中"}

// day writes the day of a month as a number.
func (l *Locale) day(t time.Time) string {
	if t.Day() == 1 {
		return l.Text("day.first")
	}
	return strconv.Itoa(t.Day())
}

// date writes a date by a pattern that has its day, its month and its year as the arguments 1 to 3.
func (l *Locale) date(pattern string, t time.Time) string { return l.dateOf(pattern, l.day(t), t) }

// dateOf writes what stands for the day in the place of the day of a date.
func (l *Locale) dateOf(pattern, day string, t time.Time) string {
	month := l.Text("month." + strconv.Itoa(int(t.Month())))
	if l.region != nil && l.region.Months != nil {
		month = l.region.Months[t.Month()-1]
	}
	return strings.NewReplacer("%[1]s", day, "%[2]s", month, "%[3]s", strconv.Itoa(t.Year())).Replace(pattern)
}

// Clock writes a time of day: 8:00 PM.
func (l *Locale) Clock(t time.Time) string {
	if l.region != nil {
		return l.region.clock(t.Format(l.region.Clock))
	}
	return t.Format(l.Text("clock"))
}

// Times tells apart how locales write days and times: those of which it is the same write them alike.
func (l *Locale) Times() string {
	if l.region == nil {
		return string(l.language)
	}
	return fmt.Sprintf("%s %q", l.language, append([]string{l.region.Day, l.region.Short, l.region.Clock, l.region.AM,
		l.region.PM}, l.region.Months...))
}

// Moment writes an instant in the zone that it has: March 30, 2026, 8:00 PM (New York time).
func (l *Locale) Moment(t time.Time) string { return l.Text("moment", l.Day(t), l.Clock(t), l.zone(t)) }

// EndOfDay writes that something ends with a day: the end of March 30, 2026 (New York time).
func (l *Locale) EndOfDay(t time.Time) string { return l.Text("until.midnight", l.Day(t), l.zone(t)) }

// zone names a time zone as people do: by its city, as the language calls it where the texts know, or, where the id has
// none, by its abbreviation.
func (l *Locale) zone(t time.Time) string {
	id := t.Location().String()
	slash := strings.LastIndexByte(id, '/')
	if slash < 0 || strings.HasPrefix(id, "Etc/") || strings.ContainsAny(id[slash:], "0123456789") {
		return t.Format("MST")
	}
	city := strings.ReplaceAll(id[slash+1:], "_", " ")
	if name := "zone.city." + city; loaded().names[name] {
		city = l.Text(name)
	}
	return l.Text("zone.city", city)
}
