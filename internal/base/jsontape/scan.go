package jsontape

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Fault is what is wrong with a text.
type Fault uint8

// What can be wrong.
const (
	Malformed Fault = iota // at Offset
	TooShort               // it ends too early
	NotUTF8
	Trailing // something follows the value
	TooDeep  // it nests values more than MaxDepth deep
	TooMany  // it has more than MaxNodes names and values
)

// SyntaxError tells why a text is no JSON, or too much.
type SyntaxError struct {
	Fault  Fault
	Offset int
}

func (e *SyntaxError) Error() string {
	return [...]string{"malformed", "too short", "not UTF-8", "more than one value", "too deep",
		"too many values"}[e.Fault]
}

// Scan puts text on the tape. An error is a *SyntaxError. text must not change while the tape is used.
//
// The loop goes from value to value. t.value scans what opens, down to the first scalar or the first object or array
// without anything in it; t.after then closes what ends there, and scans up to the next value. What is open in
// between is in t.around, so that neither function calls itself.
//
// Whether the whole text is UTF-8 is asked once, before. All that follows can then look at bytes: no byte of a longer
// character is a quote, a backslash or a brace.
func (t *Tape) Scan(text []byte) error {
	t.text, t.nodes, t.around, t.depth = text, t.nodes[:0], none, 0
	if !utf8.Valid(text) {
		return &SyntaxError{NotUTF8, 0}
	}
	t.grow()
	at, err := 0, error(nil)
	for more := true; more; {
		if at, err = t.value(t.space(at)); err != nil {
			return err
		}
		if at, more, err = t.after(at); err != nil {
			return err
		}
	}
	if at = t.space(at); at < len(text) {
		return &SyntaxError{Trailing, at}
	}
	return nil
}

// grow makes room for the nodes of a large text at once: there are no more than it has of the characters that part
// them. Otherwise append would copy a tape that grows node by node some ten times over. MaxNodes bounds it, as a text
// of commas may be as hostile as any other. A small text fits the tape of the one before.
func (t *Tape) grow() {
	if len(t.text) < largeText {
		return
	}
	most := 2
	for _, c := range []byte("{[:,") {
		most += bytes.Count(t.text, []byte{c})
	}
	t.nodes = slices.Grow(t.nodes, min(most, MaxNodes))
}

const largeText = 64 << 10

// wrong is the error at a place that should hold something else.
func (t *Tape) wrong(at int) error {
	if at >= len(t.text) {
		return &SyntaxError{TooShort, len(t.text)}
	}
	return &SyntaxError{Malformed, at}
}

// space gives the first place from at on that holds something.
func (t *Tape) space(at int) int {
	for at < len(t.text) {
		switch t.text[at] {
		case ' ', '\n', '\t', '\r':
			at++
		default:
			return at
		}
	}
	return at
}

// value scans what begins at a place: a scalar, an empty object or array, or the beginning of another with the name
// of its first member. It gives the place that follows. Both bounds are checked here and in name, before a node is
// added: nothing else adds one.
//
// size begins at 1 where there is something in the object or array, and after adds 1 for each comma. An empty one is
// left open: after finds its end at once, and closes it as every other.
func (t *Tape) value(at int) (int, error) {
	for {
		if at >= len(t.text) {
			return 0, t.wrong(at)
		}
		if len(t.nodes) >= MaxNodes {
			return 0, &SyntaxError{TooMany, at}
		}
		c := t.text[at]
		switch c {
		case '"':
			return t.quoted(at)
		case 't':
			return t.literal(at, "true")
		case 'f':
			return t.literal(at, "false")
		case 'n':
			return t.literal(at, "null")
		case '{', '[':
		default:
			return t.number(at)
		}
		if t.depth >= MaxDepth {
			return 0, &SyntaxError{TooDeep, at}
		}
		t.nodes = append(t.nodes, node{start: uint32(at), kind: jsontext.Kind(c), within: t.around})
		t.around, t.depth = int32(len(t.nodes)-1), t.depth+1
		at = t.space(at + 1)
		if at < len(t.text) && t.text[at] == c+2 { // in ASCII, each closes what it is two after
			return at, nil
		}
		t.nodes[len(t.nodes)-1].size = 1
		if c == '{' {
			var err error
			if at, err = t.name(at); err != nil {
				return 0, err
			}
		}
	}
}

// name scans a name with its colon, and gives the place of its value.
func (t *Tape) name(at int) (int, error) {
	if at >= len(t.text) || t.text[at] != '"' {
		return 0, t.wrong(at)
	}
	if len(t.nodes) >= MaxNodes {
		return 0, &SyntaxError{TooMany, at}
	}
	at, err := t.quoted(at)
	if err != nil {
		return 0, err
	}
	if at < len(t.text) && t.text[at] != ':' {
		at = t.space(at)
	}
	if at >= len(t.text) || t.text[at] != ':' {
		return 0, t.wrong(at)
	}
	return t.space(at + 1), nil
}

// after scans what follows a value: the ends of what it is in, and the comma and the name before the next one. more
// is whether there is a next one. Here alone objects and arrays get their end and next (invariant 4). A comma has to
// be followed by a value: {"a":1,} is found by name, and [1,] by value.
func (t *Tape) after(at int) (_ int, more bool, err error) {
	for t.around != none {
		at = t.space(at)
		if at >= len(t.text) {
			return 0, false, t.wrong(at)
		}
		around := &t.nodes[t.around]
		switch c := t.text[at]; {
		case c == ',':
			around.size++
			if at = t.space(at + 1); around.kind == '{' {
				at, err = t.name(at)
			}
			return at, true, err
		case c != byte(around.kind)+2:
			return 0, false, t.wrong(at)
		}
		at++
		around.end, around.next = uint32(at), int32(len(t.nodes))
		t.around, t.depth = around.within, t.depth-1
	}
	return at, false, nil
}

