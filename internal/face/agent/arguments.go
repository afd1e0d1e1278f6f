package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"boon.example/internal/refusal"
	"boon.example/internal/service"
)

// arguments are those of a call of a tool.
type arguments map[string]any

// readArguments reads the arguments of a tool: an object with members that its schema names. What these may be, the
// interface says.
func readArguments(text []byte, s schema) (a arguments, _ error) {
	if text = bytes.TrimSpace(text); len(text) == 0 || string(text) == "null" {
		text = []byte("{}")
	}
	value, err := decode(text)
	var isObject bool
	if a, isObject = value.(map[string]any); err != nil || !isObject || !jsontext.Value(text).IsValid() {
		return a, refusal.New(refusal.ValidationFailure, "The arguments must be one JSON object, with each name once.")
	}
	refused := &refusal.Error{Code: refusal.ValidationFailure}
	properties := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, known := properties[name]; !known {
			refused.Messages = append(refused.Messages, refusal.MessageAt(name, "This tool has no such argument."))
		}
	}
	for _, name := range s["required"].([]any) {
		if value := a[name.(string)]; value == nil || value == "" {
			refused.Messages = append(refused.Messages, refusal.MessageAt(name.(string), "This argument is missing."))
		}
	}
	if len(refused.Messages) > 0 {
		return a, refused
	}
	return a, nil
}

// text is the one JSON text that says these arguments, with numbers as they came.
func (a arguments) text() ([]byte, error) { return json.Marshal(map[string]any(a)) }

// address is the path of a call that reads, with the arguments in it, and behind it those that it does not name. A part
// of a path cannot be one or two dots: these would lead elsewhere.
func (a arguments) address(path string) (string, error) {
	query := url.Values{}
	for name, value := range a {
		if value == nil {
			continue
		}
		place, text := "{"+name+"}", plain(value)
		switch {
		case !strings.Contains(path, place):
			query.Set(name, text)
		case text == "." || text == "..":
			return "", service.RefuseAt(refusal.ValidationFailure, name, "This argument cannot be a dot or two.")
		default:
			path = strings.ReplaceAll(path, place, url.PathEscape(text))
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

// plain is a value as it stands in an address. What can be no parameter is refused by the interface.
func plain(value any) string {
	switch value.(type) {
	case string, json.Number, bool:
		return fmt.Sprint(value)
	}
	text, _ := json.Marshal(value) // it was read from JSON
	return string(text)
}

// decode reads a JSON text, with numbers as they are written.
func decode(text []byte) (value any, _ error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more than one value")
	}
	return value, nil
}
