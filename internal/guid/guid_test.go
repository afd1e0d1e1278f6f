package guid

import (
	"strings"
	"testing"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	const lower = "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c01"
	for _, good := range []string{lower, strings.ToUpper(lower), "7D3F0a52-8A55-4b5e-9D0C-0d8f6a3f1c01"} {
		if got, err := Parse(good); err != nil || got.String() != lower || got.IsZero() {
			t.Errorf("%s: got %s, %v", good, got, err)
		}
	}
	for _, bad := range []string{
		"", "00000000-0000-0000-0000-000000000000", lower[1:], lower + "0", "{" + lower + "}", strings.ReplaceAll(lower, "-",
			""), strings.ReplaceAll(lower, "-", "_"),
		"7d3f0a528a55-4b5e-9d0c-0d8f6a3f1c0-1", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c0g",
		"7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c0 ", "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1\u0661", "urn:uuid:" + lower,
	} {
		if got, err := Parse(bad); err == nil || !got.IsZero() {
			t.Errorf("%q: got %s", bad, got)
		}
	}
	if (ID{}).String() != "" || string(ID{}.AppendText(nil)) != "00000000-0000-0000-0000-000000000000" {
		t.Error("the zero ID")
	}
}
