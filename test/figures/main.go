// Command figures tells how large the program is at some commits, and how much is said where it is hard:
//
//	test/figures/run f0e1fe9 HEAD
//
// It reads the commits from Git, builds the program of each, and prints a table in Markdown. Lines of code are those
// that are neither blank nor a comment; tests are not counted.
package main

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	commits := os.Args[1:]
	if len(commits) == 0 {
		commits = []string{"HEAD"}
	}
	var all []figures
	for _, commit := range commits {
		f, err := figuresOf(commit)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", commit, err)
			os.Exit(1)
		}
		all = append(all, f)
	}
	write(os.Stdout, all)
}

// hard are the parts of the program that are hard to understand, and in which files they stand, today and earlier.
var hard = []struct {
	part  string
	files *regexp.Regexp
}{
	{"engine and lanes", regexp.MustCompile(`^internal/ledger/(engine/)?(engine|lane)\.go$`)},
	{"heavy lane", regexp.MustCompile(`^internal/ledger/(engine/)?heavy\.go$`)},
	{"group commit", regexp.MustCompile(`^internal/store/group(_\w+)?\.go$`)},
	{"webhook lanes", regexp.MustCompile(`^internal/(post/)?webhook/lane\.go$`)},
	{"webhook stream", regexp.MustCompile(`^internal/(post/)?webhook/stream\.go$`)},
	{"watermark of the feed", regexp.MustCompile(`^internal/store/feed/(watermark|fenc[e])\.go$`)}, // its earlier name, which words_test.go refuses
	{"erase", regexp.MustCompile(`^internal/store/erase/\w+\.go$`)},
	{"JSON tape", regexp.MustCompile(`^internal/(base/json)?tape/\w+\.go$`)},
}

// figures are those of one commit.
type figures struct {
	commit   string
	packages []size         // the largest first
	said     map[string]int // of each hard part, the share of comments in percent
	walk     walk
	binary   int64 // the size of the program without symbols, in bytes
}

// size is how many lines of code and of comments there are in a package or in a file.
type size struct {
	name           string
	code, comments int
}

// walk is the way of a redemption from the socket to the commit, as ARCHITECTURE.md tells it.
type walk struct{ functions, files, packages int }

func figuresOf(commit string) (f figures, err error) {
	root, err := os.MkdirTemp("", "figures")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(root)
	if err := checkOut(commit, root); err != nil {
		return f, err
	}
	name, err := output("git", "rev-parse", "--short", commit)
	if err != nil {
		return f, err
	}
	files, err := sources(root)
	if err != nil {
		return f, err
	}
	f = figures{commit: name, packages: byPackage(files), said: said(files)}
	if f.walk, err = walkOf(root, files); err != nil {
		return f, err
	}
	f.binary, err = build(root)
	return f, err
}

// checkOut unpacks the files of a commit.
func checkOut(commit, root string) error {
	top, err := output("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	archive := exec.Command("git", "-C", top, "archive", commit)
	archive.Stderr = os.Stderr
	out, err := archive.StdoutPipe()
	if err != nil {
		return err
	}
	if err := archive.Start(); err != nil {
		return err
	}
	return errors.Join(unpack(out, root), archive.Wait())
}

func unpack(archive io.Reader, root string) error {
	for files := tar.NewReader(archive); ; {
		h, err := files.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		to := filepath.Join(root, filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(to, 0o755)
		case tar.TypeReg:
			var text []byte
			if text, err = io.ReadAll(files); err == nil {
				err = os.WriteFile(to, text, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
}

// sources measures the files of Go of the program and of its client, without tests.
func sources(root string) (files []size, err error) {
	tree := os.DirFS(root)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"test", "testdata", "sdk"}, d.Name()):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		files = append(files, measured(name, string(text)))
		return err
	})
	return files, err
}

// measured counts the lines of a file.
func measured(name, text string) size {
	s := size{name: name}
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "//"):
			s.comments++
		case line != "":
			s.code++
		}
	}
	return s
}

func byPackage(files []size) (packages []size) {
	sum := map[string]size{}
	for _, f := range files {
		s := sum[path.Dir(f.name)]
		sum[path.Dir(f.name)] = size{path.Dir(f.name), s.code + f.code, s.comments + f.comments}
	}
	for _, s := range sum {
		packages = append(packages, s)
	}
	slices.SortFunc(packages, func(a, b size) int {
		return cmp.Or(cmp.Compare(b.code, a.code), cmp.Compare(a.name, b.name))
	})
	return packages
}

