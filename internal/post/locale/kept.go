package locale

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
)

// keptFile has the texts of sentences that are kept in English, and of words in them, with the other languages of
// ConsoleLanguages, and English where people are told less than the sentence says, such as no ids. A text that the
// program says no more stays as long as there may be sentences of it.
//
//go:embed kept/trail.json
var keptFile []byte

var books = sync.OnceValue(func() map[merchant.Language]*phrase.Book {
	var all map[phrase.Kept]map[merchant.Language]string
	if err := json.Unmarshal(keptFile, &all); err != nil {
		panic(fmt.Errorf("kept/trail.json: %w", err)) // it is embedded
	}
	made := map[merchant.Language]*phrase.Book{}
	for _, l := range ConsoleLanguages() {
		texts := map[phrase.Kept]string{}
		for english, versions := range all {
			if texts[english] = versions[l]; texts[english] == "" && l == merchant.English {
				texts[english] = string(english)
			}
		}
		made[l] = phrase.NewBook(texts)
	}
	return made
})

// Kept reads sentences that were kept in English, such as those of the audit trail, and says them in one of
// ConsoleLanguages.
func Kept(l merchant.Language) *phrase.Book { return books()[l] }
