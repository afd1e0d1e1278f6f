// Package manual makes of the model of a command line what shells and man show of it: the words that can come next, and
// the manual page. It knows kong, and nothing of what the commands do.
package manual

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Word is one that can come next on a command line.
type Word struct{ Text, Help string }

// Complete gives the words that can stand in the place of the last one. None: a value that is not known beforehand,
// such as the name of a file.
func Complete(app *kong.Node, words []string) (next []Word) {
	if len(words) == 0 {
		words = []string{""}
	}
	node, flag := place(app, joined(words[:len(words)-1]))
	last := words[len(words)-1]
	name, value, assigned := strings.Cut(last, "=")
	switch {
	case flag != nil: // its value follows
		return values(flag, "", strings.TrimPrefix(last, "="))
	case assigned && strings.HasPrefix(name, "--"):
		return values(flagOf(node, name), name+"=", value)
	case strings.HasPrefix(last, "-"):
		for _, f := range flagsOf(node) {
			next = appendMatch(next, "--"+f.Name, f.Help, last)
		}
		return next
	}
	for _, child := range node.Children {
		if !child.Hidden {
			next = appendMatch(next, child.Name, child.Help, last)
		}
	}
	if len(node.Positional) == 1 {
		next = append(next, values(node.Positional[0], "", last)...)
	}
	return next
}

// joined puts together what bash takes apart: --name, =, value.
func joined(words []string) (whole []string) {
	for n, w := range words {
		switch {
		case w == "=" && n+1 == len(words): // the value is being typed
		case len(whole) > 0 && (w == "=" || words[n-1] == "=" && strings.HasSuffix(whole[len(whole)-1], "=")):
			whole[len(whole)-1] += w
		default:
			whole = append(whole, w)
		}
	}
	return whole
}

// place follows the words to their command, and to the flag whose value comes next, if so.
func place(node *kong.Node, words []string) (_ *kong.Node, flag *kong.Value) {
	for _, w := range words {
		switch {
		case flag != nil:
			flag = nil
		case strings.HasPrefix(w, "-"):
			if flag = flagOf(node, w); flag != nil && flag.IsBool() {
				flag = nil
			}
		default:
			if n := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == w }); n >= 0 {
				node = node.Children[n]
			}
		}
	}
	return node, flag
}

// flagsOf are those that a command takes.
func flagsOf(node *kong.Node) (all []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		all = append(all, group...)
	}
	return all
}

// flagOf is the flag of that name; nil: there is none.
func flagOf(node *kong.Node, name string) *kong.Value {
	for _, f := range flagsOf(node) {
		if "--"+f.Name == name {
			return f.Value
		}
	}
	return nil
}

// values are those that a flag or argument can have, if they are known.
func values(v *kong.Value, before, typed string) (next []Word) {
	if v == nil || v.Enum == "" {
		return nil
	}
	for _, one := range v.EnumSlice() {
		next = appendMatch(next, before+one, "", before+typed)
	}
	return next
}

func appendMatch(next []Word, text, help, typed string) []Word {
	if text == "" || !strings.HasPrefix(text, typed) {
		return next
	}
	help, _, _ = strings.Cut(help, "\n")
	return append(next, Word{text, help})
}
