package setup

import (
	"slices"
	"strings"
	"testing"

	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/form"
)

// TestEveryFieldHasWords: a field of the set-up is in a section, and has a name in each language of the console, as
// have the columns of a table; and no name is of a field that there is not.
func TestEveryFieldHasWords(t *testing.T) {
	t.Parallel()
	used, asked := map[string]bool{}, map[string]bool{}
	var named func(list string, questions []form.Question)
	named = func(list string, questions []form.Question) {
		for _, q := range questions {
			name := strings.ReplaceAll(q.Name, ".", "-")
			for _, l := range locale.ConsoleLanguages() {
				own, shared := readWords()[l][calls+list+"-"+name], readWords()[l][calls+name]
				if own == nil && shared == nil {
					t.Errorf("%s of %q has no name in %s: add %s%s to the texts of the console", q.Name, list, l, calls, name)
				}
			}
			used[list+"-"+name], used[name] = true, true
			if at := strings.LastIndexByte(name, '-'); at > 0 {
				used[name[:at]] = true // of the mapping that it is in
			}
			named(q.Name, q.Columns)
		}
	}
	for n := range sections {
		questions := sections[n].questions()
		named(sections[n].list, questions)
		if sections[n].list == "" {
			for _, q := range questions {
				if asked[q.Name] {
					t.Errorf("%s is in two sections", q.Name)
				}
				asked[q.Name] = true
			}
		}
	}
	for _, q := range form.Questions("") {
		if q.Ask != form.Known && !asked[q.Name] {
			t.Errorf("%s is in no section", q.Name)
		}
	}
	for _, list := range document.Lists() {
		if !slices.ContainsFunc(sections, func(s section) bool { return s.list == list }) {
			t.Errorf("%s is in no section", list)
		}
	}
	for name := range readWords()["en"] {
		rest, is := strings.CutPrefix(name, calls)
		hint, helps := strings.CutPrefix(name, hints)
		if is && !used[rest] || helps && !used[hint] {
			t.Errorf("%s is of no field", name)
		}
	}
}

// TestEveryPermissionHasWords: the forms of keys list every permission, and a person reads what it allows.
func TestEveryPermissionHasWords(t *testing.T) {
	t.Parallel()
	for _, l := range locale.ConsoleLanguages() {
		texts := locale.For(l).All("console.may.")
		for _, name := range merchant.PermissionNames() {
			if texts["console.may."+name] == nil {
				t.Errorf("the permission %s has no text in %s: add console.may.%s to the texts of the console", name, l, name)
			}
		}
	}
}

// TestListsBuildNoTables: what a list shows of its records needs no table and nothing that is never shown.
func TestListsBuildNoTables(t *testing.T) {
	t.Parallel()
	sites := false
	for n := range sections {
		for _, q := range sections[n].questions() {
			sites = sites || q.Name == "sites" && q.Ask == form.Rows
		}
		for _, q := range sections[n].inShort() {
			if q.Ask == form.Rows || q.Ask == form.Picture || q.Ask == form.Secret {
				t.Errorf("the list %s asks for %s", sections[n].name, q.Name)
			}
		}
	}
	if !sites {
		t.Error("no record has a table any more")
	}
}

// TestUnnamedFieldsNeedProof: a field of the account that no section names is in one section, which asks for proof.
func TestUnnamedFieldsNeedProof(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range sections {
		if s.others {
			names = append(names, s.name)
		}
		if s.others && !s.fresh {
			t.Errorf("%s asks for no proof", s.name)
		}
	}
	if len(names) != 1 {
		t.Errorf("fields that no section names are in %v", names)
	}
}
