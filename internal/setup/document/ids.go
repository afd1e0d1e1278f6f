package document

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"boon.example/internal/guid"
)

// WithIDs gives a set-up file an id in each record that lacks the one it needs, and names these by their paths. Nothing
// else of the text changes, comments among it. The ids are in the text from then on: whoever applies it again means the
// same records. An error is Problems: the text is no YAML document.
func WithIDs(name string, data []byte, next func() guid.ID) (text []byte, made []string, err error) {
	r := &reader{file: name}
	_, _ = parse(r, data) // its problems do not matter here
	if _, ok := (&reader{file: name}).document(data); !ok {
		return nil, nil, r.problems.Err(name)
	}
	slices.SortFunc(r.lacking, func(a, b value) int {
		first, second := a.Content[0], b.Content[0]
		return cmp.Or(cmp.Compare(first.Line, second.Line), cmp.Compare(first.Column, second.Column))
	})
	lines := strings.SplitAfter(string(data), "\n")
	for _, v := range slices.Backward(r.lacking) { // what is before stays where it is
		first := v.Content[0]
		line := []rune(lines[first.Line-1])
		before, after := string(line[:first.Column-1]), string(line[first.Column-1:])
		id := "id: " + next().String()
		if v.Style&yaml.FlowStyle != 0 {
			id += ", "
		} else {
			id += ending(lines[first.Line-1]) + strings.Repeat(" ", first.Column-1)
		}
		lines[first.Line-1] = before + id + after
	}
	for _, v := range r.lacking {
		made = append(made, v.path)
	}
	return []byte(strings.Join(lines, "")), made, nil
}

// ending is how a line ends.
func ending(line string) string {
	if strings.HasSuffix(line, "\r\n") {
		return "\r\n"
	}
	return "\n"
}
