package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"boon.example/test/rig"
)

// promise is what docs/why/promises.md says of one.
type promise struct {
	name, text string
	tests      []string // commands
	open       []string // what no test shows yet
}

// place is where the promises are written, from the folder of the repository.
const place = "docs/why/promises.md"

// readPromises reads them. A promise is a heading, a quotation, and a list: of commands, or of what is open.
func readPromises(text string) (all []promise) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, heading := strings.CutPrefix(line, "## P")
		if heading {
			all = append(all, promise{name: "P" + name})
		}
		if len(all) == 0 || heading {
			continue
		}
		p := &all[len(all)-1]
		if words, ok := strings.CutPrefix(line, "> "); ok {
			p.text = strings.TrimSpace(p.text + " " + words)
		} else if rest, ok := strings.CutPrefix(line, "- `"); ok {
			command, _, _ := strings.Cut(rest, "`")
			p.tests = append(p.tests, command)
		} else if rest, ok := strings.CutPrefix(line, "- Open: "); ok {
			p.open = append(p.open, rest)
		}
	}
	return all
}

// outcome is what a command came to.
type outcome struct {
	held, leftOut bool
	figure        string
}

// keepPromises runs what tries to break the promises, each command once, and prints promise by promise what came of it.
func keepPromises(ctx context.Context, which string) error {
	root, err := rig.Root()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, place))
	if err != nil {
		return err
	}
	all := readPromises(string(text))
	if which != "all" {
		names := strings.Split(which, ",")
		all = slices.DeleteFunc(all, func(p promise) bool { return !slices.Contains(names, p.name) })
	}
	total := 0
	for _, p := range all {
		total += len(p.tests)
	}
	if total == 0 {
		return fmt.Errorf("%s names no test for %s", place, which)
	}
	show, done, known := progress(int64(total), "promises"), 0, map[string]outcome{}
	var broken []string
	for _, p := range all {
		held := true
		for _, command := range p.tests {
			if _, ran := known[command]; !ran {
				known[command] = try(ctx, root, command)
			}
			held = held && known[command].held
			done++
			show(int64(done))
		}
		if !held {
			broken = append(broken, p.name)
		}
		p.print(held, known)
	}
	if broken != nil {
		return fmt.Errorf("broken: %s", strings.Join(broken, ", "))
	}
	fmt.Println("Every promise held against the tests that there are.")
	return nil
}

func (p *promise) print(held bool, known map[string]outcome) {
	what := "held  "
	switch {
	case !held:
		what = "BROKEN"
	case len(p.tests) == 0:
		what = "OPEN  "
	}
	fmt.Printf("%s %-3s %s\n", what, p.name, p.text)
	for _, command := range p.tests {
		o := known[command]
		mark := ""
		switch {
		case !o.held:
			mark = "BROKEN: "
		case o.leftOut:
			mark = "LEFT OUT: "
		}
		fmt.Printf("           %s\n             %s%s\n", command, mark, o.figure)
	}
	for _, o := range p.open {
		fmt.Printf("           open: %s\n", o)
	}
}

// leftOut is the exit code of a script that this machine lacks something for.
const leftOut = 77

// ofTests tells where the flags of a command begin that runs tests, 0: it is no such command; and the folder that it
// runs them in.
func ofTests(args []string) (flags int, folder string) {
	switch {
	case len(args) > 2 && args[0] == "go" && args[1] == "test":
		return 2, "."
	case len(args) > 4 && args[0] == "go" && args[1] == "-C" && args[3] == "test":
		return 4, args[2]
	}
	return 0, ""
}

// try runs a command of the list.
func try(ctx context.Context, root, command string) outcome {
	args := words(command)
	flags, _ := ofTests(args)
	testing := flags > 0
	if testing {
		args = slices.Insert(args, flags, "-v", "-count=1")
	}
	begun := time.Now()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	said := strings.TrimSpace(string(out))
	if left, ok := errors.AsType[*exec.ExitError](err); ok && left.ExitCode() == leftOut {
		return outcome{held: true, leftOut: true, figure: said}
	}
	if err != nil {
		return outcome{figure: fmt.Sprintf("%v\n%s", err, said[max(0, len(said)-3000):])}
	}
	if !testing {
		return outcome{held: true, figure: strings.ReplaceAll(said, "\n", indent)}
	}
	passed, skipped := results(said, "PASS"), results(said, "SKIP")
	switch {
	case passed > 0:
		counted := fmt.Sprintf("%d tests passed, %d left out, in %.0f s", passed, skipped, time.Since(begun).Seconds())
		return outcome{held: true, leftOut: skipped > 0, figure: strings.Join(append([]string{counted}, figures(said)...),
			indent)}
	case skipped > 0:
		return outcome{held: true, leftOut: true, figure: fmt.Sprintf("%d tests, for which this machine lacks something",
			skipped)}
	}
	return outcome{figure: "no test of that name ran"}
}

// indent begins another line of a figure.
const indent = "\n             "

var logged = regexp.MustCompile(`(?m)^\s+\w+_test\.go:\d+: (.+)$`)

// figures are what tests said of themselves; not what they say of random tries, which is that these passed.
func figures(output string) (all []string) {
	for _, m := range logged.FindAllStringSubmatch(output, -1) {
		if !strings.HasPrefix(m[1], "[rapid]") {
			all = append(all, m[1])
		}
	}
	return all
}

// results counts tests, without the parts that they consist of.
func results(output, what string) (n int) {
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "--- "+what) {
			n++
		}
	}
	return n
}

// words takes a command apart at its spaces, but not within quotes.
func words(command string) (all []string) {
	for n, part := range strings.Split(command, "'") {
		if n%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
