package jsontape

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// scan gives the fault of a text and its offset; -1: there is none.
func scan(t *Tape, text string) (fault, offset int) {
	err := t.Scan([]byte(text))
	if err == nil {
		return -1, 0
	}
	wrong := err.(*SyntaxError)
	return int(wrong.Fault), wrong.Offset
}

// again writes what stands on a tape as JSON.
func again(v Value, b []byte) []byte {
	switch v.Kind() {
	case '{':
		b = append(b, '{')
		for name, value := range v.Members() {
			b = again(value, append(again(name, b), ':'))
			b = append(b, ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), '}')
	case '[':
		b = append(b, '[')
		for _, e := range v.Elements() {
			b = append(again(e, b), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case '"':
		quoted, _ := jsontext.AppendQuote(nil, v.Unquoted())
		return append(b, quoted...)
	}
	return append(b, v.Raw()...)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	many := "[" + strings.Repeat("0,", MaxNodes) + "0]"
	for _, tt := range []struct {
		text   string
		fault  Fault
		offset int
	}{
		{"", TooShort, 0}, {" ", TooShort, 1}, {"[", TooShort, 1}, {`{"a"`, TooShort, 4}, {`{"a":`, TooShort, 5},
		{`{"a":1`, TooShort, 6}, {`{"a":1,`, TooShort, 7}, {`"a`, TooShort, 2}, {`"\`, TooShort, 2},
		{`"\u12`, TooShort, 5}, {"tru", TooShort, 3}, {"-", TooShort, 1}, {"1.", TooShort, 2}, {"1e", TooShort, 2},
		{"1e+", TooShort, 3}, {"{} x", Trailing, 3}, {"[]]", Trailing, 2}, {"01", Trailing, 1},
		{"[1,]", Malformed, 3}, {"{,}", Malformed, 1}, {`{"a",1}`, Malformed, 4}, {`{"a":1,}`, Malformed, 7},
		{`{1:2}`, Malformed, 1}, {"[1}", Malformed, 2}, {"+1", Malformed, 0}, {".5", Malformed, 0}, {"nan", Malformed, 1},
		{"1.x", Malformed, 2}, {"1ex", Malformed, 2}, {"'a'", Malformed, 0}, {"\"a\nb\"", Malformed, 2},
		{"\"12345678\x001234567\"", Malformed, 9}, {`"\x41"`, Malformed, 1}, {`"\ud800"`, Malformed, 1},
		{`"\udc00\ud800"`, Malformed, 1}, {`"\ud800\u0041"`, Malformed, 1}, {`"\ud83d_ude00"`, Malformed, 1},
		{"\"\xff\"", NotUTF8, 0}, {strings.Repeat("[", MaxDepth+1), TooDeep, MaxDepth},
		{strings.Repeat("[", MaxDepth), TooShort, MaxDepth}, {many, TooMany, 2*MaxNodes - 1},
	} {
		if fault, offset := scan(new(Tape), tt.text); fault != int(tt.fault) || offset != tt.offset {
			t.Errorf("%.40q: fault %d at %d, want %d at %d", tt.text, fault, offset, tt.fault, tt.offset)
		}
	}
}

// TestAsManyAsAreAllowed: a text with exactly MaxNodes names and values is read, and one with one more is not, whatever
// stands last.
func TestAsManyAsAreAllowed(t *testing.T) {
	t.Parallel()
	zeros := func(n int) string { return strings.TrimSuffix(strings.Repeat("0,", n), ",") }
	for text, nodes := range map[string]int{
		"[" + zeros(MaxNodes-1) + "]":               MaxNodes,
		"[" + zeros(MaxNodes) + "]":                 MaxNodes + 1,
		"[" + zeros(MaxNodes-2) + ",{}]":            MaxNodes,
		"[" + zeros(MaxNodes-1) + ",[]]":            MaxNodes + 1,
		"[" + zeros(MaxNodes-4) + `,{"a":1}]`:       MaxNodes,
		"[" + zeros(MaxNodes-3) + `,{"a":1}]`:       MaxNodes + 1,
		"[" + zeros(MaxNodes-2) + `,{"a":1}]`:       MaxNodes + 2,
		"[" + zeros(MaxNodes-6) + `,{"a":1,"b":2}]`: MaxNodes,
		`{"a":[` + zeros(MaxNodes-5) + `],"b":"c"}`: MaxNodes,
		`{"a":[` + zeros(MaxNodes-4) + `],"b":"c"}`: MaxNodes + 1,
	} {
		var tape Tape
		fault, _ := scan(&tape, text)
		if nodes > MaxNodes != (fault == int(TooMany)) || nodes <= MaxNodes && len(tape.nodes) != nodes {
			t.Errorf("%.20s…%s with %d names and values: fault %d, %d on the tape", text, text[len(text)-15:], nodes, fault,
				len(tape.nodes))
		}
	}
}

func TestWhatStandsOnTheTape(t *testing.T) {
	t.Parallel()
	var tape Tape
	for text, want := range map[string]string{
		` { "a" : [ 1 , -2.5e+3 , { } , [ ] , "x" ] , "a" : null , "" : true } `: `{"a":[1,-2.5e+3,{},[],"x"],"a":null,"":true}`,
		`"\u0061\n\"\ud83d\ude00 and more than eight bytes"`:                     `"a\n\"😀 and more than eight bytes"`,
		"0": "0", "false": "false", "[[[]],[{}]]": "[[[]],[{}]]", "\"\u00e9\u4e16 1234567\"": "\"\u00e9\u4e16 1234567\"",
	} {
		if fault, offset := scan(&tape, text); fault >= 0 {
			t.Errorf("%s: fault %d at %d", text, fault, offset)
		} else if got := string(again(tape.Root(), nil)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// places are the addresses of values.
func places(values []Value) (all []*Value) {
	for i := range values {
		all = append(all, &values[i])
	}
	return all
}

func TestPickAndPath(t *testing.T) {
	t.Parallel()
	var tape Tape
	if fault, _ := scan(&tape, `{"x":{"price":1},"l\u0069nes":[0,{"extra":[{}],"price":2,"id":null,"price":3}]}`); fault >= 0 {
		t.Fatal(fault)
	}
	names := NewNames("lines", "price", "id", "name")
	var top, line [4]Value
	var twice []string
	again := func(name string) { twice = append(twice, name) }
	tape.Root().Pick(names, places(top[:]), again)
	if !top[0].Exists() || top[1].Exists() || top[2].Exists() || top[0].Len() != 2 {
		t.Fatalf("%v", top)
	}
	for _, e := range top[0].Elements() {
		if e.Kind() == '{' {
			e.Pick(names, places(line[:]), again)
		}
	}
	if strings.Join(twice, " ") != "price" || string(line[1].Raw()) != "3" || !line[2].Exists() ||
		!line[2].SaysNothing() || !line[3].SaysNothing() {
		t.Errorf("%v %v", twice, line)
	}
	if got := line[1].Path(); got != "lines[1].price" {
		t.Error(got)
	}
	if got := tape.Root().Path(); got != "" {
		t.Error(got)
	}
	tape.Forget()
	if tape.text != nil {
		t.Error("the tape keeps the text")
	}
}

// TestNames: a set finds each of its names and no other, also where names are alike in length, first, middle and last
// letter; a list that can be no set ends the program at its start.
func TestNames(t *testing.T) {
	t.Parallel()
	many := make([]string, maxNames)
	for i := range many {
		many[i] = fmt.Sprintf("member_%02d", i)
	}
	for _, list := range [][]string{{}, {"a"}, {"tax_uid", "tax_aid"}, {"totalTaxSet", "totalTipSet", "taxesInclSet"},
		{"register_sale_payments", "register_sale_products"}, many} {
		names := NewNames(list...)
		for i, name := range list {
			if got := names.index([]byte(name)); got != i {
				t.Errorf("%q is number %d, want %d", name, got, i)
			}
		}
		for _, other := range []string{"", "b", "tax_iid", "member_64", "register_sale_parments"} {
			if got := names.index([]byte(other)); got != -1 {
				t.Errorf("%q is number %d of %q", other, got, list)
			}
		}
	}
	for _, list := range [][]string{{"a", "a"}, {""}, append(many, "x"), {"abcdefghijklmnopqrstuvwxyz0123456789",
		"aXcdefghijklmnopqrstuvwxyz0123456789"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q became a set", list)
				}
			}()
			NewNames(list...)
		}()
	}
}

// paths lists those of a value and of all that it holds.
func paths(v Value) []string {
	all := []string{v.Path()}
	switch v.Kind() {
	case '{':
		for _, value := range v.Members() {
			all = append(all, paths(value)...)
		}
	case '[':
		for _, e := range v.Elements() {
			all = append(all, paths(e)...)
		}
	}
	return all
}

func TestPaths(t *testing.T) {
	t.Parallel()
	var tape Tape
	for text, want := range map[string]string{
		`7`: "", `[]`: "", `{"":{"":1}}`: "||.", `{"a":{},"a":[{}],"b":{"c":[[],[0,{"d":null}]]}}`: "|a|a|a[0]|b|b.c|b.c[0]|b.c[1]|b.c[1][0]|b.c[1][1]|b.c[1][1].d", `[{"\u0061":[true]},[]]`: "|[0]|[0].a|[0].a[0]|[1]",
	} {
		if fault, _ := scan(&tape, text); fault >= 0 {
			t.Fatal(fault)
		}
		if got := strings.Join(paths(tape.Root()), "|"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestHostilePaths: the path of a value is found without a look at the members before it, and a member that occurs
// many times is told once.
func TestHostilePaths(t *testing.T) {
	t.Parallel()
	const many = 32_000
	var tape Tape
	if fault, _ := scan(&tape, `{`+strings.Repeat(`"":0,`, many)+`"lines":[0,{`+strings.Repeat(`"price":0,`, many)+
		`"price":{"id":1}}]}`); fault >= 0 {
		t.Fatal(fault)
	}
	var top, line, price [3]Value
	names, told := NewNames("lines", "price", "id"), 0
	tape.Root().Pick(names, places(top[:]), func(string) { told++ })
	for _, e := range top[0].Elements() {
		if e.Kind() == '{' {
			e.Pick(names, places(line[:]), func(string) { told++ })
		}
	}
	line[1].Pick(names, places(price[:]), func(string) { told++ })
	if told != 1 {
		t.Errorf("a member is told %d times", told)
	}
	for n := range tape.nodes {
		if tape.nodes[n].kind == '0' && int32(n) < line[1].n && n != int(top[0].n)+1 {
			tape.nodes[n].next = -9 // who goes on from here fails
		}
	}
	if got := price[2].Path(); got != "lines[1].price.id" {
		t.Error(got)
	}
}

// FuzzScan holds the scanner against jsontext: both take the same texts, and see the same in them.
func FuzzScan(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,{},[],"x"],"a":null,"":true}`, `"\u0061\n\"\ud83d\ude00"`, `"\ud800"`, "01", "-0",
		"[1,]", "\"12345678\x00\"",
		"\"é世 1234567\\\"", " 1e5 ", `{"a":1}{`, "\"\xff\"", "1.e", `{"a":{"b":[[[]]]},"c":"\/"}`} {
		f.Add(s)
	}
	var tape Tape
	f.Fuzz(func(t *testing.T, text string) {
		valid := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true))
		err := tape.Scan([]byte(text))
		if fault, _ := errors.AsType[*SyntaxError](err); fault != nil && fault.Fault == TooDeep {
			return
		}
		if valid != (err == nil) {
			t.Fatalf("jsontext: %v, the tape: %v", valid, err)
		}
		if err != nil {
			return
		}
		want := jsontext.Value(text)
		if err := want.Format(jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(false)); err != nil {
			t.Fatal(err)
		}
		if got := again(tape.Root(), nil); string(got) != string(want) {
			t.Fatalf("the tape has %s, jsontext %s", got, want)
		}
	})
}
