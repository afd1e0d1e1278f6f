package merchant

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"boon.example/internal/base/phrase"
)

// Item is something that a merchant sells, as a promotion names it: its ID does, else its Group, with all items
// of the group, else its Name.
type Item struct {
	ID    string // as tickets have it
	Name  string // for people; "": none was given
	Group string // as platforms' tickets have it
}

// Is reports whether a line of a ticket with this id, group and name is the item. Letter case counts.
func (i Item) Is(id, group, name string) bool {
	switch {
	case i.ID != "":
		return id == i.ID
	case i.Group != "":
		return group == i.Group
	}
	return i.Name != "" && name == i.Name
}

// Matches reports whether two items are good for the same lines.
func (i Item) Matches(j Item) bool {
	switch {
	case i.ID != "" || j.ID != "":
		return i.ID == j.ID
	case i.Group != "" || j.Group != "":
		return i.Group == j.Group
	}
	return i.Name == j.Name
}

// Limits of what a promotion names.
const (
	MaxItems     = 200 // every answer with the gift, its page and its mail tell them
	namedItems   = 10  // in one sentence
	namedLetters = 300
)

// ItemNames lists items for people: "Latte, Mocha". Each name is given once, and of very many only the first.
func ItemNames(items []Item) *phrase.Phrase {
	var names []string
	letters := 0
	for n, i := range items {
		name := cmp.Or(i.Name, i.ID, i.Group)
		if slices.Contains(names, name) {
			continue
		}
		if letters += utf8.RuneCountInString(name); len(names) == namedItems || letters > namedLetters && n > 0 {
			return phrase.New("%s and %d more", strings.Join(names, ", "), len(items)-n)
		}
		names = append(names, name)
	}
	return phrase.New("%s", strings.Join(names, ", "))
}
