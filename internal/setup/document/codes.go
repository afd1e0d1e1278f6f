package document

import (
	"slices"
	"strings"

	"boon.example/internal/merchant"
)

// codeForms reads the forms of the codes that other systems gave out, the shortest first; nil: there are none.
func (f fields) codeForms(name string) (forms []merchant.CodeForm) {
	members, ok := f.list(name)
	if ok && len(f.values[name].Content) == 0 {
		f.problem(f.values[name], "An empty list declares nothing; leave the field out.")
	}
	lines := make(map[int]int)
	for _, v := range members {
		form, ok := f.codeForm(v)
		if !ok {
			continue
		}
		if line, double := lines[form.Length()]; double {
			f.problem(v, "Another form%s has %d characters too: one alphanumeric form is for codes of digits as well.",
				f.onLine(line), form.Length())
		}
		lines[form.Length()] = v.Line
		forms = append(forms, form)
	}
	slices.SortFunc(forms, func(a, b merchant.CodeForm) int { return a.Length() - b.Length() })
	return forms
}

func (f fields) codeForm(v value) (form merchant.CodeForm, ok bool) {
	const digits, alphanumeric, fold, from = "digits", "alphanumeric", "fold", "from"
	m := f.fields(v, digits, alphanumeric, fold, from)
	length := wholeNumber(merchant.MinImportedCode, merchant.MaxImportedCode)
	form = merchant.CodeForm{Digits: length(m, digits), Alphanumeric: length(m, alphanumeric), Fold: m.truth(fold)}
	_, ofDigits := m.get(digits)
	_, ofLetters := m.get(alphanumeric)
	switch {
	case v.kind() != mappingKind:
		return form, false
	case ofDigits == ofLetters:
		f.problem(v, "Say how many characters the codes have, either as digits or as alphanumeric.")
	case form.Fold && ofDigits:
		f.problem(m.values[fold], "Codes of digits have no letters that fold could make the same; leave it out.")
	}
	if at, _, given := m.scalar(from); given {
		form.From = merchant.System(at.Value)
		if !slices.Contains(merchant.Systems(), form.From) {
			f.problem(at, "This is none of %s.", systems())
		}
	}
	return form, form.Length() > 0
}

func systems() string {
	var names []string
	for _, s := range merchant.Systems() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
