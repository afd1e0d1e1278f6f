package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Page writes the manual page of a program, all its commands and flags, in the language of man(1).
func Page(w io.Writer, app *kong.Node, version string, describe func(*kong.Value) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s\n.SH NAME\n", quoted(strings.ToUpper(app.Name)), quoted(app.Name+" "+version))
	first, rest, _ := strings.Cut(app.Help, "\n")
	fmt.Fprintf(&b, "%s \\- %s\n.SH SYNOPSIS\n.B %s\n<command> [flags]\n.SH DESCRIPTION\n", text(app.Name),
		text(first), text(app.Name))
	example(&b, rest)
	b.WriteString(".SH COMMANDS\n")
	for _, command := range app.Leaves(true) {
		fmt.Fprintf(&b, ".SS %s\n%s\n", quoted(app.Name+" "+command.Summary()), text(command.Help))
		for _, p := range command.Positional {
			entry(&b, p.Summary(), describe(p))
		}
		for _, f := range flagsOf(command) {
			if f.Name != "help" {
				entry(&b, f.Summary(), describe(f.Value))
			}
		}
		example(&b, command.Detail)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// entry writes a name and, indented under it, what it means.
func entry(b *strings.Builder, name, means string) {
	fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", text(name), text(means))
}

// example writes text whose lines stay as they are.
func example(b *strings.Builder, s string) {
	if s = strings.Trim(s, "\n"); s != "" {
		fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n", text(s))
	}
}

// text keeps man from taking anything in a text for a command.
func text(s string) string {
	lines := strings.Split(escapes.Replace(s), "\n")
	for n, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[n] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// quoted is a text as an argument of a command of man.
func quoted(s string) string {
	return `"` + strings.NewReplacer("\n", " ", `"`, `\(dq`).Replace(escapes.Replace(s)) + `"`
}

var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...", "×", `\(mu`, "→", `\(->`)
