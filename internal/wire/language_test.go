package wire

import (
	"strings"
	"testing"

	"boon.example/internal/merchant"
)

func TestParseLanguage(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"de": "de", "DE-at": "de-AT", "pt-br": "pt-BR", "zh-hant-tw": "zh-Hant-TW", "iw": "he", "sh": "sr-Latn",
		"en-GB-oed": "en-GB-oxendict", "i-klingon": "tlh", "x-pirate": "x-pirate",
		"ja-JP-u-ca-japanese": "ja-JP-u-ca-japanese",
		"und":                 "und", "qq": "und", "de-foobar": "de", // well-formed, not in the registry
	} {
		if got, err := ParseLanguage(tag); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", tag, got, err, want)
		}
	}
	for _, tag := range []string{"", "x", "d", "german language", "de_AT", "de-", "-de", "de--AT", "*", "de;q=0.5",
		"de,fr",
		"dé", "de\n", "de\x00", "de\r\nBcc: a@example.com", "%s%n", "{{.}}", "<de>", "gift", "x-", "de-aaaaaaaaa", "ſv",
		"de-" + strings.Repeat("aaaa-", 8) + "aaaa", strings.Repeat("de-", 1<<20)} {
		if got, err := ParseLanguage(tag); err == nil {
			t.Errorf("%.40q is taken for %q", tag, got)
		} else if s := err.Error(); !strings.HasSuffix(s, ".") || len(tag) > 8 && strings.Contains(s, tag[:8]) {
			t.Errorf("%.40q: the sentence is %q", tag, s)
		}
	}
}

// FuzzParseLanguage: what is kept is short, can stand anywhere, means to us what was sent, and is its own canonical
// form.
func FuzzParseLanguage(f *testing.F) {
	for _, tag := range []string{"de", "sh-Cyrl", "en-u-co-phonebk-zzzz", "en-a-bbb-x-a-ccc", "zh-cmn-Hans", "de-\r\n"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		got, err := ParseLanguage(tag)
		if err != nil {
			return
		}
		if len(got) > maxLanguage || !languageShape.MatchString(got) {
			t.Errorf("%q becomes %q", tag, got)
		}
		if again, err := ParseLanguage(got); again != got || err != nil {
			t.Errorf("%q becomes %q, which becomes %q, %v", tag, got, again, err)
		}
		parts := strings.Split(tag, "-")
		extended := len(parts) > 1 && len(parts[1]) == 3 // zh-yue becomes yue, and so does en-yue
		if l, ours := merchant.LanguageOf(tag); ours && !extended {
			if kept, ok := merchant.LanguageOf(got); kept != l || !ok {
				t.Errorf("%q of %s becomes %q of %q", tag, l, got, kept)
			}
		}
	})
}
