package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"boon.example/internal/base/jsontape"
	"boon.example/internal/base/normalize"
	"boon.example/internal/base/phrase"
	"boon.example/internal/contact"
	"boon.example/internal/guid"
	"boon.example/internal/money"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxUnknown is how many unknown members are listed, each with its path; what follows is summed up.
const MaxUnknown = 100

// maxMembers is how many members of one object are looked at. No object has as many, and what a hostile one costs is
// bounded.
const maxMembers = 1_000

// Reader reads one JSON text strictly and collects everything that is wrong with it as problems of the caller's.
type Reader struct {
	*Problems
	tape    jsontape.Tape
	unknown int
	top     Object
}

// Object gives the members of a JSON object one by one, by name. A member that is absent, null or an empty text gives
// a zero value; one of the wrong type is a problem. In the end, Finish refuses the members that nobody asked for.
type Object struct {
	*Reader
	path  string         // "" for the whole body
	value jsontape.Value // what it is; none: it has no members
	asked []string
}

// Decode has read ask for the members of body. ok is false where body is not one JSON object in UTF-8.
func (r *Reader) Decode(body []byte, read func(*Object)) (problems *Problems, ok bool) {
	problems = new(Problems)
	o := r.parse(body, problems)
	if o == nil {
		return problems, false
	}
	read(o)
	o.Finish()
	return problems, true
}

// parse takes body apart. What is not one JSON object in UTF-8 is a problem, and gives nil.
func (r *Reader) parse(body []byte, problems *Problems) *Object {
	r.Problems, r.unknown = problems, 0
	r.top = Object{Reader: r, asked: r.top.asked[:0]}
	if len(bytes.TrimLeft(body, " \t\r\n")) == 0 {
		problems.Add("", "The body is empty; it must be one JSON object.")
		return nil
	}
	if bytes.HasPrefix(body, []byte(byteOrderMark)) {
		problems.Add("", "The body begins with a byte order mark (U+FEFF); send the JSON without it.")
		return nil
	}
	if err := r.tape.Scan(body); err != nil {
		problems.Add("", "%s", sentence(body, err))
		return nil
	}
	if r.top.value = r.tape.Root(); r.top.value.Kind() != '{' {
		problems.Add("", "The body must be one JSON object.")
		return nil
	}
	r.count(&r.top)
	return &r.top
}

// byteOrderMark is what some editors and libraries put before a text in UTF-8. JSON takes none (RFC 8259, section 8.1).
const byteOrderMark = "\ufeff"

// Forget lets go of the body, so that a reader can wait for the next one without keeping secrets.
func (r *Reader) Forget() {
	r.top.value = jsontape.Value{}
	r.tape.Forget()
	r.Problems = nil
}

// count refuses an object with so many members that they are not all looked at.
func (r *Reader) count(o *Object) {
	if o.value.Len() > maxMembers {
		r.Add(o.path, "This object has more than %d members; it cannot be read.", maxMembers)
	}
}

// members are those of an object that are looked at: their names and values.
func (o *Object) members(yield func(name []byte, value jsontape.Value) bool) {
	if !o.value.Exists() {
		return
	}
	n := 0
	for name, value := range o.value.Members() {
		if n++; n > maxMembers || !yield(name.Unquoted(), value) {
			return
		}
	}
}

// Unquote gives what a valid JSON string says.
func Unquote(s jsontext.Value) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, s)
	return text
}

