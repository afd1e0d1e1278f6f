// Package form makes a form of the questions for a record of the set-up, and the fields of the record of what somebody
// typed into the form. Pure.
//
// A record that nobody changes in its form comes out of it as it went in. What is typed wrongly comes out as it was
// typed: package setup says what is wrong with it.
package form

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"boon.example/internal/merchant"
	"boon.example/internal/setup/document"
)

// Input is a field of a form: a question, and what it is answered with.
type Input struct {
	Question

	Key     string // by which a browser sends it
	Value   string // a text; of Lines, one a line; of a Switch, on or nothing
	Options []Option
	Texts   []Translation // of a Translated, the account's language first
	Rows    [][]Input     // of Rows; those at the end are empty
	Wrong   []string      // what is wrong with it
	Now     string        // what somebody else has made of it, in a conflict
	Other   bool          // somebody else has made something else of it
}

// Option is one that can be chosen.
type Option struct {
	Value, Name string // the name of a record; "": the value tells
	Chosen      bool
}

// Translation is a text in a language.
type Translation struct {
	Language  merchant.Language
	Key, Text string
}

// Of is what forms go by beside the questions.
type Of struct {
	Account document.Fields // the whole account, for its records, language and time zone
	Empty   int             // how many empty rows follow the others

	// Typed is how somebody types an amount that the set-up has, and Meant is the amount that somebody typed into the
	// field of a key. nil: as the set-up has it.
	Typed func(amount string) string
	Meant func(key, typed string) string
}

// New makes a form of the fields of a record; nil: of a new one.
func (o *Of) New(questions []Question, record document.Fields) (all []Input) {
	for _, q := range questions {
		all = append(all, o.input(q, q.Name, get(record, q.Name)))
	}
	return all
}

func (o *Of) input(q Question, key string, v any) Input {
	in := Input{Question: q, Key: key}
	in.Value, _ = v.(string)
	switch q.Ask {
	case Switch:
		in.Value = map[bool]string{true: "on"}[v == "true" || v == nil && q.On]
	case Moment:
		in.Value = o.local(in.Value)
	case Amount:
		if o.Typed != nil && in.Value != "" {
			in.Value = o.Typed(in.Value)
		}
	case Lines:
		in.Value = strings.Join(texts(v), "\n")
	case One, Some:
		in.Options = o.options(q, v)
	case Translated:
		in.Texts = o.translated(key, v)
	case Rows:
		in.Rows = o.rows(q, key, v)
	}
	return in
}

// texts are those of a list, or the one text.
func texts(v any) (all []string) {
	list, is := v.([]any)
	if !is {
		list = []any{v}
	}
	for _, one := range list {
		if text, is := one.(string); is {
			all = append(all, text)
		}
	}
	return all
}

func (o *Of) options(q Question, v any) (all []Option) {
	chosen := texts(v)
	for _, value := range q.Options {
		all = append(all, Option{Value: value, Chosen: slices.Contains(chosen, value)})
	}
	records, _ := o.Account[q.List].([]any)
	for _, one := range records {
		record, _ := one.(document.Fields)
		id, _ := record["id"].(string)
		name, _ := record["name"].(string)
		all = append(all, Option{id, name, slices.Contains(chosen, id)})
	}
	for _, value := range chosen { // what is chosen can be seen, also if it is none of them
		if value != "" && !slices.ContainsFunc(all, func(o Option) bool { return o.Value == value }) {
			all = append(all, Option{Value: value, Chosen: true})
		}
	}
	return all
}

// languages are those that texts may be in, the account's first.
func (o *Of) languages() []merchant.Language {
	own := merchant.English
	if said, _ := o.Account["language"].(string); said != "" {
		own = merchant.Language(said)
	}
	others := slices.DeleteFunc(merchant.Languages(), func(l merchant.Language) bool { return l == own })
	return slices.Concat([]merchant.Language{own}, others)
}

func (o *Of) translated(key string, v any) (all []Translation) {
	in, _ := v.(document.Fields)
	for n, l := range o.languages() {
		text, _ := in[string(l)].(string)
		if alone, is := v.(string); is && n == 0 {
			text = alone
		}
		all = append(all, Translation{l, key + "." + string(l), text})
	}
	return all
}

// zone is that of the account.
func (o *Of) zone() *time.Location {
	name, _ := o.Account["timeZone"].(string)
	zone, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// moment is how browsers write a day and a time.
const moment = "2006-01-02T15:04:05.999999999"

// local is a moment by the clocks of the account's time zone; a text that is none stays as it is.
func (o *Of) local(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return strings.TrimSuffix(t.In(o.zone()).Format(moment), ":00")
}

func (o *Of) rows(q Question, key string, v any) (all [][]Input) {
	var records []document.Fields
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			record, _ := one.(document.Fields)
			records = append(records, record)
		}
	case document.Fields:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			of, _ := v[name].(document.Fields)
			record := document.Fields{q.By: name}
			maps.Copy(record, of)
			records = append(records, record)
		}
	}
	for range o.Empty {
		records = append(records, nil)
	}
	for n, record := range records {
		var row []Input
		for _, column := range q.Columns {
			row = append(row, o.input(column, key+"."+strconv.Itoa(n)+"."+column.Name, record[column.Name]))
		}
		all = append(all, row)
	}
	return all
}

// get is a field, also of mappings within.
func get(record document.Fields, name string) any {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		return record[name]
	}
	in, _ := record[outer].(document.Fields)
	return get(in, inner)
}

