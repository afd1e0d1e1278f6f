package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"boon.example/internal/face/console/desk"
	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/post/locale"
	edits "boon.example/internal/setup"
	"boon.example/internal/setup/document"
	"boon.example/internal/setup/form"
)

// setupPages are the pages about the set-up, for owners.
func (p *pages) setupPages() []desk.Page {
	return []desk.Page{
		{Pattern: "GET /setup", Nav: "console.setup", Key: "u", Owner: true, Do: p.index},
		{Pattern: "GET /setup/{section}", Owner: true, Do: p.section},
		{Pattern: "POST /setup/{section}", Owner: true, Files: pictured, Do: p.save},
		{Pattern: "GET /setup/{section}/{record}", Owner: true, Do: p.form},
		{Pattern: "POST /setup/{section}/{record}", Owner: true, Files: pictured, Do: p.save},
	}
}

// pictured reports whether the form of a section may bring pictures.
func pictured(r *http.Request) bool { return r.PathValue("section") == "designs" }

// words are what fields and options are called, by language and name.
type words map[merchant.Language]map[string]any

// The beginnings of the names of texts about fields: what a field is called, what helps to answer it, and what an
// option is called. A field has texts of its own under the name of its list, or shares those of its name.
const (
	calls = "console.set."
	hints = "console.set-hint."
	names = "console.set-option."
)

// readWords has them read when the first page asks.
var readWords = sync.OnceValue(func() words {
	all := words{}
	for _, l := range locale.ConsoleLanguages() {
		all[l] = map[string]any{}
		for _, family := range []string{calls, hints, names} {
			maps.Copy(all[l], locale.For(l).All(family))
		}
	}
	return all
})

// wordsOf is the text of a family for a field of a list; "": there is none.
func wordsOf(r *desk.Request, family, list, name string) string {
	name = strings.ReplaceAll(name, ".", "-")
	for _, n := range []string{list + "-" + name, name} {
		if text, is := readWords()[r.Locale.Language()][family+n].(string); is {
			return text
		}
	}
	return ""
}

// field is a field of a form as a page shows it.
type field struct {
	form.Input

	Label, Hint string
	Choices     []choice
	Offers      []desk.Choice // of a text that may also be none of them
	Spare       int           // how many empty fields follow those of several that are chosen so
	Languages   []translation
	Lines       [][]field // of rows
	Picture     string    // the address of the picture that there is; "": there is none
	Fixed       bool      // what a record is known by, which stays as it is
}

// choice is an option with its words.
type choice struct {
	Value, Words string
	Chosen       bool
}

type translation struct {
	form.Translation

	Name string
}

// fields are the fields of a form with their words.
func (p *pages) fields(r *desk.Request, list string, in []form.Input) (all []field) {
	for _, i := range in {
		f := field{Input: i, Label: wordsOf(r, calls, list, i.Name), Hint: wordsOf(r, hints, list, i.Name)}
		if f.Label == "" {
			f.Label = i.Name
		}
		if i.Ask == form.Lines && i.From != "" {
			f.named(offers(r, i.From))
		}
		for _, o := range i.Options {
			f.Choices = append(f.Choices, choice{o.Value, p.option(r, o), o.Chosen})
		}
		for _, t := range i.Texts {
			f.Languages = append(f.Languages, translation{t, p.option(r, form.Option{Value: string(t.Language)})})
		}
		for _, row := range i.Rows {
			f.Lines = append(f.Lines, p.fields(r, i.Name, row))
		}
		if hash, is := pictureAt(i.Value); is && i.Ask == form.Picture {
			f.Picture = "/assets/" + hash.String()
		}
		all = append(all, f)
	}
	return all
}

