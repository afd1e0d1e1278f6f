package boon_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// refusalTexts are the files with the translations of what callers are told of refusals.
const refusalTexts = "internal/post/locale/refusals/*.json"

// TestRefusalsAreTranslated: each constant of the type phrase.Text in the program is translated into every language in
// which refusals are told, by a text with the same values in it, and nothing else is. The type has no refusal be
// forgotten: a text that is no constant does not compile, unless it is converted, which this test refuses.
func TestRefusalsAreTranslated(t *testing.T) {
	said := textsOfTheProgram(t)
	translated := map[string]map[string]string{}
	files, err := filepath.Glob(refusalTexts)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(content, &translated)
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	kept := map[string]map[string]string{}
	content, err := os.ReadFile(keptTexts)
	if err == nil {
		err = json.Unmarshal(content, &kept)
	}
	if err != nil {
		t.Fatal(err)
	}
	for english, versions := range kept { // those that are said no more are read still
		wantTranslations(t, keptTexts, english, versions)
	}
	for english, where := range said {
		if text, is := strings.CutPrefix(english, keptMark); is {
			if kept[text] == nil {
				t.Errorf("%s: %s does not say this: %q", where, keptTexts, text)
			}
			continue
		}
		wantTranslations(t, where+": no file of "+refusalTexts, english, translated[english])
	}
	for english := range translated {
		if said[english] == "" {
			t.Errorf("nothing in the program says %q any more", english)
		}
	}
	if len(said) < 300 {
		t.Errorf("%d texts were found", len(said))
	}
}

// keptTexts is the file with the translations of sentences that are kept in English.
const keptTexts = "internal/post/locale/kept/trail.json"

// wantTranslations demands each language of a text, with the same values, but for those that are for programs.
func wantTranslations(t *testing.T, file, english string, versions map[string]string) {
	t.Helper()
	all := valuesIn(english)
	needed := slices.DeleteFunc(slices.Clone(all), func(v string) bool { return strings.Contains(v, "-") })
	bare := strings.NewReplacer("-", "", "+", "")
	for _, language := range []string{"de", "es", "en"} {
		said := versions[language]
		if said == "" && language == "en" {
			continue
		}
		var got []string
		for _, v := range valuesIn(said) {
			if at := slices.IndexFunc(all, func(w string) bool { return bare.Replace(w) == v }); at >= 0 {
				v = all[at]
			}
			got = append(got, v)
		}
		lacks := slices.ContainsFunc(needed, func(v string) bool { return !slices.Contains(got, v) })
		strange := slices.ContainsFunc(got, func(v string) bool { return !slices.Contains(all, v) })
		if said == "" || lacks || strange {
			t.Errorf("%s: %q has the values %q, in %s %q", file, english, all, language, got)
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?([+-]?)([a-zA-Z%]|0\d[A-Z])`)

// valuesIn lists the values that a text has, by their places, and how each is written.
func valuesIn(text string) (values []string) {
	next := 1
	for _, m := range verb.FindAllStringSubmatch(text, -1) {
		if m[3] == "%" {
			continue
		}
		if m[1] != "" {
			if _, err := fmt.Sscan(m[1], &next); err != nil {
				panic(err) // it has digits only
			}
		}
		values = append(values, fmt.Sprintf("%d%s%s", next, m[2], m[3]))
		next++
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// textsOfTheProgram gives each constant of the type phrase.Text that has a letter beside its values, and where the
// program has it.
func textsOfTheProgram(t *testing.T) map[string]string {
	t.Helper()
	const list = `{{.ImportPath}}{{"\t"}}{{.Export}}{{"\t"}}{{.Dir}}{{"\t"}}{{join .GoFiles " "}}`
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", list, "./cmd/boon").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exported, said := map[string]string{}, map[string]string{}
	files := token.NewFileSet()
	from := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exported[path])
	})
	for line := range strings.Lines(string(out)) { // each package after those that it imports
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		exported[fields[0]] = fields[1]
		if strings.HasPrefix(fields[0], module) && !slices.Contains(notTranslated, strings.TrimPrefix(fields[0], module)) {
			textsOfPackage(t, files, from, fields[0], fields[2], strings.Fields(fields[3]), said)
		}
	}
	return said
}

// notTranslated are packages whose refusals are in English: the protocols of platforms have answers of their own.
var notTranslated = append([]string{"internal/face/provider"}, providers...)

// textsOfPackage adds the texts of one package.
func textsOfPackage(t *testing.T, files *token.FileSet, from types.Importer, path, folder string, names []string,
	said map[string]string) {
	t.Helper()
	var parsed []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(files, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	known := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := (&types.Config{Importer: from}).Check(path, files, parsed, known); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	pieces := map[ast.Expr]bool{} // of texts that are written in several
	for e := range known.Types {
		if whole, is := e.(*ast.BinaryExpr); is {
			pieces[whole.X], pieces[whole.Y] = true, true
		}
	}
	for e, is := range known.Types {
		if !isText(is.Type) || is.IsType() {
			continue
		}
		at := files.Position(e.Pos())
		where := fmt.Sprintf("%s:%d", filepath.Base(folder)+"/"+filepath.Base(at.Filename), at.Line)
		if is.Value == nil {
			if call, isCall := e.(*ast.CallExpr); isCall && known.Types[call.Fun].IsType() {
				t.Errorf("%s: a text is put together while the program runs, so that nobody can translate it", where)
			}
			continue
		}
		text := constant.StringVal(is.Value)
		if !pieces[e] && letters.MatchString(verb.ReplaceAllString(text, "")) {
			if named, is := types.Unalias(is.Type).(*types.Named); is && named.Obj().Name() == "Kept" {
				text = keptMark + text
			}
			said[text] = where
		}
	}
}

// keptMark begins a text of the type phrase.Kept.
const keptMark = "\x00"

var letters = regexp.MustCompile(`\pL`)

func isText(is types.Type) bool {
	named, ok := types.Unalias(is).(*types.Named)
	return ok && slices.Contains([]string{"Text", "Kept"}, named.Obj().Name()) &&
		named.Obj().Pkg().Path() == module+"internal/base/phrase"
}
