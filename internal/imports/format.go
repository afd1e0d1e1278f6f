package imports

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
)

// Field is what a column of a file says of a gift.
type Field string

// The fields. Code is needed, and one of Balance and Quantity.
const (
	Code         Field = "code"
	Balance      Field = "balance"
	Quantity     Field = "quantity"
	Label        Field = "label"
	Program      Field = "program"
	Organization Field = "organization"
	ValidUntil   Field = "validUntil"
	IssuedAt     Field = "issuedAt"
	Recipient    Field = "recipient"
	Contact      Field = "contact"
	Reference    Field = "reference"
	Customer     Field = "customer" // the merchant's own id of the customer that the gift is linked to
	PIN          Field = "pin"
	ValidFrom    Field = "validFrom"
	Currency     Field = "currency"    // refuses a gift in another currency than the account's
	State        Field = "state"       // refuses a gift that the old system does not take
	Ended        Field = "ended"       // when, why or whether the old system ended the gift: it refuses such a gift
	Promotional  Field = "promotional" // refuses a gift that nobody paid for
	Held         Field = "held"        // refuses a gift of which a part is held
	TillsOnly    Field = "tillsOnly"   // whether another Boon has the card taken at tills only
	Kind         Field = "kind"        // refuses what is no gift, such as a discount in a list of coupons
)

// about reports whether a field is about people or a sale: an export may name two of each, such as who bought a gift
// and who got it. Then the name that its map has first says whose the gift is. Of value, time and state there is one.
func (f Field) about() bool { return f == Recipient || f == Contact || f == Reference }

// Fields are all of them.
func Fields() []Field {
	return []Field{Code, Balance, Quantity, Label, Program, Organization, ValidUntil, IssuedAt, Recipient, Contact,
		Reference, Customer, PIN, ValidFrom, Currency, State, Ended, Promotional, Held, TillsOnly, Kind}
}

// Format says how the export of a system is read. The formats are data: maps/*.yaml.
type Format struct {
	System merchant.System `yaml:"system"`
	// the names that the columns have. Case, spaces, dashes, underscores, apostrophes and question marks
	// make no difference
	Columns map[Field][]string `yaml:"columns"`
	// the names of columns of balances that count the smallest unit of the currency, such as cents
	Minor []string `yaml:"minor"`
	// the names of columns of balances of gifts among discounts: the column kind says which are gifts, and is needed
	Among []string `yaml:"among"`
	// the fields of the columns of a file without names, in their order; nil: the first line has the names
	Order []Field `yaml:"order"`
	// what stands first in a date such as 05/02/2026, unless other dates of the file show it; "": nobody knows
	Dates DateOrder `yaml:"dates"`
	// what the column state says of a gift that is good; case makes no difference
	Good []string `yaml:"good"`
	// what the column kind says of a gift; case makes no difference
	Gifts []string `yaml:"gifts"`
}

// lacks is what the export of a system does not hold, and the way round it. Of the others, it holds all that is needed.
var lacks = map[merchant.System]phrase.Text{
	merchant.FromLightspeed: "Lightspeed K-Series lists a system ID beside each card. The code is what the QR code or " +
		"the print on the card says.",
	merchant.FromShopify: "Shopify shows a whole code only when the card is made; afterwards last_characters is all " +
		"there is. Take the codes from the app or the list with which the cards were made, or import without " +
		"these cards and replace each one as its guest comes.",
	merchant.FromSquare: "If the file of Square's dashboard shows only the last digits of the card numbers, list the " +
		"cards with Square's Gift Cards API, whose gan is the whole number.",
	merchant.FromToast: "A report of Toast that masks card numbers with asterisks cannot be imported; ask Toast for the " +
		"report with whole numbers.",
}

//go:embed maps/*.yaml
var maps embed.FS

// FormatOf is the format of a system's export.
func FormatOf(system merchant.System) (f Format, err error) {
	if !slices.Contains(merchant.Systems(), system) {
		return f, fmt.Errorf("There is no system %q.", system)
	}
	text, err := maps.ReadFile("maps/" + string(system) + ".yaml")
	if err == nil {
		err = yaml.Unmarshal(text, &f)
	}
	return f, err
}

// columns finds the column of each field by the names in the first line of a file. The error is a sentence that names
// everything that is missing or there twice.
func (f *Format) columns(names []string) (map[Field]int, error) {
	at, wrong := make(map[Field]int), (*phrase.Phrase)(nil)
	add := func(said *phrase.Phrase) {
		if wrong == nil {
			wrong = said
		} else {
			wrong = phrase.New("%s %s", wrong, said)
		}
	}
	for _, field := range Fields() {
		place := func(name string) int {
			return slices.IndexFunc(f.Columns[field], func(known string) bool { return plain(known) == plain(name) })
		}
		for n, name := range names {
			other, twice := at[field]
			switch {
			case place(name) < 0:
			case !twice || field.about() && place(name) < place(names[other]):
				at[field] = n
			case !field.about() || place(name) == place(names[other]):
				add(phrase.New("The columns %q and %q both say %s: leave one out.", names[other], name, field))
			}
		}
	}
	if _, ok := at[Code]; !ok {
		add(f.missing(Code))
	}
	_, money := at[Balance]
	_, pieces := at[Quantity]
	if !money && !pieces {
		add(f.missing(Balance))
	}
	if _, kind := at[Kind]; money && !kind && isOf(f.Among, names[at[Balance]]) {
		add(f.missing(Kind))
	}
	if wrong != nil {
		if said, is := lacks[f.System]; is {
			add(phrase.New(said))
		}
		return nil, wrong
	}
	return at, nil
}

// isOf reports whether the name of a column is one of those.
func isOf(all []string, name string) bool {
	return slices.ContainsFunc(all, func(known string) bool { return plain(known) == plain(name) })
}

func (f *Format) missing(field Field) *phrase.Phrase {
	return phrase.New("The first line names no column for %s: it must have one of the names %s.", field,
		strings.Join(f.Columns[field], ", "))
}

// ordered are the columns of a file without names.
func (f *Format) ordered() map[Field]int {
	at := make(map[Field]int)
	for n, field := range f.Order {
		at[field] = n
	}
	return at
}

// plain is a name without what people write in different ways.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t-_.?'’\u00a0", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