// named has a field of several say each by its name. What has none stays as it is.
func (f *field) named(choices []desk.Choice) {
	for _, texts := range []*string{&f.Value, &f.Now} {
		all := strings.Split(*texts, "\n")
		for n, text := range all {
			if at := slices.IndexFunc(choices, func(c desk.Choice) bool { return c.Value == text }); at >= 0 {
				all[n] = choices[at].Words
			}
		}
		*texts = strings.Join(all, "\n")
	}
	f.Now = strings.ReplaceAll(f.Now, "\n", ", ")
}

// Entries are what the fields of several have in them, with some that are empty.
func (f *field) Entries() []string {
	var all []string
	if f.Value != "" {
		all = strings.Split(f.Value, "\n")
	}
	return append(all, make([]string, f.Spare)...)
}

// meant puts in the place of a name what it stands for, where a field of some questions can be chosen by names.
func meant(r *desk.Request, questions []form.Question, typed document.Fields) {
	for _, q := range questions {
		choices := offers(r, q.From)
		value := func(v any) any {
			text, _ := v.(string)
			at := slices.IndexFunc(choices, func(c desk.Choice) bool {
				return strings.EqualFold(c.Words, text) || strings.EqualFold(c.Value, text)
			})
			if at < 0 {
				return v
			}
			return choices[at].Value
		}
		switch v := typed[q.Name].(type) {
		case string:
			typed[q.Name] = value(v)
		case []any:
			for n := range v {
				v[n] = value(v[n])
			}
		}
	}
}

// offers are what a text may be chosen from.
func offers(r *desk.Request, from form.Offer) []desk.Choice {
	switch from {
	case form.Zones:
		return r.Zones()
	case form.Countries:
		return r.Countries()
	case form.Jurisdictions:
		return r.Jurisdictions()
	}
	return nil
}

// fields are some of a form that belong together.
type fields struct {
	Legend string // "": it is one field alone
	Fields []field
	Open   bool // one of them says something, or is to be looked at
}

// grouped puts those fields together that are in one mapping of a set-up file.
func grouped(r *desk.Request, list string, all []field) (groups []fields) {
	of := func(f *field) string { return f.Name[:max(0, strings.LastIndexByte(f.Name, '.'))] }
	for n := range all {
		f, mapping := &all[n], of(&all[n])
		open := f.said(r) != "" || len(f.Wrong) > 0 || f.Other || f.Required
		if n > 0 && mapping != "" && mapping == of(&all[n-1]) {
			last := &groups[len(groups)-1]
			last.Fields, last.Open = append(last.Fields, *f), last.Open || open
			continue
		}
		groups = append(groups, fields{Fields: []field{*f}, Open: open})
		if n+1 < len(all) && mapping != "" && mapping == of(&all[n+1]) {
			groups[len(groups)-1].Legend = wordsOf(r, calls, list, mapping)
		}
	}
	return groups
}

// More reports whether a text is said in another language than the account's.
func (f *field) More() bool {
	return slices.ContainsFunc(f.Texts[1:], func(t form.Translation) bool { return t.Text != "" })
}

// Many reports whether there are so many choices that they stand in columns.
func (f *field) Many() bool { return len(f.Choices) > 8 }

// option are the words of an option: the name of its record, else a text, else the option itself.
func (p *pages) option(r *desk.Request, o form.Option) string {
	if o.Name != "" {
		return o.Name
	}
	if id, err := guid.Parse(o.Value); err == nil {
		if program, is := merchant.ProgramByID(id); is {
			return program.Name
		}
	}
	if _, is := merchant.PermissionByName(o.Value); is {
		return r.Locale.Text("console.may." + o.Value)
	}
	if text, is := readWords()[r.Locale.Language()][names+o.Value].(string); is {
		return text
	}
	return o.Value
}

// group are sections on the first page of the set-up.
type group struct {
	Name, Words string
	Entries     []entry
}

// entry is a section there.
type entry struct {
	Name, Words, About string

	Count int  // records
	List  bool // it has records
}

