package demo

import (
	"os/exec"
	"strings"
	"testing"
)

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
