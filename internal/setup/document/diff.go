package document

import (
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

// Record is one thing that an account consists of, in the form in which two set-ups are compared and told apart in
// words.
type Record struct {
	Kind   Kind
	ID     guid.ID
	Name   string
	fields []Field
}

// Kind says what a record is.
type Kind string

const (
	AccountKind      Kind = "account"
	SubscriptionKind Kind = "subscription"
	LocationKind     Kind = "location"
	StorefrontKind   Kind = "storefront"
	PromotionKind    Kind = "promotion"
	DesignKind       Kind = "voucher design"
	PersonKind       Kind = "person"
	ProviderKind     Kind = "provider"
)

// Field is one property of a record: values are compared, words are shown.
type Field struct {
	Name  string
	Value string
	Words string // "": too long to show
}

// PlainField is a text, or none.
func PlainField(name, value string) Field {
	words := value
	if value == "" {
		words = "none"
	}
	return Field{name, value, words}
}

// textField is a text for guests with its translations.
func textField(name, text string, in merchant.Translations) Field {
	f := PlainField(name, text)
	f.Value = strconv.Quote(text)
	for _, l := range slices.Sorted(maps.Keys(in)) {
		f.Value += fmt.Sprintf(" %s %q", l, in[l])
		f.Words += fmt.Sprintf(" (%s: %s)", l, in[l])
	}
	return f
}

// SwitchField is something that is on or off.
func SwitchField(name string, on bool) Field {
	if on {
		return Field{name, "on", "on"}
	}
	return Field{name, "off", "off"}
}

// LimitsField says daily limits by the names that they have in the set-up file.
func LimitsField(l merchant.Limits, c money.Currency) Field {
	var words []string
	for name, limit := range eachLimit(l) {
		switch n := limit.(type) {
		case money.Amount:
			words = append(words, name+" "+c.Money(n))
		default:
			words = append(words, fmt.Sprint(name, " ", n))
		}
	}
	return PlainField("limits", strings.Join(words, ", "))
}

// eachLimit walks through the limits that there are: amounts of money, and counts.
func eachLimit(l merchant.Limits) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, m := range definitionOf(reflect.TypeFor[merchant.Limits]()) {
			if v := reflect.ValueOf(l).FieldByIndex(m.index); !v.IsZero() && !yield(m.name, v.Interface()) {
				return
			}
		}
	}
}

func retentionField(name string, days int, _ *merchant.Account) Field {
	if days == 0 {
		return Field{name, "", "kept"}
	}
	return Field{name, strconv.Itoa(days), "erased " + strconv.Itoa(days) + " days after a gift has ended"}
}

func countriesField(name string, countries []string, _ *merchant.Account) Field {
	value := strings.Join(countries, " ")
	if value == "" {
		countries = contact.DefaultTextCountries
	}
	return Field{name, value, strings.Join(countries, " and ")}
}

func designField(name string, id guid.ID, a *merchant.Account) Field {
	if d := a.Design(id); d != nil {
		return Field{name, id.String(), d.Name}
	}
	return PlainField(name, id.String())
}

// LocationsField are some locations of an account, or all.
func LocationsField(ids []guid.ID, a *merchant.Account) Field {
	if len(ids) == 0 {
		return Field{"locations", "", "all"}
	}
	var values, words []string
	for _, id := range SortedIDs(ids) {
		word := id.String()
		if l := a.Location(id); l != nil {
			word = l.Name
		}
		values, words = append(values, id.String()), append(words, word)
	}
	return Field{"locations", strings.Join(values, " "), strings.Join(words, " and ")}
}

// Records takes an account apart, the account itself first. Everything that the set-up file can say is in it.
func Records(a *merchant.Account) []Record {
	def, v := definitionOf(reflect.TypeFor[merchant.Account]()), reflect.ValueOf(a).Elem()
	all := []Record{{AccountKind, a.ID, a.Name, def.tell(v, a)}}
	for _, m := range def {
		if m.list == nil {
			continue
		}
		list := v.FieldByIndex(m.index)
		for n := range list.Len() {
			one := list.Index(n)
			id, name := m.list.named(one.Addr().Interface())
			all = append(all, Record{m.list.kind, id, name, m.list.of.tell(one, a)})
		}
	}
	return all
}

func itemWords(i merchant.Item) string {
	if i.Group != "" {
		return strings.TrimSpace("group " + i.Group + " " + i.Name)
	}
	return strings.TrimSpace(i.ID + " " + i.Name)
}

func tellItems(name string, items []merchant.Item, _ *merchant.Account) Field {
	if len(items) == 0 {
		return Field{name, "", "any"}
	}
	var words []string
	for _, i := range items {
		words = append(words, itemWords(i))
	}
	return Field{name, fmt.Sprintf("%q", items), strings.Join(words, " and ")}
}

// recordKey tells records apart: a program id is the same in every account, but it is one subscription in each.
type recordKey struct {
	kind Kind
	id   guid.ID
}

// Diff says in words what makes the second account of the first, nil: there was none, and which records are gone.
// No words: they are the same.
func Diff(from, to *merchant.Account) (words []string, gone []Record) {
	before := make(map[recordKey]Record)
	if from != nil {
		for _, r := range Records(from) {
			before[recordKey{r.Kind, r.ID}] = r
		}
	}
	for _, r := range Records(to) {
		old, known := before[recordKey{r.Kind, r.ID}]
		delete(before, recordKey{r.Kind, r.ID})
		if !known {
			words = append(words, r.added())
			continue
		}
		words = append(words, r.changes(old)...)
	}
	if from != nil {
		for _, r := range Records(from) {
			if _, left := before[recordKey{r.Kind, r.ID}]; left {
				gone = append(gone, r)
				words = append(words, "removed "+r.String())
			}
		}
	}
	return words, gone
}

// String names a record: location Pier 39.
func (r Record) String() string { return string(r.Kind) + " " + r.Name }

func (r Record) added() string {
	if r.Kind == AccountKind {
		return "added"
	}
	return "added " + r.String()
}

// changes says what became different, a sentence for each field.
func (r Record) changes(old Record) []string {
	var words []string
	for i, f := range r.fields {
		o := old.fields[i]
		if f.Value == o.Value {
			continue
		}
		what := "changed "
		if r.Kind != AccountKind {
			what += r.String() + ": "
		}
		what += f.Name
		if f.Words != "" && o.Words != "" {
			what += " from " + o.Words + " to " + f.Words
		}
		words = append(words, what)
	}
	return words
}
