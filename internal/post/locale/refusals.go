package locale

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"golang.org/x/text/language"

	"boon.example/internal/base/phrase"
	"boon.example/internal/merchant"
)

// refusalFiles have what callers are told of refusals: the English text as the code has it, then the other languages
// of RefusalLanguages. The files part the texts by subject; nothing else depends on it.
//
//go:embed refusals/*.json
var refusalFiles embed.FS

// RefusalLanguages are those in which refusals are told, the first to whoever asks for none of them.
func RefusalLanguages() []merchant.Language { return ConsoleLanguages() }

// refusals are the texts by language, and then by the English text. They are read when somebody asks for another
// language than English for the first time.
var refusals = sync.OnceValue(func() map[merchant.Language]map[phrase.Text]string {
	all := map[merchant.Language]map[phrase.Text]string{}
	for _, l := range RefusalLanguages() {
		all[l] = map[phrase.Text]string{}
	}
	for english, versions := range readRefusals() {
		for l, text := range versions {
			all[l][english] = text
		}
	}
	return all
})

// readRefusals reads all files: English text, then language.
func readRefusals() map[phrase.Text]map[merchant.Language]string {
	all := map[phrase.Text]map[merchant.Language]string{}
	found, err := fs.Glob(refusalFiles, "refusals/*.json")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, file := range found {
		content, err := refusalFiles.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(content, &all)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", file, err)) // it is embedded
		}
	}
	return all
}

// Words gives the texts of refusals in a language: in English as they stand in the code, and so what the language
// lacks.
func Words(l merchant.Language) func(phrase.Text) string {
	if l == merchant.English {
		return phrase.English
	}
	texts := refusals()[l]
	return func(t phrase.Text) string {
		if said, has := texts[t]; has {
			return said
		}
		return string(t)
	}
}

// ForRefusals is the one of RefusalLanguages that fits the header Accept-Language best (RFC 9110, 12.5.4; RFC 4647),
// English where none does.
func ForRefusals(accept []string) merchant.Language {
	if len(accept) == 0 {
		return merchant.English
	}
	asked, _, err := language.ParseAcceptLanguage(strings.Join(accept, ","))
	if err != nil || len(asked) > maxAsked {
		return merchant.English
	}
	_, n, _ := refusalMatcher().Match(asked...)
	return RefusalLanguages()[n]
}

var refusalMatcher = sync.OnceValue(func() language.Matcher {
	var tags []language.Tag
	for _, l := range RefusalLanguages() {
		tags = append(tags, language.Make(string(l)))
	}
	return language.NewMatcher(tags)
})
