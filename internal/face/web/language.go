package web

import (
	"net/http"
	"strings"

	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
)

// languageQuery is what the links between the languages of a page ask for.
const languageQuery = "lang"

// english writes the pages that developers see.
func english() *locale.Locale { return locale.For(merchant.English) }

// readIn tells in which language a page is read: that of a link on it, else that of the browser, else the one given.
func readIn(r *http.Request, otherwise merchant.Language) *locale.Locale {
	if l, ok := merchant.LanguageOf(r.URL.Query().Get(languageQuery)); ok {
		return locale.For(l)
	}
	return locale.For(locale.Match(strings.Join(r.Header.Values("Accept-Language"), ","), otherwise))
}

// language is a language that a page can be read in.
type language struct {
	Tag  merchant.Language
	Name string // as it calls itself
	Page string // the address of the page in it
}

// Others are the languages that the page can be read in as well; none for pages that are in English only.
func (p page) Others() (others []language) {
	for _, l := range merchant.Languages() {
		if in := locale.For(l); p.guests && l != p.Language() {
			others = append(others, language{l, in.Text("language.name"), localized("", in, p.kept...)})
		}
	}
	return others
}