// index shows what there is to set up.
func (p *pages) index(r *desk.Request) (desk.View, error) {
	_, account, err := p.newest(r)
	if err != nil {
		return desk.View{}, err
	}
	var all []group
	for _, s := range sections {
		if s.under != "" {
			all = append(all, group{Name: "group-" + s.name, Words: r.Locale.Text(s.under)})
		}
		records, _ := account[s.list].([]any)
		last := &all[len(all)-1]
		last.Entries = append(last.Entries, entry{s.name, r.Locale.Text("console.setup." + s.name),
			r.Locale.Text("console.setup-about." + s.name), len(records), s.list != ""})
	}
	return desk.View{Template: "setup.html", Title: "console.setup", Data: all}, nil
}

// listed is a record in a list.
type listed struct {
	To, Name, Detail string
	TillsOnly        bool // it takes cards that are taken at tills only
}

// section shows the records of a list, or the form of some fields of the account.
func (p *pages) section(r *desk.Request) (desk.View, error) {
	s, err := sectionNamed(r)
	if err != nil {
		return desk.View{}, err
	}
	if s.list == "" {
		return p.form(r)
	}
	_, account, err := p.newest(r)
	if err != nil {
		return desk.View{}, err
	}
	var shown struct{ All []listed }
	of, questions := p.forms(r, account), s.inShort()
	records, _ := account[s.list].([]any)
	var takers []string // keys that take cards that are taken at tills only, where there may be such cards
	if s.list == "keys" && len(r.Account.ImportedCodes) > 0 {
		takers = r.TillsOnlyKeys()
	}
	for _, one := range records {
		record, _ := one.(document.Fields)
		l := p.listed(r, &s, of.New(questions, record), record)
		l.TillsOnly = slices.Contains(takers, l.Name)
		shown.All = append(shown.All, l)
	}
	slices.SortFunc(shown.All, func(a, b listed) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	add := &desk.Link{Text: r.Locale.Text("console.setup.add"), To: s.name + "/new"}
	return desk.View{Template: "setup-list.html", Title: "console.setup." + s.name, Action: add, Data: shown}, nil
}

// inShort are the questions whose answers a list may show. Tables, with all that could be chosen in each row, are none.
func (s *section) inShort() []form.Question {
	return slices.DeleteFunc(form.Questions(s.list), func(q form.Question) bool {
		return q.Ask == form.Rows || q.Ask == form.Picture || q.Ask == form.Secret
	})
}

// listed tells of a record by what its first fields say.
func (p *pages) listed(r *desk.Request, s *section, in []form.Input, record document.Fields) listed {
	known, _ := record[document.KnownBy(s.list)].(string)
	l := listed{To: s.name + "/" + handle(known), Name: p.name(r, s, record)}
	var details []string
	for _, f := range p.fields(r, s.list, in) {
		said := f.said(r)
		if f.Ask == form.Known || said == "" || said == l.Name || f.Long || len(details) == 3 {
			continue
		}
		details = append(details, f.Label+": "+said)
	}
	l.Detail = strings.Join(details, " · ")
	return l
}

// name is what a record is called: its name, else what it is known by.
func (p *pages) name(r *desk.Request, s *section, record document.Fields) string {
	if name, _ := record["name"].(string); name != "" {
		return name
	}
	known, _ := record[document.KnownBy(s.list)].(string)
	return p.option(r, form.Option{Value: known})
}

// said is what a field says, in short; "": nothing.
func (f *field) said(r *desk.Request) string {
	switch f.Ask {
	case form.Switch:
		if (f.Value != "") == f.On {
			return ""
		}
		return r.Locale.Text(map[bool]string{true: "console.yes", false: "console.no"}[f.Value != ""])
	case form.One, form.Some:
		var all []string
		for _, c := range f.Choices {
			if c.Chosen {
				all = append(all, c.Words)
			}
		}
		return strings.Join(all, ", ")
	case form.Translated:
		return f.Texts[0].Text
	case form.Rows, form.Picture, form.Secret:
		return ""
	}
	return strings.ReplaceAll(f.Value, "\n", ", ")
}

// shown is what the page of a form shows beside what is there.
type shown struct {
	typed    document.Fields   // what was typed; nil: nothing was
	seen     string            // the mark of what was seen
	more     bool              // with more empty rows
	wrong    map[string]string // by the names of fields, why what was typed will not do
	problems edits.Problems
	conflict bool // somebody else has changed it meanwhile
	theirs   document.Fields
	pin      string // of a person, shown this once
}

// formShown is a form as its page shows it.
type formShown struct {
	Section  string
	Up       string // the address of what the form is part of
	UpText   string
	Groups   []fields
	Seen     string
	Removes  bool // it is a record that can be taken out
	Person   bool // it is a person who can be given a PIN
	Conflict bool
	Gone     bool // somebody else has taken it out
	Wrong    []string
	Refused  bool // something is wrong with a field
	PIN      string
	Sending  *sending // of a webhook; nil: it is none
	Looks    bool     // it is a design, which can be looked at before it is saved
}

// form shows the form of a record.
func (p *pages) form(r *desk.Request) (desk.View, error) {
	e, err := p.find(r)
	if err != nil {
		return desk.View{}, err
	}
	if e.section.fresh && !r.Session.Proven(r.Real) {
		return r.ToConfirm(e.path()), nil
	}
	return p.show(r, e, shown{typed: e.record, seen: e.record.Some(fieldsOf(e.questions)).Mark()})
}

// forms are what forms of an account go by: amounts stand in them as its staff type them.
func (p *pages) forms(r *desk.Request, account document.Fields) form.Of {
	return form.Of{Account: account, Typed: func(amount string) string { return r.Typed(amount, r.Account.Currency) }}
}

// blame says what is wrong with what was typed into a field; "": nothing is.
func (f *field) blame(r *desk.Request, wrong string) {
	if wrong == "" {
		return
	}
	f.Wrong = []string{wrong}
	if f.Ask == form.Amount { // it has no meaning yet, so it stands as it was typed
		f.Value = r.HTTP.PostForm.Get(f.Key)
	}
}

// show shows a form, which may have been refused.
func (p *pages) show(r *desk.Request, e *editing, s shown) (desk.View, error) {
	of := p.forms(r, e.account)
	of.Empty = 2
	if s.more {
		of.Empty = 10
	}
	if s.typed == nil && e.handle == newRecord {
		s.typed = document.Fields{}
	}
	e.fill(s.typed)
	in := of.New(e.questions, s.typed)
	to := formShown{Section: e.section.name, Seen: s.seen, Removes: e.section.list != "" && e.record != nil,
		Person: e.section.list == "people" && e.record != nil, Conflict: s.conflict, PIN: s.pin,
		Gone: s.conflict && s.theirs == nil, Looks: e.section.list == "voucherDesigns"}
	to.Up, to.UpText = desk.Home(r.Account.ID)+"setup", r.Locale.Text("console.setup")
	if e.section.list != "" {
		to.Up, to.UpText = to.Up+"/"+e.section.name, r.Locale.Text("console.setup."+e.section.name)
	}
	if s.conflict && s.theirs != nil {
		form.Compare(in, of.New(e.questions, s.theirs))
	}
	for _, problem := range s.problems {
		text := r.Words(problem.Said)
		if !form.Blame(in, problem.Path, text) {
			where := strings.TrimPrefix(strings.TrimPrefix(problem.Path, "accounts[0]"), ".")
			to.Wrong = append(to.Wrong, strings.TrimPrefix(where+": "+text, ": "))
		}
	}
	all := p.fields(r, e.section.list, in)
	for n := range all {
		all[n].Offers, all[n].Spare = offers(r, all[n].From), of.Empty
		all[n].Fixed = e.known != "" && all[n].Name == document.KnownBy(e.section.list)
		all[n].blame(r, s.wrong[all[n].Name])
	}
	if e.section.list == "webhooks" && e.record != nil {
		sending, err := p.attempts(r, e)
		if err != nil {
			return desk.View{}, err
		}
		to.Sending = sending
	}
	to.Groups = grouped(r, e.section.list, all)
	v := desk.View{Template: "setup-form.html", Title: "console.setup." + e.section.name, Data: to}
	switch {
	case e.section.list != "" && e.record != nil:
		v.Heading = p.name(r, &e.section, e.record)
	case e.section.list != "":
		v.Heading = r.Locale.Text("console.setup.new", to.UpText)
	}
	to.Refused = len(s.problems) > len(to.Wrong) || len(s.wrong) > 0
	v.Data = to
	switch {
	case s.conflict:
		v.Status = http.StatusConflict
	case len(s.problems) > 0 || len(s.wrong) > 0:
		v.Status = http.StatusUnprocessableEntity
	}
	return v, nil
}

// fill gives a new record the id that it is to have, so that its form, sent twice, makes one.
func (e *editing) fill(typed document.Fields) {
	if e.section.list != "" && e.record == nil && document.KnownBy(e.section.list) == "id" && typed["id"] == nil {
		typed["id"] = guid.ID(uuid.Must(uuid.NewV7())).String()
	}
}

// savedShown is what the page after an edit shows.
type savedShown struct {
	Home     string // the address of the account's console
	Section  string
	Changes  []change
	Notes    []string
	Keys     []edits.NewKey
	Webhooks []edits.NewWebhook
	Undo     string // the edit that takes it back, for a form; "": none does
	Made     bool   // it was made before, by the same form: its secret was shown then
	Final    bool   // something was changed that no edit takes back
	KnownBy  string // the field that the record is known by, for that form
	Known    string // what it is known by; "": the fields are the account's own
	Action   string // where that form goes
}

// change is a sentence that says what was changed.
type change struct {
	Text    string
	English bool // whatever the language of the page is
}

// saved says what an edit did, and offers to take it back. told are the words of the page for it; nil: those of a
// set-up file have to do.
func (p *pages) saved(r *desk.Request, e *editing, done *edits.Edited, told []string) (desk.View, error) {
	to := savedShown{Home: desk.Home(r.Account.ID), Section: e.section.name, Keys: done.Keys, Webhooks: done.Webhooks}
	shown := e.section.list == "keys" || e.section.list == "webhooks"
	to.Made = shown && e.handle == newRecord && len(done.Changes) == 0
	do := r.HTTP.PostForm.Get("do")
	to.Final = done.Undo == nil && len(done.Changes) > 0 && do != "replay" && do != "rotate"
	for _, line := range told {
		if len(done.Changes) > 0 {
			to.Changes = append(to.Changes, change{Text: line})
		}
	}
	for _, line := range done.Changes {
		if len(told) == 0 {
			said, known := r.Retold(line)
			to.Changes = append(to.Changes, change{said, !known})
		}
	}
	if e.section.list == "people" && e.handle == newRecord && len(done.Changes) > 0 {
		to.Notes = append(to.Notes, r.Locale.Text("console.setup.pin-next", strings.TrimSpace(r.HTTP.PostForm.Get("name"))))
	}
	for _, n := range done.Notes {
		to.Notes = append(to.Notes, r.Words(n.Said))
	}
	if u := done.Undo; u != nil {
		was, err := json.Marshal(undone{u.Known, u.Seen, u.Is})
		if err != nil {
			return desk.View{}, fmt.Errorf("writing what an edit was made of: %w", err)
		}
		to.Undo, to.Action = string(was), desk.Home(r.Account.ID)+"setup/"+e.section.name
		if e.section.list != "" {
			to.Action += "/" + handle(u.Known)
			to.KnownBy, to.Known = document.KnownBy(e.section.list), u.Known
		}
	}
	return desk.View{Template: "setup-saved.html", Title: "console.setup." + e.section.name, Data: to}, nil
}
