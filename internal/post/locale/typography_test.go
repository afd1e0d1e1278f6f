package locale

import (
	"encoding/json"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"boon.example/internal/merchant"
)

// TestTextsAreSetRight: texts are written with the signs that a compositor of the language uses, and address their
// reader in one way.
func TestTextsAreSetRight(t *testing.T) {
	t.Parallel()
	wrong := map[merchant.Language]*regexp.Regexp{
		merchant.German: regexp.MustCompile(`\b(Ihre?|Ihnen|Ihre[mnrs])\b|"`),
		// no space that a line can end at before a high sign, no straight apostrophe
		merchant.French:   regexp.MustCompile(`[^\d\x{a0}\x{202f}][:;!?»]|'|"|(^|\PL)([Tt]u|[Tt]oi|[Tt]on|[Tt]es)(\PL|$)`),
		merchant.Spanish:  regexp.MustCompile(`^[^¿]*\?|^[^¡]*!|\b[Uu]sted(es)?\b|"`),
		merchant.Japanese: regexp.MustCompile(`[\p{Han}\p{Hiragana}\p{Katakana}][:;,!?()]|[:;,!?()][\p{Han}\p{Hiragana}\p{Katakana}]`),
	}
	for name, versions := range readTexts("") {
		for l, version := range versions {
			forms := append(slices.Collect(maps.Values(version.forms)), version.text)
			for _, text := range forms {
				if re := wrong[l]; re != nil && re.MatchString(text) {
					t.Errorf("%s in %s: %q has %q", name, l, text, re.FindString(text))
				}
				if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Co, r) }) ||
					strings.ContainsAny(text, "<>&") || text != strings.Trim(text, " ") {
					t.Errorf("%s in %s: %q has signs that no text has", name, l, text)
				}
			}
		}
	}
}

// TestStaffIsAddressedAlike: what staff, tills and programs are told says "usted" in Spanish and "du" in German, and
// has one word for a location.
func TestStaffIsAddressedAlike(t *testing.T) {
	t.Parallel()
	wrong := map[merchant.Language]*regexp.Regexp{
		merchant.German: regexp.MustCompile(`[^.:;] (Ihre?|Ihnen|Ihre[mnrs])\b|[a-z]en Sie\b|\bFilialen?\b`),
		merchant.Spanish: regexp.MustCompile(`(?i:\b(tus?|te|ti|tuy[oa]s?|eres|puedes|tienes|quieres|debes|ustedes|usted)\b)|` +
			`(^|[.:;] )(Comprueba|Devuelve|Elige|Envía|Escanea|Escribe|Guarda|Haz|Indica|Llama|Omite|Pide|Pon|Pregunta|Quita|` +
			`Repite|Usa|Vuelve)\b|\b([Ii]nténtal|[Ee]scríbel|[Ee]nvíal|[Hh]azl)[oa]\b|\b[Ll]ocal(es)?\b`),
	}
	check := func(l merchant.Language, text string) {
		text = strings.ReplaceAll(text, "enlace local", "") // a kind of addresses
		if re := wrong[l]; re != nil && re.MatchString(text) {
			t.Errorf("in %s: %q has %q", l, text, re.FindString(text))
		}
	}
	told := 0
	for name, versions := range readTexts("") {
		if strings.HasPrefix(name, ConsoleTexts) || strings.HasPrefix(name, "till.") {
			for l, version := range versions {
				check(l, version.text)
				for _, form := range version.forms {
					check(l, form)
				}
				told++
			}
		}
	}
	for _, versions := range readRefusals() {
		for l, text := range versions {
			check(l, text)
			told++
		}
	}
	kept := map[string]map[merchant.Language]string{}
	if err := json.Unmarshal(keptFile, &kept); err != nil {
		t.Fatal(err)
	}
	for _, versions := range kept {
		for l, text := range versions {
			check(l, text)
			told++
		}
	}
	if told < 3000 {
		t.Errorf("%d texts were found", told)
	}
}

// TestTextsStandOnce: no file takes a name that another one has: which of them is shown would be chance.
func TestTextsStandOnce(t *testing.T) {
	t.Parallel()
	found, err := fs.Glob(files, "texts/*.json")
	if err != nil {
		t.Fatal(err)
	}
	first := map[string]string{}
	for _, file := range found {
		content, err := files.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]json.RawMessage{}
		if err := json.Unmarshal(content, &all); err != nil {
			t.Fatal(err)
		}
		for name := range all {
			if first[name] != "" {
				t.Errorf("%s stands in %s and in %s", name, first[name], file)
			}
			first[name] = file
		}
	}
}
