package phrase_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"boon.example/internal/base/phrase"
)

const (
	of      phrase.Kept = "account %s: %v"
	added   phrase.Kept = "added key %s (%s)"
	changed phrase.Kept = "changed %v %s: %v from %+v to %+v"
	cards   phrase.Kept = "%d cards leave, by the key %q"
)

var book = phrase.NewBook(map[phrase.Kept]string{
	of: "Konto %s: %v", added: "Schlüssel %s hinzugefügt (%s)", changed: "%v %s: %[3]s: %[5]s statt %[4]s",
	cards: "%d Karten gehen hinaus, mit dem Schlüssel %q", "location": "Standort", "phone": "Telefon", "none": "nichts",
	"%v, which may: %+s": "%v, darf: %s", "ended key %s (%-s) of %-q": "%[1]s beendet",
	"ended key %s (%+s) of %-q": "%[1]s: %[2]s", "the key %-s is open": "Schlüssel %s ist offen",
}).Naming(map[string]string{"redeem": "einlösen", "codes": "Codes sehen"})

func same(value string, _ bool) string { return value }

// TestBookSays: what was kept is said in the language of a book, or not at all.
func TestBookSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kept, want string }{
		{of.Say("Harbor", added.Say("till", "7")), "Konto Harbor: Schlüssel till hinzugefügt (7)"},
		{of.Say("Harbor", changed.Say("location", "Pier: 39", "phone", "none", "+1 415")),
			"Konto Harbor: Standort Pier: 39: Telefon: +1 415 statt nichts"},
		{added.Say("till", "7") + ", which may: redeem, codes",
			"Schlüssel till hinzugefügt (7), darf: einlösen, Codes sehen"},
		{`ended key redeem (7) of "Harbor"`, "redeem beendet"},
		{`ended key till (codes) of "Harbor"`, "till: Codes sehen"},
		{`ended key till (none) of "Harbor"`, "till: nichts"},
		{cards.Say(3, `a "b" %s`), `3 Karten gehen hinaus, mit dem Schlüssel "a \"b\" %s"`},
		{added.Say("%s<b>%d", "7"), "Schlüssel %s<b>%d hinzugefügt (7)"},
		// What the values are is not clear, or they are none.
		{added.Say("till", "7") + ", which may: juggle", ""},
		{`ended key till (redeem, juggle) of "Harbor"`, ""},
		{"the key of the shop is open", ""},
		{changed.Say("location", "Pier", "phone", "A", "B to C"), ""},
		{changed.Say("location", "Pier", "colour", "A", "B"), ""},
		{added.Say("a (b", "7"), ""},
		{"x cards leave, by the key \"till\"", ""},
		{"something else", ""},
		{"", ""},
	} {
		if got, ok := book.Say(tt.kept, same); got != tt.want && ok || ok != (tt.want != "") {
			t.Errorf("%q is said as %q, %t; want %q", tt.kept, got, ok, tt.want)
		}
	}
}

// TestBookLosesNothing: whatever a name is, what is said has it, or nothing is said. Of a name that has words of the
// book in it, these may be said in its language, and no letter else is lost.
func TestBookLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`( |a|\(|\)|: | from | to |, which may: |added key |none|%|é){1,8}`).Draw(t, "name")
		other := rapid.StringMatching(`( |b|\(|\)|: | from | to |none){1,8}`).Draw(t, "other")
		for _, kept := range []string{of.Say(name, added.Say(other, "7")),
			of.Say(other, changed.Say("location", name, "phone", other, "x"))} {
			said, ok := book.Say(kept, same)
			if !ok {
				continue
			}
			for _, value := range []string{name, other} {
				if strings.Contains(value, "none") || strings.Contains(value, "added key ") {
					for _, letter := range "%éb" {
						if strings.Count(said, string(letter)) < strings.Count(value, string(letter)) {
							t.Fatalf("%q is said as %q, without all of %q", kept, said, value)
						}
					}
					continue
				}
				if value != "none" && !strings.Contains(said, value) {
					t.Fatalf("%q is said as %q, without %q", kept, said, value)
				}
			}
		}
	})
}

// TestBookGivesUp: no sentence keeps a reader for long.
func TestBookGivesUp(t *testing.T) {
	t.Parallel()
	long := of.Say(strings.Repeat("a: ", 3000), changed.Say("location", strings.Repeat(": from to ", 3000), "phone",
		strings.Repeat(" to ", 3000), "x"))
	if said, ok := book.Say(long, same); ok {
		t.Errorf("it says %.100q", said)
	}
}
