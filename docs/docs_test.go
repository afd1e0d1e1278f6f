package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// each calls do with every file of the repository whose name ends so, its path from this folder and its text.
func each(t *testing.T, ending string, do func(path, text string)) {
	t.Helper()
	if err := walk(ending, do); err != nil {
		t.Fatal(err)
	}
}

func walk(ending string, do func(path, text string)) error {
	return filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != ".." && (strings.HasPrefix(name, ".") || name == "bin" || name == "node_modules"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ending):
			text, err := os.ReadFile(path)
			do(path, string(text))
			return err
		}
		return nil
	})
}

// TestLinksLead follows every link from a document to a file of the repository, and to a heading in it.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([^)#:\s]*)(#[^)\s]*)?\)`)
	headings := regexp.MustCompile("(?m)^#+ (.*)$")
	dropped := regexp.MustCompile("[^a-z0-9 _-]")
	each(t, ".md", func(path, text string) {
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			to := path
			if link[1] != "" {
				to = filepath.Join(filepath.Dir(path), link[1])
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s leads to %s, which is not there", path, link[1])
				continue
			}
			if link[2] == "" {
				continue
			}
			page, err := os.ReadFile(to)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, h := range headings.FindAllStringSubmatch(string(page), -1) {
				found = found || "#"+strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-") == link[2]
			}
			if !found {
				t.Errorf("%s leads to %s%s, and there is no such heading", path, link[1], link[2])
			}
		}
	})
}

// functions has the tests of each folder, and those of the whole repository under "..".
var functions = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := walk("_test.go", func(path, text string) {
		for _, f := range declared.FindAllStringSubmatch(text, -1) {
			names[filepath.Dir(path)] = append(names[filepath.Dir(path)], f[1])
			names[".."] = append(names[".."], f[1])
		}
	})
	if err != nil {
		panic(err)
	}
	return names
})

// TestNamedTestsExist finds every test that a document names, or names the beginning of, where it says it is.
func TestNamedTestsExist(t *testing.T) {
	t.Parallel()
	all := functions()[".."]
	named := regexp.MustCompile(`\bTest[A-Z]\w+`)
	inFolder := regexp.MustCompile("`((?:internal|cmd)/[a-z/]+)`((?:,?\\s+Test\\w+)+)")
	each(t, ".md", func(path, text string) {
		missing := func(name string, in []string) bool {
			return !slices.ContainsFunc(in, func(f string) bool { return strings.HasPrefix(f, name) })
		}
		for _, name := range named.FindAllString(text, -1) {
			if missing(name, all) {
				t.Errorf("%s names %s, and there is no such test", path, name)
			}
		}
		for _, m := range inFolder.FindAllStringSubmatch(text, -1) {
			for _, name := range named.FindAllString(m[2], -1) {
				if missing(name, functions()[filepath.Join("..", m[1])]) {
					t.Errorf("%s names %s of %s, and there is no such test", path, name, m[1])
				}
			}
		}
	})
}

var (
	testCommand = regexp.MustCompile(`^go (?:-C (\w+) )?test (.*)$`)
	runCommand  = regexp.MustCompile(`^go -C (\w+) run \./(\w+)(.*)$`)
	packages    = regexp.MustCompile(`(?:^| )\./([a-z/]+)`)
	selected    = regexp.MustCompile(` -run (?:'([^']+)'|(\S+))`)
	flags       = regexp.MustCompile(` -([a-z-]+)`)
)

// TestCommandsExist: every `go test … -run …` of a document selects at least one test by each name and in each package,
// and every `go run` names a program and flags that it has.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	quoted := regexp.MustCompile("`(go [^`]+)`")
	checked := 0
	each(t, ".md", func(path, text string) {
		for _, command := range quoted.FindAllStringSubmatch(text, -1) {
			test, run := testCommand.FindStringSubmatch(command[1]), runCommand.FindStringSubmatch(command[1])
			switch {
			case test != nil && !strings.Contains(test[2], "…") && !strings.Contains(test[2], "PACKAGE"):
				checkTests(t, path, command[1], test[1], test[2])
			case run != nil:
				checkFlags(t, path, command[1], filepath.Join("..", run[1], run[2]), run[3])
			default:
				continue
			}
			checked++
		}
	})
	if checked < 40 {
		t.Errorf("%d commands were checked", checked)
	}
}

