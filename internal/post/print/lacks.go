package print

import (
	"fmt"
	"maps"
	"slices"

	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

// Lacks tells what of an account's set-up cannot be printed in whole, a sentence for each text.
func (f *Fonts) Lacks(a *merchant.Account) (all []string) {
	check := func(what, text string) {
		if !f.Prints(text) {
			all = append(all, fmt.Sprintf("account %s: %s cannot be printed in whole: no font here has all of its characters",
				a.Name, what))
		}
	}
	translated := func(what, text string, in merchant.Translations) {
		check(what, text)
		for _, l := range slices.Sorted(maps.Keys(in)) {
			if l != a.Language {
				check(what+" in "+string(l), in[l])
			}
		}
	}
	check("its name", a.Name)
	for _, l := range a.Locations {
		check("location "+l.Name, l.Name)
	}
	for _, d := range a.Designs {
		translated("the headline of design "+d.Name, d.Headline, d.HeadlineIn)
		translated("the footer of design "+d.Name, d.Footer, d.FooterIn)
	}
	for _, p := range a.Promotions {
		translated("the terms of promotion "+p.Name, p.Terms, p.TermsIn)
	}
	if a.Language != "" && !f.Writes(locale.For(a.Language)) {
		all = append(all, fmt.Sprintf("account %s: no font here has language %s, so gifts are printed in English", a.Name,
			a.Language))
	}
	return all
}
