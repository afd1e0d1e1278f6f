package told

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Field is one property of a record: values are compared, words are shown.
type Field struct {
	Name  string
	Value string
	Words string // "": too long to show
}

// Plain is a text, or none.
func Plain(name, value string) Field {
	words := value
	if value == "" {
		words = phrase.Kept("none").Say()
	}
	return Field{name, value, words}
}

// Translated is a text for guests with its translations.
func Translated(name, text string, in merchant.Translations) Field {
	f := Plain(name, text)
	f.Value = strconv.Quote(text)
	for _, l := range slices.Sorted(maps.Keys(in)) {
		f.Value += fmt.Sprintf(" %s %q", l, in[l])
		f.Words += fmt.Sprintf(" (%s: %s)", l, in[l])
	}
	return f
}

// OnOff is something that is on or off.
func OnOff(name string, on bool) Field {
	if on {
		return Field{name, "on", phrase.Kept("on").Say()}
	}
	return Field{name, "off", phrase.Kept("off").Say()}
}

func Retention(name string, days int, _ *merchant.Account) Field {
	if days == 0 {
		return Field{name, "", phrase.Kept("kept").Say()}
	}
	return Field{name, strconv.Itoa(days), phrase.Kept("erased %d days after a gift has ended").Say(days)}
}

func Countries(name string, countries []string, _ *merchant.Account) Field {
	value := strings.Join(countries, " ")
	if value == "" {
		countries = contact.DefaultTextCountries
	}
	return Field{name, value, strings.Join(countries, " and ")}
}

func Design(name string, id guid.ID, a *merchant.Account) Field {
	if d := a.Design(id); d != nil {
		return Field{name, id.String(), d.Name}
	}
	return Plain(name, id.String())
}

// Locations are some locations of an account, or all.
func Locations(name string, ids []guid.ID, a *merchant.Account) Field {
	if len(ids) == 0 {
		return Field{name, "", phrase.Kept("all").Say()}
	}
	var values, words []string
	for _, id := range slices.SortedFunc(slices.Values(ids), guid.ID.Compare) {
		word := id.String()
		if l := a.Location(id); l != nil {
			word = l.Name
		}
		values, words = append(values, id.String()), append(words, word)
	}
	return Field{name, strings.Join(values, " "), strings.Join(words, " and ")}
}

func itemWords(i merchant.Item) string {
	if i.Group != "" {
		return strings.TrimSpace("group " + i.Group + " " + i.Name)
	}
	return strings.TrimSpace(i.ID + " " + i.Name)
}

func Items(name string, items []merchant.Item, _ *merchant.Account) Field {
	if len(items) == 0 {
		return Field{name, "", phrase.Kept("any").Say()}
	}
	var words []string
	for _, i := range items {
		words = append(words, itemWords(i))
	}
	return Field{name, fmt.Sprintf("%q", items), strings.Join(words, " and ")}
}

func Text(name, text string, _ *merchant.Account) Field { return Plain(name, text) }

// Secret never shows a secret, nor its hash.
func Secret[T any](name string, v T, _ *merchant.Account) Field {
	return Field{name, fmt.Sprintf("%x", any(v)), ""}
}

func ID(name string, id guid.ID, _ *merchant.Account) Field { return Plain(name, id.String()) }

func Switch(name string, on bool, _ *merchant.Account) Field { return OnOff(name, on) }

func Not(name string, off bool, _ *merchant.Account) Field { return OnOff(name, !off) }

func Mode(name string, test bool, _ *merchant.Account) Field {
	return Plain(name, merchant.ModeName(test))
}

func Currency(name string, c money.Currency, _ *merchant.Account) Field {
	return Plain(name, c.Code)
}

func Zone(name string, zone *time.Location, _ *merchant.Account) Field {
	return Plain(name, zone.String())
}

func Amount(name string, amount money.Amount, a *merchant.Account) Field {
	return Plain(name, a.Currency.Money(amount))
}

func Number(name string, n int, _ *merchant.Account) Field {
	if n == 0 {
		return Plain(name, "")
	}
	return Plain(name, strconv.Itoa(n))
}

func Time(name string, t time.Time, _ *merchant.Account) Field {
	if t.IsZero() {
		return Plain(name, "")
	}
	return Plain(name, t.UTC().Format(time.RFC3339Nano))
}

func TimeOfDay(name string, after time.Duration, _ *merchant.Account) Field {
	return Field{name, after.String(), time.Time{}.Add(after).Format("15:04")}
}

func Networks(name string, all merchant.Networks, _ *merchant.Account) Field {
	return Field{name, all.String(), all.String()}
}

func Permissions(name string, may merchant.Permissions, _ *merchant.Account) Field {
	return Plain(name, strings.Join(may.Names(), ", "))
}

func Location(name string, id guid.ID, a *merchant.Account) Field {
	if l := a.Location(id); l != nil {
		return Field{name, id.String(), l.Name}
	}
	return Plain(name, id.String())
}

func Percent(name string, rate money.Number, _ *merchant.Account) Field {
	if rate == "" {
		return Plain(name, "")
	}
	return Field{name, string(rate), string(rate) + " %"}
}

func Sites(name string, sites []merchant.Site, a *merchant.Account) Field {
	told := Field{Name: name}
	var value strings.Builder
	var words []string
	for _, s := range sites {
		fmt.Fprintf(&value, "%q %s ", s.Name, s.LocationID)
		at := s.LocationID.String()
		if l := a.Location(s.LocationID); l != nil {
			at = l.Name
		}
		words = append(words, s.Name+" at "+at)
	}
	told.Value, told.Words = value.String(), strings.Join(words, " and ")
	return told
}

func Storefront(name string, id guid.ID, a *merchant.Account) Field {
	if id.IsZero() {
		return Plain(name, "")
	}
	return Field{name, id.String(), a.StorefrontName(id)}
}

// codeFormWords are how people are told of a form.
func codeFormWords(f merchant.CodeForm) string {
	words := fmt.Sprintf("%d digits", f.Digits)
	if f.Alphanumeric > 0 {
		words = fmt.Sprintf("%d letters and digits", f.Alphanumeric)
	}
	if f.Fold {
		words += ", folded"
	}
	if f.From != "" {
		words += ", from " + string(f.From)
	}
	return words
}

func CodeForms(name string, forms []merchant.CodeForm, _ *merchant.Account) Field {
	var words []string
	for _, f := range forms {
		words = append(words, codeFormWords(f))
	}
	said := Plain(name, strings.Join(words, " and "))
	said.Value = fmt.Sprintf("%+v", forms)
	return said
}

// Tickets is how tickets are read at a location, for people.
func Tickets(name string, all []merchant.TicketReading, _ *merchant.Account) Field {
	var words []string
	for _, t := range all {
		said := t.Format
		if t.ItemID != "" {
			said += " by " + t.ItemID
		}
		if t.TaxInclusive != nil {
			said += fmt.Sprintf(" (tax inclusive: %t)", *t.TaxInclusive)
		}
		if len(t.GiftCards) > 0 {
			said += " (gift cards " + strings.Join(t.GiftCards, " and ") + ")"
		}
		words = append(words, said)
	}
	return Plain(name, strings.Join(words, ", "))
}

// Types are the types of events that an endpoint is sent.
func Types(types []string) Field {
	f := Plain("types", strings.Join(types, " and "))
	if len(types) == 0 {
		f.Words = phrase.Kept("all").Say()
	}
	return f
}
