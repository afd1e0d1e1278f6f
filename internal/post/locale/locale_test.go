package locale

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/money"
)

var verb = regexp.MustCompile(`%(\[\d+\])?[a-z]|%`)

// TestTextsAreComplete: every text is there in each language, names the same arguments in each, and has the plural
// forms that the language needs.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	forms := map[merchant.Language][]string{merchant.English: {"one", "other"}, merchant.German: {"one", "other"},
		merchant.French: {"one", "other"}, merchant.Spanish: {"one", "other"}, merchant.Japanese: {"other"}}
	for name, versions := range readTexts("") {
		want := merchant.Languages()
		if strings.HasPrefix(name, ConsoleTexts) {
			want = ConsoleLanguages()
		}
		if len(versions) != len(want) {
			t.Errorf("%s is in %d languages, not in %d", name, len(versions), len(want))
		}
		english := versions[merchant.English]
		for _, l := range want {
			text, known := versions[l]
			if !known {
				t.Errorf("%s is not there in %s", name, l)
				continue
			}
			if (text.forms == nil) != (english.forms == nil) {
				t.Errorf("%s has plural forms in one of English and %s only", name, l)
			}
			if text.forms == nil {
				if text.text == "" || !slices.Equal(verbs(t, name, text.text), verbs(t, name, english.text)) {
					t.Errorf("%s in %s, %q, has other arguments than %q", name, l, text.text, english.text)
				}
				continue
			}
			if got := slices.Sorted(maps.Keys(text.forms)); !slices.Equal(got, forms[l]) {
				t.Errorf("%s in %s has the forms %q, not %q", name, l, got, forms[l])
			}
			if !slices.Equal(verbs(t, name, text.forms["other"]), verbs(t, name, english.forms["other"])) {
				t.Errorf("%s in %s has other arguments than in English", name, l)
			}
		}
	}
}

// TestTextsLieWhereAllLooks: All finds every text of a family, and says if there is no such family.
func TestTextsLieWhereAllLooks(t *testing.T) {
	t.Parallel()
	texts := readTexts("")
	for _, family := range []string{"till", "console", "my", "card"} {
		all, want := For(merchant.English).All(family+"."), 0
		for name := range texts {
			if strings.HasPrefix(name, family+".") {
				want++
			}
		}
		if len(all) != want || want == 0 {
			t.Errorf("All finds %d of the %d texts that begin with %s.", len(all), want, family)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("there are texts of nothing")
		}
	}()
	For(merchant.English).All("nothing.")
}