// add puts a scalar on the tape, and gives the place that follows.
func (t *Tape) add(from, to int, kind byte, escaped bool) int {
	n := len(t.nodes)
	if n == cap(t.nodes) {
		t.nodes = slices.Grow(t.nodes, 1)
	}
	t.nodes = t.nodes[:n+1]
	at := &t.nodes[n] // written in place: most of the tape is scalars
	at.start, at.end, at.next, at.size, at.within = uint32(from), uint32(to), int32(n)+1, 0, t.around
	at.kind, at.escaped = jsontext.Kind(kind), escaped
	return to
}

// literal scans true, false or null. What follows it, such as the x of nullx, is found by after.
func (t *Tape) literal(at int, word string) (int, error) {
	for i := range len(word) {
		if at+i >= len(t.text) || t.text[at+i] != word[i] {
			return 0, t.wrong(at + i)
		}
	}
	return t.add(at, at+len(word), word[0], false), nil
}

// number scans what RFC 8259 calls a number: no leading zero, no plus sign, a digit on either side of the point. 01
// is taken as 0 here, and its 1 found by after. What the number is worth is for the reader of the member, who knows
// whether it is an amount: a float64 would round it.
func (t *Tape) number(from int) (int, error) {
	at := from
	if t.text[at] == '-' {
		at++
	}
	if at < len(t.text) && t.text[at] == '0' {
		at++
	} else if at = t.digits(at); at < 0 {
		return 0, t.wrong(^at)
	}
	if at < len(t.text) && t.text[at] == '.' {
		if at = t.digits(at + 1); at < 0 {
			return 0, t.wrong(^at)
		}
	}
	if at < len(t.text) && t.text[at]|0x20 == 'e' {
		if at++; at < len(t.text) && (t.text[at] == '+' || t.text[at] == '-') {
			at++
		}
		if at = t.digits(at); at < 0 {
			return 0, t.wrong(^at)
		}
	}
	return t.add(from, at, '0', false), nil
}

// digits gives the place after one digit or more, or ^at where there is none.
func (t *Tape) digits(at int) int {
	from := at
	for at < len(t.text) && t.text[at]-'0' <= 9 {
		at++
	}
	if at == from {
		return ^at
	}
	return at
}

// quoted scans a text, eight bytes at a time. Texts are most of what a request has, and nearly all of their bytes are
// passed over. A byte that stops marks is looked at by itself, and so are the last seven of the text. An escape is
// only measured: it is taken apart when somebody asks what the text says (Value.Unquoted), which for most members
// nobody does.
func (t *Tape) quoted(from int) (int, error) {
	text, at, escaped := t.text, from+1, false
	for {
		if at+8 <= len(text) {
			stop := stops(binary.LittleEndian.Uint64(text[at:]))
			if stop == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(stop) / 8
		}
		if at >= len(text) {
			return 0, t.wrong(at)
		}
		switch c := text[at]; {
		case c == '"':
			return t.add(from, at+1, '"', escaped), nil
		case c == '\\':
			escaped = true
			n := escape(text[at:])
			if n == 0 {
				if bytes.IndexByte(text[at+1:], '"') < 0 { // it may be cut off
					at = len(text)
				}
				return 0, t.wrong(at)
			}
			at += n
		case c < ' ':
			return 0, t.wrong(at)
		default:
			at++
		}
	}
}

// stops marks, with the highest bit of a byte, what a text does not go on at: quotes, backslashes and control
// characters. It looks at eight bytes at once, with no branch.
//
// A byte x is smaller than n, for n up to 128, if taking n from it sets its highest bit, which it did not have: that
// is (x-n)&^x&0x80. With n = ' ' this finds control characters. A byte that is XORed with '"' is 0 only where it was
// '"', and 0 is what is smaller than 1: so quotes and backslashes are found with n = 1.
//
// Taking away from a smaller byte borrows from the next higher one. So above the first mark there may be false ones.
// That is no harm: the first one is right, as nothing below it borrowed, and quoted uses only that.
func stops(b uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, slash := b^(ones*'"'), b^(ones*'\\')
	return ((b-ones*' ')&^b | (quote-ones)&^quote | (slash-ones)&^slash) & high
}

// escape is the length of the escape that text begins with; 0: it is none. A character beyond the first 65,536 takes
// two escapes, a high surrogate (d800 to dbff) and a low one (dc00 to dfff). One without the other says no character,
// and what a database or another program makes of it nobody knows: it is refused.
func escape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		return 0
	}
	switch unit := codeUnit(text); {
	case unit < 0 || unit >= 0xdc00 && unit < 0xe000:
		return 0
	case unit < 0xd800 || unit >= 0xe000:
		return 6
	case len(text) < 8 || text[6] != '\\' || text[7] != 'u':
		return 0
	}
	if low := codeUnit(text[6:]); low < 0xdc00 || low >= 0xe000 {
		return 0
	}
	return 12
}

// codeUnit is what an escape of the form \uXXXX says; -1: it is none.
func codeUnit(text []byte) int {
	if len(text) < 6 {
		return -1
	}
	unit := 0
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		unit = unit<<4 | int(c)
	}
	return unit
}
