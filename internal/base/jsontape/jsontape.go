// Package jsontape takes a JSON text apart in one pass over its bytes. What it finds stands on a tape, one node for
// each name and each value, so that members are looked up and left alone without reading the text again.
//
// It takes what RFC 8259 takes, in UTF-8, without lone surrogates; names may occur twice, which is for the reader of an
// object to judge. It knows no members, no problems and no requests.
package jsontape

import (
	"bytes"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a text, so that what a hostile one costs is bounded.
const (
	MaxNodes = 131_072 // names and values
	MaxDepth = 1_000
)

// Tape is one JSON text, taken apart. The zero Tape is empty; it can be used again and again.
//
// # Why it is hard
//
// A request may be hostile: as deep as it is long, with one member a hundred thousand times, or cut off in the middle
// of an escape. A decoder that makes a map or a struct for each value pays for all of them before anybody knows which
// are wanted, and a reader that skips over values reads the same bytes once for each level. The tape is written in one
// pass, is bounded by MaxNodes and MaxDepth, and scanning allocates nothing but the tape.
//
// # What stands on it
//
// A node for each name and each value, in the order of the text. {"a":[1,2],"b":null} is:
//
//	   node    next  within  size
//	0  {       7     none    2
//	1  "a"     2     0
//	2  [       5     0       2
//	3  1       4     2
//	4  2       5     2
//	5  "b"     6     0
//	6  null    7     0
//
// # Invariants
//
//  1. What a node holds are the nodes after it, up to next. So the next sibling is one step away, however much is in
//     between.
//  2. In an object, names and values take turns: the value of a name is the node after it. size counts the pairs; of an
//     array, the elements.
//  3. within is smaller than the node's own number, and none for the whole text. While a text is scanned, around and
//     the within of the nodes are the stack of what is open. Nothing here is recursive, so no depth exhausts the stack
//     of the goroutine.
//  4. next and end of an object or array are written when it closes. So a tape may be read only after Scan has returned
//     nil.
//  5. start and end are offsets into text, quotes and braces included. Raw, and Unquoted where there are no escapes,
//     are parts of the text and not copies: it must not change while the tape is used, and Forget ends the use.
//  6. Every text on the tape has been found valid: its bytes are UTF-8, its escapes are whole, and no surrogate is
//     alone. So reading a value cannot fail.
//  7. A name may occur more than once. Pick takes the last value, and tells of each such name once, with one bit for
//     each name of the set.
//  8. Path goes up by within. It walks through arrays, to count, and never through the members of an object, of which a
//     hostile one may have MaxNodes.
//
// # What shows it
//
// TestWhatStandsOnTheTape shows the nodes (1, 2, 3); FuzzScan compares with another reader of JSON what is taken and
// what is refused (6); TestFaults tells where; TestAsManyAsAreAllowed the bound of MaxNodes; TestPickAndPath and
// TestNames show the names (7); TestHostilePaths the time that a path takes (8).
type Tape struct {
	text   []byte
	nodes  []node
	around int32 // the object or array around the place that is scanned
	depth  int   // how many there are
}

// node is a name or a value.
type node struct {
	start, end uint32 // in the text, with quotes and braces
	next       int32  // the node after this one and all that it holds
	size       int32  // how many members or elements it holds
	within     int32  // the object or array that it is in
	kind       jsontext.Kind
	escaped    bool // it is a text with a backslash
}

// none is the node that the whole text is in.
const none = -1

// keptNodes is how large a tape stays that waits for its next text. Tapes are used again, and one hostile request
// would otherwise leave its megabytes to every later one.
const keptNodes = 4_096

// Forget lets go of the text.
func (t *Tape) Forget() {
	t.text = nil
	if cap(t.nodes) > keptNodes {
		t.nodes = nil
	}
}

// Root is the value that the whole text is.
func (t *Tape) Root() Value { return Value{t, 0} }

// Value is a value of a text, or none: the zero Value. It holds as long as the text is on its tape.
type Value struct {
	tape *Tape
	n    int32
}

// Exists reports whether there is a value, be it null.
func (v Value) Exists() bool { return v.tape != nil }

func (v Value) node() *node { return &v.tape.nodes[v.n] }

// Kind is what the value is; 0 of none.
func (v Value) Kind() jsontext.Kind {
	if v.tape == nil {
		return 0
	}
	return v.node().kind
}

// SaysNothing reports whether there is no value, or one that is null or an empty text.
func (v Value) SaysNothing() bool {
	if v.tape == nil {
		return true
	}
	n := v.node()
	return n.kind == 'n' || n.kind == '"' && n.end-n.start == 2
}

// Len is how many members or elements the value has.
func (v Value) Len() int { return int(v.node().size) }

// Raw is the text of the value. It is a part of the whole text.
func (v Value) Raw() jsontext.Value {
	n := v.node()
	return jsontext.Value(v.tape.text[n.start:n.end:n.end])
}

// Unquoted is what a text says. It is a part of the whole text where it has no escapes, as nearly all have none.
func (v Value) Unquoted() []byte {
	n := v.node()
	if !n.escaped {
		return v.tape.text[n.start+1 : n.end-1]
	}
	text, _ := jsontext.AppendUnquote(nil, v.tape.text[n.start:n.end]) // it has been found valid
	return text
}

// Elements are those of an array, in its order.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		e := Value{v.tape, v.n + 1}
		for i := range v.Len() {
			if !yield(i, e) {
				return
			}
			e.n = e.node().next
		}
	}
}