// verbs lists the arguments that a text names, each once.
func verbs(t *testing.T, name, text string) []string {
	t.Helper()
	found := verb.FindAllString(text, -1)
	for _, v := range found {
		if !strings.HasPrefix(v, "%[") {
			t.Errorf("%s does not name an argument by its place: %q", name, text)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// TestTextsAreUsed: each text is named somewhere in the program, whole or by the part before its last dot, and each
// name that the program has is that of a text.
func TestTextsAreUsed(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, folder := range []string{"../..", "../../../cmd"} {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/texts/") ||
				!slices.Contains([]string{".go", ".html", ".txt", ".js"}, filepath.Ext(path)) {
				return err
			}
			content, err := os.ReadFile(path)
			source.Write(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text := source.String()
	for name := range loaded().names {
		family := name[:strings.LastIndexByte(name, '.')+1]
		if !strings.Contains(text, `"`+name+`"`) && (family == "" || !strings.Contains(text, `"`+family+`"`)) &&
			!strings.Contains(text, `"`+strings.TrimSuffix(name, ".midnight")+`"`) &&
			!strings.Contains(text, `"`+strings.TrimSuffix(name, ".honoured")+`"`) {
			t.Errorf("nothing shows the text %s", name)
		}
	}
	for _, call := range regexp.MustCompile(`\bText "([a-z]+\.[a-z.-]+)"|\bText\("([a-z]+\.[a-z.-]+)"[,)]`).FindAllStringSubmatch(text,
		-1) {
		if name := call[1] + call[2]; !loaded().names[name] {
			t.Errorf("there is no text named %s", name)
		}
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	usd, eur, yen := money.Currency{Code: "USD", Decimals: 2}, money.Currency{Code: "EUR", Decimals: 2},
		money.Currency{Code: "JPY"}
	for _, tt := range []struct {
		l        merchant.Language
		amount   money.Amount
		currency money.Currency
		want     string
	}{
		{merchant.English, 2500, usd, "$25.00"},
		{merchant.English, 123456789, usd, "$1,234,567.89"},
		{merchant.English, 2500, money.Currency{Code: "CAD", Decimals: 2}, "CA$25.00"},
		{merchant.English, 2500, money.Currency{Code: "CHF", Decimals: 2}, "CHF\u00a025.00"},
		{merchant.German, 2500, eur, "25,00\u00a0€"},
		{merchant.German, 123456, eur, "1.234,56\u00a0€"},
		{merchant.German, 2500, money.Currency{Code: "CHF", Decimals: 2}, "25,00\u00a0CHF"},
		{merchant.French, 123456, eur, "1\u202f234,56\u00a0€"},
		{merchant.Spanish, 123456, eur, "1234,56\u00a0€"},
		{merchant.Spanish, 1234567, eur, "12\u00a0345,67\u00a0€"},
		{merchant.Japanese, 3000, yen, "¥3,000"},
		{merchant.English, 0, money.Currency{Code: "XTS"}, "XTS\u00a00"},
	} {
		if got := For(tt.l).Money(tt.amount, tt.currency); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.l, got, tt.want)
		}
	}
}

func TestMoment(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 30, 20, 0, 0, 0, zone)
	for l, want := range map[merchant.Language]string{
		merchant.English:  "March 30, 2026, 8:00 PM (New York time)",
		merchant.German:   "30. März 2026, 20:00 Uhr (Ortszeit New York)",
		merchant.French:   "30 mars 2026 à 20:00 (heure de New York)",
		merchant.Spanish:  "30 de marzo de 2026, 20:00 (hora de Nueva York)",
		merchant.Japanese: "2026年3月30日 20:00（ニューヨーク時間）",
	} {
		if got := For(l).Moment(at); got != want {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
}

func TestEndOfDay(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
	for l, want := range map[merchant.Language]string{
		merchant.English:  "the end of March 1, 2026 (UTC)",
		merchant.German:   "einschließlich 1. März 2026 (UTC)",
		merchant.French:   "1er mars 2026 inclus (UTC)",
		merchant.Spanish:  "1 de marzo de 2026 inclusive (UTC)",
		merchant.Japanese: "2026年3月1日（UTC）",
	} {
		if got := For(l).EndOfDay(first); got != want {
			t.Errorf("%s: %q, want %q", l, got, want)
		}
	}
}

// TestPieces: what an argument says makes no pieces, whatever it holds.
func TestPieces(t *testing.T) {
	t.Parallel()
	for l, want := range map[merchant.Language][]Piece{
		merchant.German:   {{"Für ", 0}, {"a\ue001", 1}, {", von ", 0}, {"%[1]s", 2}},
		merchant.Japanese: {{"a\ue001", 1}, {"へ、", 0}, {"%[1]s", 2}, {"より", 0}},
	} {
		if got := For(l).Pieces("card.names", "a\ue001", "%[1]s"); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", l, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]merchant.Language{
		"": merchant.French, "de-AT,de;q=0.9,en;q=0.8": merchant.German, "pt-BR,es;q=0.5": merchant.Spanish,
		"en;q=0.1,ja": merchant.Japanese,
		"zz":          merchant.French, "!!!": merchant.French, "*": merchant.French, "de;q=0,es": merchant.Spanish,
		strings.Repeat("de,", 5000) +
			"de": merchant.French,
	} {
		if got := Match(accept, merchant.French); got != want {
			t.Errorf("%.40q: %s, want %s", accept, got, want)
		}
	}
}
