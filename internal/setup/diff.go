package setup

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

// record is one thing that an account consists of, in the form in which two set-ups are compared and told apart in
// words.
type record struct {
	kind   kind
	id     guid.ID
	name   string
	fields []field
}

// kind says what a record is.
type kind string

const (
	accountKind      kind = "account"
	subscriptionKind kind = "subscription"
	locationKind     kind = "location"
	storefrontKind   kind = "storefront"
	promotionKind    kind = "promotion"
	designKind       kind = "voucher design"
	personKind       kind = "person"
	providerKind     kind = "provider"
)

// field is one property of a record: values are compared, words are shown.
type field struct {
	name  string
	value string
	words string // "": too long to show
}

func plainField(name, value string) field {
	words := value
	if value == "" {
		words = "none"
	}
	return field{name, value, words}
}

// textField is a text for guests with its translations.
func textField(name, text string, in merchant.Translations) field {
	f := plainField(name, text)
	f.value = strconv.Quote(text)
	for _, l := range slices.Sorted(maps.Keys(in)) {
		f.value += fmt.Sprintf(" %s %q", l, in[l])
		f.words += fmt.Sprintf(" (%s: %s)", l, in[l])
	}
	return f
}

func switchField(name string, on bool) field {
	if on {
		return field{name, "on", "on"}
	}
	return field{name, "off", "off"}
}

// limitsField says daily limits by the names that they have in the set-up file.
func limitsField(l merchant.Limits, c money.Currency) field {
	var words []string
	for name, limit := range eachLimit(l) {
		switch n := limit.(type) {
		case money.Amount:
			words = append(words, name+" "+c.Money(n))
		default:
			words = append(words, fmt.Sprint(name, " ", n))
		}
	}
	return plainField("limits", strings.Join(words, ", "))
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

func retentionField(name string, days int, _ *merchant.Account) field {
	if days == 0 {
		return field{name, "", "kept"}
	}
	return field{name, strconv.Itoa(days), "erased " + strconv.Itoa(days) + " days after a gift has ended"}
}

func countriesField(name string, countries []string, _ *merchant.Account) field {
	value := strings.Join(countries, " ")
	if value == "" {
		countries = contact.DefaultTextCountries
	}
	return field{name, value, strings.Join(countries, " and ")}
}

func designField(name string, id guid.ID, a *merchant.Account) field {
	if d := a.Design(id); d != nil {
		return field{name, id.String(), d.Name}
	}
	return plainField(name, id.String())
}

func locationsField(ids []guid.ID, a *merchant.Account) field {
	if len(ids) == 0 {
		return field{"locations", "", "all"}
	}
	var values, words []string
	for _, id := range sortedIDs(ids) {
		word := id.String()
		if l := a.Location(id); l != nil {
			word = l.Name
		}
		values, words = append(values, id.String()), append(words, word)
	}
	return field{"locations", strings.Join(values, " "), strings.Join(words, " and ")}
}

// records takes an account apart, the account itself first. Everything that the set-up file can say is in it.
func records(a *merchant.Account) []record {
	def, v := definitionOf(reflect.TypeFor[merchant.Account]()), reflect.ValueOf(a).Elem()
	all := []record{{accountKind, a.ID, a.Name, def.tell(v, a)}}
	for _, m := range def {
		if m.list == nil {
			continue
		}
		list := v.FieldByIndex(m.index)
		for n := range list.Len() {
			one := list.Index(n)
			id, name := m.list.named(one.Addr().Interface())
			all = append(all, record{m.list.kind, id, name, m.list.of.tell(one, a)})
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

func tellItems(name string, items []merchant.Item, _ *merchant.Account) field {
	if len(items) == 0 {
		return field{name, "", "any"}
	}
	var words []string
	for _, i := range items {
		words = append(words, itemWords(i))
	}
	return field{name, fmt.Sprintf("%q", items), strings.Join(words, " and ")}
}

// recordKey tells records apart: a program id is the same in every account, but it is one subscription in each.
type recordKey struct {
	kind kind
	id   guid.ID
}

// diff says in words what makes the second account of the first, nil: there was none, and which records are gone.
// No words: they are the same.
func diff(from, to *merchant.Account) (words []string, gone []record) {
	before := make(map[recordKey]record)
	if from != nil {
		for _, r := range records(from) {
			before[recordKey{r.kind, r.id}] = r
		}
	}
	for _, r := range records(to) {
		old, known := before[recordKey{r.kind, r.id}]
		delete(before, recordKey{r.kind, r.id})
		if !known {
			words = append(words, r.added())
			continue
		}
		words = append(words, r.changes(old)...)
	}
	if from != nil {
		for _, r := range records(from) {
			if _, left := before[recordKey{r.kind, r.id}]; left {
				gone = append(gone, r)
				words = append(words, "removed "+r.String())
			}
		}
	}
	return words, gone
}

// String names a record: location Pier 39.
func (r record) String() string { return string(r.kind) + " " + r.name }

func (r record) added() string {
	if r.kind == accountKind {
		return "added"
	}
	return "added " + r.String()
}

// changes says what became different, a sentence for each field.
func (r record) changes(old record) []string {
	var words []string
	for i, f := range r.fields {
		o := old.fields[i]
		if f.value == o.value {
			continue
		}
		what := "changed "
		if r.kind != accountKind {
			what += r.String() + ": "
		}
		what += f.name
		if f.words != "" && o.words != "" {
			what += " from " + o.words + " to " + f.words
		}
		words = append(words, what)
	}
	return words
}