// Members are those of an object, in its order: name and value.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		name := Value{v.tape, v.n + 1}
		for range v.Len() {
			value := Value{v.tape, name.n + 1}
			if !yield(name, value) {
				return
			}
			name.n = value.node().next
		}
	}
}

// Pick looks up the members of an object whose names are in a set: *into[i] becomes the value of names[i], null
// included, or stays as it is, which must be none. Of a name that occurs more than once the last value is taken, and
// twice is told of it once. Pick panics unless there is a place for each name.
func (v Value) Pick(names *Names, into []*Value, twice func(name string)) {
	if len(into) != len(names.list) {
		panic(fmt.Sprintf("tape: there are %d places for %d names", len(into), len(names.list)))
	}
	t, at, told := v.tape, v.n+1, uint64(0) // a bit for each name
	for range v.Len() {
		name, value := &t.nodes[at], at+1
		at = t.nodes[value].next
		text := t.text[name.start+1 : name.end-1]
		if name.escaped {
			text = Value{t, value - 1}.Unquoted()
		}
		if i := names.index(text); i >= 0 {
			if into[i].Exists() && told&(1<<i) == 0 {
				told |= 1 << i
				twice(names.list[i])
			}
			*into[i] = Value{t, value}
		}
	}
}

// Path is where the value stands in the text: lines[2].price. That of the whole text is "". What stands before it in
// an object costs nothing, as hostile ones have many members.
func (v Value) Path() string {
	var parts []string // from the value up
	for n := v.n; ; {
		around := v.tape.nodes[n].within
		if around == none {
			break
		}
		parts = append(parts, v.tape.step(around, n))
		n = around
	}
	slices.Reverse(parts)
	return strings.TrimPrefix(strings.Join(parts, ""), ".")
}

// step leads from an object or array to a value in it.
func (t *Tape) step(around, n int32) string {
	within := Value{t, around}
	if within.Kind() == '{' {
		return "." + string(Value{t, n - 1}.Unquoted())
	}
	for i, e := range within.Elements() {
		if e.n == n {
			return "[" + strconv.Itoa(i) + "]"
		}
	}
	return ""
}

// Names is a set of member names, which says of any name which one of them it is. Every member of every request is
// looked up in one, so this is where a Go map costs too much.
//
// It is a perfect hash: each name of the set has a slot of its own. A look-up computes one slot and compares one
// name. NewNames looks for such a hash by trying. The hash mixes the length, the first letter, the last, and one in
// between; part says which, and has to be one with which no two names agree in all four (apart). Then seeds are tried
// until no two names share a slot (fill).
//
// A caller may send names that all fall into one slot. That gains nothing: each costs one comparison, whatever the
// slot.
type Names struct {
	list  []string
	slots [256]uint8 // one more than the index of the name with that hash; 0: there is none
	seed  uint32
	part  int // the hash looks at the letter so many sixteenths into a name, beside the first and the last
}

// maxNames is how many names a set has at most: Pick keeps a bit for each.
const maxNames = 64

// seeds is how many seeds are tried with one choice of letters. 64 names need some thousands.
const seeds = 1 << 16

// NewNames makes a set of up to 64 different names, none of which is empty. It panics at other lists, and where no
// choice of letters tells the names apart: sets are made when a program starts.
func NewNames(list ...string) *Names {
	if len(list) > maxNames || slices.Contains(list, "") {
		panic(fmt.Sprintf("tape: a set has up to %d names, and none is empty: %q", maxNames, list))
	}
	for _, part := range []int{8, 4, 12, 2, 6, 10, 14, 1, 3, 5, 7, 9, 11, 13, 15} {
		n := &Names{list: list, part: part}
		if !n.apart() {
			continue
		}
		for i := range uint32(seeds) {
			n.seed, n.slots = 2*i+1, [256]uint8{}
			if n.fill() {
				return n
			}
		}
	}
	panic(fmt.Sprintf("tape: no hash tells these names apart: %q", list))
}

// apart reports whether what the hash looks at is different for all names.
func (n *Names) apart() bool {
	seen := make(map[uint32]bool, len(n.list))
	for _, name := range n.list {
		seen[n.letters([]byte(name))] = true
	}
	return len(seen) == len(n.list)
}

// fill reports whether every name has a hash of its own.
func (n *Names) fill() bool {
	for i, name := range n.list {
		slot := &n.slots[n.hash([]byte(name))]
		if *slot != 0 {
			return false
		}
		*slot = uint8(i + 1)
	}
	return true
}

// hash looks at the length and some of the letters: names that are in no set cost no more.
func (n *Names) hash(name []byte) uint8 { return uint8(n.letters(name) * n.seed >> 24) }

func (n *Names) letters(name []byte) uint32 {
	last := len(name) - 1
	return uint32(len(name)) | uint32(name[0])<<8 | uint32(name[last])<<16 | uint32(name[last*n.part>>4])<<24
}

func (n *Names) index(name []byte) int {
	if len(name) == 0 {
		return -1
	}
	i := int(n.slots[n.hash(name)]) - 1
	if i < 0 || !bytes.Equal(name, []byte(n.list[i])) {
		return -1
	}
	return i
}
