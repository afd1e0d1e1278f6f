package print

import (
	"fmt"

	"boon.example/internal/gift"
	"boon.example/internal/locale"
)

// Lacks tells what of an account's set-up cannot be printed in whole, a sentence for each text.
func (f *Fonts) Lacks(a *gift.Account) (all []string) {
	check := func(what, text string) {
		if !f.Prints(text) {
			all = append(all, fmt.Sprintf("account %s: %s cannot be printed in whole: no font here has all of its characters",
				a.Name, what))
		}
	}
	check("its name", a.Name)
	for _, l := range a.Locations {
		check("location "+l.Name, l.Name)
	}
	for _, d := range a.Designs {
		check("the headline of design "+d.Name, d.Headline)
		check("the footer of design "+d.Name, d.Footer)
	}
	for _, p := range a.Promotions {
		check("the terms of promotion "+p.Name, p.Terms)
	}
	if a.Language != "" && !f.Writes(locale.For(a.Language)) {
		all = append(all, fmt.Sprintf("account %s: no font here has language %s, so gifts are printed in English", a.Name,
			a.Language))
	}
	return all
}
