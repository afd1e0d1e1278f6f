package document

import (
	"fmt"
	"iter"
	"reflect"
	"strings"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
	"boon.example/internal/setup/told"
)

// LimitsField says daily limits by the names that they have in the set-up file.
func LimitsField(l merchant.Limits, c money.Currency) told.Field {
	var words []string
	for name, limit := range eachLimit(l) {
		switch n := limit.(type) {
		case money.Amount:
			words = append(words, name+" "+c.Money(n))
		default:
			words = append(words, fmt.Sprint(name, " ", n))
		}
	}
	return told.Plain("limits", strings.Join(words, ", "))
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

// Records takes an account apart, the account itself first; nil: there is none. Everything that the set-up file can say
// is in it.
func Records(a *merchant.Account) []told.Record {
	if a == nil {
		return nil
	}
	def, v := definitionOf(reflect.TypeFor[merchant.Account]()), reflect.ValueOf(a).Elem()
	all := []told.Record{{Kind: told.AccountKind, ID: a.ID, Name: a.Name, Fields: def.tell(v, a)}}
	for _, m := range def {
		if m.list == nil {
			continue
		}
		list := v.FieldByIndex(m.index)
		for n := range list.Len() {
			one := list.Index(n)
			id, name := m.list.named(one.Addr().Interface())
			all = append(all, told.Record{Kind: m.list.kind, ID: id, Name: name, Fields: m.list.of.tell(one, a)})
		}
	}
	return all
}

// Diff says in words what makes the second account of the first, nil: there was none, and which records are gone.
// No words: they are the same.
func Diff(from, to *merchant.Account) (words []string, gone []told.Record) {
	return told.Diff(Records(from), Records(to))
}