// said tells of each hard part which share of its lines are comments.
func said(files []size) map[string]int {
	share := map[string]int{}
	for _, h := range hard {
		code, comments := 0, 0
		for _, f := range files {
			if h.files.MatchString(f.name) {
				code, comments = code+f.code, comments+f.comments
			}
		}
		if code > 0 {
			share[h.part] = 100 * comments / (code + comments)
		}
	}
	return share
}

// walkOf finds the functions that ARCHITECTURE.md names on the way of a redemption.
func walkOf(root string, files []size) (w walk, err error) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		return w, err
	}
	_, section, _ := strings.Cut(string(text), "\n## One redemption")
	section, _, _ = strings.Cut(section, "\n## ")
	functions, in, packages := map[string]bool{}, map[string]bool{}, map[string]bool{}
	named := regexp.MustCompile("`([a-z]+)\\.(?:([A-Za-z]+)\\.)?([A-Za-z]+)`")
	for _, name := range named.FindAllStringSubmatch(section, -1) {
		declared := regexp.MustCompile(`(?m)^func ` + name[3] + `\b`)
		if name[2] != "" {
			declared = regexp.MustCompile(`(?m)^func \(\w+ \*?` + name[2] + `\) ` + name[3] + `\b`)
		}
		for _, f := range files {
			if path.Base(path.Dir(f.name)) != name[1] {
				continue
			}
			source, err := os.ReadFile(filepath.Join(root, f.name))
			if err != nil {
				return w, err
			}
			if declared.Match(source) {
				functions[name[0]], in[f.name], packages[path.Dir(f.name)] = true, true, true
			}
		}
	}
	return walk{len(functions), len(in), len(packages)}, nil
}

// build builds the program without symbols and tells its size.
func build(root string) (int64, error) {
	to := filepath.Join(root, "figures.out")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, "./cmd/boon")
	c.Dir, c.Env, c.Stderr = root, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off"), os.Stderr
	if err := c.Run(); err != nil {
		return 0, fmt.Errorf("building it: %w", err)
	}
	info, err := os.Stat(to)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// write writes the figures of commits side by side, and the largest packages of each.
func write(w io.Writer, all []figures) {
	row := func(name string, of func(figures) string) {
		fmt.Fprint(w, name)
		for _, f := range all {
			fmt.Fprint(w, " | ", of(f))
		}
		fmt.Fprintln(w)
	}
	row("Figure", func(f figures) string { return f.commit })
	fmt.Fprintln(w, "---"+strings.Repeat("|--:", len(all)))
	row("packages", func(f figures) string { return fmt.Sprint(len(f.packages)) })
	row("packages of more than 3,000 lines of code", func(f figures) string { return fmt.Sprint(f.large()) })
	row("lines of code of the largest package", func(f figures) string { return thousands(f.packages[0].code) })
	for _, h := range hard {
		row("comments, "+h.part, func(f figures) string { return fmt.Sprintf("%d %%", f.said[h.part]) })
	}
	row("way of a redemption in ARCHITECTURE.md: functions, their files, their packages", func(f figures) string {
		return fmt.Sprintf("%d, %d, %d", f.walk.functions, f.walk.files, f.walk.packages)
	})
	row("program, without symbols", func(f figures) string { return fmt.Sprintf("%.1f MB", float64(f.binary)/1e6) })
	for _, f := range all {
		fmt.Fprintf(w, "\nThe largest packages of %s:\n\nPackage | Lines of code | Comments\n---|--:|--:\n", f.commit)
		for _, p := range f.packages[:min(10, len(f.packages))] {
			fmt.Fprintf(w, "`%s` | %s | %d %%\n", p.name, thousands(p.code), 100*p.comments/(p.code+p.comments))
		}
	}
}

func (f *figures) large() (n int) {
	for _, p := range f.packages {
		if p.code > 3_000 {
			n++
		}
	}
	return n
}

// thousands writes a number below a million with a comma.
func thousands(n int) string {
	if n < 1_000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1_000, n%1_000)
}
