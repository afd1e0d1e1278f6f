package manual_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"boon.example/internal/manual"
)

// line is a command line with texts that man would take for its own commands.
type line struct {
	Gift struct {
		Send struct {
			Value  string   `help:"How much."`
			Format string   `enum:"text,json" default:"text" help:"How: ${enum}."`
			Dry    bool     `help:"Only say so."`
			Secret string   `hidden:""`
			To     []string `arg:"" optional:"" help:"Whom."`
		} `cmd:"" help:".SH is no heading, and C:\\new no tab."`
		Show struct {
			Kind string `arg:"" enum:"long,short" help:"Which."`
		} `cmd:"" help:"Show one."`
	} `cmd:"" help:"Gifts."`
	Hidden struct{} `cmd:"" hidden:""`
}

func model(t testing.TB) *kong.Node {
	t.Helper()
	parser, err := kong.New(&line{}, kong.Name("boon"), kong.Description("About.\n\n'quoted\nlast-line"))
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model.Node
}

func TestComplete(t *testing.T) {
	t.Parallel()
	app := model(t)
	for _, tt := range []struct{ words, next string }{
		{"", "gift"},
		{"g", "gift"},
		{"h", ""},
		{"gift|", "send show"},
		{"gift|se", "send"},
		{"gift|send|--", "--help --value --format --dry"},
		{"gift|send|--se", ""},
		{"gift|send|--format|", "text json"},
		{"gift|send|--format|j", "json"},
		{"gift|send|--format=j", "--format=json"},
		{"gift|send|--format|=", "text json"}, // as bash takes it apart
		{"gift|send|--format|=|t", "text"},    // likewise
		{"gift|send|--format|=|json|--v", "--value"},
		{"gift|send|--value|", ""},
		{"gift|send|--value|send|--d", "--dry"},
		{"gift|send|--dry|--f", "--format"},
		{"gift|send|--none|--f", "--format"},
		{"gift|show|", "long short"},
		{"gift|show|s", "short"},
		{"=", ""}, {"=|=", ""}, {"--=|=|", "gift"}, {"--format=", ""},
	} {
		var got []string
		for _, w := range manual.Complete(app, strings.Split(tt.words, "|")) {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != tt.next {
			t.Errorf("after %q come %q, want %q", tt.words, got, tt.next)
		}
	}
}

// FuzzComplete: whatever stands on a line, there is an answer, and each word of it begins with what was typed.
func FuzzComplete(f *testing.F) {
	f.Add("gift|send|--format|=|t")
	f.Add("--|=|=|-")
	app := model(f)
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Split(line, "|")
		last := words[len(words)-1]
		for _, w := range manual.Complete(app, words) {
			if !strings.HasPrefix(w.Text, strings.TrimPrefix(last, "=")) {
				t.Errorf("after %q comes %q", line, w.Text)
			}
		}
	})
}

// TestPage: no text of a command is taken for a command of man, and man has nothing to warn of.
func TestPage(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := manual.Page(&page, model(t), "v1.2.3", func(v *kong.Value) string { return v.Help }); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(page.String(), "\n")
	for _, want := range []string{`.SS "boon gift send [<to> ...] [flags]"`, `\&.SH is no heading, and C:\enew no tab.`,
		`\&'quoted`, `last\-line`, `\fB\-\-format="text"\fR`, "How: text,json."} {
		if !slices.Contains(lines, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page.String(), "secret") || strings.Contains(page.String(), "hidden") {
		t.Error("the page tells what is hidden")
	}
	if _, err := exec.LookPath("groff"); err != nil {
		return
	}
	groff := exec.Command("groff", "-man", "-ww", "-z", "-Tutf8")
	groff.Stdin = &page
	if out, err := groff.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

// TestBash has bash itself complete a line, with a program that answers as boon does.
func TestBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	dir := t.TempDir()
	stand := "#!/bin/sh\nshift 2\nprintf '%s\\n' \"$@\" >" + dir + "/asked\nprintf 'text\\tHow\\njson\\tHow\\n'\n"
	if err := os.WriteFile(filepath.Join(dir, "boon"), []byte(stand), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	out, err := exec.Command(bash, "-c", manual.Script("bash")+`
COMP_WORDS=("`+dir+`/boon" gift send --format = "") COMP_CWORD=5; _boon; printf '%s,' "${COMPREPLY[@]}"`).CombinedOutput()
	if err != nil || string(out) != "text,json," {
		t.Errorf("bash completes %q, %v", out, err)
	}
	asked, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || string(asked) != "gift\nsend\n--format\n=\n\n" {
		t.Errorf("bash asked %q, %v", asked, err)
	}
	if manual.Script("bash") == "" || manual.Script("zsh") == "" || manual.Script("fish") == "" {
		t.Error("a shell has no script")
	}
}
