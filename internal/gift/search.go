package gift

import (
	"strings"
	"time"
	"unicode"

	"boon.example/internal/guid"
	"boon.example/internal/phone"
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
// is read as send-gift reads it for the account; nil: of no account in particular.
func ParseSearch(recipient string, account *Account) (contacts, words []string) {
	if strings.Contains(recipient, "@") {
		return []string{FoldEmail(strings.TrimSpace(recipient))}, nil
	}
	if number, err := phone.Parse(recipient, account.texted()); err == nil {
		return ContactSpellings(number), nil
	}
	const fewest = 7
	digits := strings.TrimPrefix(strings.NewReplacer(" ", "", ".", "", "-", "", "(", "", ")", "").Replace(recipient), "+")
	if len(digits) < fewest || !allDigits(digits) {
		return nil, SearchWords(recipient)
	}
	return []string{"+" + digits}, nil
}

// IDsFrom and IDsBefore bound the ids of what was made from an instant on, and before it. An id tells the time at
// which it was drawn, which is not to the moment that of the record: hence a minute on either side.
func IDsFrom(t time.Time) guid.ID { return idAt(t.Add(-time.Minute)) }

// IDsBefore is the other bound; see IDsFrom.
func IDsBefore(t time.Time) guid.ID { return idAt(t.Add(time.Minute)) }

// idAt is the least version 7 UUID of an instant.
func idAt(t time.Time) (id guid.ID) {
	ms := max(0, t.UnixMilli())
	for i := 5; i >= 0; i-- {
		id[i] = byte(ms)
		ms >>= 8
	}
	return id
}
