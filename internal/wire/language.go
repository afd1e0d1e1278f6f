package wire

import (
	"errors"
	"regexp"

	"golang.org/x/text/language"

	"boon.example/internal/base/phrase"
)

// maxLanguage is how long a language tag may be: RFC 5646 has no use for a longer one.
const maxLanguage = 35

// languageShape is what tags are made of. It keeps what a package must make sense of small, and out what it reads
// beside them, such as de_AT.
var languageShape = regexp.MustCompile(`^([A-Za-z]{2,8}|[ixIX]-[0-9A-Za-z]{1,8})(-[0-9A-Za-z]{1,8})*$`)

// ParseLanguage reads a language tag (BCP 47) of any language and gives its canonical form: letters, digits and dashes.
// What of a well-formed tag is not in the registry is left out. The error is a sentence for the sender.
func ParseLanguage(tag string) (string, error) {
	if len(tag) > maxLanguage {
		return "", phrase.New("A language tag may have at most %d characters.", maxLanguage)
	}
	if !languageShape.MatchString(tag) {
		return "", errLanguage
	}
	for range 3 { // the canonical form of some is not yet canonical itself
		parsed, err := language.Parse(tag)
		if _, unknown := errors.AsType[language.ValueError](err); err != nil && !unknown {
			return "", errLanguage
		}
		canonical := parsed.String()
		if len(canonical) > maxLanguage { // sh becomes sr-Latn
			return "", errLanguage
		}
		if canonical == tag {
			return tag, nil
		}
		tag = canonical
	}
	return tag, nil
}

var errLanguage = phrase.New("This is not a language tag such as en or pt-BR (BCP 47).")
