package till

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// TestPagesHaveTheTexts: a page brings each text that its scripts may say, and none that stands in it and that no
// script says.
func TestPagesHaveTheTexts(t *testing.T) {
	t.Parallel()
	p := allPages()
	inScripts := regexp.MustCompile(`"(till\.[a-z_.-]*[a-z_.-])"`)
	brought := regexp.MustCompile(`(?s)id="texts">(.*?)</script>`)
	for name, versions := range p.rendered {
		for language, page := range versions {
			var texts map[string]any
			if err := json.Unmarshal(brought.FindSubmatch(page)[1], &texts); err != nil {
				t.Fatal(err)
			}
			for script, f := range p.assets {
				for _, m := range inScripts.FindAllStringSubmatch(string(f.content), -1) {
					text, has := m[1], false
					for known := range texts {
						has = has || known == text || strings.HasPrefix(known, text) && strings.ContainsAny(text[len(text)-1:], ".-")
					}
					if !has {
						t.Errorf("%s in %s: %s says %q", name, language, script, text)
					}
				}
			}
			if texts["till.skip"] != nil && name == "till.html" || texts["till.unpaired.title"] == nil {
				t.Errorf("%s in %s brings %d texts", name, language, len(texts))
			}
		}
	}
}
