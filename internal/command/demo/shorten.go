package demo

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// shorten writes a JSON text for people: indented, of its objects only the members that are named in show (words apart
// by spaces), with … for the rest. What is not JSON stays as it is.
func shorten(body []byte, show string) string {
	s := shortener{json.NewDecoder(bytes.NewReader(body)), strings.Fields(show)}
	s.UseNumber()
	text, err := s.value("")
	if err != nil {
		return string(body)
	}
	return text
}

type shortener struct {
	*json.Decoder
	show []string
}

func (s *shortener) value(indent string) (string, error) {
	token, err := s.Token()
	if err != nil {
		return "", err
	}
	switch token {
	case json.Delim('{'):
		return s.object(indent)
	case json.Delim('['):
		return s.array(indent)
	}
	return literal(token), nil
}

func (s *shortener) object(indent string) (string, error) {
	var members []string
	hidden := false
	for s.More() {
		name, err := s.Token()
		if err != nil {
			return "", err
		}
		value, err := s.value(indent + "  ")
		if err != nil {
			return "", err
		}
		if slices.Contains(s.show, name.(string)) {
			members = append(members, literal(name)+": "+value)
		} else {
			hidden = true
		}
	}
	if hidden {
		members = append(members, "…")
	}
	_, err := s.Token()
	return list("{", members, "}", indent), err
}

func (s *shortener) array(indent string) (string, error) {
	var elements []string
	for s.More() {
		value, err := s.value(indent + "  ")
		if err != nil {
			return "", err
		}
		elements = append(elements, value)
	}
	_, err := s.Token()
	return list("[", elements, "]", indent), err
}

// list puts what fits on one line there, and else each element on its own.
func list(open string, elements []string, end, indent string) string {
	const width = 110
	line := open + strings.Join(elements, ", ") + end
	if len(indent)+len(line) <= width && !strings.Contains(line, "\n") {
		return line
	}
	inner := "\n" + indent + "  "
	return open + inner + strings.Join(elements, ","+inner) + "\n" + indent + end
}

func literal(token json.Token) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(token); err != nil {
		return "?"
	}
	return strings.TrimSpace(b.String())
}
