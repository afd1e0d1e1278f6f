package setup

import (
	"reflect"
	"strings"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
)

// FieldNames are what fields of the set-up are called in a language, by what people are told in English of them.
func FieldNames(l merchant.Language) map[string]string {
	all := map[string]string{}
	for _, f := range document.Told() {
		path := strings.ReplaceAll(f.Path, ".", "-")
		for _, name := range []string{f.List + "-" + path, path} {
			if text, is := readWords()[l][calls+name].(string); is && all[f.Told] == "" {
				all[f.Told] = text
			}
		}
	}
	return all
}

// recordOf is the record of a list of an account by what it is known by; nil: there is none.
func recordOf(account document.Fields, list, known string) document.Fields {
	if list == "" {
		return account
	}
	records, _ := account[list].([]any)
	for _, one := range records {
		record, _ := one.(document.Fields)
		if is, _ := record[document.KnownBy(list)].(string); is == known {
			return record
		}
	}
	return nil
}

// told says what an edit changed, in the language of the page: field by field, as forms name them. nil: it is not seen
// in the fields, as of a secret.
func (p *pages) told(r *desk.Request, e *editing, known string) []string {
	_, account, err := p.newest(r)
	if err != nil {
		return nil
	}
	now := recordOf(account, e.section.list, known)
	switch {
	case e.record == nil && now == nil:
		return nil
	case e.record == nil:
		return []string{r.Locale.Text("console.setup.told.added", p.name(r, &e.section, now))}
	case now == nil:
		all := []string{r.Locale.Text("console.setup.told.removed", p.name(r, &e.section, e.record))}
		if left, _ := account["people"].([]any); e.section.list == "people" && len(left) == 0 {
			all = append(all, r.Locale.Text("console.setup.told.nobody"))
		}
		return all
	}
	questions := asked(e.section.questions(), now)
	before, after := p.forms(r, e.account), p.forms(r, account)
	return differences(r, p.fields(r, e.section.list, before.New(questions, e.record)),
		p.fields(r, e.section.list, after.New(questions, now)))
}

// differences says in which fields two forms with the same questions differ.
func differences(r *desk.Request, before, after []field) (all []string) {
	for n := range after {
		was, is := before[n].said(r), after[n].said(r)
		switch label := after[n].Label; {
		case was == is && !reflect.DeepEqual(before[n].Input, after[n].Input):
			all = append(all, r.Locale.Text("console.setup.told.changed", label))
		case was == is:
		case was == "":
			all = append(all, r.Locale.Text("console.setup.told.now", label, is))
		case is == "":
			all = append(all, r.Locale.Text("console.setup.told.gone", label, was))
		default:
			all = append(all, r.Locale.Text("console.setup.told.from-to", label, was, is))
		}
	}
	return all
}