func put(record document.Fields, name string, v any) {
	outer, inner, nested := strings.Cut(name, ".")
	if !nested {
		record[name] = v
		return
	}
	in, is := record[outer].(document.Fields)
	if !is {
		in = document.Fields{}
		record[outer] = in
	}
	put(in, inner, v)
}

// Read makes the fields of a record of what was typed. A moment that is as the record had it, nil: there was none,
// stays so to the microsecond, and what is never shown is left out where nothing was typed.
func (o *Of) Read(questions []Question, typed url.Values, was document.Fields) document.Fields {
	record := document.Fields{}
	for _, q := range questions {
		if v := o.read(q, q.Name, typed, get(was, q.Name)); v != nil {
			put(record, q.Name, v)
		}
	}
	return record
}

// read gives nil for a field that is left out.
func (o *Of) read(q Question, key string, typed url.Values, was any) any {
	text := strings.ReplaceAll(typed.Get(key), "\r\n", "\n")
	if !q.Long {
		text = strings.TrimSpace(text)
	}
	switch q.Ask {
	case Some:
		return list(typed[key])
	case Lines:
		return list(strings.Split(strings.Join(typed[key], "\n"), "\n")) // a form may have a field for each line
	case Switch:
		if on := text != ""; on == q.On {
			return nil
		}
		return strconv.FormatBool(text != "")
	case Moment:
		return o.readMoment(text, was)
	case Amount:
		if o.Meant != nil && text != "" {
			text = o.Meant(key, text)
		}
	case Translated:
		return o.readTranslated(q, key, typed)
	case Rows:
		return o.readRows(q, key, typed, was)
	}
	if text == "" {
		return nil
	}
	return text
}

// list is a list of the texts that say something; nil: none does.
func list(texts []string) any {
	var all []any
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, text)
		}
	}
	if all == nil {
		return nil
	}
	return all
}

func (o *Of) readMoment(text string, was any) any {
	if text == "" {
		return nil
	}
	if before, is := was.(string); is && o.local(before) == text {
		return before
	}
	for _, layout := range []string{"2006-01-02T15:04", moment} {
		if t, err := time.ParseInLocation(layout, text, o.zone()); err == nil {
			return t.UTC().Format(time.RFC3339Nano)
		}
	}
	return text
}

func (o *Of) readTranslated(q Question, key string, typed url.Values) any {
	all := document.Fields{}
	q.Ask = Text
	languages := o.languages()
	for _, l := range languages {
		if text := o.read(q, key+"."+string(l), typed, nil); text != nil {
			all[string(l)] = text
		}
	}
	own, there := all[string(languages[0])]
	switch {
	case len(all) == 0:
		return nil
	case there && len(all) == 1:
		return own
	}
	return all
}

// maxRows bounds how many rows are looked for.
const maxRows = 1_000

func (o *Of) readRows(q Question, key string, typed url.Values, was any) any {
	var all []any
	by := document.Fields{}
	for n := range maxRows {
		row := document.Fields{}
		for _, column := range q.Columns {
			if v := o.read(column, key+"."+strconv.Itoa(n)+"."+column.Name, typed, nil); v != nil {
				row[column.Name] = v
			}
		}
		if len(row) == 0 {
			continue
		}
		all = append(all, row)
		name, _ := row[q.By].(string)
		delete(row, q.By)
		by[name] = row
	}
	switch {
	case all == nil:
		return nil
	case q.By != "":
		return by
	}
	return all
}

// Blame says at the field at a path what is wrong with it, and tells whether there is one.
func Blame(form []Input, path, text string) bool {
	for n := range form {
		in := &form[n]
		rest, found := strings.CutPrefix(path, in.Name)
		if !found || rest != "" && rest[0] != '.' && rest[0] != '[' {
			continue
		}
		if row, column, ok := place(rest); ok && row < len(in.Rows) && Blame(in.Rows[row], column, text) {
			return true
		}
		in.Wrong = append(in.Wrong, text)
		return true
	}
	return false
}

// place takes apart the place of a field in a row: [2].id.
func place(rest string) (row int, column string, ok bool) {
	number, column, ok := strings.Cut(strings.TrimPrefix(rest, "["), "].")
	row, err := strconv.Atoi(number)
	return row, column, ok && err == nil
}

// Compare says at each field of a form what somebody else has made of it, if it is something else.
func Compare(form, theirs []Input) {
	for n := range form {
		if mine, other := form[n].words(), theirs[n].words(); mine != other {
			form[n].Now, form[n].Other = other, true
		}
	}
}

// words are what a field is answered with, in one text.
func (in *Input) words() string {
	var all []string
	switch in.Ask {
	case One, Some:
		for _, o := range in.Options {
			if name := o.Name; o.Chosen && name != "" {
				all = append(all, name)
			} else if o.Chosen {
				all = append(all, o.Value)
			}
		}
	case Translated:
		for _, t := range in.Texts {
			if t.Text != "" {
				all = append(all, string(t.Language)+": "+t.Text)
			}
		}
	case Rows:
		for _, row := range in.Rows {
			var columns []string
			for n := range row {
				if text := row[n].words(); text != "" {
					columns = append(columns, text)
				}
			}
			if columns != nil {
				all = append(all, strings.Join(columns, " "))
			}
		}
	default:
		return in.Value
	}
	return strings.Join(all, ", ")
}
