package merchant

import (
	"slices"
	"strings"
)

// Language is one of those in which guests are written to: an ISO 639-1 code.
type Language string

// The languages.
const (
	English  Language = "en"
	German   Language = "de"
	French   Language = "fr"
	Spanish  Language = "es"
	Japanese Language = "ja"
)

// Languages lists them.
func Languages() []Language { return []Language{English, German, French, Spanish, Japanese} }

// LanguageOf finds the language of a BCP 47 tag, such as de-AT, in any letter case; ok is false when it is none of
// ours.
func LanguageOf(tag string) (_ Language, ok bool) {
	primary, _, _ := strings.Cut(tag, "-")
	l := Language(strings.ToLower(primary))
	return l, slices.Contains(Languages(), l)
}

// RegionOf is the ISO 3166-1 code of the country that a BCP 47 tag names, such as CH in de-CH; "": it names none.
func RegionOf(tag string) string {
	for n, part := range strings.Split(tag, "-") {
		switch {
		case n > 0 && len(part) == 1: // an extension follows
			return ""
		case n > 0 && len(part) == 2:
			return strings.ToUpper(part)
		}
	}
	return ""
}

// Translations are what a merchant wrote for guests, in other languages than the account's; nil: in none.
type Translations map[Language]string

// In is the text in a language: where there is none, that of the account's language.
func (t Translations) In(l Language, text string) string {
	if translated := t[l]; translated != "" {
		return translated
	}
	return text
}

// LacksLanguage reports whether an account can send gifts and does not say in which language guests are written to: in
// the set-ups of version 0.1.0 there was none.
func (a *Account) LacksLanguage() bool {
	return a.Language == "" && len(a.Storefronts)+len(a.Promotions) > 0
}

// GuestLanguage is the language in which guests are written to who say no other.
func (a *Account) GuestLanguage() Language {
	if a.Language == "" {
		return English
	}
	return a.Language
}