// sentence says in our words why body is not readable.
func sentence(body []byte, err error) *phrase.Phrase {
	wrong, ok := errors.AsType[*jsontape.SyntaxError](err)
	if !ok {
		return phrase.New("The body is not valid JSON.")
	}
	switch wrong.Fault {
	case jsontape.NotUTF8:
		return phrase.New("The body is not valid UTF-8.")
	case jsontape.Trailing:
		return phrase.New("The body must be one JSON object, with nothing after it.")
	case jsontape.TooShort:
		return phrase.New("The body is not valid JSON: it ends too early.")
	case jsontape.TooDeep:
		return phrase.New("The body nests values more than %d deep.", jsontape.MaxDepth)
	case jsontape.TooMany:
		return phrase.New("The body has more than %d names and values.", jsontape.MaxNodes)
	}
	before := body[:wrong.Offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return phrase.New("The body is not valid JSON: it goes wrong at line %d, column %d.", line, column)
}

// At is the path of a member.
func (o *Object) At(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// Take gives the raw value of a member; nil when it is absent, null, an empty text, or given twice.
func (o *Object) Take(name string) jsontext.Value {
	v := o.Value(name)
	if !v.Exists() {
		return nil
	}
	return v.Raw()
}

// Value is Take for a value that is read from the tape.
func (o *Object) Value(name string) (found jsontape.Value) {
	o.asked = append(o.asked, name)
	times := 0
	for its, value := range o.members {
		if string(its) == name {
			found = value
			times++
		}
	}
	if times > 1 {
		o.Add(o.At(name), "This member is given more than once.")
	}
	if times > 1 || found.SaysNothing() {
		return jsontape.Value{}
	}
	return found
}

// Given reports whether a member is given and says something.
func (o *Object) Given(name string) bool {
	for its, value := range o.members {
		if string(its) == name && !value.SaysNothing() {
			return true
		}
	}
	return false
}

// EmptyText reports whether a member is given as an empty text, and asks for it.
func (o *Object) EmptyText(name string) bool {
	o.Take(name)
	for its, value := range o.members {
		if string(its) == name && value.Kind() == '"' && value.SaysNothing() {
			return true
		}
	}
	return false
}

// Of gives the raw value of a member that must be of one kind; nil when it is not there, or is of another kind.
func (o *Object) Of(name string, kind jsontext.Kind, must phrase.Text) jsontext.Value {
	v := o.valueOf(name, kind, must)
	if !v.Exists() {
		return nil
	}
	return v.Raw()
}

func (o *Object) valueOf(name string, kind jsontext.Kind, must phrase.Text) jsontape.Value {
	v := o.Value(name)
	if v.Exists() && v.Kind() != kind {
		o.Add(o.At(name), "This must be %s, not %s.", must, KindName(v.Kind()))
		return jsontape.Value{}
	}
	return v
}

// KindName says in words what a value is.
func KindName(k jsontext.Kind) *phrase.Phrase {
	if name, known := kindNames[k]; known {
		return name
	}
	return aList
}

// The names of the kinds of values. They are made once: a hostile request has a million values of a wrong kind.
var (
	trueOrFalse = phrase.New("true or false")
	aList       = phrase.New("a list")
	kindNames   = map[jsontext.Kind]*phrase.Phrase{'n': phrase.New("null"), 't': trueOrFalse, 'f': trueOrFalse,
		'"': phrase.New("a text"), '0': phrase.New("a number"), '{': phrase.New("an object")}
)

// Text reads a text, normalized to NFC.
func (o *Object) Text(name string) string {
	v := o.Of(name, '"', "a text")
	if v == nil {
		return ""
	}
	return normalize.String(string(Unquote(v)))
}

// Line reads a text of at most limit characters, which may have line breaks.
func (o *Object) Line(name string, limit int) string { return o.checked(name, limit, true) }

// OneLine reads a text of at most limit characters without line breaks: it may stand in a log.
func (o *Object) OneLine(name string, limit int) string { return o.checked(name, limit, false) }

func (o *Object) checked(name string, limit int, lines bool) string {
	s := o.Text(name)
	if err := contact.CheckText(s, limit, lines); err != nil {
		o.Add(o.At(name), "%s", err)
		return ""
	}
	return s
}

// GUID reads a GUID.
func (o *Object) GUID(name string) guid.ID {
	v := o.Of(name, '"', "a GUID in quotes")
	if v == nil {
		return guid.ID{}
	}
	id, err := guid.Read(string(Unquote(v)))
	if err != nil {
		o.Add(o.At(name), "This must be a GUID such as 22222222-2222-2222-2222-222222222222.")
	}
	return id
}

// Path is where the object stands in the body; "" is the whole of it.
func (o *Object) Path() string { return o.path }

// Number reads a number: 25, 25.0 and 2.5e1 are one and the same. It is "" when it is absent.
func (o *Object) Number(name string) money.Number {
	return canonical(string(o.Of(name, '0', "a number without quotes")))
}

// Integer reads a whole number. What is below zero comes as 0 and what is beyond all bounds as the largest number
// there is: no member takes either, and the rule that refuses them knows the bounds to name.
func (o *Object) Integer(name string) *int {
	number := o.Number(name)
	if number == "" {
		return nil
	}
	n, err := money.Pieces.Parse(number)
	switch {
	case err == money.ErrTooPrecise:
		o.Add(o.At(name), "This must be a whole number.")
		return nil
	case err == money.ErrOutOfRange || n > math.MaxInt32:
		n = math.MaxInt32
	}
	i := int(n)
	return &i
}

// Boolean reads true or false.
func (o *Object) Boolean(name string) *bool {
	v := o.Take(name)
	if v == nil {
		return nil
	}
	is := v.Kind() == 't'
	if !is && v.Kind() != 'f' {
		o.Add(o.At(name), "This must be true or false, not %s.", KindName(v.Kind()))
		return nil
	}
	return &is
}

// True reads true or false; absent is false.
func (o *Object) True(name string) bool {
	is := o.Boolean(name)
	return is != nil && *is
}

// Object reads an object; nil when it is absent.
func (o *Object) Object(name string) *Object {
	v := o.valueOf(name, '{', "an object")
	if !v.Exists() {
		return nil
	}
	return o.Reader.inner(v, o.At(name))
}

// Objects reads a list of objects and hands each to one. Of a list that is longer than limit only the first ones are
// read: its length is a problem already. present tells an empty list from none.
func (o *Object) Objects(name string, limit int, one func(*Object)) (present bool) {
	v := o.valueOf(name, '[', "a list")
	if !v.Exists() {
		return false
	}
	if n := v.Len(); n > limit {
		o.Add(o.At(name), "There may be at most %d elements in this list, not %d.", limit, n)
	}
	for i, e := range v.Elements() {
		if i == limit {
			break
		}
		path := fmt.Sprintf("%s[%d]", o.At(name), i)
		inner := &Object{Reader: o.Reader, path: path}
		if e.Kind() == '{' {
			inner = o.Reader.inner(e, path)
		} else {
			o.Add(path, "This must be an object, not %s.", KindName(e.Kind()))
		}
		one(inner)
	}
	return true
}

// Texts reads a list of at most limit texts; ok is false when it is absent.
func (o *Object) Texts(name string, limit int) (texts []string, ok bool) {
	v := o.valueOf(name, '[', "a list")
	if !v.Exists() {
		return nil, false
	}
	if n := v.Len(); n > limit {
		o.Add(o.At(name), "There may be at most %d elements in this list, not %d.", limit, n)
	}
	texts = []string{}
	for i, e := range v.Elements() {
		if i == limit {
			break
		}
		texts = append(texts, "")
		if e.Kind() == '"' {
			texts[i] = normalize.String(string(e.Unquoted()))
		} else {
			o.Add(fmt.Sprintf("%s[%d]", o.At(name), i), "This must be a text, not %s.", KindName(e.Kind()))
		}
	}
	return texts, true
}

// inner is an object within the body.
func (r *Reader) inner(v jsontape.Value, path string) *Object {
	o := &Object{Reader: r, path: path, value: v}
	r.count(o)
	return o
}

// Finish refuses every member that was not asked for.
func (o *Object) Finish() {
	for name := range o.members {
		if slices.Contains(o.asked, string(name)) {
			continue
		}
		switch o.Reader.unknown++; {
		case o.Reader.unknown == MaxUnknown+1:
			o.Add("", "There are more unknown members than are listed here.")
		case o.Reader.unknown <= MaxUnknown:
			o.refuseUnknown(string(name))
		}
	}
}

func (o *Object) refuseUnknown(name string) {
	path := o.path + "[" + quoted(name) + "]"
	if isIdentifier(name) {
		path = o.At(name)
	}
	if close := Closest(name, o.asked); close != "" {
		o.Add(path, "There is no such member; did you mean %s?", close)
	} else {
		o.Add(path, "There is no such member here.")
	}
}

// quoted writes a name that may hold anything, shortened, as JSON does.
func quoted(name string) string {
	text, _ := jsontext.AppendQuote(nil, shorten(name))
	return string(text)
}

// longestName is how much of a name that nobody knows is repeated in an answer.
const longestName = 80

func shorten(name string) string {
	if utf8.RuneCountInString(name) > longestName {
		return string([]rune(name)[:longestName]) + "…"
	}
	return name
}

func isIdentifier(name string) bool {
	for _, r := range name {
		if r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return name != "" && len(name) <= longestName
}
