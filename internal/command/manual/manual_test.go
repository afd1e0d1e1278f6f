package manual_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"

	"boon.example/internal/command/manual"
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
	for _, reader := range [][]string{{"groff", "-man", "-ww", "-z", "-Tutf8"}, {"mandoc", "-Tlint", "-Werror"}} {
		if _, err := exec.LookPath(reader[0]); err != nil {
			t.Logf("LEFT OUT: there is no %s", reader[0])
			continue
		}
		c := exec.Command(reader[0], reader[1:]...)
		c.Stdin = bytes.NewReader(page.Bytes())
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", reader[0], err, out)
		}
	}
}

// stand is a folder with a program that answers as boon does, and notes what it was asked.
func stand(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text := "#!/bin/sh\nshift 2\nprintf '%s\\n' \"$@\" >" + dir + "/asked\nprintf 'text\\tHow: so\\njson\\tHow: so\\n'\n"
	// A process that another test starts while the file is open would keep it open, and nobody can run a file that
	// somebody may write to. Nothing is started under this lock.
	syscall.ForkLock.RLock()
	err := os.WriteFile(filepath.Join(dir, "boon"), []byte(text), 0o700) //nolint:gosec // it is run
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// shell has a shell run a text, and compares what it prints, and what it asked boon.
func shell(t *testing.T, dir string, command []string, want, asked string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip("LEFT OUT: there is no " + command[0])
	}
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
	out, err := c.CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("%s completes %q, %v", command[0], out, err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "asked"))
	if err != nil || string(got) != asked {
		t.Errorf("%s asked %q, %v", command[0], got, err)
	}
}

// TestBash has bash itself complete a line.
func TestBash(t *testing.T) {
	t.Parallel()
	dir := stand(t)
	shell(t, dir, []string{"bash", "-c", manual.Script("bash") + `
COMP_WORDS=(boon gift send --format = "") COMP_CWORD=5; _boon; printf '%s,' "${COMPREPLY[@]}"`},
		"text,json,", "gift\nsend\n--format\n=\n\n")
}

// TestFish has fish itself complete a line.
func TestFish(t *testing.T) {
	t.Parallel()
	dir := stand(t)
	shell(t, dir, []string{"fish", "--no-config", "-c", manual.Script("fish") + `
complete -C "boon gift send --format "`}, "json\tHow: so\ntext\tHow: so\n", "gift\nsend\n--format\n\n") // fish sorts
}

// TestZsh has zsh run the script with a line as its completion has it, and show what it would describe.
func TestZsh(t *testing.T) {
	t.Parallel()
	dir := stand(t)
	shell(t, dir, []string{"zsh", "-f", "-c", `compdef() { :; }
_describe() { print -rl -- "${(@P)2}"; }
` + manual.Script("zsh") + `
words=(boon gift send --format "") CURRENT=5; _boon`}, "text:How: so\njson:How: so\n", "gift\nsend\n--format\n\n")
}
