package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"unicode"
)

func TestTextsCannotCommandATerminal(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b[2Jb\u009bc\rd\u202ee\x00f\u2028g\U000e0041h\ti\nj\x7f"
	if got, want := plain(hostile),
		`a\u001b[2Jb\u009bc\u000dd\u202ee\u0000f\u2028g\udb40\udc41h`+"\ti\nj"+`\u007f`; got != want {
		t.Errorf("plain gives %q, want %q", got, want)
	}
	if got, want := cell(" two\n lines\x1b "), `two lines\u001b`; got != want {
		t.Errorf("cell gives %q, want %q", got, want)
	}
	if got := plain("Zoë, 東京, 🎁"); got != "Zoë, 東京, 🎁" {
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
		text := harmlessJSON(b.Bytes())
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
	table(&b, []string{"A", "LONGER", "C"}, [][]string{{"x", "y\tz", ""}, {"longest", "", "1"}})
	want := "A        LONGER  C\nx        y z\nlongest          1\n"
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ body, show, want string }{
		{`{"a":25.00,"b":1,"c":{"a":"<x>","d":null}}`, "a c", `{"a": 25.00, "c": {"a": "<x>", …}, …}`},
		{`{"a":[{"b":true,"c":0}],"d":[]}`, "a b d", `{"a": [{"b": true, …}], "d": []}`},
		{`{"long":"` + strings.Repeat("x", 100) + `","a":1}`, "long a", "{\n  \"long\": \"" + strings.Repeat("x", 100) +
			"\",\n  \"a\": 1\n}"},
		{`not JSON`, "a", `not JSON`},
		{`{"a":`, "a", `{"a":`},
	} {
		if got := shorten([]byte(tt.body), tt.show); got != tt.want {
			t.Errorf("shorten(%s) = %s, want %s", tt.body, got, tt.want)
		}
	}
}

func TestQuoteSurvivesAShell(t *testing.T) {
	t.Parallel()
	const hostile = `it's "$HOME" \ $(true) ` + "`x`\n!"
	out, err := exec.Command("sh", "-c", "printf %s "+quote(hostile)).Output()
	if err != nil || string(out) != hostile {
		t.Errorf("the shell read %q, %v", out, err)
	}
}

func TestWhatAPersonTypes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ typed, code, token string }{
		{"482913375026", "482913375026", ""}, {"4829 1337 5026", "482913375026", ""}, {"4829-1337-5026", "482913375026", ""},
		{"http://x/g/abc", "", "http://x/g/abc"}, {"４８２９１３３７５０２６", "482913375026", ""},
		{"00000000-0000-4000-8000-000000000001", "", "00000000-0000-4000-8000-000000000001"},
		{strings.Repeat("7", 22), "", strings.Repeat("7", 22)}, {"", "", ""},
		{" 482 913 375 026\n", "482913375026", ""}, {"4829\u00a01337\u20135026", "482913375026", ""},
		{" http://x/g/abc ", "", "http://x/g/abc"},
	} {
		code, token, err := secret(strings.Split(tt.typed, " "))
		if code != tt.code || token != tt.token || err != nil {
			t.Errorf("secret(%q) = %q, %q, %v", tt.typed, code, token, err)
		}
	}
	for typed, want := range map[string]string{"48291337502": "this code has 11.", "4829 1337 5026 1": "this code has 13.",
		"4829-1337": "this code has 8.", "4829/1337/5026": "spaces, dashes and dots"} {
		_, _, err := secret(strings.Split(typed, " "))
		if _, usage := errors.AsType[usageError](err); !usage || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), typed) {
			t.Errorf("secret(%q) is refused with %v, want %q and not the code", typed, err, want)
		}
	}
	for _, tt := range []struct{ typed, name, contact string }{
		{"ana@example.com", "", "ana@example.com"}, {"Ana Lima <ana@example.com>", "Ana Lima", "ana@example.com"},
		{"<415-555-0132>", "", "415-555-0132"}, {"Ana <ana@example.com", "", "Ana <ana@example.com"},
	} {
		if name, contact := named(tt.typed); name != tt.name || contact != tt.contact {
			t.Errorf("named(%q) = %q, %q", tt.typed, name, contact)
		}
	}
}
