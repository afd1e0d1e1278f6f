// Package told has how people are told of a set-up: what it consists of, what the values of its fields are in words,
// and what differs between two. A function for each form of value makes a Field of it. Pure.
package told

import (
	"boon.example/internal/base/phrase"
	"boon.example/internal/guid"
)

// Record is one thing that an account consists of, in the form in which two set-ups are compared and told apart in
// words.
type Record struct {
	Kind   Kind
	ID     guid.ID
	Name   string
	Fields []Field
}

// Kind says what a record is.
type Kind = phrase.Text

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

// recordKey tells records apart: a program id is the same in every account, but it is one subscription in each.
type recordKey struct {
	kind Kind
	id   guid.ID
}

// Diff says in words what makes the second set-up of the first, and which records are gone. No words: they are the
// same.
func Diff(from, to []Record) (words []string, gone []Record) {
	before := make(map[recordKey]Record)
	for _, r := range from {
		before[recordKey{r.Kind, r.ID}] = r
	}
	for _, r := range to {
		old, known := before[recordKey{r.Kind, r.ID}]
		delete(before, recordKey{r.Kind, r.ID})
		if !known {
			words = append(words, r.added())
			continue
		}
		words = append(words, r.changes(old)...)
	}
	for _, r := range from {
		if _, left := before[recordKey{r.Kind, r.ID}]; left {
			gone = append(gone, r)
			words = append(words, phrase.Kept("removed %v %s").Say(r.Kind, r.Name))
		}
	}
	return words, gone
}

// String names a record: location Pier 39.
func (r Record) String() string { return string(r.Kind) + " " + r.Name }

func (r Record) added() string {
	if r.Kind == AccountKind {
		return phrase.Kept("added").Say()
	}
	return phrase.Kept("added %v %s").Say(r.Kind, r.Name)
}

// changes says what became different, a sentence for each field.
func (r Record) changes(old Record) []string {
	var words []string
	for i, f := range r.Fields {
		o := old.Fields[i]
		if f.Value == o.Value {
			continue
		}
		known := f.Words != "" && o.Words != ""
		switch {
		case r.Kind == AccountKind && known:
			words = append(words, phrase.Kept("changed %v from %+v to %+v").Say(f.Name, o.Words, f.Words))
		case r.Kind == AccountKind:
			words = append(words, phrase.Kept("changed %v").Say(f.Name))
		case known:
			words = append(words, phrase.Kept("changed %v %s: %v from %+v to %+v").Say(r.Kind, r.Name, f.Name, o.Words, f.Words))
		default:
			words = append(words, phrase.Kept("changed %v %s: %v").Say(r.Kind, r.Name, f.Name))
		}
	}
	return words
}
