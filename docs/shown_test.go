package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pagesOfPeople are the pages that tell people what to press. What they have in italics, with a capital letter at its
// beginning, is a text that Boon shows, or the first words of one; or it is one of these.
var pagesOfPeople = map[string][]string{
	"guides/console.md":    {"Counter 1"},
	"guides/till.md":       nil,
	"guides/my-gifts.md":   nil,
	"guides/care.md":       nil,
	"operating/sign-in.md": nil,
	// the story that boon demo tells at a terminal
	"start/ten-minutes.md": {"Ana", "Ana's gift", "Her gifts", "The outbox"},
}

// TestPagesNameWhatIsShown: whoever looks for a button that a page names finds it under this very name.
func TestPagesNameWhatIsShown(t *testing.T) {
	t.Parallel()
	texts := shownTexts(t)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	named := regexp.MustCompile(`(?:^|[^*])\*(\p{Lu}[^*\n]*)\*(?:[^*]|$)`)
	found := 0
	for page, others := range pagesOfPeople {
		text, err := os.ReadFile(filepath.FromSlash(page))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range named.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			found++
			name := strings.TrimSuffix(match[1], ".")
			isShown := func(text string) bool { return shows(text, name) }
			if !slices.Contains(others, name) && !slices.ContainsFunc(texts, isShown) {
				t.Errorf("%s names %q, which is shown nowhere", page, name)
			}
		}
	}
	if found < 80 {
		t.Errorf("the pages name %d texts", found)
	}
}

var (
	places = regexp.MustCompile(`%(?:\\?\[\d+\\?\])?[a-z]`)
	word   = regexp.MustCompile(`\pL{3}`)
)

// shows reports whether a text is a name, or begins with its words. In the places of the text there may be anything,
// and an ellipsis of the name stands for what it leaves out.
func shows(text, name string) bool {
	text = strings.TrimSuffix(text, ".")
	begins, ends, cut := strings.Cut(name, " … ")
	switch {
	case text == name, strings.HasPrefix(text, name+" "):
		return true
	case cut:
		return strings.HasPrefix(text, begins) && strings.Contains(text, ends)
	case !strings.Contains(text, "%"), !word.MatchString(places.ReplaceAllString(text, "")): // or it is nothing but places
		return false
	}
	quoted := places.ReplaceAllString(regexp.QuoteMeta(text), ".+")
	return regexp.MustCompile("^" + quoted + "$").MatchString(name)
}

// shownTexts are the English texts that Boon shows.
func shownTexts(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../internal/post/locale/texts/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]map[string]any
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, text := range texts {
			switch english := text["en"].(type) {
			case string:
				all = append(all, english)
			case map[string]any: // one, other
				for _, form := range english {
					all = append(all, form.(string))
				}
			}
		}
	}
	return all
}
