package document

import (
	"reflect"
	"slices"

	"boon.example/internal/merchant"
)

// Member is a field of a record as the tags of merchant define it, for whoever asks people for it.
type Member struct {
	Name       string // in a set-up file; books.datev.client is in two mappings
	Also       string // another field of the file that says the same; "": none
	Is         string // its form by name; "": its type tells
	Of         reflect.Type
	Required   bool
	Translated bool // it is a text in several languages
	Most       int  // how many characters or pixels it has at most; 0: the tags do not say
}

// Members are those of the records of a list of an account; "": of the account itself. Lists of records are none.
func Members(list string) []Member {
	def := definitionOf(reflect.TypeFor[merchant.Account]())
	if list == "" {
		return def.members("")
	}
	at := slices.IndexFunc(def, func(m *member) bool { return m.list != nil && m.name == list })
	if at < 0 {
		return nil
	}
	return def[at].list.of.members("")
}

// LimitMembers are those of the limits of an account or a key.
func LimitMembers(under string) []Member {
	return definitionOf(reflect.TypeFor[merchant.Limits]()).members(under)
}

func (d definition) members(under string) (all []Member) {
	for _, m := range d {
		switch {
		case m.name == "" || m.list != nil:
		case m.mapping != nil:
			all = append(all, m.mapping.members(under+m.name+".")...)
		case m.of == reflect.TypeFor[merchant.Limits]():
			all = append(all, LimitMembers(under+m.name+".")...)
		default:
			also := m.also
			if also != "" {
				also = under + also
			}
			all = append(all, Member{Name: under + m.name, Also: also, Is: m.is, Of: m.of, Required: m.required,
				Translated: m.with != nil, Most: m.most})
		}
	}
	return all
}
