package terminal

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestTextsCannotCommandATerminal(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[2Jb\u009bc\rd\u202ee\x00f\u2028g\U000e0041h\ti\nj\x7f"
	if got, want := Plain(hostile),
		`a\u001b[2Jb\u009bc\u000dd\u202ee\u0000f\u2028g\udb40\udc41h`+"\ti\nj"+`\u007f`; got != want {
		t.Errorf("plain gives %q, want %q", got, want)
	}
	if got, want := Cell(" two\n lines\x1b "), `two lines\u001b`; got != want {
		t.Errorf("cell gives %q, want %q", got, want)
	}
	if got := Plain("Zoë, 東京, 🎁"); got != "Zoë, 東京, 🎁" {
		t.Errorf("harmless text became %q", got)
	}
}

func FuzzHarmlessJSON(f *testing.F) {
	f.Add("a\x1b[2Jb\u009bc\rd\u202ee\U000e0041", true)
	f.Fuzz(func(t *testing.T, s string, indent bool) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if indent {
			e.SetIndent("", "\t")
		}
		if err := e.Encode(map[string]any{"text": s}); err != nil {
			t.Fatal(err)
		}
		text := HarmlessJSON(b.Bytes())
		for _, r := range text {
			if unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) || unicode.Is(unicode.Cf, r) {
				t.Fatalf("%q still holds %U", text, r)
			}
		}
		var before, after map[string]string
		if err := json.Unmarshal(b.Bytes(), &before); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &after); err != nil || after["text"] != before["text"] {
			t.Fatalf("%q means %q, %v; want %q", text, after["text"], err, before["text"])
		}
	})
}

func TestTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	Table(&b, []string{"A", "LONGER", "C"}, [][]string{{"x", "y\tz", ""}, {"longest", "", "1"}})
	want := "A        LONGER  C\nx        y z\nlongest          1\n"
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}