func checkTests(t *testing.T, path, command, module, args string) {
	t.Helper()
	pattern := "."
	if run := selected.FindStringSubmatch(args); run != nil {
		pattern = run[1] + run[2]
	}
	met := map[string]bool{}
	for _, folder := range packages.FindAllStringSubmatch(args, -1) {
		some := false
		for _, name := range functions()[filepath.Join("..", module, folder[1])] {
			for alternative := range strings.SplitSeq(pattern, "|") {
				if regexp.MustCompile(alternative).MatchString(name) {
					met[alternative], some = true, true
				}
			}
		}
		if !some {
			t.Errorf("%s: %s selects no test of %s", path, command, folder[1])
		}
	}
	for alternative := range strings.SplitSeq(pattern, "|") {
		if !met[alternative] {
			t.Errorf("%s: %s selects no test by %s", path, command, alternative)
		}
	}
}

func checkFlags(t *testing.T, path, command, folder, args string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("%s: %s: there is no such program: %v", path, command, err)
	}
	var source strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, flag := range flags.FindAllStringSubmatch(args, -1) {
		declared := regexp.MustCompile(`\b(?:f|flag)\.\w+\((?:[^,"()]+, )?"` + regexp.QuoteMeta(flag[1]) + `"`)
		if !declared.MatchString(source.String()) {
			t.Errorf("%s: %s: there is no flag -%s", path, command, flag[1])
		}
	}
}

// Every document that is served is rendered whole, and its links lead to pages that are served, and to headings there.
// Every picture of it is served, and has words for who does not see it.
func TestServedDocumentsAreWhole(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if Served[path] == "" && Pictures()[assets+filepath.Base(path)] == nil && !d.IsDir() {
			t.Errorf("%s is embedded, and has no address", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for file, at := range Served {
		pages[at] = string(HTML(Source(file), file, "ROOT/"))
	}
	links := regexp.MustCompile(`href="(?:ROOT/([a-z/]*))?(#[^"]*)?"`)
	shown := map[string]bool{}
	for at, page := range pages {
		for _, left := range []string{"**", "\n|", "\n- ", "<!-- raw", "mermaid", ".md\""} {
			if strings.Contains(page, left) {
				t.Errorf("%s holds %q", at, left)
			}
		}
		for _, picture := range regexp.MustCompile(`<img src="(?:ROOT/)?([^"]*)" alt="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if shown[picture[1]] = true; Pictures()[picture[1]] == nil || picture[2] == "" {
				t.Errorf("%s shows %s", at, picture[0])
			}
		}
		for _, link := range links.FindAllStringSubmatch(page, -1) {
			to := link[1]
			if to == "" {
				to = at
			}
			if pages[to] == "" || link[2] != "" && !strings.Contains(pages[to], ` id="`+link[2][1:]+`"`) {
				t.Errorf("%s leads to %s", at, link[0])
			}
		}
	}
	for at := range Pictures() {
		if !shown[at] {
			t.Errorf("no document shows %s, which is part of the program", at)
		}
	}
	headings := regexp.MustCompile("(?m)^##+ `?([A-Z_]{2,})`?$").FindAllStringSubmatch(Source("reference/errors.md"), -1)
	if len(headings) < 20 {
		t.Fatalf("%d headings of errors.md are codes", len(headings))
	}
	for _, h := range headings {
		if !strings.Contains(pages["docs/errors"], ` id="`+h[1]+`"`) {
			t.Errorf("%s has no anchor", h[1])
		}
	}
}
