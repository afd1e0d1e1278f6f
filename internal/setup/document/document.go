// Package document has the set-up file as a document: it reads one with line numbers, compares two set-ups, and writes
// a set-up to a file.
//
// What the fields of a set-up are is said once, by the tags of merchant.Account and of what belongs to it. This package
// knows how each form of field is read. Packages told and written know how people are told of it, and how it is
// written. Webhooks and keys, which are no part of an account, this package reads by itself.
//
// It knows no store: package setup applies what it reads.
package document

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"boon.example/internal/guid"
	"boon.example/internal/merchant"
	"boon.example/internal/setup/told"
)

// definition is what the tags of a struct of merchant say of a record of the set-up, in the order of its fields.
type definition []*member

// member is a field of a record.
type member struct {
	name     string // in the file; "": the file does not say it
	also     string // another field of the file that says the same; "": none
	required bool
	told     string // what people call it; "": they are not told
	index    []int  // of the Go field
	with     []int  // of the Go field that has its translations; nil: it is not translated
	is       string // the form of the field by name; "": its type tells
	of       reflect.Type
	most     int // characters or pixels; 0: the tags do not say

	// one of these says what it is
	form    form
	mapping definition  // of several members
	list    *recordType // of records
}

// form is a form of members: how a file says one, how people are told of it, and how it is written to a file.
type form struct {
	read  func(f fields, name string) any
	tell  func(name string, v any, a *merchant.Account) told.Field
	write func(v any, a *merchant.Account) any // what to write; nil: nothing, or several fields
}

// recordType is what is particular about the records of a list.
type recordType struct {
	kind  told.Kind
	of    definition
	named func(record any) (id guid.ID, name string)
	check func(f fields, record any) // what no single field tells
}

// definitions has those of the structs that were asked for, by reflect.Type.
var definitions sync.Map

// definitionOf reads the tags of a struct.
func definitionOf(t reflect.Type) definition {
	if known, ok := definitions.Load(t); ok {
		return known.(definition)
	}
	def := define(t, nil, "")
	definitions.Store(t, def)
	return def
}

// define reads the tags of a struct that lies in another one, of which people are told under a name.
func define(t reflect.Type, within []int, under string) (def definition) {
	for n := range t.NumField() {
		f := t.Field(n)
		stored, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name, option, _ := strings.Cut(f.Tag.Get("setup"), ",")
		if name == "" {
			name = stored
		}
		m := &member{name: name, also: f.Tag.Get("also"), required: option == "required", told: f.Tag.Get("told"),
			index: append(slices.Clone(within), n)}
		if name == "-" {
			if m.name = ""; m.told == "" {
				continue
			}
		}
		if with, ok := t.FieldByName(f.Tag.Get("with")); ok {
			m.with = append(slices.Clone(within), with.Index...)
		}
		outer, inner, nested := strings.Cut(m.name, ".")
		if nested {
			m.name = inner
		}
		if m.told == "" {
			m.told = strings.TrimSpace(under + " " + inWords(m.name))
		}
		m.be(f)
		if !nested {
			def = append(def, m)
			continue
		}
		at := slices.IndexFunc(def, func(d *member) bool { return d.name == outer })
		if at < 0 {
			at = len(def)
			def = append(def, &member{name: outer})
		}
		def[at].mapping = append(def[at].mapping, m)
	}
	return def
}

// be finds out what a member is.
func (m *member) be(f reflect.StructField) {
	least, _ := strconv.Atoi(f.Tag.Get("least"))
	most, _ := strconv.Atoi(f.Tag.Get("most"))
	is := f.Tag.Get("is")
	m.is, m.of, m.most = is, f.Type, most
	if is == "" && f.Type.Kind() == reflect.Slice {
		m.list = recordTypeOf(f.Type.Elem())
	}
	if m.list == nil {
		m.form = formOf(is, f.Type, least, most, m.with != nil)
	}
	if m.form.read == nil && f.Type.Kind() == reflect.Struct {
		m.mapping = define(f.Type, m.index, m.told)
	}
}

// ToldField is a field of which people are told.
type ToldField struct {
	List string // in which its record stands; "": it is the account's own
	Path string // in the record, as in "limits.giftsPerDay"
	Told string // what people are told in English that it is called
}

// Told are the fields of an account and of its records of which people are told.
func Told() []ToldField { return definitionOf(reflect.TypeFor[merchant.Account]()).toldFields("", "") }

func (d definition) toldFields(list, under string) (all []ToldField) {
	for _, m := range d {
		switch {
		case m.list != nil:
			all = append(all, m.list.of.toldFields(m.name, "")...)
		case m.mapping != nil:
			all = append(all, m.mapping.toldFields(list, under+m.name+".")...)
		default:
			all = append(all, ToldField{list, under + m.name, m.told})
		}
	}
	return all
}

// inWords takes a name apart at its capitals: accentColor is "accent color".
func inWords(name string) string {
	var words strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			words.WriteByte(' ')
		}
		words.WriteRune(unicode.ToLower(r))
	}
	return words.String()
}

// names are the fields that a mapping of the file may have.
func (d definition) names() (all []string) {
	for _, m := range d {
		for _, name := range []string{m.name, m.also} {
			if name != "" {
				all = append(all, name)
			}
		}
	}
	return all
}

func (d definition) required() (all []string) {
	for _, m := range d {
		if m.required {
			all = append(all, m.name)
		}
	}
	return all
}

// fill reads a record or a mapping of the file. It may have more fields, which it does not read.
func (r *reader) fill(v value, def definition, record reflect.Value, more ...string) fields {
	f := r.fields(v, append(def.names(), more...)...)
	f.require(def.required()...)
	for _, m := range def {
		switch {
		case m.name == "":
		case m.mapping != nil:
			if at, ok := f.get(m.name); ok {
				r.fill(at, m.mapping, record)
			}
		case m.list != nil:
			m.fillList(f, record.FieldByIndex(m.index))
		default:
			m.set(record, m.form.read(f, m.name))
		}
	}
	return f
}

func (m *member) fillList(f fields, list reflect.Value) {
	members, _ := f.list(m.name)
	for _, v := range members {
		one := reflect.New(list.Type().Elem())
		of := f.fill(v, m.list.of, one.Elem())
		m.list.check(of, one.Interface())
		list.Set(reflect.Append(list, one.Elem()))
	}
}

// texts is a text for guests with its translations.
type texts struct {
	text string
	in   merchant.Translations
}

func (m *member) get(record reflect.Value) any {
	v := record.FieldByIndex(m.index)
	if m.with != nil {
		return texts{v.String(), record.FieldByIndex(m.with).Interface().(merchant.Translations)}
	}
	return v.Interface()
}

func (m *member) set(record reflect.Value, v any) {
	to := record.FieldByIndex(m.index)
	if t, ok := v.(texts); ok {
		to.SetString(t.text)
		record.FieldByIndex(m.with).Set(reflect.ValueOf(t.in))
		return
	}
	to.Set(reflect.ValueOf(v))
}

// tell tells of everything but the lists of a record.
func (d definition) tell(record reflect.Value, a *merchant.Account) (all []told.Field) {
	for _, m := range d {
		switch {
		case m.mapping != nil:
			all = append(all, m.mapping.tell(record, a)...)
		case m.list == nil:
			all = append(all, m.form.tell(m.told, m.get(record), a))
		}
	}
	return all
}
