package contact

import (
	"strings"
	"unicode"

	"boon.example/internal/base/phone"
)

// maxSearchWords is how many words of a recipient's name a gift is found by.
const maxSearchWords = 8

// SearchWords are the words of a recipient's name by which a gift is found: runs of letters and digits, letter case
// aside, each once.
func SearchWords(name string) (words []string) {
	known := map[string]bool{}
	for word := range strings.FieldsFuncSeq(Fold(name), func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.N,
			unicode.M)
	}) {
		if !known[word] && len(words) < maxSearchWords {
			known[word] = true
			words = append(words, word)
		}
	}
	return words
}

// Fold makes texts equal that differ in letter case only.
func Fold(text string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, text)
}

// FoldEmail makes addresses equal that are spellings of one mailbox, see parseEmail; of other texts it is Fold.
func FoldEmail(address string) string {
	if plain, err := parseEmail(address); err == nil {
		address = plain
	}
	return Fold(address)
}

// ParseSearch reads whom a look-up asks for: an e-mail address, a telephone number as people write it, or else the
// words of a name. contacts are all spellings with which gifts may have been kept. A number without its country code
// is read as send-gift reads it for an account that sends SMS to these countries.
func ParseSearch(recipient string, countries []string) (contacts, words []string) {
	if strings.Contains(recipient, "@") {
		return []string{FoldEmail(strings.TrimSpace(recipient))}, nil
	}
	if number, err := phone.Parse(recipient, countries); err == nil {
		return Spellings(number), nil
	}
	const fewest = 7
	digits := strings.TrimPrefix(strings.NewReplacer(" ", "", ".", "", "-", "", "(", "", ")", "").Replace(recipient), "+")
	if len(digits) < fewest || !allDigits(digits) {
		return nil, SearchWords(recipient)
	}
	return []string{"+" + digits}, nil
}
